#pragma once
// Infers dtype and shape of a node from partly known operands. Operators' rules accept unknown dimensions. For an operand of
// unknown rank the rule is tried with every rank; what all accepted ranks have in common is known of the result.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/operator.hpp>
#include <vector>

namespace leat {

namespace detail {

// Reduces a shape to what it has in common with another.
void agree(shape& all, const shape& one);

/// Calls the operator's rule. A result that no tensor can have is a problem like others: more than 8 dimensions, too many elements, a
/// negative size that is not an operand's named dimension.
inference ask(const op_info& op, std::span<const tensor_info> operands, std::span<const std::int64_t> numbers);

void infer_ranks(const op_info& op, std::vector<tensor_info>& operands, std::size_t from, std::span<const std::int64_t> numbers,
                        inference& all, bool& any, std::string_view& problem);

}  // namespace detail

/// Dtype and shape of a node's result, as far as known; `problem` says why no rank fits.
inference infer_result(const op_info& op, std::span<const tensor_info> operands, std::span<const std::int64_t> numbers);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/graph/infer_bodies.hpp>
#endif
