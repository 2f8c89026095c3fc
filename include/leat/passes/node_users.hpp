#pragma once
// The users of each node of a graph, collected once for all nodes.

#include <leat/core/list.hpp>
#include <leat/graph/graph.hpp>

namespace leat::passes::detail {

using leat::detail::list;
using leat::detail::list_view;

/// The nodes that read each node, with aliases skipped, and those that wait for it by a control edge. `sources` maps each node to the node
/// whose result it shows.
class users_of_nodes {
 public:
  struct user {
    int node;
    int input;  // the index of the input, or -1 for a control edge
  };

 private:
  template <class F>
  static constexpr void each(const graph& g, const list<int>& sources, F f) {
    for (int i = 0; i < g.size(); ++i) {
      const node& n = g.at(i);
      if (sources[i] == i)
        for (int k = 0; k < n.input_count; ++k) f(sources[g.input(n, k)], user{i, k});
      for (int k = 0; k < n.control_count; ++k) f(g.control(n, k), user{i, -1});
    }
  }

  list<int> begin_;
  list<user> all_;

 public:
  constexpr users_of_nodes(const graph& g, const list<int>& sources) : begin_(g.nodes.size() + 2, 0) {
    each(g, sources, [&](int used, user) { ++begin_[static_cast<std::size_t>(used) + 2]; });
    for (std::size_t i = 2; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    all_.resize(static_cast<std::size_t>(begin_.back()), {});
    each(g, sources, [&](int used, user by) { all_[begin_[static_cast<std::size_t>(used) + 1]++] = by; });
  }
  constexpr list_view<user> of(int i) const {
    const auto from = static_cast<std::size_t>(begin_[i]);
    return {all_.data() + from, static_cast<std::size_t>(begin_[static_cast<std::size_t>(i) + 1]) - from};
  }
};

}  // namespace leat::passes::detail
