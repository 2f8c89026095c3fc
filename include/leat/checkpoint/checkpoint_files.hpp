#pragma once
// The files of a checkpoint that is written: all are complete and synced under temporary names before the first gets its own, and
// one rename commits.

#include <leat/checkpoint/checkpoint_reader.hpp>
#include <leat/checkpoint/session_access.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/staged_file.hpp>

#include <memory>
#include <optional>

namespace leat::detail {

/// What is saved: names in the order of the values.
struct checkpoint_contents {
  std::vector<std::string> names{};
  std::map<std::size_t, tensor_block> blocks{};              // of values that are parts of tensors: those with one name are the whole
  std::map<std::string, shape, std::less<>> whole_shapes{};  // of these tensors
  checkpoint_manifest manifest{};                            // without tensors and data file
  std::string meta_graph{};                                  // of PREFIX.meta; none if empty
};

/// A checkpoint that is on the disk, but not yet there. Without `commit` its destructor removes it.
class staged_checkpoint {
 public:
  /// Errors: those of `io::staged_file`; invalid_argument for names or values that the format cannot hold.
  staged_checkpoint(const std::string& prefix, checkpoint_format format, checkpoint_contents contents,
                    const std::vector<tensor_value>& values);
  /// One that tasks of the session write, each its own variables; `variables`: in the order of the contents' names; `tasks`: where they are.
  /// In leat's format.
  /// Errors: also those of `session_access::write_shards`.
  staged_checkpoint(const std::string& prefix, checkpoint_contents contents, const std::vector<std::string>& variables,
                    const std::map<std::string, std::string>& tasks, const session_access& s);
  /// What tells this save from any other: for `remove_checkpoint`.
  const std::string& digits() const { return digits_; }
  /// Puts the files in their places, the one that commits last, and removes those that they replace. Errors: those of
  /// `io::staged_file`.
  void commit(const io::folder_lock& folder);

 private:
  // A tensor of the checkpoint: a value, or several that are its parts.
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
  std::vector<std::unique_ptr<io::staged_file>> shards_;  // instead of data_
};

/// Refuses to write where somebody else's file stands. Errors: failed_precondition.
void check_place(const std::string& prefix);

/// Removes the files of a checkpoint, that which commits first. With digits, only if it is that save's. Its folder is locked.
void remove_checkpoint(const std::string& prefix, const std::string& digits);
/// When it was saved, in seconds since 1970; nothing if it is not there.
std::optional<double> checkpoint_time(const std::string& prefix);
/// Removes what savers that were killed left in a folder. It is locked.
void remove_abandoned_data(const std::filesystem::path& folder);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/checkpoint/checkpoint_files_bodies.hpp>
#endif
