#pragma once
// Typed expressions. `tensor<float, dims<64, 10>, id<…>>` says dtype and shape; `operation<id<…>>` yields nothing (a
// training step). Both are empty classes but for the numbers that the expression mentions and the compiler does not know
// (a plain 0.5f, an initial value, a learning rate): those travel inside the object, once per number.

#include <array>
#include <bit>
#include <leat/expr/identity.hpp>
#include <leat/graph/build.hpp>
#include <leat/graph/leaves.hpp>
#include <memory>
#include <string>
#include <type_traits>

namespace leat {

namespace detail {

template <int N>
struct carried_numbers {
  std::array<std::uint64_t, N> carried{};
};
template <>
struct carried_numbers<0> {};

struct expression_tag {};

}  // namespace detail

/// Where an array is bound to a placeholder for one run: the result of `x = array`.
template <class Leaf, class Array>
struct feed;

namespace detail {
template <class Leaf, class Array>
struct feed_check;
template <class Leaf>
concept fed_leaf = requires { structure_with<typename Leaf::identity>::is_fed; };
}  // namespace detail

/// A typed expression with a value. `T` is the element type, `Dims` the shape.
template <class T, class Dims, class Id>
class tensor : public detail::carried_numbers<structure_with<Id>::carried_count>, detail::expression_tag {
 public:
  using element = T;
  using extents = Dims;
  using identity = Id;
  static constexpr dtype type = dtype_of<T>;
  static constexpr const shape& extent = Dims::value;
  static constexpr int rank = Dims::rank;

  constexpr tensor() = default;
  constexpr tensor(const tensor&) = default;
  constexpr tensor& operator=(const tensor&) = default;

  /// Feeds an array, a span, a vector or a scalar in one run: `s.run(fetch(loss), x = xs)`.
  template <class Array>
    requires(!std::is_same_v<std::remove_cvref_t<Array>, tensor> && detail::feed_check<tensor, std::remove_cvref_t<Array>>::ok)
  constexpr auto operator=(const Array& array) const -> feed<tensor, Array> {
    return {{}, std::addressof(array)};
  }
  template <class Array>
    requires(!std::is_same_v<std::remove_cvref_t<Array>, tensor> && !detail::feed_check<tensor, std::remove_cvref_t<Array>>::ok)
  constexpr auto operator=(const Array&) const -> typename detail::feed_check<tensor, Array>::problem = delete;
};

/// A typed expression without a value: something to be done, such as a training step.
template <class Id>
class operation : public detail::carried_numbers<structure_with<Id>::carried_count>, detail::expression_tag {
 public:
  using identity = Id;
};

/// A typed expression: `matmul(x, w)`, a training step; not an array, not a number.
template <class E>
concept expression = std::is_base_of_v<detail::expression_tag, E>;
/// A typed expression with a value: `x + y`; not a training step.
template <class E>
concept tensor_expression = expression<E> && requires { typename E::element; };
/// What an operator takes: a typed expression with a value, or a handle into a graph.
template <class E>
concept operand = tensor_expression<E> || std::is_same_v<E, output>;
/// A plain number beside an operand: `0.5f`, `2`; not `bool`, not an expression.
template <class N>
concept number = std::is_arithmetic_v<N> && !std::is_same_v<N, bool>;

// ---- the numbers inside expressions ---------------------------------------------------------------------------------

namespace detail {

// Sorted union of the ids of the numbers that some expressions carry.
template <int Capacity>
struct id_list {
  std::array<std::uint64_t, Capacity + 1> id{};
  int size = 0;
  constexpr void insert(std::uint64_t value) {
    int at = 0;
    while (at < size && id[static_cast<std::size_t>(at)] < value) ++at;
    if (at < size && id[static_cast<std::size_t>(at)] == value) return;
    for (int i = size++; i > at; --i) id[static_cast<std::size_t>(i)] = id[static_cast<std::size_t>(i) - 1];
    id[static_cast<std::size_t>(at)] = value;
  }
  constexpr int find(std::uint64_t value) const {
    for (int i = 0; i < size; ++i)
      if (id[static_cast<std::size_t>(i)] == value) return i;
    return -1;
  }
};

template <class... Es>
struct carried_union {
  static constexpr int bound = (0 + ... + structure_with<typename Es::identity>::carried_count);
  static constexpr auto ids = [] {
    id_list<bound> all;
    if constexpr (bound > 0) {
      auto add = [&](const auto& list) {
        for (int i = 0; i < list.size; ++i) all.insert(list.id[static_cast<std::size_t>(i)]);
      };
      (add(structure_with<typename Es::identity>::carried_ids), ...);
    }
    return all;
  }();
};

[[noreturn]] inline void two_values() {
  throw invalid_argument(
      "two values for one number: the place in the program that wrote it ran twice with different values, and both "
      "results meet in one expression or session. Give the number a name, parameter<\"rate\">(0.1f), and feed it or set it "
      "in the session; or write it as part of the type, 0.5_c");
}

template <class To, class From>
constexpr void carry(To& to, std::array<bool, structure_with<typename To::identity>::carried_count + 1>& set, const From& from) {
  using source = structure_with<typename From::identity>;
  using target = structure_with<typename To::identity>;
  if constexpr (source::carried_count > 0) {
    for (int i = 0; i < source::carried_ids.size; ++i) {
      const auto at = static_cast<std::size_t>(target::carried_ids.find(source::carried_ids.id[static_cast<std::size_t>(i)]));
      const auto value = from.carried[static_cast<std::size_t>(i)];
      if (set[at] && to.carried[at] != value) two_values();
      to.carried[at] = value;
      set[at] = true;
    }
  }
}

template <class To, class... From>
constexpr To carry_all(const From&... from) {
  To result;
  if constexpr (structure_with<typename To::identity>::carried_count > 0) {
    std::array<bool, structure_with<typename To::identity>::carried_count + 1> set{};
    (carry(result, set, from), ...);
  }
  return result;
}

}  // namespace detail

// ---- into the graph -------------------------------------------------------------------------------------------------

/// Enters an expression into a graph, each node once; gives its number there.
template <class E>
constexpr int flatten(graph& g) {
  if (const int known = g.find(E::identity::hash); known >= 0) return known;
  const int index = structure_with<typename E::identity>::template enter<E>(g);
  g.remember(E::identity::hash, index);
  return index;
}

namespace detail {

template <class Dims>
struct dimension_names;
template <std::int64_t... Ds>
struct dimension_names<dims<Ds...>> {
  template <std::int64_t D>
  static constexpr void enter_one([[maybe_unused]] graph& g) {
    if constexpr (is_named(D)) g.name_dimension(D, text_of_dimension<D>());
  }
  static constexpr void enter([[maybe_unused]] graph& g) { (enter_one<Ds>(g), ...); }
};

/// The structure of an operator's result.
template <class Op, class Attributes, class... Inputs>
struct call {
  static constexpr auto carried_ids = carried_union<Inputs...>::ids;
  static constexpr int carried_count = carried_ids.size;
  template <class E>
  static constexpr int enter(graph& g) {
    const int inputs[]{flatten<Inputs>(g)...};
    return g.add(info_of<Op>, inputs, {Attributes::data, static_cast<std::size_t>(Attributes::count)});
  }
};

template <class Id, class Structure>
using record = structure_record<Id, Structure, tensor, operation>;

template <class Op, class Attributes, class... Inputs>
inline constexpr inference inference_of = [] {
  const tensor_info inputs[]{{Inputs::type, Inputs::extent}...};
  return Op::infer({inputs, static_cast<int>(sizeof...(Inputs)), Attributes::data, Attributes::count});
}();

template <class Op, class Attributes, class... Inputs>
struct result_extents {
  static constexpr const inference* got = &inference_of<Op, Attributes, Inputs...>;  // nvcc takes no reference here
  template <std::size_t... I>
  static constexpr auto pack(std::index_sequence<I...>) -> dims<got->extent.dim[I]...>;
  using type = decltype(pack(std::make_index_sequence<static_cast<std::size_t>(got->extent.rank)>{}));
};

template <class Op, class Attributes, class... Inputs>
inline constexpr std::uint64_t call_hash = [] {
  auto h = mix(Attributes::hash, static_cast<std::uint64_t>(operator_record<Op>::code));
  ((h = mix(h, Inputs::identity::hash)), ...);
  return h;
}();

}  // namespace detail

namespace detail {
template <class Op, class Attributes, class... Inputs>
struct made_type {
  using type = output;
};
template <class Op, class Attributes, tensor_expression... Inputs>
struct made_type<Op, Attributes, Inputs...> {
  using structure = call<Op, Attributes, Inputs...>;
  using extents = typename result_extents<Op, Attributes, Inputs...>::type;
  using element = element_of<inference_of<Op, Attributes, Inputs...>.type>;
  using type = typename record<id<call_hash<Op, Attributes, Inputs...>>, structure>::template tensor<element, extents>;
};
}  // namespace detail

/// The type of an operator's result: a typed expression of typed expressions, a handle of handles.
template <class Op, class... Inputs>
using made = typename detail::made_type<Op, attributes<>, Inputs...>::type;
template <class Op, class Attributes, class... Inputs>
using made_with = typename detail::made_type<Op, Attributes, Inputs...>::type;

/// A node as a typed expression.
template <class Op, class Attributes = attributes<>, tensor_expression First, tensor_expression... Rest>
constexpr made_with<Op, Attributes, First, Rest...> make(const First& first, const Rest&... rest) {
  return detail::carry_all<made_with<Op, Attributes, First, Rest...>>(first, rest...);
}

// ---- what is wrong, in the user's words -----------------------------------------------------------------------------

namespace detail {

template <std::size_t N>
struct literal_text {
  char text[N]{};
};

template <class E>
constexpr message describe_expression() {
  graph g;
  if constexpr (tensor_expression<E>) {
    dimension_names<typename E::extents>::enter(g);
    return describe({E::type, E::extent}, g);
  } else {
    return message{} << "an operation without a value";
  }
}
template <class E>
constexpr auto operand_text() {
  constexpr message m = describe_expression<E>();
  literal_text<static_cast<std::size_t>(m.size) + 1> t;
  for (int i = 0; i < m.size; ++i) t.text[i] = m.text[i];
  return t;
}
template <class Problem>
constexpr auto problem_text() {
  constexpr message m = Problem::text();
  literal_text<static_cast<std::size_t>(m.size) + 1> t;
  for (int i = 0; i < m.size; ++i) t.text[i] = m.text[i];
  return t;
}

}  // namespace detail

/// What the compiler prints about an expression that is wrong: the problem, then each operand.
template <detail::literal_text... Words>
struct error_in_expression;

namespace detail {

template <class Op, class Attributes, class... Inputs>
struct inference_problem {
  static constexpr message text() {
    message m;
    m << Op::type;
    if constexpr (Attributes::count > 0) {
      m << "(";
      for (int i = 0; i < Attributes::count; ++i) {
        if (i > 0) m << ", ";
        if (Attributes::data[i] < -1000)
          m << "<named>";
        else
          m << static_cast<long long>(Attributes::data[i]);
      }
      m << ")";
    }
    m << ": " << inference_of<Op, Attributes, Inputs...>.problem;
    return m;
  }
};

template <class Op, class Attributes, class... Inputs>
struct refusal {};  // of handles: told at run time
template <class Op, class Attributes, tensor_expression... Inputs>
struct refusal<Op, Attributes, Inputs...> {
  using problem = error_in_expression<problem_text<inference_problem<Op, Attributes, Inputs...>>(), operand_text<Inputs>()...>;
};

template <class Op, class Attributes, class... Inputs>
inline constexpr bool accepts = [] {
  if constexpr ((std::is_same_v<Inputs, output> || ...))
    return (std::is_same_v<Inputs, output> && ...);
  else
    return inference_of<Op, Attributes, Inputs...>.problem.empty();
}();

}  // namespace detail

/// Operands that an operator takes: `accepted<add_op, X, Y>`.
template <class Op, class... Inputs>
concept accepted = (operand<Inputs> && ...) && detail::accepts<Op, attributes<>, Inputs...>;
/// Operands that it refuses: the compiler prints why.
template <class Op, class... Inputs>
concept refused = (tensor_expression<Inputs> && ...) && !detail::accepts<Op, attributes<>, Inputs...>;
template <class Op, class Attributes, class... Inputs>
concept accepted_with = (operand<Inputs> && ...) && detail::accepts<Op, Attributes, Inputs...>;
template <class Op, class Attributes, class... Inputs>
concept refused_with = (tensor_expression<Inputs> && ...) && !detail::accepts<Op, Attributes, Inputs...>;

/// The declared result of a refused call.
template <class Op, class... Inputs>
using why = typename detail::refusal<Op, attributes<>, Inputs...>::problem;
template <class Op, class Attributes, class... Inputs>
using why_with = typename detail::refusal<Op, Attributes, Inputs...>::problem;

}  // namespace leat
