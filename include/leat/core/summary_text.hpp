#pragma once
// The first elements of an array as text, as TensorFlow prints them: for `print`, checks and logs.

#include <leat/core/dtype.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/shape.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace leat {

/// Text such as "[1 2.5 3...]" with the first `most` elements, or all if `most` is negative; `element(i)` is the text of element i. A
/// scalar has no brackets. Source: TensorFlow `Tensor::SummarizeValue`.
std::string summary_text(const shape& extent, std::int64_t most, const std::function<std::string(std::int64_t)>& element);
/// Element `i` of an array as text, "2.5", with six significant digits; a bool is 0 or 1.
std::string element_text(dtype type, const void* elements, std::int64_t i);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/core/impl/summary_text.hpp>
#endif
