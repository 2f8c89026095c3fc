#pragma once
// Infers dtype and shape of a node from partly known operands. Operators' rules accept unknown dimensions. For an operand of
// unknown rank the rule is tried with every rank; what all accepted ranks have in common is known of the result.

#include <leat/graph/operator.hpp>
#include <vector>

namespace leat {

namespace detail {

// Reduces a shape to what it has in common with another.
inline void agree(shape& all, const shape& one) {
  if (all.rank != one.rank) {
    all = shape::unknown();
    return;
  }
  for (int i = 0; i < all.rank; ++i)
    if (all[i] != one[i]) all.dim[i] = unknown_dimension;
}

/// Calls the operator's rule. A result that no tensor can have is a problem like others: more than 8 dimensions, too many elements, a
/// negative size that is not an operand's named dimension.
inline inference ask(const op_info& op, std::span<const tensor_info> operands, std::span<const std::int64_t> numbers) {
  constexpr std::string_view too_many = "a result of more than 2^44 elements, which no memory holds";
  try {
    const auto rule = op.infer_node != nullptr ? op.infer_node : op.infer;
    const inference got = rule({operands.data(), static_cast<int>(operands.size()), numbers.data(), static_cast<int>(numbers.size())});
    if (!got.problem.empty() || !got.extent.has_rank()) return got;
    if (!got.extent.is_countable()) return inference::wrong(too_many);
    for (int i = 0; i < got.extent.rank; ++i) {
      if (!is_named(got.extent[i])) continue;
      bool known = false;
      for (const auto& o : operands)
        for (int k = 0; k < o.extent.rank; ++k) known = known || o.extent[k] == got.extent[i];
      if (!known) return inference::wrong("a size below 0");
    }
    return got;
  } catch (const unimplemented&) {
    return inference::wrong("a result of more than 8 dimensions");
  } catch (const resource_exhausted&) {
    return inference::wrong(too_many);
  }
}

inline void infer_ranks(const op_info& op, std::vector<tensor_info>& operands, std::size_t from, std::span<const std::int64_t> numbers,
                        inference& all, bool& any, std::string_view& problem) {
  while (from < operands.size() && operands[from].extent.has_rank()) ++from;
  if (from == operands.size()) {
    const inference one = ask(op, operands, numbers);
    if (!one.problem.empty()) {
      problem = one.problem;
    } else if (!any) {
      all = one;
      any = true;
    } else {
      agree(all.extent, one.extent);
    }
    return;
  }
  const shape kept = operands[from].extent;
  // Ranks up to 4 suffice to tell the rules apart; more would only take time.
  for (int rank = 0; rank <= 4; ++rank) {
    shape tried;
    for (int i = 0; i < rank; ++i) tried.push(unknown_dimension);
    operands[from].extent = tried;
    infer_ranks(op, operands, from + 1, numbers, all, any, problem);
  }
  operands[from].extent = kept;
}

}  // namespace detail

/// Dtype and shape of a node's result, as far as known; `problem` says why no rank fits.
inline inference infer_result(const op_info& op, std::span<const tensor_info> operands, std::span<const std::int64_t> numbers) {
  bool ranks_known = true;
  for (const auto& o : operands) ranks_known = ranks_known && o.extent.has_rank();
  if (ranks_known) return detail::ask(op, operands, numbers);
  if (operands.size() > 4) {  // too many combinations; such operators (concat) take equal ranks
    std::vector<tensor_info> tried(operands.begin(), operands.end());
    shape like = shape::unknown();
    for (const auto& o : operands)
      if (o.extent.has_rank()) like = o.extent;
    for (auto& o : tried)
      if (!o.extent.has_rank()) {
        o.extent = like;
        for (int i = 0; i < like.rank; ++i) o.extent.dim[i] = unknown_dimension;
      }
    if (like.has_rank()) return detail::ask(op, tried, numbers);
    return {operands[0].type, shape::unknown()};
  }
  std::vector<tensor_info> tried(operands.begin(), operands.end());
  inference all;
  bool any = false;
  std::string_view problem;
  detail::infer_ranks(op, tried, 0, numbers, all, any, problem);
  return any ? all : inference::wrong(problem);
}

}  // namespace leat
