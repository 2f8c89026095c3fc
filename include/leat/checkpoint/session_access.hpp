#pragma once
// What savers need of a session, whatever kind it is: its variables by name, and their values to be read and written.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/variable_store.hpp>
#include <leat/runtime/state/tensor_value.hpp>
#include <leat/session/shards.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace leat::detail {

/// A variable of a session.
struct session_variable {
  std::string name{};
  leat::dtype type = leat::dtype::invalid;
  leat::shape extent{};
  bool is_initialized = false;
  std::optional<save_slice_info> slice{};  // of a slice of a partitioned variable
};

class session_access {
 public:
  virtual ~session_access() = default;
  /// All variables but local ones.
  virtual std::vector<session_variable> variables() const = 0;
  /// Calls `use` with the values of variables that exist and have one, in the order of the names. They may be borrowed from the
  /// session, and are valid during the call.
  virtual void with_values(const std::vector<std::string>& names, const std::function<void(std::vector<tensor_value>)>& use) const = 0;
  /// Sets variables that exist to values that fit. With `adopt`, the session may keep the values' memory instead of copying it.
  virtual void assign(const std::vector<std::string>& names, const std::vector<tensor_value>& values, bool adopt) = 0;
  /// Of a session on several tasks: the task of each variable, which can write it itself; none of others.
  virtual std::map<std::string, std::string> tasks_of_variables() const { return {}; }
  /// Has these tasks write variables. Errors: those of remote_session::write_shards.
  LEAT_INLINE virtual std::vector<written_shard> write_shards(const std::vector<shard_order>& orders) const;
  /// Has these tasks read variables. Errors: those of remote_session::read_shards.
  LEAT_INLINE virtual void read_shards(const std::vector<shard_reading>& orders);
  /// Identifies what the session runs.
  virtual std::string fingerprint() const = 0;
  /// The graph as a MetaGraphDef in binary form; empty if there is none.
  virtual std::string meta_graph() const = 0;
  /// The serial number of the graph, 0 if there is none.
  virtual std::uint64_t serial() const = 0;
};

/// Finds `access_of` of all kinds of sessions by its namespace, wherever they are declared.
struct access_key {};

/// A hash as 16 hexadecimal digits.
std::string fingerprint_text(std::uint64_t hash);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/checkpoint/session_access_bodies.hpp>
#endif
