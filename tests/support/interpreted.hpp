#pragma once
// Typed expressions run by the interpreter: entered into a graph, compiled at run time, bound to arrays. For benchmarks too.

#include <leat/cpu/interpret.hpp>
#include <leat/leat.hpp>

#include "passes.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace leat_test {

/// The fetches of some expressions, as bytes.
class interpreted {
 public:
  template <class... Es>
  explicit interpreted(const leat::fetch_list<Es...>&) {
    leat::graph g;
    std::vector<int> targets;
    (targets.push_back(leat::flatten<Es>(g)), ...);
    start(g, targets);
  }
  interpreted(const leat::graph& g, const std::vector<int>& targets, bool unrolled = false) { start(g, targets, unrolled); }

  const leat::cpu::interpreter& code() const { return *code_; }
  const leat::program& program() const { return program_; }

  /// Gives a placeholder, variable or number an array or a number. Named dimensions take their sizes from arrays.
  template <class Leaf, class Array>
  interpreted& with(const Leaf&, Array& array) {
    bind(Leaf::identity::hash, const_cast<void*>(static_cast<const void*>(array.data())));
    for (int a = 0; a < Leaf::rank; ++a) set_size(Leaf::extent[a], static_cast<std::int64_t>(array.shape()[static_cast<std::size_t>(a)]));
    return *this;
  }
  template <class Leaf>
  interpreted& with_number(const Leaf&, typename Leaf::element& value) {
    bind(Leaf::identity::hash, &value);
    return *this;
  }
  template <std::same_as<std::uint64_t> Id>  // no leaf is converted to one
  void bind(Id id, void* at) {
    const auto v = code_->view();
    for (int b = 0; b < v.buffers(); ++b) {
      const auto info = v.buffer_at(b);
      const bool leaf = info.where == leat::storage::feed || info.where == leat::storage::number || info.where == leat::storage::variable;
      if (leaf && info.id == id) step_->bind(b, at);
    }
  }
  template <class Leaf>
  void bind(const Leaf&, const void* at) {
    bind(Leaf::identity::hash, const_cast<void*>(at));
  }
  /// Where a fetch goes, for `step().run()`; `run()` has room of its own.
  void fetch(int k, void* to) { step_->bind(code_->view().fetch(k), to); }
  void set_size(std::int64_t dimension, std::int64_t size) {
    const auto v = code_->view();
    for (int k = 0; k < v.names(); ++k)
      if (v.name(k) == dimension) step_->set_size(k, size);
  }
  /// Runs, with room for each fetch.
  interpreted& run() {
    const auto v = code_->view();
    results_.resize(static_cast<std::size_t>(v.fetches()));
    for (int f = 0; f < v.fetches(); ++f) {
      if (v.fetch(f) < 0) continue;
      auto& r = results_[static_cast<std::size_t>(f)];
      r.assign(static_cast<std::size_t>(step_->elements(v.fetch(f)) * leat::size_of(v.buffer_at(v.fetch(f)).type)) + 1, std::byte{0x5a});
      step_->bind(v.fetch(f), r.data());
    }
    step_->run();
    return *this;
  }
  leat::cpu::bound_program& step() { return *step_; }
  const std::vector<std::byte>& bytes(int fetch) const { return results_[static_cast<std::size_t>(fetch)]; }
  template <class T>
  T number(int fetch) const {
    T v;
    std::memcpy(&v, bytes(fetch).data(), sizeof v);
    return v;
  }

  /// Whether a fetch has exactly these elements, and nothing was written behind them.
  template <class Array>
  bool same(int fetch, const Array& array) const {
    const auto& have = bytes(fetch);
    if constexpr (std::is_arithmetic_v<Array>) {
      return have.size() == sizeof array + 1 && std::memcmp(have.data(), &array, sizeof array) == 0 && have.back() == std::byte{0x5a};
    } else {
      using T = typename Array::value_type;
      const std::size_t n = array.size() * sizeof(T);
      return have.size() == n + 1 && (n == 0 || std::memcmp(have.data(), array.data(), n) == 0) && have.back() == std::byte{0x5a};
    }
  }
  /// The largest difference of a fetch from these elements, relative to values above 1.
  template <class Array>
  double difference(int fetch, const Array& array) const {
    using T = typename Array::value_type;
    double most = 0;
    for (std::size_t i = 0; i < array.size(); ++i) {
      T v;
      std::memcpy(&v, bytes(fetch).data() + i * sizeof v, sizeof v);
      const auto want = static_cast<double>(array.data()[i]);
      const double d = std::abs(static_cast<double>(v) - want) / std::max(1.0, std::abs(want));
      if (!(std::isnan(want) && std::isnan(static_cast<double>(v))) && !(static_cast<double>(v) == want) && !(d <= most)) most = d;
    }
    return most;
  }

 private:
  void start(const leat::graph& g, const std::vector<int>& targets, bool unrolled = false) {
    program_ = at_run_time::compile(g, targets, unrolled, unrolled ? 1 : 0);
    code_ = std::make_unique<leat::cpu::interpreter>(program_);
    step_ = std::make_unique<leat::cpu::bound_program>(*code_);
  }
  leat::program program_;
  std::unique_ptr<leat::cpu::interpreter> code_;
  std::unique_ptr<leat::cpu::bound_program> step_;
  std::vector<std::vector<std::byte>> results_;
};

}  // namespace leat_test
