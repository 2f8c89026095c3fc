#pragma once
// One node of a graph with names as a plain table, for the `gradient` of its operator's class if gradient_functions.hpp has none for its
// type. The operands are inputs of the table; each unknown dimension gets a name. Two such dimensions in an element-wise operator are
// equal, or one of them is 1, but which is known only at run time. The operand then gets a row that broadcasts it, which does not become a
// node, and its gradient is reduced again.

#include <leat/named/gradients/nodes.hpp>

namespace leat::detail {

/// dy summed over the axes along which the second operand was broadcast, in that operand's shape. Attributes: the shape.
struct shrink_op {
  static constexpr std::string_view type = "leat.Shrink";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    inference got{x.type(0), {}};
    for (int i = 0; i < x.attribute_count; ++i) got.extent.push(x.attribute(i));
    return got;
  }
};
/// An operand broadcast by an element-wise operator along dimensions that may be 1 at run time. Attributes: the shape.
struct stretch_op {
  static constexpr std::string_view type = "leat.Stretch";
  static constexpr op_kind kind = op_kind::view;
  static constexpr inference infer(const operand_list& x) { return shrink_op::infer(x); }
};

class gradient_table {
 public:
  graph table;
  std::vector<output> tensors;  // by row: its tensor; empty for rows that do not become nodes

  gradient_table(graph& g, int index) : g_(g), nodes_(g.named()), index_(index) { enter(); }

  graph& owner() const { return g_; }
  int index() const { return index_; }
  /// The row of the node; `operand(k)` is that of operand `k`. An operand that is used twice has two rows.
  int row() const { return row_; }
  /// The rows of the node's results.
  const std::vector<int>& result_rows() const { return result_rows_; }
  int operand(int k) const { return operands_[static_cast<std::size_t>(k)]; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  /// Adds an input for a tensor with the shape of a row.
  int add_leaf_like_result(const output& tensor, int row) { return put_leaf(table.at(row).result, tensor); }
  /// The row whose gradient is that of operand `k`: the operand's row, or the one that broadcasts it.
  int gradient_row(int k) const { return stretched_[static_cast<std::size_t>(k)]; }

 private:
  // ---- rows ----

  std::int64_t fresh(const std::string& name, int axis) {
    const std::string_view text = table.keep(name, "." + std::to_string(axis));
    const std::int64_t made = named_dimension(text);
    table.name_dimension(made, text);
    return made;
  }
  void note(int row, const output& tensor) {
    const auto size = static_cast<std::size_t>(row) + 1;
    if (tensors.size() < size) tensors.resize(size);
    tensors[size - 1] = tensor;
  }
  int put_leaf(const tensor_info& info, const output& tensor) {
    const int row = table.add_leaf(info_of<placeholder_op>, info, {}, 0);
    note(row, tensor);
    return row;
  }
  // The row of an operand. An operand that occurs again gets a new row with the same dimensions.
  int row_of(const output& o) {
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const output& before = tensors[static_cast<std::size_t>(operands_[k])];
      if (before.index() == o.index() && before.port() == o.port()) return put_leaf(table.at(operands_[k]).result, o);
    }
    shape extent = o.extent();
    if (!extent.has_rank()) refuse_gradient(g_, o.index(), "how many dimensions it has is not known");
    if (to_dtype(to_data_type(o.type())) == dtype::invalid)
      refuse_gradient(g_, o.index(), "a dtype that the library does not compute with");
    for (int i = 0; i < extent.rank; ++i)
      if (extent[i] < 0) extent.dim[i] = fresh(o.name(), i);
    return put_leaf({o.type(), extent}, o);
  }
  // Replaces dimension `from` by `to` in the whole table.
  void rename(std::int64_t from, std::int64_t to) {
    for (node& n : table.nodes)
      for (int i = 0; i < n.result.extent.rank; ++i)
        if (n.result.extent[i] == from) n.result.extent.dim[i] = to;
    for (std::int64_t& v : table.numbers)
      if (v == from) v = to;
  }
  void make_equal(std::int64_t a, std::int64_t b) {
    if (a == b) return;
    if (is_named(a)) rename(a, b);
    else if (is_named(b)) rename(b, a);
  }
  std::int64_t dimension(int row, int axis) const { return table.at(row).result.extent[axis]; }
  int rank(int row) const { return table.at(row).result.extent.rank; }

  // For element-wise operators: broadcasts operands to the result's shape where dimensions may differ.
  void stretch(std::vector<int>& rows) {
    int all = 0;
    for (int r : rows) all = std::max(all, rank(r));
    std::int64_t target[max_rank]{};
    for (int back = 1; back <= all; ++back) {
      std::int64_t found = 1;
      bool unclear = false;
      for (int r : rows) {
        const std::int64_t d = back > rank(r) ? 1 : dimension(r, rank(r) - back);
        if (d == 1 || d == found) continue;
        if (found != 1) unclear = true;
        if (found == 1 || d >= 0) found = d;  // if another operand has a known size, an unknown one can only be equal to it, or 1
      }
      target[all - back] = unclear && found < 0 ? fresh(nodes_.record(index_).name, all - back) : found;
    }
    for (int& r : rows) {
      shape wanted = table.at(r).result.extent;
      for (int back = 1; back <= wanted.rank; ++back)
        if (wanted[wanted.rank - back] != 1) wanted.dim[wanted.rank - back] = target[all - back];
      if (wanted == table.at(r).result.extent) continue;
      const int inputs[]{r};
      r = table.add(info_of<stretch_op>, inputs, {wanted.dim, static_cast<std::size_t>(wanted.rank)});
      note(r, {});
    }
  }
  std::string_view problem_of(const op_info& op, const std::vector<int>& rows, std::span<const std::int64_t> numbers) const {
    std::vector<tensor_info> infos;
    for (int r : rows) infos.push_back(table.at(r).result);
    return op.infer({infos.data(), static_cast<int>(infos.size()), numbers.data(), static_cast<int>(numbers.size())}).problem;
  }
  // Unifies dimensions that an operator requires to be equal, because the graph could not run if they differed.
  void unite(const op_info& op, const std::vector<int>& rows, std::span<const std::int64_t> numbers) {
    if (is_operator<matmul_op>(op)) {
      if (rank(rows[0]) == 2 && rank(rows[1]) == 2)
        make_equal(dimension(rows[0], numbers[0] != 0 ? 0 : 1), dimension(rows[1], numbers[1] != 0 ? 1 : 0));
      return;
    }
    for (std::size_t k = 1; k < rows.size(); ++k)
      for (int i = 0; i < std::min(rank(rows[0]), rank(rows[k])); ++i)
        if (!is_operator<concat_op>(op) || (i != numbers[0] && i != numbers[0] + rank(rows[0])))
          make_equal(dimension(rows[0], i), dimension(rows[k], i));
  }

  void enter() {
    const node n = g_.at(index_);
    if (!nodes_.record(index_).complete) refuse_gradient(g_, index_, "its axes, shape or dtype are known only when it runs");
    for (int k = 0; k < n.input_count; ++k) operands_.push_back(row_of(nodes_.input(g_, index_, k)));
    std::vector<int> rows = operands_;
    std::vector<std::int64_t> numbers;
    for (int k = 0; k < n.attribute_count; ++k) numbers.push_back(g_.attribute(n, k));
    if (n.op->kind == op_kind::element) stretch(rows);
    if (!problem_of(*n.op, rows, numbers).empty()) unite(*n.op, rows, numbers);
    if (const auto problem = problem_of(*n.op, rows, numbers); !problem.empty()) refuse_gradient(g_, index_, std::string(problem));
    table.merge_equal = n.op->further != nullptr;  // a gradient that uses a result finds its row
    row_ = table.add(*n.op, rows, numbers);
    stretched_ = rows;
    note(row_, output(g_, index_));
    result_rows_.push_back(row_);
    for (int port = 1; n.op->further != nullptr && port < nodes_.record(index_).results; ++port) {
      result_rows_.push_back(detail::result_row(*n.op, table, rows, numbers, port).index());
      note(result_rows_.back(), output(g_, index_, port));
    }
    const shape known = n.result.extent;  // set_shape may have refined the shape that the rule infers
    for (int i = 0; i < known.rank && known.rank == rank(row_); ++i) {
      if (dimension(row_, i) == unknown_dimension) table.at(row_).result.extent.dim[i] = fresh(nodes_.record(index_).name, i);
      if (known[i] >= 0) make_equal(dimension(row_, i), known[i]);
    }
  }

  graph& g_;
  named_part& nodes_;
  int index_;
  int row_ = -1;
  std::vector<int> result_rows_;
  std::vector<int> operands_;
  std::vector<int> stretched_;
};

}  // namespace leat::detail
