#include <leat/checkpoint.hpp>
#include <leat/checkpoint/typed_session_access.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>

#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using leat_test::scratch_folder;

TEST_CASE("typed sessions, compiled and planned, are saved and restored") {
  const scratch_folder scratch("typed_saver");
  const std::string prefix = (scratch.path / "model").string();
  const auto w = variable<"w", float, 2, 2>(1.5f);
  const auto n = variable<"n", std::int64_t>(4);
  const auto y = w * 2.0f;
  session s{y, n};
  saver save({.max_to_keep = 1});
  CHECK(says(message_of<failed_precondition>([&] { save(s, prefix, 1); }), "'w', 'n'"));
  s.initialize();
  CHECK(save(s, prefix, n) == prefix + "-4");
  planned_session other{y, n};
  CHECK(save.restore(other, prefix + "-4").restored.size() == 2);
  CHECK(other.value(w)(1, 1) == 1.5f);
  CHECK(other.value(n) == 4);
  CHECK(save(other, prefix, 5) == prefix + "-5");
  CHECK_FALSE(checkpoint_exists(prefix + "-4"));
}
