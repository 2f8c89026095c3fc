#pragma once
// A shard of a checkpoint: the safetensors file that one task fills with its variables, and the check by the client that created the file.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/tensor_value.hpp>
#include <leat/session/shards.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace leat::detail {

/// Writes tensors into an empty temporary file that another process created, and returns when they are on disk.
/// Errors: those of io::staged_file; invalid_argument for two tensors of one name.
written_shard write_shard(const std::filesystem::path& part, const std::vector<std::pair<std::string, tensor_value>>& tensors);

/// Checks that a file is the one that its writer reports, by its size and the checksum of the part before its tensors. Errors: data_loss,
/// naming file and writer.
void check_shard(const std::filesystem::path& part, const written_shard& told, const std::string& writer);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/checkpoint/impl/shard_file.hpp>
#endif
