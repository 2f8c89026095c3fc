#pragma once
// Variables that the tasks of a cluster write themselves, each its own into a file of its own, instead of sending them to a client that
// writes all. The client makes the files, and gives them their names when all are complete; a task opens only a file that is there.

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

}  // namespace leat
