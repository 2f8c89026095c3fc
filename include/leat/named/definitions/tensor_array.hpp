#pragma once
// Definitions of tensor arrays. Their handles were references to strings at first, then strings, and are resources today.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/graph/literal.hpp>

namespace leat::detail {

// The shape of elements, as an attribute says it, with a dimension in front.
inline void stacked_shape(shape_context& c, std::string_view attribute, std::int64_t count) {
  const auto* a = c.attribute(attribute);
  const auto* given = a != nullptr ? a->get_if<tensor_shape_proto>() : nullptr;
  const shape element = given != nullptr ? to_shape(*given) : shape::unknown();
  if (!element.has_rank() || element.rank == max_rank) return;
  shape all = shapes::vector_of(count);
  for (int i = 0; i < element.rank; ++i) all.push(element[i]);
  c.set(0, all);
}
inline void new_array_shapes(shape_context& c) {
  if (c.input(0).type == dtype::int32) shapes::want_rank(c, 0, 0);
  c.set(0, shapes::vector_of(2));
  if (c.result_count() > 1) c.set(1, shapes::scalar);
}
inline void gathered_elements_shape(shape_context& c) {
  shapes::want_rank(c, 1, 1);
  stacked_shape(c, "element_shape", c.input(1).extent.has_rank() ? c.input(1).extent[0] : unknown_dimension);
}

LEAT_FILL(fill_tensor_array_definitions) {
  const facts makes{.is = nature::effect, .work = work_kind::none, .narrow = narrow_rule::exact, .stops_gradient = true};
  const facts acts{.is = nature::effect, .work = work_kind::none, .narrow = narrow_rule::exact};  // gradients add up in an element
  const facts stops{.is = nature::effect, .work = work_kind::none, .stops_gradient = true};
  const auto flows_on = [](shape_context& c) { c.set(0, shapes::scalar); };
  const std::string element = "element_shape: shape = ?";
  for (const std::string v : {"", "V2", "V3"}) {
    const std::string name = "TensorArray";
    const std::string handle = v.empty() ? "handle: &string" : v == "V2" ? "handle: string" : "handle: resource";
    const std::string flows = v == "V3" ? ", flow: float32" : "", flows_out = v == "V3" ? ", flow_out: float32" : "";
    define_operator(name + v + "(size: int32) -> (" + handle + flows + "); dtype: type; " + element +
                        "; dynamic_size: bool = false; clear_after_read: bool = true; " +
                        (v == "V3" ? "identical_element_shapes: bool = false; " : "") + "tensor_array_name: string = \"\"",
                    makes, new_array_shapes);
    const std::string forward = v.empty() ? "handle: string" : handle;
    define_operator(name + "Grad" + v + "(" + forward + ", flow_in: float32) -> (grad_" + handle + flows_out + "); source: string", stops,
                    new_array_shapes);
    define_operator(name + "Write" + v + "(" + handle + ", index: int32, value: T, flow_in: float32) -> (flow_out: float32)", acts,
                    [](shape_context& c) {
                      shapes::want_rank(c, 1, 0);
                      c.set(0, shapes::scalar);
                    });
    define_operator(name + "Read" + v + "(" + handle + ", index: int32, flow_in: float32) -> (value: dtype)", acts,
                    [](shape_context& c) { shapes::want_rank(c, 1, 0); });
    define_operator(name + "Gather" + v + "(" + handle + ", indices: int32, flow_in: float32) -> (value: dtype); " + element, acts,
                    gathered_elements_shape);
    define_operator(name + "Scatter" + v + "(" + handle + ", indices: int32, value: T, flow_in: float32) -> (flow_out: float32)", acts,
                    [](shape_context& c) {
                      shapes::want_rank(c, 1, 1);
                      c.set(0, shapes::scalar);
                    });
    define_operator(
        name + "Concat" + v + "(" + handle + ", flow_in: float32) -> (value: dtype, lengths: int64); element_shape_except0: shape = ?",
        acts, [](shape_context& c) {
          stacked_shape(c, "element_shape_except0", unknown_dimension);
          c.set(1, shapes::vector_of(unknown_dimension));
        });
    define_operator(name + "Split" + v + "(" + handle + ", value: T, lengths: int64, flow_in: float32) -> (flow_out: float32)", acts,
                    flows_on);
    define_operator(name + "Size" + v + "(" + handle + ", flow_in: float32) -> (size: int32)", stops, shapes::numbers);
    define_operator(name + "Close" + v + "(" + handle + ") -> ()", stops);
  }
  define_operator(
      "TensorArrayGradWithShape(handle: resource, flow_in: float32, shape_to_prepend: int32) -> (grad_handle: resource, flow_out: "
      "float32); source: string",
      stops, new_array_shapes);
  define_operator("TensorArrayPack(handle: &string, flow_in: float32) -> (value: dtype); " + element, acts,
                  [](shape_context& c) { stacked_shape(c, "element_shape", unknown_dimension); });
  define_operator("TensorArrayUnpack(handle: &string, value: T, flow_in: float32) -> (flow_out: float32)", acts, flows_on);
}

}  // namespace leat::detail
