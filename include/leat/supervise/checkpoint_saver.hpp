#pragma once
// A hook that saves checkpoints during training. A checkpoint of a run holds, in addition to the variables, the state of random number
// generators and the program's own parts, such as a data pipeline; with them a resumed run computes the same values as a run that was never
// stopped.
// Source: TensorFlow 1.x `train.CheckpointSaverHook`, `train.CheckpointSaverListener`.

#include <leat/checkpoint/saver.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/supervise/second_or_step_timer.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <functional>
#include <map>

namespace leat {

/// A part of a program's state that is saved with the variables: `save` returns the state as a string, and `restore` receives that string.
/// Both are called between runs. `restore` is not called if the checkpoint lacks the part.
struct saved_part {
  std::function<std::string()> save;
  std::function<void(const std::string&)> restore;
};
/// Parts by name, for example {"pipeline", {...}}.
using saved_parts = std::map<std::string, saved_part, std::less<>>;

/// Saves variables, states of random number generators and parts. Returns the checkpoint's name. Errors: those of `saver::save`, and what
/// the parts throw.
std::string save_run(saver& to, watched_session& s, const std::string& prefix, std::int64_t step, const saved_parts& parts = {});
/// Restores what `save_run` saved. Errors: those of `saver::restore`, and what the parts throw.
void restore_run(const saver& from, watched_session& s, const checkpoint_path& path, const saved_parts& parts = {});
/// Calls `restore_run` for the newest checkpoint of a folder. Returns false if the folder has none.
bool restore_latest_run(saver& from, watched_session& s, const std::string& folder, const saved_parts& parts = {});

namespace detail {
/// The state that a checkpoint stores in addition to the variables.
save_options state_beside(watched_session& s, const saved_parts& parts);
}  // namespace detail

/// An object whose functions `checkpoint_saver` calls around each save.
class checkpoint_saver_listener {
 public:
  checkpoint_saver_listener() = default;
  checkpoint_saver_listener(const checkpoint_saver_listener&) = delete;
  checkpoint_saver_listener& operator=(const checkpoint_saver_listener&) = delete;
  virtual ~checkpoint_saver_listener() = default;
  /// Called in `begin` of the hook.
  virtual void begin() {}
  /// Called before each save, with the global step.
  virtual void before_save(watched_session&, std::int64_t) {}
  /// Returns whether training is to stop.
  virtual bool after_save(watched_session&, std::int64_t) { return false; }
  virtual void end(watched_session&, std::int64_t) {}
};

/// Options of `checkpoint_saver`; exactly one of save_steps and save_secs is given.
struct checkpoint_saver_options {
  std::string checkpoint_dir{};
  std::optional<std::int64_t> save_steps{};
  std::optional<seconds> save_secs{};
  std::shared_ptr<saver> its_saver{};  // by default the scaffold's saver, or one of all variables
  std::string checkpoint_basename = "model.ckpt";
  std::vector<std::shared_ptr<checkpoint_saver_listener>> listeners{};
  saved_parts parts{};
  bool write_events = true;  // also writes the graph, and a session event for each save, next to the checkpoints
};

/// A hook that saves when the session begins, every `save_steps` steps or `save_secs` seconds, and at the end; each step is saved once.
/// Errors: invalid_argument unless exactly one of save_steps and save_secs is given, or if the folder is empty; in `begin`,
/// failed_precondition without a global step; those of `save_run`.
[[nodiscard]] hook checkpoint_saver(checkpoint_saver_options how);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/checkpoint_saver.hpp>
#endif
