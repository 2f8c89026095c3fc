#include <leat/core/short_list.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using leat::detail::short_list;

namespace {
struct pair_of_numbers {
  int first = 0;
  long second = 0;
};
template <class List>
std::string text(const List& list) {
  std::string all;
  for (const int i : list) all += std::to_string(i) + " ";
  return all;
}
}  // namespace

TEST_CASE("few elements lie in the list, more of them outside, and none is lost on the way") {
  for (const int count : {0, 1, 2, 3, 4, 100}) {
    CAPTURE(count);
    short_list<int, 2> list;
    std::vector<int> same;
    for (int i = 0; i < count; ++i) {
      list.push_back(7 * i);
      same.push_back(7 * i);
    }
    CHECK(list.size() == same.size());
    CHECK(list.empty() == same.empty());
    CHECK(text(list) == text(same));
    const char* const from = reinterpret_cast<const char*>(&list);
    const char* const at = reinterpret_cast<const char*>(list.data());
    CHECK((at >= from && at < from + sizeof(list)) == (count <= 2));

    short_list<int, 2> copy = list, other{1, 2, 3};
    CHECK(text(copy) == text(same));
    other = list;
    CHECK(text(other) == text(same));
    other = std::as_const(other);
    CHECK(text(other) == text(same));
    short_list<int, 2> moved = std::move(list);
    CHECK(text(moved) == text(same));
    CHECK(list.empty());
    list.push_back(5);
    CHECK(text(list) == "5 ");
    copy = std::move(moved);
    CHECK(text(copy) == text(same));
    CHECK(text(short_list<int, 2>(same)) == text(same));
  }
}

TEST_CASE("an element of the list can be appended to it") {
  short_list<int, 1> list{41};
  for (int i = 0; i < 20; ++i) list.push_back(list[0]);
  CHECK(list.size() == 21);
  CHECK(list.back() == 41);
}

TEST_CASE("rows are appended and filled") {
  short_list<int, 2> list;
  list.append(nullptr, 0);
  CHECK(list.empty());
  const int row[]{1, 2, 3, 4, 5};
  list.append(row, 5);
  list.append(row, 1);
  CHECK(text(list) == "1 2 3 4 5 1 ");
  list.assign(3, list[4]);
  CHECK(text(list) == "5 5 5 ");
  list.clear();
  CHECK(list.empty());
  list.push_back(7);
  CHECK(std::as_const(list).back() == 7);
  short_list<pair_of_numbers, 1> pairs;
  pairs.emplace_back(1, 2L);
  pairs.emplace_back(3, 4L);
  CHECK(pairs[0].second == 2);
  CHECK(pairs[1].first == 3);
}
