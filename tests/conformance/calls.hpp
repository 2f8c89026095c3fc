#pragma once
// The calls that operators are tried with: arrays for the inputs of a sample, a graph of the one node, and the samples of all operators
// that are registered.

#include "samples.hpp"

#include <leat/graph/known_operators.hpp>
#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/named/canonical/rewrite.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/graph/bind_arguments.hpp>
#include <leat/named/graph/convert.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace conformance {

using namespace leat;

inline constexpr dtype every_dtype[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean};

// ---- values ---------------------------------------------------------------------------------------------------------

enum class flavor { ordinary, nonfinite, extreme, zeros };

/// Elements that differ from input to input and repeat with a period that no shape has.
inline tensor_value made_values(dtype type, const shape& extent, flavor how, std::size_t input) {
  tensor_value v(type, extent);
  with_dtype(type, [&]<class T>(T) {
    using limits = std::numeric_limits<T>;
    std::vector<T> pool;
    if constexpr (std::is_same_v<T, bool>) {
      pool = {true, false, false, true, true, false, true};
    } else if constexpr (std::is_floating_point_v<T>) {
      pool = {T(0.75), T(-1.25), T(2.5), T(0.3), T(-0.6), T(3.1), T(1), T(0), T(-2), T(0.1), T(6.5)};
      if (how == flavor::nonfinite)
        for (T x : {limits::quiet_NaN(), limits::infinity(), -limits::infinity()}) pool.insert(pool.begin() + 2, {x, T(0.5), x});
      if (how == flavor::extreme)
        for (T x : {limits::max(), limits::lowest(), limits::min(), -limits::min(), T(-0.0), T(100), T(-100)})
          pool.insert(pool.begin() + 2, {x, T(0.5), x});
    } else {
      pool = {T(7), T(2), T(1), T(5), T(3), T(11), T(4)};
      if constexpr (std::is_signed_v<T>) pool.insert(pool.begin() + 2, {T(-1), T(-6), T(-2)});
      if (how == flavor::extreme) pool.insert(pool.begin() + 2, {limits::max(), limits::min(), T(1), limits::min()});
    }
    if (how == flavor::zeros) {
      pool.assign(3, T(0));
      if constexpr (std::is_floating_point_v<T>) pool[1] = T(-0.0);
    }
    T* to = reinterpret_cast<T*>(v.data());
    for (std::int64_t i = 0; i < v.elements(); ++i) to[i] = pool[(static_cast<std::size_t>(i) + input * 3) % pool.size()];
  });
  return v;
}
inline tensor_value fixed_values(dtype type, const argument& a) {
  tensor_value v(type, a.extent);
  with_dtype(type, [&]<class T>(T) {
    T* to = reinterpret_cast<T*>(v.data());
    for (std::size_t i = 0; i < a.fixed.size(); ++i) to[i] = static_cast<T>(a.fixed[i]);
  });
  return v;
}
inline std::vector<tensor_value> values_of(const sample& s, dtype tried, flavor how) {
  std::vector<tensor_value> all;
  for (std::size_t k = 0; k < s.inputs.size(); ++k) {
    const argument& a = s.inputs[k];
    const dtype type = a.type == dtype::invalid ? tried : a.type;
    const bool given = !a.fixed.empty() || a.what == argument::role::number;
    tensor_value v = given ? fixed_values(type, a) : made_values(type, a.extent, how, k);
    // slots of optimizers are sums of squares
    if (a.what == argument::role::variable && k > 0 && is_floating(type))
      with_fraction(type, [&]<class T>(T) {
        for (T& x : v.values<T>()) x = std::abs(x) + T(0.125);
      });
    all.push_back(std::move(v));
  }
  return all;
}

inline std::string text_of(const tensor_value& v) {
  return v ? dtype_name(v.type()) + " " + brackets(v.extent()) + " " + summary_text(v, 40) : "nothing";
}

// ---- graphs ---------------------------------------------------------------------------------------------------------

inline const op_info* class_of(std::string_view type) {
  const op_info* op = find_operator(type);
  return op != nullptr && op->infer != nullptr ? op : nullptr;
}
inline std::string input_name(std::size_t k) { return "in" + std::to_string(k); }

/// How the inputs of a sample stand in its graph.
enum class inputs_as { fed, constants, variables };

inline node_def leaf(const std::string& name, const tensor_value& v, inputs_as how) {
  node_def n{.name = name};
  n.attributes["dtype"] = v.type();
  if (how == inputs_as::constants) {
    n.op = "Const";
    n.attributes["value"] = v.proto();
    return n;
  }
  n.op = how == inputs_as::fed ? "Placeholder" : "VariableV2";
  n.attributes["shape"] = to_proto(v.extent());
  if (how == inputs_as::variables) n.attributes["container"] = n.attributes["shared_name"] = "";
  return n;
}

inline graph_def graph_of(const sample& s, const std::vector<tensor_value>& values, dtype tried, inputs_as how) {
  graph_def def{.versions = {.producer = graph_def_producer}};
  node_def node{.name = "y", .op = s.type, .attributes = s.attributes};
  std::vector<dtype> operands;
  for (std::size_t k = 0; k < s.inputs.size(); ++k) {
    const auto what = s.inputs[k].what;
    def.nodes.push_back(leaf(input_name(k), values[k],
                             what == argument::role::variable ? inputs_as::variables
                             : what == argument::role::number ? inputs_as::constants
                                                              : how));
    node.inputs.push_back(input_name(k));
    if (what != argument::role::number) operands.push_back(values[k].type());
  }
  if (const op_info* op = class_of(s.type)) {
    for (const field& f : form_of(*op, static_cast<int>(operands.size())))
      if (f.kind == field_kind::type_of && static_cast<std::size_t>(f.value) < operands.size())
        node.attributes[f.name] = operands[static_cast<std::size_t>(f.value)];
      else if (f.kind == field_kind::type_number && !node.attributes.contains(f.name)) node.attributes[f.name] = tried;
      else if (f.kind == field_kind::fixed_type) node.attributes[f.name] = dtype::int32;
  } else if (const operator_definition* d = find_definition(s.type)) {
    std::vector<tensor_info> infos;
    for (const auto& v : values) infos.push_back({v.type(), v.extent()});
    const auto ranges = detail::ranges_of(*d, static_cast<int>(infos.size()), node.attributes);
    detail::bind_attributes(*d, ranges, infos, node.attributes);
  }
  def.nodes.push_back(std::move(node));
  return def;
}

/// Multiplies every operand and every result by a 1 that is fed, so that loops have neighbors.
inline graph_def with_neighbors(graph_def def, const sample& s, dtype tried, int results) {
  const auto neighbor = [&](const std::string& name, const std::string& of, dtype type) {
    node_def n{.name = name, .op = type == dtype::boolean ? "LogicalAnd" : "Mul", .inputs = {of, "one"}};
    if (type != dtype::boolean) n.attributes["T"] = type;
    return n;
  };
  node_def y = std::move(def.nodes.back());
  def.nodes.pop_back();
  def.nodes.push_back(leaf("one", tensor_value(tried, shape{}), inputs_as::fed));
  for (std::size_t k = 0; k < s.inputs.size(); ++k) {
    const argument& a = s.inputs[k];
    if (a.what != argument::role::tensor || a.type != dtype::invalid) continue;
    def.nodes.push_back(neighbor("of_" + input_name(k), input_name(k), tried));
    y.inputs[k] = "of_" + input_name(k);
  }
  def.nodes.push_back(std::move(y));
  for (int r = 0; r < results; ++r) def.nodes.push_back(neighbor("after" + std::to_string(r), "y:" + std::to_string(r), tried));
  return def;
}

/// Read again from the bytes that a file would have.
inline void import_again(graph& g, const graph_def& def) { import_graph(g, io::read_binary(io::write_binary(def)), {.name = ""}); }

// ---- operators ------------------------------------------------------------------------------------------------------

inline std::set<std::string> all_types() {
  std::set<std::string> types;
  for (auto t : known_operator_types()) types.emplace(t);
  for (auto t : defined_operator_types()) types.emplace(t);
  for (const std::string& type : kernel_types()) types.insert(type);
  for (const std::string_view type : detail::canonical_rewrites().keys(&detail::operator_entry::rewrite))
    if (type.find(':') == type.npos) types.emplace(type);
  return types;
}
inline bool is_exempt(const std::string& type) {
  for (const auto& e : exemptions())
    if (e.type == type) return true;
  if (type.starts_with("Stateless")) return false;  // their numbers follow from the seed
  for (const char* part :
       {"Queue", "Random", "TruncatedNormal", "Multinomial", "UniformCandidateSampler", "UnigramCandidateSampler", "Accumulator",
        "Summary", "Iterator", "Dataset", "Optional", "MemoryCache", "SeedGenerator", "_Send", "_Recv", "Resource",
        "VariableOp"})
    if (type.find(part) != type.npos) return true;
  return false;
}
inline bool runs(const std::string& type) {
  const op_info* op = class_of(type);
  return op != nullptr || find_kernel(type) != nullptr || detail::find_rewrite(type) != nullptr;
}

/// Whether an error says that the operator does not take such dtypes.
inline bool is_unsupported(std::string_view problem) {
  for (const char* words :
       {"no kernel", "takes floating-point", "takes numbers", "takes integers", "takes bool", "dtypes differ",
        "is not in the list of allowed", "must be floating", "does not match", "does not compute with", "no kernel for"})
    if (problem.find(words) != std::string::npos) return true;
  return false;
}

/// The samples of all operators that are registered, run, and are functions of their inputs; `missing` gets those that have none.
inline std::vector<sample> all_samples(std::vector<std::string>& missing) {
  std::vector<sample> samples = written_samples();
  std::set<std::string> sampled;
  for (const auto& s : samples) sampled.insert(s.type);
  for (const auto& type : all_types()) {
    if (sampled.contains(type) || is_exempt(type) || !runs(type)) continue;
    const op_info* op = class_of(type);
    int operands = 0;
    if (op != nullptr && op->kind == op_kind::element) {
      for (const field& f : op->form) operands += is_operand(f.kind) ? 1 : 0;
      for (auto& s : element_samples(type, operands)) samples.push_back(std::move(s));
    }
    if (operands != 1 && operands != 2) missing.push_back(type);
  }
  return samples;
}

}  // namespace conformance
