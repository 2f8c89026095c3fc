#pragma once
// Implementation of master.hpp: reading, writing and saving variables outside of steps.

#include <leat/cluster/impl/master_state.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/random_state.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/graph/operator_definition.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace leat::cluster {

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
  if (!v.extent.has_rank()) extent.push_back(unknown_rank);
  for (int i = 0; i < v.extent.rank; ++i) extent.push_back(static_cast<std::uint64_t>(v.extent[i]));
  put_words(m, extent);
  put_words(m, {v.incarnation});
  put_tensors(m, {&value, 1});
  static_cast<void>(ask(v.task, method::write_variable, std::move(m), deadline));
}

LEAT_FUNCTION void master::at_tasks(const std::vector<int>& tasks, const char* what, steady_time deadline, method asked,
                                    const std::function<transport::message(std::size_t)>& call,
                                    const std::function<void(std::size_t)>& here,
                                    const std::function<void(std::size_t, const transport::message&)>& heard) {
  // Answers may arrive after the wait has ended.
  struct state {
    std::mutex guard;
    std::vector<transport::message> answers;
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
  s->answers.resize(tasks.size());
  s->has_answered.assign(tasks.size(), false);
  s->done = tasks.empty();
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    if (tasks[k] == own_) continue;
    network_.call(tasks[k], asked, call(k), deadline, [s, k, network = &network_](transport::message answer, std::exception_ptr failure) {
      {
        const std::lock_guard lock(s->guard);
        s->answers[k] = std::move(answer);
        s->end(k, std::move(failure));
      }
      network->wake();
    });
  }
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    if (tasks[k] != own_) continue;
    std::exception_ptr failure;
    try {
      here(k);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(s->guard);
    s->end(k, failure);
  }
  const bool is_done = network_.wait(s->done, deadline);
  const std::lock_guard lock(s->guard);
  if (s->failure) std::rethrow_exception(s->failure);
  if (is_done) {
    for (std::size_t k = 0; k < tasks.size(); ++k)
      if (tasks[k] != own_) heard(k, s->answers[k]);
    return;
  }
  std::string silent;
  for (std::size_t k = 0; k < tasks.size(); ++k)
    if (!s->has_answered[k]) silent += (silent.empty() ? "" : ", ") + task_text(tasks[k]);
  throw deadline_exceeded(std::string(what) + " in time by " + silent);
}

LEAT_FUNCTION std::vector<written_shard> master::write_shards(std::uint64_t session, const std::vector<shard_order>& orders,
                                                              steady_time deadline) {
  std::vector<int> tasks;
  std::vector<shard_of_task> asked;
  for (const shard_order& order : orders) {
    int task = -1;
    shard_of_task& its = asked.emplace_back();
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
    tasks.push_back(task);
  }
  std::vector<written_shard> written(orders.size());
  at_tasks(
      tasks, "variables were not saved", deadline, method::write_shard,
      [&](std::size_t k) {
        transport::message m;
        m.parts.push_back(transport::frame::of(json_of(asked[k])));
        return m;
      },
      [&](std::size_t k) { written[k] = own_worker_.write_shard(asked[k]); },
      [&](std::size_t k, const transport::message& answer) {
        if (answer.parts.empty()) throw data_loss("a task does not tell what it has written");
        auto its = written_shards_in(answer.parts[0].text());
        if (its.size() != 1) throw data_loss("a task tells of several files");
        written[k] = std::move(its[0]);
      });
  return written;
}

LEAT_FUNCTION void master::read_shards(std::uint64_t session, const std::vector<shard_reading>& orders, steady_time deadline) {
  std::map<int, reading_of_task> by_task;
  for (const shard_reading& order : orders)
    for (const auto& one : order.variables) {
      variable_place v = place_of(session, one.node);
      reading_of_task& its = by_task[v.task];
      if (!its.prefix.empty() && (its.prefix != order.prefix || its.manifest_crc != order.manifest_crc))
        throw invalid_argument(task_text(v.task) + " is to read variables of two checkpoints");
      its.incarnation = v.incarnation;
      its.session = session;
      its.prefix = order.prefix;
      its.manifest_crc = order.manifest_crc;
      its.variables.push_back({std::move(v.container), std::move(v.name), v.extent, one.name, one.offset, one.extent, one.is_slice});
    }
  std::vector<int> tasks;
  for (const auto& [task, order] : by_task) tasks.push_back(task);
  const auto nothing = [](std::size_t, const transport::message&) {};
  at_tasks(
      tasks, "variables were not read", deadline, method::read_shard,
      [&](std::size_t k) {
        transport::message m;
        m.parts.push_back(transport::frame::of(json_of(by_task.at(tasks[k]))));
        return m;
      },
      [&](std::size_t k) { own_worker_.read_shard(by_task.at(tasks[k]), deadline); }, nothing);
  at_tasks(
      tasks, "variables were not restored", deadline, method::adopt_shard,
      [&](std::size_t k) {
        transport::message m;
        put_words(m, {by_task.at(tasks[k]).incarnation, session});
        return m;
      },
      [&](std::size_t) { own_worker_.adopt_shard(session); }, nothing);
}

// The nodes that draw random numbers, by task. Nodes with operators without seeds have no positions. Null `positions`: all nodes.
LEAT_FUNCTION std::map<int, master::random_share> master::random_shares(std::uint64_t session, const random_positions* positions) {
  const auto kept = find(session);
  const std::lock_guard lock(kept->guard);
  std::map<int, random_share> shares;
  if (kept->g == nullptr) return shares;
  for (int i = 0; i < kept->g->size(); ++i) {
    const operator_definition* const defined = find_definition(kept->g->at(i).op->type);
    if (defined == nullptr || defined->find_attribute("seed2") == nullptr) continue;
    const std::string& name = kept->g->named().record(i).name;
    const random_position* at = nullptr;
    if (positions != nullptr) {
      const auto its = positions->find(name);
      if (its == positions->end()) continue;
      at = &its->second;
    }
    const int task = kept->tasks[static_cast<std::size_t>(kept->places[static_cast<std::size_t>(i)])];
    random_share& share = shares[task];
    if (const auto start = kept->incarnations.find(task); start != kept->incarnations.end()) share.incarnation = start->second;
    if (at != nullptr) share.positions.emplace(name, *at);
  }
  return shares;
}

LEAT_FUNCTION random_positions master::random_state(std::uint64_t session, steady_time deadline) {
  const auto shares = random_shares(session, nullptr);
  std::vector<int> tasks;
  for (const auto& [task, share] : shares) tasks.push_back(task);
  random_positions all;
  at_tasks(
      tasks, "the positions of random numbers were not told", deadline, method::part_random_state,
      [&](std::size_t k) {
        transport::message m;
        put_words(m, {session, shares.at(tasks[k]).incarnation});
        return m;
      },
      [&](std::size_t) { all.merge(own_worker_.random_state(session, 0)); },
      [&](std::size_t k, const transport::message& answer) {
        all.merge(io::read_random_state(part_at(answer, 0).text(), task_text(tasks[k])));
      });
  return all;
}

LEAT_FUNCTION void master::set_random_state(std::uint64_t session, const random_positions& positions, steady_time deadline) {
  const auto shares = random_shares(session, &positions);
  std::vector<int> tasks;
  for (const auto& [task, share] : shares) tasks.push_back(task);
  at_tasks(
      tasks, "the positions of random numbers were not restored", deadline, method::set_part_random_state,
      [&](std::size_t k) {
        const random_share& share = shares.at(tasks[k]);
        transport::message m;
        put_words(m, {session, share.incarnation});
        m.parts.push_back(transport::frame::of(io::write_random_state(share.positions)));
        return m;
      },
      [&](std::size_t k) { own_worker_.set_random_state(session, 0, shares.at(tasks[k]).positions); },
      [](std::size_t, const transport::message&) {});
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
