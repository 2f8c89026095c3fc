#pragma once
// Turns small arrays into scalars. Products of matrices of a few elements, concatenations, and whatever of static shape is connected with
// them become scalars, one for each element. A step on small matrices (a Kalman filter, a rotation, a Jacobian) is then one list of
// instructions without memory between them; a kernel call would cost more than the product.
//
// The nodes that become scalars have at most `most_elements` elements and are connected with a node that would otherwise be a step of its
// own. Derivatives along all directions may have more, because most of their elements are absent (unroll_elements.hpp). Arrays that are
// read or written at the border stay arrays (`take_element_op`, `assemble_op`, `assign_elements_op`). The pass is only for programs whose
// steps a C++ compiler compiles, because the interpreter makes a call for each instruction; it runs the kernels whole. Both add in the same
// order and round each product and sum once (`multiply_add_op`), so that results are equal; where an absent element is multiplied by
// infinity or NaN, or by a negative number, they may differ: the interpreter computes that product.

#include <leat/core/list.hpp>
#include <leat/ops/stacked_matmul.hpp>
#include <leat/passes/arrange.hpp>
#include <leat/passes/moved_elements.hpp>
#include <leat/passes/stored_elements.hpp>
#include <leat/passes/unroll_elements.hpp>
#include <leat/passes/unroll_matrices.hpp>
#include <leat/passes/unroll_sums.hpp>

namespace leat::passes {

namespace detail {

class unroller {
 public:
  static constexpr std::int64_t most_elements = stacked_matmul_op::largest_matrix;
  static constexpr std::int64_t most_derivatives = 128;  // the most elements of an array of derivatives
  static constexpr std::int64_t longest_sum = stacked_matmul_op::longest_sum;
  static constexpr std::int64_t most_costly = 3;  // the most elements of a costly function, which is faster in batches
  // The most of a program, because each is an instruction to compile.
  static constexpr std::int64_t most_multiplications = 1024;
  static constexpr std::int64_t most_nodes = 3072;
  static constexpr std::int64_t most_visits = 16384;  // the most elements that are looked at, absent ones included
  // Where only concatenations and paddings would be saved: how many scalar operations one of them, and one loop over SIMD registers,
  // cost as much as. With more, arrays are faster: the gradient of Rosenbrock's function of 10 variables takes 7 ns, as scalars 22.
  static constexpr std::int64_t operations_of_join = 16;
  static constexpr std::int64_t operations_of_loop = 5;

  /// Which arrays become scalars: all that are connected with a step that would be saved, or with a product alone.
  enum class extent_of_choice { connected, products };

  constexpr unroller(const graph& from, extent_of_choice choice) : from_(from), choice_(choice), sums_(from) {}

  /// Whether a product of the graph is small enough.
  static constexpr bool is_small_product(const graph& g, const node& n) {
    return is_operator<matmul_op>(*n.op) && is_floating(n.result.type) && multiplications(g, n) > 0 && inner_size(g, n) <= longest_sum &&
           is_small(g.at(g.input(n, 0)).result, most_elements) && is_small(g.at(g.input(n, 1)).result, most_elements) &&
           is_small(n.result, most_elements);
  }
  /// Whether a node may be a reason to turn arrays into scalars.
  static constexpr bool may_be_seed(const graph& g, const node& n) {
    const int code = n.op->code;
    if (n.op->kind != op_kind::kernel && code != operator_record<equal_op>::code) return false;
    return is_small_product(g, n) || (moved_elements::are_joined(code) && is_small(n.result, most_derivatives)) || is_direction(g, n) ||
           (small_matrices::knows(g, n) && is_small(n.result, small_matrices::most_elements));
  }

  /// Marks the nodes that become scalars; false if there are none.
  constexpr bool choose(list_view<int> targets) {
    mark_possible();
    spread_from_seeds();
    for (const char c : chosen_)
      if (c != 0) return choice_ == extent_of_choice::products || pays(targets);
    return false;
  }
  /// The graph with scalars; false if it would have too many.
  constexpr bool run(list<int>& targets, graph& made) {
    to_.merge_equal = true;
    to_.nodes.reserve(from_.nodes.size() + 256);
    to_.edges.reserve(from_.edges.size() + 512);
    to_.dimension_names = from_.dimension_names;
    map_.assign(from_.nodes.size(), -1);
    elements_.assign(from_.nodes.size(), {});
    const bool is_bounded = choice_ == extent_of_choice::connected;
    for (int i = 0; i < from_.size(); ++i) {
      if (chosen_[i] == 0) move(i);
      else if (from_.at(i).op->kind == op_kind::assign) write(i);
      else compute(i);
      if (is_bounded && to_.size() > from_.size() + most_nodes) return false;
    }
    for (int& t : targets) t = whole(t);
    made = std::move(to_);
    return true;
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static constexpr bool is_small(const tensor_info& t, std::int64_t most) {
    return t.extent.is_static() && t.extent.elements() > 0 && t.extent.elements() <= most;
  }
  static constexpr std::int64_t multiplications(const graph& g, const node& n) {
    if (!n.result.extent.is_static() || !g.at(g.input(n, 0)).result.extent.is_static()) return 0;
    return n.result.extent.elements() * inner_size(g, n);
  }
  static constexpr std::int64_t inner_size(const graph& g, const node& n) {
    return g.at(g.input(n, 0)).result.extent[g.attribute(n, 0) != 0 ? 0 : 1];
  }

  // ---- choosing ------------------------------------------------------------------------------------------------------------

  // Whether an element-wise operator takes single elements as it takes arrays.
  constexpr bool takes_scalars(const node& n) const {
    tensor_info operands[graph::max_operands];
    for (int k = 0; k < n.input_count; ++k) operands[k] = {from_.at(from_.input(n, k)).result.type, {}};
    if (is_operator<copy_op>(*n.op)) return true;
    const inference got = n.op->infer({operands, n.input_count, from_.numbers.data() + n.attributes, n.attribute_count});
    return got.problem.empty() && got.extent.rank == 0 && got.type == n.result.type;
  }
  constexpr std::int64_t most_of(const node& n) const {
    return small_matrices::knows(from_, n) ? small_matrices::most_elements : most_elements;
  }
  constexpr bool could(const node& n, bool derives) const {
    const int code = n.op->code;
    const bool is_matrix = small_matrices::knows(from_, n);
    if (n.control_count > 0) return false;
    for (int k = 0; k < n.input_count; ++k) {
      const int x = from_.input(n, k);
      const op_kind kind = from_.at(x).op->kind;
      if (chosen_[x] == 0 && kind == op_kind::view) return false;
      const bool may_be_large = derives || is_matrix || kind == op_kind::index || moved_elements::are_viewed(code);
      if (!is_small(from_.at(x).result, may_be_large ? most_derivatives : most_elements)) return false;
    }
    if (n.op->kind == op_kind::element) return (!n.op->costly || n.result.extent.elements() <= most_costly) && takes_scalars(n);
    if (n.op->kind == op_kind::reduction) return sums_.keeps_order(n);
    return moved_elements::are_viewed(code) || moved_elements::are_joined(code) || is_matrix || is_small_product(from_, n);
  }

  // Marks all nodes that could become scalars.
  constexpr void mark_possible() {
    const auto depth = write_depths(from_);
    list<int> writes(from_.nodes.size(), 0);
    for (const node& n : from_.nodes)
      if (n.op->kind == op_kind::assign) ++writes[from_.input(n, 0)];
    list<char> folded(from_.nodes.size(), 0);
    for (const node& n : from_.nodes)
      if (is_operator<assign_add_op>(*n.op) || is_operator<assign_sub_op>(*n.op)) {
        // An update by a product is one kernel, which adds in another order, and so stays whole.
        const int value = from_.input(n, 1);
        folded[value] = 1;
        if (is_operator<mul_op>(*from_.at(value).op))
          for (int k = 0; k < 2; ++k) folded[from_.input(from_.at(value), k)] = 1;
      }
    chosen_.assign(from_.nodes.size(), 0);
    derives_.assign(from_.nodes.size(), 0);
    std::int64_t left = most_multiplications, visits = most_visits;
    for (int i = 0; i < from_.size(); ++i) {
      const node& n = from_.at(i);
      if (n.input_count == 0 || depth[i] > 0 || folded[i] != 0) continue;
      if (choice_ == extent_of_choice::connected) {
        bool derives = is_direction(from_, n);
        for (int k = 0; k < n.input_count; ++k) derives = derives || derives_[from_.input(n, k)] != 0;
        derives_[i] = derives ? 1 : 0;
      }
      if (!is_small(n.result, derives_[i] != 0 ? most_derivatives : most_of(n))) continue;
      bool may = true;
      if (n.op->kind == op_kind::assign) {
        const int variable = from_.input(n, 0);
        may = is_operator<assign_op>(*n.op) && writes[variable] == 1 && chosen_[from_.input(n, 1)] != 0 &&
              from_.at(variable).result.extent == from_.at(from_.input(n, 1)).result.extent;
      } else {
        may = could(n, derives_[i] != 0);
        if (may && is_operator<matmul_op>(*n.op)) {
          left -= multiplications(from_, n);
          may = left >= 0;
        }
        visits -= n.result.extent.elements();
        may = may && (visits >= 0 || choice_ == extent_of_choice::products);
      }
      if (may) chosen_[i] = 1;
    }
  }

  constexpr bool is_seed(const node& n) const {
    if (is_operator<matmul_op>(*n.op)) return true;
    return choice_ == extent_of_choice::connected && may_be_seed(from_, n);
  }
  // Keeps only nodes that are connected with a seed, along edges in both directions.
  constexpr void spread_from_seeds() {
    bool spreads = true;
    for (int i = 0; i < from_.size(); ++i)
      if (chosen_[i] != 0 && is_seed(from_.at(i))) chosen_[i] = 2;
    while (spreads) {
      spreads = false;
      for (int i = 0; i < from_.size(); ++i) {
        if (chosen_[i] == 0) continue;
        const node& n = from_.at(i);
        for (int k = n.op->kind == op_kind::assign ? 1 : 0; k < n.input_count; ++k) {
          const int x = from_.input(n, k);
          if (chosen_[x] == 0 || chosen_[x] == chosen_[i]) continue;
          chosen_[x] = chosen_[i] = 2;
          spreads = true;
        }
      }
    }
    for (char& c : chosen_) c = c == 2 ? 1 : 0;
  }

  // Whether the chosen nodes are faster as scalars. Products, decompositions and derivatives along all directions always are.
  constexpr bool pays(list_view<int> targets) const {
    list<char> needed(from_.nodes.size(), 0);
    for (const int t : targets) needed[t] = 1;
    std::int64_t saved = 0, operations = 0;
    for (int i = from_.size(); i-- > 0;) {
      const node& n = from_.at(i);
      if (needed[i] == 0) continue;
      for (int k = 0; k < n.input_count; ++k) needed[from_.input(n, k)] = 1;
      for (int k = 0; k < n.control_count; ++k) needed[from_.control(n, k)] = 1;
      if (chosen_[i] == 0) continue;
      if (moved_elements::are_joined(n.op->code)) saved += operations_of_join;
      else if (is_seed(n)) return true;
      const std::int64_t elements = n.result.extent.elements();
      if (n.op->kind != op_kind::element || is_operator<copy_op>(*n.op) || elements == 1) continue;
      operations += elements;
      saved += operations_of_loop;
    }
    return operations <= saved;
  }

  // ---- writing -------------------------------------------------------------------------------------------------------------

  // The array of a node, assembled if the node was computed as scalars.
  constexpr int whole(int i) {
    if (map_[i] >= 0) return map_[i];
    const node& n = from_.at(i);
    const shape& extent = n.result.extent;
    const list_view<std::int64_t> sizes(extent.dim, static_cast<std::size_t>(extent.rank));
    list<int> parts = elements_[i];
    for (int& p : parts) p = write_.present(p, n.result.type);
    if (parts.size() > 1) map_[i] = to_.add_known(info_of<assemble_op>, n.result, parts, sizes, {});
    else if (is_constant(to_, parts[0])) map_[i] = to_.add(info_of<copy_op>, parts, sizes);  // an array that views can be of
    else if (extent.rank > 0) map_[i] = to_.add(info_of<reshape_op>, parts, sizes);
    else map_[i] = parts[0];
    return map_[i];
  }
  // The scalar of an element, which is read from memory if the node is stored as an array.
  constexpr int element(int i, std::int64_t k) {
    auto& parts = elements_[i];
    const node& n = from_.at(i);
    if (parts.empty()) parts.assign(static_cast<std::size_t>(n.result.extent.elements()), -1);
    int& found = parts[static_cast<std::size_t>(k)];
    if (found != -1) return found;
    const int array = map_[i];
    if (n.op->kind == op_kind::constant) {
      found = write_.number(n.result.type, constant_value(from_, i));
    } else if (n.op->kind == op_kind::index) {
      std::int64_t index[max_rank]{};
      place_of(n.result.extent, k, index);
      found = write_.number(n.result.type, static_cast<double>(index[from_.attribute(n, 0)]));
    } else if (parts.size() > 1) {
      const int in[]{array};
      found = to_.add(info_of<take_element_op>, in, {&k, 1});
    } else if (n.result.extent.rank > 0) {
      const int in[]{array};
      found = to_.add(info_of<reshape_op>, in);
    } else {
      found = array;
    }
    return found;
  }

  constexpr void move(int i) {
    map_[i] = copy_node(from_, from_.at(i), to_, [this](int x) { return whole(x); });
  }
  constexpr void write(int i) {
    const node& n = from_.at(i);
    const int value = from_.input(n, 1);
    const auto count = from_.at(value).result.extent.elements();
    list<int> in{whole(from_.input(n, 0))};
    if (count == 1) in.push_back(whole(value));
    for (std::int64_t k = 0; k < count && count > 1; ++k) in.push_back(read_before(write_.present(element(value, k), n.result.type)));
    const auto controls = controls_in(from_, n, [this](int x) { return whole(x); });
    map_[i] = to_.add_known(count > 1 ? info_of<assign_elements_op> : info_of<assign_op>, n.result, in, {}, controls);
  }

  // An element that is written. One that is only read elsewhere is read by a node of its own, which comes before all writes of its step.
  constexpr int read_before(int x) {
    return to_.at(x).op->kind == op_kind::view ? to_.add(info_of<copy_op>, {&x, 1}) : x;
  }

  constexpr void compute(int i) {
    const node& n = from_.at(i);
    const shape extent = n.result.extent;
    const auto count = extent.elements();
    const int code = n.op->code;
    if (small_matrices::knows(from_, n)) {
      elements_[i] = small_matrices::results(from_, n, count, write_, [&](int input) {
        const int x = from_.input(n, input);
        list<int> all;
        for (std::int64_t k = 0; k < from_.at(x).result.extent.elements(); ++k) all.push_back(element(x, k));
        return all;
      });
      return;
    }
    const bool is_product = code == operator_record<matmul_op>::code;
    const bool is_moved = moved_elements::are_viewed(code) || moved_elements::are_joined(code);
    list<int> parts;
    parts.reserve(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t index[max_rank]{};
      place_of(extent, k, index);
      if (is_product) parts.push_back(product(n, index[0], index[1]));
      else if (is_moved) parts.push_back(moved(n, index, k));
      else if (n.op->kind == op_kind::reduction) parts.push_back(sum(n, index));
      else parts.push_back(arithmetic(n, index));
    }
    elements_[i] = std::move(parts);
  }
  static constexpr void place_of(const shape& extent, std::int64_t k, std::int64_t* index) {
    for (int a = extent.rank; a-- > 0; k /= extent[a]) index[a] = k % extent[a];
  }
  // The sum over the inner dimension, in the order of the kernel for small products.
  constexpr int product(const node& n, std::int64_t row, std::int64_t column) {
    const int a = from_.input(n, 0);
    const int b = from_.input(n, 1);
    const bool ta = from_.attribute(n, 0) != 0;
    const bool tb = from_.attribute(n, 1) != 0;
    const std::int64_t inner = inner_size(from_, n);
    int sum = element_writer::absent;
    for (std::int64_t p = 0; p < inner; ++p) {
      const std::int64_t left = ta ? p * from_.at(a).result.extent[1] + row : row * inner + p;
      const std::int64_t right = tb ? column * inner + p : p * from_.at(b).result.extent[1] + column;
      sum = write_.multiply_add(n.result.type, element(a, left), element(b, right), sum);
    }
    return sum;
  }
  // The element of an operand that appears at a place of the result, or a zero.
  constexpr int moved(const node& n, const std::int64_t* index, std::int64_t k) {
    if (is_operator<reshape_op>(*n.op)) return element(from_.input(n, 0), k);
    const moved_elements::source from = moved_elements::at(from_, n, index);
    if (from.input < 0) return write_.number(n.result.type, 0);
    const int x = from_.input(n, from.input);
    return element(x, moved_elements::position_of(from_.at(x).result.extent, from.place));
  }
  constexpr int arithmetic(const node& n, const std::int64_t* index) {
    int in[graph::max_operands];
    dtype types[graph::max_operands];
    for (int k = 0; k < n.input_count; ++k) {
      const int x = from_.input(n, k);
      const shape& source = from_.at(x).result.extent;
      std::int64_t position = 0;
      for (int d = 0; d < source.rank; ++d) {
        const int axis = d + n.result.extent.rank - source.rank;
        position = position * source[d] + (source[d] == 1 ? 0 : index[axis]);
      }
      in[k] = element(x, position);
      types[k] = from_.at(x).result.type;
    }
    if (is_operator<copy_op>(*n.op)) return in[0];
    if (is_direction(from_, n)) return in[0] == in[1] ? write_.number(dtype::boolean, 1) : element_writer::absent;
    const list_view<std::int64_t> attributes(from_.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count));
    return write_.operate(*n.op, {in, static_cast<std::size_t>(n.input_count)}, types, attributes);
  }
  constexpr int sum(const node& n, const std::int64_t* index) {
    const int x = from_.input(n, 0);
    list<int> terms;
    sums_.for_each_term(n, index, [&](std::int64_t position) { terms.push_back(element(x, position)); });
    return sums_.combined(n, terms, write_);
  }

  const graph& from_;
  extent_of_choice choice_;
  order_of_sums sums_;
  graph to_;
  element_writer write_{to_};
  list<char> chosen_;
  list<char> derives_;        // whether a node depends on the direction of a derivative
  list<int> map_;             // the array of a node, or -1
  list<list<int>> elements_;  // its scalars, as far as they are needed
};

}  // namespace detail

/// The graph with its small arrays as scalars, or unchanged if nothing is gained; `targets` are renumbered. The graph must be simplified.
constexpr graph unroll(graph g, list<int>& targets) {
  using detail::unroller;
  bool some = false, product = false;
  for (const node& n : g.nodes) {
    some = some || unroller::may_be_seed(g, n);
    product = product || unroller::is_small_product(g, n);
  }
  graph made;
  if (some)
    if (unroller all(g, unroller::extent_of_choice::connected); !all.choose(targets) || all.run(targets, made))
      return made.size() > 0 ? std::move(made) : std::move(g);
  if (product)
    if (unroller few(g, unroller::extent_of_choice::products); few.choose(targets) && few.run(targets, made)) return made;
  return g;
}

}  // namespace leat::passes
