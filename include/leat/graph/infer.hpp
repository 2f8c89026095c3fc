#pragma once
// Infers dtype and shape of a node from partly known operands. Shape rules accept unknown dimensions. For an operand of unknown rank the
// rule is tried with every rank; the result is known as far as all accepted ranks agree on it.

#include <leat/graph/operator.hpp>

#include <algorithm>
#include <vector>

namespace leat {

namespace detail {

// Reduces the shape `all` to what it has in common with `one`.
inline void agree(shape& all, const shape& one) {
  if (all.rank != one.rank) {
    all = shape::unknown();
    return;
  }
  for (int i = 0; i < all.rank; ++i)
    if (all[i] != one[i]) all.dim[i] = unknown_dimension;
}

/// Calls the operator's rule. A result that no tensor can have is reported as a problem, too: more than 8 dimensions, too many elements, or
/// a negative size that is not an operand's named dimension.
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

/// Tries an operator's rule with each rank of those operands that have unknown rank. Operands of a list (Concat, AddN) have one common
/// rank.
class rank_search {
 public:
  rank_search(const op_info& op, std::span<const tensor_info> operands, std::span<const std::int64_t> numbers)
      : op_(op), operands_(operands.begin(), operands.end()), numbers_(numbers) {
    std::size_t list = operands_.size();  // index of its first operand
    std::size_t before = 0;
    for (const field& f : op.form) {
      if (f.kind == field_kind::operands) list = std::min(list, before);
      if (leat::is_operand(f.kind)) ++before;
    }
    int rank_of_list = -1;
    std::vector<std::size_t> of_list;
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const shape& its = operands_[k].extent;
      if (its.has_rank() && k >= list) rank_of_list = its.rank;
      if (its.has_rank()) continue;
      if (k >= list) of_list.push_back(k);
      else groups_.push_back({k});
    }
    if (rank_of_list >= 0) give_rank(of_list, rank_of_list);
    else if (!of_list.empty()) groups_.push_back(std::move(of_list));
    if (groups_.size() > most_apart) {  // too many combinations: all get the same rank
      for (std::size_t g = 1; g < groups_.size(); ++g) groups_[0].insert(groups_[0].end(), groups_[g].begin(), groups_[g].end());
      groups_.resize(1);
      is_guess_ = true;
    }
  }

  /// What all accepted results have in common; the rule's problem if it accepts no rank.
  inference result() {
    try_ranks(0);
    if (!is_guess_) return any_ ? all_ : inference::wrong(problem_);
    return {any_ ? all_.type : operands_[0].type, shape::unknown()};
  }

 private:
  static constexpr std::size_t most_apart = 4;

  void give_rank(const std::vector<std::size_t>& group, int rank) {
    shape tried;
    for (int i = 0; i < rank; ++i) tried.push(unknown_dimension);
    for (const std::size_t k : group) operands_[k].extent = tried;
  }
  // Tries the ranks of the groups from `group` on. Returns false once nothing more can be learned: the accepted results differ in rank, so
  // no shape is known.
  bool try_ranks(std::size_t group) {
    if (group < groups_.size()) {
      for (int rank = 0; rank <= max_rank; ++rank) {
        give_rank(groups_[group], rank);
        if (!try_ranks(group + 1)) return false;
      }
      return true;
    }
    const inference one = ask(op_, operands_, numbers_);
    if (!one.problem.empty()) {
      problem_ = one.problem;
      return true;
    }
    if (any_) agree(all_.extent, one.extent);
    else all_ = one;
    any_ = true;
    return all_.extent.has_rank();
  }

  const op_info& op_;
  std::vector<tensor_info> operands_;
  std::span<const std::int64_t> numbers_;
  std::vector<std::vector<std::size_t>> groups_;  // operands of each group have one rank
  bool is_guess_ = false;
  inference all_;
  bool any_ = false;
  std::string_view problem_;
};

}  // namespace detail

/// Dtype and shape of a node's result, as far as known. `problem` is set if the rule accepts no rank from 0 to `max_rank`.
inline inference infer_result(const op_info& op, std::span<const tensor_info> operands, std::span<const std::int64_t> numbers) {
  bool ranks_known = true;
  for (const auto& o : operands) ranks_known = ranks_known && o.extent.has_rank();
  if (ranks_known) return detail::ask(op, operands, numbers);
  return detail::rank_search(op, operands, numbers).result();
}

}  // namespace leat
