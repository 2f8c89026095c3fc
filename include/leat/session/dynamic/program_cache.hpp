#pragma once
// The programs that were made of a plan, by the shapes that it is run with.

#include <leat/session/dynamic/plain.hpp>

namespace leat::dynamic {

class program_cache {
 public:
  /// The program for these values, made where there is none yet; null where there is to be none. It is one for the elements of
  /// `known_feeds`, too.
  std::shared_ptr<plain_program> find(graph& g, const run_plan& plan, step_state& step, std::span<const tensor_value> values,
                                      std::span<const int> known_feeds = {}) {
    const std::lock_guard lock(guard_);
    for (auto& p : programs_)
      if (p->fits(values)) return p;
    if (made_ >= most) return nullptr;
    ++made_;
    std::optional<trace_scope> timed;
    if (step.trace != nullptr) timed.emplace(step.trace, step.traced_run, "make a program", "Plan");
    const cpu::flush_denormals mode;  // for what is computed now
    plain_builder builder(g, plan, step);
    std::shared_ptr<plain_program> p = builder.make(values, known_feeds);
    if (p == nullptr) {
      if (builder.lacks_values()) --made_;
      else if (++failed_ >= 3 && programs_.empty()) made_ = most;  // it is not one that can
      return nullptr;
    }
    programs_.push_back(p);
    return p;
  }
  /// A program's variables have changed: their shapes, or they are gone.
  void forget(const std::shared_ptr<plain_program>& p) {
    const std::lock_guard lock(guard_);
    std::erase(programs_, p);
  }
  /// Whether the plan has turned out to be no program.
  bool is_hopeless() {
    const std::lock_guard lock(guard_);
    return made_ >= most && programs_.empty();
  }

 private:
  static constexpr int most = 64;  // shapes that keep changing are run node by node
  std::mutex guard_;
  std::vector<std::shared_ptr<plain_program>> programs_;
  int made_ = 0;
  int failed_ = 0;
};

}  // namespace leat::dynamic
