#pragma once
// The stages of a running pipeline: a chain in which each stage takes elements from the one before it. A pass is one iteration over the
// elements; `repeat` restarts the earlier stages with the number of the pass, which determines the order of a shuffle.
//
// The state of a pipeline is a list of integers: each stage appends its counters, then the stage before it does. Elements are not stored:
// restoring a state reads the same elements again, and `skip` skips those that are not needed as cheaply as each stage can (an array at
// once, a repetition by whole passes).
//
// An error takes the place of an element: `next` throws it, and the next call continues after it. All stages count it as one element, so
// that the pipelines of a `zip` stay aligned, and a restored pipeline yields the same elements.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/text.hpp>
#include <leat/data/element.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::data {

/// The integers of a pipeline's state.
using state_numbers = std::vector<std::uint64_t>;

/// Reads the integers of a state in order.
class state_reader {
 public:
  explicit state_reader(std::span<const std::uint64_t> numbers) : rest_(numbers) {}
  /// The next integer. Errors: data_loss if there are no more.
  std::uint64_t take() { return take(1)[0]; }
  std::span<const std::uint64_t> take(std::uint64_t count) {
    if (count > rest_.size()) throw data_loss("the state of a pipeline is cut off");
    const auto first = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(static_cast<std::size_t>(count));
    return first;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::span<const std::uint64_t> rest_;
};

/// One stage of a running pipeline.
template <class Element>
class stage {
 public:
  using element = Element;

  stage() = default;
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;
  virtual ~stage() = default;

  /// Starts a pass. Called before any other function.
  virtual void start(std::uint64_t pass) = 0;
  /// Writes the next element. Returns false at the end of the pass, also in later calls.
  virtual bool next(Element& to) = 0;
  /// Skips up to `count` elements and returns the number of skipped ones, which is less only at the end of the pass. Errors count as
  /// elements; the first error is stored in `failure`, unless it is set already.
  virtual std::uint64_t skip(std::uint64_t count, std::exception_ptr& failure) {
    Element passed{};
    std::uint64_t done = 0;
    for (; done < count; ++done) {
      try {
        if (!next(passed)) break;
      } catch (...) {
        if (!failure) failure = std::current_exception();
      }
    }
    return done;
  }
  /// The number of elements of a pass, if it is known without reading them.
  virtual std::optional<std::uint64_t> size() const { return std::nullopt; }

  /// Whether elements can be accessed in any order by index; then `size` is known.
  virtual bool is_indexed() const { return false; }
  virtual void at(std::uint64_t, Element&) {}

  /// Whether the elements are those of an array in some order. Then `next_number` may be called instead of `next` and yields the element's
  /// index in the array, and `put` writes a batch of such elements without copying each separately.
  virtual bool is_numbered() const { return is_indexed(); }
  virtual bool next_number(std::uint64_t&) { return false; }
  virtual void put(std::span<const std::uint64_t>, batch_of<Element>&) {}

  /// Appends the counters that determine the stage's position.
  virtual void save(state_numbers& to) const = 0;
  /// Advances from the beginning of the same pass to a saved position. Errors: data_loss if it is not a state of this pipeline.
  virtual void restore(state_reader& from) = 0;
};

namespace detail {

// Skips elements when a state is restored. Their errors were thrown when they were first read, and are not thrown again.
template <class Element>
void skip_exactly(stage<Element>& from, std::uint64_t count) {
  std::exception_ptr known;
  if (from.skip(count, known) != count) throw data_loss("the state of a pipeline is beyond its end: its data have changed");
}

/// A stage whose elements are accessed by index.
template <class Element>
class indexed_stage : public stage<Element> {
 public:
  explicit indexed_stage(std::uint64_t size) : size_(size) {}
  void start(std::uint64_t) override { at_ = 0; }
  bool next(Element& to) override {
    if (at_ == size_) return false;
    this->at(at_, to);
    ++at_;
    return true;
  }
  bool next_number(std::uint64_t& number) override {
    if (at_ == size_) return false;
    number = at_++;
    return true;
  }
  std::uint64_t skip(std::uint64_t count, std::exception_ptr&) override {
    const std::uint64_t done = count < size_ - at_ ? count : size_ - at_;
    at_ += done;
    return done;
  }
  std::optional<std::uint64_t> size() const override { return size_; }
  bool is_indexed() const override { return true; }
  void save(state_numbers& to) const override { to.push_back(at_); }
  void restore(state_reader& from) override { skip_exactly(*this, from.take()); }

 private:
  std::uint64_t at_ = 0, size_;
};

// A setting in a description: with six decimals if these are exact, else with as many digits as distinguish it from any other value.
std::string setting_text(double value);

}  // namespace detail

/// A state as JSON text: the pipeline's description and the integers, with a checksum. Bytes of the description that are not UTF-8, as
/// names of files and columns may have, are written as "\xf6".
std::string write_state(std::string_view description, const state_numbers& numbers);
/// The integers of a state's JSON text. Errors: data_loss if it is damaged; invalid_argument, with both descriptions, for the state of
/// another pipeline; unimplemented for a later version of the format.
state_numbers read_state(std::string_view text, std::string_view description);

}  // namespace leat::data

#if LEAT_WITH_BODIES
#include <leat/data/impl/stage.hpp>
#endif
