#pragma once
// Turns the small matrices of many models into vectors. Where each of N models has its own matrices of a few elements (`vmap`), each
// element becomes an array of N, and a product of such matrices becomes element-wise arithmetic on these arrays. A step of a thousand small
// models is then one loop over the models, in SIMD lanes, without memory between its operators.
//
// The nodes that are unrolled have an axis of N models and at most `most_elements` elements for each, and are connected with a small
// product (`multiply_add_op`). Arrays that are read or written at the border stay arrays, of any layout (`take_models_op`,
// `assemble_models_op`, `assign_models_op`): elements that are contiguous along the axis of the models are read and written as whole
// registers.

#include <leat/passes/model_axes.hpp>

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
  static constexpr std::int64_t most_vectors = 4096;  // the most of a program, because each is an instruction to compile
  static constexpr std::int64_t most_derivatives = unroller::most_derivatives;
  static constexpr std::int64_t most_visits = unroller::most_visits;

  /// What is unrolled: all that is connected with products and with arrays that are put together, or with products alone.
  enum class extent_of_choice { connected, products };

  constexpr model_unroller(const graph& from, extent_of_choice choice) : from_(from), axes_(from), choice_(choice) {}

  /// Whether a node is part of a small product of many models, or decomposes their small matrices.
  static constexpr bool is_seed(const graph& g, const node& n) {
    if (is_operator<multiply_add_op>(*n.op)) return n.result.extent.rank > 2 && model_axes::is_small(n.result.extent, 0);
    return n.op->kind == op_kind::kernel && model_axes::is_decomposed(g, n) && model_axes::is_small(n.result.extent, 0, most_decomposed(n));
  }

  /// Writes the graph with vectors; false if nothing becomes a vector, or too much.
  constexpr bool run(list<int>& targets, graph& made) {
    if (!choose()) return false;
    to_.merge_equal = true;
    to_.nodes.reserve(from_.nodes.size() + 256);
    to_.edges.reserve(from_.edges.size() + 512);
    to_.dimension_names = from_.dimension_names;
    map_.assign(from_.nodes.size(), -1);
    vectors_.assign(from_.nodes.size(), {});
    for (int i = 0; i < from_.size(); ++i) {
      if (axis_[i] < 0 && is_shared_[i] == 0) move(i);
      else if (from_.at(i).op->kind == op_kind::assign) write(i);
      else compute(i);
      if (choice_ == extent_of_choice::connected && to_.size() > from_.size() + most_vectors) return false;
    }
    for (int& t : targets) t = whole(t);
    made = std::move(to_);
    return true;
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static constexpr int shared = model_axes::shared;
  static constexpr int impossible = model_axes::impossible;
  static constexpr int unknown = -1;  // an element of a view that nothing has needed yet

  // A decomposition with exchanged rows has a second matrix, which says which.
  static constexpr std::int64_t most_decomposed(const node& n) {
    return is_operator<lu_op>(*n.op) ? 2 * model_axes::most_elements : model_axes::most_elements;
  }
  // The most elements of a node for each model.
  constexpr std::int64_t most_of(int i) const {
    const node& n = from_.at(i);
    return derives_[i] != 0 || model_axes::is_view(n) ? most_derivatives : most_decomposed(n);
  }

  // ---- choosing the nodes that become vectors ----------------------------------------------------------------------------

  static constexpr bool combines(const node& n) {
    return is_operator<sum_op>(*n.op) || is_operator<prod_op>(*n.op) || is_operator<max_op>(*n.op) || is_operator<min_op>(*n.op);
  }
  constexpr bool is_joined(const node& n) const {
    return choice_ == extent_of_choice::connected && moved_elements::are_joined(n.op->code);
  }
  constexpr bool could(int i, int axis) const {
    const node& n = from_.at(i);
    if (axis < 0 || !model_axes::is_small(n.result.extent, axis, most_of(i)) || depth_[i] > 0) return false;
    if (n.op->kind == op_kind::assign) {
      const int variable = from_.input(n, 0);
      int alike = 0;
      for (int d = 0; d < n.result.extent.rank; ++d) alike += n.result.extent[d] == n.result.extent[axis];
      return !writes_rows(n) && n.input_count == 2 && writes_[variable] == 1 && alike == 1 &&
             from_.at(from_.input(n, 1)).result.extent == n.result.extent;
    }
    const bool view = model_axes::is_view(n);
    if (n.control_count > 0 ||
        (n.op->kind != op_kind::element && !view && !combines(n) && !is_joined(n) && !model_axes::is_decomposed(from_, n)))
      return false;
    for (int k = 0; k < n.input_count; ++k) {
      const int a = axes_.operand_axis(n, k, axis);
      const int x = from_.input(n, k);
      const shape& source = from_.at(x).result.extent;
      if (a == impossible || from_.at(x).op->kind == op_kind::index) return false;
      if (a >= 0 && !view && !model_axes::is_small(source, a, most_of(x))) return false;
      if (a < 0 && (!source.is_static() || source.elements() > most_of(x))) return false;
    }
    return true;
  }

  // Marks what depends on the direction of a derivative, and the arrays of it that models share: their elements are scalars.
  constexpr void mark_directions() {
    derives_.assign(from_.nodes.size(), 0);
    is_shared_.assign(from_.nodes.size(), 0);
    if (choice_ == extent_of_choice::products) return;
    bool some = false;
    for (int i = 0; i < from_.size(); ++i) {
      const node& n = from_.at(i);
      bool derives = is_direction(from_, n);
      some = some || derives;
      if (!some) continue;
      for (int k = 0; k < n.input_count; ++k) derives = derives || derives_[from_.input(n, k)] != 0;
      derives_[i] = derives ? 1 : 0;
      is_shared_[i] = derives && could_be_shared(n) ? 1 : 0;
    }
  }
  constexpr bool could_be_shared(const node& n) const {
    const auto is_small = [&](const shape& s) { return s.is_static() && s.elements() > 0 && s.elements() <= most_derivatives; };
    if (n.control_count > 0 || !is_small(n.result.extent)) return false;
    if (n.op->kind != op_kind::element && !model_axes::is_view(n) && !moved_elements::are_joined(n.op->code)) return false;
    for (int k = 0; k < n.input_count; ++k)
      if (!is_small(from_.at(from_.input(n, k)).result.extent)) return false;
    return true;
  }

  // The axis of models along which a node is to be unrolled with what is connected with it, or -1.
  constexpr int seed_axis(int i) const {
    const node& n = from_.at(i);
    if (is_seed(from_, n)) return 0;
    if (choice_ == extent_of_choice::products || (derives_[i] == 0 && !moved_elements::are_joined(n.op->code))) return -1;
    const int axis = axes_.found_in(n.result.extent, most_of(i));
    return axis >= 0 && model_axes::elements_of_model(n.result.extent, axis) > 1 ? axis : -1;
  }
  constexpr bool choose() {
    depth_ = write_depths(from_);
    writes_.assign(from_.nodes.size(), 0);
    axis_.assign(from_.nodes.size(), -1);
    mark_directions();
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
    for (int i = 0; i < from_.size(); ++i) reach(i, seed_axis(i));
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      const node& n = from_.at(i);
      for (int k = first_value(n); k < n.input_count; ++k) reach(from_.input(n, k), axes_.operand_axis(n, k, axis_[i]));
      if (n.op->kind == op_kind::assign) continue;
      for (int u = first[i]; u < first[at(i) + 1]; ++u) {
        const node& user = from_.at(users[u]);
        for (int k = first_value(user); k < user.input_count; ++k)
          if (from_.input(user, k) == i) reach(users[u], axes_.result_axis(user, k, axis_[i]));
      }
    }
    // Checks that all nodes agree on their axes, and that there are not too many vectors. Most elements of derivatives are absent.
    std::int64_t vectors = 0, visits = 0;
    for (int i = 0; i < from_.size(); ++i) {
      const node& n = from_.at(i);
      if (axis_[i] < 0) continue;
      is_shared_[i] = 0;
      const auto count = model_axes::elements_of_model(n.result.extent, axis_[i]);
      visits += count;
      if (derives_[i] == 0) vectors += count;
      for (int k = first_value(n); k < n.input_count; ++k) {
        const int x = axis_[from_.input(n, k)];
        if (x >= 0 && x != axes_.operand_axis(n, k, axis_[i])) return false;
      }
    }
    return visits > 0 && visits <= most_visits && vectors <= most_vectors;
  }
  // The index of the first input that is a value; the first input of a write is its variable.
  static constexpr int first_value(const node& n) { return n.op->kind == op_kind::assign ? 1 : 0; }

  // ---- writing them as vectors ---------------------------------------------------------------------------------------------

  // A node that stores vectors, possibly more of them than other nodes have operands.
  constexpr int store(const op_info& op, const tensor_info& result, const list<int>& in, list_view<std::int64_t> attributes,
                      const list<int>& controls) {
    if (in.size() <= graph::max_operands) return to_.add(op, in, attributes, controls);
    return to_.add_known(op, result, in, attributes, controls);
  }
  // The array of a node, assembled if the node was computed as vectors. A view of an array in memory, or of what models share, is written
  // as it was.
  constexpr int whole(int i) {
    if (map_[i] >= 0) return map_[i];
    const node& n = from_.at(i);
    const int axis = axis_[i];
    if (axis < 0 || (model_axes::is_view(n) && axis_[from_.input(n, 0)] < 0)) {
      move(i);
      return map_[i];
    }
    const shape& extent = n.result.extent;
    list<int> parts;
    for (std::int64_t k = 0; k < model_axes::elements_of_model(extent, axis); ++k)
      parts.push_back(write_.present(computed(i, k), n.result.type));
    parts[0] = write_.repeated(parts[0], extent[axis]);
    if (parts.size() == 1) {
      const list_view<std::int64_t> sizes(extent.dim, static_cast<std::size_t>(extent.rank));
      map_[i] = extent.rank == 1 ? parts[0] : to_.add(info_of<reshape_op>, parts, sizes);
    } else {
      list<std::int64_t> attributes{axis};
      for (int d = 0; d < extent.rank; ++d) attributes.push_back(extent[d]);
      map_[i] = store(info_of<assemble_models_op>, n.result, parts, attributes, {});
    }
    return map_[i];
  }
  // An element of a node that consists of vectors, or of scalars that models share.
  constexpr int computed(int i, std::int64_t k) {
    int& found = vectors_[i][static_cast<int>(k)];
    if (found != unknown) return found;
    const node& n = from_.at(i);
    std::int64_t place[max_rank]{};
    model_axes::place_of(n.result.extent, axis_[i], k, place);
    const int made = seen(n, axis_[i], place, k);
    return vectors_[i][static_cast<int>(k)] = made;
  }
  // An element of all models as a vector, or an element that they share.
  constexpr int element(int i, int axis, const std::int64_t* place) {
    const node& n = from_.at(i);
    const shape& extent = n.result.extent;
    const bool is_computed = axis_[i] >= 0 ? n.op->kind != op_kind::assign : is_shared_[i] != 0 && axis < 0;
    if (is_computed) return computed(i, model_axes::position(extent, axis, place));
    if (n.op->kind == op_kind::constant) return write_.number(n.result.type, constant_value(from_, i));
    if (n.op->kind == op_kind::index && axis < 0)
      return write_.number(n.result.type, static_cast<double>(place[from_.attribute(n, 0)]));
    const int array = whole(i);
    if (extent.rank == (axis < 0 ? 0 : 1)) return array;
    list<std::int64_t> attributes{axis};
    for (int d = 0; d < extent.rank; ++d) attributes.push_back(d == axis ? 0 : place[d]);
    const int in[]{array};
    return to_.add(info_of<take_models_op>, in, attributes);
  }
  // The axis of models of an operand of a node that has such an axis, or of one that models share.
  constexpr int operand_axis(const node& n, int k, int axis) const { return axis < 0 ? shared : axes_.operand_axis(n, k, axis); }
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
    const auto count = model_axes::elements_of_model(extent, axis);
    list<int> in{whole(variable)};
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t place[max_rank]{};
      model_axes::place_of(extent, axis, k, place);
      int value = write_.present(element(from_.input(n, 1), axis, place), n.result.type);
      if (adds || subtracts) {
        const int both[]{element(variable, axis, place), value};
        value = to_.add(adds ? info_of<add_op> : info_of<sub_op>, both);
      }
      in.push_back(k == 0 ? write_.repeated(value, extent[axis]) : value);
    }
    const std::int64_t attribute[]{axis};
    if (count == 1 && extent.rank > 1) {
      const int vector[]{in[1]};
      in[1] = to_.add(info_of<reshape_op>, vector, {extent.dim, static_cast<std::size_t>(extent.rank)});
    }
    map_[i] = count == 1 ? to_.add(info_of<assign_op>, in, {}, controls_of(n))
                         : store(info_of<assign_models_op>, n.result, in, attribute, controls_of(n));
  }

  constexpr void compute(int i) {
    const node& n = from_.at(i);
    const int axis = axis_[i];
    const auto count = axis < 0 ? n.result.extent.elements() : model_axes::elements_of_model(n.result.extent, axis);
    if (axis >= 0 && model_axes::is_decomposed(from_, n)) {
      vectors_[i] = small_matrices::results(from_, n, count, write_, [&](int input) { return elements_of(n, input); });
      return;
    }
    list<int> parts(static_cast<std::size_t>(count), unknown);
    for (std::int64_t k = 0; k < count && n.op->kind != op_kind::view; ++k) {
      std::int64_t place[max_rank]{};
      model_axes::place_of(n.result.extent, axis, k, place);
      int& part = parts[static_cast<int>(k)];
      if (n.op->kind == op_kind::kernel) part = seen(n, axis, place, k);
      else if (n.op->kind == op_kind::reduction) part = combined(n, axis, place);
      else part = arithmetic(n, axis, place);
    }
    vectors_[i] = std::move(parts);
  }
  // All elements of a node's input, which is a matrix or one for each model.
  constexpr list<int> elements_of(const node& n, int input) {
    const int x = from_.input(n, input);
    const shape& source = from_.at(x).result.extent;
    const int a = operand_axis(n, input, 0);
    const auto count = a < 0 ? source.elements() : model_axes::elements_of_model(source, a);
    list<int> all;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t place[max_rank]{};
      model_axes::place_of(source, a, k, place);
      all.push_back(element(x, a, place));
    }
    return all;
  }
  // The element of an operand that appears at a place of the result, which is element `k` of a model, or a zero.
  constexpr int seen(const node& n, int axis, const std::int64_t* place, std::int64_t k) {
    if (is_operator<reshape_op>(*n.op)) {
      const int x = from_.input(n, 0);
      const int a = operand_axis(n, 0, axis);
      std::int64_t at_source[max_rank]{};
      model_axes::place_of(from_.at(x).result.extent, a, k, at_source);
      return element(x, a, at_source);
    }
    const moved_elements::source from = moved_elements::at(from_, n, place);
    if (from.input < 0) return write_.number(n.result.type, 0);
    return element(from_.input(n, from.input), operand_axis(n, from.input, axis), from.place);
  }
  constexpr int arithmetic(const node& n, int axis, const std::int64_t* place) {
    int in[graph::max_operands];
    dtype types[graph::max_operands];
    for (int k = 0; k < n.input_count; ++k) {
      in[k] = operand_element(n, k, axis, place);
      types[k] = from_.at(from_.input(n, k)).result.type;
    }
    if (is_operator<copy_op>(*n.op)) return in[0];
    if (axis < 0 && is_direction(from_, n)) return in[0] == in[1] ? write_.number(dtype::boolean, 1) : element_writer::absent;
    const list_view<std::int64_t> attributes(from_.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count));
    return write_.operate(*n.op, {in, static_cast<std::size_t>(n.input_count)}, types, attributes,
                          axis < 0 ? 0 : n.result.extent[axis]);
  }
  // A reduction of a model's elements, one after another.
  constexpr int combined(const node& n, int axis, const std::int64_t* place) {
    const int x = from_.input(n, 0);
    const shape& source = from_.at(x).result.extent;
    const int mask = axes_.reduced(n);
    std::int64_t first[max_rank]{};
    std::int64_t count = 1;
    for (int d = 0, left = 0; d < source.rank; ++d) {
      if ((mask >> d & 1) != 0) {
        count *= source[d];
        if (axes_.keeps(n)) ++left;
      } else {
        first[d] = place[left++];
      }
    }
    const int a = operand_axis(n, 0, axis);
    const bool adds = is_operator<sum_op>(*n.op);
    const op_info& op = *order_of_sums::combining(n);
    const dtype types[]{n.result.type, n.result.type};
    int total = unknown;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t here[max_rank]{};
      std::int64_t rest = k;
      for (int d = source.rank; d-- > 0;) {
        const bool is_reduced = (mask >> d & 1) != 0;
        here[d] = is_reduced ? rest % source[d] : first[d];
        if (is_reduced) rest /= source[d];
      }
      int term = element(x, a, here);
      if (!adds) term = write_.present(term, n.result.type);
      const int in[]{total, term};
      total = k == 0 ? term : write_.operate(op, in, types);
    }
    return total;
  }

  const graph& from_;
  model_axes axes_;
  extent_of_choice choice_;
  graph to_;
  element_writer write_{to_};
  list<int> depth_;
  list<int> writes_;      // the number of writes of each variable
  list<int> axis_;        // the axis of models of a node that becomes vectors, or -1
  list<char> derives_;    // whether a node depends on the direction of a derivative
  list<char> is_shared_;  // whether it is one of these that models share, so that its elements are scalars
  list<int> map_;         // the array of a node, or -1
  list<list<int>> vectors_;
};

}  // namespace detail

/// The graph with the small arrays of many models as vectors, or unchanged if nothing is gained; `targets` are renumbered. The graph must
/// be simplified.
constexpr graph unroll_models(graph g, list<int>& targets) {
  using detail::model_unroller;
  using extent = model_unroller::extent_of_choice;
  graph made;
#if !defined(__CUDACC__)
  if (!g.models.empty())
    if (model_unroller all(g, extent::connected); all.run(targets, made)) return made;
#endif
  for (const node& n : g.nodes)
    if (model_unroller::is_seed(g, n)) {
      if (model_unroller few(g, extent::products); few.run(targets, made)) return made;
      break;
    }
  return g;
}

}  // namespace leat::passes
