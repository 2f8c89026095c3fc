#pragma once
// One side of a comparison, type-erased at the batch and not at the call: `batch(n)` runs n calls in a loop of its own,
// so that a step of five nanoseconds is timed without an indirect call inside. Between two calls the compiler must
// assume that all memory was read and written; nothing can be hoisted out of the loop or left undone.

#include <chrono>
#include <concepts>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct contender {
  std::string name;
  std::function<void()> reset;        ///< back to the initial state; before each batch, not timed
  std::function<double(long)> batch;  ///< seconds that n calls take
  std::function<std::vector<float>()>
      result;  ///< what the last call computed; empty for a limit, which computes nothing
};

inline void forget_memory() { asm volatile("" ::: "memory"); }

template <class Step>
double seconds_of(Step& step, long calls) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  for (long i = 0; i < calls; ++i) {
    step();
    forget_memory();
  }
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// A contender from three callables: what they refer to must outlive the comparison.
template <class Reset, class Step, class Result>
contender contend(std::string name, Reset reset, Step step, Result result) {
  return {std::move(name), std::move(reset), [step](long calls) mutable { return seconds_of(step, calls); },
          std::move(result)};
}

/// The values of a session's variables one after another, as the result of a contender.
template <class Session, class... Variables>
std::vector<float> values_of(const Session& s, const Variables&... variables) {
  std::vector<float> all;
  const auto add = [&](const auto& values) { all.insert(all.end(), values.begin(), values.end()); };
  (add(s.value(variables)), ...);
  return all;
}

/// What a rival looks like: a class that keeps its own state and buffers.
template <class Model>
concept rival_model = requires(Model model) {
  model.reset();
  model.step();
  { model.result() } -> std::convertible_to<std::vector<float>>;
};

template <rival_model Model>
contender rival(std::string name, Model& model) {
  return contend(
      std::move(name), [&model] { model.reset(); }, [&model] { model.step(); }, [&model] { return model.result(); });
}

/// A limit of the machine (reading or copying the same bytes): timed like a rival, with nothing to compare.
template <class Step>
contender limit(std::string name, Step step) {
  return contend(
      std::move(name), [] {}, std::move(step), [] { return std::vector<float>{}; });
}

}  // namespace bench
