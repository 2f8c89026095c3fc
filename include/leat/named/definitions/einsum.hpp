#pragma once
// Definition of Einstein's sums in graphs. Source: TensorFlow `Einsum`.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/einsum_axes.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

inline void einsum_shape(shape_context& c) {
  const auto* given = c.attribute("equation");
  const auto* equation = given != nullptr ? given->get_if<std::string>() : nullptr;
  if (equation == nullptr) return;
  const einsum_labels labels = einsum_labels_of(*equation, c.input_count());
  std::vector<shape> extents;
  for (int k = 0; k < c.input_count(); ++k) {
    if (!c.input(k).extent.has_rank()) return;
    extents.push_back(c.input(k).extent);
  }
  const einsum_axes axes = einsum_axes_of(labels, extents);
  shape result;
  for (const int label : axes.result) result.push(axes.sizes.at(label));
  c.set(0, result);
}

LEAT_FILL(fill_einsum_definitions) {
  define_operator("Einsum(inputs: N*T) -> (output: T); equation: string; N: int >= 1; T: {float32, float64, int32, int64}",
                  {.is = nature::pure, .work = work_kind::product}, einsum_shape);
}

}  // namespace leat::detail
