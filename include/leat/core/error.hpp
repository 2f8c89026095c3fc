#pragma once
// Run-time errors are exceptions derived from `leat::error`: one class per TensorFlow status code (error_codes.proto), so that a caller
// can distinguish a wrong argument from a missing value without parsing the message.

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

// What constant evaluation and static sessions need is compiled without exceptions, too: an error there ends the program, and its text,
// which would need the heap, is not made. A static session returns its errors instead (session/static/status.hpp).
#if defined(__cpp_exceptions)
#define LEAT_THROW(...) throw __VA_ARGS__
#else
#define LEAT_THROW(...) (static_cast<void>(sizeof((__VA_ARGS__))), __builtin_trap())
#endif

namespace leat {

/// Base of every exception of the library. `what()` names the node, the shapes and the remedy.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument that is wrong in any state: a feed of another shape, two sizes for one named dimension.
class invalid_argument : public error {
 public:
  using error::error;
};
/// The state does not allow the call: a variable without a value, a session used by two threads at once.
class failed_precondition : public error {
 public:
  using error::error;
};
/// A name that does not exist.
class not_found : public error {
 public:
  using error::error;
};
/// A name that is taken.
class already_exists : public error {
 public:
  using error::error;
};
/// An index beyond the end.
class out_of_range : public error {
 public:
  using error::error;
};
/// Malformed data: a truncated file, text that is not UTF-8.
class data_loss : public error {
 public:
  using error::error;
};
/// A timeout.
class deadline_exceeded : public error {
 public:
  using error::error;
};
/// Stopped from elsewhere: the run was cancelled, the queue or the session was closed.
class cancelled : public error {
 public:
  using error::error;
};
/// Stopped by a conflict with a concurrent operation; a retry may help.
class aborted : public error {
 public:
  using error::error;
};
/// Memory or another limit is exhausted: a stack that is full.
class resource_exhausted : public error {
 public:
  using error::error;
};
/// Not supported by this build or device.
class unimplemented : public error {
 public:
  using error::error;
};
/// A task cannot be reached: it was killed, does not answer, or was never started. A retry may help.
class unavailable : public error {
 public:
  using error::error;
};
/// A peer lacks the right key, or belongs to another cluster.
class unauthenticated : public error {
 public:
  using error::error;
};

namespace detail {
#if defined(__cpp_exceptions) && defined(__cpp_rtti)
template <class E>
void throw_if(const error& e, const std::string& text) {
  if (dynamic_cast<const E*>(&e) != nullptr) throw E(text);
}
/// Throws an error of the same class with another message, to add context.
[[noreturn]] inline void rethrow_saying(const error& e, const std::string& text) {
  throw_if<invalid_argument>(e, text), throw_if<failed_precondition>(e, text), throw_if<not_found>(e, text);
  throw_if<already_exists>(e, text), throw_if<out_of_range>(e, text), throw_if<data_loss>(e, text);
  throw_if<deadline_exceeded>(e, text), throw_if<cancelled>(e, text), throw_if<aborted>(e, text);
  throw_if<resource_exhausted>(e, text), throw_if<unimplemented>(e, text);
  throw_if<unavailable>(e, text), throw_if<unauthenticated>(e, text);
  throw error(text);
}
#endif
// Joins the parts of a message. A function rather than `+`, whose inlined code would be compiled into every program although only errors
// need it.
[[gnu::cold, gnu::noinline]] inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}
}  // namespace detail

}  // namespace leat
