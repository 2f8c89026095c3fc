#pragma once
// Tensors in parts: blocks of a whole, as partitioned variables are saved and restored. The parts may differ from those that are wanted:
// the whole lies between them.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <span>
#include <string>
#include <vector>

namespace leat::detail {

/// Where a part lies in a tensor.
struct tensor_block {
  std::vector<std::int64_t> offset{};
  shape extent{};
};

/// Why blocks are not a tensor of this shape, each element once; empty if they are.
std::string covering_problem(const shape& whole, std::span<const tensor_block> blocks);

/// Copies a part into its place in the whole, which has its dtype. The block lies within the whole.
void put_block(tensor_value& whole, const tensor_block& at, const tensor_value& part);
/// A copy of a block of a tensor. The block lies within the whole.
tensor_value take_block(const tensor_value& whole, const tensor_block& at);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/io/tensor_parts_bodies.hpp>
#endif
