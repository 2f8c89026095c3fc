// What data costs: a pipeline from CSV with shuffle and batch against parsing the file alone (std::from_chars, one pass), records against
// reading their file, and training steps of the digits example fed by a pipeline against steps fed from arrays in memory. Files are in
// the page cache. Pairs are timed in turns, and the least times compared: processor time, of all threads.

#include <leat/data.hpp>
#include <leat/io/file.hpp>
#include <leat/leat.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <random>

namespace {

using namespace leat;
using namespace leat::literals;

// Processor time of all threads, which other programs on the machine disturb least; what is prefetched counts too.
double now() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double seconds_of(auto& f) {
  const double begin = now();
  f();
  return now() - begin;
}
volatile double sink = 0;

class report {
 public:
  explicit report(int repeat) : repeat_(repeat) {}
  void pair(const std::string& name, double most, auto ours, auto theirs) {
    double best = 1e300, best_of_theirs = 1e300;
    for (int k = 0; k < repeat_; ++k) {
      best = std::min(best, seconds_of(ours));
      best_of_theirs = std::min(best_of_theirs, seconds_of(theirs));
    }
    std::printf("%-44s %10.3f ms %10.3f ms %7.3f  (at most %.2f)\n", name.c_str(), best * 1e3, best_of_theirs * 1e3, best / best_of_theirs,
                most);
    std::fflush(stdout);
    rows_.push_back({{"case", name},
                     {"leat", best * 1e3},
                     {"rival_value", best_of_theirs * 1e3},
                     {"unit", "ms"},
                     {"ratio", best / best_of_theirs},
                     {"at_most", most}});
  }
  std::string text() const { return rows_.dump(1) + "\n"; }

 private:
  int repeat_;
  nlohmann::json rows_ = nlohmann::json::array();
};

// A table of cells of 0 to 16 and a label, as the digits are, or of fractions with six digits.
void write_table(const std::filesystem::path& path, std::size_t rows, std::size_t columns, bool cells) {
  std::mt19937 random(1);
  std::string text;
  for (std::size_t k = 0; k < columns; ++k) text += (k == 0 ? "c" : ",c") + std::to_string(k);
  text += '\n';
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t k = 0; k < columns; ++k) {
      char number[32];
      if (cells) std::snprintf(number, sizeof(number), "%u", static_cast<unsigned>(random() % (k + 1 == columns ? 10 : 17)));
      else std::snprintf(number, sizeof(number), "%.6f", static_cast<double>(random()) / 4294967296.0);
      text += number;
      text += k + 1 == columns ? '\n' : ',';
    }
  io::write_file(path, text);
}
// A file's bytes, in memory that is there.
std::string_view read_alone(const std::filesystem::path& path) {
  static std::vector<char> memory;
  const auto file = io::detail::open_to_read(path);
  memory.resize(std::filesystem::file_size(path));
  std::uint64_t at = 0;
  while (at < memory.size()) at += io::detail::read_at(file, path, std::span(memory).subspan(at), at);
  return {memory.data(), memory.size()};
}
// All numbers of a table, one pass over the file's bytes.
template <class T>
double parse_alone(const std::filesystem::path& path) {
  const std::string_view text = read_alone(path);
  const char* at = text.data() + text.find('\n') + 1;
  const char* const end = text.data() + text.size();
  double sum = 0;
  while (at < end) {
    T value;
    at = std::from_chars(at, end, value).ptr + 1;
    sum += static_cast<double>(value);
  }
  return sum;
}

void tables(report& r, const std::filesystem::path& folder) {
  write_table(folder / "digits.csv", 40000, 65, true);
  write_table(folder / "narrow.csv", 600000, 4, false);
  r.pair(
      "csv, 64 cells and a label, shuffle, batch", 1.3,
      [&] {
        for (auto& [cells, labels] : dataset::csv<std::array<float, 64>, std::int64_t>(folder / "digits.csv").shuffle(1000, 1).batch(32))
          sink = sink + static_cast<double>(cells(0, 0)) + static_cast<double>(labels(0));
      },
      [&] { sink = sink + parse_alone<float>(folder / "digits.csv"); });
  r.pair(
      "csv, 4 fractions, shuffle, batch", 1.3,
      [&] {
        for (auto& [x, y] : dataset::csv<std::array<float, 3>, float>(folder / "narrow.csv").shuffle(1000, 1).batch(32))
          sink = sink + static_cast<double>(x(0, 0)) + static_cast<double>(y(0));
      },
      [&] { sink = sink + parse_alone<float>(folder / "narrow.csv"); });
  r.pair(
      "csv, 4 fractions, shuffle, batch, prefetch", 1.3,
      [&] {
        for (auto& [x, y] : dataset::csv<std::array<float, 3>, float>(folder / "narrow.csv").shuffle(1000, 1).batch(32).prefetch(16))
          sink = sink + static_cast<double>(x(0, 0)) + static_cast<double>(y(0));
      },
      [&] { sink = sink + parse_alone<float>(folder / "narrow.csv"); });
}

void records(report& r, const std::filesystem::path& folder) {
  for (const std::size_t bytes : {256u, 4096u, 65536u}) {
    const auto path = folder / (std::to_string(bytes) + ".tfrecord");
    {
      io::record_writer writer(path);
      std::string record(bytes, 'x');
      for (std::size_t k = 0; k < (std::size_t{1} << 27) / bytes; ++k) {
        record[k % bytes] = static_cast<char>(k);
        writer.write(record);
      }
      writer.close();
    }
    const auto read = [&] {
      const auto file = io::detail::open_to_read(path);
      static std::vector<char> buffer(std::size_t{1} << 18);
      std::uint64_t at = 0;
      while (const std::size_t count = io::detail::read_at(file, path, buffer, at)) at += count;
      sink = sink + static_cast<double>(at);
    };
    const std::string of = "records of " + std::to_string(bytes) + " bytes";
    r.pair(
        of, 2,
        [&] {
          io::record_reader reader(path);
          while (const auto record = reader.next()) sink = sink + static_cast<double>(record->size());
        },
        read);
    r.pair(
        of + ", as a dataset", 2,
        [&] {
          for (auto& [record] : dataset::records(path)) sink = sink + static_cast<double>(record.size());
        },
        read);
  }
}

// The network of examples/digits.cpp.
void steps(report& r) {
  constexpr std::size_t cells = 64, batch = 32, count = 1437;
  auto images = placeholder<"images", float, "batch", cells>();
  auto labels = placeholder<"labels", std::int64_t, "batch">();
  auto hidden1 = relu(dense<"hidden1", 128>(images));
  auto hidden2 = relu(dense<"hidden2", 64>(hidden1));
  auto logits = dense<"output", 10>(hidden2);
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  auto train = adam(0.001f).minimize(loss);
  session s{loss, train};
  s.initialize();

  std::mt19937 random(1);
  auto all_images = xt::xtensor<float, 2>::from_shape({count, cells});
  auto all_labels = xt::xtensor<std::int64_t, 1>::from_shape({count});
  for (float& cell : all_images) cell = static_cast<float>(random() % 17) / 16;
  for (std::int64_t& label : all_labels) label = random() % 10;
  auto some_images = xt::xtensor<float, 2>::from_shape({batch, cells});
  auto some_labels = xt::xtensor<std::int64_t, 1>::from_shape({batch});
  std::copy_n(all_images.data(), some_images.size(), some_images.data());
  std::copy_n(all_labels.data(), some_labels.size(), some_labels.data());
  auto step = s.prepare(fetch(loss, train), images = some_images, labels = some_labels);

  constexpr int n = 2000;
  const auto from_memory = [&] {
    for (int k = 0; k < n; ++k) sink = sink + static_cast<double>(std::get<0>(step()));
  };
  const auto data = dataset::from_tensor_slices(all_images, all_labels).shuffle(count, 1).batch(batch, true).repeat();
  const auto fed = [&](const auto& pipeline) {
    auto rows = std::make_shared<std::remove_cvref_t<decltype(pipeline.iterate())>>(pipeline.iterate());
    return [&, rows] {
      auto& [x, y] = rows->element();
      auto one = s.prepare(fetch(loss, train), images = x, labels = y);
      for (int k = 0; k < n && rows->next(); ++k) sink = sink + static_cast<double>(std::get<0>(one()));
    };
  };
  r.pair("2000 steps of digits, shuffle, batch", 1.02, fed(data), from_memory);
  r.pair("2000 steps of digits, shuffle, batch, prefetch", 1.02, fed(data.prefetch(4)), from_memory);
}

}  // namespace

int main(int count, char** arguments) {
  std::string json, folder = (std::filesystem::temp_directory_path() / "leat_bench_data").string();
  int repeat = 9;
  CLI::App app{"What data costs: tables, records, feeding."};
  app.add_option("--json", json, "where the results go, as JSON");
  app.add_option("--folder", folder, "a folder for some 400 MB of files");
  app.add_option("--repeat", repeat, "times that each side is timed")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, arguments);
  try {
    std::filesystem::create_directories(folder);
    report r(repeat);
    std::printf("%-44s %13s %13s %7s\n", "case", "leat", "rival", "ratio");
    tables(r, folder);
    records(r, folder);
    steps(r);
    std::filesystem::remove_all(folder);
    if (!json.empty()) io::write_file(json, r.text());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_data: %s\n", e.what());
    return 1;
  }
}
