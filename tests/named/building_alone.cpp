// A program of its own: it counts allocations. What a node of a graph with names asks of the heap.

#include <leat/graphs.hpp>

#include "support/allocations.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace leat;

namespace {
// Allocations a node, of so many that `make` makes.
template <class Make>
double per_node(int nodes, Make make) {
  const long before = allocations.load();
  for (int k = 0; k < nodes; ++k) make(k);
  return static_cast<double>(allocations.load() - before) / nodes;
}
}  // namespace

TEST_CASE("a node asks the heap for little more than its name") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {4, 4}, "x"), y = placeholder(dtype::float32, {4, 4}, "y");
  const output sum = add(x, y, "first_sum_of_two"), product = matmul(x, y, "first_product_of_two");  // so that what is made once is made
  CHECK(static_cast<bool>(sum));
  CHECK(static_cast<bool>(product));
  const auto name = [](const char* what, int k) { return "a_scope/" + std::string(what) + "_with_a_long_name_" + std::to_string(k); };
  // The strings of `name` are 2 to 4 of these.
  CHECK(per_node(1000, [&](int k) { placeholder(dtype::float32, {4, 4}, name("placeholder", k)); }) < 8);
  CHECK(per_node(1000, [&](int k) { add(x, y, name("sum", k)); }) < 11);
  CHECK(per_node(1000, [&](int k) { matmul(x, y, name("product", k)); }) < 11);
}

TEST_CASE("attributes that nodes share change for one of them alone") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {4}, "x"), y = placeholder(dtype::float32, {4}, "y");
  const output first = add(x, y, "first");
  {
    const colocate_with there(x);
    add(x, y, "second");
  }
  const output third = add(x, y, "third");
  const auto classes = [&](const char* name) {
    return g.named().record(get_operation_by_name(g, name).index()).attributes.contains("_class");
  };
  CHECK(!classes("first"));
  CHECK(classes("second"));
  CHECK(!classes("third"));
  CHECK(!classes("x"));
  CHECK(cast(x, dtype::float64, "wide").type() == dtype::float64);
  CHECK(cast(x, dtype::int32, "whole").type() == dtype::int32);  // the same operator, another number
  CHECK(first.type() == third.type());
}
