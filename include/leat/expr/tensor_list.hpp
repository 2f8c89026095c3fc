#pragma once
// Arguments and results that are one tensor or a tuple of tensors.

#include <leat/expr/tensor.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace leat::detail {

/// The tensors that a type stands for: `type`, a tuple. `ok` is false for all but tensors, tuples and pairs of them; `single` is true for
/// one tensor that is in no tuple.
template <class R>
struct tensor_list {
  static constexpr bool ok = false;
};
template <tensor_expression E>
struct tensor_list<E> {
  static constexpr bool ok = true;
  static constexpr bool single = true;
  using type = std::tuple<E>;
};
template <class... Es>
  requires(sizeof...(Es) > 0 && (tensor_expression<Es> && ...))
struct tensor_list<std::tuple<Es...>> {
  static constexpr bool ok = true;
  static constexpr bool single = false;
  using type = std::tuple<Es...>;
};
template <class A, class B>
struct tensor_list<std::pair<A, B>> : tensor_list<std::tuple<A, B>> {};

/// One tensor, or a tuple of tensors.
template <class R>
concept tensors = tensor_list<R>::ok;
template <tensors R>
using tensors_of = typename tensor_list<R>::type;

/// The tensors of an argument as a tuple.
template <tensors R>
constexpr tensors_of<R> as_tuple(const R& r) {
  if constexpr (tensor_list<R>::single) return tensors_of<R>(r);
  else return r;
}

}  // namespace leat::detail
