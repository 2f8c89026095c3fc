#include <leat/named/gradients/gradient.hpp>

#include "support/slopes.hpp"

#include <leat/passes/lower.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <vector>

using namespace leat;
using leat_test::array;
using leat_test::check_slopes;
using leat_test::evaluator;
using leat_test::some;

namespace {

std::vector<std::string> lines(graph& g, std::string_view scope) {
  std::vector<std::string> list;
  for (const auto& op : get_operations(g)) {
    if (!op.name().starts_with(scope)) continue;
    std::string text = op.name() + " " + std::string(op.type());
    for (const auto& in : op.inputs()) text += " " + in.name();
    list.push_back(text);
  }
  return list;
}

template <class Error>
std::string problem_of(const std::vector<output>& ys, const std::vector<output>& xs, const gradient_options& options = {}) {
  try {
    static_cast<void>(gradients(ys, xs, options));
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("nodes of gradients have TensorFlow's names, one scope for each node that they are of") {
  graph g;
  const auto scope = g.as_default();
  const auto a = constant(3.0f);
  const auto squared = multiply(a, a, "mul_1");
  const auto cubed = multiply(squared, a, "net/mul_2");
  const auto first = gradients({cubed}, {a});
  const std::vector<std::string> expected{
      "gradients/Shape Const",
      "gradients/grad_ys_0/Const Const",
      "gradients/grad_ys_0 Fill gradients/Shape:0 gradients/grad_ys_0/Const:0",
      "gradients/net/mul_2_grad/Mul Mul gradients/grad_ys_0:0 Const:0",
      "gradients/net/mul_2_grad/Mul_1 Mul gradients/grad_ys_0:0 mul_1:0",
      "gradients/mul_1_grad/Mul Mul gradients/net/mul_2_grad/Mul:0 Const:0",
      "gradients/mul_1_grad/Mul_1 Mul gradients/net/mul_2_grad/Mul:0 Const:0",
      "gradients/AddN AddN gradients/net/mul_2_grad/Mul_1:0 gradients/mul_1_grad/Mul:0 gradients/mul_1_grad/Mul_1:0"};
  CHECK(lines(g, "gradients/") == expected);
  CHECK(first[0].name() == "gradients/AddN:0");
  CHECK(evaluator({})(first[0]).at[0] == 27);
  // gradients of gradients, in the next scope
  const auto second = gradients(first, {a});
  CHECK(second[0].name() == "gradients_1/AddN_1:0");
  CHECK(evaluator({})(second[0]).at[0] == 18);
  const auto third = gradients(second, {a}, {.name = "third"});
  CHECK(third[0].operation().name().starts_with("third/"));
  CHECK(evaluator({})(third[0]).at[0] == 6);
}

TEST_CASE("an output is asked whether it is there by `if (d)` and by `if (!d)`, which add no nodes") {
  graph g;
  const auto scope = g.as_default();
  const auto x = constant({1.0f, 2.0f}, "x");
  const auto flags = constant({true, false}, "flags");
  const auto there = gradients({square(x)}, {x})[0], none = gradients({square(x)}, {flags})[0];
  const int size = g.size();
  CHECK((there && true));
  CHECK_FALSE(!there);
  CHECK(!none);
  CHECK(!!there);
  CHECK_FALSE(!flags);  // of bool as well
  const bool is_none = !none;
  CHECK(is_none);
  CHECK((!there ? 1 : 2) == 2);
  CHECK((!none && there));
  CHECK_FALSE((there && !there));
  CHECK((none || !none));
  CHECK_FALSE((!there || none));
  if (!there && !none) FAIL("one of both is there");
  CHECK(g.size() == size);
  // What asks is a bool, and no constant of the graph.
  static_assert(std::is_convertible_v<decltype(!there), bool>);
  static_assert(!std::is_convertible_v<decltype(!there), output> && !std::is_convertible_v<decltype(!there && flags), output>);
  static_assert(!std::is_convertible_v<decltype(!there), tensor_literal> && !std::is_convertible_v<decltype(!there), number_argument>);
  static_assert(!std::is_convertible_v<decltype(!there || !flags), tensor_literal> && !std::is_convertible_v<decltype(!!flags), int>);
  CHECK(logical_not(flags).operation().type() == "LogicalNot");
}

TEST_CASE("several ys, given gradients, stops, and xs that nothing reaches") {
  graph g;
  const auto scope = g.as_default();
  const auto a = constant(3.0f, "a");
  const auto b = constant({1.0f, 2.0f}, "b");
  const auto product = multiply(a, b, "product");
  const auto squared = square(a, "squared");
  const auto value = [](const output& o) { return evaluator({})(o).at; };
  CHECK(value(gradients({product, squared}, {a})[0]) == std::vector<double>{9});
  CHECK(value(gradients({product}, {a}, {.grad_ys = {constant({10.0f, 100.0f})}})[0]) == std::vector<double>{210});
  CHECK(value(gradients({product, squared}, {a}, {.grad_ys = {constant({10.0f, 100.0f}), output{}}})[0]) == std::vector<double>{216});
  const auto both = add(product, squared, "both");
  const auto stopped = gradients({both}, {a, squared}, {.stop_gradients = {squared}});
  CHECK(value(stopped[0]) == std::vector<double>{3});
  CHECK(value(stopped[1]) == std::vector<double>{2});
  const auto none = gradients({squared}, {b, a, squared});
  CHECK_FALSE(static_cast<bool>(none[0]));
  CHECK(value(none[1]) == std::vector<double>{6});
  CHECK(value(none[2]) == std::vector<double>{1});
  CHECK_FALSE(static_cast<bool>(gradients({stop_gradient(product)}, {a})[0]));
  CHECK_FALSE(static_cast<bool>(gradients({cast(greater(product, b), dtype::float32)}, {a})[0]));
  CHECK_FALSE(static_cast<bool>(gradients({floor(product)}, {a})[0]));
}

TEST_CASE("of variables: through every read") {
  graph g;
  const auto scope = g.as_default();
  const auto w = variable(2.0f, "w");
  const auto again = read_value(w, "again");
  const auto y = multiply(w, again, "y");
  const std::map<std::string, array> values{{"w", {{}, {2}}}};
  const auto made = gradients({y}, {w, get_tensor_by_name(g, "w/read:0"), again});
  CHECK(evaluator(values)(made[0]).at[0] == 4);
  CHECK(evaluator(values)(made[1]).at[0] == 2);
  CHECK(evaluator(values)(made[2]).at[0] == 2);
  CHECK(evaluator(values)(gradients({w}, {w})[0]).at[0] == 1);
}

TEST_CASE("static shapes: values") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {4, 3}, "x");
  const auto labels = placeholder(dtype::float32, {4, 2}, "labels");
  const auto w = variable(zeros_of({3, 5}), "w");
  const auto b = variable(zeros_of({5}), "b");
  const auto v = variable(zeros_of({5, 2}), "v");
  const auto hidden = tanh(matmul(x, w) + b, "hidden");
  const auto logits = matmul(hidden, v) * 0.5f;
  const auto loss = reduce_mean(g.named().build(g, info_of<softmax_cross_entropy_op>, std::array{logits, labels}, {}, "xent"), {0}) +
                    reduce_sum(square(w), all_axes) * 0.01f + reduce_mean(relu(hidden - b), {1})  / 3.0f;
  check_slopes(loss, {x, w, b, v},
               {{"x", some({4, 3}, 1)},
                {"labels", {{4, 2}, {0.25, 0.75, 1, 0, 0.5, 0.5, 0.1, 0.9}}},
                {"w", some({3, 5}, 3)},
                {"b", some({5}, 4)},
                {"v", some({5, 2}, 5)}});
}

TEST_CASE("unknown dimensions: sizes are those of the run, and may be 1 where the other operand repeats") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 3}, "x");
  const auto y = placeholder(dtype::float32, {-1, 1}, "y");
  const auto w = variable(zeros_of({3, 1}), "w");
  const auto b = variable(0.0f, "b");
  const auto error = subtract(y, matmul(x, w) + b, "error");
  const auto loss = reduce_mean(square(error), {0, 1}, keep_dims::no, "loss") + reduce_sum(tanh(error * x), all_axes);
  for (const auto& [of_x, of_y] : {std::pair{5, 5}, std::pair{1, 5}, std::pair{5, 1}, std::pair{1, 1}}) {
    INFO(of_x << " and " << of_y);
    check_slopes(loss, {x, y, w, b}, {{"x", some({of_x, 3}, 7)}, {"y", some({of_y, 1}, 8)}, {"w", some({3, 1}, 9)}, {"b", some({}, 10)}});
  }
  // two unknown dimensions, of which one is summed
  const auto p = placeholder(dtype::float32, {-1, -1}, "p");
  const auto q = placeholder(dtype::float32, {-1}, "q");
  const auto mixed = reduce_mean(exp(p * q), {1});
  check_slopes(mixed, {p, q}, {{"p", some({2, 4}, 11)}, {"q", some({4}, 12)}});
  check_slopes(mixed, {p, q}, {{"p", some({2, 4}, 13)}, {"q", some({1}, 14)}});
  check_slopes(mixed, {p, q}, {{"p", some({3, 1}, 15)}, {"q", some({6}, 16)}});
  // of itself: ones in its shape
  CHECK(evaluator({{"p", some({2, 3}, 1)}})(gradients({p}, {p})[0]).at == std::vector<double>(6, 1));
}

TEST_CASE("what a gradient stretches keeps its shape: a size of 1 may still be fed") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto least = minimum(x, {0.5f, -0.5f});
  CHECK(shape_text(gradients({least}, {x})[0].extent()) == "(?,)");
  CHECK(shape_text(x.extent()) == "(?,)");
  CHECK(shape_text(least.extent()) == "(2,)");
}

TEST_CASE("what cannot be done is told, with the node and its line") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 3}, "x");
  const auto own = g.named().raw(g, "Mystery", std::array{x}, {}, {{dtype::float32, {}}}).result();
  CHECK(problem_of<unimplemented>({own + 1.0f}, {x})
            .find("gradients: the node 'Mystery' (Mystery): no gradient is known of this operator: register_gradient") == 0);
  CHECK_FALSE(static_cast<bool>(gradients({x * 2.0f}, {own})[0]));  // not on the way
  const auto axis = placeholder(dtype::int32, {1}, "axis");
  CHECK(problem_of<invalid_argument>({}, {x}) == "gradients: of at least one tensor for at least one");
  CHECK(problem_of<invalid_argument>({x}, {x}, {.grad_ys = {x, x}}) == "Passed 2 grad_ys for 1 ys");
  CHECK(problem_of<invalid_argument>({x}, {x}, {.grad_ys = {axis}}).find("has another dtype") != std::string::npos);
  CHECK(problem_of<invalid_argument>({x}, {x}, {.grad_ys = {constant(1.0f)}}).find("has another shape") != std::string::npos);
  graph h;
  const auto inner = h.as_default();
  const auto other = constant(1.0f, "other");
  CHECK(problem_of<invalid_argument>({x}, {other}).find("must be from the same graph") != std::string::npos);
  CHECK(problem_of<invalid_argument>({x}, {output{}}).find("no node of a graph") != std::string::npos);
}
