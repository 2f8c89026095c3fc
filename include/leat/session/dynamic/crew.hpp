#pragma once
// The threads of one run. One of them at a time leads: it runs what is light, sends on what nodes gave, and hands out jobs, the
// nodes that are heavy or wait. Whoever ends a job leads next, if nobody does. So the state of a run belongs to its leader and has
// no lock, and light nodes cost what they cost on one thread.
//
// Heavy jobs are done by the thread that called the run and by oneTBB's threads, which come from an arena of their own: a thread
// that waits for the chunks of its node must not begin another node meanwhile, since it may hold that node's lock. Jobs that wait
// get threads that do nothing else; how many do not depends on oneTBB, so a run in which one node waits for another always ends.
// The run's own thread takes one of them where it has nothing better to do.

#include <leat/cpu/float_mode.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/session/dynamic/kernel.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <system_error>
#include <thread>

namespace leat::dynamic {

#if defined(LEAT_USE_TBB)
// The arena that oneTBB's threads come to for the nodes of any run: as large as the largest run asked for, and oneTBB allows.
class helpers_arena {
 public:
  /// Null where oneTBB has no thread but the caller's.
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

/// A node that runs beside others.
class crew_job {
 public:
  virtual ~crew_job() = default;
  virtual void run() = 0;
  bool waits = false;
};

/// What the leading thread does.
class crew_lead {
 public:
  /// Takes what a job gave.
  virtual void finish(crew_job& done) = 0;
  /// Runs what is ready, and hands out jobs. False where nothing is left to do before a job ends; true where it was interrupted,
  /// since `crew::has_news`.
  virtual bool advance() = 0;

 protected:
  ~crew_lead() = default;
};

class crew : public std::enable_shared_from_this<crew> {
 public:
  /// The thread that makes it leads, until it calls `run`.
  crew(step_state& step, crew_lead& lead)
      : step_(step), lead_(lead), threads_(step.threads), mode_(cpu::float_mode::current()), limit_(cpu::thread_limit()) {}

  /// For the leader: hands out a job. `more`: it has other things to do now.
  void give(std::unique_ptr<crew_job> job, bool more) {
    const std::lock_guard lock(guard_);
    if (job->waits) {
      waiting_.push_back(std::move(job));
      if (is_idle_) changed_.notify_all();
      if (more) find_waiting_threads(is_idle_ ? 1 : 0);
      return;
    }
    heavy_.push_back(std::move(job));
    const std::size_t others = heavy_.size() - (more ? 0 : 1);  // the leader does one itself
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
  /// For the leader: whether jobs have ended, or the run has failed.
  bool has_news() const { return news_.load(std::memory_order_relaxed); }

  /// An error ends the run: what waits stops, what has not begun does not begin. The first one is thrown by `run`.
  void fail(std::exception_ptr e) {
    const std::lock_guard lock(guard_);
    fail_locked(std::move(e));
  }

  /// Runs until nothing is left; all jobs have ended then. For the thread that made it. Errors: the first of any node.
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
    bool leads = who == role::caller;  // from the beginning
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

  // The lock is held, before and after.
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

  // Whether anything is left, and who does it. Nobody leads now.
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

  // Threads for jobs that wait, but for so many of them that others take.
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
  const int limit_;  // of the threads within a node
  std::atomic<bool> news_{false};

  std::mutex guard_;  // of all that follows
  std::condition_variable changed_;
  std::deque<std::unique_ptr<crew_job>> heavy_;
  std::deque<std::unique_ptr<crew_job>> waiting_;
  std::vector<std::unique_ptr<crew_job>> completed_;
  std::vector<std::thread> own_;
  int free_waiters_ = 0;    // of these: without a job, or on their way to one
  int running_ = 0;
  int running_heavy_ = 0;
  int coming_ = 0;          // helpers that were called
  int helping_ = 0;
  bool is_led_ = true;
  bool is_idle_ = false;    // the calling thread has nothing to do
  bool done_ = false;
  std::exception_ptr error_;
};

}  // namespace leat::dynamic
