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
