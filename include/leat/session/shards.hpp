#pragma once
// Variables that the tasks of a cluster write and read themselves, each its own, instead of exchanging them with a client that writes and
// reads all. To save, the client makes a file for each task, and gives them their names when all are complete; a task opens only a file that
// is there. To restore, tasks first read and check all that they need, and set their variables when every one of them has.

#include <leat/core/dtype.hpp>
#include <leat/core/shape.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace leat {

/// What a task is to write.
struct shard_order {
  std::string device{};  // of the task
  std::string path{};    // an absolute path to an empty file
  /// Variables, by the names of their nodes, and their names in the file.
  std::vector<std::pair<std::string, std::string>> variables{};
};

/// What it has written, and is on the disk.
struct written_shard {
  struct tensor {
    std::string name{};  // in the file
    leat::dtype dtype = leat::dtype::invalid;
    leat::shape shape{};
    std::uint32_t crc32c = 0;  // of its bytes
  };
  std::vector<tensor> tensors{};  // as they were ordered
  std::uint64_t bytes = 0;        // of the file
  std::uint64_t head_bytes = 0;   // before its tensors
  std::uint32_t head_crc32c = 0;
};

/// What a task is to read.
struct shard_reading {
  std::string device{};            // of the task
  std::string prefix{};            // of a checkpoint, an absolute path
  std::uint32_t manifest_crc = 0;  // distinguishes it from another checkpoint of the same name
  struct variable {
    std::string node{};
    std::string name{};  // in the checkpoint
    /// Where it lies in the tensor there, if it is a slice of one.
    std::vector<std::int64_t> offset{};
    leat::shape extent{};
    bool is_slice = false;
  };
  std::vector<variable> variables{};
};

}  // namespace leat
