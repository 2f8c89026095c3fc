#pragma once
// Definitions of TensorFlow 1.x's control flow operators and of those with side effects: printing, checking, host calls.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

inline void merged_shape(shape_context& c) {
  shape extent = c.input(0).extent;
  for (int k = 1; k < c.input_count(); ++k) {
    const shape& other = c.input(k).extent;
    if (!extent.has_rank() || !other.has_rank() || extent.rank != other.rank) {
      extent = shape::unknown();
      break;
    }
    for (int i = 0; i < extent.rank; ++i)
      if (extent[i] != other[i]) extent.dim[i] = unknown_dimension;
  }
  c.set(0, extent);
  c.set(1, {});
}

LEAT_FILL(fill_control_definitions) {
  const auto routes = [](flow how) { return facts{.is = nature::control, .work = work_kind::none, .control = how}; };
  const auto switched = [](shape_context& c) {
    shapes::want_rank(c, 1, 0);
    shapes::like<0>(c);
  };
  define_operator("Switch(data: T, pred: bool) -> (output_false: T, output_true: T)", routes(flow::branch), switched);
  define_operator("RefSwitch(data: &T, pred: bool) -> (output_false: &T, output_true: &T)", routes(flow::branch), switched);
  define_operator("Merge(inputs: N*T) -> (output: T, value_index: int32)", routes(flow::merge), merged_shape);
  define_operator("RefMerge(inputs: N*T) -> (output: &T, value_index: int32)", routes(flow::merge), merged_shape);
  define_operator("RefSelect(index: int32, inputs: N*T) -> (output: &T)", routes(flow::plain), [](shape_context& c) {
    shapes::want_rank(c, 0, 0);
    for (int k = 2; k < c.input_count(); ++k)
      if (!c.input(1).extent.is_static() || !(c.input(k).extent == c.input(1).extent)) return;
    c.set(0, c.input(1).extent);
  });
  define_operator("Enter(data: T) -> (output: T); frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
                  routes(flow::enter), shapes::like<0>);
  define_operator("RefEnter(data: &T) -> (output: &T); frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
                  routes(flow::enter), shapes::like<0>);
  define_operator("Exit(data: T) -> (output: T)", routes(flow::exit), shapes::like<0>);
  define_operator("RefExit(data: &T) -> (output: &T)", routes(flow::exit), shapes::like<0>);
  define_operator("NextIteration(data: T) -> (output: T)", routes(flow::next), shapes::like<0>);
  define_operator("RefNextIteration(data: &T) -> (output: &T)", routes(flow::next), shapes::like<0>);
  define_operator("RefIdentity(input: &T) -> (output: &T)", {.is = nature::inert, .work = work_kind::none, .forwards = true},
                  shapes::like<0>);
  for (const char* type : {"Snapshot", "PreventGradient"})
    define_operator(std::string(type) + "(input: T) -> (output: T)" + (type == std::string("Snapshot") ? "" : "; message: string = \"\""),
                    {.is = nature::inert, .work = work_kind::none, .forwards = true}, shapes::like<0>);
  define_operator("LoopCond(input: bool) -> (output: bool)", routes(flow::plain), [](shape_context& c) {
    shapes::want_rank(c, 0, 0);
    shapes::numbers(c);
  });
  define_operator("ControlTrigger() -> ()", routes(flow::trigger));
  define_operator("Abort() -> (); error_msg: string = \"\"; exit_without_error: bool = false",
                  {.is = nature::effect, .work = work_kind::none});
  // The stacks on which loops save values for their gradients.
  define_operator("StackV2(max_size: int32) -> (handle: resource); elem_type: type; stack_name: string = \"\"",
                  {.is = nature::effect, .work = work_kind::none, .state = state_role::stack, .stops_gradient = true},
                  shapes::two_elements);
  define_operator("StackPushV2(handle: resource, elem: T) -> (output: T); swap_memory: bool = false",
                  {.is = nature::effect, .work = work_kind::none, .state = state_role::push, .stops_gradient = true}, shapes::like<1>);
  define_operator("StackPopV2(handle: resource) -> (elem: elem_type)",
                  {.is = nature::effect, .work = work_kind::none, .state = state_role::pop, .stops_gradient = true});
  define_operator("StackCloseV2(handle: resource) -> ()", {.is = nature::effect, .work = work_kind::none, .stops_gradient = true});
  define_operator("Stack() -> (handle: &string); elem_type: type; stack_name: string = \"\"",
                  {.is = nature::effect, .work = work_kind::none, .state = state_role::stack}, shapes::two_elements);
  define_operator("StackPush(handle: &string, elem: T) -> (output: T); swap_memory: bool = false",
                  {.is = nature::effect, .work = work_kind::none, .state = state_role::push}, shapes::like<1>);
  define_operator("StackPop(handle: &string) -> (elem: elem_type)",
                  {.is = nature::effect, .work = work_kind::none, .state = state_role::pop});
  define_operator("StackClose(handle: &string) -> ()", {.is = nature::effect, .work = work_kind::none});
  // Operators with side effects.
  define_operator("Print(input: T, data: list(U)) -> (output: T); message: string = \"\"; first_n: int = -1; summarize: int = 3",
                  {.is = nature::effect, .work = work_kind::none, .forwards = true}, shapes::like<0>);
  define_operator("PrintV2(input: string) -> (); output_stream: string = \"stderr\"; end: string = \"\n\"",
                  {.is = nature::effect, .work = work_kind::none});
  define_operator("Assert(condition: bool, data: list(T)) -> (); summarize: int = 3", {.is = nature::observes, .stops_gradient = true},
                  [](shape_context& c) { shapes::want_rank(c, 0, 0); });
  define_operator("CheckNumerics(tensor: T) -> (output: T); message: string", shapes::like<0>);
  define_operator("PyFunc(input: list(Tin)) -> (output: list(Tout)); token: string",
                  {.is = nature::effect, .narrow = narrow_rule::any, .stops_gradient = true, .waits = true});
  define_operator("PyFuncStateless(input: list(Tin)) -> (output: list(Tout)); token: string",
                  {.is = nature::effect, .narrow = narrow_rule::any, .stops_gradient = true, .waits = true});
}

}  // namespace leat::detail
