// What checkpoints cost: saving against writing and syncing the same bytes, restoring against reading them, restoring by mapping, and
// training with saves in the background against training without. Pairs are timed in turns, and the medians compared.

#include <leat/checkpoint.hpp>
#include <leat/graphs.hpp>
#include <leat/leat.hpp>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

namespace {

using namespace leat;
using namespace leat::literals;
namespace files = std::filesystem;

double seconds_of(const auto& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}
void must(bool holds, const char* what) {
  if (!holds) throw failed_precondition(what);
}

struct result {
  std::string name;
  double ours, theirs, ratio, most;
};
std::vector<result> results;
void report(const std::string& name, double ours, double theirs, double most) {
  results.push_back({name, ours, theirs, ours / theirs, most});
  std::printf("%-52s %9.4f s  %9.4f s  %6.3f  (at most %.2f)\n", name.c_str(), ours, theirs, ours / theirs, most);
  std::fflush(stdout);
}

void write_and_sync(const files::path& path, const std::vector<tensor_value>& values) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  must(file >= 0, "cannot open the file to be written");
  for (const tensor_value& v : values)
    for (std::size_t at = 0; at < v.bytes();) {
      const ssize_t count = ::write(file, v.data() + at, std::min<std::size_t>(v.bytes() - at, std::size_t{1} << 20));
      must(count > 0, "cannot write");
      at += static_cast<std::size_t>(count);
    }
  must(::fsync(file) == 0, "cannot sync");
  ::close(file);
}
void read_whole(const files::path& path, std::vector<tensor_value>& values) {
  const int file = ::open(path.c_str(), O_RDONLY);
  must(file >= 0, "cannot open the file to be read");
  for (tensor_value& v : values)
    for (std::size_t at = 0; at < v.bytes();) {
      const ssize_t count = ::read(file, v.data() + at, v.bytes() - at);
      must(count > 0, "cannot read");
      at += static_cast<std::size_t>(count);
    }
  ::close(file);
}

void files_against_bytes(const files::path& folder, std::int64_t megabytes, int rounds) {
  constexpr std::int64_t parts = 16;
  const std::int64_t elements = megabytes * (1 << 20) / 4 / parts;
  graph g;
  const auto here = g.as_default();
  graph_session s(g);
  std::vector<tensor_value> values;
  shape extent;
  extent.push(elements);
  for (std::int64_t k = 0; k < parts; ++k) {
    const auto v = variable(fill({elements}, 0.0f), "part_" + std::to_string(k));
    values.emplace_back(dtype::float32, extent);
    for (std::int64_t i = 0; i < elements; ++i) values.back().values<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i * 7 + k);
    s.adopt(v, values.back());
  }
  const std::string size = std::to_string(megabytes) + " MB";
  for (const auto format : {checkpoint_format::leat, checkpoint_format::tensorflow}) {
    const std::string of = format == checkpoint_format::leat ? "" : ", TensorFlow's format";
    saver save({.max_to_keep = 1, .format = format});
    const std::string prefix = (folder / "model").string();
    std::vector<double> bytes_times, save_times;
    for (int k = 0; k < rounds; ++k) {
      files::remove(folder / "bytes");
      bytes_times.push_back(seconds_of([&] { write_and_sync(folder / "bytes", values); }));
      files::remove(folder / "bytes");
      save_times.push_back(seconds_of([&] { save(s, prefix); }));
      if (k + 1 < rounds)
        for (const char* ending : {".json", ".index"}) files::remove(prefix + ending);  // as a new one is written, not one replaced
    }
    report("saving " + size + of + " / write and sync", median(save_times), median(bytes_times), 1.3);
    std::vector<double> read_times, restore_times, map_times;
    write_and_sync(folder / "bytes", values);
    for (int k = 0; k < rounds; ++k) {
      {
        std::vector<tensor_value> into;
        read_times.push_back(seconds_of([&] {
          for (std::int64_t part = 0; part < parts; ++part) into.emplace_back(dtype::float32, extent);
          read_whole(folder / "bytes", into);
        }));
      }
      {
        graph_session t(g);
        restore_times.push_back(seconds_of([&] { save.restore(t, prefix); }));
      }
      graph_session t(g);
      map_times.push_back(seconds_of([&] { save.restore(t, prefix, {.mapped = true}); }));
      must(t.value(get_tensor_by_name(g, "part_3:0")).values<float>()[11] == 80.0f, "another value was restored");
    }
    report("restoring " + size + of + " / read", median(restore_times), median(read_times), 2);
    report("restoring " + size + of + " by mapping / 0.01 s", median(map_times), 0.01, 1);
    files::remove_all(folder);
    files::create_directories(folder);
  }
}

void training(const files::path& folder, int rounds) {
  auto x = placeholder<"x", float, "batch", 784>();
  auto y = placeholder<"y", float, "batch", 10>();
  auto w1 = variable<"w1", float, 784, 256>(random_normal(0, 0.05f));
  auto w2 = variable<"w2", float, 256, 128>(random_normal(0, 0.05f));
  auto w3 = variable<"w3", float, 128, 10>(random_normal(0, 0.05f));
  auto logits = matmul(relu(matmul(relu(matmul(x, w1)), w2)), w3);
  auto train = adam(0.001_c).minimize(reduce_mean(softmax_cross_entropy_with_logits(y, logits)));
  session s{train};
  s.initialize();
  xt::xtensor<float, 2> xs = xt::xtensor<float, 2>::from_shape({64, 784}), ys = xt::zeros<float>({64, 10});
  for (std::size_t i = 0; i < xs.size(); ++i) xs.data()[i] = static_cast<float>(i % 97) / 97.0f;
  for (std::size_t i = 0; i < 64; ++i) ys(i, i % 10) = 1;
  auto step = s.prepare(fetch(train), x = xs, y = ys);
  for (int k = 0; k < 50; ++k) step();
  constexpr int steps = 2000, between = 500;
  std::vector<double> without, with;
  saver save({.max_to_keep = 2, .in_background = true});
  for (int round = 0; round < rounds; ++round) {
    without.push_back(seconds_of([&] {
      for (int k = 0; k < steps; ++k) step();
    }));
    with.push_back(seconds_of([&] {
      for (int k = 0; k < steps; ++k) {
        step();
        if (k % between == 0) save(s, (folder / "digits").string(), round * steps + k);
      }
      save.wait();
    }));
  }
  report("training, saved in the background every 500 / not", median(with), median(without), 1.05);
}

}  // namespace

int main(int count, char** arguments) try {
  CLI::App app{"What checkpoints cost, as ratios.", "bench_checkpoints"};
  std::int64_t megabytes = 1024;
  int rounds = 5;
  std::string folder = "bench_checkpoints.scratch", json;
  app.add_option("--megabytes", megabytes, "how large a checkpoint is")->check(CLI::Range(1, 1 << 16));
  app.add_option("--rounds", rounds, "how often each is timed")->check(CLI::Range(1, 100));
  app.add_option("--folder", folder, "where files are written, and removed");
  app.add_option("--json", json, "a file for the results");
  CLI11_PARSE(app, count, arguments);
  files::create_directories(folder);
  const auto free = files::space(folder).available >> 20;
  if (static_cast<std::uintmax_t>(megabytes) * 4 > free) megabytes = 256;
  std::printf("%-52s %11s  %11s  %6s\n", "", "ours", "against", "ratio");
  files_against_bytes(folder, megabytes, rounds);
  training(folder, rounds);
  files::remove_all(folder);
  if (!json.empty()) {
    nlohmann::json list = nlohmann::json::array();
    for (const result& r : results)
      list.push_back({{"case", r.name}, {"seconds", r.ours}, {"against", r.theirs}, {"ratio", r.ratio}, {"at_most", r.most}});
    std::ofstream(json) << list.dump(1) << "\n";
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_checkpoints: %s\n", e.what());
  return 1;
}
