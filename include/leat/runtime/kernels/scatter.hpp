#pragma once
// Kernels that write elements by index, rows or a slice into a copy of an array, or elements into an array that a value fills; and slices
// into variables. Source: TensorFlow `TensorScatterUpdate` and its kin, `ScatterNdNonAliasingAdd`, `SparseToDense`, `InplaceUpdate`,
// `TensorStridedSliceUpdate`, `StridedSliceAssign`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/named_rows.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/state.hpp>

#include <optional>
#include <utility>

namespace leat::runtime {

/// Checks the shapes of such a node in TensorFlow's order, and with its messages.
inline void want_updates(const shape& of_array, const shape& places, const shape& updates) {
  if (places.rank < 1) throw invalid_argument("Indices shape must have rank at least one. Found:" + brackets(places));
  if (updates.rank < 1) throw invalid_argument("Updates shape must have rank at least one. Found:" + brackets(updates));
  const bool has_places = places.elements() > 0, has_updates = updates.elements() > 0;
  if ((has_places || has_updates) && !(has_places && has_updates && of_array.elements() > 0))
    throw invalid_argument("Indices and updates specified for empty output shape");
  const int outer = places.rank - 1;
  bool is_fine = updates.rank >= outer;
  for (int i = 0; i < outer && is_fine; ++i) is_fine = places[i] == updates[i];
  if (!is_fine)
    throw invalid_argument("Outer dimensions of indices and update must match. Indices shape: " + brackets(places) +
                           ", updates shape:" + brackets(updates));
  const std::int64_t depth = places[outer];
  if (of_array.rank - depth != updates.rank - outer)
    throw invalid_argument("Inner dimensions of output shape must match inner dimensions of updates shape. Output: " + brackets(of_array) +
                           " updates: " + brackets(updates));
  const int inner = updates.rank - outer;
  for (int i = 1; i <= inner; ++i)
    if (of_array[of_array.rank - i] != updates[updates.rank - i])
      throw invalid_argument("The inner " + std::to_string(inner) + " dimensions of output.shape=" + brackets(of_array) +
                             " must match the inner " + std::to_string(inner) + " dimensions of updates.shape=" + brackets(updates));
}

inline void run_scatter_into_copy(kernel_context& c, scatter_kind kind) {
  want_known_policy(c.node);
  const tensor_value updates = c.input(2);
  const shape s = c.extent(0);
  want_updates(s, c.extent(1), updates.extent());
  const named_rows named(c.numbers(1), c.extent(1), s);
  tensor_value made = c.take(0);
  if (made.type() != updates.type())
    throw invalid_argument("updates are " + dtype_name(updates.type()) + ", the array " + dtype_name(made.type()));
  if (!made.is_alone()) made = made.copy();
  if (updates.elements() == 0) return c.set(0, std::move(made));
  if (kind == scatter_kind::update)
    with_storage(made.type(), [&]<class S>(S) {
      for (std::int64_t k = 0; k < named.count; ++k)
        std::copy_n(stored<S>(updates) + k * named.width, named.width, stored<S>(made) + named.row(k) * named.width);
    });
  else
    with_number(made.type(), [&]<class T>(T) {
      const T* from = updates.values<T>().data();
      for (std::int64_t k = 0; k < named.count; ++k) {
        T* const row = made.values<T>().data() + named.row(k) * named.width;
        for (std::int64_t j = 0; j < named.width; ++j) row[j] = scattered(kind, row[j], *from++);
      }
    });
  c.set(0, std::move(made));
}

/// The place of list `k` of `depth` indices among all elements of an array. Errors: invalid_argument if it is outside, or if `validates`
/// and it does not come after the list before it.
inline std::int64_t place_of_indices(const std::vector<std::int64_t>& indices, std::int64_t k, const shape& s, bool validates) {
  const auto text = [&] {
    std::string list = "indices[" + std::to_string(k) + "] = [";
    for (int a = 0; a < s.rank; ++a) list += (a > 0 ? "," : "") + std::to_string(indices[static_cast<std::size_t>(k * s.rank + a)]);
    return list + "] is ";
  };
  std::int64_t place = 0;
  for (int a = 0; a < s.rank; ++a) {
    const std::int64_t i = indices[static_cast<std::size_t>(k * s.rank + a)];
    if (i < 0 || i >= s[a]) {
      if (!validates) throw invalid_argument("Indices are not valid (out of bounds).  Shape: " + brackets(s));
      throw invalid_argument(text() + "out of bounds: need 0 <= index < " + brackets(s));
    }
    place = place * s[a] + i;
  }
  if (!validates || k == 0) return place;
  std::int64_t before = 0;
  for (int a = 0; a < s.rank; ++a) before = before * s[a] + indices[static_cast<std::size_t>((k - 1) * s.rank + a)];
  if (place < before)
    throw invalid_argument(text() +
                           "out of order. Many sparse ops require sorted indices.\n"
                           "    Use `tf.sparse.reorder` to create a correctly ordered copy.");
  if (place == before) throw invalid_argument(text() + "repeated");
  return place;
}
inline void run_sparse_to_dense(kernel_context& c) {
  const shape places = c.extent(0);
  const tensor_value values = c.input(2), other = c.input(3);
  if (places.rank > 2) throw invalid_argument("sparse_indices should be a scalar, vector, or matrix, got shape " + brackets(places));
  const std::int64_t count = places.rank > 0 ? places[0] : 1, depth = places.rank > 1 ? places[1] : 1;
  if (c.extent(1).rank != 1) throw invalid_argument("output_shape must be rank 1, got shape " + brackets(c.extent(1)));
  if (c.extent(1)[0] != depth)
    throw invalid_argument("output_shape has incorrect number of elements: " + std::to_string(c.extent(1)[0]) +
                           " should be: " + std::to_string(depth));
  const auto sizes = c.numbers(1);
  for (const std::int64_t n : sizes)
    if (n < 0) throw invalid_argument("Dimension " + std::to_string(n) + " must be >= 0");
  const shape extent = shape_from(sizes);
  const shape& given = values.extent();
  if (given.rank > 1 || (given.rank == 1 && given[0] != count))
    throw invalid_argument("sparse_values has incorrect shape " + brackets(given) + ", should be [] or [" + std::to_string(count) + "]");
  if (other.extent().rank != 0) throw invalid_argument("default_value should be a scalar.");
  if (values.type() != other.type())
    throw invalid_argument("default_value is " + dtype_name(other.type()) + ", sparse_values are " + dtype_name(values.type()));
  const bool validates = c.node.flag("validate_indices", true);
  const auto indices = c.numbers(0);
  tensor_value made(values.type(), extent);
  with_storage(values.type(), [&]<class S>(S) {
    S* const to = stored<S>(made);
    std::fill_n(to, made.elements(), *stored<S>(other));
    // Lists of no indices all name the only element, so without validation the last one decides.
    for (std::int64_t k = depth == 0 && !validates ? std::max<std::int64_t>(count - 1, 0) : 0; k < count; ++k)
      to[place_of_indices(indices, k, extent, validates)] = stored<S>(values)[given.rank == 0 ? 0 : k];
  });
  c.set(0, std::move(made));
}

/// Writes rows into an array, or adds or subtracts them. A row's number beyond the rows is taken modulo their count.
inline void run_rows_in_place(kernel_context& c, scatter_kind kind) {
  const tensor_value rows = c.input(2);
  const shape places = c.extent(1), s = c.extent(0), &v = rows.extent();
  if (places.rank != 1) throw invalid_argument("i must be a vector. " + brackets(places));
  if (s.rank != v.rank) throw invalid_argument("x and v shape doesn't match (ranks differ): " + brackets(s) + " vs. " + brackets(v));
  if (s.rank < 1) throw invalid_argument("x must have at least one dimension: " + brackets(s));
  for (int i = 1; i < s.rank; ++i)
    if (s[i] != v[i])
      throw invalid_argument("x and v shape doesn't match at index " + std::to_string(i) + " : " + brackets(s) + " vs. " + brackets(v));
  if (places[0] != v[0]) throw invalid_argument("i and x shape doesn't match at index 0: " + brackets(places) + " vs. " + brackets(v));
  const auto numbers = c.numbers(1);
  tensor_value made = c.take(0);
  if (made.type() != rows.type()) throw invalid_argument("v is " + dtype_name(rows.type()) + ", x " + dtype_name(made.type()));
  if (!made.is_alone()) made = made.copy();
  if (made.elements() == 0 || rows.elements() == 0) return c.set(0, std::move(made));
  const std::int64_t width = product(s, 1, s.rank);
  const auto write = [&]<class S>(S* to, const S* from, auto change) {
    for (const std::int64_t number : numbers) {
      S* const row = to + (number % s[0] + s[0]) % s[0] * width;
      for (std::int64_t j = 0; j < width; ++j) row[j] = change(row[j], *from++);
    }
  };
  if (kind == scatter_kind::update) {
    text_room room;
    if (rows.type() == text_dtype) room.take(outer_bytes(rows) + outer_bytes(made));
    with_storage(made.type(), [&]<class S>(S) { write(stored<S>(made), stored<S>(rows), [](const S&, const S& b) { return b; }); });
    room.give(made);
  } else {
    with_number(made.type(), [&]<class T>(T) {
      write(made.values<T>().data(), rows.values<T>().data(), [kind](T a, T b) { return scattered(kind, a, b); });
    });
  }
  c.set(0, std::move(made));
}

/// Writes a value, which is broadcast, to the elements of an array that a strided slice names.
class slice_writer {
 public:
  slice_writer(kernel_context& c, const shape& of_array, const tensor_value& value)
      : plan_(slice_of(c, of_array, 1)), steps_(plan_, of_array) {
    if (plan_.result.elements() == 0) return;
    shape from = value.extent();
    while (from.rank > plan_.result.rank && from[0] == 1) from = without_first(from);
    const auto both = broadcast(from, plan_.result);
    if (!both.ok || !(both.extent == plan_.result))
      throw invalid_argument("Cannot broadcast input shape " + brackets(value.extent()) + " into final shape " + brackets(plan_.result));
    whole_ = from == plan_.result ? value : tensor_value(value.type(), plan_.result);
    if (from == plan_.result) return;
    auto strides = strides_of(from);
    for (std::size_t d = 0; d < strides.size(); ++d)
      if (from[static_cast<int>(d)] == 1) strides[d] = 0;
    strides.insert(strides.begin(), static_cast<std::size_t>(plan_.result.rank - from.rank), 0);
    with_storage(value.type(),
                 [&]<class S>(S) { gather_walk(stored<S>(whole_), stored<S>(value), plan_.result.dim, strides.data(), strides.size()); });
  }
  void write(tensor_value& to) const {
    if (whole_.elements() == 0) return;
    with_storage(to.type(), [&]<class S>(S) {
      scatter_walk(stored<S>(to) + steps_.offset, stored<S>(whole_), steps_.counts.data(), steps_.strides.data(), steps_.counts.size());
    });
  }

 private:
  slice_plan plan_;
  slice_steps steps_;
  tensor_value whole_;
};
inline void run_update_of_slice(kernel_context& c) {
  const slice_writer slice(c, c.extent(0), c.input(4));
  if (c.type(0) != c.type(4)) throw invalid_argument("value is " + dtype_name(c.type(4)) + ", input " + dtype_name(c.type(0)));
  tensor_value made = c.take(0);
  if (!made.is_alone()) made = made.copy();
  slice.write(made);
  c.set(0, std::move(made));
}
inline void run_assign_to_slice(kernel_context& c) {
  variable_slot& v = c.variable(0);
  std::optional<slice_writer> slice;
  v.update(
      [&](const tensor_value& held) {
        if (c.type(4) != held.type())
          throw invalid_argument("value is " + dtype_name(c.type(4)) + ", the variable " + dtype_name(held.type()));
        slice.emplace(c, held.extent(), c.input(4));
      },
      [&](tensor_value& held) { slice->write(held); });
  if (c.result_count() > 0) c.set_variable(0, v);
}

LEAT_FILL(fill_scatter_kernels) {
  register_kernel("TensorStridedSliceUpdate", counting_texts(run_update_of_slice));
  register_kernels({"StridedSliceAssign", "ResourceStridedSliceAssign"}, run_assign_to_slice);
  register_kernel("InplaceUpdate", [](kernel_context& c) { run_rows_in_place(c, scatter_kind::update); });
  register_kernel("InplaceAdd", [](kernel_context& c) { run_rows_in_place(c, scatter_kind::add); });
  register_kernel("InplaceSub", [](kernel_context& c) { run_rows_in_place(c, scatter_kind::sub); });
  const std::pair<const char*, scatter_kind> scatters[]{
      {"TensorScatterUpdate", scatter_kind::update},  {"TensorScatterAdd", scatter_kind::add}, {"TensorScatterSub", scatter_kind::sub},
      {"ScatterNdNonAliasingAdd", scatter_kind::add}, {"TensorScatterMin", scatter_kind::min}, {"TensorScatterMax", scatter_kind::max}};
  for (const auto& [type, kind] : scatters) register_kernel(type, [which = kind](kernel_context& c) { run_scatter_into_copy(c, which); });
  register_kernel("SparseToDense", counting_texts(run_sparse_to_dense));
}

}  // namespace leat::runtime
