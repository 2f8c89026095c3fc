#pragma once
// Implementation of master.hpp: sessions, their graphs, and what is prepared at the tasks.

#include <leat/cluster/impl/master_run.hpp>
#include <leat/cluster/impl/master_state.hpp>
#include <leat/cluster/impl/master_variables.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/placement/place.hpp>
#include <leat/proto/producer.hpp>

#include <algorithm>
#include <iostream>

namespace leat::cluster {

LEAT_FUNCTION master::master(task_network& network, worker& own_worker, std::vector<std::string> devices,
                             std::vector<std::string> addresses, int own)
    : network_(network), own_worker_(own_worker), devices_(std::move(devices)), addresses_(std::move(addresses)), own_(own) {
  next_step_ = random_() & ~std::uint64_t{0xffffffff};
}

LEAT_FUNCTION master::~master() = default;

LEAT_FUNCTION transport::message master::ask(int task, method what, transport::message m, steady_time deadline) {
  struct state {
    std::mutex guard;
    transport::message answer;
    std::exception_ptr failure;
    std::atomic<bool> done{false};
  };
  auto s = std::make_shared<state>();
  network_.call(task, what, std::move(m), deadline, [s, network = &network_](transport::message answer, std::exception_ptr failure) {
    {
      const std::lock_guard lock(s->guard);
      s->answer = std::move(answer);
      s->failure = std::move(failure);
    }
    s->done.store(true);
    network->wake();
  });
  if (!network_.wait(s->done, deadline)) throw deadline_exceeded("no answer from " + task_text(task));
  const std::lock_guard lock(s->guard);
  if (s->failure) std::rethrow_exception(s->failure);
  return std::move(s->answer);
}

// The incarnation in a task's answer to a ping; 0 if it has none.
inline std::uint64_t incarnation_in(const transport::message& answer) {
  try {
    return words_of(answer, 0, 1)[0];
  } catch (const error&) {
    return 0;
  }
}

LEAT_FUNCTION std::uint64_t master::create_session(const master_session_options& options, const cancellation* cancel) {
  auto kept = std::make_shared<session_kept>();
  kept->options = options;
  const auto passes = [&](int task) {
    if (task == own_ || options.device_filters.empty()) return true;
    const device_spec device = parse_device(devices_[static_cast<std::size_t>(task)]);
    return std::any_of(options.device_filters.begin(), options.device_filters.end(), [&](const std::string& text) {
      const device_spec filter = parse_device(text);
      return (!filter.job || filter.job == device.job) && (!filter.task || filter.task == device.task) &&
             (!filter.replica || filter.replica == device.replica);
    });
  };
  for (int task = 0; task < static_cast<int>(devices_.size()); ++task) {
    if (!passes(task)) continue;
    if (task == own_) kept->own = static_cast<int>(kept->tasks.size());
    kept->tasks.push_back(task);
    kept->devices.push_back(devices_[static_cast<std::size_t>(task)]);
  }
  // All tasks are called at once; a task that could not be reached is called again until the deadline.
  struct asked {
    std::mutex guard;
    std::map<int, std::string> open;  // result of the last attempt
    std::vector<int> to_ask;
    std::map<int, std::uint64_t> incarnations;
    std::atomic<bool> done{false};
  };
  auto waiting = std::make_shared<asked>();
  for (const int task : kept->tasks)
    if (task != own_) waiting->open.emplace(task, ""), waiting->to_ask.push_back(task);
  waiting->done = waiting->open.empty();
  const auto those_who_are_missing = [&] {
    std::map<int, std::string> open;
    {
      const std::lock_guard lock(waiting->guard);
      open = waiting->open;
    }
    std::string text = "of " + std::to_string(kept->tasks.size()) + " tasks, " + std::to_string(open.size()) + " did not answer:";
    for (const auto& [task, met] : open) {
      const std::string known = network_.describe(task);
      text += "\n\t" + task_text(task) + ": " + (known.empty() ? met : known);
    }
    return text;
  };
  // Most sessions start within the first second; only slower ones are logged.
  const auto began = std::chrono::steady_clock::now();
  auto next_line = began + std::chrono::seconds(1);
  while (!waiting->done.load()) {
    std::vector<int> now_asked;
    {
      const std::lock_guard lock(waiting->guard);
      now_asked.swap(waiting->to_ask);
    }
    for (const int task : now_asked)
      network_.call(task, method::ping, {}, options.deadline,
                    [waiting, task, network = &network_](const transport::message& answer, std::exception_ptr failure) {
                      {
                        const std::lock_guard lock(waiting->guard);
                        if (failure) {
                          waiting->open[task] = text_of(failure);
                          waiting->to_ask.push_back(task);
                          return;
                        }
                        waiting->incarnations[task] = incarnation_in(answer);
                        waiting->open.erase(task);
                        if (!waiting->open.empty()) return;
                      }
                      waiting->done.store(true);
                      network->wake();
                    });
    if (cancel != nullptr && cancel->is_cancelled()) throw cancelled("the start of a session was cancelled: its client or the server ends");
    const auto now = std::chrono::steady_clock::now();
    if (now >= options.deadline) break;
    if (now >= next_line) {
      const auto waited = std::chrono::duration_cast<std::chrono::seconds>(now - began).count();
      (options.log != nullptr ? *options.log : std::cerr)
          << "A session waits for its tasks, since " + std::to_string(waited) + " s: " + those_who_are_missing() + "\n"
          << std::flush;
      next_line = now + std::chrono::seconds(10);
    }
    static_cast<void>(network_.wait(waiting->done, std::min(options.deadline, now + std::chrono::milliseconds(50))));
  }
  if (!waiting->done.load()) {
    throw deadline_exceeded("The session's start timed out: " + those_who_are_missing() +
                            "\n\tStart them, or leave them out by session_options::device_filters");
  }
  {
    const std::lock_guard lock(waiting->guard);
    kept->incarnations = waiting->incarnations;
  }
  const std::lock_guard lock(guard_);
  kept->number = random_();
  sessions_.emplace(kept->number, kept);
  return kept->number;
}

LEAT_FUNCTION void master::extend_session(std::uint64_t session, const graph_def& more) {
  const auto kept = find(session);
  const std::lock_guard lock(kept->guard);
  graph_def whole = kept->def;
  whole.nodes.insert(whole.nodes.end(), more.nodes.begin(), more.nodes.end());
  whole.versions = versions_to_write(whole.nodes, more.versions);
  whole.library = more.library;
  auto g = std::make_unique<graph>();
  import_graph(*g, whole, {.name = ""});
  std::vector<int> places = place(*g, {kept->devices, kept->own, kept->options.allow_soft_placement});
  kept->def = std::move(whole);
  kept->g = std::move(g);
  kept->places = std::move(places);
}

LEAT_FUNCTION std::uint64_t master::prepare(std::uint64_t session, const run_names& names, steady_time deadline) {
  const auto kept = find(session);
  const std::lock_guard lock(kept->guard);
  if (kept->g == nullptr) throw failed_precondition("The Session graph is empty. Add operations to the graph before calling run().");
  graph& g = *kept->g;
  partition_request request;
  for (const std::string& f : names.fetches) request.fetches.push_back(get_tensor_by_name(g, f));
  for (const std::string& t : names.targets) request.targets.push_back(get_operation_by_name(g, t).index());
  for (const std::string& f : names.feeds) request.feeds.push_back(get_tensor_by_name(g, f));
  partitioned_graph cut = partition(g, request, kept->places, kept->devices);

  auto made = std::make_shared<prepared_run>();
  struct unless_done {
    master& m;
    const std::shared_ptr<prepared_run>& made;
    bool done = false;
    ~unless_done() {
      if (!done) m.drop_parts_of(*made);
    }
  } registered{*this, made};
  made->fetches = static_cast<int>(names.fetches.size());
  made->feeds = static_cast<int>(names.feeds.size());
  made->passed = cut.passed;
  made->edges = cut.edges;
  for (cut_edge& e : made->edges) {
    e.from = kept->tasks[static_cast<std::size_t>(e.from)];
    e.to = kept->tasks[static_cast<std::size_t>(e.to)];
  }
  for (graph_part& p : cut.parts) {
    part_order order;
    order.session = session;
    order.def = std::move(p.def);
    order.targets = std::move(p.targets);
    prepared_run::part part;
    part.task = kept->tasks[static_cast<std::size_t>(p.device)];
    for (const auto& f : p.feeds) {
      order.feeds.push_back(f.placeholder);
      part.feeds.push_back(f.feed);
    }
    for (const auto& f : p.fetches) {
      order.fetches.push_back(f.tensor);
      part.fetches.push_back(f.fetch);
    }
    for (const int e : p.sends) order.sends.emplace(e, kept->tasks[static_cast<std::size_t>(cut.edges[static_cast<std::size_t>(e)].to)]);
    if (const auto known = kept->incarnations.find(part.task); known != kept->incarnations.end()) order.incarnation = known->second;
    if (part.task == own_) {
      part.number = own_worker_.register_part(order);
    } else {
      transport::message m;
      put_part(m, order);
      part.number = words_of(ask(part.task, method::register_part, std::move(m), deadline), 0, 1)[0];
    }
    if (part.task == own_) made->own = static_cast<int>(made->parts.size());
    made->parts.push_back(std::move(part));
  }
  const std::uint64_t number = ++kept->last_prepared;
  kept->prepared.emplace(number, made);
  registered.done = true;
  return number;
}

LEAT_FUNCTION void master::drop_parts_of(const prepared_run& run) noexcept {
  for (const auto& part : run.parts) {
    try {
      if (part.task == own_) {
        own_worker_.drop_part(part.number);
        continue;
      }
      transport::message m;
      m.number = part.number;
      network_.note(part.task, method::drop_part, std::move(m));
    } catch (const std::exception&) {
      // The part is dropped with the session.
    }
  }
}

LEAT_FUNCTION void master::drop_run(std::uint64_t session, std::uint64_t prepared) {
  const auto kept = find(session);
  std::shared_ptr<const prepared_run> dropped;
  {
    const std::lock_guard lock(kept->guard);
    const auto at = kept->prepared.find(prepared);
    if (at == kept->prepared.end()) return;
    dropped = std::move(at->second);
    kept->prepared.erase(at);
  }
  drop_parts_of(*dropped);
}

LEAT_FUNCTION std::vector<std::pair<std::string, std::string>> master::placement(std::uint64_t session) {
  const auto kept = find(session);
  const std::lock_guard lock(kept->guard);
  std::vector<std::pair<std::string, std::string>> list;
  if (kept->g == nullptr) return list;
  for (int i = 0; i < kept->g->size(); ++i)
    list.emplace_back(kept->g->named().record(i).name, kept->devices[static_cast<std::size_t>(kept->places[static_cast<std::size_t>(i)])]);
  return list;
}

LEAT_FUNCTION std::vector<std::string> master::devices(std::uint64_t session) { return find(session)->devices; }

LEAT_FUNCTION std::uint64_t master::sessions_open() {
  const std::lock_guard lock(guard_);
  return sessions_.size();
}

LEAT_FUNCTION void master::close_session(std::uint64_t session) {
  std::shared_ptr<session_kept> kept;
  {
    const std::lock_guard lock(guard_);
    const auto at = sessions_.find(session);
    if (at == sessions_.end()) return;
    kept = std::move(at->second);
    sessions_.erase(at);
  }
  for (const int task : kept->tasks) {
    if (task == own_) {
      own_worker_.drop_parts(session);
      continue;
    }
    try {
      transport::message m;
      m.number = session;
      network_.note(task, method::drop_parts, std::move(m));
    } catch (const std::exception&) {
      // The task cannot be reached, so there is nothing to drop.
    }
  }
}

LEAT_FUNCTION void master::reset(const std::string& container, steady_time deadline) {
  own_worker_.reset(container);
  for (int task = 0; task < static_cast<int>(devices_.size()); ++task) {
    if (task == own_) continue;
    transport::message m;
    m.parts.push_back(transport::frame::copy_of(container));
    static_cast<void>(ask(task, method::reset, std::move(m), deadline));
  }
}

}  // namespace leat::cluster
