#pragma once
// Implementation of gradient_of.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/session/gradient_of.hpp>

namespace leat::detail {

LEAT_FUNCTION std::vector<output> gradients_for(const std::vector<output>& ys, const std::vector<output>& xs) {
  for (std::size_t k = 0; k < xs.size(); ++k)
    if (xs[k].type() != dtype::float32 && xs[k].type() != dtype::float64)
      throw invalid_argument("gradient_of: argument " + std::to_string(k) + " of those asked for is " + dtype_name(xs[k].type()) +
                             ", which has no gradient: name the arguments that have, as in gradient_of<0>(f)");
  std::vector<output> made = gradients(ys, xs);
  for (std::size_t k = 0; k < made.size(); ++k)
    if (!static_cast<bool>(made[k])) made[k] = zeros_like(xs[k]);
  return made;
}

LEAT_FUNCTION void append_results(std::vector<output>& list, const std::vector<output>& os) {
  list.insert(list.end(), os.begin(), os.end());
}

}  // namespace leat::detail
