#pragma once
// Exports typed expressions to a graph with names: `to_graph(loss, train)` adds them to the default graph, where they can be inspected,
// saved and sent. Placeholders, variables and parameters keep their names; other nodes get TensorFlow's. A named dimension, which
// files do not have, becomes an unknown one; where an operator needs its size, the graph computes it from a placeholder's shape.
// Gradients and training steps become what `gradients` and `minimize` make of graphs with names, if the program includes these
// (<leat/graphs.hpp>), and plain operators otherwise.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/ops/comparison.hpp>

namespace leat {

namespace detail {

/// The values that expressions carry, by id.
using carried_table = std::unordered_map<std::uint64_t, carried_value>;

class graph_writer;
// Writes a row that stands for a gradient, or a training step: returns its tensor, or its operation as a tensor.
using deferred_writer = output (*)(graph_writer&, const node&);
struct deferred_writers {
  std::map<std::string, deferred_writer, std::less<>> by_type;
};
inline deferred_writers& all_deferred_writers() {
  static deferred_writers table;
  return table;
}

class graph_writer {
 public:
  graph_writer(graph& to, const graph& from, const carried_table& carried)
      : to_(to), nodes_(to.named()), from_(from), carried_(carried) {}

  void run();
  output result(int index) { return operand(index); }

  // ---- for writers of deferred rows ----
  graph& to() const { return to_; }
  output input(const node& n, int k) { return operand(from_.input(n, k)); }
  std::int64_t number(const node& n, int k) const { return from_.attribute(n, k); }
  /// A number that an expression carries.
  double carried(std::int64_t id) const { return std::bit_cast<double>(bits_of_number(static_cast<std::uint64_t>(id))); }
  /// The value of input k if it is a constant or a plain number.
  std::optional<double> plain_number(const node& n, int k) const;
  std::map<std::int64_t, std::vector<output>> gradients;  // of calls already written

 private:
  static bool is_number(const node& n);
  carried_value carried_under(std::uint64_t id) const {
    const auto at = carried_.find(id);
    return at == carried_.end() ? carried_value{} : at->second;
  }
  std::uint64_t bits_of_number(std::uint64_t id) const { return carried_under(id).bits; }
  // The elements of an array as a literal.
  static tensor_literal literal_of(const shared_elements& array) {
    return {array.type(), array.extent(), std::span(static_cast<const std::byte*>(array.data()), array.bytes())};
  }
  static kept_number value_of(dtype, std::uint64_t bits) { return {static_cast<std::int64_t>(bits)}; }

  // A number becomes a constant per use, named after its user.
  output operand(int index);

  // The size of a named dimension, an int32 scalar: from the shape of a placeholder that has it.
  output size_of_dimension(std::int64_t dimension);
  output extent(const node& n);
  // Sizes that include named dimensions: constants if the operator computes one itself, otherwise a stacked tensor.
  number_argument sizes_argument(std::span<const std::int64_t> sizes, bool computes_one = false);

  output leaf(const node& n);
  static variable_initializer rule_of(initializer_kind kind, const std::vector<std::uint64_t>& bits, const shared_elements& array);

  // A reduction along all axes is written as one without axes: typed expressions do not distinguish them.
  static bool reduces_all(const node& n, const shape& operand, const std::vector<std::int64_t>& numbers);

  output enter(int index);
  std::vector<number_argument> arguments_of(const node& n, std::span<const std::int64_t> numbers);

  graph& to_;
  named_part& nodes_;
  const graph& from_;
  const carried_table& carried_;
  std::vector<output> made_;
  std::map<std::int64_t, output> sizes_;
};

template <class E>
void collect_carried(carried_table& all, const E& e) {
  using source = structure_with<typename E::identity>;
  if constexpr (source::carried_count > 0)
    for (int i = 0; i < source::carried_ids.size; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto [known, is_new] = all.emplace(source::carried_ids.id[at], e.carried[at]);
      if (!is_new && !(known->second == e.carried[at])) two_values_of(is_array(e.carried[at]));
    }
}

/// A type-erased typed expression, for its export.
struct any_expression {
  int (*flatten)(graph&) = nullptr;
  bool is_tensor = false;
  carried_table carried{};
};
/// An expression without the values that it carries.
template <expression E>
any_expression kind_of_expression() {
  return {[](graph& g) { return leat::flatten<E>(g); }, is_tensor<E>, {}};
}
template <expression E>
any_expression as_any_expression(const E& e) {
  any_expression any = kind_of_expression<E>();
  collect_carried(any.carried, e);
  return any;
}

/// `to_graph` for a list of expressions. `settled` has values of numbers that take precedence over carried ones.
std::vector<graph_element> write_expressions(std::span<const any_expression> expressions, const carried_table& settled = {});

}  // namespace detail

/// Adds typed expressions to the default graph, shared parts once. Returns their tensors and operations, in order.
/// Errors: invalid_argument if a variable's name is taken, or a number has two values; unimplemented if a size is needed that no
/// placeholder has.
template <expression... Es>
std::vector<graph_element> to_graph(const Es&... es) {
  const detail::any_expression all[]{detail::as_any_expression(es)...};
  return detail::write_expressions(all);
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/exchange/to_graph_bodies.hpp>
#endif
