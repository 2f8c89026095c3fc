#pragma once
// The manifest of a checkpoint, PREFIX.json: the tensors and their checksums, the step, the state of the input pipeline, and the program's
// own strings. The tensors' bytes are next to it in a safetensors file, PREFIX.<16 digits>.safetensors, whose name no other save uses. A
// sharded checkpoint has several such files, one per task, and its manifest lists them. So the rename of the manifest commits a checkpoint:
// before it, readers find the old manifest and the files that it names; after it, the new ones.

#include <leat/core/dtype.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/shape.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leat {

/// The contents of a manifest. For checkpoints of TensorFlow it has only tensors, unless leat wrote them.
struct checkpoint_manifest {
  /// A slice of a tensor, in one of the files.
  struct part {
    int file = 0;        // index as in `tensor`
    std::string name{};  // in that file
    std::vector<std::int64_t> offset{};
    leat::shape shape;
    std::uint32_t crc32c = 0;
    bool operator==(const part&) const = default;
  };
  struct tensor {
    leat::dtype dtype = leat::dtype::invalid;  // for strings: `text_dtype`
    leat::shape shape;
    std::uint32_t crc32c = 0;   // checksum of its bytes
    int file = 0;               // 0 for `data_file`, k for more_files[k - 1]
    std::vector<part> parts{};  // the slices, if it is saved in slices; then it is in their files
    bool operator==(const tensor&) const = default;
  };
  std::map<std::string, tensor, std::less<>> tensors{};
  /// The number at the end of the checkpoint's name.
  std::optional<std::int64_t> step{};
  /// Identifies the graph or expressions that the checkpoint was saved from; empty if unknown.
  std::string graph{};
  /// The state of the input pipeline, in its own format; empty if there is none.
  std::string pipeline_state{};
  /// The program's own strings.
  std::map<std::string, std::string, std::less<>> values{};
  /// The data file, in the manifest's folder, and its size in bytes.
  std::string data_file{};
  std::uint64_t data_bytes = 0;
  /// The additional data files of a sharded checkpoint.
  struct file {
    std::string name{};
    std::uint64_t bytes = 0;
    bool operator==(const file&) const = default;
  };
  std::vector<file> more_files{};

  bool operator==(const checkpoint_manifest&) const = default;
};

/// Whether text is a manifest, whole or damaged, and not other JSON.
bool is_manifest(std::string_view text);

/// Writes a manifest as JSON, including a checksum of itself. Errors: invalid_argument for strings that are not UTF-8.
std::string write_manifest(const checkpoint_manifest& manifest);

/// Parses a manifest. Errors: data_loss for text that is not a manifest or was altered; invalid_argument, naming tensor and field, for
/// invalid fields; unimplemented for a later version of the format.
checkpoint_manifest read_manifest(std::string_view text);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/checkpoint/impl/manifest.hpp>
#endif
