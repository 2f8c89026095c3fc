// A setting of an optimizer that is no number.
// expect: gradient_descent(rate) takes numbers, parameters such as parameter<\"rate\">(0.1f), or other scalar tensors
// expect-clang: takes numbers, parameters
#include <leat/leat.hpp>

#include "linear_model.hpp"

int main() {
#ifdef LEAT_FIXED
  auto t = gradient_descent(parameter<"rate">(0.1f)).minimize(loss);
#else
  auto t = gradient_descent(w).minimize(loss);  // ERROR HERE
#endif
}
