// Servers in processes of their own, and what befalls them: bytes of strangers and of clients gone mad, stops, forks, signals, a full disk.
// Meanwhile another client trains, and must get the numbers that it gets alone. LEAT_ATTACK_SECONDS=60 has the bytes go on for a minute.

#include <leat/checkpoint.hpp>
#include <leat/cluster.hpp>
#include <leat/cluster/master_client.hpp>
#include <leat/cluster/messenger_network.hpp>
#include <leat/core/sanitizer.hpp>

#include "cluster/support/free_address.hpp"
#include "cluster/support/local_network.hpp"
#include "support/messages.hpp"
#include "support/processes.hpp"
#include "support/scratch_folder.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace leat;
using namespace leat_test;
using namespace std::chrono_literals;
namespace tr = leat::transport;
using cluster::method;

namespace {

cluster::steady_time in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

template <class F>
bool until(F holds, std::chrono::milliseconds time = 5s) {
  for (const auto end = in(time); !holds(); std::this_thread::sleep_for(2ms))
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

// ---- servers, in processes that run this program ----

std::unique_ptr<process> start_server(const cluster_spec& c, const std::string& job, bool memory = true,
                                      const std::string& role = "serve") {
  ::setenv("LEAT_TEST_CLUSTER", json_text(c).c_str(), 1);
  ::setenv("LEAT_TEST_JOB", job.c_str(), 1);
  ::setenv("LEAT_TEST_MEMORY", memory ? "1" : "0", 1);
  auto started = std::make_unique<process>(std::vector<std::string>{"/proc/self/exe", "--no-skip", "--test-case=a process of: " + role});
  for (int k = 0; started->line() != "ready"; ++k)  // doctest says something first
    if (k == 20) throw std::runtime_error("a server does not start");
  return started;
}

std::size_t resident_bytes(pid_t id) {
  std::ifstream in("/proc/" + std::to_string(id) + "/statm");
  std::size_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * 4096;
}

struct two_processes {
  explicit two_processes(bool memory = true) : ps(start_server(c, "ps", memory)), worker(start_server(c, "worker", memory)) {}
  cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  std::unique_ptr<process> ps, worker;
  std::string target() const { return "tcp://" + c.task_address("worker", 0); }
};

// ---- training ----

struct model {
  graph g;
  output w, steps, loss;
  graph_operation train, init;
  explicit model(const std::string& kept_in = "training") {
    const auto scope = g.as_default();
    const container own(kept_in);
    {
      const device d("/job:ps/task:0");
      steps = get_or_create_global_step();
      w = variable(std::vector<float>(500, 2.0f), "w");
    }
    {
      const device d("/job:worker/task:0");
      loss = reduce_mean(square(subtract(w, 0.5f)));
      train = gradient_descent(5.0f).minimize(loss, {.global_step = steps});
    }
    init = global_variables_initializer();
  }
};

session_options session_at(const std::string& target) {
  session_options o;
  o.target = target;
  o.start_timeout_in_ms = 10'000;
  o.operation_timeout_in_ms = 20'000;
  return o;
}

std::vector<float> trained(graph_session& s, const model& m, int count) {
  s.run(m.init);
  std::vector<float> all;
  for (int k = 0; k < count; ++k) {
    s.run(m.train);
    all.push_back(s.run<float>(m.loss));
  }
  return all;
}

// ---- attacks ----

// All messages of a session's life between client, master and worker; of a cluster that is no more.
std::vector<tr::message> recorded() {
  std::mutex guard;
  std::vector<tr::message> all;
  local_cluster tasks({{"ps", 1}, {"worker", 1}});
  tasks.network->on_message = [&](method what, const tr::message& m) {
    const std::lock_guard lock(guard);
    all.push_back(m);
    all.back().method = static_cast<std::uint16_t>(what);
  };
  tasks.sessions = 1;  // the next lives elsewhere
  model m("elsewhere");
  graph_session s(m.g, session_at(local_cluster::target(1)));
  static_cast<void>(trained(s, m, 3));
  static_cast<void>(s.value(m.w));
  s.assign(m.w, tensor_value(std::vector<float>(500, 1.0f)));
  static_cast<void>(s.is_initialized(m.w));
  s.close();
  tasks.network->on_message = nullptr;
  for (tr::message& kept : all) {
    const auto what = static_cast<method>(kept.method);
    const bool is_note = what == method::stop_run || what == method::drop_parts || what == method::cancel_step || what == method::tensor ||
                         what == method::tensors;
    kept.what = is_note ? tr::kind::note : tr::kind::request;
    for (tr::frame& part : kept.parts) part = tr::frame::copy_of(part.bytes());
  }
  return all;
}

// What every client may do, and the training would not survive: drop variables.
bool is_reset(unsigned number) {
  const auto what = static_cast<method>(number);
  return what == method::reset_all || what == method::reset;
}

class attacker {
 public:
  attacker(const std::vector<tr::message>& known, unsigned seed) : known_(known), random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::uint64_t extreme() {
    constexpr std::uint64_t all[] = {0,
                                     1,
                                     3,
                                     255,
                                     65535,
                                     0x7fffffff,
                                     0x80000000,
                                     std::uint64_t{1} << 32,
                                     std::uint64_t{1} << 44,
                                     std::uint64_t{1} << 62,
                                     ~std::uint64_t{0} >> 1,
                                     std::uint64_t{1} << 63,
                                     ~std::uint64_t{0}};
    return all[below(std::size(all))];
  }
  std::string spoiled(std::string bytes) {
    for (std::uint64_t n = 1 + below(3); n > 0; --n) switch (below(6)) {
        case 0:
          if (!bytes.empty()) bytes[below(bytes.size())] = static_cast<char>(random_());
          break;
        case 1: bytes.resize(below(bytes.size() + 1)); break;
        case 2: bytes += bytes.substr(below(bytes.size() + 1)); break;
        case 3:
          if (bytes.size() >= 8) {
            const std::uint64_t n8 = extreme();
            bytes.replace(below(bytes.size() / 8) * 8, 8, reinterpret_cast<const char*>(&n8), 8);
          }
          break;
        case 4: bytes = std::string(below(20'000), "[{\"a"[below(2) * 1]) + bytes; break;
        default:
          if (bytes.size() > 1) std::swap(bytes[below(bytes.size())], bytes[below(bytes.size())]);
      }
    return bytes;
  }
  tr::message message() {
    tr::message m = known_[below(known_.size())];
    switch (below(6)) {
      case 0: return m;  // as it was, of a session that has ended
      case 1:
        m.method = static_cast<std::uint16_t>(below(25));
        if (is_reset(m.method)) m.method = 0;
        break;
      case 2: m.number = extreme(); break;
      case 3:
        if (!m.parts.empty()) m.parts.erase(m.parts.begin() + static_cast<std::ptrdiff_t>(below(m.parts.size())));
        break;
      default: break;
    }
    if (!m.parts.empty() && below(3) != 0) {
      tr::frame& part = m.parts[below(m.parts.size())];
      part = tr::frame::of(spoiled(std::string(part.text())));
      m.element = dtype::invalid, m.sizes.clear();
    }
    m.deadline = below(2) ? 50'000 : 0;
    return m;
  }
  std::string bytes(std::uint64_t most) {
    std::string all(below(most), '\0');
    for (char& c : all) c = static_cast<char>(random_());
    return all;
  }
  std::vector<tr::packet> packets() {
    std::vector<tr::packet> all;
    try {
      tr::message m = message();
      m.number += below(3);
      encode(m, tr::wire_chunk_bytes, all);
    } catch (const error&) {
      return all;
    }
    for (tr::packet& p : all)
      if (below(2)) p.frames[0] = tr::frame::of(spoiled(std::string(p.frames[0].text())));
    for (tr::packet& p : all) {
      std::string head(p.frames[0].text());
      if (head.size() < 10 || !is_reset(static_cast<std::uint8_t>(head[8]))) continue;
      head[8] = 0;
      p.frames[0] = tr::frame::of(std::move(head));
    }
    if (below(5) == 0 && all.size() > 1) std::swap(all[0], all[1]);
    if (below(5) == 0) all.push_back(all[0]);
    if (below(5) == 0) all[0].frames.push_back(tr::frame::of(bytes(100)));
    if (below(5) == 0) all[0].frames.insert(all[0].frames.begin(), tr::frame());
    return all;
  }

 private:
  const std::vector<tr::message>& known_;
  std::mt19937_64 random_;
};

descriptor connected(const std::string& where) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(where.substr(where.rfind(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  descriptor s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  timeval patience{0, 200'000};
  ::setsockopt(s.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(s.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) s.reset();
  return s;
}

void put(const descriptor& s, const std::string& bytes) {
  if (s) static_cast<void>(!::send(s.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

// ZeroMQ's handshake (ZMTP 3.0, mechanism NULL), and its frames.
std::string handshake(const std::string& name = {}) {
  std::string all = std::string("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL", 16);
  all.resize(64, '\0');
  std::string ready = std::string("\5READY\x0bSocket-Type\0\0\0\6DEALER", 28);
  if (!name.empty()) ready += std::string("\x08Identity\0\0\0", 12) + static_cast<char>(name.size()) + name;
  return all + '\4' + static_cast<char>(ready.size()) + ready;
}
std::string frames_of(const tr::packet& p) {
  std::string all;
  for (std::size_t k = 0; k < p.frames.size(); ++k) {
    all += static_cast<char>(2 + (k + 1 < p.frames.size() ? 1 : 0));
    for (int shift = 56; shift >= 0; shift -= 8) all += static_cast<char>(p.frames[k].size() >> shift & 255);
    all += p.frames[k].text();
  }
  return all;
}

// Bytes at the port, with and without a handshake.
void throw_bytes(const std::string& where, attacker& a) {
  const descriptor s = connected(where);
  if (a.below(3)) put(s, handshake().substr(0, a.below(3) ? std::string::npos : a.below(90)));
  put(s, a.bytes(2000));
  std::this_thread::sleep_for(1ms);
}

// Spoiled messages of the protocol, after a greeting or without one.
void throw_packets(const std::string& where, attacker& a) {
  const descriptor s = connected(where);
  put(s, handshake(a.below(3) == 0 ? "the same for all" : ""));
  if (a.below(5) != 0) {
    tr::message hello;
    hello.what = tr::kind::hello;
    hello.parts.push_back(tr::encode_greeting({tr::identity{"", "", "", -1, tr::random_incarnation(), "", 1}, {}, 0}));
    if (a.below(10) == 0) hello.parts[0] = tr::frame::of(a.spoiled(std::string(hello.parts[0].text())));
    std::vector<tr::packet> first;
    encode(hello, 0, first);
    put(s, frames_of(first[0]));
  }
  for (std::uint64_t n = a.below(20); n > 0; --n)
    for (const tr::packet& p : a.packets()) put(s, a.below(20) ? frames_of(p) : frames_of(p).substr(0, a.below(200)));
  std::this_thread::sleep_for(1ms);
}

// Messages that are whole and make no sense.
void throw_messages(const std::string& where, attacker& a, bool by_memory) {
  tr::messenger_options o;
  o.endpoint.same_process = false;
  o.endpoint.same_host = by_memory;
  tr::messenger client(o);
  client.start();
  const tr::peer_id p = client.dial(where);
  try {
    client.await(p, in(5s));
    for (int n = 0; n < 200; ++n) {
      tr::message m = a.message();
      if (m.what == tr::kind::note) client.note(p, std::move(m));
      else client.begin(p, std::move(m), {.deadline = in(200ms)}, [](const tr::outcome&) {});
    }
    std::this_thread::sleep_for(20ms);
  } catch (const error&) {
    // It is thrown out, as it should be.
  }
}

}  // namespace

TEST_CASE("a process of: serve" * doctest::skip()) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const cluster_spec c = cluster_spec_from_json(std::getenv("LEAT_TEST_CLUSTER"));
  server here(c, {.job_name = std::getenv("LEAT_TEST_JOB"), .use_shared_memory = std::string(std::getenv("LEAT_TEST_MEMORY")) == "1"});
  std::puts("ready");
  std::fflush(stdout);
  here.join();
}

TEST_CASE("a process of: serve with a child" * doctest::skip()) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const cluster_spec c = cluster_spec_from_json(std::getenv("LEAT_TEST_CLUSTER"));
  server here(c, {.job_name = std::getenv("LEAT_TEST_JOB")});
  std::thread forks([] {
    std::this_thread::sleep_for(100ms);  // until the other thread is in `join`
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      for (;;) ::pause();
    }
    std::printf("ready\n%d\n", child);
    std::fflush(stdout);
  });
  here.join();
  forks.join();
  std::puts("stopped");
  std::fflush(stdout);
}

TEST_CASE("bytes of strangers and messages of clients gone mad disturb no training, and cost no memory") {
  const char* const asked = std::getenv("LEAT_ATTACK_SECONDS");
  const auto time = std::chrono::seconds(asked != nullptr ? std::atoi(asked) : 3);
  const std::vector<tr::message> known = recorded();
  REQUIRE(known.size() > 30);
  two_processes tasks;
  model m;
  graph_session s(m.g, session_at(tasks.target()));
  const std::vector<float> alone = trained(s, m, 30);
  CHECK(alone.back() < alone.front());

  std::atomic<bool> stop{false};
  std::atomic<int> thrown{0};
  std::vector<std::jthread> attacks;
  unsigned seed = 1;
  for (const auto& [job, index] : {std::pair("ps", 0), std::pair("worker", 0)})
    for (int way = 0; way < 3; ++way)
      attacks.emplace_back([&, way, where = tasks.c.task_address(job, index), a = attacker(known, seed++)]() mutable {
        for (int k = 0; !stop; ++k, ++thrown) {
          if (way == 0) throw_bytes(where, a);
          if (way == 1) throw_packets(where, a);
          if (way == 2) throw_messages(where, a, k % 2 == 0);
        }
      });
  const auto begin = std::chrono::steady_clock::now();
  std::optional<std::array<std::size_t, 2>> before;
  int runs = 0;
  while (std::chrono::steady_clock::now() - begin < time) {
    CHECK(trained(s, m, 30) == alone);
    ++runs;
    // What allocators and caches keep is there after a while.
    if (!before && std::chrono::steady_clock::now() - begin > time / 3)
      before = {resident_bytes(tasks.ps->id()), resident_bytes(tasks.worker->id())};
  }
  const std::array<std::size_t, 2> after{resident_bytes(tasks.ps->id()), resident_bytes(tasks.worker->id())};
  stop = true;
  attacks.clear();
  CHECK(runs > 1);
  CHECK(thrown > 50);
  CHECK(trained(s, m, 30) == alone);
  for (std::size_t k = 0; k < 2; ++k) {
    MESSAGE("resident: " << (before->at(k) >> 20) << " MiB, then " << (after[k] >> 20) << " MiB; attacks: " << thrown.load()
                         << ", runs: " << runs);
#if !defined(LEAT_ADDRESS_SANITIZER)  // which keeps what is freed
    CHECK(after[k] < before->at(k) + (std::size_t{64} << 20));
#endif
  }
  // Another client is served, and the servers end in order.
  CHECK(cluster_status(tasks.c, 2'000)[0].is_up);
  tasks.ps->send(SIGTERM);
  tasks.worker->send(SIGTERM);
  CHECK(tasks.ps->wait() == 0);
  CHECK(tasks.worker->wait() == 0);
}

TEST_CASE("a server that stands still for a moment is waited for, one that does so for longer is lost, and there again") {
  for (const bool memory : {true, false}) {
    CAPTURE(memory);
    two_processes tasks(memory);
    model m;
    std::optional<graph_session> s(std::in_place, m.g, session_at(tasks.target()));
    const std::vector<float> alone = trained(*s, m, 20);
    for (const process* p : {tasks.ps.get(), tasks.worker.get()}) {
      std::jthread pause([p] {
        std::this_thread::sleep_for(2ms);
        p->send(SIGSTOP);
        std::this_thread::sleep_for(300ms);
        p->send(SIGCONT);
      });
      CHECK(trained(*s, m, 20) == alone);
    }
    if (memory) continue;
    tasks.ps->send(SIGSTOP);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(says(message_of<unavailable>([&] { static_cast<void>(trained(*s, m, 20)); }), "/job:ps/task:0"));
    CHECK(std::chrono::steady_clock::now() - begin < 4s);
    tasks.ps->send(SIGCONT);
    s.emplace(m.g, session_at(tasks.target()));
    CHECK(trained(*s, m, 20) == alone);
  }
}

TEST_CASE("signals interrupt no run") {
  const two_processes tasks(false);
  model m;
  graph_session s(m.g, session_at(tasks.target()));
  const std::vector<float> alone = trained(s, m, 20);
  struct sigaction on{}, before{};
  on.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &on, &before);
  const itimerval often{{0, 300}, {0, 300}}, never_again{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  CHECK(trained(s, m, 20) == alone);
  CHECK(graph_session(m.g, session_at(tasks.target())).run<float>(m.loss) == alone.back());
  ::setitimer(ITIMER_REAL, &never_again, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
}

TEST_CASE("the child of a fork is told so, and touches nothing of its parent's") {
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  const auto far = start_server(c, "ps");
  auto here = std::make_unique<server>(c, server_options{.job_name = "worker"});
  model m;
  auto own = std::make_unique<graph_session>(m.g, session_at(here->target()));
  auto other = std::make_unique<graph_session>(m.g, session_at("tcp://127.0.0.1" + c.task_address("ps", 0).substr(9)));
  const std::vector<float> alone = trained(*own, m, 10);
  CHECK(trained(*other, m, 10) == alone);

  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    const auto is_refused = [](const std::function<void()>& f) {
      try {
        f();
      } catch (const failed_precondition& e) {
        return std::string(e.what()).find("child of a fork") != std::string::npos;
      } catch (...) {
      }
      return false;
    };
    int status = 0;
    for (graph_session* s : {own.get(), other.get()}) {
      if (!is_refused([&] { s->run(m.train); })) status |= 1;
      if (!is_refused([&] { static_cast<void>(s->value(m.w)); })) status |= 2;
      if (!is_refused([&] { s->reset("training"); })) status |= 4;
    }
    if (!is_refused([&] { here->join(); })) status |= 8;
    here->stop();
    own.reset(), other.reset(), here.reset();
    // As a new client it reaches its parent.
    try {
      graph_session anew(m.g, session_at("tcp://" + c.task_address("worker", 0)));
      if (anew.run<float>(m.loss) != alone.back()) status |= 16;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "in the child: %s\n", e.what());
      status |= 32;
    }
    ::_exit(status);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(trained(*own, m, 10) == alone);
  CHECK(trained(*other, m, 10) == alone);
}

TEST_CASE("a signal for the child of a fork does not stop its parent's server") {
  const cluster_spec c{{"ps", {free_address()}}};
  const auto parent = start_server(c, "ps", true, "serve with a child");
  const pid_t child = std::stoi(parent->line());
  ::kill(child, SIGTERM);
  std::this_thread::sleep_for(300ms);
  CHECK(cluster_status(c, 2'000)[0].is_up);
  CHECK(::kill(parent->id(), 0) == 0);
  parent->send(SIGTERM);
  CHECK(parent->line() == "stopped");
  CHECK(parent->wait() == 0);
  // By then the child has ended, and the system has taken it.
  CHECK(until([&] { return ::kill(child, 0) != 0 || std::ifstream("/proc/" + std::to_string(child) + "/cmdline").peek() < 0; }));
}

TEST_CASE("a full disk is said of the file, and training goes on") {
  const two_processes tasks;
  model m;
  const scratch_folder folder("attack_disk");
  saver save(m.g);
  graph_session s(m.g, session_at(tasks.target()));
  const std::vector<float> alone = trained(s, m, 10);
  const auto prefix = (folder.path / "model.ckpt").string();
  save.save(s, prefix, 10);

  struct sigaction ignored{}, before{};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignored, &before);
  rlimit size{};
  ::getrlimit(RLIMIT_FSIZE, &size);
  rlimit small = size;
  small.rlim_cur = 700;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string said = message_of<error>([&] { save.save(s, prefix, 11); });
  ::setrlimit(RLIMIT_FSIZE, &size);
  ::sigaction(SIGXFSZ, &before, nullptr);
  CHECK(says(said, folder.path.string()));
  CHECK(latest_checkpoint(folder.path.string()).str().ends_with("model.ckpt-10"));
  CHECK(says(message_of<error>([&] { save.save(s, "/proc/leat/model.ckpt"); }), "/proc/leat"));
  CHECK(trained(s, m, 10) == alone);
  save.save(s, prefix, 12);
  CHECK(latest_checkpoint(folder.path.string()).str().ends_with("model.ckpt-12"));
}
