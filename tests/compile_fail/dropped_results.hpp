#pragma once
// A session, for programs that drop what they should give to it. They include <leat/leat.hpp> first, which g++ reads compiled.

// As our own build has it: what is dropped is a warning that ends the compilation.
#pragma GCC diagnostic error "-Wunused-result"

using namespace leat;

inline const auto w = variable<"w", float>(1.0f);
inline const auto scale = parameter<"scale">(1.0f);
inline const auto y = scale * w * w;
inline const auto set = assign(w, 5.0f);
inline session s{y, set};
