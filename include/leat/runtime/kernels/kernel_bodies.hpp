#pragma once
// Implementation of kernel.hpp.

#include <leat/core/function_bodies.hpp>
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
  auto& table = detail::kernels_by_type();
  const std::lock_guard lock(table.guard);
  const auto at = table.by_type.find(std::string(type));
  return at == table.by_type.end() ? nullptr : &at->second;
}

LEAT_FUNCTION std::vector<std::string> kernel_types() {
  auto& table = detail::kernels_by_type();
  const std::lock_guard lock(table.guard);
  std::vector<std::string> types;
  for (const auto& [type, kernel] : table.by_type) types.push_back(type);
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
  variable_slot& slot = *c.step.session.resources.find_or_make<variable_slot>(
      c.node.text("container"), name, [&] { return std::make_shared<variable_slot>(name, n.result.type, n.result.extent); });
  if (slot.type() != n.result.type)
    throw invalid_argument("the variable '" + name + "' is " + dtype_name(slot.type()) + ", and this node shares it as " +
                           dtype_name(n.result.type));
  if (!may_equal(slot.extent(), n.result.extent))
    throw invalid_argument("the variable '" + name + "' has shape " + brackets(slot.extent()) + ", and this node shares it with shape " +
                           brackets(n.result.extent));
  return slot;
}

}  // namespace leat::runtime
