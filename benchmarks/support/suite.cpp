#include "suite.hpp"

#include <leat/cpu/parallel.hpp>

#include "report.hpp"

#include <Eigen/Core>
#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

namespace bench {
namespace {

constexpr int checked_steps = 3;
constexpr double batch_seconds = 1e-3;
constexpr double warm_up_seconds = 6e-4;  // longer than the threads of the other side keep spinning: environment.hpp
constexpr int fewest_rounds = 10;
constexpr double steady = 1.05;  // of our best time in this case
constexpr int most_repetitions = 3;

std::vector<float> outcome(const contender& side) {
  side.reset();
  side.batch(checked_steps);
  return side.result();
}

// The largest difference over the largest element; not a number and a missing result count as infinitely far.
double distance(const std::vector<float>& ours, const std::vector<float>& rivals) {
  if (ours.size() != rivals.size()) return std::numeric_limits<double>::infinity();
  double difference = 0, scale = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double d = std::abs(static_cast<double>(ours[i]) - static_cast<double>(rivals[i]));
    if (!(d <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, d);
    scale = std::max(scale, std::abs(static_cast<double>(rivals[i])));
  }
  return scale > 0 ? difference / scale : difference;
}

// Calls that fill `seconds`, at least one.
long calls_within(double seconds, double call) { return std::max(1L, static_cast<long>(std::ceil(seconds / call))); }

// A first guess at the seconds of a call, by doubling their number.
double guess(const contender& side) {
  side.reset();
  side.batch(1);
  for (long calls = 1;; calls *= 2)
    if (const double seconds = side.batch(calls); seconds >= batch_seconds / 4)
      return seconds / static_cast<double>(calls);
}

// One side of a pair: its best time so far, and what a batch of it costs.
struct runner {
  explicit runner(const contender& what) : side(what), best(guess(what)) {}

  // The first calls of a batch bring its data back into the caches and its threads back to work, untimed.
  double run() {
    side.reset();
    double spent = side.batch(calls_within(warm_up_seconds, best));
    const long calls = calls_within(batch_seconds, best);
    const double seconds = side.batch(calls);
    best = std::min(best, seconds / static_cast<double>(calls));
    return spent + seconds;
  }

  const contender& side;
  double best;
};

void warn_of_load() {
  double load = 0;
  if (getloadavg(&load, 1) == 1 && load > 0.5)
    std::fprintf(stderr, "other programs keep the processors busy (load %.1f): figures on two threads will not hold\n",
                 load);
}

}  // namespace

suite::suite(options settings) : settings_(std::move(settings)) {
  if (settings_.list) return;
  warn_of_load();
  print_header();
}

bool suite::wants(std::string_view name) {
  if (name.find(settings_.filter) == std::string_view::npos) return false;
  ++wanted_;
  if (settings_.list) std::printf("%.*s\n", static_cast<int>(name.size()), name.data());
  return !settings_.list;
}

void suite::compare(std::string_view name, double tolerance, const contender& ours,
                    const std::vector<contender>& rivals) {
  const std::vector<float> expected = outcome(ours);
  std::vector<const contender*> agreeing;
  bool disagreed = false;
  for (const contender& rival : rivals) {
    const std::vector<float> found = outcome(rival);
    if (found.empty() && disagreed) continue;  // the speed of a wrong result says nothing, against a limit either
    if (const double apart = distance(expected, found); !found.empty() && !(apart <= tolerance)) {
      std::fprintf(stderr, "%.*s: %s and %s differ by %.2g of the largest element, more than %.2g: not timed\n",
                   static_cast<int>(name.size()), name.data(), ours.name.c_str(), rival.name.c_str(), apart, tolerance);
      ++disagreements_;
      disagreed = true;
      continue;
    }
    agreeing.push_back(&rival);
  }

  // A pair that never saw our side near its best time met a disturbance that lasted: it is timed again.
  double best = std::numeric_limits<double>::max();
  std::vector<row> measured;
  for (const contender* rival : agreeing) {
    measured.push_back({std::string(name), rival->name});
    time_pair(measured.back(), ours, *rival);
    best = std::min(best, measured.back().ours);
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    for (int again = 0; measured[i].ours > steady * best && again < most_repetitions; ++again)
      time_pair(measured[i], ours, *agreeing[i]);
    print_row(measured[i]);
    rows_.push_back(measured[i]);
  }
}

void suite::time_pair(row& best, const contender& ours, const contender& rival) const {
  runner our_side(ours), rival_side(rival);
  double spent = 0;
  for (int round = 0; round < fewest_rounds || spent < settings_.seconds; ++round) {
    runner& first = round % 2 == 0 ? our_side : rival_side;
    runner& second = round % 2 == 0 ? rival_side : our_side;
    spent += first.run();
    spent += second.run();
  }
  best.ours = std::min(best.ours, our_side.best);
  best.rivals = std::min(best.rivals, rival_side.best);
}

int suite::finish() {
  if (wanted_ == 0) {
    std::fprintf(stderr, "no case's name contains \"%s\"; --list shows them\n", settings_.filter.c_str());
    return 2;
  }
  if (!settings_.list) write_results(settings_.json, rows_);
  return disagreements_ == 0 ? 0 : 1;
}

void use_threads(int count) {
  leat::cpu::set_thread_count(count);
  omp_set_num_threads(count);
  openblas_set_num_threads(count);
  Eigen::setNbThreads(count);
}

}  // namespace bench
