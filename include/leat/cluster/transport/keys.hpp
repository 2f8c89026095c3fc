#pragma once
// CURVE keys (Curve25519, as in CurveZMQ, RFC 26): each process has a pair, and servers have a list of the public keys that they accept. A
// key is 40 characters of Z85. A key file holds lines "public <key>" and, for a pair, "secret <key>", and is readable only by its owner.

#include <leat/core/function_bodies.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace leat::transport {

struct key_pair {
  std::string public_key;
  std::string secret_key;
};

/// The keys of a process, and the keys that it accepts.
struct key_options {
  key_pair own;
  /// The public key that a server must have, for all servers that `server_keys` does not list.
  std::string server_key;
  /// Public keys of servers by the address that is dialed.
  std::map<std::string, std::string> server_keys;
  /// Public keys of the processes that may connect; all others are refused.
  std::vector<std::string> allowed;
};

/// Generates a new pair. Errors: unimplemented if ZeroMQ was built without CURVE.
key_pair generate_keys();
/// Whether a string is 40 characters of Z85.
bool is_key(const std::string& text);

/// Writes a pair to a new file that only its owner can read, and the public key alone to a file next to it, with ".public" appended to the
/// name. Errors: already_exists; failed_precondition.
void write_keys(const std::filesystem::path& path, const key_pair& keys);
/// Reads a pair. Errors: not_found; failed_precondition if others may read the file; data_loss.
key_pair read_keys(const std::filesystem::path& path);
/// Reads one or more public keys: from files of `write_keys`, or from lists with a line "public <key>" each. Lines that begin with # are
/// comments.
std::vector<std::string> read_public_keys(const std::filesystem::path& path);

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/keys.hpp>
#endif
