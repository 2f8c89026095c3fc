#include <leat/named/graph/default_graph.hpp>

#include <doctest/doctest.h>
#include <leat/graphs.hpp>

#include <thread>

using namespace leat;

TEST_CASE("the innermost graph is the default, and the thread's own when none is") {
  graph& own = default_graph();
  graph a, b;
  {
    const auto outer = a.as_default();
    CHECK(&default_graph() == &a);
    {
      const auto inner = b.as_default();
      CHECK(&default_graph() == &b);
      CHECK(&constant(1.0f).owner() == &b);
    }
    CHECK(&default_graph() == &a);
  }
  CHECK(&default_graph() == &own);
  graph* other = nullptr;
  std::thread([&] { other = &default_graph(); }).join();
  CHECK(other != &own);
}

TEST_CASE("a reset begins a new graph and leaves the handles of the old one") {
  reset_default_graph();
  const output old = constant(2.0f, "old");
  graph* const before = &default_graph();
  reset_default_graph();
  CHECK(&default_graph() != before);
  CHECK(old.name() == "old:0");
  CHECK(constant(1.0f, "old").name() == "old:0");  // the name is free again
  graph nested;
  const auto scope = nested.as_default();
  CHECK_THROWS_AS(reset_default_graph(), failed_precondition);
}

TEST_CASE("a scope that ends out of order leaves the others") {
  graph a, b;
  auto first = std::make_unique<default_graph_scope>(a);
  {
    const default_graph_scope second(b);
    first.reset();  // not the innermost
    CHECK(&default_graph() == &b);
  }
  CHECK(&default_graph() != &a);
  CHECK(&default_graph() != &b);
}
