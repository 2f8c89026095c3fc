#pragma once
// Datasets of data in memory: ranges of integers, slices of arrays, generators and ranges of C++20.

#include <leat/data/dataset.hpp>
#include <leat/data/element.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <ranges>
#include <span>

namespace leat {

namespace data {

/// The slices of an array along its first axis.
template <class A>
struct slices;
template <class A>
  requires(leat::detail::shaped_array<A> && leat::detail::array_rank<A>() >= 1)
struct slices<A> {
  using value = std::remove_cv_t<typename A::value_type>;
  static constexpr auto rank = static_cast<std::size_t>(leat::detail::array_rank<A>());
  using type = std::conditional_t<rank == 1, value, xt::xtensor<value, rank - 1>>;

  static std::size_t count(const A& a) { return a.shape()[0]; }
  static void check(const A& a) {
    if constexpr (leat::detail::strided_array<A>)
      if (!leat::detail::is_row_major(a))
        throw invalid_argument("from_tensor_slices: an array is not row-major and contiguous: give a copy of it (xt::eval)");
  }
  static void get(const A& a, std::size_t index, type& to) {
    const value* from = leat::detail::array_data(a);
    if constexpr (rank == 1) {
      to = from[index];
    } else {
      typename type::shape_type extent;
      std::copy(a.shape().begin() + 1, a.shape().end(), extent.begin());
      to.resize(extent);
      std::copy_n(from + index * to.size(), to.size(), to.data());
    }
  }
  static void put(const A& a, std::span<const std::uint64_t> numbers, batched<type>& to) {
    const value* from = leat::detail::array_data(a);
    typename batched<type>::shape_type extent;
    std::copy(a.shape().begin(), a.shape().end(), extent.begin());
    extent[0] = numbers.size();
    to.resize(extent);
    const std::size_t row = numbers.empty() ? 0 : to.size() / numbers.size();
    value* at = to.data();
    if (row == 1) {  // no call of copy_n per element
      for (const std::uint64_t number : numbers) *at++ = from[number];
      return;
    }
    // Rows are in random order, so the next ones are prefetched while one is copied.
    constexpr std::size_t ahead = 4, line = 64 / sizeof(value), most_lines = 16;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      if (k + ahead < numbers.size()) {
        const value* next = from + numbers[k + ahead] * row;
        for (std::size_t j = 0; j < std::min(row, most_lines * line); j += line) __builtin_prefetch(next + j);
      }
      at = std::copy_n(from + numbers[k] * row, row, at);
    }
  }
};
template <class A>
  requires(!leat::detail::shaped_array<A> && std::ranges::random_access_range<const A> && std::ranges::sized_range<const A>)
struct slices<A> {
  using type = std::ranges::range_value_t<const A>;
  static std::size_t count(const A& a) { return std::ranges::size(a); }
  static void check(const A&) {}
  static void get(const A& a, std::size_t index, type& to) {
    to = std::ranges::begin(a)[static_cast<std::ranges::range_difference_t<const A>>(index)];
  }
  static void put(const A& a, std::span<const std::uint64_t> numbers, auto& to) {
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      const auto& one = std::ranges::begin(a)[static_cast<std::ranges::range_difference_t<const A>>(numbers[row])];
      if (row == 0) batching<type>::begin(to, one, numbers.size());
      if (!batching<type>::fits(to, one))
        throw invalid_argument("batch: slice " + std::to_string(numbers[row]) + " has another shape than the first one of its batch; " +
                               "padded_batch takes rows of different sizes");
      batching<type>::put(to, row, one);
    }
  }
};

/// Arrays, vectors and spans of at least one axis.
template <class A>
concept sliceable = requires(const A& a) { slices<A>::count(a); };

namespace detail {

// An array of a dataset: an owned copy, or a reference given by std::cref.
template <class A>
struct held_array {
  using array = A;
  A kept;
  const A& get() const { return kept; }
};
template <class A>
struct held_array<std::reference_wrapper<A>> {
  using array = std::remove_const_t<A>;
  std::reference_wrapper<A> kept;
  const array& get() const { return kept.get(); }
};
template <class A>
using array_in = typename held_array<std::remove_cvref_t<A>>::array;

template <class... As>
class slices_stage final : public indexed_stage<std::tuple<typename slices<array_in<As>>::type...>> {
  using element = std::tuple<typename slices<array_in<As>>::type...>;

 public:
  slices_stage(std::uint64_t size, std::shared_ptr<const std::tuple<held_array<As>...>> arrays)
      : indexed_stage<element>(size), arrays_(std::move(arrays)) {}
  void at(std::uint64_t index, element& to) override {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (slices<array_in<As>>::get(std::get<I>(*arrays_).get(), static_cast<std::size_t>(index), std::get<I>(to)), ...);
    }(std::index_sequence_for<As...>{});
  }
  bool is_numbered() const override { return !std::is_same_v<batch_of<element>, std::monostate>; }
  void put(std::span<const std::uint64_t> numbers, batch_of<element>& to) override {
    if constexpr (!std::is_same_v<batch_of<element>, std::monostate>)
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (slices<array_in<As>>::put(std::get<I>(*arrays_).get(), numbers, std::get<I>(to)), ...);
      }(std::index_sequence_for<As...>{});
  }

 private:
  std::shared_ptr<const std::tuple<held_array<As>...>> arrays_;
};

class range_stage final : public indexed_stage<std::tuple<std::int64_t>> {
 public:
  range_stage(std::int64_t first, std::int64_t step, std::uint64_t size)
      : indexed_stage<std::tuple<std::int64_t>>(size), first_(first), step_(step) {}
  void at(std::uint64_t index, std::tuple<std::int64_t>& to) override {
    std::get<0>(to) = static_cast<std::int64_t>(static_cast<std::uint64_t>(first_) + index * static_cast<std::uint64_t>(step_));
  }
  void put(std::span<const std::uint64_t> numbers, std::tuple<xt::xtensor<std::int64_t, 1>>& to) override {
    std::get<0>(to).resize({numbers.size()});
    std::tuple<std::int64_t> one;
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      at(numbers[row], one);
      std::get<0>(to)(row) = std::get<0>(one);
    }
  }

 private:
  std::int64_t first_, step_;
};

// The result of a generator: a function that returns std::optional, or a range.
template <class G>
struct generated;
template <class G>
  requires requires(G& g) {
    *g();
    g().has_value();
  }
struct generated<G> {
  using value = std::remove_cvref_t<decltype(*std::declval<G&>()())>;
  explicit generated(G g) : make(std::move(g)) {}
  bool next(auto take) {
    auto got = make();
    if (got) take(*std::move(got));
    return static_cast<bool>(got);
  }
  G make;
};
template <std::ranges::input_range G>
struct generated<G> {
  using value = std::ranges::range_value_t<G>;
  explicit generated(G g) : range(std::move(g)) {}
  bool next(auto take) {
    if (!at) at.emplace(std::ranges::begin(range));
    else if (*at != std::ranges::end(range)) ++*at;
    if (*at == std::ranges::end(range)) return false;
    take(**at);
    return true;
  }
  G range;
  std::optional<std::ranges::iterator_t<G>> at;
};

template <class F, class Element>
class generator_stage final : public stage<Element> {
  using made = generated<std::remove_cvref_t<std::invoke_result_t<F&>>>;

 public:
  explicit generator_stage(F f) : f_(std::move(f)) {}
  void start(std::uint64_t) override {
    now_.reset();
    given_ = 0;
    ended_ = false;
  }
  bool next(Element& to) override {
    if (ended_) return false;
    ++given_;  // even if the call throws
    if (!now_) now_ = std::make_unique<made>(f_());
    ended_ = !now_->next([&]<class V>(V&& value) {
      if constexpr (std::is_assignable_v<Element&, V>) to = std::forward<V>(value);
      else std::get<0>(to) = std::forward<V>(value);
    });
    given_ -= ended_;
    return !ended_;
  }
  void save(state_numbers& to) const override { to.insert(to.end(), {given_, ended_}); }
  void restore(state_reader& from) override {
    skip_exactly(*this, from.take());
    ended_ = from.take() != 0;
  }

 private:
  F f_;
  std::unique_ptr<made> now_;  // by pointer, because a range with an iterator into it may not be movable
  std::uint64_t given_ = 0;
  bool ended_ = false;
};

}  // namespace detail
}  // namespace data

namespace dataset {

/// The integers first, first + step, ... before `end`, as int64. Errors: invalid_argument for a step of 0. Source: TensorFlow
/// `Dataset.range`.
inline dataset_of<std::int64_t> range(std::int64_t first, std::int64_t end, std::int64_t step = 1) {
  if (step == 0) throw invalid_argument("range: the step is 0");
  const bool up = step > 0;
  const auto unsigned_step = up ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const auto distance = up ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(first)
                           : static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(end);
  const std::uint64_t size = (up ? end <= first : end >= first) ? 0 : (distance - 1) / unsigned_step + 1;
  return {"range(" + std::to_string(first) + ", " + std::to_string(end) + ", " + std::to_string(step) + ")",
          [=]() -> std::unique_ptr<data::stage<std::tuple<std::int64_t>>> {
            return std::make_unique<data::detail::range_stage>(first, step, size);
          }};
}
/// The integers 0, 1, ..., end - 1, as int64.
inline dataset_of<std::int64_t> range(std::int64_t end) { return range(0, end); }

/// The slices of arrays along their first axis; an element has one slice of each array. The slices of xt::xtensor<T, N> have N - 1 axes
/// (for N = 1 they are numbers); those of vectors and spans are their elements. Arrays are copied or moved into the dataset.
/// `std::cref(array)` and spans are borrowed: they must live as long as the dataset and its iterators.
/// Errors: invalid_argument if the first axes differ, or an array is not contiguous row-major. Source: TensorFlow
/// `Dataset.from_tensor_slices`.
template <class... As>
  requires(sizeof...(As) > 0 && (data::sliceable<data::detail::array_in<As>> && ...))
auto from_tensor_slices(As&&... arrays) {
  using stage = data::detail::slices_stage<std::remove_cvref_t<As>...>;
  using element = std::tuple<typename data::slices<data::detail::array_in<As>>::type...>;
  auto held = std::make_shared<const std::tuple<data::detail::held_array<std::remove_cvref_t<As>>...>>(
      data::detail::held_array<std::remove_cvref_t<As>>{std::forward<As>(arrays)}...);
  std::uint64_t size = 0;
  std::size_t number = 0;
  std::apply(
      [&](const auto&... one) {
        const auto look = [&]<class A>(const A& a) {
          data::slices<A>::check(a);
          const std::uint64_t count = data::slices<A>::count(a);
          if (number == 0) size = count;
          else if (count != size)
            throw invalid_argument("from_tensor_slices: array " + std::to_string(number) + " has " + std::to_string(count) +
                                   " slices, array 0 has " + std::to_string(size));
          ++number;
        };
        (look(one.get()), ...);
      },
      *held);
  return data::dataset_with<element>(
      "slices(" + std::to_string(size) + ") " + data::element_text<typename data::slices<data::detail::array_in<As>>::type...>(),
      [held = std::move(held), size]() -> std::unique_ptr<data::stage<element>> { return std::make_unique<stage>(size, held); });
}

/// The elements that a function generates. `f()` begins a pass: it returns a function whose calls return std::optional, empty at the end,
/// or a range of C++20. Elements are values, or tuples of components. To restore a state, elements are generated again.
/// Source: TensorFlow `Dataset.from_generator`.
template <std::copy_constructible F>
  requires requires(F& f) { typename data::detail::generated<std::remove_cvref_t<decltype(f())>>::value; }
auto from_generator(F f) {
  using value = typename data::detail::generated<std::remove_cvref_t<std::invoke_result_t<F&>>>::value;
  using element = typename data::detail::components_of<value>::type;
  return data::dataset_with<element>("generator", [f]() -> std::unique_ptr<data::stage<element>> {
    return std::make_unique<data::detail::generator_stage<F, element>>(f);
  });
}

}  // namespace dataset
}  // namespace leat
