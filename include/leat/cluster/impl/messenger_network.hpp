#pragma once
// Implementation of messenger_network.hpp.

#include <leat/cluster/messenger_network.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <algorithm>

namespace leat::cluster {

LEAT_FUNCTION messenger_network::messenger_network(transport::messenger_options options, std::vector<task_address> tasks)
    : tasks_(std::move(tasks)), links_(tasks_.size()), messenger_(std::move(options)) {
  messenger_.on_ready = [this](transport::peer_id peer, const transport::peer_info& info) {
    if (admits && !admits(info)) return messenger_.hang_up(peer, false);
    if (on_found_peer) on_found_peer(peer, info);
    came(peer, info);
  };
  messenger_.on_gone = [this](transport::peer_id peer, const transport::peer_info&, const transport::departure& why) {
    left(peer, why);
    if (on_lost_peer) on_lost_peer(peer, why);
  };
  messenger_.on_refused = [this](transport::peer_id peer, const transport::departure& why) { left(peer, why); };
}

LEAT_FUNCTION messenger_network::~messenger_network() {
  try {
    messenger_.close(std::chrono::steady_clock::now() + std::chrono::milliseconds(200));
  } catch (const failed_precondition&) {
    // In the child of a fork.
  }
}

LEAT_FUNCTION void messenger_network::start() { messenger_.start(); }

LEAT_FUNCTION void messenger_network::dial(std::unique_lock<std::mutex>& lock, int task) {
  link& l = links_[static_cast<std::size_t>(task)];
  if (l.peer != 0) return;
  const task_address& to = tasks_[static_cast<std::size_t>(task)];
  lock.unlock();
  transport::peer_id peer = 0;
  try {
    peer = messenger_.dial(to.address, {to.job, to.job.empty() ? -1 : to.index, 0});
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
  if (l.peer != 0) {  // another thread was faster, or the task has connected itself
    lock.unlock();
    messenger_.hang_up(peer);
    lock.lock();
    return;
  }
  l.peer = peer;
  task_of_[peer] = task;
  // The peer may have introduced itself, or refused, before its number was known here.
  const auto info = messenger_.info(peer);
  if (info) {
    l.is_ready = info->is_ready;
    return;
  }
  task_of_.erase(peer);
  const std::uint64_t loss = l.loss;
  l = {};
  l.loss = loss;
  lock.unlock();
  messenger_.await(peer, std::chrono::steady_clock::now());  // throws the error of the attempt
  throw unavailable(messenger_.describe(peer));
}

LEAT_FUNCTION void messenger_network::send(transport::peer_id peer, waiting w) {
  if (!w.done) {
    const std::uint64_t number = w.m.number;
    try {
      messenger_.note(peer, std::move(w.m));
    } catch (const std::exception&) {
      if (on_lost_note) on_lost_note(number, std::current_exception());
    }
    return;
  }
  auto done = std::make_shared<answer_handler>(std::move(w.done));
  try {
    messenger_.begin(peer, std::move(w.m), {.deadline = w.deadline},
                     [done](transport::outcome o) { (*done)(std::move(o.answer), o.problem); });
  } catch (const std::exception&) {
    (*done)({}, std::current_exception());
  }
}

LEAT_FUNCTION void messenger_network::call(int task, method what, transport::message m, steady_time deadline, answer_handler done) {
  m.method = static_cast<std::uint16_t>(what);
  waiting w{0, std::move(m), deadline, std::move(done)};
  transport::peer_id peer = 0;
  try {
    std::unique_lock lock(guard_);
    link& l = links_.at(static_cast<std::size_t>(task));
    dial(lock, task);
    if (!l.is_ready) {
      if (l.queue.size() >= 4096)
        throw resource_exhausted(tasks_[static_cast<std::size_t>(task)].name() + " has not introduced itself, and too much waits for it");
      w.ticket = ++last_ticket_;
      const std::uint64_t ticket = w.ticket;
      // Only calls that begin a session wait for tasks to appear. Other calls belong to sessions with tasks that have answered before, so a
      // missing task is gone.
      const bool may_appear = what == method::ping || what == method::create_session;
      const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(3);
      const bool is_lost = !may_appear && patience < deadline;
      const auto until = is_lost ? patience : deadline;
      l.queue.push_back(std::move(w));
      lock.unlock();
      if (until != steady_time::max()) messenger_.transport().at(until, [this, task, ticket, is_lost] { expire(task, ticket, is_lost); });
      return;
    }
    peer = l.peer;
  } catch (const std::exception&) {
    return w.done({}, std::current_exception());
  }
  send(peer, std::move(w));
}

LEAT_FUNCTION transport::peer_id messenger_network::ready_for_note(int task, transport::message& m) {
  std::unique_lock lock(guard_);
  link& l = links_.at(static_cast<std::size_t>(task));
  dial(lock, task);
  if (l.is_ready) return l.peer;
  if (l.queue.size() >= 4096)
    throw resource_exhausted(tasks_[static_cast<std::size_t>(task)].name() + " has not introduced itself, and too much waits for it");
  l.queue.push_back({0, std::move(m), steady_time::max(), {}});
  return 0;
}

LEAT_FUNCTION transport::writable_frame messenger_network::memory_for_task(int task, std::size_t bytes) {
  transport::peer_id peer = 0;
  {
    const std::lock_guard lock(guard_);
    if (const link& l = links_.at(static_cast<std::size_t>(task)); l.is_ready) peer = l.peer;
  }
  return peer == 0 ? transport::writable_frame() : memory_for_peer(peer, bytes);
}

LEAT_FUNCTION void messenger_network::note(int task, method what, transport::message m) {
  m.method = static_cast<std::uint16_t>(what);
  if (const transport::peer_id peer = ready_for_note(task, m)) messenger_.note(peer, std::move(m));
}

LEAT_FUNCTION bool messenger_network::note_with_room(int task, method what, transport::message& m, steady_time until) {
  m.method = static_cast<std::uint16_t>(what);
  const transport::peer_id peer = ready_for_note(task, m);
  return peer == 0 || messenger_.note(peer, m, until);
}

LEAT_FUNCTION void messenger_network::expire(int task, std::uint64_t ticket, bool is_lost) {
  waiting w;
  {
    const std::lock_guard lock(guard_);
    auto& queue = links_[static_cast<std::size_t>(task)].queue;
    const auto at = std::find_if(queue.begin(), queue.end(), [&](const waiting& q) { return q.ticket == ticket; });
    if (at == queue.end()) return;
    w = std::move(*at);
    queue.erase(at);
  }
  const task_address& to = tasks_[static_cast<std::size_t>(task)];
  const std::string who = to.job.empty() ? "the session's target" : to.name();
  if (is_lost) w.done({}, std::make_exception_ptr(unavailable(who + " at " + to.address + " cannot be reached any more")));
  else w.done({}, std::make_exception_ptr(deadline_exceeded(who + " at " + to.address + " has not introduced itself")));
}

LEAT_FUNCTION std::string messenger_network::describe(int task) {
  transport::peer_id peer = 0;
  std::string problem, ended;
  {
    const std::lock_guard lock(guard_);
    peer = links_.at(static_cast<std::size_t>(task)).peer;
    problem = links_[static_cast<std::size_t>(task)].problem;
    if (const auto at = ended_.find(task); at != ended_.end()) {
      const auto since = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - at->second);
      ended = "; it ended in order " + std::to_string(since.count()) + " s ago";
    }
  }
  return (peer == 0 ? problem : messenger_.describe(peer)) + ended;
}

LEAT_FUNCTION std::vector<std::pair<int, std::chrono::milliseconds>> messenger_network::ended() const {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(guard_);
  std::vector<std::pair<int, std::chrono::milliseconds>> all;
  for (const auto& [task, at] : ended_) all.emplace_back(task, std::chrono::duration_cast<std::chrono::milliseconds>(now - at));
  return all;
}

LEAT_FUNCTION std::exception_ptr messenger_network::loss_of(int task, std::uint64_t before) {
  const std::lock_guard lock(guard_);
  const link& l = links_.at(static_cast<std::size_t>(task));
  return l.loss > before ? std::make_exception_ptr(unavailable(l.problem)) : nullptr;
}

LEAT_FUNCTION void messenger_network::came(transport::peer_id peer, const transport::peer_info& info) {
  std::vector<waiting> queue;
  {
    const std::lock_guard lock(guard_);
    int task = -1;
    if (const auto known = task_of_.find(peer); known != task_of_.end()) {
      task = known->second;
    } else if (info.is_accepted && !info.who.job.empty()) {
      for (std::size_t k = 0; k < tasks_.size(); ++k)
        if (tasks_[k].job == info.who.job && tasks_[k].index == info.who.task) task = static_cast<int>(k);
      // A connection that this process made to the same task is preferred.
      if (task < 0 || links_[static_cast<std::size_t>(task)].peer != 0) return;
      task_of_[peer] = task;
      links_[static_cast<std::size_t>(task)].peer = peer;
    }
    if (task < 0) return;
    links_[static_cast<std::size_t>(task)].is_ready = true;
    ended_.erase(task);
    queue.swap(links_[static_cast<std::size_t>(task)].queue);
  }
  for (waiting& w : queue) send(peer, std::move(w));
}

LEAT_FUNCTION void messenger_network::left(transport::peer_id peer, const transport::departure& why) {
  std::vector<waiting> queue;
  {
    const std::lock_guard lock(guard_);
    if (const auto known = task_of_.find(peer); known != task_of_.end()) {
      link& l = links_[static_cast<std::size_t>(known->second)];
      if (l.peer == peer) {
        queue.swap(l.queue);
        l = {};
        l.problem = why.text;
        l.loss = ++losses_;
        if (why.is_orderly) ended_[known->second] = std::chrono::steady_clock::now();
      }
      task_of_.erase(known);
    }
  }
  const std::exception_ptr problem = transport::exception_of(why.code, why.text);
  for (waiting& w : queue) {
    if (w.done) w.done({}, problem);
    else if (on_lost_note) on_lost_note(w.m.number, problem);
  }
}

}  // namespace leat::cluster
