#pragma once
// A hook that writes summaries for TensorBoard, and the event files that hooks share: one for each folder.
// Source: TensorFlow 1.x `train.SummarySaverHook`, `summary.FileWriterCache`.

#include <leat/core/function_bodies.hpp>
#include <leat/summary/file_writer.hpp>
#include <leat/supervise/logging_hooks.hpp>
#include <leat/supervise/second_or_step_timer.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <memory>
#include <string>

namespace leat {

/// The writer of a folder, which all that ask for it at one time share. The first one makes it, and adds the graph if there is one.
/// Errors: those of `summary::file_writer`.
std::shared_ptr<summary::file_writer> shared_writer(const std::string& folder, graph* g = nullptr);

/// Writes a graph to FOLDER/graph.pbtxt, in protobuf's text form, as TensorFlow does beside checkpoints; the folder is made if it is
/// missing. Errors: those of `io::staged_file`.
void write_graph(graph& g, const std::string& folder);

struct summary_saver_options {
  std::optional<std::int64_t> save_steps{};
  std::optional<seconds> save_secs{};
  std::string output_dir{};                        // or
  std::shared_ptr<summary::file_writer> writer{};  // one's own
  output summary_op{};                             // otherwise the scaffold's, or what a typed step gives
};

/// Writes summaries of the first run and then by difference of the global step, under the step that the run led to. Before the first
/// one stands the session event `start` of that step, so that what a run from an earlier step repeats is shown once.
/// Errors: invalid_argument unless one of save_steps and save_secs, and one of output_dir and writer are given; in `begin`,
/// failed_precondition without a global step.
[[nodiscard]] hook summary_saver(summary_saver_options how);

/// Writes steps a second as "global_step/sec", and logs them.
[[nodiscard]] hook step_counter(const std::string& output_dir, counter_options how = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/summary_saver_bodies.hpp>
#endif
