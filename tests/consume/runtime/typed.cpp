// A typed session, planned when it is made.
#include <leat/leat.hpp>
#include <leat/planned.hpp>

float planned_loss() {
  using namespace leat;
  auto x = placeholder<"x", float, 2>();
  auto w = variable<"w", float>(1.0f);
  auto loss = reduce_sum(square(w * x - 1.0f));
  auto train = gradient_descent(0.05f).minimize(loss);
  planned_session s{loss, train};
  s.initialize();
  const xt::xtensor<float, 1> xs{1, 2};
  for (int i = 0; i < 10; ++i) s.run(fetch(train), x = xs);
  auto [l] = s.run(fetch(loss), x = xs);
  return l;
}
