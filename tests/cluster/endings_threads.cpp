// How tasks end: a server that waits until the workers are done; sessions that wait for a task say so, and what has become of it.

#include <leat/cluster.hpp>

#include "cluster/support/free_address.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>

using namespace leat;
using namespace leat_test;
using namespace std::chrono_literals;

namespace {

// A worker of a between-graph training: a server, and a session that uses the parameter server's variable.
struct worker {
  server here;
  graph g;
  output w;
  std::optional<graph_session> s;
  worker(const cluster_spec& c, int index, bool memory)
      : here(c, {.job_name = "worker", .task_index = index, .use_shared_memory = memory}) {
    const auto scope = g.as_default();
    {
      const device at("/job:ps/task:0");
      w = variable(1.0f, "w");
    }
    const auto init = global_variables_initializer();
    s.emplace(g, session_options{.target = here.target(),
                                 .start_timeout_in_ms = 10'000,
                                 .device_filters = {"/job:ps", here.device()},
                                 .operation_timeout_in_ms = 10'000});
    s->run(init);
  }
};

// Until the parameter server knows that the first worker has ended in order.
void wait_for_end_of_worker(const cluster_spec& c) {
  for (int k = 0; k < 1000 && !cluster_status(c, 20'000)[1].has_ended; ++k) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a server that serves until the workers are done ends when each has come, and has ended in order") {
  for (const bool memory : {true, false}) {
    CAPTURE(memory);
    const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address(), free_address()}}};
    server ps(c, {.job_name = "ps", .use_shared_memory = memory});
    std::atomic<bool> has_ended{false};
    std::thread joined([&] {
      ps.join({.until_signal = false, .until_workers_done = true});
      has_ended = true;
    });
    auto first = std::make_unique<worker>(c, 0, memory);
    first.reset();
    std::this_thread::sleep_for(500ms);
    CHECK_FALSE(has_ended);  // the other one has not come yet
    auto second = std::make_unique<worker>(c, 1, memory);
    CHECK(second->s->run<float>(second->w) == 1);
    first = std::make_unique<worker>(c, 0, memory);
    second.reset();
    std::this_thread::sleep_for(500ms);
    CHECK_FALSE(has_ended);  // the first one is there again
    // A client without a task counts for nothing.
    {
      graph g;
      const auto scope = g.as_default();
      const output one = constant(1.0f);
      graph_session client(g, {.target = "tcp://127.0.0.1" + ps.target().substr(ps.target().rfind(':')), .device_filters = {"/job:ps"}});
      CHECK(client.run<float>(one) == 1);
    }
    CHECK_FALSE(has_ended);
    first.reset();
    joined.join();
    CHECK(has_ended);
    // It has stopped: nobody listens there any more.
    server again(c, {.job_name = "ps"});
  }
}

TEST_CASE("it also ends when it is stopped, and is refused where there is nobody to wait for") {
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  server ps(c, {.job_name = "ps"});
  std::promise<void> joins;
  std::thread joined([&] {
    joins.set_value();
    ps.join({.until_signal = false, .until_workers_done = true});
  });
  joins.get_future().wait();
  ps.stop();
  joined.join();
  server alone = server::local();
  CHECK(says(message_of<invalid_argument>([&] { alone.join({.until_workers_done = true}); }), "no job but local"));
}

TEST_CASE("who waits for a task says so while it waits, and knows one that has ended in order") {
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  server ps(c, {.job_name = "ps"});
  {
    const worker gone(c, 0, true);
  }
  wait_for_end_of_worker(c);
  graph g;
  const auto scope = g.as_default();
  const output one = constant(1.0f);
  std::ostringstream log;
  const session_options options{.target = ps.target(), .start_timeout_in_ms = 1500, .log = &log};
  const std::string said = message_of<deadline_exceeded>([&] { graph_session s(g, options); });
  CHECK(says(said, "/job:worker/replica:0/task:0/device:CPU:0 at " + c.task_address("worker", 0), "it ended in order"));
  CHECK(says(log.str(), "A session waits for its tasks, since 1 s: of 2 tasks, 1 did not answer", "/job:worker/replica:0/task:0/",
             "no process listens there", "it ended in order"));
  // Later sessions leave it out, or find it back.
  CHECK(graph_session(g, {.target = ps.target(), .device_filters = {"/job:ps"}}).run<float>(one) == 1);
  const server back(c, {.job_name = "worker"});
  log.str("");
  CHECK(graph_session(g, options).run<float>(one) == 1);
  CHECK(log.str().empty());
}

TEST_CASE("who is there is known at once of tasks that have ended, or where nobody listens") {
  using clock = std::chrono::steady_clock;
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address(), free_address()}}};
  server ps(c, {.job_name = "ps"});
  {
    const worker gone(c, 0, true);
  }
  wait_for_end_of_worker(c);
  auto begin = clock::now();
  auto tasks = cluster_status(c, 20'000);
  CHECK(clock::now() - begin < 5s);
  REQUIRE(tasks.size() == 3);
  CHECK(tasks[0].is_up);
  CHECK_FALSE(tasks[0].has_ended);
  CHECK(tasks[1].has_ended);
  CHECK(says(tasks[1].problem, "no process listens there", "it ended in order 0 s ago, as /job:ps/task:0 knows"));
  CHECK_FALSE(tasks[2].has_ended);  // it was never here
  CHECK(says(tasks[2].problem, "no process listens there"));
  CHECK_FALSE(says(tasks[2].problem, "ended"));
  begin = clock::now();
  CHECK(says(message_of<unavailable>([&] { static_cast<void>(cluster_at("tcp://" + c.task_address("worker", 1), 20'000)); }),
             "no process listens there"));
  CHECK(clock::now() - begin < 5s);

  // Something else listens at its address, and says nothing: it has until the deadline, unless another knows that the task has ended.
  for (const int task : {0, 1}) {
    CAPTURE(task);
    const std::string address = c.task_address("worker", task);
    const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int again = 1;
    REQUIRE(::setsockopt(silent, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again) == 0);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1))));
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(silent, reinterpret_cast<const sockaddr*>(&a), sizeof a) == 0);
    REQUIRE(::listen(silent, 8) == 0);
    begin = clock::now();
    tasks = cluster_status(c, 2'000);
    const auto took = clock::now() - begin;
    CHECK_FALSE(tasks[static_cast<std::size_t>(task) + 1].is_up);
    CHECK((task == 0 ? took < 1'500ms : took > 1'900ms));
    ::close(silent);
  }

  // Whoever starts a cluster waits for tasks that are still to come, and for those that come back.
  std::promise<void> are_seen;
  std::thread starts([&] {
    std::this_thread::sleep_for(300ms);
    const server back(c, {.job_name = "worker", .task_index = 0}), late(c, {.job_name = "worker", .task_index = 1});
    are_seen.get_future().wait();
  });
  tasks = cluster_status(c, {.timeout_in_ms = 20'000, .until_all_are_up = true});
  for (const auto& t : tasks) CHECK(t.is_up);
  CHECK_FALSE(tasks[1].has_ended);
  are_seen.set_value();
  starts.join();
  begin = clock::now();
  CHECK_FALSE(cluster_status(c, {.timeout_in_ms = 500, .until_all_are_up = true})[1].is_up);
  CHECK(clock::now() - begin >= 500ms);
}
