#include <leat/leat.hpp>

#include <cstdio>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, 2>();
  auto y = reduce_sum(square(x));
  session s{y};
  const xt::xtensor<float, 1> xs{3, 4};
  auto [v] = s.run(fetch(y), x = xs);
  std::printf("3 3 + 4 4 = %g\n", static_cast<double>(v));
  return v == 25 ? 0 : 1;
}
