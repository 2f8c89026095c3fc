// softmax: of each row of a matrix [4096, 1024].

#include "../rivals/softmax.hpp"

#include <leat/leat.hpp>

#include "cases.hpp"
#include "suite.hpp"

namespace bench {

void softmax(suite& cases) {
  on_one_and_two_threads(cases, "softmax", [&](const std::string& name) {
    const matrix_data data;
    const auto xs = xt::adapt(data.x.data(), data.x.size(), xt::no_ownership(), data.shape);
    buffer results(data.x.size());
    auto out = xt::adapt(results.data(), results.size(), xt::no_ownership(), data.shape);

    auto x = leat::placeholder<"x", float, reduction_rows, reduction_columns>();
    auto probabilities = leat::softmax<-1>(x);
    leat::session s{probabilities};
    auto step = s.prepare(leat::fetch(leat::into(probabilities, out)), x = xs);
    const auto ours = contend(
        "leat", [] {}, [&] { step(); }, [&] { return joined(results); });

    softmax_loop loop(data);
    softmax_eigen eigen(data);
    softmax_onednn onednn(data);
    copy_limit copying(data);
    cases.compare(
        name, 1e-5, ours,
        {rival("C++ loop", loop), rival("Eigen", eigen), rival("oneDNN", onednn), limit("memcpy", std::ref(copying))});
  });
}

}  // namespace bench
