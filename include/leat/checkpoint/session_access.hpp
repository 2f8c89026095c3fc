#pragma once
// Interface between savers and sessions of any kind: reads and writes the session's variables by name.

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
  /// All variables except local ones.
  virtual std::vector<session_variable> variables() const = 0;
  /// Calls `use` with the values of variables, in the order of the names; the variables must exist and have values. The values may be
  /// borrowed from the session, and are valid during the call.
  virtual void with_values(const std::vector<std::string>& names, const std::function<void(std::vector<tensor_value>)>& use) const = 0;
  /// Sets variables, which must exist, to values of their dtype and shape. With `adopt`, the session may keep the values' memory instead of
  /// copying it.
  virtual void assign(const std::vector<std::string>& names, const std::vector<tensor_value>& values, bool adopt) = 0;
  /// For a session on several tasks: the task of each variable, which can write the variable itself. Empty for other sessions.
  virtual std::map<std::string, std::string> tasks_of_variables() const { return {}; }
  /// These tasks write variables. Errors: those of remote_session::write_shards.
  LEAT_INLINE virtual std::vector<written_shard> write_shards(const std::vector<shard_order>& orders) const;
  /// These tasks read variables. Errors: those of remote_session::read_shards.
  LEAT_INLINE virtual void read_shards(const std::vector<shard_reading>& orders);
  /// Identifies the graph or expressions that the session runs.
  virtual std::string fingerprint() const = 0;
  /// The graph as a MetaGraphDef in binary form; empty if there is none.
  virtual std::string meta_graph() const = 0;
  /// The serial number of the graph, 0 if there is none.
  virtual std::uint64_t serial() const = 0;
};

/// Argument that makes calls of `access_of` find, by argument-dependent lookup, the overloads for all kinds of sessions, wherever they are
/// declared.
struct access_key {};

/// A hash as 16 hexadecimal digits.
std::string fingerprint_text(std::uint64_t hash);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/checkpoint/impl/session_access.hpp>
#endif
