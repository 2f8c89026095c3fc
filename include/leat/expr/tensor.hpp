#pragma once
// Typed expressions. The type `tensor<float, dims<64, 10>, id<…>>` states dtype and shape; an `operation<id<…>>` has no value (a training
// step). Both are empty classes except for the numbers and arrays in the expression that the compiler does not know (a plain 0.5f, an
// initial value, a learning rate, a constant array): these travel inside the object, each once.

#include <array>
#include <bit>
#include <initializer_list>
#include <leat/core/list.hpp>
#include <leat/expr/carried.hpp>
#include <leat/expr/identity.hpp>
#include <leat/expr/otherwise.hpp>
#include <leat/graph/build.hpp>
#include <leat/graph/leaves.hpp>
#include <leat/graph/text_attribute.hpp>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leat {

namespace detail {

template <int N, bool Arrays>
struct carried_numbers : expression_syntax {
  std::array<typename carried_kind<Arrays>::type, N> carried{};
};
template <>
struct carried_numbers<0, false> : expression_syntax {};
template <class Structure>
using carried_by = carried_numbers<Structure::carried_count, Structure::carries_arrays>;

}  // namespace detail

/// The array bound to a placeholder for one run: the result of `x = array`. `Array` is a reference if the argument is an lvalue, otherwise
/// the array itself: a feed of a temporary owns it.
template <class Leaf, class Array>
struct feed;

namespace detail {
template <class Leaf, class Array>
struct feed_check;
template <class Leaf>
concept fed_leaf = requires { structure_with<typename Leaf::identity>::is_fed; };

// The stored type of an argument: a reference to an lvalue, or the temporary itself.
template <class Array>
using lent_or_owned = std::conditional_t<std::is_lvalue_reference_v<Array>, const std::remove_cvref_t<Array>&, std::remove_cvref_t<Array>>;

// Dtype and shape of an expression without its identity: shape rules are evaluated once for each form, not for each node.
template <class T, class Dims>
struct form {
  static constexpr dtype type = dtype_of<T>;
  using extents = Dims;
};

// Base of every expression that cannot be fed: refuses `expression = array`.
template <class T, class Dims>
struct not_fed {
  template <class Array>
    requires(!requires { typename Array::identity; })
  constexpr auto operator=(const Array&) const -> typename feed_check<form<T, Dims>, Array>::problem = delete;
  template <class Expression>
    requires requires { typename Expression::identity; }
  LEAT_OTHERWISE("an expression's type holds its shape and what it is made of, so its object keeps them: auto h2 = relu(h) names another")
  operator=(const Expression&) LEAT_DELETED;

 protected:
  constexpr not_fed() = default;
  constexpr not_fed(const not_fed&) = default;
  constexpr not_fed& operator=(const not_fed&) = default;
};
}  // namespace detail

/// A typed expression with a value. `T` is the element type, `Dims` the shape.
template <class T, class Dims, class Id>
class [[nodiscard("an expression does nothing until a session runs it")]] tensor
    : public detail::carried_by<structure_with<Id>>, private detail::not_fed<T, Dims> {
 public:
  using element = T;
  using extents = Dims;
  using identity = Id;
  using form = detail::form<T, Dims>;
  static constexpr int carried_count = structure_with<Id>::carried_count;
  static constexpr dtype type = dtype_of<T>;
  static constexpr const shape& extent = Dims::value;
  static constexpr int rank = Dims::rank;

  constexpr tensor() = default;
  constexpr tensor(const tensor&) = default;
  constexpr tensor& operator=(const tensor&) = default;
  using detail::not_fed<T, Dims>::operator=;
};

/// A placeholder or a parameter: an array can be bound to it.
template <class T, class Dims, std::uint64_t Hash>
class [[nodiscard("an expression does nothing until a session runs it")]] tensor<T, Dims, fed_id<Hash>>
    : public detail::carried_by<structure_with<fed_id<Hash>>> {
 public:
  using element = T;
  using extents = Dims;
  using identity = fed_id<Hash>;
  using form = detail::form<T, Dims>;
  static constexpr int carried_count = structure_with<identity>::carried_count;
  static constexpr dtype type = dtype_of<T>;
  static constexpr const shape& extent = Dims::value;
  static constexpr int rank = Dims::rank;

  constexpr tensor() = default;
  constexpr tensor(const tensor&) = default;
  constexpr tensor& operator=(const tensor&) = default;

  /// Feeds an array, a span, a vector or a scalar in one run: `s.run(fetch(loss), x = xs)`. An lvalue is borrowed, and read in place when
  /// the run begins; a temporary becomes part of the feed.
  template <class Array>
    requires(!std::is_same_v<std::remove_cvref_t<Array>, tensor> && detail::feed_check<tensor, std::remove_cvref_t<Array>>::ok)
  [[nodiscard("a feed does nothing by itself: give it to session.run")]] constexpr auto operator=(Array&& array) const
      -> feed<tensor, detail::lent_or_owned<Array>> {
    return {{}, std::forward<Array>(array)};
  }
  template <class Array>
    requires(!std::is_same_v<std::remove_cvref_t<Array>, tensor> && !detail::feed_check<tensor, std::remove_cvref_t<Array>>::ok)
  constexpr auto operator=(const Array&) const -> typename detail::feed_check<tensor, Array>::problem = delete;
  template <class Element>
  LEAT_OTHERWISE("a list in braces is not fed: an array with a name is, std::vector<float> values{...}, or xt::xtensor")
  operator=(std::initializer_list<Element>) const LEAT_DELETED;
};

/// A typed expression without a value, such as a training step.
template <class Id>
class [[nodiscard("an operation does nothing until a session runs it")]] operation
    : public detail::carried_by<structure_with<Id>> {
 public:
  using identity = Id;
  static constexpr int carried_count = structure_with<Id>::carried_count;

  constexpr operation() = default;
  constexpr operation(const operation&) = default;
  constexpr operation& operator=(const operation&) = default;
  template <class Other>
  LEAT_OTHERWISE("an operation, such as a training step, has no value: it is not fed, and another one needs a name of its own")
  operator=(const Other&) const LEAT_DELETED;
};

namespace detail {
// Variable templates classify types: they cost the compiler less than classes, and every operand needs them.
template <class E>
inline constexpr bool is_tensor = false;
template <class T, class Dims, class Id>
inline constexpr bool is_tensor<tensor<T, Dims, Id>> = true;
template <class E>
inline constexpr bool is_operation = false;
template <class Id>
inline constexpr bool is_operation<operation<Id>> = true;
template <class E>
inline constexpr bool is_operand = is_tensor<E>;
template <>
inline constexpr bool is_operand<output> = true;
template <class N>
inline constexpr bool is_plain_number = std::is_arithmetic_v<N>;
template <>
inline constexpr bool is_plain_number<bool> = false;
template <class T, class Dims, class Id>
inline constexpr bool is_plain_number<tensor<T, Dims, Id>> = false;
}  // namespace detail

/// A typed expression with a value: `x + y`; not a training step.
template <class E>
concept tensor_expression = detail::is_tensor<E>;
/// A typed expression: `matmul(x, w)`, a training step; not an array, not a number.
template <class E>
concept expression = detail::is_tensor<E> || detail::is_operation<E>;
/// An argument that operators take: a typed expression with a value, or a handle into a graph.
template <class E>
concept operand = detail::is_operand<E>;
/// A plain number next to an operand: `0.5f`, `2`; not `bool`, not an expression.
template <class N>
concept number = detail::is_plain_number<N>;

// ---- the numbers inside expressions ---------------------------------------------------------------------------------

namespace detail {

// The ids of the numbers that some expressions carry, each once, in the order in which the expressions first mention them. Two sources
// number their call sites differently, but agree on that order: so they agree on the position of each number in an expression's object, and
// may share an inline function that makes it.
template <int Capacity>
struct id_list {
  std::array<std::uint64_t, Capacity + 1> id{};
  int size = 0;
  constexpr void insert(std::uint64_t value) {
    if (find(value) < 0) id[static_cast<std::size_t>(size++)] = value;
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
      // skips the common prefix of two lists, as the layers of a deep model have it, without searching
      auto add = [&](const auto& list) {
        int i = 0;
        while (i < list.size && i < all.size && all.id[static_cast<std::size_t>(i)] == list.id[static_cast<std::size_t>(i)]) ++i;
        if (all.size == 0)
          for (; i < list.size; ++i) all.id[static_cast<std::size_t>(all.size++)] = list.id[static_cast<std::size_t>(i)];
        for (; i < list.size; ++i) all.insert(list.id[static_cast<std::size_t>(i)]);
      };
      (add(structure_with<typename Es::identity>::carried_ids), ...);
    }
    return all;
  }();
};

[[noreturn]] inline void two_values() {
  LEAT_THROW(invalid_argument(
      "two values for one number: the place in the program that wrote it ran twice with different values, or one name was given to "
      "two variables or parameters that start from different numbers, and both results meet in one expression or session. Give the "
      "number a name, parameter<\"rate\">(0.1f), and feed it or set it in the session; or write it as part of the type, 0.5_c"));
}

[[noreturn]] inline void two_arrays() {
  LEAT_THROW(invalid_argument(
      "two arrays for one constant: the place in the program that wrote it ran twice with different elements, or one name was given to "
      "two constants or variables that hold different ones, and both results meet in one expression or session. Give each a name of its "
      "own, constant<\"table\">(array), or feed the array to a placeholder"));
}
[[noreturn]] inline void two_values_of(bool array) {
  if (array) two_arrays();
  two_values();
}

// Copies values to the positions of their ids. All expressions share this one function, since one per expression would be most of a deep
// model's code.
template <class To, class From>
[[gnu::noinline]] constexpr void carry_values(To* to, bool* set, const std::uint64_t* to_ids, int to_count, const From* from,
                                              const std::uint64_t* ids, int count) {
  for (int i = 0; i < count; ++i) {
    int at = i;
    if (i >= to_count || to_ids[i] != ids[i])
      for (at = 0; to_ids[at] != ids[i];) ++at;
    if (set[at] && !(to[at] == from[i])) two_values_of(is_array(from[i]));
    to[at] = from[i];
    set[at] = true;
  }
}
template <class To, class From>
constexpr void carry(To& to, std::array<bool, structure_with<typename To::identity>::carried_count + 1>& set, const From& from) {
  using source = structure_with<typename From::identity>;
  using target = structure_with<typename To::identity>;
  if constexpr (source::carried_count > 0)
    carry_values(to.carried.data(), set.data(), target::carried_ids.id.data(), target::carried_ids.size, from.carried.data(),
                 source::carried_ids.id.data(), source::carried_ids.size);
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

/// Enters an expression into a graph, each node once. Returns the index of its node.
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

struct no_numbers {
  static constexpr id_list<0> carried_ids{};
  static constexpr int carried_count = 0;
  static constexpr bool carries_arrays = false;
};
template <class... Es>
struct numbers_of {
  static constexpr auto carried_ids = carried_union<Es...>::ids;
  static constexpr int carried_count = carried_ids.size;
  static constexpr bool carries_arrays = (false || ... || structure_with<typename Es::identity>::carries_arrays);
};
template <bool Any>
struct choose_numbers {
  template <class... Es>
  using type = no_numbers;
};
template <>
struct choose_numbers<true> {
  template <class... Es>
  using type = numbers_of<Es...>;
};
/// The numbers that some expressions carry together.
template <class... Es>
using carries = typename choose_numbers<(0 + ... + Es::carried_count) != 0>::template type<Es...>;

/// The structure of an operator's result.
template <class Op, class Attributes, class... Inputs>
struct call : carries<Inputs...> {
  template <class E>
  static constexpr int enter(graph& g) {
    const int inputs[]{flatten<Inputs>(g)...};
    return g.add(info_of<Op>, inputs, {Attributes::data, static_cast<std::size_t>(Attributes::count)});
  }
};

template <class Id, class Structure>
using record = structure_record<Id, Structure, tensor, operation>;

template <class Op, class Attributes, class... Forms>
constexpr inference infer_forms() {
  const tensor_info inputs[]{{Forms::type, Forms::extents::value}...};
  return Op::infer({inputs, static_cast<int>(sizeof...(Forms)), Attributes::data, Attributes::count});
}
template <class Op, class Attributes, class... Forms>
inline constexpr inference inference_of = infer_forms<Op, Attributes, Forms...>();

template <class Op, class Attributes, class... Forms>
struct result_of {
  static constexpr const inference* got = &inference_of<Op, Attributes, Forms...>;  // nvcc does not accept a reference here
  template <std::size_t... I>
  static constexpr auto pack(std::index_sequence<I...>) -> dims<got->extent.dim[I]...>;
  using extents = decltype(pack(std::make_index_sequence<static_cast<std::size_t>(got->extent.rank)>{}));
  using element = element_of<inference_of<Op, Attributes, Forms...>.type>;
};

constexpr std::uint64_t hash_call(std::uint64_t attributes, int code, std::initializer_list<std::uint64_t> inputs) {
  auto h = mix(attributes, static_cast<std::uint64_t>(code));
  for (auto i : inputs) h = mix(h, i);
  return h;
}

template <class Op, class Attributes, class... Inputs>
struct made_type {};  // for other arguments; clang instantiates the result type before it checks constraints
template <class Op, class Attributes, tensor_expression... Inputs>
struct made_type<Op, Attributes, Inputs...> {
  using result = result_of<Op, Attributes, typename Inputs::form...>;
  using type = typename record<id<hash_call(Attributes::hash, operator_record<Op>::code, {Inputs::identity::hash...})>,
                               call<Op, Attributes, Inputs...>>::template tensor<typename result::element, typename result::extents>;
};
template <class Op, class Attributes, class... Rest>
struct made_type<Op, Attributes, output, Rest...> {
  using type = output;
};
}  // namespace detail

/// The type of an operator's result: a typed expression if its operands are typed expressions, a handle if they are handles.
template <class Op, class... Inputs>
using made = typename detail::made_type<Op, attributes<>, Inputs...>::type;
template <class Op, class Attributes, class... Inputs>
using made_with = typename detail::made_type<Op, Attributes, Inputs...>::type;

/// Creates a typed expression from an operator, its attributes and its operands.
template <class Op, class Attributes = attributes<>, tensor_expression First, tensor_expression... Rest>
constexpr made_with<Op, Attributes, First, Rest...> make([[maybe_unused]] const First& first, [[maybe_unused]] const Rest&... rest) {
  using result = made_with<Op, Attributes, First, Rest...>;
  if constexpr (result::carried_count == 0)
    return result{};
  else
    return detail::carry_all<result>(first, rest...);
}

namespace detail {
template <class Attributes, std::int64_t K>
struct attributes_with;
template <std::int64_t... Vs, std::int64_t K>
struct attributes_with<attributes<Vs...>, K> {
  using type = attributes<Vs..., K>;
};
template <class Op, class Attributes, class... Forms>
constexpr int count_of_results() {
  const tensor_info inputs[]{{Forms::type, Forms::extents::value}...};
  return count_results<Op>({inputs, static_cast<int>(sizeof...(Forms)), Attributes::data, Attributes::count});
}
template <class Op, class Attributes, int K, class... Inputs>
constexpr auto make_one_of(const Inputs&... inputs) {
  if constexpr (K == 0) return make<Op, Attributes>(inputs...);
  else return make<further_result<Op>, typename attributes_with<Attributes, K>::type>(inputs...);
}
}  // namespace detail

// ---- error messages -------------------------------------------------------------------------------------------------

namespace detail {

template <class E>
constexpr message describe_expression() {
  graph g;
  if constexpr (requires { typename E::extents; }) {
    dimension_names<typename E::extents>::enter(g);
    return describe({E::type, E::extents::value}, g);
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

namespace detail {

template <class Op, class Attributes, class... Inputs>
struct inference_problem {
  static constexpr message text() {
    message m;
    m << Op::type;
    if constexpr (Attributes::count > 0 && Attributes::count <= 8) {  // more would bury the reason
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
    m << ": " << inference_of<Op, Attributes, typename Inputs::form...>.problem;
    return m;
  }
};

template <class Op, class Attributes, class... Inputs>
struct refusal {};  // for handles: errors are reported at run time
template <class Op, class Attributes, tensor_expression... Inputs>
struct refusal<Op, Attributes, Inputs...> {
  using problem = error_in_expression<problem_text<inference_problem<Op, Attributes, Inputs...>>(), operand_text<Inputs>()...>;
};

template <class Op, class Attributes, class... Forms>
inline constexpr bool accepts = inference_of<Op, Attributes, Forms...>.problem.empty();
template <class Op, class Attributes, class... Rest>
inline constexpr bool accepts<Op, Attributes, handle_form, Rest...> = (std::is_same_v<Rest, handle_form> && ...);

}  // namespace detail

/// Operands that an operator accepts: `accepted<add_op, X, Y>`.
template <class Op, class... Inputs>
concept accepted = (operand<Inputs> && ...) && detail::accepts<Op, attributes<>, typename Inputs::form...>;
/// Operands that an operator refuses; the compiler then prints the reason.
template <class Op, class... Inputs>
concept refused = (tensor_expression<Inputs> && ...) && !detail::accepts<Op, attributes<>, typename Inputs::form...>;
template <class Op, class Attributes, class... Inputs>
concept accepted_with = (operand<Inputs> && ...) && detail::accepts<Op, Attributes, typename Inputs::form...>;
template <class Op, class Attributes, class... Inputs>
concept refused_with = (tensor_expression<Inputs> && ...) && !detail::accepts<Op, Attributes, typename Inputs::form...>;

/// The result type of a refused call, which contains the reason.
template <class Op, class... Inputs>
using why = typename detail::refusal<Op, attributes<>, Inputs...>::problem;
template <class Op, class Attributes, class... Inputs>
using why_with = typename detail::refusal<Op, Attributes, Inputs...>::problem;

namespace detail {
template <class Op>
struct without_list_of_results {
  static constexpr message text() { return message{} << Op::type << ": its class has no `results`; make<Op>(x) returns its result"; }
  using problem = error_in_expression<problem_text<without_list_of_results>()>;
};
}  // namespace detail

/// All results of an operator that has several, as a tuple of typed expressions: `auto [radius, angle] = make_results<polar_op>(x, y)`.
template <class Op, class Attributes = attributes<>, tensor_expression First, tensor_expression... Rest>
  requires(detail::has_results<Op> && accepted_with<Op, Attributes, First, Rest...>)
constexpr auto make_results(const First& first, const Rest&... rest) {
  return [&]<int... K>(std::integer_sequence<int, K...>) {
    return std::tuple(detail::make_one_of<Op, Attributes, K>(first, rest...)...);
  }(std::make_integer_sequence<int, detail::count_of_results<Op, Attributes, typename First::form, typename Rest::form...>()>{});
}
template <class Op, class Attributes = attributes<>, tensor_expression First, tensor_expression... Rest>
  requires(detail::has_results<Op> && refused_with<Op, Attributes, First, Rest...>)
why_with<Op, Attributes, First, Rest...> make_results(const First&, const Rest&...) = delete;
template <class Op, class Attributes = attributes<>, tensor_expression First, tensor_expression... Rest>
  requires(!detail::has_results<Op>)
typename detail::without_list_of_results<Op>::problem make_results(const First&, const Rest&...) = delete;

}  // namespace leat
