// Keys from their files to a running graph: servers and sessions over the real network, and those who are not let in.

#include <leat/cluster.hpp>

#include "cluster/support/free_address.hpp"
#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

using namespace leat;
using namespace leat_test;
using namespace std::chrono_literals;

namespace {

// Keys of this process's sessions, as long as this lives.
struct client_keys {
  explicit client_keys(std::optional<cluster_keys> keys, bool insecure = false) { set_cluster_keys(std::move(keys), insecure); }
  client_keys(const client_keys&) = delete;
  client_keys& operator=(const client_keys&) = delete;
  ~client_keys() { set_cluster_keys(std::nullopt); }
};

// A parameter server and a worker with keys. Their addresses are of "localhost"; sessions go to "127.0.0.1", and so over the network, though the
// servers are of this process.
struct keyed_cluster {
  scratch_folder folder{"cluster_keys"};
  std::filesystem::path servers = folder.path / "servers", client = folder.path / "client", stranger = folder.path / "stranger";
  int ports[2] = {free_port(), free_port()};
  cluster_spec spec;
  std::unique_ptr<server> ps, worker;

  keyed_cluster() {
    for (const auto& path : {servers, client, stranger}) make_cluster_keys(path);
    spec = cluster_spec{{"ps", {"localhost:" + std::to_string(ports[0])}}, {"worker", {"localhost:" + std::to_string(ports[1])}}};
    ps = std::make_unique<server>(spec, options("ps"));
    worker = std::make_unique<server>(spec, options("worker"));
  }
  static std::filesystem::path shown(std::filesystem::path pair) { return pair += ".public"; }
  cluster_keys of_client(const std::filesystem::path& pair) const { return {.own = pair, .servers = {shown(servers)}}; }
  server_options options(const std::string& job) const {
    return {.job_name = job,
            .task_index = 0,
            .keys = cluster_keys{.own = servers, .servers = {shown(servers)}, .allowed = {shown(servers), shown(client)}}};
  }
  std::string target() const { return "tcp://127.0.0.1:" + std::to_string(ports[1]); }
};

// A graph over both tasks.
struct two_task_graph {
  graph g;
  output v, twice;
  graph_operation init, up;
  two_task_graph() {
    const auto scope = g.as_default();
    {
      const device d("/job:ps/task:0");
      v = variable(2.0f, "v");
      up = assign_add(v, 1.0f).operation();
    }
    {
      const device d("/job:worker/task:0");
      twice = multiply(v, 2.0f);
    }
    init = global_variables_initializer();
  }
};

session_options to(const std::string& target, std::int64_t start = 10'000) {
  session_options options;
  options.target = target;
  options.start_timeout_in_ms = start;
  options.operation_timeout_in_ms = 10'000;
  return options;
}

// Nobody waits longer than the deadline, and the 2 seconds that the target's own answer may take.
template <class Error>
std::string refusal_within(std::chrono::milliseconds time, two_task_graph& m, const session_options& options) {
  const auto begin = std::chrono::steady_clock::now();
  std::string said = message_of<Error>([&] { graph_session s(m.g, options); });
  CHECK(std::chrono::steady_clock::now() - begin < time + 3s);
  return said;
}

}  // namespace

TEST_CASE("with keys, two servers and a client run a graph; strangers disturb nobody") {
  keyed_cluster c;
  two_task_graph m;
  const client_keys known(c.of_client(c.client));
  graph_session s(m.g, to(c.target()));
  s.run(m.init);
  CHECK(s.run<float>(m.twice) == 4);

  float value = 2;
  const auto goes_on = [&] {
    s.run(m.up);
    CHECK(s.run<float>(m.twice) == 2 * ++value);
  };
  two_task_graph other;
  {
    const client_keys none(std::nullopt);
    const auto said = refusal_within<unauthenticated>(2s, other, to(c.target(), 2'000));
    CHECK(says(said, "127.0.0.1:" + std::to_string(c.ports[1]), "key"));
    goes_on();
  }
  {
    const client_keys not_listed(c.of_client(c.stranger));
    const auto said = refusal_within<unauthenticated>(2s, other, to(c.target(), 2'000));
    CHECK(says(said, "127.0.0.1:" + std::to_string(c.ports[1]), "refused this process's key"));
    goes_on();
  }
  {
    cluster_keys wrong = c.of_client(c.client);
    wrong.servers = {keyed_cluster::shown(c.stranger)};
    const client_keys mistaken(wrong);
    const auto said = refusal_within<unauthenticated>(2s, other, to(c.target(), 2'000));
    CHECK(says(said, "127.0.0.1:" + std::to_string(c.ports[1]), "key"));
    goes_on();
  }
  const client_keys again(c.of_client(c.client));
  graph_session second(m.g, to(c.target()));
  CHECK(second.run<float>(m.twice) == 2 * value);
}

TEST_CASE("a key that is taken off its list gets nothing any more") {
  keyed_cluster c;
  const auto list = c.folder.path / "clients";
  const auto write = [&](const std::vector<std::filesystem::path>& pairs) {
    std::ofstream out(c.folder.path / "new");
    for (const auto& pair : pairs) {
      std::ifstream in(keyed_cluster::shown(pair));
      out << in.rdbuf();
    }
    out.close();
    std::filesystem::rename(c.folder.path / "new", list);
  };
  write({c.client, c.stranger});
  c.worker.reset();
  auto options = c.options("worker");
  options.keys->allowed = {keyed_cluster::shown(c.servers), list};
  c.worker = std::make_unique<server>(c.spec, options);
  two_task_graph m;
  const client_keys known(c.of_client(c.client));
  graph_session s(m.g, to(c.target()));
  s.run(m.init);
  CHECK(s.run<float>(m.twice) == 4);
  two_task_graph other;
  {
    const client_keys second(c.of_client(c.stranger));
    graph_session its(other.g, to(c.target()));
    CHECK(its.run<float>(other.twice) == 4);
    write({c.client});
    // Its connection ends,
    const auto begin = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(while (std::chrono::steady_clock::now() - begin < 10s) its.run<float>(other.twice), error);
    // and it gets no other one.
    const auto said = refusal_within<unauthenticated>(2s, other, to(c.target(), 2'000));
    CHECK(says(said, "refused this process's key"));
  }
  CHECK(s.run<float>(m.twice) == 4);
  // A list that cannot be read changes nothing; one that is mended counts.
  std::ofstream(list) << "nonsense\n";
  std::this_thread::sleep_for(1500ms);
  CHECK(s.run<float>(m.twice) == 4);
  write({c.client, c.stranger});
  std::this_thread::sleep_for(1500ms);
  const client_keys second(c.of_client(c.stranger));
  graph_session its(other.g, to(c.target()));
  CHECK(its.run<float>(other.twice) == 4);
}

TEST_CASE("a task whose server has other keys is not taken for one of the cluster") {
  keyed_cluster c;
  c.ps.reset();
  auto options = c.options("ps");
  options.keys->own = c.stranger;
  server intruder(c.spec, options);
  two_task_graph m;
  const client_keys known(c.of_client(c.client));
  const auto said = refusal_within<deadline_exceeded>(2s, m, to(c.target(), 2'000));
  CHECK(says(said, "/job:ps", c.spec.task_address("ps", 0)));
}

TEST_CASE("who is there is asked with keys") {
  keyed_cluster c;
  {
    const client_keys known(c.of_client(c.client));
    CHECK(cluster_at(c.target()) == c.spec);
    const auto tasks = cluster_status(c.spec);
    REQUIRE(tasks.size() == 2);
    for (const auto& t : tasks) {
      CHECK(t.is_up);
      CHECK(t.process == ::getpid());
    }
    CHECK(tasks[0].incarnation != tasks[1].incarnation);
  }
  const auto tasks = cluster_status(c.spec, 3'000);
  for (const auto& t : tasks) {
    CHECK_FALSE(t.is_up);
    CHECK(says(t.problem, t.device, t.address, "key"));
  }
  CHECK_THROWS_AS(static_cast<void>(cluster_at(c.target(), 3'000)), unauthenticated);
}

TEST_CASE("files that are no keys are refused by name") {
  keyed_cluster c;
  two_task_graph m;
  const auto refused = [&](const cluster_keys& keys) {
    const client_keys given(keys);
    return message_of([&] { graph_session s(m.g, to(c.target(), 1'000)); });
  };
  CHECK(says(refused({.own = c.folder.path / "nothing"}), "nothing: cannot be opened"));
  CHECK(says(refused({.own = keyed_cluster::shown(c.client)}), "client.public", "one public and one secret key"));
  CHECK(says(refused({.own = c.client, .servers = {keyed_cluster::shown(c.servers), keyed_cluster::shown(c.stranger)}}), "stranger.public",
             "share one"));
  CHECK(says(message_of<already_exists>([&] { make_cluster_keys(c.client); }), "client"));
  // Half a pair is not left behind.
  const auto pair = c.folder.path / "half";
  std::ofstream(keyed_cluster::shown(pair)) << "another's";
  CHECK_THROWS_AS(make_cluster_keys(pair), already_exists);
  CHECK_FALSE(std::filesystem::exists(pair));
}

TEST_CASE("an address that others can reach needs keys, or to be told that it does without") {
  std::uint32_t found = 0;
  ifaddrs* all = nullptr;
  REQUIRE(::getifaddrs(&all) == 0);
  char text[INET_ADDRSTRLEN] = "";
  for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET) continue;
    const auto& a = reinterpret_cast<const sockaddr_in&>(*i->ifa_addr);
    if (ntohl(a.sin_addr.s_addr) >> 24 == 127) continue;
    found = ntohl(a.sin_addr.s_addr);
    ::inet_ntop(AF_INET, &a.sin_addr, text, sizeof text);
  }
  ::freeifaddrs(all);
  if (text[0] == 0) {
    MESSAGE("this host has no address but loopback");
    return;
  }
  const std::string address = std::string(text) + ":" + std::to_string(free_port(found));
  const cluster_spec spec{{"worker", {address}}};
  CHECK(says(message_of<invalid_argument>([&] { server s(spec); }), address, "leat keys", "insecure_network"));

  server open(spec, {.insecure_network = true, .use_shared_memory = false});
  graph g;
  const auto scope = g.as_default();
  const output one = constant(1.0f);
  CHECK(graph_session(g, to("tcp://" + address)).run<float>(one) == 1);
  const auto status = cluster_status(spec, 2'000);
  CHECK_FALSE(status.at(0).is_up);
  CHECK(says(status.at(0).problem, address, "leat keys", "insecure_network"));
  const client_keys insecure(std::nullopt, true);
  CHECK(cluster_status(spec).at(0).is_up);
}
