#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/scopes/replica_device_setter.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include "support/messages.hpp"
#include "support/reference_json.hpp"

#include <map>
#include <string>

using namespace leat;
using leat_test::reference_json;
using nlohmann::json;

namespace {

// The device functions of placement.json by their descriptions.
device_function function_named(const std::string& text) {
  if (text == "MatMul to /gpu:0, others to /cpu:0")
    return [](const graph_operation& op) { return op.type() == "MatMul" ? "/gpu:0" : "/cpu:0"; };
  if (text == "all to /cpu:1") return [](const graph_operation&) { return "/cpu:1"; };
  if (text == "keep the node's own request, else /job:f")
    return [](const graph_operation& op) { return op.device().empty() ? std::string("/job:f") : op.device(); };
  if (text == "returns null") return [](const graph_operation&) { return std::nullopt; };
  if (text == "answer the name of the node as a task of job t by its length")
    return [](const graph_operation& op) { return "/job:t/task:" + std::to_string(op.name().size()); };
  FAIL("a device function that this test does not know: " << text);
  return {};
}

void steps(const json& list) {
  for (const auto& step : list) {
    if (step.contains("device")) {
      if (step["device"].is_null()) {
        const device scope(nullptr);
        steps(step["body"]);
      } else if (step["device"].is_object()) {
        const device scope(function_named(step["device"]["function"]));
        steps(step["body"]);
      } else {
        const device scope(step["device"].get<std::string>());
        steps(step["body"]);
      }
      continue;
    }
    INFO(step.dump());
    if (step.contains("error")) {
      CHECK_THROWS_AS(constant(1.0f, step["node"].get<std::string>()), invalid_argument);
      continue;
    }
    if (step.contains("matmul")) {
      const auto m = matmul({{1.0f}}, {{1.0f}}, step["matmul"].get<std::string>());
      CHECK(json(m.operation().device()) == step["result"]);
      json inputs = json::array();
      for (const auto& in : m.operation().inputs()) inputs.push_back(in.operation().device());
      CHECK(inputs == step["inputs_devices"]);
      continue;
    }
    CHECK(json(constant(1.0f, step["node"].get<std::string>()).operation().device()) == step["result"]);
  }
}

// The device of a node of another type than its process, or the process alone.
std::string device_spec_text(const std::string& text, bool type) {
  const device_spec whole = parse_device(text);
  device_spec part;
  if (type) {
    part.type = whole.type;
    part.index = whole.index;
  } else {
    part.job = whole.job;
    part.replica = whole.replica;
    part.task = whole.task;
  }
  return part.text();
}

cluster_spec cluster_of(const json& given) {
  std::vector<cluster_spec::job> jobs;
  for (auto job = given.begin(); job != given.end(); ++job) {
    cluster_spec::task_map tasks;
    for (auto task = job.value().begin(); task != job.value().end(); ++task)
      tasks[job.value().is_object() ? std::stoi(task.key()) : static_cast<int>(tasks.size())] = task->get<std::string>();
    jobs.emplace_back(job.key(), tasks);
  }
  return cluster_spec(jobs);
}

replica_device_options options_of(const json& args) {
  replica_device_options options;
  options.ps_tasks = args.value("ps_tasks", 0);
  options.ps_device = args.value("ps_device", options.ps_device);
  options.worker_device = args.value("worker_device", options.worker_device);
  options.merge_devices = args.value("merge_devices", true);
  if (args.contains("cluster")) {
    options.cluster = cluster_of(args["cluster"]);
  }
  if (args.contains("ps_ops")) options.ps_ops = args["ps_ops"].get<std::vector<std::string>>();
  if (args.contains("strategy")) options.strategy = greedy_load_balancing(options.ps_tasks);
  return options;
}

}  // namespace

TEST_CASE("device scopes and functions place nodes as in TensorFlow") {
  const auto reference = reference_json("placement.json");
  if (!reference) return;
  for (const auto& program : (*reference)["device_scopes"]) {
    INFO(program["id"].get<std::string>());
    graph g;
    const auto scope = g.as_default();
    steps(program["steps"]);
  }
}

TEST_CASE("replica_device_setter answers as TensorFlow's") {
  const auto reference = reference_json("placement.json");
  if (!reference) return;
  for (const auto& row : (*reference)["setter"]) {
    INFO(row["id"].get<std::string>());
    const auto setter = replica_device_setter(options_of(row["args"]));
    CHECK(static_cast<bool>(setter) != row["function_is_null"]);
    if (!setter) continue;
    graph g;
    const auto scope = g.as_default();
    for (const auto& request : row["requests"]) {
      const device own([text = request["requested"].get<std::string>()](const graph_operation&) { return text; });
      tensor_info result{dtype::float32, shape::unknown()};
      if (request["dtype"].is_string())
        for (auto d : {dtype::float32, dtype::float64, dtype::int64})
          if (json(name_of_dtype(d)) == request["dtype"]) result.type = d;
      if (request["shape"].is_array()) {
        result.extent = {};
        for (const auto& d : request["shape"]) result.extent.push(d.get<std::int64_t>());
      }
      const auto node = g.named().raw(g, request["op"].get<std::string>(), {}, {}, {result}, request["name"].get<std::string>());
      const auto chosen = setter(node);  // each call deals out the next task
      CHECK((chosen ? json(*chosen) : json()) == request["device"]);
    }
  }
}

TEST_CASE("variables go to parameter servers with their assignments and reads") {
  const auto reference = reference_json("placement.json");
  if (!reference) return;
  const std::map<std::string, replica_device_options> programs{
      {"four_variables_three_ps", {.ps_tasks = 3}},
      {"four_variables_cluster",
       {.worker_device = "/job:worker/task:0", .cluster = cluster_spec{{"ps", {"a:1", "b:1"}}, {"worker", {"c:1", "d:1", "e:1"}}}}},
      {"greedy", {.ps_tasks = 2, .strategy = greedy_load_balancing(2)}},
      {"no_merge", {.ps_tasks = 2, .merge_devices = false}}};
  for (const auto& row : (*reference)["setter_graphs"]) {
    const auto program = programs.find(row["id"].get<std::string>());
    if (program == programs.end()) continue;  // the one with an optimizer
    INFO(program->first);
    graph g;
    const auto scope = g.as_default();
    std::map<std::string, std::string> expected;
    for (const auto& node : row["nodes"]) expected[node["name"]] = node["device"];
    // what of its devices the recorded program was asked for
    replica_device_options options = program->second;
    options.worker_device = device_spec_text(expected["zeros"], false);
    const std::string own_device = device_spec_text(expected["sq"], true);
    {
      const device servers(replica_device_setter(options));
      // the sizes matter to the greedy strategy
      for (int layer = 0; layer < 2; ++layer) {
        const std::string number = std::to_string(layer);
        const std::int64_t columns = layer == 0 ? 8 : 16;
        variable(zeros_of({layer == 0 ? 4 : 2, columns}), "w_" + number);
        variable(zeros_of({columns}), "b_" + number);
      }
      const device own(own_device);
      const auto v = variable(1.0f, "own");
      square(v, "sq");
    }
    for (const auto& op : get_operations(g)) {
      INFO(op.name());
      CHECK(op.device() == expected[op.name()]);
    }
  }
}

TEST_CASE("nothing and functions that answer nothing") {
  graph g;
  const auto scope = g.as_default();
  CHECK_FALSE(static_cast<bool>(replica_device_setter({})));
  const device outer("/job:x");
  {
    const device cleared(replica_device_setter({}));
    CHECK(constant(1.0f).operation().device().empty());
  }
  CHECK(constant(1.0f).operation().device() == "/job:x");
  CHECK_THROWS_AS(static_cast<void>(replica_device_setter({.ps_tasks = 1, .ps_device = "/nowhere:1"})), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(greedy_load_balancing(0)), invalid_argument);
}

TEST_CASE("placement by bytes of what has no known shape, and of what asks for a device") {
  graph g;
  const auto scope = g.as_default();
  const auto strategy = greedy_load_balancing(3);
  const auto setter = replica_device_setter({.ps_tasks = 3, .ps_device = "/job:ps/gpu:0", .ps_ops = {"VariableV2", "MatMul"}, .strategy = strategy});
  const auto place = [&](const std::string& type, const shape& extent, const std::string& requested) {
    const device own([&](const graph_operation&) { return requested; });
    return setter(g.named().raw(g, type, {}, {}, {{dtype::float32, extent}})).value_or("none");
  };
  CHECK(place("VariableV2", shape_value{2}, "") == "/job:ps/task:0/device:GPU:0");
  CHECK(place("MatMul", shape::unknown(), "/gpu:1") == "/job:ps/task:1/device:GPU:1");        // one element
  CHECK(place("VariableV2", shape_value{-1, 3}, "/cpu:0") == "/job:ps/task:2/device:CPU:0");  // three
  CHECK(place("MatMul", shape::unknown(), "") == "/job:ps/task:1/device:GPU:0");
  CHECK(place("VariableV2", shape_value{2}, "/job:mine/gpu:*") == "/job:mine/device:GPU:0");
  CHECK(place("VariableV2", shape_value{5}, "") == "/job:ps/task:0/device:GPU:0");
  CHECK(place("VariableV2", shape_value{5}, "") == "/job:ps/task:1/device:GPU:0");
}

TEST_CASE("cluster specifications answer as TensorFlow's") {
  const auto reference = reference_json("placement.json");
  if (!reference) return;
  for (const auto& row : (*reference)["clusters"]) {
    INFO(row["str"].get<std::string>());
    const cluster_spec c = cluster_of(row["given"]);
    CHECK(json(c.jobs()) == row["jobs"]);
    CHECK(static_cast<bool>(c) == row["bool"].get<bool>());
    CHECK(c.text() == row["str"].get<std::string>());
    CHECK(c == cluster_spec(c));
    for (auto job = row["per_job"].begin(); job != row["per_job"].end(); ++job) {
      INFO(job.key());
      // An answer, or TensorFlow's error.
      const auto answers = [&](const json& expected, const auto& ask) {
        if (!expected.is_object() || !expected.contains("error")) {
          CHECK(ask() == expected);
        } else if (expected["error"]["message"].get<std::string>().starts_with("No ")) {
          const std::string said = leat_test::message_of<invalid_argument>([&] { ask(); });
          CHECK(said.starts_with(expected["error"]["message"].get<std::string>()));
        }
      };
      for (auto asked = job->begin(); asked != job->end(); ++asked) {
        const std::string question = asked.key();
        INFO(question);
        if (question == "num_tasks") answers(*asked, [&] { return json(c.num_tasks(job.key())); });
        if (question == "task_indices") answers(*asked, [&] { return json(c.task_indices(job.key())); });
        if (question == "job_tasks")
          answers(*asked, [&] {
            json list = json::array();
            for (const auto& address : c.job_tasks(job.key())) list.push_back(address ? json(*address) : json());
            return list;
          });
        if (question.starts_with("task_address_"))
          answers(*asked, [&] { return json(c.task_address(job.key(), std::stoi(question.substr(13)))); });
      }
    }
  }
}
