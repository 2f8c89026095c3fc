#pragma once
// Event files that TensorBoard reads: `summary::file_writer log("logs/1", g); log.add_summary(s.run(merged, feeds), step);`. Each writer
// makes a file of its own in the folder of its run. Events are collected in memory and reach the file from the caller's thread when there
// are many, and from a thread of the writer's own after a time. The file consists of whole records at any moment, so that one whose
// writer was killed can be read up to its last flush. Source: TensorFlow 1.x `tf.summary.FileWriter`.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/graph.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/proto/graph_def.hpp>
#include <leat/runtime/state/tensor_value.hpp>
#include <leat/summary/event.hpp>
#include <leat/summary/typed_summary.hpp>
#include <leat/summary/value_list.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace leat::summary {

/// Settings of a writer.
struct file_writer_options {
  std::size_t max_queue = 1000;   // events in memory at most; then the thread that adds one writes them to the file
  double flush_secs = 120;        // seconds that an event is in memory at most
  std::string filename_suffix{};  // behind "events.out.tfevents.TIME.HOST"
};

/// Writes the events of a run. Thread-safe. Steps are those of the training, 0 if there is none.
/// Errors of all calls: failed_precondition, naming the file and the system's reason, if the file cannot be written: then it holds whole
/// events, what was added before stays in memory for the next attempt, and the event of this call is not added. An error on the writer's
/// thread is thrown by the next call. failed_precondition also after `close`.
class file_writer {
 public:
  /// Makes the folder, and in it "events.out.tfevents.TIME.HOST" with its first event, the version.
  explicit file_writer(std::filesystem::path logdir, file_writer_options options = {});
  /// The same, then adds the graph, and the graph with its collections.
  file_writer(std::filesystem::path logdir, graph& g, file_writer_options options = {});
  file_writer(file_writer&&) noexcept;
  file_writer& operator=(file_writer&&) noexcept;
  /// Closes; an error is lost: call `close` to learn of it.
  ~file_writer();

  /// A serialized Summary, as a session gives it: a string of no dimensions. An empty value, the result of no summaries, adds nothing.
  /// Metadata are written with the first value of a tag only. Errors: also data_loss if the bytes are no summary; invalid_argument for a
  /// value of another dtype.
  void add_summary(std::string_view serialized, std::int64_t step = 0);
  void add_summary(const std::string& serialized, std::int64_t step = 0) { add_summary(std::string_view(serialized), step); }
  void add_summary(const char* serialized, std::int64_t step = 0) { add_summary(std::string_view(serialized), step); }
  void add_summary(const tensor_value& result, std::int64_t step = 0);
  void add_summary(const value_list& values, std::int64_t step = 0);
  /// What a typed session gave for a typed summary, or for a list of fetches with some among them: all of them as one event.
  template <class Results>
    requires has_typed_values<Results>
  void add_summary(const Results& results, std::int64_t step = 0) {
    thread_local value_list values;  // its memory is used again
    values.clear();
    append_typed(values, results);
    add_summary(values, step);
  }
  /// One number under a tag.
  void add_scalar(std::string_view tag, float value, std::int64_t step = 0);

  /// The graph of the run, with the shapes of its results (`_output_shapes`).
  void add_graph(graph& g, std::int64_t step = 0);
  void add_graph(const graph_def& g, std::int64_t step = 0);
  void add_meta_graph(const meta_graph_def& g, std::int64_t step = 0);
  /// Session events. `start` of step n says that the run goes on from there: TensorBoard drops what earlier files of the folder say of
  /// steps from n on, so that a run that was resumed shows one curve.
  void add_session_log(session_status status, std::int64_t step = 0);
  void add_session_log(const session_log& what, std::int64_t step = 0);
  /// What ran how long under a name, which must be new, as the trace knows it (`run_metadata_of`), or as a serialized RunMetadata.
  /// Errors: also already_exists if the name is taken.
  void add_run_metadata(const run_trace& trace, std::string_view tag, std::int64_t step = 0);
  void add_run_metadata(std::string_view serialized, std::string_view tag, std::int64_t step = 0);
  /// Any event. One without a time gets that of now.
  void add_event(const event& e);

  /// Gives everything to the operating system: what is flushed survives this process.
  void flush();
  /// Flushes and closes the file. Closing twice does nothing.
  void close();
  /// Begins another file in the same folder; does nothing while one is open.
  void reopen();

  const std::filesystem::path& logdir() const;
  /// The file that is written, or was last.
  std::filesystem::path path() const;

 private:
  class state;
  std::unique_ptr<state> state_;
};

/// A graph in file form with the shapes of all results, as TensorBoard shows them.
graph_def graph_with_shapes(graph& g);

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/file_writer_bodies.hpp>
#endif
// Where graphs are, or come later, it writes them, too.
#define LEAT_SUMMARIES_OF_GRAPHS <leat/summary/named_summary.hpp>
#if defined(LEAT_HAS_GRAPHS)
#include LEAT_SUMMARIES_OF_GRAPHS
#endif
