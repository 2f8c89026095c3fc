// A graph at run time and its session, in one source: the linear regression of docs/sessions.md.
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include <cstdio>

int main() {
  using namespace leat;
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
  std::printf("%.4f after %.3f %.3f\n", static_cast<double>(value), static_cast<double>(weights(0, 0)),
              static_cast<double>(weights(1, 0)));
}
