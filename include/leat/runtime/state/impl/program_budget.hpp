#pragma once
// Implementation of program_budget.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/program_budget.hpp>

namespace leat {

LEAT_FUNCTION void program_budget::trim(const budgeted_program* newest) {
  const std::lock_guard lock(guard_);
  std::vector<program_use> all = uses();
  std::int64_t held = 0;
  for (const program_use& u : all) held += u.bytes;
  const std::int64_t most = most_.load(std::memory_order_relaxed);
  if (held <= most) return;
  std::sort(all.begin(), all.end(), [](const program_use& a, const program_use& b) { return a.used < b.used; });
  for (const program_use& u : all) {
    if (held <= most) break;
    if (u.program == newest) continue;
    u.holder->drop(u.program);
    held -= u.bytes;
  }
}

LEAT_FUNCTION std::int64_t program_budget::held() {
  const std::lock_guard lock(guard_);
  std::int64_t bytes = 0;
  for (const program_use& u : uses()) bytes += u.bytes;
  return bytes;
}

LEAT_FUNCTION std::vector<program_use> program_budget::uses() {
  std::vector<program_use> all;
  for (program_holder* h : holders_) h->list(all);
  return all;
}

}  // namespace leat
