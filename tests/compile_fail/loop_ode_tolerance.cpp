// An equation with control of the error, without an absolute tolerance.
// expect: solve_dormand_prince<maximum>(f, y0, t0, t1, relative, absolute) takes a function of time and state
#include <leat/leat.hpp>

#include <leat/loops.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto y0 = placeholder<"y0", double, 2>();
  auto t0 = constant<0.0>();
  auto t1 = constant<1.0>();
  auto decay = [](auto, auto y) { return -y; };
#ifdef LEAT_FIXED
  auto end = solve_dormand_prince<100>(decay, y0, t0, t1, 1e-6_c, 1e-9_c);
#else
  auto end = solve_dormand_prince<100>(decay, y0, t0, t1, 1e-6_c);  // ERROR HERE
#endif
}
