// matmul_512: the product of two matrices [512, 512].

#include <leat/leat.hpp>
#include <xtensor/xadapt.hpp>

#include "../rivals/products.hpp"
#include "cases.hpp"
#include "suite.hpp"

namespace bench {

void matmul(suite& cases) {
  on_one_and_two_threads(cases, "matmul_512", [&](const std::string& name) {
    constexpr long size = 512;
    const matmul_data data(size);
    const std::array<std::size_t, 2> shape{size, size};
    const auto as = xt::adapt(data.a.data(), data.a.size(), xt::no_ownership(), shape);
    const auto bs = xt::adapt(data.b.data(), data.b.size(), xt::no_ownership(), shape);
    buffer results(data.a.size());
    auto out = xt::adapt(results.data(), results.size(), xt::no_ownership(), shape);

    auto a = leat::placeholder<"a", float, size, size>();
    auto b = leat::placeholder<"b", float, size, size>();
    auto product = leat::matmul(a, b);
    leat::session s{product};
    auto step = s.prepare(leat::fetch(leat::into(product, out)), a = as, b = bs);
    const auto ours = contend(
        "leat", [] {}, [&] { step(); }, [&] { return joined(results); });

    matmul_library<onednn_product> onednn(data);
    matmul_library<openblas_product> openblas(data);
    matmul_eigen eigen(data);
    cases.compare(name, 1e-5, ours, {rival("oneDNN", onednn), rival("OpenBLAS", openblas), rival("Eigen", eigen)});
  });
}

}  // namespace bench
