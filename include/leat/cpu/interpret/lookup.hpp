#pragma once
// Looks up the functions of operators and reductions by code, converts immediates to bytes, and throws the errors of programs that cannot
// run.

#include <leat/core/error.hpp>
#include <leat/cpu/interpret/registry.hpp>
#include <leat/graph/operator.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

namespace leat::cpu::detail {

[[noreturn]] inline void damaged_program(const char* what) {
  throw invalid_argument(std::string("the program cannot be run: ") + what);
}
[[noreturn]] inline void no_function(int code, dtype result, const dtype* in, int count) {
  std::string name = "number " + std::to_string(code);
  for (std::string_view type : known_operator_types())
    if (code_of_type(type) == code) name = std::string(type);
  std::string text = "the operator " + name + " has no function from ";
  for (int k = 0; k < count; ++k) text += (k > 0 ? ", " : "") + std::string(name_of_dtype(in[k]));
  throw unimplemented(text + " to " + std::string(name_of_dtype(result)) + " on the CPU (register_kernel makes one of your own known)");
}

inline element_functions element_of_code(int code, dtype result, const dtype* in, int count) {
  const auto known = functions_of(code);
  const element_functions f = known.element != nullptr ? known.element(result, in, count) : element_functions{};
  if (f.block == nullptr) no_function(code, result, in, count);
  return f;
}
inline const reduction_functions* reduction_of_code(int code, dtype type) {
  const auto known = functions_of(code);
  const reduction_functions* f = known.reduction != nullptr ? known.reduction(type) : nullptr;
  if (f == nullptr) no_function(code, type, &type, 1);
  return f;
}

// A number, converted to its dtype, in the lowest bytes of the result.
inline std::int64_t immediate_bits(dtype type, std::int64_t word) {
  const auto as_bits = [](auto v) {
    std::int64_t bits = 0;
    std::memcpy(&bits, &v, sizeof v);
    return bits;
  };
  switch (type) {
    case dtype::float32: return as_bits(static_cast<float>(std::bit_cast<double>(word)));
    case dtype::float64: return word;
    case dtype::int32: return as_bits(static_cast<std::int32_t>(word));
    case dtype::uint8: return as_bits(static_cast<std::uint8_t>(word));
    case dtype::boolean: return as_bits(word != 0);
    default: return word;
  }
}

}  // namespace leat::cpu::detail
