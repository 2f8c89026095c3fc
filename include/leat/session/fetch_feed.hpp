#pragma once
// The arguments of a run. Fetches are tensors, operations, names, and vectors, tuples and maps of these; the results have the same
// structure. Feeds are pairs of a tensor, or its name, and a value.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/runtime/state/lend.hpp>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace leat {

/// A fetch: a tensor, an operation, or the name of one.
class fetch_item {
 public:
  fetch_item(const output& tensor) : tensor_(tensor) {}
  fetch_item(const graph_operation& operation) : operation_(operation), is_operation_(true) {}
  fetch_item(const graph_element& element);
  fetch_item(std::string name);
  fetch_item(std::string_view name);
  fetch_item(const char* name);

  /// The name if it was given by name, else null.
  const std::string* name() const { return name_.get(); }
  /// The tensor or operation in `g`. Errors: invalid_argument if the graph has no such element or it may not be fetched.
  graph_element resolve(graph& g) const;

 private:
  graph_element named_in_errors(graph& g) const;
  graph_element find(graph& g) const;
  output tensor_;
  graph_operation operation_;
  bool is_operation_ = false;
  std::shared_ptr<const std::string> name_;  // null for a tensor or operation; not a variant, because each run copies some of these
};

/// A tensor to feed, or its name.
class feed_key {
 public:
  /// The name if it was given by name, else null.
  const std::string* name() const { return name_.get(); }
  feed_key(const output& tensor) : tensor_(tensor) {}
  feed_key(std::string name);
  feed_key(std::string_view name);
  feed_key(const char* name);
  /// The tensor in `g`. Errors: invalid_argument if the graph has no such tensor or it may not be fed.
  output resolve(graph& g) const;

 private:
  output find(graph& g) const;
  output tensor_;
  std::shared_ptr<const std::string> name_;
};

namespace detail {

// Owns an array that was moved into a value.
template <class A>
struct kept_array final : resource {
  explicit kept_array(A&& given) : array(std::move(given)) {}
  A array;
};
// Like `lend`, for a temporary array: moves the array into the value, which refers to its elements.
template <class A>
  requires(!std::is_reference_v<A> && !std::is_const_v<A>)
tensor_value keep(A&& given) {
  if constexpr (std::is_same_v<A, tensor_value>) {
    return std::move(given);
  } else {
    auto held = std::make_shared<kept_array<A>>(std::move(given));
    const tensor_value lent = lend(std::as_const(held->array));
    if (!lent.is_borrowed()) return lent;
    return tensor_value::borrow(lent.type(), lent.extent(), const_cast<std::byte*>(lent.data()), std::move(held));
  }
}

/// Converts a value to `wanted` if that dtype represents every element: integers exactly, fractions rounded to the nearest float. Otherwise
/// returns an empty value.
tensor_value converted(const tensor_value& v, dtype wanted);

}  // namespace detail

/// A tensor and its value in one run. An lvalue array is borrowed if it is contiguous row-major: it must stay alive and unchanged until the
/// run has ended. A temporary is owned by the item, but the elements of a temporary view (a span) must outlive the run. Numbers and braced
/// lists are converted to the tensor's dtype if that changes no value; arrays must have that dtype.
class feed_item {
 public:
  template <class V>
  feed_item(feed_key key, V&& given) : tensor(std::move(key)) {
    using array = std::remove_cvref_t<V>;
    if constexpr (value_element<array> || std::is_convertible_v<const array&, std::string>) {
      value = tensor_value(static_cast<const array&>(given));
      adapts = value_element<array>;
    } else if constexpr (std::is_same_v<array, tensor_literal>) {
      value = tensor_value(static_cast<const array&>(given));
      adapts = true;
    } else if constexpr (requires { detail::lend(std::as_const(given)); }) {
      if constexpr (std::is_lvalue_reference_v<V>) value = detail::lend(given);
      else if constexpr (std::is_const_v<V>) value = tensor_value(given);
      else value = detail::keep(std::move(given));
    } else {
      value = tensor_value(static_cast<const array&>(given));
    }
  }
  feed_item(feed_key key, const tensor_literal& list) : tensor(std::move(key)), value(list), adapts(true) {}

  feed_key tensor;
  tensor_value value;
  bool adapts = false;
};

/// The feeds of a run: pairs of a tensor, or its name, and a value. Constructed from braces, a vector of pairs, or a map.
class feed_list {
 public:
  feed_list() = default;
  feed_list(std::initializer_list<feed_item> items) : items_(items) {}
  feed_list(std::vector<feed_item> items) : items_(std::move(items)) {}
  template <class Key, class Value>
  feed_list(const std::vector<std::pair<Key, Value>>& items) {
    for (const auto& [k, v] : items) items_.emplace_back(k, v);
  }
  template <class Key, class Value>
  feed_list(std::vector<std::pair<Key, Value>>&& items) {
    for (auto& [k, v] : items) items_.emplace_back(k, std::move(v));
  }
  template <class Key, class Value>
  feed_list(const std::map<Key, Value>& items) {
    for (const auto& [k, v] : items) items_.emplace_back(k, v);
  }
  template <class Key, class Value>
  feed_list(std::map<Key, Value>&& items) {
    for (auto& [k, v] : items) items_.emplace_back(k, std::move(v));
  }
  /// The feeds, in the order in which they were given.
  const std::vector<feed_item>& items() const { return items_; }

 private:
  std::vector<feed_item> items_;
};

namespace detail {

/// Flattens a structure of fetches to a list, and rebuilds the structure from the list of results.
template <class F>
struct fetch_structure {
  using result = tensor_value;
  static void flatten(const F& f, std::vector<fetch_item>& list) { list.emplace_back(f); }
  static result rebuild(const F&, std::vector<tensor_value>::iterator& at) { return std::move(*at++); }
};
template <class X>
struct fetch_structure<std::vector<X>> {
  using result = std::vector<typename fetch_structure<X>::result>;
  static void flatten(const std::vector<X>& f, std::vector<fetch_item>& list) {
    for (const auto& x : f) fetch_structure<X>::flatten(x, list);
  }
  static result rebuild(const std::vector<X>& f, std::vector<tensor_value>::iterator& at) {
    result made;
    for (const auto& x : f) made.push_back(fetch_structure<X>::rebuild(x, at));
    return made;
  }
};
template <class X, std::size_t N>
struct fetch_structure<std::array<X, N>> {
  using result = std::array<typename fetch_structure<X>::result, N>;
  static void flatten(const std::array<X, N>& f, std::vector<fetch_item>& list) {
    for (const auto& x : f) fetch_structure<X>::flatten(x, list);
  }
  static result rebuild(const std::array<X, N>& f, std::vector<tensor_value>::iterator& at) {
    result made;
    for (std::size_t k = 0; k < N; ++k) made[k] = fetch_structure<X>::rebuild(f[k], at);
    return made;
  }
};
template <class Key, class X>
struct fetch_structure<std::map<Key, X>> {
  using result = std::map<Key, typename fetch_structure<X>::result>;
  static void flatten(const std::map<Key, X>& f, std::vector<fetch_item>& list) {
    for (const auto& [k, x] : f) fetch_structure<X>::flatten(x, list);
  }
  static result rebuild(const std::map<Key, X>& f, std::vector<tensor_value>::iterator& at) {
    result made;
    for (const auto& [k, x] : f) made.emplace(k, fetch_structure<X>::rebuild(x, at));
    return made;
  }
};
template <class... Xs>
struct fetch_structure<std::tuple<Xs...>> {
  using result = std::tuple<typename fetch_structure<Xs>::result...>;
  static void flatten(const std::tuple<Xs...>& f, std::vector<fetch_item>& list) {
    std::apply([&](const Xs&... x) { (fetch_structure<Xs>::flatten(x, list), ...); }, f);
  }
  static result rebuild(const std::tuple<Xs...>& f, std::vector<tensor_value>::iterator& at) {
    return std::apply([&](const Xs&... x) { return result{fetch_structure<Xs>::rebuild(x, at)...}; }, f);  // braces: left to right
  }
};
template <class X, class Y>
struct fetch_structure<std::pair<X, Y>> {
  using result = std::pair<typename fetch_structure<X>::result, typename fetch_structure<Y>::result>;
  static void flatten(const std::pair<X, Y>& f, std::vector<fetch_item>& list) {
    fetch_structure<X>::flatten(f.first, list);
    fetch_structure<Y>::flatten(f.second, list);
  }
  static result rebuild(const std::pair<X, Y>& f, std::vector<tensor_value>::iterator& at) {
    auto first = fetch_structure<X>::rebuild(f.first, at);
    return {std::move(first), fetch_structure<Y>::rebuild(f.second, at)};
  }
};
template <class F>
inline constexpr bool is_fetch_structure = std::is_convertible_v<F, fetch_item>;
template <class X>
inline constexpr bool is_fetch_structure<std::vector<X>> = is_fetch_structure<X>;
template <class X, std::size_t N>
inline constexpr bool is_fetch_structure<std::array<X, N>> = is_fetch_structure<X>;
template <class Key, class X>
inline constexpr bool is_fetch_structure<std::map<Key, X>> = is_fetch_structure<X>;
template <class... Xs>
inline constexpr bool is_fetch_structure<std::tuple<Xs...>> = (is_fetch_structure<Xs> && ...);
template <class X, class Y>
inline constexpr bool is_fetch_structure<std::pair<X, Y>> = is_fetch_structure<X> && is_fetch_structure<Y>;

// A type that the result of a typed run converts to: a number, a string, or a vector or array of them.
template <class T>
concept run_result = value_element<T> || std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<std::string>> || requires {
  requires value_element<typename T::value_type>;
};

}  // namespace detail

/// A tensor, an operation, a name, or a vector, array, tuple, pair or map of these.
template <class F>
concept graph_fetch = detail::is_fetch_structure<F>;

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/session/impl/fetch_feed.hpp>
#endif
