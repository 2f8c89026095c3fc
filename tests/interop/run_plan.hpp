#pragma once
// What is to be run of a graph, so that two programs can do the same: the arrays that are fed, the operations that begin, and
// lists of fetches, each one run of one session. It is written as JSON beside the graph, with the dtypes and shapes that the
// library infers of every tensor, against which TensorFlow's are held.

#include <leat/named/graph/lookup.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace interop {

/// An array that stands for a placeholder. Integers and bools are numbers here, too.
struct feed {
  std::string tensor;
  leat::dtype type = leat::dtype::float32;
  std::vector<std::int64_t> sizes;
  std::vector<double> values;
};

/// What is run of a graph.
struct run_plan {
  std::vector<feed> feeds;
  std::vector<std::vector<std::string>> runs;  // fetches: "a:0", or "a" for an operation; the first run initializes
  bool repeatable = true;                      // whether all results follow from the feeds: no random numbers
};

namespace detail {
inline nlohmann::json sizes_of(const leat::shape& s) {
  if (!s.has_rank()) return nullptr;
  nlohmann::json sizes = nlohmann::json::array();
  for (int i = 0; i < s.rank; ++i) sizes.push_back(s[i] < 0 ? -1 : s[i]);
  return sizes;
}
}  // namespace detail

/// Of every tensor of a graph "name:0" → [dtype, sizes], with null for an unknown rank and -1 for an unknown size. A dtype that
/// the library does not know is "DT_INVALID".
inline nlohmann::json tensors_of(leat::graph& g) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& op : leat::get_operations(g))
    for (const auto& tensor : op.outputs())
      all[tensor.name()] = {leat::name_of_data_type(leat::to_data_type(tensor.type())), detail::sizes_of(tensor.extent())};
  return all;
}

/// The plan and the tensors as one document.
inline nlohmann::json to_json(const run_plan& plan, leat::graph& g) {
  nlohmann::json feeds = nlohmann::json::object();
  for (const feed& f : plan.feeds)
    feeds[f.tensor] = {{"dtype", leat::name_of_data_type(leat::to_data_type(f.type))}, {"shape", f.sizes}, {"values", f.values}};
  return {{"feeds", feeds}, {"runs", plan.runs}, {"repeatable", plan.repeatable}, {"tensors", tensors_of(g)}};
}

}  // namespace interop
