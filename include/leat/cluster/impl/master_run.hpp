#pragma once
// Implementation of master.hpp: steps.

#include <leat/cluster/impl/master_state.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <algorithm>
#include <utility>

namespace leat::cluster {

// Handles a task's answer to a traced step. Invalid statistics do not make the step fail.
LEAT_FUNCTION void master::hear(running& step, std::size_t part, const transport::frame* told, std::span<const tensor_value> values) {
  told_of_part heard;
  heard.answered = clock_now();
  heard.fetched_bytes = element_bytes(values);
  if (told != nullptr) {
    try {
      heard.its = part_statistics_of(*told);
      heard.missing.clear();
    } catch (const std::exception& e) {
      heard.missing = e.what();
    }
  }
  const std::lock_guard lock(step.guard);
  told_of_part& its = step.told[part];
  heard.clock = its.clock;
  heard.asked = its.asked;
  heard.fed_bytes = its.fed_bytes;
  if (heard.missing.empty()) {
    // The step itself is a round trip, too, and may give a better clock reading.
    const clock_reading by_step = clock_of_round_trip(heard.asked, heard.its.began, heard.its.ended, heard.answered);
    if (by_step.error < heard.clock.error) heard.clock = by_step;
    if (heard.clock.error >= last_clock) heard.missing = "its clock is beyond all that can be compared";
  }
  its = std::move(heard);
}

// The statistics of all tasks' parts, converted to this task's clock.
LEAT_FUNCTION step_statistics master::gathered(const prepared_run& what, std::vector<told_of_part> parts) const {
  step_statistics all;
  trace_of_tasks& to = all.told;
  std::map<int, int> number;  // by task
  const auto number_of = [&](int task) {
    const auto [at, is_new] = number.try_emplace(task, static_cast<int>(to.tasks.size()));
    if (is_new) to.tasks.push_back({devices_[static_cast<std::size_t>(task)], 0});
    return at->second;
  };
  static_cast<void>(number_of(own_));
  struct passed {
    const passed_tensor* sent = nullptr;
    const passed_tensor* received = nullptr;
    std::int64_t given = 0, taken = 0;
  };
  std::map<std::int64_t, passed> edges;
  const auto edge_of = [&](const passed_tensor& p, int from, int to_task) {
    if (static_cast<std::size_t>(p.edge) >= what.edges.size()) return false;
    const cut_edge& e = what.edges[static_cast<std::size_t>(p.edge)];
    return (from < 0 || e.from == from) && (to_task < 0 || e.to == to_task);
  };
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const int task = what.parts[k].task;
    told_of_part& p = parts[k];
    const int here = number_of(task);
    const std::string& device = devices_[static_cast<std::size_t>(task)];
    const bool is_missing = !p.missing.empty();
    if (is_missing) to.gaps.push_back({device, p.missing, 0});
    const auto local = [offset = p.clock.offset](std::int64_t time) { return time - offset; };
    if (!is_missing) {
      to.tasks[static_cast<std::size_t>(here)].clock_error = p.clock.error;
      for (trace_event& e : p.its.events) {
        e.begin = local(e.begin);
        e.end = local(e.end);
        e.task = here;
        to.events.push_back(std::move(e));
      }
      if (p.its.left_out > 0)
        to.gaps.push_back({device, "its last " + std::to_string(p.its.left_out) + " events are too many to be told", 0});
      for (const passed_tensor& t : p.its.sent)
        if (edge_of(t, task, -1)) edges[t.edge].sent = &t, edges[t.edge].given = local(t.at);
      for (const passed_tensor& t : p.its.received)
        if (edge_of(t, -1, task)) edges[t.edge].received = &t, edges[t.edge].taken = local(t.at);
    }
    if (task == own_) continue;
    // Transfers of the order to run the part, and of its answer. Messages that tasks number themselves have positive numbers.
    const std::int64_t began = is_missing ? p.asked : local(p.its.began), ended = is_missing ? p.answered : local(p.its.ended);
    to.transfers.push_back({"feeds", number_of(own_), here, p.fed_bytes, -1 - static_cast<std::int64_t>(k), p.asked, began, 0});
    to.transfers.push_back({"fetches", here, number_of(own_), p.fetched_bytes, -1, ended, p.answered, 0});
  }
  for (const auto& [edge, p] : edges) {
    const cut_edge& e = what.edges[static_cast<std::size_t>(edge)];
    const passed_tensor& known = p.sent != nullptr ? *p.sent : *p.received;
    to.transfers.push_back({e.tensor, number_of(e.from), number_of(e.to), known.bytes,
                            p.sent != nullptr ? p.sent->message : -1000000 - edge, p.sent != nullptr ? p.given : p.taken,
                            p.received != nullptr ? p.taken : p.given, 0});
  }
  return all;
}

// A task that has ended its part may be lost before other tasks have received what it sent them.
LEAT_FUNCTION std::exception_ptr master::lost_sender(const prepared_run& what, std::uint64_t losses_before) const {
  for (const cut_edge& e : what.edges) {
    if (e.from == own_) continue;
    if (const std::exception_ptr why = network_.loss_of(e.from, losses_before)) return why;
  }
  return nullptr;
}

LEAT_FUNCTION std::vector<tensor_value> master::run(std::uint64_t session, std::uint64_t prepared, std::span<const tensor_value> feeds,
                                                    steady_time deadline, const cancellation* cancel, traced_run* traced) {
  std::shared_ptr<const prepared_run> what;
  {
    const auto kept = find(session);
    const std::lock_guard lock(kept->guard);
    const auto at = kept->prepared.find(prepared);
    if (at == kept->prepared.end()) throw invalid_argument("the session has prepared no run " + std::to_string(prepared));
    what = at->second;
  }
  if (static_cast<int>(feeds.size()) != what->feeds)
    throw invalid_argument(std::to_string(feeds.size()) + " values for " + std::to_string(what->feeds) + " feeds");
  const std::uint64_t number = next_step_.fetch_add(1);
  auto state = std::make_shared<running>();
  state->values.resize(static_cast<std::size_t>(what->fetches));
  state->left = static_cast<int>(what->parts.size());
  state->done = state->news = what->parts.empty();
  for (const auto& [fetch, feed] : what->passed) state->values[static_cast<std::size_t>(fetch)] = feeds[static_cast<std::size_t>(feed)];

  // Called once for each part, by any thread.
  const auto ended = [state, what, network = &network_](std::size_t part, std::vector<tensor_value> values, std::exception_ptr failure) {
    {
      const std::lock_guard lock(state->guard);
      if (failure) {
        if (!state->failure) state->failure = failure;
        state->news.store(true);
      } else {
        const auto& fetches = what->parts[part].fetches;
        for (std::size_t k = 0; k < fetches.size(); ++k) state->values[static_cast<std::size_t>(fetches[k])] = std::move(values[k]);
      }
      if (--state->left == 0) {
        state->done.store(true);
        state->news.store(true);
      }
    }
    network->wake();
  };
  const auto end_all = [&](const std::exception_ptr& why) {
    for (const auto& p : what->parts) {
      if (p.task == own_) {
        own_worker_.fail(number, why);
        continue;
      }
      try {
        transport::message m;
        m.number = number;
        network_.note(p.task, method::cancel_step, std::move(m));
      } catch (const std::exception&) {
        // A task that cannot be reached is not notified.
      }
    }
  };

  const bool is_traced = traced != nullptr && has_statistics(traced->level);
  if (is_traced) {
    state->told.resize(what->parts.size());
    std::vector<int> others;
    for (const auto& p : what->parts)
      if (p.task != own_) others.push_back(p.task);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(250);
    const auto clocks = read_clocks(network_, others, std::min(deadline, patience));
    for (std::size_t k = 0; k < what->parts.size(); ++k)
      if (const auto read = clocks.find(what->parts[k].task); read != clocks.end()) state->told[k].clock = read->second;
  }

  const std::uint64_t losses_before = network_.losses();
  const auto fed = [&](const prepared_run::part& p) {
    std::vector<tensor_value> values;
    values.reserve(p.feeds.size());
    for (const int f : p.feeds) values.push_back(feeds[static_cast<std::size_t>(f)]);
    return values;
  };
  worker* const own_worker = what->own >= 0 ? &own_worker_ : nullptr;
  // All messages are made before the first is sent, so that a value that cannot be sent fails the step before it begins.
  std::vector<transport::message> calls(what->parts.size());
  for (std::size_t k = 0; k < what->parts.size(); ++k) {
    const auto& p = what->parts[k];
    if (p.task == own_) continue;
    put_words(calls[k], {number, p.number});
    const std::vector<tensor_value> its_feeds = fed(p);
    put_tensors(calls[k], its_feeds);
    if (traced != nullptr) calls[k].edge = static_cast<std::uint32_t>(traced->level);
    if (is_traced) {
      const std::lock_guard lock(state->guard);
      state->told[k].fed_bytes = element_bytes(its_feeds);
    }
  }
  for (std::size_t k = 0; k < what->parts.size(); ++k) {
    const auto& p = what->parts[k];
    if (p.task == own_) continue;
    if (is_traced) {
      const std::lock_guard lock(state->guard);
      state->told[k].asked = clock_now();
    }
    network_.call(p.task, method::run_part, std::move(calls[k]), deadline,
                  [ended, state, k, count = p.fetches.size(), own_worker, number](transport::message answer, std::exception_ptr failure) {
                    std::vector<tensor_value> found;
                    if (!failure) {
                      try {
                        const bool is_told = has_statistics(level_in(answer.edge));
                        found = tensors_of(answer, is_told ? 1 : 0);
                        if (!state->told.empty()) hear(*state, k, is_told ? &answer.parts[0] : nullptr, found);
                        state->note_time(static_cast<std::int64_t>(answer.mark));
                        if (found.size() != count)
                          throw data_loss("a task answers a step with " + std::to_string(found.size()) + " values");
                      } catch (const std::exception&) {
                        failure = std::current_exception();
                      }
                    }
                    ended(k, std::move(found), failure);
                    if (failure && own_worker != nullptr) own_worker->fail(number, failure);
                  });
  }
  if (what->own >= 0) {
    const auto k = static_cast<std::size_t>(what->own);
    try {
      step_order order{.number = number, .deadline = deadline, .cancel = cancel};
      part_statistics told;
      if (is_traced) {
        order.traced = traced->level;
        order.statistics = &told;
      }
      if (traced != nullptr) told.began = clock_now();
      std::vector<tensor_value> values = own_worker_.run_part(what->parts[k].number, order, fed(what->parts[k]));
      if (traced != nullptr) {
        told.ended = clock_now();
        state->note_time(told.ended - told.began);
      }
      if (is_traced) {
        const std::lock_guard lock(state->guard);
        state->told[k].its = std::move(told);
        state->told[k].clock = {0, 0};
        state->told[k].missing.clear();
      }
      ended(k, std::move(values), nullptr);
    } catch (const std::exception&) {
      ended(k, {}, std::current_exception());
    }
  }

  // Waits until all tasks have answered, or the step has failed. Neither a cancellation nor the loss of a task that has answered wakes this
  // thread, so both are polled.
  while (!state->news.load()) {
    const auto now = std::chrono::steady_clock::now();
    std::exception_ptr why;
    if (cancel != nullptr && cancel->is_cancelled())
      why = std::make_exception_ptr(cancelled("Step was cancelled by an explicit call to cancel()"));
    else if (now >= deadline)
      why = std::make_exception_ptr(
          deadline_exceeded("Timed out: not all of " + std::to_string(what->parts.size()) + " tasks have ended the step"));
    else if (network_.losses() != losses_before) why = lost_sender(*what, losses_before);
    if (why) {
      const std::lock_guard lock(state->guard);
      if (!state->failure) state->failure = why;
      break;
    }
    const std::chrono::milliseconds patience(cancel == nullptr ? 100 : 20);
    static_cast<void>(network_.wait(state->news, std::min(deadline, now + patience)));
  }
  std::exception_ptr failure;
  {
    const std::lock_guard lock(state->guard);
    if (!state->failure) {
      if (traced != nullptr) traced->slowest_part = state->slowest_part;
      if (is_traced) {
        const auto began = traced->statistics.began;
        traced->statistics = gathered(*what, std::move(state->told));
        traced->statistics.began = began;
      }
      return std::move(state->values);
    }
    failure = state->failure;
  }
  // Notifies the other tasks of the failure, and waits up to a second for them to end the step.
  end_all(failure);
  static_cast<void>(network_.wait(state->done, std::chrono::steady_clock::now() + std::chrono::seconds(1)));
  std::rethrow_exception(failure);
}

LEAT_FUNCTION tensor_value master::feed_memory(std::uint64_t session, std::uint64_t prepared, std::size_t feed, dtype type,
                                               const shape& extent) {
  const auto kept = find(session);
  std::shared_ptr<const prepared_run> what;
  {
    const std::lock_guard lock(kept->guard);
    const auto at = kept->prepared.find(prepared);
    if (at == kept->prepared.end()) return {};
    what = at->second;
  }
  for (const auto& p : what->parts)
    if (p.task != own_ && std::find(p.feeds.begin(), p.feeds.end(), static_cast<int>(feed)) != p.feeds.end())
      return placed_value(type, extent, [&](std::size_t bytes) { return network_.memory_for_task(p.task, bytes); });
  return {};
}

}  // namespace leat::cluster
