#pragma once
// Definitions of operators that change variables: scatter updates, optimizers' steps, counters. References are inputs and results.

#include <leat/core/early.hpp>
#include <leat/named/definitions/defined_shapes.hpp>
#include <leat/named/graph/literal.hpp>

namespace leat::detail {

LEAT_EARLY inline const leat::detail::filled_early state_operators_defined{[] {
  define_operator("IsVariableInitialized(ref: &dtype) -> (is_initialized: bool)", shapes::numbers);
  define_operator("CountUpTo(ref: &T) -> (output: T); limit: int", shapes::numbers);
  const auto said = [](shape_context& c) {
    const auto* a = c.attribute("shape");
    if (a != nullptr && a->get_if<tensor_shape_proto>() != nullptr) c.set(0, to_shape(*a->get_if<tensor_shape_proto>()));
  };
  define_operator("TemporaryVariable() -> (ref: &dtype); shape: shape; var_name: string = \"\"", said);
  define_operator("Variable() -> (ref: &dtype); shape: shape; container: string = \"\"; shared_name: string = \"\"", said);
  define_operator("DestroyTemporaryVariable(ref: &T) -> (value: T); var_name: string", shapes::like<0>);

  const auto scattered = [](shape_context& c) {
    const shape& ref = c.input(0).extent;
    const shape& indices = c.input(1).extent;
    const shape& updates = c.input(2).extent;
    c.set_all(ref);
    if (!ref.has_rank() || !indices.has_rank() || !updates.has_rank() || updates.rank == 0) return;
    if (ref.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
    if (updates.rank != indices.rank + ref.rank - 1)
      c.fail("Must have updates.shape = indices.shape + ref.shape[1:] or updates.shape = [], got updates.shape " +
             leat::shape_text(updates) + ", indices.shape " + leat::shape_text(indices) + ", ref.shape " + leat::shape_text(ref));
  };
  for (const char* type : {"ScatterUpdate", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMin", "ScatterMax"})
    define_operator(std::string(type) + "(ref: &T, indices: Tindices, updates: T) -> (output_ref: &T); use_locking: bool = " +
                        (type == std::string("ScatterUpdate") ? "true" : "false") + "; Tindices: {int32, int64}",
                    scattered);
  define_operator("ScatterNdUpdate(ref: &T, indices: Tindices, updates: T) -> (output_ref: &T); use_locking: bool = true", shapes::like<0>);

  // Optimizers: every array has the shape of the variable, every rate is a scalar.
  const auto applied = [](std::initializer_list<int> arrays, std::initializer_list<int> numbers) {
    return [arrays = std::vector<int>(arrays), numbers = std::vector<int>(numbers)](shape_context& c) {
      shape extent = c.input(0).extent;
      for (int k : arrays) {
        if (!may_equal(extent, c.input(k).extent))
          c.fail("var and input " + std::to_string(k) + " do not have the same shape: " + leat::shape_text(extent) + " " +
                 leat::shape_text(c.input(k).extent));
        extent = known_of(extent, c.input(k).extent);
      }
      for (int k : numbers) shapes::want_rank(c, k, 0);
      c.set(0, extent);
    };
  };
  define_operator("ApplyGradientDescent(var: &T, alpha: T, delta: T) -> (out: &T); use_locking: bool = false", applied({2}, {1}));
  define_operator(
      "ApplyMomentum(var: &T, accum: &T, lr: T, grad: T, momentum: T) -> (out: &T); use_locking: bool = false; use_nesterov: bool = false",
      applied({1, 3}, {2, 4}));
  define_operator("ApplyAdagrad(var: &T, accum: &T, lr: T, grad: T) -> (out: &T); use_locking: bool = false; update_slots: bool = true",
                  applied({1, 3}, {2}));
  define_operator(
      "ApplyAdam(var: &T, m: &T, v: &T, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T) -> (out: &T); "
      "use_locking: bool = false; use_nesterov: bool = false",
      applied({1, 2, 9}, {3, 4, 5, 6, 7, 8}));
  define_operator(
      "ApplyRMSProp(var: &T, ms: &T, mom: &T, lr: T, rho: T, momentum: T, epsilon: T, grad: T) -> (out: &T); use_locking: bool = false",
      applied({1, 2, 7}, {3, 4, 5, 6}));
  define_operator(
      "ApplyCenteredRMSProp(var: &T, mg: &T, ms: &T, mom: &T, lr: T, rho: T, momentum: T, epsilon: T, grad: T) -> (out: &T); "
      "use_locking: bool = false",
      applied({1, 2, 3, 8}, {4, 5, 6, 7}));
  define_operator(
      "ApplyAdadelta(var: &T, accum: &T, accum_update: &T, lr: T, rho: T, epsilon: T, grad: T) -> (out: &T); use_locking: bool = false",
      applied({1, 2, 6}, {3, 4, 5}));
  define_operator(
      "ApplyFtrl(var: &T, accum: &T, linear: &T, grad: T, lr: T, l1: T, l2: T, lr_power: T) -> (out: &T); use_locking: bool = false; "
      "multiply_linear_by_lr: bool = false",
      applied({1, 2, 3}, {4, 5, 6, 7}));
  define_operator("ApplyProximalGradientDescent(var: &T, alpha: T, l1: T, l2: T, delta: T) -> (out: &T); use_locking: bool = false",
                  applied({4}, {1, 2, 3}));
  define_operator("ApplyProximalAdagrad(var: &T, accum: &T, lr: T, l1: T, l2: T, grad: T) -> (out: &T); use_locking: bool = false",
                  applied({1, 5}, {2, 3, 4}));
  define_operator(
      "SparseApplyMomentum(var: &T, accum: &T, lr: T, grad: T, indices: Tindices, momentum: T) -> (out: &T); use_locking: bool = false; "
      "use_nesterov: bool = false",
      applied({1}, {2, 5}));
  define_operator(
      "SparseApplyAdagrad(var: &T, accum: &T, lr: T, grad: T, indices: Tindices) -> (out: &T); use_locking: bool = false; update_slots: "
      "bool = true",
      applied({1}, {2}));
  define_operator(
      "SparseApplyRMSProp(var: &T, ms: &T, mom: &T, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices) -> (out: &T); "
      "use_locking: bool = false",
      applied({1, 2}, {3, 4, 5, 6}));
  define_operator(
      "SparseApplyCenteredRMSProp(var: &T, mg: &T, ms: &T, mom: &T, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices) -> "
      "(out: &T); use_locking: bool = false; Tindices: {int32, int64}",
      applied({1, 2, 3}, {4, 5, 6, 7}));
  define_operator(
      "SparseApplyProximalGradientDescent(var: &T, alpha: T, l1: T, l2: T, grad: T, indices: Tindices) -> (out: &T); use_locking: bool = "
      "false; Tindices: {int32, int64}",
      applied({}, {1, 2, 3}));
  define_operator(
      "SparseApplyProximalAdagrad(var: &T, accum: &T, lr: T, l1: T, l2: T, grad: T, indices: Tindices) -> (out: &T); use_locking: bool = "
      "false; Tindices: {int32, int64}",
      applied({1}, {2, 3, 4}));
  define_operator(
      "SparseApplyAdadelta(var: &T, accum: &T, accum_update: &T, lr: T, rho: T, epsilon: T, grad: T, indices: Tindices) -> (out: &T); "
      "use_locking: bool = false",
      applied({1, 2}, {3, 4, 5}));
  define_operator(
      "SparseApplyFtrl(var: &T, accum: &T, linear: &T, grad: T, indices: Tindices, lr: T, l1: T, l2: T, lr_power: T) -> (out: &T); "
      "use_locking: bool = false; multiply_linear_by_lr: bool = false",
      applied({1, 2}, {5, 6, 7, 8}));
}};

}  // namespace leat::detail
