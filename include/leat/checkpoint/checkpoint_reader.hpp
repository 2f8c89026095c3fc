#pragma once
// Checkpoints that are read: their tensors by name. A checkpoint is named by its prefix, "log/model-300", as in TensorFlow, whatever
// files it consists of. One that is open stays readable when its files are removed or replaced.

#include <leat/checkpoint/manifest.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/input_file.hpp>
#include <leat/io/tensor_parts.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <memory>
#include <vector>

namespace leat {

/// In which files a checkpoint is kept.
enum class checkpoint_format {
  leat,           // PREFIX.json, a manifest, and PREFIX.<digits>.safetensors
  tensorflow,     // TensorFlow's V2: PREFIX.index and PREFIX.data-00000-of-00001
  tensorflow_v1,  // TensorFlow's of before 2017: a file PREFIX, or several PREFIX-?????-of-00002; it is read only
};

/// An open checkpoint. Thread-safe. Source: TensorFlow `train.NewCheckpointReader`.
class checkpoint_reader {
 public:
  /// Errors, naming the file: not_found if there is no such checkpoint; data_loss and invalid_argument for files that are cut off,
  /// altered, or of another format.
  explicit checkpoint_reader(std::string prefix);

  const std::string& path() const { return prefix_; }
  checkpoint_format format() const { return format_; }
  const checkpoint_manifest& manifest() const { return manifest_; }
  /// Whether there is a tensor of this name.
  bool contains(std::string_view name) const { return manifest_.tensors.find(name) != manifest_.tensors.end(); }
  /// The names of all tensors, sorted. A partitioned variable is one.
  std::vector<std::string> names() const;

  /// A tensor's value. Errors: not_found, with the nearest name; data_loss, naming file and tensor, if its bytes are not those that
  /// were saved.
  tensor_value value(std::string_view name) const;
  /// A copy of a block of a tensor. Where it was saved as a slice of its own, only that is read. Errors: those of `value`; invalid_argument
  /// for a block that does not lie within the tensor.
  tensor_value block(std::string_view name, const detail::tensor_block& at) const;
  /// A tensor in the file's pages, which are read when they are used: its checksum is not looked at. A string, or one that is not
  /// aligned in the file, is read. Errors: those of `value`.
  tensor_value mapped(std::string_view name) const;

 private:
  struct place {
    int file = 0;
    std::uint64_t begin = 0, size = 0;
  };
  // A part of a tensor that is saved in slices.
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
  std::map<std::string, tensor_value, std::less<>> loaded_;  // of V1, whose file is read whole
};

/// The name of a checkpoint, or none. What `latest_checkpoint` returns is open, so that it can be restored though it is removed
/// meanwhile; one that is made of a name is opened when it is used.
class checkpoint_path {
 public:
  checkpoint_path() = default;
  checkpoint_path(std::string prefix) : path_(std::move(prefix)) {}
  checkpoint_path(const char* prefix) : path_(prefix) {}
  checkpoint_path(const std::filesystem::path& prefix) : path_(prefix.string()) {}
  explicit checkpoint_path(std::shared_ptr<const checkpoint_reader> opened) : path_(opened->path()), opened_(std::move(opened)) {}

  /// Whether it names one.
  explicit operator bool() const { return !path_.empty(); }
  const std::string& str() const { return path_; }
  operator const std::string&() const { return path_; }
  bool operator==(const checkpoint_path& other) const { return path_ == other.path_; }
  bool operator==(const std::string& other) const { return path_ == other; }
  bool operator==(const char* other) const { return path_ == other; }
  /// The checkpoint, open. Errors: invalid_argument if it names none; those of `checkpoint_reader`.
  std::shared_ptr<const checkpoint_reader> open() const;

 private:
  std::string path_;
  std::shared_ptr<const checkpoint_reader> opened_;
};

/// Whether there is a checkpoint of this prefix. Source: TensorFlow `train.checkpoint_exists`.
bool checkpoint_exists(const std::string& prefix);

namespace detail {

/// How the names of files of tensors end.
inline constexpr std::string_view data_ending = ".safetensors";
/// The name beside a checkpoint of a file that its manifest names: they differ where the checkpoint was copied or renamed. Empty for a
/// file that no save has written.
std::string name_of_data(const std::string& prefix, const std::string& file);
/// Whether there is PREFIX.json, and it is a manifest, whole or damaged.
bool has_manifest(const std::string& prefix);
/// In TensorFlow's format a save that replaces a checkpoint keeps the old one as PREFIX.old until the new one is complete.
inline constexpr std::string_view replaced_ending = ".old";
/// The tensor in which a checkpoint in TensorFlow's format has what such a checkpoint has no place for, as a manifest without tensors.
inline constexpr std::string_view manifest_tensor = "leat/manifest";
/// 300 of "log/model-300"; nothing for a name that does not end in a number.
std::optional<std::int64_t> step_of_name(std::string_view prefix);

/// The name that is most like `name` by the fewest characters to change, or "" if none is like it.
std::string nearest_name(std::string_view name, const std::vector<std::string>& names);
/// "'w' (nearest: 'w_1'), 'b'".
std::string names_with_nearest(const std::vector<std::string>& names, const std::vector<std::string>& candidates);

}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/checkpoint/checkpoint_reader_bodies.hpp>
#endif
