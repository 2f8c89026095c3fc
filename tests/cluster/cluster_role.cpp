#include <leat/cluster/cluster_role.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace leat;
using namespace leat_test;

namespace {

environment of(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto at = values.find(name);
    return at == values.end() ? std::nullopt : std::optional(at->second);
  };
}
template <class F>
std::string refused(F f) {
  return message_of<invalid_argument>([&] { static_cast<void>(f()); });
}
cluster_flags flags(std::initializer_list<const char*> arguments) {
  std::vector<const char*> all{"program"};
  all.insert(all.end(), arguments);
  return cluster_flags(static_cast<int>(all.size()), all.data());
}

const cluster_spec three{{"ps", {"a:1"}}, {"worker", {"b:1", "c:1"}}};

}  // namespace

TEST_CASE("a cluster from JSON, in both forms, and back") {
  CHECK(cluster_spec_from_json(R"({"ps": ["a:1"], "worker": ["b:1", "c:1"]})") == three);
  CHECK(cluster_spec_from_json(json_text(three)) == three);
  CHECK(json_text(three) == R"({"job":[{"name":"ps","tasks":{"0":"a:1"}},{"name":"worker","tasks":{"0":"b:1","1":"c:1"}}]})");
  CHECK(cluster_spec_from_json(R"({"worker": {"1": "b:1", "3": "c:1"}})").task_indices("worker") == std::vector<int>{1, 3});
  CHECK(cluster_spec_from_json(R"({"job": ["a:1"]})").num_tasks("job") == 1);
  CHECK_FALSE(static_cast<bool>(cluster_spec_from_json("{}")));

  CHECK(says(refused([] { return cluster_spec_from_json("[1, 2]"); }), "an object of jobs"));
  CHECK(says(refused([] { return cluster_spec_from_json("{"); }), "not JSON"));
  CHECK(says(refused([] { return cluster_spec_from_json(""); }), "not JSON"));
  CHECK(says(refused([] { return cluster_spec_from_json(R"({"ps": "a:1"})"); }), "The tasks for job 'ps' must be a list"));
  CHECK(says(refused([] { return cluster_spec_from_json(R"({"ps": [1]})"); }), "'ps'", "Task address 1 must be"));
  CHECK(says(refused([] { return cluster_spec_from_json(R"({"ps": {"x": "a:1"}})"); }), "'ps'", "'x'"));
  CHECK(says(refused([] { return cluster_spec_from_json(R"({"ps": {"0": "a:1", "00": "b:1"}})"); }), "twice"));
  CHECK(says(refused([] { return cluster_spec_from_json(R"({"job": [{"tasks": {}}]})"); }), "has no name"));
  CHECK(says(refused([] { return cluster_spec_from_json(R"({"job": [{"name": "x"}, 3]})"); }), "has no name"));
}

TEST_CASE("a cluster from flags") {
  const auto f = flags({"--ps_hosts=a:1", "--job_name=worker", "--task_index", "1", "--worker_hosts=b:1,c:1", "--steps=7", "data.csv"});
  CHECK(f.cluster() == three);
  CHECK(f.role() == cluster_role{three, "worker", 1});
  CHECK(f.role().device() == "/job:worker/task:1");
  CHECK(f.rest == std::vector<std::string>{"--steps=7", "data.csv"});
  CHECK(flags({"--logdir=log"}).logdir == "log");
  CHECK(flags({"--chief_hosts=a:1", "--evaluator_hosts=b:1"}).cluster().jobs() == std::vector<std::string>{"chief", "evaluator"});

  CHECK(says(refused([] { return flags({"--job_name"}); }), "--job_name has no value"));
  CHECK(says(refused([] { return flags({"--job_name", "--task_index=1"}); }), "--job_name has no value"));
  CHECK(says(refused([] { return flags({"--task_index=x"}); }), "--task_index", "'x'"));
  CHECK(says(refused([] { return flags({"--task_index=-1"}); }), "'-1'"));
  CHECK(says(refused([] { return flags({"--ps_hosts=a:1", "--ps_hosts=b:1"}); }), "--ps_hosts is given twice"));
  CHECK(says(refused([] { return flags({"--ps_hosts=a:1,,b:1"}); }), "--ps_hosts"));
  CHECK(says(refused([] { return flags({"--ps_hosts=a:1,"}); }), "--ps_hosts"));
  CHECK(says(refused([] { return flags({"--ps_hosts=a"}); }), "--ps_hosts", "no port"));
  CHECK(says(refused([] { return flags({"--ps_hosts=a:1", "--job_name=zzz"}).role(); }), "Job \"zzz\" was not defined"));
}

TEST_CASE("which task a process is") {
  CHECK(role_in(cluster_spec{{"worker", {"h:1"}}}) == cluster_role{cluster_spec{{"worker", {"h:1"}}}, "worker", 0});
  CHECK(role_in(three, "ps").task_index == 0);
  CHECK(says(refused([] { return role_in(three); }), "Must specify an explicit `job_name`"));
  CHECK(says(refused([] { return role_in(three, "worker"); }), "Must specify an explicit `task_index`"));
  CHECK(says(refused([] { return role_in(three, "worker", 5); }), "Task 5 was not defined in job \"worker\""));
  CHECK(says(refused([] { return role_in(cluster_spec{}); }), "no jobs"));
}

TEST_CASE("a cluster from TF_CONFIG") {
  const std::string config = R"({"cluster": {"ps": ["a:1"], "worker": ["b:1", "c:1"]}, "task": {"type": "worker", "index": 1}})";
  CHECK(role_from_tf_config(config) == cluster_role{three, "worker", 1});
  CHECK(role_from_tf_config(of({{"TF_CONFIG", config}})) ==
        flags({"--ps_hosts=a:1", "--worker_hosts=b:1,c:1", "--job_name=worker", "--task_index=1"}).role());
  CHECK(role_from_tf_config(R"({"cluster": {"worker": ["b:1"]}, "task": {"type": "evaluator", "index": 0}})").job_name == "evaluator");
  CHECK(role_from_tf_config(R"({"cluster": {"worker": ["b:1"]}, "task": {"type": "worker", "index": "0"}})").task_index == 0);
  CHECK_THROWS_AS(role_from_tf_config(of({})), failed_precondition);
  for (const char* text :
       {"", "{}", "[]", "{\"cluster\": 3}", R"({"cluster": {"w": ["a:1"]}, "task": 3})",
        R"({"cluster": {"w": ["a:1"]}, "task": {"type": 3}})", R"({"cluster": {"w": ["a:1"]}, "task": {"type": "w", "index": 7}})",
        R"({"cluster": {"w": ["a:1"]}, "task": {"type": "w", "index": -1}})",
        R"({"cluster": {"w": ["a:1"]}, "task": {"type": "w", "index": 1e99}})",
        R"({"cluster": {"w": ["a:1"]}, "task": {"type": "w", "index": []}})"}) {
    CAPTURE(text);
    CHECK_FALSE(refused([&] { return role_from_tf_config(std::string_view(text)); }).empty());
  }
}

TEST_CASE("a cluster from Slurm's environment") {
  CHECK(slurm_hosts("n[01-03,7],x") == std::vector<std::string>{"n01", "n02", "n03", "n7", "x"});
  CHECK(slurm_hosts("r[1-2]n[3-4]") == std::vector<std::string>{"r1n3", "r1n4", "r2n3", "r2n4"});
  const auto variables = [](const char* rank) {
    return of({{"SLURM_STEP_NODELIST", "n[1-2],m"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"}, {"SLURM_PROCID", rank}});
  };
  const cluster_spec expected{{"ps", {"n1:8888"}}, {"worker", {"n1:8889", "n2:8888", "n2:8889", "m:8888"}}};
  CHECK(role_from_slurm({{"ps", 1}, {"worker", 4}}, 8888, variables("0")) == cluster_role{expected, "ps", 0});
  CHECK(role_from_slurm({{"ps", 1}, {"worker", 4}}, 8888, variables("3")) == cluster_role{expected, "worker", 2});
  CHECK(says(refused([&] { return role_from_slurm({{"ps", 1}}, 8888, variables("0")); }), "1 tasks, and 5 were started"));
  CHECK(says(refused([&] { return role_from_slurm({{"w", 5}}, 8888, variables("9")); }), "number 9 of 5"));
  CHECK(says(refused([&] { return role_from_slurm({{"w", 5}}, 65535, variables("0")); }), "65536"));
  CHECK_THROWS_AS(role_from_slurm({{"w", 1}}, 8888, of({})), failed_precondition);
  for (const char* list : {"n[", "n[]", "n]", "n[3-1]", "n[1-", "n[a]", "", "a,,b", "n[0-999999999]", "n[1-9][1-999][1-999]"}) {
    CAPTURE(list);
    CHECK_FALSE(refused([&] { return slurm_hosts(list); }).empty());
  }
  for (const char* counts : {"", "2(x", "x", "2(x1),", "2(x999999999)", "1,1", "-1,1,1"}) {
    CAPTURE(counts);
    CHECK_FALSE(refused([&] {
                  return role_from_slurm(
                      {{"w", 3}}, 8888,
                      of({{"SLURM_STEP_NODELIST", "n[1-3]"}, {"SLURM_STEP_TASKS_PER_NODE", counts}, {"SLURM_PROCID", "0"}}));
                }).empty());
  }
}

TEST_CASE("a cluster from MPI's environment") {
  const auto here = of({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}});
  const auto role = role_from_mpi({{"ps", 1}, {"worker", 2}}, {}, 9000, here);
  CHECK(role.device() == "/job:worker/task:1");
  CHECK(role.cluster == cluster_spec{{"ps", {"localhost:9000"}}, {"worker", {"localhost:9001", "localhost:9002"}}});
  const auto apart = of({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}});
  CHECK(role_from_mpi({{"w", 2}}, {"a", "b"}, 9000, apart).cluster == cluster_spec{{"w", {"a:9000", "b:9000"}}});
  CHECK_THROWS_AS(role_from_mpi({{"w", 2}}, {}, 9000, apart), failed_precondition);
  CHECK(says(refused([&] { return role_from_mpi({{"w", 2}}, {"a"}, 9000, apart); }), "1 hosts for 2"));
  CHECK_THROWS_AS(role_from_mpi({{"w", 2}}, {}, 9000, of({})), failed_precondition);
}
