#include <leat/runtime/kernels/roster.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace leat;
using namespace leat_test;
using leat::runtime::replica_roster;

TEST_CASE("a new roster hears who had left an earlier one, and accumulators take its state for the newer one") {
  replica_roster before(3, 3);
  for (const char* who : {"a", "b", "c"}) before.join(who, 0);
  const auto left = before.leave("c");
  CHECK(left.awaited == 2);
  const std::string told = before.left();

  replica_roster after(3, 3);
  after.join("a", 5);
  CHECK(after.now().awaited == 3);
  const auto restored = after.restore(left.version, told);
  CHECK(restored.awaited == 2);
  CHECK(restored.required == 2);
  CHECK(restored.version > left.version);
  CHECK(says(after.news(0), "c had ended before the server was started anew: 2 of 3 replicas remain"));
  // It may come back.
  CHECK(after.join("c", 5).awaited == 3);
  CHECK(says(after.news(0), "c has come back: 3 of 3 replicas remain"));
}

TEST_CASE("a roster that is told of itself, of those who are there, or of nonsense stays as it is") {
  replica_roster r(2, 2);
  r.join("a", 0);
  r.join("b", 0);
  r.leave("b");
  const auto now = r.now();
  CHECK(r.restore(now.version, r.left()).version == now.version);
  r.join("b", 1);
  CHECK(r.restore(now.version, "another\nb\n").awaited == 2);
  for (const char* text : {"", "\n", "another", "another\n", "another\n\n\n"}) {
    INFO(text);
    CHECK(r.restore(0, text).awaited == 2);
  }
  // Somebody is awaited, whatever is told.
  replica_roster fresh(2, 2);
  CHECK(fresh.restore(1, "another\nx\ny\nz").awaited == 1);
  CHECK(fresh.now().required == 1);
  for (const std::int64_t version : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()})
    CHECK_THROWS_AS(static_cast<void>(r.restore(version, "another\nb")), invalid_argument);
}
