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

}  // namespace leat
