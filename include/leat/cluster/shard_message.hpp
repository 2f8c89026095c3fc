#pragma once
// Orders to tasks to write variables into files and to read them, and reports of what was written, as JSON in messages.

#include <leat/core/function_bodies.hpp>
#include <leat/session/shards.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leat::cluster {

/// What a task is to write, by the task's own names.
struct shard_of_task {
  struct variable {
    std::string container{};
    std::string name{};
    std::string name_in_file{};
  };
  std::uint64_t incarnation = 0;
  std::string path{};
  std::vector<variable> variables{};
};

/// What a task is to read, by the task's own names.
struct reading_of_task {
  struct variable {
    std::string container{};
    std::string name{};
    shape graph_extent{};  // according to the graph
    std::string name_in_file{};
    std::vector<std::int64_t> offset{};
    shape extent{};
    bool is_slice = false;
  };
  std::uint64_t incarnation = 0;
  std::uint64_t session = 0;
  std::string prefix{};
  std::uint32_t manifest_crc = 0;
  std::vector<variable> variables{};
};

// Errors of reading: data_loss.
std::string json_of(const reading_of_task& order);
reading_of_task reading_of_task_in(std::string_view json);
std::string json_of(const std::vector<shard_reading>& orders);
std::vector<shard_reading> shard_readings_in(std::string_view json);
std::string json_of(const shard_of_task& order);
shard_of_task shard_of_task_in(std::string_view json);
std::string json_of(const std::vector<shard_order>& orders);
std::vector<shard_order> shard_orders_in(std::string_view json);
std::string json_of(const std::vector<written_shard>& written);
std::vector<written_shard> written_shards_in(std::string_view json);

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/shard_message.hpp>
#endif
