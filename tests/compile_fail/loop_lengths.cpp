// Sequences of different lengths.
// expect: scan: sequence 1 has time steps, sequence 2 has 10
#include <leat/leat.hpp>

#include <leat/loops.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto xs = placeholder<"xs", float, "time", 3>();
#ifdef LEAT_FIXED
  auto ys = placeholder<"ys", float, "time">();
#else
  auto ys = placeholder<"ys", float, 10>();
#endif
  auto h0 = placeholder<"h0", float, 3>();
  auto f = [](auto h, auto x) { return std::tuple(h + std::get<0>(x), std::get<1>(x)); };
  auto [last, out] = scan(f, h0, std::tuple(xs, ys));  // ERROR HERE
}
