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

namespace {

// A parameter server and two workers, each with a pair of its own.
struct cluster_of_pairs {
  scratch_folder folder{"task_keys"};
  std::filesystem::path keys = folder.path / "keys", client = folder.path / "client";
  int ports[3] = {free_port(), free_port(), free_port()};
  cluster_spec spec;
  std::unique_ptr<server> ps, workers[2];

  cluster_of_pairs() {
    std::filesystem::create_directory(keys);
    for (const char* name : {"ps.0", "worker.0", "worker.1"}) make_cluster_keys(keys / name);
    make_cluster_keys(client);
    const auto address = [&](int k) { return "localhost:" + std::to_string(ports[k]); };
    spec = cluster_spec{{"ps", {address(0)}}, {"worker", {address(1), address(2)}}};
  }
  server_options options(const std::string& job, int task, const std::string& pair) const {
    return {.job_name = job,
            .task_index = task,
            .keys = cluster_keys{.own = keys / pair, .servers = {keys}, .allowed = {keys, keyed_cluster::shown(client)}}};
  }
  void start() {
    ps = std::make_unique<server>(spec, options("ps", 0, "ps.0"));
    for (int k = 0; k < 2; ++k) workers[k] = std::make_unique<server>(spec, options("worker", k, "worker." + std::to_string(k)));
  }
  cluster_keys of_client() const { return {.own = client, .servers = {keys}, .cluster = spec}; }
  std::string target(int k = 1) const { return "tcp://127.0.0.1:" + std::to_string(ports[k]); }
  // A folder in which one task has another one's key, as who wants to be taken for it would have it.
  std::filesystem::path forged(const std::string& task, const std::string& other) const {
    const auto made = folder.path / ("forged_" + task);
    std::filesystem::create_directory(made);
    for (const auto& entry : std::filesystem::directory_iterator(keys))
      std::filesystem::copy_file(entry.path(), made / entry.path().filename());
    std::filesystem::copy_file(keyed_cluster::shown(keys / other), keyed_cluster::shown(made / task),
                               std::filesystem::copy_options::overwrite_existing);
    return made;
  }
};

}  // namespace

TEST_CASE("each task has a key of its own") {
  cluster_of_pairs c;
  c.start();
  two_task_graph m;
  const client_keys known(c.of_client());
  graph_session s(m.g, to(c.target()));
  s.run(m.init);
  CHECK(s.run<float>(m.twice) == 4);
  const auto tasks = cluster_status(c.spec);
  REQUIRE(tasks.size() == 3);
  for (const auto& t : tasks) CHECK(t.is_up);
  CHECK(cluster_at(c.target()) == c.spec);

  // A list that is a folder: whose file is taken away gets nothing any more.
  const auto clients = c.folder.path / "clients";
  std::filesystem::create_directory(clients);
  std::filesystem::copy_file(keyed_cluster::shown(c.client), clients / "one.public");
  std::filesystem::copy_file(c.client, clients / "one");  // no public key
  auto options = c.options("worker", 1, "worker.1");
  options.keys->allowed = {c.keys, clients};
  c.workers[1].reset();
  c.workers[1] = std::make_unique<server>(c.spec, options);
  two_task_graph other;
  {
    graph_session its(other.g, to(c.target(2)));
    CHECK(its.run<float>(other.twice) == 4);
  }
  std::filesystem::remove(clients / "one.public");
  std::this_thread::sleep_for(1500ms);
  CHECK(says(refusal_within<unauthenticated>(2s, other, to(c.target(2), 2'000)), "refused this process's key"));
}

TEST_CASE("what answers at a task's address with another task's key is not taken for it, and is named") {
  cluster_of_pairs c;
  c.start();
  c.ps.reset();
  // With a worker's pair, and a folder that says so.
  auto options = c.options("ps", 0, "worker.1");
  options.keys->servers = {c.forged("ps.0", "worker.1")};
  server intruder(c.spec, options);
  two_task_graph m;
  const client_keys known(c.of_client());
  // By the session's target, and by a client that asks it.
  CHECK(says(refusal_within<deadline_exceeded>(2s, m, to(c.target(), 2'000)), "/job:ps", c.spec.task_address("ps", 0)));
  const auto tasks = cluster_status(c.spec, 2'000);
  CHECK_FALSE(tasks[0].is_up);
  CHECK(says(tasks[0].problem, "/job:ps/task:0", c.spec.task_address("ps", 0), "it has another key than expected"));
  CHECK(tasks[1].is_up);
  CHECK(says(refusal_within<unauthenticated>(2s, m, to(c.target(0), 2'000)), std::to_string(c.ports[0]), "another key"));
}

TEST_CASE("who says to be a task and has another one's key is not let in") {
  cluster_of_pairs c;
  c.start();
  c.workers[0].reset();
  auto options = c.options("worker", 0, "worker.1");
  const auto forged = c.forged("worker.0", "worker.1");
  options.keys->servers = {forged};
  server intruder(c.spec, options);
  two_task_graph m;
  auto fooled = c.of_client();
  fooled.servers = {forged};
  const client_keys known(fooled);
  // Its client trusts it; the parameter server does not.
  auto asked = to(c.target(), 2'000);
  asked.device_filters = {"/job:ps", "/job:worker/task:0"};
  const auto said = refusal_within<deadline_exceeded>(2s, m, asked);
  CHECK(says(said, "/job:ps", c.spec.task_address("ps", 0)));
  const client_keys honest(c.of_client());
  auto undisturbed = to(c.target(2));
  undisturbed.device_filters = {"/job:ps", "/job:worker/task:1"};
  graph g;
  const auto scope = g.as_default();
  output v;
  {
    const device d("/job:ps/task:0");
    v = variable(2.0f, "v");
  }
  const auto init = global_variables_initializer();
  graph_session s(g, undisturbed);
  s.run(init);
  CHECK(s.run<float>(v) == 2);
}

TEST_CASE("keys of tasks that do not fit are refused by name") {
  cluster_of_pairs c;
  CHECK(says(message_of<invalid_argument>([&] { server s(c.spec, c.options("worker", 0, "worker.1")); }), "worker.1",
             "is not the pair of /job:worker/task:0", "worker.0.public"));
  two_task_graph m;
  const auto refused = [&](const cluster_keys& keys, int k = 1) {
    const client_keys given(keys);
    return message_of<invalid_argument>([&] { graph_session s(m.g, to(c.target(k), 1'000)); });
  };
  auto keys = c.of_client();
  keys.cluster = {};
  CHECK(says(refused(keys), c.keys.string(), "a key for each task", "cluster_keys::cluster"));
  keys = c.of_client();
  keys.servers.push_back(keyed_cluster::shown(c.client));
  CHECK(says(refused(keys), "the only entry"));
  keys = c.of_client();
  keys.cluster = cluster_spec{{"ps", {c.spec.task_address("ps", 0)}}};
  CHECK(says(refused(keys), "no task of cluster_keys::cluster is at 127.0.0.1:" + std::to_string(c.ports[1])));
  std::ofstream(keyed_cluster::shown(c.keys / "worker.1"), std::ios::app) << "public " << std::string(40, '0') << "\n";
  CHECK(says(refused(c.of_client()), "the key of /job:worker/task:1: ", "worker.1.public has 2 keys"));
  std::filesystem::remove(keyed_cluster::shown(c.keys / "worker.1"));
  const client_keys given(c.of_client());
  CHECK(says(message_of<not_found>([&] { graph_session s(m.g, to(c.target(), 1'000)); }),
             "the key of /job:worker/task:1: ", "worker.1.public: cannot be opened"));
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
             "they share one"));
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
