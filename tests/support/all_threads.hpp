#pragma once
// The number of threads of the whole program, inside operators and between them, while it lives.

#include <leat/cpu/parallel.hpp>

namespace leat_test {

class all_threads {
 public:
  explicit all_threads(int threads) : before_(leat::cpu::thread_count()) { leat::cpu::set_thread_count(threads); }
  all_threads(const all_threads&) = delete;
  all_threads& operator=(const all_threads&) = delete;
  ~all_threads() { leat::cpu::set_thread_count(before_); }

 private:
  int before_;
};

}  // namespace leat_test
