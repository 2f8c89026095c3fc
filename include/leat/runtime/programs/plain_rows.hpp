#pragma once
// Translates a node of a graph at run time to rows of the plain table, if its operator has a definition or can be expressed by operators
// that have: slices as views, others by the rewrites of canonical_rewrite.hpp.

#include <leat/core/short_list.hpp>
#include <leat/named/canonical/gradients.hpp>
#include <leat/named/definitions/array.hpp>
#include <leat/named/graph/named.hpp>
#include <leat/ops/add_n.hpp>
#include <leat/ops/known.hpp>
#include <leat/runtime/kernels/constants.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/node_program.hpp>
#include <leat/runtime/kernels/shape.hpp>

namespace leat::runtime {

/// A value while a table is built: a row, known elements, or a variable.
struct plain_value {
  tensor_info info;
  int row = -1;  // of a variable: its last write, or -1 for the initial value
  tensor_value known;
  variable_slot* slot = nullptr;
  kernel_node* constant = nullptr;  // has one element, `number`, which is not an array yet
  double number = 0;

  bool is_known() const { return static_cast<bool>(known) || constant != nullptr; }
  /// The elements if they are known, else an empty value.
  const tensor_value& elements() {
    if (constant != nullptr) known = constant_of(*std::exchange(constant, nullptr));
    return known;
  }
};

class plain_rows;

/// Properties of an operator that `plain_rows` uses; determined once per operator.
struct row_facts {
  leat::detail::short_list<output, 2> (plain_rows::*shaped)() = nullptr;  // makes the rows from shapes
  const canonical_rewrite* rewrite = nullptr;                             // null for writes, too
  bool has_numbers = false;  // has numeric attributes, or others that its definition takes in another form

  row_facts() = default;
  explicit row_facts(const op_info& op);
  /// Whether the operator may have rows; `first` is the dtype of its first input.
  bool may_have_rows(const op_info& op, dtype first) const {
    if (op.what.divides && is_integer(first)) return false;
    return op.infer != nullptr || shaped != nullptr || rewrite != nullptr;
  }
};

class plain_rows {
 public:
  using results = leat::detail::short_list<output, 2>;

  /// `in` are the node's inputs; `row_of` returns the row of one of them.
  plain_rows(graph& table, const kernel_node& node, const op_info& op, const row_facts& facts, std::span<plain_value* const> in,
             const std::function<int(plain_value&)>& row_of)
      : table_(table), node_(node), op_(op), facts_(facts), in_(in), row_of_(row_of) {}

  /// The results as rows; empty if the operator cannot be expressed.
  results make() {
    if (facts_.shaped != nullptr)
      if (auto made = (this->*facts_.shaped)(); !made.empty()) return made;
    if (facts_.rewrite != nullptr)
      if (auto made = rewritten(*facts_.rewrite); !made.empty()) return made;
    if (op_.infer == nullptr || !facts_.may_have_rows(op_, count() > 0 ? in_[0]->info.type : dtype::invalid)) return {};
    return defined();
  }

 private:
  output in(int k) { return {table_, row_of_(*in_[static_cast<std::size_t>(k)])}; }
  const shape& extent(int k) const { return in_[static_cast<std::size_t>(k)]->info.extent; }
  const tensor_value& known(int k) const { return in_[static_cast<std::size_t>(k)]->elements(); }
  int count() const { return static_cast<int>(in_.size()); }
  template <class Op, class... Inputs>
  output node(const std::vector<std::int64_t>& numbers, const Inputs&... inputs) {
    return make_node<Op>(numbers, inputs...);
  }
  output reshaped(const output& x, const shape& s) { return x.extent() == s ? x : node<reshape_op>({s.dim, s.dim + s.rank}, x); }
  output spread(const output& x, const shape& s) { return x.extent() == s ? x : node<broadcast_to_op>({s.dim, s.dim + s.rank}, x); }
  output part(const output& x, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& size) {
    std::vector<std::int64_t> numbers(begin);
    numbers.insert(numbers.end(), size.begin(), size.end());
    return node<slice_op>(numbers, x);
  }

  // Makes rows by the operator's own definition.
  results defined() {
    const int operands = facts_.has_numbers ? count() - number_inputs_of(op_, *node_.record) : count();
    leat::detail::short_list<int, 4> rows;
    for (int k = 0; k < operands; ++k) rows.push_back(in(k).index());
    std::optional<std::vector<std::int64_t>> numbers(std::in_place);
    if (facts_.has_numbers) {
      std::vector<tensor_info> infos;
      for (int k = 0; k < operands; ++k) infos.push_back(in_[static_cast<std::size_t>(k)]->info);
      std::vector<tensor_proto> protos;
      for (int k = operands; k < count(); ++k) {
        if (!known(k)) return {};
        protos.push_back(known(k).proto());
      }
      number_values values;
      for (const auto& p : protos) values.push_back(&p);
      numbers = numbers_from(op_.form, node_.record->attributes, values, infos);
    }
    if (!numbers) return op_.kind == op_kind::reduction ? results{in(0)} : results{};
    results made{{table_, add_definition(table_, op_, rows, *numbers)}};
    for (int port = 1; port < node_.record->results; ++port) {
      if (op_.further == nullptr) return {};
      made.push_back(leat::detail::result_row(op_, table_, rows, *numbers, port));
    }
    return made;
  }

  results filled() {
    if (!known(0) || extent(1).rank != 0) return {};
    return {spread(in(1), shape_from(integers(known(0))))};
  }
  template <int Number>
  results like() {
    return {constant(table_, in_[0]->info.type, extent(0), Number)};
  }
  // Reshapes the input. The kernel computes the shape, without access to elements.
  results in_other_shape() {
    if (count() > 1 && !known(1)) return {};
    std::vector<token> given(in_.size()), made(1);
    given[0].value = tensor_value::borrow(in_[0]->info.type, extent(0), nullptr);
    if (given.size() > 1) given[1].value = known(1);
    session_state none;
    step_state step(none);
    auto& n = const_cast<kernel_node&>(node_);
    kernel_context c(n, step, given, made);
    (*find_kernel(op_.type))(c);
    return {reshaped(in(0), made[0].value.extent())};
  }
  results packed() {
    const int axis = axis_of(node_.integer("axis"), extent(0).rank + 1);
    shape one;
    for (int i = 0; i <= extent(0).rank; ++i) {
      if (i == axis) one.push(1);
      if (i < extent(0).rank) one.push(extent(0)[i]);
    }
    std::vector<int> rows;
    for (int k = 0; k < count(); ++k) {
      if (!(extent(k) == extent(0))) return {};
      rows.push_back(reshaped(in(k), one).index());
    }
    return joined(rows, axis);
  }
  results concatenated() {
    if (!known(count() - 1)) return {};
    std::vector<int> rows;
    for (int k = 0; k + 1 < count(); ++k) rows.push_back(in(k).index());
    return joined(rows, axis_of(integer(known(count() - 1)), extent(0).rank));
  }
  results gathered() {
    if (!known(2) || integer(known(2)) != 0 || node_.integer("batch_dims") != 0) return {};
    return {make_node<gather_op>({}, in(0), in(1))};
  }
  results joined(std::vector<int> rows, int axis) {
    if (rows.empty()) return {};
    const std::int64_t numbers[]{axis};
    while (rows.size() > 1) {
      std::vector<int> parts;
      for (auto left = std::span<const int>(rows); !left.empty();) {
        const auto these = left.first(std::min(left.size(), graph::max_operands));
        parts.push_back(these.size() == 1 ? these[0] : table_.add(info_of<concat_op>, these, numbers));
        left = left.subspan(these.size());
      }
      rows = std::move(parts);
    }
    return {{table_, rows[0]}};
  }
  results tiled() {
    if (!known(1)) return {};
    const auto times = integers(known(1));
    if (times.size() != static_cast<std::size_t>(extent(0).rank) || std::any_of(times.begin(), times.end(), [](auto n) { return n < 0; }))
      return {};
    const output made = leat::detail::repeat_plain(in(0), times);
    return static_cast<bool>(made) ? results{made} : results{};
  }
  int result_count() const { return node_.record->results; }
  results unpacked() {
    const shape s = extent(0);
    const int axis = axis_of(node_.integer("axis"), s.rank);
    if (s[axis] != result_count()) return {};
    shape rest;
    for (int i = 0; i < s.rank; ++i)
      if (i != axis) rest.push(s[i]);
    return parts(0, axis, std::vector<std::int64_t>(static_cast<std::size_t>(result_count()), 1), &rest);
  }
  results split() {
    if (!known(0)) return {};
    const int axis = axis_of(integer(known(0)), extent(1).rank);
    const std::int64_t size = extent(1)[axis];
    if (size % result_count() != 0) return {};
    return parts(1, axis, std::vector<std::int64_t>(static_cast<std::size_t>(result_count()), size / result_count()));
  }
  results split_by_sizes() {
    if (!known(1) || !known(2)) return {};
    const int axis = axis_of(integer(known(2)), extent(0).rank);
    std::vector<std::int64_t> sizes = integers(known(1));
    const std::int64_t whole = extent(0)[axis];
    std::int64_t sum = 0;
    for (auto n : sizes) sum += n < 0 ? whole + 1 : n;
    if (sum != whole || static_cast<int>(sizes.size()) != result_count()) return {};
    return parts(0, axis, sizes);
  }
  // Consecutive slices of an input along an axis, reshaped to `as` if it is given.
  results parts(int from, int axis, const std::vector<std::int64_t>& sizes, const shape* as = nullptr) {
    const shape s = extent(from);
    results made;
    std::vector<std::int64_t> begin(static_cast<std::size_t>(s.rank), 0), size(s.dim, s.dim + s.rank);
    for (auto n : sizes) {
      size[static_cast<std::size_t>(axis)] = n;
      const output piece = part(in(from), begin, size);
      made.push_back(as != nullptr ? reshaped(piece, *as) : piece);
      begin[static_cast<std::size_t>(axis)] += n;
    }
    return made;
  }
  std::optional<slice_plan> plan(const shape& s, int first) const {
    if (!known(first) || !known(first + 1) || !known(first + 2)) return std::nullopt;
    const slice_masks masks{node_.integer("begin_mask"), node_.integer("end_mask"), node_.integer("ellipsis_mask"),
                            node_.integer("new_axis_mask"), node_.integer("shrink_axis_mask")};
    auto p = plan_slice(s, integers(known(first)), integers(known(first + 1)), integers(known(first + 2)), masks);
    if (!p.problem.empty()) return std::nullopt;
    for (const auto& w : p.walks)
      if (w.stride != 1) return std::nullopt;
    return p;
  }
  results slice() {
    const auto p = plan(extent(0), 1);
    if (!p) return {};
    std::vector<std::int64_t> begin, size;
    for (const auto& w : p->walks) {
      begin.push_back(w.begin);
      size.push_back(w.count);
    }
    return {reshaped(part(in(0), begin, size), p->result)};
  }
  results slice_gradient() {
    if (!known(0)) return {};
    const shape s = shape_from(integers(known(0)));
    const auto p = plan(s, 1);
    if (!p || !(extent(4) == p->result)) return {};
    shape whole;
    std::vector<std::int64_t> numbers;
    for (const auto& w : p->walks) {
      whole.push(w.count);
      numbers.push_back(w.begin);
    }
    for (std::size_t i = 0; i < p->walks.size(); ++i) numbers.push_back(s[static_cast<int>(i)] - p->walks[i].begin - p->walks[i].count);
    return {node<pad_op>(numbers, reshaped(in(4), whole))};
  }

  // Makes rows by the operator's rewrite.
  results rewritten(const canonical_rewrite& rewrite) {
    std::vector<output> operands;
    for (int k : rewrite.operands) operands.push_back(in(k));
    const output made = rewrite.make(table_, operands, graph_operation(*node_.owner, node_.index));
    return static_cast<bool>(made) ? results{made} : results{};
  }

  friend struct row_facts;
  // The operators that are expressed by rows of other operators according to shapes, sorted by type.
  static decltype(row_facts::shaped) find_shaped(std::string_view type) {
    using self = plain_rows;
    constexpr std::pair<std::string_view, decltype(row_facts::shaped)> known[]{{"ConcatV2", &self::concatenated},
                                                                               {"ExpandDims", &self::in_other_shape},
                                                                               {"Fill", &self::filled},
                                                                               {"GatherV2", &self::gathered},
                                                                               {"OnesLike", &self::like<1>},
                                                                               {"Pack", &self::packed},
                                                                               {"Reshape", &self::in_other_shape},
                                                                               {"Split", &self::split},
                                                                               {"SplitV", &self::split_by_sizes},
                                                                               {"Squeeze", &self::in_other_shape},
                                                                               {"StridedSlice", &self::slice},
                                                                               {"StridedSliceGrad", &self::slice_gradient},
                                                                               {"Tile", &self::tiled},
                                                                               {"Unpack", &self::unpacked},
                                                                               {"ZerosLike", &self::like<0>}};
    const auto type_of = [](const auto& row) { return row.first; };
    static_assert(std::ranges::is_sorted(known, {}, type_of));
    const auto* const at = std::ranges::lower_bound(known, type, {}, type_of);
    return at != std::end(known) && at->first == type ? at->second : nullptr;
  }

  graph& table_;
  const kernel_node& node_;
  const op_info& op_;
  const row_facts& facts_;
  std::span<plain_value* const> in_;
  const std::function<int(plain_value&)>& row_of_;
};

inline row_facts::row_facts(const op_info& op)
    : shaped(plain_rows::find_shaped(current_spelling(op.type))),
      rewrite(leat::detail::find_rewrite(op.type)),
      has_numbers(leat::has_numbers(op.form)) {
  if (rewrite != nullptr && rewrite->writes) rewrite = nullptr;
}

}  // namespace leat::runtime
