// What a cluster costs before it does anything: from exec to the first answer, 32 tasks in one session, memory and processor time of
// servers that have nothing to do, and what one more task, session and edge costs. Servers are processes of their own: this program
// again. `bench_start [--json FILE] [--rounds N] [--idle SECONDS]`

#include <leat/cluster.hpp>
#include <leat/graphs.hpp>

#include "teams.hpp"

#include <spawn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace leat;

// Servers of a cluster of one job, started by exec; killed at the end.
class started {
 public:
  explicit started(int tasks) : addresses_(bench::free_addresses(tasks)) {
    std::string text;
    for (const std::string& a : addresses_) text += (text.empty() ? "{\"task\": [\"" : ", \"") + a + "\"";
    text += "]}";
    begin_ = bench::now();
    for (int k = 0; k < tasks; ++k) {
      std::string words[]{"bench_start", "--serve", text, std::to_string(k)};
      char* arguments[]{words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
      if (::posix_spawn(&processes_.emplace_back(), "/proc/self/exe", nullptr, nullptr, arguments, environ) != 0) std::abort();
    }
  }
  started(const started&) = delete;
  started& operator=(const started&) = delete;
  ~started() {
    for (const pid_t p : processes_) ::kill(p, SIGKILL);
    for (const pid_t p : processes_) ::waitpid(p, nullptr, 0);
  }
  cluster_spec spec() const { return {{"task", addresses_}}; }
  std::string target() const { return "tcp://" + addresses_[0]; }
  int tasks() const { return static_cast<int>(processes_.size()); }
  double begin() const { return begin_; }
  const std::vector<pid_t>& processes() const { return processes_; }

 private:
  std::vector<std::string> addresses_;
  std::vector<pid_t> processes_;
  double begin_ = 0;
};

session_options at(const started& s) {
  session_options o;
  o.target = s.target();
  o.start_timeout_in_ms = 30'000;
  o.operation_timeout_in_ms = 30'000;
  return o;
}

std::string task(int k) { return "/job:task/task:" + std::to_string(k); }

// A variable at each task, all added up at the first.
struct sum_of_tasks {
  graph g;
  graph_operation init;
  output sum;
  explicit sum_of_tasks(int tasks) {
    const auto scope = g.as_default();
    std::vector<output> all;
    for (int k = 0; k < tasks; ++k) {
      const device d(task(k));
      all.push_back(variable(1.0f, "v" + std::to_string(k)));
    }
    const device d(task(0));
    sum = all[0];
    for (int k = 1; k < tasks; ++k) sum = add(sum, all[static_cast<std::size_t>(k)]);
    init = global_variables_initializer();
  }
};

// Kilobytes of a process: a line of /proc's summary of its memory.
double kilobytes(pid_t process, const std::string& what) {
  std::ifstream file("/proc/" + std::to_string(process) + "/smaps_rollup");
  for (std::string word; file >> word;)
    if (word == what + ":") {
      double value = 0;
      file >> value;
      return value;
    }
  return 0;
}
// Over all threads.
double wake_ups(pid_t process) {
  double all = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    std::ifstream file(thread.path() / "status");
    for (std::string word; file >> word;)
      if (word == "voluntary_ctxt_switches:") {
        double value = 0;
        file >> value;
        all += value;
      }
  }
  return all;
}
double threads(pid_t process) {
  double all = 0;
  for ([[maybe_unused]] const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) ++all;
  return all;
}
template <class F>
double over(const started& s, F f) {
  double sum = 0;
  for (const pid_t p : s.processes()) sum += f(p);
  return sum / s.tasks();
}

class report {
 public:
  void add(const std::string& name, double value, const char* unit, std::optional<double> asked = {}) {
    char text[300];
    std::snprintf(text, sizeof text, "%-64s %10.3f %-6s", name.c_str(), value, unit);
    std::printf("%s", text);
    if (asked) std::printf(" asked %g", *asked);
    std::printf("\n"), std::fflush(stdout);
    std::snprintf(text, sizeof text, "  {\"name\": \"%s\", \"value\": %.6f, \"unit\": \"%s\"}", name.c_str(), value, unit);
    json_ += (json_.empty() ? "" : ",\n") + std::string(text);
  }
  void write(const std::string& file) const {
    if (!file.empty()) std::ofstream(file) << "[\n" << json_ << "\n]\n";
  }

 private:
  std::string json_;
};

// Microseconds of a call: the quickest of some.
template <class F>
double quickest(int times, F call) {
  double best = 1e300;
  for (int i = 0; i < times; ++i) {
    const double begin = bench::now();
    call();
    best = std::min(best, 1e6 * (bench::now() - begin));
  }
  return best;
}

// Milliseconds from the first exec until a run on all tasks has been answered.
double milliseconds_to_start(const started& s, sum_of_tasks& m) {
  graph_session session(m.g, at(s));
  session.run(m.init);
  if (session.run<float>(m.sum) != static_cast<float>(s.tasks())) std::abort();
  return 1e3 * (bench::now() - s.begin());
}

void serve(const char* spec, int number) { server(cluster_spec_from_json(spec), {.job_name = "task", .task_index = number}).join(); }

void measure(int rounds, double idle_seconds, report& r) {
  {
    double best = 1e300;
    for (int i = 0; i < 3 * rounds; ++i) {
      const started s(1);
      graph g;
      const auto scope = g.as_default();
      const output one = constant(1.0f);
      graph_session session(g, at(s));
      session.run(one);
      best = std::min(best, 1e3 * (bench::now() - s.begin()));
    }
    r.add("from exec to the first answer of a session", best, "ms", 20);
  }
  std::map<int, double> start;
  for (const int tasks : {8, 16, 32}) {
    start[tasks] = 1e300;
    for (int i = 0; i < rounds; ++i) {
      const started s(tasks);
      sum_of_tasks m(tasks);
      start[tasks] = std::min(start[tasks], milliseconds_to_start(s, m));
    }
    r.add(std::to_string(tasks) + " tasks, from exec to the first answer of all", start[tasks], "ms",
          tasks == 32 ? std::optional<double>(1000) : std::nullopt);
  }
  r.add("one more task, to start", (start[32] - start[8]) / 24, "ms");

  {
    const started s(32);
    sum_of_tasks m(32);
    graph_session session(m.g, at(s));
    session.run(m.init);
    session.run(m.sum);
    const auto rss = [](pid_t p) { return kilobytes(p, "Rss") / 1e3; };
    const auto pss = [](pid_t p) { return kilobytes(p, "Pss") / 1e3; };
    const auto own = [](pid_t p) { return (kilobytes(p, "Private_Dirty") + kilobytes(p, "Private_Clean")) / 1e3; };
    double most = 0;
    for (const pid_t p : s.processes()) most = std::max(most, rss(p));
    r.add("32 tasks: resident memory of each", over(s, rss), "MB", 10);
    r.add("32 tasks: resident memory of the largest", most, "MB", 10);
    r.add("32 tasks: of it its own", over(s, own), "MB");
    r.add("32 tasks: of it, with its share of what all have", over(s, pss), "MB");
    r.add("32 tasks: threads of each", over(s, threads), "");
    const auto idle = [&](const std::string& name) {
      double processor = 0, woken = 0;
      for (const pid_t p : s.processes()) processor -= bench::processor_time(p), woken -= wake_ups(p);
      const double begin = bench::now();
      ::usleep(static_cast<useconds_t>(1e6 * idle_seconds));
      for (const pid_t p : s.processes()) processor += bench::processor_time(p), woken += wake_ups(p);
      const double seconds = bench::now() - begin;
      r.add(name + ", processor time of a task in 10 s", processor / 1e6 / s.tasks() * 10 / seconds, "ms");
      // Of threads that are there before and after: idle ones end.
      if (woken >= 0) r.add(name + ", wake-ups of a task in 10 s", woken / s.tasks() * 10 / seconds, "");
    };
    idle("32 idle tasks, one session");
    session.close();
    idle("32 idle tasks, no session");
  }
  {
    const started s(2);
    sum_of_tasks m(2);
    graph_session first(m.g, at(s));
    first.run(m.init);
    const auto one_more = [&] {
      graph_session session(m.g, at(s));
      session.run(m.sum);
    };
    r.add("one more session of two tasks, made, run once and closed", quickest(20 * rounds, one_more) / 1e3, "ms");
    const auto own = [](pid_t p) { return kilobytes(p, "Private_Dirty"); };
    const double before = over(s, own);
    std::vector<std::unique_ptr<graph_session>> open;
    for (int i = 0; i < 100; ++i) open.push_back(std::make_unique<graph_session>(m.g, at(s))), open.back()->run(m.sum);
    r.add("one more session, open: memory of a task", (over(s, own) - before) / 100, "kB");
    r.add("one more run of it", quickest(200 * rounds, [&] { first.run(m.sum); }), "us");
  }
  {
    // Edges from the second task to the first, each a number of its own.
    const started s(2);
    std::map<int, double> step, prepare, memory;
    for (const int edges : {1, 100}) {
      graph g;
      const auto scope = g.as_default();
      std::vector<output> there, here;
      {
        const device d(task(1));
        for (int k = 0; k < edges; ++k) there.push_back(variable(1.0f));
      }
      const auto init = global_variables_initializer();
      std::vector<fetch_item> fetches;
      {
        const device d(task(0));
        for (const output& v : there) here.push_back(add(v, 1.0f));
        output sum = here[0];
        for (std::size_t k = 1; k < here.size(); ++k) sum = add(sum, here[k]);
        fetches.emplace_back(sum);
      }
      graph_session session(g, at(s));
      session.run(init);
      const auto own = [](pid_t p) { return kilobytes(p, "Private_Dirty"); };
      const double before = over(s, own), begin = bench::now();
      graph_callable run = session.prepare(fetches, {});
      run.call({});
      prepare[edges] = 1e6 * (bench::now() - begin);
      memory[edges] = over(s, own) - before;
      step[edges] = quickest(300 * rounds, [&] { run.call({}); });
    }
    r.add("a step of two tasks and one edge", step[1], "us");
    r.add("one more edge, a step", (step[100] - step[1]) / 99, "us");
    r.add("one more edge, to prepare", (prepare[100] - prepare[1]) / 99, "us");
    r.add("one more edge, memory of a task", (memory[100] - memory[1]) / 99, "kB");
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 4 && std::string(arguments[1]) == "--serve") {
    serve(arguments[2], std::atoi(arguments[3]));
    return 0;
  }
  std::string json;
  int rounds = 3;
  double idle = 10;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = arguments[i];
    if (option == "--json") json = arguments[i + 1];
    if (option == "--rounds") rounds = std::max(1, std::atoi(arguments[i + 1]));
    if (option == "--idle") idle = std::atof(arguments[i + 1]);
  }
  report r;
  try {
    measure(rounds, idle, r);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  r.write(json);
}
