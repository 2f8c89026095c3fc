// Sessions of graphs at run time as docs/sessions.md shows them.

// [listing sessions_includes]
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/session/graph_session.hpp>

#include <cstdio>
// [end]

using namespace leat;

namespace {

void first() {
  // [listing sessions_first]
  graph g;
  auto scope = g.as_default();
  auto x = placeholder(dtype::float32, {-1, 2}, "x");
  auto y = placeholder(dtype::float32, {-1}, "y");
  auto w = variable({{0.0f}, {0.0f}}, "w");
  auto loss = reduce_mean(square(squeeze(matmul(x, w), {1}) - y), {0}, keep_dims::no, "loss");
  auto train = assign_sub(w, gradients({loss}, {w})[0] * 0.1f, "train");

  graph_session s(g);
  s.run(global_variables_initializer());
  const xt::xtensor<float, 2> xs{{1, 0}, {0, 1}, {1, 1}};
  const xt::xtensor<float, 1> ys{2, -1, 1};
  for (int i = 0; i < 200; ++i) s.run(train, {{x, xs}, {y, ys}});

  auto [value, weights] = s.run<float, xt::xtensor<float, 2>>({loss, w}, {{x, xs}, {y, ys}});
  std::printf("%.4f after %.3f %.3f\n", value, weights(0, 0), weights(1, 0));
  // [end]

  // [listing sessions_fetches]
  auto list = s.run({loss, "w:0"}, {{x, {{1.0f, 1.0f}}}, {"y:0", {1.0f}}});
  std::printf("%s\n", brackets(list[1].extent()).c_str());
  auto map = s.run(std::map<std::string, output>{{"weights", w}});
  std::vector<float> numbers = map["weights"];
  std::printf("%zu\n", numbers.size());
  std::printf("%g\n", s.run<float>(loss, {{loss, 7.0f}}));
  // [end]

  // [listing sessions_prepared]
  auto step = s.prepare({loss, train.operation()}, {x, y});
  for (int i = 0; i < 3; ++i) {
    const auto& results = step(xs, ys);
    std::printf("%.4f\n", results[0].as<float>());
  }
  // [end]
}

void order() {
  graph g;
  auto scope = g.as_default();
  // [listing sessions_order]
  auto v = variable(1.0f, "v");
  auto before = multiply(v, 10.0f);
  auto set = assign(v, 5.0f, "set");
  output after;
  {
    auto waits = control_dependencies({set});
    after = multiply(v, 10.0f);
  }
  graph_session s(g);
  s.run(initializer_of(v));
  auto [a, b] = s.run<float, float>({before, after});
  std::printf("%g %g\n", a, b);
  // [end]
}

void errors() {
  graph g;
  auto scope = g.as_default();
  // [listing sessions_errors]
  auto x = placeholder(dtype::float32, {-1, 3}, "x");
  auto w = variable(2.0f, "w");
  auto y = multiply(x, w, "y");
  graph_session s(g);
  const auto tell = [](const error& e) {
    const std::string text = e.what();
    std::printf("%s\n", text.substr(0, text.find('\n')).c_str());
  };
  try {
    s.run(y, {{x, {{1.0f, 2.0f, 3.0f}}}});
  } catch (const failed_precondition& e) {
    tell(e);
  }
  s.run(global_variables_initializer());
  try {
    s.run(y);
  } catch (const invalid_argument& e) {
    tell(e);
  }
  // [end]
}

void own() {
  // [listing sessions_kernel]
  define_operator("Doubled(x: T) -> (y: T)", [](shape_context& c) { c.set(0, c.input(0).extent); });
  register_kernel("Doubled", [](kernel_context& c) {
    tensor_value made = c.input(0).copy();
    for (float& v : made.values<float>()) v *= 2;
    c.set(0, std::move(made));
  });
  graph g;
  auto scope = g.as_default();
  auto twice = call_operator(g, "Doubled", {constant({1.0f, 2.0f})}).result();
  graph_session s(g);
  std::printf("%s\n", summary_text(s.run(twice)).c_str());
  // [end]
}

}  // namespace

int main() {
  first();
  order();
  errors();
  own();
}
