#pragma once
// Implementation of step_table.hpp.

#include <leat/cluster/step_table.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

namespace leat::cluster {

LEAT_FUNCTION void task_step::send(std::int64_t edge, tensor_value value) {
  const auto at = to_.find(edge);
  if (at == to_.end()) throw error("sends along an edge that its part has not");
  transport::message m;
  m.number = number_;
  m.edge = static_cast<std::uint32_t>(edge);
  put_tensor(m, value);
  network_.note(at->second, method::tensor, std::move(m));
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
  while (true) {
    {
      const std::lock_guard lock(guard_);
      if (failure_) std::rethrow_exception(failure_);
    }
    if (network_.wait(news_, std::min(step.deadline, std::chrono::steady_clock::now() + std::chrono::milliseconds(20)))) {
      // Not where a tensor is taken: what another edge has brought meanwhile would be overlooked.
      news_.store(false);
      break;
    }
    step.check();
  }
}

LEAT_FUNCTION void task_step::arrive(std::int64_t edge, tensor_value value) {
  {
    const std::lock_guard lock(guard_);
    arrived_.insert_or_assign(edge, std::move(value));
  }
  news_.store(true);
  network_.wake();
}

LEAT_FUNCTION void task_step::fail(std::exception_ptr why) {
  {
    const std::lock_guard lock(guard_);
    if (!failure_) failure_ = std::move(why);
  }
  cancel_.cancel();
  news_.store(true);
  network_.wake();
}

LEAT_FUNCTION std::shared_ptr<task_step> step_table::begin(task_network& network, std::uint64_t number,
                                                           const std::map<std::int64_t, int>& to, const cancellation* cancel) {
  auto step = std::make_shared<task_step>(network, number, to, cancel);
  early before;
  {
    const std::lock_guard lock(guard_);
    if (closed_) std::rethrow_exception(closed_);
    if (has_ended(number) || running_.contains(number))
      throw invalid_argument("the step " + std::to_string(number) + " has begun before at this task");
    running_.emplace(number, step);
    if (const auto at = early_.find(number); at != early_.end()) {
      before = std::move(at->second);
      early_.erase(at);
    }
    for (auto& [edge, value] : before.tensors) step->arrive(edge, std::move(value));
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

LEAT_FUNCTION void step_table::arrive(std::uint64_t number, std::int64_t edge, tensor_value value) {
  const std::lock_guard lock(guard_);
  if (const auto at = running_.find(number); at != running_.end()) return at->second->arrive(edge, std::move(value));
  if (has_ended(number)) return;
  const auto [at, fresh] = early_.try_emplace(number);
  if (fresh) early_order_.push_back(number);
  at->second.tensors.emplace_back(edge, std::move(value));
  while (early_.size() > most_early && !early_order_.empty()) {
    early_.erase(early_order_.front());
    early_order_.pop_front();
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
      const auto [early_at, fresh] = early_.try_emplace(number);
      if (fresh) early_order_.push_back(number);
      early_at->second.failure = why;
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
