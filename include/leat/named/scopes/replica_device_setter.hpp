#pragma once
// A device function for training with parameter servers: variables go to the tasks of one job, round-robin or by load, all other
// nodes to the worker. Source: TensorFlow 1.x `replica_device_setter`, `GreedyLoadBalancingStrategy`.

#include <leat/named/graph/graph_operation.hpp>
#include <map>

namespace leat {

/// Chooses the task for a variable.
using placement_strategy = std::function<int(const graph_operation&)>;

/// Round-robin over the tasks.
inline placement_strategy round_robin(int tasks) {
  return [tasks, next = 0](const graph_operation&) mutable {
    const int task = next;
    next = (next + 1) % tasks;
    return task;
  };
}

/// Bytes of a node's first result: the load of a variable. Errors: invalid_argument if its shape is not known.
inline double byte_size_load(const graph_operation& op) {
  const output first = op.result();
  if (!first.extent().is_static()) throw invalid_argument("the load of the node '" + op.name() + "': its shape is not known");
  return static_cast<double>(first.extent().elements()) * content_size_of(to_data_type(first.type()));
}

/// The task with the least load so far, the first of equals. Errors: invalid_argument for no tasks.
inline placement_strategy greedy_load_balancing(int tasks, std::function<double(const graph_operation&)> load = byte_size_load) {
  if (tasks < 1) throw invalid_argument("greedy_load_balancing: at least one task");
  return [loads = std::vector<double>(static_cast<std::size_t>(tasks), 0.0), load = std::move(load)](const graph_operation& op) mutable {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += load(op);
    return static_cast<int>(least - loads.begin());
  };
}

/// Settings of `replica_device_setter`.
struct replica_device_options {
  int ps_tasks = 0;
  std::string ps_device = "/job:ps";
  std::string worker_device = "/job:worker";
  bool merge_devices = true;  // whether a node's own device is completed; otherwise a node that has one is left alone
  std::optional<std::map<std::string, int>> cluster{};  // tasks of each job; overrides `ps_tasks`
  std::vector<std::string> ps_ops{"Variable",
                                  "VariableV2",
                                  "AutoReloadVariable",
                                  "MutableHashTable",
                                  "MutableHashTableV2",
                                  "MutableHashTableOfTensors",
                                  "MutableHashTableOfTensorsV2",
                                  "MutableDenseHashTable",
                                  "MutableDenseHashTableV2",
                                  "VarHandleOp"};
  placement_strategy strategy{};  // none: round-robin
};

/// `auto d = device(replica_device_setter({.ps_tasks = 3}));`. Without parameter-server tasks the function is empty, and `device` of it
/// clears the outer ones. A variable that asks for another job keeps it and takes no task's turn.
/// Errors: invalid_argument for a malformed device name.
inline device_function replica_device_setter(replica_device_options options) {
  int tasks = options.ps_tasks;
  const device_spec servers = parse_device(options.ps_device);
  const device_spec worker = parse_device(options.worker_device);
  if (options.cluster) {
    const auto job = options.cluster->find(servers.job.value_or(""));
    tasks = job == options.cluster->end() ? 0 : job->second;
  }
  if (tasks == 0) return {};
  placement_strategy strategy = options.strategy ? std::move(options.strategy) : round_robin(tasks);
  return [servers, worker, merge = options.merge_devices, types = std::move(options.ps_ops),
          strategy = std::move(strategy)](const graph_operation& op) mutable -> std::optional<std::string> {
    const std::string own = op.device();
    if (!merge && !own.empty()) return own;
    const device_spec asked = parse_device(own);
    device_spec answer = worker;
    if (std::find(types.begin(), types.end(), op.type()) != types.end()) {
      answer = servers;
      if (servers.job && (!asked.job || asked.job == servers.job)) answer.task = strategy(op);
    }
    answer.merge_from(asked);
    return answer.text();
  };
}

}  // namespace leat
