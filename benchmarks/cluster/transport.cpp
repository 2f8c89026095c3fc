// Push and pull between two processes, the values applied, over TCP and through shared memory, each beside a bare program; and the time
// from exec to the first answer. `bench_transport [--json FILE] [--rounds N] [--bytes N] [--only PART-OF-NAME]`

#include <leat/cluster/transport/messenger.hpp>

#include "processes.hpp"
#include "rivals.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace leat::transport;
using namespace std::chrono_literals;

messenger_options options(way w) {
  messenger_options o;
  o.self.cluster = "bench";
  o.endpoint.same_process = false;
  o.endpoint.same_host = w == way::same_host;
  return o;
}

std::unique_ptr<messenger> make_server(way w, const std::string& listen, std::size_t bytes, bool in_place) {
  messenger_options o = options(w);
  o.self.job = "ps", o.self.task = 0;
  o.endpoint.listen = listen;
  auto server = std::make_unique<messenger>(o);
  auto values = std::make_shared<writable_frame>(writable_frame::make(bytes));
  std::memset(values->data(), 0, bytes);
  auto placed = std::make_shared<bool>(false);
  server->on_request = [=, m = server.get()](request r) {
    if (in_place && !std::exchange(*placed, true)) {
      *values = m->transport().allocate(r.from, bytes);
      std::memset(values->data(), 0, bytes);
    }
    bench::apply(reinterpret_cast<float*>(values->data()), reinterpret_cast<const float*>(r.m.parts[0].data()), bytes / sizeof(float));
    // It is not changed before the client has read it: the next request says that it has.
    m->answer(r, {*values});
  };
  server->start();
  return server;
}

bench::contender ours(way w, bool in_place, std::string rival) {
  bench::contender c;
  c.name = w == way::network ? "leat, TCP" : in_place ? "leat, shared memory, in place" : "leat, shared memory";
  c.rival = std::move(rival);
  c.serve = [=](std::size_t bytes, auto say) {
    const auto server = make_server(w, "127.0.0.1:0", bytes, in_place);
    say(server->self().address);
    ::pause();
  };
  c.ask = [=](std::size_t bytes, const std::string& address, int rounds) {
    messenger client(options(w));
    client.start();
    const peer_id p = client.dial(address, {"ps", 0});
    client.await(p, std::chrono::steady_clock::now() + 5s);
    if (client.info(p)->by != w) throw leat::failed_precondition("another transport was chosen");
    writable_frame gradient = in_place ? client.transport().allocate(p, bytes) : writable_frame::make(bytes);
    std::fill_n(reinterpret_cast<float*>(gradient.data()), bytes / sizeof(float), 1e-3f);
    std::vector<float> values(bytes / sizeof(float));
    return bench::time_rounds(rounds, [&] {
      const message answer = client.call(p, 1, {gradient}, {std::chrono::steady_clock::now() + 30s});
      if (!in_place && (w == way::same_host || bytes <= 4096)) std::memcpy(values.data(), answer.parts[0].data(), bytes);
    });
  };
  return c;
}

// From exec of a server to the first answer that a client gets who has asked all the time.
double start_milliseconds(const char* program, way w) {
  // A port that is free now, and most likely in a moment.
  std::string address;
  {
    endpoint_options o;
    o.listen = "127.0.0.1:0";
    struct : endpoint_handler {
      void opened(link_id, bool) override {}
      void received(link_id, message) override {}
      void closed(link_id, const closing&) override {}
    } nobody;
    address = endpoint(o, nobody).address();
  }
  messenger client(options(w));
  client.start();
  const peer_id p = client.dial(address, {"ps", 0});
  const auto before = std::chrono::steady_clock::now();
  const std::string kind = std::to_string(static_cast<int>(w));
  const pid_t server = ::vfork();
  if (server == 0) {
    ::execl(program, program, "--serve", kind.c_str(), address.c_str(), nullptr);
    ::_exit(1);
  }
  double taken = 0;
  try {
    client.await(p, before + 5s);
    client.call(p, 1, {frame::copy_of("12345678")}, {before + 5s});
    taken = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
  } catch (const leat::error& e) {
    std::fprintf(stderr, "start: %s\n", e.what());
  }
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  return taken;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 4 && std::string(arguments[1]) == "--serve") {
    const auto server = make_server(static_cast<way>(std::atoi(arguments[2])), arguments[3], 8, false);
    ::pause();
    return 0;
  }
  std::string json, only;
  std::size_t only_bytes = 0;
  int repetitions = 5;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::string(arguments[i]) == "--json") json = arguments[i + 1];
    if (std::string(arguments[i]) == "--rounds") repetitions = std::atoi(arguments[i + 1]);
    if (std::string(arguments[i]) == "--bytes") only_bytes = std::stoul(arguments[i + 1]);
    if (std::string(arguments[i]) == "--only") only = arguments[i + 1];
  }

  const std::vector<bench::contender> contenders = {bench::bare_zeromq(),      ours(way::network, false, "bare ZeroMQ"),
                                                    bench::bare_shared(false), ours(way::same_host, false, "bare shared memory"),
                                                    bench::bare_shared(true),  ours(way::same_host, true, "bare shared memory, in place")};
  struct figure {
    std::vector<double> best, median;
  };
  std::string report;
  std::printf("| push and pull, values applied | bytes | best µs | median µs | times bare (best; median) |\n|---|--:|--:|--:|--:|\n");
  for (const auto& [bytes, rounds] : std::map<std::size_t, int>{{4096, 10000}, {262144, 2000}, {16777216, 60}}) {
    if (only_bytes != 0 && bytes != only_bytes) continue;
    std::map<std::string, figure> figures;
    // In turns, so that what else runs on the machine meets all alike.
    for (int i = 0; i < repetitions; ++i)
      for (const bench::contender& c : contenders)
        if (c.name.find(only) == std::string::npos) continue;
        else if (const auto times = bench::run_once(c, bytes, rounds); !times.empty()) {
          figures[c.name].best.push_back(bench::quantile(times, 0));
          figures[c.name].median.push_back(bench::quantile(times, 0.5));
        }
    for (const bench::contender& c : contenders) {
      if (figures[c.name].best.empty()) continue;
      const double best = bench::quantile(figures[c.name].best, 0), median = bench::quantile(figures[c.name].median, 0.5);
      std::string times;
      if (!c.rival.empty()) {
        char text[100];
        std::snprintf(text, sizeof text, "%.2f; %.2f", best / bench::quantile(figures[c.rival].best, 0),
                      median / bench::quantile(figures[c.rival].median, 0.5));
        times = text;
      }
      std::printf("| %s | %zu | %.1f | %.1f | %s |\n", c.name.c_str(), bytes, best, median, times.c_str()), std::fflush(stdout);
      report += (report.empty() ? "" : ",\n") + std::string("  {\"name\": \"") + c.name + "\", \"bytes\": " + std::to_string(bytes) +
                ", \"best\": " + std::to_string(best) + ", \"median\": " + std::to_string(median) + "}";
    }
  }
  for (const way w : {way::network, way::same_host}) {
    std::vector<double> all;
    for (int i = 0; i < 2 * repetitions; ++i) all.push_back(start_milliseconds("/proc/self/exe", w));
    std::printf("from exec to the first answer, %s: best %.1f ms, median %.1f ms\n", std::string(name_of(w)).c_str(),
                bench::quantile(all, 0), bench::quantile(all, 0.5));
  }
  if (!json.empty()) std::ofstream(json) << "[\n" << report << "\n]\n";
}
