// A Cholesky decomposition of integers.
// expect: Cholesky: takes floating-point dtypes only
// expect: int32 [2, 2]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto w = variable<"w", std::int32_t, 2, 2>(zeros);
#ifdef LEAT_FIXED
  auto l = cholesky(cast<double>(w));
#else
  auto l = cholesky(w);  // ERROR HERE
#endif
}
