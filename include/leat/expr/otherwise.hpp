#pragma once
// Compile-time messages for calls with wrong arguments. A function has one more overload with an ellipsis, which accepts anything but is
// the worst match, so it is chosen only if no other overload fits. It is deleted, and its result type contains the message: how to call the
// function.

#include <leat/core/text.hpp>

namespace leat {

namespace detail {
template <std::size_t N>
struct literal_text {
  char text[N]{};
};
template <std::size_t N>
literal_text(const char (&)[N]) -> literal_text<N>;
}  // namespace detail

/// The type that compilers print for a wrong expression. `Words`: the problem, then each operand or the remedy.
template <detail::literal_text... Words>
struct error_in_expression;

namespace detail {
struct wrong_call {};
/// First parameter of the last overload if another overload has no parameters; otherwise a call without arguments would be ambiguous.
struct anything {
  template <class T>
  anything(const T&);
};
}  // namespace detail

// The last overload is written `LEAT_OTHERWISE("how it is called") f(...) LEAT_DELETED;`. g++ prints the result type of a deleted function.
// clang truncates that type and lists all other overloads, so under clang the message is that of an attribute, which clang prints alone.
// nvcc passes types to the host compiler as source and cannot write an array there, so under nvcc there is no message.
#if defined(__CUDACC__)
#define LEAT_ANY_NUMBER long long
#define LEAT_WORDS(words)
#define LEAT_OTHERWISE(words) leat::detail::wrong_call
#define LEAT_DELETED = delete
#elif defined(__clang__)
#define LEAT_ANY_NUMBER auto
#define LEAT_WORDS(words) detail::literal_text{words}
#define LEAT_OTHERWISE(words)                                                                      \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"")            \
  __attribute__((diagnose_if(true, words, "error"))) _Pragma("clang diagnostic pop") leat::detail::wrong_call
#define LEAT_DELETED
#else
#define LEAT_ANY_NUMBER auto
#define LEAT_WORDS(words) detail::literal_text{words}
#define LEAT_OTHERWISE(words) leat::error_in_expression<leat::detail::literal_text{words}>
#define LEAT_DELETED = delete
#endif
// The same for a function with template arguments: all numbers, or a type and then numbers. _OF_TYPE: also a number and then a type.
#define LEAT_OTHERWISE_OF(function, words)                      \
  LEAT_OTHERWISE(#function words) function(...) LEAT_DELETED;   \
  template <LEAT_ANY_NUMBER First, LEAT_ANY_NUMBER... Rest>     \
  LEAT_OTHERWISE(#function words) function(...) LEAT_DELETED;   \
  template <class First, LEAT_ANY_NUMBER... Rest>               \
  LEAT_OTHERWISE(#function words) function(...) LEAT_DELETED
#define LEAT_OTHERWISE_OF_TYPE(function, words)                           \
  LEAT_OTHERWISE_OF(function, words);                                     \
  template <LEAT_ANY_NUMBER First, class Second, LEAT_ANY_NUMBER... Rest> \
  LEAT_OTHERWISE(#function words) function(...) LEAT_DELETED
#define LEAT_TENSORS "a tensor is an expression: an array is fed to a placeholder, a number is constant<0.5f>()"
#define LEAT_TAKES_ONE_TENSOR(function) LEAT_OTHERWISE(#function "(x) takes one tensor; " LEAT_TENSORS) function(...) LEAT_DELETED
#define LEAT_TAKES_TWO_TENSORS(function) \
  LEAT_OTHERWISE(#function "(a, b) takes two tensors, or a tensor and a number; " LEAT_TENSORS) function(...) LEAT_DELETED

namespace detail {

// Messages for members that an expression does not have: a value outside of a session, elements, arguments.
#ifdef __CUDACC__
struct expression_syntax {};
#else
template <literal_text... Words>
struct no_value {
  constexpr operator double() const = delete;
};
struct expression_syntax
    : no_value<literal_text{"an expression has a value in a session only: auto [value] = s.run(fetch(x), feeds...); functions of it are "
                            "leat's: leat::exp(x), maximum(x, y), select(condition, x, y)"}> {
  template <class Index>
  LEAT_OTHERWISE("an expression has no elements before it runs: slice<begins<0, 2>, sizes<3, 1>>(x), gather(x, indices), or the value "
                 "of a run")
  operator[](const Index&) const LEAT_DELETED;
  template <class... Indices>
  LEAT_OTHERWISE("an expression has no elements before it runs: slice<begins<0, 2>, sizes<3, 1>>(x), gather(x, indices), or the value "
                 "of a run")
  operator()(const Indices&...) const LEAT_DELETED;
};
#endif

}  // namespace detail

}  // namespace leat
