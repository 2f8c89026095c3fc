#pragma once
// Implementation of equal_rows.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/kernels/whole_array.hpp>
#include <leat/runtime/kernels/equal_rows.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::detail {

template <class T, class Index>
void add_equal_rows_of(tensor_value& rows, tensor_value& indices, std::int64_t most, std::string_view variable, bool one_by_one) {
  const std::int64_t count = indices.elements();
  const auto its = std::as_const(indices).values<Index>();
  for (const Index i : its)
    if (static_cast<std::int64_t>(i) >= most)
      throw invalid_argument("the gradient of '" + std::string(variable) + "' has a row of index " + std::to_string(i) +
                             "; the variable has " + std::to_string(most) + " rows");
  std::vector<std::int64_t> first(static_cast<std::size_t>(count));
  if (one_by_one) {
    for (std::size_t k = 0; k < first.size(); ++k) first[k] = its[k] < 0 ? -1 : static_cast<std::int64_t>(k);
  } else {
    const std::int64_t of_indices[]{1, most, 1, count};
    void* const sought[]{const_cast<Index*>(its.data()), first.data()};
    kernels::first_rows_kernel<Index>(sought, kernels::step_numbers(of_indices)).run_all();
  }
  const auto starts = [&](std::int64_t k) { return first[static_cast<std::size_t>(k)] == k; };
  std::int64_t kept = 0;
  for (std::int64_t k = 0; k < count; ++k) kept += starts(k) ? 1 : 0;
  if (kept == count) return;
  const std::int64_t width = rows.elements() / count;
  tensor_value sums(rows.type(), rows.extent());
  const std::int64_t of_rows[]{0, 2, count, width, 1, count};
  void* const added[]{const_cast<T*>(std::as_const(rows).values<T>().data()), first.data(), sums.values<T>().data()};
  const kernels::sum_equal_rows_kernel<T> sum(added, kernels::step_numbers(of_rows));
  for (std::int64_t b = 0; b < sum.items(); ++b) sum(b);
  shape some = rows.extent(), some_indices = indices.extent();
  some.dim[0] = some_indices.dim[0] = kept;
  tensor_value made(rows.type(), some), made_indices(indices.type(), some_indices);
  T* to = made.values<T>().data();
  Index* index = made_indices.values<Index>().data();
  const T* const from = std::as_const(sums).values<T>().data();
  for (std::int64_t k = 0; k < count; ++k) {
    if (!starts(k)) continue;
    to = std::copy_n(from + k * width, width, to);
    *index++ = its[static_cast<std::size_t>(k)];
  }
  rows = std::move(made);
  indices = std::move(made_indices);
}

}  // namespace leat::detail

namespace leat::runtime {

LEAT_FUNCTION void add_equal_rows(tensor_value& rows, tensor_value& indices, std::int64_t count, std::string_view variable,
                                  bool one_by_one) {
  const int rank = indices.extent().rank;
  shape flat, whole;
  flat.push(indices.elements());
  whole.push(indices.elements());
  bool fits = rank <= rows.extent().rank;
  for (int a = 0; fits && a < rows.extent().rank; ++a) {
    if (a >= rank) whole.push(rows.extent()[a]);
    else fits = rows.extent()[a] == indices.extent()[a];
  }
  if (!fits)
    throw invalid_argument("the gradient of '" + std::string(variable) + "' has rows " + brackets(rows.extent()) + " for indices " +
                           brackets(indices.extent()));
  rows = rows.reshaped(whole);
  indices = indices.reshaped(flat);
  const auto by_index = [&]<class T>(std::type_identity<T>) {
    if (indices.type() == dtype::int32) leat::detail::add_equal_rows_of<T, std::int32_t>(rows, indices, count, variable, one_by_one);
    else if (indices.type() == dtype::int64) leat::detail::add_equal_rows_of<T, std::int64_t>(rows, indices, count, variable, one_by_one);
    else throw invalid_argument("the gradient of '" + std::string(variable) + "': indices are int32 or int64");
  };
  if (rows.type() == dtype::float32) by_index(std::type_identity<float>{});
  else if (rows.type() == dtype::float64) by_index(std::type_identity<double>{});
  else throw invalid_argument("the gradient of '" + std::string(variable) + "': rows are float32 or float64");
}

}  // namespace leat::runtime
