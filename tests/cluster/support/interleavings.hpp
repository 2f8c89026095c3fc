#pragma once
// Walks all interleavings of a small model of a protocol, as Spin or TLC do. A model is a value: what its threads share, and of each thread
// the place where it stands. A step is what a thread does at once: one access to something shared. States are visited breadth first, each
// once, so that the way to a fault is among the shortest there are.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace leat_test {

template <class Model>
struct step_of {
  std::string name;  // thread and step, for the way to a fault
  Model then;
};

struct walk_result {
  std::size_t states = 0;
  std::vector<std::string> fault;  ///< the steps to a state in which no thread goes on and not all is done; empty if there is none
  std::string text() const {
    std::string all;
    for (const std::string& step : fault) all += (all.empty() ? "" : "; ") + step;
    return all;
  }
};

/// `Model`: `auto operator<=>(const Model&) const = default`, `void steps(std::vector<step_of<Model>>&) const`, which appends what its
/// threads can do, and `bool is_done() const`, whether it is right that nothing goes on.
template <class Model>
walk_result walk_all(const Model& start) {
  struct visit {
    const Model* from;
    std::string by;
  };
  std::map<Model, visit> seen{{start, {nullptr, {}}}};
  std::deque<const Model*> open{&seen.begin()->first};
  std::vector<step_of<Model>> steps;
  walk_result result;
  while (!open.empty()) {
    const Model* const at = open.front();
    open.pop_front();
    steps.clear();
    at->steps(steps);
    if (steps.empty() && !at->is_done()) {
      for (const Model* m = at; seen.at(*m).from != nullptr; m = seen.at(*m).from) result.fault.push_back(seen.at(*m).by);
      std::reverse(result.fault.begin(), result.fault.end());
      break;
    }
    for (auto& s : steps)
      if (const auto [to, is_new] = seen.try_emplace(std::move(s.then), visit{at, std::move(s.name)}); is_new) open.push_back(&to->first);
  }
  result.states = seen.size();
  return result;
}

}  // namespace leat_test
