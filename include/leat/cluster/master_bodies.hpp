#pragma once
// Implementation of master.hpp.

#include <leat/cluster/master.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/placement/place.hpp>

#include <algorithm>

namespace leat::cluster {

struct master::prepared_run {
  struct part {
    int task = 0;
    std::uint64_t number = 0;  // at the task
    std::vector<int> feeds;    // the run's, in the part's order
    std::vector<int> fetches;
  };
  std::vector<part> parts;
  std::vector<cut_edge> edges;  // between tasks
  int own = -1;                 // the part of the master's task
  std::vector<std::pair<int, int>> passed;
  int fetches = 0;
  int feeds = 0;
};

struct master::session_kept {
  std::uint64_t number = 0;
  master_session_options options;
  std::vector<int> tasks;                     // that it may use
  std::vector<std::string> devices;           // of these
  std::map<int, std::uint64_t> incarnations;  // by task
  int own = 0;                                // index of the default device
  std::mutex guard;
  graph_def def;
  std::unique_ptr<graph> g;
  std::vector<int> places;
  std::map<std::uint64_t, std::shared_ptr<const prepared_run>> prepared;
  std::uint64_t last_prepared = 0;
};

// What a task tells of its part of a traced step.
struct master::told_of_part {
  part_statistics its;
  clock_reading clock;
  std::string missing = "it answered none";  // why there is nothing
  std::int64_t asked = 0;                    // when, and when it answered, on this task's clock
  std::int64_t answered = 0;
  std::int64_t fed_bytes = 0;
  std::int64_t fetched_bytes = 0;
};

// A step in progress. Its answers may come after it has ended.
struct master::running {
  std::mutex guard;
  std::vector<tensor_value> values;
  std::exception_ptr failure;
  std::vector<told_of_part> told;  // by part, of a traced step
  int left = 0;
  std::atomic<bool> done{false};  // all parts have ended
  std::atomic<bool> news{false};  // that, or one has failed
};

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

inline std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  }
}

// What a task's answer to a ping says of its start; 0 if nothing.
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
  // All are asked at once; who could not be reached is asked again until the time is over.
  struct asked {
    std::mutex guard;
    std::map<int, std::string> open;  // what was met there
    std::vector<int> to_ask;
    std::map<int, std::uint64_t> incarnations;
    std::atomic<bool> done{false};
  };
  auto waiting = std::make_shared<asked>();
  for (const int task : kept->tasks)
    if (task != own_) waiting->open.emplace(task, ""), waiting->to_ask.push_back(task);
  waiting->done = waiting->open.empty();
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
    static_cast<void>(network_.wait(waiting->done, std::min(options.deadline, now + std::chrono::milliseconds(50))));
  }
  if (!waiting->done.load()) {
    std::map<int, std::string> open;
    {
      const std::lock_guard lock(waiting->guard);
      open = waiting->open;
    }
    std::string text = "The session's start timed out: of " + std::to_string(kept->tasks.size()) + " tasks, " +
                       std::to_string(open.size()) + " did not answer:";
    for (const auto& [task, met] : open) {
      const std::string known = network_.describe(task);
      text += "\n\t" + task_text(task) + ": " + (known.empty() ? met : known);
    }
    throw deadline_exceeded(text + "\n\tStart them, or leave them out by session_options::device_filters");
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

LEAT_FUNCTION std::shared_ptr<master::session_kept> master::find(std::uint64_t session) {
  const std::lock_guard lock(guard_);
  const auto at = sessions_.find(session);
  if (at == sessions_.end())
    throw aborted("Session handle is not found at " + task_text(own_) + ": it was closed, or the server has been started anew");
  return at->second;
}

LEAT_FUNCTION void master::extend_session(std::uint64_t session, const graph_def& more) {
  const auto kept = find(session);
  const std::lock_guard lock(kept->guard);
  graph_def whole = kept->def;
  whole.versions = more.versions;
  whole.nodes.insert(whole.nodes.end(), more.nodes.begin(), more.nodes.end());
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
  kept->prepared.emplace(number, std::move(made));
  return number;
}

// Takes a task's answer to a traced step. What is wrong with its statistics is no concern of the step's.
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
    // The step is a round trip, too.
    const clock_reading by_step = clock_of_round_trip(heard.asked, heard.its.began, heard.its.ended, heard.answered);
    if (by_step.error < heard.clock.error) heard.clock = by_step;
    if (heard.clock.error >= last_clock) heard.missing = "its clock is beyond all that can be compared";
  }
  its = std::move(heard);
}

// What the tasks told, on this task's clock.
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
    // The order to run the part, and its answer. Messages that tasks number themselves are above 0.
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

LEAT_FUNCTION std::vector<std::pair<std::string, std::string>> master::placement(std::uint64_t session) {
  const auto kept = find(session);
  const std::lock_guard lock(kept->guard);
  std::vector<std::pair<std::string, std::string>> list;
  if (kept->g == nullptr) return list;
  for (int i = 0; i < kept->g->size(); ++i)
    list.emplace_back(kept->g->named().record(i).name, kept->devices[static_cast<std::size_t>(kept->places[static_cast<std::size_t>(i)])]);
  return list;
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
        // Who cannot be reached learns of nothing.
      }
    }
  };

  if (traced != nullptr) {
    state->told.resize(what->parts.size());
    std::vector<int> others;
    for (const auto& p : what->parts)
      if (p.task != own_) others.push_back(p.task);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(250);
    const auto clocks = read_clocks(network_, others, std::min(deadline, patience));
    for (std::size_t k = 0; k < what->parts.size(); ++k)
      if (const auto read = clocks.find(what->parts[k].task); read != clocks.end()) state->told[k].clock = read->second;
  }

  const auto fed = [&](const prepared_run::part& p) {
    std::vector<tensor_value> values;
    values.reserve(p.feeds.size());
    for (const int f : p.feeds) values.push_back(feeds[static_cast<std::size_t>(f)]);
    return values;
  };
  worker* const own_worker = what->own >= 0 ? &own_worker_ : nullptr;
  // All are made before the first is sent: a value that cannot be sent ends a step that has not begun.
  std::vector<transport::message> calls(what->parts.size());
  for (std::size_t k = 0; k < what->parts.size(); ++k) {
    const auto& p = what->parts[k];
    if (p.task == own_) continue;
    put_words(calls[k], {number, p.number});
    const std::vector<tensor_value> its_feeds = fed(p);
    put_tensors(calls[k], its_feeds);
    if (traced != nullptr) {
      calls[k].edge = static_cast<std::uint32_t>(traced->level);
      const std::lock_guard lock(state->guard);
      state->told[k].fed_bytes = element_bytes(its_feeds);
    }
  }
  for (std::size_t k = 0; k < what->parts.size(); ++k) {
    const auto& p = what->parts[k];
    if (p.task == own_) continue;
    if (traced != nullptr) {
      const std::lock_guard lock(state->guard);
      state->told[k].asked = clock_now();
    }
    network_.call(p.task, method::run_part, std::move(calls[k]), deadline,
                  [ended, state, k, count = p.fetches.size(), own_worker, number](transport::message answer, std::exception_ptr failure) {
                    std::vector<tensor_value> found;
                    if (!failure) {
                      try {
                        const bool has_statistics = answer.edge != 0;
                        found = tensors_of(answer, has_statistics ? 1 : 0);
                        if (!state->told.empty()) hear(*state, k, has_statistics ? &answer.parts[0] : nullptr, found);
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
      if (traced != nullptr) {
        order.traced = traced->level;
        order.statistics = &told;
        told.began = clock_now();
      }
      std::vector<tensor_value> values = own_worker_.run_part(what->parts[k].number, order, fed(what->parts[k]));
      if (traced != nullptr) {
        told.ended = clock_now();
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

  // Until all tasks have answered, or the step has failed; a cancellation wakes nobody, so it is polled.
  while (!state->news.load()) {
    const auto now = std::chrono::steady_clock::now();
    std::exception_ptr why;
    if (cancel != nullptr && cancel->is_cancelled())
      why = std::make_exception_ptr(cancelled("Step was cancelled by an explicit call to cancel()"));
    else if (now >= deadline)
      why = std::make_exception_ptr(
          deadline_exceeded("Timed out: not all of " + std::to_string(what->parts.size()) + " tasks have ended the step"));
    if (why) {
      const std::lock_guard lock(state->guard);
      if (!state->failure) state->failure = why;
      break;
    }
    static_cast<void>(network_.wait(state->news, cancel == nullptr ? deadline : std::min(deadline, now + std::chrono::milliseconds(20))));
  }
  std::exception_ptr failure;
  {
    const std::lock_guard lock(state->guard);
    if (!state->failure) {
      if (traced != nullptr) {
        const auto began = traced->statistics.began;
        traced->statistics = gathered(*what, std::move(state->told));
        traced->statistics.began = began;
      }
      return std::move(state->values);
    }
    failure = state->failure;
  }
  // The other tasks are told, and given a second to end the step.
  end_all(failure);
  static_cast<void>(network_.wait(state->done, std::chrono::steady_clock::now() + std::chrono::seconds(1)));
  std::rethrow_exception(failure);
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
      // Nothing to drop there.
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

LEAT_FUNCTION master::variable_place master::place_of(std::uint64_t session, const std::string& node) {
  const auto kept = find(session);
  const std::lock_guard lock(kept->guard);
  if (kept->g == nullptr) throw not_found("the session's graph has no variable '" + node + "'");
  graph& g = *kept->g;
  const graph_operation op = get_operation_by_name(g, node);
  if (g.at(op.index()).op->kind != op_kind::variable) throw invalid_argument("'" + node + "' is not a variable");
  const auto text = [&](std::string_view name) {
    const auto* a = op.attributes().find(name);
    const auto* held = a != nullptr ? a->get_if<std::string>() : nullptr;
    return held != nullptr ? *held : std::string{};
  };
  const std::string shared = text("shared_name");
  const int task = kept->tasks[static_cast<std::size_t>(kept->places[static_cast<std::size_t>(op.index())])];
  const auto start = kept->incarnations.find(task);
  return {task, start == kept->incarnations.end() ? 0 : start->second, text("container"), shared.empty() ? node : shared,
          op.result().extent()};
}

LEAT_FUNCTION tensor_value master::read_variable(std::uint64_t session, const std::string& node, steady_time deadline) {
  const variable_place v = place_of(session, node);
  if (v.task == own_)
    return own_worker_.has_variable(v.container, v.name) ? own_worker_.read_variable(v.container, v.name)
                                                         : throw failed_precondition("Attempting to use uninitialized value " + node);
  transport::message m;
  m.parts = {transport::frame::copy_of(v.container), transport::frame::copy_of(v.name)};
  put_words(m, {v.incarnation});
  auto values = tensors_of(ask(v.task, method::read_variable, std::move(m), deadline), 0);
  if (values.size() != 1 || !values[0]) throw failed_precondition("Attempting to use uninitialized value " + node);
  return values[0].kept();
}

LEAT_FUNCTION void master::write_variable(std::uint64_t session, const std::string& node, const tensor_value& value, steady_time deadline) {
  const variable_place v = place_of(session, node);
  if (v.task == own_) return own_worker_.write_variable(v.container, v.name, v.extent, value);
  transport::message m;
  m.parts = {transport::frame::copy_of(v.container), transport::frame::copy_of(v.name)};
  std::vector<std::uint64_t> extent;
  for (int i = 0; i < v.extent.rank; ++i) extent.push_back(static_cast<std::uint64_t>(v.extent[i]));
  put_words(m, extent);
  put_words(m, {v.incarnation});
  put_tensors(m, {&value, 1});
  static_cast<void>(ask(v.task, method::write_variable, std::move(m), deadline));
}

LEAT_FUNCTION std::vector<written_shard> master::write_shards(std::uint64_t session, const std::vector<shard_order>& orders,
                                                              steady_time deadline) {
  struct state {
    std::mutex guard;
    std::vector<written_shard> written;
    std::vector<bool> has_answered;
    std::exception_ptr failure;
    std::atomic<bool> done{false};
    void end(std::size_t k, std::exception_ptr why) {
      has_answered[k] = true;
      if (why && !failure) failure = std::move(why);
      if (failure || std::find(has_answered.begin(), has_answered.end(), false) == has_answered.end()) done.store(true);
    }
  };
  const auto s = std::make_shared<state>();
  s->written.resize(orders.size());
  s->has_answered.assign(orders.size(), false);
  s->done = orders.empty();
  std::vector<std::pair<int, shard_of_task>> asked;
  for (const shard_order& order : orders) {
    auto& [task, its] = asked.emplace_back(-1, shard_of_task{});
    its.path = order.path;
    for (const auto& [node, name] : order.variables) {
      variable_place v = place_of(session, node);
      if (task >= 0 && v.task != task)
        throw invalid_argument("one file is to have variables of " + task_text(task) + " and " + task_text(v.task));
      task = v.task;
      its.incarnation = v.incarnation;
      its.variables.push_back({std::move(v.container), std::move(v.name), name});
    }
    if (task < 0) throw invalid_argument("a file without variables");
  }
  for (std::size_t k = 0; k < asked.size(); ++k) {
    if (asked[k].first == own_) continue;
    transport::message m;
    m.parts.push_back(transport::frame::of(json_of(asked[k].second)));
    network_.call(asked[k].first, method::write_shard, std::move(m), deadline,
                  [s, k, network = &network_](const transport::message& answer, std::exception_ptr failure) {
                    std::vector<written_shard> written;
                    if (!failure) {
                      try {
                        if (answer.parts.empty()) throw data_loss("a task does not tell what it has written");
                        written = written_shards_in(answer.parts[0].text());
                        if (written.size() != 1) throw data_loss("a task tells of several files");
                      } catch (const std::exception&) {
                        failure = std::current_exception();
                      }
                    }
                    {
                      const std::lock_guard lock(s->guard);
                      if (!failure) s->written[k] = std::move(written[0]);
                      s->end(k, failure);
                    }
                    network->wake();
                  });
  }
  for (std::size_t k = 0; k < asked.size(); ++k) {
    if (asked[k].first != own_) continue;
    std::exception_ptr failure;
    written_shard written;
    try {
      written = own_worker_.write_shard(asked[k].second);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(s->guard);
    s->written[k] = std::move(written);
    s->end(k, failure);
  }
  const bool is_done = network_.wait(s->done, deadline);
  const std::lock_guard lock(s->guard);
  if (s->failure) std::rethrow_exception(s->failure);
  if (is_done) return s->written;
  std::string silent;
  for (std::size_t k = 0; k < asked.size(); ++k)
    if (!s->has_answered[k]) silent += (silent.empty() ? "" : ", ") + task_text(asked[k].first);
  throw deadline_exceeded("variables were not saved in time by " + silent);
}

LEAT_FUNCTION bool master::has_variable(std::uint64_t session, const std::string& node, steady_time deadline) {
  const variable_place v = place_of(session, node);
  if (v.task == own_) return own_worker_.has_variable(v.container, v.name);
  transport::message m;
  m.parts = {transport::frame::copy_of(v.container), transport::frame::copy_of(v.name)};
  put_words(m, {v.incarnation});
  return words_of(ask(v.task, method::has_variable, std::move(m), deadline), 0, 1)[0] != 0;
}

}  // namespace leat::cluster
