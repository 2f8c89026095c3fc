#pragma once
// Summaries of typed expressions, as fetches: `auto results = s.run(fetch(train, summary::scalar<"loss">(loss)), x = xs);`, and
// `log.add_summary(results, step)` writes those among the results as one event. A typed summary is its expression under a tag: the session
// computes no more than the expression, and a number needs no allocation.

#include <leat/core/text.hpp>
#include <leat/expr/fetch.hpp>
#include <leat/runtime/state/lend.hpp>
#include <leat/summary/value_list.hpp>

#include <tuple>
#include <type_traits>

namespace leat::summary {

/// The kinds of typed summaries: how a value is converted to a part of an event.
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

/// The result of a run for a typed summary: the expression's value under a tag.
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

// The requirements on an expression for a summary of some kind, and the message if it does not meet them. `Least` and `Most` are ranks.
template <class E, int Least, int Most, bool OnlyFloat>
struct typed_check {
  static constexpr message text() {
    message m;
    if constexpr (E::rank < Least || E::rank > Most) {
      if constexpr (Most == 0)
        m << "summary::scalar: a number has no dimensions; reduce_mean makes one, summary::histogram takes all elements";
      else if constexpr (Least == 4) m << "summary::image: pictures have the shape [batch, height, width, channels]";
      else m << "summary::audio: sounds have the shape [batch, frames] or [batch, frames, channels]";
    } else if constexpr (OnlyFloat && E::type != dtype::float32) {
      m << "summary::audio: sounds are of float32";
    } else if constexpr (E::type == dtype::boolean) {
      m << "a summary of bool: cast<float> makes numbers of it";
    } else if constexpr (Least == 4 && !is_floating(E::type) && E::type != dtype::uint8) {
      m << "summary::image: pictures are of uint8, float32 or float64";
    }
    return m;
  }
  static constexpr bool ok = text().size == 0;
  using problem = error_in_expression<leat::detail::problem_text<typed_check>(), leat::detail::operand_text<E>()>;
};
template <class E>
using scalar_check = typed_check<E, 0, 0, false>;
template <class E>
using histogram_check = typed_check<E, 0, max_rank, false>;
template <class E>
using image_check = typed_check<E, 4, 4, false>;
template <class E>
using audio_check = typed_check<E, 2, 3, true>;

}  // namespace detail

/// A fetch of a number under a tag. The expression is a scalar and not of bool.
template <fixed_string Tag, tensor_expression E>
  requires detail::scalar_check<E>::ok
constexpr fetch_as<E, typed_as<scalar_kind, name_of<Tag>>::template value_of> scalar(const E& e) {
  return {e};
}
template <fixed_string Tag, tensor_expression E>
  requires(!detail::scalar_check<E>::ok)
typename detail::scalar_check<E>::problem scalar(const E&) = delete;

/// A fetch of the distribution of an expression's elements under a tag.
template <fixed_string Tag, tensor_expression E>
  requires detail::histogram_check<E>::ok
constexpr fetch_as<E, typed_as<histogram_kind, name_of<Tag>>::template value_of> histogram(const E& e) {
  return {e};
}
template <fixed_string Tag, tensor_expression E>
  requires(!detail::histogram_check<E>::ok)
typename detail::histogram_check<E>::problem histogram(const E&) = delete;

/// A fetch of up to `MaxOutputs` images [batch, height, width, channels] under a tag.
template <fixed_string Tag, std::int64_t MaxOutputs = 3, tensor_expression E>
  requires(detail::image_check<E>::ok && MaxOutputs > 0)
constexpr fetch_as<E, typed_as<image_kind<MaxOutputs>, name_of<Tag>>::template value_of> image(const E& e) {
  return {e};
}
template <fixed_string Tag, std::int64_t MaxOutputs = 3, tensor_expression E>
  requires(!detail::image_check<E>::ok)
typename detail::image_check<E>::problem image(const E&) = delete;

/// A fetch of up to `MaxOutputs` audio clips [batch, frames] or [batch, frames, channels] under a tag. `SampleRate` is in samples per
/// second.
template <fixed_string Tag, std::int64_t SampleRate, std::int64_t MaxOutputs = 3, tensor_expression E>
  requires(detail::audio_check<E>::ok && SampleRate > 0 && MaxOutputs > 0)
constexpr fetch_as<E, typed_as<audio_kind<SampleRate, MaxOutputs>, name_of<Tag>>::template value_of> audio(const E& e) {
  return {e};
}
template <fixed_string Tag, std::int64_t SampleRate, std::int64_t MaxOutputs = 3, tensor_expression E>
  requires(!detail::audio_check<E>::ok)
typename detail::audio_check<E>::problem audio(const E&) = delete;

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
template <class R>
constexpr std::string_view tag_of() {
  if constexpr (is_typed_value<R>) return R::tag();
  else return {};
}
// Whether two of the summaries in a tuple have the same tag.
template <class R>
inline constexpr bool repeats_a_tag = false;
template <class... Rs>
inline constexpr bool repeats_a_tag<std::tuple<Rs...>> = [] {
  const std::string_view tags[]{tag_of<Rs>()..., std::string_view{}};
  for (std::size_t i = 0; i < sizeof...(Rs); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!tags[i].empty() && tags[i] == tags[j]) return true;
  return false;
}();
}  // namespace detail

/// The value of a typed summary, or a tuple that contains such values.
template <class R>
concept has_typed_values = detail::has_typed_value<R>;

/// Appends the values of typed summaries; other members of a tuple are ignored.
template <class R>
void append_typed(value_list& to, const R& results) {
  static_assert(!detail::repeats_a_tag<R>, "two summaries of one run have the same tag");
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
