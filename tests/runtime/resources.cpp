#include <leat/runtime/state/resources.hpp>

#include "support/check.hpp"

#include <memory>
#include <string>

using namespace leat;

TEST_CASE("a resource that cannot be made leaves nothing in its table") {
  resource_table table;
  const auto variable = [] { return std::make_shared<variable_slot>("v", dtype::float32, shape{}); };
  const auto fails = []() -> std::shared_ptr<variable_slot> { throw invalid_argument("no memory of that size"); };
  CHECK_THROWS_AS(table.find_or_make<variable_slot>("", "v", fails), invalid_argument);
  CHECK(table.find("", "v") == nullptr);
  int seen = 0;
  table.for_each([&](const auto&, const auto&, const resource&) { ++seen; });
  CHECK(seen == 0);
  const auto made = table.find_or_make<variable_slot>("", "v", variable);
  CHECK(table.find("", "v") == made);

  // The same of one that takes the place of an emptied variable, which remains emptied.
  CHECK(table.replace_cleared<variable_slot>("", "v", variable) == nullptr);
  table.clear();
  CHECK_THROWS_AS(table.replace_cleared<variable_slot>("", "v", fails), invalid_argument);
  CHECK(table.find("", "v") == made);
  const auto other = table.replace_cleared<variable_slot>("", "v", variable);
  REQUIRE(other != nullptr);
  CHECK(other != made);
  CHECK(table.find("", "v") == other);
  CHECK(table.replace_cleared<variable_slot>("", "v", variable) == nullptr);
}
