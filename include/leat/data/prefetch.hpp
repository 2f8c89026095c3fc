#pragma once
// Computes elements ahead on another thread; a ring of a fixed number of elements bounds the memory. If LEAT_USE_TBB is defined, the thread
// is one of oneTBB's, which a pipeline uses as long as there is room in its ring and then returns; else it is a dedicated thread. If no
// thread is free, the consumer computes the element itself; it waits only for an element that another thread is computing. Errors reach the
// consumer in the place of their element.

#include <leat/data/stage.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#if defined(LEAT_USE_TBB)
#include <tbb/task_arena.h>
#else
#include <thread>
#endif

namespace leat::data::detail {

/// Runs a function on another thread, soon, each time it is posted.
class background {
 public:
#if defined(LEAT_USE_TBB)
  template <class F>
  void post(F f) {
    // Never destroyed, because tasks may still be queued when the program ends; their functions are in its list, which is then still
    // reachable.
    static queue& all = *new queue;
    {
      const std::lock_guard lock(all.mutex);
      all.tasks.emplace_back(std::move(f));
    }
    all.arena.enqueue([] { all.run_one(); });
  }

 private:
  struct queue {
    void run_one() {
      std::unique_lock lock(mutex);
      const std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
    }
    std::mutex mutex;
    std::deque<std::function<void()>> tasks;
    tbb::task_arena arena{std::max(1, tbb::this_task_arena::max_concurrency() - 1), 0};
  };
#else
  template <class F>
  void post(F f) {
    if (!thread_.joinable()) thread_ = std::jthread([this](std::stop_token stop) { work(stop); });
    {
      const std::lock_guard lock(mutex_);
      task_ = std::move(f);
    }
    wake_.notify_one();
  }

 private:
  void work(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    while (wake_.wait(lock, stop, [&] { return static_cast<bool>(task_); })) {
      const auto task = std::exchange(task_, nullptr);
      lock.unlock();
      task();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::function<void()> task_;
  std::jthread thread_;
#endif
};

template <class Element>
class prefetch_stage final : public stage<Element> {
 public:
  prefetch_stage(std::unique_ptr<stage<Element>> from, std::size_t count) : shared_(std::make_shared<shared>(std::move(from), count)) {}
  ~prefetch_stage() override { shared_->stop(); }

  void start(std::uint64_t pass) override {
    shared_->stop();
    shared_->clear();
    shared_->from->start(pass);
    size_of_ = shared_->from->size();
    base_.clear();
    given_ = 0;
  }

  bool next(Element& to) override {
    shared& all = *shared_;
    std::unique_lock lock(all.mutex);
    all.stopping = false;
    while (all.count == 0) {
      if (all.producing) all.changed.wait(lock);
      else all.produce(lock);
    }
    slot& first = all.ring[all.first];
    if (first.ends) return false;
    const std::exception_ptr failure = std::exchange(first.failure, nullptr);
    if (!failure) std::swap(to, first.element);
    ++given_;
    if (first.has_state) {
      std::swap(base_, first.state);
      given_ = 0;
    }
    first.has_state = false;
    all.first = (all.first + 1) % all.ring.size();
    --all.count;
    // Woken when half of the ring is free, so that it computes several elements at a time.
    if (!all.posted && !all.producing && !failure && 2 * all.count <= all.ring.size()) {
      all.posted = true;
      lock.unlock();
      background_.post([weak = std::weak_ptr(shared_)] {
        if (const auto kept = weak.lock()) kept->refill();
      });
      return true;
    }
    lock.unlock();
    if (failure) std::rethrow_exception(failure);
    return true;
  }
  std::optional<std::uint64_t> size() const override { return size_of_; }

  // The state of the earlier stages as of the last recorded element, and the number of elements returned since then.
  void save(state_numbers& to) const override {
    to.insert(to.end(), {given_, base_.size()});
    to.insert(to.end(), base_.begin(), base_.end());
  }
  void restore(state_reader& from) override {
    given_ = from.take();
    const auto base = from.take(from.take());
    base_.assign(base.begin(), base.end());
    if (!base_.empty()) {
      state_reader numbers(base);
      shared_->from->restore(numbers);
    }
    skip_exactly(*shared_->from, given_);
  }

 private:
  // The state is recorded once per this many elements.
  static constexpr std::uint64_t between_states = 256;

  struct slot {
    Element element{};
    std::exception_ptr failure;
    state_numbers state;
    bool has_state = false, ends = false;
    void note(const stage<Element>& from) {
      state.clear();
      from.save(state);
      has_state = true;
    }
  };
  struct shared {
    shared(std::unique_ptr<stage<Element>> given, std::size_t size) : from(std::move(given)), ring(size) {}

    // Computes one element. The lock must be held, and no other thread may be computing.
    void produce(std::unique_lock<std::mutex>& lock) {
      slot& free = ring[(first + count) % ring.size()];
      producing = true;
      lock.unlock();
      try {
        free.ends = !from->next(free.element);
        if (!free.ends && ++made % between_states == 0) free.note(*from);
      } catch (...) {
        free.failure = std::current_exception();
        free.note(*from);  // so that restoring a state does not read errors again
      }
      lock.lock();
      producing = false;
      ++count;
      halted = free.ends || free.failure != nullptr;
      changed.notify_all();
    }
    void refill() {
      std::unique_lock lock(mutex);
      posted = false;
      halted = count > 0 && halted;
      while (!producing && !stopping && !halted && count < ring.size()) produce(lock);
    }
    void stop() {
      std::unique_lock lock(mutex);
      stopping = true;
      changed.wait(lock, [&] { return !producing; });
    }
    void clear() {
      const std::lock_guard lock(mutex);
      for (slot& one : ring) {
        one.failure = nullptr;
        one.has_state = one.ends = false;
      }
      first = count = 0;
      made = 0;
      halted = false;
    }

    std::unique_ptr<stage<Element>> from;  // owned by the thread that set `producing`
    std::vector<slot> ring;
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t first = 0, count = 0;
    std::uint64_t made = 0;
    bool producing = false, posted = false, stopping = false;
    bool halted = false;  // at the end, or at an error that the consumer has not seen
  };

  std::shared_ptr<shared> shared_;
  state_numbers base_;
  std::uint64_t given_ = 0;
  std::optional<std::uint64_t> size_of_;
  background background_;
};

}  // namespace leat::data::detail
