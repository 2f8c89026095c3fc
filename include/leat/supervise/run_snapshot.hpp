#pragma once
// The variables of a graph session at one moment, to be saved while runs continue. The values are shared with the session, which copies a
// value when a run writes to it.

#include <leat/checkpoint/graph_session_access.hpp>
#include <leat/core/function_bodies.hpp>

#include <map>

namespace leat::detail {

class run_snapshot_of_session {
 public:
  explicit run_snapshot_of_session(graph_session& s);

 private:
  friend class snapshot_access;
  graph_session* session_;
  std::vector<session_variable> variables_;
  std::map<std::string, tensor_value, std::less<>> values_;
};

class snapshot_access final : public session_access {
 public:
  explicit snapshot_access(run_snapshot_of_session& s) : snapshot_(&s), session_(*s.session_) {}
  std::vector<session_variable> variables() const override { return snapshot_->variables_; }
  LEAT_INLINE void with_values(const std::vector<std::string>& names,
                               const std::function<void(std::vector<tensor_value>)>& use) const override;
  LEAT_INLINE void assign(const std::vector<std::string>& names, const std::vector<tensor_value>& values, bool adopt) override;
  std::string fingerprint() const override { return session_.fingerprint(); }
  std::string meta_graph() const override { return session_.meta_graph(); }
  std::uint64_t serial() const override { return session_.serial(); }

 private:
  run_snapshot_of_session* snapshot_;
  graph_session_access session_;
};

inline snapshot_access access_of(access_key, run_snapshot_of_session& s) { return snapshot_access(s); }

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/run_snapshot.hpp>
#endif
