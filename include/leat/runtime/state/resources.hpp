#pragma once
// State that a session keeps between runs: variables, queues and other resources, by container and name. A variable's value is read and
// replaced under its own lock. Readers share its elements, and a writer that is not the only holder copies them first, so that a value once
// read does not change.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace leat {

/// A variable's storage in a session.
class variable_slot final : public resource {
 public:
  variable_slot(std::string name, dtype type, const shape& extent) : name_(std::move(name)), type_(type), extent_(extent) {}

  const std::string& name() const { return name_; }
  dtype type() const { return type_; }
  /// The shape according to the graph.
  const shape& extent() const { return extent_; }

  bool is_initialized() const {
    const std::lock_guard lock(guard_);
    return static_cast<bool>(value_);
  }
  /// The current value. Errors: failed_precondition if it has none.
  tensor_value read() const {
    const std::lock_guard lock(guard_);
    if (!value_) fail();
    return value_;
  }
  /// Replaces the value; borrowed elements are copied.
  void assign(tensor_value value);
  /// Like `assign`, without copying borrowed elements: their owner keeps them alive.
  void adopt(tensor_value value) {
    const std::lock_guard lock(guard_);
    value_ = std::move(value);
  }
  void clear() {
    const std::lock_guard lock(guard_);
    value_ = {};
  }
  /// Calls `check` with the value, then `change` with the value unshared. If `check` throws, the variable is unchanged; `change` must not
  /// throw. Errors: failed_precondition if there is no value; those of `check`.
  template <class Check, class Change>
  void update(Check check, Change change) {
    const std::lock_guard lock(guard_);
    if (!value_) fail();
    check(std::as_const(value_));
    if (!value_.is_alone()) value_ = value_.copy();
    change(value_);
  }
  /// The lock and, while it is held, the value, for steps that read and write several variables.
  std::mutex& guard() { return guard_; }
  tensor_value& locked_value() { return value_; }
  /// Prefetches the lock and the value into the processor's cache; `elements` is the last known address of the elements.
  void fetch(const std::byte* elements) const {
    __builtin_prefetch(&guard_);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(&guard_) + 64);
    if (elements != nullptr) __builtin_prefetch(elements - 64);  // the buffer's header precedes them
  }
  [[noreturn]] void fail() const { throw failed_precondition("Attempting to use uninitialized value " + name_); }

 private:
  std::string name_;
  dtype type_;
  shape extent_;
  alignas(64) mutable std::mutex guard_;
  tensor_value value_;  // with the lock, two cache lines
};

/// Resources by container and name. Thread-safe.
class resource_table {
 public:
  /// The resource; `make` creates it if there is none. Errors: invalid_argument if it is of another class.
  template <class R, class Make>
  std::shared_ptr<R> find_or_make(std::string_view container, const std::string& name, Make make) {
    const std::lock_guard lock(guard_);
    std::pair<std::string, std::string> key(container, name);
    auto at = table_.find(key);
    if (at == table_.end()) at = table_.emplace(std::move(key), make()).first;
    auto found = std::dynamic_pointer_cast<R>(at->second);
    if (found == nullptr) throw invalid_argument("the resource '" + name + "' is of another kind");
    return found;
  }
  /// The resource, or null.
  std::shared_ptr<resource> find(std::string_view container, const std::string& name) const {
    const std::lock_guard lock(guard_);
    const auto at = table_.find({std::string(container), name});
    return at == table_.end() ? nullptr : at->second;
  }
  /// Replaces a variable that `clear` has emptied, so that it can have another dtype or shape; null if it was not emptied. The old one
  /// stays allocated, because programs may refer to it.
  template <class R, class Make>
  std::shared_ptr<R> replace_cleared(std::string_view container, const std::string& name, Make make) {
    const std::lock_guard lock(guard_);
    const auto at = table_.find({std::string(container), name});
    if (at == table_.end() || !cleared_.contains(at->second.get())) return nullptr;
    std::shared_ptr<R> made = make();
    replaced_.push_back(made);
    cleared_.erase(at->second.get());
    replaced_.back().swap(at->second);
    return made;
  }
  /// Calls `f(container, name, resource)` for each resource.
  template <class F>
  void for_each(F f) const {
    const std::lock_guard lock(guard_);
    for (const auto& [key, held] : table_) f(key.first, key.second, *held);
  }
  /// Removes the resources of a container; of all containers if no name is given. Variables lose their values but stay allocated, because
  /// programs refer to them.
  void clear(std::string_view container = {});

 private:
  mutable std::mutex guard_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<resource>> table_;
  std::set<const resource*> cleared_;
  std::vector<std::shared_ptr<resource>> replaced_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/runtime/state/impl/resources.hpp>
#endif
