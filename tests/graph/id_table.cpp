#include <leat/graph/id_table.hpp>

#include <leat/core/text.hpp>

#include <doctest/doctest.h>

using namespace leat;

namespace {
constexpr bool works(int count) {
  id_table t;
  if (t.find(5) != -1) return false;
  for (int i = 0; i < count; ++i) t.insert(mix(static_cast<std::uint64_t>(i), 3), i);
  for (int i = 0; i < count; ++i)
    if (t.find(mix(static_cast<std::uint64_t>(i), 3)) != i) return false;
  return t.find(mix(static_cast<std::uint64_t>(count), 3)) == -1;
}
static_assert(works(1) && works(200));
}  // namespace

TEST_CASE("what was put in is found, through all doublings") {
  CHECK(works(20000));
}

TEST_CASE("keys that fall on one place are told apart") {
  id_table t;
  for (int i = 0; i < 30; ++i) t.insert(static_cast<std::uint64_t>(i) << 32, i);
  for (int i = 0; i < 30; ++i) CHECK(t.find(static_cast<std::uint64_t>(i) << 32) == i);
  CHECK(t.find(1) == -1);
}
