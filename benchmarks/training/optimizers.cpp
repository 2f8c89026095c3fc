// What a step of an optimizer costs: Adam on ten million numbers, and on many small variables, against one hand-written loop over each
// array. Pairs are timed in turns and the best times compared; both sides must end with the same numbers.

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/session/graph_session.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace leat;

double seconds_of(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

nlohmann::json results = nlohmann::json::array();
bool all_agree = true;

// Times two sides in turns; `check` compares what they have made.
void compare(const std::string& name, int rounds, int calls, const std::function<void()>& ours, const std::function<void()>& theirs,
             const std::function<double()>& difference) {
  ours();
  theirs();
  double best_ours = 1e9, best_theirs = 1e9;
  for (int r = 0; r < rounds; ++r) {
    const auto time_ours = [&] {
      best_ours = std::min(best_ours, seconds_of([&] {
                                        for (int k = 0; k < calls; ++k) ours();
                                      }) / calls);
    };
    const auto time_theirs = [&] {
      best_theirs = std::min(best_theirs, seconds_of([&] {
                                            for (int k = 0; k < calls; ++k) theirs();
                                          }) / calls);
    };
    if (r % 2 == 0) time_ours();
    time_theirs();
    if (r % 2 != 0) time_ours();
  }
  const double apart = difference();
  all_agree = all_agree && apart < 1e-4;
  std::printf("%-44s %9.3f ms  %9.3f ms  %6.3f  (at most 1.10)%s\n", name.c_str(), best_ours * 1e3, best_theirs * 1e3,
              best_ours / best_theirs, apart < 1e-4 ? "" : "  RESULTS DIFFER");
  std::fflush(stdout);
  results.push_back({{"name", name}, {"ours", best_ours}, {"theirs", best_theirs}, {"ratio", best_ours / best_theirs}, {"most", 1.1}});
}

// The rival: Adam in one pass over a variable, its slots and its gradient.
struct adam_by_hand {
  std::vector<float> w, m, v;
  explicit adam_by_hand(std::size_t size) : w(size, 0.5f), m(size), v(size) {}
  [[gnu::noinline]] void step(const float* gradient, float rate) {
    float* const its_w = w.data();
    float* const its_m = m.data();
    float* const its_v = v.data();
#pragma GCC ivdep
    for (std::size_t i = 0; i < w.size(); ++i) {
      const float g = gradient[i];
      its_m[i] += (g - its_m[i]) * (1 - 0.9f);
      its_v[i] += (g * g - its_v[i]) * (1 - 0.999f);
      its_w[i] -= its_m[i] * rate / (std::sqrt(its_v[i]) + 1e-8f);
    }
  }
};
struct powers {
  float beta1 = 0.9f, beta2 = 0.999f;
  float rate() const { return 0.001f * std::sqrt(1 - beta2) / (1 - beta1); }
  void advance() {
    beta1 *= 0.9f;
    beta2 *= 0.999f;
  }
};
std::vector<float> some_gradient(std::size_t size) {
  std::vector<float> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<float>(i % 97) * 0.01f - 0.4f;
  return made;
}
template <class A, class B>
double largest_difference(const A& a, const B& b) {
  double most = 0;
  auto at = b.begin();
  for (auto it = a.begin(); it != a.end(); ++it, ++at) most = std::max(most, std::abs(static_cast<double>(*it) - static_cast<double>(*at)));
  return most;
}

template <class Session, std::int64_t Size>
void one_variable(const std::string& name, int rounds, int calls) {
  const auto g = placeholder<"g", float, Size>();
  const auto w = variable<"w", float, Size>(0.5f);
  const auto train = adam(0.001f).apply_gradients(with_variable(g, w));
  auto s = Session::make(train);
  s.initialize();
  const auto gradient = some_gradient(static_cast<std::size_t>(Size));
  auto step = s.prepare(fetch(train), g = gradient);
  adam_by_hand rival(static_cast<std::size_t>(Size));
  powers p;
  const auto theirs = [&] {
    rival.step(gradient.data(), p.rate());
    p.advance();
  };
  compare(name, rounds, calls, [&] { step(); }, theirs, [&] { return largest_difference(s.value(w), rival.w); });
}
struct compiled {
  static auto make(const auto& train) { return session{train}; }
};
struct planned {
  static auto make(const auto& train) { return planned_session{train}; }
};

// A graph with many variables of one size.
void many_variables(const std::string& name, std::size_t count, std::int64_t size, int rounds, int calls) {
  graph graph_of_all;
  const auto scope = graph_of_all.as_default();
  std::vector<variable_gradient> pairs;
  const auto gradient = some_gradient(static_cast<std::size_t>(size));
  std::vector<output> keys;
  for (std::size_t k = 0; k < count; ++k) {
    const std::string number = std::to_string(k);
    const auto w = variable([&] { return constant(tensor_literal(0.5f), shape_value{size}); }, "w" + number);
    const auto g = placeholder(dtype::float32, shape_value{size}, "g" + number);
    pairs.push_back({gradient_value(g), w});
    keys.push_back(g);
  }
  const auto train = named_optimizer(adam(0.001f)).apply_gradients(pairs);
  const auto init = global_variables_initializer();
  graph_session s(graph_of_all);
  s.run(init);
  auto prepared = s.prepare(train, keys);
  const std::vector<tensor_value> values(count, tensor_value(gradient));
  const auto step = [&] { prepared.call(values); };
  std::vector<adam_by_hand> rivals(count, adam_by_hand(static_cast<std::size_t>(size)));
  powers p;
  const auto theirs = [&] {
    for (auto& r : rivals) r.step(gradient.data(), p.rate());
    p.advance();
  };
  compare(
      name, rounds, calls, [&] { step(); }, theirs,
      [&] { return largest_difference(s.run<std::vector<float>>(pairs.back().variable), rivals.back().w); });
}

}  // namespace

int main(int count, char** arguments) {
  std::string json = "optimizers.json";
  for (int k = 1; k + 1 < count; ++k)
    if (std::string_view(arguments[k]) == "--json") json = arguments[k + 1];
  const denormals_as_zero quick;
  std::printf("%-44s %12s  %12s  %6s\n", "a step of Adam", "leat", "one loop", "ratio");
  one_variable<compiled, 10'000'000>("compiled session, 10,000,000 numbers", 7, 5);
  one_variable<planned, 10'000'000>("planned session, 10,000,000 numbers", 7, 5);
  many_variables("graph session, 10,000,000 numbers", 1, 10'000'000, 7, 5);
  many_variables("graph session, 100 variables of 100,000", 100, 100'000, 7, 5);
  many_variables("graph session, 200 variables of 1,000", 200, 1'000, 9, 500);
  std::ofstream(json) << results.dump(2) << '\n';
  return all_agree ? 0 : 1;
}
