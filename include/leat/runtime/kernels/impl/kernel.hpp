#pragma once
// Implementation of kernel.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/older_spellings.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/state/resources.hpp>

namespace leat {

LEAT_FUNCTION void session_functions::set(std::string_view token_text, session_function f) {
  auto held = std::make_shared<const session_function>(std::move(f));
  const std::lock_guard lock(guard_);
  by_token_.insert_or_assign(std::string(token_text), std::move(held));
}

LEAT_FUNCTION void step_state::check() const {
  check_calls();
  if (deadline != std::chrono::steady_clock::time_point::max() && std::chrono::steady_clock::now() >= deadline)
    throw deadline_exceeded("Timed out after " + std::to_string(timeout_in_ms) + " ms");
}

LEAT_FUNCTION void step_state::check_calls() const {
  if (stopped.load(std::memory_order_relaxed)) throw cancelled("another node of the run has failed");
  if (cancel != nullptr && cancel->is_cancelled()) throw cancelled("Step was cancelled by an explicit call to cancel()");
  if (session.closed.load(std::memory_order_relaxed)) throw cancelled("Session was closed");
}

LEAT_FUNCTION token& kernel_context::at(int k) {
  if (k < 0 || k >= input_count()) [[unlikely]]
    throw invalid_argument("has " + std::to_string(input_count()) + " inputs, fewer than the operator takes");
  return inputs_[static_cast<std::size_t>(k)];
}

LEAT_FUNCTION const operator_kernel* find_kernel(std::string_view type) {
  const auto found = detail::find_by_spelling(detail::kernels_by_type(), type, &detail::kernel_entry::kernel);
  return found == nullptr ? nullptr : &found->run;  // as long as the table, as the first one stays
}

LEAT_FUNCTION void register_complex_kernel(std::string_view type, operator_kernel k) {
  detail::kernels_by_type().enter(type, &detail::kernel_entry::of_complex, std::make_shared<const operator_kernel>(std::move(k)));
}

LEAT_FUNCTION const operator_kernel* find_complex_kernel(std::string_view type) {
  return detail::find_by_spelling(detail::kernels_by_type(), type, &detail::kernel_entry::of_complex).get();  // the first one stays
}

LEAT_FUNCTION std::vector<std::string> kernel_types() {
  const auto known = detail::kernels_by_type().keys(&detail::kernel_entry::kernel);
  std::vector<std::string> types(known.begin(), known.end());
  std::sort(types.begin(), types.end());
  return types;
}

}  // namespace leat

namespace leat::runtime {

LEAT_FUNCTION std::string source_text(const kernel_node& n) {
  return n.record->made_at.line == 0 ? std::string{} : std::string(n.record->made_at.file) + ":" + std::to_string(n.record->made_at.line);
}

LEAT_FUNCTION std::string node_text(const kernel_node& n) {
  std::string text = "\n\t [[node '" + n.name() + "' (" + std::string(n.type) + ")";
  if (n.record->made_at.line != 0)
    text += std::string(", made at ") + n.record->made_at.file + ":" + std::to_string(n.record->made_at.line);
  return text + "]]";
}

LEAT_FUNCTION variable_slot& slot_of(kernel_context& c) {
  const std::string shared = c.node.text("shared_name");
  const std::string& name = shared.empty() ? c.node.name() : shared;
  const node& n = c.node.owner->at(c.node.index);
  resource_table& resources = c.step.session.resources;
  const auto make = [&] { return std::make_shared<variable_slot>(name, n.result.type, n.result.extent); };
  auto found = resources.find_or_make<variable_slot>(c.node.text("container"), name, make);
  const bool fits = found->type() == n.result.type && may_equal(found->extent(), n.result.extent);
  if (!fits && !found->is_initialized())
    if (auto made = resources.replace_cleared<variable_slot>(c.node.text("container"), name, make)) return *made;
  variable_slot& slot = *found;
  if (slot.type() != n.result.type)
    throw invalid_argument("the variable '" + name + "' is " + dtype_name(slot.type()) + ", and this node shares it as " +
                           dtype_name(n.result.type));
  if (!may_equal(slot.extent(), n.result.extent))
    throw invalid_argument("the variable '" + name + "' has shape " + brackets(slot.extent()) + ", and this node shares it with shape " +
                           brackets(n.result.extent));
  return slot;
}

}  // namespace leat::runtime

namespace leat {

LEAT_FUNCTION std::shared_ptr<const session_function> session_functions::find(std::string_view token_text) const {
  const std::lock_guard lock(guard_);
  const auto at = by_token_.find(token_text);
  return at == by_token_.end() ? nullptr : at->second;
}

LEAT_FUNCTION void step_state::start_clock() {
  if (timeout_in_ms > 0 && deadline == std::chrono::steady_clock::time_point::max())
    deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_in_ms);
}

LEAT_FUNCTION void step_interruption::check(std::int64_t chunk) const {
  if (chunk % 4 == 0) step_.check();  // every fourth chunk: reading the clock takes 1 % of a small chunk
  else step_.check_calls();
}

LEAT_FUNCTION const std::string& kernel_node::name() const {
  const std::string* known = known_name.load(std::memory_order_acquire);
  if (known == nullptr) {
    known = &static_cast<const named_nodes&>(*owner->names()).name_text(index);
    known_name.store(known, std::memory_order_release);
  }
  return *known;
}

LEAT_FUNCTION dtype kernel_node::type_of(std::string_view name, dtype otherwise) const {
  return static_cast<dtype>(base_of(attribute<data_type>(name, to_data_type(otherwise))));
}

LEAT_FUNCTION const tensor_value& kernel_context::input(int k) {
  token& t = at(k);
  if (t.variable != nullptr && !t.value) t.value = t.variable->read();
  return t.value;
}

LEAT_FUNCTION tensor_value kernel_context::take(int k) {
  static_cast<void>(input(k));
  return std::move(at(k).value);
}

LEAT_FUNCTION variable_slot& kernel_context::variable(int k) {
  if (at(k).variable == nullptr)
    throw invalid_argument("input " + std::to_string(k) + " must be a variable, and a value was fed in its place");
  return *at(k).variable;
}

LEAT_FUNCTION void kernel_context::set_token(int k, token t) {
  if (k < result_count()) results_[static_cast<std::size_t>(k)] = std::move(t);
}

LEAT_FUNCTION void register_kernel(std::string_view type, operator_kernel k) {
  detail::enter_kernel(type, std::move(k), {});
}

LEAT_FUNCTION void detail::enter_kernel(std::string_view type, operator_kernel k, std::string_view of_class) {
  kernels_by_type().enter(type, &kernel_entry::kernel, std::make_shared<const entered_kernel>(entered_kernel{std::move(k), of_class}));
}

LEAT_FUNCTION std::string_view detail::class_of_kernel(std::string_view type) {
  const auto found = kernels_by_type().find(type, &kernel_entry::kernel);
  return found == nullptr ? std::string_view{} : found->of_class;
}

}  // namespace leat
