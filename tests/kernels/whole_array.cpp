#include <leat/kernels/whole_array.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

using namespace leat;

namespace {

template <class Index>
std::vector<std::int64_t> first_rows(std::vector<Index> indices) {
  const auto count = static_cast<std::int64_t>(indices.size());
  std::vector<std::int64_t> out(indices.size(), -7);
  const std::int64_t numbers[]{1, std::int64_t{1} << 31, 1, count};
  void* const operands[]{indices.data(), out.data()};
  kernels::first_rows_kernel<Index>(operands, kernels::step_numbers(numbers)).run_all();
  return out;
}

template <class Index>
std::vector<std::int64_t> expected(const std::vector<Index>& indices) {
  std::map<Index, std::int64_t> first;
  std::vector<std::int64_t> out;
  for (std::size_t k = 0; k < indices.size(); ++k)
    out.push_back(indices[k] < 0 ? -1 : first.try_emplace(indices[k], static_cast<std::int64_t>(k)).first->second);
  return out;
}

}  // namespace

TEST_CASE("the first position of each index is found, whatever the indices are") {
  std::mt19937 random(5);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(std::uniform_int_distribution<std::int64_t>(-n / 20, n - 1)(random));
  };
  for (const std::size_t count : {0, 1, 15, 16, 17, 100, 1000, 30000})
    for (const std::int64_t range : {1, 7, 400, 100000, 2147483647}) {
      CAPTURE(count);
      CAPTURE(range);
      std::vector<std::int32_t> narrow;
      std::vector<std::int64_t> wide;
      for (std::size_t k = 0; k < count; ++k) {
        narrow.push_back(static_cast<std::int32_t>(below(range)));
        wide.push_back(below(range) << 31);
      }
      CHECK(first_rows(narrow) == expected(narrow));
      CHECK(first_rows(wide) == expected(wide));
    }
}

TEST_CASE("indices that were chosen to fall into one list of the hash table are found, too") {
  constexpr std::uint64_t count = 2000;
  std::vector<std::int64_t> indices;
  for (std::uint64_t i = 0; indices.size() < count; ++i)
    if (((((i * 0x9e3779b97f4a7c15) >> 32) * count) >> 32) == 3) indices.push_back(static_cast<std::int64_t>(i));
  indices[10] = indices[1999] = indices[0];
  indices[11] = -4;
  CHECK(first_rows(indices) == expected(indices));
}

TEST_CASE("rows of equal indices count one by one where that is asked, in order, by rows and by columns alike") {
  const std::vector<std::int32_t> indices{2, 0, -1, 2, 2, 1};
  for (const std::int64_t width : {0, 1, 3, 8, 16, 17, 32, 33, 100}) {
    CAPTURE(width);
    const auto n = static_cast<std::size_t>(width);
    std::vector<float> rows(6 * n), start(3 * n);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = 0.1f * static_cast<float>(i % 17);
    for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<float>(i);
    auto want = start, by_rows = start, by_columns = start;
    for (std::size_t k = 0; k < 6; ++k)
      for (std::size_t j = 0; indices[k] >= 0 && j < n; ++j) want[static_cast<std::size_t>(indices[k]) * n + j] -= rows[k * n + j];
    const std::int64_t of_rows[]{2, 1, 1, 2, 3, width, 2, 6, width, 1, 6, 1, 6};
    void* const all[]{by_rows.data(), rows.data(), const_cast<std::int32_t*>(indices.data()), by_rows.data()};
    kernels::write_rows_kernel<float, std::int32_t>(all, kernels::step_numbers(of_rows)).run_all();
    CHECK(by_rows == want);
    void* const columns[]{by_columns.data(), rows.data(), const_cast<std::int32_t*>(indices.data()), by_columns.data()};
    const kernels::write_rows_kernel<float, std::int32_t> each(columns, kernels::step_numbers(of_rows));
    CHECK(each.items() == width);
    for (std::int64_t k = 0; k < each.items(); ++k) each(k);
    CHECK(by_columns == want);

    std::vector<float> looked_up(6 * n);
    const std::int64_t some[]{0, 2, 3, width, 1, 5, 2, 5, width};
    const std::vector<std::int32_t> positions{1, 0, 2, 2, 1};
    void* const gathered[]{start.data(), const_cast<std::int32_t*>(positions.data()), looked_up.data()};
    kernels::gather_kernel<float, std::int32_t>(gathered, kernels::step_numbers(some)).run_all();
    for (std::size_t k = 0; k < 5; ++k)
      for (std::size_t j = 0; j < n; ++j) CHECK(looked_up[k * n + j] == start[static_cast<std::size_t>(positions[k]) * n + j]);
  }
}

TEST_CASE("cumulative sums of several lines at a time are those of each line") {
  for (const std::int64_t lines : {0, 1, 7, 8, 9, 30})
    for (const std::int64_t width : {0, 1, 5, 64})
      for (const std::int64_t how : {0, 1, 2, 3}) {
        CAPTURE(lines);
        CAPTURE(width);
        CAPTURE(how);
        std::vector<float> x(static_cast<std::size_t>(lines * width)), got(x.size(), 77.0f), wanted(x.size());
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = 0.1f * static_cast<float>(k * k % 19) - 0.7f;
        const std::int64_t numbers[]{3, how & 1, how / 2, 1, 2, lines, width, 2, lines, width};
        void* const operands[]{x.data(), got.data()};
        void* const others[]{x.data(), wanted.data()};
        kernels::cumulative_kernel<cumsum_op, float>(operands, kernels::step_numbers(numbers)).run_all();
        const kernels::cumulative_kernel<cumsum_op, float> each(others, kernels::step_numbers(numbers));
        for (std::int64_t k = 0; k < each.items(); ++k) each(k);
        CHECK(got == wanted);
        void* const in_place[]{x.data(), x.data()};
        kernels::cumulative_kernel<cumsum_op, float>(in_place, kernels::step_numbers(numbers)).run_all();
        CHECK(x == wanted);
      }
}
