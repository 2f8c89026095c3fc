#include <leat/graph/facts.hpp>

#include <doctest/doctest.h>

#include <leat/graph/operator.hpp>

#include <vector>

using namespace leat;

TEST_CASE("a set of inputs: its members in order, and those among the first ones") {
  input_set set;
  CHECK(set.empty());
  for (const int k : {63, 2, 0}) set.insert(k);
  std::vector<int> members;
  for (const int k : set) members.push_back(k);
  CHECK(members == std::vector{0, 2, 63});
  CHECK(set.contains(2));
  CHECK(!set.contains(1));
  CHECK(!set.contains(64));
  CHECK(set.among(2) == input_set{1});
  CHECK(set.among(0).empty());
  CHECK(set.among(64) == set);
}

TEST_CASE("inputs in a row, from the first or from the end") {
  constexpr input_range none{}, second{1, 1}, last{-1, 1}, two{1, 2};
  CHECK(!none.contains(0, 3));
  CHECK(second.contains(1, 3));
  CHECK(!second.contains(0, 3));
  CHECK(!second.contains(2, 3));
  CHECK(last.contains(2, 3));
  CHECK(!last.contains(1, 3));
  CHECK(two.contains(2, 3));
}

namespace {
struct plain_operator {
  static constexpr std::string_view type = "TestPlainFacts";
  static constexpr op_kind kind = op_kind::element;
  static constexpr inference infer(const operand_list&) { return {}; }
};
struct stated_operator : plain_operator {
  static constexpr std::string_view type = "TestStatedFacts";
  static constexpr facts what{.work = work_kind::product, .stops_gradient = true};
};
struct assigning_operator : plain_operator {
  static constexpr std::string_view type = "TestAssigningFacts";
  static constexpr op_kind kind = op_kind::assign;
};
}  // namespace

TEST_CASE("the facts of a class: what it states, or those of its kind") {
  static_assert(info_of<plain_operator>.what.is_pure());
  static_assert(info_of<plain_operator>.what.work == work_kind::elements);
  static_assert(info_of<stated_operator>.what.work == work_kind::product);
  static_assert(info_of<stated_operator>.what.stops_gradient);
  static_assert(!info_of<assigning_operator>.what.is_pure());
  static_assert(info_of<assigning_operator>.what.written.contains(0));
  CHECK(facts_of_kind(op_kind::identity).passes_on());
  CHECK(facts_of_kind(op_kind::variable).makes_variable());
  CHECK(!facts_of_kind(op_kind::variable).acts());
  CHECK(!facts_of_kind(op_kind::placeholder).is_pure());
  CHECK(facts_of_kind(op_kind::placeholder).acts());
}
