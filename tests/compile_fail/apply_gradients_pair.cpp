// A gradient paired with a variable of another shape, among several pairs.
// expect: apply_gradients: the gradient has not the dtype and shape of the variable
// expect: float32 [3]
// expect: float32 [4]
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto w = variable<"w", float, 3>(zeros);
  auto v = variable<"v", float, 4>(zeros);
  auto loss = reduce_sum(square(w)) + reduce_sum(square(v));
  auto [dw, dv] = gradients(loss, w, v);
  auto optimizer = gradient_descent(0.1f);
#ifdef LEAT_FIXED
  auto train = optimizer.apply_gradients(with_variable(dv, v), with_variable(dw, w));
#else
  auto train = optimizer.apply_gradients(with_variable(dv, v), with_variable(dw, v));  // ERROR HERE
#endif
  session s{train};
}
