// A step that gives a state of another shape.
// expect: scan: state is float32 [batch, 4], and float32 [batch, 3] after a step
#include <leat/leat.hpp>

#include <leat/loops.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto xs = placeholder<"xs", float, "time", "batch", 3>();
  auto h0 = placeholder<"h0", float, "batch", 4>();
  auto w = variable<"w", float, 4, 3>(zeros);
#ifdef LEAT_FIXED
  auto f = [&](auto h, auto x) { return std::tuple(h + reduce_sum_keep<1>(x), matmul(h, w)); };
#else
  auto f = [&](auto h, auto x) { return std::tuple(matmul(h, w) + x, x); };
#endif
  auto [last, ys] = scan(f, h0, xs);  // ERROR HERE
}
