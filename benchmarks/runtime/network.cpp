// network_sgd, network_adam: one training step of a 784-256-128-10 network on 64 images, feeds and fetch of the loss
// included.

#include "../rivals/network.hpp"

#include <leat/leat.hpp>
#include <xtensor/xadapt.hpp>

#include "cases.hpp"
#include "suite.hpp"

namespace bench {
namespace {

template <class Optimizer, class Compare>
void with_our_network(const network_data& data, Optimizer optimizer, Compare compare) {
  using namespace leat;
  using kernel = xt::xtensor<float, 2>;
  const auto matrix = [](const buffer& values, long rows, long columns) {
    return kernel(xt::adapt(values.data(), {rows, columns}));
  };
  const kernel xs = matrix(data.images, network_batch, network_widths[0]);
  const xt::xtensor<std::int32_t, 1> labels = xt::adapt(data.labels);
  const kernel start1 = matrix(data.kernels[0], 784, 256), start2 = matrix(data.kernels[1], 256, 128),
               start3 = matrix(data.kernels[2], 128, 10);
  float last_loss = 0;

  auto x = placeholder<"x", float, network_batch, 784>();
  auto y = placeholder<"y", std::int32_t, network_batch>();
  auto w1 = variable<"w1", float, 784, 256>(zeros);
  auto b1 = variable<"b1", float, 256>(zeros);
  auto w2 = variable<"w2", float, 256, 128>(zeros);
  auto b2 = variable<"b2", float, 128>(zeros);
  auto w3 = variable<"w3", float, 128, 10>(zeros);
  auto b3 = variable<"b3", float, 10>(zeros);
  auto hidden1 = relu(matmul(x, w1) + b1);
  auto hidden2 = relu(matmul(hidden1, w2) + b2);
  auto logits = matmul(hidden2, w3) + b3;
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(y, logits));
  auto train = optimizer.minimize(loss);
  session s{loss, train};
  s.initialize();
  auto step = s.prepare(fetch(loss, train), x = xs, y = labels);

  compare(contend(
      "leat",
      [&] {
        s.initialize();
        s.assign(w1, start1);
        s.assign(w2, start2);
        s.assign(w3, start3);
      },
      [&] { last_loss = std::get<0>(step()); },
      [&] {
        return joined(std::vector<float>{last_loss}, s.value(w1), s.value(b1), s.value(w2), s.value(b2), s.value(w3),
                      s.value(b3));
      }));
}

}  // namespace

void network(suite& cases) {
  on_one_and_two_threads(cases, "network_sgd", [&](const std::string& name) {
    const network_data data;
    network_by_hand<onednn_product, sgd_rule, true> onednn(data);
    network_by_hand<openblas_product, sgd_rule, true> openblas_folded(data);
    network_by_hand<openblas_product, sgd_rule, false> openblas(data);
    network_eigen<false> eigen(data);
    with_our_network(data, leat::gradient_descent(sgd_rate), [&](const contender& ours) {
      cases.compare(name, 1e-4, ours,
                    {rival("C++ oneDNN, folded", onednn), rival("C++ OpenBLAS, folded", openblas_folded),
                     rival("C++ OpenBLAS", openblas), rival("Eigen", eigen)});
    });
  });
  on_one_and_two_threads(cases, "network_adam", [&](const std::string& name) {
    const network_data data;
    network_by_hand<onednn_product, adam_rule, false> onednn(data);
    network_by_hand<openblas_product, adam_rule, false> openblas(data);
    network_eigen<true> eigen(data);
    with_our_network(data, leat::adam(adam_rate), [&](const contender& ours) {
      cases.compare(name, 1e-3, ours,
                    {rival("C++ oneDNN", onednn), rival("C++ OpenBLAS", openblas), rival("Eigen", eigen)});
    });
  });
}

}  // namespace bench
