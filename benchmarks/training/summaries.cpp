// What summaries cost: training steps of the digits example that hand two scalars to an event file against the same without, typed and as
// a graph, and scalar events against writing bytes of that length. Pairs are timed in turns in short rounds, in processor time of all
// threads, and each side's best is kept: a disturbance that lasts longer than a round meets both sides, and one that is shorter is
// forgotten with the round it met.

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/summary.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>

namespace {

using namespace leat;
namespace files = std::filesystem;

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double seconds_of(const auto& f) {
  const double begin = now();
  f();
  return now() - begin;
}
struct result {
  std::string name;
  double ours, theirs, ratio, most;
};
std::vector<result> results;

// Both sides in turns; `calls` is what one round of each does.
template <class Ours, class Theirs>
void compare(const std::string& name, int rounds, int calls, double most, Ours ours, Theirs theirs) {
  ours(), theirs();
  double a = 1e300, b = 1e300;
  for (int i = 0; i < rounds; ++i) {
    a = std::min(a, seconds_of(ours) / calls * 1e9);
    b = std::min(b, seconds_of(theirs) / calls * 1e9);
  }
  results.push_back({name, a, b, a / b, most});
  std::printf("%-34s %10.1f ns  %10.1f ns  %6.3f  (at most %.2f)\n", name.c_str(), a, b, a / b, most);
  std::fflush(stdout);
}

xt::xtensor<float, 2> pictures() {
  auto made = xt::xtensor<float, 2>::from_shape({32, 64});
  for (std::size_t i = 0; i < made.size(); ++i) made.data()[i] = uniform<float>(1, i);
  return made;
}
xt::xtensor<std::int64_t, 1> digits() {
  auto made = xt::xtensor<std::int64_t, 1>::from_shape({32});
  for (std::size_t i = 0; i < made.size(); ++i) made.data()[i] = static_cast<std::int64_t>(i % 10);
  return made;
}

constexpr int steps = 50;

// The network of examples/digits.cpp.
template <class Images, class Labels, class Body>
void with_network(const Images& images, const Labels& labels, Body body) {
  auto hidden = relu(dense<"hidden2", 64>(relu(dense<"hidden1", 128>(images))));
  auto logits = dense<"output", 10>(hidden);
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(logits), labels)));
  auto train = adam(0.001f).minimize(loss);
  body(loss, accuracy, train);
}

void typed_steps(const files::path& folder, int rounds) {
  auto images = placeholder<"images", float, "batch", 64>();
  auto labels = placeholder<"labels", std::int64_t, "batch">();
  const auto xs = pictures();
  const auto ys = digits();
  with_network(images, labels, [&](const auto& loss, const auto& accuracy, const auto& train) {
    session with{loss, accuracy, train}, without{loss, accuracy, train};
    with.initialize();
    without.initialize();
    summary::file_writer log(folder / "typed");
    auto plain = without.prepare(fetch(loss, accuracy, train), images = xs, labels = ys);
    auto told = with.prepare(fetch(summary::scalar<"loss">(loss), summary::scalar<"accuracy">(accuracy), train), images = xs, labels = ys);
    std::int64_t step = 0;
    float sum = 0;
    const auto ours = [&] {
      for (int i = 0; i < steps; ++i) log.add_summary(told(), ++step);
    };
    const auto theirs = [&] {
      for (int i = 0; i < steps; ++i) sum += std::get<0>(plain());
    };
    compare("a typed step with summaries", rounds, steps, 1.05, ours, theirs);
  });
}

void graph_steps(const files::path& folder, int rounds) {
  graph g;
  const auto here = g.as_default();
  auto images = placeholder<"images", float, "batch", 64>();
  auto labels = placeholder<"labels", std::int64_t, "batch">();
  const auto xs = pictures();
  const auto ys = digits();
  with_network(images, labels, [&](const auto& loss, const auto& accuracy, const auto& train) {
    const auto handles = to_graph(loss, accuracy, train);
    const output l = std::get<output>(handles[0]), a = std::get<output>(handles[1]);
    const graph_operation t = std::get<graph_operation>(handles[2]);
    summary::scalar("told/loss", l);
    summary::scalar("told/accuracy", a);
    const output merged = summary::merge_all();
    const auto init = global_variables_initializer();
    graph_session with(g), without(g);
    with.run(init);
    without.run(init);
    summary::file_writer log(folder / "graph");
    auto plain = without.prepare({l, a, t}, {"images:0", "labels:0"});
    auto told = with.prepare({merged, t}, {"images:0", "labels:0"});
    std::int64_t step = 0;
    const auto ours = [&] {
      for (int i = 0; i < steps; ++i) log.add_summary(told(xs, ys)[0], ++step);
    };
    const auto theirs = [&] {
      for (int i = 0; i < steps; ++i) plain(xs, ys);
    };
    compare("a graph's step with summaries", rounds, steps, 1.05, ours, theirs);
  });
}

// Into files that are open all the time, which are flushed at the end of each round.
void events(const files::path& folder, int rounds) {
  constexpr int count = 5000;
  summary::file_writer log(folder / "events");
  const auto before = files::file_size(log.path());
  for (int i = 0; i < 1000; ++i) log.add_scalar("loss", 0.5f, 1000 + i);
  log.flush();
  const std::string record((files::file_size(log.path()) - before) / 1000, 'x');
  std::ofstream out(folder / "bytes", std::ios::binary | std::ios::trunc);
  const auto ours = [&] {
    for (int i = 0; i < count; ++i) log.add_scalar("loss", 0.5f, 1000 + i);
    log.flush();
  };
  const auto theirs = [&] {
    for (int i = 0; i < count; ++i) out.write(record.data(), static_cast<std::streamsize>(record.size()));
    out.flush();
  };
  compare("a scalar event, " + std::to_string(record.size()) + " bytes", rounds, count, 3, ours, theirs);
}

}  // namespace

int main(int count, char** arguments) try {
  std::string folder = "summaries.scratch", json = "summaries.json";
  int rounds = 101;
  CLI::App app{"Summaries and event files against training without them, and against writing bytes."};
  app.add_option("--folder", folder, "for the event files; removed at the end");
  app.add_option("--json", json, "the results");
  app.add_option("--rounds", rounds, "times that each side is timed")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, arguments);
  files::create_directories(folder);
  cpu::set_thread_count(1);
  const denormals_as_zero flushed;
  typed_steps(folder, rounds);
  graph_steps(folder, rounds);
  events(folder, rounds);
  files::remove_all(folder);
  auto rows = nlohmann::json::array();
  for (const result& r : results)
    rows.push_back({{"case", r.name}, {"ours_ns", r.ours}, {"theirs_ns", r.theirs}, {"ratio", r.ratio}, {"at_most", r.most}});
  if (std::ofstream out(json); !(out << rows.dump(1) << '\n')) throw failed_precondition(json + ": cannot be written");
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_summaries: %s\n", e.what());
  return 1;
}
