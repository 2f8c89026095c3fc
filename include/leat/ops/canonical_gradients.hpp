#pragma once
// The operators that TensorFlow's gradients and training steps are written with, in those that the passes know: so a training
// step of a graph with names is compiled, and fused, like any other expression. Of those with sizes, where these are known.

#include <leat/graph/canonical_rewrite.hpp>
#include <leat/graph/known_value.hpp>
#include <leat/ops/defined.hpp>
#include <leat/ops/known.hpp>

namespace leat::detail {

// Repeated along each axis: by axes of 1 beside those that are repeated.
inline output repeat_plain(const output& x, const std::vector<std::int64_t>& times) {
  const shape from = x.extent();
  shape apart;
  shape wide;
  shape result;
  for (int i = 0; i < from.rank; ++i) {
    const std::int64_t n = times[static_cast<std::size_t>(i)];
    if (n == 1 || from[i] == 1) {
      apart.push(from[i]);
      wide.push(n == 1 ? from[i] : n);
    } else {
      if (is_named(from[i]) || wide.rank + 2 > max_rank) return {};
      apart.push(1);
      apart.push(from[i]);
      wide.push(n);
      wide.push(from[i]);
    }
    if (apart.rank > max_rank - 1 && i + 1 < from.rank) return {};
    result.push(n == 1 ? from[i] : from[i] == 1 ? n : n * from[i]);
  }
  const auto as = [](const output& o, const shape& to) {
    return o.extent() == to ? o : make_node<reshape_op>({to.dim, static_cast<std::size_t>(to.rank)}, o);
  };
  return as(broadcast_to(as(x, apart), wide), result);
}

inline const bool gradient_operators_compile = [] {
  using list = std::span<const output>;
  const auto define = [](std::string_view type, std::vector<int> operands, auto make) {
    register_canonical(type, {std::move(operands), [make](graph&, list x, const graph_operation& node) { return output(make(x, node)); }});
  };
  const auto pair = [&](std::string_view type, auto make) {
    define(type, {0, 1}, [make](list x, const graph_operation&) { return make(x[0], x[1]); });
  };
  const auto zero = [](const output& like) { return constant_like(like, 0); };
  pair("ReluGrad", [=](const output& dy, const output& y) { return select(greater(y, zero(y)), dy, zero(dy)); });
  pair("Relu6Grad", [=](const output& dy, const output& y) {
    return select(logical_and(greater(y, zero(y)), less(y, constant_like(y, 6))), dy, zero(dy));
  });
  pair("EluGrad", [=](const output& dy, const output& y) { return select(less(y, zero(y)), dy * (y + 1), dy); });
  pair("SoftplusGrad", [](const output& dy, const output& x) { return dy * sigmoid(x); });
  pair("TanhGrad", [](const output& y, const output& dy) { return dy * (1 - square(y)); });
  pair("SigmoidGrad", [](const output& y, const output& dy) { return dy * y * (1 - y); });
  pair("SqrtGrad", [](const output& y, const output& dy) { return make_node<sqrt_grad_op>({}, y, dy); });
  pair("RsqrtGrad", [](const output& y, const output& dy) { return make_node<rsqrt_grad_op>({}, y, dy); });
  pair("ReciprocalGrad", [](const output& y, const output& dy) { return make_node<reciprocal_grad_op>({}, y, dy); });
  pair("DivNoNan", [=](const output& x, const output& y) {
    const output none = equal(y, zero(y));
    return select(none, zero(x), x / select(none, constant_like(y, 1), y));
  });
  define("ZerosLike", {0}, [=](list x, const graph_operation&) { return zero(x[0]); });
  define("OnesLike", {0}, [](list x, const graph_operation&) { return constant_like(x[0], 1); });
  define("Select", {0, 1, 2}, [](list x, const graph_operation&) {
    if (x[0].extent().rank != 1 || x[1].extent().rank < 2) return output(select(x[0], x[1], x[2]));
    shape rows = x[0].extent();  // a condition for each row
    while (rows.rank < x[1].extent().rank) rows.push(1);
    return output(select(make_node<reshape_op>({rows.dim, static_cast<std::size_t>(rows.rank)}, x[0]), x[1], x[2]));
  });
  define("Fill", {1}, [](list x, const graph_operation& node) {
    const shape to = node.result().extent();
    return to.is_static() ? output(broadcast_to(x[0], to)) : output{};
  });
  define("Tile", {0}, [](list x, const graph_operation& node) {
    const auto times = fully_known_numbers(node.inputs()[1]);
    if (!times || static_cast<int>(times->size()) != x[0].extent().rank) return output{};
    return repeat_plain(x[0], *times);
  });
  const auto data_last = [](const graph_operation& node) {
    const auto* format = node.attributes().find("data_format");
    const auto* text = format != nullptr ? format->get_if<std::string>() : nullptr;
    return text == nullptr || *text != "NCHW";
  };
  define("BiasAdd", {0, 1}, [=](list x, const graph_operation& node) { return data_last(node) ? output(x[0] + x[1]) : output{}; });
  define("BiasAddGrad", {0}, [=](list x, const graph_operation& node) {
    if (!data_last(node)) return output{};
    std::vector<std::int64_t> axes{0};  // not kept
    for (int i = 0; i + 1 < x[0].extent().rank; ++i) axes.push_back(i);
    return output(make_node<sum_op>(axes, x[0]));
  });
  // optimizers' steps: each is its last write, which comes after the others
  const auto step = [](std::string_view type, std::vector<int> operands, auto make) {
    register_canonical(type, {std::move(operands),
                              [make](graph& table, list x, const graph_operation& node) { return output(make(table, x, node)); }, true});
  };
  const auto write = [](graph& table, const op_info& op, const output& variable, const output& value, std::vector<int> after) {
    const int inputs[]{variable.index(), value.index()};
    return output(table, table.add(op, inputs, {}, after));
  };
  step("ApplyGradientDescent", {0, 1, 2}, [=](graph& t, list x, const graph_operation&) {
    return write(t, info_of<assign_sub_op>, x[0], x[1] * x[2], {});
  });
  step("ApplyMomentum", {0, 1, 2, 3, 4}, [=](graph& t, list x, const graph_operation& node) {
    const auto* flag = node.attributes().find("use_nesterov");
    const bool nesterov = flag != nullptr && flag->get_if<bool>() != nullptr && *flag->get_if<bool>();
    const output next = x[4] * x[1] + x[3];
    const output kept = write(t, info_of<assign_op>, x[1], next, {});
    const output change = nesterov ? output(x[3] * x[2] + next * (x[4] * x[2])) : output(x[2] * next);
    return write(t, info_of<assign_sub_op>, x[0], change, {kept.index()});
  });
  step("ApplyAdagrad", {0, 1, 2, 3}, [=](graph& t, list x, const graph_operation&) {
    const output next = x[1] + square(x[3]);
    const output kept = write(t, info_of<assign_op>, x[1], next, {});
    return write(t, info_of<assign_sub_op>, x[0], x[2] * x[3] * rsqrt(next), {kept.index()});
  });
  step("ApplyAdam", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, [=](graph& t, list x, const graph_operation&) {
    const output rate = x[5] * sqrt(1 - x[4]) / (1 - x[3]);
    const output next_m = x[1] + (x[9] - x[1]) * (1 - x[6]);
    const output next_v = x[2] + (square(x[9]) - x[2]) * (1 - x[7]);
    const output kept_m = write(t, info_of<assign_op>, x[1], next_m, {});
    const output kept_v = write(t, info_of<assign_op>, x[2], next_v, {});
    return write(t, info_of<assign_sub_op>, x[0], rate * next_m / (sqrt(next_v) + x[8]), {kept_m.index(), kept_v.index()});
  });
  // what the cross entropies give besides: their gradient for the logits
  pair("SoftmaxCrossEntropyWithLogits:1", [](const output& logits, const output& labels) {
    const std::int64_t last[]{-1};
    return make_node<softmax_op>(last, logits) - labels;
  });
  pair("SparseSoftmaxCrossEntropyWithLogits:1", [](const output& logits, const output& labels) {
    const std::int64_t last[]{-1};
    return make_node<softmax_op>(last, logits) - rule::one_hot_like(sparse_softmax_cross_entropy_op::checked(labels, logits), logits);
  });
  return true;
}();

}  // namespace leat::detail
