// network_sgd, network_adam: one training step of a 784-256-128-10 network on 64 images, feeds and fetch of the loss
// included.

#include "cases.hpp"
#include "network_model.hpp"
#include "suite.hpp"

namespace bench {

void network(suite& cases) {
  on_one_and_two_threads(cases, "network_sgd", [&](const std::string& name) {
    const network_data data;
    network_by_hand<onednn_product, sgd_rule, true> onednn(data);
    network_by_hand<openblas_product, sgd_rule, true> openblas_folded(data);
    network_by_hand<openblas_product, sgd_rule, false> openblas(data);
    network_eigen<false> eigen(data);
    const auto train = leat::gradient_descent(sgd_rate).minimize(network_loss());
    with_compiled_network("leat", network_arrays(data), train, [&](const contender& ours) {
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
    const auto train = leat::adam(adam_rate).minimize(network_loss());
    with_compiled_network("leat", network_arrays(data), train, [&](const contender& ours) {
      cases.compare(name, 1e-3, ours,
                    {rival("C++ oneDNN", onednn), rival("C++ OpenBLAS", openblas), rival("Eigen", eigen)});
    });
  });
}

}  // namespace bench
