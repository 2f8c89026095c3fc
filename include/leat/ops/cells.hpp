#pragma once
// What one step of a recurrent cell computes. Cells of typed programs (train/cells.hpp) and of graphs with names (named/recurrent) are this
// text: `Math` has the operators, and in graphs with names gives nodes their names and their order. Source: TensorFlow 1.x `nn.rnn_cell`;
// Hochreiter and Schmidhuber, "Long short-term memory"; Cho et al., "Learning phrase representations using RNN encoder-decoder".

#include <utility>

namespace leat::detail {

/// A cell with long short-term memory: c' = σ(f) c + σ(i) activation(j) and h' = σ(o) activation(c'), where i, j, f and o are the parts of
/// the weighted inputs, and `before` is c. The gates of `math` are σ; that of f has the forget bias.
template <class Math, class I, class J, class F, class O, class C>
constexpr auto lstm_formula(const Math& math, const I& i, const J& j, const F& f, const O& o, const C& before) {
  const auto forget = math.forget_gate(f, before);
  const auto kept = math.keep(forget, before);
  const auto entering = math.input_gate(i, before);
  const auto c = math.limited(math.add(kept, math.multiply(entering, math.activated(j))));
  return std::pair(c, math.show([&] { return math.output_gate(o, c); }, [&] { return math.activated(c); }));
}

/// A gated recurrent unit: u h + (1 - u) candidate(r h), with the gates r and u.
template <class Math, class R, class U, class H, class Candidate>
constexpr auto gru_formula(const Math& math, const R& r, const U& u, const H& h, Candidate candidate) {
  const auto fresh = candidate(math.multiply(r, h));
  const auto kept = math.multiply(u, h);
  const auto rest = math.rest_of(u);
  return math.add(kept, math.multiply(rest, fresh));
}

}  // namespace leat::detail
