#pragma once
// The operations that prepare a supervised session: initialization of variables, the check that all of them have values, the merged
// summary; and the saver. When the scaffold is completed, it makes whatever the program does not give, with TensorFlow's nodes and names,
// and finalizes the graph. Source: TensorFlow 1.x `train.Scaffold`.

#include <leat/checkpoint/saver.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/session/fetch_feed.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/supervise/coordinator.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace leat {

/// The operations that a program may give; `complete` makes the others.
struct scaffold_options {
  graph_operation init_op{};                      // initializes the variables if there is no checkpoint
  feed_list init_feeds{};                         // feeds of init_op
  std::function<void(graph_session&)> init_fn{};  // called after init_op
  output ready_op{};                              // the names of the variables without a value; empty when the model is ready
  output ready_for_local_init_op{};               // the same for the variables that local_init_op needs
  graph_operation local_init_op{};                // initializes local variables in each new session
  output summary_op{};                            // the merged summary; empty if there are no summaries
  std::shared_ptr<saver> its_saver{};             // saves and restores variables
};

/// The operations and the saver that prepare a supervised session.
class scaffold {
 public:
  explicit scaffold(scaffold_options given = {}) : parts_(std::move(given)) {}

  /// Adds the missing operations to this graph, and finalizes it. Errors: failed_precondition if the graph is finalized and something is
  /// missing.
  void complete(graph& g);
  bool is_complete() const { return complete_; }

  /// The operations and savers: those that were given, and, after `complete`, those made by default.
  const scaffold_options& parts() const { return parts_; }

  /// A local_init_op that initializes local variables and runs the operations of the collection `table_initializers`, such as initializers
  /// of iterators.
  static graph_operation default_local_init_op();

 private:
  scaffold_options parts_;
  bool complete_ = false;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/scaffold.hpp>
#endif
