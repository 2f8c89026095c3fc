#pragma once
// Writes the nodes of a graph as ONNX nodes: names of tensors, constants, and the properties of the current node that the rules of
// operators.hpp need.

#include <leat/io/onnx/messages.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/graph/known_value.hpp>
#include <leat/named/graph/literal.hpp>
#include <leat/proto/tensor_contents.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace leat::io::onnx::detail {

/// An attribute's value.
using onnx_value = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>;
using onnx_attributes = std::vector<std::pair<std::string_view, onnx_value>>;

/// ONNX's number of a dtype; undefined for dtypes that ONNX lacks.
inline onnx::element_type onnx_type(dtype type) {
  switch (type) {
    case dtype::float32: return onnx::element_type::float32;
    case dtype::float64: return onnx::element_type::float64;
    case dtype::int32: return onnx::element_type::int32;
    case dtype::int64: return onnx::element_type::int64;
    case dtype::uint8: return onnx::element_type::uint8;
    case dtype::boolean: return onnx::element_type::boolean;
    default: return type == text_dtype ? onnx::element_type::string : onnx::element_type::undefined;
  }
}

using names = std::vector<std::string>;

/// The node that is being written, and the ONNX graph to which it is added.
class onnx_writer {
 public:
  explicit onnx_writer(int opset) : opset_(opset) {}

  onnx::graph_proto made{};

  // ---- the node ------------------------------------------------------------------------------------------------------

  void begin(graph_operation op) {
    op_ = op;
    inputs_ = op.inputs();
    first_ = made.nodes.size();
  }
  const graph_operation& operation() const { return op_; }
  int opset() const { return opset_; }
  std::size_t inputs() const { return inputs_.size(); }
  const output& operand(std::size_t k) const { return inputs_.at(k); }
  dtype type(std::size_t k = 0) const { return inputs_.at(k).type(); }
  const shape extent(std::size_t k = 0) const { return inputs_.at(k).extent(); }
  /// The rank of an input. Errors: unimplemented if it is unknown.
  int rank(std::size_t k = 0) const {
    const shape s = extent(k);
    if (!s.has_rank()) refuse("needs the rank of '" + inputs_.at(k).name() + "', which is unknown: set_shape tells it");
    return s.rank;
  }
  /// The name of an input in the ONNX graph.
  std::string in(std::size_t k = 0) const { return name_of(inputs_.at(k)); }
  names all() const {
    names list;
    for (const output& o : inputs_) list.push_back(name_of(o));
    return list;
  }

  template <class T>
  T attribute(std::string_view name, T otherwise) const {
    const auto* a = op_.attributes().find(name);
    const T* held = a != nullptr ? a->template get_if<T>() : nullptr;
    return held != nullptr ? *held : otherwise;
  }
  bool flag(std::string_view name) const { return attribute<bool>(name, false); }
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const { return attribute<std::int64_t>(name, otherwise); }

  /// The integers of an input, if they are known while the graph is written.
  std::optional<std::vector<std::int64_t>> known(std::size_t k) const {
    output o = inputs_.at(k);
    const auto info_at = [](const output& of) -> const op_info& { return *of.owner().at(of.index()).op; };
    while (info_at(o).kind == op_kind::identity) o = o.operation().inputs().at(0);
    if (info_at(o).kind == op_kind::constant) {
      const auto* value = o.operation().attributes().find("value");
      const auto* held = value != nullptr ? value->get_if<leat::tensor_proto>() : nullptr;
      return held != nullptr ? integers_of(*held, max_contents) : std::nullopt;
    }
    return fully_known_numbers(o);
  }
  /// The same as `known`. Errors: unimplemented if the integers are not known.
  std::vector<std::int64_t> wanted(std::size_t k, std::string_view what) const {
    auto list = known(k);
    if (!list) refuse("ONNX wants " + std::string(what) + " as constants, and '" + inputs_.at(k).name() + "' is computed: use constants");
    return *std::move(list);
  }
  std::int64_t wanted_one(std::size_t k, std::string_view what) const {
    const auto list = wanted(k, what);
    if (list.size() != 1) refuse(std::string(what) + ": one number is wanted");
    return list.front();
  }
  /// The name of an input of integers in the form that ONNX expects: int64, of rank 1.
  std::string indices(std::size_t k) {
    if (const auto list = known(k)) return ints(*list);
    return as(dtype::int64, type(k), in(k));
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw unimplemented("ONNX: node '" + op_.name() + "' (" + std::string(op_.type()) + "): " + why);
  }

  // ---- its ONNX nodes ------------------------------------------------------------------------------------------------

  /// Adds a node; returns the names of its outputs.
  names add(std::string_view op, names inputs, const onnx_attributes& attributes = {}, std::size_t outputs = 1) {
    onnx::node_proto node;
    node.op = std::string(op);
    node.name = unique(op_.name() + (made.nodes.size() == first_ ? "" : "/" + node.op), used_nodes_);
    node.inputs = std::move(inputs);
    for (std::size_t k = 0; k < outputs; ++k) node.outputs.push_back(unique(op_.name() + "/" + node.op, used_));
    for (const auto& [name, value] : attributes) {
      onnx::attribute_proto a;
      a.name = std::string(name);
      if (const auto* i = std::get_if<std::int64_t>(&value)) {
        a.kind = onnx::attribute_kind::integer;
        a.integer = *i;
      } else if (const auto* f = std::get_if<float>(&value)) {
        a.kind = onnx::attribute_kind::number;
        a.number = *f;
      } else if (const auto* s = std::get_if<std::string>(&value)) {
        a.kind = onnx::attribute_kind::text;
        a.text = *s;
      } else {
        a.kind = onnx::attribute_kind::integers;
        a.integers = std::get<std::vector<std::int64_t>>(value);
      }
      node.attributes.push_back(std::move(a));
    }
    made.nodes.push_back(std::move(node));
    return made.nodes.back().outputs;
  }
  /// The same for a node with one output.
  std::string one(std::string_view op, names inputs, const onnx_attributes& attributes = {}) {
    return add(op, std::move(inputs), attributes).front();
  }
  /// Makes `name` a result of the node. If `name` was generated for this node, it is renamed to the tensor's own name.
  void result(const std::string& name, int port = 0) {
    const output o = op_.result(port);
    for (std::size_t i = first_; i < made.nodes.size(); ++i)
      for (const std::string& out : made.nodes[i].outputs)
        if (out == name && !settled_.contains(name)) return rename(name, o);
    tensors_[{o.index(), o.port()}] = name;
  }

  std::string cast(dtype to, const std::string& x) { return one("Cast", {x}, {{"to", std::int64_t{static_cast<int>(onnx_type(to))}}}); }
  std::string as(dtype to, dtype from, const std::string& x) { return to == from ? x : cast(to, x); }

  /// A constant with elements in memory; equal constants are written once.
  std::string constant(dtype type, const std::vector<std::int64_t>& dims, std::string bytes) {
    std::string& name = constants_[{type, dims, bytes}];
    if (name.empty()) {
      name = unique("constant", used_);
      made.initializers.push_back({.dims = dims, .type = onnx_type(type), .name = name, .elements = std::move(bytes)});
    }
    return name;
  }
  /// A vector of int64.
  std::string ints(const std::vector<std::int64_t>& list) {
    return constant(dtype::int64, {static_cast<std::int64_t>(list.size())},
                    std::string(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(std::int64_t)));
  }
  /// A scalar.
  std::string number(dtype type, double x) { return constant(type, {}, tensor_literal(type, shape{}, x).bytes()); }
  std::string integer_scalar(std::int64_t x) {
    return constant(dtype::int64, {}, std::string(reinterpret_cast<const char*>(&x), sizeof x));
  }

  // ---- the graph -----------------------------------------------------------------------------------------------------

  /// The node's result as a constant with these elements.
  void initializer(onnx::tensor_proto t) {
    const output o = op_.result(0);
    t.name = name_for(o);
    tensors_[{o.index(), o.port()}] = t.name;
    made.initializers.push_back(std::move(t));
  }
  /// Reserves a name for a tensor for which nothing is written. Returns false if the name is taken.
  bool reserve(const std::string& name) { return used_.insert(name).second; }
  void set_name(const output& o, const std::string& name) { tensors_[{o.index(), o.port()}] = name; }
  void want_name(const output& o, const std::string& name) { wanted_names_.try_emplace({o.index(), o.port()}, name); }
  bool has_name(const output& o) const { return tensors_.contains({o.index(), o.port()}); }
  std::string name_of(const output& o) const {
    const auto at = tensors_.find({o.index(), o.port()});
    if (at == tensors_.end()) refuse("'" + o.name() + "' has no counterpart");
    return at->second;
  }

 private:
  static std::string unique(const std::string& base, std::set<std::string>& used) {
    if (used.insert(base).second) return base;
    for (int n = 1;; ++n)
      if (std::string name = base + "_" + std::to_string(n); used.insert(name).second) return name;
  }
  std::string name_for(const output& o) {
    if (const auto at = wanted_names_.find({o.index(), o.port()}); at != wanted_names_.end()) return at->second;
    return unique(o.port() == 0 ? o.operation().name() : o.name(), used_);
  }
  void rename(const std::string& from, const output& o) {
    const std::string to = name_for(o);
    for (std::size_t i = first_; i < made.nodes.size(); ++i)
      for (auto* list : {&made.nodes[i].inputs, &made.nodes[i].outputs})
        for (std::string& name : *list)
          if (name == from) name = to;
    used_.erase(from);
    settled_.insert(to);
    tensors_[{o.index(), o.port()}] = to;
  }

  int opset_;
  graph_operation op_;
  std::vector<output> inputs_;
  std::size_t first_ = 0;
  std::map<std::pair<int, int>, std::string> tensors_;       // by node and port
  std::map<std::pair<int, int>, std::string> wanted_names_;  // names of the outputs
  std::map<std::tuple<dtype, std::vector<std::int64_t>, std::string>, std::string> constants_;
  std::set<std::string> used_, used_nodes_, settled_;
};

}  // namespace leat::io::onnx::detail
