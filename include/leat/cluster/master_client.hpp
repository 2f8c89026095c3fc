#pragma once
// The client's side of a session at a master: a remote_session (session/session_target.hpp) that sends the graph as it grows, and requests
// runs. In the master's own process it calls the master directly.

#include <leat/cluster/task_service.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/session/session_target.hpp>

#include <functional>
#include <memory>

namespace leat::cluster {

/// Access to one master: by calls to another process, or directly within this one.
class master_access {
 public:
  virtual ~master_access() = default;
  virtual std::uint64_t create_session(const master_session_options& options) = 0;
  virtual void extend_session(std::uint64_t session, const graph_def& more, steady_time deadline) = 0;
  virtual std::uint64_t prepare(std::uint64_t session, const run_names& names, steady_time deadline) = 0;
  /// Does not wait, and reports no error.
  virtual void drop_run(std::uint64_t session, std::uint64_t prepared) noexcept = 0;
  virtual std::vector<tensor_value> run(std::uint64_t session, std::uint64_t prepared, std::span<const tensor_value> feeds,
                                        steady_time deadline, const cancellation* cancel, traced_run* traced) = 0;
  /// As remote_session::feed_memory.
  virtual tensor_value feed_memory(std::uint64_t session, std::uint64_t prepared, std::size_t feed, dtype type, const shape& extent) = 0;
  /// The names of the nodes of the session's graph, and their devices.
  virtual std::vector<std::pair<std::string, std::string>> placement(std::uint64_t session, steady_time deadline) = 0;
  virtual std::vector<std::string> devices(std::uint64_t session, steady_time deadline) = 0;
  virtual void close_session(std::uint64_t session) = 0;
  virtual void reset(const std::string& container, steady_time deadline) = 0;
  virtual tensor_value read_variable(std::uint64_t session, const std::string& node, steady_time deadline) = 0;
  virtual void write_variable(std::uint64_t session, const std::string& node, const tensor_value& value, steady_time deadline) = 0;
  virtual bool has_variable(std::uint64_t session, const std::string& node, steady_time deadline) = 0;
  virtual std::vector<written_shard> write_shards(std::uint64_t session, const std::vector<shard_order>& orders, steady_time deadline) = 0;
  virtual void read_shards(std::uint64_t session, const std::vector<shard_reading>& orders, steady_time deadline) = 0;
  virtual random_positions random_state(std::uint64_t session, steady_time deadline) = 0;
  virtual void set_random_state(std::uint64_t session, const random_positions& positions, steady_time deadline) = 0;
};

/// The master of this process.
std::unique_ptr<master_access> access_to(std::shared_ptr<task_service> service);
/// A master in another process, which is task `task` of the network.
std::unique_ptr<master_access> access_to(std::shared_ptr<task_network> network, int task);

/// Starts a session of a graph at a master. Errors: those of its start.
std::unique_ptr<remote_session> session_at(graph& g, const session_options& options, std::unique_ptr<master_access> master);

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/master_client.hpp>
#endif
