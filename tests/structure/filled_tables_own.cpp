// Registers an operator and its kernel, and a second kernel of one of the library's operators, which stays as it is.

#include <leat/named/graph/operator_definition.hpp>
#include <leat/runtime/kernels/kernel.hpp>

namespace {

const bool is_registered = [] {
  leat::register_kernel("FilledTablesOwn", [](leat::kernel_context& c) { c.set_token(0, c.incoming(0)); });
  leat::register_kernel("Rank", [](leat::kernel_context& c) { c.set(0, leat::tensor_value(std::int32_t{7})); });
  leat::define_operator("FilledTablesOwn(x: T) -> (y: T)", [](leat::shape_context& c) { c.set(0, c.input(0).extent); });
  return true;
}();

}  // namespace
