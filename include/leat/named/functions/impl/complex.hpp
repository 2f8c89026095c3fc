#pragma once
// Implementation of complex.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/complex.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/graph/call.hpp>

#include <numbers>

namespace leat::detail {

/// A node that takes parts of a complex tensor.
inline output part_node(std::string_view type, const output& x, std::string_view name, const std::source_location& where) {
  graph& g = x.owner();
  const source_scope line(g, where);
  return call_operator(g, type, {x}, {{"Tout", part_dtype(x.type())}}, name).result();
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output complex(const operand_value& real, const operand_value& imaginary, std::string_view name,
                             const std::source_location& where) {
  const operand_value both[]{real, imaginary};
  graph& g = detail::graph_of(both);
  const source_scope line(g, where);
  dtype type = dtype::invalid;  // that of an operand that is a tensor
  for (const operand_value& part : both)
    if (part.tensor() != nullptr && type == dtype::invalid) type = part.tensor()->type();
  if (type == dtype::invalid) type = to_dtype(real.literal()->type());
  const dtype made = complex_of(type);
  if (made == dtype::invalid)
    throw invalid_argument("complex: the parts of a complex number are float32 or float64, not " +
                           lower_name_of_data_type(to_data_type(type)));
  std::vector<number_argument> inputs;
  for (const operand_value& part : both) {
    if (part.tensor() != nullptr) inputs.emplace_back(*part.tensor());
    else inputs.emplace_back(part.literal()->as(type));
  }
  return call_operator(g, "Complex", inputs, {{"Tout", made}}, name).result();
}

LEAT_FUNCTION output real(const output& x, std::string_view name, const std::source_location& where) {
  return is_complex(x.type()) ? detail::part_node("Real", x, name, where) : x;
}
LEAT_FUNCTION output imag(const output& x, std::string_view name, const std::source_location& where) {
  return is_complex(x.type()) ? detail::part_node("Imag", x, name, where) : zeros_like(x, "zeros_like", where);
}
LEAT_FUNCTION output conj(const output& x, std::string_view name, const std::source_location& where) {
  if (!is_complex(x.type())) return x;
  graph& g = x.owner();
  const source_scope line(g, where);
  return call_operator(g, "Conj", {x}, {}, name).result();
}
LEAT_FUNCTION output angle(const output& x, std::string_view name, const std::source_location& where) {
  if (is_complex(x.type())) return detail::part_node("Angle", x, name, where);
  const source_scope line(x.owner(), where);
  return select(less(x, 0), ones_like(x) * std::numbers::pi, zeros_like(x));
}

LEAT_FUNCTION output conjugate_transpose(const output& x, const index_list& perm, std::string_view name,
                                         const std::source_location& where) {
  if (!is_complex(x.type())) return transpose(x, perm, name, where);
  graph& g = x.owner();
  const source_scope line(g, where);
  return call_operator(g, "ConjugateTranspose", {x, perm.argument()}, {}, name).result();
}

}  // namespace leat
