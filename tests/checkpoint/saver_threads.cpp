#include <leat/checkpoint/saver.hpp>

#include <leat/checkpoint/checkpoint_files.hpp>
#include <leat/graphs.hpp>

#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace leat;
using leat_test::scratch_folder;

TEST_CASE("one saver for several threads, while another restores") {
  const scratch_folder scratch("saver_threads");
  const std::string prefix = (scratch.path / "model").string();
  graph g;
  const auto here = g.as_default();
  const auto w = variable(std::vector<float>(1'000), "w");
  const auto n = variable(std::int64_t{0}, "n");
  for (const bool in_background : {false, true}) {
    saver save({.max_to_keep = 2, .in_background = in_background});
    std::atomic<int> running{2};
    std::vector<std::thread> threads;
    for (int k = 0; k < 2; ++k)
      threads.emplace_back([&, k] {
        graph_session s(g);
        for (int step = k; step < 40; step += 2) {
          s.assign(w, std::vector<float>(1'000, static_cast<float>(step)));
          s.assign(n, std::int64_t{step});
          save(s, prefix, step);
          CHECK(save.last_checkpoints().size() <= 2);
        }
        --running;
      });
    graph_session t(g);
    while (running > 0) {
      if (!restore_latest(t, scratch.path.string())) continue;
      const auto number = t.value(n).as<std::int64_t>();
      CHECK(t.value(w).as<std::vector<float>>() == std::vector<float>(1'000, static_cast<float>(number)));
    }
    for (auto& thread : threads) thread.join();
    save.close();
    CHECK(save.last_checkpoints().size() == 2);
  }
}

TEST_CASE("a manifest that another process takes away or puts back while it is looked at is no stranger's file") {
  const scratch_folder scratch("saver_come_and_go");
  const std::string prefix = (scratch.path / "model").string(), file = prefix + ".json", kept = (scratch.path / "kept").string();
  graph g;
  const auto here = g.as_default();
  const auto n = variable(std::int64_t{0}, "n");
  graph_session s(g);
  s.assign(n, std::int64_t{1});
  saver save({.max_to_keep = 1});
  save(s, prefix);
  std::filesystem::copy_file(file, kept);
  std::atomic<bool> ends{false};
  std::thread other([&] {
    std::error_code ignored;
    while (!ends) {
      std::filesystem::remove(file, ignored);
      std::filesystem::create_hard_link(kept, file, ignored);
    }
  });
  for (int k = 0; k < 20'000; ++k) REQUIRE_NOTHROW(leat::detail::check_place(prefix));
  ends = true;
  other.join();
  // a file of somebody else is refused, still
  std::filesystem::remove(file);
  std::ofstream(file) << "{}";
  CHECK_THROWS_AS(leat::detail::check_place(prefix), failed_precondition);
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  CHECK_THROWS_AS(leat::detail::check_place(prefix), failed_precondition);
}
