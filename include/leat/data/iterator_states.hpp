#pragma once
// Where the iterators of a session are (graph_iterator.hpp), to be kept beside its variables: a run that is resumed sees the data that it
// would have seen. Iterators begin again in the new session, by themselves or by their initializers; the first time, they begin where the
// state says.
//
//   save(s, "log/model", step, {.pipeline_state = iterator_states(s)});
//   …
//   save.restore(s, latest);
//   restore_iterator_states(s, latest.open()->manifest().pipeline_state);
//
// Supervised sessions do so by themselves.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/resources.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leat {

class graph_session;

/// Where all iterators of a session are that have begun, as JSON text: counters, not elements. Call it between runs.
/// Errors: invalid_argument for an iterator whose name is not UTF-8.
std::string iterator_states(graph_session& s);

/// What becomes of an iterator whose dataset is not the one that a state is of.
enum class of_other_data {
  is_error,     // invalid_argument, with both pipelines
  begins_anew,  // with a line on the session's log
};

/// Has iterators go on where a text says: those that have begun at once, and the others when they begin. Iterators that the text does not
/// name are left as they are; an empty text names none. Errors: data_loss for a damaged text, or data that are no longer there;
/// invalid_argument for another pipeline's state; both in the run that begins the iterator, if it has not begun yet. After an error of this
/// call all iterators are as they were.
void restore_iterator_states(graph_session& s, std::string_view text, of_other_data other = of_other_data::is_error);

namespace data {

/// Elements as values of a graph.
class value_source {
 public:
  value_source() = default;
  value_source(const value_source&) = delete;
  value_source& operator=(const value_source&) = delete;
  virtual ~value_source() = default;
  /// Writes the next element's components; false at the end.
  virtual bool next(std::vector<tensor_value>& to) = 0;
  /// As those of dataset_iterator.
  virtual std::string save_state() const = 0;
  virtual void restore_state(std::string_view text) = 0;
};
/// What begins a pass through a dataset.
using source_maker = std::function<std::unique_ptr<value_source>()>;

namespace detail {

inline constexpr std::string_view iterator_prefix = "iterator ";  // of the resource's name, before the iterator's

/// An iterator of a session. Thread-safe.
class iterator_resource final : public resource {
 public:
  explicit iterator_resource(std::string its_name) : name(std::move(its_name)) {}

  /// Begins a dataset, where a state says if one waits for that. Returns what is to be logged.
  std::string begin(const source_maker& maker);
  /// The same of an iterator that has not begun.
  std::string begin_once(const source_maker& maker);
  /// Errors: out_of_range at the end; failed_precondition if it has not begun; the dataset's.
  void next(std::vector<tensor_value>& to);

  /// Where it is, or will begin; nothing if it has done neither.
  std::optional<std::string> state() const;
  /// The way from there on, nothing if it has not begun. Errors: the dataset's, but for another dataset's state that is no error.
  std::unique_ptr<value_source> at_state(const std::string& text, of_other_data other) const;
  /// Goes there; without a source, when it begins.
  void go_to(std::string text, of_other_data other, std::unique_ptr<value_source> from);

  const std::string name;

 private:
  struct waiting_state {
    std::string text;
    of_other_data other = of_other_data::is_error;
  };
  std::string begin_locked(const source_maker& maker);

  mutable std::mutex guard_;
  std::unique_ptr<value_source> source_;
  source_maker maker_;
  std::optional<waiting_state> waiting_;
};

}  // namespace detail
}  // namespace data
}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/data/iterator_states_bodies.hpp>
#endif
