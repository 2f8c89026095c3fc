#pragma once
// Gradients in graphs with names, as TensorFlow 1.x adds them: nodes in a scope "gradients/", those of the node "a/b" in
// "gradients/a/b_grad/", sums as `AddN`. A node's gradient is made when the gradients from all of its users are known. The function that
// makes it is looked up by the operator's type (gradient_functions.hpp); if there is none, the gradient of the operator's class is used
// (gradient_writer.hpp).
//
//   auto dw = gradients({loss}, {w, b});   // for each of w and b; empty if the loss does not depend on it

#include <leat/core/function_bodies.hpp>
#include <leat/named/gradients/functions.hpp>
#include <leat/passes/gradient.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/named/canonical/gradients.hpp>
#include <leat/named/gradients/cells.hpp>
#include <leat/named/gradients/colors.hpp>
#include <leat/named/gradients/control_flow_gradient.hpp>
#include <leat/named/gradients/diagonal.hpp>
#include <leat/named/gradients/einsum.hpp>
#include <leat/named/gradients/gather.hpp>
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
#endif

namespace leat {

namespace detail {

// Excludes the typed functions of the same name for lists of handles, because clang instantiates their return type before it checks
// constraints.
template <class Y, class... Xs>
  requires(!tensor_expression<Y>)
struct gradient_refusal<Y, Xs...> {};

// The initial gradient of y: ones, or the given value, as a node "grad_ys_0".
output gradient_seed(graph& g, const output& y, const output& given, std::size_t k, const std::source_location& where);

}  // namespace detail

/// Options of `gradients`.
struct gradient_options {
  std::vector<output> grad_ys{};         // initial gradient of each y; an empty tensor, or an empty list, means ones
  std::string_view name = "gradients";   // name of the scope
  std::vector<output> stop_gradients{};  // tensors that are taken as constants: no gradient flows through their nodes
  bool gate_gradients = false;           // whether the gradients of a node's inputs become available together (`tuple`)
};

/// Computes gradients as `gradients` does, but those of gathered rows stay sparse, so that optimizers can update single rows.
std::vector<gradient_value> sparse_gradients(const std::vector<output>& ys, const std::vector<output>& xs,
                                             const gradient_options& options = {},
                                             const std::source_location& where = std::source_location::current());

/// The gradients of the sum of `ys` for each of `xs`: new nodes of the same graph, in a new scope. An x may be a variable ("w:0"); its
/// gradient is the sum over all its reads. A result is empty (test with `if (dx)`) if no y depends on x through differentiable operators:
/// gradients do not flow through integers, comparisons, `stop_gradient`.
/// Shapes and dtypes: those of the xs, as far as known.
/// Errors: invalid_argument for tensors of two graphs, empty lists, or a `grad_ys` that does not fit; unimplemented, naming node and source
/// line, for an operator between ys and xs without a known gradient (see `register_gradient`). After an error the graph has at most
/// additional nodes that nothing uses.
/// Source: TensorFlow `gradients`.
std::vector<output> gradients(const std::vector<output>& ys, const std::vector<output>& xs, const gradient_options& options = {},
                              const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/gradients/impl/gradient.hpp>
#endif
