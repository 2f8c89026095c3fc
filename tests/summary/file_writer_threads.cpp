#include <leat/summary.hpp>
#include <leat/summary/file_writer.hpp>

#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace leat;

TEST_CASE("several threads add to one writer while it flushes, closes and begins again") {
  const leat_test::scratch_folder folder("file_writer_threads");
  summary::file_writer log(folder.path, {.max_queue = 50, .flush_secs = 0.001});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&log, t] {
      const std::string tag = "thread/" + std::to_string(t);
      for (int i = 0; i < 2000; ++i) {
        try {
          log.add_scalar(tag, static_cast<float>(i), i);
        } catch (const failed_precondition&) {
          --i;  // closed just now
          log.reopen();
        }
      }
    });
  for (int i = 0; i < 20; ++i) {
    try {
      if (i % 5 == 4) log.close();
      else log.flush();
    } catch (const failed_precondition&) {
    }
    log.reopen();
  }
  for (auto& t : threads) t.join();
  log.close();
  const auto curves = summary::read_scalars(folder.path);
  REQUIRE(curves.size() == 4);
  for (const auto& [tag, points] : curves) CHECK(points.size() == 2000);
}
