#include <leat/core/list.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using leat::detail::list;
using leat::detail::list_view;

namespace {

constexpr int sum(list_view<int> rows) {
  int s = 0;
  for (const int r : rows) s += r;
  return s;
}

// In constant evaluation, where a compiler refuses what is not freed, read before it is written, or out of bounds.
constexpr bool behaves() {
  list<int> a{3, 1, 2};
  for (int i = 0; i < 40; ++i) a.push_back(i);
  list<int> b = a;
  b.insert(b.begin(), 7);
  b.insert(b.begin() + 2, 9);
  b.insert(b.end(), 11);
  if (b.size() != 46 || b[0] != 7 || b[2] != 9 || b[3] != 1 || b.back() != 11) return false;
  b.erase(b.begin() + 2);
  b.erase(b.begin(), b.begin() + 1);
  b.pop_back();
  if (!(a == b)) return false;
  b = std::move(a);
  a.assign(3, 5);
  a.resize(5);
  a.resize(6, a[0]);
  list<list<int>> nested(2);
  nested[1] = a;
  nested.resize(9, nested[1]);  // an element of its own
  nested.clear();
  nested.resize(1);
  return sum(a) == 20 && nested[0].empty() && sum(b) == 6 + 39 * 20 && sum({}) == 0 && list<int>().empty();
}
static_assert(behaves());

struct costly {
  static inline int alive = 0, copies_left = 100;
  costly() { ++alive; }
  costly(const costly&) {
    if (--copies_left < 0) throw std::runtime_error("no more copies");
    ++alive;
  }
  costly(costly&&) noexcept { ++alive; }
  static inline long moves = 0;
  costly& operator=(const costly&) {
    if (--copies_left < 0) throw std::runtime_error("no more copies");
    return *this;
  }
  costly& operator=(costly&&) noexcept {
    ++moves;
    return *this;
  }
  ~costly() { --alive; }
};

}  // namespace

TEST_CASE("a list is what a vector is") {
  CHECK(behaves());
  const std::vector<int> given{1, 2, 3};
  const list<int> rows = given;
  CHECK(sum(rows) == 6);
  CHECK(list<int>(given.data(), 2) == list<int>{1, 2});
  CHECK_FALSE(rows == list<int>{1, 2});
  CHECK_FALSE(rows == list<int>{1, 2, 4});
  list<std::string> texts(3, "a text that is too long for the string's own memory");
  texts.push_back(texts[1]);  // moves the element that is given
  texts.insert(texts.begin(), texts.back());
  for (const std::string& t : texts) CHECK(t == texts.front());
  const auto& same = texts;
  texts = same;
  CHECK(texts.size() == 5);
  list<std::unique_ptr<int>> owners;
  owners.push_back(std::make_unique<int>(4));
  owners.resize(3);
  CHECK((*owners[0] == 4 && owners[2] == nullptr));
}

TEST_CASE("a copy that fails leaves a list as it was, and nothing behind") {
  {
    list<costly> rows(5);
    costly::copies_left = 3;
    CHECK_THROWS_AS(list<costly>{rows}, std::runtime_error);
    list<costly> other(2);
    costly::copies_left = 3;
    CHECK_THROWS_AS(other = rows, std::runtime_error);
    CHECK((other.size() == 2 && rows.size() == 5));
  }
  CHECK(costly::alive == 0);
}

TEST_CASE("a list that grows by one element at a time moves each a few times only") {
  constexpr std::size_t count = 20000;
  costly::moves = 0;
  list<costly> pushed, resized;
  for (std::size_t k = 0; k < count; ++k) {
    pushed.push_back({});
    resized.resize(k + 1);
  }
  CHECK(costly::moves < 8 * static_cast<long>(count));
}
