#include <leat/ops/positions.hpp>

#include <leat/leat.hpp>

#include "support/check.hpp"

#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

template <class E, class T>
void check_elements(const E& e, const std::vector<T>& wanted) {
  session s{e};
  const auto [got] = s.run(fetch(e));
  CHECK(std::vector<T>(got.begin(), got.end()) == wanted);
}

}  // namespace

TEST_CASE("views of positions are positions, in one loop and for kernels") {
  const auto six = range<0, 6>();
  const auto column = reshape<3, 1>(range<0, 3>());
  const auto row = reshape<1, 3>(range<0, 3>());
  check_elements(cast<std::int32_t>(equal(column, row)), std::vector<std::int32_t>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  check_elements(column * 10 + row, std::vector<std::int32_t>{0, 1, 2, 10, 11, 12, 20, 21, 22});
  check_elements(transpose<1, 0>(column * 10 + row) + 1, std::vector<std::int32_t>{1, 11, 21, 2, 12, 22, 3, 13, 23});
  check_elements(reshape<2, 3>(six), std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
  check_elements(reshape<1, 3, 1>(range<0, 3>()) + row * 0, std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 2, 2, 2});
  check_elements(transpose<1, 0>(reshape<2, 3>(six)), std::vector<std::int32_t>{0, 3, 1, 4, 2, 5});
  check_elements(index<along::between(1, 4)>(six), std::vector<std::int32_t>{1, 2, 3});
  check_elements(gather(constant<double, 6>({10, 11, 12, 13, 14, 15}), reshape<2, 3>(six)), std::vector<double>{10, 11, 12, 13, 14, 15});
  check_elements(reduce_sum<1>(reshape<2, 3>(six)), std::vector<std::int32_t>{3, 12});
  check_elements(matmul(reshape<2, 3>(cast<double>(six)), reshape<3, 2>(cast<double>(six))), std::vector<double>{10, 13, 28, 40});
  check_elements(reshape<1, 1>(range<0, 1>()) + column, std::vector<std::int32_t>{0, 1, 2});
}
