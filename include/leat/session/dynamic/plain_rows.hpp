#pragma once
// A node of a graph at run time as rows of the plain table, where its operator has a definition or can be written in those that
// have: slices and tiles as views, gradients of activations as arithmetic, optimizers' updates as assignments.

#include <leat/graph/named.hpp>
#include <leat/ops/defined_array.hpp>
#include <leat/ops/known.hpp>
#include <leat/session/dynamic/kernel.hpp>
#include <leat/session/dynamic/kernels_shape.hpp>
#include <leat/session/dynamic/node_program.hpp>

namespace leat::dynamic {

/// What is known of a value while a table is made: a row, or elements that are known already, or a variable.
struct plain_value {
  tensor_info info;
  int row = -1;  // of a variable: what was written last, -1 for its first value
  tensor_value known;
  variable_slot* slot = nullptr;
};

/// Whether `plain_rows` may know rows for an operator, as far as its type tells; `first` is the dtype of its first input.
inline bool may_have_rows(const op_info& op, dtype first) {
  constexpr std::string_view known[]{  // sorted
      "Add", "BatchMatMul", "BatchMatMulV2", "BiasAdd", "BiasAddGrad", "BiasAddV1", "ConcatV2", "Div", "DivNoNan", "EluGrad", "ExpandDims",
      "Fill", "GatherV2", "InvGrad", "OnesLike", "Pack", "ReciprocalGrad", "Relu6Grad", "ReluGrad", "Reshape", "RsqrtGrad", "Select",
      "SigmoidGrad", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", "Split", "SplitV", "SqrtGrad", "Squeeze",
      "StridedSlice", "StridedSliceGrad", "TanhGrad", "Tile", "Unpack", "ZerosLike"};
  static_assert(std::is_sorted(std::begin(known), std::end(known)));
  const std::string_view t = op.type;
  if ((t == "FloorDiv" || t == "TruncateDiv" || t == "FloorMod" || t == "TruncateMod") && is_integer(first)) return false;
  return op.infer != nullptr || std::binary_search(std::begin(known), std::end(known), t);
}

class plain_rows {
 public:
  plain_rows(graph& table, const kernel_node& node, const op_info& op, std::vector<plain_value>& in, std::function<int(plain_value&)> row_of)
      : table_(table), node_(node), op_(op), in_(in), row_of_(std::move(row_of)) {}

  /// The results as rows; none where the operator cannot be said so.
  std::vector<output> make() {
    const std::string_view t = op_.type;
    if (auto made = shaped(t); !made.empty()) return made;
    if (auto made = network(t); !made.empty()) return made;
    if (op_.infer == nullptr || !may_have_rows(op_, count() > 0 ? in_[0].info.type : dtype::invalid)) return {};
    return defined();
  }

 private:
  output in(int k) { return {table_, row_of_(in_[static_cast<std::size_t>(k)])}; }
  const shape& extent(int k) const { return in_[static_cast<std::size_t>(k)].info.extent; }
  const tensor_value& known(int k) const { return in_[static_cast<std::size_t>(k)].known; }
  int count() const { return static_cast<int>(in_.size()); }
  template <class Op, class... Inputs>
  output node(const std::vector<std::int64_t>& numbers, const Inputs&... inputs) {
    return make_node<Op>(numbers, inputs...);
  }
  output number(const output& like, double v) { return constant_like(like, v); }
  output reshaped(const output& x, const shape& s) {
    return x.extent() == s ? x : node<reshape_op>({s.dim, s.dim + s.rank}, x);
  }
  output spread(const output& x, const shape& s) { return x.extent() == s ? x : node<broadcast_to_op>({s.dim, s.dim + s.rank}, x); }
  output part(const output& x, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& size) {
    std::vector<std::int64_t> numbers(begin);
    numbers.insert(numbers.end(), size.begin(), size.end());
    return node<slice_op>(numbers, x);
  }

  // By the operator's own definition.
  std::vector<output> defined() {
    const int held = number_inputs_of(op_, *node_.record, count());
    const int operands = count() - held;
    std::vector<tensor_info> infos;
    std::vector<int> rows;
    for (int k = 0; k < operands; ++k) {
      infos.push_back(in_[static_cast<std::size_t>(k)].info);
      rows.push_back(in(k).index());
    }
    std::vector<tensor_proto> protos;
    for (int k = operands; k < count(); ++k) {
      if (!known(k)) return {};
      protos.push_back(known(k).proto());
    }
    number_values values;
    for (const auto& p : protos) values.push_back(&p);
    const auto numbers = numbers_from(form_of(op_, operands), node_.record->attributes, values, infos);
    if (!numbers) return op_.kind == op_kind::reduction ? std::vector<output>{in(0)} : std::vector<output>{};
    std::vector<output> made{{table_, table_.add(op_, rows, *numbers)}};
    if (node_.record->results > 1) {  // cross entropies: the gradient of the logits beside the loss
      const output logits = in(0);
      const output p = softmax(logits);
      if (op_.type == "SoftmaxCrossEntropyWithLogits") made.push_back(p - in(1));
      else if (op_.type == "SparseSoftmaxCrossEntropyWithLogits") made.push_back(p - rule::one_hot_like(in(1), logits));
      else return {};
    }
    return made;
  }

  std::vector<output> shaped(std::string_view t) {
    if (t == "Fill") {
      if (!known(0)) return {};
      return {spread(in(1), shape_from(integers(known(0))))};
    }
    if (t == "ZerosLike" || t == "OnesLike") return {constant(table_, in_[0].info.type, extent(0), t == "OnesLike" ? 1 : 0)};
    if (t == "Reshape" || t == "Squeeze" || t == "ExpandDims" || t == "Tile") {
      // the kernel says which shape; elements are not looked at
      if (t != "Squeeze" && !known(1)) return {};
      if (t == "Tile") return tiled();
      std::vector<token> given(in_.size()), made(1);
      given[0].value = tensor_value::borrow(in_[0].info.type, extent(0), nullptr);
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
  std::vector<output> joined(const std::vector<int>& rows, int axis) {
    if (rows.size() == 1) return {{table_, rows[0]}};
    if (rows.size() > 60) return {};
    const std::int64_t numbers[]{axis};
    return {{table_, table_.add(info_of<concat_op>, rows, numbers)}};
  }
  std::vector<output> tiled() {
    const auto times = integers(known(1));
    const shape& s = extent(0);
    if (times.size() != static_cast<std::size_t>(s.rank)) return {};
    shape apart, spread_out, result;
    for (int i = 0; i < s.rank; ++i) {
      const std::int64_t n = times[static_cast<std::size_t>(i)];
      if (n < 0) return {};
      result.push(n * s[i]);
      if (n != 1 && s[i] != 1) {
        if (spread_out.rank + 2 + (s.rank - i - 1) > max_rank) return {};
        apart.push(1);
        spread_out.push(n);
        apart.push(s[i]);
        spread_out.push(s[i]);
      } else {
        apart.push(s[i]);
        spread_out.push(n * s[i]);
      }
    }
    return {reshaped(spread(reshaped(in(0), apart), spread_out), result)};
  }
  std::vector<output> parts(std::string_view t) {
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
    std::vector<output> made;
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
    const slice_masks masks{node_.integer("begin_mask"), node_.integer("end_mask"), node_.integer("ellipsis_mask"), node_.integer("new_axis_mask"),
                            node_.integer("shrink_axis_mask")};
    auto p = plan_slice(s, integers(known(first)), integers(known(first + 1)), integers(known(first + 2)), masks);
    if (!p.problem.empty()) return std::nullopt;
    for (const auto& w : p.walks)
      if (w.stride != 1) return std::nullopt;
    return p;
  }
  std::vector<output> slice() {
    const auto p = plan(extent(0), 1);
    if (!p) return {};
    std::vector<std::int64_t> begin, size;
    for (const auto& w : p->walks) {
      begin.push_back(w.begin);
      size.push_back(w.count);
    }
    return {reshaped(part(in(0), begin, size), p->result)};
  }
  std::vector<output> slice_gradient() {
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

  std::vector<output> network(std::string_view t) {
    if (t == "BiasAdd" || t == "BiasAddV1") {
      if (node_.text("data_format").starts_with("NC") || extent(1).rank != 1) return {};
      return {in(0) + in(1)};
    }
    if (t == "BiasAddGrad") {
      if (node_.text("data_format").starts_with("NC") || extent(0).rank < 2) return {};
      std::vector<std::int64_t> numbers{0};
      for (int i = 0; i + 1 < extent(0).rank; ++i) numbers.push_back(i);
      return {node<sum_op>(numbers, in(0))};
    }
    if (t == "Add") return {in(0) + in(1)};
    if (t == "Select") {
      if (!(extent(0) == extent(1)) || !(extent(0) == extent(2))) return {};
      return {make_node<select_op>({}, in(0), in(1), in(2))};
    }
    if (count() != 2 || !(is_floating(in_[0].info.type))) return {};
    if (t == "BatchMatMulV2" || t == "BatchMatMul") {
      if (extent(0).rank != 2 || extent(1).rank != 2) return {};
      return {node<matmul_op>({node_.flag("adj_x") ? 1 : 0, node_.flag("adj_y") ? 1 : 0}, in(0), in(1))};
    }
    if (t == "Div") return {in(0) / in(1)};
    if (t == "DivNoNan") {
      const output zero = number(in(1), 0);
      return {select(equal(in(1), zero), zero, in(0) / in(1))};
    }
    if (!(extent(0) == extent(1)) || !t.ends_with("Grad")) return {};
    const output a = in(0), b = in(1);
    const output zero = number(a, 0), one = number(a, 1);
    if (t == "ReluGrad") return {select(greater(b, zero), a, zero)};
    if (t == "Relu6Grad") return {select(logical_and(greater(b, zero), less(b, number(a, 6))), a, zero)};
    if (t == "EluGrad") return {select(less(b, zero), a * (b + one), a)};
    if (t == "SigmoidGrad") return {b * a * (one - a)};
    if (t == "TanhGrad") return {b * (one - a * a)};
    if (t == "SqrtGrad") return {node<sqrt_grad_op>({}, a, b)};
    if (t == "RsqrtGrad") return {node<rsqrt_grad_op>({}, a, b)};
    if (t == "ReciprocalGrad" || t == "InvGrad") return {node<reciprocal_grad_op>({}, a, b)};
    return {};
  }

  graph& table_;
  const kernel_node& node_;
  const op_info& op_;
  std::vector<plain_value>& in_;
  std::function<int(plain_value&)> row_of_;
};

/// What an optimizer's node writes: of each of its variables the new value, or what is taken from it.
struct plain_update {
  output value;
  bool subtract = false;
};
/// For the inputs of an optimizer's node (its variables as their values); none where it is not known here.
inline std::vector<plain_update> plain_updates(std::string_view type, const kernel_node& node, const std::vector<output>& in) {
  const auto at = [&](int k) { return in[static_cast<std::size_t>(k)]; };
  const auto rates = [&](std::initializer_list<int> scalars, std::initializer_list<int> arrays) {
    for (int k : scalars)
      if (at(k).extent().rank != 0) return false;
    for (int k : arrays)
      if (!(at(k).extent() == at(0).extent()) || at(k).type() != at(0).type()) return false;
    return is_floating(at(0).type());
  };
  if (type == "ApplyGradientDescent" && rates({1}, {2})) return {{at(1) * at(2), true}};
  if (type == "ApplyMomentum" && rates({2, 4}, {1, 3})) {
    const output accum = at(1) * at(4) + at(3);
    if (node.flag("use_nesterov")) return {{at(3) * at(2) + accum * at(4) * at(2), true}, {accum}};
    return {{accum * at(2), true}, {accum}};
  }
  if (type == "ApplyAdagrad" && rates({2}, {1, 3}) && node.flag("update_slots", true)) {
    const output accum = at(1) + at(3) * at(3);
    return {{at(3) * at(2) / sqrt(accum), true}, {accum}};
  }
  if (type == "ApplyAdam" && rates({3, 4, 5, 6, 7, 8}, {1, 2, 9})) {
    const output one = constant_like(at(0), 1);
    const output rate = at(5) * sqrt(one - at(4)) / (one - at(3));
    const output m = at(1) + (at(9) - at(1)) * (one - at(6));
    const output v = at(2) + (at(9) * at(9) - at(2)) * (one - at(7));
    const output moved = node.flag("use_nesterov") ? at(9) * (one - at(6)) + at(6) * m : m;
    return {{moved * rate / (sqrt(v) + at(8)), true}, {m}, {v}};
  }
  return {};
}

}  // namespace leat::dynamic
