// What a recorded cluster of TensorFlow, three servers and one client, gave in-graph: all thirteen observations.

#include <leat/cluster.hpp>
#include <leat/cluster/worker_session.hpp>

#include "cluster/support/cluster_here.hpp"
#include "support/reference_json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

using namespace leat;
using namespace leat_test;

namespace {

const nlohmann::json& observed(const nlohmann::json& all, std::string_view beginning) {
  for (const nlohmann::json& one : all)
    if (one.at("what").get<std::string>().starts_with(beginning)) return one;
  throw not_found("no observation " + std::string(beginning));
}
const nlohmann::json& result_of(const nlohmann::json& all, std::string_view beginning) { return observed(all, beginning).at("result"); }
std::string error_of(const nlohmann::json& all, std::string_view beginning) {
  return observed(all, beginning).at("error").at("type").get<std::string>();
}
std::vector<float> numbers(const nlohmann::json& one) { return one.at("data").get<std::vector<float>>(); }

}  // namespace

TEST_CASE("the recorded in-graph runs") {
  const auto recorded = reference_json("training.json");
  if (!recorded) return;
  const nlohmann::json& all = recorded->at("cluster").at(0).at("result").at("observations");
  cluster_here c(1, 2);
  const auto at = [&](int k) { return session_options{.target = c.servers[static_cast<std::size_t>(k)]->target()}; };
  {
    graph g;
    const auto scope = g.as_default();
    output x, y, z;
    {
      const device d("/job:ps/task:0");
      x = variable(ones_of({2, 2}), "x");
      y = variable(ones_of({2, 2}), "y");
    }
    {
      const device d("/job:worker/task:0");
      z = add(matmul(x, y), x);
    }
    {
      const device d("/job:worker/task:1");
      z = add(matmul(z, x), x);
    }
    const auto init = global_variables_initializer();
    for (const auto& [k, what] :
         {std::pair(1, "in-graph over"), {2, "the same, session target worker:1"}, {0, "the same, session target ps:0"}}) {
      graph_session s(g, at(k));
      s.run(init);
      CHECK(s.run(z).as<std::vector<float>>() == numbers(observed(all, what).at("result")));
    }
    CHECK(observed(all, "the same without a target").at("error").at("type") == "InvalidArgumentError");
    graph_session alone(g);
    CHECK_THROWS_AS(alone.run(init), invalid_argument);
  }
  {
    graph g;
    const auto scope = g.as_default();
    const device d("/job:worker/task:0/cpu:0");
    const output a = constant({1.5f, 6.0f});
    const output b = variable({1.5f, 3.2f}, "b_of_18");
    const output next = assign(b, multiply(add(multiply(a, b), divide(a, b)), a));
    graph_session s(g, at(1));
    s.run(global_variables_initializer());
    const auto is = s.run(next).as<std::vector<float>>();
    const auto wanted = numbers(observed(all, "a, b on worker:0").at("result"));
    for (std::size_t k = 0; k < 2; ++k) CHECK(is[k] == doctest::Approx(wanted[k]).epsilon(1e-6));
  }
  {
    CHECK(observed(all, "a task that the cluster does not have").at("error").at("type") == "InvalidArgumentError");
    graph g;
    const auto scope = g.as_default();
    const device d("/job:worker/task:7");
    const output nowhere = multiply(constant(1.0f), constant(2.0f));
    graph_session s(g, at(0));
    CHECK_THROWS_AS(s.run<float>(nowhere), invalid_argument);
  }
  {
    const nlohmann::json& shared = result_of(all, "a variable on ps:0 is shared by name between sessions");
    graph first, second, elsewhere;
    const auto counter = [](graph& g, const char* where) {
      const auto scope = g.as_default();
      const device d(where);
      const output v = variable(2, "shared_between_clients");
      return std::pair(v, assign_add(v, 1));
    };
    const auto [v, more] = counter(first, "/job:ps/task:0");
    {
      const auto scope = first.as_default();
      graph_session s(first, at(1));
      s.run(global_variables_initializer());
      CHECK(s.run<int>(v) == shared.at("first_client").get<int>());
    }
    const auto [again, its_own] = counter(second, "/job:ps/task:0");
    graph_session s(second, at(2));
    CHECK(s.run<int>(again) == shared.at("second_client_without_initialising").get<int>());
    CHECK(s.run<int>(its_own) == shared.at("after_its_own_increment").get<int>());
    CHECK(shared.at("same_name_on_another_task") == "FailedPreconditionError");
    const output other = counter(elsewhere, "/job:worker/task:0").first;
    graph_session there(elsewhere, at(1));
    CHECK_THROWS_AS(there.run<int>(other), failed_precondition);
  }
  {
    graph g;
    const auto scope = g.as_default();
    output v;
    {
      const container kept("a_container");
      v = variable(1.0f, "in_container");
    }
    graph_session s(g, at(1));
    s.run(global_variables_initializer());
    CHECK(s.run<float>(v) == 1);
    s.reset("a_container");
    CHECK(error_of(all, "Session.reset of a container") == "FailedPreconditionError");
    CHECK_THROWS_AS(s.run<float>(v), failed_precondition);
  }
  {
    const nlohmann::json& placed = result_of(all, "nodes without a device go to");
    graph g;
    const auto scope = g.as_default();
    const output doubled = multiply(constant({1.0f, 2.0f}), constant(2.0f));
    graph_session s(g, at(2));
    CHECK(s.run(doubled).as<std::vector<float>>() == numbers(placed.at("value")));
    std::vector<std::string> devices;
    for (const auto& [device, part] : s.part_graphs({doubled})) devices.push_back(device);
    CHECK(devices == placed.at("devices").get<std::vector<std::string>>());
  }
  {
    const nlohmann::json& cut = result_of(all, "how a graph over ps:0 and worker:1 is cut");
    graph g;
    const auto scope = g.as_default();
    output v, b;
    {
      const device d("/job:ps/task:0");
      v = variable({1.0f, 2.0f}, "v");
    }
    {
      const device d("/job:worker/task:1");
      b = multiply(constant(3.0f, "b/y"), v, "b");
    }
    graph_session s(g, at(1));
    s.run(global_variables_initializer());
    CHECK(s.run(b).as<std::vector<float>>() == numbers(cut.at("value")));
    // What is fetched travels with a part's answer, where TensorFlow has a pair of nodes, and with them a part of the target's.
    std::map<std::string, std::vector<std::string>> here, there;
    for (const auto& [device, part] : s.part_graphs({b}))
      for (const node_def& n : part.nodes) {
        here[device].push_back(n.op);
        CHECK(n.device == device);
      }
    for (const nlohmann::json& part : cut.at("partitions"))
      for (const nlohmann::json& n : part)
        if (!n.at("name").get<std::string>().starts_with("_send_b") && !n.at("name").get<std::string>().starts_with("b_S"))
          there[n.at("device").get<std::string>()].push_back(n.at("op").get<std::string>());
    for (auto* parts : {&here, &there})
      for (auto& [device, operators] : *parts) std::sort(operators.begin(), operators.end());
    CHECK(here == there);
  }
  {
    graph g;
    graph_session s(g, at(1));
    CHECK(s.list_devices() == result_of(all, "devices that a session sees").at("list_devices").get<std::vector<std::string>>());
    session_options filtered = at(1);
    filtered.device_filters = {"/job:ps"};
    graph_session some(g, filtered);
    CHECK(some.list_devices() ==
          std::vector<std::string>{"/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"});
    CHECK(graph_session(g).list_devices() == std::vector<std::string>{"/job:localhost/replica:0/task:0/device:CPU:0"});
  }
  {
    graph g;
    CHECK(error_of(all, "a target that nobody serves") == "DeadlineExceededError");
    CHECK_THROWS_AS(graph_session(g, {.target = "tcp://" + free_address(), .start_timeout_in_ms = 300}), deadline_exceeded);
    CHECK(error_of(all, "a malformed target") == "NotFoundError");
    CHECK_THROWS_AS(graph_session(g, {.target = "nonsense://x"}), not_found);
  }
}
