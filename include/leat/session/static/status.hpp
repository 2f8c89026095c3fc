#pragma once
// What the calls of a static session return, where those of other sessions throw.

namespace leat {

/// The result of a call of a static session; after any but `ok` the session is as it was before.
enum class status : unsigned char {
  ok,
  invalid_argument,    // an array of another size, a number that the dtype does not hold, an index out of range, an integer divided by zero
  failed_precondition  // a variable without a value
};

}  // namespace leat
