#include <leat/checkpoint/saver.hpp>

#include <leat/graphs.hpp>

#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <atomic>
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
