// Two optimizers that keep powers of their settings, in one session.
// expect: two variables named \"beta1_power\": float32 [] and float32 []
// expect: make one, auto optimizer = adam(0.1f), and minimize by it
#include <leat/leat.hpp>

#include "linear_model.hpp"

int main() {
#ifdef LEAT_FIXED
  auto optimizer = adam(0.1f);
  session s{optimizer.minimize(loss), optimizer.minimize(l2_loss(w))};
#else
  auto a = adam(0.1f).minimize(loss);
  auto b = adam(0.2f).minimize(l2_loss(w));
  session s{a, b};  // ERROR HERE
#endif
}
