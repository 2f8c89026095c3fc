// A global object that differentiates and runs a graph before `main`: the operators, kernels and gradients are known by then,
// although another source has them (LEAT_SEPARATE_COMPILATION) and the linker may put that one last.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include <cmath>
#include <cstdio>

namespace {

float slope_before_main() try {
  using namespace leat;
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2}, "x");
  const auto y = reduce_sum(square(relu(x)));
  const auto slope = gradients({y}, {x})[0];
  graph_session s(g);
  return s.run<float>(reduce_sum(slope), {{x, {3.0f, -1.0f}}});
} catch (const std::exception& e) {
  std::printf("%s\n", e.what());
  return NAN;
}

const float slope = slope_before_main();

}  // namespace

int main() { return slope == 6.0f ? 0 : 1; }
