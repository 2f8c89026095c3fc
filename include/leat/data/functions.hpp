#pragma once
// Functions applied to elements: `map`, `modify`, `filter`.

#include <leat/core/philox.hpp>
#include <leat/data/stage.hpp>

#include <concepts>
#include <limits>
#include <tuple>
#include <type_traits>

namespace leat::data {

/// Random words for one element, for the distributions of the standard library. They depend only on a seed, the pass and the element's
/// index, so that a resumed run, and one that prefetches, draws the same. Satisfies std::uniform_random_bit_generator.
class random_stream {
 public:
  using result_type = std::uint32_t;
  explicit random_stream(std::uint64_t key) : key_(key) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() {
    if (drawn_ % 4 == 0) block_ = random_block(key_, drawn_ / 4);
    return block_.words[drawn_++ % 4];
  }

 private:
  std::uint64_t key_, drawn_ = 0;
  philox_block block_{};
};

namespace detail {

template <class R>
struct components_of {
  using type = std::tuple<R>;
};
template <class... Us>
struct components_of<std::tuple<Us...>> {
  using type = std::tuple<Us...>;
};
template <class U, class V>
struct components_of<std::pair<U, V>> {
  using type = std::tuple<U, V>;
};

// Whether a function can be called with the components of an element, and the type of its result.
template <class F, class Element, class... First>
struct call_of;
template <class F, class... Ts, class... First>
struct call_of<F, std::tuple<Ts...>, First...> {
  static constexpr bool possible = std::invocable<F&, First&..., Ts&...>;
};
template <class F, class... Ts, class... First>
  requires std::invocable<F&, First&..., Ts&...>
struct call_of<F, std::tuple<Ts...>, First...> {
  static constexpr bool possible = true;
  using result = std::invoke_result_t<F&, First&..., Ts&...>;
};
template <class F, class Element, class... First>
concept callable_with = call_of<F, Element, First...>::possible;
/// The element that is made from a function's result: the components of a tuple or pair, else one component.
template <class F, class Element, class... First>
using mapped_element = typename components_of<std::remove_cvref_t<typename call_of<F, Element, First...>::result>>::type;

/// Base of stages that yield one element for each element that they take.
template <class From, class To>
class one_to_one_stage : public stage<To> {
 public:
  explicit one_to_one_stage(std::unique_ptr<stage<From>> from) : from_(std::move(from)) {}
  void start(std::uint64_t pass) override { from_->start(pass); }
  std::uint64_t skip(std::uint64_t count, std::exception_ptr& failure) override { return from_->skip(count, failure); }
  std::optional<std::uint64_t> size() const override { return from_->size(); }
  void save(state_numbers& to) const override { from_->save(to); }
  void restore(state_reader& from) override { from_->restore(from); }

 protected:
  std::unique_ptr<stage<From>> from_;
};

template <class From, class To, class F>
class map_stage final : public one_to_one_stage<From, To> {
 public:
  map_stage(std::unique_ptr<stage<From>> from, F f) : one_to_one_stage<From, To>(std::move(from)), f_(std::move(f)) {}
  bool next(To& to) override {
    if (!this->from_->next(element_)) return false;
    if constexpr (std::is_same_v<To, std::remove_cvref_t<decltype(std::apply(f_, element_))>>) to = std::apply(f_, element_);
    else if constexpr (std::tuple_size_v<To> == 1) std::get<0>(to) = std::apply(f_, element_);
    else to = std::apply(f_, element_);  // a pair becomes a tuple
    return true;
  }

 private:
  F f_;
  From element_{};
};

/// Applies a function that writes new components from an element's components.
template <class From, class To, class F>
class map_into_stage final : public one_to_one_stage<From, To> {
 public:
  map_into_stage(std::unique_ptr<stage<From>> from, F f) : one_to_one_stage<From, To>(std::move(from)), f_(std::move(f)) {}
  bool next(To& to) override {
    if (!this->from_->next(element_)) return false;
    std::apply([&](auto&... in) { std::apply([&](auto&... out) { f_(std::as_const(in)..., out...); }, to); }, element_);
    return true;
  }

 private:
  F f_;
  From element_{};
};

/// Applies a function that changes an element in place; with `Random`, it gets random numbers for the element.
template <class Element, class F, bool Random>
class modify_stage final : public one_to_one_stage<Element, Element> {
  using base = one_to_one_stage<Element, Element>;

 public:
  modify_stage(std::unique_ptr<stage<Element>> from, F f, std::uint64_t seed) : base(std::move(from)), f_(std::move(f)), seed_(seed) {}
  void start(std::uint64_t pass) override {
    base::start(pass);
    key_ = mix(mix(seed_, 0x6d6f64), pass);
    number_ = 0;
  }
  bool next(Element& to) override {
    const std::uint64_t number = number_++;  // counted even if it fails
    if (!this->from_->next(to)) {
      --number_;
      return false;
    }
    if constexpr (Random) {
      random_stream random(mix(key_, number));
      std::apply([&](auto&... component) { f_(random, component...); }, to);
    } else {
      std::apply(f_, to);
    }
    return true;
  }
  std::uint64_t skip(std::uint64_t count, std::exception_ptr& failure) override {
    const std::uint64_t done = base::skip(count, failure);
    number_ += done;
    return done;
  }
  void save(state_numbers& to) const override {
    to.push_back(number_);
    base::save(to);
  }
  void restore(state_reader& from) override {
    number_ = from.take();
    base::restore(from);
  }

 private:
  F f_;
  std::uint64_t seed_, key_ = 0, number_ = 0;
};

template <class Element, class F>
class filter_stage final : public stage<Element> {
 public:
  filter_stage(std::unique_ptr<stage<Element>> from, F f) : from_(std::move(from)), f_(std::move(f)) {}
  void start(std::uint64_t pass) override { from_->start(pass); }
  bool next(Element& to) override {
    while (from_->next(to))
      if (std::apply(f_, to)) return true;
    return false;
  }
  void save(state_numbers& to) const override { from_->save(to); }
  void restore(state_reader& from) override { from_->restore(from); }

 private:
  std::unique_ptr<stage<Element>> from_;
  F f_;
};

}  // namespace detail
}  // namespace leat::data
