// A scalar summary of a vector.
// expect: a number has no dimensions
// expect: reduce_mean

#include <leat/leat.hpp>
#include <leat/summary/typed_summary.hpp>

int main() {
  auto x = leat::placeholder<"x", float, "n">();
#ifdef LEAT_FIXED
  auto told = leat::summary::scalar<"x">(leat::reduce_mean(x));
#else
  auto told = leat::summary::scalar<"x">(x);  // ERROR HERE
#endif
  static_cast<void>(told);
}
