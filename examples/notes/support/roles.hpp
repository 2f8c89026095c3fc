#pragma once
// Programs of a cluster: one source is every role. A process that is given `--job_name` is that task of the cluster.

#include <leat/cluster.hpp>

#include <cstdio>
#include <string_view>

namespace leat::examples {

/// Whether the arguments say which task a process is.
inline bool has_role(int count, char** arguments) {
  for (int k = 1; k < count; ++k)
    if (std::string_view(arguments[k]).starts_with("--job_name")) return true;
  return false;
}

/// Says who is there, and who this is.
inline void introduce(const server& here) {
  for (const std::string& job : here.cluster().jobs()) {
    std::printf("job %s:", job.c_str());
    for (const auto& [index, address] : here.cluster().tasks(job)) std::printf(" %d -> %s", index, address.c_str());
    std::printf("\n");
  }
  std::printf("started server with target %s\n", here.target().c_str());
  std::fflush(stdout);
}

/// Runs the role's part of a program, printing what it throws: 0 if all is well.
template <class Part>
int run_role(Part part) {
  try {
    return part();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}

}  // namespace leat::examples
