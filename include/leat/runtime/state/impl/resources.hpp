#pragma once
// Implementation of resources.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/resources.hpp>

namespace leat {

LEAT_FUNCTION void resource_table::clear(std::string_view container) {
  const std::lock_guard lock(guard_);
  std::erase_if(table_, [&](const auto& entry) {
    if (!container.empty() && entry.first.first != container) return false;
    auto* variable = dynamic_cast<variable_slot*>(entry.second.get());
    if (variable != nullptr) {
      variable->clear();
      cleared_.insert(variable);
    }
    return variable == nullptr;
  });
}

LEAT_FUNCTION void variable_slot::assign(tensor_value value) {
  value = value.kept();
  const std::lock_guard lock(guard_);
  value_ = std::move(value);
}

}  // namespace leat
