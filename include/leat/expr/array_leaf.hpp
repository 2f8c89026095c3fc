#pragma once
// Constants and variables that hold arrays: `constant(weights)`, `variable<"w">(weights)`. The elements are copied into the expression, as
// plain numbers are. Dtype and shape follow from the array's type if it determines them; otherwise they are template arguments.

#include <array>
#include <initializer_list>
#include <leat/expr/feed.hpp>

namespace leat {

namespace detail {

// ---- arrays as arguments --------------------------------------------------------------------------------------------

// A range of elements: std::vector (also of bool), std::span, an initializer list.
template <class A>
concept flat_values = !shaped_array<A> && requires(const A& a) {
  typename A::value_type;
  a.begin();
  a.end();
  a.size();
};

// An array's element type, and its shape if the array's type determines it, otherwise void.
template <class A>
struct array_form {
  using element = void;
  using extents = void;
};
template <class A>
  requires std::is_arithmetic_v<A>
struct array_form<A> {
  using element = std::remove_cv_t<A>;
  using extents = dims<>;
};
template <flat_values A>
struct array_form<A> {
  using element = std::remove_cv_t<typename A::value_type>;
  using extents = void;
};
template <std::size_t N, class Inner>
struct array_of_arrays {
  using extents = void;
};
template <std::size_t N, std::int64_t... Inner>
struct array_of_arrays<N, dims<Inner...>> {
  using extents = dims<static_cast<std::int64_t>(N), Inner...>;
};
template <class T, std::size_t N>
struct array_form<std::array<T, N>> : array_of_arrays<N, typename array_form<T>::extents> {
  using element = typename array_form<T>::element;
};
template <class T, std::size_t N>
struct array_form<T[N]> : array_of_arrays<N, typename array_form<T>::extents> {
  using element = typename array_form<T>::element;
};
// xtensor's fixed_shape<3, 2>, recognized by the form of its template arguments alone.
template <class Shape>
struct sizes_in_type {
  using extents = void;
};
template <template <std::size_t...> class Shape, std::size_t... N>
struct sizes_in_type<Shape<N...>> {
  using extents = dims<static_cast<std::int64_t>(N)...>;
};
template <class A>
struct shape_in_type {
  using extents = void;
};
template <class A>
  requires requires { typename A::shape_type; }
struct shape_in_type<A> : sizes_in_type<typename A::shape_type> {};
template <shaped_array A>
struct array_form<A> : shape_in_type<A> {
  using element = std::remove_cv_t<typename A::value_type>;
};

template <class A>
concept array_argument = shaped_array<A> || flat_values<A> || std::is_array_v<A>;
/// An array of a dtype, with a type that determines its shape: std::array<std::array<float, 2>, 3>, xt::xtensor_fixed; not std::vector.
template <class A>
concept fixed_array = array_argument<A> && element_type<typename array_form<A>::element> && requires {
  requires array_form<A>::extents::rank > 0;
  requires array_form<A>::extents::rank <= max_rank;
};

// ---- errors ---------------------------------------------------------------------------------------------------------

struct constant_word {
  static constexpr std::string_view text = "constant";
};
struct variable_word {
  static constexpr std::string_view text = "variable";
};
struct no_name {
  static constexpr std::string_view view() { return {}; }
};
template <class Word, class Name>
inline constexpr message array_place = [] {
  message m;
  m << Word::text;
  if (!Name::view().empty()) m << " \"" << Name::view() << "\"";
  return m << ": ";
}();

template <class Dims>
constexpr void write_sizes(message& m) {
  m << "[";
  for (int a = 0; a < Dims::rank; ++a) m << (a > 0 ? ", " : "") << static_cast<long long>(Dims::value[a]);
  m << "]";
}
template <class T, class Dims, class Array, class Word, class Name>
struct elements_problem {
  static constexpr message text() {
    using element = typename array_form<Array>::element;
    using extents = typename array_form<Array>::extents;
    message m = array_place<Word, Name>;
    const int before = m.size;
    if constexpr (Dims::rank == 0) {
      m << "an array has dimensions, sizes after the dtype: <float, 3, 2>(values)";
    } else if constexpr (Dims::rank > max_rank) {
      m << "more than 8 dimensions";
    } else if constexpr (!Dims::value.is_static()) {
      m << "the dimensions of an array are sizes, none is named";
    } else if constexpr (!std::is_arithmetic_v<element>) {
      m << "the array's elements are no numbers";
    } else if constexpr (!holds_number<T, element>) {
      m << "the array holds fractions, " << Word::text << "s of " << name_of_dtype(dtype_of<T>) << " integers";
    } else if constexpr (!std::is_void_v<extents>) {
      constexpr bool is_flat = !shaped_array<Array> && extents::rank == 1;
      if constexpr (is_flat ? extents::value.elements() != Dims::value.elements() : !(extents::value == Dims::value)) {
        m << "the array has shape ";
        write_sizes<extents>(m);
        m << ", the dimensions are ";
        write_sizes<Dims>(m);
      }
    } else if constexpr (shaped_array<Array> && array_rank<Array>() >= 0 && array_rank<Array>() != Dims::rank) {
      m << "the array has rank " << array_rank<Array>() << ", the dimensions are " << Dims::rank;
    }
    if (m.size == before) m.size = 0;
    return m;
  }
  static constexpr bool none = text().size == 0;
  using problem = error_in_expression<problem_text<elements_problem>()>;
};
template <class T, class Dims, class Array, class Word, class Name = no_name>
concept takes_elements = array_argument<Array> && elements_problem<T, Dims, Array, Word, Name>::none;
template <class T, class Dims, class Array, class Word, class Name = no_name>
concept refuses_elements = array_argument<Array> && !elements_problem<T, Dims, Array, Word, Name>::none;
template <class T, class Dims, class Array, class Word, class Name>
struct elements_refusal {};  // for arguments that are not arrays; clang instantiates the return type before it checks constraints
template <class T, class Dims, array_argument Array, class Word, class Name>
struct elements_refusal<T, Dims, Array, Word, Name> : elements_problem<T, Dims, Array, Word, Name> {};
template <class T, class Dims, class Array, class Word, class Name = no_name>
using why_elements = typename elements_refusal<T, Dims, Array, Word, Name>::problem;

// ---- elements -------------------------------------------------------------------------------------------------------

template <class A>
inline constexpr bool says_layout = requires { A::static_layout; };

// Writes an array's elements, row-major, each converted to type `T`; returns the position after the last.
template <class T, class Array>
T* write_elements(T* to, const Array& array, std::string_view place) {
  if constexpr (std::is_arithmetic_v<Array>) {
    *to++ = checked_number<T>(place, array);
  } else if constexpr (says_layout<Array>) {
    using layout = std::remove_cv_t<decltype(Array::static_layout)>;
    const auto end = array.template end<layout::row_major>();
    for (auto at = array.template begin<layout::row_major>(); at != end; ++at) *to++ = checked_number<T>(place, *at);
  } else {
    for (const auto& element : array) to = write_elements(to, element, place);
  }
  return to;
}
/// The elements of an array for the constant or variable `E`. Errors: invalid_argument if its shape differs, or if the dtype cannot
/// represent a number.
template <class E, class Word, class Name, class Array>
shared_elements elements_for(const Array& array) {
  constexpr const message& place = array_place<Word, Name>;
  constexpr const char* what = Name::view().empty() ? "constant:" : Word::text.data();
  if constexpr (shaped_array<Array>) {
    bool fits = array.dimension() == static_cast<std::size_t>(E::rank);
    for (int a = 0; fits && a < E::rank; ++a) fits = static_cast<std::int64_t>(array.shape()[static_cast<std::size_t>(a)]) == E::extent[a];
    if (!fits) wrong_shape<E>(what, array);
  } else if constexpr (std::is_void_v<typename array_form<Array>::extents>) {
    if (static_cast<std::int64_t>(array.size()) != E::extent.elements()) wrong_shape<E>(what, array);
  }
  shared_elements made(E::type, E::extent);
  write_elements(static_cast<typename E::element*>(made.data()), array, place.view());
  return made;
}

// ---- expressions that hold arrays -----------------------------------------------------------------------------------

template <class T, class Name, class Dims>
struct named_array_leaf
    : number_leaf<T, mix(mix(mix(hash_text(Name::view()), Dims::hash), static_cast<std::uint64_t>(dtype_of<T>)), 106), Dims> {
  static constexpr std::string_view name = Name::view();
  template <class E>
  static constexpr int enter(graph& g) {
    return g.add_leaf(info_of<number_op>, {dtype_of<T>, Dims::value}, name, named_array_leaf::hash);
  }
};

template <class Site, class T, class Dims, class Array>
auto constant_at_site(const Array& array) {
  using leaf = number_leaf<T, mix(mix(mix(site_hash<Site>, static_cast<std::uint64_t>(dtype_of<T>)), Dims::hash), 107), Dims>;
  leaf_tensor<leaf, T, Dims> result;
  result.carried[0] = elements_for<decltype(result), constant_word, no_name>(array);
  return result;
}
template <class Name, class T, class Dims, class Array>
auto named_constant(const Array& array) {
  leaf_tensor<named_array_leaf<T, Name, Dims>, T, Dims> result;
  result.carried[0] = elements_for<decltype(result), constant_word, Name>(array);
  return result;
}
template <class Name, class T, class Dims, bool Trainable, class Array>
auto variable_from(const Array& array) {
  leaf_tensor<variable_leaf<T, Name, Dims, initializer_kind::array, 1, Trainable>, T, Dims> result;
  result.carried[0] = elements_for<decltype(result), variable_word, Name>(array);
  return result;
}

}  // namespace detail

// ---- for users ------------------------------------------------------------------------------------------------------

/// A constant array whose type determines its shape: `constant(std::array{1.0f, 2.0f})`, of an xt::xtensor_fixed, of a nested std::array.
/// The elements are copied into the expression; a run uses those of the fetched expression. Under nvcc a name is required.
/// Shapes and dtype: the array's. Source: TensorFlow `constant`.
template <class Array, LEAT_SITE>
  requires(detail::fixed_array<Array> && plain_numbers)
auto constant(const Array& values) {
  using form = detail::array_form<Array>;
  return detail::constant_at_site<Site, typename form::element, typename form::extents>(values);
}
/// The same with a name: `constant<"table">(array)`. The name is needed if one source line makes constants of different arrays.
template <fixed_string Name, class Array>
  requires(detail::fixed_array<Array>)
auto constant(const Array& values) {
  using form = detail::array_form<Array>;
  return detail::named_constant<name_of<Name>, typename form::element, typename form::extents>(values);
}
/// A constant array with explicit dtype and shape: `constant<float, 3, 2>(values)`, of an xtensor of that shape, or of a vector, span or
/// list with as many numbers, row-major. Numbers of another type are converted if that dtype can represent them.
/// Errors: invalid_argument if the array's shape differs, and for a number that the dtype cannot represent. At compile time: an array type
/// with another shape, and floating-point numbers for an integer dtype.
template <element_type T, dimension... Ds, class Array, LEAT_SITE>
  requires(plain_numbers && detail::takes_elements<T, dims_of<Ds...>, Array, detail::constant_word>)
auto constant(const Array& values) {
  return detail::constant_at_site<Site, T, dims_of<Ds...>>(values);
}
template <element_type T, dimension... Ds, class N, LEAT_SITE>
  requires(plain_numbers && detail::takes_elements<T, dims_of<Ds...>, std::initializer_list<N>, detail::constant_word>)
auto constant(std::initializer_list<N> values) {
  return detail::constant_at_site<Site, T, dims_of<Ds...>>(values);
}
template <fixed_string Name, element_type T, dimension... Ds, class Array>
  requires detail::takes_elements<T, dims_of<Ds...>, Array, detail::constant_word, name_of<Name>>
auto constant(const Array& values) {
  return detail::named_constant<name_of<Name>, T, dims_of<Ds...>>(values);
}
template <fixed_string Name, element_type T, dimension... Ds, class N>
  requires detail::takes_elements<T, dims_of<Ds...>, std::initializer_list<N>, detail::constant_word, name_of<Name>>
auto constant(std::initializer_list<N> values) {
  return detail::named_constant<name_of<Name>, T, dims_of<Ds...>>(values);
}
template <element_type T, dimension... Ds, class Array>
  requires detail::refuses_elements<T, dims_of<Ds...>, Array, detail::constant_word>
detail::why_elements<T, dims_of<Ds...>, Array, detail::constant_word> constant(const Array&) = delete;
template <fixed_string Name, element_type T, dimension... Ds, class Array>
  requires detail::refuses_elements<T, dims_of<Ds...>, Array, detail::constant_word, name_of<Name>>
detail::why_elements<T, dims_of<Ds...>, Array, detail::constant_word, name_of<Name>> constant(const Array&) = delete;

#define LEAT_CONSTANT_WORDS                                                                                                           \
  "constant(array) takes an array whose type tells its shape, std::array or xt::xtensor_fixed; constant<float, 3, 2>(values) any array, " \
  "vector or list; constant<0.5f>() is a number"
LEAT_OTHERWISE(LEAT_CONSTANT_WORDS) constant(...) LEAT_DELETED;
template <class First, LEAT_ANY_NUMBER... Rest>
LEAT_OTHERWISE(LEAT_CONSTANT_WORDS) constant(...) LEAT_DELETED;
template <fixed_string Name, class... Rest>
LEAT_OTHERWISE(LEAT_CONSTANT_WORDS) constant(...) LEAT_DELETED;
#undef LEAT_CONSTANT_WORDS

/// A variable whose initial value is an array with a type that determines its shape: `variable<"w">(weights)`. The elements are copied into
/// the expression; `session.initialize` assigns them. Source: TensorFlow `Variable`.
template <fixed_string Name, class Array>
  requires(detail::fixed_array<Array>)
auto variable(const Array& initial) {
  using form = detail::array_form<Array>;
  return detail::variable_from<name_of<Name>, typename form::element, typename form::extents, true>(initial);
}
/// The same with explicit dtype and shape: `variable<"w", float, 3, 2>(values)`; arguments and errors as for `constant`.
template <fixed_string Name, element_type T, dimension... Ds, class Array>
  requires detail::takes_elements<T, dims_of<Ds...>, Array, detail::variable_word, name_of<Name>>
auto variable(const Array& initial) {
  return detail::variable_from<name_of<Name>, T, dims_of<Ds...>, true>(initial);
}
template <fixed_string Name, element_type T, dimension... Ds, class N>
  requires detail::takes_elements<T, dims_of<Ds...>, std::initializer_list<N>, detail::variable_word, name_of<Name>>
auto variable(std::initializer_list<N> initial) {
  return detail::variable_from<name_of<Name>, T, dims_of<Ds...>, true>(initial);
}
template <fixed_string Name, element_type T, dimension... Ds, class Array>
  requires detail::refuses_elements<T, dims_of<Ds...>, Array, detail::variable_word, name_of<Name>>
detail::why_elements<T, dims_of<Ds...>, Array, detail::variable_word, name_of<Name>> variable(const Array&) = delete;

/// The same, but `minimize` does not change the variable. Source: TensorFlow `Variable` with `trainable=False`.
template <fixed_string Name, class Array>
  requires(detail::fixed_array<Array>)
auto untrainable_variable(const Array& initial) {
  using form = detail::array_form<Array>;
  return detail::variable_from<name_of<Name>, typename form::element, typename form::extents, false>(initial);
}
template <fixed_string Name, element_type T, dimension... Ds, class Array>
  requires detail::takes_elements<T, dims_of<Ds...>, Array, detail::variable_word, name_of<Name>>
auto untrainable_variable(const Array& initial) {
  return detail::variable_from<name_of<Name>, T, dims_of<Ds...>, false>(initial);
}
template <fixed_string Name, element_type T, dimension... Ds, class N>
  requires detail::takes_elements<T, dims_of<Ds...>, std::initializer_list<N>, detail::variable_word, name_of<Name>>
auto untrainable_variable(std::initializer_list<N> initial) {
  return detail::variable_from<name_of<Name>, T, dims_of<Ds...>, false>(initial);
}
template <fixed_string Name, element_type T, dimension... Ds, class Array>
  requires detail::refuses_elements<T, dims_of<Ds...>, Array, detail::variable_word, name_of<Name>>
detail::why_elements<T, dims_of<Ds...>, Array, detail::variable_word, name_of<Name>> untrainable_variable(const Array&) = delete;

}  // namespace leat
