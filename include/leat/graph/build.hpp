#pragma once
// Creates nodes from handles, for gradients of operators, composite operators and graphs that are built at run time.

#include <array>
#include <leat/core/list.hpp>
#include <leat/graph/graph.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat {

/// Attributes of a node as a type: axes, sizes and flags, in the operator's order.
template <std::int64_t... Vs>
struct attributes {
  static constexpr int count = sizeof...(Vs);
  static constexpr std::int64_t data[sizeof...(Vs) + 1]{Vs..., 0};
  static constexpr std::uint64_t hash = [] {
    std::uint64_t h = 3;
    ((h = mix(h, static_cast<std::uint64_t>(Vs))), ...);
    return h;
  }();
};

/// Adds a node to its operands' graph. Errors: invalid_argument if the operator refuses the operands, or if they are empty or belong to
/// different graphs.
template <class Op, class... Inputs>
constexpr output make_node(std::span<const std::int64_t> values, const output& first, const Inputs&... rest) {
  if (!static_cast<bool>(first) || (false || ... || !static_cast<bool>(rest)))
    LEAT_THROW(invalid_argument("an operand that is no tensor: an empty output"));
  graph& g = first.owner();
  if (g.names() != nullptr) {
    const output operands[]{first, rest...};
    return g.names()->make(g, info_of<Op>, operands, values, {});
  }
  const int inputs[]{first.index(), rest.index()...};
  if (((&rest.owner() != &g) || ...)) LEAT_THROW(invalid_argument("operands of different graphs"));
  return {g, g.add(info_of<Op>, inputs, values)};
}

/// The same with the attributes as a type.
template <class Op, class Attributes = attributes<>, class... Inputs>
constexpr output make(const output& first, const Inputs&... rest) {
  return make_node<Op>(std::span<const std::int64_t>(Attributes::data, static_cast<std::size_t>(Attributes::count)), first,
                       rest...);
}

namespace detail {
/// The number of results for these operands.
constexpr int count_results_of(const op_info& op, std::span<const output> operands, std::span<const std::int64_t> values) {
  tensor_info infos[graph::max_operands];
  for (std::size_t k = 0; k < operands.size(); ++k) infos[k] = {operands[k].type(), operands[k].extent()};
  return op.results({infos, static_cast<int>(operands.size()), values.data(), static_cast<int>(values.size())});
}
/// Result `k` of an operator of several results.
constexpr output result_row(const op_info& op, graph& g, std::span<const int> inputs, std::span<const std::int64_t> values, int k) {
  if (k == 0) return {g, g.add(op, inputs, values)};
  list<std::int64_t> numbers;
  for (auto v : values) numbers.push_back(v);
  numbers.push_back(k);
  return {g, g.add(op.further(), inputs, numbers)};
}
}  // namespace detail

/// All results of an operator that has several, one node in graphs with names: `auto [radius, angle] = make_results<polar_op>(x, y)`.
/// Returns an array of handles; a vector where the class computes the number of results. Errors: as for `make_node`.
template <class Op, class Attributes = attributes<>, class... Inputs>
constexpr auto make_results(const output& first, const Inputs&... rest) {
  static_assert(detail::has_results<Op>, "make_results: the operator's class has no `results`; make<Op>(x) returns its result");
  const std::span<const std::int64_t> values(Attributes::data, static_cast<std::size_t>(Attributes::count));
  const output operands[]{first, rest...};
  const output zeroth = make_node<Op>(values, first, rest...);
  graph& g = first.owner();
  const auto result = [&](int k) {
    if (k == 0) return zeroth;
    if (g.names() != nullptr) return output(g, zeroth.index(), k);
    const int inputs[]{first.index(), rest.index()...};
    return detail::result_row(info_of<Op>, g, inputs, values, k);
  };
  if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(Op::results)>>) {
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return std::array<output, sizeof...(K)>{result(K)...};
    }(std::make_integer_sequence<int, Op::results>{});
  } else {
    std::vector<output> all;
    const int count = detail::count_results_of(info_of<Op>, operands, values);
    for (int k = 0; k < count; ++k) all.push_back(result(k));
    return all;
  }
}

/// Argument of an operator's gradient function in a plain table: the node, the gradient `dy` of its result, and the gradients of its
/// inputs, to which the function adds. In graphs with names the argument is a `named_gradient_scope` (named/gradients/class_gradient.hpp),
/// which creates TensorFlow's nodes. There the names of nodes show the order of their creation: so each expression in a gradient creates
/// one node, or several in an order that the language fixes.
class gradient_scope {
 public:
  constexpr gradient_scope(graph& g, int index, output dy, detail::list<int>* gradients, const detail::list<char>* wanted)
      : graph_(&g), index_(index), dy_(dy), gradients_(gradients), wanted_(wanted) {}

  /// Input `k` of the node; `result()` is its result, `dy()` the gradient of that result.
  constexpr output input(int k) const { return {*graph_, graph_->input(graph_->at(index_), k)}; }
  constexpr output result() const { return {*graph_, index_}; }
  constexpr output dy() const { return dy_; }
  /// For operators of several results: the number of the one that is asked for, whose gradient `dy()` is; result `k`.
  constexpr int result_number() const {
    const auto& n = graph_->at(index_);
    return n.op->result_of == nullptr ? 0 : static_cast<int>(graph_->attribute(n, n.attribute_count - 1));
  }
  constexpr output result(int k) const {
    if (k == result_number()) return result();
    const auto& n = graph_->at(index_);
    detail::list<int> inputs;
    for (int i = 0; i < n.input_count; ++i) inputs.push_back(graph_->input(n, i));
    detail::list<std::int64_t> values;
    for (int i = 0; i < attribute_count(); ++i) values.push_back(attribute(i));
    return detail::result_row(n.op->result_of == nullptr ? *n.op : n.op->result_of(), *graph_, {inputs.data(), inputs.size()},
                              {values.data(), values.size()}, k);
  }
  constexpr int input_count() const { return graph_->at(index_).input_count; }
  constexpr std::int64_t attribute(int k) const { return graph_->attribute(graph_->at(index_), k); }
  constexpr int attribute_count() const {
    const auto& n = graph_->at(index_);
    return n.op->result_of == nullptr ? n.attribute_count : n.attribute_count - 1;
  }
  /// Attribute `k` of the node where it is a flag.
  constexpr bool flag(int k) const { return attribute(k) != 0; }
  /// Whether the gradient of this input is needed.
  constexpr bool wants(int k) const {
    const auto i = static_cast<std::size_t>(graph_->input(graph_->at(index_), k));
    return i < wanted_->size() && (*wanted_)[i] != 0;
  }
  /// Adds to the gradient of input `k`; `add` is the library's addition.
  template <class Add>
  constexpr void give(int k, output value, Add add) {
    int& slot = (*gradients_)[static_cast<std::size_t>(graph_->input(graph_->at(index_), k))];
    slot = slot < 0 ? value.index() : add(output(*graph_, slot), value).index();
  }
  constexpr graph& owner() const { return *graph_; }
  /// For operators whose results are nodes of their own (passes/loops.hpp): the gradient of another node, or -1; the number of nodes that
  /// may have one; and that input `k` has a result with a gradient, though no value is added.
  constexpr int gradient_of(int node) const { return (*gradients_)[static_cast<std::size_t>(node)]; }
  constexpr int reach() const { return static_cast<int>(gradients_->size()); }
  constexpr void mark(int k) {
    int& slot = (*gradients_)[static_cast<std::size_t>(graph_->input(graph_->at(index_), k))];
    if (slot < 0) slot = index_;
  }

  struct no_wait {
    constexpr ~no_wait() {}  // not trivial, so that compilers take the object for used
  };
  /// In graphs with names, nodes that are created before the returned object is destroyed wait for dy, as TensorFlow's do. In a plain table
  /// it has no effect.
  constexpr no_wait after_dy() const { return {}; }
  /// Creates a node. Graphs with names name it after its operator's type, not after the function that creates it.
  template <class Op, class... Inputs>
  constexpr output node(const output& first, const Inputs&... rest) const {
    return make_node<Op>({}, first, rest...);
  }
  /// A node of Op on x with this node's attributes, but flag `k` as given.
  template <class Op, class Handle>
  constexpr Handle node_with_flag(int k, bool value, const Handle& x) const {
    std::int64_t numbers[max_rank]{};
    const auto count = static_cast<std::size_t>(attribute_count());
    for (std::size_t i = 0; i < count; ++i) numbers[i] = attribute(static_cast<int>(i));
    numbers[k] = value ? 1 : 0;
    return make_node<Op>({numbers, count}, x);
  }
  /// Whether TensorFlow writes dy as the first operand of a product's second gradient: it does so if all shapes are known to be equal and
  /// the dtype is float32.
  constexpr bool is_simple_product() const { return false; }
  /// dy in the shape of x, which has as many elements. In graphs with names, `may_be_open` allows that the shape is a constant with one
  /// size left open (-1); with `is_computed` it is always the shape of x in the run.
  enum class one_size { may_be_open, is_computed };
  template <class Handle>
  constexpr Handle dy_in_shape_of(const Handle& x, one_size = one_size::is_computed) const {
    return reshape_to(Handle(dy_), x.extent());
  }
  /// A scalar constant of dy's dtype; graphs with names give it the name in the second argument.
  template <class Handle = output>
  constexpr Handle number(double value, std::string_view = {}) const {
    return constant_like(Handle(dy_), value);
  }
  /// The number 0 of x's dtype, which TensorFlow writes as a cast 0.0, and x², which it writes as a power here.
  template <class Handle>
  constexpr Handle zero_of(const Handle& x) const {
    return constant_like(x, 0);
  }
  template <class Handle>
  constexpr Handle second_power(const Handle& x) const {
    return square(x);
  }
  /// Zeros and ones in the shape of x. TensorFlow writes zeros in two ways, each with a function here: as ZerosLike, and as `zeros` of the
  /// shape.
  template <class Handle>
  constexpr Handle zeros_like(const Handle& x) const {
    return constant(x.owner(), x.type(), x.extent(), 0);
  }
  template <class Handle>
  constexpr Handle ones_like(const Handle& x) const {
    return constant(x.owner(), x.type(), x.extent(), 1);
  }
  template <class Handle>
  constexpr Handle zeros_in_shape_of(const Handle& x) const {
    return zeros_like(x);
  }
  /// Makes zeros the gradient of input `k` in graphs with names. In plain tables it has no effect: an input without a gradient needs no
  /// zeros.
  constexpr void give_zeros(int) const {}
  /// a where the condition holds, b elsewhere.
  template <class Handle>
  constexpr Handle choose(const Handle& condition, const Handle& a, const Handle& b) const {
    return select(condition, a, b);
  }

 private:
  graph* graph_;
  int index_;
  output dy_;
  detail::list<int>* gradients_;
  const detail::list<char>* wanted_;
};

}  // namespace leat
