#pragma once
// Tensors in parts: blocks of a whole tensor, as partitioned variables are saved and restored. The saved parts may differ from the
// requested ones: the saved parts are joined to the whole tensor, which is then divided into the requested parts.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <span>
#include <string>
#include <vector>

namespace leat::detail {

/// The position and shape of a part of a tensor.
struct tensor_block {
  std::vector<std::int64_t> offset{};
  shape extent{};
};

/// Why blocks do not cover a tensor of this shape, each element once; an empty string if they do.
std::string covering_problem(const shape& whole, std::span<const tensor_block> blocks);

/// Copies a part to its block of the whole tensor, which must have the part's dtype. The block must be within the whole.
void put_block(tensor_value& whole, const tensor_block& at, const tensor_value& part);
/// Copies a block of a tensor. The block must be within the tensor.
tensor_value take_block(const tensor_value& whole, const tensor_block& at);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/io/impl/tensor_parts.hpp>
#endif
