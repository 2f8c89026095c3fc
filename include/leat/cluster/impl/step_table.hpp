#pragma once
// Implementation of step_table.hpp.

#include <leat/cluster/step_table.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <iterator>
#include <string>
#include <utility>

namespace leat::cluster {

// Above this total size, a separate message costs little.
inline constexpr std::size_t most_gathered_bytes = 4096;

// The memory of a waiting value, including its bookkeeping.
inline std::size_t held_bytes(const tensor_value& v) {
  std::size_t bytes = 256;
  if (!v) return bytes;
  if (v.type() != text_dtype) return bytes + v.bytes();
  for (const std::string& text : v.texts()) bytes += sizeof text + text.size();
  return bytes;
}

LEAT_FUNCTION int task_step::task_of(std::int64_t edge) const {
  const auto at = to_.find(edge);
  if (at == to_.end()) throw error("sends along an edge that its part has not");
  return at->second;
}

// Called under the lock.
LEAT_FUNCTION task_step::gathered& task_step::gather(int task, std::int64_t edge, tensor_value value) {
  gathered& g = gathered_[task];
  if (is_traced_) {
    if (g.edges.empty()) g.message = ++messages_;
    sent_.push_back({edge, element_bytes(value), g.message, clock_now()});
  }
  g.bytes += value && value.type() != text_dtype ? value.bytes() : 0;
  g.edges.push_back(static_cast<std::uint64_t>(edge));
  g.values.push_back(std::move(value));
  return g;
}

LEAT_FUNCTION void task_step::keep_back(std::int64_t edge, tensor_value value) {
  const int task = task_of(edge);
  const std::lock_guard lock(guard_);
  gather(task, edge, std::move(value));
}

LEAT_FUNCTION void task_step::send(std::int64_t edge, tensor_value value) {
  const int task = task_of(edge);
  gathered full;
  {
    const std::lock_guard lock(guard_);
    gathered& g = gather(task, edge, std::move(value));
    if (g.bytes < most_gathered_bytes) return;
    full = std::exchange(g, {});
  }
  send_waiting(packed(task, std::move(full)));
}

LEAT_FUNCTION bool task_step::try_flush() {
  std::map<int, gathered> all;
  {
    const std::lock_guard lock(guard_);
    all.swap(gathered_);
  }
  for (auto& [task, what] : all) {
    if (what.edges.empty()) continue;
    unsent m = packed(task, std::move(what));
    if (!network_.note_with_room(task, m.what, m.m, steady_time::min())) unsent_.push_back(std::move(m));
  }
  return unsent_.empty();
}

LEAT_FUNCTION void task_step::flush() {
  static_cast<void>(try_flush());
  for (unsent& m : std::exchange(unsent_, {})) send_waiting(std::move(m));
}

LEAT_FUNCTION task_step::unsent task_step::packed(int task, gathered what) const {
  unsent made{task, method::tensor, {}};
  transport::message& m = made.m;
  m.number = number_;
  if (is_traced_) m.flags = traced_flag;
  if (what.edges.size() == 1) {
    m.edge = static_cast<std::uint32_t>(what.edges[0]);
    put_tensor(m, what.values[0]);
  } else {
    made.what = method::tensors;
    m.parts.push_back(transport::frame::of(std::move(what.edges)));
    put_tensors(m, what.values);
  }
  return made;
}

LEAT_FUNCTION void task_step::send_waiting(unsent what) {
  const auto until = [&] { return std::min(deadline_, std::chrono::steady_clock::now() + std::chrono::milliseconds(20)); };
  while (!network_.note_with_room(what.task, what.what, what.m, until())) check();
}

// Throws if a step that waits to send must not continue.
LEAT_FUNCTION void task_step::check() const {
  if (const std::exception_ptr failed = failure()) std::rethrow_exception(failed);
  if (cancel_.is_cancelled()) throw cancelled("Step was cancelled by an explicit call to cancel()");
  if (std::chrono::steady_clock::now() >= deadline_)
    throw deadline_exceeded("Timed out: a task does not take the tensors that the step sends it");
}

LEAT_FUNCTION bool task_step::take(std::int64_t edge, tensor_value& value) {
  const std::lock_guard lock(guard_);
  const auto at = arrived_.find(edge);
  if (at == arrived_.end()) return false;
  value = std::move(at->second);
  arrived_.erase(at);
  return true;
}

LEAT_FUNCTION void task_step::wait(const step_state& step) {
  flush();
  while (true) {
    {
      const std::lock_guard lock(guard_);
      if (failure_) std::rethrow_exception(failure_);
    }
    if (network_.wait(news_, std::min(step.deadline, std::chrono::steady_clock::now() + std::chrono::milliseconds(20)))) {
      // Reset here and not where a tensor is taken: there the arrival on another edge in the meantime would be missed.
      news_.store(false);
      break;
    }
    step.check();
  }
}

LEAT_FUNCTION void task_step::arrive(const std::vector<std::int64_t>& edges, std::vector<tensor_value> values, std::int64_t at) {
  std::function<void()> then;
  {
    const std::lock_guard lock(guard_);
    if (is_traced_)
      for (std::size_t k = 0; k < edges.size(); ++k)
        received_.push_back({edges[k], element_bytes(values[k]), 0, at != 0 ? at : clock_now()});
    for (std::size_t k = 0; k < edges.size(); ++k) arrived_.insert_or_assign(edges[k], std::move(values[k]));
    then = take_then();
  }
  if (then) return then();
  news_.store(true);
  network_.wake();
}

LEAT_FUNCTION std::function<void()> task_step::take_then() {
  return then_ && (failure_ || arrived_.size() >= awaited_) ? std::exchange(then_, nullptr) : nullptr;
}

LEAT_FUNCTION void task_step::when_arrived(std::size_t count, std::function<void()> then) {
  {
    const std::lock_guard lock(guard_);
    awaited_ = count;
    then_ = std::move(then);
    then = take_then();
  }
  if (then) then();
}

LEAT_FUNCTION void task_step::tell(part_statistics& to) {
  const std::lock_guard lock(guard_);
  to.sent = std::move(sent_);
  to.received = std::move(received_);
}

LEAT_FUNCTION void task_step::fail(std::exception_ptr why) {
  std::function<void()> then;
  {
    const std::lock_guard lock(guard_);
    if (!failure_) failure_ = std::move(why);
    then = take_then();
  }
  cancel_.cancel();
  if (then) return then();
  news_.store(true);
  network_.wake();
}

LEAT_FUNCTION std::shared_ptr<task_step> step_table::begin(task_network& network, std::uint64_t number,
                                                           const std::map<std::int64_t, int>& to, const cancellation* cancel,
                                                           bool is_traced, steady_time deadline) {
  auto step = std::make_shared<task_step>(network, number, to, cancel, is_traced, deadline);
  early before;
  {
    const std::lock_guard lock(guard_);
    if (closed_) std::rethrow_exception(closed_);
    if (has_ended(number) || running_.contains(number))
      throw invalid_argument("the step " + std::to_string(number) + " has begun before at this task");
    running_.emplace(number, step);
    if (const auto at = early_.find(number); at != early_.end()) {
      before = std::move(at->second);
      early_bytes_ -= before.bytes;
      early_.erase(at);
    }
    if (dropped_.erase(number) != 0 && !before.failure)
      before.failure = std::make_exception_ptr(
          resource_exhausted("tensors for this step came before it, and were dropped because too many waited for other steps to come"));
    if (is_traced) {
      for (auto& [edge, held] : before.values) step->arrive({edge}, {std::move(held.value)}, held.at);
    } else if (!before.values.empty()) {
      std::vector<std::int64_t> edges;
      std::vector<tensor_value> values;
      for (auto& [edge, held] : before.values) edges.push_back(edge), values.push_back(std::move(held.value));
      step->arrive(edges, std::move(values));
    }
  }
  if (before.failure) step->fail(before.failure);
  return step;
}

LEAT_FUNCTION void step_table::end(std::uint64_t number) {
  const std::lock_guard lock(guard_);
  running_.erase(number);
  if (!ended_.insert(number).second) return;
  ended_order_.push_back(number);
  if (ended_order_.size() > most_ended) {
    ended_.erase(ended_order_.front());
    ended_order_.pop_front();
  }
}

LEAT_FUNCTION void step_table::arrive(std::uint64_t number, const std::vector<std::int64_t>& edges, std::vector<tensor_value> values,
                                      std::uint64_t peer, std::int64_t when, std::shared_ptr<const void> credit) {
  std::unique_lock lock(guard_);
  if (const auto at = running_.find(number); at != running_.end()) {
    const std::shared_ptr<task_step> step = at->second;
    lock.unlock();  // the tensors may complete and end the step
    return step->arrive(edges, std::move(values), when);
  }
  if (has_ended(number)) return;
  early& e = early_of(number);
  e.peer = peer;
  early_bytes_ -= e.bytes;
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const auto [at, fresh] = e.values.try_emplace(edges[k]);
    if (!fresh) e.bytes -= held_bytes(at->second.value);
    e.bytes += held_bytes(values[k]);
    at->second = {std::move(values[k]), when, credit};
  }
  early_bytes_ += e.bytes;
  forget_early();
}

LEAT_FUNCTION void step_table::forget_from(std::uint64_t peer) {
  std::vector<decltype(early::values)> dropped;  // destroyed after the lock is released
  const std::lock_guard lock(guard_);
  for (auto at = early_.begin(); at != early_.end();) {
    early& e = at->second;
    if (e.peer == peer && !e.values.empty()) {
      early_bytes_ -= std::exchange(e.bytes, 0);
      dropped.push_back(std::exchange(e.values, {}));
      if (!e.failure) e.failure = std::make_exception_ptr(unavailable("a task that had sent tensors for this step has gone"));
    }
    if (e.values.empty() && !e.failure) at = early_.erase(at);
    else ++at;
  }
}

LEAT_FUNCTION step_table::early& step_table::early_of(std::uint64_t number) {
  const auto [at, fresh] = early_.try_emplace(number);
  if (fresh) early_order_.push_back(number);
  return at->second;
}

// Drops the tensors of the oldest steps to come, because a step that never begins would never drop them.
LEAT_FUNCTION void step_table::forget_early() {
  while ((early_.size() > most_early || (early_bytes_ > most_early_bytes && early_.size() > 1)) && !early_order_.empty()) {
    if (const auto oldest = early_.find(early_order_.front()); oldest != early_.end()) {
      early_bytes_ -= oldest->second.bytes;
      if (dropped_.insert(oldest->first).second) dropped_order_.push_back(oldest->first);
      early_.erase(oldest);
    }
    early_order_.pop_front();
  }
  while (dropped_order_.size() > most_ended) {
    dropped_.erase(dropped_order_.front());
    dropped_order_.pop_front();
  }
  if (early_order_.size() > 2 * most_early) std::erase_if(early_order_, [&](std::uint64_t n) { return !early_.contains(n); });
}

LEAT_FUNCTION void step_table::fail(std::uint64_t number, std::exception_ptr why) {
  std::shared_ptr<task_step> step;
  {
    const std::lock_guard lock(guard_);
    if (const auto at = running_.find(number); at != running_.end()) {
      step = at->second;
    } else {
      if (has_ended(number)) return;
      early_of(number).failure = why;
      forget_early();
    }
  }
  if (step != nullptr) step->fail(std::move(why));
}

LEAT_FUNCTION void step_table::close(const std::exception_ptr& why) {
  std::vector<std::shared_ptr<task_step>> all;
  {
    const std::lock_guard lock(guard_);
    if (!closed_) closed_ = why;
    for (const auto& [number, step] : running_) all.push_back(step);
  }
  for (const auto& step : all) step->fail(why);
}

}  // namespace leat::cluster
