#pragma once
// Implementation of onnx.hpp: selects the nodes that are written, and their order.

#include <leat/core/function_bodies.hpp>
#include <leat/io/binary/write.hpp>
#include <leat/io/onnx.hpp>
#include <leat/io/onnx/operators.hpp>

#include <functional>
#include <iterator>
#include <set>

namespace leat::io::onnx::detail {

/// Returns the value of a variable, or throws.
using variable_source = std::function<tensor_value(const graph_operation&)>;

inline std::string raw_bytes(const void* data, std::size_t bytes) {
  return bytes == 0 ? std::string() : std::string(static_cast<const char*>(data), bytes);
}

inline onnx::tensor_proto onnx_tensor(const tensor_value& v) {
  onnx::tensor_proto t;
  for (int i = 0; i < v.extent().rank; ++i) t.dims.push_back(v.extent()[i]);
  t.type = onnx_type(v.type());
  if (v.type() == text_dtype) t.strings = v.texts();
  else t.elements = raw_bytes(v.data(), v.bytes());
  return t;
}

/// Names the feature that ONNX cannot express, and suggests a remedy.
inline std::string onnx_advice(const facts& what) {
  if (what.is == nature::control) return "control flow is not written: choose outputs that do without it, or select instead of a condition";
  if (what.is == nature::random)
    return "its numbers would be others: build the graph for inference without them, or name its result as an input";
  if (!what.written.empty()) return "a model in ONNX has no variables: choose outputs that do not write them";
  return "it has no counterpart among ONNX's operators: name its result as an input, or choose outputs that do without it";
}

/// The node that is being written, as an operator's class sees it.
class nodes_of_class final : public onnx_nodes {
 public:
  nodes_of_class(onnx_writer& writer, const graph& g) : writer_(writer), graph_(g) {}

  int input_count() const override { return static_cast<int>(writer_.inputs()); }
  std::string input(int k) const override { return writer_.in(checked(k)); }
  dtype type(int k) const override { return writer_.type(checked(k)); }
  shape extent(int k) const override { return writer_.extent(checked(k)); }
  std::int64_t attribute(int k) const override {
    const leat::node& n = graph_.at(writer_.operation().index());
    if (k < 0 || k >= n.attribute_count) refuse("its number " + std::to_string(k) + " is not known while the file is written");
    return graph_.attribute(n, k);
  }
  int opset() const override { return writer_.opset(); }
  std::string node(std::string_view onnx_type, std::vector<std::string> inputs, const leat::onnx_attributes& settings) override {
    return writer_.one(onnx_type, std::move(inputs), as_written(settings));
  }
  std::vector<std::string> nodes(std::string_view onnx_type, std::vector<std::string> inputs, const leat::onnx_attributes& settings,
                                 int results) override {
    if (results < 0 || results > 65535) refuse("its class asks for " + std::to_string(results) + " results of a node");
    return writer_.add(onnx_type, std::move(inputs), as_written(settings), static_cast<std::size_t>(results));
  }
  std::string number(dtype type, double value) override { return writer_.number(type, value); }
  std::string integers(const std::vector<std::int64_t>& values) override { return writer_.ints(values); }
  void result(const std::string& name, int number) override { writer_.result(name, number); }
  [[noreturn]] void refuse(const std::string& why) const override { writer_.refuse(why); }

 private:
  static onnx_attributes as_written(const leat::onnx_attributes& settings) {
    using kind = onnx_attribute::kind;
    onnx_attributes made;
    for (const onnx_attribute& a : settings)
      made.emplace_back(a.name, a.what == kind::integer ? onnx_value(a.integers.front())
                                : a.what == kind::real  ? onnx_value(a.real)
                                : a.what == kind::text  ? onnx_value(a.text)
                                                        : onnx_value(a.integers));
    return made;
  }
  std::size_t checked(int k) const {
    if (k < 0 || k >= input_count()) refuse("its class asks for input " + std::to_string(k) + " of " + std::to_string(input_count()));
    return static_cast<std::size_t>(k);
  }
  onnx_writer& writer_;
  const graph& graph_;
};

class onnx_model_writer {
 public:
  onnx_model_writer(graph& g, const model_signature& model, const onnx_options& options, const variable_source& variables)
      : graph_(g), model_(model), options_(options), variables_(variables), writer_(options.opset) {}

  std::string write() {
    if (options_.opset < 17 || options_.opset > 21)
      throw invalid_argument("ONNX: opset " + std::to_string(options_.opset) + " is not written: 17 to 21 are");
    if (model_.outputs.empty()) throw invalid_argument("ONNX: the model has no outputs");
    graph_.named().settle_names(graph_);
    take_inputs();
    const auto outputs = take_outputs();
    for (const auto& [key, tensor] : outputs) convert(tensor);
    name_outputs(outputs);
    drop_unused();
    writer_.made.name = options_.name.empty() ? "graph" : options_.name;

    onnx::model_proto file;
    file.ir_version = options_.opset <= 18 ? 8 : options_.opset <= 20 ? 9 : 10;
    file.producer = "leat";
    file.producer_version =
        std::to_string(LEAT_VERSION_MAJOR) + "." + std::to_string(LEAT_VERSION_MINOR) + "." + std::to_string(LEAT_VERSION_PATCH);
    file.operator_sets.push_back({.domain = "", .version = options_.opset});
    file.graph = std::move(writer_.made);
    std::string bytes;
    protozero::pbf_writer out{bytes};
    io::detail::write_message(out, bytes, file, io::detail::place{}, 1);
    return bytes;
  }

 private:
  output resolve(const model_tensor& item, const std::string& where) {
    const signature_tensor entry = io::detail::signature_entry(graph_, item, where);  // for its errors
    return get_tensor_by_name(graph_, std::get<std::string>(entry.encoding));
  }
  onnx::type_proto type_of(const output& o, const std::string& where, const std::string& key, bool named) {
    if (onnx_type(o.type()) == onnx::element_type::undefined)
      throw invalid_argument(where + ": ONNX has no " + dtype_name(o.type()) + " here");
    const shape extent = o.extent();
    if (!extent.has_rank())
      throw invalid_argument(where + ": '" + o.name() + "' has an unknown rank, which ONNX does not know: set_shape tells it");
    onnx::shape_proto sizes;
    for (int i = 0; i < extent.rank; ++i) {
      onnx::dimension d;
      if (extent[i] >= 0) d.size = extent[i];
      else if (named) d.size = i == 0 && one_batch_ ? std::string("batch") : key + "_" + std::to_string(i);
      sizes.dims.push_back(std::move(d));
    }
    return {.tensor = onnx::tensor_type{.type = onnx_type(o.type()), .shape = std::move(sizes)}};
  }

  void take_inputs() {
    std::vector<std::pair<std::string, output>> inputs;
    int batches = 0;
    for (const auto& [key, item] : model_.inputs) {
      const output o = resolve(item, "ONNX: input '" + key + "'");
      if (o.extent().rank > 0 && o.extent()[0] < 0) ++batches;
      inputs.emplace_back(key, o);
    }
    one_batch_ = batches == 1;
    for (const auto& [key, o] : inputs) {
      const std::string where = "ONNX: input '" + key + "'";
      if (key.empty()) throw invalid_argument("ONNX: an input has no name");
      if (writer_.has_name(o)) throw invalid_argument(where + ": '" + o.name() + "' is already an input, '" + writer_.name_of(o) + "'");
      writer_.reserve(key);
      writer_.set_name(o, key);
      writer_.made.inputs.push_back({.name = key, .type = type_of(o, where, key, true)});
    }
  }
  std::vector<std::pair<std::string, output>> take_outputs() {
    std::vector<std::pair<std::string, output>> outputs;
    for (const auto& [key, item] : model_.outputs) {
      const std::string where = "ONNX: output '" + key + "'";
      const output o = resolve(item, where);
      if (key.empty()) throw invalid_argument("ONNX: an output has no name");
      if (!writer_.reserve(key)) throw invalid_argument(where + ": an input has this name, too");
      writer_.made.outputs.push_back({.name = key, .type = type_of(o, where, key, false)});
      writer_.want_name(o, key);
      outputs.emplace_back(key, o);
    }
    return outputs;
  }
  // An output that is also an input, a constant, or another output is written as a copy.
  void name_outputs(const std::vector<std::pair<std::string, output>>& outputs) {
    for (const auto& [key, o] : outputs) {
      const std::string name = writer_.name_of(o);
      if (name == key) continue;
      writer_.made.nodes.push_back({.inputs = {name}, .outputs = {key}, .name = "output/" + key, .op = "Identity"});
    }
  }

  // Converts all nodes that a tensor needs, operands first.
  void convert(const output& wanted) {
    std::vector<std::pair<output, bool>> open{{wanted, false}};
    while (!open.empty()) {
      auto [o, ready] = open.back();
      if (writer_.has_name(o) || done_.contains(o.index())) {
        open.pop_back();
        continue;
      }
      const graph_operation op = o.operation();
      if (ready) {
        open.pop_back();
        done_.insert(o.index());
        convert_node(op);
        continue;
      }
      open.back().second = true;
      check_controls(op);
      const std::vector<output> inputs = op.inputs();
      for (std::size_t k = inputs.size(); k-- > 0;) open.emplace_back(inputs[k], false);
    }
  }
  void check_controls(const graph_operation& op) {
    std::vector<graph_operation> open = op.control_inputs();
    while (!open.empty()) {
      const graph_operation first = open.back();
      open.pop_back();
      if (!checked_.insert(first.index()).second) continue;
      if (!is_without_effect(first.type()) && info_at(first).onnx == nullptr)
        throw unimplemented("ONNX: node '" + op.name() + "' (" + std::string(op.type()) + ") runs after '" + first.name() + "' (" +
                            std::string(first.type()) + "), an order that ONNX does not have: " + onnx_advice(info_at(first).what));
      for (const graph_operation& before : first.control_inputs()) open.push_back(before);
      for (const output& in : first.inputs()) open.push_back(in.operation());
    }
  }
  const op_info& info_at(const graph_operation& op) const { return *graph_.at(op.index()).op; }
  void convert_node(const graph_operation& op) {
    const std::string_view type = op.type();
    writer_.begin(op);
    if (info_at(op).kind == op_kind::constant) {
      const auto* value = op.attributes().find("value");
      const auto* held = value != nullptr ? value->get_if<leat::tensor_proto>() : nullptr;
      if (held == nullptr || onnx_type(to_dtype(held->dtype)) == onnx::element_type::undefined) {
        if (held == nullptr || held->dtype != data_type::string) writer_.refuse("a constant of this dtype is not written");
      }
      return writer_.initializer(onnx_tensor(tensor_value::from_proto(*held)));
    }
    if (info_at(op).kind == op_kind::variable) return writer_.initializer(onnx_tensor(variables_(op)));
    if (type == "Placeholder" || type == "PlaceholderV2")
      throw invalid_argument("ONNX: the placeholder '" + op.name() + "' is needed and no input: name it among the inputs");
    if (is_passed_through(type)) return writer_.result(writer_.in());
    if (const auto own = info_at(op).onnx; own != nullptr) {
      nodes_of_class its(writer_, graph_);
      return own(its);
    }
    const onnx_row* row = find_onnx_row(type);
    if (row == nullptr) writer_.refuse(onnx_advice(info_at(op).what));
    if (row->rule != nullptr) row->rule(writer_);
    else writer_.result(writer_.one(row->same, writer_.all()));
  }

  void drop_unused() {
    auto& nodes = writer_.made.nodes;
    std::set<std::string> used;
    for (const auto& o : writer_.made.outputs) used.insert(o.name);
    std::vector<onnx::node_proto> kept;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const auto is_used = [&](const std::string& name) { return used.contains(name); };
      if (!std::any_of(nodes[i].outputs.begin(), nodes[i].outputs.end(), is_used)) continue;
      used.insert(nodes[i].inputs.begin(), nodes[i].inputs.end());
      kept.push_back(std::move(nodes[i]));
    }
    nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
    std::erase_if(writer_.made.initializers, [&](const onnx::tensor_proto& t) { return !used.contains(t.name); });
  }

  graph& graph_;
  const model_signature& model_;
  const onnx_options& options_;
  const variable_source& variables_;
  onnx_writer writer_;
  bool one_batch_ = false;
  std::set<int> done_, checked_;
};

}  // namespace leat::io::onnx::detail

namespace leat::io {

LEAT_FUNCTION std::string write_onnx(graph& g, const model_signature& model, const onnx_options& options) {
  const onnx::detail::variable_source none = [](const graph_operation& op) -> tensor_value {
    throw failed_precondition("ONNX: '" + op.name() +
                              "' is a variable, and the graph is not frozen: pass the session that has its value, or freeze the graph");
  };
  return onnx::detail::onnx_model_writer(g, model, options, none).write();
}

LEAT_FUNCTION std::string write_onnx(graph_session& s, const model_signature& model, const onnx_options& options) {
  const onnx::detail::variable_source values = [&](const graph_operation& op) -> tensor_value {
    return values_of(s, {{op.name(), op.result()}}).begin()->second;
  };
  return onnx::detail::onnx_model_writer(s.owner(), model, options, values).write();
}

LEAT_FUNCTION void write_onnx_file(graph& g, const model_signature& model, const std::filesystem::path& path, const onnx_options& options) {
  write_file(path, detail::naming(path, [&] { return write_onnx(g, model, options); }));
}
LEAT_FUNCTION void write_onnx_file(graph_session& s, const model_signature& model, const std::filesystem::path& path,
                                   const onnx_options& options) {
  write_file(path, detail::naming(path, [&] { return write_onnx(s, model, options); }));
}

}  // namespace leat::io
