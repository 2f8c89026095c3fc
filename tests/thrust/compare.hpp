#pragma once
// The CPU's session as the measure for another device: the same expressions, the same feeds, results side by side.

#include "support/check.hpp"

#include <leat/thrust.hpp>

#include <tuple>

namespace leat_test {

using namespace leat;
using namespace leat::literals;

/// Fetches all expressions on the device and on the CPU and compares them; tolerance 0 means the same bits.
template <class Device, class... Es, class... Feeds>
void check_same(const char* what, double tolerance, const std::tuple<Es...>& expressions, const Feeds&... feeds) {
  std::apply(
      [&](const auto&... es) {
        session on_cpu{es...};
        auto on_device = session_on<Device>(es...);
        on_cpu.initialize();
        on_device.initialize();
        const auto expected = on_cpu.run(fetch(es...), feeds...);
        for (int run = 0; run < 3; ++run) {  // a GPU records the second run, and repeats it
          CAPTURE(run);
          const auto got = on_device.run(fetch(es...), feeds...);
          int place = 0;
          const auto check = [&](const auto& a, const auto& b) {
            check_close(what + (" " + std::to_string(place++)), a, b, tolerance);
          };
          [&]<std::size_t... I>(std::index_sequence<I...>) { (check(std::get<I>(got), std::get<I>(expected)), ...); }
          (std::index_sequence_for<Es...>{});
        }
      },
      expressions);
}

}  // namespace leat_test
