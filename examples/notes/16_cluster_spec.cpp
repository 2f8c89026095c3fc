// Who is there: a cluster's jobs, their tasks and addresses, from code, flags, JSON and the environment.
//
//   ps      task 0  localhost:2222
//   worker  task 0  localhost:2223
//           task 1  localhost:2224

#include <leat/cluster.hpp>

#include "support/notes.hpp"

using namespace leat;
using namespace leat::examples;

namespace {

const cluster_spec example{{"ps", {"localhost:2222"}}, {"worker", {"localhost:2223", "localhost:2224"}}};

void jobs_and_tasks() {
  item("16.1", "jobs and their tasks");
  std::string jobs;
  for (const std::string& job : example.jobs()) jobs += (jobs.empty() ? "" : " ") + job;
  expect_text("jobs", jobs, "ps worker");
  expect("tasks of worker", example.num_tasks("worker"), 2);
  expect_text("task 1", example.task_address("worker", 1), "localhost:2224");
  expect_text("all of it", example.text(), "ClusterSpec({'ps': ['localhost:2222'], 'worker': ['localhost:2223', 'localhost:2224']})");
  const cluster_spec sparse{{"solo", {{3, "localhost:2225"}}}};
  expect_text("one job of any name, whose only task is number 3", sparse.task_address("solo", 3), "localhost:2225");
  expect_refused<invalid_argument>("a job that is not there", "No such job in cluster: 'zzz'", [] { (void)example.num_tasks("zzz"); });
  expect_refused<invalid_argument>("a task that is not there", "No task with index 9 in job 'ps'",
                                   [] { (void)example.task_address("ps", 9); });
  expect_refused<invalid_argument>("an address without a port", "/job:ps/task:0", [] { cluster_spec{{"ps", {"localhost"}}}; });
  expect_refused<invalid_argument>("an address twice", "/job:ps/task:0 and /job:worker/task:0",
                                   [] { cluster_spec{{"ps", {"a:1"}}, {"worker", {"a:1"}}}; });
}

void from_texts() {
  item("16.2", "the same cluster from texts");
  const char* arguments[] = {"program", "--ps_hosts=localhost:2222", "--worker_hosts=localhost:2223,localhost:2224", "--job_name=worker",
                             "--task_index=1"};
  const cluster_flags flags(5, arguments);
  expect_true("by flags", flags.cluster() == example);
  expect_true("by JSON",
              cluster_spec_from_json(R"({"ps": ["localhost:2222"], "worker": ["localhost:2223", "localhost:2224"]})") == example);
  const cluster_role role = role_from_tf_config(
      R"({"cluster": {"ps": ["localhost:2222"], "worker": ["localhost:2223", "localhost:2224"]}, "task": {"type": "worker", "index": 1}})");
  expect_true("by TF_CONFIG", role.cluster == example);
  expect_text("this process is", role.device(), "/job:worker/task:1");
  expect_true("and by flags, too", flags.role() == role);
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "clusters: who is there",
                      {{"jobs", "jobs, tasks, addresses", jobs_and_tasks}, {"texts", "flags, JSON, TF_CONFIG", from_texts}});
}
