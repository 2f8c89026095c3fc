#include <leat/runtime/state/lend.hpp>

#include <doctest/doctest.h>

#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include <vector>

using namespace leat;

TEST_CASE("a value refers to an array that is contiguous, and copies one that is not") {
  std::vector<float> v{1, 2, 3};
  const tensor_value of_vector = leat::detail::lend(v);
  CHECK(of_vector.extent() == shape_value{3});
  v[1] = 7;
  CHECK(of_vector.values<float>()[1] == 7);
  xt::xtensor<double, 2> a{{1, 2, 3}, {4, 5, 6}};
  const tensor_value of_array = leat::detail::lend(a);
  CHECK(of_array.extent() == shape_value{2, 3});
  a(1, 0) = 9;
  CHECK(of_array.values<double>()[3] == 9);
  const auto column = xt::view(a, xt::all(), 1);
  const tensor_value of_column = leat::detail::lend(column);
  CHECK(of_column.as<std::vector<double>>() == std::vector<double>{2, 5});
  a(0, 1) = -1;
  CHECK(of_column.values<double>()[0] == 2);
  const auto row = xt::view(a, 1, xt::all());
  CHECK(leat::detail::lend(row).as<std::vector<double>>() == std::vector<double>{9, 5, 6});
  const tensor_value none = leat::detail::lend(std::vector<int>{});
  CHECK(none.elements() == 0);
}
