#pragma once
// Regularizers: functions from weights to a term that is added to the loss. `l2_regularizer(0.01f)` can be used for typed expressions,
// `loss + l2_regularizer(0.01f)(kernel)`, and for graphs with names, `variable_scope("net", {.regularizer = l2_regularizer(0.01f)})`, where
// the terms are collected in `regularization_losses`. Source: TensorFlow 1.x `l1_regularizer`, `l2_regularizer`, `sum_regularizer`.

#include <leat/train/loss_formulas.hpp>
#include <leat/train/typed_kit.hpp>

#include <string>
#include <tuple>

namespace leat {

/// What a regularizer sums up: absolute values, or squares.
enum class regularizer_kind { l1, l2 };

namespace detail {
// Checks a scale. Errors: invalid_argument if it is negative or NaN.
constexpr double checked_scale(double scale) {
  if (!(scale >= 0)) LEAT_THROW(invalid_argument("Setting a scale less than 0 on a regularizer: " + std::to_string(scale)));
  return scale;
}
template <class S>
constexpr double number_of_setting(const S& s) {
  if constexpr (is_compile_time_number<S>) return checked_scale(S::value);
  else return checked_scale(static_cast<double>(s));
}
}  // namespace detail

/// A regularizer: a kind and a scale. Made by `l1_regularizer`, `l2_regularizer`.
template <regularizer_kind Kind, tensor_expression Scale>
class regularizer {
 public:
  constexpr regularizer(const Scale& scale, double value) : scale_(scale), value_(value) {}
  /// The regularization term of some weights, a scalar. Dtypes: floating point.
  template <tensor_expression W>
    requires(is_floating(W::type))
  constexpr auto operator()(const W& weights) const {
    const auto scale = cast<typename W::element>(scale_);
    if constexpr (Kind == regularizer_kind::l1) return losses::formula::l1(detail::typed_kit{}, scale, weights);
    else return losses::formula::l2(detail::typed_kit{}, scale, weights);
  }
  /// The same in graphs with names; an empty output for a scale of 0: see train/named/regularizers.hpp.
  template <std::same_as<output> W>
  W operator()(const W& weights) const {
    return regularization_term(Kind, value_, weights);
  }

 private:
  Scale scale_;
  double value_;
};

/// The sum of several regularizers.
template <class... Regularizers>
class regularizer_sum {
 public:
  constexpr explicit regularizer_sum(std::string_view scope, const Regularizers&... all) : scope_(scope), all_(all...) {}
  template <tensor_expression W>
    requires(is_floating(W::type))
  constexpr auto operator()(const W& weights) const {
    return std::apply([&](const auto&... each) { return (each(weights) + ...); }, all_);
  }
  template <std::same_as<output> W>
  W operator()(const W& weights) const {
    return std::apply([&](const auto&... each) { return sum_of_regularization_terms(scope_, weights, {each...}); }, all_);
  }

 private:
  std::string_view scope_;
  std::tuple<Regularizers...> all_;
};

/// scale Σ |w|. Errors: invalid_argument for a negative scale. Source: TensorFlow 1.x `l1_regularizer`.
template <class Scale, LEAT_SITE>
  requires(number_or_constant<Scale>)
constexpr auto l1_regularizer(const Scale& scale) {
  const auto setting = detail::as_setting<Site, 0>(scale);
  return regularizer<regularizer_kind::l1, std::remove_const_t<decltype(setting)>>(setting, detail::number_of_setting(scale));
}
LEAT_OTHERWISE("l1_regularizer(scale) takes a number") l1_regularizer(...) LEAT_DELETED;
/// scale Σ w² / 2. Errors: invalid_argument for a negative scale. Source: TensorFlow 1.x `l2_regularizer`.
template <class Scale, LEAT_SITE>
  requires(number_or_constant<Scale>)
constexpr auto l2_regularizer(const Scale& scale) {
  const auto setting = detail::as_setting<Site, 0>(scale);
  return regularizer<regularizer_kind::l2, std::remove_const_t<decltype(setting)>>(setting, detail::number_of_setting(scale));
}
LEAT_OTHERWISE("l2_regularizer(scale) takes a number") l2_regularizer(...) LEAT_DELETED;
/// The sum of an l1 and an l2 regularizer. Errors: invalid_argument for a negative scale. Source: TensorFlow 1.x `l1_l2_regularizer`.
template <class L1, class L2, LEAT_SITE>
  requires(number_or_constant<L1> && number_or_constant<L2>)
constexpr auto l1_l2_regularizer(const L1& l1, const L2& l2) {
  const auto first = detail::as_setting<Site, 0>(l1);
  const auto second = detail::as_setting<Site, 1>(l2);
  const regularizer<regularizer_kind::l1, std::remove_const_t<decltype(first)>> a(first, detail::number_of_setting(l1));
  const regularizer<regularizer_kind::l2, std::remove_const_t<decltype(second)>> b(second, detail::number_of_setting(l2));
  return regularizer_sum<std::remove_const_t<decltype(a)>, std::remove_const_t<decltype(b)>>("l1_l2_regularizer", a, b);
}
LEAT_OTHERWISE("l1_l2_regularizer(scale_l1, scale_l2) takes two numbers") l1_l2_regularizer(...) LEAT_DELETED;
/// The sum of the terms of several regularizers. Source: TensorFlow 1.x `sum_regularizer`.
template <class... Regularizers>
  requires(sizeof...(Regularizers) > 0 && (std::is_invocable_v<const Regularizers&, const output&> && ...))
constexpr auto sum_regularizer(const Regularizers&... all) {
  return regularizer_sum<Regularizers...>("sum_regularizer", all...);
}

}  // namespace leat
