#pragma once
// Cuts the subgraph that a run needs into one graph for each device.
//
// A run fetches tensors, runs operations, and feeds tensors. The nodes that it needs are found by a search backward from its fetches and
// targets, which stops at the tensors that it feeds. Each needed node goes, with its attributes, into the graph of its device (place.hpp),
// and keeps its name. If an edge crosses to another device, the source's graph gets a _Send and the destination's graph a _Recv: one pair
// for each tensor and destination device, whatever the number of users there. There is one exception: users of a variable that follow
// different writes of it get a pair for each set of writes, and its _Send waits for them. A control edge that crosses devices is sent as an
// empty array, by a constant that waits for the source. A fed tensor becomes a placeholder in each graph where it is used, and a small
// constant is copied to each such graph. Branches may span devices: the value of a branch that was not taken is sent as a dead value, and
// nodes that receive it are dead as they would be in one graph. A loop must be on one device, because its iterations would need one edge
// each.
//
// Each part is an ordinary graph, which can be saved, shown, and run by a session if the run is given a tensor_exchange
// (runtime/state/tensor_exchange.hpp). Source: TensorFlow's graph_partition.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/graph.hpp>
#include <leat/proto/node_def.hpp>

#include <span>
#include <string>
#include <vector>

namespace leat {

/// The fetches, targets and feeds of a run.
struct partition_request {
  std::vector<output> fetches{};
  std::vector<int> targets{};  // operations
  std::vector<output> feeds{};
};

/// An edge between devices.
struct cut_edge {
  int number = 0;  // index in `partitioned_graph::edges`
  int from = 0;    // source device; `to` is the destination
  int to = 0;
  std::string tensor{};  // "w/read:0", "^init"
};

/// The graph of one device, and what a run of it feeds, fetches and exchanges.
struct graph_part {
  int device = 0;
  graph_def def{};
  /// A fed tensor: its index in the request's feeds, and the placeholder that replaces it.
  struct fed {
    int feed = 0;
    std::string placeholder{};
  };
  std::vector<fed> feeds{};
  /// A fetched tensor: its index in the request's fetches, and its name in this part.
  struct fetched {
    int fetch = 0;
    std::string tensor{};
  };
  std::vector<fetched> fetches{};
  std::vector<std::string> targets{};  // operations to run, including those that send
  std::vector<int> sends{};            // indices of edges
  std::vector<int> receives{};
};

/// The result of `partition`.
struct partitioned_graph {
  std::vector<graph_part> parts{};  // one for each device with nodes to run
  std::vector<cut_edge> edges{};
  /// Fetches that are fed: the index of the fetch and of the feed.
  std::vector<std::pair<int, int>> passed{};
};

/// Partitions a graph. `places` has the device of each node, as an index into `devices`, which are full names.
/// Errors: invalid_argument, naming the nodes and devices, for a loop on several devices, and for a handle or reference that would have to
/// cross devices.
partitioned_graph partition(graph& g, const partition_request& request, std::span<const int> places, std::span<const std::string> devices);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/placement/impl/partition.hpp>
#endif
