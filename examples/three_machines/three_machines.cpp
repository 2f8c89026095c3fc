// One worker of a training run on several machines, whose parameter server is `leat serve`. All that they send goes by the network, and is
// encrypted: tasks are admitted by their keys alone. three_machines.sh shows it, each machine being a network namespace.
//
//    machine a: leat serve --job_name=ps         W, b
//    machine b: three_machines --task_index=0    chief: initializes, saves
//    machine c: three_machines --task_index=1
//
// three_machines --ps_hosts=a:2222 --worker_hosts=b:2222,c:2222 --task_index=0 --keys=FOLDER [--logdir=FOLDER]: the folder of keys has the
// servers' pair, `servers` and `servers.public`, and `client.public`, with whose pair somebody may ask how they are. With --slurm instead of
// addresses and number it has these from Slurm (slurm.sh).

#include <leat/cluster.hpp>
#include <leat/graphs.hpp>
#include <leat/supervise.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>
#include <tuple>

using namespace leat;

namespace {

void work(const cluster_role& role, const std::string& logdir, const std::filesystem::path& keys) {
  // [listing three_machines]
  const cluster_keys its{
      .own = keys / "servers", .servers = {keys / "servers.public"}, .allowed = {keys / "servers.public", keys / "client.public"}};
  server here(role, {.keys = its});
  set_cluster_keys(its);
  // [end]

  graph g;
  const auto scope = g.as_default();
  output x, y, w, b, steps;
  graph_operation train;
  {
    const device replica(replica_device_setter({.worker_device = here.device(), .cluster = role.cluster}));
    x = placeholder(dtype::float32, {}, "x");
    y = placeholder(dtype::float32, {}, "y");
    w = variable(0.0f, "W");
    b = variable(0.0f, "b");
    steps = get_or_create_global_step();
    train = gradient_descent(0.05f).minimize(square(w * x + b - y), {.global_step = steps});
  }
  supervisor sv({.is_chief = role.task_index == 0,
                 .logdir = role.task_index == 0 ? logdir : "",
                 .global_step = steps,
                 .session = {.target = here.target(), .device_filters = {"/job:ps", here.device()}}});
  auto s = sv.managed_session();
  constexpr std::int64_t all = 1000;
  for (int i = 0; !sv.should_stop() && s.run<std::int64_t>(steps) < all; ++i) {
    const float at = static_cast<float>(i % 21) / 10 - 1;
    s.run(train, {{x, at}, {y, 2 * at + 10}});
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // as if data were read
  }
  float weight = 0, bias = 0;
  std::tie(weight, bias) = s.run<float, float>({w, b});
  sv.stop();
  std::printf("%s: W %.3f, b %.3f\n", here.device().c_str(), static_cast<double>(weight), static_cast<double>(bias));
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const cluster_flags flags(count, arguments);
    std::filesystem::path keys;
    bool is_slurm = false;
    for (const std::string& flag : flags.rest) {
      if (flag.starts_with("--keys=")) keys = flag.substr(7);
      if (flag == "--slurm") is_slurm = true;
    }
    if (keys.empty()) {
      std::fprintf(stderr, "--keys=FOLDER is missing: leat keys FOLDER/servers makes them\n");
      return 2;
    }
    work(is_slurm ? role_from_slurm({{"ps", 1}, {"worker", 2}}) : cluster_role{flags.cluster(), "worker", flags.task_index}, flags.logdir,
         keys);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
