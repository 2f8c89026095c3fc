#pragma once
// Kernels that find equal elements: the distinct elements of a vector, or the distinct parts of an array along an axis, and the elements of
// one vector that another does not have. Source: TensorFlow `Unique`, `UniqueWithCounts`, their second versions, and `ListDiff`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace leat::runtime {

// Key for finding equal elements: 0 equals -0, and NaN equals nothing.
template <class S>
struct element_key {
  explicit element_key(dtype type) : is_float_(is_floating(type)) {}
  const S& operator()(const S& stored) const {
    if constexpr (std::is_integral_v<S>) {
      static constexpr S zero = 0;
      if (is_float_ && stored == sign) return zero;
    }
    return stored;
  }
  bool equals_nothing(const S& stored) const {
    if constexpr (std::is_integral_v<S>) {
      constexpr S infinity = sizeof(S) == 8 ? static_cast<S>(0x7ff0000000000000) : static_cast<S>(0x7f800000);
      return is_float_ && sizeof(S) >= 4 && (stored & static_cast<S>(~sign)) > infinity;
    } else {
      return false;
    }
  }

 private:
  static constexpr auto sign = [] {
    if constexpr (std::is_integral_v<S>) return static_cast<S>(S{1} << (8 * sizeof(S) - 1));
    else return 0;
  }();
  bool is_float_;
};

/// The first of each group of equal rows, in order of appearance. `groups[k]` becomes the group of row k. A row with a NaN equals no other.
template <class S, class I>
std::vector<std::int64_t> first_of_equal_rows(const S* rows, std::int64_t width, std::span<I> groups, const element_key<S>& key) {
  const auto precedes = [&](const S* a, const S* b) {
    for (std::int64_t j = 0; j < width; ++j) {
      if (key(a[j]) < key(b[j])) return true;
      if (key(b[j]) < key(a[j])) return false;
    }
    return false;
  };
  std::map<const S*, std::int64_t, decltype(precedes)> known(precedes);
  std::vector<std::int64_t> first;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const S* const row = rows + static_cast<std::int64_t>(k) * width;
    const auto next = static_cast<std::int64_t>(first.size());
    const bool is_single = std::any_of(row, row + width, [&](const S& e) { return key.equals_nothing(e); });
    const std::int64_t group = is_single ? next : known.try_emplace(row, next).first->second;
    if (group == next) first.push_back(static_cast<std::int64_t>(k));
    groups[k] = static_cast<I>(group);
  }
  return first;
}

/// The axis along which parts are compared: input 1 of a second version, a vector of at most one element. Without one, the input is a
/// vector.
inline int compared_axis(kernel_context& c) {
  const shape& s = c.extent(0);
  if (c.input_count() > 1) {
    if (c.extent(1).rank != 1) throw invalid_argument("axis expects a 1D vector.");
    if (c.extent(1)[0] > 1) throw invalid_argument("axis does not support input tensors larger than 1 elements");
    if (c.extent(1)[0] == 1) {
      const std::int64_t given = c.number(1), axis = given < 0 ? given + s.rank : given;
      if (axis < 0 || axis >= s.rank) throw invalid_argument("axis has to be between [0, " + std::to_string(s.rank) + ")");
      return static_cast<int>(axis);
    }
  }
  if (s.rank != 1) throw invalid_argument("unique expects a 1D vector, got shape " + brackets(s));
  return 0;
}

inline void run_unique(kernel_context& c) {
  const tensor_value in = c.input(0);
  const shape& s = in.extent();
  const int axis = compared_axis(c);
  const std::int64_t outer = product(s, 0, axis), inner = product(s, axis + 1, s.rank), count = s[axis];
  const std::int64_t width = in.elements() == 0 ? 0 : outer * inner;
  const dtype index_type = c.node.type_of("out_idx", dtype::int32);
  shape places;
  places.push(count);
  tensor_value groups(index_type, places);
  with_index(index_type, [&]<class I>(I) {
    if (count > std::numeric_limits<I>::max()) throw invalid_argument("unique does not support input tensors larger than INT_MAX elements");
    with_storage(in.type(), [&]<class S>(S) {
      // Parts along an axis within the array become rows.
      const S* rows = stored<S>(in);
      tensor_value turned;
      if (outer > 1 && width > 0) {
        turned = tensor_value(in.type(), s);
        S* to = stored<S>(turned);
        for (std::int64_t k = 0; k < count; ++k)
          for (std::int64_t o = 0; o < outer; ++o) to = std::copy_n(stored<S>(in) + (o * count + k) * inner, inner, to);
        rows = stored<S>(turned);
      }
      const auto first = first_of_equal_rows(rows, width, groups.values<I>(), element_key<S>(in.type()));
      shape extent = s;
      extent.dim[axis] = static_cast<std::int64_t>(first.size());
      tensor_value made(in.type(), extent);
      S* to = stored<S>(made);
      for (std::int64_t o = 0; width > 0 && o < outer; ++o)
        for (const std::int64_t k : first) to = std::copy_n(rows + k * width + o * inner, inner, to);
      c.set(0, std::move(made));
      if (c.result_count() < 3) return;
      shape distinct;
      distinct.push(static_cast<std::int64_t>(first.size()));
      tensor_value counts(index_type, distinct);
      const auto times = counts.values<I>();
      std::fill(times.begin(), times.end(), I(0));
      for (const I g : groups.values<I>()) ++times[static_cast<std::size_t>(g)];
      c.set(2, std::move(counts));
    });
  });
  c.set(1, std::move(groups));
}

/// The elements of x that do not occur in y, and their indices.
inline void run_list_diff(kernel_context& c) {
  const tensor_value x = c.input(0), y = c.input(1);
  for (const auto* in : {&x, &y})
    if (in->extent().rank != 1) throw invalid_argument("x and y should be 1D vectors, got shape " + brackets(in->extent()));
  std::vector<std::int64_t> places;
  with_storage(x.type(), [&]<class S>(S) {
    const element_key<S> key(x.type());
    std::set<S> known;
    for (std::int64_t k = 0; k < y.elements(); ++k) known.insert(key(stored<S>(y)[k]));
    for (std::int64_t k = 0; k < x.elements(); ++k)
      if (const S& e = stored<S>(x)[k]; key.equals_nothing(e) || !known.contains(key(e))) places.push_back(k);
    shape extent;
    extent.push(static_cast<std::int64_t>(places.size()));
    tensor_value made(x.type(), extent);
    for (std::size_t k = 0; k < places.size(); ++k) stored<S>(made)[k] = stored<S>(x)[places[k]];
    c.set(0, std::move(made));
  });
  c.set(1, integer_tensor(c.node.type_of("out_idx", dtype::int32), places));
}

LEAT_FILL(fill_unique_kernels) {
  register_kernels({"Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2"}, run_unique);
  register_kernel("ListDiff", run_list_diff);
}

}  // namespace leat::runtime
