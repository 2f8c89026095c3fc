#pragma once
// Kernels of the diagonals of matrices: matrices with given diagonals, the diagonals of given matrices, and bands around the main diagonal.
// Several diagonals are the rows of an array, the uppermost first. A row is as long as the longest diagonal, and shorter ones lie at its
// left or right end, as the attribute `align` says. Source: TensorFlow `Diag`, `MatrixDiag`, `MatrixBandPart` and their versions.

#include <leat/core/fill.hpp>
#include <leat/kernels/diagonals.hpp>
#include <leat/named/definitions/diagonal.hpp>
#include <leat/runtime/kernels/class_kernel.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/walk.hpp>

namespace leat::runtime {

using leat::detail::diagonal_range;

/// The diagonals that input `k` says; the main diagonal for a node without that input. Errors: invalid_argument, with TensorFlow's message.
inline diagonal_range diagonals_from(kernel_context& c, int k) {
  if (c.input_count() <= k) return {};
  const shape& s = c.extent(k);
  if (s.rank > 1) throw invalid_argument("diag_index must be a scalar or vector, received shape: " + brackets(s));
  if (s.elements() == 0) throw invalid_argument("Expected diag_index to have at least 1 element");
  if (s.elements() > 2)
    throw invalid_argument("diag_index must have only one or two elements, received " + std::to_string(s.elements()) + " elements.");
  const auto range = leat::detail::range_of_diagonals(c.numbers(k));
  if (range->lower > range->upper)
    throw invalid_argument("lower_diag_index must not be larger than upper_diag_index: " + std::to_string(range->lower) + " > " +
                           std::to_string(range->upper));
  return *range;
}

/// The places of these diagonals. `width` is the length of the rows that hold the diagonals; `usual` is the alignment of nodes without the
/// attribute.
inline kernels::diagonal_layout places_of(const kernel_node& n, std::string_view usual, const diagonal_range& range, std::int64_t rows,
                                          std::int64_t columns, std::int64_t width) {
  const std::string align = n.attribute<std::string>("align", std::string(usual));
  const bool is_left_above = align == "LEFT_RIGHT" || align == "LEFT_LEFT", is_left_below = align == "RIGHT_LEFT" || align == "LEFT_LEFT";
  if (!is_left_above && !is_left_below && align != "RIGHT_RIGHT")
    throw invalid_argument("Value for attr 'align' of \"" + align +
                           "\" is not in the list of allowed values: \"LEFT_RIGHT\", \"RIGHT_LEFT\", \"LEFT_LEFT\", \"RIGHT_RIGHT\"");
  return {.rows = rows, .columns = columns, .width = width, .range = range, .is_left_above = is_left_above, .is_left_below = is_left_below};
}
/// How many rows matrices have, or rows of diagonals, in all.
inline std::int64_t rows_in(const shape& s) { return product(s, 0, s.rank - 1); }

inline void want_matrix(const shape& s) {
  if (s.rank < 2) throw invalid_argument("input must be at least 2-dim, received shape: " + brackets(s));
}
inline void want_diagonal(const shape& s) {
  if (s.rank < 1) throw invalid_argument("diagonal must be at least 1-dim, received shape: " + brackets(s));
}
/// Checks that a matrix has the lowest and the uppermost of some diagonals. A matrix of any size, even 0, has a main diagonal.
inline void want_within(const diagonal_range& range, std::int64_t rows, std::int64_t columns) {
  const auto check = [&](std::int64_t d, const char* which) {
    if (d != 0 && (d <= -rows || d >= columns))
      throw invalid_argument(std::string(which) + " is out of bound: " + std::to_string(d) + ". It must be between " +
                             std::to_string(-rows) + " and " + std::to_string(columns));
  };
  check(range.lower, "lower_diag_index");
  check(range.upper, "upper_diag_index");
}
/// A number of rows or columns, -1 for the smallest that fits.
inline std::int64_t matrix_size(kernel_context& c, int k, const char* name) {
  if (c.input_count() <= k) return -1;
  if (c.extent(k).rank != 0) throw invalid_argument(std::string(name) + " must be a scalar");
  return c.number(k);
}
/// The element that fills what no diagonal covers: the scalar input `k`, or zero for a node without that input.
template <class S>
S filler(kernel_context& c, int k, const char* problem) {
  if (c.input_count() <= k) return S{};
  if (c.extent(k).rank != 0) throw invalid_argument(problem);
  return *stored<S>(c.input(k));
}

inline auto run_matrix_of_diagonals(kernel_context& c, std::string_view usual) {
  const tensor_value given = c.input(0);
  const shape& s = given.extent();
  want_diagonal(s);
  const diagonal_range range = diagonals_from(c, 1);
  if (range.count() > 1 && (s.rank < 2 || s[s.rank - 2] != range.count()))
    throw invalid_argument(
        "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index range.");
  const std::int64_t width = s[s.rank - 1];
  const std::int64_t least_rows = width - std::min<std::int64_t>(range.upper, 0);
  const std::int64_t least_columns = width + std::max<std::int64_t>(range.lower, 0);
  std::int64_t rows = matrix_size(c, 2, "num_rows"), columns = matrix_size(c, 3, "num_cols");
  if (rows != -1 && rows < least_rows) throw invalid_argument("The number of rows is too small.");
  if (columns != -1 && columns < least_columns) throw invalid_argument("The number of columns is too small.");
  if (rows == -1 && columns == -1) {
    rows = columns = std::max(least_rows, least_columns);
  } else {
    if (rows == -1) rows = least_rows;
    if (columns == -1) columns = least_columns;
  }
  if (rows != least_rows && columns != least_columns)
    throw invalid_argument("The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.");
  shape extent;
  for (int i = 0; i < s.rank - (range.count() == 1 ? 1 : 2); ++i) extent.push(s[i]);
  extent.push(rows);
  extent.push(columns);
  const auto places = places_of(c.node, usual, range, rows, columns, width);
  return with_storage(given.type(), [&]<class S>(S) {
    const S other = filler<S>(c, 4, "padding_value must be a scalar");
    tensor_value made(given.type(), extent);
    const auto done = computed_by<matrix_diag_op>::run<S>(nullptr, stored<S>(given), stored<S>(made), places, rows_in(extent), other);
    c.set(0, std::move(made));
    return done;
  });
}

inline auto run_diagonals_of_matrix(kernel_context& c, std::string_view usual) {
  const tensor_value matrices = c.input(0);
  const shape& s = matrices.extent();
  want_matrix(s);
  const diagonal_range range = diagonals_from(c, 1);
  const std::int64_t rows = s[s.rank - 2], columns = s[s.rank - 1];
  want_within(range, rows, columns);
  const std::int64_t width = range.longest(rows, columns);
  shape extent;
  for (int i = 0; i + 2 < s.rank; ++i) extent.push(s[i]);
  if (range.count() > 1) extent.push(range.count());
  extent.push(width);
  const auto places = places_of(c.node, usual, range, rows, columns, width);
  return with_storage(matrices.type(), [&]<class S>(S) {
    const S other = filler<S>(c, 2, "Padding must be scalar.");
    tensor_value made(matrices.type(), extent);
    const auto done = computed_by<matrix_diag_part_op>::run<S>(stored<S>(matrices), stored<S>(made), places, rows_in(extent), other);
    c.set(0, std::move(made));
    return done;
  });
}

inline auto run_replace_diagonals(kernel_context& c, std::string_view usual) {
  const tensor_value given = c.input(1);
  const shape s = c.extent(0);
  want_matrix(s);
  want_diagonal(given.extent());
  const diagonal_range range = diagonals_from(c, 2);
  const std::int64_t rows = s[s.rank - 2], columns = s[s.rank - 1];
  want_within(range, rows, columns);
  const std::int64_t width = range.longest(rows, columns);
  shape wanted;
  for (int i = 0; i + 2 < s.rank; ++i) wanted.push(s[i]);
  if (range.count() > 1) wanted.push(range.count());
  wanted.push(width);
  if (!(given.extent() == wanted))
    throw invalid_argument(
        "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to the longests diagonal in "
        "range [lower_diag_index:upper_diag_index].\nInput shape: " +
        brackets(s) + "\nDiagonal shape: " + brackets(given.extent()) + "\nExpected diagonal shape: " + brackets(wanted));
  const auto places = places_of(c.node, usual, range, rows, columns, width);
  tensor_value made = c.take(0);
  if (!made.is_alone()) made = made.copy();
  const auto done = with_storage(made.type(), [&]<class S>(S) {
    S* const to = stored<S>(made);  // which also is what the other elements are copied from
    return computed_by<matrix_set_diag_op>::run<S>(to, stored<S>(given), to, places, rows_in(s), S{});
  });
  c.set(0, std::move(made));
  return done;
}

inline auto run_band(kernel_context& c) {
  const tensor_value matrices = c.input(0);
  const shape& s = matrices.extent();
  want_matrix(s);
  const std::int64_t rows = s[s.rank - 2], columns = s[s.rank - 1];
  const auto width = [&](int k, const std::string& name, std::int64_t most, const char* what) {
    if (c.extent(k).rank != 0) throw invalid_argument(name + " must be scalar, got shape " + brackets(c.extent(k)));
    const std::int64_t n = c.number(k);
    if (n > most)
      throw invalid_argument(name + " must be negative or less or equal to number of " + what + " (" + std::to_string(most) +
                             ") got: " + std::to_string(n));
    return n < 0 ? most : n;
  };
  const std::int64_t below = width(1, "num_lower", rows, "rows"), above = width(2, "num_upper", columns, "columns");
  tensor_value made(matrices.type(), s);
  const auto done = with_storage(matrices.type(), [&]<class S>(S) {
    return computed_by<matrix_band_part_op>::run<S>(stored<S>(matrices), stored<S>(made), rows, columns, rows_in(s), below, above);
  });
  c.set(0, std::move(made));
  return done;
}

inline void run_diagonal_tensor(kernel_context& c) {
  const tensor_value given = c.input(0);
  shape extent = given.extent();
  if (extent.rank < 1) throw invalid_argument("Input must be at least rank 1, got 0");
  for (int i = 0; i < given.extent().rank; ++i) extent.push(given.extent()[i]);
  const std::int64_t n = given.elements();
  with_storage(given.type(), [&]<class S>(S) {
    tensor_value made(given.type(), extent);
    S* const to = stored<S>(made);
    std::fill_n(to, made.elements(), S{});
    for (std::int64_t i = 0; i < n; ++i) to[i * (n + 1)] = stored<S>(given)[i];
    c.set(0, std::move(made));
  });
}
inline void run_diagonal_of_tensor(kernel_context& c) {
  const tensor_value given = c.input(0);
  const shape& s = given.extent();
  if (s.rank % 2 != 0) throw invalid_argument("The rank of the tensor should be even and positive, got shape " + brackets(s));
  shape extent;
  for (int i = 0, half = s.rank / 2; i < half; ++i) {
    if (s[i] != s[i + half])
      throw invalid_argument("Invalid shape " + brackets(s) + ": dimensions " + std::to_string(i) + " and " + std::to_string(i + half) +
                             " do not match.");
    extent.push(s[i]);
  }
  tensor_value made(given.type(), extent);
  with_storage(given.type(), [&]<class S>(S) {
    const std::int64_t n = made.elements();
    for (std::int64_t i = 0; i < n; ++i) stored<S>(made)[i] = stored<S>(given)[i * (n + 1)];
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_diagonal_kernels) {
  register_kernel("Diag", run_diagonal_tensor);
  register_kernel("DiagPart", run_diagonal_of_tensor);
  for (const char* type : {"MatrixBandPart", "BatchMatrixBandPart"}) register_class_kernel(type, run_band);
  // The first versions have the main diagonal alone, for which all alignments are one.
  for (const auto& [version, usual] : {std::pair<std::string, std::string>{"", "LEFT_LEFT"}, {"V2", "LEFT_LEFT"}, {"V3", "RIGHT_LEFT"}}) {
    register_class_kernel("MatrixDiag" + version,
                          counting_texts([usual](kernel_context& c) { return run_matrix_of_diagonals(c, usual); }));
    register_class_kernel("MatrixDiagPart" + version,
                          counting_texts([usual](kernel_context& c) { return run_diagonals_of_matrix(c, usual); }));
    register_class_kernel("MatrixSetDiag" + version, [usual](kernel_context& c) { return run_replace_diagonals(c, usual); });
  }
}

}  // namespace leat::runtime
