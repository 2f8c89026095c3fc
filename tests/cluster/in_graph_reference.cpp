// What a recorded cluster of TensorFlow, three servers and one client, gave in-graph: those observations that are values or errors of sessions.

#include <leat/cluster.hpp>
#include <leat/cluster/worker_session.hpp>

#include "cluster/support/cluster_here.hpp"
#include "support/reference_json.hpp"

#include <doctest/doctest.h>

using namespace leat;
using namespace leat_test;

namespace {

const nlohmann::json& observed(const nlohmann::json& all, std::string_view beginning) {
  for (const nlohmann::json& one : all)
    if (one.at("what").get<std::string>().starts_with(beginning)) return one;
  throw not_found("no observation " + std::string(beginning));
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
}
