#pragma once
// Threads for work that may block: the parts of steps. There are as many threads as concurrent jobs, up to a limit; a thread that has been
// idle for some seconds ends.

#include <leat/cluster/transport/reactor.hpp>
#include <leat/core/error.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace leat::cluster {

class worker_threads {
 public:
  /// `most`: the maximal number of threads; further jobs wait until one ends.
  explicit worker_threads(int most = 512) : most_(most) {}
  worker_threads(const worker_threads&) = delete;
  worker_threads& operator=(const worker_threads&) = delete;
  ~worker_threads() { stop(); }

  /// Runs `job`, which must not throw, on a thread. Errors: unavailable after `stop`; resource_exhausted if no thread can be made, or too
  /// many jobs wait.
  void give(std::function<void()> job) {
    const std::lock_guard lock(guard_);
    if (stopping_) throw unavailable("the server has stopped");
    if (jobs_.size() >= most_waiting)
      throw resource_exhausted(std::to_string(count_) + " threads of the server are busy, and " + std::to_string(jobs_.size()) +
                               " calls wait for one");
    jobs_.push_back(std::move(job));
    if (idle_ >= static_cast<int>(jobs_.size())) {
      changed_.notify_one();
      return;
    }
    if (count_ >= most_) return;
    try {
      std::thread([this] { work(); }).detach();
      ++count_;
    } catch (const std::system_error& e) {
      if (count_ > 0) return;
      jobs_.pop_back();
      throw resource_exhausted(std::string("no thread for a step: ") + e.what());
    }
  }

  /// Accepts no more jobs, and waits for those that run; the caller must have made them end.
  void stop() {
    if (generation_ != transport::fork_generation()) return;  // in the child of a fork the threads do not exist
    std::unique_lock lock(guard_);
    stopping_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return count_ == 0; });
  }

 private:
  void work() {
    std::unique_lock lock(guard_);
    while (true) {
      if (!jobs_.empty()) {
        const std::function<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        lock.lock();
        continue;
      }
      if (stopping_) break;
      ++idle_;
      const bool woken = changed_.wait_for(lock, std::chrono::seconds(10), [&] { return !jobs_.empty() || stopping_; });
      --idle_;
      if (!woken) break;
    }
    --count_;
    changed_.notify_all();
  }

  static constexpr std::size_t most_waiting = 65536;
  const std::uint64_t generation_ = transport::fork_generation();
  const int most_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  int count_ = 0;
  int idle_ = 0;
  bool stopping_ = false;
};

}  // namespace leat::cluster
