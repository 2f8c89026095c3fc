// Optimizers' steps and writes of slices, on references and on variables by handle: values and errors of TensorFlow 2.21.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace variable_operator_tests {

using namespace leat;
using namespace node_results;

namespace {

constexpr dtype real = dtype::float32;

tensor_value floats(const extents& of, const number_list& numbers) { return tensor_of(real, of, numbers); }
tensor_value counts(const number_list& numbers) { return tensor_of(dtype::int32, {static_cast<std::int64_t>(numbers.size())}, numbers); }
tensor_literal literal(const tensor_value& v) { return tensor_literal(v.extent(), v.as<std::vector<float>>()); }

/// The variables after some runs of one node, whose first inputs they are.
std::vector<number_list> after_steps(std::string_view type, const std::vector<tensor_value>& variables, const std::vector<tensor_value>& more,
                                     const attribute_map& settings, int steps, bool fuse) {
  graph g;
  const auto scope = g.as_default();
  const bool by_handle = type.starts_with("Resource");
  std::vector<number_argument> inputs;
  std::vector<output> all;
  std::vector<feed_item> feeds;
  for (const tensor_value& v : variables) inputs.emplace_back(all.emplace_back(variable(literal(v), "", {.use_resource = by_handle})));
  for (const tensor_value& v : more) {
    const auto place = placeholder(v.type(), v.extent());
    inputs.emplace_back(place);
    feeds.push_back({place, v});
  }
  const auto node = call_operator(g, type, inputs, settings, "culprit");
  graph_session s(g, {.fuse = fuse});
  s.run(global_variables_initializer());
  for (int k = 0; k < steps; ++k) s.run(node, feeds);
  std::vector<number_list> lists;
  for (const output& v : all) lists.push_back(list_of(s.value(v)));
  return lists;
}
const number_list weights{1, 2, -3}, slopes{0.1, -0.2, 0.3}, moments{0.1, 0.2, -0.1}, squares{0.5, 0.01, 0.3};
std::vector<tensor_value> vectors(const std::vector<number_list>& lists) {
  std::vector<tensor_value> made;
  for (const number_list& list : lists) made.push_back(list.size() == 1 ? tensor_value(static_cast<float>(list[0])) : floats({static_cast<std::int64_t>(list.size())}, list));
  return made;
}
void gives(std::string_view type, const std::vector<tensor_value>& variables, const std::vector<tensor_value>& more,
           const std::vector<number_list>& wanted, const attribute_map& settings = {}) {
  for (const bool fuse : {true, false}) {
    INFO(std::string(type));
    const auto made = after_steps(type, variables, more, settings, 2, fuse);
    REQUIRE(made.size() == wanted.size());
    for (std::size_t k = 0; k < made.size(); ++k) check_near(made[k], wanted[k], 4e-7);
  }
}
template <class Error = invalid_argument>
void refuses(std::string_view type, const std::vector<tensor_value>& variables, const std::vector<tensor_value>& more, std::string_view words,
             const attribute_map& settings = {}) {
  const std::string problem = leat_test::message_of<Error>([&] { after_steps(type, variables, more, settings, 1, false); });
  CHECK_MESSAGE(leat_test::says(problem, words, "culprit"), type << ": " << problem);
}

}  // namespace

TEST_CASE("steps of optimizers with dense gradients") {
  for (const std::string by : {"", "Resource"}) {
    gives(by + "ApplyAdaMax", vectors({weights, moments, squares}), vectors({{0.9}, {0.1}, {0.9}, {0.8}, {1e-3}, slopes}),
          {{0.439097047, 0.587065101, -2.72093034}, {0.100000001, 0.123999983, -0.0239999816}, {0.320000023, 0.200000003, 0.300000012}});
    const auto adagrad = vectors({{0.1}, {1e-2}, slopes});
    gives(by + "ApplyAdagradV2", vectors({weights, {0.1, 0.2, 0.3}}), adagrad,
          {{0.942673743, 2.07710338, -3.08996654}, {0.119999997, 0.280000001, 0.480000019}});
    gives(by + "ApplyAdagradV2", vectors({weights, {0.1, 0.2, 0.3}}), adagrad, {{0.938693166, 2.08748627, -3.10758018}, {0.1, 0.2, 0.3}},
          {{"update_slots", false}});
    gives(by + "ApplyAddSign", vectors({weights, moments}), vectors({{0.1}, {1.5}, {0.9}, {0.8}, slopes}),
          {{0.952000022, 2.02400017, -3.08999991}, {0.100000009, 0.0560000092, 0.0439999923}});
    gives(by + "ApplyPowerSign", vectors({weights, moments}), vectors({{0.1}, {1.25}, {0.9}, {0.8}, slopes}),
          {{0.938395619, 2.01298618, -3.10214615}, {0.100000009, 0.0560000092, 0.0439999923}});
    refuses(by + "ApplyAdaMax", vectors({weights, moments, {0.5, 0.01}}), vectors({{0.9}, {0.1}, {0.9}, {0.8}, {1e-3}, slopes}), "same shape");
    refuses(by + "ApplyAdaMax", vectors({weights, moments, squares}), vectors({{0.9}, {0.1, 0.2}, {0.9}, {0.8}, {1e-3}, slopes}), "");
  }
  gives("ResourceApplyAdamWithAmsgrad", vectors({weights, moments, squares, {0.4, 0.02, 0.31}}),
        vectors({{0.9}, {0.99}, {0.1}, {0.9}, {0.8}, {1e-3}, slopes}),
        {{0.968505621, 1.80227101, -2.98494029},
         {0.100000001, 0.123999983, -0.0239999816},
         {0.323599994, 0.0208000001, 0.224400014},
         {0.40200001, 0.0208000001, 0.310000002}});
  const number_list next{0.0319999978, 0.131999999, -0.100000001};
  gives("ResourceApplyKerasMomentum", vectors({weights, moments}), vectors({{0.1}, slopes, {0.7}}), {{1.04439998, 2.24440002, -3.19999981}, next},
        {{"use_nesterov", true}});
  gives("ResourceApplyKerasMomentum", vectors({weights, moments}), vectors({{0.1}, slopes, {0.7}}), {{1.09199989, 2.29200006, -3.19999981}, next});
  for (const char* type : {"ApplyKerasMomentum", "ApplyAdamWithAmsgrad", "SparseApplyKerasMomentum"}) CHECK(find_definition(type) == nullptr);
}

TEST_CASE("steps of optimizers on rows") {
  const tensor_value rows = floats({3, 2}, {1, 2, 3, 4, 5, 6}), slots = floats({3, 2}, {.1, .2, .3, .4, .5, .6}), by_row = floats({2, 2}, {.1, -.2, .3, .4});
  const tensor_value rate(0.1f), least(1e-2f), momentum(0.7f), places = counts({2, 0}), twice = counts({2, 2});
  for (const std::string by : {"", "Resource"}) {
    const std::string type = by + "SparseApplyAdagradV2";
    gives(type, {rows, slots}, {rate, least, by_row, places},
          {{0.877075672, 1.87971485, 3.0, 4.0, 4.9725132, 6.04865456}, {0.280000001, 0.520000041, 0.3, 0.4, 0.519999981, 0.680000067}});
    gives(type, {rows, slots}, {rate, least, by_row, places},
          {{0.816079378, 1.82502699, 3.0, 4.0, 4.97210979, 6.05098152}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}}, {{"update_slots", false}});
    gives(type, {rows, slots}, {rate, least, by_row, twice},
          {{1.0, 2.0, 3.0, 4.0, 4.89987946, 5.96244669}, {0.1, 0.2, 0.3, 0.4, 0.700000048, 1.00000012}});
    refuses(type, {rows, slots}, {rate, least, by_row, counts({3, 0})}, "Index [0] = 3 is not in [0, 3)");
    refuses(type, {rows, slots}, {rate, least, by_row, counts({0, -1})}, "-1 is not in [0, 3)");
    refuses(type, {rows, floats({2, 2}, {.1, .2, .3, .4})}, {rate, least, by_row, counts({1, 0})}, "same shape");
  }
  const number_list next{-0.00200000219, 0.02999999, 0.3, 0.4, 0.228, 0.328000039}, next_twice{0.1, 0.2, 0.3, 0.4, 0.0649200007, 0.105320007};
  const std::string type = "ResourceSparseApplyKerasMomentum";
  gives(type, {rows, slots}, {rate, by_row, places, momentum}, {{1.03799999, 2.12999988, 3.0, 4.0, 5.56800032, 6.76800013}, next});
  gives(type, {rows, slots}, {rate, by_row, places, momentum}, {{0.966600001, 2.01099992, 3.0, 4.0, 5.37760019, 6.5776}, next},
        {{"use_nesterov", true}});
  gives(type, {rows, slots}, {rate, by_row, twice, momentum}, {{1.0, 2.0, 3.0, 4.0, 5.74852037, 7.02092028}, next_twice});
  refuses(type, {rows, slots}, {rate, by_row, counts({3, 0}), momentum}, "is not in [0, 3)");
}

TEST_CASE("slices that are replaced, in values and in variables") {
  number_list numbers(12);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  const tensor_value x = floats({3, 4}, numbers);
  const auto replaced = [&](const tensor_value& of, const number_list& begin, const number_list& end, const number_list& strides,
                            const tensor_value& value, const number_list& wanted, const attribute_map& settings = {}) {
    const std::vector<tensor_value> rest{counts(begin), counts(end), counts(strides), value};
    std::vector<tensor_value> all{of};
    all.insert(all.end(), rest.begin(), rest.end());
    CHECK(list_of(run_node("TensorStridedSliceUpdate", all, {}, settings)[0]) == wanted);
    for (const char* type : {"StridedSliceAssign", "ResourceStridedSliceAssign"}) CHECK(after_steps(type, {of}, rest, settings, 1, true)[0] == wanted);
  };
  const tensor_value four = floats({2, 2}, {10, 20, 30, 40});
  replaced(x, {0, 1}, {2, 3}, {1, 1}, four, {0, 10, 20, 3, 4, 30, 40, 7, 8, 9, 10, 11});
  replaced(x, {2, 3}, {0, 0}, {-1, -2}, four, {0, 1, 2, 3, 4, 40, 6, 30, 8, 20, 10, 10});
  replaced(x, {1, 0}, {2, 4}, {1, 1}, floats({4}, {9, 8, 7, 6}), {0, 1, 2, 3, 9, 8, 7, 6, 8, 9, 10, 11}, {{"shrink_axis_mask", 1}});
  replaced(x, {0, 1}, {2, 3}, {1, 1}, tensor_value(5.0f), {0, 5, 5, 3, 4, 5, 5, 7, 8, 9, 10, 11});
  for (const extents& of : {extents{2}, extents{1, 1, 2}}) replaced(x, {0, 1}, {2, 3}, {1, 1}, floats(of, {5, 6}), {0, 5, 6, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  replaced(x, {0}, {0}, {1}, floats({1, 4}, {1, 2, 3, 4}), numbers);
  replaced(x, {0, 0}, {1, 1}, {1, 1}, floats({1, 1, 1}, {1}), {1, 1, 1, 1, 4, 5, 6, 7, 8, 9, 10, 11}, {{"new_axis_mask", 1}});
  replaced(x, {0, 0}, {1, 2}, {1, 1}, tensor_value(7.0f), {7, 7, 2, 3, 7, 7, 6, 7, 7, 7, 10, 11},
           {{"begin_mask", 1}, {"end_mask", 1}, {"ellipsis_mask", 1}});
  replaced(floats({}, {7}), {}, {}, {}, tensor_value(3.0f), {3});
  const auto words = run_node("TensorStridedSliceUpdate", {tensor_value(std::vector<std::string>{"a", "b", "c"}), counts({1}), counts({3}), counts({1}),
                                                           tensor_value(std::vector<std::string>{"x", "yy"})}, {}, {});
  CHECK(words[0].texts() == std::vector<std::string>{"a", "x", "yy"});

  const auto refused = [&](const tensor_value& begin, const tensor_value& end, const tensor_value& strides, const tensor_value& value,
                           std::string_view text, const attribute_map& settings = {}) {
    const std::string problem =
        leat_test::message_of<invalid_argument>([&] { run_node("TensorStridedSliceUpdate", {x, begin, end, strides, value}, {}, settings, "culprit"); });
    CHECK_MESSAGE(leat_test::says(problem, text, "culprit"), problem);
    for (const char* type : {"StridedSliceAssign", "ResourceStridedSliceAssign"}) refuses(type, {x}, {begin, end, strides, value}, text, settings);
  };
  const tensor_value one = floats({1}, {1});
  refused(counts({0, 1}), counts({2, 3}), counts({1, 1}), floats({3}, {5, 6, 7}), "Cannot broadcast input shape [3] into final shape [2,2]");
  refused(counts({0, 1}), counts({2, 3}), counts({1, 1}), floats({3, 2}, {1, 2, 3, 4, 5, 6}), "Cannot broadcast input shape [3,2] into final shape [2,2]");
  refused(counts({0, 0}), counts({0, 0}), counts({1, 0}), one, "strides[1] must be non-zero");
  refused(counts({5, 0}), counts({6, 0}), counts({1, 1}), one, "slice index 5 of dimension 0 out of bounds", {{"shrink_axis_mask", 1}});
  refused(counts({0, 0, 0}), counts({1, 1, 1}), counts({1, 1, 1}), one, "Index out of range using input dim 2");
  refused(counts({0, 0}), counts({1}), counts({1, 1}), one, "begin, end and strides");
  refused(tensor_of(dtype::int32, {1, 2}, {0, 0}), counts({1, 1}), counts({1, 1}), one, "1D");

  const auto update = [](const std::vector<output>& in) {
    return call_operator(in[0].owner(), "TensorStridedSliceUpdate", {in[0], integers({0, 1}, {2}), integers({2, 3}, {2}), integers({1, 1}, {2}), in[1]}).result();
  };
  check_gradient({{3, 4}, {2, 2}}, update);
  check_gradient({{3, 4}, {2, 1}}, update);
}

TEST_CASE("elements of a variable by handle, and its count") {
  number_list numbers(12);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  graph g;
  const auto scope = g.as_default();
  const output v = variable(literal(floats({3, 4}, numbers)), "", {.use_resource = true});
  const auto gathered = [&](const std::vector<std::int32_t>& list, const extents& of) {
    return call_operator(g, "ResourceGatherNd", {v, integers(list, of)}, {{"dtype", real}}).result();
  };
  struct wanted {
    output of;
    shape extent;
    number_list values, slopes;
  };
  const std::vector<wanted> all{
      {gathered({0, 1, 2, 3}, {2, 2}), shape(1, {2}), {1, 11}, {0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 22}},
      {gathered({2, 0}, {2, 1}), shape(2, {2, 4}), {8, 9, 10, 11, 0, 1, 2, 3}, {0, 2, 4, 6, 0, 0, 0, 0, 16, 18, 20, 22}},
      {gathered({1, 1}, {1, 1, 2}), shape(2, {1, 1}), {5}, {0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0}},
  };
  std::vector<output> by;
  for (const wanted& w : all) by.push_back(gradients({reduce_sum(w.of * w.of)}, {v})[0]);
  const output count = variable(tensor_literal(std::int32_t{2}), "", {.use_resource = true});
  const output next = call_operator(g, "ResourceCountUpTo", {count}, {{"limit", 4}, {"T", dtype::int32}}, "culprit").result();
  const output at = placeholder(dtype::int32, shape::unknown());
  const output free = call_operator(g, "ResourceGatherNd", {v, at}, {{"dtype", real}}, "culprit").result();
  graph_session s(g);
  s.run(global_variables_initializer());
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto made = s.run(all[k].of);
    CHECK(made.extent() == all[k].extent);
    CHECK(list_of(made) == all[k].values);
    CHECK(list_of(s.run(by[k])) == all[k].slopes);
  }
  const auto problem = [&](const tensor_value& places) { return leat_test::message_of<invalid_argument>([&] { s.run(free, {{at, places}}); }); };
  CHECK(leat_test::says(problem(tensor_of(dtype::int32, {1, 2}, {3, 0})), "indices[0] = [3, 0] does not index into", "culprit"));
  CHECK(leat_test::says(problem(tensor_of(dtype::int32, {1, 2}, {-1, 0})), "indices[0] = [-1, 0] does not index into"));
  CHECK(leat_test::says(problem(tensor_of(dtype::int32, {1, 3}, {0, 0, 0})), "index innermost dimension length must be <= params rank; saw: 3 vs. 2"));
  CHECK(leat_test::says(problem(tensor_of(dtype::int32, {}, {3})), "indices must be at least a vector"));

  CHECK(list_of(s.run(next)) == number_list{2});
  CHECK(list_of(s.run(next)) == number_list{3});
  CHECK(leat_test::says(leat_test::message_of<out_of_range>([&] { s.run(next); }), "Reached limit of 4", "culprit"));
}

}  // namespace variable_operator_tests
