#pragma once
// Implementation of named_gradient.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/canonical/gradients.hpp>
#include <leat/named/gradients/cells.hpp>
#include <leat/named/gradients/colors.hpp>
#include <leat/named/gradients/complex.hpp>
#include <leat/named/gradients/control_flow_gradient.hpp>
#include <leat/named/gradients/diagonal.hpp>
#include <leat/named/gradients/einsum.hpp>
#include <leat/named/gradients/gather.hpp>
#include <leat/named/gradients/gradient.hpp>
#include <leat/named/gradients/images.hpp>
#include <leat/named/gradients/matrices.hpp>
#include <leat/named/gradients/nn.hpp>
#include <leat/named/gradients/pools.hpp>
#include <leat/named/gradients/scatter.hpp>
#include <leat/named/gradients/special.hpp>
#include <leat/named/gradients/quantized.hpp>
#include <leat/named/gradients/ragged.hpp>
#include <leat/named/gradients/sparse.hpp>
#include <leat/named/gradients/sparse_rows.hpp>
#include <leat/named/gradients/tensor_array.hpp>
#include <leat/named/gradients/tensor_list.hpp>
#include <leat/named/gradients/walk.hpp>

namespace leat::detail {

LEAT_FUNCTION output gradient_seed(graph& g, const output& y, const output& given, std::size_t k, const std::source_location& where) {
  named_part& nodes = g.named();
  const std::string name = "grad_ys_" + std::to_string(k);
  if (static_cast<bool>(given)) {
    if (given.type() != y.type())
      throw invalid_argument("gradients: " + describe(given) + " is given for " + describe(y) + ", which has another dtype");
    if (!may_equal(given.extent(), y.extent()))
      throw invalid_argument("gradients: " + describe(given) + " is given for " + describe(y) + ", which has another shape");
    const output only[]{given};
    return nodes.build(g, info_of<identity_op>, only, {}, name);
  }
  const output extent = leat::shape_of(y, "Shape", where);
  const name_scope scope(g, name);
  const output one = nodes.make_constant(g, {y.type(), {}, 1}, "Const");
  const output inputs[]{extent, one};
  if (!y.extent().is_static())
    return nodes.raw(g, "Fill", inputs, {{"T", y.type()}, {"index_type", dtype::int32}}, {{y.type(), y.extent()}}, scope.text()).result();
  const shape sizes = y.extent();
  return nodes.build(g, info_of<fill_op>, inputs, {sizes.dim, static_cast<std::size_t>(sizes.rank)}, scope.text());
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION std::vector<gradient_value> sparse_gradients(const std::vector<output>& ys, const std::vector<output>& xs,
                                                           const gradient_options& options, const std::source_location& where) {
  if (ys.empty() || xs.empty()) throw invalid_argument("gradients: of at least one tensor for at least one");
  if (!options.grad_ys.empty() && options.grad_ys.size() != ys.size())
    throw invalid_argument("Passed " + std::to_string(options.grad_ys.size()) + " grad_ys for " + std::to_string(ys.size()) + " ys");
  if (!static_cast<bool>(ys.front())) throw invalid_argument("gradients: an operand that is no node of a graph");
  graph& g = ys.front().owner();
  named_part& nodes = g.named();
  nodes.check_graph(g, ys);
  nodes.check_graph(g, xs);
  nodes.check_graph(g, options.stop_gradients);
  const source_scope line(g, where);
  nodes.settle_names(g);
  std::vector<output> values;
  for (const output& y : ys) values.push_back(nodes.value_of(y));
  for (const output& y : values) {
    if (y.type() == dtype::invalid) detail::refuse_gradient(g, y.index(), "no gradient is known of this operator");
    if (!is_number(y.type()) && !is_complex(y.type())) throw invalid_argument("gradients: " + describe(y) + " is not a number");
  }
  detail::gradient_walk walk(g, values, xs, options.stop_gradients);
  const name_scope scope(g, options.name);
  std::vector<output> seeds;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const output given = options.grad_ys.empty() ? output{} : options.grad_ys[k];
    if (static_cast<bool>(given)) nodes.check_graph(g, std::array{values[k], given});
    else if (is_complex(values[k].type()))
      throw invalid_argument("Gradients of complex tensors must set grad_ys: " + describe(values[k]));
    seeds.push_back(detail::gradient_seed(g, values[k], given, k, where));
  }
  return walk.run(seeds, std::string(without_slash(scope.text())), options.gate_gradients);
}

LEAT_FUNCTION std::vector<output> gradients(const std::vector<output>& ys, const std::vector<output>& xs, const gradient_options& options,
                                            const std::source_location& where) {
  std::vector<output> result;
  for (const gradient_value& v : sparse_gradients(ys, xs, options, where)) result.push_back(detail::densified(v));
  return result;
}

}  // namespace leat
