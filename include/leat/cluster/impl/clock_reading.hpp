#pragma once
// Implementation of clock_reading.hpp.

#include <leat/cluster/clock_reading.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <memory>
#include <mutex>

namespace leat::cluster {

LEAT_FUNCTION clock_reading clock_of_round_trip(std::int64_t sent, std::int64_t received, std::int64_t answered, std::int64_t came_back) {
  for (const std::int64_t time : {sent, received, answered, came_back})
    if (time > last_clock || time < -last_clock) return {};
  const std::int64_t away = (came_back - sent) - (answered - received);
  return {((received - sent) + (answered - came_back)) / 2, away > 0 ? (away + 1) / 2 : 0};
}

LEAT_FUNCTION std::map<int, clock_reading> read_clocks(task_network& network, const std::vector<int>& tasks, steady_time until) {
  std::map<int, clock_reading> best;
  for (int round = 0; round < 3 && !tasks.empty(); ++round) {
    struct asked {
      std::mutex guard;
      std::map<int, clock_reading> found;
      std::size_t open = 0;
      std::atomic<bool> done{false};
    };
    const auto s = std::make_shared<asked>();
    s->open = tasks.size();
    for (const int task : tasks) {
      const std::int64_t sent = clock_now();
      network.call(task, method::clock, {}, until,
                   [s, task, sent, to_wake = &network](const transport::message& answer, const std::exception_ptr& failure) {
                     const std::int64_t now = clock_now();
                     {
                       const std::lock_guard lock(s->guard);
                       if (!failure) {
                         try {
                           const auto told = static_cast<std::int64_t>(words_of(answer, 0, 1)[0]);
                           s->found[task] = clock_of_round_trip(sent, told, told, now);
                         } catch (const error&) {
                           // The answer contains no clock value: treated as no answer.
                         }
                       }
                       if (--s->open > 0) return;
                     }
                     s->done.store(true);
                     to_wake->wake();
                   });
    }
    const bool are_all_there = network.wait(s->done, until);
    const std::lock_guard lock(s->guard);
    for (const auto& [task, reading] : s->found) {
      const auto [known, is_new] = best.try_emplace(task, reading);
      if (!is_new && reading.error < known->second.error) known->second = reading;
    }
    if (!are_all_there) break;
  }
  return best;
}

}  // namespace leat::cluster
