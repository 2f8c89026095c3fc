// Large blocks of freed tensors, which the next tensors of about the same size get.

#include <leat/core/sanitizer.hpp>
#include <leat/runtime/state/large_blocks.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace leat;
using detail::large_blocks;

namespace {
constexpr std::size_t unit = 4096;
}

TEST_CASE("a kept block serves a request of its size or of up to a fifth less, the smallest that fits first") {
  large_blocks blocks(100 * unit);
  const auto larger = blocks.make(12 * unit), smaller = blocks.make(10 * unit);
  blocks.give(larger);
  blocks.give(smaller);
  CHECK(blocks.bytes() == 22 * unit);
  CHECK(blocks.take(11 * unit).memory == larger.memory);
  CHECK(blocks.take(11 * unit).memory == nullptr);  // the other one is too small
  CHECK(blocks.take(7 * unit).memory == nullptr);   // and too large for this
  CHECK(blocks.take(8 * unit).memory == smaller.memory);
  CHECK(blocks.bytes() == 0);
  blocks.give(larger);
  blocks.give(smaller);
  CHECK(blocks.make(10 * unit).memory == smaller.memory);
  const auto other = blocks.make(9 * unit);
  CHECK(other.bytes == 9 * unit);  // a new one
  blocks.give(other);
  blocks.give(smaller);
  CHECK(blocks.bytes() == 31 * unit);
  blocks.free_all();
  CHECK(blocks.bytes() == 0);
}

TEST_CASE("blocks are kept up to a limit of bytes and of their number; those kept longest go first") {
  large_blocks blocks(10 * unit);
  blocks.give(blocks.make(11 * unit));
  CHECK(blocks.bytes() == 0);  // more than the limit
  const auto first = blocks.make(4 * unit), second = blocks.make(5 * unit), third = blocks.make(3 * unit);
  blocks.give(first);
  blocks.give(second);
  blocks.give(third);
  CHECK(blocks.bytes() == 8 * unit);
  CHECK(blocks.take(4 * unit).memory == second.memory);  // the first is gone
  blocks.give(second);

  large_blocks many(1000 * unit);
  std::vector<large_blocks::block> made;
  for (std::size_t k = 0; k < 20; ++k) made.push_back(many.make((k + 1) * unit));
  for (const auto& its : made) many.give(its);
  CHECK(many.bytes() == (5 + 20) * 16 / 2 * unit);
  const auto least = many.take(4 * unit);
  CHECK(least.bytes == 5 * unit);  // those of one to four units are gone
  many.give(least);
}

TEST_CASE("a tensor's memory serves the next one, and memory beyond the machine's is an error") {
  const std::int64_t elements = static_cast<std::int64_t>(large_blocks::least / sizeof(float)) + 5003;
  tensor_value first(dtype::float32, {elements});
  first.values<float>()[static_cast<std::size_t>(elements) - 1] = 2.5f;
  [[maybe_unused]] const std::byte* const place = first.data();
  tensor_value copy = first;
  first = {};
  CHECK(copy.values<float>()[static_cast<std::size_t>(elements) - 1] == 2.5f);
  copy = {};
  [[maybe_unused]] const std::size_t kept = large_blocks::all().bytes();
  const tensor_value next(dtype::float32, {elements - 1000});
#if !defined(LEAT_ADDRESS_SANITIZER)
  if (kept > 0) CHECK(next.data() == place);
#endif
  CHECK(reinterpret_cast<std::uintptr_t>(next.data()) % 64 == 0);
  CHECK_THROWS_AS(tensor_value(dtype::float32, {std::int64_t{1} << 58}), resource_exhausted);
}
