#pragma once
// The state file of a folder of checkpoints, "checkpoint": it names the newest checkpoint and those that are kept, in protobuf's text
// format, as TensorFlow writes and reads it. Source: TensorFlow checkpoint_state.proto, `train.get_checkpoint_state`,
// `train.latest_checkpoint`.

#include <leat/checkpoint/checkpoint_reader.hpp>
#include <leat/core/function_bodies.hpp>

#include <optional>
#include <string>
#include <vector>

namespace leat {

/// The contents of a state file; relative paths in it are relative to its folder.
struct checkpoint_state {
  std::string model_checkpoint_path{};                    // the newest checkpoint
  std::vector<std::string> all_model_checkpoint_paths{};  // those that are kept, oldest first
  std::vector<double> all_model_checkpoint_timestamps{};  // when each was written, in seconds since 1970
  double last_preserved_timestamp = 0;                    // when the last one was written that stays for good
  bool operator==(const checkpoint_state&) const = default;
};

/// A state in protobuf's text format.
std::string write_checkpoint_state(const checkpoint_state& state);
/// Parses a state in protobuf's text format. Errors: data_loss, naming the line, for text that is not such a message.
checkpoint_state read_checkpoint_state(std::string_view text);

/// The state of a folder; the folder is prepended to relative paths. Empty if there is no such file. If the folder has a checkpoint of the
/// same name as an absolute path to elsewhere, the path is replaced by that checkpoint, because the folder may have been moved or copied.
/// Errors: data_loss.
std::optional<checkpoint_state> get_checkpoint_state(const std::string& folder, const std::string& latest_filename = "checkpoint");

/// The newest checkpoint of a folder, already open, so that it can be restored even if a trainer removes it meanwhile. Empty if there is no
/// state file, or if all checkpoints that it names are gone. Errors: data_loss and invalid_argument for malformed files. Source: TensorFlow
/// `train.latest_checkpoint`.
checkpoint_path latest_checkpoint(const std::string& folder, const std::string& latest_filename = "checkpoint");

namespace detail {
/// Whether a path is that of a file directly in a folder.
bool lies_in(const std::string& folder, const std::string& path);
}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/checkpoint/impl/checkpoint_state.hpp>
#endif
