#pragma once
// A shard of a checkpoint: the safetensors file that one task fills with its variables, and what the client that made the file looks at.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/tensor_value.hpp>
#include <leat/session/shards.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace leat::detail {

/// Fills an empty temporary file, which another process has made, with tensors, and waits until they are on the disk.
/// Errors: those of io::staged_file; invalid_argument for two tensors of one name.
written_shard write_shard(const std::filesystem::path& part, const std::vector<std::pair<std::string, tensor_value>>& tensors);

/// Whether a file is what its writer tells: its size, and the checksum of what stands before its tensors. Errors: data_loss, naming file and
/// writer.
void check_shard(const std::filesystem::path& part, const written_shard& told, const std::string& writer);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/checkpoint/shard_file_bodies.hpp>
#endif
