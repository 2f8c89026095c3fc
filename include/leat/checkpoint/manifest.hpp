#pragma once
// The manifest of a checkpoint, PREFIX.json: which tensors there are, with their checksums, the step, the state of the input pipeline,
// and a program's own strings. The tensors' bytes stand beside it in a safetensors file, PREFIX.<16 digits>.safetensors, whose name no
// other save uses. A sharded checkpoint has several such files, one of each task, and lists them. So the rename of the manifest is what commits a checkpoint: before, readers find the old manifest and the file that
// it names; after, the new ones.

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

/// What a checkpoint says of itself beside its tensors' bytes. Manifests of TensorFlow's checkpoints have tensors alone, unless leat
/// wrote them.
struct checkpoint_manifest {
  /// A slice of a tensor, in one of the files.
  struct part {
    int file = 0;        // as in `tensor`
    std::string name{};  // there
    std::vector<std::int64_t> offset{};
    leat::shape shape;
    std::uint32_t crc32c = 0;
    bool operator==(const part&) const = default;
  };
  struct tensor {
    leat::dtype dtype = leat::dtype::invalid;  // also of strings, `text_dtype`
    leat::shape shape;
    std::uint32_t crc32c = 0;   // of its bytes
    int file = 0;               // 0 for `data_file`, k for more_files[k - 1]
    std::vector<part> parts{};  // if it is saved in slices; then it is in the files of these
    bool operator==(const tensor&) const = default;
  };
  std::map<std::string, tensor, std::less<>> tensors{};
  /// The number at the end of the checkpoint's name.
  std::optional<std::int64_t> step{};
  /// Identifies the graph or expressions that it was saved from; empty if unknown.
  std::string graph{};
  /// Where the input pipeline was, in its own words; empty if there is none.
  std::string pipeline_state{};
  /// A program's own strings.
  std::map<std::string, std::string, std::less<>> values{};
  /// The file of the tensors, in the manifest's folder, and its length in bytes.
  std::string data_file{};
  std::uint64_t data_bytes = 0;
  /// The further files of a sharded checkpoint.
  struct file {
    std::string name{};
    std::uint64_t bytes = 0;
    bool operator==(const file&) const = default;
  };
  std::vector<file> more_files{};

  bool operator==(const checkpoint_manifest&) const = default;
};

/// Whether text is a manifest, whole or damaged, and not JSON of another kind.
bool is_manifest(std::string_view text);

/// As JSON, with a checksum of its own. Errors: invalid_argument for strings that are not UTF-8.
std::string write_manifest(const checkpoint_manifest& manifest);

/// Errors: data_loss for text that is not a manifest, or altered; invalid_argument, naming tensor and field, for what is wrong in one;
/// unimplemented for a later version of the format.
checkpoint_manifest read_manifest(std::string_view text);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/checkpoint/manifest_bodies.hpp>
#endif
