// Models of full size on the CPU and on each of Thrust's systems for the host, with the time of a training step: the
// least of many, devices taking turns. `test_thrust --source-file=*/thrust/timing.cpp` prints it.

#include "compare.hpp"
#include "systems.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

using namespace leat_test;

namespace {

template <class Device, class... Es>
auto make_session(const Es&... es) {
  auto made = std::make_unique<basic_session<Device, Es...>>(es...);
  made->initialize();
  return made;
}

double seconds(auto& step, int repeats) {
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < repeats; ++k) static_cast<void>(step());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeats;
}

/// Trains one model on all devices, which take turns.
template <class... Devices, class Loss, class Train, class... Feeds>
void time_steps(std::string_view model, int repeats, const Loss& loss, const Train& train, const Feeds&... feeds) {
  const auto sessions = std::tuple{make_session<Devices>(loss, train)...};
  std::apply(
      [&](const auto&... s) {
        auto steps = std::tuple{s->prepare(fetch(loss, train), feeds...)...};
        std::vector<double> least(sizeof...(s), 1e9);
        for (int round = 0; round < 20; ++round) {
          std::size_t at = 0;
          std::apply([&](auto&... step) { ((least[at] = std::min(least[at], seconds(step, repeats)), ++at), ...); },
                     steps);
        }
        std::vector<float> losses;
        std::apply([&](auto&... step) { (losses.push_back(std::get<0>(step())), ...); }, steps);
        std::printf("%-26s", std::string(model).c_str());
        for (std::size_t k = 0; k < least.size(); ++k) {
          std::printf(" %10.2f", least[k] * 1e6);
          CHECK(close(losses[k], losses[0], 1e-3));
        }
        std::printf("\n");
      },
      sessions);
}

}  // namespace

TEST_CASE("time of a step") {
  std::printf("%-26s %10s %10s %10s %10s   microseconds\n", "", "cpu", "serial", "omp", "tbb");
  const auto x = placeholder<"x", float, "batch", 10>();
  const auto y = placeholder<"y", float, "batch">();
  const auto w = variable<"w", float, 10, 1>(zeros);
  const auto b = variable<"b", float>(0.0f);
  const auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
  const auto train = gradient_descent(0.01_c).minimize(loss);
  for (const std::size_t batch : {1U, 100U, 100000U}) {
    const auto xs = filled<float>(std::array{batch, std::size_t{10}});
    const auto ys = filled<float>(std::array{batch}, -1, 1, 5);
    time_steps<cpu::device, LEAT_TEST_SYSTEMS>("linear regression, " + std::to_string(batch), batch < 1000 ? 500 : 5,
                                               loss, train, x = xs, y = ys);
  }

  const auto images = placeholder<"images", float, 64, 784>();
  const auto labels = placeholder<"labels", std::int32_t, 64>();
  const auto first = relu(dense<"first", 256>(images, 1));
  const auto second = relu(dense<"second", 128>(first, 2));
  const auto logits = dense<"logits", 10>(second, 3);
  const auto network_loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  const auto image_values = filled<float>(std::array<std::size_t, 2>{64, 784});
  const auto label_values = filled<std::int32_t>(std::array<std::size_t, 1>{64}, 0, 10);
  time_steps<cpu::device, LEAT_TEST_SYSTEMS>("network, gradient descent", 3, network_loss,
                                             gradient_descent(0.01_c).minimize(network_loss), images = image_values,
                                             labels = label_values);
  time_steps<cpu::device, LEAT_TEST_SYSTEMS>("network, Adam", 3, network_loss, adam(0.0001_c).minimize(network_loss),
                                             images = image_values, labels = label_values);
}
