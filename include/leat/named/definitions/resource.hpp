#pragma once
// Definitions of operators on variables by handle, as TensorFlow makes them since 1.15. `VarHandleOp` itself is a leaf of the table
// (graph/leaves.hpp); steps of optimizers on such variables are defined beside those on references (definitions/state.hpp).

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

LEAT_FILL(fill_resource_definitions) {
  constexpr facts writes{.is = nature::effect, .narrow = narrow_rule::any, .stops_gradient = true};
  define_operator("ReadVariableOp(resource: &dtype) -> (value: dtype)", {.is = nature::inert, .work = work_kind::none, .forwards = true},
                  [](shape_context& c) { c.set(0, shapes::of_variable(c)); });
  define_operator("VarIsInitializedOp(resource: &resource) -> (is_initialized: bool)",
                  {.is = nature::observes, .work = work_kind::none, .state = state_role::is_initialized}, shapes::numbers);
  const auto assigned = [](shape_context& c) {
    if (!may_equal(shapes::of_variable(c), c.input(1).extent))
      c.fail("the variable has shape " + leat::shape_text(shapes::of_variable(c)) + ", the value " + leat::shape_text(c.input(1).extent));
  };
  define_operator("AssignVariableOp(resource: &dtype, value: dtype) -> (); validate_shape: bool = false", writes, assigned);
  constexpr facts adds{.is = nature::effect, .adds = true, .stops_gradient = true};
  define_operator("AssignAddVariableOp(resource: &dtype, value: dtype) -> ()", adds, assigned);
  define_operator("AssignSubVariableOp(resource: &dtype, value: dtype) -> ()", adds, assigned);
  define_operator("DestroyResourceOp(resource: &resource) -> (); ignore_lookup_error: bool = true",
                  {.is = nature::effect, .narrow = narrow_rule::any});
  define_operator("DisableCopyOnRead(resource: &resource) -> ()",
                  {.is = nature::inert, .work = work_kind::none, .narrow = narrow_rule::any});
  define_operator("VariableShape(input: &resource) -> (output: out_type); out_type: {int32, int64} = int32",
                  {.is = nature::observes, .narrow = narrow_rule::any}, [](shape_context& c) {
                    const shape s = shapes::of_variable(c);
                    c.set(0, shapes::vector_of(s.has_rank() ? s.rank : -1));
                  });
  define_operator(
      "ResourceGather(resource: &dtype, indices: Tindices) -> (output: dtype); batch_dims: int = 0; validate_indices: bool = true; "
      "Tindices: {int32, int64}",
      {.is = nature::observes, .work = work_kind::gathered, .narrow = narrow_rule::moves}, [](shape_context& c) {
        const shape s = shapes::of_variable(c);
        const shape& at = c.input(1).extent;
        const std::int64_t batch_dims = c.integer("batch_dims");
        if (!s.has_rank() || !at.has_rank() || batch_dims != 0) return;
        if (s.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
        shape result = at;
        for (int i = 1; i < s.rank; ++i) result.push(s[i]);
        c.set(0, result);
      });
  define_operator("ResourceGatherNd(resource: &dtype, indices: Tindices) -> (output: dtype); Tindices: {int32, int64}",
                  {.is = nature::observes, .work = work_kind::gathered, .narrow = narrow_rule::moves}, [](shape_context& c) {
                    const shape s = shapes::of_variable(c);
                    const shape& at = c.input(1).extent;
                    if (at.has_rank() && at.rank == 0) c.fail("Shape must be at least rank 1 but is rank 0");
                    if (!s.has_rank() || !at.has_rank() || at[at.rank - 1] < 0) return;
                    const std::int64_t depth = at[at.rank - 1];
                    if (depth > s.rank) c.fail("indices.shape[-1] must be <= params.rank");
                    shape result;
                    for (int i = 0; i + 1 < at.rank; ++i) result.push(at[i]);
                    for (int i = static_cast<int>(depth); i < s.rank; ++i) result.push(s[i]);
                    c.set(0, result);
                  });
  // The result is the variable after the update only in operators on references; these have none.
  const auto scattered = [](shape_context& c) {
    const shape s = shapes::of_variable(c);
    const shape& at = c.input(1).extent;
    const shape& updates = c.input(2).extent;
    if (!s.has_rank() || !at.has_rank() || !updates.has_rank() || updates.rank == 0) return;
    if (s.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
    if (updates.rank != at.rank + s.rank - 1)
      c.fail("Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape " +
             leat::shape_text(updates) + ", indices.shape " + leat::shape_text(at) + ", params.shape " + leat::shape_text(s));
  };
  const auto scatters = [](std::string_view how) -> facts {
    return {.is = nature::effect,
            .work = work_kind::scattered,
            .narrow = how[0] == 'U' ? narrow_rule::moves : narrow_rule::computes,
            .adds = how[0] == 'A' || how[0] == 'S',
            .stops_gradient = true};
  };
  for (const char* how : {"Update", "Add", "Sub", "Mul", "Div", "Min", "Max"})
    define_operator(
        "ResourceScatter" + std::string(how) + "(resource: &dtype, indices: Tindices, updates: dtype) -> (); Tindices: {int32, int64}",
        scatters(how), scattered);
  for (const char* how : {"Update", "Add", "Sub", "Min", "Max"})
    define_operator("ResourceScatterNd" + std::string(how) +
                        "(ref: &T, indices: Tindices, updates: T) -> (); use_locking: bool = true; Tindices: {int32, int64}",
                    scatters(how));
}

}  // namespace leat::detail
