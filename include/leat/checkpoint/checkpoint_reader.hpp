#pragma once
// Reads checkpoints: their tensors by name. A checkpoint is named by its prefix, "log/model-300", as in TensorFlow, whatever files it
// consists of. An open checkpoint remains readable when its files are removed or replaced.

#include <leat/checkpoint/manifest.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/input_file.hpp>
#include <leat/io/tensor_parts.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <memory>
#include <vector>

namespace leat {

/// The file format of a checkpoint.
enum class checkpoint_format {
  leat,           // PREFIX.json, a manifest, and PREFIX.<digits>.safetensors
  tensorflow,     // TensorFlow's V2: PREFIX.index and PREFIX.data-00000-of-00001
  tensorflow_v1,  // TensorFlow's V1, from before 2017: PREFIX, or files PREFIX-?????-of-00002; read only
};

/// An open checkpoint. Thread-safe. Source: TensorFlow `train.NewCheckpointReader`.
class checkpoint_reader {
 public:
  /// Opens a checkpoint. Errors, naming the file: not_found if there is no such checkpoint; data_loss and invalid_argument for files that
  /// are truncated, altered, or of another format.
  explicit checkpoint_reader(std::string prefix);

  /// The name of the checkpoint, as a saver returns it.
  const std::string& path() const { return prefix_; }
  /// Whose format the files have.
  checkpoint_format format() const { return format_; }
  /// Names, dtypes, shapes and checksums of the tensors, and the other contents of the manifest.
  const checkpoint_manifest& manifest() const { return manifest_; }
  /// Whether there is a tensor of this name.
  bool contains(std::string_view name) const { return manifest_.tensors.find(name) != manifest_.tensors.end(); }
  /// The names of all tensors, sorted. A partitioned variable is one tensor.
  std::vector<std::string> names() const;

  /// The value of a tensor. Errors: not_found, with the nearest name; data_loss, naming file and tensor, if its bytes are not those that
  /// were saved; unimplemented for a dtype or rank that the library does not compute with.
  tensor_value value(std::string_view name) const;
  /// A copy of a block of a tensor. If the block was saved as a slice, only that slice is read. Errors: those of `value`; invalid_argument
  /// for a block that is not within the tensor.
  tensor_value block(std::string_view name, const detail::tensor_block& at) const;
  /// A tensor in mapped memory of the file, which is read from disk on access; its checksum is not verified. A string, or a tensor that is
  /// not aligned in the file, is copied. Errors: those of `value`.
  tensor_value mapped(std::string_view name) const;

 private:
  struct place {
    int file = 0;
    std::uint64_t begin = 0, size = 0;
  };
  // A slice of a tensor that was saved in slices.
  struct saved_part {
    place at;
    std::uint32_t crc32c = 0;
    detail::tensor_block block;
  };
  bool open_leat();
  void open_data(int number, const std::filesystem::path& data, std::uint64_t bytes);
  bool open_tensorflow();
  bool open_bundle(const std::string& prefix);
  bool open_sliced();
  const std::pair<const std::string, checkpoint_manifest::tensor>& entry(std::string_view name) const;
  tensor_value read(std::string_view name, const checkpoint_manifest::tensor& tensor, const place& at) const;
  [[noreturn]] void fail(std::string_view name, const place& at, const std::string& what) const;

  std::string prefix_;
  checkpoint_format format_ = checkpoint_format::leat;
  checkpoint_manifest manifest_;
  std::vector<std::unique_ptr<io::input_file>> files_;
  std::map<std::string, place, std::less<>> places_;
  std::map<std::string, std::vector<saved_part>, std::less<>> parts_;
  std::map<std::string, tensor_value, std::less<>> loaded_;  // tensors of a V1 file, which is read as a whole
};

/// The name of a checkpoint; may be empty. The result of `latest_checkpoint` is already open, so that it can be restored even if it is
/// removed meanwhile; a path that is made from a name is opened at its use.
class checkpoint_path {
 public:
  checkpoint_path() = default;
  checkpoint_path(std::string prefix) : path_(std::move(prefix)) {}
  checkpoint_path(const char* prefix) : path_(prefix) {}
  checkpoint_path(const std::filesystem::path& prefix) : path_(prefix.string()) {}
  explicit checkpoint_path(std::shared_ptr<const checkpoint_reader> opened) : path_(opened->path()), opened_(std::move(opened)) {}

  /// Whether it names a checkpoint.
  explicit operator bool() const { return !path_.empty(); }
  const std::string& str() const { return path_; }
  operator const std::string&() const { return path_; }
  bool operator==(const checkpoint_path& other) const { return path_ == other.path_; }
  bool operator==(const std::string& other) const { return path_ == other; }
  bool operator==(const char* other) const { return path_ == other; }
  /// Opens the checkpoint, unless it is open. Errors: invalid_argument if the path is empty; those of `checkpoint_reader`.
  std::shared_ptr<const checkpoint_reader> open() const;

 private:
  std::string path_;
  std::shared_ptr<const checkpoint_reader> opened_;
};

/// Whether there is a checkpoint of this prefix. Source: TensorFlow `train.checkpoint_exists`.
bool checkpoint_exists(const std::string& prefix);

namespace detail {

/// The ending of data files.
inline constexpr std::string_view data_ending = ".safetensors";
/// The name that a data file named by a manifest has next to `prefix`. It differs from `file` if the checkpoint was copied or renamed.
/// Empty if `file` is not a name that a save gives.
std::string name_of_data(const std::string& prefix, const std::string& file);
/// Whether PREFIX.json exists and is a manifest, whole or damaged.
bool has_manifest(const std::string& prefix);
/// In TensorFlow's format, a save that replaces a checkpoint keeps the old one as PREFIX.old until the new one is complete.
inline constexpr std::string_view replaced_ending = ".old";
/// The tensor in which a checkpoint in TensorFlow's format stores what the format has no place for, as a manifest without tensors.
inline constexpr std::string_view manifest_tensor = "leat/manifest";
/// The number at the end of a name, 300 for "log/model-300"; empty if there is none.
std::optional<std::int64_t> step_of_name(std::string_view prefix);

/// The name with the smallest edit distance to `name`, or "" if no name is similar.
std::string nearest_name(std::string_view name, const std::vector<std::string>& names);
/// The names as a list, "'w' (nearest: 'w_1'), 'b'", for messages.
std::string names_with_nearest(const std::vector<std::string>& names, const std::vector<std::string>& candidates);

}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/checkpoint/impl/checkpoint_reader.hpp>
#endif
