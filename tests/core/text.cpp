#include <leat/core/text.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <limits>
#include <string>
#include <type_traits>

using namespace leat;

namespace {
constexpr fixed_string scope("layer");
}

static_assert((scope / "kernel").view() == "layer/kernel");
static_assert((fixed_string("a") / fixed_string("b") / "c").view() == "a/b/c");
static_assert((fixed_string("") / "x").view() == "/x");
static_assert(name_of<"weights">::view() == "weights");
static_assert(name_of<"">::view().empty());
static_assert(std::is_same_v<name_of<"ab">, name<'a', 'b'>>);
static_assert(hash_text("a") != hash_text("b") && hash_text("") != hash_text("a"));
static_assert(mix(1, 2) != mix(2, 1));

TEST_CASE("messages hold text and numbers") {
  message m;
  m << "n = " << -12 << ", " << 0 << ", " << 9000000000ll;
  CHECK(m.view() == "n = -12, 0, 9000000000");
  message least;
  least << std::numeric_limits<long long>::min();
  CHECK(least.view() == "-9223372036854775808");
}

TEST_CASE("what does not fit a message is cut") {
  message m;
  for (int i = 0; i < 1000; ++i) m << "0123456789";
  CHECK(m.size == message::capacity - 1);
  CHECK(std::string(m.view()).substr(0, 12) == "012345678901");
}
