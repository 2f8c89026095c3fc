#pragma once
// Saves the positions of a session's iterators (graph_iterator.hpp) together with its variables, so that a resumed run sees the data that
// would have followed. In the new session, iterators start as usual, by themselves or by their initializers, but the first time they start
// at the saved position.
//
//   save(s, "log/model", step, {.pipeline_state = iterator_states(s)});
//   …
//   save.restore(s, latest);
//   restore_iterator_states(s, latest.open()->manifest().pipeline_state);
//
// Supervised sessions do so by themselves.

#include <leat/core/error.hpp>
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
struct step_state;

/// The positions of all iterators of a session that have started, as JSON text: counters, not elements. To be called between runs.
/// Errors: invalid_argument for an iterator whose name is not UTF-8.
std::string iterator_states(graph_session& s);

/// What happens if an iterator's dataset is not the one that the state was saved from.
enum class of_other_data {
  is_error,     // invalid_argument, which names both pipelines
  begins_anew,  // starts at the beginning, with a line in the session's log
};

/// Sets the positions of iterators from JSON text: those that have started continue there at once, the others when they start. Iterators
/// that the text does not name are unchanged; empty text names none. Errors: data_loss for damaged text, or data that no longer exist;
/// invalid_argument for another pipeline's state. For an iterator that has not started, the run that starts it throws them. If this call
/// throws, all iterators are unchanged.
void restore_iterator_states(graph_session& s, std::string_view text, of_other_data other = of_other_data::is_error);

namespace data {

/// A dataset's elements as tensor values.
class value_source {
 public:
  value_source() = default;
  value_source(const value_source&) = delete;
  value_source& operator=(const value_source&) = delete;
  virtual ~value_source() = default;
  /// Writes the next element's components, for a run; false at the end.
  virtual bool next(step_state& step, std::vector<tensor_value>& to) = 0;
  /// As in dataset_iterator.
  virtual std::string save_state() const = 0;
  virtual void restore_state(std::string_view text) = 0;
};
/// A function that starts a pass through a dataset.
using source_maker = std::function<std::unique_ptr<value_source>()>;

namespace detail {

inline constexpr std::string_view iterator_prefix = "iterator ";  // prefix of the resource's name

/// The error at the end of an iterator's dataset.
class end_of_sequence : public out_of_range {
 public:
  end_of_sequence() : out_of_range("End of sequence") {}
};

/// An iterator of a session. Thread-safe.
class iterator_resource final : public resource {
 public:
  explicit iterator_resource(std::string its_name) : name(std::move(its_name)) {}

  /// Starts a dataset, at the position of a restored state if there is one. Returns the message to be logged.
  std::string begin(const source_maker& maker);
  /// Like `begin`, if the iterator has not started yet.
  std::string begin_once(const source_maker& maker);
  /// Whether it has started.
  bool has_begun() const;
  /// The next element. Errors: out_of_range at the end; failed_precondition if the iterator has not started; those of the dataset, and
  /// those of the step's check while another run uses the iterator.
  void next(step_state& step, std::vector<tensor_value>& to);

  /// The current position, or the one at which it will start; empty if there is neither.
  std::optional<std::string> state() const;
  /// A new source at the given position; null if the iterator has not started. Errors: those of the dataset. The state of another dataset
  /// is an error only with `of_other_data::is_error`.
  std::unique_ptr<value_source> at_state(const std::string& text, of_other_data other) const;
  /// Continues with this source; if it is null, the iterator will start at the position `text`.
  void go_to(std::string text, of_other_data other, std::unique_ptr<value_source> from);

  const std::string name;

 private:
  struct waiting_state {
    std::string text;
    of_other_data other = of_other_data::is_error;
  };
  std::string begin_locked(const source_maker& maker);

  mutable std::timed_mutex guard_;
  std::unique_ptr<value_source> source_;
  source_maker maker_;
  std::optional<waiting_state> waiting_;
};

}  // namespace detail
}  // namespace data
}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/data/impl/iterator_states.hpp>
#endif
