#pragma once
// A hook that writes summaries for TensorBoard, and the event files that hooks share, one per folder.
// Source: TensorFlow 1.x `train.SummarySaverHook`, `summary.FileWriterCache`.

#include <leat/core/function_bodies.hpp>
#include <leat/summary/file_writer.hpp>
#include <leat/supervise/logging_hooks.hpp>
#include <leat/supervise/second_or_step_timer.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <memory>
#include <string>

namespace leat {

/// The writer of a folder, shared by all users that exist at the same time. The first call makes it, and adds the graph if one is given.
/// Errors: those of `summary::file_writer`.
std::shared_ptr<summary::file_writer> shared_writer(const std::string& folder, graph* g = nullptr);

/// Writes a graph to FOLDER/graph.pbtxt, in protobuf's text format, as TensorFlow does next to checkpoints; the folder is created if it is
/// missing. Errors: those of `io::staged_file`.
void write_graph(graph& g, const std::string& folder);

/// Options of `summary_saver`: one of save_steps and save_secs, and one of output_dir and writer, are given.
struct summary_saver_options {
  std::optional<std::int64_t> save_steps{};
  std::optional<seconds> save_secs{};
  std::string output_dir{};                        // either this folder,
  std::shared_ptr<summary::file_writer> writer{};  // or the program's own writer
  output summary_op{};                             // by default the scaffold's, or the summaries of a typed step
};

/// A hook that writes summaries of the first run and then whenever the global step has advanced by the interval, under the step after the
/// run. A session event `start` with that step precedes the first summary, so that TensorBoard shows steps only once if a run continues
/// from an earlier step.
/// Errors: invalid_argument unless exactly one of save_steps and save_secs, and one of output_dir and writer are given; in `begin`,
/// failed_precondition without a global step.
[[nodiscard]] hook summary_saver(summary_saver_options how);

/// A hook that writes steps per second as "global_step/sec", and logs them.
[[nodiscard]] hook step_counter(const std::string& output_dir, counter_options how = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/summary_saver.hpp>
#endif
