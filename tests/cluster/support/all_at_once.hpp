#pragma once
// What several workers do at one time.

#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace leat_test {

// Each on a thread of its own; the first error of any is thrown.
inline void all_at_once(const std::vector<std::function<void()>>& work) {
  std::vector<std::exception_ptr> failed(work.size());
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < work.size(); ++k)
    threads.emplace_back([&, k] {
      try {
        work[k]();
      } catch (...) {
        failed[k] = std::current_exception();
      }
    });
  for (auto& t : threads) t.join();
  for (const auto& f : failed)
    if (f) std::rethrow_exception(f);
}

}  // namespace leat_test
