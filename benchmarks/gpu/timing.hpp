#pragma once
// Times steps of typed sessions on the current GPU.

#include <cuda_runtime_api.h>
#include <leat/thrust.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace leat_bench {

inline constexpr int rounds = 12;

// The least time of a step in microseconds, of `rounds` times `calls`; `finish` waits for the device.
template <class Step, class Finish>
double least_time(int calls, Step step, Finish finish) {
  double best = 1e9;
  for (int k = 0; k < 3; ++k) step();
  finish();
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) step();
    finish();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls);
  }
  return 1e6 * best;
}
inline void report(const std::string& name, double microseconds) {
  std::printf("%-44s leat    %10.2f us\n", name.c_str(), microseconds);
  std::fflush(stdout);
}
inline void wait_for_device() { cudaDeviceSynchronize(); }

template <class T, std::size_t Rank>
xt::xtensor<T, Rank> numbers(const std::array<std::size_t, Rank>& extent, double scale = 1) {
  xt::xtensor<T, Rank> all(extent);
  for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = static_cast<T>(scale * static_cast<double>((i * 2654435761U) % 1000) / 1000);
  return all;
}

/// An array in memory that the GPU reads by itself, as a program that feeds much would keep it.
template <class Array>
class pinned {
 public:
  explicit pinned(Array& array) : array_(array) {
    cudaHostRegister(array.data(), array.size() * sizeof(*array.data()), cudaHostRegisterDefault);
  }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  ~pinned() { cudaHostUnregister(array_.data()); }

 private:
  Array& array_;
};

// Two prepared runs: with the loss, and the training alone, whose steps follow one another without a wait.
template <class Loss, class Train, class... Feeds>
void training(const std::string& name, const Loss& loss, const Train& train, const Feeds&... feeds) {
  auto s = session_on<thrust_cuda>(loss, train);
  s.initialize();
  auto both = s.prepare(fetch(loss, train), feeds...);
  report(name + ", loss fetched", least_time(100, [&] { both(); }, wait_for_device));
  auto alone = s.prepare(fetch(train), feeds...);
  report(name + ", nothing fetched", least_time(100, [&] { alone(); }, wait_for_device));
}

// An operation that writes a variable; nothing is fetched.
template <class Operation>
void time_of(const std::string& name, int calls, const Operation& op) {
  const auto only = group(op);
  auto s = session_on<thrust_cuda>(only);
  s.initialize();
  auto step = s.prepare(fetch(only));
  report(name, least_time(calls, [&] { step(); }, wait_for_device));
}

/// Prints the GPU's name; false if there is none.
inline bool has_gpu() {
  cudaDeviceProp device{};
  const bool has = cudaGetDeviceProperties(&device, 0) == cudaSuccess;
  std::printf("%s\n", has ? device.name : "no GPU");
  return has;
}

}  // namespace leat_bench
