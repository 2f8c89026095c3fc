#include <leat/passes/arrange.hpp>

#include "support/graphs.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {
template <class... Es>
std::string problem(const Es&... es) {
  return std::string(program_of(es...).problem.view());
}
const auto v = variable<"v", float, 4>(zeros);
const auto x = placeholder<"x", float, 4>();
}  // namespace

TEST_CASE("two writes that nothing orders are refused, by name") {
  const auto first = assign_add(v, x);
  const auto second = assign(v, x * 2_c);
  const auto text = problem(first, second);
  CHECK_MESSAGE(text.find("two writes to variable \"v\"") == 0, text);
  CHECK_MESSAGE(text.find("AssignAdd and Assign") != std::string::npos, text);
  CHECK(!problem(group(first, second)).empty());
  CHECK(!problem(group(assign_add(v, x), assign_sub(v, x * 3_c))).empty());
}

TEST_CASE("writes with an order are not") {
  const auto first = assign_add(v, x);
  const auto second = assign(v, x * 2_c);
  CHECK(problem(first, after(second, first)).empty());
  CHECK(problem(after(second, group(first))).empty());
  const auto other = variable<"other", float, 4>(zeros);
  CHECK(problem(first, assign(other, x)).empty());
  CHECK(problem(first, first).empty());  // one write, fetched twice
  CHECK(problem(first, assign(v, first * 2_c)).empty());  // the second needs the first's value
  CHECK(problem(after(second, assign(other, first))).empty());  // the order leads through another variable
}

TEST_CASE("a node stands behind all that it needs") {
  const auto first = assign_add(v, exp(x));
  const auto e = simplified(tanh(v) * 2_c, after(assign(v, x), first), after(v, first));
  for (int i = 0; i < e.g.size(); ++i) {
    const node& n = e.g.at(i);
    for (int k = 0; k < n.input_count; ++k) CHECK(e.g.input(n, k) < i);
    for (int k = 0; k < n.control_count; ++k) CHECK(e.g.control(n, k) < i);
  }
  // what reads the variable as it was stands before the first write
  int write = -1;
  int read = -1;
  for (int i = 0; i < e.g.size(); ++i) {
    if (write < 0 && e.g.at(i).op->kind == op_kind::assign) write = i;
    if (e.g.at(i).op->type == "Tanh") read = i;
  }
  CHECK(read < write);
}

TEST_CASE("what is handed out stands by itself") {
  const auto e = simplified(x, x, v, transpose(placeholder<"m", float, 3, 4>()));
  for (std::size_t i = 0; i < e.targets.size(); ++i) {
    const auto kind = e.g.at(e.targets[i]).op->kind;
    CHECK(kind == op_kind::element);
    for (std::size_t j = 0; j < i; ++j) CHECK(e.targets[i] != e.targets[j]);
  }
}
