#pragma once
// Cells of recurrent networks for typed programs: functions of the inputs and the state of one step, which a program calls once for each
// step of a sequence, in a loop of its own:
//
//   lstm_state state{zero, zero};
//   auto [c1, h1] = lstm_cell<"rnn/lstm_cell", 128>(x1, state);
//   auto [c2, h2] = lstm_cell<"rnn/lstm_cell", 128>(x2, lstm_state{c1, h1});   // with the same variables
//
// Variables have TensorFlow's names. Formulas: ops/cells.hpp.

#include <leat/ops/bias_add.hpp>
#include <leat/ops/cells.hpp>
#include <leat/ops/functions.hpp>
#include <leat/ops/linalg.hpp>
#include <leat/ops/splits.hpp>
#include <leat/ops/state.hpp>
#include <leat/train/optimizer.hpp>

#include <tuple>

namespace leat {

/// The state of a cell with long short-term memory, each [batch, units]. `h` is also the step's output.
template <tensor_expression C, tensor_expression H>
struct lstm_state {
  C c;  // the cell state
  H h;  // the output
};

namespace detail {

template <class X>
concept cell_operand = tensor_expression<X> && requires { requires X::rank == 2 && X::extent.dim[1] >= 0 && is_floating(X::type); };
template <class H, class X, std::int64_t Units>
concept cell_state = tensor_expression<H> && requires {
  requires H::rank == 2 && H::type == X::type&& H::extent.dim[1] == Units&& H::extent.dim[0] == X::extent.dim[0];
};

/// The operators of cells of typed programs.
template <class T>
struct cell_math {
  template <class A, class B>
  static constexpr auto add(const A& a, const B& b) {
    return a + b;
  }
  template <class A, class B>
  static constexpr auto multiply(const A& a, const B& b) {
    return a * b;
  }
  template <class X>
  static constexpr auto activated(const X& x) {
    return leat::tanh(x);
  }
  template <class U>
  static constexpr auto rest_of(const U& u) {
    return constant<T(1)>() - u;
  }
};
template <class T, double ForgetBias>
struct lstm_math : cell_math<T> {
  template <class F, class C>
  static constexpr auto forget_gate(const F& f, const C&) {
    return sigmoid(f + constant<static_cast<T>(ForgetBias)>());
  }
  template <class F, class C>
  static constexpr auto keep(const F& forget, const C& c) {
    return forget * c;
  }
  template <class I, class C>
  static constexpr auto input_gate(const I& i, const C&) {
    return sigmoid(i);
  }
  template <class O, class C>
  static constexpr auto output_gate(const O& o, const C&) {
    return sigmoid(o);
  }
  template <class C>
  static constexpr auto limited(const C& c) {
    return c;
  }
  template <class Gate, class Activated>
  static constexpr auto show(Gate gate, Activated activated) {
    return gate() * activated();
  }
};

/// The gates of a cell also see its memory: those of i and f the memory before the step, that of o the memory after it.
template <class T, double ForgetBias, class F, class I, class O>
struct peephole_lstm_math : lstm_math<T, ForgetBias> {
  F see_f;
  I see_i;
  O see_o;
  constexpr peephole_lstm_math(const F& f, const I& i, const O& o) : see_f(f), see_i(i), see_o(o) {}
  template <class G, class C>
  constexpr auto forget_gate(const G& f, const C& c) const {
    return sigmoid(f + constant<static_cast<T>(ForgetBias)>() + see_f * c);
  }
  template <class G, class C>
  constexpr auto input_gate(const G& i, const C& c) const {
    return sigmoid(i + see_i * c);
  }
  template <class G, class C>
  constexpr auto output_gate(const G& o, const C& c) const {
    return sigmoid(o + see_o * c);
  }
};

// Inputs and state side by side, times a kernel, plus a bias, which are variables called `Name/Part/kernel` and `Name/Part/bias`.
template <fixed_string Name, std::int64_t Width, class X, class H, class Bias>
constexpr auto weighted(const X& x, const H& h, std::uint64_t seed, const Bias& initial) {
  using T = typename X::element;
  const auto kernel = make_variable<name_of<Name / "kernel">, T, dims<X::extent[1] + H::extent[1], Width>, true>(glorot_uniform(seed));
  const auto bias = make_variable<name_of<Name / "bias">, T, dims<Width>, true>(initial);
  return bias_add(matmul(concat<1>(x, h), kernel), bias);
}

}  // namespace detail

/// One step of the simplest cell: the next state, which is also its output, tanh([x, h] kernel + bias): `auto h1 =
/// basic_rnn_cell<"rnn/basic_rnn_cell", 64>(x, h0)`. Variables: `Name/kernel` [inputs + Units, Units] (Glorot uniform by `seed`),
/// `Name/bias` [Units] (zeros). Shapes: x [batch, inputs], h [batch, Units]; result as h. Dtypes: floating point, the same for both.
/// Source: TensorFlow `BasicRNNCell`.
template <fixed_string Name, std::int64_t Units, detail::cell_operand X, detail::cell_state<X, Units> H>
constexpr auto basic_rnn_cell(const X& x, const H& h, std::uint64_t seed = 0) {
  return tanh(detail::weighted<Name, Units>(x, h, seed, zeros));
}

/// One step of a gated recurrent unit: the next state, which is also its output, u h + (1 - u) tanh([x, r h] candidate), with the gates r
/// and u, sigmoids of [x, h] gates: `auto h1 = gru_cell<"rnn/gru_cell", 64>(x, h0)`. Variables: `Name/gates/kernel` [inputs + Units, 2
/// Units], `Name/gates/bias` (ones), `Name/candidate/kernel` [inputs + Units, Units], `Name/candidate/bias` (zeros); kernels Glorot uniform
/// by `seed`. Shapes, dtypes: as `basic_rnn_cell`. Source: TensorFlow `GRUCell`.
template <fixed_string Name, std::int64_t Units, detail::cell_operand X, detail::cell_state<X, Units> H>
constexpr auto gru_cell(const X& x, const H& h, std::uint64_t seed = 0) {
  const auto gates = sigmoid(detail::weighted<Name / "gates", 2 * Units>(x, h, seed, ones));
  const auto [reset, update] = split<1, 2>(gates);
  return detail::gru_formula(detail::cell_math<typename X::element>{}, reset, update, h, [&](const auto& remembered) {
    return tanh(detail::weighted<Name / "candidate", Units>(x, remembered, seed, zeros));
  });
}

/// One step of a cell with long short-term memory: c' = σ(f + ForgetBias) c + σ(i) tanh(j), h' = σ(o) tanh(c'), where i, j, f and o are the
/// four parts of [x, h] kernel + bias: `auto [c1, h1] = lstm_cell<"rnn/lstm_cell", 64>(x, lstm_state{c0, h0})`. The step's output is h'.
/// Variables: `Name/kernel` [inputs + Units, 4 Units] (Glorot uniform by `seed`), `Name/bias` [4 Units] (zeros). Shapes: x [batch, inputs],
/// c and h [batch, Units]. Dtypes: floating point, the same for all. Source: TensorFlow `LSTMCell`, and `BasicLSTMCell` by another name.
template <fixed_string Name, std::int64_t Units, double ForgetBias = 1.0, detail::cell_operand X, detail::cell_state<X, Units> C,
          detail::cell_state<X, Units> H>
constexpr auto lstm_cell(const X& x, const lstm_state<C, H>& state, std::uint64_t seed = 0) {
  const auto [i, j, f, o] = split<1, 4>(detail::weighted<Name, 4 * Units>(x, state.h, seed, zeros));
  const auto [c, h] = detail::lstm_formula(detail::lstm_math<typename X::element, ForgetBias>{}, i, j, f, o, state.c);
  return lstm_state<std::remove_const_t<decltype(c)>, std::remove_const_t<decltype(h)>>{c, h};
}

/// `lstm_cell` whose gates also see the memory, each element by a weight of its own: σ(f + ForgetBias + w_f c), σ(i + w_i c) and
/// σ(o + w_o c'). Variables: those of `lstm_cell`, and `Name/w_f_diag`, `Name/w_i_diag`, `Name/w_o_diag` [Units] (Glorot uniform by
/// `seed`). Shapes, dtypes: as `lstm_cell`. Source: TensorFlow `LSTMCell` with `use_peepholes`.
template <fixed_string Name, std::int64_t Units, double ForgetBias = 1.0, detail::cell_operand X, detail::cell_state<X, Units> C,
          detail::cell_state<X, Units> H>
constexpr auto peephole_lstm_cell(const X& x, const lstm_state<C, H>& state, std::uint64_t seed = 0) {
  using T = typename X::element;
  const auto see_f = detail::make_variable<name_of<Name / "w_f_diag">, T, dims<Units>, true>(glorot_uniform(seed));
  const auto see_i = detail::make_variable<name_of<Name / "w_i_diag">, T, dims<Units>, true>(glorot_uniform(seed));
  const auto see_o = detail::make_variable<name_of<Name / "w_o_diag">, T, dims<Units>, true>(glorot_uniform(seed));
  const auto [i, j, f, o] = split<1, 4>(detail::weighted<Name, 4 * Units>(x, state.h, seed, zeros));
  using math = detail::peephole_lstm_math<T, ForgetBias, std::remove_const_t<decltype(see_f)>, std::remove_const_t<decltype(see_i)>,
                                          std::remove_const_t<decltype(see_o)>>;
  const auto [c, h] = detail::lstm_formula(math(see_f, see_i, see_o), i, j, f, o, state.c);
  return lstm_state<std::remove_const_t<decltype(c)>, std::remove_const_t<decltype(h)>>{c, h};
}

#define LEAT_CELL_OTHERWISE(function, words)                                                                     \
  template <fixed_string Name, LEAT_ANY_NUMBER... Units>                                                         \
  LEAT_OTHERWISE(#function "<name, units>(x, " words                                                             \
                           ") takes inputs [batch, inputs] of floating point and a state [batch, units] of the " \
                           "same dtype; name and units are template arguments: <\"rnn/cell\", 64>")              \
  function(...) LEAT_DELETED
LEAT_CELL_OTHERWISE(basic_rnn_cell, "h");
LEAT_CELL_OTHERWISE(gru_cell, "h");
LEAT_CELL_OTHERWISE(lstm_cell, "lstm_state{c, h}");
LEAT_CELL_OTHERWISE(peephole_lstm_cell, "lstm_state{c, h}");
#undef LEAT_CELL_OTHERWISE

}  // namespace leat
