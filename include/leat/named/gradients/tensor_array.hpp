#pragma once
// Gradients of tensor arrays: what was written is read from an array of gradients, and what was read is written to one. That array belongs
// to the forward array and to one call of `gradients`, so that two calls of which a run computes the results do not add up. Flows get the
// flows of the array of gradients as theirs, so that a gradient is read when all uses of an element have written theirs.
// Source: TensorFlow's tensor_array_grad.

#include <leat/core/fill.hpp>
#include <leat/named/functions/tensor_array.hpp>
#include <leat/named/gradients/nodes.hpp>

namespace leat::detail {

// The scope of this call of `gradients`. The function of a node runs in a scope of the node's name inside of it.
inline std::string gradient_source(const gradient_call& c) {
  const std::string& scope = c.owner().named().names.scope();
  const auto at = scope.rfind("/" + c.operation().name() + "_grad");
  return at == scope.npos ? scope : scope.substr(0, at);
}
inline dtype dtype_attribute(const gradient_call& c, std::string_view name) {
  const auto* type = c.operation().attribute(name).get_if<data_type>();
  return type == nullptr ? dtype::invalid : static_cast<dtype>(base_of(*type));
}
inline tensor_array gradients_after(const gradient_call& c, dtype type, const output& flow) {
  const tensor_array forward(type, c.input(0), flow);
  return forward.grad(gradient_source(c), flow);
}
// For a node that writes: the flow after all uses of the node's own flow, and the array of gradients by then. It is made after the write,
// because its size is what the array's is by then.
struct read_gradients {
  output flow;
  tensor_array array;
};
inline read_gradients gradients_to_read(const gradient_call& c) {
  const output done = identity(c.result(0), "flow_out");
  output after;
  {
    const control_dependencies written({done});
    after = identity(c.dy(), "write_barrier");
  }
  return {after, gradients_after(c, dtype_attribute(c, "T"), after)};
}

inline gradient_list gradient_of_array_read(const gradient_call& c) {
  const tensor_array to = gradients_after(c, dtype_attribute(c, "dtype"), c.input(2));
  return {{}, {}, to.write(c.input(1), c.dy()).flow()};
}
inline gradient_list gradient_of_array_gather(const gradient_call& c) {
  const tensor_array to = gradients_after(c, dtype_attribute(c, "dtype"), c.input(2));
  return {{}, {}, to.scatter(c.input(1), c.dy()).flow()};
}
inline gradient_list gradient_of_array_concat(const gradient_call& c) {
  const tensor_array to = gradients_after(c, dtype_attribute(c, "dtype"), c.input(1));
  return {{}, to.split(c.dy(), c.result(1)).flow()};
}
inline gradient_list gradient_of_array_write(const gradient_call& c) {
  const auto [flow, from] = gradients_to_read(c);
  return {{}, {}, from.read(c.input(1)), flow};
}
inline gradient_list gradient_of_array_scatter(const gradient_call& c) {
  const auto [flow, from] = gradients_to_read(c);
  return {{}, {}, from.gather(c.input(1)), flow};
}
inline gradient_list gradient_of_array_split(const gradient_call& c) {
  const auto [flow, from] = gradients_to_read(c);
  return {{}, from.concat(), {}, flow};
}

LEAT_FILL(fill_tensor_array_gradients) {
  enter_gradients({
      {"TensorArrayReadV3", gradient_of_array_read},
      {"TensorArrayGatherV3", gradient_of_array_gather},
      {"TensorArrayConcatV3", gradient_of_array_concat},
      {"TensorArrayWriteV3", gradient_of_array_write},
      {"TensorArrayScatterV3", gradient_of_array_scatter},
      {"TensorArraySplitV3", gradient_of_array_split},
  });
}

}  // namespace leat::detail
