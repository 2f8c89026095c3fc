#include <leat/named/scopes/cluster_spec.hpp>

#include "support/check.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>

using namespace leat;
using namespace leat_test;

TEST_CASE("jobs and tasks, in the order of names and numbers") {
  const cluster_spec c{{"worker", {"localhost:2223", "localhost:2224"}}, {"ps", {"localhost:2222"}}};
  CHECK(c.jobs() == std::vector<std::string>{"ps", "worker"});
  CHECK(c.num_tasks("worker") == 2);
  CHECK(c.task_address("worker", 1) == "localhost:2224");
  CHECK(c.size() == 3);
  CHECK(c.text() == "ClusterSpec({'ps': ['localhost:2222'], 'worker': ['localhost:2223', 'localhost:2224']})");

  const cluster_spec sparse{{"worker", {{1, "a:1"}, {3, "b:1"}}}};
  CHECK(sparse.task_indices("worker") == std::vector<int>{1, 3});
  CHECK(sparse.job_tasks("worker").size() == 4);
  CHECK_FALSE(sparse.job_tasks("worker")[2].has_value());

  const cluster_spec one{{"any", {"[::1]:9"}}};
  CHECK(one.num_tasks("any") == 1);
  CHECK(cluster_spec{{"x", {"a:1", "b:1"}}} == cluster_spec{{"x", {{0, "a:1"}, {1, "b:1"}}}});
  CHECK_FALSE(static_cast<bool>(cluster_spec{}));

  // Port 0: each such task's server has a port of its own.
  const cluster_spec chosen{{"ps", {"localhost:0", "localhost:0"}}, {"worker", {"localhost:0"}}};
  CHECK(chosen.size() == 3);
  CHECK(chosen.task_address("ps", 1) == "localhost:0");

  const std::vector<std::string> hosts{"a:1", "b:2"};
  CHECK(cluster_spec{{"x", hosts}}.num_tasks("x") == 2);
}

TEST_CASE("what does not make a cluster is refused, naming the entry") {
  const auto said = [](const std::vector<cluster_spec::job>& jobs) {
    return message_of<invalid_argument>([&] { static_cast<void>(cluster_spec(jobs)); });
  };
  CHECK(says(said({{"ps", {"localhost"}}}), "/job:ps/task:0", "'localhost' has no port"));
  CHECK(says(said({{"ps", {"a:1", "b:65536"}}}), "/job:ps/task:1", "'65536'"));
  for (const char* address : {"a:-1", "a:1x", "a:", ":1", "a b:1", "::1:5", "[:1", "a:99999999999", "tcp://a:1", "a:1,b:2"}) {
    CAPTURE(address);
    CHECK(says(said({{"ps", {std::string(address)}}}), "/job:ps/task:0"));
  }
  CHECK(says(said({{"ps", {"a:1"}}, {"worker", {"b:1", "a:1"}}}), "/job:ps/task:0", "/job:worker/task:1", "'a:1'"));
  CHECK(says(said({{"ps", {"a:1"}}, {"ps", {"b:1"}}}), "'ps' is given twice"));
  CHECK(says(said({{"", {"a:1"}}}), "without a name"));
  CHECK(says(said({{"a/b", {"a:1"}}}), "'a/b'"));
  CHECK(says(said({{"ps", cluster_spec::task_map{{-1, "a:1"}}}}), "/task:-1"));
  const cluster_spec c{{"ps", {"a:1"}}};
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(c.num_tasks("zzz")); }), "No such job in cluster: 'zzz'", "ps"));
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(c.task_address("ps", 9)); }), "No task with index 9 in job 'ps'"));
}
