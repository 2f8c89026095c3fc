#pragma once
// Turns the graph of one model into the graph of many. Each node that depends on per-model values gets a new first axis, along which the
// models are stored; other nodes stay as they are and are shared by all models. An operator has a rule here, or is element-wise, or is
// expanded into other operators. Source: JAX's vmap; Bradbury et al. 2018.

#include <leat/core/list.hpp>
#include <leat/ops/diagonals.hpp>
#include <leat/ops/stacked_matmul.hpp>
#include <leat/ops/state.hpp>
#include <leat/ops/top_k.hpp>

namespace leat {

namespace passes {

using leat::detail::list;

/// Writes the nodes of `one`, the graph of one model, to `g`, the graph of all models.
class batcher {
 public:
  constexpr batcher(const graph& one, graph& g, std::int64_t models)
      : one_(one), g_(g), models_(models), row_(one.nodes.size(), -1), has_models_(one.nodes.size(), 0), ids_of_(one.nodes.size(), {}) {
    for (const std::uint64_t id : one.ids) ids_of_[at(one.find(id))].push_back(id);
    for (const auto& d : one.dimension_names) g.name_dimension(d.value, d.text);
    for (const std::int64_t count : one.models) g.note_models(count);
  }

  /// Sets the array that replaces a graph input of one model: it holds all models, along `axis`.
  constexpr void put(int leaf, const output& all, int axis) { set(leaf, moved(all, axis, 0), true); }
  /// The array of all models, along `axis`, for a node of the one-model graph; computed on first use.
  constexpr output all(int row, int axis) {
    need(row);
    return problem_.size > 0 ? output{} : moved(each(row), 0, axis);
  }
  /// A node of the one-model graph that all models share; computed on first use.
  constexpr output shared(int row) {
    need(row);
    return problem_.size > 0 ? output{} : handle(row);
  }
  /// The error, or an empty message.
  constexpr const message& problem() const { return problem_; }

  // ---- for operators that have a rule of their own (`batch`) ---------------------------------------------------------------------

  constexpr const graph& one() const { return one_; }
  constexpr graph& to() const { return g_; }
  constexpr std::int64_t models() const { return models_; }
  /// Sets the array that replaces a graph input of one model and is shared by all models.
  constexpr void put_shared(int leaf, const output& x) { set(leaf, x, false); }
  /// Whether models have their own values of a node; it is computed on first use.
  constexpr bool differs(int row) {
    need(row);
    return has_models(row);
  }
  /// Of a node that has been computed: whether models have their own values of it; its array; the array of all models.
  constexpr bool has_models(int i) const { return has_models_[at(i)] != 0; }
  constexpr output handle(int i) const { return {g_, row_[at(i)]}; }
  constexpr output each(int i) const {
    if (has_models(i)) return handle(i);
    return broadcast_to(handle(i), with_models(extent(i)));
  }
  /// Sets the array of a node: with the models along its first axis, or shared.
  constexpr void set(int i, const output& x, bool has_models) {
    row_[at(i)] = x.index();
    has_models_[at(i)] = has_models ? 1 : 0;
  }
  constexpr void fail(const message& why) {
    if (problem_.size == 0) problem_ = why;
  }
  /// x with its axes reordered: axis `from` becomes axis `to`.
  static constexpr output moved(const output& x, int from, int to) {
    if (from == to) return x;
    const int rank = x.extent().rank;
    std::int64_t order[max_rank]{};
    for (int i = 0, next = 0; i < rank; ++i) {
      if (i == to) {
        order[i] = from;
        continue;
      }
      if (next == from) ++next;
      order[i] = next++;
    }
    // Moved there and back, it is the array itself.
    const graph& g = x.owner();
    const node& n = g.at(x.index());
    if (is_operator<transpose_op>(*n.op)) {
      bool is_back = true;
      for (int i = 0; i < rank; ++i)
        is_back = is_back && transpose_op::axis(g.numbers.data() + n.attributes, n.attribute_count, rank, static_cast<int>(order[i])) == i;
      if (is_back) return {x.owner(), g.input(n, 0)};
    }
    return make_node<transpose_op>({order, static_cast<std::size_t>(rank)}, x);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // Writes a node and what it depends on.
  constexpr void need(int row) {
    list<char> live(at(row) + 1, 0);
    live[at(row)] = 1;
    for (int i = row; i >= 0; --i) {
      if (live[at(i)] == 0 || row_[at(i)] >= 0) continue;
      const node& n = one_.at(i);
      for (int k = 0; k < n.input_count; ++k) live[at(one_.input(n, k))] = 1;
      for (int k = 0; k < n.control_count; ++k) live[at(one_.control(n, k))] = 1;
    }
    for (int i = 0; i <= row && problem_.size == 0; ++i)
      if (live[at(i)] != 0 && row_[at(i)] < 0) write(i);
  }

  // ---- shapes ------------------------------------------------------------------------------------------------------------------

  constexpr shape with_models(const shape& one) const {
    shape all;
    all.push(models_);
    for (int i = 0; i < one.rank; ++i) all.push(one[i]);
    return all;
  }
  constexpr const shape& extent(int i) const { return one_.at(i).result.extent; }
  // Node i reshaped for broadcasting with a result that has `rank` dimensions for each model: shapes are aligned at their ends, so
  // dimensions of size 1 go between the axis of models and the others.
  constexpr output aligned(int i, int rank) const {
    if (has_models_[at(i)] == 0 || extent(i).rank == rank) return handle(i);
    shape to;
    to.push(models_);
    for (int k = extent(i).rank; k < rank; ++k) to.push(1);
    for (int k = 0; k < extent(i).rank; ++k) to.push(extent(i)[k]);
    return reshape_to(handle(i), to);
  }
  constexpr output reshaped(const output& x, std::initializer_list<std::int64_t> sizes) const {
    shape to;
    for (const std::int64_t size : sizes) to.push(size);
    return reshape_to(x, to);
  }

  constexpr std::span<const std::int64_t> attributes_of(const node& n) const {
    return {one_.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count)};
  }
  constexpr int add(const node& n, std::span<const output> inputs, std::span<const std::int64_t> attributes) {
    list<int> in, controls;
    for (const output& x : inputs) in.push_back(x.index());
    for (int k = 0; k < n.control_count; ++k) controls.push_back(row_[at(one_.control(n, k))]);
    return g_.add(*n.op, {in.data(), in.size()}, attributes, {controls.data(), controls.size()});
  }

  // ---- rows --------------------------------------------------------------------------------------------------------------------

  constexpr void write(int i) {
    const node& n = one_.at(i);
    bool any = false;
    for (int k = 0; k < n.input_count; ++k) any = any || has_models_[at(one_.input(n, k))] != 0;
    if (any && n.op->batch != nullptr) return n.op->batch(*this, i);
    if (any) {
      const int made = batched(n);
      if (problem_.size == 0) set(i, {g_, made}, true);
      return;
    }
    // The node is shared by all models. If the graph already has it, that node is used.
    for (const std::uint64_t id : ids_of_[at(i)])
      if (const int known = g_.find(id); known >= 0) return set(i, {g_, known}, false);
    int made = -1;
    if (n.input_count == 0 && n.op->kind != op_kind::group) {
      made = g_.add_leaf(*n.op, n.result, n.name, n.id, attributes_of(n));
    } else {
      list<output> in;
      for (int k = 0; k < n.input_count; ++k) in.push_back(handle(one_.input(n, k)));
      made = add(n, {in.data(), in.size()}, attributes_of(n));
    }
    for (const std::uint64_t id : ids_of_[at(i)]) g_.remember(id, made);
    set(i, {g_, made}, false);
  }

  constexpr int refuse(const node& n, std::string_view why) {
    if (problem_.size == 0) problem_ << "vmap: " << n.op->type << why;
    return -1;
  }

  // The node for all models.
  constexpr int batched(const node& n) {
    const op_info& op = *n.op;
    if (op.kind == op_kind::assign) return refuse(n, " in the function of a model: let it return the value, and assign that outside");
    if (n.result.extent.rank == max_rank) return refuse(n, ": more than 7 dimensions for each model");
    const int x = n.input_count > 0 ? one_.input(n, 0) : -1;
    const int rank = extent(x).rank;
    std::int64_t numbers[2 * max_rank + 4]{};
    const auto as = [&](std::size_t count) { return std::span<const std::int64_t>(numbers, count); };
    const auto single = [&](const output& operand, std::span<const std::int64_t> attributes) { return add(n, {&operand, 1}, attributes); };
    if (op.kind == op_kind::element || op.kind == op_kind::identity || is_operator<leaky_relu_op>(op) || is_operator<check_range_op>(op)) {
      int widest = 0;
      for (int k = 0; k < n.input_count; ++k)
        if (extent(one_.input(n, k)).rank > widest) widest = extent(one_.input(n, k)).rank;
      list<output> in;
      list<int> rows;
      for (int k = 0; k < n.input_count; ++k) {
        in.push_back(aligned(one_.input(n, k), widest));
        rows.push_back(in.back().index());
      }
      if (!g_.infer(op, rows.data(), n.input_count, attributes_of(n)).problem.empty())  // an operator that does not broadcast, as TanhGrad
        for (int k = 0; k < n.input_count; ++k) in[at(k)] = each(one_.input(n, k));
      return add(n, {in.data(), in.size()}, attributes_of(n));
    }
    if (op.kind == op_kind::reduction || is_operator<mean_op>(op)) {
      const auto given = attributes_of(n);
      const int mask = rule::reduced_axes(given.data(), n.attribute_count, rank);
      std::size_t count = 1;
      numbers[0] = n.attribute_count > 0 ? given[0] : 0;
      for (int a = 0; a < rank; ++a)
        if ((mask >> a & 1) != 0) numbers[count++] = a + 1;
      return count == 1 ? handle(x).index() : single(handle(x), as(count));
    }
    if (is_operator<transpose_op>(op)) {
      const auto given = attributes_of(n);
      for (int a = 0; a < rank; ++a) numbers[a + 1] = 1 + transpose_op::axis(given.data(), n.attribute_count, rank, a);
      return single(handle(x), as(at(rank) + 1));
    }
    if (is_operator<reshape_op>(op) || is_operator<squeeze_op>(op) || is_operator<expand_dims_op>(op))
      return reshape_to(handle(x), with_models(n.result.extent)).index();
    if (is_operator<broadcast_to_op>(op)) return broadcast_to(aligned(x, n.result.extent.rank), with_models(n.result.extent)).index();
    if (is_operator<slice_op>(op) || is_operator<pad_op>(op)) {
      numbers[rank + 1] = is_operator<slice_op>(op) ? -1 : 0;
      for (int a = 0; a < rank; ++a) {
        numbers[a + 1] = one_.attribute(n, a);
        numbers[rank + a + 2] = one_.attribute(n, rank + a);
      }
      return single(handle(x), as(2 * at(rank) + 2));
    }
    if (is_operator<concat_op>(op)) {
      numbers[0] = 1 + rule::axis_of(one_.attribute(n, 0), rank);
      list<output> in;
      for (int k = 0; k < n.input_count; ++k) in.push_back(each(one_.input(n, k)));
      return add(n, {in.data(), in.size()}, as(1));
    }
    if (is_operator<softmax_op>(op) || is_operator<log_softmax_op>(op) || is_operator<argmax_op>(op) || is_operator<argmin_op>(op)) {
      for (int k = 0; k < n.attribute_count; ++k) numbers[k] = one_.attribute(n, k);
      numbers[0] = 1 + rule::axis_of(one_.attribute(n, 0), rank);
      return single(handle(x), as(at(n.attribute_count)));
    }
    if (is_operator<one_hot_op>(op)) {
      for (int k = 0; k < n.attribute_count; ++k) numbers[k] = one_.attribute(n, k);
      numbers[4] = 1 + one_hot_op::axis_of(one_.attribute(n, 4), rank);
      return single(handle(x), as(at(n.attribute_count)));
    }
    if (is_operator<sparse_softmax_cross_entropy_op>(op) ||
        (is_operator<softmax_cross_entropy_op>(op) && extent(x) == extent(one_.input(n, 1)))) {
      const output both[]{each(x), each(one_.input(n, 1))};
      return add(n, both, {});
    }
    if (is_operator<matmul_op>(op) || is_operator<stacked_matmul_op>(op)) return product(n, x, one_.input(n, 1)).index();
    if (op.what.by_matrix) {
      list<output> in;
      for (int k = 0; k < n.input_count; ++k) {
        const int operand = one_.input(n, k);
        const bool broadcasts = n.input_count > 1 && extent(operand).rank < n.result.extent.rank;
        in.push_back(broadcasts ? aligned(operand, n.result.extent.rank) : each(operand));
      }
      return add(n, {in.data(), in.size()}, attributes_of(n));
    }
    if (is_operator<reverse_op>(op)) {
      for (int k = 0; k < n.attribute_count; ++k) numbers[k] = 1 + rule::axis_of(one_.attribute(n, k), rank);
      return single(handle(x), as(at(n.attribute_count)));
    }
    // Operators on the last axes of arrays of any rank.
    if (is_operator<top_places_op>(op) || is_operator<matrix_diag_op>(op) || is_operator<matrix_diag_part_op>(op) ||
        is_operator<matrix_band_part_op>(op))
      return single(handle(x), attributes_of(n));
    if (is_operator<matrix_set_diag_op>(op)) {
      const output both[]{each(x), each(one_.input(n, 1))};
      return add(n, both, {});
    }
    if (is_operator<gather_op>(op)) return rows(n, x, one_.input(n, 1));
    if (is_operator<gather_places_op>(op)) {
      if (has_models_[at(x)] == 0) return make_node<gather_places_op>(attributes_of(n), handle(x), handle(one_.input(n, 1))).index();
      shape named = extent(x);
      named.rank = static_cast<int>(one_.attribute(n, 0));
      numbers[0] = named.rank + 1;
      return make_node<gather_places_op>(as(1), each(x), places_of_models(one_.input(n, 1), named)).index();
    }
    if (is_operator<scatter_places_op>(op)) {
      shape named = n.result.extent;
      named.rank = n.attribute_count;
      numbers[0] = models_;
      for (int k = 0; k < n.attribute_count; ++k) numbers[k + 1] = one_.attribute(n, k);
      return make_node<scatter_places_op>(as(at(n.attribute_count) + 1), each(x), places_of_models(one_.input(n, 1), named)).index();
    }
    if (op.kind == op_kind::composite) return expanded(n);
    return refuse(n, " of what each model has of its own: it is not among the operators that vmap knows");
  }

  constexpr output product(const node& n, int a, int b) {
    const bool ta = one_.attribute(n, 0) != 0, tb = one_.attribute(n, 1) != 0;
    const std::int64_t numbers[]{ta, tb};
    const int widest = extent(a).rank > extent(b).rank ? extent(a).rank : extent(b).rank;
    const auto m = stacked_matmul_op::rows(extent(a), ta), inner = stacked_matmul_op::columns(extent(a), ta);
    const auto columns = stacked_matmul_op::columns(extent(b), tb);
    const bool both = has_models_[at(a)] != 0 && has_models_[at(b)] != 0;
    // If one of the operands is shared, its products with all models are one product over the rows of all models, unless the matrices are
    // small.
    if (!both && widest == 2 && models_ >= 0 && m >= 0 && inner >= 0 && columns >= 0 &&
        !stacked_matmul_op::is_small(n.result.type, m, inner, columns)) {
      if (has_models_[at(a)] != 0) {
        const output left = reshaped(ta ? stacked_matmul_op::turned(handle(a)) : handle(a), {models_ * m, inner});
        const std::int64_t flags[]{0, tb};
        return reshaped(make_node<matmul_op>(flags, left, handle(b)), {models_, m, columns});
      }
      const output right = reshaped(tb ? handle(b) : stacked_matmul_op::turned(handle(b)), {models_ * columns, inner});
      const std::int64_t flags[]{0, !ta};  // (a b)ᵀ = bᵀ aᵀ
      return stacked_matmul_op::turned(reshaped(make_node<matmul_op>(flags, right, handle(a)), {models_, columns, m}));
    }
    return make_node<stacked_matmul_op>(numbers, aligned(a, widest), aligned(b, widest));
  }

  // Rows by index: of an array that all models share, or of per-model arrays, which are stored one after another.
  constexpr int rows(const node& n, int from, int indices) {
    if (has_models_[at(from)] == 0) return make_node<gather_op>({}, handle(from), handle(indices)).index();
    const shape& own = extent(from);
    if (models_ < 0 || own[0] < 0) return refuse(n, " of each model's own array needs a number of models and of rows, not names");
    shape all = own;
    all.dim[0] *= models_;
    shape one_each;
    one_each.push(models_);
    for (int k = 0; k < extent(indices).rank; ++k) one_each.push(1);
    const std::int64_t limit[]{own[0]};
    const output within = make_node<check_range_op>(limit, each(indices));
    const output first = index_along(g_, within.type(), one_each, 0) * constant_like(within, static_cast<double>(own[0]));
    return make_node<gather_op>({}, reshape_to(handle(from), all), within + first).index();
  }

  // Places among the elements of all models' arrays, which are stored one after another. `named`: the axes that the places name.
  constexpr output places_of_models(int places, const shape& named) {
    shape one_each;
    one_each.push(models_);
    for (int k = 0; k < extent(places).rank; ++k) one_each.push(1);
    const output model = index_along(g_, dtype::int64, one_each, 0);
    return each(places) + model * extent_of(g_, dtype::int64, named);
  }

  // Expands a composite into the operators that define it.
  constexpr int expanded(const node& n) {
    graph piece;
    list<int> operands;
    for (int k = 0; k < n.input_count; ++k) operands.push_back(piece.add_leaf(info_of<number_op>, one_.at(one_.input(n, k)).result, {}, 0));
    const int whole = piece.add(*n.op, operands, attributes_of(n));
    gradient_scope scope(piece, whole, {}, nullptr, nullptr);
    const int result = n.op->expand(scope).index();
    batcher inner(piece, g_, models_);
    for (int k = 0; k < n.input_count; ++k) {
      const int x = one_.input(n, k);
      inner.set(operands[at(k)], handle(x), has_models_[at(x)] != 0);
    }
    const output made = inner.all(result, 0);
    if (inner.problem_.size > 0) problem_ = inner.problem_;
    return problem_.size > 0 ? -1 : made.index();
  }

  const graph& one_;
  graph& g_;
  std::int64_t models_;
  list<int> row_;          // index in the graph of all models, or -1
  list<char> has_models_;  // whether that node has an axis of models
  list<list<std::uint64_t>> ids_of_;
  message problem_;
};

}  // namespace passes

}  // namespace leat
