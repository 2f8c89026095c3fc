#pragma once
// Datasets: pipelines that are written as expressions, `dataset::range(10).shuffle(10, 1).batch(3).repeat(2)`, and yield typed elements
// when they are iterated. A dataset is a value that is cheap to copy and immutable; each iterator has its own state, which can be saved and
// restored. Sources are functions of the namespace `dataset`.
//
// The elements depend only on the pipeline and its seeds, not on threads: two iterators of one dataset yield the same elements.

#include <leat/data/batch.hpp>
#include <leat/data/combine.hpp>
#include <leat/data/functions.hpp>
#include <leat/data/prefetch.hpp>
#include <leat/data/repeat.hpp>
#include <leat/data/shuffle.hpp>
#include <leat/data/stage.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <ranges>
#include <string>
#include <tuple>

namespace leat {

template <class... Ts>
class dataset_of;

namespace data {

/// The type of a dataset with elements of a tuple type.
template <class Element>
struct dataset_type;
template <class... Ts>
struct dataset_type<std::tuple<Ts...>> {
  using type = dataset_of<Ts...>;
};
template <class Element>
using dataset_with = typename dataset_type<Element>::type;

namespace detail {
template <class T>
inline constexpr bool is_dataset = false;
template <class... Ts>
inline constexpr bool is_dataset<dataset_of<Ts...>> = true;
// Checks a setting of a pipeline. Errors: invalid_argument for 0.
inline void must_be_positive(std::uint64_t number, const char* what) {
  if (number == 0) throw invalid_argument(std::string(what) + " is 0, and must be at least 1");
}
}  // namespace detail

}  // namespace data

/// An iterator of a dataset. Each step overwrites the element, which keeps its address, so that a prepared run may be fed from it:
///
///   auto rows = data.iterate();
///   auto& [images, labels] = rows.element();
///   auto step = s.prepare(fetch(loss, train), x = images, y = labels);
///   while (rows.next()) step();
template <class... Ts>
class dataset_iterator {
 public:
  using element_type = std::tuple<Ts...>;

  dataset_iterator(std::string description, std::unique_ptr<data::stage<element_type>> last)
      : description_(std::move(description)), last_(std::move(last)), element_(std::make_unique<element_type>()) {
    last_->start(0);
  }

  /// Advances to the next element. Returns false at the end, and then leaves the element unchanged. Errors: those of the sources and
  /// functions; the next call continues after the failing element.
  bool next() { return last_->next(*element_); }
  /// The current element. Its address never changes.
  element_type& element() { return *element_; }
  const element_type& element() const { return *element_; }
  /// Returns to the beginning.
  void restart() { last_->start(0); }

  /// The iterator's position, as JSON text of some hundred bytes: counters, not elements.
  std::string save_state() const {
    data::state_numbers numbers;
    last_->save(numbers);
    return data::write_state(description_, numbers);
  }
  /// Continues from a saved position of an iterator of the same pipeline: the next element is the one that would have followed there.
  /// Elements that were in the buffer of a shuffle are read again.
  /// Errors: invalid_argument for the state of another pipeline (other stages, sizes, seeds, or files of other names or sizes); data_loss
  /// for a damaged state, or data that no longer exist; unimplemented for a later version of the format. After an error the iterator is at
  /// the beginning.
  void restore_state(std::string_view text) {
    try {
      const data::state_numbers numbers = data::read_state(text, description_);
      data::state_reader reader(numbers);
      last_->start(0);
      last_->restore(reader);
      if (!reader.empty()) throw data_loss("the state of a pipeline has more numbers than the pipeline");
    } catch (...) {
      last_->start(0);
      throw;
    }
  }
  /// The pipeline as a string; see `dataset_of::description`.
  const std::string& description() const { return description_; }

  /// Iterates over the remaining elements in a loop: `for (auto& [x, y] : rows)`.
  class cursor {
   public:
    using value_type = element_type;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    cursor() = default;
    explicit cursor(dataset_iterator* of) : of_(of) { ++*this; }
    explicit cursor(std::shared_ptr<dataset_iterator> of) : kept_(std::move(of)), of_(kept_.get()) { ++*this; }
    element_type& operator*() const { return of_->element(); }
    cursor& operator++() {
      if (!of_->next()) of_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const cursor& at, std::default_sentinel_t) { return at.of_ == nullptr; }

   private:
    std::shared_ptr<dataset_iterator> kept_;
    dataset_iterator* of_ = nullptr;
  };
  cursor begin() { return cursor(this); }
  static std::default_sentinel_t end() { return {}; }

 private:
  std::string description_;
  std::unique_ptr<data::stage<element_type>> last_;
  std::unique_ptr<element_type> element_;
};

/// A pipeline whose elements are tuples of Ts. `auto data = dataset::csv<float, float>("a.csv").shuffle(1000, 1).batch(32); for (auto& [x,
/// y] : data) ...`. It is a view in the sense of C++20, cheap to copy; each loop iterates over all elements.
template <class... Ts>
class dataset_of : public std::ranges::view_base {
 public:
  using element_type = std::tuple<Ts...>;
  using stage_type = data::stage<element_type>;
  using maker = std::function<std::unique_ptr<stage_type>()>;

  /// A user-defined source: its description, which distinguishes it from others when a state is restored, and a function that makes its
  /// stage.
  dataset_of(std::string description, maker make)
      : description_(std::move(description)), make_(std::make_shared<const maker>(std::move(make))) {}

  // ---- order and subsets ----

  /// A random order: each element is chosen from a buffer of this many elements; each pass of `repeat` has another order. For arrays, the
  /// buffer holds indices instead of elements. An error takes a place in the buffer, as an element does.
  /// Errors: invalid_argument for a buffer of 0. Source: TensorFlow `Dataset.shuffle`.
  dataset_of shuffle(std::uint64_t buffer, std::uint64_t seed) const {
    data::detail::must_be_positive(buffer, "shuffle: the buffer");
    return then("shuffle(" + std::to_string(buffer) + ", " + std::to_string(seed) + ")", [buffer, seed](auto from) {
      return std::make_unique<data::detail::shuffle_stage<element_type>>(std::move(from), buffer, seed);
    });
  }
  /// Like `shuffle(buffer, seed)`, with a random seed. A saved state has the seed only in the description, so to resume, pass a seed.
  dataset_of shuffle(std::uint64_t buffer) const { return shuffle(buffer, std::random_device{}()); }

  /// All elements repeatedly, in `count` passes, or without end.
  dataset_of repeat(std::uint64_t count = data::detail::forever) const {
    return then(count == data::detail::forever ? "repeat()" : "repeat(" + std::to_string(count) + ")",
                [count](auto from) { return std::make_unique<data::detail::repeat_stage<element_type>>(std::move(from), count); });
  }
  /// The first elements, at most `count`.
  dataset_of take(std::uint64_t count) const { return part("take(" + std::to_string(count) + ")", 0, count); }
  /// All elements after the first `count`. If there are errors among the skipped elements, the first error takes the place of the first
  /// element.
  dataset_of skip(std::uint64_t count) const { return part("skip(" + std::to_string(count) + ")", count, data::detail::forever); }

  // ---- functions ----

  /// The results of f for each element. `f` takes the components, as values or references, and returns one component, or several as a tuple
  /// or pair.
  template <class F>
    requires data::detail::callable_with<F, element_type>
  auto map(F f) const {
    using to = data::detail::mapped_element<F, element_type>;
    return convert<to>("map -> " + text_of<to>(),
                       [f](auto from) { return std::make_unique<data::detail::map_stage<element_type, to, F>>(std::move(from), f); });
  }
  /// The results of f for each element, written into components whose memory is reused: `f(const Ts&..., Us&...)`.
  template <class... Us, class F>
    requires(sizeof...(Us) > 0 && std::invocable<F&, const Ts&..., Us&...>)
  dataset_of<Us...> map_into(F f) const {
    using to = std::tuple<Us...>;
    return convert<to>("map -> " + text_of<to>(),
                       [f](auto from) { return std::make_unique<data::detail::map_into_stage<element_type, to, F>>(std::move(from), f); });
  }
  /// The elements after f has changed them: `f(Ts&...)`.
  template <class F>
    requires std::invocable<F&, Ts&...>
  dataset_of modify(F f) const {
    return then("modify",
                [f](auto from) { return std::make_unique<data::detail::modify_stage<element_type, F, false>>(std::move(from), f, 0); });
  }
  /// Like `modify(f)`, with random numbers, `f(data::random_stream&, Ts&...)`. The numbers depend on the seed, the pass and the element's
  /// index, so that a resumed run draws the same.
  template <class F>
    requires std::invocable<F&, data::random_stream&, Ts&...>
  dataset_of modify(F f, std::uint64_t seed) const {
    return then("modify(" + std::to_string(seed) + ")", [f, seed](auto from) {
      return std::make_unique<data::detail::modify_stage<element_type, F, true>>(std::move(from), f, seed);
    });
  }
  /// The elements for which f returns true.
  template <class F>
    requires std::predicate<F&, Ts&...>
  dataset_of filter(F f) const {
    return then("filter", [f](auto from) { return std::make_unique<data::detail::filter_stage<element_type, F>>(std::move(from), f); });
  }

  // ---- batches ----

  /// Combines `rows` elements to one: each component has an additional first axis. The last batch is smaller, or is dropped with
  /// `drop_remainder`.
  /// Errors: invalid_argument for 0 rows; when iterated, invalid_argument for rows of different shapes. An error of an element is an error
  /// of its batch, whose other elements are skipped.
  auto batch(std::uint64_t rows, bool drop_remainder = false) const
    requires(data::batchable<Ts> && ...)
  {
    using to = data::batch_of<element_type>;
    data::detail::must_be_positive(rows, "batch: the number of rows");
    return convert<to>("batch(" + std::to_string(rows) + (drop_remainder ? ", drop_remainder)" : ")"), [rows, drop_remainder](auto from) {
      return std::make_unique<data::detail::batch_stage<element_type>>(std::move(from), rows, drop_remainder);
    });
  }
  /// Like `batch`, for elements of different shapes: each is padded with `padding` to the largest of its batch.
  auto padded_batch(std::uint64_t rows, double padding = 0, bool drop_remainder = false) const
    requires(data::batchable<Ts> && ...)
  {
    using to = data::batch_of<element_type>;
    data::detail::must_be_positive(rows, "padded_batch: the number of rows");
    return convert<to>(
        "padded_batch(" + std::to_string(rows) + ", " + data::detail::setting_text(padding) + (drop_remainder ? ", drop_remainder)" : ")"),
        [rows, padding, drop_remainder](auto from) {
          return std::make_unique<data::detail::padded_batch_stage<element_type>>(std::move(from), rows, drop_remainder, padding);
        });
  }

  // ---- several datasets at once ----

  /// The elements of the datasets that f makes from elements: `block` elements of each in turn, with `cycle` datasets open at a time.
  /// Errors: invalid_argument if `cycle` or `block` is 0.
  template <class F>
    requires(data::detail::callable_with<F, element_type> &&
             data::detail::is_dataset<std::remove_cvref_t<typename data::detail::call_of<F, element_type>::result>>)
  auto interleave(F f, std::size_t cycle, std::uint64_t block = 1) const {
    using made = std::remove_cvref_t<typename data::detail::call_of<F, element_type>::result>;
    using to = typename made::element_type;
    data::detail::must_be_positive(cycle, "interleave: the number of open datasets");
    data::detail::must_be_positive(block, "interleave: the number of elements of each");
    return convert<to>("interleave(" + std::to_string(cycle) + ", " + std::to_string(block) + ") -> " + text_of<to>(),
                       [f, cycle, block](auto from) {
                         return std::make_unique<data::detail::interleave_stage<element_type, to, F>>(std::move(from), f, cycle, block);
                       });
  }
  /// Computes up to `count` elements ahead on another thread, which also calls the functions of earlier stages. An error is reported in the
  /// place of its element. Put it last. Errors: invalid_argument for 0 elements.
  dataset_of prefetch(std::size_t count) const {
    data::detail::must_be_positive(count, "prefetch: the number of elements");
    return then("", [count](auto from) { return std::make_unique<data::detail::prefetch_stage<element_type>>(std::move(from), count); });
  }

  // ---- iteration ----

  /// An iterator at the beginning.
  dataset_iterator<Ts...> iterate() const { return {description_, make()}; }
  auto begin() const { return typename dataset_iterator<Ts...>::cursor(std::make_shared<dataset_iterator<Ts...>>(description_, make())); }
  static std::default_sentinel_t end() { return {}; }

  /// The pipeline as a string: "range(0, 10, 1) | shuffle(10, 1) | batch(3)".
  const std::string& description() const { return description_; }
  /// Makes new stages for an iterator.
  std::unique_ptr<stage_type> make() const { return (*make_)(); }

  /// Appends a user-defined stage: `stage(std::unique_ptr<data::stage<std::tuple<Ts...>>>)` returns a stage of elements of type `To`.
  template <class To, class Stage>
  data::dataset_with<To> convert(const std::string& what, Stage next) const {
    return {what.empty() ? description_ : description_ + " | " + what,
            [make = make_, next]() -> std::unique_ptr<data::stage<To>> { return next((*make)()); }};
  }

 private:
  template <class Stage>
  dataset_of then(const std::string& what, Stage next) const {
    return convert<element_type>(what, next);
  }
  dataset_of part(const std::string& what, std::uint64_t first, std::uint64_t count) const {
    return then(what, [first, count](auto from) {
      return std::make_unique<data::detail::part_stage<element_type>>(std::move(from), first, count);
    });
  }
  template <class To>
  static std::string text_of() {
    return []<class... Us>(std::type_identity<std::tuple<Us...>>) { return data::element_text<Us...>(); }(std::type_identity<To>{});
  }

  std::string description_;
  std::shared_ptr<const maker> make_;
};

namespace dataset {

/// The components of the elements of several datasets, combined to one element; ends with the shortest dataset.
template <class First, class... Rest>
  requires(data::detail::is_dataset<First> && (data::detail::is_dataset<Rest> && ...))
auto zip(const First& first, const Rest&... rest) {
  using stage = data::detail::zip_stage<typename First::element_type, typename Rest::element_type...>;
  std::string text = "zip(" + first.description();
  ((text += ", " + rest.description()), ...);
  return data::dataset_with<typename stage::element>(text + ")",
                                                     [first, rest...]() -> std::unique_ptr<data::stage<typename stage::element>> {
                                                       return std::make_unique<stage>(first.make(), rest.make()...);
                                                     });
}

}  // namespace dataset

}  // namespace leat
