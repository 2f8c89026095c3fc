#pragma once
// The thread pool of one run. One thread at a time is the leader: it runs light nodes, propagates results and hands out jobs, that is,
// nodes that are heavy or may block. A thread that finishes a job becomes the leader if there is none. So only the leader accesses the
// state of a run, which needs no lock, and a light node costs what it costs on one thread.
//
// Heavy jobs run on the thread that called the run and on oneTBB's threads, in an arena of their own: a thread that waits for the chunks of
// its node must not start another node meanwhile, because it may hold the first one's lock. Jobs that block get dedicated threads,
// independent of the number of oneTBB's threads, so a run in which one node waits for another always finishes. The calling thread takes a
// blocking job when it has nothing else to do.

#include <leat/cpu/float_mode.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <system_error>
#include <thread>

namespace leat::runtime {

#if defined(LEAT_USE_TBB)
// The oneTBB arena for the nodes of all runs. It has as many threads as the largest run asked for, at most as many as oneTBB allows.
class helpers_arena {
 public:
  /// Null if oneTBB has no thread other than the caller's.
  static std::shared_ptr<tbb::task_arena> for_threads(int threads) {
    static helpers_arena all;
    const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    const int size = static_cast<int>(std::min(static_cast<std::size_t>(threads), allowed));
    if (size < 2) return nullptr;
    const std::lock_guard lock(all.guard_);
    if (all.size_ < size) {
      all.arena_ = std::make_shared<tbb::task_arena>(size);
      all.size_ = size;
    }
    return all.arena_;
  }

 private:
  std::mutex guard_;
  std::shared_ptr<tbb::task_arena> arena_;
  int size_ = 0;
};
#endif

/// A node that runs concurrently with others.
class crew_job {
 public:
  virtual ~crew_job() = default;
  virtual void run() = 0;
  bool waits = false;
};

/// Interface of the work that the leader does.
class crew_lead {
 public:
  /// Takes the results of a finished job.
  virtual void finish(crew_job& done) = 0;
  /// Runs ready nodes and hands out jobs. Returns false if nothing is left to do before a job ends, true if it stopped because a job has
  /// ended (`crew::has_news`).
  virtual bool advance() = 0;

 protected:
  ~crew_lead() = default;
};

class crew : public std::enable_shared_from_this<crew> {
 public:
  /// The constructing thread is the leader until it calls `run`.
  crew(step_state& step, crew_lead& lead)
      : step_(step), lead_(lead), threads_(step.threads), mode_(cpu::float_mode::current()), limit_(cpu::thread_limit()) {}

  /// Leader only: hands out a job. `more`: the leader has other work now.
  void give(std::unique_ptr<crew_job> job, bool more) {
    const std::lock_guard lock(guard_);
    if (job->waits) {
      waiting_.push_back(std::move(job));
      if (is_idle_) changed_.notify_all();
      if (more) find_waiting_threads(is_idle_ ? 1 : 0);
      return;
    }
    heavy_.push_back(std::move(job));
    const std::size_t others = heavy_.size() - (more ? 0 : 1);  // the leader runs one of them itself
    if (others == 0) return;
    if (is_idle_) changed_.notify_all();
#if defined(LEAT_USE_TBB)
    if (others > static_cast<std::size_t>(coming_ + (is_idle_ ? 1 : 0)) && coming_ + helping_ < threads_ - 1) {
      if (const auto arena = helpers_arena::for_threads(threads_)) {
        arena->enqueue([me = shared_from_this()] { me->help(); });
        ++coming_;
      }
    }
#endif
  }
  /// Leader only: whether jobs have finished or the run has failed.
  bool has_news() const { return news_.load(std::memory_order_relaxed); }

  /// Ends the run with an error: blocked jobs stop at their next check, and jobs that have not begun are dropped. `run` throws the first
  /// error.
  void fail(std::exception_ptr e) {
    const std::lock_guard lock(guard_);
    fail_locked(std::move(e));
  }

  /// Constructing thread only: runs until nothing is left and all jobs have ended. Errors: the first error of any node.
  void run() {
    work(role::caller);
    for (std::thread& t : own_) t.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  enum class role { caller, helper, waiter };
  static constexpr std::size_t most_waiters = 256;

  void help() {
    {
      const std::lock_guard lock(guard_);
      --coming_;
      ++helping_;
    }
    const cpu::scoped_float_mode mode(mode_);
    const cpu::scoped_thread_limit limit(limit_);
    work(role::helper);
    const std::lock_guard lock(guard_);
    --helping_;
  }

  void work(role who) {
    std::unique_lock lock(guard_);
    bool leads = who == role::caller;  // the calling thread leads first
    while (!done_) {
      if (leads || (!is_led_ && !completed_.empty())) {
        leads = false;
        lead(lock);
        settle(who);
      } else if (std::unique_ptr<crew_job> job = next(who)) {
        perform(std::move(job), lock);
        if (who == role::waiter) ++free_waiters_;
        if (error_ && !is_led_) settle(who);
      } else if (who == role::helper) {
        break;
      } else {
        wait(who, lock);
      }
    }
  }

  // The lock is held on entry and on return.
  void lead(std::unique_lock<std::mutex>& lock) {
    is_led_ = true;
    std::vector<std::unique_ptr<crew_job>> ended;
    try {
      bool again = true;
      while (!error_ && (again || !completed_.empty())) {
        ended.swap(completed_);
        news_.store(false, std::memory_order_relaxed);
        lock.unlock();
        for (auto& job : ended) lead_.finish(*job);
        ended.clear();
        again = lead_.advance();
        lock.lock();
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      fail_locked(std::current_exception());
    }
    is_led_ = false;
  }

  void perform(std::unique_ptr<crew_job> job, std::unique_lock<std::mutex>& lock) {
    ++running_;
    const bool heavy = !job->waits;
    running_heavy_ += heavy ? 1 : 0;
    lock.unlock();
    std::exception_ptr failed;
    try {
      job->run();
    } catch (...) {
      failed = std::current_exception();
      job.reset();
    }
    lock.lock();
    --running_;
    running_heavy_ -= heavy ? 1 : 0;
    if (failed) {
      fail_locked(std::move(failed));
    } else {
      completed_.push_back(std::move(job));
      news_.store(true, std::memory_order_relaxed);
    }
  }

  // Decides whether the run is done; if not, wakes a thread for the remaining jobs. Called when there is no leader.
  void settle(role who) {
    if (error_) {
      heavy_.clear();
      waiting_.clear();
      completed_.clear();
    }
    if (heavy_.empty() && waiting_.empty() && completed_.empty() && running_ == 0) {
      done_ = true;
      changed_.notify_all();
      return;
    }
    if (!waiting_.empty()) find_waiting_threads((who == role::caller && heavy_.empty() ? 1 : 0) + (is_idle_ ? 1 : 0));
    if (is_idle_ && (!waiting_.empty() || !heavy_.empty() || !completed_.empty())) changed_.notify_all();
  }

  std::unique_ptr<crew_job> next(role who) {
    if (error_) return nullptr;
    const auto take = [](std::deque<std::unique_ptr<crew_job>>& from) {
      auto job = std::move(from.front());
      from.pop_front();
      return job;
    };
    if (who == role::waiter && !waiting_.empty()) {
      --free_waiters_;
      return take(waiting_);
    }
    if (!heavy_.empty() && running_heavy_ < threads_) {
      if (who == role::waiter) --free_waiters_;
      if (!waiting_.empty()) find_waiting_threads(0);
      return take(heavy_);
    }
    if (who == role::caller && waiting_.size() > static_cast<std::size_t>(free_waiters_)) return take(waiting_);
    return nullptr;
  }

  // Starts threads for blocking jobs, except for `taken` jobs that existing threads take.
  void find_waiting_threads(int taken) {
    if (free_waiters_ > 0) changed_.notify_all();
    while (static_cast<int>(waiting_.size()) > free_waiters_ + taken && own_.size() < most_waiters && !error_) {
      try {
        own_.emplace_back([this] {
          const cpu::scoped_float_mode mode(mode_);
          const cpu::scoped_thread_limit limit(limit_);
          work(role::waiter);
        });
        ++free_waiters_;
      } catch (const std::system_error& e) {
        fail_locked(std::make_exception_ptr(resource_exhausted(std::string("no thread for a node that waits: ") + e.what())));
      }
    }
  }

  void wait(role who, std::unique_lock<std::mutex>& lock) {
    if (who == role::waiter) {
      changed_.wait(lock);
      return;
    }
    is_idle_ = true;
    changed_.wait_for(lock, std::chrono::milliseconds(5));
    is_idle_ = false;
    try {
      step_.check();
    } catch (...) {
      fail_locked(std::current_exception());
      if (!is_led_) settle(who);
    }
  }

  void fail_locked(std::exception_ptr e) {
    if (error_) return;
    error_ = std::move(e);
    step_.stopped.store(true, std::memory_order_relaxed);
    news_.store(true, std::memory_order_relaxed);
  }

  step_state& step_;
  crew_lead& lead_;
  const int threads_;
  const cpu::float_mode mode_;
  const int limit_;  // of threads within a node
  std::atomic<bool> news_{false};

  std::mutex guard_;  // protects everything below
  std::condition_variable changed_;
  std::deque<std::unique_ptr<crew_job>> heavy_;
  std::deque<std::unique_ptr<crew_job>> waiting_;
  std::vector<std::unique_ptr<crew_job>> completed_;
  std::vector<std::thread> own_;
  int free_waiters_ = 0;    // of `own_`: threads without a job, or about to take one
  int running_ = 0;
  int running_heavy_ = 0;
  int coming_ = 0;          // helpers that were requested and have not begun
  int helping_ = 0;
  bool is_led_ = true;
  bool is_idle_ = false;    // the calling thread has nothing to do
  bool done_ = false;
  std::exception_ptr error_;
};

}  // namespace leat::runtime
