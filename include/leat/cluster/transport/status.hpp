#pragma once
// Errors as TensorFlow's status codes (error_codes.proto), so that an exception thrown by a task is rethrown at the requesting side.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <exception>
#include <string>

namespace leat::transport {

enum class status : std::uint16_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

/// The status of an exception; `unknown` if it is not one of the library's.
status status_of(const std::exception& e);
/// The exception of a status; `error` if the status is unknown.
std::exception_ptr exception_of(status s, const std::string& text);

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/status.hpp>
#endif
