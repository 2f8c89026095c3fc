#pragma once
// What must hold of every graph, however its file came about: it is imported or refused, planned or refused, run or refused, by
// errors of the library that say something, in little memory and time. Nothing else may happen. A property that fails ends the
// program, which is how libFuzzer learns of it.

#include "properties.hpp"

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

namespace leat_fuzz {

inline constexpr std::size_t most_nodes = 300;
inline constexpr int most_fetches = 5;

/// Zeros and ones for every placeholder that has a small shape.
inline std::vector<leat::feed_item> small_feeds(leat::graph& g) {
  using namespace leat;
  std::vector<feed_item> feeds;
  for (const graph_operation& op : get_operations(g)) {
    if (g.at(op.index()).op->kind != op_kind::placeholder) continue;
    const output tensor = op.result();
    shape extent = tensor.extent();
    if (!extent.has_rank()) extent.rank = 1, extent.dim[0] = 2;
    for (int i = 0; i < extent.rank; ++i)
      if (extent[i] < 0) extent.dim[i] = 2;
    if (!extent.is_countable() || extent.elements() > 4096 || size_of(tensor.type()) == 0) continue;
    tensor_value value(tensor.type(), extent);
    with_dtype(tensor.type(), [&]<class T>(T) {
      auto all = value.values<T>();
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<T>(i % 2);
    });
    feeds.emplace_back(feed_key(tensor), value);
  }
  return feeds;
}

inline void must_say_something(const leat::error& e) { must(e.what()[0] != '\0', "an error says something"); }

inline void run_some(leat::graph& g, bool fuse) {
  using namespace leat;
  static std::ostream nowhere(nullptr);
  session_options options;
  options.fuse = fuse;
  options.log = &nowhere;
  options.operation_timeout_in_ms = 300;
  options.inter_op_parallelism_threads = 1;
  options.memory_limit_in_bytes = 4 << 20;
  graph_session s(g, options);
  const feed_list feeds(small_feeds(g));
  std::vector<graph_operation> operations = get_operations(g);
  std::reverse(operations.begin(), operations.end());
  int runs = 0;
  for (const graph_operation& op : operations) {
    if (++runs > most_fetches) break;
    try {
      const graph_element what = op.outputs().empty() ? graph_element(op) : graph_element(op.result());
      for (const tensor_value& v : s.run(std::vector<fetch_item>{what}, feeds)) {
        if (!v) continue;
        must(v.elements() >= 0 && v.elements() * std::max(size_of(v.type()), 1) <= 8 << 20, "a result is not larger than the limit");
        static_cast<void>(summary_text(v, 3));
        const auto* tensor = std::get_if<output>(&what);
        must(tensor == nullptr || tensor->type() == dtype::invalid || v.type() == resource_dtype || v.type() == tensor->type(),
             "a result has the dtype that the graph says");
      }
    } catch (const error& e) {
      must_say_something(e);
    }
  }
}

inline void run_graph(const leat::graph_def& def) {
  using namespace leat;
  if (def.nodes.size() > most_nodes) return;
  for (const bool fuse : {false, true}) try {
      graph g;
      g.named();
      import_graph(g, def, {.name = ""});
      if (g.size() > 0) run_some(g, fuse);
    } catch (const error& e) {
      must_say_something(e);
      return;
    }
}

}  // namespace leat_fuzz
