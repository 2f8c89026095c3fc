// A library to be loaded before others: the clock of the day jumps forward and back by up to a week, several times a second. Absolute times
// that are made of it are wrong when they are used; the steady clock is left alone.

#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

namespace {

using clock_function = int (*)(clockid_t, timespec*);

int real_clock(clockid_t which, timespec* to) {
  static const auto real = reinterpret_cast<clock_function>(::dlsym(RTLD_NEXT, "clock_gettime"));
  return real(which, to);
}

// Another one each 37 ms.
time_t jump() {
  constexpr time_t jumps[] = {0, 86'400, -3'600, 604'800, -604'800, 5, -5, 1'800};
  timespec steady{};
  real_clock(CLOCK_MONOTONIC, &steady);
  return jumps[(steady.tv_sec * 27 + steady.tv_nsec / 37'000'000) % 8];
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t which, timespec* to) noexcept {
  const int result = real_clock(which, to);
  if (result == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) to->tv_sec += jump();
  return result;
}
int gettimeofday(timeval* to, void*) noexcept {
  timespec now{};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  *to = {now.tv_sec, now.tv_nsec / 1000};
  return result;
}
time_t time(time_t* to) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
