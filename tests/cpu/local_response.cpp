// Normalization over neighboring channels in batches against the kernel for any device, item by item: numbers of pixels and channels,
// windows and powers of any size, and elements whose squares are 0 or overflow.

#include <leat/cpu/local_response.hpp>

#include <doctest/doctest.h>

#include <leat/core/philox.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace leat;

namespace {

template <class T>
struct local_response_case {
  kernels::channel_window w;
  std::vector<T> x, y, dy, slopes;

  local_response_case(std::uint64_t seed, const kernels::channel_window& window)
      : w(window), x(static_cast<std::size_t>(w.rows * w.channels)), y(x.size()), dy(x.size()), slopes(x.size(), T(77)) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] = 4 * uniform<T>(seed, 2 * k) - 2;
      dy[k] = 2 * uniform<T>(seed, 2 * k + 1) - 1;
    }
  }
  void run() {
    cpu::loops_of<kernels::local_response_kernel<T>>::run({x.data(), y.data(), w});
    cpu::loops_of<kernels::local_response_grad_kernel<T>>::run({dy.data(), x.data(), y.data(), slopes.data(), w});
  }
  void check() {
    run();
    std::vector<T> wanted(y.size());
    const kernels::local_response_kernel<T> forward(x.data(), wanted.data(), w);
    for (std::int64_t k = 0; k < forward.items(); ++k) forward(k);
    compare(y, wanted);
    const kernels::local_response_grad_kernel<T> back(dy.data(), x.data(), y.data(), wanted.data(), w);
    for (std::int64_t k = 0; k < back.items(); ++k) back(k);
    compare(slopes, wanted);
  }

 private:
  static void compare(const std::vector<T>& got, const std::vector<T>& wanted) {
    const T unit = std::numeric_limits<T>::epsilon();
    for (std::size_t k = 0; k < got.size(); ++k) {
      CAPTURE(k);
      CAPTURE(got[k]);
      CAPTURE(wanted[k]);
      const bool same = got[k] == wanted[k] || (std::isnan(got[k]) && std::isnan(wanted[k]));
      if (!same) REQUIRE(std::abs(got[k] - wanted[k]) <= 64 * unit * (1 + std::abs(wanted[k])));
    }
  }
};
template <class T>
void check_local_responses() {
  std::uint64_t seed = 0;
  for (const std::int64_t channels : {1, 3, 7, 16, 31, 32, 64, 100, 600})
    for (const std::int64_t radius : {0, 1, 2, 5, 40})
      for (const double beta : {0.75, 0.5}) {
        CAPTURE(channels);
        CAPTURE(radius);
        CAPTURE(beta);
        const std::int64_t rows = channels > 99 ? 3 : 1 + static_cast<std::int64_t>(seed % 70);
        local_response_case<T>(seed++, {std::min(radius, channels), channels, rows, 1, 0.3, beta}).check();
      }
}

}  // namespace

TEST_CASE("normalization over neighboring channels in batches") {
  check_local_responses<float>();
  check_local_responses<double>();
}

TEST_CASE("normalization over neighboring channels, of zeros and of squares that overflow") {
  const auto check = []<class T>(T big) {
    local_response_case<T> some(1, {2, 40, 9, 0, 0.5, 0.75});
    for (std::size_t k = 0; k < some.x.size(); ++k)
      if (k % 40 > 20) some.x[k] = k % 40 > 30 ? big : T(0);
    some.check();
  };
  check(1e30f);
  check(1e200);
  check(std::numeric_limits<float>::infinity());
  check(1e-18f);
}
