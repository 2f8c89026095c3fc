#pragma once
// Times the library against its rivals in pairs. Each pair alternates short batches, the first place changing from
// round to round, and keeps each side's best: a disturbance that lasts longer than a batch meets both sides, and one
// that is shorter is forgotten with the batch it met. A pair in which we stayed clear of our own best time in that case
// is timed again. Before a pair is timed, both sides run the same few steps from the same state and must agree.

#include "contender.hpp"

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct row {
  std::string name;  ///< of the case
  std::string rival;
  double ours = std::numeric_limits<double>::max();    ///< seconds a call
  double rivals = std::numeric_limits<double>::max();  ///< seconds a call
  double ratio() const { return ours / rivals; }
};

struct options {
  std::string filter;                 ///< cases whose name contains it; empty: all
  double seconds = 1.0;               ///< spent on each pair
  std::string json = "results.json";  ///< written when all cases are done
  bool list = false;                  ///< print the cases' names instead of running them
};

class suite {
 public:
  explicit suite(options settings);

  /// Whether the filter lets a case through; asked before its data is made.
  bool wants(std::string_view name);

  /// Checks and times `ours` against each of `rivals`; `tolerance` is relative to the largest element of the result.
  void compare(std::string_view name, double tolerance, const contender& ours, const std::vector<contender>& rivals);

  /// Writes the JSON file; 0 if every result agreed and every wanted case ran, as an exit status.
  int finish();

 private:
  void time_pair(row& best, const contender& ours, const contender& rival) const;

  options settings_;
  std::vector<row> rows_;
  std::size_t wanted_ = 0;
  std::size_t disagreements_ = 0;
};

/// From now on every library in the process computes on `count` threads.
void use_threads(int count);

/// Calls `body(name)` on one thread, and `body(name + "_2t")` on two; each only if the filter wants it.
template <class Body>
void on_one_and_two_threads(suite& cases, std::string_view name, Body body) {
  for (int threads : {1, 2}) {
    const std::string full = std::string(name) + (threads == 1 ? "" : "_2t");
    if (!cases.wants(full)) continue;
    use_threads(threads);
    body(full);
  }
}

/// Calls `body(name)` on one thread if the filter wants it.
template <class Body>
void on_one_thread(suite& cases, std::string_view name, Body body) {
  if (!cases.wants(name)) return;
  use_threads(1);
  body(std::string(name));
}

}  // namespace bench
