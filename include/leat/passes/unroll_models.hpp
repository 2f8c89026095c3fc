#pragma once
// Turns the small matrices of many models into vectors. Where each of N models has its own matrices of a few elements (`vmap`), each
// element becomes an array of N, and a product of such matrices becomes element-wise arithmetic on these arrays. A step of a thousand small
// models is then one loop over the models, in SIMD lanes, without memory between its operators.
//
// The nodes that are unrolled have an axis of N models and at most `most_elements` elements for each, and are connected with a small
// product (`multiply_add_op`). Arrays that are read or written at the border stay arrays, of any layout (`take_models_op`,
// `assemble_models_op`, `assign_models_op`): elements that are contiguous along the axis of the models are read and written as whole
// registers.

#include <leat/passes/unroll.hpp>

namespace leat::passes {

/// The elements of an array at one position of every axis but one: a vector along that axis, or a scalar if there is no such axis.
/// Attributes: the axis or -1, then a position for each axis.
struct take_models_op {
  static constexpr std::string_view type = "TakeModels";
  static constexpr op_kind kind = op_kind::view;
  static constexpr inference infer(const operand_list& x) {
    inference got{x.type(0), {}};
    if (x.attribute(0) >= 0) got.extent.push(x.extent(0)[static_cast<int>(x.attribute(0))]);
    return got;
  }
};

/// The array of these vectors, one for each element of a model, in row-major order. Attributes: the axis of the models, then the
/// dimensions.
struct assemble_models_op {
  static constexpr std::string_view type = "AssembleModels";
  static constexpr op_kind kind = op_kind::element;
  static constexpr inference infer(const operand_list& x) {
    inference got{x.type(0), {}};
    for (int i = 1; i < x.attribute_count; ++i) got.extent.push(x.attribute(i));
    return got;
  }
};

/// Writes these vectors, one for each element of a model, to a variable. Attribute: the axis of the models.
struct assign_models_op {
  static constexpr std::string_view type = "AssignModels";
  static constexpr op_kind kind = op_kind::assign;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), x.extent(0)}; }
};

/// Whether a node stores vectors as the elements of models, with an instruction for each; the first value is always a vector.
constexpr bool stores_models(const node& n) {
  const int code = n.op->code;
  return code == operator_record<assemble_models_op>::code || code == operator_record<assign_models_op>::code;
}

namespace detail {

class model_unroller {
 public:
  static constexpr std::int64_t most_elements = stacked_matmul_op::largest_matrix;
  static constexpr std::int64_t most_vectors = 4096;  // the most of a program, because each is an instruction to compile

  constexpr explicit model_unroller(const graph& from) : from_(from) {}

  /// Whether a node is part of a small product of many models, or decomposes their small matrices.
  static constexpr bool is_seed(const graph& g, const node& n) {
    if (is_operator<multiply_add_op>(*n.op)) return n.result.extent.rank > 2 && is_small(n.result.extent, 0);
    return n.op->kind == op_kind::kernel && is_decomposed(g, n) && is_small(n.result.extent, 0, most_of(n));
  }

  constexpr graph run(list<int>& targets) {
    if (!choose()) return from_;
    to_.merge_equal = true;
    to_.nodes.reserve(from_.nodes.size() + 256);
    to_.edges.reserve(from_.edges.size() + 512);
    to_.dimension_names = from_.dimension_names;
    map_.assign(from_.nodes.size(), -1);
    vectors_.assign(from_.nodes.size(), {});
    for (int i = 0; i < from_.size(); ++i) {
      if (axis_[i] < 0) move(i);
      else if (from_.at(i).op->kind == op_kind::assign) write(i);
      else compute(i);
    }
    for (int& t : targets) t = whole(t);
    return std::move(to_);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static constexpr int shared = -1;  // the value has no axis of models: all models share one array
  static constexpr int impossible = -2;

  // Whether a shape has many models along an axis and few elements for each model.
  static constexpr bool is_small(const shape& s, int axis, std::int64_t most = most_elements) {
    std::int64_t elements = 1;
    for (int i = 0; i < s.rank; ++i) {
      if (i == axis) continue;
      if (s[i] <= 0 || s[i] > most) return false;
      elements *= s[i];
    }
    return axis < s.rank && (s[axis] < 0 || s[axis] > 1) && elements <= most;
  }
  // The most elements of a node for each model. A decomposition with exchanged rows has a second matrix, which says which.
  static constexpr std::int64_t most_of(const node& n) { return is_operator<lu_op>(*n.op) ? 2 * most_elements : most_elements; }
  static constexpr std::int64_t elements_of_model(const shape& s, int axis) {
    std::int64_t elements = 1;
    for (int i = 0; i < s.rank; ++i)
      if (i != axis) elements *= s[i];
    return elements;
  }
  // Whether a node is a decomposition of each model's matrix, or a system that it solves.
  static constexpr bool is_decomposed([[maybe_unused]] const graph& g, [[maybe_unused]] const node& n) {
#if defined(__CUDACC__)
    return false;  // nvcc takes memory of this pass for leaked; its programs keep the kernels, which give the same bits
#else
    return small_matrices::knows(g, n, 1);
#endif
  }
  constexpr bool is_broadcast(const op_info& op) const { return is_operator<copy_op>(op); }

  // ---- the axis of models of operands and results ------------------------------------------------------------------------

  static constexpr std::int64_t before(const shape& s, int axis) {
    std::int64_t all = 1;
    for (int i = 0; i < axis; ++i) all *= s[i];
    return all;
  }
  // The axis of a reshaped array that corresponds to axis `a` of the array before.
  static constexpr int reshaped_axis(const shape& from, int a, const shape& to) {
    for (int i = 0; i < a; ++i)
      if (from[i] <= 0) return impossible;
    for (int b = 0; b < to.rank; ++b) {
      if (to[b] == from[a] && before(to, b) == before(from, a)) return b;
      if (to[b] <= 0) break;
    }
    return impossible;
  }
  constexpr int permuted(const node& n, int d) const {
    std::int64_t attribute[max_rank + 1]{};
    for (int k = 0; k < n.attribute_count; ++k) attribute[k] = from_.attribute(n, k);
    return transpose_op::axis(attribute, n.attribute_count, n.result.extent.rank, d);
  }
  constexpr int reduced(const node& n) const {
    std::int64_t attribute[max_rank + 1]{};
    for (int k = 0; k < n.attribute_count; ++k) attribute[k] = from_.attribute(n, k);
    return rule::reduced_axes(attribute, n.attribute_count, from_.at(from_.input(n, 0)).result.extent.rank);
  }
  constexpr bool keeps(const node& n) const { return n.attribute_count > 0 && from_.attribute(n, 0) != 0; }
  // The axis of a reduction's operand that is axis `a` of its result; the axis itself is not reduced.
  constexpr int unreduced(const node& n, int a) const {
    const int mask = reduced(n);
    for (int d = 0, left = 0; d < from_.at(from_.input(n, 0)).result.extent.rank; ++d) {
      const bool is_reduced = (mask >> d & 1) != 0;
      if (is_reduced && !keeps(n)) continue;
      if (left++ == a) return is_reduced ? impossible : d;
    }
    return impossible;
  }
  constexpr int operand_axis(const node& n, int k, int axis) const {
    const shape& own = n.result.extent;
    const shape& source = from_.at(from_.input(n, k)).result.extent;
    if (is_operator<transpose_op>(*n.op)) return permuted(n, axis);
    if (is_operator<reshape_op>(*n.op)) return reshaped_axis(own, axis, source);
    if (is_operator<slice_op>(*n.op)) return source[axis] == own[axis] ? axis : impossible;
    if (n.op->kind == op_kind::reduction) return unreduced(n, axis);
    if (is_decomposed(from_, n)) {
      const int matrix = is_operator<lu_solve_op>(*n.op) && k == 0 ? 3 : 2;
      return axis > 0 ? impossible : source.rank == matrix ? shared : source[0] == own[0] ? 0 : impossible;
    }
    const int a = axis - (own.rank - source.rank);
    if (a < 0 || source[a] == 1) return shared;
    return source[a] == own[axis] ? a : impossible;
  }
  constexpr int result_axis(const node& n, int k, int axis) const {
    for (int a = 0; a < n.result.extent.rank; ++a)
      if (operand_axis(n, k, a) == axis) return a;
    return impossible;
  }

  // ---- choosing the nodes that become vectors ----------------------------------------------------------------------------

  constexpr bool could(int i, int axis) const {
    const node& n = from_.at(i);
    if (axis < 0 || !is_small(n.result.extent, axis, most_of(n)) || depth_[i] > 0) return false;
    if (n.op->kind == op_kind::assign) {
      const int variable = from_.input(n, 0);
      int alike = 0;
      for (int d = 0; d < n.result.extent.rank; ++d) alike += n.result.extent[d] == n.result.extent[axis];
      return !writes_rows(n) && n.input_count == 2 && writes_[variable] == 1 && alike == 1 &&
             from_.at(from_.input(n, 1)).result.extent == n.result.extent;
    }
    const bool view = is_operator<transpose_op>(*n.op) || is_operator<reshape_op>(*n.op) || is_operator<slice_op>(*n.op);
    if (n.control_count > 0 || (n.op->kind != op_kind::element && !view && !is_operator<sum_op>(*n.op) && !is_decomposed(from_, n)))
      return false;
    for (int k = 0; k < n.input_count; ++k) {
      const int a = operand_axis(n, k, axis);
      const node& x = from_.at(from_.input(n, k));
      if (a == impossible || x.op->kind == op_kind::index) return false;
      if (a >= 0 && !is_small(x.result.extent, a, most_of(x))) return false;
      if (a < 0 && (!x.result.extent.is_static() || x.result.extent.elements() > most_of(x))) return false;
    }
    return true;
  }

  constexpr bool choose() {
    depth_ = write_depths(from_);
    writes_.assign(from_.nodes.size(), 0);
    axis_.assign(from_.nodes.size(), -1);
    list<int> users, first(from_.nodes.size() + 2, 0);
    for (const node& n : from_.nodes) {
      if (n.op->kind == op_kind::assign) ++writes_[from_.input(n, 0)];
      for (int k = 0; k < n.input_count; ++k) ++first[at(from_.input(n, k)) + 2];
    }
    for (std::size_t i = 2; i < first.size(); ++i) first[i] += first[i - 1];
    users.assign(static_cast<std::size_t>(first.back()), 0);
    for (int i = 0; i < from_.size(); ++i)
      for (int k = 0; k < from_.at(i).input_count; ++k) users[first[at(from_.input(from_.at(i), k)) + 1]++] = i;
    list<int> open;
    const auto reach = [&](int i, int axis) {
      if (axis_[i] >= 0 || !could(i, axis)) return;
      axis_[i] = axis;
      open.push_back(i);
    };
    for (int i = 0; i < from_.size(); ++i)
      if (is_seed(from_, from_.at(i))) reach(i, 0);
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      const node& n = from_.at(i);
      for (int k = first_value(n); k < n.input_count; ++k) reach(from_.input(n, k), operand_axis(n, k, axis_[i]));
      if (n.op->kind == op_kind::assign) continue;
      for (int u = first[i]; u < first[at(i) + 1]; ++u) {
        const node& user = from_.at(users[u]);
        for (int k = first_value(user); k < user.input_count; ++k)
          if (from_.input(user, k) == i) reach(users[u], result_axis(user, k, axis_[i]));
      }
    }
    // Checks that all nodes agree on their axes, and that there are not too many vectors.
    std::int64_t vectors = 0;
    for (int i = 0; i < from_.size(); ++i) {
      const node& n = from_.at(i);
      if (axis_[i] < 0) continue;
      vectors += elements_of_model(n.result.extent, axis_[i]);
      for (int k = first_value(n); k < n.input_count; ++k) {
        const int x = axis_[from_.input(n, k)];
        if (x >= 0 && x != operand_axis(n, k, axis_[i])) return false;
      }
    }
    return vectors > 0 && vectors <= most_vectors;
  }
  // The index of the first input that is a value; the first input of a write is its variable.
  static constexpr int first_value(const node& n) { return n.op->kind == op_kind::assign ? 1 : 0; }

  // ---- writing them as vectors ---------------------------------------------------------------------------------------------

  constexpr int models_of(int x, std::int64_t size) {  // repeats a scalar that models share as a vector
    const int in[]{x};
    return to_.at(x).result.extent.rank == 1 ? x : to_.add(info_of<copy_op>, in, {&size, 1});
  }
  // The array of a node, assembled if the node was computed as vectors.
  constexpr int whole(int i) {
    if (map_[i] >= 0) return map_[i];
    const shape& extent = from_.at(i).result.extent;
    list<int> parts = vectors_[i];
    const int axis = axis_[i];
    parts[0] = models_of(parts[0], extent[axis]);
    if (parts.size() == 1) {
      const list_view<std::int64_t> sizes(extent.dim, static_cast<std::size_t>(extent.rank));
      map_[i] = extent.rank == 1 ? parts[0] : to_.add(info_of<reshape_op>, parts, sizes);
    } else {
      list<std::int64_t> attributes{axis};
      for (int d = 0; d < extent.rank; ++d) attributes.push_back(extent[d]);
      map_[i] = to_.add(info_of<assemble_models_op>, parts, attributes);
    }
    return map_[i];
  }
  // The position of an element within a model, in row-major order.
  static constexpr std::int64_t position(const shape& s, int axis, const std::int64_t* place) {
    std::int64_t k = 0;
    for (int d = 0; d < s.rank; ++d)
      if (d != axis) k = k * s[d] + place[d];
    return k;
  }
  static constexpr void place_of(const shape& s, int axis, std::int64_t k, std::int64_t* place) {
    for (int d = s.rank; d-- > 0;) {
      place[d] = d == axis ? 0 : k % s[d];
      if (d != axis) k /= s[d];
    }
  }
  // An element of all models as a vector, or an element that they share.
  constexpr int element(int i, int axis, const std::int64_t* place) {
    const node& n = from_.at(i);
    const shape& extent = n.result.extent;
    if (axis_[i] >= 0 && n.op->kind != op_kind::assign) return vectors_[i][static_cast<std::size_t>(position(extent, axis, place))];
    if (n.op->kind == op_kind::constant) return leat::constant(to_, n.result.type, {}, constant_value(from_, i)).index();
    const int array = whole(i);
    if (extent.rank == (axis < 0 ? 0 : 1)) return array;
    list<std::int64_t> attributes{axis};
    for (int d = 0; d < extent.rank; ++d) attributes.push_back(d == axis ? 0 : place[d]);
    const int in[]{array};
    return to_.add(info_of<take_models_op>, in, attributes);
  }
  // The element of a node's input `k` for all models, at the position to which a position of the result is broadcast back.
  constexpr int operand_element(const node& n, int k, int axis, const std::int64_t* place) {
    const int x = from_.input(n, k);
    const shape& source = from_.at(x).result.extent;
    std::int64_t at_source[max_rank]{};
    for (int d = 0; d < source.rank; ++d) at_source[d] = source[d] == 1 ? 0 : place[d + n.result.extent.rank - source.rank];
    return element(x, operand_axis(n, k, axis), at_source);
  }

  constexpr void move(int i) {
    map_[i] = copy_node(from_, from_.at(i), to_, [this](int x) { return whole(x); });
  }
  constexpr list<int> controls_of(const node& n) {
    return controls_in(from_, n, [this](int x) { return whole(x); });
  }
  constexpr void write(int i) {
    const node& n = from_.at(i);
    const shape& extent = n.result.extent;
    const int axis = axis_[i];
    const int variable = from_.input(n, 0);
    const bool adds = is_operator<assign_add_op>(*n.op);
    const bool subtracts = is_operator<assign_sub_op>(*n.op);
    const auto count = elements_of_model(extent, axis);
    list<int> in{whole(variable)};
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t place[max_rank]{};
      place_of(extent, axis, k, place);
      int value = element(from_.input(n, 1), axis, place);
      if (adds || subtracts) {
        const int both[]{element(variable, axis, place), value};
        value = to_.add(adds ? info_of<add_op> : info_of<sub_op>, both);
      }
      in.push_back(k == 0 ? models_of(value, extent[axis]) : value);
    }
    const std::int64_t attribute[]{axis};
    if (count == 1 && extent.rank > 1) {
      const int vector[]{in[1]};
      in[1] = to_.add(info_of<reshape_op>, vector, {extent.dim, static_cast<std::size_t>(extent.rank)});
    }
    map_[i] = count == 1 ? to_.add(info_of<assign_op>, in, {}, controls_of(n))
                             : to_.add(info_of<assign_models_op>, in, attribute, controls_of(n));
  }

  constexpr void compute(int i) {
    const node& n = from_.at(i);
    const int axis = axis_[i];
    const auto count = elements_of_model(n.result.extent, axis);
    if (is_decomposed(from_, n)) {
      vectors_[i] = small_matrices::results(from_, n, count, write_, [&](int input) { return elements_of(n, input); });
      return;
    }
    list<int> parts;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t place[max_rank]{};
      place_of(n.result.extent, axis, k, place);
      if (n.op->kind == op_kind::view) parts.push_back(seen(n, axis, place, k));
      else if (n.op->kind == op_kind::reduction) parts.push_back(sum(n, axis, place));
      else parts.push_back(arithmetic(n, axis, place));
    }
    vectors_[i] = std::move(parts);
  }
  // All elements of a node's input, which is a matrix or one for each model.
  constexpr list<int> elements_of(const node& n, int input) {
    const int x = from_.input(n, input);
    const shape& source = from_.at(x).result.extent;
    const int a = operand_axis(n, input, 0);
    const auto count = a < 0 ? source.elements() : elements_of_model(source, a);
    list<int> all;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t place[max_rank]{};
      place_of(source, a, k, place);
      all.push_back(element(x, a, place));
    }
    return all;
  }
  constexpr int seen(const node& n, int axis, const std::int64_t* place, std::int64_t k) {
    const int x = from_.input(n, 0);
    const shape& source = from_.at(x).result.extent;
    const int a = operand_axis(n, 0, axis);
    std::int64_t at_source[max_rank]{};
    if (is_operator<reshape_op>(*n.op)) {
      place_of(source, a, k, at_source);
    } else {
      for (int d = 0; d < source.rank; ++d) {
        if (is_operator<transpose_op>(*n.op)) at_source[permuted(n, d)] = place[d];
        else at_source[d] = d == a ? 0 : from_.attribute(n, d) + place[d];
      }
    }
    return element(x, a, at_source);
  }
  constexpr int arithmetic(const node& n, int axis, const std::int64_t* place) {
    int in[graph::max_operands];
    for (int k = 0; k < n.input_count; ++k) in[k] = operand_element(n, k, axis, place);
    if (is_broadcast(*n.op)) return in[0];
    const list_view<std::int64_t> attributes(from_.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count));
    if (!to_.infer(*n.op, in, n.input_count, attributes).problem.empty())  // an operator that does not broadcast, as TanhGrad
      for (int k = 0; k < n.input_count; ++k) in[k] = models_of(in[k], n.result.extent[axis]);
    return to_.add(*n.op, {in, static_cast<std::size_t>(n.input_count)}, attributes);
  }
  constexpr int sum(const node& n, int axis, const std::int64_t* place) {
    const int x = from_.input(n, 0);
    const shape& source = from_.at(x).result.extent;
    const int mask = reduced(n);
    std::int64_t first[max_rank]{};
    std::int64_t count = 1;
    for (int d = 0, left = 0; d < source.rank; ++d) {
      if ((mask >> d & 1) != 0) {
        count *= source[d];
        if (keeps(n)) ++left;
      } else {
        first[d] = place[left++];
      }
    }
    const int a = operand_axis(n, 0, axis);
    int total = -1;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t here[max_rank]{};
      std::int64_t rest = k;
      for (int d = source.rank; d-- > 0;) {
        const bool is_reduced = (mask >> d & 1) != 0;
        here[d] = is_reduced ? rest % source[d] : first[d];
        if (is_reduced) rest /= source[d];
      }
      const int in[]{total, element(x, a, here)};
      total = k == 0 ? in[1] : to_.add(info_of<add_op>, in);
    }
    return total;
  }

  const graph& from_;
  graph to_;
  element_writer write_{to_};
  list<int> depth_;
  list<int> writes_;  // the number of writes of each variable
  list<int> axis_;    // the axis of models of a node that becomes vectors, or -1
  list<int> map_;     // the array of a node, or -1
  list<list<int>> vectors_;
};

}  // namespace detail

/// The graph with the small matrices of many models as vectors, or unchanged if it has no products of such; `targets` are renumbered. The
/// graph must be simplified.
constexpr graph unroll_models(graph g, list<int>& targets) {
  for (const node& n : g.nodes)
    if (detail::model_unroller::is_seed(g, n))
      return detail::model_unroller(g).run(targets);
  return g;
}

}  // namespace leat::passes
