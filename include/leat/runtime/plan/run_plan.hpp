#pragma once
// A plan: the nodes of a run, the edges between them, and the frames of its loops. run_planner.hpp makes it from a graph.

#include <leat/core/short_list.hpp>
#include <leat/runtime/plan/work.hpp>

#include <memory>

namespace leat::runtime {

/// Several nodes of a plan that run as one node.
class plan_part {
 public:
  virtual ~plan_part() = default;
  /// Errors: those of the nodes, which they name.
  virtual void run(step_state& step, std::span<token> inputs, std::span<token> results) = 0;
  /// Its cost, in the unit of work.hpp.
  virtual std::int64_t work(std::span<const token> inputs) const = 0;
  /// The node that makes a result.
  virtual const kernel_node& giver(int result) const = 0;
};

/// Where a value comes from: result `port` of a node of the plan.
struct plan_source {
  int node = -1;
  int port = 0;
};

struct plan_input : plan_source {
  bool last_use = false;  // in a plan without control flow
  bool late = false;      // it takes the variable itself, or its value when the node runs
};

struct plan_edge {
  int port = 0;  // of the edge's source node; -1 for control
  int node = -1;
  int input = 0;
};

// The first elements of most lists lie in the node: a plan of many nodes is one array, nearly.
struct plan_node {
  kernel_node* node = nullptr;
  const operator_kernel* run = nullptr;
  flow kind = flow::plain;
  dtype fed = dtype::invalid;  // of a feed
  bool writes = false;
  bool is_constant = false;
  bool is_fetched = false;
  bool constant_enter = false;
  bool snapshot = false;  // of a variable: uses read its value now, whatever is written later
  bool waits = false;     // it may block until others act
  work_kind work = work_kind::none;
  int results = 0;
  leat::detail::short_list<dtype, 1> result_types;  // that its own kernel must return, invalid for any; empty if it runs by definition
  int first_result = 0;                             // index among the results of all nodes
  int frame = 0;                                    // static; of an Enter, the one it is in
  int child = -1;                                   // of an Enter
  int place = 0;                                    // index among the nodes of its frame
  int first_input = 0;                              // index among the inputs of all nodes of its frame
  leat::detail::short_list<plan_input, 2> inputs;
  std::vector<int> controls;
  leat::detail::short_list<plan_edge, 2> out;
  std::vector<int> then;            // nodes that must not run before this one, since both touch a variable
  int held_by = 0;                  // number of nodes in whose `then` this one is
  std::shared_ptr<plan_part> part;  // the nodes it stands for; `node` is the last of them, for messages
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
  std::vector<int> order;  // without control flow
  bool has_control_flow = false;
  bool has_effects = false;    // of nodes that do more than compute and write variables: such a plan is not compiled
  bool overlaps = false;       // without control flow: two nodes that block or are heavy are independent
  bool waits_overlap = false;  // the same of two that block
  std::vector<plan_frame> frames;
  std::vector<plan_source> fetches;          // -1 for what is not fetched as a value
  std::vector<int> feeds;                    // indexed by feed: the node that stands for it, or -1 if it is not needed
  std::vector<std::vector<int>> fetches_of;  // indexed by node: fetches among its results
  int results = 0;

  /// Why it cannot be one program, whatever the shapes; empty if it may.
  std::string_view why_no_program() const {
    if (has_control_flow) return "it has branches or loops";
    if (has_effects) return "it does more than compute and write variables";
    return {};
  }
  /// Tells the nodes which of them are fetched.
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
