#pragma once
// Event files that TensorBoard reads: `summary::file_writer log("logs/1", g); log.add_summary(s.run(merged, feeds), step);`. Each writer
// creates its own file in the folder of its run. Events are collected in memory; they are written to the file by the caller's thread when
// there are many, and by a thread of the writer after some time. At any moment the file consists of complete records, so that it can be
// read up to the last flush if the writer's process was killed. Source: TensorFlow 1.x `tf.summary.FileWriter`.

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
  std::size_t max_queue = 1000;   // limit for events in memory; the thread that reaches it writes them to the file
  double flush_secs = 120;        // maximal time that an event stays in memory, in seconds
  std::string filename_suffix{};  // appended to "events.out.tfevents.TIME.HOST"
};

/// Writes the events of a run. Thread-safe. Steps are those of the training, 0 if there is none.
/// Errors of all calls: failed_precondition, naming the file and the system's reason, if the file cannot be written; the file then holds
/// complete events, earlier events stay in memory for the next attempt, and the event of this call is not added. The next call throws an
/// error of the writer's thread. Also failed_precondition after `close`.
class file_writer {
 public:
  /// Creates the folder, and in it "events.out.tfevents.TIME.HOST" with its first event, the version. Errors: also invalid_argument for an
  /// empty folder name or settings out of range.
  explicit file_writer(std::filesystem::path logdir, file_writer_options options = {});
  /// Also adds the graph, and the graph with its collections.
  file_writer(std::filesystem::path logdir, graph& g, file_writer_options options = {});
  file_writer(file_writer&&) noexcept;
  file_writer& operator=(file_writer&&) noexcept;
  /// Closes the file. Errors are lost; call `close` to receive them.
  ~file_writer();

  /// Adds a serialized Summary, as a session returns it: a scalar string. An empty value, the result of no summaries, adds nothing.
  /// Metadata are written only with the first value of a tag. Errors: also data_loss if the bytes are not a summary; invalid_argument for a
  /// value of another dtype.
  void add_summary(std::string_view serialized, std::int64_t step = 0);
  void add_summary(const std::string& serialized, std::int64_t step = 0) { add_summary(std::string_view(serialized), step); }
  void add_summary(const char* serialized, std::int64_t step = 0) { add_summary(std::string_view(serialized), step); }
  void add_summary(const tensor_value& result, std::int64_t step = 0);
  void add_summary(const value_list& values, std::int64_t step = 0);
  /// Adds the results of a typed session for a typed summary, or for a list of fetches with several of them, as one event.
  template <class Results>
    requires has_typed_values<Results>
  void add_summary(const Results& results, std::int64_t step = 0) {
    thread_local value_list values;  // so that its memory is reused
    values.clear();
    append_typed(values, results);
    add_summary(values, step);
  }
  /// Adds one number under a tag.
  void add_scalar(std::string_view tag, float value, std::int64_t step = 0);

  /// Adds the graph of the run, with the shapes of its results (`_output_shapes`).
  void add_graph(graph& g, std::int64_t step = 0);
  void add_graph(const graph_def& g, std::int64_t step = 0);
  void add_meta_graph(const meta_graph_def& g, std::int64_t step = 0);
  /// Adds a session event. `start` at step n means that the run continues from there: TensorBoard drops events of steps from n on in
  /// earlier files of the folder, so that a resumed run shows one curve.
  void add_session_log(session_status status, std::int64_t step = 0);
  void add_session_log(const session_log& what, std::int64_t step = 0);
  /// Adds the times of a run's operators under a tag, which must be new, from a trace (`run_metadata_of`) or from a serialized RunMetadata.
  /// Errors: also already_exists if the tag is taken.
  void add_run_metadata(const run_trace& trace, std::string_view tag, std::int64_t step = 0);
  void add_run_metadata(std::string_view serialized, std::string_view tag, std::int64_t step = 0);
  /// Adds any event. An event without a time gets the current time.
  void add_event(const event& e);

  /// Passes all events to the operating system: flushed events survive this process.
  void flush();
  /// Flushes and closes the file. Closing twice does nothing.
  void close();
  /// Creates another file in the same folder; does nothing while a file is open.
  void reopen();

  /// The folder of the event files.
  const std::filesystem::path& logdir() const;
  /// The file that is being written, or was written last.
  std::filesystem::path path() const;

 private:
  class state;
  std::unique_ptr<state> state_;
};

/// A graph in file form with the shapes of all results, as TensorBoard shows them.
graph_def graph_with_shapes(graph& g);

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/impl/file_writer.hpp>
#endif
// In programs with graphs, whichever header is included first, writers also accept graphs.
#define LEAT_SUMMARIES_OF_GRAPHS <leat/summary/named_summary.hpp>
#if defined(LEAT_HAS_GRAPHS)
#include LEAT_SUMMARIES_OF_GRAPHS
#endif
