#include <leat/io/saved_typed_model.hpp>

#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;
using leat_test::scratch_folder;
namespace files = std::filesystem;

namespace {

const xt::xtensor<float, 2> points{{1, 2, 0.5f}, {3, 4, -1}, {-1, 0.5f, 2}, {0, 1, 1}};
const xt::xtensor<float, 1> goals{1, 2, 3, 4};

bool near(const std::vector<float>& a, const std::vector<float>& b) {
  bool all = a.size() == b.size();
  for (std::size_t i = 0; all && i < a.size(); ++i) all = std::abs(a[i] - b[i]) <= 1e-5f * (1 + std::abs(b[i]));
  return all;
}

}  // namespace

TEST_CASE("constant arrays are saved, as those of the session's expressions") {
  const scratch_folder scratch("saved_typed_model_arrays");
  const auto x = placeholder<"x", float, "batch", 3>();
  const auto make = [&](float scale) {
    const auto w = variable<"w">(std::array<std::array<float, 1>, 3>{{{1.0f}, {2.0f}, {3.0f}}});
    return squeeze<1>(matmul(x * constant(std::array{scale, 1.0f, 0.0f}), w));
  };
  const auto y = make(10.0f);
  session s{y};
  s.initialize();
  io::save_model(scratch.path / "model", s, {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
  const io::saved_model m = io::load_model(scratch.path / "model");
  auto [values] = s.run(fetch(y), x = points);
  CHECK(near(m.run("serving_default", {{"x", points}})["y"], std::vector<float>(values.begin(), values.end())));
}

TEST_CASE("a typed model is trained, saved, loaded, and trained on") {
  const scratch_folder scratch("saved_typed_model");
  auto x = placeholder<"x", float, "batch", 3>();
  auto goal = placeholder<"goal", float, "batch">();
  auto w = variable<"w", float, 3, 1>(random_uniform(-0.5f, 0.5f, 3));
  auto b = variable<"b", float>(0.25f);
  auto rate = parameter<"rate">(0.5f);
  auto y = squeeze<1>(matmul(x, w)) + b;
  auto loss = reduce_mean(square(y - goal));
  auto train = adam(rate).minimize(loss);
  session s{y, loss, train};
  const io::save_model_options options{.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}},
                                                      {"evaluate", {.inputs = {{"x", x}, {"goal", goal}}, .outputs = {{"loss", loss}}}}},
                                       .collections = {{"train_op", {train}}}};
  CHECK_THROWS_AS(io::save_model(scratch.path / "model", s, options), failed_precondition);
  s.initialize();
  s.assign(rate, 0.05f);
  for (int k = 0; k < 30; ++k) s.run(fetch(train), x = points, goal = goals);
  io::save_model(scratch.path / "model", s, options);

  const io::saved_model m = io::load_model(scratch.path / "model");
  CHECK(m.session().uninitialized_variables().empty());
  const auto typed = [&] {
    auto [values] = s.run(fetch(y), x = points);
    return std::vector<float>(values.begin(), values.end());
  };
  CHECK(near(m.run("serving_default", {{"x", points}})["y"], typed()));
  CHECK(m.run("evaluate", {{"x", points}, {"goal", goals}})["loss"].as<float>() > 0);
  CHECK(get_tensors(m.graph(), "trainable_variables").size() == 2);

  // slots, powers and the parameter are there: the next steps are the same
  const auto step = std::get<graph_operation>(get_collection(m.graph(), "train_op").at(0));
  for (int k = 0; k < 5; ++k) {
    s.run(fetch(train), x = points, goal = goals);
    m.session().run(step, {{"x", points}, {"goal", goals}});
  }
  CHECK(near(m.run("serving_default", {{"x", points}})["y"], typed()));

  auto small = options;
  small.whole_graph = false;
  small.signatures.erase("evaluate");
  small.collections = {};
  io::save_model(scratch.path / "small", s, small);
  const io::saved_model n = io::load_model(scratch.path / "small");
  CHECK(saved_variables(n.graph()).size() == 2);
  CHECK(near(n.run("serving_default", {{"x", points}})["y"], typed()));
}
