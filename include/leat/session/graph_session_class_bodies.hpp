#pragma once
// Implementation of graph_session_class.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/session/graph_session_class.hpp>

namespace leat {

LEAT_FUNCTION graph_callable graph_session::prepare(std::initializer_list<fetch_item> fetches, std::initializer_list<feed_key> feeds,
                       const run_options& how) {
  std::vector<output> fed;
  for (const auto& f : feeds) fed.push_back(f.resolve(graph_));
  return {*this, prepared({fetches.begin(), fetches.size()}, fed), how};
}

}  // namespace leat
