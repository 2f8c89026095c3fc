#include <leat/train/layers.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>
#include <leat/leat.hpp>

#include <string>
#include <vector>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

// Names that programs have: none of them is ambiguous with one of the library's.
int load(const std::string& text) { return static_cast<int>(text.size()); }
void store(int& to, int value) { to = value; }
struct signature {
  int position = 0;
};

auto started_at(float value) { return variable<"w", float>(value); }

}  // namespace

TEST_CASE("a dense layer hands out its variables, and a state of zeros has the batch's size") {
  auto x = placeholder<"x", float, "batch", 2>();
  auto y = placeholder<"y", float, "batch">();
  auto [hidden, kernel, bias] = dense_layer<"d", 3>(x);
  auto both = reduce_sum(concat<1>(hidden, constant<0.5f, "batch", 2>())) + reduce_sum(y);
  session s{both};
  s.initialize();
  s.assign(kernel, std::vector<float>(6, 1.0f));
  CHECK(s.value(bias)(2) == 0.0f);
  const std::vector<float> xs{1, 2, 3, 4}, ys{1, 1}, too_many{1, 1, 1};
  auto [sum] = s.run(fetch(both), x = xs, y = ys);
  CHECK(sum == 34.0f);  // 3 (1 + 2 + 3 + 4), four halves, two ones
  const std::string problem = message_of([&] { s.run(fetch(both), x = xs, y = too_many); });
  CHECK_MESSAGE(says(problem, "with the sizes that other feeds of this run have bound it has 2 elements, the array has 3"), problem);
}
TEST_CASE("two numbers of one variable name the variable") {
  const auto a = started_at(0.5f);
  const auto b = started_at(0.25f);
  const std::string problem = message_of([&] { session s{a * a, b + b}; });
  CHECK_MESSAGE(says(problem, "variable \"w\" starts from 0.5 in one expression and from 0.25 in another"), problem);
}
TEST_CASE("short names stay with the program") {
  int value = 0;
  store(value, load("four"));
  CHECK(value + signature{}.position == 4);
}
