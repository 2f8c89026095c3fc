#include <leat/core/sanitizer.hpp>

#include <doctest/doctest.h>

// There only where a sanitizer's library is linked.
extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
}

namespace {
#if defined(LEAT_ADDRESS_SANITIZER)
constexpr bool address = true;
#else
constexpr bool address = false;
#endif
#if defined(LEAT_THREAD_SANITIZER)
constexpr bool thread = true;
#else
constexpr bool thread = false;
#endif
}  // namespace

TEST_CASE("a sanitizer is said to be there where it is linked") {
  CHECK(address == (__asan_init != nullptr));
  CHECK(thread == (__tsan_init != nullptr));
}
