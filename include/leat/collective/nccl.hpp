#pragma once
// Collectives between GPUs, by NCCL: arrays that a session on Thrust's CUDA backend reduces, gathers or broadcasts stay on the device.
// Empty unless nvcc compiles for leat::nccl (LEAT_USE_NCCL). The ranks are those of the MPI communicator: they agree on each call through
// it, in host memory, and only then NCCL moves the data, on the session's stream. So errors name ranks that differ or do not arrive, as in
// communicator.hpp, and a transfer that does not end is aborted at the deadline. Each rank needs a GPU of its own: the one that is current
// at its first collective. NCCL moves floating-point arrays; integers, and the gradients of all_gather and broadcast, go through host
// memory.

#if defined(LEAT_USE_NCCL) && defined(__CUDACC__)

#include <leat/collective/communicator.hpp>
#include <leat/core/dtype.hpp>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::detail {

template <class T, class Device>
concept moved_by_nccl = std::is_floating_point_v<T> && !Device::shares_memory;

}  // namespace leat::detail

namespace leat::collective {

/// The ranks of a communicator on their GPUs. All ranks make it together, at their first collective on a device. Errors, in addition to
/// those of the communicator: failed_precondition if two ranks share a GPU, or NCCL cannot be started; unavailable if NCCL or CUDA reports
/// a failure, after which the communicator is unusable.
class device_collectives {
 public:
  explicit device_collectives(communicator& c) : ranks_(*c.ranks_) {
    if (ranks_.size == 1) return;
    ncclUniqueId id{};
    if (ranks_.rank == 0)
      if (const ncclResult_t made = ncclGetUniqueId(&id); made != ncclSuccess) fail("being started", made);
    shape bytes;
    bytes.push(sizeof id);
    c.broadcast({"the beginning of NCCL", dtype::uint8, {&bytes, 1}}, 0, &id, &id);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // so that no call blocks beyond the deadline
    const std::lock_guard lock(ranks_.guard);
    const auto deadline = detail::clock::now() + ranks_.timeout;
    const ncclResult_t begun = ncclCommInitRankConfig(&comm_, ranks_.size, id, ranks_.rank, &config);
    if (begun != ncclSuccess && begun != ncclInProgress) fail("being started (each rank needs a GPU of its own)", begun);
    settle(deadline, {}, "being started");
  }
  device_collectives(const device_collectives&) = delete;
  device_collectives& operator=(const device_collectives&) = delete;
  ~device_collectives() {
    if (comm_ != nullptr) ncclCommAbort(comm_);  // all transfers have ended, so this waits for no other rank
  }

  /// The object of the process's communicator.
  static device_collectives& current() {
    communicator& c = communicator::current();
    std::shared_ptr<void>& kept = c.ranks_->at_device;
    if (kept == nullptr) kept = std::make_shared<device_collectives>(c);
    return *static_cast<device_collectives*>(kept.get());
  }

  /// Reduces the arrays and stores the results one after another in `to`. All arrays are in device memory.
  template <class T>
  void all_reduce(const call& what, reduce_by how, std::span<const void* const> from, T* to, cudaStream_t stream) {
    run(detail::kind::all_reduce, what, static_cast<int>(how), stream, [&] {
      for (std::size_t k = 0; k < from.size(); ++k) {
        const auto count = static_cast<std::size_t>(what.extents[k].elements());
        if (ranks_.size == 1) copy(to, from[k], count * sizeof(T), stream);
        else start(ncclAllReduce(from[k], to, count, type_of<T>(), operation(how), comm_, stream));
        to += count;
      }
    });
  }
  /// Concatenates the arrays of all ranks.
  template <class T>
  void all_gather(const call& what, const T* from, T* to, cudaStream_t stream) {
    run(detail::kind::all_gather, what, 0, stream, [&] {
      const shape& s = what.extents[0];
      const std::int64_t width = s.rank == 0 ? 1 : s.elements(1, s.rank);
      std::int64_t all = 0;
      for (const std::int64_t rows : ranks_.rows) all += rows;
      if (const std::int64_t wanted = ranks_.size * (s.rank == 0 ? 1 : s[0]); all != wanted)
        throw invalid_argument("all_gather '" + std::string(what.name) + "': the ranks have " + std::to_string(all) +
                               " rows together, not " + std::to_string(wanted));
      for (int r = 0; r < ranks_.size; ++r) {
        const auto count = static_cast<std::size_t>(ranks_.rows[static_cast<std::size_t>(r)] * width);
        if (ranks_.size == 1) copy(to, from, count * sizeof(T), stream);
        else start(ncclBroadcast(from, to, count, type_of<T>(), r, comm_, stream));
        to += count;
      }
    });
  }
  /// Copies the array of rank `root` to all ranks.
  template <class T>
  void broadcast(const call& what, int root, const T* from, T* to, cudaStream_t stream) {
    if (root < 0 || root >= ranks_.size)
      throw invalid_argument("broadcast '" + std::string(what.name) + "': rank " + std::to_string(root) + " of " +
                             std::to_string(ranks_.size));
    run(detail::kind::broadcast, what, root, stream, [&] {
      const auto count = static_cast<std::size_t>(what.extents[0].elements());
      if (ranks_.size == 1) copy(to, from, count * sizeof(T), stream);
      else start(ncclBroadcast(from, to, count, type_of<T>(), root, comm_, stream));
    });
  }

 private:
  template <class T>
  static constexpr ncclDataType_t type_of() {
    return sizeof(T) == 4 ? ncclFloat32 : ncclFloat64;
  }
  static ncclRedOp_t operation(reduce_by how) {
    switch (how) {
      case reduce_by::mean: return ncclAvg;
      case reduce_by::minimum: return ncclMin;
      case reduce_by::maximum: return ncclMax;
      default: return ncclSum;
    }
  }
  void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    if (bytes == 0 || to == from) return;
    if (const cudaError_t status = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream); status != cudaSuccess)
      throw failed_precondition(std::string("CUDA, copying on the device: ") + cudaGetErrorString(status));
  }
  // Agrees on the call, then lets `move` start the transfers as one group, and waits for them.
  template <class Move>
  void run(detail::kind kind, const call& what, int number, cudaStream_t stream, Move move) {
    const std::lock_guard lock(ranks_.guard);
    ranks_.enter();
    if (ranks_.size > 1 && comm_ == nullptr) throw unavailable("NCCL was left after a failure");
    const auto deadline = detail::clock::now() + ranks_.timeout;
    const detail::intention mine = ranks_.intend(kind, what, number | detail::intention::on_device);
    ranks_.agree(mine, deadline, what.check);
    if (ranks_.size == 1) return move();
    const std::string words = mine.text();
    start(ncclGroupStart());
    try {
      move();
    } catch (...) {
      leave_nccl();
      ranks_.broken = words + " was left unfinished";
      throw;
    }
    start(ncclGroupEnd());
    settle(deadline, what.check, words);
    await(deadline, what.check, words, [&] {
      const cudaError_t status = cudaStreamQuery(stream);
      if (status != cudaSuccess && status != cudaErrorNotReady) fail(words.c_str(), ncclUnhandledCudaError);
      return status == cudaSuccess;
    });
  }
  void start(ncclResult_t begun) {
    if (begun != ncclSuccess && begun != ncclInProgress) fail("beginning a transfer", begun);
  }
  // Waits until NCCL has accepted the nonblocking calls.
  void settle(detail::clock::time_point deadline, const std::function<void()>& check, const std::string& words) {
    await(deadline, check, words, [&] {
      ncclResult_t state = ncclSuccess;
      if (const ncclResult_t asked = ncclCommGetAsyncError(comm_, &state); asked != ncclSuccess) state = asked;
      if (state != ncclSuccess && state != ncclInProgress) fail(words.c_str(), state);
      return state == ncclSuccess;
    });
  }
  template <class Done>
  void await(detail::clock::time_point deadline, const std::function<void()>& check, const std::string& words, Done done) {
    for (std::int64_t turn = 0; !done(); ++turn) {
      if (turn < 64) continue;
      std::this_thread::yield();
      if (turn % 16 != 0) continue;
      try {
        ranks_.hear_of_failures();
        if (check) check();
      } catch (...) {
        leave_nccl();
        if (ranks_.broken.empty()) {
          ranks_.broken = words + " was left unfinished";
          ranks_.tell_others(false);
        }
        throw;
      }
      if (detail::clock::now() < deadline) continue;
      leave_nccl();
      ranks_.miss("rank " + std::to_string(ranks_.rank) + ": " + words + " did not end within " + std::to_string(ranks_.timeout.count()) +
                  " ms, though all ranks had come to it: one of them has stopped since");
    }
  }
  [[noreturn]] void fail(const char* what, ncclResult_t result) {
    const std::string words = "rank " + std::to_string(ranks_.rank) + ": NCCL failed in " + what + ": " + ncclGetErrorString(result) +
                              " (" + ncclGetLastError(comm_) + ")";
    leave_nccl();
    ranks_.broken = words;
    ranks_.tell_others(false);
    throw unavailable(words);
  }
  void leave_nccl() {
    if (comm_ != nullptr) ncclCommAbort(std::exchange(comm_, nullptr));
  }

  communicator::ranks& ranks_;
  ncclComm_t comm_ = nullptr;
};

}  // namespace leat::collective

#endif
