#pragma once
// A hook that saves checkpoints while training goes on, and what a checkpoint of a run has beside variables: where random numbers were,
// and a program's own parts, such as a pipeline of data. With them a resumed run gives the numbers of one that was never stopped.
// Source: TensorFlow 1.x `train.CheckpointSaverHook`, `train.CheckpointSaverListener`.

#include <leat/checkpoint/saver.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/supervise/second_or_step_timer.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <functional>
#include <map>

namespace leat {

/// A part of a run that is saved with its variables: `save` returns its state as text, which `restore` gets back. Both are called between
/// runs. `restore` is not called where a checkpoint lacks the part.
struct saved_part {
  std::function<std::string()> save;
  std::function<void(const std::string&)> restore;
};
/// Parts by name, for example {"pipeline", {...}}.
using saved_parts = std::map<std::string, saved_part, std::less<>>;

/// Saves a run: variables, positions of random numbers, parts. Errors: those of `saver::save`, and what parts throw.
std::string save_run(saver& to, watched_session& s, const std::string& prefix, std::int64_t step, const saved_parts& parts = {});
/// Restores it. Errors: those of `saver::restore`, and what parts throw.
void restore_run(const saver& from, watched_session& s, const checkpoint_path& path, const saved_parts& parts = {});
/// The same from the newest checkpoint of a folder; false if there is none.
bool restore_latest_run(saver& from, watched_session& s, const std::string& folder, const saved_parts& parts = {});

namespace detail {
/// What is saved beside the variables.
save_options state_beside(watched_session& s, const saved_parts& parts);
}  // namespace detail

/// Told of each save.
class checkpoint_saver_listener {
 public:
  checkpoint_saver_listener() = default;
  checkpoint_saver_listener(const checkpoint_saver_listener&) = delete;
  checkpoint_saver_listener& operator=(const checkpoint_saver_listener&) = delete;
  virtual ~checkpoint_saver_listener() = default;
  virtual void begin() {}
  virtual void before_save(watched_session&, std::int64_t) {}
  /// Returns whether training is to stop.
  virtual bool after_save(watched_session&, std::int64_t) { return false; }
  virtual void end(watched_session&, std::int64_t) {}
};

struct checkpoint_saver_options {
  std::string checkpoint_dir{};
  std::optional<std::int64_t> save_steps{};
  std::optional<seconds> save_secs{};
  std::shared_ptr<saver> its_saver{};  // otherwise the scaffold's, or one of all variables
  std::string checkpoint_basename = "model.ckpt";
  std::vector<std::shared_ptr<checkpoint_saver_listener>> listeners{};
  saved_parts parts{};
  bool write_events = true;  // the graph, and a session event for each save, beside the checkpoints
};

/// Saves when the session begins, after so many steps or seconds, and at the end, each step once.
/// Errors: invalid_argument unless one of save_steps and save_secs is given, and for no folder; in `begin`, failed_precondition without a
/// global step; those of `save_run`.
[[nodiscard]] hook checkpoint_saver(checkpoint_saver_options how);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/checkpoint_saver_bodies.hpp>
#endif
