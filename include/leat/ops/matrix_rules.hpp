#pragma once
// Rules of operators on matrices, which are the last two axes of an array.

#include <leat/ops/diagonals.hpp>
#include <leat/ops/nn.hpp>
#include <leat/ops/stacked_matmul.hpp>

namespace leat {

namespace rule {

/// The matrices of an array: its last two axes.
struct matrices {
  static constexpr std::int64_t rows(const shape& s) { return s[s.rank - 2]; }
  static constexpr std::int64_t columns(const shape& s) { return s[s.rank - 1]; }
  /// The shape of the stack: all axes but the last two.
  static constexpr shape stack(const shape& s) {
    shape made = s;
    made.dim[--made.rank] = 0;
    made.dim[--made.rank] = 0;
    return made;
  }
  static constexpr shape with(shape stack, std::int64_t rows, std::int64_t columns) {
    stack.push(rows);
    stack.push(columns);
    return stack;
  }
  static constexpr shape with(shape stack, std::int64_t elements) {
    stack.push(elements);
    return stack;
  }
};

/// Rule of operators on square matrices, and the shape of their operand.
struct square_matrices {
  static constexpr std::string_view not_square = "Input matrix must be square.";
  static constexpr std::string_view problem(const operand_list& x, int k, std::string_view otherwise = not_square) {
    if (!is_floating(x.type(k))) return refusal(takes::floating);
    if (x.extent(k).rank < 2) return "takes matrices, rank 2 and more";
    if (!may_equal(matrices::rows(x.extent(k)), matrices::columns(x.extent(k)))) return otherwise;
    return {};
  }
  /// The number of rows, which may be known from the columns alone.
  static constexpr std::int64_t size(const shape& s) {
    return matrices::rows(s) == unknown_dimension ? matrices::columns(s) : matrices::rows(s);
  }
  static constexpr inference infer(const operand_list& x) {
    if (const auto why = problem(x, 0); !why.empty()) return inference::wrong(why);
    const std::int64_t n = size(x.extent(0));
    return {x.type(0), matrices::with(matrices::stack(x.extent(0)), n, n)};
  }
  /// Of operators with `count` such matrices for each one: [..., count, n, n].
  static constexpr inference infer_stacks(const operand_list& x, std::int64_t count) {
    inference got = infer(x);
    if (!got.problem.empty()) return got;
    if (got.extent.rank == max_rank) return inference::wrong("more than 7 dimensions");
    const std::int64_t n = matrices::rows(got.extent);
    shape s = matrices::stack(got.extent);
    s.push(count);
    got.extent = matrices::with(s, n, n);
    return got;
  }
  /// Attribute k of a node, 0 if the node has none.
  template <class G>
  static constexpr std::int64_t attribute_or_zero(const G& g, int k) {
    return g.attribute_count() > k ? g.attribute(k) : 0;
  }
};

}  // namespace rule

}  // namespace leat
