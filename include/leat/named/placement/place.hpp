#pragma once
// Places the nodes of a graph on devices. What a node asks for is what its device's name says, joined with what the nodes say that it
// must stand beside: those of its colocation groups ("loc:@w"), and the variable or queue that it takes by reference. Of the devices that
// fit, it gets the session's own, or the first. Two kinds of nodes follow others where they may: one without inputs whose users are all
// on one device goes there, so that its value need not travel; one that looks at shapes alone goes to its input's device.
// Source: TensorFlow 1.x `Placer`.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/graph.hpp>
#include <leat/named/graph/device.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace leat {

/// Where nodes may be placed.
struct placement_options {
  /// Full names, "/job:ps/replica:0/task:0/device:CPU:0", in the order of preference.
  std::vector<std::string> devices{};
  /// The session's own, an index of `devices`.
  int own = 0;
  /// Whether a node whose device's type or number does not exist is placed on another device of its task.
  bool allow_soft_placement = false;
};

/// The device of each node, an index of `options.devices`. Nodes that are placed already, as many as `placed` has, keep their devices.
/// Errors: invalid_argument, naming node, wanted device, available devices and the node's source line, if none fits, or if nodes that
/// belong together ask for different ones.
std::vector<int> place(graph& g, const placement_options& options, std::vector<int> placed = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/placement/place_bodies.hpp>
#endif
