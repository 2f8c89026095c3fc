#pragma once
// Shards: the tasks of a cluster write and read their variables themselves, instead of exchanging them with a client that writes and reads
// all. To save, the client creates a file for each task, and gives the files their final names when all are complete; a task opens only an
// existing file. To restore, tasks first read and check all that they need, and set their variables only when every task has succeeded.

#include <leat/core/dtype.hpp>
#include <leat/core/shape.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace leat {

/// A request to a task to write variables.
struct shard_order {
  std::string device{};  // of the task
  std::string path{};    // absolute path of an empty file
  /// Variables by node name, and their names in the file.
  std::vector<std::pair<std::string, std::string>> variables{};
};

/// The contents of a shard that is written and synced to disk.
struct written_shard {
  struct tensor {
    std::string name{};  // in the file
    leat::dtype dtype = leat::dtype::invalid;
    leat::shape shape{};
    std::uint32_t crc32c = 0;  // checksum of its bytes
  };
  std::vector<tensor> tensors{};  // in the order of the request
  std::uint64_t bytes = 0;        // size of the file
  std::uint64_t head_bytes = 0;   // size of the part before the tensors
  std::uint32_t head_crc32c = 0;
};

/// A request to a task to read variables.
struct shard_reading {
  std::string device{};            // of the task
  std::string prefix{};            // absolute path of the checkpoint's files, without their endings
  std::uint32_t manifest_crc = 0;  // distinguishes the checkpoint from another of the same name
  struct variable {
    std::string node{};
    std::string name{};  // in the checkpoint
    /// Its position in the checkpoint's tensor, if it is a slice of one.
    std::vector<std::int64_t> offset{};
    leat::shape extent{};
    bool is_slice = false;
  };
  std::vector<variable> variables{};
};

}  // namespace leat
