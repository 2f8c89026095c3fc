#pragma once
// Adapts sessions of graphs with names to savers. Savers include this header if graphs are available, so that other programs do not depend
// on it.

#include <leat/checkpoint/saver.hpp>
#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/session/graph_variables.hpp>

namespace leat::detail {

/// A session of a graph with names.
class graph_session_access final : public session_access {
 public:
  explicit graph_session_access(graph_session& s) : session_(&s) {}
  LEAT_INLINE std::vector<session_variable> variables() const override;
  LEAT_INLINE void with_values(const std::vector<std::string>& names,
                               const std::function<void(std::vector<tensor_value>)>& use) const override;
  LEAT_INLINE void assign(const std::vector<std::string>& names, const std::vector<tensor_value>& values, bool adopt) override;
  LEAT_INLINE std::map<std::string, std::string> tasks_of_variables() const override;
  LEAT_INLINE std::vector<written_shard> write_shards(const std::vector<shard_order>& orders) const override;
  LEAT_INLINE void read_shards(const std::vector<shard_reading>& orders) override;
  LEAT_INLINE std::string fingerprint() const override;
  LEAT_INLINE std::string meta_graph() const override;
  LEAT_INLINE std::uint64_t serial() const override;

 private:
  graph_session* session_;
};

inline graph_session_access access_of(access_key, graph_session& s) {
  compile_fill(fill_graph_capture);  // needed if another source file constructs the saver
  return graph_session_access(s);
}

/// A hash of the graph's nodes, their operators and inputs, as `fingerprint_text`.
std::string fingerprint_of(graph& g);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/checkpoint/impl/graph_session_access.hpp>
#endif
