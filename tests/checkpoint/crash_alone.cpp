// Savers that are killed, that share a folder, and whose checkpoints are read meanwhile: with processes. What signal 9 interrupts is
// the same on a file system in memory, where five hundred saves take seconds.

#include <leat/checkpoint/saver.hpp>
#include <leat/graphs.hpp>

#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <random>

using namespace leat;
namespace files = std::filesystem;

namespace {

// A folder in memory where there is one.
struct fast_folder {
  files::path path;
  explicit fast_folder(const std::string& name) {
    std::error_code problem;
    path = files::path("/dev/shm") / ("leat_test_" + name + "." + std::to_string(::getpid()));
    files::create_directories(path, problem);
    if (problem) path = files::temp_directory_path() / path.filename();
    files::remove_all(path);
    files::create_directories(path);
  }
  fast_folder(const fast_folder&) = delete;
  fast_folder& operator=(const fast_folder&) = delete;
  ~fast_folder() {
    std::error_code ignored;
    files::remove_all(path, ignored);
  }
};

// Variables of several sizes and dtypes that all hold one number.
struct model {
  graph g;
  default_graph_scope here = g.as_default();
  output count = variable(std::int64_t{0}, "count");
  output small = variable(std::vector<float>(7), "small");
  output large = variable(std::vector<double>(20'000), "large");
  output bytes = variable(std::vector<std::uint8_t>(1'001), "bytes");
  graph_session session{g};

  void set(std::int64_t number) {
    session.assign(count, number);
    session.assign(small, std::vector<float>(7, static_cast<float>(number)));
    session.assign(large, std::vector<double>(20'000, static_cast<double>(number)));
    session.assign(bytes, std::vector<std::uint8_t>(1'001, static_cast<std::uint8_t>(number % 256)));
  }
  // The number that all hold; -1 if they do not agree.
  std::int64_t number() {
    const auto n = session.value(count).as<std::int64_t>();
    for (const float v : session.value(small).as<std::vector<float>>())
      if (v != static_cast<float>(n)) return -1;
    for (const double v : session.value(large).as<std::vector<double>>())
      if (v != static_cast<double>(n)) return -1;
    for (const auto v : session.value(bytes).as<std::vector<std::uint8_t>>())
      if (v != static_cast<std::uint8_t>(n % 256)) return -1;
    return n;
  }
};

struct mode {
  const char* name;
  saver_options options;
  bool has_step;
};
const std::vector<mode> modes{
    {"a step in the name", {.max_to_keep = 1}, true},
    {"one name", {.max_to_keep = 1}, false},
    {"TensorFlow's format, a step in the name", {.max_to_keep = 2, .format = checkpoint_format::tensorflow}, true},
    {"TensorFlow's format, one name", {.max_to_keep = 1, .format = checkpoint_format::tensorflow}, false},
    {"in the background", {.max_to_keep = 3, .in_background = true}, true},
};

template <class F>
pid_t start(F f) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  int code = 1;
  try {
    f();
    code = 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "process %d: %s\n", static_cast<int>(::getpid()), e.what());
  }
  std::_Exit(code);
}
int end_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

// Saves one number after the other, beginning with what is there, and tells through a pipe what is saved.
void save_without_end(const std::string& folder, const mode& m, int tell) {
  model own;
  saver save(m.options);
  if (const auto state = get_checkpoint_state(folder)) save.recover_last_checkpoints(state->all_model_checkpoint_paths);
  std::int64_t number = 0;
  if (restore_latest(own.session, folder)) number = own.number();
  for (;;) {
    own.set(++number);
    save(own.session, folder + "/model", m.has_step ? checkpoint_step(number) : checkpoint_step());
    // In the background it is saved when the next one begins.
    const std::int64_t saved = m.options.in_background ? number - 1 : number;
    if (::write(tell, &saved, sizeof saved) != sizeof saved) return;
  }
}

// The names of files of saves that did not end.
std::string left_over(const files::path& folder) {
  std::string names;
  for (const auto& entry : files::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".part") || name.find(".old.") != name.npos) names += name + " ";
  }
  return names;
}

}  // namespace

TEST_CASE("killed at 500 random moments, the last checkpoint restores") {
  const char* wanted = std::getenv("LEAT_TEST_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 500;
  std::mt19937 random(20240501);
  std::map<std::string, int> saves;
  const fast_folder scratch("crash");
  std::vector<std::int64_t> known(modes.size(), 0);
  // How long a saver lives at most, in units of 25 ms: longer after one that saved nothing, as happens on a slow or busy machine.
  std::vector<unsigned> patience(modes.size(), 1);
  for (int k = 0; k < kills; ++k) {
    const auto which = static_cast<std::size_t>(k) % modes.size();
    const mode& m = modes[which];
    INFO(m.name << ", kill " << k);
    const auto folder = scratch.path / std::to_string(which);
    files::create_directories(folder);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = start([&] { save_without_end(folder.string(), m, ends[1]); });
    ::close(ends[1]);
    ::usleep(std::uniform_int_distribution<unsigned>(0, 25'000 * patience[which])(random));
    ::kill(child, SIGKILL);
    end_of(child);
    const int before = saves[m.name];
    for (std::int64_t saved = 0; ::read(ends[0], &saved, sizeof saved) == sizeof saved;) known[which] = saved, ++saves[m.name];
    patience[which] = saves[m.name] > before ? std::max(patience[which] / 2, 1u) : std::min(patience[which] * 2, 32u);
    ::close(ends[0]);
    model own;
    const checkpoint_path latest = restore_latest(own.session, folder.string());
    if (!latest) {
      REQUIRE(known[which] == 0);
      continue;
    }
    const std::int64_t number = own.number();
    REQUIRE(number >= known[which]);
    if (m.has_step) REQUIRE(latest == (folder / ("model-" + std::to_string(number))).string());
  }
  for (std::size_t which = 0; which < modes.size(); ++which) {
    const mode& m = modes[which];
    INFO(m.name);
    MESSAGE(std::string(m.name) << ": " << saves[m.name] << " saves");
    CHECK(saves[m.name] > kills / 20);
    // The next save of that name takes away what the killed ones left.
    const auto folder = scratch.path / std::to_string(which);
    model own;
    own.set(1);
    saver save(m.options);
    save(own.session, (folder / "model").string(), m.has_step ? checkpoint_step(1'000'000) : checkpoint_step());
    save.wait();
    CHECK(left_over(folder) == "");
  }
}

TEST_CASE("what is evaluated while it is trained is never half or gone") {
  for (const mode& m : modes) {
    INFO(m.name);
    const fast_folder scratch("evaluated");
    const std::string folder = scratch.path.string();
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = start([&] { save_without_end(folder, m, ends[1]); });
    ::close(ends[1]);
    std::int64_t first = 0;
    while (first < 1 && ::read(ends[0], &first, sizeof first) == sizeof first) {
    }
    // Nobody reads the pipe on: a trainer waits where it is full, after many thousand saves.
    model own;
    saver load(m.options);
    std::int64_t before = 0;
    int restored = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
    while (std::chrono::steady_clock::now() < end || restored <= 5) {  // on a busy machine few restores fit into that time
      // As a program that evaluates has it, in two calls.
      const checkpoint_path latest = latest_checkpoint(folder);
      REQUIRE(latest);
      if (restored % 3 == 0) ::usleep(2'000);  // long enough for several saves
      REQUIRE_NOTHROW(load.restore(own.session, latest, {.mapped = restored % 2 == 1}));
      const std::int64_t number = own.number();
      REQUIRE(number >= before);
      before = number;
      ++restored;
    }
    MESSAGE(std::string(m.name) << ": " << restored << " times restored up to " << before);
    ::kill(child, SIGKILL);
    end_of(child);
    ::close(ends[0]);
  }
}

TEST_CASE("two processes that save into one folder do not corrupt what the other saves") {
  for (const mode& m : modes) {
    INFO(m.name);
    const fast_folder scratch("shared");
    const std::string folder = scratch.path.string();
    std::vector<pid_t> children;
    for (int k = 0; k < 2; ++k)
      children.push_back(start([&] {
        model own;
        saver save(m.options);
        for (std::int64_t number = 1; number <= 60; ++number) {
          own.set(number);
          save(own.session, folder + "/model", m.has_step ? checkpoint_step(number) : checkpoint_step());
        }
        save.close();
      }));
    model own;
    for (int k = 0; k < 40; ++k) {
      const checkpoint_path latest = restore_latest(own.session, folder);
      if (latest) REQUIRE(own.number() > 0);
      ::usleep(3'000);
    }
    for (const pid_t child : children) CHECK(end_of(child) == 0);
    REQUIRE(restore_latest(own.session, folder));
    CHECK(own.number() == 60);
    for (const auto& entry : files::directory_iterator(folder)) {
      const std::string name = entry.path().string();
      if (!name.ends_with(".json") && !name.ends_with(".index")) continue;
      const checkpoint_reader reader(name.substr(0, name.rfind('.')));
      for (const std::string& tensor : reader.names()) CHECK_NOTHROW(reader.value(tensor));
    }
    CHECK(left_over(folder) == "");
  }
}
