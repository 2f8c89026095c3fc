// Resizing of images in batches of channels against the kernel for any device, pixel by pixel, bit by bit.

#include <leat/cpu/resize.hpp>

#include <doctest/doctest.h>

#include <leat/core/philox.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

using namespace leat;

TEST_CASE("images resized between pixels, in batches of channels") {
  std::uint64_t seed = 0;
  const auto size = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(uniform<double>(7, seed++) * static_cast<double>(most));
  };
  for (int trial = 0; trial < 200; ++trial) {
    const bool aligned = trial % 3 == 0, centered = trial % 3 == 1;
    const kernels::resized_images r(aligned, centered, size(2), size(9), size(9), size(trial % 2 == 0 ? 5 : 80), size(20), size(20));
    std::vector<float> in(static_cast<std::size_t>(r.batch * r.of_image()));
    for (float& v : in) v = uniform<float>(8, seed++) - 0.5f;
    if (trial % 5 == 0) in[0] = std::numeric_limits<float>::infinity();
    std::vector<float> got(static_cast<std::size_t>(r.pixels() * r.channels), 77.0f), wanted(got.size());
    cpu::loops_of<kernels::resize_bilinear_kernel<float>>::run({in.data(), got.data(), r});
    const kernels::resize_bilinear_kernel<float> each(in.data(), wanted.data(), r);
    for (std::int64_t k = 0; k < each.items(); ++k) each(k);
    CAPTURE(trial);
    for (std::size_t k = 0; k < got.size(); ++k)
      if (!(got[k] != got[k] && wanted[k] != wanted[k])) REQUIRE(std::memcmp(&got[k], &wanted[k], sizeof(float)) == 0);
  }
}
