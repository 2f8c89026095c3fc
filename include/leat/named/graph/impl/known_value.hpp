#pragma once
// Implementation of known_value.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/known_value.hpp>
#include <leat/named/graph/part.hpp>
#include <leat/named/graph/slice_walk.hpp>

namespace leat {

namespace detail {

class known_value_reader {
 public:
  explicit known_value_reader(graph& g) : g_(g), nodes_(g.named()) {}

  using numbers = std::optional<std::vector<std::int64_t>>;

  numbers read(const output& o, int depth) const {
    if (depth > max_depth || visited_ == max_visited || (o.type() != dtype::int32 && o.type() != dtype::int64)) return std::nullopt;
    for (const auto& [index, found] : read_)
      if (index == o.index() && o.port() == 0) return found;
    ++visited_;
    const shape extent = o.extent();
    if (extent.has_rank() && (extent.rank > 1 || (extent.rank == 1 && extent[0] > max_count))) return std::nullopt;
    numbers found = computed(o, depth);
    // The elements are unknown, but their number is known.
    if (!found && extent.has_rank() && extent.is_static()) found.emplace(static_cast<std::size_t>(extent.elements()), -1);
    if (depth > 0 && o.port() == 0 && inputs(o) > 1) read_.emplace_back(o.index(), found);
    return found;
  }

 private:
  static constexpr int max_depth = 16;
  // Nodes with several users are evaluated once; at most this many are visited, as graphs may be wide.
  static constexpr int max_visited = 256;
  static constexpr std::int64_t max_count = 64;

  output in(const output& o, int k) const { return nodes_.input(g_, o.index(), k); }
  int inputs(const output& o) const { return nodes_.input_count(g_, o.index()); }
  std::int64_t attribute(const output& o, std::string_view name) const {
    const auto* a = nodes_.record(o.index()).attributes.find(name);
    const auto* held = a != nullptr ? a->get_if<std::int64_t>() : nullptr;
    return held != nullptr ? *held : 0;
  }

  numbers computed(const output& o, int depth) const {
    if (o.port() != 0) return std::nullopt;
    const integer_rule rule = g_.at(o.index()).op->what.integers;
    const int count = inputs(o);
    if (count == 0 && rule != integer_rule::contents) return std::nullopt;
    switch (rule) {
      case integer_rule::none: return std::nullopt;
      case integer_rule::contents: {
        const auto* contents = nodes_.contents_of(g_, o.index());
        return contents != nullptr ? integers_of(*contents, max_count) : std::nullopt;
      }
      case integer_rule::same: return read(in(o, 0), depth + 1);
      case integer_rule::shape:
      case integer_rule::rank:
      case integer_rule::size: return of_shape(rule, in(o, 0).extent());
      case integer_rule::packed: return together(o, count, depth);
      case integer_rule::joined: return together(o, count - 1, depth);
      case integer_rule::slice: return strided(o, depth);
      case integer_rule::range: return count == 3 ? counted(o, depth) : std::nullopt;
      case integer_rule::sum: return arithmetic(o, depth, [](std::int64_t a, std::int64_t b) { return a + b; });
      case integer_rule::difference: return arithmetic(o, depth, [](std::int64_t a, std::int64_t b) { return a - b; });
      case integer_rule::product: return arithmetic(o, depth, [](std::int64_t a, std::int64_t b) { return a * b; });
      case integer_rule::quotient: return arithmetic(o, depth, [](std::int64_t a, std::int64_t b) { return b <= 0 ? -1 : a / b; });
      case integer_rule::larger: return arithmetic(o, depth, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
      case integer_rule::smaller: return arithmetic(o, depth, [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
    }
    return std::nullopt;
  }

  static numbers of_shape(integer_rule rule, const shape& extent) {
    if (!extent.has_rank()) return std::nullopt;
    std::vector<std::int64_t> found;
    if (rule == integer_rule::rank) {
      found.push_back(extent.rank);
    } else if (rule == integer_rule::size) {
      if (!extent.is_static()) return std::nullopt;
      found.push_back(extent.elements());
    } else {
      for (int i = 0; i < extent.rank; ++i) found.push_back(extent[i] < 0 ? -1 : extent[i]);
    }
    return found;
  }

  numbers together(const output& o, int count, int depth) const {
    std::vector<std::int64_t> all;
    for (int k = 0; k < count; ++k) {
      const numbers part = read(in(o, k), depth + 1);
      if (!part || static_cast<std::int64_t>(all.size() + part->size()) > max_count) return std::nullopt;
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }

  // start, start + delta, ..., if all three are known. Negative values are not propagated, because -1 stands for an unknown value.
  numbers counted(const output& o, int depth) const {
    const numbers start = read(in(o, 0), depth + 1), limit = read(in(o, 1), depth + 1), delta = read(in(o, 2), depth + 1);
    for (const numbers* n : {&start, &limit, &delta})
      if (!*n || (*n)->size() != 1 || (*n)->front() < 0 || (*n)->front() > INT32_MAX) return std::nullopt;
    if (delta->front() == 0 || (limit->front() - start->front()) / delta->front() >= max_count) return std::nullopt;
    std::vector<std::int64_t> all;
    for (std::int64_t n = start->front(); n < limit->front(); n += delta->front()) all.push_back(n);
    return all;
  }

  numbers strided(const output& o, int depth) const {
    const numbers from = read(in(o, 0), depth + 1);
    const numbers begin = read(in(o, 1), depth + 1), end = read(in(o, 2), depth + 1), stride = read(in(o, 3), depth + 1);
    if (!from || !begin || !end || !stride || begin->size() != 1 || end->size() != 1 || stride->size() != 1 || (*stride)[0] == 0)
      return std::nullopt;
    if (attribute(o, "ellipsis_mask") != 0 || attribute(o, "new_axis_mask") != 0) return std::nullopt;
    for (int k = 1; k < 4; ++k) {  // in these inputs -1 may be a value and not "unknown"
      const auto* contents = nodes_.contents_of(g_, in(o, k).index());
      if (contents == nullptr) return std::nullopt;
    }
    const auto n = static_cast<std::int64_t>(from->size());
    if (attribute(o, "shrink_axis_mask") != 0) {
      const std::int64_t at = (*begin)[0] < 0 ? (*begin)[0] + n : (*begin)[0];
      if (at < 0 || at >= n) return std::nullopt;
      return std::vector<std::int64_t>{(*from)[static_cast<std::size_t>(at)]};
    }
    const slice_walk walk =
        walk_of((*begin)[0], (*end)[0], (*stride)[0], n, attribute(o, "begin_mask") != 0, attribute(o, "end_mask") != 0);
    std::vector<std::int64_t> taken;
    for (std::int64_t i = 0; i < walk.count; ++i) taken.push_back((*from)[static_cast<std::size_t>(walk.begin + i * walk.stride)]);
    return taken;
  }

  numbers arithmetic(const output& o, int depth, std::int64_t (*apply)(std::int64_t, std::int64_t)) const {
    if (inputs(o) != 2) return std::nullopt;
    const numbers a = read(in(o, 0), depth + 1), b = read(in(o, 1), depth + 1);
    if (!a || !b || a->empty() || b->empty() || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return std::nullopt;
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
      const std::int64_t x = (*a)[a->size() == 1 ? 0 : i], y = (*b)[b->size() == 1 ? 0 : i];
      constexpr std::int64_t most = std::int64_t{1} << 31;
      result.push_back(x < 0 || y < 0 || x > most || y > most ? -1 : apply(x, y));
    }
    return result;
  }

  graph& g_;
  named_part& nodes_;
  mutable int visited_ = 0;
  mutable std::vector<std::pair<int, numbers>> read_;  // memo for nodes with several inputs
};

}  // namespace detail

LEAT_FUNCTION std::optional<std::vector<std::int64_t>> known_numbers(const output& o) {
  return detail::known_value_reader(o.owner()).read(o, 0);
}
LEAT_FUNCTION std::optional<std::vector<std::int64_t>> fully_known_numbers(const output& o) {
  auto found = known_numbers(o);
  if (found)
    for (auto n : *found)
      if (n < 0) return std::nullopt;
  return found;
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION std::optional<tensor_literal> whole_numbers(const output& o) {
  const auto numbers = known_numbers(o);
  if (!numbers || (o.extent().has_rank() && o.extent().rank == 0 && numbers->size() != 1)) return std::nullopt;
  std::vector<std::int32_t> list;
  for (const auto n : *numbers) {
    if (n < 0 || n > INT32_MAX) return std::nullopt;
    list.push_back(static_cast<std::int32_t>(n));
  }
  if (!o.extent().has_rank()) return std::nullopt;
  return o.extent().rank == 0 ? tensor_literal(list.front()) : tensor_literal(list);
}

LEAT_FUNCTION shape partial_shape(const op_info& op, std::span<const number_argument> arguments) {
  if (!op.what.takes_shape || arguments.size() != 1) return shape::unknown();
  const auto* tensor = std::get_if<output>(&arguments.front());
  const auto numbers = tensor != nullptr ? known_numbers(*tensor) : std::nullopt;
  if (!numbers || numbers->size() > static_cast<std::size_t>(max_rank)) return shape::unknown();
  shape extent;
  for (const auto n : *numbers) extent.push(n < 0 ? unknown_dimension : n);
  return extent;
}

}  // namespace leat::detail
