#pragma once
// Kernels of sets: the last dimension of a tensor, dense or sparse, holds one set for each position of the others. Source: TensorFlow
// `DenseToDenseSetOperation`, `DenseToSparseSetOperation`, `SparseToSparseSetOperation`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/counted_memory.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/sparse.hpp>

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::runtime {

/// A value's place: the tensor that has it, and its index in it.
using value_place = std::pair<const tensor_value*, std::size_t>;
/// Sets by their position in all dimensions but the last; each is its values in order, with their places.
template <class T>
using sets_by_position = std::map<std::vector<std::int64_t>, std::map<T, value_place>>;

/// The sets of one operand, and the sizes of all dimensions but the last.
template <class T>
struct set_operand {
  explicit set_operand(const step_state& its_step) : step(its_step) {}

  const step_state& step;
  std::vector<std::int64_t> sizes;
  sets_by_position<T> sets;
  counted_memory memory;
  // The bytes of an entry of a map beside its key and its value, as the usual implementations have them.
  static constexpr std::size_t entry_bytes = 48;

  void add(std::vector<std::int64_t> position, const T* values, const value_place& place) {
    if (place.second % 1024 == 0) step.check();
    const std::size_t rank = position.size();
    const auto [set, is_new_set] = sets.try_emplace(std::move(position));
    if (is_new_set) memory.add(entry_bytes + sizeof(*set) + rank * sizeof(std::int64_t));
    const auto [value, is_new] = set->second.try_emplace(values[place.second], place);
    if (!is_new) return;
    memory.add(entry_bytes + sizeof(*value));
    if constexpr (std::is_same_v<T, std::string>) memory.add(outer_bytes(value->first.size()));
  }
  void read_dense(const tensor_value& x, const T* values) {
    const shape& s = x.extent();
    if (s.rank < 2) throw invalid_argument("a set's tensor must have at least 2 dimensions, not shape " + brackets(s));
    sizes.assign(s.dim, s.dim + s.rank - 1);
    const std::int64_t width = s[s.rank - 1];
    std::vector<std::int64_t> position(sizes.size());
    for (std::int64_t k = 0; k < x.elements(); ++k) {
      std::int64_t row = k / width;
      for (std::size_t d = sizes.size(); d-- > 0; row /= sizes[d]) position[d] = row % sizes[d];
      add(position, values, {&x, static_cast<std::size_t>(k)});
    }
  }
  void read_sparse(const sparse_parts& x, const T* values) {
    if (x.rank < 2) throw invalid_argument("a set's tensor must have at least 2 dimensions, not " + std::to_string(x.rank));
    sizes.assign(x.sizes.begin(), x.sizes.end() - 1);
    for (std::size_t k = 0; k < x.count; ++k) {
      for (std::size_t d = 0; d < x.rank; ++d)
        if (x.index(k)[d] < 0 || x.index(k)[d] >= x.sizes[d])
          throw invalid_argument("indices[" + std::to_string(k) + "] is outside of the shape of its tensor in dimension " +
                                 std::to_string(d));
      add({x.index(k), x.index(k) + x.rank - 1}, values, {&x.values, k});
    }
  }
};

/// Which values of two sets a result takes.
struct set_operation {
  bool only_a = false, both = false, only_b = false;
  explicit set_operation(const std::string& name) {
    if (name == "a-b") only_a = true;
    else if (name == "b-a") only_b = true;
    else if (name == "intersection") both = true;
    else if (name == "union") only_a = both = only_b = true;
    else throw invalid_argument("set_operation must be 'a-b', 'b-a', 'intersection' or 'union', not '" + name + "'");
  }
};

template <class T>
void set_combined(kernel_context& c, const set_operation& how, const set_operand<T>& a, const set_operand<T>& b, dtype type) {
  if (a.sizes != b.sizes)
    throw invalid_argument("the sets are in " + brackets(shape_from(a.sizes)) + " and " + brackets(shape_from(b.sizes)) +
                           ": all sizes but the last must be equal");
  std::vector<const std::vector<std::int64_t>*> positions;
  counted_memory memory;  // of the lists
  for (const auto* operand : {&a, &b}) {
    memory.add(operand->sets.size() * sizeof(positions[0]));
    for (const auto& [position, values] : operand->sets) positions.push_back(&position);
  }
  std::ranges::sort(positions, [](const auto* x, const auto* y) { return *x < *y; });
  positions.erase(std::ranges::unique(positions, [](const auto* x, const auto* y) { return *x == *y; }).begin(), positions.end());
  static const std::map<T, value_place> nothing;
  const auto set_at = [](const set_operand<T>& operand, const std::vector<std::int64_t>& position) -> const std::map<T, value_place>& {
    const auto at = operand.sets.find(position);
    return at == operand.sets.end() ? nothing : at->second;
  };
  std::vector<std::int64_t> indices;
  std::vector<value_place> values;
  std::int64_t largest = 0;
  for (const auto* position : positions) {
    const auto &in_a = set_at(a, *position), &in_b = set_at(b, *position);
    std::int64_t count = 0;
    const auto take = [&](const value_place& place) {
      memory.add(sizeof(place) + (position->size() + 1) * sizeof(std::int64_t));
      if (values.size() % 1024 == 0) c.step.check();
      indices.insert(indices.end(), position->begin(), position->end());
      indices.push_back(count++);
      values.push_back(place);
    };
    auto i = in_a.begin();
    auto j = in_b.begin();
    while (i != in_a.end() || j != in_b.end()) {
      const bool is_a = j == in_b.end() || (i != in_a.end() && i->first < j->first);
      const bool is_b = i == in_a.end() || (j != in_b.end() && j->first < i->first);
      if (is_a ? how.only_a : is_b ? how.only_b : how.both) take(is_b ? j->second : i->second);
      if (!is_b) ++i;
      if (!is_a) ++j;
    }
    largest = std::max(largest, count);
  }
  std::vector<std::int64_t> sizes = a.sizes;
  sizes.push_back(largest);
  set_sparse(c, indices, sizes.size(), type, values);
  c.set(2, tensor_value(sizes));
}

template <bool SparseA, bool SparseB>
void run_set_operation(kernel_context& c) {
  const set_operation how(c.node.text("set_operation"));
  constexpr int second = SparseA ? 3 : 1;
  const tensor_value x = c.input(SparseA ? 1 : 0), y = c.input(second + (SparseB ? 1 : 0));
  if (x.type() != y.type()) throw invalid_argument("sets of " + dtype_name(x.type()) + " and " + dtype_name(y.type()));
  const auto run = [&]<class T>(const T* in_x, const T* in_y) {
    set_operand<T> a(c.step), b(c.step);
    std::optional<sparse_parts> parts_a, parts_b;
    if constexpr (SparseA) a.read_sparse(parts_a.emplace(c, 0, 1, 2), in_x);
    else a.read_dense(x, in_x);
    if constexpr (SparseB) b.read_sparse(parts_b.emplace(c, second, second + 1, second + 2), in_y);
    else b.read_dense(y, in_y);
    set_combined(c, how, a, b, x.type());
  };
  if (x.type() == text_dtype) return run(x.texts().data(), y.texts().data());
  if (is_floating(x.type())) throw unimplemented("no kernel for dtype " + dtype_name(x.type()));
  with_number(x.type(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) run(x.values<T>().data(), y.values<T>().data());
  });
}

LEAT_FILL(fill_set_kernels) {
  register_kernel("DenseToDenseSetOperation", run_set_operation<false, false>);
  register_kernel("DenseToSparseSetOperation", run_set_operation<false, true>);
  register_kernel("SparseToSparseSetOperation", run_set_operation<true, true>);
}

}  // namespace leat::runtime
