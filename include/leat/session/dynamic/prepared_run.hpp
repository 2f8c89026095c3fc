#pragma once
// What a session keeps for a set of fetches and feeds: its plan, and the programs that were made of it for some shapes.

#include <leat/session/dynamic/executor.hpp>
#include <leat/session/dynamic/plain.hpp>

namespace leat {

namespace dynamic {

/// A set of fetches and feeds, ready to run.
struct prepared_run {
  std::vector<output> fetches;      // those that are tensors
  std::vector<int> places;          // of each thing asked for: its place among the fetches, -1 for an operation
  std::vector<output> feeds;
  run_plan plan;

  /// The program for these values, made where there is none yet; null where there is to be none.
  std::shared_ptr<plain_program> program_for(graph& g, step_state& step, std::span<const tensor_value> values) {
    const std::lock_guard lock(guard);
    for (auto& p : programs)
      if (p->fits(values)) return p;
    if (made >= most_programs) return nullptr;
    ++made;
    std::optional<trace_scope> timed;
    if (step.trace != nullptr) timed.emplace(step.trace, step.traced_run, "make a program", "Plan");
    plain_builder builder(g, plan, step);
    std::shared_ptr<plain_program> p = builder.make(values);
    if (p == nullptr) {
      if (builder.lacks_values()) --made;
      else if (++failed >= 3 && programs.empty()) made = most_programs;  // it is not one that can
      return nullptr;
    }
    programs.push_back(p);
    return p;
  }
  /// A program's variables have changed: their shapes, or they are gone.
  void forget(const std::shared_ptr<plain_program>& p) {
    const std::lock_guard lock(guard);
    std::erase(programs, p);
  }

 private:
  static constexpr int most_programs = 64;  // shapes that keep changing are run node by node
  std::mutex guard;
  std::vector<std::shared_ptr<plain_program>> programs;
  int made = 0;
  int failed = 0;
};

/// The graph takes no nodes while this lives.
class graph_in_use {
 public:
  explicit graph_in_use(named_part& nodes) : nodes_(nodes) { nodes_.runs.fetch_add(1, std::memory_order_acq_rel); }
  graph_in_use(const graph_in_use&) = delete;
  graph_in_use& operator=(const graph_in_use&) = delete;
  ~graph_in_use() { nodes_.runs.fetch_sub(1, std::memory_order_acq_rel); }

 private:
  named_part& nodes_;
};

}  // namespace dynamic

}  // namespace leat
