// Programs drawn at random over the flat table of a graph, compiled by all passes and interpreted: fetches and variables are what the
// nodes give one after the other. All numbers are integers that float32 has, so sums may be added in any order.

#include <leat/passes/lower.hpp>

#include "support/interpreted.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace leat;

namespace {

using integers = std::vector<std::int64_t>;  // sizes, a position, or attributes

constexpr std::int64_t n_dimension = named_dimension("n");
constexpr std::int64_t m_dimension = named_dimension("m");
constexpr std::int64_t longest = 4;  // of the sizes of named dimensions
constexpr double exact = 1 << 22;

constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
integers listed(const shape& s) { return {s.dim, s.dim + s.rank}; }
std::int64_t elements(const integers& sizes) { return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>()); }

struct named_sizes {
  std::int64_t n, m;
  integers of(integers sizes) const {
    for (std::int64_t& size : sizes) size = size == n_dimension ? n : size == m_dimension ? m : size;
    return sizes;
  }
};

class random_program {
 public:
  explicit random_program(unsigned seed) : random_(seed) {
    g.name_dimension(n_dimension, "n");
    g.name_dimension(m_dimension, "m");
    draw_leaves();
    for (int k = 0; k < 50; ++k) {
      try {
        draw_step();
      } catch (const error&) {  // operands that do not fit: no step
      }
    }
    for (int k = 1 + below(4); k > 0; --k) targets.push_back(any());
    std::vector<int> waited;
    for (const int o : operations_)
      if (!once_in(4)) waited.push_back(o);
    std::shuffle(waited.begin(), waited.end(), random_);
    if (!waited.empty()) targets.push_back(g.add(info_of<group_op>, {}, {}, waited));
    live.assign(g.nodes.size(), 0);
    for (const int t : targets) live[at(t)] = 1;
    for (int i = g.size(); i-- > 0;) {
      const node& n = g.at(i);
      for (int k = 0; live[at(i)] != 0 && k < n.input_count; ++k) live[at(g.input(n, k))] = 1;
      for (int k = 0; live[at(i)] != 0 && k < n.control_count; ++k) live[at(g.control(n, k))] = 1;
    }
  }
  integers attributes(int i) const {
    const auto begin = g.numbers.begin() + g.at(i).attributes;
    return {begin, begin + g.at(i).attribute_count};
  }
  /// The nodes that the targets need, a line for each.
  std::string text() const {
    std::string text;
    for (int i = 0; i < g.size(); ++i) {
      const node& n = g.at(i);
      if (live[at(i)] == 0) continue;
      text += "\n%" + std::to_string(i) + " = " + std::string(n.op->type);
      for (int k = 0; k < n.input_count; ++k) text += " %" + std::to_string(g.input(n, k));
      for (int k = 0; k < n.control_count; ++k) text += " ^" + std::to_string(g.control(n, k));
      for (const std::int64_t a : attributes(i)) text += " #" + std::to_string(a);
      if (n.result.type != dtype::invalid) text += " : " + std::string(describe(n.result, g).view());
    }
    text += "\ntargets";
    for (const int t : targets) text += " %" + std::to_string(t);
    return text;
  }

  graph g;
  std::vector<int> leaves, variables, targets;
  std::vector<char> live;
  int row_indices[2]{};  // leaves of indices 0 and 1, and of -1, 0 and 1

 private:
  using step = void (random_program::*)();
  struct writes {
    int last = -1;
    std::vector<int> readers;  // that wait for the last one
  };

  int below(std::int64_t count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  bool once_in(int count) { return below(count) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<std::int64_t>(choices.size()))];
  }
  shape extent(int i) const { return g.at(i).result.extent; }
  dtype type(int i) const { return g.at(i).result.type; }
  bool is_variable(int i) const { return g.at(i).op->kind == op_kind::variable; }
  std::int64_t count(int i) const { return std::max<std::int64_t>(1, elements(named_sizes{longest, longest}.of(listed(extent(i))))); }

  /// A tensor for which `fits` holds, often a late one. Errors: invalid_argument if there is none.
  template <class Fits>
  int any(Fits fits) {
    std::vector<int> found;
    std::copy_if(tensors_.begin(), tensors_.end(), std::back_inserter(found), fits);
    if (found.empty()) throw invalid_argument("no tensor fits");
    const std::size_t late = found.size() > 4 && once_in(3) ? found.size() - 4 : 0;
    return found[late + at(below(static_cast<std::int64_t>(found.size() - late)))];
  }
  int any() {
    return any([](int) { return true; });
  }
  int any_number() {
    return any([&](int i) { return is_number(type(i)); });
  }
  int any_array() {
    return any([&](int i) { return extent(i).rank > 0; });
  }
  int any_like(int other) {
    return any([&](int i) { return type(i) == type(other) && broadcast(extent(i), extent(other)).ok; });
  }
  int any_matrix(dtype of, std::int64_t size) {
    return any([&](int i) { return type(i) == of && extent(i).rank == 2 && (extent(i)[0] == size || extent(i)[1] == size); });
  }
  /// A tensor of this dtype and shape.
  int any_shaped(dtype of, const shape& s) {
    const int x = any([&](int i) { return type(i) == of && broadcast(extent(i), s).extent == s; });
    return extent(x) == s ? x : add(info_of<broadcast_to_op>, {x}, listed(s));
  }

  /// A limit of the elements of a result.
  double largest(const op_info& op, const std::vector<int>& operands) const {
    double most = 1, sum = 0, product = 1;
    for (const int i : operands) {
      most = std::max(most, largest_[at(i)]);
      sum += largest_[at(i)];
      product *= largest_[at(i)];
    }
    const auto all = operands.empty() ? 1.0 : static_cast<double>(count(operands[0]));
    if (is_operator<mul_op>(op)) return product;
    if (is_operator<square_op>(op)) return product * product;
    if (is_operator<matmul_op>(op)) {
      const integers sizes = named_sizes{longest, longest}.of(listed(extent(operands[0])));
      return product * static_cast<double>(std::max(sizes[0], sizes[1]));
    }
    if (is_operator<add_op>(op) || is_operator<sub_op>(op) || op.kind == op_kind::assign) return sum;
    if (is_operator<argmax_op>(op) || is_operator<passes::first_rows_op>(op)) return all;
    const bool adds = is_operator<sum_op>(op) || is_operator<segment_sum_op>(op) || is_operator<passes::sum_equal_rows_op>(op);
    return adds ? most * all : most;
  }
  /// Makes a node a tensor that others may take.
  int note(int i, double most) {
    largest_.resize(g.nodes.size(), 0);
    largest_[at(i)] = type(i) == dtype::uint8 ? 255 : most;
    if (extent(i).rank <= 5 && count(i) <= 2000) tensors_.push_back(i);
    return i;
  }
  /// Errors: invalid_argument if operands do not fit, or numbers would become too large.
  int add(const op_info& op, const std::vector<int>& operands, const integers& attributes = {}, const std::vector<int>& waited = {}) {
    const double most = largest(op, operands);
    if (most > exact) throw invalid_argument("too large");
    return note(g.add(op, operands, attributes, waited), most);
  }
  int number(dtype of, double value, const shape& s = {}) { return note(constant(g, of, s, value).index(), std::abs(value)); }

  shape draw_shape(bool named) {
    shape s;
    for (int rank = below(4); rank > 0; --rank)
      s.push(named && once_in(4) ? one_of({n_dimension, n_dimension, m_dimension}) : one_of<std::int64_t>({1, 2, 2, 3, 3, 5}));
    return s;
  }
  int leaf(const op_info& op, dtype of, const shape& s) {
    const integers initializer = op.kind == op_kind::variable ? integers{0, 1, 0} : integers{};
    leaves.push_back(g.add_leaf(op, {of, s}, "leaf", 1000 + at(g.size()), initializer));
    if (op.kind == op_kind::variable) variables.push_back(leaves.back());
    return note(leaves.back(), 4);
  }
  void draw_leaves() {
    for (int& indices : row_indices) {
      shape s{1, {one_of<std::int64_t>({n_dimension, 4, 3})}};
      if (once_in(3)) s.push(2);
      indices = leaf(info_of<placeholder_op>, one_of({dtype::int32, dtype::int64}), s);
    }
    tensors_.clear();
    const shape matrix{2, {2 + below(2), 2 + below(2)}};
    for (int k = 2 + below(4); k > 0; --k) leaf(info_of<placeholder_op>, dtype::float32, draw_shape(true));
    leaf(info_of<placeholder_op>, dtype::float32, matrix);
    leaf(info_of<placeholder_op>, dtype::float32, {});
    for (const dtype t : {dtype::uint8, dtype::int64, dtype::float64, dtype::int32})
      if (once_in(2)) leaf(info_of<placeholder_op>, t, draw_shape(true));
    for (int k = 1 + below(4); k > 0; --k) leaf(info_of<variable_op>, dtype::float32, one_of({matrix, shape{}, draw_shape(false)}));
    const dtype other = one_of({dtype::uint8, dtype::int64, dtype::int32, dtype::float64});
    if (once_in(2)) leaf(info_of<variable_op>, other, draw_shape(false));
  }
  void draw_step() {
    using p = random_program;
    const step chosen = one_of<step>(
        {&p::draw_element, &p::draw_element,   &p::draw_element,   &p::draw_element,   &p::draw_logic, &p::draw_logic,    &p::draw_division,
         &p::draw_cast,    &p::draw_reduction, &p::draw_reduction, &p::draw_reduction, &p::draw_view,  &p::draw_view,     &p::draw_view,
         &p::draw_view,    &p::draw_product,   &p::draw_product,   &p::draw_parts,     &p::draw_rows,  &p::draw_constant, &p::draw_write,
         &p::draw_write,   &p::draw_write,     &p::draw_row_write, &p::draw_read,      &p::draw_wait,  &p::draw_group});
    (this->*chosen)();
  }
  void draw_element() {
    const int a = any_number();
    const int b = any_like(a);
    if (once_in(8)) same(a);
    else if (once_in(4)) add(*one_of({&info_of<neg_op>, &info_of<square_op>}), {a});
    else add(*one_of({&info_of<add_op>, &info_of<sub_op>, &info_of<mul_op>, &info_of<maximum_op>, &info_of<minimum_op>}), {a, b});
  }
  /// The same by an operator that simplification drops.
  int same(int a) {
    const integers sizes = listed(extent(a));
    integers whole(sizes.size(), 0);
    whole.resize(2 * sizes.size(), -1);
    switch (below(5)) {
      case 0: return add(info_of<identity_op>, {a});
      case 1: return add(info_of<reshape_op>, {a}, sizes);
      case 2: return add(info_of<mul_op>, {a, number(type(a), 1)});
      case 3: return add(info_of<add_op>, {number(type(a), 0), a});
      default: return add(info_of<slice_op>, {a}, whole);
    }
  }
  void draw_logic() {
    const int a = any_number();
    const int b = any_like(a);
    const int c = add(*one_of({&info_of<greater_op>, &info_of<equal_op>, &info_of<not_equal_op>}), {a, b});
    const int condition = any([&](int i) { return type(i) == dtype::boolean; });
    const int x = any([&](int i) { return broadcast(extent(i), extent(condition)).ok; });
    if (once_in(2)) add(info_of<select_op>, {condition, x, any_like(x)});
    else add(info_of<logical_not_op>, {c});
  }
  void draw_division() {
    const int a = any([&](int i) { return is_integer(type(i)); });
    const int b = any_like(a);
    const bool squared = once_in(2) && type(a) != dtype::uint8;  // whose square may wrap to 255
    const int divisor = squared ? add(info_of<add_op>, {add(info_of<square_op>, {b}), number(type(a), 1)})
                                : add(info_of<maximum_op>, {b, number(type(a), 1 + below(3))});
    add(*one_of({&info_of<floor_div_op>, &info_of<floor_mod_op>, &info_of<truncate_div_op>, &info_of<truncate_mod_op>}), {a, divisor});
  }
  void draw_cast() {
    const int a = any();
    const dtype to = one_of({dtype::float32, dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean});
    if (to == dtype::uint8 && is_floating(type(a))) return;  // not defined for negative numbers
    add(info_of<cast_op>, {a}, {static_cast<std::int64_t>(to)});
  }
  void draw_reduction() {
    const int a = any_array();
    const int rank = extent(a).rank;
    integers axes{below(2)};  // behind whether dimensions are kept; none are all
    for (int axis = 0; axis < rank; ++axis)
      if (once_in(2)) axes.push_back(once_in(2) ? axis : axis - rank);
    const dtype to = one_of({dtype::int32, dtype::int64});
    if (type(a) == dtype::boolean) add(*one_of({&info_of<all_op>, &info_of<any_op>}), {a}, axes);
    else if (once_in(5) && extent(a)[rank - 1] > 0) add(info_of<argmax_op>, {a}, {rank - 1, static_cast<std::int64_t>(to)});
    else add(*one_of({&info_of<sum_op>, &info_of<sum_op>, &info_of<max_op>, &info_of<min_op>}), {a}, axes);
  }
  void draw_view() { view(any_array()); }
  void view(int a) {
    const int rank = extent(a).rank;
    integers sizes = listed(extent(a));
    const auto size = sizes.begin() + below(rank);
    integers axes(sizes.size()), slice(2 * sizes.size(), -1);
    switch (below(4)) {
      case 0:
        std::iota(axes.begin(), axes.end(), once_in(2) ? 0 : -rank);
        std::shuffle(axes.begin(), axes.end(), random_);
        add(info_of<transpose_op>, {a}, axes);
        return;
      case 1:
        if (once_in(3)) {
          sizes.insert(size, 1);
        } else if (*size == 1) {
          sizes.erase(size);
        } else if (size + 1 != sizes.end() && size[0] > 0 && size[1] > 0) {
          size[1] *= size[0];
          sizes.erase(size);
        } else {
          std::shuffle(sizes.begin(), sizes.end(), random_);
        }
        add(info_of<reshape_op>, {a}, sizes);
        return;
      case 2:
        for (std::size_t k = 0; k < sizes.size(); ++k) {
          const bool whole = sizes[k] <= 0 || once_in(4);
          slice[k] = whole ? 0 : below(sizes[k] + below(6) / 5);
          if (!whole && slice[k] < sizes[k] && once_in(2)) slice[sizes.size() + k] = 1 + below(sizes[k] - slice[k]);
        }
        add(info_of<slice_op>, {a}, slice);
        return;
      default: add(info_of<broadcast_to_op>, {any_like(a)}, sizes);
    }
  }
  int product(int a, int turned, int b) {
    const bool first = extent(b)[0] == extent(a)[1 - turned], second = extent(b)[1] == extent(a)[1 - turned];
    return add(info_of<matmul_op>, {a, b}, {turned, first && second ? below(2) : second ? 1 : 0});
  }
  void draw_product() {
    const int a = any([&](int i) { return is_number(type(i)) && extent(i).rank == 2; });
    const int turned = below(2);
    product(a, turned, any_matrix(type(a), extent(a)[1 - turned]));
  }
  void draw_parts() {
    const int a = any_array();
    const int rank = extent(a).rank;
    const int axis = below(rank);
    const auto beside = [&](int i) {
      bool fits = type(i) == type(a) && extent(i).rank == rank;
      for (int k = 0; fits && k < rank; ++k) fits = k == axis || extent(i)[k] == extent(a)[k];
      return fits;
    };
    integers around;
    for (int k = 0; k < 2 * rank; ++k) around.push_back(extent(a)[k % rank] < 0 ? 0 : below(2));
    if (once_in(2)) add(info_of<pad_op>, {a}, around);
    else add(info_of<concat_op>, {a, any(beside), any(beside)}, {axis});
  }
  void draw_rows() {
    const int a = any([&](int i) { return is_number(type(i)) && extent(i).rank > 0; });
    int indices = row_indices[0];
    if (once_in(3)) {
      const int drawn = any([&](int i) { return type(i) == dtype::int32 || type(i) == dtype::int64; });
      indices = add(info_of<floor_mod_op>, {drawn, number(type(drawn), 2)});
    }
    if (once_in(2) && extent(a)[0] > 1) add(info_of<gather_op>, {a, indices});
    else if (once_in(2)) add(info_of<segment_sum_op>, {a, indices}, {2});
    else add(info_of<segment_sum_op>, {a, row_indices[1]}, {3});
  }
  void draw_constant() {
    const int a = any_number();
    const double value = below(5);
    if (once_in(3)) {
      add(info_of<add_op>, {note(extent_of(g, type(a), once_in(2) ? shape{1, {n_dimension}} : shape{2, {n_dimension, 2}}).index(), 8), a});
    } else if (once_in(2)) {
      shape one = extent(a);
      one.push(1);
      const int uniform = number(type(a), type(a) == dtype::uint8 ? value : value - 2, one_of({shape{}, extent(a), one}));
      if (extent(uniform) == one && one.rank > 1) view(add(info_of<max_op>, {uniform}, {0, -1}));
    } else if (extent(a).rank > 0) {  // no operator makes a view of an index: it becomes no tensor
      const int index = index_along(g, type(a), extent(a), below(extent(a).rank)).index();
      largest_.resize(g.nodes.size(), static_cast<double>(count(a)));
      add(info_of<maximum_op>, {index, a});
    }
  }

  /// A scalar, such as a rate that the step changes, or one element of an array.
  int scale(dtype of) {
    const bool held = once_in(2);
    if (once_in(2)) return any([&](int i) { return type(i) == of && extent(i).rank == 0 && (!held || is_variable(i)); });
    const int a = any([&](int i) { return type(i) == of && extent(i).rank > 0 && extent(i).is_static() && extent(i).elements() > 0; });
    integers part;
    for (const std::int64_t size : listed(extent(a))) part.push_back(below(size));
    part.resize(2 * part.size(), 1);
    return add(info_of<reshape_op>, {add(info_of<slice_op>, {a}, part)});
  }
  /// A product of this shape, often times a scale.
  int scaled_product(dtype of, const shape& s) {
    const int a = any_matrix(of, s[0]);
    const int turned = extent(a)[0] == s[0] ? 0 : 1;
    const std::int64_t inner = extent(a)[1 - turned];
    const int b =
        any([&](int i) { return type(i) == of && (extent(i) == shape{2, {inner, s[1]}} || extent(i) == shape{2, {s[1], inner}}); });
    const int x = product(a, turned, b);
    if (once_in(3)) return x;
    const int factor = scale(of);
    return add(info_of<mul_op>, once_in(2) ? std::vector{factor, x} : std::vector{x, factor});
  }
  int operation_or_tensor() {
    if (!operations_.empty() && !once_in(3)) return operations_[at(below(std::ssize(operations_)))];
    return any();
  }
  int any_variable() { return variables[at(below(std::ssize(variables)))]; }
  /// What a node waits for to come after the last write of a variable, and, if it writes, after those that wait for that.
  std::vector<int> order(int variable, bool is_write) {
    const auto& [last, readers] = writes_[variable];
    std::vector<int> waited;
    if (is_write) waited = readers;
    if (last >= 0 && (waited.empty() || once_in(2)))
      waited.push_back(once_in(4) ? g.add(info_of<group_op>, {}, {}, std::vector{last}) : last);
    if (once_in(4)) waited.push_back(operation_or_tensor());
    return waited;
  }
  void write(const op_info& op, const std::vector<int>& operands, const integers& attributes = {}) {
    const int v = operands[0];
    const int made = add(op, operands, attributes, order(v, true));
    writes_[v] = {made, {}};
    operations_.push_back(made);
    largest_[at(v)] = std::max(largest_[at(v)], largest_[at(made)]);
  }
  void draw_write() {
    const int v = any_variable();
    const bool folds = extent(v).rank == 2 && is_floating(type(v)) && once_in(2);  // a product that updates a variable is one step
    const int x = folds ? scaled_product(type(v), extent(v)) : any_shaped(type(v), extent(v));
    if (extent(x) == extent(v)) write(*one_of({&info_of<assign_op>, &info_of<assign_add_op>, &info_of<assign_sub_op>}), {v, x});
  }
  // As optimizers write rows: passes/rows.hpp.
  void draw_row_write() {
    const int v = any_variable();
    if (!is_floating(type(v)) || extent(v).rank == 0 || extent(v)[0] < 2) return;
    const int indices = row_indices[below(2)];
    shape s = extent(indices);
    for (int a = 1; a < extent(v).rank; ++a) s.push(extent(v)[a]);
    const std::int64_t one_by_one = below(2);
    const int first = add(info_of<passes::first_rows_op>, {indices}, {extent(v)[0], one_by_one});
    if (one_by_one != 0) std::erase(tensors_, first);  // a check alone, of which nothing is read
    int rows = any_shaped(type(v), s);
    if (one_by_one == 0) rows = add(info_of<passes::sum_equal_rows_op>, {rows, first});
    if (once_in(2)) {
      const int read = add(info_of<maximum_op>, {indices, number(type(indices), 0)});
      rows = add(info_of<add_op>, {rows, add(info_of<gather_op>, {v, read})});
    }
    write(info_of<passes::write_rows_op>, {v, rows, indices, first}, {below(2), one_by_one});
  }
  // What a variable is at that time.
  void draw_read() {
    const int v = any_variable();
    std::vector<int> waited = order(v, false);
    if (waited.empty()) waited.push_back(operation_or_tensor());
    writes_[v].readers.push_back(add(info_of<identity_op>, {v}, {}, waited));
  }
  // What a tensor is, at any time.
  void draw_wait() {
    int x = once_in(2) ? any_variable() : any();
    if (is_variable(x)) x = same(x);
    operations_.push_back(add(info_of<identity_op>, {x}, {}, {operation_or_tensor()}));
  }
  void draw_group() { operations_.push_back(g.add(info_of<group_op>, {}, {}, std::vector{operation_or_tensor(), operation_or_tensor()})); }

  std::mt19937 random_;
  std::vector<int> tensors_, operations_;
  std::vector<double> largest_;  // of each node
  std::map<int, writes> writes_;
};

struct array {
  integers sizes;
  std::vector<double> numbers;

  /// The element for a position in an array that this one is broadcast to.
  double& operator()(const integers& p) {
    std::int64_t place = 0;
    for (std::size_t a = 0; a < sizes.size(); ++a) place = place * sizes[a] + (sizes[a] == 1 ? 0 : p[p.size() - sizes.size() + a]);
    return numbers[at(place)];
  }
};

template <class F>
void for_each_position(const integers& sizes, F f) {
  integers p(sizes.size(), 0);
  for (std::int64_t left = elements(sizes); left > 0; --left) {
    f(std::as_const(p));
    for (std::size_t a = p.size(); a-- > 0 && ++p[a] == sizes[a];) p[a] = 0;
  }
}
template <class F>
array array_of(const integers& sizes, F f) {
  array made{sizes, {}};
  for_each_position(sizes, [&](const integers& p) { made.numbers.push_back(static_cast<double>(f(p))); });
  return made;
}

struct inexact {};

/// The nodes one after the other, in double. A variable as an operand is its value at the start.
class evaluation {
 public:
  /// Errors: inexact, such as for the maximum of no elements.
  evaluation(const random_program& p, const named_sizes& named, const std::map<int, array>& leaves)
      : state(leaves), results(p.g.nodes.size()), p_(p), named_(named) {
    for (int i = 0; i < p.g.size(); ++i) {
      if (p.live[at(i)] == 0) continue;
      const node& n = p.g.at(i);
      const bool is_leaf = n.op->kind == op_kind::placeholder || n.op->kind == op_kind::variable;
      results[at(i)] = is_leaf ? leaves.at(i) : result(n, p.attributes(i), named.of(listed(n.result.extent)));
      for (double& value : results[at(i)].numbers) {
        if (!(std::abs(value) <= 4 * exact)) throw inexact{};
        if (n.result.type == dtype::uint8) value -= 256 * std::floor(value / 256);
      }
      if (n.op->kind == op_kind::assign) state.at(p.g.input(n, 0)) = results[at(i)];
    }
  }

  std::map<int, array> state;  // of variables, at the end
  std::vector<array> results;

 private:
  array& in(const node& n, int k) { return results[at(p_.g.input(n, k))]; }

  array result(const node& n, const integers& attributes, const integers& sizes) {
    const op_info& op = *n.op;
    const int first = n.input_count > 0 ? p_.g.input(n, 0) : -1;
    switch (op.kind) {
      case op_kind::constant: return array_of(sizes, [&](auto&) { return leat::detail::value_of_bits(n.result.type, attributes[0]); });
      case op_kind::index: return array_of(sizes, [&](const integers& p) { return p[at(attributes[0])]; });
      case op_kind::extent: return array_of(sizes, [&](auto&) { return elements(named_.of(attributes)); });
      case op_kind::element: return array_of(sizes, [&](const integers& p) { return element(n, p); });
      case op_kind::reduction: return reduced(n, attributes, sizes);
      case op_kind::assign: return written(n, state.at(first));
      case op_kind::identity: return n.control_count > 0 && p_.g.at(first).op->kind == op_kind::variable ? state.at(first) : in(n, 0);
      case op_kind::group: return {};
      default: break;
    }
    if (is_operator<reshape_op>(op)) return {sizes, in(n, 0).numbers};
    if (is_operator<segment_sum_op>(op) || is_operator<passes::sum_equal_rows_op>(op)) return summed_rows(n, sizes);
    return array_of(sizes, [&](const integers& p) { return moved(n, attributes, p); });
  }
  double element(const node& n, const integers& p) {
    const op_info& op = *n.op;
    const double a = in(n, 0)(p);
    const double b = n.input_count > 1 ? in(n, 1)(p) : 0;
    if (is_operator<add_op>(op)) return a + b;
    if (is_operator<sub_op>(op)) return a - b;
    if (is_operator<mul_op>(op)) return a * b;
    if (is_operator<maximum_op>(op)) return std::max(a, b);
    if (is_operator<minimum_op>(op)) return std::min(a, b);
    if (is_operator<neg_op>(op)) return -a;
    if (is_operator<square_op>(op)) return a * a;
    if (is_operator<greater_op>(op)) return a > b ? 1 : 0;
    if (is_operator<equal_op>(op)) return a == b ? 1 : 0;
    if (is_operator<not_equal_op>(op)) return a != b ? 1 : 0;
    if (is_operator<logical_not_op>(op)) return a == 0 ? 1 : 0;
    if (is_operator<select_op>(op)) return a != 0 ? b : in(n, 2)(p);
    if (is_operator<cast_op>(op)) return n.result.type == dtype::boolean && a != 0 ? 1 : a;
    if (is_operator<floor_div_op>(op)) return std::floor(a / b);
    if (is_operator<floor_mod_op>(op)) return a - b * std::floor(a / b);
    if (is_operator<truncate_div_op>(op)) return std::trunc(a / b);
    if (is_operator<truncate_mod_op>(op)) return std::fmod(a, b);
    throw std::logic_error("this evaluation has no rule for " + std::string(op.type));
  }
  array reduced(const node& n, const integers& attributes, const integers& sizes) {
    const op_info& op = *n.op;
    array& x = in(n, 0);
    const std::size_t rank = x.sizes.size();
    std::vector<bool> gone(rank, attributes.size() == 1);
    for (std::size_t k = 1; k < attributes.size(); ++k) gone[at(attributes[k]) + (attributes[k] < 0 ? rank : 0)] = true;
    const double start = is_operator<max_op>(op) ? -HUGE_VAL : is_operator<min_op>(op) ? HUGE_VAL : is_operator<all_op>(op) ? 1 : 0;
    array made = array_of(sizes, [&](auto&) { return start; });
    for_each_position(x.sizes, [&](const integers& p) {
      integers to;
      for (std::size_t a = 0; a < rank; ++a)
        if (!gone[a] || attributes[0] != 0) to.push_back(gone[a] ? 0 : p[a]);
      double& value = made(to);
      if (is_operator<sum_op>(op)) value += x(p);
      else value = is_operator<max_op>(op) || is_operator<any_op>(op) ? std::max(value, x(p)) : std::min(value, x(p));
    });
    return made;
  }
  /// The row that an index at the beginning of a position names, and the position in it.
  static integers row_of(array& indices, const integers& p) {
    const auto end = p.begin() + std::ssize(indices.sizes);
    integers row{static_cast<std::int64_t>(indices(integers(p.begin(), end)))};
    row.insert(row.end(), end, p.end());
    return row;
  }
  static std::int64_t row_length(const array& rows, const array& indices) {
    return elements(rows.sizes) / std::max<std::int64_t>(1, elements(indices.sizes));
  }
  array summed_rows(const node& n, const integers& sizes) {
    array made = array_of(sizes, [](auto&) { return 0; });
    const std::int64_t length = row_length(in(n, 0), in(n, 1));
    std::int64_t next = 0;
    for_each_position(in(n, 0).sizes, [&](const integers& p) {
      const std::int64_t row = row_of(in(n, 1), p)[0];
      if (row >= 0) made.numbers[at(row * length + next % length)] += in(n, 0).numbers[at(next)];
      ++next;
    });
    return made;
  }
  array written(const node& n, array variable) {
    array& x = in(n, 1);
    const bool rows = is_operator<passes::write_rows_op>(*n.op);
    const bool adds = rows ? p_.g.attribute(n, 0) != 0 : !is_operator<assign_op>(*n.op);
    const double sign = rows ? (adds ? -1 : 1) : is_operator<assign_sub_op>(*n.op) ? -1 : 1;
    std::int64_t next = 0;
    for_each_position(x.sizes, [&](const integers& p) {
      const std::int64_t k = next++;
      if (rows && static_cast<double>(k / row_length(x, in(n, 2))) != in(n, 3).numbers[at(k / row_length(x, in(n, 2)))]) return;
      double& value = variable(rows ? row_of(in(n, 2), p) : p);
      value = (adds ? value : 0) + sign * x.numbers[at(k)];
    });
    return variable;
  }
  /// An element that is one of an operand, or computed of an operand's rows.
  double moved(const node& n, const integers& attributes, const integers& p) {
    const op_info& op = *n.op;
    array& x = in(n, 0);
    integers from = p;
    if (is_operator<broadcast_to_op>(op)) return x(p);
    if (is_operator<gather_op>(op)) return x(row_of(in(n, 1), p));
    if (is_operator<transpose_op>(op) || is_operator<slice_op>(op) || is_operator<pad_op>(op)) {
      bool inside = true;
      for (std::size_t a = 0; a < p.size(); ++a) {
        if (is_operator<transpose_op>(op)) from[at(attributes[a]) + (attributes[a] < 0 ? p.size() : 0)] = p[a];
        else from[a] += is_operator<slice_op>(op) ? attributes[a] : -attributes[a];
        if (is_operator<pad_op>(op)) inside = inside && from[a] >= 0 && from[a] < x.sizes[a];
      }
      return inside ? x(from) : 0;
    }
    if (is_operator<concat_op>(op)) {
      std::int64_t& along = from[at(attributes[0])];
      int k = 0;
      for (; along >= in(n, k).sizes[at(attributes[0])]; ++k) along -= in(n, k).sizes[at(attributes[0])];
      return in(n, k)(from);
    }
    if (is_operator<matmul_op>(op)) {
      double sum = 0;
      for (std::int64_t k = 0; k < x.sizes[attributes[0] != 0 ? 0 : 1]; ++k) {
        const double a = attributes[0] != 0 ? x({k, p[0]}) : x({p[0], k});
        sum += a * (attributes[1] != 0 ? in(n, 1)({p[1], k}) : in(n, 1)({k, p[1]}));
      }
      return sum;
    }
    if (is_operator<argmax_op>(op)) {  // along the last axis
      from.push_back(0);
      integers best = from;
      for (; from.back() < x.sizes.back(); ++from.back())
        if (x(from) > x(best)) best = from;
      return static_cast<double>(best.back());
    }
    if (is_operator<passes::first_rows_op>(op)) {
      const double index = x(p);
      if (index >= 0 && attributes[1] != 0) {
        std::int64_t position = 0;
        for (std::size_t a = 0; a < p.size(); ++a) position = position * x.sizes[a] + p[a];
        return static_cast<double>(position);
      }
      return index < 0 ? -1 : static_cast<double>(std::find(x.numbers.begin(), x.numbers.end(), index) - x.numbers.begin());
    }
    throw std::logic_error("this evaluation has no rule for " + std::string(op.type));
  }

  const random_program& p_;
  const named_sizes named_;
};

using cpu::detail::with_element;

/// The elements, and a byte behind them that nothing may write.
std::vector<std::byte> bytes_of(const array& x, dtype type) {
  std::vector<std::byte> bytes(x.numbers.size() * at(size_of(type)) + 1, std::byte{0x5a});
  with_element(type, [&](auto element) {
    for (std::size_t k = 0; k < x.numbers.size(); ++k) {
      element = static_cast<decltype(element)>(x.numbers[k]);
      std::memcpy(bytes.data() + k * sizeof element, &element, sizeof element);
    }
  });
  return bytes;
}
/// Where a node's bytes differ, as text. Zeros may differ in sign.
std::string difference(int node, const std::vector<std::byte>& bytes, const array& expected, dtype type) {
  std::string text;
  with_element(type, [&](auto element) {
    if (bytes.size() != expected.numbers.size() * sizeof element + 1 || bytes.back() != std::byte{0x5a}) text = "bytes behind the elements";
    for (std::size_t k = 0; text.empty() && k < expected.numbers.size(); ++k) {
      std::memcpy(&element, bytes.data() + k * sizeof element, sizeof element);
      const auto value = static_cast<double>(element);
      if (!(value == expected.numbers[k]))
        text = std::to_string(value) + ", not " + std::to_string(expected.numbers[k]) + ", at " + std::to_string(k);
    }
  });
  return text.empty() ? text : "%" + std::to_string(node) + ": " + text + "; ";
}

/// What a run gets wrong, as text. Errors: inexact.
std::string wrong(const random_program& p, leat_test::interpreted& code, const named_sizes& named, unsigned seed) {
  std::mt19937 random(seed);
  std::map<int, array> leaves;
  std::map<int, std::vector<std::byte>> memory;
  for (const int i : p.leaves) {
    const tensor_info& t = p.g.at(i).result;
    const bool is_index = i == p.row_indices[0] || i == p.row_indices[1];
    const int least = i == p.row_indices[0] || t.type == dtype::uint8 ? 0 : is_index ? -1 : -2;
    leaves[i] = array_of(named.of(listed(t.extent)),
                         [&](auto&) { return least + static_cast<int>(random() % (is_index ? 2U - static_cast<unsigned>(least) : 5U)); });
    memory[i] = bytes_of(leaves[i], t.type);
    code.bind(p.g.at(i).id, memory[i].data());
  }
  evaluation expected(p, named, leaves);
  code.set_size(n_dimension, named.n);
  code.set_size(m_dimension, named.m);
  code.run();
  std::string text;
  for (std::size_t k = 0; k < p.targets.size(); ++k) {
    const int t = p.targets[k];
    if (p.g.at(t).op->kind != op_kind::group)
      text += difference(t, code.bytes(static_cast<int>(k)), expected.results[at(t)], p.g.at(t).result.type);
  }
  for (const int v : p.variables) text += difference(v, memory[v], expected.state.at(v), p.g.at(v).result.type);
  return text;
}

}  // namespace

TEST_CASE("random programs give what their nodes give one after the other") {
  constexpr unsigned programs = 3000;
  const char* const asked = std::getenv("LEAT_TEST_SEED");
  const unsigned first = asked != nullptr ? static_cast<unsigned>(std::stoul(asked)) : 1;
  unsigned runs = 0;
  for (unsigned seed = first; seed < first + programs; ++seed) {
    CAPTURE(seed);
    const random_program p(seed);
    INFO(p.text());
    std::mt19937 random(seed);
    for (const bool unrolled : {false, true}) {
      CAPTURE(unrolled);
      std::unique_ptr<leat_test::interpreted> code;
      try {
        code = std::make_unique<leat_test::interpreted>(p.g, p.targets, unrolled);
      } catch (const invalid_argument& e) {
        const std::string refusal = e.what();
        REQUIRE_MESSAGE(refusal.starts_with("a slice that begins inside two dimensions"), refusal);
        continue;
      }
      for (unsigned run = 0; run < 2; ++run) {
        const named_sizes named{static_cast<std::int64_t>(random() % (longest + 1)), static_cast<std::int64_t>(random() % (longest + 1))};
        CAPTURE(named.n);
        CAPTURE(named.m);
        try {
          const std::string found = wrong(p, *code, named, seed + run);
          REQUIRE(found == "");
          ++runs;
        } catch (const inexact&) {
        }
      }
    }
  }
  CHECK(runs > 3 * programs);
}
