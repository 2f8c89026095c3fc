// A graph of NODES typed nodes, one session and one run. SHAPE says how they hang together: chain, each node using the
// one before it; shared, h = h * h + h, where nearly all are used three times; gradient, a chain and the gradient of
// its sum. The recursion halves the number, so that the depth of instantiation measured is the library's and not this
// program's.
#include <leat/leat.hpp>
#include <xtensor/xbuilder.hpp>

#include <cstdio>

template <int Levels, class Step, class E>
constexpr auto repeat(Step step, E h) {
  if constexpr (Levels == 0) return h;
  else if constexpr (Levels == 1) return step(h);
  else return repeat<Levels - Levels / 2>(step, repeat<Levels / 2>(step, h));
}

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, 64, 256>();
  auto y = placeholder<"y", float, 64, 256>();
  constexpr int levels = NODES / 2;  // two nodes each
#if defined(SHARED)
  auto result = repeat<levels>([](auto h) { return h * h + h; }, x * y);
#else
  auto result = repeat<levels>([=](auto h) { return tanh(h * y); }, x);
#endif
#if defined(GRADIENT)
  auto [fetched] = gradients(reduce_sum(result), x);
#else
  auto fetched = result;
#endif
  session s{fetched};
  const xt::xtensor<float, 2> xs = xt::ones<float>({64, 256}), ys = 0.5f * xs;
  auto [values] = s.run(fetch(fetched), x = xs, y = ys);
  std::printf("%g\n", static_cast<double>(values(0, 0)));
}
