#pragma once
// What goes wrong at run time is an exception derived from `leat::error`: one class per TensorFlow status code
// (error_codes.proto), so that a caller can tell a wrong argument from a missing value without reading the text.

#include <stdexcept>
#include <string>

namespace leat {

/// Base of every exception of the library. `what()` names the node, the shapes and what to do.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument that is wrong whatever the state: a feed of another shape, two sizes for one named dimension.
class invalid_argument : public error {
 public:
  using error::error;
};
/// The state does not allow the call: a variable without a value, a session used by two threads at once.
class failed_precondition : public error {
 public:
  using error::error;
};
/// A name that nothing has.
class not_found : public error {
 public:
  using error::error;
};
/// A name that something else has already.
class already_exists : public error {
 public:
  using error::error;
};
/// An index beyond the end.
class out_of_range : public error {
 public:
  using error::error;
};
/// Bytes that are not what their format says: a file that was cut off, text that is not UTF-8.
class data_loss : public error {
 public:
  using error::error;
};
/// What was waited for did not happen in the time that was given.
class deadline_exceeded : public error {
 public:
  using error::error;
};
/// Stopped by someone else: the run was cancelled, the queue was closed, the session ended.
class cancelled : public error {
 public:
  using error::error;
};
/// Stopped because what was done at the same time stands against it; trying again may help.
class aborted : public error {
 public:
  using error::error;
};
/// Memory or another limit is used up: a stack that is full.
class resource_exhausted : public error {
 public:
  using error::error;
};
/// Something that this build or device cannot do.
class unimplemented : public error {
 public:
  using error::error;
};

namespace detail {
template <class E>
void throw_if(const error& e, const std::string& text) {
  if (dynamic_cast<const E*>(&e) != nullptr) throw E(text);
}
/// Throws an error of the same class with another text: what was known elsewhere is added to it.
[[noreturn]] inline void rethrow_saying(const error& e, const std::string& text) {
  throw_if<invalid_argument>(e, text), throw_if<failed_precondition>(e, text), throw_if<not_found>(e, text);
  throw_if<already_exists>(e, text), throw_if<out_of_range>(e, text), throw_if<data_loss>(e, text);
  throw_if<deadline_exceeded>(e, text), throw_if<cancelled>(e, text), throw_if<aborted>(e, text);
  throw_if<resource_exhausted>(e, text), throw_if<unimplemented>(e, text);
  throw error(text);
}
}  // namespace detail

}  // namespace leat
