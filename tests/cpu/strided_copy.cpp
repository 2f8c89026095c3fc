// Copies of strided arrays against plain loops: any order of axes, repeated, reversed and skipped elements, each size of element, squares
// that do not fit; and the same with any number of threads.

#include <leat/cpu/strided_copy.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace leat;

namespace {

struct strided_array {
  std::vector<std::int64_t> sizes, strides;
  std::int64_t first = 0, elements = 1;  // the element at position 0, and how many the source has

  std::string text() const {
    std::string made;
    for (std::size_t a = 0; a < sizes.size(); ++a) made += " " + std::to_string(sizes[a]) + " by " + std::to_string(strides[a]);
    return made;
  }
};

strided_array random_strides(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  strided_array made;
  const auto rank = static_cast<std::size_t>(below(7));
  made.sizes.assign(rank, 1);
  made.strides.assign(rank, 0);
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  const int most = rank < 3 ? 70 : rank < 5 ? 9 : 5;
  std::int64_t step = 1, back = 0, forth = 0;
  for (const std::size_t a : order) {
    const int kind = below(40);
    const std::int64_t size = kind == 0 ? 0 : kind < 6 ? 1 : 1 + below(most);
    std::int64_t stride = step;
    const int way = below(10);
    if (way == 0) stride = 0;
    if (way == 1) stride = 2 * step;
    if (way != 0 && size > 0) step = stride * size;
    if (below(10) == 0) stride = -stride;
    made.sizes[a] = size;
    made.strides[a] = stride;
    if (size > 0) (stride < 0 ? back : forth) += (size - 1) * stride;
  }
  made.first = -back;
  made.elements = forth - back + 1;
  return made;
}

template <class T>
void copy_plainly(const strided_array& of, std::size_t axis, const T* from, T*& to) {
  if (axis == of.sizes.size()) {
    *to++ = *from;
    return;
  }
  for (std::int64_t i = 0; i < of.sizes[axis]; ++i) copy_plainly(of, axis + 1, from + i * of.strides[axis], to);
}

template <class T>
void check_copies(unsigned seed, int trials) {
  std::mt19937 random(seed);
  for (int trial = 0; trial < trials; ++trial) {
    const strided_array of = random_strides(random);
    INFO(of.text());
    std::vector<T> from(static_cast<std::size_t>(of.elements));
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i * 2654435761u >> 3);
    std::int64_t count = 1;
    for (const std::int64_t n : of.sizes) count *= n;
    // One element behind the result stays as it is.
    std::vector<T> wanted(static_cast<std::size_t>(count) + 1, T(7)), got = wanted;
    T* to = wanted.data();
    copy_plainly(of, 0, from.data() + of.first, to);
    cpu::copy_strided(got.data(), from.data() + of.first, of.sizes.data(), of.strides.data(), of.sizes.size());
    REQUIRE(got == wanted);
  }
}

}  // namespace

TEST_CASE("copies of random strided arrays") {
  check_copies<std::uint32_t>(1, 1500);
  check_copies<float>(2, 500);
  check_copies<std::uint64_t>(3, 1000);
  check_copies<std::uint8_t>(4, 1000);
  check_copies<std::uint16_t>(5, 300);
}

TEST_CASE("more axes than are walked at once, and large arrays on several threads") {
  const std::vector<std::int64_t> sizes(20, 2);
  std::vector<std::int64_t> strides;
  for (int a = 0; a < 20; ++a) strides.push_back(std::int64_t{1} << (a * 7 % 20));
  std::vector<std::uint32_t> from(std::size_t{1} << 20), wanted(from.size()), got(from.size());
  std::iota(from.begin(), from.end(), 0u);
  std::uint32_t* to = wanted.data();
  copy_plainly(strided_array{sizes, strides}, 0, from.data(), to);
  cpu::copy_strided(got.data(), from.data(), sizes.data(), strides.data(), sizes.size());
  CHECK(got == wanted);

  const strided_array images{{3, 48, 100, 57}, {100 * 57 * 48, 1, 57 * 48, 48}};
  const auto elements = static_cast<std::size_t>(3 * 48 * 100 * 57);
  wanted.assign(elements, 0);
  to = wanted.data();
  copy_plainly(images, 0, from.data(), to);
  const auto copy = [&] {
    got.assign(elements, 0);
    cpu::copy_strided(got.data(), from.data(), images.sizes.data(), images.strides.data(), images.sizes.size());
    return got;
  };
  CHECK(copy() == wanted);
  const cpu::scoped_thread_limit limit(1);
  CHECK(copy() == wanted);
}
