#pragma once
// Random order: elements wait in a buffer, and each returned element is chosen from the buffer with equal probability. If the buffer holds
// all elements, every order is equally likely. The choice is number k of a sequence that depends only on the seed and the pass, so the
// order of a pass is known without its elements; elements of arrays are accessed by index, and no buffer holds them. An error takes a place
// in the buffer, as an element does, so the order of the others does not depend on it.

#include <leat/core/philox.hpp>
#include <leat/data/stage.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace leat::data::detail {

// Whether all components are trivially copyable; a tuple of such components is not trivially copyable itself.
template <class Element>
inline constexpr bool are_trivial = false;
template <class... Ts>
inline constexpr bool are_trivial<std::tuple<Ts...>> = (std::is_trivially_copyable_v<Ts> && ...);

template <class Element>
class shuffle_stage final : public stage<Element> {
 public:
  shuffle_stage(std::unique_ptr<stage<Element>> from, std::uint64_t capacity, std::uint64_t seed)
      : from_(std::move(from)), capacity_(capacity), seed_(seed) {}

  void start(std::uint64_t pass) override {
    from_->start(pass);
    key_ = mix(mix(seed_, 0x73687566), pass);
    indexed_ = from_->is_indexed();
    total_ = indexed_ ? *from_->size() : unknown;
    waiting_ = taken_ = drawn_ = 0;
    numbers_.clear();
    failed_.clear();
  }

  bool next(Element& to) override {
    while (waiting_ < capacity_ && taken_ != total_) {
      if (!indexed_) {
        if (slots_.size() == waiting_) slots_.emplace_back();
        if (!fetch(slots_[waiting_], waiting_, failed_)) {
          total_ = taken_;
          break;
        }
      }
      if (indexed_) wait_for(taken_);
      else ++waiting_;
      ++taken_;
    }
    if (waiting_ == 0) return false;
    const std::size_t chosen = draw();
    if (indexed_) {
      const std::uint64_t number = numbers_[chosen];
      leave(chosen);
      from_->at(number, to);
      return true;
    }
    --waiting_;
    if (!failed_.empty()) {
      const auto failure = failed_.extract(chosen);
      if (auto last = failed_.extract(waiting_)) {
        last.key() = chosen;
        failed_.insert(std::move(last));
      }
      if (failure) {
        if (chosen != waiting_) std::swap(slots_[chosen], slots_[waiting_]);
        std::rethrow_exception(failure.mapped());
      }
    }
    if constexpr (are_trivial<Element>) {
      to = slots_[chosen];
      slots_[chosen] = slots_[waiting_];
    } else {
      std::swap(to, slots_[chosen]);
      if (chosen != waiting_) std::swap(slots_[chosen], slots_[waiting_]);
    }
    return true;
  }

  bool is_numbered() const override { return from_->is_indexed(); }
  bool next_number(std::uint64_t& number) override {
    while (waiting_ < capacity_ && taken_ != total_) wait_for(taken_++);
    if (waiting_ == 0) return false;
    const std::size_t chosen = draw();
    number = numbers_[chosen];
    leave(chosen);
    return true;
  }
  void put(std::span<const std::uint64_t> numbers, batch_of<Element>& to) override { from_->put(numbers, to); }

  std::uint64_t skip(std::uint64_t count, std::exception_ptr& failure) override {
    std::uint64_t total = total_;
    if (total == unknown) total = from_->size().value_or(unknown);
    if (total == unknown) return stage<Element>::skip(count, failure);
    const std::uint64_t done = std::min(count, total - drawn_);
    advance(done, total, failure);
    return done;
  }
  std::optional<std::uint64_t> size() const override { return from_->size(); }

  void save(state_numbers& to) const override { to.insert(to.end(), {drawn_, taken_, total_ == taken_}); }
  void restore(state_reader& from) override {
    const std::uint64_t drawn = from.take(), taken = from.take();
    const bool ended = from.take() != 0;
    if (drawn > taken) throw data_loss("the state of a shuffle has given more elements than it took");
    std::exception_ptr told;
    advance(drawn, indexed_ ? total_ : ended ? taken : unknown, told);
    if (!indexed_ && ended) total_ = taken;
  }

 private:
  static constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t missing = std::numeric_limits<std::size_t>::max();

  void wait_for(std::uint64_t number) {
    if (numbers_.size() == waiting_) numbers_.emplace_back();
    numbers_[waiting_++] = number;
  }
  std::size_t draw() {
    const std::uint64_t block = drawn_ / 4;
    if (block != block_of_ || drawn_ == 0) random_ = random_block(key_, block_of_ = block);
    return static_cast<std::size_t>((random_.words[drawn_++ % 4] * std::uint64_t{waiting_}) >> 32);
  }
  void leave(std::size_t chosen) { numbers_[chosen] = numbers_[--waiting_]; }
  // Reads an element, or the error in its place, into a slot. Returns false at the end.
  bool fetch(Element& to, std::size_t slot, std::map<std::size_t, std::exception_ptr>& failed) {
    try {
      return from_->next(to);
    } catch (...) {
      failed.emplace(slot, std::current_exception());
      return true;
    }
  }

  // Advances as if `count` elements of `total` had been returned: computes their order first, then reads only the elements that are in the
  // buffer at the end. `failure` receives the first error among the skipped elements.
  void advance(std::uint64_t count, std::uint64_t total, std::exception_ptr& failure) {
    const std::uint64_t before = taken_;
    numbers_.resize(std::max(numbers_.size(), waiting_));
    std::vector<std::size_t> slot_of;  // by position in the buffer: slot of the element; `missing`: not read yet
    for (std::size_t k = 0; k < waiting_; ++k) slot_of.push_back(k);
    for (std::uint64_t k = 0; k < count; ++k) {
      for (; waiting_ < capacity_ && taken_ != total; ++taken_) {
        slot_of.resize(waiting_ + 1);
        slot_of[waiting_] = missing;
        wait_for(taken_);
      }
      if (waiting_ == 0) throw data_loss("the state of a pipeline is beyond its end: its data have changed");
      const std::size_t chosen = draw();
      slot_of[chosen] = slot_of[waiting_ - 1];
      leave(chosen);
    }
    if (indexed_) return;
    const auto pass = [&](std::uint64_t many) {
      if (from_->skip(many, failure) != many) throw data_loss("the state of a pipeline is beyond its end: its data have changed");
    };
    std::vector<Element> slots(waiting_);
    std::map<std::size_t, std::exception_ptr> failed;
    std::vector<std::pair<std::uint64_t, std::size_t>> wanted;  // index of the element, position in the buffer
    for (std::size_t k = 0; k < waiting_; ++k) {
      if (slot_of[k] == missing) wanted.emplace_back(numbers_[k], k);
      else {
        std::swap(slots[k], slots_[slot_of[k]]);
        if (auto its = failed_.extract(slot_of[k])) {
          its.key() = k;
          failed.insert(std::move(its));
        }
      }
    }
    if (!failed_.empty() && !failure) failure = failed_.begin()->second;
    std::sort(wanted.begin(), wanted.end());
    std::uint64_t at = before;
    for (const auto& [number, slot] : wanted) {
      pass(number - at);
      if (!fetch(slots[slot], slot, failed)) pass(1);
      at = number + 1;
    }
    pass(taken_ - at);
    slots_ = std::move(slots);
    failed_ = std::move(failed);
  }

  std::unique_ptr<stage<Element>> from_;
  std::uint64_t capacity_, seed_, key_ = 0;
  bool indexed_ = false;
  std::uint64_t total_ = unknown, taken_ = 0, drawn_ = 0, block_of_ = 0;
  std::size_t waiting_ = 0;
  philox_block random_{};
  std::vector<std::uint64_t> numbers_;                // indices of the elements in the buffer, if they are of an array
  std::vector<Element> slots_;                        // the elements in the buffer, unless they are of an array; then empty ones
  std::map<std::size_t, std::exception_ptr> failed_;  // errors, by slot
};

}  // namespace leat::data::detail
