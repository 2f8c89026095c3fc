// Disks that are full, folders that cannot be written to, files that are damaged or gone: an error, and what was saved stays.

#include <leat/checkpoint/saver.hpp>
#include <leat/graphs.hpp>

#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <iterator>

namespace {
std::atomic<int> syncs_until_one_fails{-1};
}
// In place of the C library's: a disk that fails.
extern "C" int fsync(int number) {
  if (syncs_until_one_fails.load() >= 0 && syncs_until_one_fails.fetch_sub(1) == 0) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, number));
}

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using leat_test::scratch_folder;
namespace files = std::filesystem;

namespace {

std::vector<std::string> files_in(const files::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : files::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}
std::string text_of(const files::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_text(const files::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

struct model {
  graph g;
  default_graph_scope here = g.as_default();
  output w;
  output n = variable(std::int64_t{0}, "n");
  graph_session session{g};
  explicit model(std::size_t size = 1'000) : w(variable(std::vector<float>(size), "w")) { set(1); }
  void set(int number) {
    session.assign(w, std::vector<float>(static_cast<std::size_t>(w.extent()[0]), static_cast<float>(number)));
    session.assign(n, std::int64_t{number});
  }
  bool holds(int number) {
    return session.value(n).as<std::int64_t>() == number && session.value(w).as<std::vector<float>>()[0] == static_cast<float>(number);
  }
};

const checkpoint_format formats[]{checkpoint_format::leat, checkpoint_format::tensorflow};

// The last good state is there, and nothing else; then the next save works.
template <class Fail>
void check_failing(const files::path& folder, checkpoint_format format, bool has_step, Fail fail) {
  model own(100'000);
  saver save({.max_to_keep = 2, .format = format});
  const auto step = [&](int number) { return has_step ? checkpoint_step(number) : checkpoint_step(); };
  const std::string prefix = (folder / "model").string();
  own.set(7);
  save(own.session, prefix, step(7));
  const auto before = files_in(folder);
  const auto state = text_of(folder / "checkpoint");
  own.set(8);
  CHECK(fail([&] { save(own.session, prefix, step(8)); }));
  CHECK(files_in(folder) == before);
  CHECK(text_of(folder / "checkpoint") == state);
  CHECK(save.last_checkpoints().size() == 1);
  model other(100'000);
  CHECK(restore_latest(other.session, folder.string()));
  CHECK(other.holds(7));
  own.set(9);
  save(own.session, prefix, step(9));
  CHECK(restore_latest(other.session, folder.string()));
  CHECK(other.holds(9));
}

}  // namespace

TEST_CASE("a file that may not grow, as on a full disk") {
  ::signal(SIGXFSZ, SIG_IGN);
  for (const auto format : formats)
    for (const bool has_step : {true, false}) {
      const scratch_folder scratch("saver_limit");
      check_failing(scratch.path, format, has_step, [&](auto save) {
        rlimit before{};
        ::getrlimit(RLIMIT_FSIZE, &before);
        rlimit low = before;
        low.rlim_cur = 300'000;
        ::setrlimit(RLIMIT_FSIZE, &low);
        const std::string message = message_of<resource_exhausted>(save);
        ::setrlimit(RLIMIT_FSIZE, &before);
        return says(message, (scratch.path / "model").string());
      });
    }
}

TEST_CASE("a full disk, and one that is mounted to be read only") {
  const scratch_folder scratch("saver_disk");
  if (::mount("leat_test", scratch.path.c_str(), "tmpfs", 0, "size=4m") != 0) {
    MESSAGE("skipped: file systems cannot be mounted here");
    return;
  }
  struct unmount {
    const files::path& path;
    ~unmount() { ::umount2(path.c_str(), MNT_DETACH); }
  } after{scratch.path};
  for (const auto format : formats)
    for (const bool has_step : {true, false}) {
      const auto folder = scratch.path / (std::to_string(static_cast<int>(format)) + std::to_string(has_step));
      files::create_directories(folder);
      check_failing(folder, format, has_step, [&](auto save) {
        write_text(scratch.path / "filler", std::string(5'000'000, 'x'));
        const std::string message = message_of<resource_exhausted>(save);
        files::remove(scratch.path / "filler");
        return says(message, "No space left on device");
      });
      check_failing(folder / "read_only", format, has_step, [&](auto save) {
        REQUIRE(::mount(nullptr, scratch.path.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0);
        const std::string message = message_of<failed_precondition>(save);
        REQUIRE(::mount(nullptr, scratch.path.c_str(), nullptr, MS_REMOUNT, "size=4m") == 0);
        return says(message, "Read-only file system");
      });
      files::remove_all(folder);
    }
}

TEST_CASE("a disk that fails to sync, at every moment") {
  for (const auto format : formats)
    for (const bool has_step : {true, false})
      for (int k = 0; k < 12; ++k) {
        CAPTURE(k);
        const scratch_folder scratch("saver_sync");
        model own;
        saver save({.format = format});
        const auto step = [&](int number) { return has_step ? checkpoint_step(number) : checkpoint_step(); };
        const std::string prefix = (scratch.path / "model").string();
        own.set(3);
        save(own.session, prefix, step(3));
        own.set(4);
        syncs_until_one_fails = k;
        const std::string message = message_of([&] { save(own.session, prefix, step(4)); });
        const bool failed = syncs_until_one_fails.exchange(-1) < 0;
        CHECK(says(message, failed ? "cannot be synced" : "nothing was thrown"));
        // Before the state is written the old one counts, and after it the new one; either is whole.
        model other;
        REQUIRE(restore_latest(other.session, scratch.path.string()));
        const bool is_one_of_both = other.holds(3) || other.holds(4);
        CHECK(is_one_of_both);
        own.set(5);
        save(own.session, prefix, step(5));
        CHECK(restore_latest(other.session, scratch.path.string()));
        CHECK(other.holds(5));
        for (const std::string& name : files_in(scratch.path)) CHECK_FALSE(name.ends_with(".part"));
      }
}

TEST_CASE("folders that cannot be written to") {
  model own;
  saver save;
  CHECK(says(message_of<failed_precondition>([&] { save(own.session, "/proc/none/model"); }), "/proc/none"));
  const scratch_folder scratch("saver_folders");
  write_text(scratch.path / "file", "x");
  CHECK(says(message_of<failed_precondition>([&] { save(own.session, (scratch.path / "file" / "model").string()); }), "file"));
  CHECK(says(message_of<invalid_argument>([&] { save(own.session, (scratch.path / "").string()); }), "no name"));
  CHECK(says(message_of<invalid_argument>([&] { save(own.session, (scratch.path / "checkpoint").string()); }), "state file"));
  CHECK(files_in(scratch.path) == std::vector<std::string>{"file"});
}

TEST_CASE("in the background, what goes wrong is told by the next call") {
  const scratch_folder scratch("saver_background");
  const std::string prefix = (scratch.path / "model").string();
  model own;
  saver save({.in_background = true});
  save(own.session, prefix, 1);
  own.set(2);  // what is being saved is what was there
  save.wait();
  model other;
  restore_latest(other.session, scratch.path.string());
  CHECK(other.holds(1));
  syncs_until_one_fails = 0;
  save(own.session, prefix, 2);
  CHECK(says(message_of<failed_precondition>([&] { save.wait(); }), "cannot be synced"));
  save.wait();
  syncs_until_one_fails = 0;
  save(own.session, prefix, 3);
  CHECK(says(message_of<failed_precondition>([&] { save(own.session, prefix, 4); }), "cannot be synced"));
  save(own.session, prefix, 5);
  save.close();
  CHECK(latest_checkpoint(scratch.path.string()) == prefix + "-5");
  CHECK(says(message_of<failed_precondition>([&] { save(own.session, prefix, 6); }), "closed"));
}

TEST_CASE("files that are damaged, cut off, exchanged or gone are named") {
  for (const auto format : formats) {
    const scratch_folder scratch("saver_damaged");
    const std::string prefix = (scratch.path / "model").string();
    model own;
    saver save({.format = format});
    save(own.session, prefix, 1);
    own.set(2);
    save(own.session, prefix, 2);
    std::string data, index;
    for (const std::string& name : files_in(scratch.path)) {
      if (!name.starts_with("model-2")) continue;
      if (name.ends_with(".json") || name.ends_with(".index")) index = name;
      else if (!name.ends_with(".meta")) data = name;
    }
    const std::string whole_data = text_of(scratch.path / data), whole_index = text_of(scratch.path / index);
    const auto refused = [&](const std::string& file) {
      model other;
      other.set(5);
      const std::string message = message_of([&] { saver().restore(other.session, prefix + "-2"); });
      CHECK(other.holds(5));
      return says(message, file);
    };
    const auto refused_or_whole = [&](const std::string& file) {
      model other;
      const std::string message = message_of([&] { saver().restore(other.session, prefix + "-2"); });
      return other.holds(2) || says(message, file);
    };
    // every byte of the values, one at a time or so
    for (std::size_t at = 0; at < whole_data.size(); at += 97) {
      std::string bad = whole_data;
      bad[at] = static_cast<char>(bad[at] ^ 0x10);
      write_text(scratch.path / data, bad);
      CHECK(refused(data));
    }
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, whole_data.size() / 2, whole_data.size() - 1}) {
      write_text(scratch.path / data, whole_data.substr(0, size));
      CHECK(refused(data));
    }
    files::remove(scratch.path / data);
    CHECK(refused(data));
    write_text(scratch.path / data, whole_data);
    for (std::size_t at = 0; at < whole_index.size(); at += 3) {
      std::string bad = whole_index;
      bad[at] = static_cast<char>(bad[at] ^ 0x04);
      write_text(scratch.path / index, bad);
      // The bytes that fill the footer of a table mean nothing, and have no checksum.
      if (format == checkpoint_format::tensorflow && at + 48 > whole_index.size()) CHECK(refused_or_whole("model-2"));
      else CHECK(refused("model-2"));
      write_text(scratch.path / index, whole_index.substr(0, at));
      CHECK((at + 1 == whole_index.size() ? refused_or_whole("model-2") : refused("model-2")));  // a manifest's last character ends a line
    }
    write_text(scratch.path / index, whole_index);
    model other;
    saver().restore(other.session, prefix + "-2");
    CHECK(other.holds(2));
    // What the state names is gone: the one before is the newest that is left.
    files::remove(scratch.path / index);
    CHECK(latest_checkpoint(scratch.path.string()) == prefix + "-1");
    write_text(scratch.path / "checkpoint", "model_checkpoint_path: 7\n");
    CHECK(says(message_of<data_loss>([&] { latest_checkpoint(scratch.path.string()); }), "checkpoint: line 1"));
  }
}

TEST_CASE("a checkpoint of another model names what is missing, additional and misshapen, and what is near") {
  const scratch_folder scratch("saver_other");
  const std::string prefix = (scratch.path / "model").string();
  graph a;
  {
    const auto here = a.as_default();
    variable({1.0f, 2.0f}, "layer/kernel");
    variable({1.0f}, "layer/bias");
    variable(1.0f, "rate");
    variable(std::int64_t{5}, "steps");
  }
  graph_session from(a);
  for (const auto& [name, v] : saved_variables(a))
    from.assign(v, v.extent().rank == 0 ? tensor_value(1.0f)
                                        : tensor_value(v.extent(), std::vector<float>(static_cast<std::size_t>(v.extent()[0]), 3.0f)));
  saver(a).save(from, prefix);
  graph b;
  const auto here = b.as_default();
  const auto kernel = variable({1.0f, 2.0f, 3.0f}, "layer/kernel");
  const auto bias = variable({1.0f}, "layers/bias");
  variable(1, "steps");
  const auto rate = variable(0.5f, "rate");
  graph_session to(b);
  const std::string message = message_of<invalid_argument>([&] { saver().restore(to, prefix); });
  for (const char* part : {"not of this model", "lacks the variables 'layers/bias' (nearest: 'layer/bias')",
                           "'layer/kernel' is float32 [2] in the checkpoint, but the variable float32 [3]",
                           "'steps' is int64 [] in the checkpoint, but the variable int32 []", "it also has 'layer/bias'"})
    CHECK(says(message, part));
  CHECK(to.uninitialized_variables().size() == 4);
  const restore_report report = saver().restore(to, prefix, {.partly = true});
  CHECK(report.restored == std::vector<std::string>{"rate"});
  CHECK(report.missing == std::vector<std::string>{"layers/bias"});
  CHECK(report.additional == std::vector<std::string>{"layer/bias"});
  CHECK(report.misshapen == std::vector<std::string>{"layer/kernel", "steps"});
  CHECK(to.value(rate).as<float>() == 1.0f);
  CHECK_FALSE(to.is_initialized(kernel));
  CHECK(says(message_of<invalid_argument>([&] { saver({.var_list = {rate}}).restore(to, prefix, {.exact = true}); }), "it also has"));
  CHECK(saver({.var_list = {{"layer/bias", bias}}}).restore(to, prefix).restored.size() == 1);
  CHECK(to.value(bias).as<std::vector<float>>() == std::vector<float>{3.0f});
  CHECK(says(message_of<not_found>([&] { saver({.var_list = {"nones"}}).restore(to, prefix); }), "'nones'"));
  CHECK(says(message_of<not_found>([&] { checkpoint_reader(prefix).value("rat"); }), "nearest: 'rate'"));
}

TEST_CASE("mapped values are those of the file, until a run writes to them") {
  for (const auto format : formats) {
    const scratch_folder scratch("saver_mapped");
    const std::string prefix = (scratch.path / "model").string();
    graph g;
    const auto here = g.as_default();
    const auto w = variable(std::vector<float>(5'000), "w");
    const auto flag = variable(std::vector<bool>{true, false, true}, "flag");
    const auto bytes = variable(std::vector<std::uint8_t>{1, 2, 3}, "bytes");
    const auto d = variable(std::vector<double>{0.5}, "d");
    const auto more = assign_add(w, constant(std::vector<float>(5'000, 1.0f)));
    graph_session s(g);
    s.run(global_variables_initializer());
    saver save({.format = format});
    save(s, prefix);
    graph_session t(g);
    save.restore(t, prefix, {.mapped = true});
    files::remove_all(scratch.path);
    CHECK(t.value(w).as<std::vector<float>>() == std::vector<float>(5'000));
    t.run(more);
    CHECK(t.value(w).as<std::vector<float>>() == std::vector<float>(5'000, 1.0f));
    CHECK(t.run<std::vector<double>>(d) == std::vector<double>{0.5});
    CHECK(t.run<std::vector<std::uint8_t>>(bytes) == std::vector<std::uint8_t>{1, 2, 3});
    CHECK(t.value(flag).values<bool>()[2]);
  }
}
