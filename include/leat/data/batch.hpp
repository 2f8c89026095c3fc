#pragma once
// Batches: several elements as one, in which each component has an additional first axis.

#include <leat/data/element.hpp>
#include <leat/data/stage.hpp>

#include <algorithm>
#include <limits>

namespace leat::data::detail {

// Calls f(i-th component of each tuple, i) for all i.
template <class F, class... Tuples>
void for_each_component(F f, Tuples&&... tuples) {
  using first = std::remove_cvref_t<std::tuple_element_t<0, std::tuple<Tuples...>>>;
  const auto at = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) { f(std::get<I>(tuples)..., I); };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (at(std::integral_constant<std::size_t, I>{}), ...);
  }(std::make_index_sequence<std::tuple_size_v<first>>{});
}
template <class T>
using batching_of = batching<std::remove_cvref_t<T>>;

/// Base of batching stages: how many elements a batch takes, and how batches are skipped. If an element of a batch is an error, the whole
/// batch is that error. The batch still takes its other elements, so that later batches are the same as without the error.
template <class Element, class Batch>
class batching_stage : public stage<Batch> {
 public:
  batching_stage(std::unique_ptr<stage<Element>> from, std::uint64_t rows, bool drop_remainder)
      : from_(std::move(from)), rows_(rows), drop_remainder_(drop_remainder) {}

  void start(std::uint64_t pass) override { from_->start(pass); }
  std::uint64_t skip(std::uint64_t count, std::exception_ptr& failure) override {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t elements = count > most / rows_ ? most : count * rows_;
    const std::uint64_t done = from_->skip(elements, failure);
    return done / rows_ + (done % rows_ != 0 && !drop_remainder_);
  }
  std::optional<std::uint64_t> size() const override {
    const auto all = from_->size();
    if (!all) return std::nullopt;
    return *all / rows_ + (*all % rows_ != 0 && !drop_remainder_);
  }
  void save(state_numbers& to) const override { from_->save(to); }
  void restore(state_reader& from) override { from_->restore(from); }

 protected:
  // Skips the elements after the first error of a batch. Further errors among them are dropped, because a batch reports one error.
  void pass_rest(std::uint64_t taken) {
    std::exception_ptr others;
    from_->skip(rows_ - taken, others);
  }
  std::unique_ptr<stage<Element>> from_;
  std::uint64_t rows_;
  bool drop_remainder_;
};

template <class Element>
class batch_stage final : public batching_stage<Element, batch_of<Element>> {
 public:
  using batch = batch_of<Element>;
  using batching_stage<Element, batch>::batching_stage;

  void start(std::uint64_t pass) override {
    batching_stage<Element, batch>::start(pass);
    is_numbered_ = this->from_->is_numbered();
  }
  bool next(batch& to) override {
    if (is_numbered_) {  // copies directly from the arrays
      numbers_.clear();
      for (std::uint64_t number; numbers_.size() < this->rows_ && this->from_->next_number(number);) numbers_.push_back(number);
      if (numbers_.empty() || (numbers_.size() < this->rows_ && this->drop_remainder_)) return false;
      this->from_->put(numbers_, to);
      return true;
    }
    // Allocates rows as needed, up to the largest batch so far, so that batch(n) with an n larger than the dataset does not allocate n
    // rows.
    std::size_t row = 0, room = std::min(rows(), largest_);
    try {
      for (; row < rows() && this->from_->next(element_); ++row) {
        if (row == room) {
          room = std::min(rows(), 2 * room);
          for_each_component([&](auto& all, std::size_t) { change_rows(all, row, room); }, to);
          largest_ = room;
        }
        put_row(to, row, room);
      }
    } catch (...) {
      this->pass_rest(row + 1);
      throw;
    }
    if (row == 0 || (row < rows() && this->drop_remainder_)) return false;
    if (row < room) for_each_component([&](auto& all, std::size_t) { change_rows(all, row, row); }, to);
    return true;
  }

 private:
  std::size_t rows() const { return static_cast<std::size_t>(this->rows_); }
  void put_row(batch& to, std::size_t row, std::size_t room) {
    if (row == 0) {
      for_each_component([&](auto& all, const auto& one, std::size_t) { batching_of<decltype(one)>::begin(all, one, room); }, to, element_);
    } else {
      for_each_component(
          [&](const auto& all, const auto& one, std::size_t i) {
            if (!batching_of<decltype(one)>::fits(all, one))
              throw invalid_argument("batch: component " + std::to_string(i) + " of row " + std::to_string(row) +
                                     " has another shape than that of row 0; padded_batch takes rows of different sizes");
          },
          to, element_);
    }
    for_each_component([&](auto& all, const auto& one, std::size_t) { batching_of<decltype(one)>::put(all, row, one); }, to, element_);
  }
  static void change_rows(std::vector<std::string>& all, std::size_t, std::size_t count) { all.resize(count); }
  template <class T, std::size_t Rank>
  static void change_rows(xt::xtensor<T, Rank>& all, std::size_t kept, std::size_t count) {
    auto extent = all.shape();
    const std::size_t row = all.size() / extent[0];
    extent[0] = count;
    auto made = xt::xtensor<T, Rank>::from_shape(extent);
    std::copy_n(all.data(), kept * row, made.data());
    std::swap(all, made);
  }

  std::size_t largest_ = 1024;
  Element element_{};
  bool is_numbered_ = false;
  std::vector<std::uint64_t> numbers_;
};

/// A batch of elements of different sizes, each padded to the largest of its batch.
template <class Element>
class padded_batch_stage final : public batching_stage<Element, batch_of<Element>> {
 public:
  using batch = batch_of<Element>;
  padded_batch_stage(std::unique_ptr<stage<Element>> from, std::uint64_t rows, bool drop_remainder, double padding)
      : batching_stage<Element, batch>(std::move(from), rows, drop_remainder), padding_(padding) {}

  bool next(batch& to) override {
    std::size_t count = 0;
    try {
      for (; count < this->rows_; ++count) {
        if (elements_.size() == count) elements_.emplace_back();
        if (!this->from_->next(elements_[count])) break;
      }
    } catch (...) {
      this->pass_rest(count + 1);
      throw;
    }
    if (count == 0 || (count < this->rows_ && this->drop_remainder_)) return false;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (fill<I>(std::get<I>(to), std::get<I>(elements_[0]), count), ...);
    }(std::make_index_sequence<std::tuple_size_v<Element>>{});
    return true;
  }

 private:
  template <std::size_t I, class All, class One>
  void fill(All& all, const One& first, std::size_t count) {
    batching<One>::begin(all, first, count);
    for (std::size_t row = 0; row < count; ++row) batching<One>::put(all, row, std::get<I>(elements_[row]));
  }
  template <std::size_t I, class T, std::size_t Rank>
    requires(Rank > 0)
  void fill(xt::xtensor<T, Rank + 1>& all, const xt::xtensor<T, Rank>&, std::size_t count) {
    typename xt::xtensor<T, Rank + 1>::shape_type extent{};
    extent[0] = count;
    for (std::size_t row = 0; row < count; ++row)
      for (std::size_t k = 0; k < Rank; ++k) extent[k + 1] = std::max<std::size_t>(extent[k + 1], std::get<I>(elements_[row]).shape()[k]);
    all.resize(extent);
    std::fill_n(all.data(), all.size(), static_cast<T>(padding_));
    // Copies contiguous runs along the last axis.
    for (std::size_t row = 0; row < count; ++row) {
      const auto& one = std::get<I>(elements_[row]);
      const std::size_t run = one.shape()[Rank - 1];
      if (one.size() == 0) continue;
      std::array<std::size_t, Rank> index{};
      for (std::size_t from = 0; from < one.size(); from += run) {
        std::size_t at = row;
        for (std::size_t k = 0; k < Rank; ++k) at = at * extent[k + 1] + index[k];
        std::copy_n(one.data() + from, run, all.data() + at);
        for (std::size_t k = Rank - 1; k-- > 0;) {
          if (++index[k] < one.shape()[k]) break;
          index[k] = 0;
        }
      }
    }
  }

  std::vector<Element> elements_;
  double padding_;
};

}  // namespace leat::data::detail
