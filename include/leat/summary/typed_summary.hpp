#pragma once
// Summaries of typed expressions, as fetches: `auto results = s.run(fetch(train, summary::scalar<"loss">(loss)), x = xs);`, and
// `log.add_summary(results, step)` writes those among the results as one event. A typed summary is its expression under a tag: the session
// computes what it computes anyway, and nothing is allocated for a number.

#include <leat/core/text.hpp>
#include <leat/expr/fetch.hpp>
#include <leat/session/fetch_feed.hpp>
#include <leat/summary/value_list.hpp>

#include <tuple>
#include <type_traits>

namespace leat::summary {

/// The kinds of typed summaries: how a value becomes part of an event.
struct scalar_kind {
  template <class V>
  static void append(value_list& to, std::string_view tag, const V& value) {
    to.scalar(tag, static_cast<float>(value));
  }
};
struct histogram_kind {
  template <class V>
  static void append(value_list& to, std::string_view tag, const V& value) {
    if constexpr (std::is_arithmetic_v<V>) to.histogram(tag, tensor_value(value));
    else to.histogram(tag, leat::detail::lend(value));
  }
};
template <std::int64_t MaxOutputs>
struct image_kind {
  template <class V>
  static void append(value_list& to, std::string_view tag, const V& value) {
    to.image(tag, leat::detail::lend(value), {.max_outputs = MaxOutputs});
  }
};
template <std::int64_t SampleRate, std::int64_t MaxOutputs>
struct audio_kind {
  template <class V>
  static void append(value_list& to, std::string_view tag, const V& value) {
    to.audio(tag, leat::detail::lend(value), {.sample_rate = static_cast<float>(SampleRate), .max_outputs = MaxOutputs});
  }
};

/// What a run gives for a typed summary: the expression's value under a tag.
template <class Kind, class Name>
struct typed_as {
  template <class V>
  struct value_of {
    V value{};
    static constexpr std::string_view tag() { return Name::view(); }
    void append_to(value_list& list) const { Kind::append(list, tag(), value); }
    operator const V&() const { return value; }
  };
};

namespace detail {
template <class E>
inline constexpr bool is_numeric = E::type != dtype::boolean;
}  // namespace detail

/// A number under a tag, as a fetch. The expression has no dimensions and is not of bool.
template <fixed_string Tag, tensor_expression E>
  requires(E::rank == 0 && detail::is_numeric<E>)
constexpr fetch_as<E, typed_as<scalar_kind, name_of<Tag>>::template value_of> scalar(const E& e) {
  return {e};
}
/// The distribution of an expression's elements under a tag, as a fetch.
template <fixed_string Tag, tensor_expression E>
  requires detail::is_numeric<E>
constexpr fetch_as<E, typed_as<histogram_kind, name_of<Tag>>::template value_of> histogram(const E& e) {
  return {e};
}
/// Up to `MaxOutputs` pictures [batch, height, width, channels] under a tag, as a fetch.
template <fixed_string Tag, std::int64_t MaxOutputs = 3, tensor_expression E>
  requires(E::rank == 4 && detail::is_numeric<E>)
constexpr fetch_as<E, typed_as<image_kind<MaxOutputs>, name_of<Tag>>::template value_of> image(const E& e) {
  return {e};
}
/// Up to `MaxOutputs` sounds [batch, frames] or [batch, frames, channels] under a tag, as a fetch; the rate in samples per second.
template <fixed_string Tag, std::int64_t SampleRate, std::int64_t MaxOutputs = 3, tensor_expression E>
  requires((E::rank == 2 || E::rank == 3) && E::type == dtype::float32)
constexpr fetch_as<E, typed_as<audio_kind<SampleRate, MaxOutputs>, name_of<Tag>>::template value_of> audio(const E& e) {
  return {e};
}
/// Several typed summaries as one argument of `fetch`.
template <class... Fs>
  requires(sizeof...(Fs) > 0 && (requires { typename Fs::target; } && ...))
constexpr fetch_group<Fs...> merge(const Fs&... summaries) {
  return {std::tuple<Fs...>(summaries...)};
}

namespace detail {
template <class R>
inline constexpr bool is_typed_value = requires(const R& r, value_list& list) { r.append_to(list); };
template <class R>
inline constexpr bool has_typed_value = is_typed_value<R>;
template <class... Rs>
inline constexpr bool has_typed_value<std::tuple<Rs...>> = (is_typed_value<Rs> || ...);
}  // namespace detail

/// A typed summary's value, or a tuple with some among its members.
template <class R>
concept has_typed_values = detail::has_typed_value<R>;

/// Appends the values of typed summaries; what else is in a tuple is passed over.
template <class R>
void append_typed(value_list& to, const R& results) {
  if constexpr (detail::is_typed_value<R>) {
    results.append_to(to);
  } else {
    const auto one = [&](const auto& r) {
      if constexpr (detail::is_typed_value<std::remove_cvref_t<decltype(r)>>) r.append_to(to);
    };
    std::apply([&](const auto&... all) { (one(all), ...); }, results);
  }
}

}  // namespace leat::summary
