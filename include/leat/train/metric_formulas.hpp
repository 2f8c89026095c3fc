#pragma once
// The formulas of streaming metrics, written once for typed expressions (train/metrics.hpp) and graphs with names
// (train/named/metrics.hpp). loss_formulas.hpp explains the kit, their first argument. Source: TensorFlow 1.x `tf.metrics`.

#include <leat/ops/state.hpp>

#include <string_view>

namespace leat::metrics::formula {

// total / count, or 0 before anything was counted.
template <class K, class T, class C>
constexpr auto mean(const K& k, const T& total, const C& count, std::string_view name) {
  const auto some = k.maximum(count, k.zero(count));
  return k.divide_no_nan(total, some, name);
}

// hits / (hits + misses), or 0 if both are 0: precision if the misses are false positives, recall if they are false negatives.
template <class K, class H, class M>
constexpr auto share(const K& k, const H& hits, const M& misses, std::string_view name) {
  const auto all = hits + misses;
  return k.divide_no_nan(hits, all, name);
}

}  // namespace leat::metrics::formula
