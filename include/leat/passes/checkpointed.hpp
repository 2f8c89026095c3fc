#pragma once
// Loops that keep the state of every k-th step alone for their gradients, and compute those between again: a loop over pieces of k steps,
// each of which is a loop. Source: Griewank and Walther, "Revolve" (2000); Chen et al., "Training deep nets with sublinear memory cost"
// (2016).

#include <leat/passes/scan.hpp>

namespace leat {

namespace detail {
template <std::int64_t K>
struct kept_steps {};
}  // namespace detail
/// First argument of `scan` and `fold`: their gradients keep the state of every K-th step, and compute the steps between again. The number
/// of steps is static, and a multiple of K; memory for n steps is n / K + K states instead of n.
template <std::int64_t K>
  requires(K > 0)
inline constexpr detail::kept_steps<K> checkpoint_every{};

namespace detail {

template <class E, std::int64_t... Front>
struct reshaped_front {
  // E's entries, after `Skipped` axes, behind other first axes.
  template <int Skipped, std::size_t... I>
  static auto pack(std::index_sequence<I...>) -> attributes<Front..., E::extents::value[static_cast<int>(I) + Skipped]...>;
  template <int Skipped>
  using type = decltype(pack<Skipped>(std::make_index_sequence<static_cast<std::size_t>(E::rank - Skipped)>{}));
};
// [n k, ...] as [n, k, ...], and back.
template <std::int64_t K, class E>
constexpr auto in_pieces(const E& e) {
  return make<reshape_op, typename reshaped_front<E, E::extents::value[0] / K, K>::template type<1>>(e);
}
template <class E>
constexpr auto in_one_piece(const E& e) {
  return make<reshape_op, typename reshaped_front<E, E::extents::value[0] * E::extents::value[1]>::template type<2>>(e);
}
template <class T, class F>
constexpr auto for_each_tensor(const T& t, const F& f) {
  if constexpr (tensor_list<T>::single) return f(t);
  else return std::apply([&](const auto&... each) { return std::tuple(f(each)...); }, t);
}
template <std::int64_t K, class Xs>
constexpr bool comes_in_pieces() {
  return []<class... Es>(const std::tuple<Es...>*) {
    return ((Es::rank > 0 && Es::rank < max_rank && Es::extents::value[0] >= 0 && Es::extents::value[0] % K == 0) && ...);
  }(static_cast<const tensors_of<Xs>*>(nullptr));
}

}  // namespace detail

template <std::int64_t K, class F, detail::tensors State, detail::tensors Xs>
  requires(detail::comes_in_pieces<K, Xs>() && detail::loops<detail::scans, F, State, Xs>)
[[nodiscard("a loop is an expression: fetch what it gives, or compute with it")]] constexpr auto scan(detail::kept_steps<K>, const F& f,
                                                                                                      const State& state, const Xs& xs) {
  const auto pieces = detail::for_each_tensor(xs, [](const auto& x) { return detail::in_pieces<K>(x); });
  const auto [last, ys] = scan([&](const auto& s, const auto& piece) { return scan(f, s, piece); }, state, pieces);
  return std::tuple(last, detail::for_each_tensor(ys, [](const auto& y) { return detail::in_one_piece(y); }));
}
template <std::int64_t K, class F, detail::tensors State, detail::tensors Xs>
  requires(detail::comes_in_pieces<K, Xs>() && detail::loops<detail::folds, F, State, Xs>)
[[nodiscard("a loop is an expression: fetch what it gives, or compute with it")]] constexpr auto fold(detail::kept_steps<K>, const F& f,
                                                                                                      const State& state, const Xs& xs) {
  const auto pieces = detail::for_each_tensor(xs, [](const auto& x) { return detail::in_pieces<K>(x); });
  return fold([&](const auto& s, const auto& piece) { return fold(f, s, piece); }, state, pieces);
}
#define LEAT_CHECKPOINT_WORDS \
  "with checkpoint_every<k>, the number of steps is known to the compiler, and a multiple of k; then come a function of a step, the " \
  "first state, and sequences"
template <std::int64_t K, class F, detail::tensors State, detail::tensors Xs>
  requires(!detail::comes_in_pieces<K, Xs>())
LEAT_OTHERWISE(LEAT_CHECKPOINT_WORDS) scan(detail::kept_steps<K>, const F&, const State&, const Xs&) LEAT_DELETED;
template <std::int64_t K, class F, detail::tensors State, detail::tensors Xs>
  requires(!detail::comes_in_pieces<K, Xs>())
LEAT_OTHERWISE(LEAT_CHECKPOINT_WORDS) fold(detail::kept_steps<K>, const F&, const State&, const Xs&) LEAT_DELETED;
#undef LEAT_CHECKPOINT_WORDS

}  // namespace leat
