#include <leat/checkpoint/saver.hpp>
#include <leat/graphs.hpp>

#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using leat_test::scratch_folder;

TEST_CASE("a graph session is saved and restored") {
  const scratch_folder scratch("saver");
  const std::string prefix = (scratch.path / "deep" / "model").string();
  graph g;
  const auto here = g.as_default();
  const auto a = variable({1.0f, 2.0f}, "a");
  const auto b = variable(std::int64_t{7}, "b");
  graph_session s(g);
  saver save;
  CHECK(says(message_of<failed_precondition>([&] { save(s, prefix, 1); }), "'a', 'b'"));
  s.run(global_variables_initializer());
  CHECK(save(s, prefix, 3) == prefix + "-3");
  s.assign(a, std::vector<float>{8, 9});
  s.assign(b, std::int64_t{1});
  CHECK(save(s, prefix, b) == prefix + "-1");
  graph_session other(g);
  const auto report = save.restore(other, prefix + "-3");
  CHECK(report.restored == std::vector<std::string>{"a", "b"});
  CHECK(other.value(a).as<std::vector<float>>() == std::vector<float>{1, 2});
  CHECK(other.value(b).as<std::int64_t>() == 7);
  CHECK(restore_latest(other, (scratch.path / "deep").string()) == prefix + "-1");
  CHECK(other.value(a).as<std::vector<float>>() == std::vector<float>{8, 9});
}
