#pragma once
// Implementation of task_service.hpp.

#include <leat/cluster/task_service.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/random_state.hpp>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <fstream>

namespace leat::cluster {

/// The resident memory of this process in bytes; 0 if the system does not report it.
inline std::uint64_t resident_bytes() {
  std::ifstream told("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  return told >> all >> resident ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

/// Resources of a call that are released when the client disconnects. They are registered when the call arrives, because calls and
/// departures arrive in order.
struct task_service::under_way {
  under_way(task_service& s) : its(s) {}
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;
  ~under_way() {
    const std::lock_guard lock(its.guard_);
    if (run != its.runs_.end()) its.runs_.erase(run);
    if (step != its.steps_.end()) its.steps_.erase(step);
  }
  task_service& its;
  cancellation stop;
  decltype(runs_)::iterator run = its.runs_.end();
  decltype(steps_)::iterator step = its.steps_.end();
};

LEAT_FUNCTION std::shared_ptr<task_service::under_way> task_service::note_call(std::uint64_t peer, method what,
                                                                               const transport::message& m) {
  constexpr std::uint64_t no_run = 0;  // used by no client
  auto made = std::make_shared<under_way>(*this);
  switch (what) {
    case method::run: {
      const auto words = words_of(m, 0, 3);
      const std::lock_guard lock(guard_);
      made->run = runs_.emplace(std::pair(peer, words[2]), &made->stop);
      break;
    }
    case method::create_session: {
      const std::lock_guard lock(guard_);
      sessions_.try_emplace(peer);
      made->run = runs_.emplace(std::pair(peer, no_run), &made->stop);
      break;
    }
    case method::run_part: {
      const auto words = words_of(m, 0, 2);
      const std::lock_guard lock(guard_);
      made->step = steps_.emplace(peer, words[0]);
      break;
    }
    case method::register_part:
    case method::set_part_random_state: {
      const std::lock_guard lock(guard_);
      registered_.try_emplace(peer);
      break;
    }
    default: break;
  }
  const std::lock_guard lock(guard_);
  if (is_stopping_) made->stop.cancel();
  return made;
}

LEAT_FUNCTION void task_service::called(std::uint64_t peer, method what, transport::message m, steady_time deadline, responder answer) {
  if (what == method::ping) {
    transport::message here;
    put_words(here, {worker_.incarnation()});
    return answer(std::move(here), nullptr);
  }
  if (what == method::clock) {
    transport::message now;
    put_words(now, {static_cast<std::uint64_t>(clock_now())});
    return answer(std::move(now), nullptr);
  }
  if (what == method::count) {
    const transport::traffic t = network_.its_traffic();
    transport::message counted;
    put_words(counted, {worker_.parts_run(), t.messages_sent, t.bytes_sent, t.messages_received, t.bytes_received, master_.sessions_open(),
                        worker_.parts_kept(), resident_bytes()});
    std::vector<std::uint64_t> ended;
    for (const auto& [task, ago] : network_.ended()) {
      ended.push_back(static_cast<std::uint64_t>(task));
      ended.push_back(static_cast<std::uint64_t>(ago.count()));
    }
    put_words(counted, std::move(ended));
    return answer(std::move(counted), nullptr);
  }
  try {
    const auto noted_here = note_call(peer, what, m);
    if (what == method::run_part && level_in(m.edge) == trace_level::none) {
      if (const auto words = words_of(m, 0, 2); worker_.is_light(words[1]))
        return worker_.begin_light(words[1], {.number = words[0], .deadline = deadline}, tensors_of(m, 1),
                                   [answer, noted_here](const std::vector<tensor_value>& values, std::exception_ptr failure) {
                                     transport::message found;
                                     try {
                                       if (!failure) put_tensors(found, values);
                                     } catch (const std::exception&) {
                                       failure = std::current_exception();
                                     }
                                     answer(std::move(found), failure);
                                   });
    }
    const auto run = [this, peer, what, deadline, answer, noted_here](const transport::message& asked) {
      transport::message found;
      std::exception_ptr failure;
      try {
        found = answer_to(peer, what, asked, deadline, &noted_here->stop);
      } catch (...) {
        failure = std::current_exception();
      }
      answer(std::move(found), failure);
    };
    worker_.on_thread([run, m = std::move(m)]() mutable {
      m.credit.reset();  // a call that waits for a thread has not taken its message
      run(m);
    });
  } catch (const std::exception&) {
    answer({}, std::current_exception());
  }
}

LEAT_FUNCTION transport::message task_service::answer_to(std::uint64_t peer, method what, const transport::message& m, steady_time deadline,
                                                         const cancellation* stop) {
  transport::message answer;
  switch (what) {
    case method::register_part: {
      const part_order order = part_of(m);
      const std::uint64_t part = worker_.register_part(order);
      keep_registered(peer, order.session, part);
      put_words(answer, {part});
      return answer;
    }
    case method::run_part: {
      const auto words = words_of(m, 0, 2);
      const trace_level traced = level_in(m.edge);
      step_order order{.number = words[0], .deadline = deadline};
      order.memory = [this, peer](std::size_t bytes) { return network_.memory_for_peer(peer, bytes); };
      if (traced == trace_level::none) {
        put_tensors(answer, worker_.run_part(words[1], order, tensors_of(m, 1)));
        return answer;
      }
      part_statistics told;
      told.began = clock_now();
      if (traced == trace_level::times) {
        put_tensors(answer, worker_.run_part(words[1], order, tensors_of(m, 1)));
        answer.edge = m.edge;
        answer.mark = static_cast<std::uint64_t>(clock_now() - told.began);
        return answer;
      }
      order.traced = traced;
      order.statistics = &told;
      const auto values = worker_.run_part(words[1], order, tensors_of(m, 1));
      told.ended = clock_now();
      answer.edge = m.edge;
      answer.parts.push_back(frame_of(told));
      put_tensors(answer, values);
      return answer;
    }
    case method::reset: worker_.reset(part_at(m, 0).text()); return answer;
    case method::read_variable: {
      worker_.require_incarnation(words_of(m, 2, 1)[0]);
      const std::string container(part_at(m, 0).text()), name(part_at(m, 1).text());
      const tensor_value value = worker_.has_variable(container, name) ? worker_.read_variable(container, name) : tensor_value{};
      put_tensors(answer, {&value, 1});
      return answer;
    }
    case method::write_variable: {
      const std::size_t rank = part_at(m, 2).size() / 8;
      if (rank > static_cast<std::size_t>(max_rank)) throw data_loss("a variable of more than 8 dimensions");
      const auto sizes = words_of(m, 2, rank);
      shape extent;
      if (rank == 1 && sizes[0] == unknown_rank) extent = shape::unknown();
      else
        for (const std::uint64_t n : sizes) extent.push(static_cast<std::int64_t>(n));
      worker_.require_incarnation(words_of(m, 3, 1)[0]);
      const auto values = tensors_of(m, 4);
      if (values.size() != 1 || !values[0]) throw data_loss("a variable's value is missing");
      worker_.write_variable(std::string(part_at(m, 0).text()), std::string(part_at(m, 1).text()), extent, values[0]);
      return answer;
    }
    case method::has_variable:
      worker_.require_incarnation(words_of(m, 2, 1)[0]);
      put_words(answer, {worker_.has_variable(std::string(part_at(m, 0).text()), std::string(part_at(m, 1).text())) ? 1u : 0u});
      return answer;

    case method::create_session: {
      const auto options = nlohmann::json::parse(part_at(m, 0).text(), nullptr, false);
      master_session_options asked;
      asked.deadline = deadline;
      try {
        options.at("allow_soft_placement").get_to(asked.allow_soft_placement);
        options.at("device_filters").get_to(asked.device_filters);
      } catch (const nlohmann::json::exception& e) {
        throw data_loss(std::string("a session's options: ") + e.what());
      }
      const std::uint64_t session = master_.create_session(asked, stop);
      bool is_there = false;
      {
        const std::lock_guard lock(guard_);
        const auto its = sessions_.find(peer);
        is_there = its != sessions_.end();
        if (is_there) its->second.insert(session);
      }
      if (!is_there) {
        master_.close_session(session);
        throw cancelled("the session's client has gone");
      }
      put_words(answer, {session});
      return answer;
    }
    case method::extend_session:
      master_.extend_session(words_of(m, 0, 1)[0], io::read_binary<graph_def>(part_at(m, 1).text(), {.validate = false}));
      return answer;
    case method::prepare_run: {
      const auto names = nlohmann::json::parse(part_at(m, 1).text(), nullptr, false);
      run_names asked;
      try {
        names.at("fetches").get_to(asked.fetches);
        names.at("targets").get_to(asked.targets);
        names.at("feeds").get_to(asked.feeds);
      } catch (const nlohmann::json::exception& e) {
        throw data_loss(std::string("the names of a run: ") + e.what());
      }
      put_words(answer, {master_.prepare(words_of(m, 0, 1)[0], asked, deadline)});
      return answer;
    }
    case method::run: {
      const auto words = words_of(m, 0, 3);
      if (const trace_level traced = level_in(m.edge); traced == trace_level::none) {
        put_tensors(answer, master_.run(words[0], words[1], tensors_of(m, 1), deadline, stop));
      } else {
        traced_run told{.level = traced};
        told.statistics.began = clock_now();
        const auto values = master_.run(words[0], words[1], tensors_of(m, 1), deadline, stop, &told);
        told.statistics.ended = clock_now();
        answer.edge = m.edge;
        answer.mark = static_cast<std::uint64_t>(told.slowest_part);
        if (has_statistics(traced)) answer.parts.push_back(frame_of(told.statistics));
        put_tensors(answer, values);
      }
      return answer;
    }
    case method::close_session: {
      const std::uint64_t session = words_of(m, 0, 1)[0];
      {
        const std::lock_guard lock(guard_);
        if (const auto its = sessions_.find(peer); its != sessions_.end()) its->second.erase(session);
      }
      master_.close_session(session);
      return answer;
    }
    case method::write_shard:
      answer.parts.push_back(transport::frame::of(json_of({worker_.write_shard(shard_of_task_in(part_at(m, 0).text()))})));
      return answer;
    case method::write_shards: {
      const auto written = master_.write_shards(words_of(m, 0, 1)[0], shard_orders_in(part_at(m, 1).text()), deadline);
      answer.parts.push_back(transport::frame::of(json_of(written)));
      return answer;
    }
    case method::read_shard: worker_.read_shard(reading_of_task_in(part_at(m, 0).text()), deadline); return answer;
    case method::adopt_shard: {
      const auto words = words_of(m, 0, 2);
      worker_.require_incarnation(words[0]);
      worker_.adopt_shard(words[1]);
      return answer;
    }
    case method::read_shards: master_.read_shards(words_of(m, 0, 1)[0], shard_readings_in(part_at(m, 1).text()), deadline); return answer;
    case method::random_state:
      answer.parts.push_back(transport::frame::of(io::write_random_state(master_.random_state(words_of(m, 0, 1)[0], deadline))));
      return answer;
    case method::set_random_state:
      master_.set_random_state(words_of(m, 0, 1)[0], io::read_random_state(part_at(m, 1).text(), "a session's message"), deadline);
      return answer;
    case method::part_random_state: {
      const auto words = words_of(m, 0, 2);
      answer.parts.push_back(transport::frame::of(io::write_random_state(worker_.random_state(words[0], words[1]))));
      return answer;
    }
    case method::set_part_random_state: {
      const auto words = words_of(m, 0, 2);
      worker_.set_random_state(words[0], words[1], io::read_random_state(part_at(m, 1).text(), "a master's message"));
      keep_registered(peer, words[0], std::nullopt);
      return answer;
    }
    case method::placement: {
      nlohmann::json told = nlohmann::json::array();
      for (const auto& [node, device] : master_.placement(words_of(m, 0, 1)[0])) told.push_back({node, device});
      answer.parts.push_back(transport::frame::of(told.dump()));
      return answer;
    }
    case method::list_devices:
      answer.parts.push_back(transport::frame::of(nlohmann::json(master_.devices(words_of(m, 0, 1)[0])).dump()));
      return answer;
    case method::reset_all: master_.reset(std::string(part_at(m, 0).text()), deadline); return answer;
    case method::read_node: {
      const tensor_value value = master_.read_variable(words_of(m, 0, 1)[0], std::string(part_at(m, 1).text()), deadline);
      put_tensors(answer, {&value, 1});
      return answer;
    }
    case method::write_node: {
      const auto values = tensors_of(m, 2);
      if (values.size() != 1 || !values[0]) throw data_loss("a variable's value is missing");
      master_.write_variable(words_of(m, 0, 1)[0], std::string(part_at(m, 1).text()), values[0], deadline);
      return answer;
    }
    case method::has_node:
      put_words(answer, {master_.has_variable(words_of(m, 0, 1)[0], std::string(part_at(m, 1).text()), deadline) ? 1u : 0u});
      return answer;
    case method::describe_cluster: answer.parts.push_back(transport::frame::copy_of(description_)); return answer;
    default: break;
  }
  throw unimplemented("a task is asked for method " + std::to_string(static_cast<int>(what)) + ", which it does not know");
}

// The arrival time of a tensor if its step is traced; 0 if it is not.
inline std::int64_t arrival_of(const transport::message& m) { return (m.flags & traced_flag) != 0 ? clock_now() : 0; }

// A master may lose its connection and come back: the parts of the last few lost masters are kept for that.
LEAT_FUNCTION void task_service::drop_orphans(std::unique_lock<std::mutex>& lock) {
  constexpr std::size_t most_orphans = 16;
  std::vector<std::uint64_t> dropped, sessions;
  while (orphans_.size() > most_orphans) {
    const auto& [session, parts] = orphans_.front();
    sessions.push_back(session);
    dropped.insert(dropped.end(), parts.begin(), parts.end());
    orphans_.pop_front();
  }
  lock.unlock();
  worker_.drop_parts(dropped, sessions);
}

LEAT_FUNCTION void task_service::keep_registered(std::uint64_t peer, std::uint64_t session, std::optional<std::uint64_t> part) {
  std::unique_lock lock(guard_);
  std::vector<std::uint64_t> made;
  if (part) made.push_back(*part);
  if (const auto its = registered_.find(peer); its != registered_.end()) {
    auto& parts = its->second[session];
    parts.insert(parts.end(), made.begin(), made.end());
  } else {
    orphans_.emplace_back(session, std::move(made));  // its master has gone in the meantime
  }
  drop_orphans(lock);
}

LEAT_FUNCTION void task_service::noted(std::uint64_t peer, method what, transport::message m) {
  switch (what) {
    case method::tensor: worker_.arrive(m.number, {m.edge}, {tensor_of(m)}, peer, arrival_of(m), std::move(m.credit)); return;
    case method::tensors: {
      std::vector<tensor_value> values = tensors_of(m, 1);
      const auto edges = words_of(m, 0, values.size());
      worker_.arrive(m.number, {edges.begin(), edges.end()}, std::move(values), peer, arrival_of(m), std::move(m.credit));
      return;
    }
    case method::cancel_step: worker_.fail(m.number, std::make_exception_ptr(cancelled("the step has failed at another task"))); return;
    case method::drop_part: {
      worker_.drop_part(m.number);
      const std::lock_guard lock(guard_);
      if (const auto its = registered_.find(peer); its != registered_.end())
        for (auto& [session, parts] : its->second) std::erase(parts, m.number);
      return;
    }
    case method::drop_run: {
      const auto words = words_of(m, 0, 2);
      try {  // on another thread, because the session may be preparing another run
        worker_.on_thread([this, words] {
          try {
            master_.drop_run(words[0], words[1]);
          } catch (const aborted&) {
            // The session has ended, and with it the run.
          }
        });
      } catch (const std::exception&) {
        // The server stops, and with it the session.
      }
      return;
    }
    case method::drop_parts:
      worker_.drop_parts(m.number);
      {
        const std::lock_guard lock(guard_);
        if (const auto its = registered_.find(peer); its != registered_.end()) its->second.erase(m.number);
      }
      return;
    case method::stop_run: {
      const std::lock_guard lock(guard_);
      const auto [first, last] = runs_.equal_range({peer, m.number});
      for (auto at = first; at != last; ++at) at->second->cancel();
      return;
    }
    default: throw data_loss("a note of method " + std::to_string(static_cast<int>(what)) + ", which is none");
  }
}

LEAT_FUNCTION void task_service::lost(std::uint64_t peer) {
  std::set<std::uint64_t> sessions;
  std::vector<std::uint64_t> steps;
  {
    const std::lock_guard lock(guard_);
    for (auto at = steps_.lower_bound({peer, 0}); at != steps_.end() && at->first == peer; ++at) steps.push_back(at->second);
    if (const auto at = registered_.find(peer); at != registered_.end()) {
      for (auto& [session, parts] : at->second) orphans_.emplace_back(session, std::move(parts));
      registered_.erase(at);
    }
    if (const auto at = sessions_.find(peer); at != sessions_.end()) {
      sessions = std::move(at->second);
      sessions_.erase(at);
    }
    for (auto at = runs_.lower_bound({peer, 0}); at != runs_.end() && at->first.first == peer; ++at) at->second->cancel();
  }
  worker_.forget_from(peer);
  for (const std::uint64_t step : steps) worker_.fail(step, std::make_exception_ptr(unavailable("the master of the step has gone")));
  try {
    worker_.on_thread([this, sessions] {
      for (const std::uint64_t session : sessions) master_.close_session(session);
      std::unique_lock lock(guard_);
      drop_orphans(lock);
    });
  } catch (const std::exception&) {
    // The server stops, and with it its sessions.
  }
}

LEAT_FUNCTION void task_service::stop() {
  {
    const std::lock_guard lock(guard_);
    is_stopping_ = true;
    for (const auto& [key, stop] : runs_) stop->cancel();
  }
  worker_.stop(std::make_exception_ptr(unavailable("the server of " + worker_.device() + " has stopped")));
}

}  // namespace leat::cluster
