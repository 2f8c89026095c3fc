#pragma once
// A cluster whose servers are all in this process, at free ports.

#include <leat/cluster.hpp>

#include "cluster/support/free_address.hpp"

#include <memory>
#include <string>
#include <vector>

namespace leat_test {

struct cluster_here {
  leat::cluster_spec c;
  std::vector<std::unique_ptr<leat::server>> servers;
  explicit cluster_here(int ps, int workers, bool memory = true)
      : c([&] {
          std::vector<std::string> a, b;
          for (int k = 0; k < ps; ++k) a.push_back(free_address());
          for (int k = 0; k < workers; ++k) b.push_back(free_address());
          return leat::cluster_spec{{"ps", a}, {"worker", b}};
        }()) {
    for (int k = 0; k < ps; ++k) start("ps", k, memory);
    for (int k = 0; k < workers; ++k) start("worker", k, memory);
  }
  void start(const char* job, int k, bool memory) {
    leat::server_options options;
    options.job_name = job;
    options.task_index = k;
    options.use_shared_memory = memory;
    servers.push_back(std::make_unique<leat::server>(c, options));
  }
  leat::worker_options worker(int k, int staleness = 0) {
    leat::worker_options o;
    o.target = servers[static_cast<std::size_t>(c.num_tasks("ps") + k)]->target();
    o.cluster = c;
    o.staleness = staleness;
    o.operation_timeout_in_ms = 20'000;
    o.start_timeout_in_ms = 20'000;
    return o;
  }
};

}  // namespace leat_test
