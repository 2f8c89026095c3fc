#pragma once
// Compares nodes that this program made with nodes that TensorFlow recorded: names, types, inputs, control inputs in any order,
// devices, attributes, contents of constants. What only TensorFlow 2.x writes into graphs is left out.

#include "support/evaluate.hpp"

#include <leat/named/exchange/export.hpp>
#include <leat/proto/graph_def.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace leat_test {

struct comparison {
  int recorded = 0;  // nodes on the other side
  int made = 0;      // nodes here
  int same = 0;
  std::vector<std::string> differences;
};

inline bool only_in_2(std::string_view attribute) {
  return attribute.starts_with("_has_manual") || attribute == "grad_a" || attribute == "grad_b" || attribute == "explicit_paddings" ||
         attribute == "batch_dims" || attribute == "Truncate" || attribute == "incompatible_shape_error";
}

inline std::string inputs_text(const leat::node_def& n) {
  std::vector<std::string> plain;
  std::vector<std::string> waits;
  for (std::string in : n.inputs) {
    if (in.ends_with(":0")) in.resize(in.size() - 2);
    (in.starts_with("^") ? waits : plain).push_back(in);
  }
  std::sort(waits.begin(), waits.end());
  std::string text;
  for (const auto& in : plain) text += " " + in;
  for (const auto& in : waits) text += " " + in;
  return text;
}

/// What differs between two nodes of one name; empty where nothing does.
inline std::string difference(const leat::node_def& recorded, const leat::node_def& made) {
  if (recorded.op != made.op) return "is " + made.op + ", not " + recorded.op;
  if (inputs_text(recorded) != inputs_text(made)) return "takes" + inputs_text(made) + ", not" + inputs_text(recorded);
  if (recorded.device != made.device) return "stands on '" + made.device + "', not '" + recorded.device + "'";
  for (const auto* side : {&recorded, &made})
    for (const auto& [name, value] : side->attributes) {
      const std::string key(name);
      if (only_in_2(key)) continue;
      const auto* a = recorded.attributes.find(key);
      const auto* b = made.attributes.find(key);
      if (a == nullptr) return "has the attribute " + key + " more";
      if (b == nullptr) return "lacks the attribute " + key;
      const auto* p = a->get_if<leat::tensor_proto>();
      const auto* q = b->get_if<leat::tensor_proto>();
      if (p != nullptr && q != nullptr) {
        if (p->dtype != q->dtype) return "has another dtype";
        const array x = constant_of(*p);
        const array y = constant_of(*q);
        if (x.dims != y.dims) return "has another shape";
        if (x.at != y.at) return "has another value";
        continue;
      }
      if (!(*a == *b)) return "has another " + key;
    }
  return {};
}

/// Compares the nodes that `wanted` accepts.
template <class Wanted>
comparison compare(const leat::graph_def& recorded, const leat::graph_def& made, Wanted wanted) {
  comparison c;
  std::map<std::string, const leat::node_def*> here;
  for (const auto& n : made.nodes)
    if (wanted(n)) here[n.name] = &n;
  c.made = static_cast<int>(here.size());
  std::map<std::string, bool> there;
  for (const auto& n : recorded.nodes) {
    if (!wanted(n)) continue;
    ++c.recorded;
    there[n.name] = true;
    const auto at = here.find(n.name);
    if (at == here.end()) {
      c.differences.push_back(n.name + " (" + n.op + "): is not made");
      continue;
    }
    const std::string what = difference(n, *at->second);
    if (what.empty()) ++c.same;
    else c.differences.push_back(n.name + ": " + what);
  }
  for (const auto& [name, node] : here)
    if (!there.contains(name)) c.differences.push_back(name + " (" + node->op + "): is only made here");
  return c;
}

}  // namespace leat_test
