#pragma once
// The commands that need the cluster library: keys, serve and cluster. In a build without it each is an error that says so.

#include <cstdint>
#include <string>
#include <vector>

namespace tool {

/// What the command line says of a cluster: by flags, a file, the environment, or one of its servers.
struct cluster_request {
  std::vector<std::string> flags{};  // --ps_hosts=a:1 and its like, --job_name=ps, --task_index=0
  std::string file{};                // --cluster
  std::string from{};                // --from
  std::string jobs{};                // --jobs, for Slurm: "ps=1,worker=3"
  int first_port = 8888;
  std::string target{};

  std::string keys{};
  std::vector<std::string> server_keys{}, allowed{};
  bool insecure_network = false;
  std::string run{};
  bool until_done = false;
  double timeout = 5;  // seconds
  bool wait = false;   // for tasks that are not there
};

/// Takes the flags of a cluster out of a command line, whose first word is the command. `--NAME_hosts` may have any name, which the parser
/// of options cannot know. Errors: usage_error.
std::vector<std::string> take_cluster_flags(std::vector<std::string>& words);

/// All return exit codes: 0, or 1 if the server could not start, or a task is not up.
/// Errors: usage_error for a cluster that is none; those of files.
int make_keys(const std::string& path);
int show_keys(const std::string& path);
int serve(const cluster_request& request);
int show_cluster(const cluster_request& request);

}  // namespace tool
