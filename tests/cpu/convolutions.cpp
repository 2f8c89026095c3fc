// Convolutions and pools of the CPU against plain loops, on many random geometries: strides, dilations, groups, volumes, paddings of any
// size, empty arrays, each dtype; and the same bytes with any number of threads.

#include <leat/cpu/images.hpp>

#include <doctest/doctest.h>

#include <leat/core/philox.hpp>
#include <leat/core/text.hpp>
#include <leat/cpu/pools.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

using namespace leat;

namespace {

// Random whole numbers, the same in every run.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : seed_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(uniform<double>(seed_, next_++) * static_cast<double>(n)); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  template <class T>
  std::vector<T> array(std::int64_t n) {
    std::vector<T> made(static_cast<std::size_t>(n));
    for (T& v : made) v = static_cast<T>(between(-8, 8));  // sums of such numbers are exact
    return made;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

window_axis random_axis(numbers& n, std::int64_t most) {
  window_axis a{.size = n.between(1, most), .window = n.between(1, 4), .stride = n.between(1, 3), .dilation = n.between(1, 3)};
  const auto how = static_cast<leat::detail::window_padding>(n.below(3));
  const std::int64_t listed[2]{n.between(0, 5), n.between(0, 5)};
  if (!leat::detail::place_windows(a, how, listed)) {
    a.dilation = 1;
    a.window = std::min(a.window, a.size);
    leat::detail::place_windows(a, how, listed);
  }
  return a;
}
convolution random_convolution(numbers& n) {
  convolution c;
  c.in.batch = n.between(0, 3);
  c.in.h = random_axis(n, 9);
  c.in.w = random_axis(n, 9);
  if (n.below(3) == 0) c.in.d = random_axis(n, 5);
  c.groups = n.below(3) == 0 ? n.between(1, 3) : 1;
  c.in.channels = c.groups * n.between(1, n.below(2) == 0 ? 3 : 20);
  c.filters = c.groups * n.between(1, n.below(4) == 0 ? 70 : 9);
  return c;
}
std::string text_of(const convolution& c) {
  std::string text = "batch " + std::to_string(c.in.batch) + " channels " + std::to_string(c.in.channels) + " filters " + std::to_string(c.filters) +
                     " groups " + std::to_string(c.groups);
  for (const window_axis* a : {&c.in.d, &c.in.h, &c.in.w})
    text += " [size " + std::to_string(a->size) + " window " + std::to_string(a->window) + " stride " + std::to_string(a->stride) + " dilation " +
            std::to_string(a->dilation) + " before " + std::to_string(a->before) + " count " + std::to_string(a->count) + "]";
  return text;
}

// Calls f(image's element, filter's element, result's element) for each product of a convolution.
template <class F>
void for_each_product(const convolution& c, F f) {
  const image_windows& in = c.in;
  const std::int64_t depth = c.channels_of_group(), width = c.filters_of_group();
  for (std::int64_t b = 0; b < in.batch; ++b)
    for (std::int64_t at = 0; at < in.positions(); ++at)
      for (std::int64_t e = 0; e < in.window_elements(); ++e) {
        const std::int64_t z = in.d.begin(at / in.w.count / in.h.count) + e / in.w.window / in.h.window * in.d.dilation;
        const std::int64_t y = in.h.begin(at / in.w.count % in.h.count) + e / in.w.window % in.h.window * in.h.dilation;
        const std::int64_t x = in.w.begin(at % in.w.count) + e % in.w.window * in.w.dilation;
        if (!in.d.is_inside(z) || !in.h.is_inside(y) || !in.w.is_inside(x)) continue;
        for (std::int64_t k = 0; k < c.filters; ++k)
          for (std::int64_t g = 0; g < depth; ++g)
            f((((b * in.d.size + z) * in.h.size + y) * in.w.size + x) * in.channels + k / width * depth + g, (e * depth + g) * c.filters + k,
              (b * in.positions() + at) * c.filters + k);
      }
}

template <class T>
void check(const convolution& c, numbers& n) {
  const std::int64_t image_elements = c.in.batch * c.in.image_elements(), filter_elements = c.depth() * c.filters;
  const std::int64_t results = c.in.batch * c.in.positions() * c.filters;
  const auto images = n.array<T>(image_elements), filters = n.array<T>(filter_elements), dy = n.array<T>(results);
  std::vector<T> out(dy.size()), to_images(images.size()), to_filters(filters.size());
  for_each_product(c, [&](std::int64_t i, std::int64_t f, std::int64_t r) {
    const auto image = static_cast<std::size_t>(i), filter = static_cast<std::size_t>(f), result = static_cast<std::size_t>(r);
    out[result] += images[image] * filters[filter];
    to_images[image] += dy[result] * filters[filter];
    to_filters[filter] += images[image] * dy[result];
  });
  std::vector<T> got(out.size(), T(77));
  cpu::convolve(c, images.data(), filters.data(), got.data());
  CHECK(got == out);
  got.assign(images.size(), T(77));
  cpu::convolve_back_to_images(c, filters.data(), dy.data(), got.data());
  CHECK(got == to_images);
  got.assign(filters.size(), T(77));
  cpu::convolve_back_to_filters(c, images.data(), dy.data(), got.data());
  CHECK(got == to_filters);
}

}  // namespace

TEST_CASE("convolutions and their gradients, of random geometries") {
  numbers n(1);
  for (int trial = 0; trial < 400; ++trial) {
    const convolution c = random_convolution(n);
    INFO(text_of(c));
    if (trial % 4 == 0) check<double>(c, n);
    else if (trial % 4 == 1) check<std::int32_t>(c, n);
    else check<float>(c, n);
  }
}

TEST_CASE("depthwise convolutions and their gradients, of rows and channels of any length") {
  numbers n(3);
  for (int trial = 0; trial < 300; ++trial) {
    convolution c;
    c.in.batch = n.between(1, 2);
    c.in.h = random_axis(n, 6);
    c.in.w = random_axis(n, n.below(2) == 0 ? 40 : 9);
    c.groups = c.in.channels = c.filters = n.between(2, n.below(3) == 0 ? 150 : 40);
    if (n.below(6) == 0) c.filters *= 2;
    INFO(text_of(c));
    if (trial % 3 == 0) check<double>(c, n);
    else check<float>(c, n);
  }
}

TEST_CASE("convolutions give the same bytes with any number of threads") {
  numbers n(2);
  for (int trial = 0; trial < 20; ++trial) {
    convolution c = random_convolution(n);
    c.in.batch = 5;
    c.in.channels = c.groups * 16;
    INFO(text_of(c));
    const auto irregular = [&](std::int64_t count) {
      std::vector<float> made(static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < made.size(); ++i) made[i] = uniform<float>(static_cast<std::uint64_t>(trial), i) - 0.5f;
      return made;
    };
    const auto images = irregular(c.in.batch * c.in.image_elements()), filters = irregular(c.depth() * c.filters);
    const auto dy = irregular(c.in.batch * c.in.positions() * c.filters);
    const auto run = [&] {
      std::vector<float> all(dy.size() + images.size() + filters.size());
      cpu::convolve(c, images.data(), filters.data(), all.data());
      cpu::convolve_back_to_images(c, filters.data(), dy.data(), all.data() + dy.size());
      cpu::convolve_back_to_filters(c, images.data(), dy.data(), all.data() + dy.size() + images.size());
      return all;
    };
    const auto on_many = run();
    const cpu::scoped_thread_limit limit(1);
    CHECK(run() == on_many);
  }
}

namespace {

// Calls f(place in the images) for the elements of the window at `at`, channel k of image b, in order.
template <class F>
void for_each_of_window(const image_windows& in, std::int64_t b, std::int64_t at, std::int64_t k, F f) {
  for (std::int64_t e = 0; e < in.window_elements(); ++e) {
    const std::int64_t z = in.d.begin(at / in.w.count / in.h.count) + e / in.w.window / in.h.window;
    const std::int64_t y = in.h.begin(at / in.w.count % in.h.count) + e / in.w.window % in.h.window;
    const std::int64_t x = in.w.begin(at % in.w.count) + e % in.w.window;
    if (!in.d.is_inside(z) || !in.h.is_inside(y) || !in.w.is_inside(x)) continue;
    f(static_cast<std::size_t>((((b * in.d.size + z) * in.h.size + y) * in.w.size + x) * in.channels + k));
  }
}
// Windows of pools: of any padding, also such that a window is outside the image; often tiles, and of the sizes that have loops of their own.
image_windows random_pool(numbers& n) {
  image_windows in = random_convolution(n).in;
  const std::int64_t widths[]{1, 7, 16, 20, 32, 64, 70, 130};
  in.channels = widths[n.below(8)];
  const std::int64_t size = n.between(1, 4);
  for (window_axis* a : {&in.d, &in.h, &in.w}) {
    a->dilation = 1;
    if (n.below(2) == 0) a->window = a == &in.d ? 1 : size;
    if (n.below(3) == 0) a->stride = a->window;
    const auto how = static_cast<leat::detail::window_padding>(n.below(3));
    const std::int64_t listed[2]{n.between(0, 5), n.between(0, 5)};
    if (!leat::detail::place_windows(*a, how, listed)) leat::detail::place_windows(*a, leat::detail::window_padding::same, listed);
  }
  return in;
}
std::string text_of(const image_windows& in) { return text_of(convolution{.in = in, .filters = 1}); }

template <class T>
void check_pools(const image_windows& in, numbers& n, bool with_nan) {
  auto images = n.array<T>(in.batch * in.image_elements());
  if constexpr (std::is_floating_point_v<T>)
    if (!images.empty() && with_nan) images[static_cast<std::size_t>(n.below(static_cast<std::int64_t>(images.size())))] = T(NAN);
  const auto dy = n.array<T>(in.batch * in.positions() * in.channels);
  std::vector<T> largest(dy.size()), mean(dy.size()), to_largest(images.size()), to_all(images.size());
  for (std::int64_t b = 0; b < in.batch; ++b)
    for (std::int64_t at = 0; at < in.positions(); ++at)
      for (std::int64_t k = 0; k < in.channels; ++k) {
        const auto result = static_cast<std::size_t>((b * in.positions() + at) * in.channels + k);
        std::size_t best = images.size(), count = 0;
        T sum = 0;
        for_each_of_window(in, b, at, k, [&](std::size_t place) {
          if (best == images.size() || images[best] < images[place]) best = place;
          sum = static_cast<T>(sum + images[place]);
          ++count;
        });
        largest[result] = count == 0 ? std::numeric_limits<T>::lowest() : images[best];
        if (count > 0) to_largest[best] += dy[result];
        if constexpr (std::is_floating_point_v<T>) {
          mean[result] = count == 0 ? T(7) : sum / static_cast<T>(count);
          const T part = T(1) / static_cast<T>(count) * dy[result];
          for_each_of_window(in, b, at, k, [&](std::size_t place) { to_all[place] += part; });
        }
      }
  const auto is_same = [](T x, T y) {
    if constexpr (std::is_floating_point_v<T>) return (std::isnan(x) && std::isnan(y)) || x == y || std::abs(x - y) <= T(1e-5) * std::abs(y);
    else return x == y;
  };
  const auto are_same = [&](const std::vector<T>& x, const std::vector<T>& y) { return std::equal(x.begin(), x.end(), y.begin(), y.end(), is_same); };
  std::vector<T> got(dy.size(), T(7)), got_images(images.size(), T(7));
  cpu::max_pool(in, images.data(), got.data());
  CHECK(are_same(got, largest));
  cpu::max_pool_back(in, images.data(), dy.data(), got_images.data());
  CHECK(got_images == to_largest);
  if constexpr (std::is_floating_point_v<T>) {
    got.assign(got.size(), T(7));
    got_images.assign(got_images.size(), T(7));
    cpu::average_pool(in, images.data(), got.data());
    for (std::size_t k = 0; k < mean.size(); ++k)
      if (mean[k] == T(7)) got[k] = T(7);  // a window outside the image has no mean
    CHECK(are_same(got, mean));
    cpu::average_pool_back(in, dy.data(), got_images.data());
    CHECK(are_same(got_images, to_all));
  }
}

}  // namespace

TEST_CASE("pools, and their gradients, of random geometries: the first of the largest elements counts, also where the first is a NaN") {
  numbers n(3);
  for (int trial = 0; trial < 600; ++trial) {
    const image_windows in = random_pool(n);
    INFO(text_of(in));
    if (trial % 4 == 0) check_pools<double>(in, n, trial % 3 == 0);
    else if (trial % 4 == 1) check_pools<std::int32_t>(in, n, false);
    else check_pools<float>(in, n, trial % 3 == 0);
  }
}

TEST_CASE("padding that no memory holds is an error, and what lies inside the image needs none") {
  convolution c{.in = {.batch = 1, .channels = 1}, .filters = 1};
  const std::int64_t far[2]{std::int64_t{1} << 43, 0};
  c.in.w = {.size = 1, .window = 1, .stride = std::int64_t{1} << 42};
  REQUIRE(leat::detail::place_windows(c.in.w, leat::detail::window_padding::listed, far));
  REQUIRE(c.in.w.count == 3);
  const std::vector<float> one{1.0f}, three(3, 1.0f);
  std::vector<float> out(3), image(1);
  CHECK_THROWS_AS(cpu::convolve(c, one.data(), one.data(), out.data()), resource_exhausted);
  CHECK_THROWS_AS(cpu::convolve_back_to_filters(c, one.data(), three.data(), image.data()), resource_exhausted);
  CHECK_THROWS_AS(cpu::convolve_back_to_images(c, one.data(), three.data(), image.data()), resource_exhausted);
}
