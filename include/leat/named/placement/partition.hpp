#pragma once
// Cuts the part of a graph that a run needs into one graph for each device.
//
// A run asks for tensors and operations, and feeds tensors. What it needs is found by walking back from what it asks for, and not beyond
// what it feeds. Each needed node goes, with its attributes, into the graph of its device (place.hpp), whose nodes keep their names.
// Where an edge crosses to another device, the giver's graph gets a _Send and the taker's a _Recv: one pair for each tensor and device,
// whatever the number of its users there; but users of a variable that follow different writes of it get a pair for each set of
// writes, whose _Send waits for them. A control edge that crosses is an array without elements, sent by a constant that waits for
// the giver. A tensor that is fed becomes a placeholder in each graph where it is used, and a constant that is not large is in each such
// graph, too. Branches may span devices: a value of a branch that was not taken is sent as dead, and the taker's nodes are dead as they
// would be in one graph. A loop lies on one device: its iterations would need an edge for each.
//
// Each part is an ordinary graph, which can be saved, shown and run by a session whose run is given a tensor_exchange
// (runtime/state/tensor_exchange.hpp). Source: TensorFlow's graph_partition.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/graph.hpp>
#include <leat/proto/node_def.hpp>

#include <span>
#include <string>
#include <vector>

namespace leat {

/// What a run asks for and feeds.
struct partition_request {
  std::vector<output> fetches{};
  std::vector<int> targets{};  // operations
  std::vector<output> feeds{};
};

/// An edge between devices.
struct cut_edge {
  int number = 0;  // its index in `partitioned_graph::edges`
  int from = 0;    // devices
  int to = 0;
  std::string tensor{};  // "w/read:0", "^init"
};

/// What one device runs.
struct graph_part {
  int device = 0;
  graph_def def{};
  /// A fed tensor, as a number of the request's feeds, and the placeholder that stands for it.
  struct fed {
    int feed = 0;
    std::string placeholder{};
  };
  std::vector<fed> feeds{};
  /// A fetched tensor, as a number of the request's fetches, and its name here.
  struct fetched {
    int fetch = 0;
    std::string tensor{};
  };
  std::vector<fetched> fetches{};
  std::vector<std::string> targets{};  // operations to run, those that send included
  std::vector<int> sends{};            // edges
  std::vector<int> receives{};
};

struct partitioned_graph {
  std::vector<graph_part> parts{};  // of devices that have something to do
  std::vector<cut_edge> edges{};
  /// Fetches that are fed: number of the fetch, number of the feed.
  std::vector<std::pair<int, int>> passed{};
};

/// `places`: the device of each node, an index of `devices`, their full names.
/// Errors: invalid_argument, naming the nodes and devices, for a loop on several devices, and for a handle or reference that would have to
/// cross.
partitioned_graph partition(graph& g, const partition_request& request, std::span<const int> places, std::span<const std::string> devices);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/placement/partition_bodies.hpp>
#endif
