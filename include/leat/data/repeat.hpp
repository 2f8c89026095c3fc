#pragma once
// Subsets and repetitions: `repeat`, `take`, `skip`.

#include <leat/data/stage.hpp>

#include <algorithm>
#include <limits>

namespace leat::data::detail {

/// The count of an endless repetition.
inline constexpr std::uint64_t forever = std::numeric_limits<std::uint64_t>::max();

template <class Element>
class repeat_stage final : public stage<Element> {
 public:
  repeat_stage(std::unique_ptr<stage<Element>> from, std::uint64_t count) : from_(std::move(from)), count_(count) {}

  void start(std::uint64_t pass) override {
    pass_ = pass;
    epoch_ = 0;
    any_ = false;
    if (count_ > 0) begin_epoch();
  }
  bool next(Element& to) override {
    while (epoch_ != count_) {
      const bool before = std::exchange(any_, true);  // set even if the call throws
      if (from_->next(to)) return true;
      any_ = before;
      if (!end_epoch()) return false;
    }
    return false;
  }
  bool is_numbered() const override { return from_->is_numbered(); }
  bool next_number(std::uint64_t& number) override {
    while (epoch_ != count_) {
      if (from_->next_number(number)) return any_ = true;
      if (!end_epoch()) return false;
    }
    return false;
  }
  void put(std::span<const std::uint64_t> numbers, batch_of<Element>& to) override { from_->put(numbers, to); }
  std::uint64_t skip(std::uint64_t count, std::exception_ptr& failure) override {
    std::uint64_t done = 0;
    while (epoch_ != count_ && done < count) {
      const std::uint64_t now = from_->skip(count - done, failure);
      done += now;
      any_ = any_ || now > 0;
      if (done == count || !end_epoch()) break;
      if (const auto each = from_->size(); each && *each > 0 && epoch_ != count_) {
        const std::uint64_t whole = std::min((count - done) / *each, count_ - epoch_);
        if (whole > 0) {
          epoch_ += whole;
          done += whole * *each;
          if (epoch_ != count_) begin_epoch();
        }
      }
    }
    return done;
  }
  std::optional<std::uint64_t> size() const override {
    const auto each = from_->size();
    if (each && (*each == 0 || count_ == 0)) return 0;
    if (!each || count_ == forever || *each > forever / count_) return std::nullopt;
    return *each * count_;
  }

  void save(state_numbers& to) const override {
    to.insert(to.end(), {epoch_, any_});
    if (epoch_ != count_) from_->save(to);
  }
  void restore(state_reader& from) override {
    epoch_ = from.take();
    any_ = from.take() != 0;
    if (epoch_ > count_) throw data_loss("the state of a pipeline has more passes than it");
    if (epoch_ == count_) return;
    if (epoch_ > 0) begin_epoch();
    from_->restore(from);
  }

 private:
  void begin_epoch() { from_->start(mix(pass_, epoch_)); }
  // Ends a pass. A pass without elements ends the repetition, which otherwise would never end.
  bool end_epoch() {
    if (!any_) epoch_ = count_;
    else if (++epoch_ != count_) begin_epoch();
    any_ = false;
    return epoch_ != count_;
  }

  std::unique_ptr<stage<Element>> from_;
  std::uint64_t count_, pass_ = 0, epoch_ = 0;
  bool any_ = false;  // whether this pass has yielded an element or an error
};

/// The elements from index `first` on, at most `count`. Errors of earlier elements are not lost: the first of them takes the place of the
/// first element.
template <class Element>
class part_stage final : public stage<Element> {
 public:
  part_stage(std::unique_ptr<stage<Element>> from, std::uint64_t first, std::uint64_t count)
      : from_(std::move(from)), first_(first), count_(count) {}

  void start(std::uint64_t pass) override {
    from_->start(pass);
    given_ = 0;
    begun_ = false;
  }
  bool next(Element& to) override {
    if (given_ == count_) return false;
    ++given_;
    if (std::exception_ptr failure = begin()) {
      from_->skip(1, failure);
      std::rethrow_exception(failure);
    }
    if (from_->next(to)) return true;
    --given_;
    return false;
  }
  std::uint64_t skip(std::uint64_t count, std::exception_ptr& failure) override {
    count = std::min(count, count_ - given_);
    if (count == 0) return 0;
    const std::exception_ptr before = begin();
    if (!failure) failure = before;
    std::uint64_t done = from_->skip(count, failure);
    if (before && done == 0) done = 1;
    given_ += done;
    return done;
  }
  std::optional<std::uint64_t> size() const override {
    const auto all = from_->size();
    if (!all) return std::nullopt;
    return std::min(*all > first_ ? *all - first_ : 0, count_);
  }
  bool is_indexed() const override { return from_->is_indexed(); }
  void at(std::uint64_t index, Element& to) override { from_->at(first_ + index, to); }
  bool is_numbered() const override { return from_->is_numbered(); }
  bool next_number(std::uint64_t& number) override {
    if (const std::exception_ptr failure = begin()) std::rethrow_exception(failure);
    if (given_ == count_ || !from_->next_number(number)) return false;
    ++given_;
    number -= offset();
    return true;
  }
  void put(std::span<const std::uint64_t> numbers, batch_of<Element>& to) override {
    if (offset() == 0) return from_->put(numbers, to);
    numbers_.assign(numbers.begin(), numbers.end());
    for (std::uint64_t& number : numbers_) number += offset();
    from_->put(numbers_, to);
  }

  void save(state_numbers& to) const override {
    to.insert(to.end(), {begun_, given_});
    from_->save(to);
  }
  void restore(state_reader& from) override {
    begun_ = from.take() != 0;
    given_ = from.take();
    from_->restore(from);
  }

 private:
  // Skips the elements before the first one; returns the first error among them.
  std::exception_ptr begin() {
    std::exception_ptr failure;
    if (!std::exchange(begun_, true)) from_->skip(first_, failure);
    return failure;
  }
  // Indices of a slice of an array are relative to its first element; those of a shuffled array are unchanged.
  std::uint64_t offset() const { return from_->is_indexed() ? first_ : 0; }
  std::unique_ptr<stage<Element>> from_;
  std::uint64_t first_, count_, given_ = 0;
  bool begun_ = false;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace leat::data::detail
