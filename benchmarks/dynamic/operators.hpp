#pragma once
// What bench_operators is made of: arrays, oneDNN's primitives on plain layouts, and the table that times an operator of a graph next to a rival.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include <dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace operators {

using extents = std::vector<std::int64_t>;
using dims = dnnl::memory::dims;
using outputs = std::vector<leat::output>;
using arguments = std::unordered_map<int, dnnl::memory>;

struct array {
  extents sizes;
  std::vector<float> values;
  explicit array(extents s, float value = 0) : sizes(std::move(s)), values(static_cast<std::size_t>(count()), value) {}
  std::int64_t count() const {
    std::int64_t n = 1;
    for (const auto k : sizes) n *= k;
    return n;
  }
};
inline array random_array(const extents& sizes, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  array made(sizes);
  for (float& v : made.values) v = normal(random);
  return made;
}
inline std::string text(const extents& sizes) {
  std::string made;
  for (const auto k : sizes) made += (made.empty() ? "[" : ",") + std::to_string(k);
  return made + "]";
}

/// An operator with one result, by name.
inline leat::output node(const char* type, const outputs& in, const leat::attribute_map& settings) {
  const std::vector<leat::number_argument> inputs(in.begin(), in.end());
  return leat::call_operator(in[0].owner(), type, inputs, settings).result(0);
}
inline leat::output integers(const std::vector<std::int64_t>& values) {
  const std::vector<std::int32_t> list(values.begin(), values.end());
  return leat::constant(list);
}

/// The other side of a row.
struct rival_call {
  std::string name;
  std::function<void()> run;
  std::vector<const float*> results;  ///< what our results must equal, as far as they are there
  double sums = 1;                    ///< elements that one of the results is a sum of
};
inline rival_call rival(std::string name, std::function<void()> run, const std::vector<const dnnl::memory*>& results) {
  rival_call made{std::move(name), std::move(run), {}};
  for (const auto* m : results) made.results.push_back(static_cast<const float*>(m->get_data_handle()));
  return made;
}
inline rival_call rival(std::string name, std::function<void()> run, const array& result) { return {std::move(name), std::move(run), {result.values.data()}}; }

/// oneDNN with arrays that lie in memory as TensorFlow's. Weights may have a layout of its own, into which they are copied in each call.
class device {
 public:
  struct weights {
    int argument;
    dnnl::memory ours;
    dnnl::memory::desc wanted;
  };
  dnnl::memory images(const array& a) { return {described(a.sizes), engine, const_cast<float*>(a.values.data())}; }
  dnnl::memory images(const extents& sizes) { return {described(sizes), engine}; }
  dnnl::memory vector(const array& a) {
    dnnl::memory made({dims{a.sizes[0]}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a}, engine);
    std::copy(a.values.begin(), a.values.end(), static_cast<float*>(made.get_data_handle()));
    return made;
  }
  void copy(const dnnl::memory& from, array& to) {
    stream.wait();
    std::copy_n(static_cast<const float*>(from.get_data_handle()), to.values.size(), to.values.begin());
  }
  std::function<void()> call(dnnl::primitive p, arguments with, const std::vector<weights>& in = {}, const std::vector<weights>& out = {}) {
    std::vector<std::pair<dnnl::memory, dnnl::memory>> before, after;
    const auto moved = [&](const weights& w) {
      const dnnl::memory made = w.ours.get_desc() == w.wanted ? w.ours : dnnl::memory(w.wanted, engine);
      with[w.argument] = made;
      return made;
    };
    for (const weights& w : in)
      if (const auto m = moved(w); m != w.ours) before.emplace_back(w.ours, m);
    for (const weights& w : out)
      if (const auto m = moved(w); m != w.ours) after.emplace_back(m, w.ours);
    return [this, p, with, before, after] {
      for (auto [from, to] : before) dnnl::reorder(from, to).execute(stream, from, to);
      p.execute(stream, with);
      for (auto [from, to] : after) dnnl::reorder(from, to).execute(stream, from, to);
      stream.wait();
    };
  }
  void run(dnnl::primitive p, const arguments& with) { call(std::move(p), with)(); }

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};

 private:
  static dnnl::memory::desc described(const extents& s) {
    return {dims{s[0], s[3], s[1], s[2]}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nhwc};
  }
};

using feed = std::variant<array, std::vector<std::int32_t>>;

class table {
 public:
  explicit table(std::string filter) : filter_(std::move(filter)) {}
  /// Of one thread, the processor time is taken: other programs of the machine do not count.
  void use_threads(int count) { is_alone_ = count == 1; }
  bool wants(const std::string& name) const { return name.find(filter_) != std::string::npos; }

  /// Times the operator that `make` adds to a graph, fed `feeds`, next to a rival.
  void compare(const std::string& name, const rival_call& other, const std::vector<feed>& feeds, const std::function<outputs(const outputs&)>& make) {
    leat::graph g;
    const auto scope = g.as_default();
    outputs in;
    std::vector<leat::tensor_value> values;
    for (const feed& f : feeds) {
      if (const auto* a = std::get_if<array>(&f)) {
        values.emplace_back(shape_of(a->sizes), a->values);
        in.push_back(leat::placeholder(leat::dtype::float32, shape_of(a->sizes)));
      } else {
        const auto& list = std::get<std::vector<std::int32_t>>(f);
        values.emplace_back(list);
        in.push_back(leat::placeholder(leat::dtype::int32, values.back().extent()));
      }
    }
    const outputs made = make(in);
    leat::graph_session s(g);
    auto step = s.prepare(made, in);
    std::vector<leat::tensor_value> results;
    const auto ours = [&] {
      results.clear();
      switch (values.size()) {
        case 1: return void(results = step(values[0]));
        case 2: return void(results = step(values[0], values[1]));
        case 3: return void(results = step(values[0], values[1], values[2]));
        default: return void(results = step(values[0], values[1], values[2], values[3], values[4]));
      }
    };
    ours();
    other.run();
    for (std::size_t k = 0; k < other.results.size(); ++k) require_equal(name, results[k].values<float>(), other.results[k], other.sums);
    // Short calls are timed several at once; the first round, which warms up, counts too, because the best does.
    const long calls = std::max(1L, static_cast<long>(1e-3 / std::max(seconds(other.run, 1), 1e-7)));
    double best[2]{1e9, 1e9};
    const double begin = now();
    for (int round = 0; round < 15 || (round < 400 && now() - begin < 0.5); ++round) {
      best[0] = std::min(best[0], seconds(ours, calls));
      best[1] = std::min(best[1], seconds(other.run, calls));
    }
    std::printf("%-56s leat %10.1f us   %-7s %10.1f us   ratio %5.2f\n", name.c_str(), best[0] * 1e6, other.name.c_str(), best[1] * 1e6, best[0] / best[1]);
    std::fflush(stdout);
  }

 private:
  double now() const {
    if (is_alone_) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  double seconds(const std::function<void()>& f, long calls) const {
    const double begin = now();
    for (long k = 0; k < calls; ++k) f();
    return (now() - begin) / static_cast<double>(calls);
  }
  static leat::shape shape_of(const extents& sizes) {
    leat::shape made;
    for (const auto k : sizes) made.push(k);
    return made;
  }
  static void require_equal(const std::string& name, std::span<const float> ours, const float* theirs, double sums) {
    for (std::size_t i = 0; i < ours.size(); ++i)
      if (!(std::abs(ours[i] - theirs[i]) <= 1e-3 * (1 + std::abs(theirs[i])) * std::sqrt(sums))) {
        std::printf("%s: element %zu is %g, the rival's %g\n", name.c_str(), i, static_cast<double>(ours[i]), static_cast<double>(theirs[i]));
        std::exit(1);
      }
  }
  std::string filter_;
  bool is_alone_ = true;
};

}  // namespace operators
