#include <leat/core/operator_table.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

struct entry {
  std::shared_ptr<const std::string> text;
  std::optional<int> number;
};

}  // namespace

TEST_CASE("a field is entered once, or replaced, and does not change the other fields of its operator") {
  leat::detail::operator_table<entry> table;
  CHECK(*table.enter("Tanh", &entry::text, std::make_shared<const std::string>("first")) == "first");
  CHECK(*table.enter("Tanh", &entry::text, std::make_shared<const std::string>("second")) == "first");
  CHECK_FALSE(table.find("Tanh", &entry::number));
  CHECK(*table.enter("Tanh", &entry::number, 0) == 0);  // 0 is a number, too
  CHECK(*table.enter("Tanh", &entry::number, 1) == 0);
  const auto before = table.find("Tanh", &entry::text);
  table.replace("Tanh", &entry::text, std::make_shared<const std::string>("third"));
  CHECK(*before == "first");
  CHECK(*table.find("Tanh", &entry::text) == "third");
  CHECK(table.find("Tanh").number == 0);
}

TEST_CASE("operators are found by a part of a string, and only those that have the field") {
  leat::detail::operator_table<entry> table;
  table.enter("Sin", &entry::number, 1);
  table.enter("Cos", &entry::number, 2);
  table.enter("Tan", &entry::text, std::make_shared<const std::string>("tan"));
  const std::string_view types = "Sinh Cosh Tanh";
  CHECK(table.find(types.substr(5, 3), &entry::number) == 2);
  CHECK_FALSE(table.find(types.substr(5, 4), &entry::number));
  CHECK_FALSE(table.find(types.substr(10, 3), &entry::number));
  CHECK(table.find("Log").text == nullptr);
  auto known = table.keys(&entry::number);
  std::sort(known.begin(), known.end());
  CHECK(known == std::vector<std::string_view>{"Cos", "Sin"});
  CHECK(table.any_of(&entry::number, [](const auto& n) { return *n == 2; }));
  CHECK_FALSE(table.any_of(&entry::number, [](const auto& n) { return *n == 3; }));
}

TEST_CASE("operators by code") {
  leat::detail::operator_table<entry, int> table;
  table.enter(-7, &entry::number, 1);
  CHECK(table.find(-7, &entry::number) == 1);
  CHECK_FALSE(table.find(7, &entry::number));
  CHECK(table.keys(&entry::number) == std::vector<int>{-7});
}

TEST_CASE("threads that enter the same operators agree on the first one") {
  leat::detail::operator_table<entry> table;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 500; ++k) {
        const std::string type = "Type" + std::to_string(k);
        const int stays = *table.enter(type, &entry::number, t);
        if (table.find(type, &entry::number) != stays) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(table.keys(&entry::number).size() == 500);
}
