#include <leat/graphs.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/placement/partition.hpp>
#include <leat/named/placement/place.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/state/tensor_exchange.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

using namespace leat;
using namespace leat_test;

namespace {

const std::vector<std::string> three_devices{"/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0",
                                             "/job:worker/replica:0/task:1/device:CPU:0"};

// What the devices keep between runs: variables and queues.
using kept_by_devices = std::map<int, std::shared_ptr<resource_table>>;

// Runs the parts of a graph, each in a session and on a thread of its own, as the tasks of a cluster do.
class local_parts {
 public:
  local_parts(graph& g, const partition_request& request, kept_by_devices shared = {}, int own = 1)
      : request_(request), shared_(std::move(shared)) {
    const auto places = place(g, {three_devices, own, false});
    made_ = partition(g, request, places, three_devices);
    for (const graph_part& p : made_.parts) {
      auto& part = parts_.emplace_back(std::make_unique<a_part>());
      auto& resources = shared_[p.device];
      if (resources == nullptr) resources = std::make_shared<resource_table>();
      import_graph(part->g, p.def, {.name = ""});
      session_options options;
      options.device = three_devices[static_cast<std::size_t>(p.device)];
      options.resources = resources;
      part->s = std::make_unique<graph_session>(part->g, options);
    }
  }
  const partitioned_graph& made() const { return made_; }
  const kept_by_devices& kept() const { return shared_; }

  std::vector<tensor_value> run(const std::vector<tensor_value>& feeds = {}) {
    exchange between;
    std::vector<tensor_value> results(request_.fetches.size());
    std::vector<std::thread> threads;
    std::mutex guard;
    std::exception_ptr failed;
    for (std::size_t k = 0; k < parts_.size(); ++k)
      threads.emplace_back([&, k] {
        const graph_part& p = made_.parts[k];
        a_part& part = *parts_[k];
        try {
          std::vector<fetch_item> fetches;
          for (const auto& f : p.fetches) fetches.emplace_back(f.tensor);
          for (const auto& t : p.targets) fetches.emplace_back(t);
          std::vector<feed_item> fed;
          for (const auto& f : p.feeds) fed.emplace_back(f.placeholder + ":0", feeds[static_cast<std::size_t>(f.feed)]);
          run_options how;
          how.exchange = &between;
          how.timeout_in_ms = 10'000;
          auto values = part.s->run(fetches, fed, how);
          for (std::size_t f = 0; f < p.fetches.size(); ++f) results[static_cast<std::size_t>(p.fetches[f].fetch)] = values[f];
        } catch (...) {
          const std::lock_guard lock(guard);
          if (!failed) failed = std::current_exception();
          between.stop();
        }
      });
    for (auto& t : threads) t.join();
    if (failed) std::rethrow_exception(failed);
    for (const auto& [fetch, feed] : made_.passed) results[static_cast<std::size_t>(fetch)] = feeds[static_cast<std::size_t>(feed)];
    return results;
  }

 private:
  struct a_part {
    graph g;
    std::unique_ptr<graph_session> s;
  };
  class exchange final : public tensor_exchange {
   public:
    void send(std::int64_t edge, tensor_value value) override {
      const std::lock_guard lock(guard_);
      CHECK(arrived_.emplace(edge, std::move(value)).second);
      ++count_;
      changed_.notify_all();
    }
    bool take(std::int64_t edge, tensor_value& value) override {
      const std::lock_guard lock(guard_);  // what has been seen is not set here: what another edge brought meanwhile would be overlooked
      const auto at = arrived_.find(edge);
      if (at == arrived_.end()) return false;
      value = at->second;
      return true;
    }
    void wait(const step_state& step) override {
      std::unique_lock lock(guard_);
      while (count_ == seen()) {
        if (stopped_) throw cancelled("another part failed");
        changed_.wait_for(lock, std::chrono::milliseconds(5));
        step.check();
      }
      seen() = count_;
    }
    void stop() {
      const std::lock_guard lock(guard_);
      stopped_ = true;
    }

   private:
    int& seen() { return seen_[std::this_thread::get_id()]; }
    std::mutex guard_;
    std::condition_variable changed_;
    std::map<std::int64_t, tensor_value> arrived_;
    std::map<std::thread::id, int> seen_;
    int count_ = 0;
    bool stopped_ = false;
  };

  partition_request request_;
  partitioned_graph made_;
  kept_by_devices shared_;
  std::vector<std::unique_ptr<a_part>> parts_;
};

}  // namespace

TEST_CASE("a session in the process is one part") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {2}, "x");
  const output y = multiply(x, 2.0f, "y");
  const output z = add(y, 1.0f, "z");
  static_cast<void>(add(z, 1.0f, "not_needed"));
  graph_session s(g);
  CHECK(s.list_devices() == std::vector<std::string>{"/job:localhost/replica:0/task:0/device:CPU:0"});
  const auto parts = s.part_graphs({"z:0"}, {"y:0"});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].first == s.list_devices()[0]);
  std::vector<std::string> names;
  for (const node_def& n : parts[0].second.nodes) names.push_back(n.name);
  CHECK(std::find(names.begin(), names.end(), "z") != names.end());
  CHECK(std::find(names.begin(), names.end(), "x") == names.end());
  CHECK(std::find(names.begin(), names.end(), "not_needed") == names.end());
  CHECK(s.part_graphs({}).empty());
  CHECK_THROWS_AS(s.part_graphs({"nothing:0"}), invalid_argument);
  graph empty;
  CHECK(graph_session(empty).part_graphs({}).empty());
}

TEST_CASE("a chain over three devices") {
  graph g;
  const auto scope = g.as_default();
  output x, y, z1, z2;
  {
    const device d("/job:ps/task:0");
    x = identity(constant(std::vector<float>{1, 1}), "x");
    y = identity(constant(std::vector<float>{2, 3}), "y");
  }
  {
    const device d("/job:worker/task:0");
    z1 = add(multiply(x, y), x);
  }
  {
    const device d("/job:worker/task:1");
    z2 = add(multiply(z1, x), x);
  }
  local_parts parts(g, {.fetches = {z2, x}});
  CHECK(parts.made().parts.size() == 3);
  CHECK(parts.made().edges.size() == 4);  // x twice, y, z1
  const auto results = parts.run();
  CHECK(results[0].as<std::vector<float>>() == std::vector<float>{4, 5});
  CHECK(results[1].as<std::vector<float>>() == std::vector<float>{1, 1});
}

TEST_CASE("a constant is in each part where it is used, unless it is large") {
  graph g;
  const auto scope = g.as_default();
  output rate, large, x, y;
  {
    const device d("/job:ps/task:0");
    rate = constant(2.0f, "rate");
    large = constant(std::vector<float>(20'000, 1.0f), "large");
  }
  {
    const device d("/job:worker/task:0");
    x = multiply(rate, 3.0f);
  }
  {
    const device d("/job:worker/task:1");
    y = add(multiply(rate, x), reduce_sum(large));
  }
  local_parts parts(g, {.fetches = {y}});
  CHECK(parts.made().edges.size() == 2);  // x, large
  CHECK(parts.run()[0].as<float>() == 20'012);
  // Nothing is run where only a constant would be; where it is fetched, fed or waited for it stays.
  local_parts two(g, {.fetches = {x}});
  CHECK(two.made().edges.empty());
  CHECK(two.made().parts.size() == 1);
  CHECK(two.run()[0].as<float>() == 6);
  local_parts fetched(g, {.fetches = {x, rate}});
  CHECK(fetched.made().parts.size() == 2);
  CHECK(fetched.run()[1].as<float>() == 2);
  local_parts fed(g, {.fetches = {x}, .feeds = {rate}});
  CHECK(fed.run({tensor_value(5.0f)})[0].as<float>() == 15);
  output after;
  {
    const device d("/job:worker/task:0");
    const control_dependencies waits{rate};
    after = constant(4.0f);
  }
  local_parts waited(g, {.fetches = {after}});
  CHECK(waited.made().edges.size() == 1);
  CHECK(waited.run()[0].as<float>() == 4);
}

TEST_CASE("feeds replace tensors on every device where they are used") {
  graph g;
  const auto scope = g.as_default();
  output x, y, z;
  {
    const device d("/job:ps/task:0");
    x = placeholder(dtype::float32, {-1}, "x");
    y = multiply(x, 2.0f);
  }
  {
    const device d("/job:worker/task:1");
    z = add(y, x);
  }
  local_parts fed(g, {.fetches = {z, x}, .feeds = {x}});
  CHECK(fed.made().edges.size() == 1);
  const auto results = fed.run({tensor_value(std::vector<float>{1, 2, 3})});
  CHECK(results[0].as<std::vector<float>>() == std::vector<float>{3, 6, 9});
  CHECK(results[1].as<std::vector<float>>() == std::vector<float>{1, 2, 3});

  local_parts inner(g, {.fetches = {z}, .feeds = {y, x}});
  CHECK(inner.made().parts.size() == 1);
  CHECK(inner.run({tensor_value(std::vector<float>{1}), tensor_value(std::vector<float>{5})})[0].as<std::vector<float>>() ==
        std::vector<float>{6});
}

TEST_CASE("training with variables at a parameter server") {
  graph g;
  const auto scope = g.as_default();
  output x, y, w, b, loss;
  graph_operation train;
  {
    const device replica(replica_device_setter({.ps_tasks = 1, .worker_device = "/job:worker/task:1"}));
    x = placeholder(dtype::float32, {-1}, "x");
    y = placeholder(dtype::float32, {-1}, "y");
    w = variable(0.0f, "w");
    b = variable(0.0f, "b");
    loss = reduce_mean(square(subtract(add(multiply(x, w), b), y)));
    train = gradient_descent(0.1f).minimize(loss);
  }
  const auto init = global_variables_initializer();
  std::vector<float> xs(8), ys(8);
  for (std::size_t i = 0; i < 8; ++i) {
    xs[i] = static_cast<float>(i) / 4 - 1;
    ys[i] = 2 * xs[i] + 1;
  }
  // One process.
  graph alone;
  graph_def def = export_graph(g);
  for (node_def& n : def.nodes) n.device.clear();
  import_graph(alone, def, {.name = ""});
  graph_session s(alone);
  s.run(get_operation_by_name(alone, init.name()));

  // Two runs on two devices, which keep the variables.
  local_parts start(g, {.targets = {init.index()}}, {{0, std::make_shared<resource_table>()}});
  local_parts step(g, {.fetches = {loss}, .targets = {train.index()}, .feeds = {x, y}}, start.kept());
  CHECK(step.made().parts.size() == 2);
  CHECK(step.made().edges.size() <= 6);  // two variables, two gradients, what the training operation waits for
  start.run();
  for (int k = 0; k < 30; ++k) {
    const auto expected = s.run({get_tensor_by_name(alone, loss.name()), get_operation_by_name(alone, train.name())},
                                {{get_tensor_by_name(alone, x.name()), xs}, {get_tensor_by_name(alone, y.name()), ys}});
    const auto found = step.run({tensor_value(xs), tensor_value(ys)});
    CHECK(found[0].as<float>() == doctest::Approx(expected[0].as<float>()).epsilon(1e-6));  // g++ contracts, in other places
  }
  local_parts read(g, {.fetches = {w, b}}, start.kept());
  const auto values = read.run();
  CHECK(values[0].as<float>() == doctest::Approx(s.value(get_tensor_by_name(alone, w.name())).as<float>()).epsilon(1e-6));
  CHECK(values[1].as<float>() == doctest::Approx(s.value(get_tensor_by_name(alone, b.name())).as<float>()).epsilon(1e-6));
}

TEST_CASE("branches span devices, loops do not") {
  graph g;
  const auto scope = g.as_default();
  const output p = placeholder(dtype::boolean, {}, "p");
  output chosen;
  {
    const device d("/job:ps/task:0");
    const output a = constant(3.0f, "a");
    chosen = cond(
        p,
        [&] {
          const device other("/job:worker/task:1");
          return multiply(a, 2.0f);
        },
        [&] { return add(a, 10.0f); });
  }
  output after;
  {
    const device d("/job:worker/task:0");
    after = add(chosen, 1.0f);
  }
  local_parts parts(g, {.fetches = {after}, .feeds = {p}});
  CHECK(parts.made().parts.size() == 3);
  for (int k = 0; k < 4; ++k) {
    CHECK(parts.run({tensor_value(true)})[0].as<float>() == 7);
    CHECK(parts.run({tensor_value(false)})[0].as<float>() == 14);
  }

  const output far = while_loop([](const output& i) { return less(i, 3.0f); },
                                [](const output& i) {
                                  const device d("/job:ps/task:0");
                                  return add(i, 1.0f);
                                },
                                {constant(0.0f)});
  const auto places = place(g, {three_devices, 1, false});
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(partition(g, {.fetches = {far}}, places, three_devices)); }),
             "lies on two devices", "/job:ps/", "/job:worker/"));
}

TEST_CASE("control dependencies and the order of accesses to a variable are kept across devices") {
  graph g;
  const auto scope = g.as_default();
  output v, late;
  graph_operation init;
  {
    const device d("/job:ps/task:0");
    v = variable(1.0f, "v");
    init = initializer_of(v);
  }
  {
    // Assigned on the server, then something on a worker, then read on the server.
    const control_dependencies first{init};
    output far;
    {
      const device d("/job:worker/task:1");
      far = constant(5.0f, "far");
    }
    const control_dependencies second{far};
    const device d("/job:ps/task:0");
    const output sum = assign_add(v, 41.0f);
    const control_dependencies third{sum};
    const device e("/job:worker/task:0");
    const output there = constant(0.0f, "there");
    const control_dependencies fourth{there};
    const device f("/job:ps/task:0");
    late = read_value(v);
  }
  local_parts parts(g, {.fetches = {late}});
  for (int k = 0; k < 20; ++k) CHECK(parts.run()[0].as<float>() == 42);
}

TEST_CASE("another device reads a variable after the writes that its control dependencies name") {
  // The same graph on one device and on three.
  const auto build = [](graph& g, bool is_cut, std::vector<output>& asked, graph_operation& init) {
    const auto scope = g.as_default();
    const std::string ps = is_cut ? "/job:ps/task:0" : "", far = is_cut ? "/job:worker/task:1" : "";
    output w, first, second, third;
    {
      const device d(ps);
      w = variable(1.0f, "w");
      init = initializer_of(w);
    }
    {
      const device d(far);
      first = multiply(w, 10.0f);
    }
    output by_one, assigned;
    {
      const control_dependencies after{first};
      const device d(ps);
      by_one = assign_add(w, 1.0f);
    }
    {
      const control_dependencies after{by_one};
      const device d(far);
      second = multiply(w, 100.0f);
    }
    {
      const control_dependencies after{second};
      const device d(ps);
      assigned = assign(w, 7.0f);
    }
    {
      // By way of a third device, and by the reference that an earlier write gave.
      output there;
      {
        const control_dependencies after{assigned};
        const device d(is_cut ? "/job:worker/task:0" : "");
        there = constant(0.0f);
      }
      const control_dependencies after{there};
      const device d(far);
      third = add(identity(w), multiply(by_one, 1000.0f));
    }
    asked = {first, second, third};
  };
  for (const bool is_cut : {false, true}) {
    CAPTURE(is_cut);
    graph g;
    std::vector<output> asked;
    graph_operation init;
    build(g, is_cut, asked, init);
    const std::vector<float> expected{10, 200, 7007};
    const auto check = [&](const std::vector<tensor_value>& found) {
      for (std::size_t k = 0; k < 3; ++k) CHECK(found[k].as<float>() == expected[k]);
    };
    if (!is_cut) {
      graph_session s(g);
      s.run(init);
      check(s.run({asked[0], asked[1], asked[2]}));
      continue;
    }
    local_parts start(g, {.targets = {init.index()}});
    local_parts parts(g, {.fetches = asked}, start.kept());
    for (int k = 0; k < 20; ++k) {
      start.run();
      check(parts.run());
    }
  }
}

TEST_CASE("users that follow the same writes share a transfer") {
  graph g;
  const auto scope = g.as_default();
  std::vector<output> asked;
  graph_operation init;
  {
    const device d("/job:ps/task:0");
    const output w = variable(1.0f, "w");
    init = initializer_of(w);
    const output more = assign_add(assign(w, 3.0f), 1.0f);
    const device e("/job:worker/task:0");
    const control_dependencies after{more};
    for (int k = 0; k < 3; ++k) asked.push_back(multiply(w, static_cast<float>(k)));
  }
  local_parts start(g, {.targets = {init.index()}});
  start.run();
  local_parts parts(g, {.fetches = asked}, start.kept());
  CHECK(parts.made().edges.size() == 2);  // w, and that it has been written
  CHECK(parts.run()[2].as<float>() == 8);
}

TEST_CASE("a write in a branch that is not taken keeps no later access from running") {
  graph g;
  const auto scope = g.as_default();
  const output p = placeholder(dtype::boolean, {}, "p");
  output here, there;
  graph_operation init;
  {
    const device d("/job:ps/task:0");
    const output w = variable(1.0f, "w");
    init = initializer_of(w);
    const output chosen = cond(
        p, [&] { return identity(assign(w, 5.0f)); }, [&] { return constant(0.0f); });
    const control_dependencies after{chosen};
    here = read_value(w);
    const device e("/job:worker/task:0");
    there = multiply(w, 2.0f);
  }
  local_parts start(g, {.targets = {init.index()}});
  local_parts parts(g, {.fetches = {here, there}, .feeds = {p}}, start.kept());
  for (int k = 0; k < 10; ++k) {
    start.run();
    const auto taken = parts.run({tensor_value(true)});
    CHECK(taken[0].as<float>() == 5);
    CHECK(taken[1].as<float>() == 10);
    start.run();
    const auto not_taken = parts.run({tensor_value(false)});
    REQUIRE(static_cast<bool>(not_taken[0]));
    CHECK(not_taken[0].as<float>() == 1);
    REQUIRE(static_cast<bool>(not_taken[1]));
    CHECK(not_taken[1].as<float>() == 2);
  }
}

TEST_CASE("a loop reads a variable before it writes it, and another device reads it after the loop") {
  graph g;
  const auto scope = g.as_default();
  output there;
  graph_operation init;
  {
    const device d("/job:ps/task:0");
    const output w = variable(1.0f, "w");
    init = initializer_of(w);
    const output count = while_loop([](const output& i) { return less(i, 3.0f); },
                                    [&](const output& i) {
                                      const output before = multiply(w, 1.0f);
                                      const control_dependencies then{before};
                                      const control_dependencies written{assign_add(w, 2.0f)};
                                      return add(i, 1.0f);
                                    },
                                    {constant(0.0f)});
    const control_dependencies after{count};
    const device e("/job:worker/task:0");
    there = multiply(w, 10.0f);
  }
  local_parts start(g, {.targets = {init.index()}});
  local_parts parts(g, {.fetches = {there}}, start.kept());
  for (int k = 0; k < 5; ++k) {
    start.run();
    CHECK(parts.run()[0].as<float>() == 70);
  }
  graph one;
  const auto scope_of_one = one.as_default();
  import_graph(one,
               [&] {
                 graph_def def = export_graph(g);
                 for (node_def& n : def.nodes) n.device.clear();
                 return def;
               }(),
               {.name = ""});
  graph_session s(one);
  s.run(get_operation_by_name(one, init.name()));
  CHECK(s.run<float>(get_tensor_by_name(one, there.name())) == 70);
}
