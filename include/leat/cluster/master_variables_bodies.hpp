#pragma once
// Implementation of master.hpp: variables, read, written and saved outside of steps.

#include <leat/cluster/master_state_bodies.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/lookup.hpp>

#include <algorithm>
#include <utility>

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
