#pragma once
// Implementation of dataset_function.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/data/dataset_function.hpp>
#include <leat/io/functions.hpp>
#include <leat/io/library.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/graph/part.hpp>

namespace leat::data::detail {

LEAT_FUNCTION dataset_function::dataset_function(std::shared_ptr<const function_recipe> recipe, const pipeline_place& place)
    : recipe_(std::move(recipe)) {
  try {
    const auto resources = place.resources.lock();
    if (resources == nullptr) throw failed_precondition("the session in which the iterator started has ended");
    io::function_call call = io::call_of_function(recipe_->library, recipe_->function);
    is_fed_.assign(call.arguments.size(), 1);
    for (const captured_variable& v : recipe_->variables) {
      if (v.from_end > static_cast<int>(call.arguments.size()))
        throw invalid_argument("the function takes fewer arguments than are captured");
      const std::size_t k = call.arguments.size() - static_cast<std::size_t>(v.from_end);
      is_fed_[k] = 0;
      node_def& n = call.graph.nodes[k];  // the arguments come first
      n.op = "VarHandleOp";
      n.attributes = {
          {"dtype", to_data_type(v.type)}, {"shape", to_proto(v.extent)}, {"shared_name", v.name}, {"container", std::string()}};
    }
    graph_.named();
    import_graph(graph_, call.graph, {.name = ""});
    session_options options;
    options.operation_timeout_in_ms = 0;  // each call has what is left of its run
    options.inter_op_parallelism_threads = 1;
    options.file_root = place.file_root;
    options.resources = std::shared_ptr<resource_table>(anchor_, resources.get());
    session_.emplace(graph_, std::move(options));
    std::vector<output> given, wanted;
    for (std::size_t k = 0; k < call.arguments.size(); ++k)
      if (is_fed_[k] != 0) given.push_back(get_tensor_by_name(graph_, call.arguments[k] + ":0"));
    for (const std::string& name : call.results) wanted.push_back(get_tensor_by_name(graph_, name));
    if (wanted.empty()) throw invalid_argument("the function has no results");
    run_.emplace(session_->prepare(wanted, given));
  } catch (const error& e) {
    rethrow(e);
  }
}

LEAT_FUNCTION void dataset_function::rethrow(const error& e) const {
  leat::detail::rethrow_saying(e, std::string(e.what()) + "\n\t [[function '" + recipe_->function.name + "' of the dataset '" +
                                      recipe_->node + "' (" + recipe_->type + ")]]");
}

LEAT_FUNCTION components dataset_function::call(step_state& step, components arguments) {
  try {
    if (arguments.size() != is_fed_.size())
      throw invalid_argument("the function takes " + std::to_string(is_fed_.size()) + " arguments, and " +
                             std::to_string(arguments.size()) + " are given");
    std::size_t fed = 0;
    for (std::size_t k = 0; k < is_fed_.size(); ++k)
      if (is_fed_[k] != 0) std::swap(arguments[fed++], arguments[k]);
    arguments.resize(fed);
    run_options how;
    how.cancel = step.cancel;
    if (step.deadline != std::chrono::steady_clock::time_point::max()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(step.deadline - std::chrono::steady_clock::now()).count();
      how.timeout_in_ms = std::max<std::int64_t>(1, left);
    }
    components results = run_->call(arguments, how);
    run_->release();
    for (tensor_value& v : results) v = v.kept();
    return results;
  } catch (const error& e) {
    rethrow(e);
  }
}

LEAT_FUNCTION dataset_function& pipeline::function(const std::shared_ptr<const function_recipe>& recipe) {
  auto& made = functions_[recipe];
  if (made == nullptr) made = std::make_shared<dataset_function>(recipe, place);
  return *made;
}

struct node_memory final : kernel_memory {
  std::map<std::string, std::shared_ptr<const function_recipe>, std::less<>> recipes;
  std::vector<std::unique_ptr<pipeline>> idle;
};
// The node's memory, whose lock is held.
inline node_memory& memory_of(kernel_context& c) {
  if (dynamic_cast<node_memory*>(c.node.memory.get()) == nullptr) c.node.memory = std::make_unique<node_memory>();
  return static_cast<node_memory&>(*c.node.memory);
}

LEAT_FUNCTION std::unique_ptr<pipeline> take_pipeline(kernel_context& c) {
  const std::lock_guard lock(c.node.guard);
  auto& idle = memory_of(c).idle;
  if (idle.empty()) return std::make_unique<pipeline>(place_of(c), random_pipeline_seed());
  auto taken = std::move(idle.back());
  idle.pop_back();
  return taken;
}
LEAT_FUNCTION void keep_pipeline(kernel_context& c, std::unique_ptr<pipeline> p) {
  const std::lock_guard lock(c.node.guard);
  memory_of(c).idle.push_back(std::move(p));
}

LEAT_FUNCTION std::shared_ptr<const function_recipe> recipe_of(kernel_context& c, std::string_view attribute,
                                                               std::vector<captured_variable> variables) {
  const std::lock_guard lock(c.node.guard);
  auto& kept = memory_of(c).recipes;
  if (const auto at = kept.find(attribute); at != kept.end() && at->second->variables == variables) return at->second;
  auto made = std::make_shared<function_recipe>();
  made->function = c.node.attribute<function_value>(attribute, {});
  made->library = c.node.owner->named().library;
  made->node = c.node.name();
  made->type = std::string(c.node.type);
  made->variables = std::move(variables);
  return kept[std::string(attribute)] = std::move(made);
}

}  // namespace leat::data::detail
