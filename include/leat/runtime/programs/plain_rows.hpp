#pragma once
// Translates a node of a graph at run time to rows of the plain table, if its operator has a definition or can be expressed by
// operators that have: slices as views, and what `canonical` rewrites in the same way.

#include <leat/core/short_list.hpp>
#include <leat/named/canonical/canonical_gradients.hpp>
#include <leat/named/definitions/defined_array.hpp>
#include <leat/named/graph/named.hpp>
#include <leat/ops/add_n.hpp>
#include <leat/ops/known.hpp>
#include <leat/runtime/kernels/constants.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/kernels_shape.hpp>
#include <leat/runtime/kernels/node_program.hpp>

namespace leat::runtime {

/// A value while a table is made: a row, known elements, or a variable.
struct plain_value {
  tensor_info info;
  int row = -1;  // of a variable: the last write, -1 for its initial value
  tensor_value known;
  variable_slot* slot = nullptr;
  kernel_node* constant = nullptr;  // whose one element, `number`, has not been asked for as an array
  double number = 0;

  bool is_known() const { return static_cast<bool>(known) || constant != nullptr; }
  /// Its elements if they are known, else an empty value.
  const tensor_value& elements() {
    if (constant != nullptr) known = constant_of(*std::exchange(constant, nullptr));
    return known;
  }
};

/// Whether `plain_rows` may express an operator by rows of other operators that follow from shapes.
inline bool is_shaped(std::string_view type) {
  constexpr std::string_view known[]{  // sorted
      "ConcatV2", "ExpandDims", "Fill", "GatherV2", "OnesLike", "Pack", "Reshape", "Split", "SplitV", "Squeeze", "StridedSlice",
      "StridedSliceGrad", "Tile", "Unpack", "ZerosLike"};
  static_assert(std::is_sorted(std::begin(known), std::end(known)));
  return std::binary_search(std::begin(known), std::end(known), type);
}

/// What `plain_rows` knows of an operator by its type.
struct row_facts {
  bool is_shaped = false;
  bool divides = false;                        // of integers it has a kernel, which refuses a divisor of zero
  const canonical_rewrite* rewrite = nullptr;  // null for what writes, too
  bool has_numbers = false;                    // numeric attributes, or others that are not as its definition takes them

  row_facts() = default;
  explicit row_facts(const op_info& op) : is_shaped(runtime::is_shaped(op.type)), has_numbers(leat::has_numbers(op.form)) {
    const std::string_view t = op.type;
    divides = t == "FloorDiv" || t == "TruncateDiv" || t == "FloorMod" || t == "TruncateMod";
    rewrite = leat::detail::find_rewrite(t);
    if (rewrite != nullptr && rewrite->writes) rewrite = nullptr;
  }
  /// Whether there may be rows for it; `first` is the dtype of its first input.
  bool may_have_rows(const op_info& op, dtype first) const {
    if (divides && is_integer(first)) return false;
    return op.infer != nullptr || is_shaped || rewrite != nullptr;
  }
};

class plain_rows {
 public:
  using results = leat::detail::short_list<output, 2>;

  /// `in` are the node's inputs; `row_of` gives the row of one.
  plain_rows(graph& table, const kernel_node& node, const op_info& op, const row_facts& facts, std::span<plain_value* const> in,
             const std::function<int(plain_value&)>& row_of)
      : table_(table), node_(node), op_(op), facts_(facts), in_(in), row_of_(row_of) {}

  /// The results as rows; empty if the operator cannot be expressed.
  results make() {
    if (facts_.is_shaped)
      if (auto made = shaped(op_.type); !made.empty()) return made;
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

  // By the operator's own definition.
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
    for (int port = 1; port < node_.record->results; ++port) {  // of cross entropies
      const canonical_rewrite* const rewrite = leat::detail::find_rewrite(op_.type, port);
      const results further = rewrite != nullptr && !rewrite->writes ? rewritten(*rewrite) : results{};
      if (further.empty()) return {};
      made.push_back(further[0]);
    }
    return made;
  }

  results shaped(std::string_view t) {
    if (t == "Fill") {
      if (!known(0) || extent(1).rank != 0) return {};
      return {spread(in(1), shape_from(integers(known(0))))};
    }
    if (t == "ZerosLike" || t == "OnesLike") return {constant(table_, in_[0]->info.type, extent(0), t == "OnesLike" ? 1 : 0)};
    if (t == "Reshape" || t == "Squeeze" || t == "ExpandDims" || t == "Tile") {
      // The kernel knows the shape; elements are not needed.
      if (t != "Squeeze" && !known(1)) return {};
      if (t == "Tile") return tiled();
      std::vector<token> given(in_.size()), made(1);
      given[0].value = tensor_value::borrow(in_[0]->info.type, extent(0), nullptr);
      if (given.size() > 1) given[1].value = known(1);
      session_state none;
      step_state step(none);
      auto& n = const_cast<kernel_node&>(node_);
      kernel_context c(n, step, given, made);
      (*find_kernel(t))(c);
      return {reshaped(in(0), made[0].value.extent())};
    }
    if (t == "Pack") {
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
    if (t == "ConcatV2") {
      if (!known(count() - 1)) return {};
      std::vector<int> rows;
      for (int k = 0; k + 1 < count(); ++k) rows.push_back(in(k).index());
      return joined(rows, axis_of(integer(known(count() - 1)), extent(0).rank));
    }
    if (t == "Unpack" || t == "Split" || t == "SplitV") return parts(t);
    if (t == "StridedSlice") return slice();
    if (t == "StridedSliceGrad") return slice_gradient();
    if (t == "GatherV2") {
      if (!known(2) || integer(known(2)) != 0 || node_.integer("batch_dims") != 0) return {};
      return {make_node<gather_op>({}, in(0), in(1))};
    }
    return {};
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
    const auto times = integers(known(1));
    if (times.size() != static_cast<std::size_t>(extent(0).rank) || std::any_of(times.begin(), times.end(), [](auto n) { return n < 0; }))
      return {};
    const output made = leat::detail::repeat_plain(in(0), times);
    return static_cast<bool>(made) ? results{made} : results{};
  }
  results parts(std::string_view t) {
    const int from = t == "Split" ? 1 : 0;
    const shape s = extent(from);
    const int pieces = node_.record->results;
    int axis = 0;
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(pieces), 1);
    if (t == "Unpack") {
      axis = axis_of(node_.integer("axis"), s.rank);
      if (s[axis] != pieces) return {};
    } else if (t == "Split") {
      if (!known(0)) return {};
      axis = axis_of(integer(known(0)), s.rank);
      if (s[axis] % pieces != 0) return {};
      sizes.assign(sizes.size(), s[axis] / pieces);
    } else {
      if (!known(1) || !known(2)) return {};
      axis = axis_of(integer(known(2)), s.rank);
      sizes = integers(known(1));
      std::int64_t sum = 0;
      for (auto n : sizes) sum += n < 0 ? s[axis] + 1 : n;
      if (sum != s[axis] || static_cast<int>(sizes.size()) != pieces) return {};
    }
    results made;
    std::vector<std::int64_t> begin(static_cast<std::size_t>(s.rank), 0), size(s.dim, s.dim + s.rank);
    for (auto n : sizes) {
      size[static_cast<std::size_t>(axis)] = n;
      output piece = part(in(from), begin, size);
      begin[static_cast<std::size_t>(axis)] += n;
      if (t == "Unpack") {
        shape rest;
        for (int i = 0; i < s.rank; ++i)
          if (i != axis) rest.push(s[i]);
        piece = reshaped(piece, rest);
      }
      made.push_back(piece);
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

  // As `canonical` rewrites it.
  results rewritten(const canonical_rewrite& rewrite) {
    std::vector<output> operands;
    for (int k : rewrite.operands) operands.push_back(in(k));
    const output made = rewrite.make(table_, operands, graph_operation(*node_.owner, node_.index));
    return static_cast<bool>(made) ? results{made} : results{};
  }

  graph& table_;
  const kernel_node& node_;
  const op_info& op_;
  const row_facts& facts_;
  std::span<plain_value* const> in_;
  const std::function<int(plain_value&)>& row_of_;
};

}  // namespace leat::runtime
