#include <leat/inspect/trace.hpp>

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/ops/known.hpp>
#include <leat/session/graph_session.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

using namespace leat;

namespace {

// What a viewer needs of the file: each complete event has its fields, and those of one thread are apart or one in the other.
// Gives the events' names, without those of threads and processes.
std::multiset<std::string> names_in_chrome_trace(const std::string& text) {
  const nlohmann::json file = nlohmann::json::parse(text);
  std::multiset<std::string> names;
  std::set<int> named_threads;
  std::map<int, std::vector<std::pair<double, double>>> spans;
  for (const auto& e : file.at("traceEvents")) {
    CHECK(e.at("pid") == 1);
    if (e.at("ph") == "M") {
      if (e.at("name") == "thread_name") named_threads.insert(e.at("tid").get<int>());
      continue;
    }
    CHECK(e.at("ph") == "X");
    CHECK(e.at("dur").get<double>() >= 0);
    CHECK(e.at("args").at("run").get<int>() >= 1);
    CHECK(e.at("args").at("op") == e.at("cat"));
    names.insert(e.at("name").get<std::string>());
    const double begin = e.at("ts").get<double>();
    spans[e.at("tid").get<int>()].emplace_back(begin, begin + e.at("dur").get<double>());
  }
  for (auto& [thread, all] : spans) {
    CHECK(named_threads.contains(thread));
    for (const auto& a : all)
      for (const auto& b : all) {
        const bool apart = a.second <= b.first + 1e-6 || b.second <= a.first + 1e-6;
        const bool inside = (a.first <= b.first && b.second <= a.second + 1e-6) || (b.first <= a.first && a.second <= b.second + 1e-6);
        CHECK((apart || inside));
      }
  }
  return names;
}

}  // namespace

TEST_CASE("a dynamic run is traced by step, or by node") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 2}, "x");
  const auto w = variable({{1.0f}, {2.0f}}, "w");
  const auto h = matmul(x, w, "h");
  const auto y = reduce_sum(tanh(h * 2.0f, "t"), {0, 1}, keep_dims::no, "y");
  graph_session s(g);
  s.run(global_variables_initializer());
  const xt::xtensor<float, 2> data{{1, 2}, {3, 4}, {0, -1}};
  const float plain = s.run<float>(y, {{x, data}});

  run_trace steps;
  CHECK(s.run(y, {{x, data}}, {.trace = &steps}).as<float>() == plain);
  const auto of_steps = names_in_chrome_trace(steps.chrome_trace());
  CHECK(of_steps.count("run") == 1);
  CHECK(of_steps.count("MatMul") == 1);
  CHECK(of_steps.count("h") == 0);
  bool fused = false;
  for (const auto& e : steps.events()) fused = fused || (e.type == "fused" && e.name.find("Tanh+Sum") != e.name.npos);
  CHECK(fused);

  run_trace nodes(trace_detail::nodes);
  for (int i = 0; i < 3; ++i) CHECK(s.run(y, {{x, data}}, {.trace = &nodes}).as<float>() == doctest::Approx(plain));
  const auto of_nodes = names_in_chrome_trace(nodes.chrome_trace());
  for (const char* name : {"h", "t", "y", "w", "run"}) {
    CAPTURE(name);
    CHECK(of_nodes.count(name) == 3);
  }
  CHECK(of_nodes.count("x") == 0);  // it is fed
  CHECK(nodes.runs() == 3);
  for (const auto& e : nodes.events())
    if (e.name == "h") {
      CHECK(e.type == "MatMul");
      CHECK(e.made_at.find("trace.cpp:") != e.made_at.npos);
    }

  std::int64_t total = 0;
  for (const auto& e : nodes.events()) total += e.type == "MatMul" ? e.duration() : 0;
  for (const auto& row : nodes.by_operator())
    if (row.name == "MatMul") {
      CHECK(row.count == 3);
      CHECK(row.total == total);
      CHECK(row.mean() == doctest::Approx(static_cast<double>(total) / 3));
      CHECK(row.least <= row.most);
    }
  std::int64_t last = nodes.by_node().front().total;
  for (const auto& row : nodes.by_node()) {
    CHECK(row.total <= last);
    last = row.total;
  }
  const std::string table = nodes.statistics_table();
  CHECK(table.find("3 runs") == 0);
  CHECK(table.find("h (MatMul)") != table.npos);
  nodes.clear();
  CHECK(nodes.events().empty());
}

TEST_CASE("a run that fails is in the trace as far as it came, and the file is whole") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::int32, {-1}, "x");
  const auto y = gather(constant({1.0f, 2.0f}), x, "y");
  graph_session s(g);
  run_trace t(trace_detail::nodes);
  const std::vector<std::int32_t> bad{5};
  CHECK_THROWS_AS(s.run(y, {{x, bad}}, {.trace = &t}), invalid_argument);
  const auto names = names_in_chrome_trace(t.chrome_trace());
  CHECK(names.count("run") == 1);
  CHECK(names.count("y") == 1);
}

TEST_CASE("runs of several threads go to one trace") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto y = x + 1.0f;
  graph_session s(g);
  run_trace t(trace_detail::nodes);
  const auto work = [&] {
    for (int i = 0; i < 5; ++i) s.run(y, {{x, 1.0f}}, {.trace = &t});
  };
  std::thread other(work);
  work();
  other.join();
  const auto names = names_in_chrome_trace(t.chrome_trace());
  CHECK(names.count("add") == 10);
  CHECK(names.count("run") == 10);
  std::set<int> threads, runs;
  for (const auto& e : t.events()) {
    threads.insert(e.thread);
    runs.insert(e.run);
  }
  CHECK(threads.size() == 2);
  CHECK(runs.size() == 10);
}

TEST_CASE("a compiled run is traced too, with the same results") {
  const auto x = placeholder<"x", float, "batch", 3>();
  const auto w = variable<"w", float, 3, 1>(ones);
  const auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) - 1.0f));
  const auto train = gradient_descent(0.1f).minimize(loss);
  session s{loss, train};
  session untraced{loss, train};
  s.initialize();
  untraced.initialize();
  const xt::xtensor<float, 2> xs{{1, 2, 3}, {4, 5, 6}};
  run_trace t;
  for (int i = 0; i < 3; ++i) {
    const auto [a] = s.run_traced(t, fetch(loss, train), x = xs);
    const auto [b] = untraced.run(fetch(loss, train), x = xs);
    CHECK(a == b);
  }
  CHECK(s.value(w) == untraced.value(w));
  const auto names = names_in_chrome_trace(t.chrome_trace());
  CHECK(names.count("run") == 3);
  CHECK(names.count("MatMul") == 3);
  REQUIRE(t.memory().size() == 1);
  CHECK(t.memory()[0].arena_bytes == s.arena_bytes(fetch(loss, train)));
}

TEST_CASE("a trace is written to a file, or says why not") {
  run_trace t;
  t.add(t.begin_run(), "a\n\"\\b", "Op", 0, 1500);
  const auto path = std::filesystem::temp_directory_path() / "leat_trace_test.json";
  t.write_chrome_trace(path.string());
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  CHECK(names_in_chrome_trace(text.str()).count("a\n\"\\b") == 1);
  std::filesystem::remove(path);
  CHECK_THROWS_AS(t.write_chrome_trace("/no such folder/trace.json"), not_found);
}

TEST_CASE("the log of placement, as TensorFlow prints it") {
  graph g;
  const auto scope = g.as_default();
  const auto a = constant(1.0f, "a");
  const auto b = identity(a, "b");
  std::ostringstream log;
  graph_session s(g, {.log_device_placement = true, .log = &log});
  s.run(b);
  s.run(b);
  CHECK(log.str() ==
        "a: (Const): /job:localhost/replica:0/task:0/device:CPU:0\n"
        "b: (Identity): /job:localhost/replica:0/task:0/device:CPU:0\n");
}
