#pragma once
// Kernels of ragged tensors: ranges of different lengths, rows by index, arrays and sparse tensors of ragged ones, and rows in place of
// empty ones. Splits are the places where rows begin, with the end of the last one. Source: TensorFlow `RaggedRange`, `RaggedGather`,
// `RaggedTensorToTensor`, `RaggedTensorToSparse`, `RaggedFillEmptyRows`, `RaggedFillEmptyRowsGrad`.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/ragged.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace leat::runtime {

/// How many numbers from `start` on, `delta` apart, are before `limit`; -1 if they are too many.
template <class T>
std::int64_t range_size(T start, T limit, T delta, std::int64_t most) {
  if constexpr (std::is_floating_point_v<T>) {
    if ((delta > 0 && limit < start) || (delta < 0 && limit > start)) return 0;
    const double size = std::ceil(std::abs(static_cast<double>((limit - start) / delta)));
    return size < static_cast<double>(most) ? static_cast<std::int64_t>(size) : -1;  // not for a NaN
  } else {
    if ((delta > 0 && limit <= start) || (delta < 0 && limit >= start)) return 0;
    const auto distance = [](T from, T to) { return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from); };
    const std::uint64_t span = delta > 0 ? distance(start, limit) : distance(limit, start);
    const std::uint64_t step = delta > 0 ? static_cast<std::uint64_t>(delta) : std::uint64_t{0} - static_cast<std::uint64_t>(delta);
    const std::uint64_t size = (span - 1) / step + 1;
    return size <= static_cast<std::uint64_t>(most) ? static_cast<std::int64_t>(size) : -1;
  }
}
inline void run_ragged_range(kernel_context& c) {
  constexpr const char* names[]{"starts", "limits", "deltas"};
  std::int64_t rows = -1;
  for (int k = 0; k < 3; ++k) {
    const shape& s = c.extent(k);
    if (s.rank > 1) throw invalid_argument(std::string(names[k]) + " must be a scalar or vector");
    if (s.rank == 0) continue;
    if (rows >= 0 && rows != s[0]) throw invalid_argument("starts, limits, and deltas must have the same shape");
    rows = s[0];
  }
  if (rows < 0) rows = 1;
  tensor_value splits(c.node.type_of("Tsplits", dtype::int64), {rows + 1});
  with_number(c.type(0), [&]<class T>(T) {
    const tensor_value starts = c.input(0), limits = c.input(1), deltas = c.input(2);
    const auto of = [](const tensor_value& v, std::int64_t row) {
      return v.values<T>()[v.extent().rank == 0 ? 0 : static_cast<std::size_t>(row)];
    };
    with_index(splits.type(), [&]<class I>(I) {
      constexpr std::int64_t most = std::numeric_limits<I>::max();
      const auto to = splits.values<I>();
      to[0] = 0;
      for (std::int64_t row = 0; row < rows; ++row) {
        if (of(deltas, row) == T(0)) throw invalid_argument("Requires delta != 0");
        const std::int64_t size = range_size(of(starts, row), of(limits, row), of(deltas, row), most);
        const auto at = static_cast<std::size_t>(row);
        if (size < 0 || size > most - to[at]) throw invalid_argument("Requires ((limit - start) / delta) <= " + std::to_string(most));
        to[at + 1] = static_cast<I>(to[at] + static_cast<I>(size));
      }
      tensor_value made(c.type(0), {static_cast<std::int64_t>(to[static_cast<std::size_t>(rows)])});
      T* next = made.values<T>().data();
      for (std::int64_t row = 0; row < rows; ++row) {
        T value = of(starts, row);
        c.step.check();
        for (I k = to[static_cast<std::size_t>(row)]; k < to[static_cast<std::size_t>(row) + 1]; ++k) {
          *next++ = value;
          value = arithmetic<T>::add(value, of(deltas, row));
        }
      }
      c.set(1, std::move(made));
    });
  });
  c.set(0, std::move(splits));
}

/// Elements of `from` in blocks, block `rows[k]` to block k. The rows have been checked.
inline tensor_value copied_parts(const tensor_value& from, const std::vector<std::pair<std::int64_t, std::int64_t>>& parts,
                                 std::int64_t rows) {
  shape extent = from.extent();
  extent.dim[0] = rows;
  tensor_value made(from.type(), extent);
  const std::int64_t block = product(extent, 1, extent.rank);
  with_storage(from.type(), [&]<class S>(S) {
    S* to = stored<S>(made);
    for (const auto& [begin, end] : parts) to = std::copy(stored<S>(from) + begin * block, stored<S>(from) + end * block, to);
  });
  return made;
}

/// The rows of a ragged tensor at indices, with the splits of the indices' axes in front.
inline void run_ragged_gather(kernel_context& c) {
  const int levels = c.input_count() - 2;
  const tensor_value values = c.input(levels);
  const shape& places = c.extent(levels + 1);
  const dtype type = c.node.type_of("Tsplits", dtype::int64);
  if (levels < 1 || c.result_count() != places.rank + levels)
    throw invalid_argument("OUTPUT_RAGGED_RANK must be " + std::to_string(places.rank + levels - 1) + ", not " +
                           std::to_string(c.result_count() - 1));
  if (values.extent().rank < 1) throw invalid_argument("params.rank must be nonzero");
  std::vector<std::vector<std::int64_t>> splits;
  for (int k = 0; k < levels; ++k) {
    if (c.extent(k).rank != 1) throw invalid_argument("Ragged splits must be vectors, got shape " + brackets(c.extent(k)));
    splits.push_back(c.numbers(k));
  }
  for (std::size_t k = 0; k < splits.size(); ++k) {
    const auto& its = splits[k];
    const std::int64_t children = k + 1 < splits.size() ? static_cast<std::int64_t>(splits[k + 1].size()) - 1 : values.extent()[0];
    if (!its.empty() && its.front() < 0) throw invalid_argument("Ragged splits must be non-negative");
    if (!its.empty() && its.back() > children) throw invalid_argument("Ragged splits must not point past values");
    if (!std::is_sorted(its.begin(), its.end())) throw invalid_argument("Ragged splits must be sorted");
  }
  const auto rows = static_cast<std::int64_t>(splits[0].size()) - 1;
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;  // of rows of the next level
  const auto indices = c.numbers(levels + 1);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (indices[k] < 0 || indices[k] >= rows)
      throw invalid_argument("indices[" + std::to_string(k) + "] = " + std::to_string(indices[k]) + " is not in [0, " +
                             std::to_string(rows) + ")");
    parts.emplace_back(indices[k], indices[k] + 1);
  }
  int at = 0;
  for (int axis = 0; axis + 1 < places.rank; ++axis) {  // the axes of the indices but the first: rows of one size
    const std::int64_t count = product(places, 0, axis + 1);
    std::vector<std::int64_t> ends;
    for (std::int64_t k = 0; k <= count; ++k) ends.push_back(k * places[axis + 1]);
    c.set(at++, integer_tensor(type, ends));
  }
  for (int k = 0; k < levels; ++k) {
    c.step.check();
    const auto& its = splits[static_cast<std::size_t>(k)];
    std::int64_t count = 0;
    for (const auto& [begin, end] : parts) count += end - begin;
    tensor_value made(type, {count + 1});
    with_index(type, [&]<class I>(I) {
      I* to = made.values<I>().data();
      std::int64_t sum = 0;
      *to++ = 0;
      for (auto& [begin, end] : parts) {
        for (std::int64_t row = begin; row < end; ++row) {
          sum += its[static_cast<std::size_t>(row) + 1] - its[static_cast<std::size_t>(row)];
          if (sum > std::numeric_limits<I>::max())
            throw invalid_argument("the gathered rows have too many values for splits of " + dtype_name(type));
          *to++ = static_cast<I>(sum);
        }
        begin = its[static_cast<std::size_t>(begin)];
        end = its[static_cast<std::size_t>(end)];
      }
    });
    if (k > 0 || places.rank > 0) c.set(at++, std::move(made));
  }
  std::int64_t count = 0;
  for (const auto& [begin, end] : parts) count += end - begin;
  c.set(at, copied_parts(values, parts, count));
}

/// Splits that have been checked: they begin with 0, are sorted, and end with the number of rows of the next level.
inline std::vector<std::vector<std::int64_t>> nested_splits(kernel_context& c, int levels, std::int64_t values) {
  std::vector<std::vector<std::int64_t>> splits;
  for (int k = 0; k < levels; ++k) {
    if (c.extent(k).rank != 1) throw invalid_argument("ragged splits must be vectors, got shape " + brackets(c.extent(k)));
    splits.push_back(c.numbers(k));
    if (splits.back().empty()) throw invalid_argument("ragged splits may not be empty.");
    if (splits.back().front() != 0) throw invalid_argument("First value of ragged splits must be 0.");
    for (std::size_t i = 1; i < splits.back().size(); ++i)
      if (splits.back()[i] < splits.back()[i - 1])
        throw invalid_argument("Ragged splits should be non decreasing, but we got " + std::to_string(splits.back()[i - 1]) +
                               " followed by " + std::to_string(splits.back()[i]));
  }
  for (std::size_t k = 0; k < splits.size(); ++k)
    if (splits[k].back() != (k + 1 < splits.size() ? static_cast<std::int64_t>(splits[k + 1].size()) - 1 : values))
      throw invalid_argument("Final value of ragged splits must match the length the corresponding ragged values.");
  return splits;
}
inline void run_ragged_to_sparse(kernel_context& c) {
  const int levels = c.input_count() - 1;
  const tensor_value values = c.input(levels);
  const shape& inner = values.extent();
  if (levels < 1 || inner.rank < 1)
    throw invalid_argument("Final value of ragged splits must match the length the corresponding ragged values.");
  const auto splits = nested_splits(c, levels, inner[0]);
  const std::size_t rank = static_cast<std::size_t>(levels + inner.rank), block = static_cast<std::size_t>(product(inner, 1, inner.rank));
  std::vector<std::int64_t> sizes{static_cast<std::int64_t>(splits[0].size()) - 1};
  for (const auto& its : splits) {
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < its.size(); ++i) longest = std::max(longest, its[i] - its[i - 1]);
    sizes.push_back(longest);
  }
  for (int axis = 1; axis < inner.rank; ++axis) sizes.push_back(inner[axis]);
  tensor_value indices(dtype::int64, {values.elements(), static_cast<std::int64_t>(rank)});
  std::int64_t* to = indices.values<std::int64_t>().data();
  std::vector<std::size_t> rows(splits.size(), 0);  // the row of each level that holds the value
  for (std::int64_t k = 0; k < inner[0]; ++k) {
    if (k % 1024 == 0) c.step.check();
    std::int64_t at = k;
    std::vector<std::int64_t> index(rank, 0);
    for (std::size_t level = splits.size(); level-- > 0;) {
      while (splits[level][rows[level] + 1] <= at) ++rows[level];
      index[level + 1] = at - splits[level][rows[level]];
      at = static_cast<std::int64_t>(rows[level]);
    }
    index[0] = at;
    for (std::size_t e = 0; e < block; ++e) {
      std::size_t rest = e;
      for (int axis = inner.rank - 1; axis >= 1; --axis) {
        const auto size = static_cast<std::size_t>(inner[axis]);
        index[static_cast<std::size_t>(levels + axis)] = static_cast<std::int64_t>(rest % size);
        rest /= size;
      }
      to = std::copy(index.begin(), index.end(), to);
    }
  }
  c.set(0, std::move(indices));
  c.set(1, values.reshaped(shapes::vector_of(values.elements())));
  c.set(2, tensor_value(sizes));
}

/// The partitions of an array, as splits. Row numbers become splits: their number of rows is that of the level above.
inline std::vector<std::vector<std::int64_t>> partition_splits(kernel_context& c,
                                                               const std::vector<leat::detail::row_partition>& partitions,
                                                               std::int64_t values) {
  using leat::detail::row_partition;
  std::vector<std::vector<std::int64_t>> splits;
  std::int64_t rows = -1;  // of the next level
  for (std::size_t k = 0; k < partitions.size(); ++k) {
    const int input = 3 + static_cast<int>(k);
    if (partitions[k] == row_partition::first_size) {
      if (c.extent(input).rank != 0) throw invalid_argument("FIRST_DIM_SIZE must be a scalar.");
      rows = c.number(input);
      if (rows < 0) throw invalid_argument("Dimension " + std::to_string(rows) + " must be >= 0");
      continue;
    }
    if (c.extent(input).rank != 1) throw invalid_argument("Row partition must be a vector.");
    std::vector<std::int64_t> its = c.numbers(input);
    if (partitions[k] == row_partition::splits) {
      if (its.empty()) throw invalid_argument("Invalid first partition input. Tensor requires at least one element.");
      if (its.front() != 0 || !std::is_sorted(its.begin(), its.end()) || (rows >= 0 && rows != static_cast<std::int64_t>(its.size()) - 1))
        throw invalid_argument("Invalid row split size.");
      splits.push_back(std::move(its));
    } else {
      const tensor_value counted(dtype::int64, {rows + 1});  // counts toward the session's limit
      std::vector<std::int64_t> ends(static_cast<std::size_t>(rows) + 1, 0);
      std::int64_t last = 0;
      for (std::size_t i = 0; i < its.size(); ++i) {
        const std::int64_t row = its[i];
        if (row < 0 || row >= rows)
          throw invalid_argument("Got " + std::string(i == 0 ? "current" : "next") + "_value_rowid=" + std::to_string(row) +
                                 " which is not less than " + std::to_string(rows));
        if (row < last)
          throw invalid_argument("value_rowids must be sorted, but " + std::to_string(last) + " is followed by " + std::to_string(row));
        last = row;
        ++ends[static_cast<std::size_t>(row) + 1];
      }
      for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
      splits.push_back(std::move(ends));
    }
    rows = splits.back().back();
  }
  if (rows != values)
    throw invalid_argument("Invalid row split size. The row partitions end with " + std::to_string(rows) + " values, there are " +
                           std::to_string(values));
  return splits;
}
/// An array of a ragged tensor: rows that are shorter than it end with a default value, longer ones are cut off.
inline void run_ragged_to_tensor(kernel_context& c) {
  const auto partitions = leat::detail::row_partitions_of(c.node.record->attributes.find("row_partition_types"));
  if (!partitions) throw invalid_argument("Unknown string for partition info type.");
  if (const std::string problem = leat::detail::problem_of(*partitions, c.input_count() - 3); !problem.empty())
    throw invalid_argument(problem);
  const tensor_value values = c.input(1), otherwise = c.input(2);
  const shape &inner = values.extent(), &given = otherwise.extent();
  const std::string both =
      "default_value.shape=" + brackets(given) + " and rt_input.flat_values.shape=" + brackets(inner) + " are incompatible: ";
  if (given.rank >= inner.rank)
    throw invalid_argument(both + "default_value.rank = " + std::to_string(given.rank) +
                           "  must be less than rt_input.flat_values.rank = " + std::to_string(inner.rank));
  for (int k = 1; k <= given.rank; ++k)
    if (given[given.rank - k] != 1 && given[given.rank - k] != inner[inner.rank - k])
      throw invalid_argument(both + "default_value.shape[-" + std::to_string(k) + "] = " + std::to_string(given[given.rank - k]) +
                             " but rt_input.flat_values.shape[-" + std::to_string(k) + "] = " + std::to_string(inner[inner.rank - k]));
  const int levels = leat::detail::ragged_rank_of(*partitions);
  if (c.extent(0).rank > 1) throw invalid_argument("Shape must be at most rank 1 but is rank " + std::to_string(c.extent(0).rank));
  shape asked = shape::unknown();
  const auto sizes = c.numbers(0);
  if (c.extent(0).rank == 0) {
    if (sizes[0] != -1) throw invalid_argument("A scalar shape must be -1, which is an unknown one, not " + std::to_string(sizes[0]));
  } else {
    asked = shape{};
    for (const std::int64_t size : sizes) {
      if (size < -1) throw invalid_argument("Dimension " + std::to_string(size) + " must be >= -1");
      asked.push(size < 0 ? unknown_dimension : size);
    }
  }
  const auto known = leat::detail::dense_shape_of_ragged(levels, asked, inner);
  if (!known) {
    const std::string where = "rt_input.shape and shape=" + brackets(asked) + " are incompatible: ";
    if (asked.rank != levels + inner.rank)
      throw invalid_argument(where + "rt_input.rank = " + std::to_string(levels + inner.rank) +
                             " but shape.rank = " + std::to_string(asked.rank));
    throw invalid_argument(where + "rt_input.flat_values.shape=" + brackets(inner));
  }
  shape extent = *known;
  const auto splits = partition_splits(c, *partitions, inner[0]);
  if (extent[0] < 0) extent.dim[0] = static_cast<std::int64_t>(splits[0].size()) - 1;
  for (int k = 0; k < levels; ++k) {
    const auto& its = splits[static_cast<std::size_t>(k)];
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < its.size(); ++i) longest = std::max(longest, its[i] - its[i - 1]);
    if (extent[k + 1] < 0) extent.dim[k + 1] = longest;
  }
  tensor_value made(values.type(), extent);
  const std::int64_t block = product(inner, 1, inner.rank);
  // The place of each row in the result, of which a level's rows are the blocks; -1 if it is cut off.
  std::vector<std::int64_t> places(splits[0].size() - 1);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i) < extent[0] ? static_cast<std::int64_t>(i) : -1;
  for (int k = 0; k < levels; ++k) {
    c.step.check();
    const auto& its = splits[static_cast<std::size_t>(k)];
    std::vector<std::int64_t> next(static_cast<std::size_t>(its.back()), -1);
    for (std::size_t row = 0; row < places.size(); ++row)
      for (std::int64_t j = its[row]; places[row] >= 0 && j < its[row + 1] && j - its[row] < extent[k + 1]; ++j)
        next[static_cast<std::size_t>(j)] = places[row] * extent[k + 1] + (j - its[row]);
    places = std::move(next);
  }
  with_storage(values.type(), [&]<class S>(S) {
    S* const to = stored<S>(made);
    const std::int64_t all = made.elements(), blocks = block > 0 ? all / block : 0;
    if (given.rank == 0) {
      std::fill_n(to, all, *stored<S>(otherwise));
    } else if (all > 0) {
      shape wide;
      for (int axis = 1; axis < inner.rank; ++axis) wide.push(inner[axis]);
      auto strides = strides_of(given);
      for (std::size_t d = 0; d < strides.size(); ++d)
        if (given[static_cast<int>(d)] == 1) strides[d] = 0;
      strides.insert(strides.begin(), static_cast<std::size_t>(wide.rank - given.rank), 0);
      gather_walk(to, stored<S>(otherwise), wide.dim, strides.data(), static_cast<std::size_t>(wide.rank));
      for (std::int64_t k = 1; k < blocks; ++k) std::copy_n(to, block, to + k * block);
    }
    for (std::size_t j = 0; j < places.size(); ++j)
      if (places[j] >= 0) std::copy_n(stored<S>(values) + static_cast<std::int64_t>(j) * block, block, to + places[j] * block);
  });
  c.set(0, std::move(made));
}

/// Values sorted by row, and a default value in each row without any.
inline void run_fill_ragged_rows(kernel_context& c) {
  constexpr const char* names[]{"value_rowids", "values", "nrows", "default_value"};
  for (int k = 0; k < 4; ++k)
    if (c.extent(k).rank != (k < 2 ? 1 : 0))
      throw invalid_argument(std::string(names[k]) + " must be a " + (k < 2 ? "vector" : "scalar") + ", saw: " + brackets(c.extent(k)));
  const auto row_of = c.numbers(0);
  const tensor_value values = c.input(1), otherwise = c.input(3);
  const std::int64_t rows = c.number(2);
  if (values.elements() != static_cast<std::int64_t>(row_of.size()))
    throw invalid_argument("The length of `values` (" + std::to_string(values.elements()) +
                           ") must match the first dimension of `value_rowids` (" + std::to_string(row_of.size()) + ").");
  if (rows < 0) throw invalid_argument("Expected shape dimensions to be non-negative, got " + std::to_string(rows));
  if (rows == 0 && !row_of.empty())
    throw invalid_argument("Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = " + std::to_string(row_of.size()));
  tensor_value is_empty(dtype::boolean, {rows}), back(dtype::int64, {static_cast<std::int64_t>(row_of.size())});
  const tensor_value counted(dtype::int64, {rows});  // counts toward the session's limit
  std::vector<std::int64_t> begins(static_cast<std::size_t>(rows), 0);
  for (std::size_t k = 0; k < row_of.size(); ++k) {
    if (row_of[k] < 0 || row_of[k] >= rows)
      throw invalid_argument("indices(" + std::to_string(k) + ", 0) is invalid: " + std::to_string(row_of[k]) +
                             " >= " + std::to_string(rows));
    ++begins[static_cast<std::size_t>(row_of[k])];
  }
  std::int64_t all = 0;
  for (std::size_t row = 0; row < begins.size(); ++row) {
    const std::int64_t count = begins[row];
    is_empty.values<bool>()[row] = count == 0;
    begins[row] = all;
    all += std::max<std::int64_t>(count, 1);
  }
  tensor_value made_rows(dtype::int64, {all}), made(values.type(), {all});
  with_storage(values.type(), [&]<class S>(S) {
    S* const to = stored<S>(made);
    const auto to_rows = made_rows.values<std::int64_t>();
    for (std::size_t row = 0; row < begins.size(); ++row)
      if (is_empty.values<bool>()[row]) {
        to_rows[static_cast<std::size_t>(begins[row])] = static_cast<std::int64_t>(row);
        to[begins[row]] = *stored<S>(otherwise);
      }
    for (std::size_t k = 0; k < row_of.size(); ++k) {
      const std::int64_t at = begins[static_cast<std::size_t>(row_of[k])]++;
      to_rows[static_cast<std::size_t>(at)] = row_of[k];
      to[at] = stored<S>(values)[k];
      back.values<std::int64_t>()[k] = at;
    }
  });
  c.set(0, std::move(made_rows));
  c.set(1, std::move(made));
  c.set(2, std::move(is_empty));
  c.set(3, std::move(back));
}
inline void run_fill_ragged_rows_grad(kernel_context& c) {
  constexpr const char* names[]{"reverse_index_map", "grad_values"};
  for (int k = 0; k < 2; ++k)
    if (c.extent(k).rank != 1) throw invalid_argument(std::string(names[k]) + " must be a vector, saw: " + brackets(c.extent(k)));
  const auto places = c.numbers(0);
  const tensor_value slopes = c.input(1);
  tensor_value made(slopes.type(), {static_cast<std::int64_t>(places.size())}), rest(slopes.type(), shape{});
  with_number(slopes.type(), [&]<class T>(T) {
    const auto from = slopes.values<T>();
    std::vector<bool> is_taken(from.size(), false);
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (places[k] < 0 || places[k] >= slopes.elements())
        throw invalid_argument("Elements in reverse index must be in [0, " + std::to_string(slopes.elements()) + ") but got " +
                               std::to_string(places[k]));
      const auto at = static_cast<std::size_t>(places[k]);
      made.values<T>()[k] = from[at];
      is_taken[at] = true;
    }
    T sum = T(0);
    for (std::size_t k = 0; k < from.size(); ++k)
      if (!is_taken[k]) sum = arithmetic<T>::add(sum, from[k]);
    rest.values<T>()[0] = sum;
  });
  c.set(0, std::move(made));
  c.set(1, std::move(rest));
}

LEAT_FILL(fill_ragged_kernels) {
  register_kernel("RaggedRange", run_ragged_range);
  register_kernel("RaggedGather", counting_texts(run_ragged_gather));
  register_kernel("RaggedTensorToTensor", counting_texts(run_ragged_to_tensor));
  register_kernel("RaggedTensorToSparse", run_ragged_to_sparse);
  register_kernel("RaggedFillEmptyRows", counting_texts(run_fill_ragged_rows));
  register_kernel("RaggedFillEmptyRowsGrad", run_fill_ragged_rows_grad);
}

}  // namespace leat::runtime
