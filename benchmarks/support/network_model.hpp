#pragma once
// The network of rivals/network.hpp as expressions, with its arrays, and as a contender: a compiled session, prepared once.

#include "../rivals/network.hpp"

#include <leat/leat.hpp>
#include <xtensor/xadapt.hpp>

#include "contender.hpp"

namespace bench {

/// Its placeholders and variables.
struct network_leaves {
  static constexpr auto x = leat::placeholder<"x", float, network_batch, 784>();
  static constexpr auto y = leat::placeholder<"y", std::int32_t, network_batch>();
  static constexpr auto w1 = leat::variable<"w1", float, 784, 256>(leat::zeros);
  static constexpr auto b1 = leat::variable<"b1", float, 256>(leat::zeros);
  static constexpr auto w2 = leat::variable<"w2", float, 256, 128>(leat::zeros);
  static constexpr auto b2 = leat::variable<"b2", float, 128>(leat::zeros);
  static constexpr auto w3 = leat::variable<"w3", float, 128, 10>(leat::zeros);
  static constexpr auto b3 = leat::variable<"b3", float, 10>(leat::zeros);
};

constexpr auto network_loss() {
  using of = network_leaves;
  const auto hidden1 = relu(matmul(of::x, of::w1) + of::b1);
  const auto hidden2 = relu(matmul(hidden1, of::w2) + of::b2);
  const auto logits = matmul(hidden2, of::w3) + of::b3;
  return reduce_mean(sparse_softmax_cross_entropy_with_logits(of::y, logits));
}

/// What is fed, and what training starts from; the biases start at zero.
struct network_arrays {
  using matrix = xt::xtensor<float, 2>;
  explicit network_arrays(const network_data& data)
      : x(matrix_of(data.images, network_batch, network_widths[0])),
        labels(xt::adapt(data.labels)),
        start1(matrix_of(data.kernels[0], 784, 256)),
        start2(matrix_of(data.kernels[1], 256, 128)),
        start3(matrix_of(data.kernels[2], 128, 10)) {}
  matrix x;
  xt::xtensor<std::int32_t, 1> labels;
  matrix start1, start2, start3;

 private:
  static matrix matrix_of(const buffer& values, long rows, long columns) { return matrix(xt::adapt(values.data(), {rows, columns})); }
};

/// Calls `body(contender)` with a compiled session that trains; its result is the loss of the last step, and the variables.
template <class Train, class Body>
void with_compiled_network(std::string name, const network_arrays& in, const Train& train, Body body) {
  using of = network_leaves;
  const auto loss = network_loss();
  leat::session s{loss, train};
  s.initialize();
  float last_loss = 0;
  auto step = s.prepare(leat::fetch(loss, train), of::x = in.x, of::y = in.labels);
  body(contend(
      std::move(name),
      [&] {
        s.initialize();
        s.assign(of::w1, in.start1);
        s.assign(of::w2, in.start2);
        s.assign(of::w3, in.start3);
      },
      [&] { last_loss = std::get<0>(step()); },
      [&] {
        return joined(std::vector<float>{last_loss}, s.value(of::w1), s.value(of::b1), s.value(of::w2), s.value(of::b2), s.value(of::w3),
                      s.value(of::b3));
      }));
}

}  // namespace bench
