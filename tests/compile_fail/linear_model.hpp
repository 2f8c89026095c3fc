#pragma once
// A linear model, for programs that must not compile. They include <leat/leat.hpp> first, which g++ reads compiled.

using namespace leat;
using namespace leat::literals;

inline const auto x = placeholder<"x", float, "batch", 2>();
inline const auto w = variable<"w", float, 2, 1>(zeros);
inline const auto loss = reduce_mean(square(matmul(x, w)));
