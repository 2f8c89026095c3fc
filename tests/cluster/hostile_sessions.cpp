// Clients whose graphs, runs and messages make no sense, at live servers: each is told so, and the servers go on.

#include <leat/cluster.hpp>
#include <leat/cluster/master_client.hpp>
#include <leat/cluster/messenger_network.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/graph/known_operators.hpp>

#include "cluster/support/free_address.hpp"
#include "support/hostile_graphs.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace leat;
using namespace leat_test;
using namespace std::chrono_literals;

namespace {

cluster::steady_time in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

int threads_here() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int n = 0;
  while (status >> word)
    if (word == "Threads:") status >> n;
  return n;
}

template <class F>
bool until(F holds, std::chrono::milliseconds time = 5s) {
  for (const auto end = in(time); !holds(); std::this_thread::sleep_for(2ms))
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

// A client that sends a graph as it is, without having read it itself.
struct blunt_client {
  explicit blunt_client(const std::string& target) {
    transport::messenger_options o;
    o.endpoint.same_process = o.endpoint.same_host = false;
    network = std::make_shared<cluster::messenger_network>(o, std::vector<cluster::task_address>{{"", 0, target.substr(6)}});
    network->start();
    master = cluster::access_to(std::static_pointer_cast<cluster::task_network>(network), 0);
  }
  std::uint64_t session(std::chrono::milliseconds time = 5s) { return master->create_session({.deadline = in(time)}); }
  void call(cluster::method what, transport::message m, cluster::steady_time deadline = cluster::steady_time::max()) {
    network->call(0, what, std::move(m), deadline, [](const transport::message&, std::exception_ptr) {});
  }

  std::shared_ptr<cluster::messenger_network> network;
  std::unique_ptr<cluster::master_access> master;
};

transport::message session_options_message() {
  transport::message m;
  m.parts.push_back(transport::frame::of(std::string(R"({"allow_soft_placement":false,"device_filters":[]})")));
  return m;
}

struct two_tasks {
  cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  server ps{c, {.job_name = "ps", .use_shared_memory = false, .memory_limit_in_bytes = 64 << 20}};
  server worker{c, {.job_name = "worker", .use_shared_memory = false, .memory_limit_in_bytes = 64 << 20}};
};

}  // namespace

TEST_CASE("graphs that were made to break something are errors of their session, on one task and cut between two") {
  two_tasks tasks;
  blunt_client client(tasks.worker.target());
  std::map<std::string, int> endings;
  for (const bool is_cut : {false, true})
    for (const auto& h : hostile_graphs()) {
      CAPTURE(h.name);
      CAPTURE(is_cut);
      graph_def def = graph_text(h.text).parse();
      if (is_cut)
        for (std::size_t k = 0; k < def.nodes.size(); k += 2) def.nodes[k].device = "/job:ps/task:0";
      client.master->reset("", in(2s));
      const std::uint64_t session = client.session();
      const auto begin = std::chrono::steady_clock::now();
      std::string outcome = "ok";
      try {
        client.master->extend_session(session, def, in(2s));
        const std::uint64_t run = client.master->prepare(session, {.fetches = h.fetches}, in(2s));
        static_cast<void>(client.master->run(session, run, {}, in(300ms), nullptr, nullptr));
      } catch (const error& e) {
        outcome = e.what();
        CHECK(outcome.size() > 5);
      }
      CAPTURE(outcome);
      ++endings[outcome == "ok" ? "ok" : "error"];
      CHECK(std::chrono::steady_clock::now() - begin < 3s);
      // A variable keeps its dtype and shape.
      const bool is_taken = outcome.find("and this node shares it") != std::string::npos;
      if (!is_cut && h.expected.starts_with("ok")) CHECK((outcome == "ok" || is_taken));
      client.master->close_session(session);
    }
  CHECK(endings["ok"] > 40);
  CHECK(endings["error"] > 200);
  // Both tasks go on.
  graph g;
  const auto scope = g.as_default();
  output there;
  {
    const device d("/job:ps/task:0");
    there = multiply(constant(3.0f), 2.0f);
  }
  CHECK(graph_session(g, {.target = tasks.worker.target()}).run<float>(there) == 6);
  CHECK_THROWS_AS(server::local({.memory_limit_in_bytes = -1}), invalid_argument);
}

TEST_CASE("a run of more values than a message holds; handles of nothing") {
  two_tasks tasks;
  blunt_client client(tasks.worker.target());
  const std::uint64_t session = client.session();
  const graph_def def = graph_text("one = Const float32[]{1}\n").parse();
  client.master->extend_session(session, def, in(2s));
  const std::vector<std::string> many(70'000, "one:0");
  const std::uint64_t run = client.master->prepare(session, {.fetches = many}, in(20s));
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(client.master->run(session, run, {}, in(20s), nullptr, nullptr)); }), "parts"));
  // The same node twice, and another session's handle.
  CHECK_THROWS_AS(client.master->extend_session(session, def, in(2s)), error);
  CHECK_THROWS_AS(client.master->extend_session(session + 1, def, in(2s)), aborted);
  CHECK_THROWS_AS(static_cast<void>(client.master->run(session, run + 1, {}, in(2s), nullptr, nullptr)), invalid_argument);
  const auto few = client.master->prepare(session, {.fetches = {"one:0"}}, in(2s));
  CHECK(client.master->run(session, few, {}, in(2s), nullptr, nullptr).at(0).as<float>() == 1);
}

TEST_CASE("a server that is stopped waits for no session that waits for others") {
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  auto ps = std::make_unique<server>(c, server_options{.job_name = "ps"});
  blunt_client client(ps->target());
  CHECK_THROWS_AS(client.session(100ms), deadline_exceeded);  // connected
  for (int k = 0; k < 3; ++k) client.call(cluster::method::create_session, session_options_message());
  std::this_thread::sleep_for(100ms);
  const auto begin = std::chrono::steady_clock::now();
  ps.reset();
  CHECK(std::chrono::steady_clock::now() - begin < 2s);
}

TEST_CASE("what a client began ends with it: sessions that wait, runs that wait, calls that are still to come") {
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  server ps(c, {.job_name = "ps", .use_shared_memory = false});
  const int before = threads_here();
  {
    blunt_client client(ps.target());
    CHECK_THROWS_AS(client.session(100ms), deadline_exceeded);
    for (int k = 0; k < 40; ++k) client.call(cluster::method::create_session, session_options_message());
    CHECK(until([&] { return threads_here() >= before + 40; }));
  }
  {
    server worker(c, {.job_name = "worker", .use_shared_memory = false});
    blunt_client client(ps.target());
    const std::uint64_t session = client.session();
    const graph_def def =
        graph_text("q = FIFOQueueV2 component_types=(float32)\ny = QueueDequeueV2(q) component_types=(float32)\n").parse();
    client.master->extend_session(session, def, in(2s));
    const std::uint64_t run = client.master->prepare(session, {.fetches = {"y:0"}}, in(2s));
    for (std::uint64_t k = 1; k <= 600; ++k) {  // more than there are threads
      transport::message m;
      cluster::put_words(m, {session, run, k});
      cluster::put_tensors(m, {});
      client.call(cluster::method::run, std::move(m));
    }
    CHECK(until([&] { return threads_here() >= before + 400; }));
  }
  // Another client is served at once; threads end after some seconds without work.
  server worker(c, {.job_name = "worker", .use_shared_memory = false});
  graph g;
  const auto scope = g.as_default();
  const output one = constant(1.0f);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(graph_session(g, {.target = ps.target(), .start_timeout_in_ms = 5'000}).run<float>(one) == 1);
  CHECK(std::chrono::steady_clock::now() - begin < 4s);
}
