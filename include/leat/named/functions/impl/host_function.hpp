#pragma once
// Implementation of host_function.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/host_function.hpp>
#include <leat/named/graph/call.hpp>

#include <atomic>

namespace leat {

LEAT_FUNCTION graph_operation host_function(host_callback function, const std::vector<operand_value>& inputs,
                                            const std::vector<dtype>& result_types, const host_function_options& options,
                                            const std::source_location& where) {
  if (!function) throw invalid_argument("host_function: no function");
  graph& g = detail::graph_of(inputs);
  const source_scope line(g, where);
  static std::atomic<std::int64_t> counter{0};
  const std::string token = "pyfunc_" + std::to_string(counter.fetch_add(1));
  std::vector<number_argument> given;
  for (const operand_value& v : inputs) {
    if (v.tensor() != nullptr) given.emplace_back(*v.tensor());
    else given.emplace_back(*v.literal());
  }
  std::vector<data_type> types;
  for (dtype t : result_types) types.push_back(to_data_type(t));
  const std::string_view type = options.stateful ? "PyFunc" : "PyFuncStateless";
  attribute_map attributes{{"token", token}};
  if (types.empty()) attributes["Tout"] = attribute_list{};
  else attributes["Tout"] = types;
  const graph_operation made = call_operator(g, type, given, std::move(attributes), options.name.empty() ? type : options.name);
  g.named().host_functions.emplace(token, std::move(function));
  return made;
}

LEAT_FUNCTION const host_callback& host_function_of(const graph_operation& node) {
  const auto* a = node.attributes().find("token");
  const auto* token = a != nullptr ? a->get_if<std::string>() : nullptr;
  if (token == nullptr) throw invalid_argument("host_function_of: the node '" + node.name() + "' calls no function of the program");
  const auto& known = node.owner().named().host_functions;
  const auto at = known.find(*token);
  if (at == known.end())
    throw failed_precondition("the node '" + node.name() + "' calls the function '" + *token +
                              "' of the program that made the graph, which this graph does not have");
  return at->second;
}

}  // namespace leat
