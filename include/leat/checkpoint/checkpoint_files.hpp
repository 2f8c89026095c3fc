#pragma once
// Writes the files of a checkpoint. All files are complete and synced under temporary names before the first one gets its final name, and
// one rename commits the checkpoint.

#include <leat/checkpoint/checkpoint_reader.hpp>
#include <leat/checkpoint/session_access.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/staged_file.hpp>

#include <memory>
#include <optional>

namespace leat::detail {

/// The contents of a checkpoint; names are in the order of the values.
struct checkpoint_contents {
  std::vector<std::string> names{};
  std::map<std::size_t, tensor_block> blocks{};              // blocks of the values that are slices; slices of one tensor have one name
  std::map<std::string, shape, std::less<>> whole_shapes{};  // shapes of the sliced tensors
  checkpoint_manifest manifest{};                            // without tensors and data file
  std::string meta_graph{};                                  // contents of PREFIX.meta; empty: no such file
};

/// A checkpoint whose files are written to disk under temporary names. Unless `commit` is called, the destructor removes them.
class staged_checkpoint {
 public:
  /// Writes the values. Errors: those of `io::staged_file`; invalid_argument for names or values that the format cannot hold;
  /// failed_precondition if PREFIX.json is not a manifest.
  staged_checkpoint(const std::string& prefix, checkpoint_format format, checkpoint_contents contents,
                    const std::vector<tensor_value>& values);
  /// Has the tasks of the session write the values, each task its own variables, in leat's format. `variables`: in the order of the
  /// contents' names; `tasks`: the task of each variable.
  /// Errors: also those of `session_access::write_shards`.
  staged_checkpoint(const std::string& prefix, checkpoint_contents contents, const std::vector<std::string>& variables,
                    const std::map<std::string, std::string>& tasks, const session_access& s);
  /// Distinguishes this save from any other, for `remove_checkpoint`.
  const std::string& digits() const { return digits_; }
  /// Gives the files their final names, the committing file last, and removes the files that they replace. Errors: those of
  /// `io::staged_file`.
  void commit(const io::folder_lock& folder);

 private:
  // A tensor of the checkpoint: one value, or the values that are its slices.
  struct tensor {
    std::string name;
    dtype type = dtype::invalid;
    shape extent{};
    std::vector<std::size_t> values{};
  };
  std::vector<tensor> tensors_of(const std::vector<tensor_value>& values) const;
  tensor_value whole_of(const tensor& t, const std::vector<tensor_value>& values) const;
  bool is_written_in_turn(const tensor& t) const;
  void stage_leat(const std::vector<tensor>& tensors, const std::vector<tensor_value>& values);
  void stage_shards(const std::vector<std::string>& variables, const std::map<std::string, std::string>& tasks, const session_access& s);
  void stage_index();
  void stage_meta();
  void stage_tensorflow(const std::vector<tensor>& tensors, const std::vector<tensor_value>& values);
  void commit_leat(const io::folder_lock& folder);
  void commit_tensorflow(const io::folder_lock& folder);

  std::string prefix_;
  checkpoint_format format_;
  checkpoint_contents contents_;
  std::string digits_;
  std::optional<io::staged_file> data_, index_, meta_;
  std::vector<std::unique_ptr<io::staged_file>> shards_;  // used instead of data_ by a sharded checkpoint
};

/// Refuses to overwrite a file that is not a checkpoint's manifest. Errors: failed_precondition.
void check_place(const std::string& prefix);

/// Makes one checkpoint of several in TensorFlow's format, each with its own tensors, or its own slices of them: their data files get the
/// names of the new one, and their index files are removed. All must be in one file system. Errors: invalid_argument if two have the same
/// tensor or slice; those of reading an index and of `io::staged_file`. After an error all checkpoints are as before.
/// Source: TensorFlow `MergeV2Checkpoints`.
void merge_bundles(const std::vector<std::string>& prefixes, const std::string& destination);

/// Removes the files of a checkpoint, the committing file first. If digits are given, only if the checkpoint is from that save. The folder
/// must be locked.
void remove_checkpoint(const std::string& prefix, const std::string& digits);
/// The time when a checkpoint was saved, in seconds since 1970; empty if it does not exist.
std::optional<double> checkpoint_time(const std::string& prefix);
/// Removes files that savers left in a folder when their process was killed. The folder must be locked.
void remove_abandoned_data(const std::filesystem::path& folder);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/checkpoint/impl/checkpoint_files.hpp>
#endif
