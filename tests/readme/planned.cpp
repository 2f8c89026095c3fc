// A planned session, as docs/compiling.md shows it: the calls of a compiled one.

// [listing planned_includes]
#include <leat/leat.hpp>
#include <leat/planned.hpp>

#include <cstdio>
// [end]

using namespace leat;
using namespace leat::literals;

int main() {
  // [listing planned]
  auto x = placeholder<"x", float, "batch", 2>();
  auto y = placeholder<"y", float, "batch">();
  auto hidden = relu(dense<"hidden", 8>(x, 1));
  auto loss = reduce_mean(square(squeeze<1>(dense<"output", 1>(hidden, 2)) - y));
  auto train = adam(0.05f).minimize(loss);

  planned_session s{loss, train};
  s.initialize();
  const xt::xtensor<float, 2> xs{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  const xt::xtensor<float, 1> ys{0, 1, 1, 0};
  auto [before] = s.run(fetch(loss), x = xs, y = ys);
  for (int i = 0; i < 300; ++i) s.run(fetch(train), x = xs, y = ys);
  auto [after] = s.run(fetch(loss), x = xs, y = ys);
  // [end]
  const bool learned = after < before / 2;
  std::printf("%s\n", learned ? "the loss is less than half of what it was" : "nothing was learned");
  return learned ? 0 : 1;
}
