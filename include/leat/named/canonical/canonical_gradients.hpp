#pragma once
// Rewrites the operators of TensorFlow's gradients and training steps to those that the passes know, so that a training step of a graph
// with names is compiled and fused like any other expression; those that depend on sizes only where these are known. Sessions use
// the same rewrites for programs, and for single nodes without a kernel.

#include <leat/core/early.hpp>
#include <leat/named/canonical/canonical_rewrite.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/graph/known_value.hpp>
#include <leat/ops/known.hpp>
#include <leat/ops/updates.hpp>

namespace leat::detail {

// Tiling: reshapes to [1, d, ...], broadcasts, reshapes back.
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

LEAT_EARLY inline const leat::detail::filled_early gradient_operators_compile{[] {
  using list = std::span<const output>;
  const auto define = [](std::string_view type, std::vector<int> operands, auto make) {
    register_canonical(type, {std::move(operands), [make](graph&, list x, const graph_operation& node) { return output(make(x, node)); }});
  };
  const auto pair = [&](std::string_view type, auto make) {
    define(type, {0, 1}, [make](list x, const graph_operation&) { return make(x[0], x[1]); });
  };
  // Element-wise, both operands of one shape.
  const auto equal_pair = [&](std::string_view type, auto make) {
    define(type, {0, 1}, [make](list x, const graph_operation&) {
      return may_equal(x[0].extent(), x[1].extent()) ? output(make(x[0], x[1])) : output{};
    });
  };
  const auto zero = [](const output& like) { return constant_like(like, 0); };
  // (dy, x)
  equal_pair("ReluGrad", relu_op::slope);
  equal_pair("Relu6Grad", relu6_op::slope);
  define("LeakyReluGrad", {0, 1}, [](list x, const graph_operation& node) {
    const auto* a = node.attributes().find("alpha");
    const double alpha = a != nullptr && a->get_if<float>() != nullptr ? *a->get_if<float>()
                                                                       : static_cast<float>(leaky_relu_op::usual_alpha);
    if (!may_equal(x[0].extent(), x[1].extent())) return output{};
    if (!is_floating(x[0].type())) throw unimplemented("no kernel for dtype " + std::string(name_of_dtype(x[0].type())));
    return leaky_relu_op::slope(x[0], x[1], alpha);
  });
  equal_pair("SoftplusGrad", softplus_op::slope<output>);
  equal_pair("SoftsignGrad", [](const output& dy, const output& x) {
    if (!is_floating(x.type())) throw unimplemented("no kernel for dtype " + std::string(name_of_dtype(x.type())));
    return dy / square(1 + abs(x));
  });
  // (dy, y)
  equal_pair("EluGrad", elu_op::slope);
  // Source: Klambauer et al. 2017
  constexpr double scale = 1.0507009873554804934193349852946, scale_alpha = 1.7580993408473768599402175208123;
  equal_pair("SeluGrad", [=](const output& dy, const output& y) { return select(less(y, zero(y)), dy * (y + scale_alpha), dy * scale); });
  define("Selu", {0}, [=](list x, const graph_operation&) {
    return select(less(x[0], zero(x[0])), expm1(x[0]) * scale_alpha, x[0] * scale);
  });
  define("Softsign", {0}, [](list x, const graph_operation&) { return x[0] / (1 + abs(x[0])); });
  // (y, dy)
  equal_pair("TanhGrad", tanh_op::slope<output>);
  equal_pair("SigmoidGrad", sigmoid_op::slope<output>);
  equal_pair("SqrtGrad", [](const output& y, const output& dy) { return make_node<sqrt_grad_op>({}, y, dy); });
  equal_pair("RsqrtGrad", [](const output& y, const output& dy) { return make_node<rsqrt_grad_op>({}, y, dy); });
  for (const char* type : {"ReciprocalGrad", "InvGrad"})
    equal_pair(type, [](const output& y, const output& dy) { return make_node<reciprocal_grad_op>({}, y, dy); });

  // DivNoNan is 0 where y is 0; Xdivy and Xlogy are 0 where x is 0, whatever y is.
  const auto floating = [&](std::string_view type, auto make) {
    define(type, {0, 1}, [make](list x, const graph_operation&) {
      if (!is_floating(x[0].type())) throw unimplemented("no kernel for dtype " + std::string(name_of_dtype(x[0].type())));
      return output(make(x[0], x[1]));
    });
  };
  floating("DivNoNan", [=](const output& x, const output& y) {
    const output none = equal(y, zero(y));
    return select(none, zero(x), x / select(none, constant_like(y, 1), y));
  });
  floating("Xdivy", [=](const output& x, const output& y) { return select(equal(x, zero(x)), zero(x), x / y); });
  floating("Xlogy", [=](const output& x, const output& y) { return select(equal(x, zero(x)), zero(x), x * log(y)); });
  // The sum and the quotient of older graphs.
  pair("Add", [](const output& x, const output& y) { return x + y; });
  define("Div", {0, 1}, [](list x, const graph_operation&) { return is_floating(x[0].type()) ? output(x[0] / x[1]) : output{}; });
  for (const char* type : {"BatchMatMul", "BatchMatMulV2"})
    define(type, {0, 1}, [](list x, const graph_operation& node) {
      if (x[0].extent().rank != 2 || x[1].extent().rank != 2 || !is_floating(x[0].type())) return output{};
      const auto adjoint = [&](std::string_view name) -> std::int64_t {
        const auto* flag = node.attributes().find(name);
        return flag != nullptr && flag->get_if<bool>() != nullptr && *flag->get_if<bool>() ? 1 : 0;
      };
      const std::int64_t numbers[]{adjoint("adj_x"), adjoint("adj_y")};
      return output(make_node<matmul_op>(numbers, x[0], x[1]));
    });
  for (const double value : {0.0, 1.0})
    define(value == 0 ? "ZerosLike" : "OnesLike", {0},
           [value](list x, const graph_operation&) { return constant(x[0].owner(), x[0].type(), x[0].extent(), value); });
  define("Select", {0, 1, 2}, [](list x, const graph_operation&) {
    if (!may_equal(x[1].extent(), x[2].extent())) return output{};
    if (x[0].extent().rank == 0 || may_equal(x[0].extent(), x[1].extent())) return output(select(x[0], x[1], x[2]));
    if (x[0].extent().rank != 1 || x[1].extent().rank < 2) return output{};
    shape rows = x[0].extent();  // one condition per row
    if (rows[0] != x[1].extent()[0]) return output{};
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
  for (const char* type : {"BiasAdd", "BiasAddV1"})
    define(type, {0, 1}, [](list x, const graph_operation& node) {
      const shape extent = x[0].extent(), bias = x[1].extent();
      if (extent.rank < 2 || bias.rank != 1) return output{};
      const int at = channel_axis(node.attributes(), extent.rank);
      if (bias[0] != extent[at]) return output{};
      if (at == extent.rank - 1) return output(x[0] + x[1]);
      shape along = bias;
      while (along.rank < extent.rank - at) along.push(1);
      return output(x[0] + make_node<reshape_op>({along.dim, static_cast<std::size_t>(along.rank)}, x[1]));
    });
  define("BiasAddGrad", {0}, [](list x, const graph_operation& node) {
    const int rank = x[0].extent().rank;
    if (rank < 2) return output{};
    std::vector<std::int64_t> axes{0};  // false: reduced axes are dropped
    for (int i = 0; i < rank; ++i)
      if (i != channel_axis(node.attributes(), rank)) axes.push_back(i);
    return output(make_node<sum_op>(axes, x[0]));
  });

  // Optimizers' steps. Variables, slots and gradients have one shape, rates are scalars.
  const auto flag = [](const graph_operation& node, std::string_view name, bool otherwise) {
    const auto* a = node.attributes().find(name);
    return a != nullptr && a->get_if<bool>() != nullptr ? *a->get_if<bool>() : otherwise;
  };
  const auto step = [](std::string_view type, std::vector<int> arrays, std::vector<int> rates, auto make) {
    std::vector<int> operands(arrays.size() + rates.size());
    for (std::size_t k = 0; k < operands.size(); ++k) operands[k] = static_cast<int>(k);
    register_canonical(type, {.operands = std::move(operands),
                              .writes = true,
                              .updates = [arrays, rates, make](list x, const graph_operation& node) {
                                std::vector<canonical_update> updates;
                                for (int k : rates)
                                  if (x[static_cast<std::size_t>(k)].extent().rank != 0) return updates;
                                for (int k : arrays)
                                  if (!may_equal(x[static_cast<std::size_t>(k)].extent(), x[0].extent()) ||
                                      x[static_cast<std::size_t>(k)].type() != x[0].type())
                                    return updates;
                                if (!is_floating(x[0].type())) return updates;
                                const auto made = make(x, node);
                                updates.push_back({0, made.change, true});
                                if (arrays.size() > 2)
                                  for (int k = 0; k < static_cast<int>(std::size(made.slots)); ++k)
                                    if (made.slots[k].index() != x[static_cast<std::size_t>(k) + 1].index())
                                      updates.push_back({k + 1, made.slots[k], false});
                                return updates;
                              }});
  };
  step("ApplyGradientDescent", {0, 2}, {1}, [](list x, const graph_operation&) { return update::gradient_descent(x[1], x[2]); });
  step("ApplyMomentum", {0, 1, 3}, {2, 4}, [=](list x, const graph_operation& node) {
    return update::momentum(x[1], x[2], x[3], x[4], flag(node, "use_nesterov", false));
  });
  step("ApplyAdagrad", {0, 1, 3}, {2}, [=](list x, const graph_operation& node) {
    return update::adagrad(x[1], x[2], x[3], flag(node, "update_slots", true));
  });
  step("ApplyAdam", {0, 1, 2, 9}, {3, 4, 5, 6, 7, 8}, [=](list x, const graph_operation& node) {
    return update::adam(x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], flag(node, "use_nesterov", false));
  });
  step("ApplyRMSProp", {0, 1, 2, 7}, {3, 4, 5, 6}, [](list x, const graph_operation&) {
    return update::rms_prop(x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
  });
  step("ApplyCenteredRMSProp", {0, 1, 2, 3, 8}, {4, 5, 6, 7}, [](list x, const graph_operation&) {
    return update::centered_rms_prop(x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]);
  });
  step("ApplyAdadelta", {0, 1, 2, 6}, {3, 4, 5}, [](list x, const graph_operation&) {
    return update::adadelta(x[1], x[2], x[3], x[4], x[5], x[6]);
  });
  // The second results of cross entropies: the gradient for the logits.
  pair("SoftmaxCrossEntropyWithLogits:1", softmax_cross_entropy_op::slope);
  pair("SparseSoftmaxCrossEntropyWithLogits:1", sparse_softmax_cross_entropy_op::slope);
}};

}  // namespace leat::detail
