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
struct viewing_operator : plain_operator {
  static constexpr std::string_view type = "TestViewingFacts";
  static constexpr op_kind kind = op_kind::view;
};
struct reshaping_operator : plain_operator {
  static constexpr std::string_view type = "TestReshapingFacts";
  static constexpr op_kind kind = op_kind::view;
  static constexpr facts what{.work = work_kind::none, .reshapes = true};
};
struct stated_view : plain_operator {
  static constexpr std::string_view type = "TestStatedView";
  static constexpr op_kind kind = op_kind::view;
  static constexpr facts what{.narrow = narrow_rule::refused};
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

TEST_CASE("facts about narrow dtypes: of an operator that states none, of views, and what follows from other facts") {
  static_assert(info_of<plain_operator>.what.narrow == narrow_rule::computes);
  static_assert(!info_of<plain_operator>.what.takes_any_dtype() && !info_of<plain_operator>.what.keeps_uint64());
  static_assert(info_of<viewing_operator>.what.narrow == narrow_rule::moves);
  static_assert(info_of<viewing_operator>.what.keeps_uint64() && !info_of<viewing_operator>.what.takes_any_dtype());
  static_assert(info_of<reshaping_operator>.what.narrow == narrow_rule::moves);
  static_assert(info_of<reshaping_operator>.what.takes_any_dtype());
  static_assert(info_of<stated_view>.what.narrow == narrow_rule::refused);

  CHECK(facts{.narrow = narrow_rule::any}.takes_any_dtype());
  CHECK(facts{.depends_on = looks_at::shapes}.takes_any_dtype());
  CHECK(facts{.is = nature::inert, .forwards = true}.takes_any_dtype());
  CHECK(!facts{.is = nature::effect, .forwards = true}.takes_any_dtype());
  CHECK(facts{.is = nature::control, .control = flow::merge}.takes_any_dtype());
  CHECK(facts{.is = nature::observes, .state = state_role::is_initialized}.takes_any_dtype());
  CHECK(!facts{.is = nature::effect, .state = state_role::push}.takes_any_dtype());

  CHECK(facts{.is = nature::effect, .state = state_role::pop}.keeps_uint64());
  CHECK(facts{.narrow = narrow_rule::exact}.keeps_uint64());
  CHECK(facts{.is = nature::effect, .written = {1}, .adds = true}.keeps_uint64());
  CHECK(!facts{.narrow = narrow_rule::ordered}.keeps_uint64());
}
