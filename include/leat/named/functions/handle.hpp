#pragma once
// Variables by handle in functions of named graphs: their writes have no result, so that what a function returns is a read that waits for
// the write. Source: TensorFlow `ResourceVariable`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>

namespace leat::detail {

// Whether a tensor is a variable by handle.
bool is_handle(const output& variable);
// A read of a variable by handle that waits for a write.
output read_after(const output& variable, const graph_operation& write);
// The operation that wrote, from the result of a function that writes to a variable of either kind.
graph_operation write_of(const output& written);
// Sets whether a write locks its variable, an attribute that writes by handle do not have.
void set_locking(const output& written, bool locks);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/handle.hpp>
#endif
