#pragma once
// A plan: the nodes of a run, the edges between them, and the frames of its loops. run_planner.hpp makes it from a graph.

#include <leat/core/short_list.hpp>
#include <leat/runtime/plan/work.hpp>

#include <memory>

namespace leat::runtime {

/// A subgraph of a plan that runs as one node.
class plan_part {
 public:
  virtual ~plan_part() = default;
  /// Runs the nodes. Errors: those of the nodes, with the node named.
  virtual void run(step_state& step, std::span<token> inputs, std::span<token> results) = 0;
  /// Its estimated work, in the unit of work.hpp.
  virtual std::int64_t work(std::span<const token> inputs) const = 0;
  /// The node that computes a result.
  virtual const kernel_node& giver(int result) const = 0;
};

/// The origin of a value: result `port` of a node of the plan.
struct plan_source {
  int node = -1;
  int port = 0;
};

struct plan_input : plan_source {
  bool last_use = false;  // only in a plan without control flow
  bool late = false;      // takes the variable itself, or its value when the node runs
};

struct plan_edge {
  int port = 0;  // result of the source node; -1: control edge
  int node = -1;
  int input = 0;
};

// Short lists store their first elements inside the node, so that a plan of many nodes is nearly one array.
struct plan_node {
  kernel_node* node = nullptr;
  const operator_kernel* run = nullptr;
  flow kind = flow::plain;
  dtype fed = dtype::invalid;  // dtype of a feed
  bool writes = false;
  bool is_constant = false;
  bool is_fetched = false;
  bool constant_enter = false;
  bool snapshot = false;  // of a variable: its uses see the value of now, whatever is written later
  bool waits = false;     // it may block until other nodes or runs act
  work_kind work = work_kind::none;
  int results = 0;
  leat::detail::short_list<dtype, 1> result_types;  // required of its kernel; invalid: any. Empty: runs by definition
  int first_result = 0;                             // index among the results of all nodes
  int frame = 0;                                    // static; for an Enter, the parent frame
  int child = -1;                                   // of an Enter: the frame that it opens
  int place = 0;                                    // index among the nodes of its frame
  int first_input = 0;                              // index among the inputs of all nodes of its frame
  leat::detail::short_list<plan_input, 2> inputs;
  std::vector<int> controls;
  leat::detail::short_list<plan_edge, 2> out;
  std::vector<int> then;            // nodes that must run after this one, since both touch a variable
  int held_by = 0;                  // number of nodes that have this one in their `then`
  std::shared_ptr<plan_part> part;  // the subgraph it stands for; `node` is its last node, for messages
};

struct plan_frame {
  std::string name;
  int parent = -1;
  int nodes = 0;
  int inputs = 0;
  int enters = 0;
  int parallel_iterations = 10;
};

struct run_plan {
  std::vector<plan_node> nodes;
  std::vector<int> order;  // only without control flow
  bool has_control_flow = false;
  bool has_narrow = false;     // some node has a narrow dtype: the plan is not compiled
  bool has_effects = false;    // some node does more than compute or write variables: the plan is not compiled
  bool overlaps = false;       // without control flow: two nodes that block or are heavy are independent
  bool waits_overlap = false;  // without control flow: two nodes that block are independent
  std::vector<plan_frame> frames;
  std::vector<plan_source> fetches;          // node -1: not fetched as a value
  std::vector<int> feeds;                    // indexed by feed: its node, or -1 if it is not needed
  std::vector<std::vector<int>> fetches_of;  // indexed by node: the fetches among its results
  int results = 0;

  /// Why the plan cannot be one program for any shapes; empty if it may be.
  std::string_view why_no_program() const {
    if (has_control_flow) return "it has branches or loops";
    if (has_narrow) return "it has values of half, int8 or another dtype that programs do not have";
    if (has_effects) return "it does more than compute and write variables";
    return {};
  }
  /// Marks the nodes whose results are fetched.
  void enter_fetches() {
    fetches_of.resize(nodes.size());
    for (std::size_t k = 0; k < fetches.size(); ++k) {
      const auto node = static_cast<std::size_t>(fetches[k].node);
      fetches_of[node].push_back(static_cast<int>(k));
      nodes[node].is_fetched = true;
    }
  }
};

}  // namespace leat::runtime
