#pragma once
// Merges the rows of a sparse gradient that have equal indices, outside of plans: where gradients are sent and where they are combined. It
// uses the kernels of a session's step (kernels/whole_array.hpp), so the sums are equal to the step's, bit for bit.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <string_view>

namespace leat::runtime {

/// Replaces rows [i…, d…] and indices [i…] by [k, d…] and [k]: rows of equal indices are added in their order, at the place where the index
/// occurs first; rows of negative indices are dropped. With `one_by_one`, rows of negative indices are dropped and nothing is added.
/// Dtypes: float32, float64; indices int32 or int64. Errors: invalid_argument for other dtypes, for rows whose leading dimensions are not
/// those of the indices, and for an index that is not less than `count`, the number of rows of `variable`.
void add_equal_rows(tensor_value& rows, tensor_value& indices, std::int64_t count, std::string_view variable, bool one_by_one = false);

}  // namespace leat::runtime

#if LEAT_WITH_BODIES
#include <leat/runtime/kernels/impl/equal_rows.hpp>
#endif
