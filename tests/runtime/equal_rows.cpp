#include <leat/leat.hpp>
#include <leat/runtime/kernels/equal_rows.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace leat;
using namespace leat_test;

TEST_CASE("rows of equal indices are added in their order, once for each index") {
  const auto added = [&](tensor_value rows, tensor_value indices) {
    runtime::add_equal_rows(rows, indices, 5, "table");
    return std::pair(rows, indices);
  };
  const auto extent = [](std::initializer_list<std::int64_t> sizes) {
    shape s;
    for (const auto n : sizes) s.push(n);
    return s;
  };
  {
    const auto [rows, indices] = added(tensor_value(extent({2, 2, 2}), std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}),
                                       tensor_value(extent({2, 2}), std::vector<std::int32_t>{3, -1, 0, 3}));
    CHECK(rows.as<xt::xtensor<float, 2>>() == xt::xtensor<float, 2>{{8, 10}, {5, 6}});
    CHECK(indices.as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{3, 0});
  }
  {  // none twice: nothing is copied
    const tensor_value given(extent({2, 1}), std::vector<double>{1, 2});
    const auto [rows, indices] = added(given, tensor_value(std::vector<std::int64_t>{4, 1}));
    CHECK(rows.data() == given.data());
    CHECK(indices.as<std::vector<std::int64_t>>() == std::vector<std::int64_t>{4, 1});
  }
  {  // none at all, and a scalar index
    const auto [rows, indices] = added(tensor_value(dtype::float32, extent({0, 3, 2})), tensor_value(dtype::int64, extent({0, 3})));
    CHECK(rows.extent() == extent({0, 2}));
    CHECK(indices.extent() == extent({0}));
    const auto [row, index] = added(tensor_value(std::vector<float>{1, 2}), tensor_value(std::int64_t{2}));
    CHECK(row.extent() == extent({1, 2}));
    CHECK(index.extent() == extent({1}));
  }
  {  // rows that are all dropped
    const auto [rows, indices] = added(tensor_value(extent({1, 2}), std::vector<float>{1, 2}), tensor_value(std::vector<std::int32_t>{-3}));
    CHECK(rows.extent() == extent({0, 2}));
    CHECK(indices.elements() == 0);
  }
  CHECK(says(message_of<invalid_argument>([&] {
               static_cast<void>(added(tensor_value(extent({1, 1}), std::vector<float>{1}), tensor_value(std::vector<std::int32_t>{5})));
             }),
             "'table'", "index 5", "5 rows"));
  const std::vector<std::pair<tensor_value, tensor_value>> wrong{
      {tensor_value(std::vector<float>{1, 2}), tensor_value(std::vector<std::int32_t>{1})},
      {tensor_value(std::vector<float>{1}), tensor_value(extent({1, 1}), std::vector<std::int32_t>{1})},
      {tensor_value(std::vector<float>{1}), tensor_value(std::vector<float>{1})},
      {tensor_value(std::vector<std::int32_t>{1}), tensor_value(std::vector<std::int32_t>{1})}};
  for (const auto& [rows, indices] : wrong) CHECK_THROWS_AS(static_cast<void>(added(rows, indices)), invalid_argument);
}
