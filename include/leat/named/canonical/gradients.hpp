#pragma once
// Rewrites the operators of TensorFlow's gradients and training steps to operators that the passes know, so that a training step of a graph
// with names is compiled and fused like any other expression. Rewrites that depend on sizes apply only if these are known. Sessions use the
// same rewrites for programs, and for single nodes without a kernel.

#include <leat/core/fill.hpp>
#include <leat/named/canonical/rewrite.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/graph/known_value.hpp>
#include <leat/ops/known.hpp>
#include <leat/ops/updates.hpp>

namespace leat::detail {

// Repeats x along each axis: reshapes it to [1, d, ...], broadcasts it, and reshapes it back.
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

LEAT_FILL(fill_canonical_rewrites) {
  using list = std::span<const output>;
  const auto define = [](std::string_view type, std::vector<int> operands, auto make) {
    register_canonical(type, {std::move(operands), [make](graph&, list x, const graph_operation& node) { return output(make(x, node)); }});
  };
  define("BatchMatMulV2", {0, 1}, [](list x, const graph_operation& node) {
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
    return to.is_static() && x[0].extent().rank == 0 ? output(broadcast_to(x[0], to)) : output{};
  });
  define("Tile", {0}, [](list x, const graph_operation& node) {
    const auto times = fully_known_numbers(node.inputs()[1]);
    if (!times || static_cast<int>(times->size()) != x[0].extent().rank) return output{};
    return repeat_plain(x[0], *times);
  });
  define("BiasAdd", {0, 1}, [](list x, const graph_operation& node) {
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
    if (rank < 2) throw invalid_argument("Input tensor must be at least 2D, not of rank " + std::to_string(rank));
    std::vector<std::int64_t> axes{0};  // false: reduced axes are dropped
    for (int i = 0; i < rank; ++i)
      if (i != channel_axis(node.attributes(), rank)) axes.push_back(i);
    return output(make_node<sum_op>(axes, x[0]));
  });

  // Optimizers' steps. Variables, slots and gradients have one shape; rates are scalars.
  const auto step = []<class Update>(std::type_identity<Update>) {
    std::vector<int> operands(static_cast<std::size_t>(update::inputs_of<Update>.count));
    for (int k = 0; k < update::inputs_of<Update>.count; ++k) operands[static_cast<std::size_t>(k)] = k;
    canonical_rewrite rewrite{.operands = std::move(operands), .writes = true};
    rewrite.updates = [](list x, const graph_operation& node) {
      std::vector<canonical_update> updates;
      if (!is_floating(x[0].type())) return updates;
      std::vector<output> values(x.begin(), x.end());
      for (int k = 0; k < update::inputs_of<Update>.count; ++k) {
        output& v = values[static_cast<std::size_t>(k)];
        const bool scalar = update::inputs_of<Update>.roles[k] == update::role::scalar;
        if (scalar ? v.extent().rank != 0 : !may_equal(v.extent(), x[0].extent())) return updates;
        if (scalar && v.type() == dtype::int64) v = cast_to(v, x[0].type());
        if (v.type() != x[0].type()) return updates;
      }
      update::row_writer w({values.data(), values.size()}, [&](std::string_view name, bool otherwise) {
        const auto* a = node.attributes().find(name);
        return a != nullptr && a->get_if<bool>() != nullptr ? *a->get_if<bool>() : otherwise;
      });
      Update::expand(w);
      for (const update::change& c : w.changes()) updates.push_back({c.variable, c.value, c.subtract});
      std::sort(updates.begin(), updates.end(),
                [](const canonical_update& a, const canonical_update& b) { return a.variable < b.variable; });
      return updates;
    };
    register_canonical("ResourceApply" + std::string(Update::name), rewrite);
    if (update::has_references<Update>) register_canonical("Apply" + std::string(Update::name), std::move(rewrite));
  };
  [&]<class... Updates>(std::type_identity<std::tuple<Updates...>>) {
    (step(std::type_identity<Updates>{}), ...);
  }(std::type_identity<update::operators<std::tuple>>{});
  // Assignments to variables by handle.
  const auto assignment = [](std::string_view type, auto change) {
    register_canonical(type, {.operands = {0, 1}, .writes = true, .updates = [change](list x, const graph_operation&) {
                                std::vector<canonical_update> updates;
                                if (x[0].type() == x[1].type() && x[0].extent() == x[1].extent()) updates.push_back(change(x));
                                return updates;
                              }});
  };
  assignment("AssignVariableOp", [](list x) { return canonical_update{0, x[1], false}; });
  assignment("AssignAddVariableOp", [](list x) { return canonical_update{0, x[0] + x[1], false}; });
  assignment("AssignSubVariableOp", [](list x) { return canonical_update{0, x[1], true}; });
  // The second results of cross entropies: the gradients for the logits.
}

}  // namespace leat::detail
