// A supervisor's own threads beside the program's.

#include <leat/graphs.hpp>
#include <leat/supervise.hpp>

#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

using namespace leat;

TEST_CASE("what is saved last is the latest, whoever saves") {
  const leat_test::scratch_folder folder("supervisor");
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    const std::string logdir = (folder.path / std::to_string(i)).string();
    graph g;
    const auto scope = g.as_default();
    const output w = variable(4.0f, "w");
    const output steps = get_or_create_global_step();
    const graph_operation train = gradient_descent(0.25f).minimize(square(subtract(w, 1.0f)), {.global_step = steps});
    supervisor sv({.logdir = logdir, .summary = {}, .global_step = steps, .save_model_secs = 0.001, .stop_on_signals = false});
    std::string last;
    {
      auto s = sv.managed_session();
      for (int k = 0; k < 20; ++k) s.run(train);
      last = sv.save_model();
      CHECK(latest_checkpoint(logdir).str() == last);
      sv.stop();
    }
    CHECK(std::filesystem::path(last).filename() == "model.ckpt-20");
    CHECK(latest_checkpoint(logdir).str() == last);
  }
}
