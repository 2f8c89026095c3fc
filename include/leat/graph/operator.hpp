#pragma once
// What the graph knows about an operator: a table of plain functions, derived from the operator's one definition. A definition is a class
// with
//
//   type       TensorFlow's name of the operator, "MatMul"
//   kind       how it is executed, see `op_kind`
//   infer      dtype and shape of the result from those of the operands, or the problem with the operands
//   batch      optional, of kernels: writes the node for many models (`vmap`); others have a rule in passes/batching.hpp
//   results    optional: how many results it has, or a function of the operands and attributes that returns the number; only composite
//              operators have several. `infer` is then called for each, with the number of the result in `x.result`; `expand` and
//              `gradient` read it from `g.result_number()`
//   infer_node optional: the same for nodes of graphs with names, where TensorFlow's operator takes less than the class
//   apply      element-wise operators: the element function, written once for scalars and SIMD batches
//   gradient   optional: adds the gradient of each input, written with the library's own operators; a composite operator without it has
//              the gradient of the operators that it stands for
//   expand     composite operators: the same in simpler operators
//   form       optional: how TensorFlow writes its inputs and attributes, see form.hpp
//   what       optional: facts for passes and executors, if they differ from those of its kind, see facts.hpp
//   call_name  optional: default name of a node, if it is not the type ("add", "transpose")
//   only_checks
//              optional: the result is the first operand, after a check; graphs with names use the operand itself, as their operators check
//   keeps_shape
//              optional: the result has the shape of operand 0 for all attributes; graphs know the shape before the attributes
//   may_refuse optional: a kernel that may throw, so that it runs before variables are written
//   run_on_host
//              optional: a kernel in host memory; arguments: the operands, the step's numbers, the first operand's dtype and their count
//   onnx       optional, of an operator of a program: how a node is written in ONNX (onnx_nodes.hpp)
//
// Kernels refer to an operator by its `code`, a hash of its type, and look up the class through a friend function.

#include <leat/core/dtype.hpp>
#include <leat/core/list.hpp>
#include <leat/core/shape.hpp>
#include <leat/graph/facts.hpp>
#include <leat/graph/form.hpp>
#include <leat/graph/onnx_nodes.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

namespace leat {

class graph;
class graph_operation;
class gradient_scope;
namespace passes {
class batcher;
struct loop_body;
}

/// How an operator is executed.
enum class op_kind : int {
  placeholder,  // fed in each run
  variable,     // storage of a session; as an operand, its value at the start of the step
  constant,     // one value in every element
  number,       // a value that travels with the expression: a literal, a parameter, an initial value
  extent,       // product of dimensions, known as soon as the named ones are
  index,        // position along an axis
  element,      // one result element from one element of each operand, with broadcasting
  reduction,    // over axes
  view,         // the same elements in another arrangement
  kernel,       // a function of whole arrays: products, gather, arg max
  composite,    // expressed by other operators, which replace it before execution
  assign,       // writes a variable
  identity,     // the operand itself
  group         // only control inputs
};

/// The facts of a class that states none, by its kind.
constexpr facts facts_of_kind(op_kind kind) {
  switch (kind) {
    case op_kind::placeholder: return {.is = nature::effect, .work = work_kind::none};  // fails in a run that does not feed it
    case op_kind::variable: return {.is = nature::inert, .work = work_kind::none, .state = state_role::variable};
    case op_kind::constant: return {.work = work_kind::none, .integers = integer_rule::contents};
    case op_kind::assign: return {.is = nature::effect, .written = {1}, .stops_gradient = true};
    case op_kind::identity: return {.work = work_kind::none, .integers = integer_rule::same, .forwards = true};
    case op_kind::group: return {.is = nature::inert, .work = work_kind::none, .stops_gradient = true};
    default: return {};
  }
}

/// Dtype and shape of a tensor.
struct tensor_info {
  dtype type = dtype::invalid;
  shape extent;
  constexpr bool operator==(const tensor_info&) const = default;
};

/// Argument of a shape rule: a node's operands and attributes.
struct operand_list {
  const tensor_info* inputs = nullptr;
  int count = 0;
  const std::int64_t* attributes = nullptr;
  int attribute_count = 0;
  const tensor_info* const* scattered = nullptr;  // the operands if they are not contiguous: then `inputs` is not read
  int result = 0;  // the result that the rule is asked about

  constexpr dtype type(int i) const { return scattered != nullptr ? scattered[i]->type : inputs[i].type; }
  constexpr const shape& extent(int i) const { return scattered != nullptr ? scattered[i]->extent : inputs[i].extent; }
  constexpr std::int64_t attribute(int i) const { return attributes[i]; }
};

/// Result of a shape rule: dtype and shape, or a `problem` as text.
struct inference {
  dtype type = dtype::invalid;
  shape extent;
  std::string_view problem{};
  static constexpr inference wrong(std::string_view why) { return {dtype::invalid, {}, why}; }
};

namespace detail {
// The form of a handle: dtype and shape are known only at run time.
struct handle_form {
  static constexpr dtype type = dtype::invalid;
  using extents = dims<>;
};
}  // namespace detail

/// Result of `!x` for a handle: whether it refers to no node. It converts to bool and to nothing else, and so do the results of `&&` and
/// `||` on it and on other handles: a graph would accept a plain bool as a constant, silently, where `logical_not(x)` was meant.
class handle_condition {
 public:
  constexpr explicit handle_condition(bool holds) : holds_(holds) {}
  template <std::same_as<bool> Bool>
  constexpr operator Bool() const {
    return holds_;
  }
  constexpr handle_condition operator!() const { return handle_condition(!holds_); }
  friend constexpr bool operator==(handle_condition a, bool b) { return a.holds_ == b; }

 private:
  bool holds_;
};

/// Handle of a node's result in a graph: the operand of expressions that are built at run time or during constant evaluation.
class output {
 public:
  using form = detail::handle_form;
  constexpr output() = default;
  constexpr output(graph& owner, int index, int port = 0) : owner_(&owner), index_(index), port_(port) {}
  output(handle_condition) = delete;  // `!x` is whether x refers to no node; logical_not(x) negates the elements
  /// The graph of the node; `index()` is its row.
  constexpr graph& owner() const { return *owner_; }
  constexpr int index() const { return index_; }
  /// The index of the result: 0 except for operators with several results in graphs with names.
  constexpr int port() const { return port_; }
  /// Whether it refers to a node. `!x` is whether it refers to none, even if x is a tensor of bool: `logical_not(x)` negates elements.
  constexpr explicit operator bool() const { return owner_ != nullptr; }
  constexpr handle_condition operator!() const { return handle_condition(owner_ == nullptr); }
  /// The static dtype; `extent()` is the static shape, with unknown dimensions as -1.
  constexpr dtype type() const;
  constexpr shape extent() const;
  /// In graphs with names (named/graph/graph_operation.hpp): the tensor's name, "mul:0", and the node whose result it is.
  std::string name() const;
  graph_operation operation() const;

 private:
  graph* owner_ = nullptr;
  int index_ = -1;
  int port_ = 0;
};

namespace detail {
template <class T>
concept handle_or_condition = std::same_as<T, output> || std::same_as<T, handle_condition>;
}  // namespace detail
/// Conditions on several handles, as in `if (!dx && dy)`. For two handles, `x && y` is `logical_and(x, y)`, a node.
template <detail::handle_or_condition A, detail::handle_or_condition B>
  requires(std::same_as<A, handle_condition> || std::same_as<B, handle_condition>)
constexpr handle_condition operator&&(const A& a, const B& b) {
  return handle_condition(static_cast<bool>(a) && static_cast<bool>(b));
}
template <detail::handle_or_condition A, detail::handle_or_condition B>
  requires(std::same_as<A, handle_condition> || std::same_as<B, handle_condition>)
constexpr handle_condition operator||(const A& a, const B& b) {
  return handle_condition(static_cast<bool>(a) || static_cast<bool>(b));
}

/// An operator as the graph and its passes use it: properties and functions.
struct op_info {
  std::string_view type;
  op_kind kind = op_kind::element;
  int code = 0;
  bool commutative = false;
  bool costly = false;       // cheaper to store than to recompute
  bool only_checks = false;  // forwards its first operand; graphs with names use that operand instead
  bool has_gradient = false;
  bool folds = false;       // can be computed from numbers known at compile time
  bool may_refuse = false;  // may throw, so it runs before variables are written
  bool keeps_shape = false;
  facts what{};
  inference (*infer)(const operand_list&) = nullptr;
  inference (*infer_node)(const operand_list&) = nullptr;  // for graphs with names; null: `infer`
  void (*gradient)(gradient_scope&) = nullptr;
  output (*expand)(gradient_scope&) = nullptr;
  double (*fold)(const double*) = nullptr;
  void (*batch)(passes::batcher&, int) = nullptr;  // writes a node, whose index is given, for many models
  detail::list_view<field> form{};
  std::string_view call_name{};
  int (*results)(const operand_list&) = nullptr;  // how many results; null: one
  void (*onnx)(onnx_nodes&) = nullptr;            // writes a node in ONNX
  const op_info& (*further)() = nullptr;          // the operator of rows for results after the first
  const op_info& (*result_of)() = nullptr;        // for such an operator: the one whose result its rows are
  passes::loop_body (*body)(std::span<const std::int64_t> recipe) = nullptr;  // of a loop: a step (passes/loop_body.hpp)
};

/// The code of an operator in kernels and in hashes.
constexpr int code_of_type(std::string_view type) { return static_cast<int>(hash_text(type) & 0x3fffffff); }

template <int Code>
struct operator_key {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
  friend constexpr auto operator_of(operator_key);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
};
template <class Op>
struct operator_holder {
  using type = Op;
};
template <class Op>
struct operator_record {
  static constexpr int code = code_of_type(Op::type);
  friend constexpr auto operator_of(operator_key<code>) { return operator_holder<Op>{}; }
};
/// The class of the operator with this code.
template <int Code>
using operator_with = typename decltype(operator_of(operator_key<Code>{}))::type;

namespace detail {

// Arithmetic on numbers known at compile time; inexact results are left to run time.
struct folding_math {
  static constexpr double add(double a, double b) { return a + b; }
  static constexpr double subtract(double a, double b) { return a - b; }
  static constexpr double multiply(double a, double b) { return a * b; }
  static constexpr double divide(double a, double b) { return a / b; }
  static constexpr double negate(double a) { return -a; }
  static constexpr double square(double a) { return a * a; }
  static constexpr double maximum(double a, double b) { return a < b ? b : a; }
  static constexpr double minimum(double a, double b) { return b < a ? b : a; }
  static constexpr double reciprocal(double a) { return 1.0 / a; }
  static constexpr double abs(double a) { return a < 0 ? -a : a; }
};

template <class Op>
constexpr facts facts_of() {
  facts its = facts_of_kind(Op::kind);
  if constexpr (requires { Op::what; }) its = Op::what;
  if (Op::kind == op_kind::view && its.narrow == narrow_rule::computes) its.narrow = narrow_rule::moves;
  return its;
}

/// A class of an operator with several results, and how many it has for these operands and attributes.
template <class Op>
concept has_results = requires { Op::results; };
template <class Op>
constexpr int count_results(const operand_list& x) {
  if constexpr (requires { Op::results(x); }) return Op::results(x);
  else return Op::results;
}

inline constexpr std::string_view further_result_suffix = " (further result)";
/// The operator of rows that are a result of `Op` after the first. Attributes: those of the operator, then the number of the result.
template <class Op>
struct further_result {
  using result_of = Op;
  static constexpr auto text = [] {
    std::array<char, Op::type.size() + further_result_suffix.size()> made{};
    std::size_t n = 0;
    for (const char c : Op::type) made[n++] = c;
    for (const char c : further_result_suffix) made[n++] = c;
    return made;
  }();
  static constexpr std::string_view type{text.data(), text.size()};
  static constexpr op_kind kind = Op::kind;
  static constexpr facts what = facts_of<Op>();
  static constexpr inference infer(const operand_list& x) {
    operand_list its = x;
    its.result = static_cast<int>(x.attribute(x.attribute_count - 1));
    --its.attribute_count;
    return Op::infer(its);
  }
  template <class G>
  static constexpr output expand(G& g) {
    return Op::expand(g);
  }
  template <class G>
    requires requires(G& g) { Op::gradient(g); }
  static constexpr void gradient(G& g) {
    Op::gradient(g);
  }
};
// The tables of an operator and of its further results; functions, because each table refers to the other.
template <class Op>
constexpr const op_info& definition_of();

template <class Op>
constexpr op_info make_info() {
  op_info info{.type = Op::type, .kind = Op::kind, .code = operator_record<Op>::code};
  info.infer = &Op::infer;
  if constexpr (requires { Op::infer_node; }) info.infer_node = &Op::infer_node;
  if constexpr (requires { Op::commutative; }) info.commutative = Op::commutative;
  if constexpr (requires { Op::costly; }) info.costly = Op::costly;
  if constexpr (requires { Op::only_checks; }) info.only_checks = Op::only_checks;
  if constexpr (requires { Op::may_refuse; }) info.may_refuse = Op::may_refuse;
  if constexpr (requires { Op::keeps_shape; }) info.keeps_shape = Op::keeps_shape;
  info.what = facts_of<Op>();
  // Lambdas that call the functions, not their addresses: clang defines a function template for constant evaluation only where it is
  // called.
  if constexpr (requires(gradient_scope& g) { Op::gradient(g); }) {
    info.has_gradient = true;
    info.gradient = [](gradient_scope& g) { Op::gradient(g); };
  }
  if constexpr (requires(gradient_scope& g) { Op::expand(g); }) info.expand = [](gradient_scope& g) { return Op::expand(g); };
  if constexpr (Op::kind == op_kind::kernel)
    if constexpr (requires(passes::batcher& b) { Op::batch(b, 0); }) info.batch = [](passes::batcher& b, int i) { Op::batch(b, i); };
  static_assert(Op::kind != op_kind::composite || requires(gradient_scope& g) { Op::expand(g); },
                "a composite operator has `template <class G> static constexpr output expand(G& g)`: the same in other operators");
  if (Op::kind == op_kind::composite && !info.what.stops_gradient) info.has_gradient = true;
  if constexpr (has_results<Op>) {
    static_assert(
        Op::kind == op_kind::composite,
        "an operator of several results is a composite one: `expand` returns each of them, g.result_number(), in other operators");
    info.results = &count_results<Op>;
    info.further = &definition_of<further_result<Op>>;
  }
  if constexpr (requires { typename Op::result_of; }) info.result_of = &definition_of<typename Op::result_of>;
  if constexpr (requires { typename Op::body; }) info.body = [](std::span<const std::int64_t> recipe) { return Op::make(recipe); };
  info.call_name = Op::type;
  if constexpr (requires { Op::call_name; }) info.call_name = Op::call_name;
  if constexpr (requires { Op::form; }) info.form = Op::form;
  if constexpr (requires(onnx_nodes& n) { Op::onnx(n); }) info.onnx = [](onnx_nodes& n) { Op::onnx(n); };
  if constexpr (requires { Op::foldable; }) {
    info.folds = true;
    if constexpr (Op::foldable == 1)
      info.fold = [](const double* x) { return static_cast<double>(Op::template apply<folding_math>(x[0])); };
    else
      info.fold = [](const double* x) { return static_cast<double>(Op::template apply<folding_math>(x[0], x[1])); };
  }
  return info;
}

}  // namespace detail

/// The table of an operator.
template <class Op>
inline constexpr op_info info_of = detail::make_info<Op>();
namespace detail {
template <class Op>
constexpr const op_info& definition_of() {
  return info_of<Op>;
}
}  // namespace detail

/// Whether a node's operator is `Op`. Codes are compared because addresses of such tables are not constant expressions under sanitizers.
template <class Op>
constexpr bool is_operator(const op_info& info) {
  return info.code == operator_record<Op>::code;
}

}  // namespace leat
