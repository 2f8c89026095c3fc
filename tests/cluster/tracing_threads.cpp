// Traces of runs on several tasks: within this process, over the network, and with a process for each task.

#include <leat/cluster.hpp>
#include <leat/cluster/cluster_status.hpp>
#include <leat/cluster/step_statistics.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/summary/run_metadata.hpp>

#include "cluster/support/free_address.hpp"
#include "cluster/support/local_network.hpp"
#include "support/messages.hpp"
#include "support/processes.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <set>
#include <sstream>
#include <thread>

using namespace leat;
using namespace leat_test;

namespace {

constexpr const char* ps_device = "/job:ps/replica:0/task:0/device:CPU:0";
constexpr const char* worker_device = "/job:worker/replica:0/task:0/device:CPU:0";

// x [2, 500] is fed at the worker, w [500, 3] is at ps: the step's edges are w, and its gradient.
struct small_model {
  graph g;
  output x, w, y;
  graph_operation train, init;
  small_model() {
    const auto scope = g.as_default();
    {
      const device d("/job:ps/task:0");
      w = variable(ones_of({500, 3}), "w");
    }
    {
      const device d("/job:worker/task:0");
      x = placeholder(dtype::float32, {2, 500}, "x");
      y = matmul(x, w, "y");
    }
    output gradient;
    {
      const device d("/job:worker/task:0");
      gradient = matmul(transpose(x), subtract(y, 1.0f), "gradient");
    }
    {
      const device d("/job:ps/task:0");
      train = assign_sub(w, multiply(gradient, 0.001f)).operation();
    }
    init = global_variables_initializer();
  }
  feed_list feeds() const {
    tensor_value xs(dtype::float32, shape_from({2, 500}));
    std::fill_n(reinterpret_cast<float*>(xs.data()), 1000, 0.01f);
    return {{x, xs}};
  }
};

int task_of(const run_trace& t, const std::string& device) {
  const auto tasks = t.tasks();
  for (std::size_t k = 0; k < tasks.size(); ++k)
    if (tasks[k].device == device) return static_cast<int>(k);
  return -1;
}

// What any viewer needs of a trace, and what holds of each trace of small_model's step.
void check_trace_of_model(const run_trace& t, bool is_client_elsewhere) {
  const int ps = task_of(t, ps_device), worker = task_of(t, worker_device);
  REQUIRE(ps > 0);
  REQUIRE(worker > 0);
  CHECK(t.gaps().empty());
  // Events of all tasks, on one clock: within the client's run, but for the clocks' errors.
  std::set<int> seen;
  trace_event run;
  for (const trace_event& e : t.events())
    if (e.task == 0 && e.type == "Session") run = e;
  CHECK(run.duration() > 0);
  for (const trace_event& e : t.events()) {
    seen.insert(e.task);
    const std::int64_t error = t.tasks()[static_cast<std::size_t>(e.task)].clock_error;
    CHECK(error < 1'000'000'000);
    CHECK(e.begin >= run.begin - error);
    CHECK(e.end <= run.end + error);
    CHECK(e.end >= e.begin);
  }
  CHECK(seen == std::set<int>{0, ps, worker});
  // Edges: the variable's value there, the gradient back; in messages of their own, being large.
  const auto edges = t.by_edge();
  const auto edge = [&](const std::string& tensor, int from, int to) {
    for (const auto& e : edges)
      if (e.tensor == tensor && e.from == t.tasks()[static_cast<std::size_t>(from)].device &&
          e.to == t.tasks()[static_cast<std::size_t>(to)].device)
        return e;
    return trace_edge_totals{};
  };
  std::int64_t there = 0, back = 0;
  for (const trace_transfer& e : t.transfers()) {
    CHECK(e.end >= e.begin);
    if (e.tensor == "feeds" || e.tensor == "fetches") continue;
    (e.from == ps ? there : back) += e.bytes;
    CHECK(e.from != e.to);
    CHECK(e.message > 0);
  }
  CHECK(there == 500 * 3 * 4);
  CHECK(back == 500 * 3 * 4);
  // The feeds go to the worker's part; a client elsewhere sends them to its target first.
  std::int64_t fed = 0;
  for (const trace_transfer& e : t.transfers())
    if (e.tensor == "feeds") fed += e.bytes;
  CHECK(fed >= 0);
  if (is_client_elsewhere) CHECK(edge("feeds", 0, 1).bytes == 4000);
  std::int64_t sent = 0, received = 0;
  for (const auto& totals : t.by_task()) {
    sent += totals.bytes_sent;
    received += totals.bytes_received;
    CHECK(totals.messages_sent <= static_cast<std::int64_t>(t.transfers().size()));
  }
  CHECK(sent == received);
  CHECK(t.by_task()[static_cast<std::size_t>(ps)].messages_sent >= 1);
  CHECK(t.by_task()[static_cast<std::size_t>(worker)].messages_sent >= 1);
  const std::string table = t.statistics_table();
  CHECK(says(table, ps_device, worker_device, "edge", "MatMul"));

  // The file: a process for each task, whose events and transfers are in it.
  const nlohmann::json file = nlohmann::json::parse(t.chrome_trace());
  std::map<int, std::string> processes;
  std::map<int, int> complete, begun, ended;
  for (const auto& e : file.at("traceEvents")) {
    const int pid = e.at("pid").get<int>();
    const auto kind = e.at("ph").get<std::string>();
    if (kind == "M" && e.at("name") == "process_name") processes[pid] = e.at("args").at("name").get<std::string>();
    if (kind == "X") ++complete[pid];
    if (kind == "b") ++begun[pid];
    if (kind == "e") ++ended[pid];
  }
  CHECK(processes[1] == "client");
  CHECK(processes[ps + 1] == ps_device);
  CHECK(processes[worker + 1] == worker_device);
  CHECK(complete[ps + 1] > 0);
  CHECK(complete[worker + 1] > 0);
  CHECK(begun[worker + 1] > 0);
  CHECK(begun == ended);
  // As TensorBoard reads it.
  const std::string metadata = summary::run_metadata_of(t);
  CHECK(says(metadata, ps_device, worker_device, "RecvTensor"));
}

std::vector<float> trained(graph_session& s, const small_model& m, run_trace* trace, int steps) {
  s.run(m.init);
  for (int k = 0; k < steps; ++k) s.run(m.train, m.feeds(), {.trace = trace});
  return s.value(m.w).as<std::vector<float>>();
}

}  // namespace

TEST_CASE("a run is traced at all its tasks; results are the same") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  small_model m;
  for (int k = 0; k < 4; ++k) {
    CAPTURE(k);
    graph_session s(m.g, {.target = local_cluster::target(k / 2), .operation_timeout_in_ms = 10'000});
    const auto plain = trained(s, m, nullptr, 3);
    run_trace steps;
    CHECK(trained(s, m, &steps, 3) == plain);
    CHECK(steps.runs() == 3);
    run_trace one;
    s.run(m.train, m.feeds(), {.trace = &one});
    check_trace_of_model(one, k % 2 == 1);
    for (const auto& row : steps.by_node()) CHECK(row.count % 3 == 0);

    run_trace nodes(trace_detail::nodes);
    s.run(m.y, m.feeds(), {.trace = &nodes});
    std::set<std::pair<std::string, int>> names;
    for (const auto& e : nodes.events()) names.emplace(e.name, e.task);
    CHECK(names.contains({"y", task_of(nodes, worker_device)}));
    CHECK(names.contains({"w", task_of(nodes, ps_device)}));
    // A run without a trace between two that have one adds nothing.
    const auto before = nodes.events().size();
    s.run(m.y, m.feeds());
    CHECK(nodes.events().size() == before);
    nodes.clear();
    CHECK(nodes.tasks().size() == 1);
    CHECK(nodes.transfers().empty());
  }
}

TEST_CASE("over the network and by memory") {
  for (const bool memory : {true, false}) {
    CAPTURE(memory);
    const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
    const server ps(c, {.job_name = "ps", .use_shared_memory = memory});
    const server worker(c, {.job_name = "worker", .use_shared_memory = memory});
    small_model m;
    // By another name of the host, a client that is no part of its target's process.
    const std::string address = c.task_address("worker", 0);
    for (const std::string& target : {worker.target(), "tcp://127.0.0.1" + address.substr(address.find(':'))}) {
      CAPTURE(target);
      graph_session s(m.g, {.target = target, .operation_timeout_in_ms = 10'000});
      s.run(m.init);
      s.run(m.train, m.feeds());
      run_trace t;
      s.run(m.train, m.feeds(), {.trace = &t});
      check_trace_of_model(t, target != worker.target());
    }
    const auto tasks = cluster_status(c, 5'000);
    for (const task_status& t : tasks) {
      REQUIRE(t.counted.has_value());
      CHECK(t.counted->steps >= 4);
      CHECK(t.counted->messages_sent >= 4);
      CHECK(t.counted->messages_received >= 4);
      CHECK(t.counted->bytes_sent > 2 * 6000);
      CHECK(t.counted->bytes_received > 2 * 6000);
    }
    const auto again = cluster_status(c, 5'000);
    CHECK(again[0].counted->steps == tasks[0].counted->steps);
    CHECK(again[0].counted->messages_received > tasks[0].counted->messages_received);
  }
}

// A task of the test below, in a process of its own: LEAT_TRACED_TASK is its job and the addresses of ps and worker.
TEST_CASE("serve one task" * doctest::skip()) {
  const char* const given = std::getenv("LEAT_TRACED_TASK");
  if (given == nullptr) return;
  std::istringstream words(given);
  std::string job, ps, worker;
  words >> job >> ps >> worker;
  server here(cluster_spec{{"ps", {ps}}, {"worker", {worker}}}, {.job_name = job});
  here.join();
}

TEST_CASE("a process for each task") {
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  std::vector<std::unique_ptr<process>> servers;
  for (const std::string job : {"ps", "worker"}) {
    const std::string told = job + " " + c.task_address("ps", 0) + " " + c.task_address("worker", 0);
    ::setenv("LEAT_TRACED_TASK", told.c_str(), 1);
    servers.push_back(
        std::make_unique<process>(std::vector<std::string>{"/proc/self/exe", "--test-case=serve one task", "--no-skip", "--no-run=false"}));
  }
  ::unsetenv("LEAT_TRACED_TASK");
  small_model m;
  graph_session s(m.g,
                  {.target = "tcp://" + c.task_address("worker", 0), .start_timeout_in_ms = 20'000, .operation_timeout_in_ms = 10'000});
  const auto plain = trained(s, m, nullptr, 2);
  run_trace t;
  s.run(m.init);
  s.run(m.train, m.feeds(), {.trace = &t});
  check_trace_of_model(t, true);
  s.run(m.train, m.feeds());
  CHECK(s.value(m.w).as<std::vector<float>>() == plain);
  s.close();
  for (auto& p : servers) p->send(SIGTERM);
  for (auto& p : servers) p->wait();
}

TEST_CASE("statistics that do not come, or are none, are no concern of the step's; the task is named") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  small_model m;
  enum class fault { none_told, no_bytes, other_bytes, cut_off, hostile_numbers };
  std::atomic<fault> now{fault::none_told};
  c.network->on_answer = [&](int task, cluster::method what, transport::message& answer) {
    if (task != 0 || what != cluster::method::run_part || answer.edge == 0) return;
    switch (now.load()) {
      case fault::none_told:
        answer.edge = 0;
        answer.parts.erase(answer.parts.begin());
        return;
      case fault::no_bytes: answer.parts[0] = {}; return;
      case fault::other_bytes: answer.parts[0] = transport::frame::copy_of(std::string_view("nonsense")); return;
      case fault::cut_off: answer.parts[0] = answer.parts[0].piece(0, answer.parts[0].size() - 1); return;
      case fault::hostile_numbers: {
        auto all = nlohmann::json::from_cbor(answer.parts[0].text());
        all["numbers"][3] = std::int64_t{1} << 62;  // so many events
        answer.parts[0] = transport::frame::of(nlohmann::json::to_cbor(all));
        return;
      }
    }
  };
  for (const bool elsewhere : {false, true}) {
    graph_session s(m.g, {.target = local_cluster::target(1), .operation_timeout_in_ms = 10'000});
    c.sessions = elsewhere ? 0 : 1;  // of the next session
    s.run(m.init);
    for (const fault f : {fault::none_told, fault::no_bytes, fault::other_bytes, fault::cut_off, fault::hostile_numbers}) {
      CAPTURE(static_cast<int>(f));
      now = f;
      run_trace t;
      s.run(m.train, m.feeds(), {.trace = &t});
      REQUIRE(t.gaps().size() == 1);
      CHECK(t.gaps()[0].device == ps_device);
      CHECK(t.gaps()[0].run == 1);
      CHECK(task_of(t, worker_device) > 0);
      CHECK(says(t.statistics_table(), "run 1: no statistics of " + std::string(ps_device)));
      CHECK(says(t.chrome_trace(), "no statistics of " + std::string(ps_device)));
      CHECK(nlohmann::json::accept(t.chrome_trace()));
      // The taker has told of the edge that the giver is silent about.
      std::int64_t there = 0;
      for (const trace_transfer& e : t.transfers())
        if (e.from == task_of(t, ps_device) && e.tensor != "fetches") there += e.bytes;
      CHECK(there == 6000);
    }
  }
  // The target's own, at a client elsewhere.
  c.network->on_answer = [&](int, cluster::method what, transport::message& answer) {
    if (what == cluster::method::run) answer.parts[0] = transport::frame::copy_of(std::string_view("nonsense"));
  };
  c.sessions = 1;
  graph_session s(m.g, {.target = local_cluster::target(1), .operation_timeout_in_ms = 10'000});
  run_trace t;
  s.run(m.train, m.feeds(), {.trace = &t});
  REQUIRE(t.gaps().size() == 1);
  CHECK(says(t.gaps()[0].device, "target"));
}

TEST_CASE("clocks that are apart are put on the client's") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  small_model m;
  constexpr std::int64_t hours = 3'600'000'000'000 * 5;
  // Task 0 lives five hours later.
  c.network->on_answer = [&](int task, cluster::method what, transport::message& answer) {
    if (task != 0) return;
    if (what == cluster::method::clock) {
      const auto now = cluster::words_of(answer, 0, 1)[0];
      answer.parts.clear();
      cluster::put_words(answer, {now + static_cast<std::uint64_t>(hours)});
    }
    if (what == cluster::method::run_part && answer.edge != 0) {
      auto told = cluster::part_statistics_of(answer.parts[0]);
      told.began += hours, told.ended += hours;
      for (auto& e : told.events) e.begin += hours, e.end += hours;
      for (auto& p : told.sent) p.at += hours;
      for (auto& p : told.received) p.at += hours;
      answer.parts[0] = cluster::frame_of(told);
    }
  };
  graph_session s(m.g, {.target = local_cluster::target(1), .operation_timeout_in_ms = 10'000});
  s.run(m.init);
  run_trace t;
  s.run(m.train, m.feeds(), {.trace = &t});
  check_trace_of_model(t, false);

  const auto r = cluster::clock_of_round_trip(100, 1150, 1250, 300);
  CHECK(r.offset == 1000);
  CHECK(r.error == 50);
  CHECK(cluster::clock_of_round_trip(0, std::int64_t{1} << 62, 0, 0).error == cluster::last_clock);
}

TEST_CASE("how long the tasks had a run is told without a trace") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  graph g;
  const auto scope = g.as_default();
  output item, sum;
  graph_operation put;
  {
    const device d("/job:ps/task:0");
    const graph_queue q = fifo_queue(2, {dtype::float32}, {shape{}});
    put = q.enqueue({constant(1.0f)});
    item = q.dequeue()[0];
  }
  {
    const device d("/job:worker/task:0");
    sum = add(item, 1.0f);
  }
  for (int task = 0; task < 2; ++task)
    for (int k = 0; k < 2; ++k) {  // here and elsewhere
      CAPTURE(task);
      CAPTURE(k);
      graph_session s(g, {.target = local_cluster::target(task), .operation_timeout_in_ms = 10'000});
      std::thread late([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
        s.run(put);
      });
      std::int64_t there = -1;
      const auto begin = std::chrono::steady_clock::now();
      const auto values = s.run({sum}, {}, {.time_at_tasks = &there});
      const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
      late.join();
      CHECK(values[0].as<float>() == 2.0f);
      CHECK(there > 40'000'000);
      CHECK(there <= taken.count());
    }
}

TEST_CASE("a run that fails says so in the trace") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  small_model m;
  for (int k = 0; k < 2; ++k) {
    graph_session s(m.g, {.target = local_cluster::target(1), .operation_timeout_in_ms = 10'000});
    s.reset();
    run_trace t;
    CHECK_THROWS_AS(s.run(m.train, m.feeds(), {.trace = &t}), failed_precondition);
    REQUIRE(t.gaps().size() == 1);
    CHECK(says(t.gaps()[0].why, "the run failed", "uninitialized value w"));
    CHECK(t.events().size() == 1);
    s.run(m.init);
    s.run(m.train, m.feeds(), {.trace = &t});
    CHECK(t.runs() == 2);
    CHECK(t.gaps().size() == 1);
  }
}

TEST_CASE("statistics as bytes") {
  cluster::part_statistics p;
  p.began = 5, p.ended = 9, p.left_out = 2;
  p.events = {{"a", "Add", "x.cpp:3", 6, 7, 1, 0, 0}, {"b", "Add", "", 7, 8, 0, 0, 0}};
  p.sent = {{3, 400, 1, 6}};
  p.received = {{0, 8, 0, 5}, {1, 16, 0, 5}};
  const transport::frame f = cluster::frame_of(p);
  const auto back = cluster::part_statistics_of(f);
  CHECK(back.events.size() == 2);
  CHECK(back.events[0].made_at == "x.cpp:3");
  CHECK(back.received[1].bytes == 16);
  CHECK(back.left_out == 2);
  for (std::size_t size = 0; size < f.size(); ++size) CHECK_THROWS_AS(cluster::part_statistics_of(f.piece(0, size)), data_loss);
  // Any byte may be wrong: then it is refused, or means something else.
  for (std::size_t k = 0; k < f.size(); ++k)
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bytes(f.text());
      bytes[k] = static_cast<char>(bytes[k] ^ flip);
      const transport::frame wrong = transport::frame::copy_of(bytes);
      try {
        static_cast<void>(cluster::part_statistics_of(wrong));
      } catch (const data_loss&) {
      }
      try {
        static_cast<void>(cluster::step_statistics_of(wrong));
      } catch (const data_loss&) {
      }
    }
}

TEST_CASE("the placement log of a session with a target") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  for (int k = 0; k < 2; ++k) {
    graph g;
    const auto scope = g.as_default();
    output v, twice;
    {
      const device d("/job:ps/task:0");
      v = variable(1.0f, "v");
    }
    twice = multiply(v, 2.0f, "twice");
    const auto init = global_variables_initializer();
    std::ostringstream log;
    session_options options;
    options.target = local_cluster::target(1);
    options.log_device_placement = true;
    options.log = &log;
    graph_session s(g, options);
    s.run(init);
    CHECK(says(log.str(), std::string("v: (VariableV2): ") + ps_device + "\n", std::string("twice: (Mul): ") + worker_device + "\n"));
    const auto before = log.str();
    s.run(twice);
    CHECK(log.str() == before);  // once
    output more;
    {
      const device d("/job:ps/task:0");
      more = add(twice, 1.0f, "more");
    }
    s.run(more);
    CHECK(says(log.str().substr(before.size()), "more: (Add", std::string(": ") + ps_device + "\n"));
  }
}
