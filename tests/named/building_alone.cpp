// A program of its own: it counts allocations. What a node of a graph with names asks of the heap.

#include <leat/graphs.hpp>

#include "support/allocations.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <string>
#include <vector>

using namespace leat;

namespace {
constexpr int many = 2000;
// Allocations a node, of so many that `make` makes, each with a name of its own.
template <class Make>
double per_node(const char* what, Make make) {
  std::vector<std::string> names;
  for (int k = 0; k < many; ++k) names.push_back("a_scope/" + std::string(what) + "_with_a_long_name_" + std::to_string(k));
  const long before = allocations.load();
  for (const std::string& name : names) make(name);
  return static_cast<double>(allocations.load() - before) / many;
}
}  // namespace

TEST_CASE("a node asks the heap for nothing of its own") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {4, 4}, "x"), y = placeholder(dtype::float32, {4, 4}, "y");
  const tensor_literal matrix{{1.0f, 2.0f}, {3.0f, 4.0f}};
  // What is left are the pieces of memory that many nodes share.
  CHECK(per_node("placeholder", [&](const std::string& name) { placeholder(dtype::float32, {4, 4}, name); }) < 0.1);
  CHECK(per_node("sum", [&](const std::string& name) { add(x, y, name); }) < 0.1);
  CHECK(per_node("product", [&](const std::string& name) { matmul(x, y, name); }) < 0.1);
  CHECK(per_node("wide", [&](const std::string& name) { cast(x, dtype::float64, name); }) < 0.1);
  CHECK(per_node("two", [&](const std::string& name) { constant(2.0f, name); }) < 0.1);
  CHECK(per_node("matrix", [&](const std::string& name) { constant(matrix, name); }) < 0.1);
  CHECK(per_node("scaled", [&](const std::string& name) { multiply(x, 2.0f, name); }) < 1.1);  // the number, until it is a node
}

TEST_CASE("equal constants share their contents, others do not, whatever the bits are of") {
  graph g;
  const auto scope = g.as_default();
  const auto value = [&](const output& c) { return g.named().contents_of(g, c.index()); };
  const output one = constant(1.0f, "one"), again = constant(1.0f, "again"), two = constant(2.0f, "two");
  CHECK(value(one) == value(again));
  CHECK(value(one) != value(two));
  CHECK(value(two)->bytes == value(constant(2.0f, "two_again"))->bytes);
  // The same bytes of another dtype or shape, and a zero of the other sign.
  CHECK(constant(std::bit_cast<std::int32_t>(1.0f), "bits").type() == dtype::int32);
  CHECK(constant(tensor_literal{1.0f}, "vector").extent().rank == 1);
  CHECK(value(constant(0.0f, "zero"))->bytes != value(constant(-0.0f, "negative"))->bytes);
  const std::vector<float> longer(100, 3.0f);
  CHECK(value(constant(longer, "long"))->bytes.size() == 400);
  CHECK(*value(constant(longer, "long_again")) == *value(get_tensor_by_name(g, "long:0")));
  for (const std::size_t size : {0u, 1u, 7u, 8u, 9u, 17u}) {
    const std::vector<std::uint8_t> bytes(size, 200);
    const output made = constant(bytes, "bytes_" + std::to_string(size));
    CHECK(made.extent()[0] == static_cast<std::int64_t>(size));
    CHECK(*value(made) == tensor_literal(bytes).proto());
  }
  CHECK(*value(constant(std::string("text"), "text"))->strings.begin() == "text");
}

TEST_CASE("a node's name is lent as long as the graph, through what is named later") {
  graph g;
  const auto scope = g.as_default();
  const std::string& first = placeholder(dtype::float32, {2}, "the_first_of_very_many_nodes").operation().name();
  const output number = constant(1.0f);
  const output sum = add(number, 2.0f, "sum");
  for (int k = 0; k < many; ++k) static_cast<void>(add(sum, sum, "more").operation().name().size());
  CHECK(first == "the_first_of_very_many_nodes");
  CHECK(&first == &get_operation_by_name(g, first).name());
  CHECK(get_operation_by_name(g, "more_1999").name() == "more_1999");
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
