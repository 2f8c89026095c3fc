#pragma once
// Kernels of variables by handle. A handle travels as a reference to the variable, and reading gives the value that it has then, whatever
// is written later. Source: TensorFlow `VarHandleOp`, `ReadVariableOp`, `AssignVariableOp` and their kin.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/array.hpp>
#include <leat/runtime/kernels/state.hpp>

namespace leat::runtime {

inline void run_assign_by_handle(kernel_context& c) {
  variable_slot& v = c.variable(0);
  tensor_value value = c.take(1);
  if (value.type() != v.type())
    throw invalid_argument("Trying to assign variable with wrong dtype. Expected " + dtype_name(v.type()) + " got " +
                           dtype_name(value.type()));
  if (!may_equal(v.extent(), value.extent()))
    throw invalid_argument("Trying to assign to variable with tensor with wrong shape. Expected " + brackets(v.extent()) + " got " +
                           brackets(value.extent()));
  v.assign(std::move(value));
}

LEAT_FILL(fill_resource_kernels) {
  register_kernel("VarHandleOp", [](kernel_context& c) { c.set_variable(0, slot_of(c)); });
  register_kernel("ReadVariableOp", [](kernel_context& c) { c.set(0, c.take(0)); });
  register_kernel("VarIsInitializedOp", [](kernel_context& c) { c.set(0, tensor_value(c.variable(0).is_initialized())); });
  register_kernel("AssignVariableOp", run_assign_by_handle);
  register_kernel("AssignAddVariableOp", run_assign_change<true>);
  register_kernel("AssignSubVariableOp", run_assign_change<false>);
  register_kernel("DisableCopyOnRead", [](kernel_context&) {});
  register_kernel("DestroyResourceOp", [](kernel_context& c) {
    if (!c.variable(0).is_initialized() && !c.node.flag("ignore_lookup_error", true)) c.variable(0).fail();
    c.variable(0).clear();
  });
  register_kernel("VariableShape", [](kernel_context& c) {
    const shape s = c.variable(0).read().extent();
    c.set(0, integer_tensor(c.node.type_of("out_type", dtype::int32), {s.dim, s.dim + s.rank}));
  });
  register_kernel("ResourceGather", run_gather);
  register_kernel("ResourceGatherNd", run_gather_nd);
  const std::pair<const char*, scatter_kind> scatters[]{
      {"Update", scatter_kind::update}, {"Add", scatter_kind::add}, {"Sub", scatter_kind::sub}, {"Mul", scatter_kind::mul},
      {"Div", scatter_kind::div},       {"Min", scatter_kind::min}, {"Max", scatter_kind::max}};
  for (const auto& [how, kind] : scatters)
    register_kernel("ResourceScatter" + std::string(how), [which = kind](kernel_context& c) { run_scatter(c, which); });
  const std::pair<const char*, scatter_kind> by_index[]{{"Update", scatter_kind::update},
                                                        {"Add", scatter_kind::add},
                                                        {"Sub", scatter_kind::sub},
                                                        {"Min", scatter_kind::min},
                                                        {"Max", scatter_kind::max}};
  for (const auto& [how, kind] : by_index)
    register_kernel("ResourceScatterNd" + std::string(how), [which = kind](kernel_context& c) { run_scatter_nd_into_variable(c, which); });
}

}  // namespace leat::runtime
