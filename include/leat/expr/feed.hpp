#pragma once
// Feeds: the arrays that may be fed to a placeholder. Arrays are recognized by their interface, so that this layer includes none of their
// headers: anything with `data()` and `shape()` (xtensor's containers, views and adaptors), contiguous ranges (std::vector, std::span,
// std::array), and plain numbers.

#include <leat/expr/leaf.hpp>

namespace leat {

namespace detail {
// Short name of a feed in error messages.
template <class Id>
struct fed {};
}  // namespace detail

template <class Leaf, class Array>
struct feed : detail::fed<typename Leaf::identity> {
  using leaf = Leaf;
  using array_type = std::remove_cvref_t<Array>;
  static constexpr bool is_owned = !std::is_reference_v<Array>;
  Array array;
};

namespace detail {

template <class A>
concept shaped_array = requires(const A& a) {
  typename A::value_type;
  a.shape();
  a.dimension();
};
template <class A>
concept plain_range = !shaped_array<A> && requires(const A& a) {
  typename A::value_type;
  a.data();
  a.size();
};

template <class A>
struct array_element {
  using type = void;
};
template <class A>
  requires shaped_array<A> || plain_range<A>
struct array_element<A> {
  using type = std::remove_cv_t<typename A::value_type>;
};
template <class A>
  requires std::is_arithmetic_v<A>
struct array_element<A> {
  using type = A;
};

// The rank determined by the array's type, or -1.
template <class A>
constexpr int array_rank() {
  if constexpr (std::is_arithmetic_v<A>)
    return 0;
  else if constexpr (plain_range<A>)
    return -1;  // any shape with that many elements
  else if constexpr (requires { std::tuple_size<typename A::shape_type>::value; })
    return static_cast<int>(std::tuple_size<typename A::shape_type>::value);
  else if constexpr (requires { requires std::is_convertible_v<decltype(A::rank), int>; })
    return static_cast<int>(A::rank);
  else
    return -1;
}

// The problem with an array as values of `E`, as far as the two types determine dtype and rank.
template <class E, class Array>
constexpr message array_problem(std::string_view place, std::string_view other) {
  using T = typename array_element<Array>::type;
  message m;
  m << place;
  const int before = m.size;
  if constexpr (std::is_void_v<T>) {
    m << "neither an array nor a number";
  } else if constexpr (dtype_of<T> != E::type) {
    m << "the array holds " << (dtype_of<T> == dtype::invalid ? std::string_view("another type") : name_of_dtype(dtype_of<T>)) << ", "
      << other << " " << name_of_dtype(E::type);
  } else if constexpr (array_rank<Array>() >= 0 && array_rank<Array>() != E::rank) {
    m << "the array has rank " << array_rank<Array>() << ", " << other << " " << E::rank;
  }
  if (m.size == before) m.size = 0;
  return m;
}

// Plain cold functions build the messages, since templates would cost compile time in every use of a session.
[[noreturn, gnu::cold]] inline void throw_wrong_shape(std::string_view what, std::string_view name, std::string_view expected,
                                                      const std::int64_t* extents, int rank) {
  message m;
  m << what << (name.empty() ? " the expression" : " \"") << name << (name.empty() ? " is " : "\" is ") << expected
    << ", the array has shape [";
  for (int k = 0; k < rank; ++k) m << (k > 0 ? ", " : "") << static_cast<long long>(extents[k]);
  m << "]";
  LEAT_THROW(invalid_argument(std::string(m.view())));
}
template <class Leaf>
constexpr std::string_view leaf_name() {
  if constexpr (requires { structure_with<typename Leaf::identity>::name; })
    return structure_with<typename Leaf::identity>::name;
  else
    return {};
}
template <class E>
inline constexpr auto shape_text = operand_text<E>();

template <class E, class A>
[[noreturn, gnu::cold, gnu::noinline]] void wrong_shape(const char* what, const A& a) {
  std::int64_t extents[16]{};
  int rank = 0;
  if constexpr (shaped_array<A>) {
    rank = static_cast<int>(a.dimension() < 16 ? a.dimension() : 16);
    for (int k = 0; k < rank; ++k) extents[k] = static_cast<std::int64_t>(a.shape()[static_cast<std::size_t>(k)]);
  } else if constexpr (requires { a.size(); }) {
    extents[rank++] = static_cast<std::int64_t>(a.size());
  }
  throw_wrong_shape(what, leaf_name<E>(), shape_text<E>.text, extents, rank);
}

template <class Leaf, class Array>
constexpr message feed_problem() {
  message m;
  if constexpr (!fed_leaf<Leaf>) {
    m << "not a placeholder or parameter: only those can be fed; a variable is set with session.assign(variable, array)";
  } else {
    using T = typename array_element<Array>::type;
    m << "feed of \"" << structure_with<typename Leaf::identity>::name << "\": ";
    const int before = m.size;
    if constexpr (std::is_void_v<T>) {
      m << "neither an array nor a number";
    } else if constexpr (!std::is_arithmetic_v<Array> && !std::is_same_v<T, typename Leaf::element> &&
                         dtype_of<T> != Leaf::type) {
      m << "the array holds " << (dtype_of<T> == dtype::invalid ? std::string_view("another type") : name_of_dtype(dtype_of<T>))
        << ", the placeholder " << name_of_dtype(Leaf::type);
    } else if constexpr (std::is_arithmetic_v<Array> && std::is_floating_point_v<Array> &&
                         !std::is_floating_point_v<typename Leaf::element>) {
      m << "a fraction for a placeholder of integers";
    } else if constexpr (array_rank<Array>() >= 0 && array_rank<Array>() != Leaf::rank) {
      m << "the array has rank " << array_rank<Array>() << ", the placeholder " << Leaf::rank;
    }
    if (m.size == before) m.size = 0;
  }
  return m;
}

template <class Leaf, class Array>
struct feed_check {
  static constexpr message text() { return feed_problem<Leaf, Array>(); }
  static constexpr bool ok = text().size == 0;
  using problem = error_in_expression<problem_text<feed_check>(), operand_text<Leaf>()>;
};

}  // namespace detail

/// The result of `x = array`.
template <class F>
concept feed_binding = requires {
  typename F::leaf;
  typename F::array_type;
};

}  // namespace leat
