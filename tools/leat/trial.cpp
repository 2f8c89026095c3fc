#include "trial.hpp"

#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/graph/literal.hpp>
#include <leat/proto/tensor_contents.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <cstring>
#include <ostream>

namespace tool {

using namespace leat;

namespace {

// What a trial may take: constants are a file's, and may ask for any array.
constexpr std::int64_t most_elements = 1 << 16, memory = 64 << 20, milliseconds = 2000;
// A size that is not known; one that is too large, with all others, so that equal sizes stay equal.
constexpr std::int64_t unknown_size = 2, cut_size = 8;

// Whether it may be run for nothing: in a session of its own, whose variables, queues and log are nobody's. Not what waits for others, or
// speaks with them.
bool may_be_tried(const op_info& op) {
  if (op.kind == op_kind::placeholder || op.kind == op_kind::variable || op.kind == op_kind::constant || op.kind == op_kind::group)
    return false;
  return op.what.control == flow::plain && !op.what.waits && !op.what.ordered;
}

// An input of a trial: a constant of the graph's, a variable, or something that is fed.
struct trial_input {
  std::string name;
  const tensor_proto* contents = nullptr;
  tensor_info info;
  bool is_variable = false;
};

node_def node_of(const trial_input& input) {
  node_def def{.name = input.name};
  const data_type type = to_data_type(input.info.type);
  if (input.contents != nullptr) {
    def.op = "Const";
    def.attributes = {{"dtype", type}, {"value", *input.contents}};
  } else {
    def.op = input.is_variable ? "VariableV2" : "Placeholder";
    def.attributes = {{"dtype", type}, {"shape", to_proto(input.info.extent)}};
  }
  return def;
}

std::string without_node(std::string text) {
  if (const auto at = text.find("\n\t [[node"); at != text.npos) text.resize(at);
  return text;
}

}  // namespace

std::string node_trials::refusal_of(const graph_operation& node) {
  std::string refusal = without_node(session_.refusal_of(node));
  return refusal.empty() ? trial_of(node) : refusal;
}

std::string node_trials::trial_of(const graph_operation& node) {
  graph& g = session_.owner();
  const op_info& op = *g.at(node.index()).op;
  if (!may_be_tried(op)) return {};
  const std::vector<output> from = node.inputs();
  std::vector<trial_input> inputs;
  std::int64_t elements = 0;
  for (std::size_t k = 0; k < from.size(); ++k) {
    trial_input in{.name = "input" + std::to_string(k), .info = {from[k].type(), from[k].extent()}};
    // No handle can be made up; what has no kernel of its own is run by its definition, which takes arrays.
    if (in.info.type == resource_dtype) return find_kernel(op.type) == nullptr ? "no kernel for dtype " + dtype_name(in.info.type) : "";
    if (!in.info.extent.has_rank()) return {};
    if (element_bytes(in.info.type) == 0 && in.info.type != text_dtype) return {};
    in.is_variable = op.what.written.contains(k);
    if (from[k].port() == 0 && !in.is_variable) in.contents = g.named().contents_of(g, from[k].index());
    shape whole = in.info.extent;
    for (int i = 0; i < whole.rank; ++i)
      if (whole[i] < 0) whole.dim[i] = unknown_size;
    elements = std::max(elements, whole.elements());
    inputs.push_back(std::move(in));
  }
  if (elements > most_elements)
    for (trial_input& in : inputs)
      if (in.contents == nullptr || in.info.extent.elements() > most_elements) {
        in.contents = nullptr;
        for (int i = 0; i < in.info.extent.rank; ++i) in.info.extent.dim[i] = std::min(in.info.extent[i], cut_size);
      }

  graph_def def;
  node_def tried = to_node_def(g, node.index());
  tried.name = "tried";
  tried.device.clear();
  tried.inputs.clear();
  tried.attributes.erase("_class");
  for (const trial_input& in : inputs) {
    tried.inputs.push_back(in.name);
    def.nodes.push_back(node_of(in));
  }
  def.nodes.push_back(std::move(tried));
  auto& known = known_[std::string(op.type)];
  for (const auto& [its, refusal] : known)
    if (its.nodes == def.nodes) return refusal;

  std::string refusal;
  try {
    graph scratch;
    scratch.named();
    import_graph(scratch, def, {.name = ""});
    static std::ostream nowhere(nullptr);
    graph_session session(scratch,
                          {.operation_timeout_in_ms = milliseconds, .log = &nowhere, .fuse = false, .memory_limit_in_bytes = memory});
    std::vector<feed_item> feeds;
    for (const trial_input& in : inputs) {
      if (in.contents != nullptr) continue;
      shape extent = in.info.extent;
      for (int i = 0; i < extent.rank; ++i)
        if (extent[i] < 0) extent.dim[i] = unknown_size;
      const output tensor = get_tensor_by_name(scratch, in.name + ":0");
      tensor_value zeros(in.info.type, extent);
      if (zeros.bytes() > 0) std::memset(zeros.data(), 0, zeros.bytes());
      if (in.is_variable) session.assign(tensor, zeros);
      else feeds.emplace_back(feed_key(tensor), zeros);
    }
    session.run({get_operation_by_name(scratch, "tried")}, feed_list(std::move(feeds)));
  } catch (const unimplemented& e) {
    refusal = without_node(e.what());
  } catch (const error&) {
    // The zeros do not fit, which says nothing of the node.
  }
  constexpr std::size_t most_known = 64;
  if (known.size() < most_known) known.emplace_back(std::move(def), refusal);
  return refusal;
}

}  // namespace tool
