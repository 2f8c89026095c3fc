// Gradients of lists of tensors: of each operator, in loops, through a graph of TensorFlow 2 with its loop by functions, and what is refused.
// Values of the imported graph are TensorFlow's.

#include <leat/io/binary.hpp>

#include "list_graphs.hpp"
#include "support/hex.hpp"
#include "support/messages.hpp"
#include "support/node_results.hpp"

using namespace leat;
using namespace node_results;

namespace list_gradients_test {

using arguments = std::vector<number_argument>;
graph_operation list_op(const output& like, std::string_view type, const arguments& inputs, attribute_map attributes = {}) {
  return call_operator(like.owner(), type, inputs, std::move(attributes));
}
output any() { return constant(std::int32_t{-1}); }
output int_list(std::vector<std::int32_t> list) { return constant(std::move(list)); }
attribute_map elements(const output& like) { return {{"element_dtype", like.type()}}; }
output list_from(const output& rows) { return list_op(rows, "TensorListFromTensor", {rows, any()}).result(); }
output stacked(const output& list, const output& like) { return list_op(list, "TensorListStack", {list, any()}, elements(like)).result(); }
output item(const output& list, const number_argument& at, const output& like) {
  return list_op(list, "TensorListGetItem", {list, at, any()}, elements(like)).result();
}
output with_item(const output& list, const number_argument& at, const output& v) {
  return list_op(list, "TensorListSetItem", {list, at, v}).result();
}
output reserved(const output& like, const number_argument& shape_of_each, const number_argument& count) {
  return list_op(like, "TensorListReserve", {shape_of_each, count}, elements(like)).result();
}
std::string outcome(const std::vector<output>& fetches, const std::vector<feed_item>& feeds, const run_options& how = {}) {
  return leat_test::message_of<error>(
      [&] { graph_session(fetches[0].owner()).run(std::vector<fetch_item>(fetches.begin(), fetches.end()), feeds, how); });
}

}  // namespace list_gradients_test
using namespace list_gradients_test;

TEST_CASE("gradients of each operator of lists, against differences") {
  check_gradient({{3, 2}}, [](const std::vector<output>& in) { return stacked(list_from(in[0]), in[0]); });
  check_gradient({{3, 2}}, [](const std::vector<output>& in) { return item(list_from(in[0]), std::int32_t{1}, in[0]); });
  check_gradient({{3, 2}, {2}},
                 [](const std::vector<output>& in) { return stacked(with_item(list_from(in[0]), std::int32_t{1}, in[1]), in[0]); });
  check_gradient({{3, 2}, {2}}, [](const std::vector<output>& in) {
    const output grown =
        list_op(in[0], "TensorListSetItem", {list_from(in[0]), std::int32_t{4}, in[1]}, {{"resize_if_index_out_of_bounds", true}}).result();
    return stacked(grown, in[0]);
  });
  check_gradient({{3, 2}, {2}}, [](const std::vector<output>& in) {
    return stacked(list_op(in[0], "TensorListPushBack", {list_from(in[0]), in[1]}).result(), in[0]);
  });
  check_gradient({{3, 2}}, [](const std::vector<output>& in) {
    const auto popped = list_op(in[0], "TensorListPopBack", {list_from(in[0]), any()}, elements(in[0]));
    return concat(std::vector<output>{reshape(stacked(popped.result(0), in[0]), {-1}), square(popped.result(1))}, 0);
  });
  // One of the results alone.
  check_gradient({{3, 2}}, [](const std::vector<output>& in) {
    return stacked(list_op(in[0], "TensorListPopBack", {list_from(in[0]), any()}, elements(in[0])).result(0), in[0]);
  });
  check_gradient({{3, 2}}, [](const std::vector<output>& in) {
    return list_op(in[0], "TensorListPopBack", {list_from(in[0]), any()}, elements(in[0])).result(1);
  });
  check_gradient({{3, 2}}, [](const std::vector<output>& in) {
    return list_op(in[0], "TensorListGather", {list_from(in[0]), int_list({2, 0}), any()}, elements(in[0])).result();
  });
  for (const char* type : {"TensorListScatter", "TensorListScatterV2"})
    check_gradient({{3, 2}}, [&](const std::vector<output>& in) {
      arguments inputs{in[0], int_list({4, 0, 1}), any()};
      if (std::string_view(type).ends_with("V2")) inputs.push_back(std::int32_t{6});
      return stacked(list_op(in[0], type, inputs).result(), in[0]);
    });
  check_gradient({{3, 2}, {2, 2}}, [](const std::vector<output>& in) {
    return stacked(list_op(in[0], "TensorListScatterIntoExistingList", {list_from(in[0]), in[1], int_list({2, 0})}).result(), in[0]);
  });
  for (const std::int32_t size : {2, 5})
    check_gradient({{3, 2}}, [&](const std::vector<output>& in) {
      return stacked(list_op(in[0], "TensorListResize", {list_from(in[0]), size}).result(), in[0]);
    });
  check_gradient({{5, 2}}, [](const std::vector<output>& in) {
    const output parts =
        list_op(in[0], "TensorListSplit", {in[0], int_list({-1, 2}), constant(std::vector<std::int64_t>{1, 3, 1})}).result();
    return list_op(in[0], "TensorListConcatV2", {parts, int_list({-1, 2}), constant(std::vector<std::int64_t>{})}, elements(in[0]))
        .result(0);
  });
  check_gradient({{3, 2, 2}}, [](const std::vector<output>& in) {
    return list_op(in[0], "TensorListConcat", {list_from(in[0])}, elements(in[0])).result(0);
  });
  // Several users of a list: their gradients are lists, and add up.
  check_gradient({{3, 2}}, [](const std::vector<output>& in) {
    const output list = list_from(in[0]);
    return stacked(list, in[0]) * item(list, std::int32_t{0}, in[0]) + item(list, std::int32_t{2}, in[0]);
  });
}

TEST_CASE("gradients of lists in loops, against differences") {
  // A running product, element by element; the list of inputs is the same in each iteration.
  const auto running = [](const output& x) {
    const output from = list_from(x), n = x.owner().named().make_constant(x.owner(), std::int32_t{3}, "n");
    const auto last = while_loop([&](const std::vector<output>& v) { return v[0] < n; },
                                 [&](const std::vector<output>& v) {
                                   const output next = v[2] * item(from, v[0], x) + 0.5;
                                   return std::vector<output>{v[0] + 1, with_item(v[1], v[0], next), next};
                                 },
                                 {std::int32_t{0}, reserved(x, int_list({2}), std::int32_t{3}), item(from, std::int32_t{0}, x)});
    return stacked(last[1], x);
  };
  check_gradient({{3, 2}}, [&](const std::vector<output>& in) { return running(in[0]); });
  // A list that grows, and one that is taken apart from its end, with a branch.
  check_gradient({{3, 2}}, [](const std::vector<output>& in) {
    const output x = in[0], none = list_op(x, "EmptyTensorList", {int_list({2}), std::int32_t{-1}}, elements(x)).result();
    const auto last =
        while_loop([](const std::vector<output>& v) { return v[0] < 3; },
                   [&](const std::vector<output>& v) {
                     const auto popped = list_op(x, "TensorListPopBack", {v[1], int_list({2})}, elements(x));
                     const output one = popped.result(1);
                     const output changed = cond(
                         equal(v[0], 1), [&] { return one * one; }, [&] { return one * 2.0; });
                     return std::vector<output>{v[0] + 1, popped.result(0), list_op(x, "TensorListPushBack", {v[2], changed}).result()};
                   },
                   {std::int32_t{0}, list_from(x), none});
    return stacked(last[2], x);
  });
  // A branch that changes a list, and one that leaves it.
  check_gradient({{3, 2}}, [](const std::vector<output>& in) {
    const output x = in[0];
    const auto last =
        while_loop([](const std::vector<output>& v) { return v[0] < 3; },
                   [&](const std::vector<output>& v) {
                     const output kept = cond(
                         equal(v[0], 1), [&] { return v[1]; }, [&] { return with_item(v[1], v[0], item(v[1], v[0], x) * 3.0); });
                     return std::vector<output>{v[0] + 1, kept};
                   },
                   {std::int32_t{0}, list_from(x)});
    return stacked(last[1], x);
  });
  // A loop in a loop, which both read and write a list of the outer one.
  check_gradient({{2, 2}}, [](const std::vector<output>& in) {
    const output x = in[0];
    const auto last =
        while_loop([](const std::vector<output>& v) { return v[0] < 2; },
                   [&](const std::vector<output>& v) {
                     const auto inner = while_loop(
                         [](const std::vector<output>& w) { return w[0] < 2; },
                         [&](const std::vector<output>& w) {
                           return std::vector<output>{w[0] + 1, with_item(w[1], w[0], item(w[1], 1 - w[0], x) * item(v[1], v[0], x))};
                         },
                         {std::int32_t{0}, v[1]});
                     return std::vector<output>{v[0] + 1, inner[1]};
                   },
                   {std::int32_t{0}, list_from(x)});
    return stacked(last[1], x);
  });
}

TEST_CASE("a graph of TensorFlow 2 with a loop by functions runs, and its gradient is TensorFlow's") {
  const std::vector<float> x{-0.5, -0.375, 0, 0.5, -0.5, 0.5, 0.375, -0.625, -0.25, 0.75, 0.75, 0.375, -1, 0.375, -0.625, 0.625},
      w{0.625,  -0.875, -0.625, -0.5, -0.625, 0.625,  0.75,  0.125, -1,   -0.875, -0.375, -0.125, 0.25,   0,     -0.5,
        -0.75,  0.375,  0.5,    -1,   -0.875, -0.125, -0.25, 0.875, 0,    -0.125, -0.125, 0.375,  0.125,  -0.75, 0.5,
        0.5,    1,      0.625,  -0.5, -0.375, 0.375,  0.375, 0.375, 0.75, -0.5,   0.875,  -1,     -0.875, 1,     1,
        -0.375, -0.75,  -0.375, -1,   0.875,  0.375,  0.125, -0.5,  0,    -0.625, 0.625,  0,      -1,     -0.5,  0.5};
  const std::vector<float> b{0, -0.25, -0.5, -0.875, 0.25, 0.375, 0, 0.875, 0.875, -0.625, 0.25, 0.25};
  const std::vector<number_list> wanted{
      {-0.062670313, 0.11310758,  -0.035860449, -0.13551664, 0.11862254,  0.098984241, -0.17771026, 0.36086252,
       0.0057309372, -0.17310704, 0.052414164,  0.10327917,  -0.2030102,  0.48996437,  0.032707948, -0.15413442,
       0.074617386,  0.16181423,  -0.2030102,   0.48996437,  0.032707948, -0.15413442, 0.074617386, 0.16181423},
      {-0.2030102, 0.48996437, 0.032707948, -0.15413442, 0.074617386, 0.16181423},
      {-0.67814553, 0.89049357, 0.062919229, -1.0617549, 0.13229744, 0.31486338},
      {1.5920877},
      {-0.49652749, 0.3293294, -0.078185424, 0.11438809, -0.40593117, 0.18658185, 0.042394087, 0.1606617, -0.48938197, 0.32686052,
       -0.21055321, -0.0069294218, 0, 0, 0, 0},
      {-0.045568265, -0.23755276,   0.061088197,  0.085408367,  -0.41089609,   0.17111726,    0.0019301667,  -0.042382687, 0.021031808,
       0.061509646,  -0.14542645,   0.052214377,  0.12457614,   0.2623834,     0.045855533,   0.0044011176,  0.12779681,   0.015200786,
       0.04355162,   0.10164318,    0.0019759457, 0.21556893,   0.33749568,    0.02881624,    -0.032897837,  -0.055480059, -0.01590037,
       0.024132915,  -0.09096431,   -0.043988742, -0.014717072, -0.023225481,  -0.0054792962, -0.073942289,  -0.080094084, -0.012985406,
       0.050683826,  0.10921701,    0.0068308506, -0.032639448, 0.13211672,    0.039736453,   0.021337271,   0.044079654,  0.0025768157,
       0.089672588,  0.15685774,    0.0047742222, 0.0040830369, -0.0069391173, 0.0094660632,  -0.0058608423, 0.011007898,  0.026717424,
       0.0031936301, 5.4589938e-05, 0.0034308168, 0.02143934,   0.001405339,   0.0075053782},
      {0.3295213, 0.63189191, 0.14631192, -0.38535449, 1.5238091, 0.26825124, 0.095043816, 0.16012675, 0.034248631, 0.51551378, 0.54332823,
       0.079733364}};
  for (const bool fuse : {true, false}) {
    graph g;
    const auto scope = g.as_default();
    import_graph(g, io::read_binary<graph_def>(leat_test::from_hex(list_graphs::lstm)), {.name = ""});
    const auto tensor = [&](const char* name) { return get_tensor_by_name(g, name); };
    std::vector<output> fetches;
    for (const char* name : {"Identity:0", "Identity_1:0", "Identity_2:0", "Identity_3:0"}) fetches.push_back(tensor(name));
    // Two calls: each has stacks of its own.
    for (int times = 0; times < 2; ++times)
      for (const output& o : gradients({tensor("Identity_3:0")}, {tensor("x:0"), tensor("W:0"), tensor("b:0")})) {
        REQUIRE(static_cast<bool>(o));
        fetches.push_back(o);
      }
    graph_session s(g, {.fuse = fuse});
    const auto got = s.run(std::vector<fetch_item>(fetches.begin(), fetches.end()),
                           {{"x:0", tensor_value({4, 2, 2}, x)}, {"W:0", tensor_value({5, 12}, w)}, {"b:0", tensor_value(b)}, {"n:0", 3}});
    REQUIRE(got.size() == 10);
    for (std::size_t k = 0; k < got.size(); ++k) check_near(list_of(got[k]), wanted[k < 7 ? k : k - 3], 1e-5);
  }
}

TEST_CASE("gradients of lists of unfitting elements and indices are errors") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, shape::unknown(), "x"), at = placeholder(dtype::int32, shape{}, "at");
  const output list = list_from(x), y = item(list, at, x), set = stacked(with_item(list, at, y * 2.0f), x);
  const output dx = gradients({y}, {x})[0], by_set = gradients({set}, {x})[0];
  const auto fed = [&](std::int32_t k) {
    return std::vector<feed_item>{{x, tensor_value({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6})}, {at, k}};
  };
  CHECK(list_of(graph_session(g).run({dx}, fed(1))[0]) == number_list{0, 0, 1, 1, 0, 0});
  for (const std::int32_t k : {-1, 3, 2147483647, -2147483647 - 1})
    for (const output& o : {dx, by_set})
      CHECK(leat_test::says(outcome({o}, fed(k)), "element " + std::to_string(k) + " in a list with 3 elements"));
  CHECK(leat_test::says(outcome({dx}, {{x, 1.0f}, {at, 0}}), "at least a vector"));
  // A list is no y.
  CHECK(leat_test::says(leat_test::message_of<error>([&] { static_cast<void>(gradients({list}, {x})); }), "is not a number"));
}

TEST_CASE("gradients of loops of lists: integers have none, and a loop without an end stops at its deadline") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {3, 2}, "x"), n = placeholder(dtype::int32, shape{}, "n");
  const output numbers = list_from(constant(std::vector<std::int32_t>{1, 2, 3}));
  const auto last =
      while_loop([&](const std::vector<output>& v) { return not_equal(v[0], n); },
                 [&](const std::vector<output>& v) {
                   const output which = floor_mod(v[0], 3);
                   const output one = list_op(x, "TensorListGetItem", {v[2], which, any()}, {{"element_dtype", dtype::int32}}).result();
                   const output next = with_item(v[1], which, item(v[1], which, x) * cast(one, dtype::float32));
                   return std::vector<output>{v[0] + 1, next, with_item(v[2], which, one + 1)};
                 },
                 {std::int32_t{0}, list_from(x), numbers});
  const output dx = gradients({stacked(last[1], x)}, {x})[0];
  graph_session s(g);
  const tensor_value fed_ones({3, 2}, std::vector<float>(6, 1.0f));
  CHECK(list_of(s.run({dx}, {{x, fed_ones}, {n, 5}})[0]) == number_list{2, 2, 6, 6, 3, 3});
  CHECK(list_of(s.run({dx}, {{x, fed_ones}, {n, 0}})[0]) == number_list(6, 1));
  CHECK_THROWS_AS(s.run({dx}, {{x, fed_ones}, {n, -1}}, {.timeout_in_ms = 200}), error);
  CHECK(list_of(s.run({dx}, {{x, fed_ones}, {n, 1}})[0]) == number_list(6, 1));
}
