#pragma once
// Definitions of `_Send` and `_Recv`, the two ends of an edge between devices, which named/placement/partition.hpp makes.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

LEAT_FILL(fill_exchange_definitions) {
  const std::string edge =
      "tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: string; client_terminated: bool = false";
  define_operator("_Send(tensor: T) -> (); " + edge, {.is = nature::control, .control = flow::send});
  define_operator("_Recv() -> (tensor: tensor_type); tensor_type: type; " + edge,
                  {.is = nature::control, .control = flow::receive, .waits = true});
}

}  // namespace leat::detail
