#pragma once
// A graph session as hooks see it.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <map>

namespace leat::detail {

class watched_graph_session final : public watched_session {
 public:
  /// `step`: the variable that counts steps; empty for the graph's global step.
  watched_graph_session(graph_session& s, const scaffold* its, output step = {});
  graph_session* of_graph() override { return &session_; }
  bool has_global_step() const override { return static_cast<bool>(step_); }
  LEAT_INLINE std::int64_t global_step() override;
  LEAT_INLINE session_values variables() override;
  LEAT_INLINE std::vector<tensor_value> evaluate(std::span<const fetch_item> fetches, const feed_list& feeds) override;
  LEAT_INLINE std::string save(saver& to, const std::string& prefix, std::int64_t step, const save_options& how) override;
  LEAT_INLINE void restore(const saver& from, const checkpoint_path& path) override;
  const scaffold* its_scaffold() const override { return scaffold_; }

 private:
  graph_session& session_;
  const scaffold* scaffold_;
  output step_;
  std::map<std::string, output, std::less<>> variables_;
};

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/watched_graph_session.hpp>
#endif
