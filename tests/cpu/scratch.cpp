#include <leat/cpu/scratch.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using namespace leat;

TEST_CASE("a thread's next piece of work gets the memory of the last") {
  const void* before = nullptr;
  {
    const cpu::scratch<float> first(1000);
    before = first.get();
    CHECK(reinterpret_cast<std::uintptr_t>(first.get()) % 64 == 0);
  }
  const cpu::scratch<double> second(100);
  CHECK(static_cast<const void*>(second.get()) == before);
}

TEST_CASE("pieces of work within one another have memory of their own") {
  const cpu::scratch<int> outer(100);
  for (int i = 0; i < 100; ++i) outer.get()[i] = i;
  {
    const cpu::scratch<int> inner(200), innermost(0);
    for (int i = 0; i < 200; ++i) inner.get()[i] = -1;
    CHECK(innermost.get() != outer.get());
  }
  const cpu::scratch<int> next(50);
  for (int i = 0; i < 50; ++i) next.get()[i] = -2;
  int wrong = 0;
  for (int i = 0; i < 100; ++i) wrong += outer.get()[i] != i ? 1 : 0;
  CHECK(wrong == 0);
}

TEST_CASE("a large block is given back, smaller ones are kept") {
  const auto kept = [] { return cpu::detail::free_blocks().size(); };
  { const cpu::scratch<char> small(1 << 20); }
  const std::size_t some = kept();
  CHECK(some >= 1);
  { const cpu::scratch<char> large((1 << 24) + 1); }
  CHECK(kept() == some - 1);  // the block that it grew from is gone with it
  { const cpu::scratch<char> limit(1 << 24); }
  CHECK(kept() == (some == 1 ? 1 : some - 1));
}
