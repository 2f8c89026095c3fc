#pragma once
// Saves and restores the variables of sessions by name, and keeps the newest checkpoints of a run.
//
//   saver save({.max_to_keep = 3});
//   const std::string path = save(s, "log/model", step);       // "log/model-300"
//   if (const checkpoint_path latest = latest_checkpoint("log")) save.restore(s, latest);
//
// Sessions of typed expressions are saved and restored by the same calls (<leat/checkpoint/typed_session_access.hpp>). Even after a crash,
// the last checkpoint that `save` returned is complete; several processes may save into one folder.
// Source: TensorFlow 1.x `train.Saver`.

#include <leat/checkpoint/checkpoint_reader.hpp>
#include <leat/checkpoint/checkpoint_state.hpp>
#include <leat/checkpoint/session_access.hpp>
#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/ops/state.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <span>

namespace leat {

class partitioned_variable;

/// A variable, and its name in a checkpoint: `w`, `{"old/w", w}`, `{"old/w", "w"}`. The variable may be typed, of a graph, or given by
/// name. A partitioned variable, or its name, stands for all of its slices; a slice without a name of its own is saved as part of the
/// whole.
struct saved_variable {
  std::string name_in_checkpoint{};
  std::string variable{};

  saved_variable(const char* name) : name_in_checkpoint(name), variable(name) {}
  saved_variable(std::string name) : name_in_checkpoint(name), variable(std::move(name)) {}
  saved_variable(const output& v);
  saved_variable(const partitioned_variable& v);
  template <detail::variable_expression V>
  saved_variable(const V&) : saved_variable(std::string(structure_with<typename V::identity>::name)) {}
  template <class V>
    requires std::constructible_from<saved_variable, const V&>
  saved_variable(std::string name, const V& v) : name_in_checkpoint(std::move(name)), variable(saved_variable(v).variable) {}
  bool operator==(const saved_variable&) const = default;
};

/// The step at which a checkpoint is saved: a number, or the variable that counts it, given as a variable of a graph, a typed variable, or
/// a name.
class checkpoint_step {
 public:
  checkpoint_step() = default;
  template <std::integral N>
  checkpoint_step(N number) : number_(static_cast<std::int64_t>(number)) {}
  checkpoint_step(const saved_variable& counter) : variable_(counter.variable) {}
  template <class V>
    requires(!std::integral<V> && std::constructible_from<saved_variable, const V&>)
  checkpoint_step(const V& counter) : variable_(saved_variable(counter).variable) {}

  /// The step, if it was given as a number.
  const std::optional<std::int64_t>& number() const { return number_; }
  /// The name of the variable that counts the steps; empty if there is none.
  const std::string& variable() const { return variable_; }

 private:
  std::optional<std::int64_t> number_;
  std::string variable_;
};

/// Options of a saver.
struct saver_options {
  /// The variables to save and restore; empty: all variables except local ones.
  std::vector<saved_variable> var_list{};
  /// How many of the checkpoints that this saver wrote are kept; older ones are removed. 0: all.
  int max_to_keep = 5;
  /// Of the checkpoints that would be removed, one per this many hours is kept.
  double keep_checkpoint_every_n_hours = 10000;
  checkpoint_format format = checkpoint_format::leat;
  /// Pads the step number: "model-00000300" instead of "model-300".
  bool pad_step_number = false;
  /// Whether the state file names checkpoints relative to its folder.
  bool save_relative_paths = false;
  /// Whether the saver accepts a graph without variables; it then saves the variables that the graph has at the time of saving.
  bool defer_build = false;
  /// Whether `save` only copies the values, and a thread of the saver writes them. The next call of `save`, `wait` or `close` throws the
  /// errors of that thread.
  bool in_background = false;
  /// Whether, for a session on a cluster, each task that has variables writes them itself, in parallel, into its own file next to the
  /// manifest; the client receives only checksums. All of these tasks must see the checkpoint's folder under the client's path and be able
  /// to write to it. For sessions without a target the option has no effect. Only in leat's format, and not in the background.
  bool sharded = false;
};

/// Options of one call of `saver::save`.
struct save_options {
  /// The name of the state file.
  std::string latest_filename = "checkpoint";
  /// Whether to write the state file.
  bool write_state = true;
  /// Whether to write PREFIX.meta, the graph, if the session runs a graph.
  bool write_meta_graph = true;
  /// The state of the input pipeline, and the program's own strings; `checkpoint_reader::manifest` returns them.
  std::string pipeline_state{};
  std::map<std::string, std::string, std::less<>> values{};
};

/// Options of one call of `saver::restore`.
struct restore_options {
  /// Whether variables are left unchanged if the checkpoint lacks them, has them with another dtype or shape, or if their dtype is one that
  /// no array has.
  bool partly = false;
  /// Whether a tensor of the checkpoint that is not restored is an error.
  bool exact = false;
  /// Whether a graph session's variables share the file's mapped memory until a run writes to them, so that restoring does not read the
  /// file. Then checksums are not verified.
  bool mapped = false;
};

/// The result of restoring, as names in the checkpoint.
struct restore_report {
  std::vector<std::string> restored{};
  /// Variables that the checkpoint lacks.
  std::vector<std::string> missing{};
  /// Tensors of the checkpoint that are not variables to be restored.
  std::vector<std::string> additional{};
  /// Variables with another dtype or shape than in the checkpoint, or with a dtype that no array has.
  std::vector<std::string> misshapen{};
};

namespace detail {
/// Adds the variables of a graph (null: the default graph) to a list; returns the graph's serial number. The pointer is null in programs
/// without graphs.
using graph_capture = std::uint64_t (*)(graph* of, std::vector<saved_variable>& list);
LEAT_DECLARE_FILL(fill_graph_capture);
inline graph_capture& capture_of_graphs() {
  static constinit graph_capture capture = nullptr;
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(fill_graph_capture)});
  return capture;
}
}  // namespace detail

/// Saves and restores variables; see saver.hpp. Thread-safe. Copies share their state.
class saver {
 public:
  /// A saver of the variables in the options' list. If the list is empty: of all variables that the thread's default graph has now, if the
  /// session runs that graph, else of all variables of the session. Errors: invalid_argument for options out of range, or two variables
  /// under one name.
  explicit saver(saver_options options = {});
  /// A saver of the variables in the options' list or, if it is empty, of those that this graph has now. Errors: also invalid_argument if
  /// there are none, unless `defer_build`.
  explicit saver(graph& g, saver_options options = {});

  /// Saves the variables as `prefix`, or `prefix-STEP`, and returns that name; creates the folder if needed. Older checkpoints are removed
  /// after this one is complete. Errors: failed_precondition for variables without a value, which it names, for a folder that cannot be
  /// written to, and if the saver is closed; resource_exhausted for a full disk; invalid_argument if there are no variables, if the state
  /// file has the checkpoint's name, or if the counter is not an integer; not_found for variables that the session lacks. After an error
  /// all checkpoints are as before.
  template <class Session>
  std::string save(Session& s, const std::string& prefix, const checkpoint_step& step = {}, const save_options& how = {}) {
    auto access = access_of(detail::access_key{}, s);  // found through the key's namespace, in any order of includes
    return save_from(access, prefix, step, how);
  }
  template <class Session>
  std::string operator()(Session& s, const std::string& prefix, const checkpoint_step& step = {}, const save_options& how = {}) {
    return save(s, prefix, step, how);
  }

  /// Restores the variables, all or none. Errors: not_found if there is no such checkpoint; not_found for variables that the checkpoint
  /// lacks and invalid_argument for those with another dtype or shape, with lists of both and of the additional tensors; not_found for
  /// variables that the session lacks; data_loss for damaged files; invalid_argument for an empty path, or if there are no variables.
  template <class Session>
  restore_report restore(Session& s, const checkpoint_path& path, const restore_options& how = {}) const {
    auto access = access_of(detail::access_key{}, s);
    return restore_to(access, path, how);
  }

  /// The checkpoints that this saver keeps, oldest first; empty if it keeps all.
  std::vector<std::string> last_checkpoints() const;
  /// Takes over the checkpoints of an earlier run, oldest first; those that no longer exist are ignored. Source: TensorFlow
  /// `recover_last_checkpoints`.
  void recover_last_checkpoints(const std::vector<std::string>& paths);

  /// Waits until saving in the background is complete. Errors: those of saving.
  void wait();
  /// Waits as `wait` does; later calls of `save` fail with failed_precondition. Errors: those of `wait`.
  void close();
  const saver_options& options() const;

 private:
  std::string save_from(detail::session_access& s, const std::string& prefix, const checkpoint_step& step, const save_options& how);
  restore_report restore_to(detail::session_access& s, const checkpoint_path& path, const restore_options& how) const;

  struct kept;
  std::shared_ptr<kept> kept_;
};

/// Restores all variables of a session from the newest checkpoint of a folder, even if a trainer removes it meanwhile. Returns its name,
/// which is empty if there is none. Errors: those of `latest_checkpoint` and `saver::restore`.
template <class Session>
checkpoint_path restore_latest(Session& s, const std::string& folder, const restore_options& how = {}) {
  checkpoint_path latest = latest_checkpoint(folder);
  if (latest) saver().restore(s, latest, how);
  return latest;
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/checkpoint/impl/saver.hpp>
#endif
// In programs with graphs, whichever header is included first, savers also accept sessions and variables of graphs.
#define LEAT_SAVERS_OF_GRAPHS <leat/checkpoint/graph_session_access.hpp>
#if defined(LEAT_HAS_GRAPHS)
#include LEAT_SAVERS_OF_GRAPHS
#endif
