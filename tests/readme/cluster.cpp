// The listings of docs/cluster.md. Without arguments the program starts itself as the tasks of a cluster, one process each, once for each way
// to train; with --job_name it is one of them.

// [listing cluster_includes]
#include <leat/cluster.hpp>
#include <leat/graphs.hpp>
#include <leat/supervise.hpp>
// [end]

#include "../cluster/support/free_address.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace leat;

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("not so: ") + what);
}

// [listing between_graph]
void between_graph(const cluster_flags& flags, const server& here) {
  graph g;
  auto scope = g.as_default();
  auto replica = device(replica_device_setter({.worker_device = here.device(), .cluster = flags.cluster()}));
  auto x = placeholder(dtype::float32, {}, "x");
  auto y = placeholder(dtype::float32, {}, "y");
  auto w = variable(0.0f, "w");
  auto loss = square(w * x - y);
  auto steps = get_or_create_global_step();
  auto train = gradient_descent(0.1f).minimize(loss, {.global_step = steps});

  supervisor sv({.is_chief = flags.task_index == 0,
                 .logdir = flags.logdir,
                 .global_step = steps,
                 .session = {.target = here.target(), .device_filters = {"/job:ps", here.device()}}});
  auto s = sv.managed_session();
  while (!sv.should_stop() && s.run<std::int64_t>(steps) < 200) s.run(train, {{x, 1.0f}, {y, 2.0f}});
  sv.stop();
}
// [end]

void monitored(const cluster_flags& flags, const server& here) {
  graph g;
  auto scope = g.as_default();
  auto replica = device(replica_device_setter({.worker_device = here.device(), .cluster = flags.cluster()}));
  auto w = variable(0.0f, "w");
  auto train = gradient_descent(0.1f).minimize(square(w - 2.0f), {.global_step = get_or_create_global_step()});
  // [listing monitored_worker]
  monitored_session s({.is_chief = flags.task_index == 0,
                       .checkpoint_dir = flags.logdir,
                       .save_checkpoint_secs = seconds(60),
                       .hooks = {stop_at_step(2000)},
                       .session = {.target = here.target(), .device_filters = {"/job:ps", here.device()}}});
  while (!s.should_stop()) s.run(train);
  s.close();
  // [end]
}

void synchronous(const cluster_flags& flags, const server& here) {
  graph g;
  auto scope = g.as_default();
  auto replica = device(replica_device_setter({.worker_device = here.device(), .cluster = flags.cluster()}));
  auto w = variable(0.0f, "w");
  auto loss = square(w - 2.0f);
  auto steps = get_or_create_global_step();
  // [listing synchronous_worker]
  const bool is_chief = flags.task_index == 0;
  sync_replicas sync(gradient_descent(0.1f), {.replicas_to_aggregate = 2, .total_num_replicas = 2, .replica = flags.task_index});
  auto train = sync.minimize(loss, {.global_step = steps});
  monitored_session s({.is_chief = is_chief,
                       .checkpoint_dir = flags.logdir,
                       .hooks = {stop_at_step(200), sync_replicas_hook(sync, is_chief, 0)},
                       .session = {.target = here.target(), .device_filters = {"/job:ps", here.device()}}});
  try {
    while (!s.should_stop()) s.run(train);
  } catch (const out_of_range&) {  // the chief has ended
  }
  // [end]
  s.close();
}

int serve(const cluster_spec& c) {
  // [listing server]
  server here(c, {.job_name = "ps", .task_index = 0});
  here.join();
  // [end]
  return 0;
}

void with_keys(const cluster_spec& c) {
  make_cluster_keys("servers");
  make_cluster_keys("client");
  // [listing keys]
  server here(c, {.job_name = "ps",
                  .keys = cluster_keys{.own = "servers", .servers = {"servers.public"}, .allowed = {"servers.public", "client.public"}}});
  set_cluster_keys(cluster_keys{.own = "client", .servers = {"servers.public"}});  // for this process's sessions
  // [end]
  graph g;
  auto scope = g.as_default();
  auto two = add(1.0f, 1.0f);
  graph_session s(g, {.target = here.target()});
  require(s.run<float>(two) == 2, "a session with keys computes");
}

void traced() {
  const cluster_spec c{{"ps", {leat_test::free_address()}}, {"worker", {leat_test::free_address()}}};
  const server ps(c, {.job_name = "ps"}), here(c, {.job_name = "worker"});
  graph g;
  auto scope = g.as_default();
  auto d = device(replica_device_setter({.worker_device = here.device(), .cluster = c}));
  auto x = placeholder(dtype::float32, {3}, "x");
  auto w = variable(1.0f, "w");
  auto train = gradient_descent(0.1f).minimize(reduce_mean(square(w * x)));
  auto init = global_variables_initializer();
  graph_session s(g, {.target = here.target()});
  s.run(init);
  const std::vector<float> batch{1, 2, 3};
  // [listing trace]
  run_trace t;
  s.run(train, {{x, batch}}, {.trace = &t});
  t.write_chrome_trace("step.json");                  // a process for each task, in chrome://tracing or ui.perfetto.dev
  std::fputs(t.statistics_table().c_str(), stdout);  // operators, nodes, then tasks and edges
  // [end]
  require(t.statistics_table().find("/job:ps/replica:0/task:0") != std::string::npos, "the table tells the tasks");
  require(std::filesystem::file_size("step.json") > 0, "the trace is in the file");
}

void specified() {
  // [listing cluster_spec]
  const cluster_spec c{{"ps", {"a:2222"}}, {"worker", {"b:2222", "c:2222"}}};
  // [end]
  require(c.num_tasks("worker") == 2, "two workers");
  graph g;
  auto scope = g.as_default();
  auto ids = placeholder(dtype::int64, {-1}, "ids");
  // [listing slices]
  auto d = device(replica_device_setter({.cluster = c}));
  auto table = get_variable("words", {1'000'000, 64}, {.partitioner = fixed_size_partitioner(3)});
  auto rows = embedding_lookup(table, ids, partition_strategy::div);
  auto train = adagrad(0.1f).minimize(reduce_mean(square(rows)));
  // [end]
  require(train.name() == "Adagrad" && get_operation_by_name(g, "words/part_2/Adagrad"), "a slot beside the last slice");
}

int be_task(int count, char** arguments) {
  // [listing task]
  const cluster_flags flags(count, arguments);  // --ps_hosts=... --worker_hosts=... --job_name=... --task_index=... --logdir=...
  server here(flags.role());
  if (flags.job_name == "ps") {
    here.join();
    return 0;
  }
  // [end]
  const std::string how = flags.rest.at(0);
  if (how == "--between_graph") between_graph(flags, here);
  if (how == "--monitored") monitored(flags, here);
  if (how == "--synchronous") synchronous(flags, here);
  return 0;
}

// A process of this program, ended with the object.
class process {
 public:
  explicit process(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    require(::posix_spawn(&id_, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) == 0, "a process starts");
  }
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  ~process() {
    if (id_ == 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  void ask_to_end() { ::kill(id_, SIGTERM); }
  void expect_success() {
    int status = 0;
    require(::waitpid(std::exchange(id_, 0), &status, 0) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0, "the task ends with 0");
  }

 private:
  pid_t id_ = 0;
};

void train(const std::string& how) {
  const std::string workers = leat_test::free_address() + "," + leat_test::free_address();
  const std::vector<std::string> common{"cluster", "--ps_hosts=" + leat_test::free_address(), "--worker_hosts=" + workers, "--logdir=log" + how,
                                        how};
  const auto task = [&](const char* job, const char* index) {
    std::vector<std::string> words = common;
    words.push_back(std::string("--job_name=") + job);
    words.push_back(std::string("--task_index=") + index);
    return process(std::move(words));
  };
  process ps = task("ps", "0"), chief = task("worker", "0"), other = task("worker", "1");
  chief.expect_success();
  other.expect_success();
  ps.ask_to_end();
  ps.expect_success();
  require(static_cast<bool>(latest_checkpoint("log" + how)), "the chief has saved");
}

void served() {
  const std::string address = leat_test::free_address();
  process ps({"cluster", address});
  graph g;
  auto scope = g.as_default();
  auto two = add(1.0f, 1.0f);
  {
    graph_session s(g, {.target = "tcp://" + address});
    require(s.run<float>(two) == 2, "a server of another process computes");
  }
  ps.ask_to_end();
  ps.expect_success();
}

void all() {
  specified();
  served();
  traced();
  with_keys({{"ps", {leat_test::free_address()}}});
  for (const char* how : {"--between_graph", "--monitored", "--synchronous"}) train(how);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count > 2) return be_task(count, arguments);
    if (count == 2) return serve({{"ps", {arguments[1]}}});
    const auto folder = std::filesystem::temp_directory_path() / ("leat_readme_cluster." + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::filesystem::current_path(folder);
    all();
    std::filesystem::current_path("/");
    std::filesystem::remove_all(folder);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
