#pragma once
// Typed expressions without operands: placeholders, variables, constants and numbers.

#include <leat/core/error.hpp>
#include <leat/expr/initializer.hpp>
#include <leat/expr/number.hpp>
#include <leat/expr/tensor.hpp>

#include <source_location>
#include <string_view>

namespace leat {

namespace detail {

// ---- structures of expressions without operands ---------------------------------------------------------------------

template <class T, class Name, class Dims>
struct placeholder_leaf : no_numbers {
  static constexpr bool is_fed = true;
  static constexpr shape extent = Dims::value;
  static constexpr std::string_view name = Name::view();
  static constexpr std::uint64_t hash = mix(mix(mix(hash_text(name), Dims::hash), static_cast<std::uint64_t>(dtype_of<T>)), 101);
  template <class E>
  static constexpr int enter(graph& g) {
    dimension_names<Dims>::enter(g);
    return g.add_leaf(info_of<placeholder_op>, {dtype_of<T>, Dims::value}, name, hash);
  }
};

constexpr std::uint64_t initial_number_id(std::uint64_t variable, int k) {
  return mix(variable, 1000 + static_cast<std::uint64_t>(k));
}

template <class T, class Name, class Dims, initializer_kind Kind, int Numbers, bool Trainable>
struct variable_leaf {
  static constexpr bool is_variable = true;
  static constexpr std::string_view name = Name::view();
  static constexpr std::uint64_t hash =
      mix(mix(mix(mix(hash_text(name), Dims::hash), static_cast<std::uint64_t>(dtype_of<T>)), 102),
          2 * static_cast<std::uint64_t>(Kind) + (Trainable ? 1 : 0));
  static constexpr auto carried_ids = [] {
    id_list<Numbers> list;
    for (int k = 0; k < Numbers; ++k) list.insert(initial_number_id(hash, k));
    return list;
  }();
  static constexpr int carried_count = Numbers;
  static constexpr bool carries_arrays = Kind == initializer_kind::array;
  template <class E>
  static constexpr int enter(graph& g) {
    dimension_names<Dims>::enter(g);
    const std::int64_t attribute[]{static_cast<std::int64_t>(Kind), Trainable ? 1 : 0, Numbers};
    return g.add_leaf(info_of<variable_op>, {dtype_of<T>, Dims::value}, name, hash, attribute);
  }
};

template <class T, std::int64_t Bits>
struct constant_leaf : no_numbers {
  static constexpr std::uint64_t hash = mix(mix(static_cast<std::uint64_t>(Bits), static_cast<std::uint64_t>(dtype_of<T>)), 103);
  template <class E>
  static constexpr int enter(graph& g) {
    return constant(g, dtype_of<T>, {}, value_of_bits(dtype_of<T>, Bits)).index();
  }
};

// A number that travels with the expression; with dimensions, an array.
template <class T, std::uint64_t Hash, class Dims = dims<>>
struct number_leaf {
  static constexpr std::uint64_t hash = Hash;
  static constexpr auto carried_ids = [] {
    id_list<1> list;
    list.insert(hash);
    return list;
  }();
  static constexpr int carried_count = 1;
  static constexpr bool carries_arrays = Dims::rank > 0;
  template <class E>
  static constexpr int enter(graph& g) {
    return g.add_leaf(info_of<number_op>, {dtype_of<T>, Dims::value}, {}, hash);
  }
};
// A plain number that divides integers.
template <class T, std::uint64_t Hash>
struct divisor_leaf : number_leaf<T, Hash> {
  template <class E>
  static constexpr int enter(graph& g) {
    const std::int64_t attribute[divisor_number_attributes]{static_cast<std::int64_t>(Hash), 1};
    return g.add_leaf(info_of<number_op>, {dtype_of<T>, {}}, {}, Hash, attribute);
  }
};
template <class T, class Name>
struct parameter_leaf : number_leaf<T, mix(mix(hash_text(Name::view()), static_cast<std::uint64_t>(dtype_of<T>)), 104)> {
  static constexpr bool is_fed = true;
  static constexpr std::string_view name = Name::view();
  template <class E>
  static constexpr int enter(graph& g) {
    return g.add_leaf(info_of<number_op>, {dtype_of<T>, {}}, name, parameter_leaf::hash);
  }
};

template <class Structure, bool Fed = requires { Structure::is_fed; }>
struct leaf_id {
  using type = id<Structure::hash>;
};
template <class Structure>
struct leaf_id<Structure, true> {
  using type = fed_id<Structure::hash>;
};
template <class Structure, class T, class Dims>
using leaf_tensor = typename record<typename leaf_id<Structure>::type, Structure>::template tensor<T, Dims>;

// ---- numbers as operands --------------------------------------------------------------------------------------------

template <class T, class Site, class N>
constexpr auto number_at_site(N value) {
  using leaf = number_leaf<T, mix(site_hash<Site>, static_cast<std::uint64_t>(dtype_of<T>))>;
  leaf_tensor<leaf, T, dims<>> result;
  result.carried[0] = number_bits<T>(value);
  return result;
}

// A number as an operand next to `like`: a typed expression, or a constant in the handle's graph.
template <class Site, class Like, class N>
constexpr auto beside(const Like& like, N value) {
  if constexpr (std::is_same_v<Like, output>) {
    if (!fits(like.type(), value) || !fits<double>(value)) refuse_number({}, like.type(), value);
    return constant_like(like, static_cast<double>(value));
  } else {
    (void)like;
    return number_at_site<typename Like::element, Site>(value);
  }
}

}  // namespace detail

// ---- for users ------------------------------------------------------------------------------------------------------

/// A tensor that is fed in each run: `placeholder<"x", float, "batch", 10>()`.
/// Shapes: any; a dimension is a size, or a name that stands for one size per run. Source: TensorFlow `placeholder`.
template <fixed_string Name, element_type T, dimension... Ds>
constexpr auto placeholder() {
  using extents = dims_of<Ds...>;
  return detail::leaf_tensor<detail::placeholder_leaf<T, name_of<Name>, extents>, T, extents>{};
}

#define LEAT_PLACEHOLDER_WORDS \
  "placeholder<name, dtype, dimensions...>() has template arguments only, in this order: placeholder<\"x\", float, \"batch\", 10>()"
LEAT_OTHERWISE(LEAT_PLACEHOLDER_WORDS) placeholder(...) LEAT_DELETED;
template <class First, LEAT_ANY_NUMBER... Rest>
LEAT_OTHERWISE(LEAT_PLACEHOLDER_WORDS) placeholder(...) LEAT_DELETED;
template <class First, fixed_string Name, dimension... Rest>
LEAT_OTHERWISE(LEAT_PLACEHOLDER_WORDS) placeholder(...) LEAT_DELETED;
template <fixed_string Name, LEAT_ANY_NUMBER First, LEAT_ANY_NUMBER... Rest>
LEAT_OTHERWISE(LEAT_PLACEHOLDER_WORDS) placeholder(...) LEAT_DELETED;
template <fixed_string Name, class T, dimension... Ds>
  requires(!element_type<T>)
LEAT_OTHERWISE("placeholder: not a dtype: float, double, std::int32_t, std::int64_t, std::uint8_t or bool") placeholder(...) LEAT_DELETED;
template <fixed_string Name, element_type T, LEAT_ANY_NUMBER... Ds>
  requires(!(std::is_convertible_v<decltype(Ds), dimension> && ...))
LEAT_OTHERWISE("placeholder: a dimension is a size or a name: placeholder<\"x\", float, \"batch\", 10>()") placeholder(...) LEAT_DELETED;
template <fixed_string Name, element_type T, dimension... Ds, class First, class... Rest>
LEAT_OTHERWISE(LEAT_PLACEHOLDER_WORDS) placeholder(const First&, const Rest&...) LEAT_DELETED;
#undef LEAT_PLACEHOLDER_WORDS

namespace detail {
template <fixed_string Name, class T, class N>
constexpr number_initializer starting_from(N number) {
  return {number_bits<T>(number, (message{} << "variable \"" << Name.view() << "\": ").view())};
}
// `element_of` as the result of a function. nvcc remembers how a type was written: a variable with the elements of an expression would
// carry the whole expression in its type, and that one its variables; a network of five layers took minutes.
template <dtype Type>
constexpr auto element_value() {
  return element_of<Type>{};
}
template <dtype Type>
using plain_element = decltype(element_value<Type>());

template <class Name, element_type T, class Dims, bool Trainable, initializer I>
constexpr auto make_variable(const I& initial) {
  const auto numbers = initial.numbers();
  constexpr int count = static_cast<int>(std::tuple_size_v<decltype(initial.numbers())>);
  using type = plain_element<dtype_of<T>>;
  using leaf = variable_leaf<type, Name, Dims, I::kind, count, Trainable>;
  leaf_tensor<leaf, type, Dims> result;
  if constexpr (count > 0)
    for (int k = 0; k < count; ++k)
      result.carried[static_cast<std::size_t>(leaf::carried_ids.find(initial_number_id(leaf::hash, k)))] =
          numbers[static_cast<std::size_t>(k)];
  return result;
}
}  // namespace detail

namespace detail {
// Whether a number of type `N` may be an element of type `T`: a floating-point number may not be an integer element.
template <class T, class N>
concept holds_number = std::is_arithmetic_v<N> && (std::is_floating_point_v<T> || !std::is_floating_point_v<N>);
}  // namespace detail

#define LEAT_VARIABLE_WORDS                                                                                                     \
  "<name, dtype, dimensions...>(initial value): a dtype is float, double, std::int32_t, std::int64_t, std::uint8_t or bool, a " \
  "dimension a size; it starts from zeros, ones, a number, an array or random_normal(0, 0.1); alone, an array tells dtype and shape"
#define LEAT_VARIABLE_OTHERWISE(function)                                      \
  LEAT_OTHERWISE(#function LEAT_VARIABLE_WORDS) function(...) LEAT_DELETED;    \
  template <class First, LEAT_ANY_NUMBER... Rest>                                         \
  LEAT_OTHERWISE(#function LEAT_VARIABLE_WORDS) function(...) LEAT_DELETED;    \
  template <class First, fixed_string Name, dimension... Rest>                 \
  LEAT_OTHERWISE(#function LEAT_VARIABLE_WORDS) function(...) LEAT_DELETED;    \
  template <fixed_string Name, LEAT_ANY_NUMBER First, LEAT_ANY_NUMBER... Rest>                       \
  LEAT_OTHERWISE(#function LEAT_VARIABLE_WORDS) function(...) LEAT_DELETED;    \
  template <fixed_string Name, class T, dimension... Ds>                       \
  LEAT_OTHERWISE(#function LEAT_VARIABLE_WORDS) function(...) LEAT_DELETED
/// A tensor that a session keeps between runs: `variable<"w", float, 10, 1>(zeros)`.
/// Shapes: static. Two variables of one name that differ in dtype, shape or initializer are a compile-time error in one session.
/// Source: TensorFlow `Variable`.
template <fixed_string Name, element_type T, dimension... Ds, initializer I>
  requires(dims_of<Ds...>::value.is_static())
constexpr auto variable(const I& initial) {
  return detail::make_variable<name_of<Name>, T, dims_of<Ds...>, true>(initial);
}
/// The same with one number as the initial value of every element.
template <fixed_string Name, element_type T, dimension... Ds, class N>
  requires(detail::holds_number<T, N> && dims_of<Ds...>::value.is_static())
constexpr auto variable(N initial) {
  return detail::make_variable<name_of<Name>, T, dims_of<Ds...>, true>(detail::starting_from<Name, T>(initial));
}
LEAT_VARIABLE_OTHERWISE(variable);

/// A variable that `minimize` does not change: a counter, a moving average. Source: TensorFlow `Variable` with `trainable=False`.
template <fixed_string Name, element_type T, dimension... Ds, initializer I>
  requires(dims_of<Ds...>::value.is_static())
constexpr auto untrainable_variable(const I& initial) {
  return detail::make_variable<name_of<Name>, T, dims_of<Ds...>, false>(initial);
}
template <fixed_string Name, element_type T, dimension... Ds, class N>
  requires(detail::holds_number<T, N> && dims_of<Ds...>::value.is_static())
constexpr auto untrainable_variable(N initial) {
  return detail::make_variable<name_of<Name>, T, dims_of<Ds...>, false>(detail::starting_from<Name, T>(initial));
}

LEAT_VARIABLE_OTHERWISE(untrainable_variable);
#undef LEAT_VARIABLE_OTHERWISE
#undef LEAT_VARIABLE_WORDS

/// A named scalar that the session keeps and that a run may be fed: `parameter<"learning_rate">(0.01f)`. Source: TensorFlow
/// `placeholder_with_default`.
template <fixed_string Name, element_type T>
constexpr auto parameter(T value) {
  using leaf = detail::parameter_leaf<T, name_of<Name>>;
  detail::leaf_tensor<leaf, T, dims<>> result;
  result.carried[0] = detail::number_bits<T>(value);
  return result;
}

#define LEAT_PARAMETER_WORDS "parameter<name>(number) has its name as template argument and takes a number: parameter<\"rate\">(0.1f)"
LEAT_OTHERWISE(LEAT_PARAMETER_WORDS) parameter(...) LEAT_DELETED;
template <class First, LEAT_ANY_NUMBER... Rest>
LEAT_OTHERWISE(LEAT_PARAMETER_WORDS) parameter(...) LEAT_DELETED;
template <class First, fixed_string Name>
LEAT_OTHERWISE(LEAT_PARAMETER_WORDS) parameter(...) LEAT_DELETED;
template <fixed_string Name, class... Types>
LEAT_OTHERWISE(LEAT_PARAMETER_WORDS) parameter(...) LEAT_DELETED;
#undef LEAT_PARAMETER_WORDS

namespace detail {
struct constant_too_large {
  static constexpr message text() {
    return message{} << "constant: integers beyond 2^53 are not all held exactly: write a plain number beside the expression";
  }
};
template <auto Value>
struct constant_refusal {
  using problem = error_in_expression<problem_text<constant_too_large>()>;
};
}  // namespace detail
/// A number that is part of the type and folded by the compiler: `constant<0.5f>()`, or `0.5_c` next to an expression.
/// Errors, at compile time: an integer that float64 does not represent exactly.
template <auto Value>
  requires(detail::fits<double>(Value))
constexpr auto constant() {
  using T = std::remove_const_t<decltype(Value)>;
  return detail::leaf_tensor<detail::constant_leaf<T, static_cast<std::int64_t>(detail::number_bits<T>(Value))>, T, dims<>>{};
}

namespace detail {
template <class T, std::int64_t Bits, class Dims>
struct filled_leaf : no_numbers {
  static constexpr std::uint64_t hash =
      mix(mix(mix(static_cast<std::uint64_t>(Bits), static_cast<std::uint64_t>(dtype_of<T>)), Dims::hash), 105);
  template <class E>
  static constexpr int enter(graph& g) {
    dimension_names<Dims>::enter(g);
    return constant(g, dtype_of<T>, Dims::value, value_of_bits(dtype_of<T>, Bits)).index();
  }
};
}  // namespace detail
/// An array with one value in every element; `constant<0.0f, "batch", 128>()` is, for example, an initial state. A named dimension takes
/// its size from a feed of the run. Source: TensorFlow `fill`.
template <auto Value, dimension First, dimension... Rest>
  requires(detail::fits<double>(Value))
constexpr auto constant() {
  using T = std::remove_const_t<decltype(Value)>;
  using extents = dims_of<First, Rest...>;
  return detail::leaf_tensor<detail::filled_leaf<T, static_cast<std::int64_t>(detail::number_bits<T>(Value)), extents>, T, extents>{};
}
template <auto Value, dimension... Ds>
  requires(!detail::fits<double>(Value))
typename detail::constant_refusal<Value>::problem constant() = delete;

/// A number as part of the type, with the dtype of the expression next to it: `2_c * x`.
template <std::uint64_t Bits, bool Fraction>
struct compile_time_number {
  static constexpr double value = std::bit_cast<double>(Bits);
};

namespace detail {
template <char... Digits>
consteval double parse_number() {
  constexpr char text[]{Digits...};
  double value = 0;
  double scale = 1;
  int exponent = 0;
  bool fraction = false;
  std::size_t i = 0;
  if (sizeof...(Digits) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X' || text[1] == 'b' || text[1] == 'B'))
    LEAT_THROW("decimal numbers only before _c");
  for (; i < sizeof...(Digits) && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.')
      fraction = true;
    else if (text[i] != '\'') {
      value = value * 10 + (text[i] - '0');
      if (fraction) scale *= 10;
    }
  }
  if (i < sizeof...(Digits)) {
    bool negative = false;
    if (text[++i] == '-' || text[i] == '+') negative = text[i++] == '-';
    for (; i < sizeof...(Digits); ++i) exponent = exponent * 10 + (text[i] - '0');
    double power = 1;
    for (int k = 0; k < exponent; ++k) power *= 10;
    return negative ? value / (scale * power) : value * power / scale;
  }
  if (!fraction && value > 9007199254740992.0) LEAT_THROW("integers up to 2^53 before _c: write a plain number");
  return value / scale;
}
template <char... Digits>
consteval bool is_fraction() {
  return ((Digits == '.' || Digits == 'e' || Digits == 'E') || ...);
}
template <class N>
inline constexpr bool is_compile_time_number = false;
template <std::uint64_t Bits, bool Fraction>
inline constexpr bool is_compile_time_number<compile_time_number<Bits, Fraction>> = true;
template <class N>
inline constexpr bool is_fraction_number = std::is_floating_point_v<N>;
template <std::uint64_t Bits, bool Fraction>
inline constexpr bool is_fraction_number<compile_time_number<Bits, Fraction>> = Fraction;

template <class Site, class Like, std::uint64_t Bits, bool Fraction>
constexpr auto beside(const Like& like, compile_time_number<Bits, Fraction> n) {
  if constexpr (std::is_same_v<Like, output>)
    return constant_like(like, n.value);
  else {
    using T = typename Like::element;
    static_assert(!Fraction || std::is_floating_point_v<T>, "a fraction where the expression holds integers: cast<float>(x) first");
    return leaf_tensor<constant_leaf<T, bits_of(dtype_of<T>, n.value)>, T, dims<>>{};
  }
}
}  // namespace detail

namespace literals {
/// A number as part of the type: `0.5_c * x`, `x + 2_c`.
template <char... Digits>
consteval auto operator""_c() {
  return compile_time_number<std::bit_cast<std::uint64_t>(detail::parse_number<Digits...>()), detail::is_fraction<Digits...>()>{};
}
}  // namespace literals
/// The negated number: `-2_c`.
template <std::uint64_t Bits, bool Fraction>
consteval auto operator-(compile_time_number<Bits, Fraction> n) {
  return compile_time_number<std::bit_cast<std::uint64_t>(-n.value), Fraction>{};
}

/// A number that may be next to an operand: `2`, `0.5f`, `0.5_c`.
template <class N>
concept number_or_constant = (number<N> && plain_numbers) || detail::is_compile_time_number<N>;
namespace detail {
template <class E, class Other>
struct beside_problem {
  static constexpr message text() {
    message m;
    if constexpr (is_operation<E> || is_operation<Other>)
      m << "an operation, such as a training step, has no value: it is fetched, grouped or waited for";
    else if constexpr (number_or_constant<Other> && (!is_fraction_number<Other> || is_floating(E::type)))
      m << "a number that the dtype of the expression beside it does not hold";
    else if constexpr (number_or_constant<Other>)
      m << "a fraction beside an expression that is not floating-point: cast<float>(x) first";
    else if constexpr (!is_tensor<Other> && requires { typename Other::value_type; })
      m << "an array beside a tensor: feed it to a placeholder, or write constant<float, 3, 2>(array)";
    else if constexpr (std::is_same_v<Other, bool>)
      m << "true or false beside a tensor: write a number, or logical_and and logical_or of tensors of bool";
    else
      m << "beside a tensor stands neither a tensor nor a number";
    return m;
  }
};
// Whether a dtype can represent a number, as far as known at compile time: the value is known only if it is part of the type.
template <class N>
struct known_number {
  static constexpr bool fits(dtype) { return true; }
};
template <std::uint64_t Bits, bool Fraction>
struct known_number<compile_time_number<Bits, Fraction>> {
  static constexpr double value = std::bit_cast<double>(Bits);
  static constexpr bool fits(dtype type) {
    if constexpr (Fraction)
      return detail::fits(type, value);
    else
      return detail::fits(type, static_cast<std::int64_t>(value));
  }
};
template <class N>
constexpr bool stands_beside(dtype type) {
  return is_fraction_number<N> && !is_floating(type) ? false : known_number<N>::fits(type);
}
template <class A, class B>
struct beside_refusal {};
template <class A, class B>
  requires is_tensor<A> || is_operation<A>
struct beside_refusal<A, B> {
  using problem = error_in_expression<problem_text<beside_problem<A, B>>(), operand_text<A>()>;
};
template <class A, class B>
  requires(!(is_tensor<A> || is_operation<A>) && (is_tensor<B> || is_operation<B>))
struct beside_refusal<A, B> : beside_refusal<B, A> {};

// Classifies argument types as given, including references. It is a variable template because it is instantiated for every operand, and an
// integer because nvcc would check for an enumeration whether the operators concerned compare it.
inline constexpr int is_other = 0, is_a_tensor = 1, is_an_operation = 2;
template <class E>
inline constexpr int kind_of_argument = is_tensor<E> ? is_a_tensor : is_operation<E> ? is_an_operation : is_other;
template <class E>
inline constexpr int kind_of_argument<E&> = kind_of_argument<E>;
template <class E>
inline constexpr int kind_of_argument<const E> = kind_of_argument<E>;
template <class A, class B>
concept one_is_expression = kind_of_argument<A> != is_other || kind_of_argument<B> != is_other;
template <class A, class B>
concept one_is_no_tensor = one_is_expression<A, B> && (kind_of_argument<A> != is_a_tensor || kind_of_argument<B> != is_a_tensor);
}  // namespace detail
/// An expression and a number that its dtype does not allow, in either order: a floating-point number for the dtype of an integer or bool,
/// as in `i * 0.5f`, or a compile-time number that the dtype cannot represent, as in `1e300_c * x`.
template <class A, class B>
concept operand_and_fraction = (tensor_expression<A> && number_or_constant<B> && !detail::stands_beside<B>(A::type)) ||
                               (number_or_constant<A> && tensor_expression<B> && !detail::stands_beside<A>(B::type));
/// One operand and one number, in either order: the arguments of `2 * x` and `maximum(x, 0.0f)`.
template <class A, class B>
concept operand_and_number = ((operand<A> && number_or_constant<B>) || (number_or_constant<A> && operand<B>) ||
                              (std::is_same_v<A, output> && number<B>) || (number<A> && std::is_same_v<B, output>)) &&
                             !operand_and_fraction<A, B>;
namespace detail {
template <class A, class B>
  requires operand_and_number<A, B>
using beside_number = void;
}  // namespace detail
/// An expression and an argument that cannot be the other operand, in either order: an array, a floating-point number next to integers, an
/// operation. The types are references, so that the deleted overloads match better than those of array libraries, which take anything next
/// to an array.
template <class A, class B>
concept refused_beside = detail::one_is_no_tensor<A, B> && !operand_and_number<std::remove_cvref_t<A>, std::remove_cvref_t<B>>;
// The message under clang, see LEAT_OTHERWISE.
#if defined(__clang__) && !defined(__CUDACC__)
#define LEAT_WHY_BESIDE                                                                                                                \
  LEAT_OTHERWISE("beside a tensor stands a tensor or a number; an array is fed to a placeholder, cast<float>(x) comes before a fraction, " \
                 "an operation, such as a training step, has no value")
#else
#define LEAT_WHY_BESIDE why_beside<A, B>
#endif
/// The return type of an operator that refuses two such arguments.
template <class A, class B>
using why_beside = typename detail::beside_refusal<std::remove_cvref_t<A>, std::remove_cvref_t<B>>::problem;

namespace detail {
// Calls `f` with both operands after converting the number to an operand of the other operand's dtype.
template <class Site, class A, class B, class F>
constexpr auto with_number(const A& a, const B& b, F f) {
  if constexpr (operand<A>)
    return f(a, beside<Site>(a, b));
  else
    return f(beside<Site>(b, a), b);
}
}  // namespace detail

namespace detail {
// The same for a division. A plain number that divides integers is checked here, once, instead of in each run.
template <class Site, class A, class B, class F>
constexpr auto with_divisor(const A& a, const B& b, F f) {
  if constexpr (tensor_expression<A> && number<B>) {
    using T = typename A::element;
    if constexpr (std::is_integral_v<T>) {
      if (b == B(0)) LEAT_THROW(invalid_argument("Integer division by zero: the divisor beside the expression is 0"));
      leaf_tensor<divisor_leaf<T, mix(mix(site_hash<Site>, static_cast<std::uint64_t>(dtype_of<T>)), 105)>, T, dims<>> divisor;
      divisor.carried[0] = number_bits<T>(b);
      return f(a, divisor);
    } else {
      return f(a, beside<Site>(a, b));
    }
  } else {
    return with_number<Site>(a, b, f);
  }
}
}  // namespace detail

/// A whole number as an operand next to `like`, in its dtype: for composite functions, also under nvcc.
template <int Value, operand Like>
constexpr auto constant_beside(const Like& like) {
  return detail::beside<void>(like, compile_time_number<std::bit_cast<std::uint64_t>(static_cast<double>(Value)), false>{});
}

}  // namespace leat
