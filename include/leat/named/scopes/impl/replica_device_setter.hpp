#pragma once
// Implementation of replica_device_setter.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/scopes/replica_device_setter.hpp>

namespace leat {

LEAT_FUNCTION double byte_size_load(const graph_operation& op) {
  if (op.outputs().empty()) return 0;
  const output first = op.result();
  const shape extent = first.extent();
  double elements = 1;  // an unknown shape counts as one element, as in TensorFlow: a legacy variable's shape is set later
  for (int i = 0; i < extent.rank; ++i) elements *= extent[i] < 0 ? 1.0 : static_cast<double>(extent[i]);
  return elements * content_size_of(to_data_type(first.type()));
}

LEAT_FUNCTION placement_strategy greedy_load_balancing(int tasks, std::function<double(const graph_operation&)> load) {
  if (tasks < 1) throw invalid_argument("greedy_load_balancing: at least one task");
  return [loads = std::vector<double>(static_cast<std::size_t>(tasks), 0.0), load = std::move(load)](const graph_operation& op) mutable {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += load(op);
    return static_cast<int>(least - loads.begin());
  };
}

LEAT_FUNCTION device_function replica_device_setter(replica_device_options options) {
  int tasks = options.ps_tasks;
  const device_spec servers = parse_device(options.ps_device);
  const device_spec worker = parse_device(options.worker_device);
  if (options.cluster) {
    const std::string job = servers.job.value_or("");
    tasks = options.cluster->has_job(job) ? options.cluster->num_tasks(job) : 0;
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

LEAT_FUNCTION placement_strategy round_robin(int tasks) {
  return [tasks, next = 0](const graph_operation&) mutable {
    const int task = next;
    next = (next + 1) % tasks;
    return task;
  };
}

}  // namespace leat
