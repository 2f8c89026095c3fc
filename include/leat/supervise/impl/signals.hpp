#pragma once
// Implementation of signals.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/signals.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

namespace leat {

struct stop_signals::handlers {
  struct entry {
    int number;
    bool replaced = false;
    struct sigaction before{};
  };
  std::mutex guard;
  int users = 0;
  std::array<entry, 2> entries{entry{SIGINT}, entry{SIGTERM}};

  static std::atomic<int>& came() {
    static std::atomic<int> number{0};
    static_assert(std::atomic<int>::is_always_lock_free);
    return number;
  }
  static handlers& all() {
    static handlers one;
    return one;
  }
  static void note(int number) { came().store(number); }
};

LEAT_FUNCTION stop_signals::stop_signals() {
  handlers& h = handlers::all();
  const std::lock_guard lock(h.guard);
  if (h.users++ > 0) return;
  for (auto& e : h.entries) {
    e.replaced = ::sigaction(e.number, nullptr, &e.before) == 0 && (e.before.sa_flags & SA_SIGINFO) == 0 && e.before.sa_handler == SIG_DFL;
    if (received() != 0) e.replaced = false;
    if (!e.replaced) continue;
    struct sigaction now{};
    now.sa_handler = handlers::note;
    now.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // a second signal ends the program
    ::sigemptyset(&now.sa_mask);
    e.replaced = ::sigaction(e.number, &now, nullptr) == 0;
  }
}

LEAT_FUNCTION stop_signals::~stop_signals() {
  handlers& h = handlers::all();
  const std::lock_guard lock(h.guard);
  if (--h.users > 0) return;
  for (auto& e : h.entries)
    if (e.replaced) ::sigaction(e.number, &e.before, nullptr);
}

LEAT_FUNCTION int stop_signals::received() { return handlers::came().load(); }

LEAT_FUNCTION void stop_signals::clear() { handlers::came().store(0); }

}  // namespace leat
