// A residual network of LAYERS dense layers, trained by Adam: one fetch list. With PLANNED the session plans its programs when it is made.
#include <leat/leat.hpp>

#ifdef PLANNED
#include <leat/planned.hpp>
#endif

#include <cstdio>

#ifndef LAYERS
#define LAYERS 24
#endif

using namespace leat;

template <int I>
constexpr fixed_string<9> layer_name() {
  fixed_string<9> name{"layer000"};
  name.text[5] = static_cast<char>('0' + I / 100);
  name.text[6] = static_cast<char>('0' + I / 10 % 10);
  name.text[7] = static_cast<char>('0' + I % 10);
  return name;
}
template <int I, class H>
auto layers(const H& h) {
  if constexpr (I == LAYERS)
    return h;
  else
    return layers<I + 1>(h + relu(dense<layer_name<I>(), 32>(h)));
}

int main() {
  auto x = placeholder<"x", float, "batch", 32>();
  auto y = placeholder<"y", float, "batch", 32>();
  auto h = layers<0>(x);
  auto loss = reduce_mean(square(h - y));
  auto train = adam(0.001f).minimize(loss);
#ifdef PLANNED
  planned_session s{loss, train};
#else
  session s{loss, train};
#endif
  s.initialize();
  const xt::xtensor<float, 2> xs = xt::ones<float>({16, 32});
  for (int i = 0; i < 10; ++i) {
    auto [l] = s.run(fetch(loss, train), x = xs, y = xs);
    std::printf("%.9g\n", static_cast<double>(l));
  }
}
