#pragma once
// Places the nodes of a graph on devices. A node is constrained by its requested device, and by the constraints of the nodes with which it
// is colocated: those of its colocation groups ("loc:@w"), and the variable or queue that it takes by reference. Among the devices that
// fit, it gets the session's own device, or else the first. Two kinds of nodes follow others where they may: a node without inputs whose
// users are all on one device goes there, so that its value need not be sent; a node that depends only on the shape of its input goes to
// the input's device.
// Source: TensorFlow 1.x `Placer`.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/graph.hpp>
#include <leat/named/graph/device.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace leat {

/// The devices on which nodes may be placed.
struct placement_options {
  /// Full names, "/job:ps/replica:0/task:0/device:CPU:0", in order of preference.
  std::vector<std::string> devices{};
  /// The session's own device, as an index into `devices`.
  int own = 0;
  /// Whether a node is placed on another device of its task if no device has the type or number that it asks for.
  bool allow_soft_placement = false;
};

/// The device of each node, as an index into `options.devices`. `placed` has the devices of the first nodes, which are placed already and
/// keep them.
/// Errors: invalid_argument, naming node, requested device, available devices and the node's source line, if no device fits, or if
/// colocated nodes ask for different devices.
std::vector<int> place(graph& g, const placement_options& options, std::vector<int> placed = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/placement/impl/place.hpp>
#endif
