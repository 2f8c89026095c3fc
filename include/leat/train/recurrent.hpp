#pragma once
// Recurrent layers: cells (train/cells.hpp) that step through sequences [batch, time, inputs]. Variables have the names that TensorFlow's
// `nn.dynamic_rnn` gives them: `lstm<"rnn/basic_lstm_cell", 64>(x)` has "rnn/basic_lstm_cell/kernel" and "rnn/basic_lstm_cell/bias".

#include <leat/ops/comparison.hpp>
#include <leat/passes/scan.hpp>
#include <leat/train/cells.hpp>

#include <tuple>

namespace leat {

/// What a recurrent layer gives: the outputs of all steps [batch, time, units], and the state after the last one: h [batch, units], or, of
/// `lstm`, an `lstm_state`.
template <tensor_expression Outputs, class State>
struct recurrent_parts {
  Outputs outputs;
  State state;
};

namespace detail {

template <class X>
concept recurrent_operand = tensor_expression<X> && requires { requires X::rank == 3 && X::extent.dim[2] >= 0 && is_floating(X::type); };
template <class L, class X>
concept recurrent_lengths = tensor_expression<L> && requires {
  requires L::rank == 1 && (L::type == dtype::int32 || L::type == dtype::int64) && L::extent.dim[0] == X::extent.dim[0];
};
struct no_lengths {};

// Cells as functions of the inputs of a step and the state, a tuple of tensors of which the last is the output.
template <fixed_string Name, std::int64_t Units>
struct rnn_layer_step {
  static constexpr int states = 1;
  template <class X, class H>
  static constexpr auto run(const X& x, const std::tuple<H>& s, std::uint64_t seed) {
    return std::tuple(basic_rnn_cell<Name, Units>(x, std::get<0>(s), seed));
  }
};
template <fixed_string Name, std::int64_t Units>
struct gru_layer_step {
  static constexpr int states = 1;
  template <class X, class H>
  static constexpr auto run(const X& x, const std::tuple<H>& s, std::uint64_t seed) {
    return std::tuple(gru_cell<Name, Units>(x, std::get<0>(s), seed));
  }
};
template <fixed_string Name, std::int64_t Units>
struct lstm_layer_step {
  static constexpr int states = 2;
  template <class X, class C, class H>
  static constexpr auto run(const X& x, const std::tuple<C, H>& s, std::uint64_t seed) {
    const auto next = lstm_cell<Name, Units, 1.0>(x, lstm_state<C, H>{std::get<0>(s), std::get<1>(s)}, seed);
    return std::tuple(next.c, next.h);
  }
};

template <class X, std::int64_t Units>
using zero_state =
    leaf_tensor<filled_leaf<typename X::element, 0, dims<X::extent[0], Units>>, typename X::element, dims<X::extent[0], Units>>;
template <class Cell, class X, std::int64_t Units>
constexpr auto zero_states() {
  if constexpr (Cell::states == 1) return std::tuple(zero_state<X, Units>{});
  else return std::tuple(zero_state<X, Units>{}, zero_state<X, Units>{});
}

// Steps through x. With lengths, a step past the end of an entry's sequence keeps its state and gives zeros.
template <class Cell, bool Backward, class X, class State, class Lengths>
constexpr auto run_cell(const X& x, const State& state, const Lengths& lengths, std::uint64_t seed) {
  const auto steps = transpose<1, 0, 2>(x);
  const auto run = [](const auto& f, const auto& s, const auto& xs) {
    if constexpr (Backward) return scan_back(f, s, xs);
    else return scan(f, s, xs);
  };
  if constexpr (std::is_same_v<Lengths, no_lengths>) {
    const auto [last, ys] = run(
        [&](const auto& s, const auto& entry) {
          const auto next = Cell::run(entry, s, seed);
          return std::tuple(next, std::get<Cell::states - 1>(next));
        },
        state, steps);
    return std::tuple(transpose<1, 0, 2>(ys), last);
  } else {
    using L = typename Lengths::element;
    using T = typename X::element;
    const auto number = index_of_steps<L, X::extent[1]>();
    const auto [last, ys] = run(
        [&](const auto& s, const auto& entry) {
          const auto next = Cell::run(std::get<0>(entry), s, seed);
          const auto runs = expand_dims<1>(less(std::get<1>(entry), lengths));
          const auto kept = std::apply(
              [&](const auto&... n) {
                return std::apply([&](const auto&... before) { return std::tuple(select(runs, n, before)...); }, s);
              },
              next);
          const auto output = std::get<Cell::states - 1>(next);
          return std::tuple(kept, select(runs, output, constant<T(0)>()));
        },
        state, std::tuple(steps, number));
    return std::tuple(transpose<1, 0, 2>(ys), last);
  }
}

template <class Outputs, class H>
constexpr auto recurrent_result(const std::tuple<Outputs, std::tuple<H>>& r) {
  return recurrent_parts<Outputs, H>{std::get<0>(r), std::get<0>(std::get<1>(r))};
}
template <class Outputs, class C, class H>
constexpr auto recurrent_result(const std::tuple<Outputs, std::tuple<C, H>>& r) {
  return recurrent_parts<Outputs, lstm_state<C, H>>{std::get<0>(r), {std::get<0>(std::get<1>(r)), std::get<1>(std::get<1>(r))}};
}

// The first state, as a layer returns the last one.
template <class S>
inline constexpr bool is_lstm_state = false;
template <class C, class H>
inline constexpr bool is_lstm_state<lstm_state<C, H>> = true;
template <class S, class Cell, class X, std::int64_t Units>
concept first_state = (Cell::states == 1 && cell_state<S, X, Units>) || (Cell::states == 2 && is_lstm_state<S> && requires {
                        requires cell_state<decltype(S::c), X, Units>;
                        requires cell_state<decltype(S::h), X, Units>;
                      });
template <class H>
constexpr auto as_states(const H& h) {
  return std::tuple(h);
}
template <class C, class H>
constexpr auto as_states(const lstm_state<C, H>& s) {
  return std::tuple(s.c, s.h);
}
struct no_state {};
template <class Cell, std::int64_t Units, bool Backward, class X, class State, class Lengths>
constexpr auto run_layer(const X& x, const State& state, const Lengths& lengths, std::uint64_t seed) {
  const auto first = [&] {
    if constexpr (std::is_same_v<State, no_state>) return zero_states<Cell, X, Units>();
    else return as_states(state);
  };
  return recurrent_result(run_cell<Cell, Backward>(x, first(), lengths, seed));
}

}  // namespace detail

#define LEAT_RECURRENT_DIRECTION(function, cell, backward)                                                                               \
  template <fixed_string Name, std::int64_t Units, detail::recurrent_operand X>                                                          \
  constexpr auto function(const X& x, std::uint64_t seed = 0) {                                                                          \
    return detail::run_layer<detail::cell<Name, Units>, Units, backward>(x, detail::no_state{}, detail::no_lengths{}, seed);             \
  }                                                                                                                                      \
  template <fixed_string Name, std::int64_t Units, detail::recurrent_operand X, detail::recurrent_lengths<X> Lengths>                    \
  constexpr auto function(const X& x, const Lengths& lengths, std::uint64_t seed = 0) {                                                  \
    return detail::run_layer<detail::cell<Name, Units>, Units, backward>(x, detail::no_state{}, lengths, seed);                          \
  }                                                                                                                                      \
  template <fixed_string Name, std::int64_t Units, detail::recurrent_operand X,                                                          \
            detail::first_state<detail::cell<Name, Units>, X, Units> State>                                                              \
  constexpr auto function(const X& x, const State& state, std::uint64_t seed = 0) {                                                      \
    return detail::run_layer<detail::cell<Name, Units>, Units, backward>(x, state, detail::no_lengths{}, seed);                          \
  }                                                                                                                                      \
  template <fixed_string Name, std::int64_t Units, detail::recurrent_operand X, detail::recurrent_lengths<X> Lengths,                    \
            detail::first_state<detail::cell<Name, Units>, X, Units> State>                                                              \
  constexpr auto function(const X& x, const Lengths& lengths, const State& state, std::uint64_t seed = 0) {                              \
    return detail::run_layer<detail::cell<Name, Units>, Units, backward>(x, state, lengths, seed);                                       \
  }
#define LEAT_RECURRENT(function, cell, words)                                                                                            \
  LEAT_RECURRENT_DIRECTION(function, cell, false)                                                                                        \
  LEAT_RECURRENT_DIRECTION(function##_back, cell, true)                                                                                  \
  template <fixed_string Name, LEAT_ANY_NUMBER... Units>                                                                                 \
  LEAT_OTHERWISE(words) function(...) LEAT_DELETED;                                                                                      \
  template <fixed_string Name, LEAT_ANY_NUMBER... Units>                                                                                 \
  LEAT_OTHERWISE(words) function##_back(...) LEAT_DELETED
#define LEAT_RECURRENT_WORDS(function)                                                                                                   \
  #function                                                                                                                              \
      "<name, units>(x, lengths, state, seed) takes sequences of floating point [batch, time, inputs] with a size as inputs, then "       \
      "perhaps lengths [batch] of int32 or int64, then perhaps the first state, like the one that it returns; name and units are "       \
      "template arguments: <\"rnn/cell\", 64>"

/// A layer of the simplest cells: `auto [outputs, h] = rnn<"rnn/basic_rnn_cell", 64>(x)`, from a state of zeros, or from one that is given:
/// `rnn<...>(x, h0)`. With `lengths` [batch], `rnn<...>(x, lengths)` or `rnn<...>(x, lengths, h0)`, an entry's state stays as it is after
/// its last step, and its outputs are zeros. `rnn_back` goes from the last step to the first.
/// Variables: those of `basic_rnn_cell`. Shapes: x [batch, time, inputs], batch and time perhaps named; outputs [batch, time, Units], h
/// [batch, Units]. Dtypes: floating point. Source: TensorFlow `nn.dynamic_rnn` of `BasicRNNCell`.
LEAT_RECURRENT(rnn, rnn_layer_step, LEAT_RECURRENT_WORDS(rnn));
/// A layer of gated recurrent units: `auto [outputs, h] = gru<"rnn/gru_cell", 64>(x)`. Variables: those of `gru_cell`. Otherwise as `rnn`.
/// Source: TensorFlow `nn.dynamic_rnn` of `GRUCell`.
LEAT_RECURRENT(gru, gru_layer_step, LEAT_RECURRENT_WORDS(gru));
/// A layer with long short-term memory: `auto [outputs, state] = lstm<"rnn/basic_lstm_cell", 64>(x)`, where `state` is an `lstm_state`,
/// as is a given first one. Variables: those of `lstm_cell`, of forget bias 1. Otherwise as `rnn`. Source: TensorFlow `nn.dynamic_rnn` of
/// `BasicLSTMCell`.
LEAT_RECURRENT(lstm, lstm_layer_step, LEAT_RECURRENT_WORDS(lstm));
#undef LEAT_RECURRENT
#undef LEAT_RECURRENT_DIRECTION
#undef LEAT_RECURRENT_WORDS

}  // namespace leat
