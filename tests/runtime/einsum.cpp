// Einstein's sums in graphs: values and gradients of TensorFlow, each dtype, empty arrays, and what is refused.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <string>

namespace einsum_tests {

using namespace leat;
using namespace node_results;

namespace {

// Small numbers that are exact in each dtype when they are multiplied by 4.
number_list values_of(std::int64_t count, std::int64_t k) {
  number_list list;
  for (std::int64_t i = 0; i < count; ++i) list.push_back(static_cast<double>((i * 7 + 3 * k + i * i) % 11 - 5) / 4);
  return list;
}
struct einsum_case {
  const char* equation;
  std::vector<extents> operands;
  extents result;
  number_list values;
  std::vector<number_list> gradients;  // of the sum of the results times `values_of(count, 5)`
};
const std::vector<einsum_case>& cases() {
  static const std::vector<einsum_case> list{
      {"ij,jk->ik",
       {{2, 3}, {3, 2}},
       {2, 2},
       {1.3125, 1, -1.9375, 0.625},
       {{1.375, 0.9375, -0.625, 1.875, -0.3125, -0.125}, {-0.625, 0.5, 1.375, 0.5, -0.125, -0.5}}},
      {"i->ii", {{3}}, {3, 3}, {-1.25, 0, 0, 0, 0.75, 0, 0, 0, 0.5}, {{-0.25, -0.25, -0.5}}},
      {"ii->i", {{3, 3}}, {3}, {-1.25, -1.25, 1.25}, {{-0.25, 0, 0, 0, -1, 0, 0, 0, -1.25}}},
      {"ij->ji", {{2, 3}}, {3, 2}, {-1.25, 0.75, 0.75, -1.25, 0.5, 0}, {{-0.25, -1.25, -0.25, -1, -1, 1}}},
      {"ij->", {{2, 3}}, {}, {-0.5}, {{-0.25, -0.25, -0.25, -0.25, -0.25, -0.25}}},
      {"ij->j", {{2, 3}}, {3}, {-0.5, -0.5, 0.5}, {{-0.25, -1, -1.25, -0.25, -1, -1.25}}},
      {"ijk->ki", {{2, 3, 2}}, {2, 2}, {-2, 0.25, 1.5, -1}, {{-0.25, -1.25, -0.25, -1.25, -0.25, -1.25, -1, -1, -1, -1, -1, -1}}},
      {"...ij->...ji",
       {{2, 2, 3}},
       {2, 3, 2},
       {-1.25, 0.75, 0.75, -1.25, 0.5, 0, -1, -1, 1.25, 0, 1.25, -1.25},
       {{-0.25, -1.25, -0.25, -1, -1, 1, 0, -0.5, 1, -0.5, 0, -0.25}}},
      {"...ij->...i", {{2, 2, 3}}, {2, 2}, {0, -0.5, 1.5, -2.25}, {{-0.25, -0.25, -0.25, -1, -1, -1, -1.25, -1.25, -1.25, -1, -1, -1}}},
      {"...,...->...", {{3, 1}, {1, 2}}, {3, 2}, {0.625, 1.5625, -0.375, -0.9375, -0.25, -0.625}, {{1.375, 1.875, -1.125}, {-0.75, 1}}},
      {"i...,i...->i...",
       {{2, 2, 1}, {2, 2}},
       {2, 2, 2},
       {0.625, 1.5625, -0.375, -0.9375, 0.625, -0.625, 0.9375, -0.9375},
       {{1.375, 1.875, -1.5625, 0.625}, {-0.625, 0.5, -0.125, 0.125}}},
      {"bij,bjk->bik",
       {{2, 1, 3}, {2, 3, 2}},
       {2, 1, 2},
       {1.3125, 1, 0.75, -0.25},
       {{1.375, 0.9375, -0.625, 1.0625, 1.1875, -0.4375},
        {0.3125, 1.25, -0.1875, -0.75, -0.125, -0.5, -0.9375, -0.75, 1.5625, 1.25, -0, -0}}},
      {"bij,bkj->bik",
       {{2, 2, 3}, {2, 2, 3}},
       {2, 2, 2},
       {0.3125, 1.5625, 1.1875, -0.3125, -1.625, 0.5625, 1.1875, 0.875},
       {{1.375, 0.8125, -1.0625, 1.875, 2.0625, -2.3125, -0.1875, 0.9375, -0.3125, 0.125, -0.375, 0.25},
        {-0.625, 1.375, -0.125, 0.5, 0.5, -0.5, 0.25, -0.3125, -0.3125, -0.5, 1.25, 1.875}}},
      {"ji,kj->ki",
       {{3, 2}, {2, 3}},
       {2, 2},
       {-1.5625, -1.3125, 0.375, -1.3125},
       {{1.6875, 1.75, 0.9375, 1.75, -1.25, -2}, {-0.4375, -0.875, 0.3125, 0.8125, -1.375, 1.5625}}},
      {"i...j,...jk->i...k",
       {{2, 2, 3}, {2, 3, 2}},
       {2, 2, 2},
       {1.3125, 1, 0.75, -0.25, 1.4375, 0.625, -0.6875, 1.375},
       {{1.375, 0.9375, -0.625, 1.0625, 1.1875, -0.4375, -1.125, -1.5625, 0.875, 0.375, 0.125, 0.25},
        {0.5625, 0.25, -0.5, 0.5, -0.4375, 0.75, -0.9375, -0.25, 1.5625, 1.25, -0, 0.625}}},
      {"i...,...->...",
       {{2, 3}, {2, 1, 3}},
       {2, 1, 3},
       {0.25, 0.625, 0.625, 0.625, 0.25, 0.375},
       {{1.375, 1.375, -0.8125, 1.375, 1.375, -0.8125}, {0.125, 0.5, -0.625, 0.5, 0.125, 0.5}}},
      {",->", {{}, {}}, {}, {0.625}, {{0.125}, {0.3125}}},
      {"i,->i", {{3}, {}}, {3}, {0.625, -0.375, -0.25}, {{0.125, 0.5, 0.625}, {-1.0625}}},
      {"ab,ba->",
       {{2, 3}, {3, 2}},
       {},
       {1.9375},
       {{0.125, -0.3125, 0.125, 0.3125, 0.3125, -0.1875}, {0.3125, -0.1875, -0.1875, 0.3125, -0.125, -0}}},
      {"aab,bc->ac",
       {{2, 2, 3}, {3, 2}},
       {2, 2},
       {1.3125, 1, 1.125, 0.3125},
       {{1.375, 0.9375, -0.625, 0, 0, 0, 0, 0, 0, 1.875, -0.3125, -0.125}, {1.5625, 2.25, -0.1875, -0.75, 1.4375, 0.75}}},
      {"ij,k->i", {{2, 3}, {2}}, {2}, {-0, 0.875}, {{0.4375, 0.4375, 0.4375, 1.75, 1.75, 1.75}, {0.5, 0.5}}},
      {"ij,jk->ikk",
       {{2, 3}, {3, 2}},
       {2, 2, 2},
       {1.3125, 0, 0, 1, -1.9375, 0, 0, 0.625},
       {{1.375, 0.9375, -0.625, 0.75, 0.3125, -0.25}, {0.125, 0.875, 0.125, -0.125, -0.125, -0.5}}},
      {"ijk,ilm->jm",
       {{2, 3, 2}, {2, 2, 2}},
       {3, 2},
       {-0.5625, 1.25, 0.75, -3.125, 0, 3.125},
       {{2.3125, 2.3125, 1.5625, 1.5625, -2.6875, -2.6875, 0.1875, 0.1875, 0.9375, 0.9375, 0.1875, 0.1875},
        {-1.125, -2, -1.125, -2, -0.0625, -1.75, -0.0625, -1.75}}},
      {"...i->i...", {{2, 3}}, {3, 2}, {-1.25, 0.75, 0.75, -1.25, 0.5, 0}, {{-0.25, -1.25, -0.25, -1, -1, 1}}},
      {"ii...->...", {{2, 2, 3}}, {3}, {-2.25, 0.75, -0.75}, {{-0.25, -1, -1.25, 0, 0, 0, 0, 0, 0, -0.25, -1, -1.25}}},
      {"aabd,dc->ca",
       {{2, 2, 2, 3}, {3, 2}},
       {2, 2},
       {-0.625, -0.5, 1.625, -1.75},
       {{1.6875, 1.25, -0.8125, 1.6875, 1.25, -0.8125, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.75, 0, -0.25, 1.75, 0, -0.25},
        {-1.125, -0.625, 0.125, 0.625, 0.125, -0.375}}},
      {"i,j->ij", {{2}, {3}}, {2, 3}, {0.625, 1.5625, -1.5625, -0.375, -0.9375, 0.9375}, {{-0.1875, 2.0625}, {-0.4375, 1.0625, 2.3125}}},
      {"...ab,bc->...ac",
       {{2, 1, 3}, {3, 2}},
       {2, 1, 2},
       {1.3125, 1, -1.9375, 0.625},
       {{1.375, 0.9375, -0.625, 1.875, -0.3125, -0.125}, {-0.625, 0.5, 1.375, 0.5, -0.125, -0.5}}},
      {"ab,...bc->...ac",
       {{2, 3}, {2, 3, 1}},
       {2, 2, 1},
       {0.3125, 1.1875, 1.5625, -0.3125},
       {{1.6875, 0.9375, -1.25, 1.75, 1.75, -2}, {-0.4375, 1.0625, -0.125, 0.8125, 0.3125, -0.625}}},
      {"abc->cb",
       {{2, 3, 2}},
       {2, 3},
       {-2.25, 1.75, -1.25, 2, -0.25, -1.25},
       {{-0.25, -1, -1, -0.25, -1.25, 1, -0.25, -1, -1, -0.25, -1.25, 1}}},
      {"aab->b", {{2, 2, 2}}, {2}, {-2.25, 2}, {{-0.25, -1, 0, 0, 0, 0, -0.25, -1}}},
  };
  return list;
}
std::string refusal(const std::string& equation, const std::vector<extents>& operands, bool is_known) {
  return leat_test::message_of<error>([&] {
    graph g;
    const auto scope = g.as_default();
    std::vector<number_argument> inputs;
    std::vector<feed_item> feeds;
    for (const extents& of : operands) {
      const tensor_value value = tensor_of(dtype::float32, of, number_list(static_cast<std::size_t>(count_of(of)), 1));
      const output place = placeholder(dtype::float32, is_known ? value.extent() : shape::unknown());
      inputs.emplace_back(place);
      feeds.push_back({place, value});
    }
    const output y = call_operator(g, "Einsum", inputs, {{"equation", equation}}).result();
    graph_session s(g);
    s.run({y}, feeds);
  });
}

}  // namespace

TEST_CASE("sums of products and their gradients, with known and unknown shapes") {
  for (const einsum_case& e : cases())
    for (const bool is_known : {true, false}) {
      INFO(e.equation, " ", is_known);
      graph g;
      const auto scope = g.as_default();
      std::vector<output> places;
      std::vector<feed_item> feeds;
      for (std::size_t k = 0; k < e.operands.size(); ++k) {
        const tensor_value value =
            tensor_of(dtype::float64, e.operands[k], values_of(count_of(e.operands[k]), static_cast<std::int64_t>(k)));
        places.push_back(placeholder(dtype::float64, is_known ? value.extent() : shape::unknown()));
        feeds.push_back({places.back(), value});
      }
      const output y = einsum(e.equation, places);
      const tensor_value weights = tensor_of(dtype::float64, e.result, values_of(count_of(e.result), 5));
      const output its_weights = placeholder(dtype::float64, weights.extent());
      feeds.push_back({its_weights, weights});
      const output loss = reduce_sum(y * its_weights);
      std::vector<output> wanted = gradients({loss}, places);
      wanted.push_back(y);
      graph_session s(g);
      const auto got = s.run(wanted, feeds);
      CHECK(got.back().extent() == weights.extent());
      if (is_known) CHECK(y.extent() == weights.extent());
      check_near(list_of(got.back()), e.values, 1e-12);
      for (std::size_t k = 0; k < places.size(); ++k) {
        CHECK(got[k].extent() == feeds[k].value.extent());
        check_near(list_of(got[k]), e.gradients[k], 1e-12);
      }
    }
}

TEST_CASE("sums of products of each dtype; integers wrap") {
  for (const einsum_case& e : cases())
    for (const dtype type : {dtype::float32, dtype::int32, dtype::int64}) {
      INFO(e.equation);
      std::vector<tensor_value> arrays;
      for (std::size_t k = 0; k < e.operands.size(); ++k) {
        number_list list = values_of(count_of(e.operands[k]), static_cast<std::int64_t>(k));
        for (double& v : list) v *= 4;
        arrays.push_back(tensor_of(type, e.operands[k], list));
      }
      number_list wanted = e.values;
      for (double& v : wanted) v *= e.operands.size() == 2 ? 16 : 4;
      CHECK(list_of(run_node("Einsum", arrays, {}, {{"equation", std::string(e.equation)}})[0]) == wanted);
    }
  const auto large = tensor_of(dtype::int32, {2}, {2147483647, 2147483647});
  CHECK(list_of(run_node("Einsum", {large}, {}, {{"equation", std::string("i->")}})[0]) == number_list{-2});
  CHECK(list_of(run_node("Einsum", {large, large}, {}, {{"equation", std::string("i,i->")}})[0]) == number_list{2});
}

TEST_CASE("gradients of gradients, against differences") {
  for (const char* equation : {"ij,jk->ik", "aab,bc->ca", "...i,...i->...", "ij,k->i"})
    check_gradient({{2, 2, 3}, {3, 2}}, [&](const std::vector<output>& in) {
      const std::string text = equation;
      const output x = text == "aab,bc->ca" ? in[0]
                                            : reshape(in[0], text == "...i,...i->..." ? std::vector<std::int32_t>{2, 2, 3}
                                                                                      : std::vector<std::int32_t>{4, 3});
      const output w = text == "...i,...i->..." ? transpose(in[1], {1, 0}) : in[1];
      const output v = text == "ij,k->i" ? reshape(w, std::vector<std::int32_t>{6}) : w;
      const output y = einsum(equation, {x, v});
      return gradients({reduce_sum(y * y * y)}, {in[0]})[0];
    });
}

TEST_CASE("empty arrays, and sums of many elements") {
  const auto none = tensor_of(dtype::float32, {2, 0}, {}), also_none = tensor_of(dtype::float32, {0, 3}, {});
  const auto run = [](const char* equation, std::vector<tensor_value> arrays) {
    return run_node("Einsum", arrays, {}, {{"equation", std::string(equation)}})[0];
  };
  CHECK(list_of(run("ij,jk->ik", {none, also_none})) == number_list(6, 0));
  CHECK(run("ji,kj->ki", {also_none, none}).extent() == tensor_of(dtype::float32, {2, 3}, {}).extent());
  CHECK(list_of(run("ij->i", {none})) == number_list(2, 0));
  CHECK(run("ij->j", {none}).elements() == 0);
  CHECK(run("i,j->ij", {tensor_of(dtype::float32, {0}, {}), tensor_of(dtype::float32, {3}, {1, 2, 3})}).elements() == 0);
  CHECK(list_of(run("i->", {tensor_of(dtype::float32, {1 << 20}, number_list(1 << 20, 0.1))}))[0] ==
        doctest::Approx(104857.6).epsilon(1e-6));
}

TEST_CASE("the function: an equation without an arrow, spaces") {
  graph g;
  const auto scope = g.as_default();
  const output a = constant({{1.0f, 2.0f}, {3.0f, 4.0f}});
  const auto text = [](const output& y) { return *y.owner().named().record(y.index()).attributes.find("equation")->get_if<std::string>(); };
  CHECK(text(einsum("ij, jk", {a, a})) == "ij,jk->ik");
  CHECK(text(einsum("ba", {a}, "turned")) == "ba->ab");
  CHECK(text(einsum("...ij, ...jk", {a, a})) == "...ij,...jk->...ik");
  CHECK(list_of(graph_session(g).run({einsum("ii", {a})})[0]) == number_list{5});
  CHECK(leat_test::says(leat_test::message_of<invalid_argument>([&] { einsum("ij->i#", {a}); }), "a character that is no letter"));
  CHECK(leat_test::says(leat_test::message_of<invalid_argument>([&] { einsum("ij->i", {}); }), "no operands"));
}

TEST_CASE("what einsum refuses, when the node is made or when it runs") {
  for (const bool is_known : {true, false}) {
    const auto says = [&](const std::string& equation, const std::vector<extents>& operands, std::string_view words) {
      INFO(equation);
      CHECK(leat_test::says(refusal(equation, operands, is_known), words));
    };
    says("ij,jk", {{2, 3}, {3, 2}}, "Expecting exactly one '->' in einsum equation: ij,jk");
    says("ijk->i", {{3, 4}}, "Expected input 0 to have rank 3 but got: 2");
    says("ab...->a", {{3}}, "Expected input 0 to have rank at least 2 but got: 1");
    says("i,i->i", {{3}}, "Expected 2 inputs but got: 1");
    says("i->i", {{3}, {3}}, "Expected 1 inputs but got: 2");
    says("ii->i", {{3, 4}}, "Expected dimension 3 at axis 1 of the input shaped [3,4] but got dimension 4");
    says("ij,jk->ik", {{2, 1}, {3, 4}}, "Expected dimension 1 at axis 0 of the input shaped [3,4] but got dimension 3");
    says("...ij->ji", {{5, 2, 3}}, "Output contains 1 broadcasting dimension(s) but no ellipsis (...) was found in the output subscripts.");
    says("...,...->...", {{5}, {3}}, "Expected dimension 5 at axis 0 of the input shaped [3] but got dimension 3");
    says("i,j,k->i", {{3}, {3}, {3}}, "more than two operands");
    says("i->i->i", {{3}}, "more than one arrow");
    says("ij->ik", {{3, 3}}, "a letter of the result that no operand has");
    says("i.->i", {{3}}, "an ellipsis has three points");
    says("", {{}}, "Expecting exactly one '->'");
    says("i->iiiiiiiii", {{2}}, "more than 8");
    says("...i->...iiiiiii", {{2, 2, 2}}, "more than 8");
    says("i,j->ij", {{1 << 23}, {1 << 23}}, "");
  }
  CHECK(leat_test::says(leat_test::message_of<error>([] {
                          run_node("Einsum", {tensor_value(std::vector<std::uint8_t>{1})}, {}, {{"equation", std::string("i->i")}});
                        }),
                        "uint8"));
}

}  // namespace einsum_tests
