#pragma once
// A device function for training with parameter servers: variables go to the tasks of one job, round-robin or by load, and all other nodes
// to the worker. Source: TensorFlow 1.x `replica_device_setter`, `GreedyLoadBalancingStrategy`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/nodes.hpp>
#include <leat/named/scopes/cluster_spec.hpp>

namespace leat {

/// A function that chooses the task for a variable.
using placement_strategy = std::function<int(const graph_operation&)>;

/// Chooses the tasks round-robin.
placement_strategy round_robin(int tasks);

/// The load of a variable: the size in bytes of a node's first result. A dimension that is unknown counts as 1, and so does an unknown
/// shape.
double byte_size_load(const graph_operation& op);

/// Chooses the task with the least load so far, the first of several. Errors: invalid_argument for no tasks.
placement_strategy greedy_load_balancing(int tasks, std::function<double(const graph_operation&)> load = byte_size_load);

/// Options of `replica_device_setter`.
struct replica_device_options {
  int ps_tasks = 0;                           // the number of parameter servers; 0: nothing is placed
  std::string ps_device = "/job:ps";          // the job of the variables
  std::string worker_device = "/job:worker";  // the device of all other nodes
  bool merge_devices = true;                  // whether the parts left open by a node's own device are filled in
  std::optional<cluster_spec> cluster{};      // overrides `ps_tasks`
  std::vector<std::string> ps_ops{"Variable",
                                  "VariableV2",
                                  "AutoReloadVariable",
                                  "MutableHashTable",
                                  "MutableHashTableV2",
                                  "MutableHashTableOfTensors",
                                  "MutableHashTableOfTensorsV2",
                                  "MutableDenseHashTable",
                                  "MutableDenseHashTableV2",
                                  "VarHandleOp",
                                  "BoostedTreesEnsembleResourceHandleOp",
                                  "BoostedTreesQuantileStreamResourceHandleOp",
                                  "ResourceConditionalAccumulator",
                                  "DecisionTreeResource"};
  placement_strategy strategy{};  // empty: round-robin
};

/// The device function for the given parameter servers: `auto d = device(replica_device_setter({.ps_tasks = 3}));`. Without
/// parameter-server tasks the function is empty, and `device` of it clears the outer device scopes. A variable that asks for another job
/// stays there, and does not count for the strategy.
/// Errors: invalid_argument for a malformed device name.
device_function replica_device_setter(replica_device_options options);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/scopes/impl/replica_device_setter.hpp>
#endif
