#pragma once
// Saved models of compiled sessions: the session's expressions are exported to a graph with names (`to_graph`), and saved with the values
// of its variables. The model can be loaded and run without the program that made it.
//
//   session s{prediction, train};
//   io::save_model("model", s, {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", prediction}}}}}});
//
// If <leat/graphs.hpp> is included, training steps are saved as TensorFlow's operators; otherwise they are expanded.

#include <leat/io/saved_model.hpp>
#include <leat/session/typed/session.hpp>

namespace leat::io {

/// Saves a compiled session. The graph consists of the session's expressions and of those in the options; with `whole_graph` off, only of
/// the latter. Parameters are saved with their current values.
/// Errors: failed_precondition for uninitialized variables; invalid_argument for a number that has two values; those of `to_graph` and of
/// `save_model`; unimplemented, naming them, for variables of the graph that the session does not have.
template <class Device, expression... Es>
void save_model(const std::filesystem::path& folder, const basic_session<Device, Es...>& s,
                const save_model_options& options = {}) {
  std::vector<leat::detail::any_expression> expressions;
  leat::detail::any_expression numbers;
  leat::detail::carried_table settled;
  s.for_each_number([&](std::uint64_t id, const leat::detail::carried_value& value, bool is_parameter) {
    if (is_parameter) settled[id] = value;
    else numbers.carried[id] = value;
  });
  if (options.whole_graph) (expressions.push_back(leat::detail::kind_of_expression<Es>()), ...);
  std::vector<model_tensor*> items;
  save_model_options named = options;
  for (auto& [name, signature] : named.signatures) {
    for (auto& [key, item] : signature.inputs) items.push_back(&item);
    for (auto& [key, item] : signature.outputs) items.push_back(&item);
  }
  for (auto& [name, list] : named.collections)
    for (auto& item : list) items.push_back(&item);
  std::erase_if(items, [](const model_tensor* item) { return item->typed() == nullptr; });
  const std::size_t first = expressions.size();
  for (const model_tensor* item : items) expressions.push_back(*item->typed());
  if (expressions.empty()) throw invalid_argument("a saved model of what its signatures need has no signatures");
  expressions.front().carried.insert(numbers.carried.begin(), numbers.carried.end());

  graph g;
  const auto here = g.as_default();
  const std::vector<graph_element> made = leat::detail::write_expressions(expressions, settled);
  for (std::size_t k = 0; k < items.size(); ++k) items[k]->replace(made[first + k]);
  const meta_graph_def meta = detail::make_meta_graph(g, named);
  const auto variables = detail::variables_in(g, meta.graph);

  std::map<std::string, std::vector<std::byte>, std::less<>> kept;
  named_arrays arrays;
  s.for_each_value([&](const std::string& name, dtype type, const shape& extent, std::span<const std::byte> bytes) {
    if (!variables.contains(name)) return;
    const auto& copy = kept[name] = {bytes.begin(), bytes.end()};
    arrays[name] = {type, extent, copy};
  });
  std::vector<std::string> missing, strange;
  for (const auto& name : s.uninitialized())
    if (variables.contains(name)) missing.push_back(name);
  if (!missing.empty())
    throw failed_precondition("variables without a value: " + leat::detail::name_list(missing) +
                              "; call session.initialize() or assign them");
  for (const auto& [name, variable] : variables) {
    const auto at = arrays.find(name);
    if (at == arrays.end() || at->second.type != variable.type() || !may_equal(at->second.extent, variable.extent()))
      strange.push_back(name);
  }
  if (!strange.empty())
    throw unimplemented("a saved model with the variables " + leat::detail::name_list(strange) +
                        ", for which the session has no values of the same kind");
  detail::write_model(folder, meta, arrays, options);
}

}  // namespace leat::io
