// Training of the network 784-256-128-10 by gradient descent, 64 images a step, with compiled workers and parameter servers in processes
// of their own: where a step's time goes, over TCP and through shared memory, for 1 and 2 servers and 1 to 4 workers. Beside each a bare
// program: the same compiled gradients, and messages and updates by hand. `bench_network [--json FILE] [--rounds N] [--seconds S] [--only
// PART-OF-NAME] [--servers N] [--workers N]`

#include <leat/cluster.hpp>
#include <leat/cluster/worker_session.hpp>
#include <leat/leat.hpp>

#include "teams.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace leat;

constexpr int batch = 64;
constexpr float rate = 0.05f;
constexpr std::array<std::size_t, 6> sizes{784 * 256, 256, 256 * 128, 128, 128 * 10, 10};

std::vector<float> numbers(std::size_t count, float scale, unsigned seed) {
  std::vector<float> all(count);
  for (float& v : all) {
    seed = seed * 1664525u + 1013904223u;
    v = scale * (static_cast<float>(seed >> 8) / 8388608.0f - 1);
  }
  return all;
}
std::vector<std::int32_t> classes() {
  std::vector<std::int32_t> all(batch);
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<std::int32_t>(7 * k % 10);
  return all;
}

auto variables() {
  return std::make_tuple(variable<"w1", float, 784, 256>(random_uniform(-0.07f, 0.07f, 1)), variable<"b1", float, 256>(zeros),
                         variable<"w2", float, 256, 128>(random_uniform(-0.12f, 0.12f, 2)), variable<"b2", float, 128>(zeros),
                         variable<"w3", float, 128, 10>(random_uniform(-0.2f, 0.2f, 3)), variable<"b3", float, 10>(zeros));
}
auto placeholders() {
  return std::make_tuple(placeholder<"w1", float, 784, 256>(), placeholder<"b1", float, 256>(), placeholder<"w2", float, 256, 128>(),
                         placeholder<"b2", float, 128>(), placeholder<"w3", float, 128, 10>(), placeholder<"b3", float, 10>());
}
auto images() { return placeholder<"x", float, batch, 784>(); }
auto labels() { return placeholder<"y", std::int32_t, batch>(); }
template <class Weights>
auto loss_of(const Weights& weights) {
  const auto& [w1, b1, w2, b2, w3, b3] = weights;
  const auto hidden1 = relu(matmul(images(), w1) + b1);
  const auto hidden2 = relu(matmul(hidden1, w2) + b2);
  return reduce_mean(sparse_softmax_cross_entropy_with_logits(labels(), matmul(hidden2, w3) + b3));
}

// Which arrays a server has, as greedy_load_balancing places them: the largest alone, the others together.
std::vector<std::size_t> arrays_of(int server, int servers) {
  if (servers == 1) return {0, 1, 2, 3, 4, 5};
  return server == 0 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{1, 2, 3, 4, 5};
}
std::size_t bytes_of(int server, int servers) {
  std::size_t all = 0;
  for (const std::size_t k : arrays_of(server, servers)) all += sizes[k] * sizeof(float);
  return all;
}

// ---- ours ----

bench::team ours(bool memory) {
  bench::team t;
  t.name = std::string("leat, ") + (memory ? "shared memory" : "TCP");
  t.rival = std::string("bare, ") + (memory ? "shared memory" : "TCP");
  t.serve = [=](const bench::shape_of_team& s, int k) {
    cpu::set_thread_count(1);
    server(s.spec(), {.job_name = "ps", .task_index = k, .use_shared_memory = memory}).join();
  };
  t.work = [=](const bench::shape_of_team& s, int k, const auto& when_ready) {
    cpu::set_thread_count(1);
    const server here(s.spec(), {.job_name = "worker", .task_index = k, .use_shared_memory = memory});
    auto loss = loss_of(variables());
    auto train = gradient_descent(rate).minimize(loss);
    worker_options o;
    o.target = here.target();
    o.cluster = s.spec();
    if (s.servers > 1) o.strategy = greedy_load_balancing(s.servers);
    worker_session session(o, loss, train);
    if (k == 0) session.initialize();
    session.wait_until_initialized(std::chrono::seconds(30));
    const auto x = numbers(batch * 784, 1, 5);
    const auto y = classes();
    const auto step = [&] { session.run(fetch(train), images() = x, labels() = y); };
    for (int i = 0; i < 20; ++i) step();
    when_ready([&] { session.measure_steps(); }, step,
               [&](bench::result& r) {
                 const worker_times sums = session.times();
                 const auto put = [&](std::chrono::nanoseconds n) { return static_cast<double>(n.count()); };
                 r.reading = put(sums.reading), r.computing = put(sums.computing);
                 r.network = put(sums.network), r.waiting = put(sums.waiting);
               });
  };
  return t;
}

// ---- by hand ----

// The compiled gradients, from and into arrays that lie one behind the other for each server.
template <class F>
void with_gradients(std::span<float* const> values, std::span<float* const> slopes, F use) {
  cpu::set_thread_count(1);
  const auto [w1, b1, w2, b2, w3, b3] = placeholders();
  const auto [d1, e1, d2, e2, d3, e3] = gradients(loss_of(placeholders()), w1, b1, w2, b2, w3, b3);
  session s{d1, e1, d2, e2, d3, e3};
  std::span<float> to[6];
  std::span<const float> from[6];
  for (std::size_t k = 0; k < 6; ++k) to[k] = {slopes[k], sizes[k]}, from[k] = {values[k], sizes[k]};
  const auto x = numbers(batch * 784, 1, 5);
  const auto y = classes();
  use(s.prepare(fetch(into(d1, to[0]), into(e1, to[1]), into(d2, to[2]), into(e2, to[3]), into(d3, to[4]), into(e3, to[5])), images() = x,
                labels() = y, w1 = from[0], b1 = from[1], w2 = from[2], b2 = from[3], w3 = from[4], b3 = from[5]));
}
std::vector<float> first_values() {
  std::vector<float> all;
  const float scales[]{0.07f, 0, 0.12f, 0, 0.2f, 0};
  for (std::size_t k = 0; k < 6; ++k) {
    const auto one = numbers(sizes[k], scales[k], static_cast<unsigned>(k + 1));
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}
// The arrays of a server, as one.
std::vector<float> first_values_of(int server, int servers) {
  const auto all = first_values();
  std::vector<float> its;
  for (const std::size_t k : arrays_of(server, servers)) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < k; ++i) at += sizes[i];
    its.insert(its.end(), all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(at + sizes[k]));
  }
  return its;
}
void update(std::span<float> values, const float* gradient) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= rate * gradient[i];
}

// A worker's step: gradients, then `exchange` with each server, timed. With `applies` off it only passes the bytes, and the gradients
// are not computed: what the transport takes.
template <class Exchange>
void work_by_hand(const bench::shape_of_team& s, bool computes, std::vector<float*> values_of_server, std::vector<float*> slopes_of_server,
                  Exchange exchange, const bench::ready& when_ready) {
  std::array<float*, 6> values{}, slopes{};
  for (int p = 0; p < s.servers; ++p) {
    std::size_t at = 0;
    for (const std::size_t k : arrays_of(p, s.servers)) {
      values[k] = values_of_server[static_cast<std::size_t>(p)] + at;
      slopes[k] = slopes_of_server[static_cast<std::size_t>(p)] + at;
      at += sizes[k];
    }
    const auto first = first_values_of(p, s.servers);
    std::copy(first.begin(), first.end(), values_of_server[static_cast<std::size_t>(p)]);
  }
  double computing = 0, network = 0;
  with_gradients(values, slopes, [&](auto compute) {
    const auto step = [&] {
      const double begin = bench::now();
      if (computes) compute();
      const double computed = bench::now();
      exchange();
      computing += computed - begin, network += bench::now() - computed;
    };
    for (int i = 0; i < 20; ++i) step();
    when_ready([&] { computing = network = 0; }, step, [&](bench::result& r) { r.computing = 1e9 * computing, r.network = 1e9 * network; });
  });
}

bench::team by_hand_tcp(bool applies) {
  bench::team t;
  t.name = applies ? "bare, TCP" : "bytes alone, TCP";
  t.serve = [=](const bench::shape_of_team& s, int k) {
    zmq::context_t context(1);
    zmq::socket_t router(context, zmq::socket_type::router);
    router.bind("tcp://" + s.ps[static_cast<std::size_t>(k)]);
    auto values = first_values_of(k, s.servers);
    for (zmq::message_t id, head, gradient;;) {
      static_cast<void>(router.recv(id)), static_cast<void>(router.recv(head)), static_cast<void>(router.recv(gradient));
      if (applies) update(values, gradient.data<float>());
      router.send(id, zmq::send_flags::sndmore), router.send(head, zmq::send_flags::sndmore);
      // Of several workers the next one's update must not change what is being sent.
      if (s.workers > 1) router.send(zmq::message_t(values.data(), values.size() * sizeof(float)), zmq::send_flags::none);
      else router.send(bench::lent(values.data(), values.size() * sizeof(float)), zmq::send_flags::none);
    }
  };
  t.work = [=](const bench::shape_of_team& s, int, const bench::ready& when_ready) {
    zmq::context_t context(1);
    std::vector<zmq::socket_t> dealers;
    std::vector<std::vector<float>> values, slopes;
    std::vector<float*> values_at, slopes_at;
    for (int p = 0; p < s.servers; ++p) {
      dealers.emplace_back(context, zmq::socket_type::dealer).connect("tcp://" + s.ps[static_cast<std::size_t>(p)]);
      values.emplace_back(bytes_of(p, s.servers) / sizeof(float)), slopes.emplace_back(values.back().size());
    }
    for (auto& v : values) values_at.push_back(v.data());
    for (auto& v : slopes) slopes_at.push_back(v.data());
    const auto exchange = [&] {
      for (std::size_t p = 0; p < dealers.size(); ++p) {
        dealers[p].send(zmq::message_t(24), zmq::send_flags::sndmore);
        dealers[p].send(bench::lent(slopes[p].data(), slopes[p].size() * sizeof(float)), zmq::send_flags::none);
      }
      for (std::size_t p = 0; p < dealers.size(); ++p) {
        zmq::message_t head, answer;
        static_cast<void>(dealers[p].recv(head)), static_cast<void>(dealers[p].recv(answer));
        if (applies) std::memcpy(values[p].data(), answer.data(), answer.size());
      }
    };
    work_by_hand(s, applies, values_at, slopes_at, exchange, when_ready);
  };
  return t;
}

// Gradients are computed into the shared memory; the server updates its values, and copies them there. A byte through a socket wakes the
// other.
bench::team by_hand_memory(bool applies) {
  bench::team t;
  t.name = applies ? "bare, shared memory" : "bytes alone, shared memory";
  t.serve = [=](const bench::shape_of_team& s, int k) {
    auto values = first_values_of(k, s.servers);
    std::vector<pollfd> bells;
    for (int w = 0; w < s.workers; ++w) bells.push_back({s.line(k, w).bell[0], POLLIN, 0});
    while (::poll(bells.data(), bells.size(), -1) > 0)
      for (int w = 0; w < s.workers; ++w) {
        if ((bells[static_cast<std::size_t>(w)].revents & POLLIN) == 0) continue;
        const bench::line& l = s.line(k, w);
        char bell = 0;
        if (::read(l.bell[0], &bell, 1) != 1) continue;
        if (applies) update(values, l.memory);
        std::memcpy(l.memory + values.size(), values.data(), values.size() * sizeof(float));
        static_cast<void>(!::write(l.bell[0], &bell, 1));
      }
  };
  t.work = [=](const bench::shape_of_team& s, int k, const bench::ready& when_ready) {
    std::vector<float*> values_at, slopes_at;
    std::vector<std::vector<float>> values, slopes;
    for (int p = 0; p < s.servers; ++p) {
      values.emplace_back(bytes_of(p, s.servers) / sizeof(float)), slopes.emplace_back(values.back().size(), 1e-3f);
      slopes_at.push_back(applies ? s.line(p, k).memory : slopes.back().data());
    }
    for (auto& v : values) values_at.push_back(v.data());
    const auto exchange = [&] {
      char bell = 'x';
      for (int p = 0; p < s.servers; ++p) {
        const auto& its = slopes[static_cast<std::size_t>(p)];
        if (!applies) std::memcpy(s.line(p, k).memory, its.data(), its.size() * sizeof(float));
        static_cast<void>(!::write(s.line(p, k).bell[1], &bell, 1));
      }
      for (int p = 0; p < s.servers; ++p) {
        static_cast<void>(!::read(s.line(p, k).bell[1], &bell, 1));
        auto& its = values[static_cast<std::size_t>(p)];
        std::memcpy(its.data(), s.line(p, k).memory + its.size(), its.size() * sizeof(float));
      }
    };
    work_by_hand(s, applies, values_at, slopes_at, exchange, when_ready);
  };
  t.line_bytes = [](int server, int servers) { return 2 * bytes_of(server, servers); };
  return t;
}

}  // namespace

int main(int count, char** arguments) {
  std::string json, only;
  int repetitions = 3, only_servers = 0, only_workers = 0;
  double seconds = 0.7;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = arguments[i];
    if (option == "--json") json = arguments[i + 1];
    if (option == "--rounds") repetitions = std::atoi(arguments[i + 1]);
    if (option == "--seconds") seconds = std::atof(arguments[i + 1]);
    if (option == "--only") only = arguments[i + 1];
    if (option == "--servers") only_servers = std::atoi(arguments[i + 1]);
    if (option == "--workers") only_workers = std::atoi(arguments[i + 1]);
  }
  const std::vector<bench::team> teams = {by_hand_tcp(false),    by_hand_tcp(true),    ours(false),
                                          by_hand_memory(false), by_hand_memory(true), ours(true)};
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  std::printf("%ld processors; a step moves %zu bytes to the servers and as many back; times in us, of one worker's step\n", cores,
              bytes_of(0, 1));
  std::printf(
      "| | servers, workers | steps/s | step | reading | computing | network | waiting | processor time, worker + servers | beyond "
      "computing and bytes | of bare |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  std::string report;
  for (int servers = 1; servers <= 2; ++servers)
    for (int workers = 1; workers <= 4; ++workers) {
      if ((only_servers != 0 && servers != only_servers) || (only_workers != 0 && workers != only_workers)) continue;
      std::vector<bench::result> best(teams.size());
      // In turns, so that what else runs on the machine meets all alike; of each the quickest round.
      for (int i = 0; i < repetitions; ++i)
        for (std::size_t k = 0; k < teams.size(); ++k) {
          if (teams[k].name.find(only) == std::string::npos) continue;
          const bench::result r = bench::run_once(teams[k], servers, workers, seconds);
          if (r.steps_a_second() > best[k].steps_a_second()) best[k] = r;
        }
      const auto named = [&](const std::string& name) {
        for (std::size_t k = 0; k < teams.size(); ++k)
          if (teams[k].name == name) return best[k];
        return bench::result{};
      };
      for (std::size_t k = 0; k < teams.size(); ++k) {
        const bench::result& r = best[k];
        if (r.steps == 0) continue;
        const bench::result bare = named(teams[k].rival), bytes = named("bytes alone" + teams[k].name.substr(teams[k].name.find(',')));
        char beyond[40] = "", of_bare[40] = "";
        // Only where nobody waits for a processor.
        const double least = bare.each(bare.computing) + bytes.each(bytes.network);
        if (bare.steps > 0 && bytes.steps > 0) std::snprintf(beyond, sizeof beyond, "%+.0f %%", 100 * (r.step() / least - 1));
        if (bare.steps > 0) std::snprintf(of_bare, sizeof of_bare, "%.2f", r.step() / bare.step());
        std::printf("| %s | %d, %d | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f + %.0f | %s | %s |\n", teams[k].name.c_str(), servers,
                    workers, r.steps_a_second(), r.step(), r.each(r.reading), r.each(r.computing), r.each(r.network), r.each(r.waiting),
                    r.each(r.worker_processor), r.each(r.server_processor), beyond, of_bare);
        std::fflush(stdout);
        char text[600];
        std::snprintf(text, sizeof text,
                      "  {\"name\": \"%s\", \"servers\": %d, \"workers\": %d, \"processors\": %ld, \"bytes\": %zu, \"largest\": %zu, "
                      "\"steps_a_second\": %.3f, \"step\": %.3f, \"reading\": %.3f, \"computing\": %.3f, \"network\": %.3f, \"waiting\": "
                      "%.3f, \"worker_processor\": %.3f, \"server_processor\": %.3f}",
                      teams[k].name.c_str(), servers, workers, cores, bytes_of(0, 1), bytes_of(0, servers), r.steps_a_second(), r.step(),
                      r.each(r.reading), r.each(r.computing), r.each(r.network), r.each(r.waiting), r.each(r.worker_processor),
                      r.each(r.server_processor));
        report += (report.empty() ? "" : ",\n") + std::string(text);
      }
    }
  if (!json.empty()) std::ofstream(json) << "[\n" << report << "\n]\n";
}
