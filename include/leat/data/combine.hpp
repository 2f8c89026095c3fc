#pragma once
// Combinations of several pipelines: `zip`, `interleave`.

#include <leat/data/stage.hpp>

#include <algorithm>
#include <exception>
#include <tuple>

namespace leat::data::detail {

/// Elements that consist of the components of one element of each pipeline; ends with the shortest pipeline.
template <class... Elements>
class zip_stage final : public stage<decltype(std::tuple_cat(std::declval<Elements>()...))> {
 public:
  using element = decltype(std::tuple_cat(std::declval<Elements>()...));
  explicit zip_stage(std::unique_ptr<stage<Elements>>... from) : from_(std::move(from)...) {}

  void start(std::uint64_t pass) override {
    ended_ = false;
    each([&](auto& from, auto&) { from->start(pass); });
  }
  bool next(element& to) override {
    // If one pipeline fails, the others still advance, so that they stay aligned.
    std::exception_ptr failure;
    each([&](auto& from, auto& part) {
      try {
        ended_ = ended_ || !from->next(part);
      } catch (...) {
        if (!failure) failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
    if (ended_) return false;
    hand_over(to);
    return true;
  }
  bool is_indexed() const override {
    return std::apply([](const auto&... from) { return (from->is_indexed() && ...); }, from_);
  }
  bool is_numbered() const override { return false; }
  void at(std::uint64_t index, element& to) override {
    each([&](auto& from, auto& part) { from->at(index, part); });
    hand_over(to);
  }
  std::uint64_t skip(std::uint64_t count, std::exception_ptr& failure) override {
    each([&](auto& from, auto&) {
      if (const auto size = from->size()) count = std::min(count, *size);
    });
    std::uint64_t done = count;
    each([&](auto& from, auto&) { done = std::min(done, from->skip(count, failure)); });
    ended_ = ended_ || done < count;
    return done;
  }
  std::optional<std::uint64_t> size() const override {
    std::optional<std::uint64_t> least;
    bool known = true;
    std::apply(
        [&](const auto&... from) {
          const auto look = [&](const std::optional<std::uint64_t>& size) {
            known = known && size;
            if (size) least = least ? std::min(*least, *size) : *size;
          };
          (look(from->size()), ...);
        },
        from_);
    return known ? least : std::nullopt;
  }
  void save(state_numbers& to) const override {
    to.push_back(ended_);
    std::apply([&](const auto&... from) { (from->save(to), ...); }, from_);
  }
  void restore(state_reader& from) override {
    ended_ = from.take() != 0;
    each([&](auto& one, auto&) { one->restore(from); });
  }

 private:
  // Swaps the components, so that memory is reused.
  void hand_over(element& to) {
    auto parts = std::apply([](auto&... part) { return std::tuple_cat(tied(part)...); }, parts_);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      using std::swap;
      (swap(std::get<I>(to), std::get<I>(parts)), ...);
    }(std::make_index_sequence<std::tuple_size_v<element>>{});
  }
  template <class... Ts>
  static std::tuple<Ts&...> tied(std::tuple<Ts...>& part) {
    return std::apply([](auto&... component) { return std::tie(component...); }, part);
  }
  template <class F>
  void each(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f(std::get<I>(from_), std::get<I>(parts_)), ...);
    }(std::make_index_sequence<sizeof...(Elements)>{});
  }

  std::tuple<std::unique_ptr<stage<Elements>>...> from_;
  std::tuple<Elements...> parts_{};
  bool ended_ = false;
};

/// The elements of the pipelines that a function makes from elements, some elements of each pipeline in turn.
template <class From, class To, class F>
class interleave_stage final : public stage<To> {
 public:
  interleave_stage(std::unique_ptr<stage<From>> from, F f, std::size_t cycle, std::uint64_t block)
      : from_(std::move(from)), f_(std::move(f)), open_(cycle), block_(block) {}

  void start(std::uint64_t pass) override {
    pass_ = pass;
    from_->start(pass);
    std::fill(open_.begin(), open_.end(), nullptr);
    at_ = 0;
    within_ = opened_ = given_ = 0;
    ended_ = false;
  }
  bool next(To& to) override {
    ++given_;  // even if the call throws
    if (next_in_turn(to)) return true;
    --given_;
    return false;
  }
  // The open pipelines follow from the elements that they were made from, so restoring reads all elements again.
  void save(state_numbers& to) const override { to.push_back(given_); }
  void restore(state_reader& from) override { skip_exactly(*this, from.take()); }

 private:
  bool next_in_turn(To& to) {
    std::size_t without = 0;  // successive turns without a pipeline
    while (without < open_.size()) {
      auto& now = open_[at_];
      if (now == nullptr && !ended_) {
        const std::uint64_t number = opened_++;  // counted even if making the pipeline fails
        if (!from_->next(element_)) {
          ended_ = true;
        } else {
          auto made = std::apply(f_, element_).make();
          made->start(mix(pass_, number));
          now = std::move(made);
        }
      }
      if (now == nullptr) {
        ++without;
        turn();
        continue;
      }
      without = 0;
      const bool is_last = ++within_ == block_;
      if (is_last) turn();
      if (now->next(to)) return true;
      now = nullptr;
      if (!is_last) turn();
    }
    return false;
  }
  void turn() {
    at_ = (at_ + 1) % open_.size();
    within_ = 0;
  }
  std::unique_ptr<stage<From>> from_;
  F f_;
  From element_{};
  std::vector<std::unique_ptr<stage<To>>> open_;
  std::size_t at_ = 0;
  std::uint64_t block_, within_ = 0, opened_ = 0, given_ = 0, pass_ = 0;
  bool ended_ = false;
};

}  // namespace leat::data::detail
