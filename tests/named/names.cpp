#include <leat/named/graph/names.hpp>

#include <leat/core/error.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace leat;

TEST_CASE("a name that is taken gets a number, whatever its case") {
  name_table names;
  CHECK(names.unique_name("X") == "X");
  CHECK(names.unique_name("x") == "x_1");
  CHECK(names.unique_name("X_1") == "X_1_1");
  CHECK(names.unique_name("x") == "x_2");
  CHECK(names.unique_name("y", false) == "y");
  CHECK(names.unique_name("y") == "y");
}

TEST_CASE("scopes are paths in the same table") {
  name_table names;
  CHECK(names.open_scope("a") == "a");
  names.set_scope("a");
  CHECK(names.node_name("b") == "a/b");
  CHECK(names.open_scope("c/") == "c");  // exact, whatever the scope
  CHECK(names.node_name("c/d/") == "c/d");
  names.set_scope("");
  CHECK(names.open_scope("a") == "a_1");
  CHECK(names.open_scope("").empty());
  names.take("c");
  CHECK(names.node_name("c") == "c_1");
}

TEST_CASE("thousands of names keep their numbers") {
  name_table names;
  for (int i = 0; i < 5000; ++i) {
    CHECK_MESSAGE(names.unique_name("n") == (i == 0 ? std::string("n") : "n_" + std::to_string(i)), i);
    CHECK_MESSAGE(names.unique_name("m_" + std::to_string(i)) == "m_" + std::to_string(i), i);
  }
}

TEST_CASE("names that are none") {
  name_table names;
  for (const char* name : {"_a", "-a", "a b", "a:0", "/a", "\xc3\xa9"}) {
    INFO(name);
    CHECK_THROWS_AS(static_cast<void>(names.node_name(name)), invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(names.open_scope(name)), invalid_argument);
  }
  CHECK_THROWS_AS(static_cast<void>(names.node_name("")), invalid_argument);
  names.set_scope("in");
  CHECK(names.open_scope("_a") == "in/_a");
  CHECK_THROWS_AS(static_cast<void>(names.open_scope("a b")), invalid_argument);
}

TEST_CASE("nodes are found by their names to the letter, and names that only they have are not reserved") {
  name_table names;
  const std::string all[]{"weights",    "Weights",  "a_scope/with_more_than_eight", "A_scope/with_more_than_eight", "",
                          "[\\]^_`{|}", "{|}~[\\]^"};
  const auto is = [&](std::string_view wanted) { return [&all, wanted](int k) { return all[k] == wanted; }; };
  for (int k = 0; k < 7; ++k) names.note(all[k], k);
  for (int k = 0; k < 7; ++k) CHECK_MESSAGE(names.find(all[k], is(all[k])) == k, all[k]);
  CHECK(names.find("WEIGHTS", is("WEIGHTS")) == -1);
  CHECK(names.find("a_scope/with_more_than_nine", is("a_scope/with_more_than_nine")) == -1);
  CHECK(names.unique_name("WEIGHTS") == "WEIGHTS");  // noted, never asked for
  CHECK(names.unique_name("weights") == "weights_1");
  CHECK(names.find("weights", is("weights")) == 0);
  const name_table copy = names;
  for (int k = 0; k < 2000; ++k) names.note("n" + std::to_string(k), 7 + k);
  CHECK(names.find("n1999", [](int k) { return k == 2006; }) == 2006);
  CHECK(copy.find("n1999", [](int) { return true; }) == -1);
}
