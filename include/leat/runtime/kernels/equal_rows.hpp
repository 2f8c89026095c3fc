#pragma once
// Gradients of rows outside of plans, where they are sent and where they meet: rows of equal indices become one, by the kernels of
// sessions' steps (kernels/whole_array.hpp), so that the sums are theirs to the bit.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <string_view>

namespace leat::runtime {

/// Rows [i…, d…] and indices [i…] as [k, d…] and [k]: rows of equal indices are added in their order, where the index occurs first; those of
/// negative indices are dropped. With `one_by_one` these are dropped, and nothing is added.
/// Dtypes: floating point; indices int32 or int64. Errors: invalid_argument for an index that is not less than `count`, the rows of
/// `variable`.
void add_equal_rows(tensor_value& rows, tensor_value& indices, std::int64_t count, std::string_view variable, bool one_by_one = false);

}  // namespace leat::runtime

#if LEAT_WITH_BODIES
#include <leat/runtime/kernels/equal_rows_bodies.hpp>
#endif
