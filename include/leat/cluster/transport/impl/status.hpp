#pragma once
// Implementation of status.hpp.

#include <leat/cluster/transport/status.hpp>
#include <leat/core/function_bodies.hpp>

namespace leat::transport {

LEAT_FUNCTION status status_of(const std::exception& e) {
  const auto is = [&]<class E>(const E*) { return dynamic_cast<const E*>(&e) != nullptr; };
  if (is(static_cast<const cancelled*>(nullptr))) return status::cancelled;
  if (is(static_cast<const invalid_argument*>(nullptr))) return status::invalid_argument;
  if (is(static_cast<const deadline_exceeded*>(nullptr))) return status::deadline_exceeded;
  if (is(static_cast<const not_found*>(nullptr))) return status::not_found;
  if (is(static_cast<const already_exists*>(nullptr))) return status::already_exists;
  if (is(static_cast<const resource_exhausted*>(nullptr))) return status::resource_exhausted;
  if (is(static_cast<const failed_precondition*>(nullptr))) return status::failed_precondition;
  if (is(static_cast<const aborted*>(nullptr))) return status::aborted;
  if (is(static_cast<const out_of_range*>(nullptr))) return status::out_of_range;
  if (is(static_cast<const unimplemented*>(nullptr))) return status::unimplemented;
  if (is(static_cast<const unavailable*>(nullptr))) return status::unavailable;
  if (is(static_cast<const data_loss*>(nullptr))) return status::data_loss;
  if (is(static_cast<const unauthenticated*>(nullptr))) return status::unauthenticated;
  return status::unknown;
}

LEAT_FUNCTION std::exception_ptr exception_of(status s, const std::string& text) {
  switch (s) {
    case status::cancelled: return std::make_exception_ptr(cancelled(text));
    case status::invalid_argument: return std::make_exception_ptr(invalid_argument(text));
    case status::deadline_exceeded: return std::make_exception_ptr(deadline_exceeded(text));
    case status::not_found: return std::make_exception_ptr(not_found(text));
    case status::already_exists: return std::make_exception_ptr(already_exists(text));
    case status::resource_exhausted: return std::make_exception_ptr(resource_exhausted(text));
    case status::failed_precondition: return std::make_exception_ptr(failed_precondition(text));
    case status::aborted: return std::make_exception_ptr(aborted(text));
    case status::out_of_range: return std::make_exception_ptr(out_of_range(text));
    case status::unimplemented: return std::make_exception_ptr(unimplemented(text));
    case status::unavailable: return std::make_exception_ptr(unavailable(text));
    case status::data_loss: return std::make_exception_ptr(data_loss(text));
    case status::unauthenticated: return std::make_exception_ptr(unauthenticated(text));
    case status::ok:
    case status::unknown: break;
  }
  return std::make_exception_ptr(error(text));
}

}  // namespace leat::transport
