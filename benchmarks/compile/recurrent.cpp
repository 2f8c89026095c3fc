// A GRU unrolled STEPS times over rows of 16 numbers, trained by Adam; with LISTS sets of fetches. With PLANNED the session plans its
// programs when it is made.
#include <leat/leat.hpp>

#ifdef PLANNED
#include <leat/planned.hpp>
#endif

#include <cstdio>

#ifndef STEPS
#define STEPS 8
#endif
#ifndef LISTS
#define LISTS 1
#endif

using namespace leat;
using namespace leat::literals;

constexpr int units = 32;

template <int T, class X, class H, class Gates, class Candidate>
auto unroll(const X& x, const H& h, const Gates& gates, const Candidate& candidate) {
  if constexpr (T == STEPS) {
    return h;
  } else {
    const auto now = squeeze<1>(slice<begins<0, T, 0>, sizes<-1, 1, -1>>(x));
    const auto both = sigmoid(matmul(concat<1>(now, h), gates));
    const auto reset = slice<begins<0, 0>, sizes<-1, units>>(both);
    const auto update = slice<begins<0, units>, sizes<-1, units>>(both);
    const auto proposed = tanh(matmul(concat<1>(now, reset * h), candidate));
    return unroll<T + 1>(x, update * h + (1_c - update) * proposed, gates, candidate);
  }
}

int main() {
  auto x = placeholder<"x", float, "batch", STEPS, 16>();
  auto y = placeholder<"y", float, "batch">();
  auto gates = variable<"gates", float, 16 + units, 2 * units>(glorot_uniform(1));
  auto candidate = variable<"candidate", float, 16 + units, units>(glorot_uniform(2));
  auto head = variable<"head", float, units, 1>(glorot_uniform(3));
  auto start = matmul(slice<begins<0, 0>, sizes<-1, 1>>(squeeze<1>(slice<begins<0, 0, 0>, sizes<-1, 1, -1>>(x))), constant<0.0f, 1, units>());
  auto last = unroll<0>(x, start, gates, candidate);
  auto prediction = squeeze<1>(matmul(last, head));
  auto loss = reduce_mean(square(prediction - y));
  auto train = adam(0.001f).minimize(loss);
#ifdef PLANNED
  planned_session s{loss, prediction, train};
#else
  session s{loss, prediction, train};
#endif
  s.initialize();
  const xt::xtensor<float, 3> xs = xt::ones<float>({8, STEPS, 16});
  const xt::xtensor<float, 1> ys = xt::ones<float>({8});
  for (int i = 0; i < 10; ++i) {
    auto [l] = s.run(fetch(loss, train), x = xs, y = ys);
    std::printf("%.9g\n", static_cast<double>(l));
  }
#if LISTS > 1
  auto [only] = s.run(fetch(loss), x = xs, y = ys);
  std::printf("%.9g\n", static_cast<double>(only));
#endif
#if LISTS > 2
  auto [predicted] = s.run(fetch(prediction), x = xs);
  std::printf("%.9g\n", static_cast<double>(predicted(0)));
#endif
}
