#pragma once
// Kernels of constants and placeholders. A constant's contents are decoded once; a placeholder must be fed.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>

namespace leat::runtime {

struct constant_memory final : kernel_memory {
  tensor_value value;
};

/// The contents of a constant as stored in the graph. Errors: invalid_argument if it has none.
inline const tensor_proto& contents_of_constant(const kernel_node& node) {
  const auto* a = node.record->attributes.find("value");
  const auto* held = a != nullptr ? a->get_if<tensor_proto>() : nullptr;
  if (held == nullptr) throw invalid_argument("lacks the attribute value");
  return *held;
}
inline const tensor_value& constant_of(kernel_node& node) {
  const std::lock_guard lock(node.guard);
  if (node.memory == nullptr) {
    auto made = std::make_unique<constant_memory>();
    made->value = tensor_value::from_proto(contents_of_constant(node));
    node.memory = std::move(made);
  }
  return static_cast<constant_memory&>(*node.memory).value;
}

/// The dtype's name in the messages of TensorFlow's kernels: "float" for float32.
inline std::string kernel_dtype_name(dtype d) {
  if (d == dtype::float32) return "float";
  if (d == dtype::float64) return "double";
  return dtype_name(d);
}

LEAT_FILL(fill_leaf_kernels) {
  register_kernel("Const", [](kernel_context& c) { c.set(0, constant_of(c.node)); });
  register_kernels({"Placeholder", "PlaceholderV2"}, [](kernel_context& c) {
    const tensor_info& t = c.node.owner->at(c.node.index).result;
    throw invalid_argument("You must feed a value for placeholder tensor '" + c.node.name() + "' with dtype " + kernel_dtype_name(t.type) +
                           (t.extent.has_rank() ? " and shape " + brackets(t.extent) : std::string{}));
  });
  register_kernel("PlaceholderWithDefault", [](kernel_context& c) { c.set_token(0, c.incoming(0)); });
}

}  // namespace leat::runtime
