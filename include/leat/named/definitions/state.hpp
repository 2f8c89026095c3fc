#pragma once
// Definitions of operators that change variables: scatter updates, optimizers' steps, counters. They take references as inputs, and most
// return one.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/graph/literal.hpp>
#include <leat/ops/updates.hpp>

namespace leat::detail {

LEAT_FILL(fill_state_definitions) {
  define_operator("IsVariableInitialized(ref: &dtype) -> (is_initialized: bool)",
                  {.is = nature::observes, .work = work_kind::none, .state = state_role::is_initialized}, shapes::numbers);
  for (const char* type : {"CountUpTo(ref", "ResourceCountUpTo(resource"})
    define_operator(std::string(type) + ": &T) -> (output: T); limit: int", [](shape_context& c) {
      const shape s = shapes::of_variable(c);
      if (s.has_rank() && s.rank != 0) c.fail("Shape must be rank 0 but is rank " + std::to_string(s.rank));
      shapes::numbers(c);
    });
  const auto said = [](shape_context& c) {
    const auto* a = c.attribute("shape");
    if (a != nullptr && a->get_if<tensor_shape_proto>() != nullptr) c.set(0, to_shape(*a->get_if<tensor_shape_proto>()));
  };
  define_operator("TemporaryVariable() -> (ref: &dtype); shape: shape; var_name: string = \"\"",
                  {.is = nature::effect, .work = work_kind::none, .state = state_role::temporary_variable}, said);
  define_operator("DestroyTemporaryVariable(ref: &T) -> (value: T); var_name: string",
                  {.is = nature::effect, .state = state_role::temporary_variable_ends}, shapes::like<0>);

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
  const auto writes = [](bool adds, bool stops_gradient, narrow_rule narrow = narrow_rule::computes) -> facts {
    return {.is = nature::effect, .work = work_kind::scattered, .narrow = narrow, .adds = adds, .stops_gradient = stops_gradient};
  };
  const auto define_scatter = [&](const std::string& type, bool locks, const facts& what, const shape_rule& extent) {
    define_operator(type + "(ref: &T, indices: Tindices, updates: T) -> (output_ref: &T); use_locking: bool = " +
                        (locks ? "true" : "false") + "; Tindices: {int32, int64}",
                    what, extent);
  };
  define_scatter("ScatterUpdate", true, writes(false, false, narrow_rule::moves), scattered);
  for (const char* type : {"ScatterAdd", "ScatterSub"}) define_scatter(type, false, writes(true, true), scattered);
  for (const char* type : {"ScatterMul", "ScatterDiv"}) define_scatter(type, false, writes(false, true), scattered);
  for (const char* type : {"ScatterMin", "ScatterMax"}) define_scatter(type, false, writes(false, false), scattered);
  define_scatter("ScatterNdUpdate", true, writes(false, true, narrow_rule::moves), shapes::like<0>);
  for (const char* type : {"ScatterNdAdd", "ScatterNdSub"}) define_scatter(type, false, writes(true, true), shapes::like<0>);
  for (const char* type : {"ScatterNdMin", "ScatterNdMax"}) define_scatter(type, false, writes(false, false), shapes::like<0>);

  const std::string slice =
      "; Index: {int32, int64}; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: "
      "int = 0";
  for (const bool by_handle : {false, true})
    define_operator(std::string(by_handle ? "Resource" : "") +
                        "StridedSliceAssign(ref: &T, begin: Index, end: Index, strides: Index, value: T) -> (" +
                        (by_handle ? "" : "output_ref: &T") + ")" + slice,
                    writes(false, false, narrow_rule::moves), [](shape_context& c) { c.set_all(shapes::of_variable(c)); });

  // Optimizers: every array has the shape of the variable, every rate is a scalar. Sparse updates have indices after the gradient, and the
  // gradient has another shape than the variable.
  const auto define_update = []<class Update>(std::type_identity<Update>) {
    const auto check = [](bool of_rows) {
      return [of_rows](shape_context& c) {
        shape extent = shapes::of_variable(c);
        for (int k = 0; k < update::inputs_of<Update>.count; ++k) {
          const int at = of_rows && k > update::inputs_of<Update>.gradient ? k + 1 : k;
          if (update::inputs_of<Update>.roles[k] == update::role::scalar) shapes::want_rank(c, at, 0);
          if (update::inputs_of<Update>.roles[k] == update::role::scalar || (of_rows && k == update::inputs_of<Update>.gradient)) continue;
          if (c.input(at).type == static_cast<dtype>(data_type::resource)) continue;
          if (!may_equal(extent, c.input(at).extent))
            c.fail("var and input " + std::to_string(at) + " do not have the same shape: " + leat::shape_text(extent) + " " +
                   leat::shape_text(c.input(at).extent));
          extent = known_of(extent, c.input(at).extent);
        }
        if (c.result_count() > 0) c.set(0, extent);
      };
    };
    const std::string name(Update::name), arguments(Update::arguments);
    const std::string rest =
        ") -> (out: &T); use_locking: bool = false" + std::string(Update::flags.empty() ? "" : "; ") + std::string(Update::flags);
    // Variables by handle have the same operators without a result.
    const std::string of_handle = ") -> ()" + rest.substr(rest.find(';'));
    constexpr bool has_references = update::has_references<Update>;
    if (has_references) define_operator("Apply" + name + "(" + arguments + rest, check(false));
    define_operator("ResourceApply" + name + "(" + arguments + of_handle, check(false));
    if (!Update::of_rows) return;
    const std::string_view gradient = update::inputs_of<Update>.names[update::inputs_of<Update>.gradient];
    const std::string its_words = std::string(gradient) + ": T";
    const std::size_t at = arguments.find(its_words);
    const std::string of_rows =
        name + "(" + arguments.substr(0, at) + "grad: T, indices: Tindices" + arguments.substr(at + its_words.size());
    const facts scattered_writes{.is = nature::effect, .work = work_kind::scattered};
    if (has_references) define_operator("SparseApply" + of_rows + rest + "; Tindices: {int32, int64}", scattered_writes, check(true));
    define_operator("ResourceSparseApply" + of_rows + of_handle + "; Tindices: {int32, int64}", scattered_writes, check(true));
  };
  [&]<class... Updates>(std::type_identity<std::tuple<Updates...>>) {
    (define_update(std::type_identity<Updates>{}), ...);
  }(std::type_identity<update::operators<std::tuple>>{});
}

}  // namespace leat::detail
