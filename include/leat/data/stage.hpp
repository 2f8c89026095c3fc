#pragma once
// What a pipeline consists of when it runs: a chain of stages, each of which takes elements from the one before it. A pass is one way
// through the elements; `repeat` starts the stages before it anew, with the number of the pass, from which a shuffle has its order.
//
// The state of a pipeline is a list of numbers: each stage adds its counters, then the stage before it does. Elements are not stored:
// who restores a state goes through the same elements again, and `skip` passes over those that are not needed as cheaply as each stage
// can (an array at once, a repetition by whole passes).
//
// An error takes the place of an element: `next` throws it, and the next call goes on behind. All stages count it as one, so that
// pipelines beside each other (`zip`) stay in step, and a restored pipeline gives the same elements.

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

/// The numbers of a pipeline's state.
using state_numbers = std::vector<std::uint64_t>;

/// Takes the numbers of a state one by one.
class state_reader {
 public:
  explicit state_reader(std::span<const std::uint64_t> numbers) : rest_(numbers) {}
  /// Errors: data_loss if there are no more.
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

/// One stage of a pipeline at work.
template <class Element>
class stage {
 public:
  using element = Element;

  stage() = default;
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;
  virtual ~stage() = default;

  /// Goes to the begin of a pass. Called before anything else.
  virtual void start(std::uint64_t pass) = 0;
  /// Writes the next element; false at the end of the pass, also when it is called again.
  virtual bool next(Element& to) = 0;
  /// Passes over up to `count` elements and tells over how many; fewer only at the end of the pass. Errors count; the first one met is
  /// written to `failure`, unless that has one already.
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
  /// The number of elements of a pass, where it follows without looking at them.
  virtual std::optional<std::uint64_t> size() const { return std::nullopt; }

  /// Whether elements can be had in any order, by their number: then `size` is known.
  virtual bool is_indexed() const { return false; }
  virtual void at(std::uint64_t, Element&) {}

  /// Whether the elements of an array come in some order: then `next_number` may be called for `next`, and gives the element's number in
  /// the array, and `put` writes a batch of such elements without a copy of each.
  virtual bool is_numbered() const { return is_indexed(); }
  virtual bool next_number(std::uint64_t&) { return false; }
  virtual void put(std::span<const std::uint64_t>, batch_of<Element>&) {}

  /// Adds the numbers that tell where the stage is.
  virtual void save(state_numbers& to) const = 0;
  /// Goes to where a state says, from the begin of the same pass. Errors: data_loss if it is no state of this pipeline.
  virtual void restore(state_reader& from) = 0;
};

namespace detail {

// For restoring: the errors of these elements were thrown when they were first read, and are not thrown again.
template <class Element>
void skip_exactly(stage<Element>& from, std::uint64_t count) {
  std::exception_ptr known;
  if (from.skip(count, known) != count) throw data_loss("the state of a pipeline is beyond its end: its data have changed");
}

/// A stage whose elements are known by their number.
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

// A number in a description: six digits behind the point if that is the number, else as many as tell it from any other.
std::string setting_text(double value);

}  // namespace detail

/// A state as JSON text: the pipeline's description and the numbers, with a checksum. Bytes of the description that are not UTF-8, as
/// names of files and columns may have, are written as "\xf6".
std::string write_state(std::string_view description, const state_numbers& numbers);
/// The numbers of such a text. Errors: data_loss if it is damaged; invalid_argument, with both descriptions, for another pipeline's.
state_numbers read_state(std::string_view text, std::string_view description);

}  // namespace leat::data

#if LEAT_WITH_BODIES
#include <leat/data/stage_bodies.hpp>
#endif
