#pragma once
// Implementation of reactor.hpp.

#include <leat/cluster/transport/reactor.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>

namespace leat::transport {

namespace detail {
inline constexpr std::uint64_t kick_token = ~std::uint64_t{0};

inline std::atomic<std::uint64_t>& fork_counter() {
  static std::atomic<std::uint64_t> counter{0};
  return counter;
}
}  // namespace detail

LEAT_FUNCTION std::uint64_t fork_generation() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { detail::fork_counter().fetch_add(1); });
  static_cast<void>(registered);
  return detail::fork_counter().load(std::memory_order_relaxed);
}

LEAT_FUNCTION void check_generation(std::uint64_t generation) {
  if (generation != fork_generation())
    throw failed_precondition(
        "this process is the child of a fork: servers, sessions and connections made before it belong to the parent; "
        "make new ones here, or fork before the first");
}

LEAT_FUNCTION reactor::reactor(reactor_client& client)
    : client_(client), epoll_(::epoll_create1(EPOLL_CLOEXEC)), kick_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!epoll_ || !kick_) throw resource_exhausted("no descriptors for a transport: " + std::generic_category().message(errno));
  add(kick_.get(), detail::kick_token);
}

LEAT_FUNCTION reactor::~reactor() { stop(); }

LEAT_FUNCTION void reactor::start() {
  // Blocks all signals in the new thread, so that only the program's own threads receive them.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::string problem;
  try {
    thread_ = std::thread([this] { loop(); });
  } catch (const std::system_error& e) {
    problem = e.what();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!problem.empty()) throw resource_exhausted("no thread for a transport: " + problem);
}

LEAT_FUNCTION void reactor::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  kick();
  thread_.join();
}

LEAT_FUNCTION void reactor::forget() {
  if (thread_.joinable()) thread_.detach();
}

LEAT_FUNCTION void reactor::add(int fd, std::uint64_t token, bool output) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | EPOLLET | (output ? EPOLLOUT : 0U);
  event.data.u64 = token;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw resource_exhausted("a descriptor cannot be watched: " + std::generic_category().message(errno));
}

LEAT_FUNCTION void reactor::remove(int fd) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

LEAT_FUNCTION void reactor::kick() {
  if (is_inside()) {
    again_ = true;
  } else {
    kick_others();
  }
}

LEAT_FUNCTION void reactor::kick_others() {
  if (kicked_.exchange(true)) return;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(kick_.get(), &one, sizeof one));
}

LEAT_FUNCTION int reactor::wait_for_events(std::uint64_t* tokens, int limit, steady_time until) {
  std::array<epoll_event, 32> events;
  int milliseconds = -1;
  if (until != no_deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    milliseconds = static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
  }
  const int count = ::epoll_wait(epoll_.get(), events.data(), std::min(limit, static_cast<int>(events.size())), milliseconds);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    tokens[i] = event.data.u64 | ((event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0 ? has_ended_flag : 0);
  }
  return std::max(count, 0);
}

// Runs the client in one thread at a time; other threads leave their events to it.
LEAT_FUNCTION void reactor::handle(const std::uint64_t* tokens, int count, const std::atomic<bool>* done) {
  {
    const std::lock_guard lock(ready_mutex_);
    for (int i = 0; i < count; ++i) {
      if (tokens[i] == detail::kick_token) {
        std::uint64_t ignored = 0;
        static_cast<void>(!::read(kick_.get(), &ignored, sizeof ignored));
        kicked_ = false;
      } else {
        ready_.push_back(tokens[i]);
      }
    }
  }
  if (pending_.fetch_add(1) != 0) return;
  struct turn {
    reactor& its;
    const reactor* const before;
    bool is_left = true;
    ~turn() {
      inside = before;
      if (!is_left) return;
      // This thread's own answer has arrived, or the client has thrown: the other thread handles the rest.
      its.pending_ = 0;
      its.kick_others();
    }
  } mine{*this, std::exchange(inside, this)};
  for (;;) {
    const int seen = pending_.load();
    handled_.clear();
    {
      const std::lock_guard lock(ready_mutex_);
      handled_.swap(ready_);
    }
    again_ = false;
    bool more = client_.run(handled_);
    more = again_ || more;
    if (!more && pending_.fetch_sub(seen) == seen) {
      mine.is_left = false;
      break;
    }
    if (done != nullptr && done->load()) break;
  }
}

LEAT_FUNCTION void reactor::loop() {
  std::array<std::uint64_t, 32> tokens;
  while (!stopping_) {
    // Set before the timers are read: a thread that takes part, sets a timer, and leaves before the time is published below must kick the
    // loop.
    sleeping_until_ = no_deadline.time_since_epoch().count();
    const steady_time until = client_.next_timer();
    sleeping_until_ = until.time_since_epoch().count();
    const int count = wait_for_events(tokens.data(), static_cast<int>(tokens.size()), until);
    handle(tokens.data(), count, nullptr);
    // The system may have woken this thread instead of the one that waits for the answer.
    if (driver_wake_.load() && has_driver_.load()) {
      kick();
      std::this_thread::yield();
    }
  }
}

LEAT_FUNCTION bool reactor::wait(const std::atomic<bool>& done, steady_time deadline) {
  if (done.load()) return true;
  if (has_driver_.exchange(true)) {
    std::unique_lock lock(done_mutex_);
    if (deadline == no_deadline) {
      done_.wait(lock, [&] { return done.load(); });
      return true;
    }
    return done_.wait_until(lock, deadline, [&] { return done.load(); });
  }
  std::array<std::uint64_t, 32> tokens;
  struct part {
    reactor& its;
    const reactor* const before;
    ~part() {
      driving = before;
      its.has_driver_ = false;
      // The loop's thread does not know a timer that was set in the meantime.
      if (its.client_.next_timer().time_since_epoch().count() < its.sleeping_until_.load()) its.kick();
    }
  } const mine{*this, std::exchange(driving, this)};
  while (!done.load() && (deadline == no_deadline || std::chrono::steady_clock::now() < deadline)) {
    const int count = wait_for_events(tokens.data(), static_cast<int>(tokens.size()), std::min(deadline, client_.next_timer()));
    driver_wake_ = false;
    if (count > 0 || client_.next_timer() <= std::chrono::steady_clock::now()) handle(tokens.data(), count, &done);
  }
  return done.load();
}

LEAT_FUNCTION void reactor::wake() {
  {
    const std::lock_guard lock(done_mutex_);
  }
  done_.notify_all();
  // A thread that takes part checks its own flag when it returns from `run`; any other must be woken from its wait.
  if (has_driver_.load() && driving != this) {
    driver_wake_ = true;
    kick_others();
  }
}

}  // namespace leat::transport
