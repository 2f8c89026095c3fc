#pragma once
// Kernels that select or place elements by index or order: gather, scatter, partition, stitch, select, where, top_k, nth_element.

#include <leat/core/fill.hpp>
#include <leat/kernels/lookups.hpp>
#include <leat/kernels/math/scalar_math.hpp>
#include <leat/kernels/top_k.hpp>
#include <leat/ops/array_parts.hpp>
#include <leat/ops/reduction.hpp>
#include <leat/runtime/kernels/class_kernel.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/named_rows.hpp>
#include <leat/runtime/kernels/shape.hpp>

#include <cmath>

namespace leat::runtime {

inline auto run_gather(kernel_context& c) {
  const tensor_value params = c.input(0);
  const shape& s = params.extent();
  const tensor_value& given = c.input(1);
  const shape& places = given.extent();
  std::int64_t batch_dims = c.node.integer("batch_dims");
  if (batch_dims < 0) batch_dims += places.rank;
  const int batch = batch_dims < 0 || batch_dims > max_rank ? -1 : static_cast<int>(batch_dims);
  if (s.rank < 1) throw invalid_argument("params must be at least 1 dimensional");
  const int axis = c.input_count() > 2 ? axis_of(c.number(2), s.rank) : 0;
  if (batch < 0 || batch > axis || batch > places.rank)
    throw invalid_argument("batch_dims " + std::to_string(c.node.integer("batch_dims")) + " does not fit params " + brackets(s) +
                           ", indices " + brackets(places) + " and axis " + std::to_string(axis));
  shape extent;
  for (int i = 0; i < axis; ++i) extent.push(s[i]);
  for (int i = batch; i < places.rank; ++i) extent.push(places[i]);
  for (int i = axis + 1; i < s.rank; ++i) extent.push(s[i]);
  for (int i = 0; i < batch; ++i)
    if (s[i] != places[i]) throw invalid_argument("batch dimensions differ: params " + brackets(s) + ", indices " + brackets(places));
  const std::int64_t rows = s[axis];
  const std::int64_t batches = product(s, 0, batch), outer = product(s, batch, axis), inner = product(s, axis + 1, s.rank);
  const std::int64_t count = batches == 0 ? 0 : given.elements() / batches;
  return with_index(given.type(), [&]<class I>(I) {
    const I* const indices = given.values<I>().data();
    if (const std::int64_t k = kernels::find_out_of_range(indices, given.elements(), rows, false); k >= 0)
      throw invalid_argument(element_place("indices", places, k) + " = " + std::to_string(indices[k]) + " is not in [0, " +
                             std::to_string(rows) + ")");
    tensor_value made(params.type(), extent);
    text_room room;
    if (params.type() == text_dtype) {
      std::size_t bytes = 0;
      for (std::int64_t o = 0; made.elements() > 0 && o < batches * outer; ++o)
        for (std::int64_t k = 0; k < count; ++k)
          for (std::int64_t i = 0, at = (o * rows + indices[o / outer * count + k]) * inner; i < inner; ++i)
            bytes += outer_bytes(params.texts()[static_cast<std::size_t>(at + i)].size());
      room.take(bytes);
    }
    const auto done = with_storage(params.type(), [&]<class S>(S) {
      return computed_by<gather_op>::run<S, I>(stored<S>(params), indices, stored<S>(made), count, rows, inner, batches * outer, outer);
    });
    room.give(made);
    c.set(0, std::move(made));
    return done;
  });
}

inline auto run_gather_nd(kernel_context& c) {
  const tensor_value params = c.input(0);
  named_rows named(c.numbers(1), c.extent(1), params.extent());
  shape extent = named.outer;
  for (int i = static_cast<int>(c.extent(1)[c.extent(1).rank - 1]); i < params.extent().rank; ++i) extent.push(params.extent()[i]);
  tensor_value made(params.type(), extent);
  const std::int64_t count = made.elements() == 0 ? 0 : named.count;
  text_room room;
  if (params.type() == text_dtype) {
    std::size_t bytes = 0;
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t i = 0, at = named.row(k) * named.width; i < named.width; ++i)
        bytes += outer_bytes(params.texts()[static_cast<std::size_t>(at + i)].size());
    room.take(bytes);
  }
  const auto done = with_storage(params.type(), [&]<class S>(S) {
    return computed_by<gather_places_op>::run<S, std::int64_t>(stored<S>(params), named.list(count), stored<S>(made), count,
                                                               params.elements(), named.width);
  });
  room.give(made);
  c.set(0, std::move(made));
  return done;
}
inline auto run_scatter_nd(kernel_context& c) {
  const shape extent = shape_from(c.numbers(2));
  static_cast<void>(extent.elements());  // throws if the product overflows, before memory is allocated
  named_rows named(c.numbers(0), c.extent(0), extent);
  const tensor_value updates = c.input(1);
  std::int64_t wanted = 0;
  if (!multiplies(named.count, named.width, wanted) || updates.elements() != wanted)
    throw invalid_argument("Dimensions of updates " + brackets(updates.extent()) + " do not fit indices " + brackets(c.extent(0)) +
                           " and shape " + brackets(extent));
  tensor_value made(updates.type(), extent);
  const std::int64_t count = wanted == 0 ? 0 : named.count, rows = named.width == 0 ? 0 : made.elements() / named.width;
  const auto done = with_number(updates.type(), [&]<class T>(T) {
    return computed_by<scatter_places_op>::run<T, std::int64_t>(updates.values<T>().data(), named.list(count), made.values<T>().data(),
                                                                count, rows, named.width);
  });
  c.set(0, std::move(made));
  return done;
}

inline void run_partition(kernel_context& c) {
  const tensor_value data = c.input(0);
  const shape s = data.extent(), p = c.extent(1);
  const auto parts = c.numbers(1);
  for (int i = 0; i < p.rank; ++i)
    if (p.rank > s.rank || s[i] != p[i])
      throw invalid_argument("data.shape must start with partitions.shape, got data.shape = " + brackets(s) +
                             ", partitions.shape = " + brackets(p));
  const std::int64_t width = product(s, p.rank, s.rank);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(c.result_count()), 0);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k] < 0 || parts[k] >= c.result_count())
      throw invalid_argument(element_place("partitions", p, static_cast<std::int64_t>(k)) + " = " + std::to_string(parts[k]) +
                             " is not in [0, " + std::to_string(c.result_count()) + ")");
    ++counts[static_cast<std::size_t>(parts[k])];
  }
  std::vector<tensor_value> made;
  for (auto n : counts) {
    shape extent;
    extent.push(n);
    for (int i = p.rank; i < s.rank; ++i) extent.push(s[i]);
    made.emplace_back(data.type(), extent);
  }
  with_storage(data.type(), [&]<class S>(S) {
    std::vector<S*> to;
    for (auto& m : made) to.push_back(stored<S>(m));
    for (std::size_t k = 0; k < parts.size(); ++k) {
      S*& at = to[static_cast<std::size_t>(parts[k])];
      at = std::copy_n(stored<S>(data) + static_cast<std::int64_t>(k) * width, width, at);
    }
  });
  for (std::size_t k = 0; k < made.size(); ++k) c.set(static_cast<int>(k), std::move(made[k]));
}
inline auto run_stitch(kernel_context& c) {
  const int n = c.input_count() / 2;
  if (n == 0) throw invalid_argument("nothing to stitch");
  std::int64_t largest = -1;
  shape row;
  const dtype type = c.type(n);
  for (int k = 0; k < n; ++k) {
    const shape& at = c.extent(k);
    const shape& s = c.extent(n + k);
    for (int i = 0; i < at.rank; ++i)
      if (s.rank < at.rank || s[i] != at[i])
        throw invalid_argument("data[" + std::to_string(k) + "].shape = " + brackets(s) + " does not start with indices[" +
                               std::to_string(k) + "].shape = " + brackets(at));
    shape rest;
    for (int i = at.rank; i < s.rank; ++i) rest.push(s[i]);
    if (k > 0 && !(rest == row))
      throw invalid_argument("Need data[0].shape and data[" + std::to_string(k) + "].shape to be the same behind the indices");
    row = rest;
    for (const std::int64_t i : c.input(k).values<std::int32_t>()) {
      if (i < 0) throw invalid_argument("indices[" + std::to_string(k) + "] = " + std::to_string(i) + " is out of range");
      largest = std::max(largest, i);
    }
  }
  shape extent;
  extent.push(largest + 1);
  for (int i = 0; i < row.rank; ++i) extent.push(row[i]);
  tensor_value made(type, extent);
  const auto done = with_storage(type, [&]<class S>(S) {
    constexpr int most = dynamic_stitch_op::most;
    const auto stitch = [&](int first) {
      const S* from[most];
      const std::int32_t* indices[most];
      std::int64_t counts[most];
      const int arrays = std::min(most, n - first);
      for (int k = 0; k < arrays; ++k) {
        const auto its = c.input(first + k).values<std::int32_t>();
        from[k] = stored<S>(c.input(n + first + k));
        indices[k] = its.data();
        counts[k] = static_cast<std::int64_t>(its.size());
      }
      return computed_by<dynamic_stitch_op>::run<S>(std::data(from), std::data(indices), std::data(counts), arrays, stored<S>(made),
                                                    largest + 1, row.elements(), first == 0);
    };
    auto all = stitch(0);
    for (int first = most; first < n; first += most) all = stitch(first);
    return all;
  });
  c.set(0, std::move(made));
  return done;
}

inline void run_select(kernel_context& c) {
  const tensor_value yes = c.input(1), no = c.input(2);
  const shape& s = yes.extent();
  const shape which = c.extent(0);
  if (!(s == no.extent()))
    throw invalid_argument("'then' and 'else' must have the same size.  but received: " + brackets(s) + " vs. " + brackets(no.extent()));
  const auto condition = c.input(0).values<bool>();
  if (which.rank == 0) return c.set(0, condition[0] ? yes : no);
  const bool by_row = !(which == s) && which.rank == 1 && s.rank >= 1 && s[0] == which[0];
  if (!by_row && !(which == s))
    throw invalid_argument("'cond' must be a scalar, a vector of the first dimension, or of the shape of the branches: " + brackets(which) +
                           " vs. " + brackets(s));
  const std::int64_t width = by_row ? product(s, 1, s.rank) : 1;
  tensor_value made(yes.type(), s);
  with_storage(yes.type(), [&]<class S>(S) {
    S* to = stored<S>(made);
    for (std::size_t k = 0; k < condition.size(); ++k)
      to = std::copy_n(stored<S>(condition[k] ? yes : no) + static_cast<std::int64_t>(k) * width, width, to);
  });
  c.set(0, std::move(made));
}

inline void run_where(kernel_context& c) {
  const tensor_value in = c.input(0);
  if (in.extent().rank == 0) throw invalid_argument("WhereOp : Unhandled input dimensions: 0");
  std::vector<std::int64_t> found;
  with_dtype(in.type(), [&]<class T>(T) {
    const auto all = in.values<T>();
    for (std::size_t k = 0; k < all.size(); ++k)
      if (all[k] != T(0)) found.push_back(static_cast<std::int64_t>(k));
  });
  const shape& s = in.extent();
  shape extent;
  extent.push(static_cast<std::int64_t>(found.size()));
  extent.push(s.rank);
  tensor_value made(dtype::int64, extent);
  std::int64_t* to = made.values<std::int64_t>().data();
  for (auto k : found) {
    for (int i = s.rank - 1; i >= 0; --i) {
      to[i] = k % s[i];
      k /= s[i];
    }
    to += s.rank;
  }
  c.set(0, std::move(made));
}

inline auto run_top(kernel_context& c) {
  const tensor_value in = c.input(0);
  const shape& s = in.extent();
  const std::int64_t k = c.input_count() > 1 ? c.number(1) : c.node.integer("k");
  if (s.rank < 1) throw invalid_argument("input must be >= 1-D, got shape " + brackets(s));
  const std::int64_t width = s[s.rank - 1];
  if (k < 0) throw invalid_argument("Need k >= 0, got " + std::to_string(k));
  if (k > width)
    throw invalid_argument("input must have at least k columns. Had " + std::to_string(width) + ", needed " + std::to_string(k));
  shape extent = s;
  extent.dim[s.rank - 1] = k;
  tensor_value values(in.type(), extent), places(c.node.type_of("index_type", dtype::int32), extent);
  const std::int64_t rows = values.elements() == 0 ? 0 : product(s, 0, s.rank - 1);
  const auto done = with_number(in.type(), [&]<class T>(T) {
    return with_index(places.type(), [&]<class I>(I) {
      const T* const from = in.values<T>().data();
      const I* const found = places.values<I>().data();
      const auto computed = computed_by<top_places_op>::run<T, I>(from, places.values<I>().data(), rows, width, k);
      computed_by<gather_op>::run<T, I>(from, found, values.values<T>().data(), k, width, 1, rows, 1);
      return computed;
    });
  });
  c.set(0, std::move(values));
  c.set(1, std::move(places));
  return done;
}
inline void run_in_top(kernel_context& c) {
  const shape s = c.extent(0);
  const auto targets = c.numbers(1);
  const std::int64_t k = c.input_count() > 2 ? c.number(2) : c.node.integer("k");
  if (s.rank != 2 || c.extent(1).rank != 1 || s[0] != c.extent(1)[0])
    throw invalid_argument("First dimension of predictions " + brackets(s) + " must match length of targets " + brackets(c.extent(1)));
  const auto all = c.input(0).values<float>();
  tensor_value made(dtype::boolean, c.extent(1));
  for (std::int64_t r = 0; r < s[0]; ++r) {
    const float* row = all.data() + r * s[1];
    const std::int64_t target = targets[static_cast<std::size_t>(r)];
    bool fine = target >= 0 && target < s[1];
    std::int64_t larger = 0;
    for (std::int64_t j = 0; j < s[1] && fine; ++j) {
      fine = std::isfinite(row[j]);
      larger += row[j] > row[target] ? 1 : 0;
    }
    made.values<bool>()[static_cast<std::size_t>(r)] = fine && larger < k;
  }
  c.set(0, std::move(made));
}
/// The n-th smallest element of each row, counted from 0, or the n-th largest. NaN counts as larger than all numbers.
inline void run_nth_element(kernel_context& c) {
  const tensor_value in = c.input(0);
  shape extent = in.extent();
  if (c.extent(1).rank != 0) throw invalid_argument("N must be scalar but has rank " + std::to_string(c.extent(1).rank));
  const std::int64_t n = c.number(1);
  if (n < 0) throw invalid_argument("n must be non-negative but is " + std::to_string(n));
  if (extent.rank < 1) throw invalid_argument("input must be at least rank 1 but is rank 0");
  const std::int64_t width = extent[extent.rank - 1];
  if (n >= width)
    throw invalid_argument("input must have at least n+1 columns: " + brackets(in.extent()) + " has " + std::to_string(width) + ", n is " +
                           std::to_string(n));
  --extent.rank;
  const std::int64_t place = c.node.flag("reverse") ? width - 1 - n : n;
  tensor_value made(in.type(), extent);
  with_number(in.type(), [&]<class T>(T) {
    std::vector<T> row(static_cast<std::size_t>(width));
    for (std::int64_t r = 0; r < made.elements(); ++r) {
      std::copy_n(in.values<T>().data() + r * width, width, row.begin());
      std::nth_element(row.begin(), row.begin() + place, row.end(), [](T a, T b) { return a < b || (a == a && b != b); });
      made.values<T>()[static_cast<std::size_t>(r)] = row[static_cast<std::size_t>(place)];
    }
  });
  c.set(0, std::move(made));
}
/// Reduces the rows of each segment. Ids are sorted, and the last one determines the number of segments. A segment without rows is filled
/// with zeros, or with ones for products.
template <class Op>
void run_sorted_segments(kernel_context& c, bool mean, bool ones) {
  const tensor_value data = c.input(0);
  const auto ids = c.numbers(1);
  if (data.extent().rank < 1 || c.extent(1).rank != 1) throw invalid_argument("segment_ids should be a vector, data at least one");
  if (c.extent(1)[0] != data.extent()[0]) throw invalid_argument("segment_ids should be the same size as dimension 0 of input.");
  for (std::size_t k = 0; k < ids.size(); ++k) {
    if (ids[k] < 0) throw invalid_argument("segment ids must be >= 0");
    if (k > 0 && ids[k] < ids[k - 1]) throw invalid_argument("segment ids are not increasing");
  }
  shape extent = data.extent();
  extent.dim[0] = ids.empty() ? 0 : std::min(ids.back(), max_elements) + 1;
  if (!extent.is_countable()) throw invalid_argument("a result of more than 2^44 elements, which no memory holds");
  tensor_value made = filled_number(data.type(), extent, ones ? 1 : 0);
  const std::int64_t width = product(extent, 1, extent.rank);
  with_number(data.type(), [&]<class T>(T) {
    for (std::size_t k = 0; k < ids.size();) {
      T* const to = made.values<T>().data() + ids[k] * width;
      std::int64_t rows = 0;
      for (const auto segment = ids[k]; k < ids.size() && ids[k] == segment; ++k, ++rows) {
        const T* const from = data.values<T>().data() + static_cast<std::int64_t>(k) * width;
        for (std::int64_t j = 0; j < width; ++j)
          to[j] = rows == 0 ? from[j] : Op::template combine<kernels::scalar_math<T>>(to[j], from[j]);
      }
      if (mean)
        for (std::int64_t j = 0; j < width; ++j) to[j] = arithmetic<T>::divide(to[j], static_cast<T>(rows));
    }
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_array_kernels) {
  register_kernel("SegmentSum", [](kernel_context& c) { run_sorted_segments<segment_sum_op>(c, false, false); });
  register_kernel("SegmentMean", [](kernel_context& c) { run_sorted_segments<segment_sum_op>(c, true, false); });
  register_kernel("SegmentMax", [](kernel_context& c) { run_sorted_segments<segment_max_op>(c, false, false); });
  register_kernel("SegmentMin", [](kernel_context& c) { run_sorted_segments<segment_min_op>(c, false, false); });
  register_kernel("SegmentProd", [](kernel_context& c) { run_sorted_segments<segment_prod_op>(c, false, true); });
  for (const char* type : {"GatherV2", "Gather"}) register_class_kernel(type, run_gather);
  register_class_kernel("GatherNd", run_gather_nd);
  register_class_kernel("ScatterNd", run_scatter_nd);
  register_kernel("DynamicPartition", counting_texts(run_partition));
  for (const char* type : {"DynamicStitch", "ParallelDynamicStitch"})
    register_class_kernel(type, counting_texts(run_stitch));
  register_kernel("Select", counting_texts(run_select));
  register_kernel("Where", run_where);
  for (const char* type : {"TopKV2", "TopK"}) register_class_kernel(type, run_top);
  register_kernels({"InTopKV2", "InTopK"}, run_in_top);
  register_kernel("NthElement", run_nth_element);
}

}  // namespace leat::runtime
