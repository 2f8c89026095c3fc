#pragma once
// Saves and restores the variables of sessions by name, and keeps the newest checkpoints of a run.
//
//   saver save({.max_to_keep = 3});
//   const std::string path = save(s, "log/model", step);       // "log/model-300"
//   if (const checkpoint_path latest = latest_checkpoint("log")) save.restore(s, latest);
//
// Sessions of typed expressions are saved and restored by the same calls (<leat/checkpoint/typed_session_access.hpp>). After a crash at
// any moment the last checkpoint that `save` returned is there, whole; several processes may save into one folder.
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

/// A variable, and its name in a checkpoint: `w`, `{"old/w", w}`, `{"old/w", "w"}`; a typed variable, a graph's, or a variable's name. A
/// partitioned variable, or its name, is all of its slices; a slice without a name of its own is saved as part of the whole.
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

/// The step that a checkpoint is saved at: a number, or the variable that counts it, of a graph or typed, or its name.
class checkpoint_step {
 public:
  checkpoint_step() = default;
  template <std::integral N>
  checkpoint_step(N number) : number_(static_cast<std::int64_t>(number)) {}
  checkpoint_step(const saved_variable& counter) : variable_(counter.variable) {}
  template <class V>
    requires(!std::integral<V> && std::constructible_from<saved_variable, const V&>)
  checkpoint_step(const V& counter) : variable_(saved_variable(counter).variable) {}

  const std::optional<std::int64_t>& number() const { return number_; }
  const std::string& variable() const { return variable_; }

 private:
  std::optional<std::int64_t> number_;
  std::string variable_;
};

struct saver_options {
  /// What is saved and restored; empty for all variables but local ones.
  std::vector<saved_variable> var_list{};
  /// How many checkpoints are kept, of those that this saver wrote; older ones are removed. 0: all.
  int max_to_keep = 5;
  /// Of those that would be removed, one in so many hours is kept.
  double keep_checkpoint_every_n_hours = 10000;
  checkpoint_format format = checkpoint_format::leat;
  /// "model-00000300" instead of "model-300".
  bool pad_step_number = false;
  /// Whether the state file names checkpoints relative to its folder.
  bool save_relative_paths = false;
  /// Whether a graph without variables is taken: then the saver has those that the graph has when it is saved.
  bool defer_build = false;
  /// Whether saving only copies the values, and a thread of the saver's writes them. What goes wrong there is thrown by the next call of
  /// `save`, `wait` or `close`.
  bool in_background = false;
  /// Whether, of a session on a cluster, each task that has variables writes them itself, into a file of its own beside the manifest, all side
  /// by side; nothing but checksums comes to the client. The checkpoint's folder is one that all of these tasks see under the client's
  /// path, and may write to. Sessions without a target save as otherwise. In leat's format, and not in the background.
  bool sharded = false;
};

struct save_options {
  /// The name of the state file.
  std::string latest_filename = "checkpoint";
  /// Whether to write the state file.
  bool write_state = true;
  /// Whether to write PREFIX.meta, the graph, of a session that runs one.
  bool write_meta_graph = true;
  /// The state of the input pipeline, and a program's own strings: `checkpoint_reader::manifest` has them.
  std::string pipeline_state{};
  std::map<std::string, std::string, std::less<>> values{};
};

struct restore_options {
  /// Whether variables that the checkpoint lacks, has with another dtype or shape, or that are of a dtype that no array has, are left as
  /// they are.
  bool partly = false;
  /// Whether a tensor of the checkpoint that is not restored is an error.
  bool exact = false;
  /// Whether a graph session's variables share the file's pages until a run writes to them, so that restoring takes no time to read.
  /// Checksums are not looked at then.
  bool mapped = false;
};

/// What a restoring did, by names in the checkpoint.
struct restore_report {
  std::vector<std::string> restored{};
  /// Variables that the checkpoint lacks.
  std::vector<std::string> missing{};
  /// Tensors of the checkpoint that are no variables to be restored.
  std::vector<std::string> additional{};
  /// Variables of another dtype or shape than in the checkpoint, or of a dtype that no array has.
  std::vector<std::string> misshapen{};
};

namespace detail {
/// Adds the variables of a graph, of the default one for null, to a list; returns the graph's serial number. Null where no graph is.
using graph_capture = std::uint64_t (*)(graph* of, std::vector<saved_variable>& list);
LEAT_DECLARE_FILL(fill_graph_capture);
inline graph_capture& capture_of_graphs() {
  static constinit graph_capture capture = nullptr;
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(fill_graph_capture)});
  return capture;
}
}  // namespace detail

/// Thread-safe. Copies are the same saver.
class saver {
 public:
  /// Saves what the options say; without a list, all variables that the thread's default graph has now, if the session runs that graph,
  /// and otherwise all of the session. Errors: invalid_argument for options out of range, or two variables under one name.
  explicit saver(saver_options options = {});
  /// Saves variables that this graph has now. Errors: also invalid_argument if it has none.
  explicit saver(graph& g, saver_options options = {});

  /// Saves the variables as `prefix`, or `prefix-STEP`, whose name it returns; its folder is made if it is not there. Older checkpoints
  /// are removed when it is complete. Errors: failed_precondition, naming them, for variables without a value, and for a folder that
  /// cannot be written to; resource_exhausted for a full disk; invalid_argument for no variables, a state file that is also the
  /// checkpoint's name, or a counter that is no integer; not_found for variables that the session lacks. After an error all
  /// checkpoints are as they were.
  template <class Session>
  std::string save(Session& s, const std::string& prefix, const checkpoint_step& step = {}, const save_options& how = {}) {
    auto access = access_of(detail::access_key{}, s);  // found by the key's namespace, whatever is included first
    return save_from(access, prefix, step, how);
  }
  template <class Session>
  std::string operator()(Session& s, const std::string& prefix, const checkpoint_step& step = {}, const save_options& how = {}) {
    return save(s, prefix, step, how);
  }

  /// Restores the variables, all or none. Errors: not_found if there is no such checkpoint; not_found for variables that it lacks and
  /// invalid_argument for those with another dtype or shape, with lists of both and of what else it has; data_loss for damaged files;
  /// invalid_argument for an empty path.
  template <class Session>
  restore_report restore(Session& s, const checkpoint_path& path, const restore_options& how = {}) const {
    auto access = access_of(detail::access_key{}, s);
    return restore_to(access, path, how);
  }

  /// The checkpoints that this saver keeps, oldest first; empty if it keeps all.
  std::vector<std::string> last_checkpoints() const;
  /// Takes over the checkpoints of an earlier run, oldest first: those that are there. Source: TensorFlow `recover_last_checkpoints`.
  void recover_last_checkpoints(const std::vector<std::string>& paths);

  /// Waits until what is being saved in the background is complete. Errors: what went wrong with it.
  void wait();
  /// `wait`; later calls of `save` are failed_precondition.
  void close();
  const saver_options& options() const;

 private:
  std::string save_from(detail::session_access& s, const std::string& prefix, const checkpoint_step& step, const save_options& how);
  restore_report restore_to(detail::session_access& s, const checkpoint_path& path, const restore_options& how) const;

  struct kept;
  std::shared_ptr<kept> kept_;
};

/// Restores all variables of a session from the newest checkpoint of a folder, whatever a trainer removes meanwhile. Returns its
/// name, empty if there is none. Errors: those of `latest_checkpoint` and `saver::restore`.
template <class Session>
checkpoint_path restore_latest(Session& s, const std::string& folder, const restore_options& how = {}) {
  checkpoint_path latest = latest_checkpoint(folder);
  if (latest) saver().restore(s, latest, how);
  return latest;
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/checkpoint/saver_bodies.hpp>
#endif
// Where graphs are, or come later, savers take their sessions and variables, too.
#define LEAT_SAVERS_OF_GRAPHS <leat/checkpoint/graph_session_access.hpp>
#if defined(LEAT_HAS_GRAPHS)
#include LEAT_SAVERS_OF_GRAPHS
#endif
