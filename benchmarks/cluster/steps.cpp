// Linear regression by one parameter server and two workers, asynchronous, each a process: steps a second of a placed graph, whose step
// reads the variables and sends gradients, beside bare programs with these two round trips and nothing else, through ZeroMQ and through
// shared memory. Then the same with 100 us of computing in each step.
// `bench_steps [--json FILE] [--rounds N] [--steps N] [--only PART-OF-NAME] [--computing N]`

#include <leat/cluster.hpp>

#include "processes.hpp"
#include "rivals.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <time.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace leat;

constexpr int samples = 100;

// Addresses that are free now, and most likely in a moment.
std::vector<std::string> free_addresses(int count) {
  std::vector<int> sockets;
  std::vector<std::string> all;
  for (int k = 0; k < count; ++k) {
    const int s = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    if (::bind(s, reinterpret_cast<sockaddr*>(&a), size) != 0 || ::getsockname(s, reinterpret_cast<sockaddr*>(&a), &size) != 0)
      throw resource_exhausted("no free port");
    all.push_back("127.0.0.1:" + std::to_string(ntohs(a.sin_port)));
    sockets.push_back(s);
  }
  for (const int s : sockets) ::close(s);
  return all;
}

struct team {
  std::string name;
  std::string rival;
  std::function<void(const std::vector<std::string>& addresses)> ps;
  // Makes all ready, then returns the step to be timed and something to keep it alive.
  std::function<std::function<void()>(const std::vector<std::string>& addresses, int worker)> worker;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Computes for some processor time, as a large model would.
void compute(int microseconds) {
  if (microseconds == 0) return;
  const auto used = [] {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
  };
  for (const std::int64_t end = used() + std::int64_t{1000} * microseconds; used() < end;) {
  }
}

// Steps a second of both workers together; 0 if it failed.
double run_once(const team& t, int steps, int computing) {
  const auto addresses = free_addresses(3);
  const pid_t ps = ::fork();
  if (ps == 0) {
    t.ps(addresses);
    ::_exit(0);
  }
  int result[2];
  if (::pipe(result) != 0) return 0;
  std::array<pid_t, 2> workers{};
  for (int k = 0; k < 2; ++k) {
    workers[static_cast<std::size_t>(k)] = ::fork();
    if (workers[static_cast<std::size_t>(k)] != 0) continue;
    ::alarm(120);
    try {
      const auto its = t.worker(addresses, k);
      const auto step = [&] { its(), compute(computing); };
      for (int i = 0; i < steps / 10; ++i) step();
      std::array<double, 2> times{now(), 0};
      for (int i = 0; i < steps; ++i) step();
      times[1] = now();
      for (int i = 0; i < steps / 10; ++i) step();  // the other one may not be done
      static_cast<void>(!::write(result[1], times.data(), sizeof times));
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s, worker %d: %s\n", t.name.c_str(), k, e.what());
    }
    ::_exit(0);
  }
  ::close(result[1]);
  double begin = 1e300, end = 0;
  int seen = 0;
  for (std::array<double, 2> times{}; ::read(result[0], times.data(), sizeof times) == sizeof times; ++seen)
    begin = std::min(begin, times[0]), end = std::max(end, times[1]);
  for (const pid_t w : workers) ::waitpid(w, nullptr, 0);
  ::kill(ps, SIGKILL);
  ::waitpid(ps, nullptr, 0);
  ::close(result[0]);
  return seen == 2 ? 2 * steps / (end - begin) : 0;
}

std::vector<float> xs() {
  std::vector<float> all(samples);
  for (int i = 0; i < samples; ++i) all[static_cast<std::size_t>(i)] = static_cast<float>(-1 + 2 * i / 99.0);
  return all;
}
std::vector<float> ys() {
  std::vector<float> all = xs();
  for (int i = 0; i < samples; ++i)
    all[static_cast<std::size_t>(i)] = 2 * all[static_cast<std::size_t>(i)] + 0.3f * std::sin(7.0f * static_cast<float>(i));
  return all;
}

// The gradients of both variables, of w[0] x + w[1].
void find_gradients(const float (&w)[2], const std::vector<float>& x, const std::vector<float>& y, float (&g)[2]) {
  g[0] = g[1] = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const float error = x[i] * w[0] + w[1] - y[i];
    g[0] += 2 * error * x[i] / samples, g[1] += 2 * error / samples;
  }
}

team bare() {
  team t;
  t.name = "bare ZeroMQ, two round trips";
  t.ps = [](const auto& addresses) {
    zmq::context_t context(1);
    zmq::socket_t router(context, zmq::socket_type::router);
    router.bind("tcp://" + addresses[0]);
    float w[2]{};
    for (zmq::message_t id, body;;) {
      static_cast<void>(router.recv(id)), static_cast<void>(router.recv(body));
      if (body.size() == sizeof w)
        for (int k = 0; k < 2; ++k) w[k] -= 0.01f * body.data<float>()[k];
      router.send(id, zmq::send_flags::sndmore), router.send(zmq::message_t(w, sizeof w), zmq::send_flags::none);
    }
  };
  t.worker = [](const auto& addresses, int) -> std::function<void()> {
    auto context = std::make_shared<zmq::context_t>(1);
    auto dealer = std::make_shared<zmq::socket_t>(*context, zmq::socket_type::dealer);
    dealer->connect("tcp://" + addresses[0]);
    return [context, dealer, x = xs(), y = ys()] {
      dealer->send(zmq::message_t(1), zmq::send_flags::none);
      zmq::message_t read, done;
      static_cast<void>(dealer->recv(read));
      const float w[2] = {read.data<float>()[0], read.data<float>()[1]};
      float g[2];
      find_gradients(w, x, y, g);
      dealer->send(zmq::message_t(g, sizeof g), zmq::send_flags::none);
      static_cast<void>(dealer->recv(done));
    };
  };
  return t;
}

// A segment for each worker, which hands it out by its number in /proc; its socket is the doorbell. Odd requests read, even ones push.
team bare_memory() {
  team t;
  t.name = "bare shared memory, two round trips";
  t.ps = [](const auto& addresses) {
    const int listening = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    const socklen_t length = bench::abstract_name(name, "bare-" + addresses[0]);
    if (::bind(listening, reinterpret_cast<sockaddr*>(&name), length) != 0 || ::listen(listening, 2) != 0) return;
    std::array<bench::bare_segment*, 2> segments{};
    std::array<pollfd, 2> bells{};
    for (std::size_t k = 0; k < 2; ++k) {
      bells[k] = {::accept(listening, nullptr, nullptr), POLLIN, 0};
      char text[100]{};
      if (::read(bells[k].fd, text, sizeof text - 1) <= 0) return;
      const int file = ::open(text, O_RDWR);
      segments[k] = static_cast<bench::bare_segment*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    }
    float w[2]{};
    for (std::array<int, 2> done{};;) {
      bool any = false;
      for (std::size_t k = 0; k < 2; ++k) {
        bench::bare_segment& s = *segments[k];
        if (s.asked.load() == done[k]) continue;
        any = true;
        float* const data = reinterpret_cast<float*>(s.data);
        if (++done[k] % 2 == 1) data[0] = w[0], data[1] = w[1];
        else w[0] -= 0.01f * data[0], w[1] -= 0.01f * data[1];
        s.answered = done[k];
        bench::ring(s.client_sleeps, bells[k].fd);
      }
      if (any) continue;
      for (auto* s : segments) s->server_sleeps = 1;
      bool is_idle = true;
      for (std::size_t k = 0; k < 2; ++k) is_idle = is_idle && segments[k]->asked.load() == done[k];
      if (is_idle) static_cast<void>(::poll(bells.data(), bells.size(), -1));
      for (std::size_t k = 0; k < 2; ++k) {
        segments[k]->server_sleeps = 0;
        char rung[16];
        if ((bells[k].revents & POLLIN) != 0 && ::read(bells[k].fd, rung, sizeof rung) <= 0) bells[k].fd = -1;
        bells[k].revents = 0;
      }
    }
  };
  t.worker = [](const auto& addresses, int) -> std::function<void()> {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    const socklen_t length = bench::abstract_name(name, "bare-" + addresses[0]);
    while (::connect(socket, reinterpret_cast<sockaddr*>(&name), length) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const int file = ::memfd_create("bare", 0);
    if (::ftruncate(file, 4096) != 0) throw resource_exhausted("no memory");
    auto* const s = static_cast<bench::bare_segment*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    const std::string text = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file);
    if (::send(socket, text.data(), text.size(), MSG_NOSIGNAL) < 0) throw unavailable("the server has gone");
    return [=, x = xs(), y = ys(), round = 0]() mutable {
      const auto ask = [&] {
        s->asked = ++round;
        bench::ring(s->server_sleeps, socket);
        bench::wait_asleep(s->answered, round, s->client_sleeps, socket);
      };
      ask();
      float* const data = reinterpret_cast<float*>(s->data);
      const float w[2] = {data[0], data[1]};
      float g[2];
      find_gradients(w, x, y, g);
      data[0] = g[0], data[1] = g[1];
      ask();
    };
  };
  return t;
}

team placed(bool memory) {
  team t;
  t.name = memory ? "leat, placed graph, shared memory" : "leat, placed graph, TCP";
  t.rival = memory ? "bare shared memory, two round trips" : "bare ZeroMQ, two round trips";
  const auto spec = [](const std::vector<std::string>& a) { return cluster_spec{{"ps", {a[0]}}, {"worker", {a[1], a[2]}}}; };
  t.ps = [=](const auto& addresses) { server(spec(addresses), {.job_name = "ps", .use_shared_memory = memory}).join(); };
  t.worker = [=](const auto& addresses, int worker) -> std::function<void()> {
    struct kept {
      std::unique_ptr<server> here;
      graph g;
      std::unique_ptr<graph_session> s;
      std::optional<graph_callable> step;
      std::vector<tensor_value> feeds;
    };
    auto k = std::make_shared<kept>();
    k->here =
        std::make_unique<server>(spec(addresses), server_options{.job_name = "worker", .task_index = worker, .use_shared_memory = memory});
    const auto scope = k->g.as_default();
    output x, y, w, b;
    graph_operation train, init;
    {
      const device replica(replica_device_setter({.worker_device = k->here->device(), .cluster = spec(addresses)}));
      x = placeholder(dtype::float32, {samples}, "x");
      y = placeholder(dtype::float32, {samples}, "y");
      w = variable(0.0f, "W");
      b = variable(0.0f, "b");
      train = gradient_descent(0.01f).minimize(reduce_mean(square(subtract(add(multiply(x, w), b), y))));
      init = global_variables_initializer();
    }
    session_options options;
    options.target = k->here->target();
    k->s = std::make_unique<graph_session>(k->g, options);
    if (worker == 0) k->s->run(init);
    while (!k->s->uninitialized_variables().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    k->step.emplace(k->s->prepare({train}, {x, y}));
    k->feeds = {tensor_value(xs()), tensor_value(ys())};
    return [k] { k->step->call(k->feeds); };
  };
  return t;
}

}  // namespace

int main(int count, char** arguments) {
  std::string json, only;
  int repetitions = 5, steps = 5000;
  std::vector<int> computing_times = {0, 100};
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::string(arguments[i]) == "--json") json = arguments[i + 1];
    if (std::string(arguments[i]) == "--rounds") repetitions = std::atoi(arguments[i + 1]);
    if (std::string(arguments[i]) == "--only") only = arguments[i + 1];
    if (std::string(arguments[i]) == "--computing") computing_times = {std::atoi(arguments[i + 1])};
    if (std::string(arguments[i]) == "--steps") steps = std::atoi(arguments[i + 1]);
  }
  const std::vector<team> teams = {bare(), placed(false), bare_memory(), placed(true)};
  std::string report;
  for (const int computing : computing_times) {
    std::map<std::string, std::vector<double>> figures;
    // In turns, so that what else runs on the machine meets all alike.
    for (int i = 0; i < repetitions; ++i)
      for (const team& t : teams)
        if (t.name.find(only) != std::string::npos) figures[t.name].push_back(run_once(t, steps, computing));
    // What two workers would do that never wait.
    const double ideal = computing == 0 ? 0 : 2e6 / computing;
    std::printf("| linear regression, 1 ps, 2 workers, %d us of computing | best steps/s | median steps/s | of %s (best; median) |\n",
                computing, ideal == 0 ? "bare" : "the ideal");
    std::printf("|---|--:|--:|--:|\n");
    for (const team& t : teams) {
      if (figures[t.name].empty()) continue;
      const double best = bench::quantile(figures[t.name], 1), median = bench::quantile(figures[t.name], 0.5);
      const std::vector<double> rival = ideal > 0 ? std::vector<double>{ideal} : t.rival.empty() ? std::vector<double>{} : figures[t.rival];
      char share[100] = "";
      if (!rival.empty())
        std::snprintf(share, sizeof share, "%.2f; %.2f", best / bench::quantile(rival, 1), median / bench::quantile(rival, 0.5));
      std::printf("| %s | %.0f | %.0f | %s |\n", t.name.c_str(), best, median, share);
      report += (report.empty() ? "" : ",\n") + std::string("  {\"name\": \"") + t.name + "\", \"computing\": " +
                std::to_string(computing) + ", \"best\": " + std::to_string(best) + ", \"median\": " + std::to_string(median) + "}";
    }
  }
  if (!json.empty()) std::ofstream(json) << "[\n" << report << "\n]\n";
}
