#pragma once
// The part of a graph with names that a gradient goes through, as a plain table, so that the operators' own gradients can be
// used on it. Rows are the nodes on paths from the xs to the ys; whatever else these nodes take is a leaf. A dimension that
// is not known has a name of its own here. Two such dimensions that meet element by element are the same or one of them is
// 1, which only a run tells: there the operand is stretched, by a row that is no node, and its gradient is shrunk again.

#include <leat/graph/canonical.hpp>
#include <leat/ops/add_n.hpp>
#include <leat/passes/gradient.hpp>
#include <set>

namespace leat::detail {

/// dy summed over the axes along which the second operand was repeated, in that operand's shape. Attributes: the shape.
struct shrink_op {
  static constexpr std::string_view type = "leat.Shrink";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    inference got{x.type(0), {}};
    for (int i = 0; i < x.attribute_count; ++i) got.extent.push(x.attribute(i));
    return got;
  }
};
/// An operand as an element-wise operator repeats it, along dimensions that may turn out to be 1. Attributes: the shape.
struct stretch_op {
  static constexpr std::string_view type = "leat.Stretch";
  static constexpr op_kind kind = op_kind::view;
  static constexpr inference infer(const operand_list& x) { return shrink_op::infer(x); }
  template <class G>
  static constexpr void gradient(G& g) {
    const shape to = g.input(0).extent();
    if (g.wants(0)) give(g, 0, make_node<shrink_op>({to.dim, static_cast<std::size_t>(to.rank)}, g.dy(), g.input(0)));
  }
};

/// "the node 'a/b' (MatMul): what, made at main.cpp:12".
[[noreturn]] inline void refuse_gradient(graph& g, int index, const std::string& what) {
  const node_record& r = g.named().record(index);
  std::string text = "gradients: the node '" + r.name + "' (" + std::string(g.at(index).op->type) + "): " + what;
  if (r.made_at.line != 0) text += std::string(", made at ") + r.made_at.file + ":" + std::to_string(r.made_at.line);
  throw unimplemented(text);
}

class gradient_table {
 public:
  graph table;
  std::vector<output> tensors;  // of each row: the tensor it stands for; none for rows that are no nodes
  std::vector<int> nodes_of;    // of each row: the node

  gradient_table(graph& g, std::span<const output> ys, std::span<const output> xs, std::span<const output> stops)
      : g_(g), nodes_(g.named()) {
    for (const output& s : stops) stops_.insert(s.index());
    mark(ys, xs);
    for (int i = 0; i < g_.size(); ++i)
      if (is_between(i)) enter(i);
    for (const output& x : xs)
      if (reached_.contains(key(x))) static_cast<void>(row_of(x));
  }

  /// The row of a tensor, or -1 where no gradient passes it.
  int find(const output& o) const {
    const auto at = rows_.find(key(o));
    return at == rows_.end() || !wanted_.contains(key(o)) ? -1 : at->second;
  }
  /// Which rows depend on an x.
  std::vector<char> wanted_rows() const {
    std::vector<char> wanted(static_cast<std::size_t>(table.size()), 0);
    for (const auto& [tensor, row] : rows_)
      if (wanted_.contains(tensor)) wanted[static_cast<std::size_t>(row)] = 1;
    for (int i = 0; i < table.size(); ++i)
      if (is_operator<stretch_op>(*table.at(i).op))
        wanted[static_cast<std::size_t>(i)] = wanted[static_cast<std::size_t>(table.input(table.at(i), 0))];
    return wanted;
  }
  /// A leaf in place of a tensor whose shape is that of a row.
  int add_leaf_like(int row, const output& tensor) { return put_leaf(table.at(row).result, tensor); }

 private:
  using tensor_key = std::pair<int, int>;
  static tensor_key key(const output& o) { return {o.index(), o.port()}; }

  // Operators of TensorFlow that take floating-point tensors and let no gradient pass, and are carried here, not known.
  static bool lets_nothing_pass(std::string_view type) { return type == "ZerosLike" || type == "OnesLike"; }

  // What an import does not know the dtype of, may be floating point.
  static bool may_pass(dtype type) { return is_floating(type) || type == dtype::invalid; }
  bool passes(int index) const {
    const node& n = g_.at(index);
    if (stops_.contains(index)) return false;
    if (named_part::is_opaque(*n.op)) {
      bool any = may_pass(n.result.type) && nodes_.record(index).results > 0;
      for (const tensor_info& more : nodes_.record(index).further) any = any || may_pass(more.type);
      return any && !lets_nothing_pass(n.op->type);
    }
    return passes::passes_gradient(n);
  }
  // The inputs that a gradient may reach: floating-point operands.
  std::vector<output> operands(int index) const {
    std::vector<output> list;
    for (int k = 0; k < g_.at(index).input_count; ++k) list.push_back(nodes_.input(g_, index, k));
    return list;
  }
  bool is_between(int index) const { return between_[static_cast<std::size_t>(index)] != 0; }

  void mark(std::span<const output> ys, std::span<const output> xs) {
    for (const output& x : xs) wanted_.insert(key(x));
    between_.assign(static_cast<std::size_t>(g_.size()), 0);
    for (int i = 0; i < g_.size(); ++i) {
      if (!passes(i)) continue;
      bool depends = false;
      for (const output& in : operands(i)) depends = depends || (may_pass(in.type()) && wanted_.contains(key(in)));
      if (!depends) continue;
      between_[static_cast<std::size_t>(i)] = 1;
      for (int port = 0; port < nodes_.record(i).results; ++port) wanted_.insert({i, port});
    }
    for (const output& y : ys)
      if (wanted_.contains(key(y))) reached_.insert(key(y));
    for (int i = g_.size() - 1; i >= 0; --i) {
      if (!is_between(i)) continue;
      bool first = reached_.contains({i, 0});
      for (int port = 1; port < nodes_.record(i).results; ++port) {
        if (!reached_.contains({i, port})) continue;
        first = true;
        if (!named_part::is_opaque(*g_.at(i).op)) refuse_gradient(g_, i, "no gradient is known of its second result");
      }
      if (!first) {
        between_[static_cast<std::size_t>(i)] = 0;
        continue;
      }
      if (named_part::is_opaque(*g_.at(i).op)) refuse_gradient(g_, i, "no gradient is known of this operator");
      for (const output& in : operands(i)) reached_.insert(key(in));
    }
  }

  // ---- rows ----

  std::int64_t fresh(const std::string& name, int axis) {
    const std::string_view text = table.keep(name, "." + std::to_string(axis));
    const std::int64_t made = named_dimension(text);
    table.name_dimension(made, text);
    return made;
  }
  void note(int row, const output& tensor, int node_index) {
    const auto size = static_cast<std::size_t>(row) + 1;
    if (tensors.size() < size) tensors.resize(size);
    if (nodes_of.size() < size) nodes_of.resize(size, -1);
    tensors[size - 1] = tensor;
    nodes_of[size - 1] = node_index;
  }
  int put_leaf(const tensor_info& info, const output& tensor) {
    const int row = table.add_leaf(info_of<placeholder_op>, info, {}, 0);
    note(row, tensor, tensor.index());
    return row;
  }
  // The row of an operand: a leaf, if it is not on the way.
  int row_of(const output& o) {
    if (const auto known = rows_.find(key(o)); known != rows_.end()) return known->second;
    shape extent = o.extent();
    if (!extent.has_rank()) refuse_gradient(g_, o.index(), "how many dimensions it has is not known");
    if (to_dtype(to_data_type(o.type())) == dtype::invalid) refuse_gradient(g_, o.index(), "a dtype that the library does not compute with");
    for (int i = 0; i < extent.rank; ++i)
      if (extent[i] < 0) extent.dim[i] = fresh(o.name(), i);
    return rows_.emplace(key(o), put_leaf({o.type(), extent}, o)).first->second;
  }
  // From now on dimension `from` is `to`, everywhere.
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

  // Element by element: where dimensions may differ, operands are stretched to the result's.
  void stretch(int index, std::vector<int>& rows) {
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
        if (found == 1 || d >= 0) found = d;  // beside a size, what is not known can only be that size, or 1
      }
      target[all - back] = unclear && found < 0 ? fresh(nodes_.record(index).name, all - back) : found;
    }
    for (int& r : rows) {
      shape wanted = table.at(r).result.extent;
      for (int back = 1; back <= wanted.rank; ++back)
        if (wanted[wanted.rank - back] != 1) wanted.dim[wanted.rank - back] = target[all - back];
      if (wanted == table.at(r).result.extent) continue;
      const int inputs[]{r};
      r = table.add(info_of<stretch_op>, inputs, {wanted.dim, static_cast<std::size_t>(wanted.rank)});
      note(r, {}, index);
    }
  }
  std::string_view problem_of(const op_info& op, const std::vector<int>& rows, std::span<const std::int64_t> numbers) const {
    std::vector<tensor_info> infos;
    for (int r : rows) infos.push_back(table.at(r).result);
    return op.infer({infos.data(), static_cast<int>(infos.size()), numbers.data(), static_cast<int>(numbers.size())}).problem;
  }
  // Dimensions that an operator wants to be equal, and that are, since the graph would not run otherwise.
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

  void enter(int index) {
    const node n = g_.at(index);
    if (!nodes_.record(index).complete) refuse_gradient(g_, index, "its axes, shape or dtype are known only when it runs");
    std::vector<int> rows;
    for (const output& in : operands(index)) rows.push_back(row_of(in));
    std::vector<std::int64_t> numbers;
    for (int k = 0; k < n.attribute_count; ++k) numbers.push_back(g_.attribute(n, k));
    if (n.op->kind == op_kind::element) stretch(index, rows);
    if (!problem_of(*n.op, rows, numbers).empty()) unite(*n.op, rows, numbers);
    if (const auto problem = problem_of(*n.op, rows, numbers); !problem.empty()) refuse_gradient(g_, index, std::string(problem));
    const int row = table.add(*n.op, rows, numbers);
    note(row, output(g_, index), index);
    rows_[{index, 0}] = row;
    const shape known = n.result.extent;  // set_shape may have said more than the operator's rule
    for (int i = 0; i < known.rank && known.rank == rank(row); ++i) {
      if (dimension(row, i) == unknown_dimension) table.at(row).result.extent.dim[i] = fresh(nodes_.record(index).name, i);
      if (known[i] >= 0) make_equal(dimension(row, i), known[i]);
    }
  }

  graph& g_;
  named_part& nodes_;
  std::set<int> stops_;
  std::set<tensor_key> wanted_;   // depends on an x
  std::set<tensor_key> reached_;  // a gradient comes here
  std::vector<char> between_;
  std::map<tensor_key, int> rows_;
};

}  // namespace leat::detail
