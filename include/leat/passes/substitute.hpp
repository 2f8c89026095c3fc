#pragma once
// An expression at other values: a copy of a graph in which some nodes are replaced. A loss that is an expression can so be evaluated at
// the variables of a candidate step.

#include <leat/expr/tensor_list.hpp>
#include <leat/passes/gradient.hpp>

namespace leat {

namespace passes {

/// Writes nodes of `one` to `g`, where other nodes of `g` stand for some of them. Nodes that depend on none of those are shared with `g`.
class substitution {
 public:
  constexpr substitution(const graph& one, graph& g)
      : one_(one), g_(g), row_(one.nodes.size(), -1), moved_(one.nodes.size(), 0), ids_of_(one.nodes.size(), {}) {
    for (const std::uint64_t id : one.ids) ids_of_[at(one.find(id))].push_back(id);
    for (const auto& d : one.dimension_names) g.name_dimension(d.value, d.text);
  }
  /// `x` of `g` stands for node `row` of `one`.
  constexpr void put(int row, const output& x) {
    row_[at(row)] = x.index();
    moved_[at(row)] = 1;
  }
  /// The node of `g` for node `row` of `one`.
  constexpr int made(int row) {
    list<char> live(at(row) + 1, 0);
    live[at(row)] = 1;
    for (int i = row; i >= 0; --i) {
      if (live[at(i)] == 0 || row_[at(i)] >= 0) continue;
      const node& n = one_.at(i);
      for (int k = 0; k < n.input_count; ++k) live[at(one_.input(n, k))] = 1;
      for (int k = 0; k < n.control_count; ++k) live[at(one_.control(n, k))] = 1;
    }
    for (int i = 0; i <= row; ++i)
      if (live[at(i)] != 0 && row_[at(i)] < 0) write(i);
    return row_[at(row)];
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  constexpr void write(int i) {
    const node& n = one_.at(i);
    list<int> inputs, controls;
    for (int k = 0; k < n.input_count; ++k) inputs.push_back(one_.input(n, k));
    for (int k = 0; k < n.control_count; ++k) controls.push_back(one_.control(n, k));
    for (int k : inputs) moved_[at(i)] = moved_[at(i)] != 0 || moved_[at(k)] != 0 ? 1 : 0;
    for (int& k : inputs) k = row_[at(k)];
    for (int& k : controls) k = row_[at(k)];
    if (moved_[at(i)] == 0)
      for (const std::uint64_t id : ids_of_[at(i)])
        if (const int known = g_.find(id); known >= 0) {
          row_[at(i)] = known;
          return;
        }
    const std::span<const std::int64_t> attributes(one_.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count));
    row_[at(i)] = n.input_count == 0 && n.op->kind != op_kind::group ? g_.add_leaf(*n.op, n.result, n.name, n.id, attributes)
                                                                     : g_.add(*n.op, inputs, attributes, controls);
    if (moved_[at(i)] == 0)
      for (const std::uint64_t id : ids_of_[at(i)]) g_.remember(id, row_[at(i)]);
  }

  const graph& one_;
  graph& g_;
  list<int> row_;
  list<char> moved_;
  list<list<std::uint64_t>> ids_of_;
};

}  // namespace passes

namespace detail {

template <class Y, class Xs, class Values>
struct substitution_structure;
template <class Y, class... Xs, class... Values>
struct substitution_structure<Y, std::tuple<Xs...>, std::tuple<Values...>> : numbers_of<Y, Xs..., Values...> {
  static constexpr std::uint64_t hash = expressions_hash<306, Y, Xs..., Values...>;
  template <class E>
  static constexpr int enter(graph& g) {
    graph one;
    one.is_written = g.is_written;
    const int y = flatten<Y>(one);
    const int xs[]{flatten<Xs>(one)...}, values[]{flatten<Values>(g)...};
    passes::substitution made(one, g);
    for (std::size_t k = 0; k < sizeof...(Xs); ++k) made.put(xs[k], output(g, values[k]));
    return made.made(y);
  }
};

/// `y` where each of `xs`, expressions that it contains, has the value of its entry of `values`, of the same dtypes and shapes.
template <tensor_expression Y, class... Xs, class... Values>
constexpr auto at_values(const Y& y, const std::tuple<Xs...>& xs, const std::tuple<Values...>& values) {
  static_assert(((Xs::type == Values::type && std::is_same_v<typename Xs::extents, typename Values::extents>) && ...));
  using structure = substitution_structure<Y, std::tuple<Xs...>, std::tuple<Values...>>;
  using result = typename record<id<structure::hash>, structure>::template tensor<typename Y::element, typename Y::extents>;
  return std::apply([&](const auto&... each) { return carry_all<result>(y, each...); }, std::tuple_cat(xs, values));
}

}  // namespace detail

}  // namespace leat
