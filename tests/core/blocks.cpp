#include <leat/core/blocks.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using leat::detail::blocks;

TEST_CASE("elements stay where they are while the row grows") {
  blocks<std::string, 4> row;
  CHECK(row.size() == 0);
  std::vector<std::string*> at;
  for (int i = 0; i < 30; ++i) {
    row.emplace_back() = "a text that has memory of its own, number " + std::to_string(i);
    at.push_back(&row[static_cast<std::size_t>(i)]);
  }
  CHECK(row.size() == 30);
  for (std::size_t i = 0; i < 30; ++i) {
    CHECK(&row[i] == at[i]);
    CHECK(row[i].ends_with("number " + std::to_string(i)));
  }
}

TEST_CASE("an element ends when it is taken off, or with the row") {
  const auto counted = std::make_shared<int>(1);
  {
    blocks<std::shared_ptr<int>, 2> row;
    for (int i = 0; i < 5; ++i) row.emplace_back() = counted;
    CHECK(counted.use_count() == 6);
    row.pop_back();
    row.pop_back();
    CHECK(counted.use_count() == 4);
    CHECK(row.emplace_back() == nullptr);
    CHECK(row.size() == 4);
  }
  CHECK(counted.use_count() == 1);
}
