#pragma once
// Identity of typed expressions. The type of a typed expression is short: dtype, shape and an id; its structure is returned by a friend
// function of its id, `structure_of`, which is defined when the expression's type is instantiated. So neither error messages nor debug
// information grow with the expression. An id is the 64-bit hash of the node: equal nodes have one type, and two different nodes with one
// hash would define the friend function twice, which is a compile error.

#include <cstdint>
#include <leat/core/text.hpp>

// The last template parameter of an operator that takes a plain number: a closure type unique to the call. nvcc cannot compile closure
// types there; under nvcc plain numbers are refused (see `plain_numbers`), and `2_c` or a parameter is used instead.
#ifdef __CUDACC__
#define LEAT_SITE class Site = void
#else
#define LEAT_SITE class Site = decltype([] {})
#endif
// The same for operators that take an operand `A` and a number `B`, in either order: the compiler would create the closure type before it
// checks the constraint, at a cost in every use of the operator. An earlier template argument that fails prevents this.
#define LEAT_NUMBER_SITE class = detail::beside_number<A, B>, LEAT_SITE

namespace leat {

template <std::uint64_t Hash>
struct id {
  static constexpr std::uint64_t hash = Hash;
};

/// The id of a graph input that can be fed.
template <std::uint64_t Hash>
struct fed_id {
  static constexpr std::uint64_t hash = Hash;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <class Id>
struct structure_key {
  friend constexpr auto structure_of(structure_key);
};
template <int N>
struct site_key {
  friend constexpr auto site_taken(site_key);
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <int N>
struct site_taker {
  static constexpr int value = N;
  friend constexpr auto site_taken(site_key<N>) { return N; }
};

/// Defines the structure of `Id`. Using `tensor` or `operation` instantiates the record and with it the friend function; nvcc strips a
/// static_assert that would do so.
template <class Id, class Structure, template <class, class, class> class Tensor, template <class> class Operation>
struct structure_record {
  template <class T, class Dims>
  using tensor = Tensor<T, Dims, Id>;
  using operation = Operation<Id>;
  friend constexpr auto structure_of(structure_key<Id>) { return Structure{}; }
};

template <class Id>
using structure_with = decltype(structure_of(structure_key<Id>{}));

/// A short name for a type of any length: `structure_with<Id>` is `T`.
template <class Id, class T>
struct short_name {
  using type = Id;
  friend constexpr auto structure_of(structure_key<Id>) { return T{}; }
};

/// Whether plain numbers are allowed in expressions: not under nvcc.
#ifdef __CUDACC__
inline constexpr bool plain_numbers = false;
#else
inline constexpr bool plain_numbers = true;
#endif

namespace detail {

// Plain numbers in expressions are identified by their source location: each call of an operator with a number has its own closure type,
// and each closure type takes the next free number of the translation unit.
template <class Site, int N>
inline constexpr bool site_is_taken = requires { site_taken(site_key<N>{}); };

template <class Site, int Low, int High>  // Low is taken, High is free
consteval int first_free_site() {
  if constexpr (Low + 1 == High)
    return High;
  else if constexpr (constexpr int middle = (Low + High) / 2; site_is_taken<Site, middle>)
    return first_free_site<Site, middle, High>();
  else
    return first_free_site<Site, Low, middle>();
}
template <class Site, int Step>
consteval int bracket_site() {
  if constexpr (site_is_taken<Site, Step>)
    return bracket_site<Site, 2 * Step>();
  else
    return first_free_site<Site, Step / 2, Step>();
}
template <class Site>
inline constexpr std::uint64_t site_hash =
    mix(hash_text(__BASE_FILE__), static_cast<std::uint64_t>(site_taker<bracket_site<Site, 1>()>::value));

}  // namespace detail

}  // namespace leat
