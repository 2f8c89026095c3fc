#pragma once
// A function of a dataset, such as that of MapDataset: a graph of its own, which a session of its own runs for each element. It has the
// resources of the session in which the iterator started, and counts toward that session's memory.

#include <leat/core/function_bodies.hpp>
#include <leat/data/graph_dataset.hpp>
#include <leat/proto/attribute_value.hpp>
#include <leat/session/graph_session.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leat::data::detail {

/// A variable that a function captured by its handle: a node of the same name stands for it in the function's graph.
struct captured_variable {
  int from_end = 0;  // its place among the arguments, 1 for the last
  std::string name;
  dtype type = dtype::invalid;
  shape extent;
  bool operator==(const captured_variable&) const = default;
};

/// What a node says of its function: enough to make it in any pipeline.
struct function_recipe {
  function_value function;
  std::string library;
  std::string node, type;  // for messages
  std::vector<captured_variable> variables;
};

/// A function that a pipeline calls, or a node's kernel. One call at a time.
class dataset_function {
 public:
  /// Errors: those of `io::call_of_function` and of the import, with the node and the function.
  dataset_function(std::shared_ptr<const function_recipe> recipe, const pipeline_place& place);
  dataset_function(const dataset_function&) = delete;
  dataset_function& operator=(const dataset_function&) = delete;

  /// The results for these arguments. Errors: those of the graph's nodes, with the dataset's node and the function.
  components call(step_state& step, components arguments);

 private:
  [[noreturn]] void rethrow(const error& e) const;

  const std::shared_ptr<const function_recipe> recipe_;
  // The session's table is that of the pipeline's session, which this does not keep alive: the table may hold the iterator that holds this.
  const std::shared_ptr<char> anchor_ = std::make_shared<char>();
  graph graph_;
  std::optional<graph_session> session_;
  std::optional<graph_callable> run_;
  std::vector<char> is_fed_;  // by argument; variables are not
};

/// The recipe of a node's function. Nodes keep theirs, so that all datasets that they make share it.
std::shared_ptr<const function_recipe> recipe_of(kernel_context& c, std::string_view attribute,
                                                 std::vector<captured_variable> variables = {});

/// A pipeline that a node keeps between its runs, of which each takes one of its own.
std::unique_ptr<pipeline> take_pipeline(kernel_context& c);
void keep_pipeline(kernel_context& c, std::unique_ptr<pipeline> p);

/// The arguments of a call: an element, or a state and an element, and then what the function captured.
inline components joined(components first, const components& captured) {
  first.insert(first.end(), captured.begin(), captured.end());
  return first;
}

}  // namespace leat::data::detail

#if LEAT_WITH_BODIES
#include <leat/data/impl/dataset_function.hpp>
#endif
