// Products with sparse matrices, sparse tensors in order, joined and cut; rounding to few bits; labels of sequences. Values and errors are
// those of TensorFlow 2.21.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace sparse_operator_tests {

using namespace leat;
using namespace node_results;

namespace {

tensor_value whole(const extents& of, const number_list& list) { return tensor_of(dtype::int64, of, list); }
tensor_value list(const number_list& numbers) { return whole({static_cast<std::int64_t>(numbers.size())}, numbers); }
tensor_value floats(const extents& of, const number_list& numbers) { return tensor_of(dtype::float32, of, numbers); }
template <class Error = invalid_argument>
bool refuses(std::string_view type, const std::vector<tensor_value>& arrays, std::string_view words, const attribute_map& settings = {}) {
  return leat_test::says(leat_test::message_of<Error>([&] { run_node(type, arrays, {}, settings); }), words);
}

}  // namespace

TEST_CASE("a sparse matrix times a dense one") {
  const tensor_value b = tensor_of(dtype::float32, {3, 2}, {1, 2, 3, 4, 5, 6});
  for (const dtype type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64}) {
    const auto run = [&](const extents& at, const number_list& indices, const number_list& values, const number_list& sizes,
                         const extents& of_b, const number_list& dense, bool ta, bool tb) {
      return run_node("SparseTensorDenseMatMul",
                      {whole(at, indices), tensor_of(type, {at[0]}, values), list(sizes), tensor_of(type, of_b, dense)}, {},
                      {{"adjoint_a", ta}, {"adjoint_b", tb}})[0];
    };
    CHECK(list_of(run({3, 2}, {0, 0, 1, 2, 1, 2}, {2, 3, 1}, {2, 3}, {3, 2}, {1, 2, 3, 4, 5, 6}, false, false)) ==
          number_list{2, 4, 20, 24});
    CHECK(list_of(run({2, 2}, {0, 0, 1, 2}, {2, 3}, {2, 3}, {2, 3}, {1, 2, 3, 4, 5, 6}, false, true)) == number_list{2, 8, 9, 18});
    CHECK(list_of(run({2, 2}, {0, 0, 1, 2}, {2, 3}, {2, 3}, {2, 1}, {5, 7}, true, false)) == number_list{10, 0, 21});
    CHECK(list_of(run({2, 2}, {0, 0, 1, 2}, {2, 3}, {2, 3}, {1, 2}, {5, 7}, true, true)) == number_list{10, 0, 21});
    CHECK(list_of(run({0, 2}, {}, {}, {2, 3}, {3, 2}, {1, 2, 3, 4, 5, 6}, false, false)) == number_list(4, 0));
    CHECK(run({0, 2}, {}, {}, {0, 3}, {3, 2}, {1, 2, 3, 4, 5, 6}, false, false).elements() == 0);
  }
  const auto says = [&](const extents& at, const number_list& indices, const number_list& values, const number_list& sizes,
                        const tensor_value& dense, std::string_view words) {
    CHECK(refuses<error>("SparseTensorDenseMatMul",
                         {whole(at, indices), floats({static_cast<std::int64_t>(values.size())}, values), list(sizes), dense}, words));
  };
  says({1, 2}, {0, 3}, {1}, {2, 3}, b, "k (3) from index[0,1] out of bounds (>=3)");
  says({1, 2}, {2, 0}, {1}, {2, 3}, b, "m (2) from index[0,0] out of bounds (>=2)");
  says({1, 2}, {-1, 0}, {1}, {2, 3}, b, "m (-1) from index[0,0] out of bounds (>=2)");
  says({1, 2}, {0, 0}, {1, 2}, {2, 3}, b, "Number of rows of a_indices does not match number of entries in a_values");
  says({1, 2}, {0, 0}, {1}, {2, 4}, b, "Cannot multiply A and B because inner dimension does not match: 4 vs. 3.");
  says({1, 2}, {0, 0}, {1}, {2}, b, "Tensor 'a_shape' must have 2 elements");
  says({2}, {0, 0}, {1}, {2, 3}, b, "Tensor 'a_indices' is not a matrix");
  says({1, 2}, {0, 0}, {1}, {2, 3}, floats({3}, {1, 2, 3}), "Tensor 'b' is not a matrix");
  says({1, 2}, {0, 0}, {1}, {-2, 3}, b, "a_shape has the size -2");
  says({0, 2}, {}, {}, {4611686018427387904.0, 3}, b, "");
  says({1, 3}, {0, 0, 0}, {1}, {2, 3}, b, "Number of columns");
}

TEST_CASE("gradients of products with a sparse matrix") {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      check_gradient({{3}, tb ? extents{2, ta ? 2 : 3} : extents{ta ? 2 : 3, 2}}, [&](const std::vector<output>& in) {
        const output indices = constant(tensor_literal(shape(2, {3, 2}), std::vector<std::int64_t>{0, 0, 1, 2, 1, 0}));
        return call_operator(in[0].owner(), "SparseTensorDenseMatMul",
                             {indices, in[0], tensor_literal(shape(1, {2}), std::vector<std::int64_t>{2, 3}), in[1]},
                             {{"adjoint_a", ta}, {"adjoint_b", tb}})
            .result();
      });
  check_gradient({{3}}, [](const std::vector<output>& in) {
    const output indices = constant(tensor_literal(shape(2, {3, 2}), std::vector<std::int64_t>{1, 2, 0, 0, 1, 0}));
    return call_operator(in[0].owner(), "SparseReorder", {indices, in[0], tensor_literal(shape(1, {2}), std::vector<std::int64_t>{2, 3})})
               .result(1) *
           constant({1.0, 2.0, 3.0});
  });
}

TEST_CASE("sparse tensors in order, joined and cut") {
  const auto ordered = run_node("SparseReorder", {whole({3, 2}, {1, 0, 0, 2, 0, 1}), floats({3}, {1, 2, 3}), list({2, 3})}, {}, {});
  CHECK(list_of(ordered[0]) == number_list{0, 1, 0, 2, 1, 0});
  CHECK(list_of(ordered[1]) == number_list{3, 2, 1});
  CHECK(list_of(run_node("SparseReorder", {whole({3, 2}, {0, 2, 0, 2, 0, 0}), floats({3}, {1, 2, 3}), list({2, 3})}, {}, {})[1]) ==
        number_list{3, 1, 2});
  CHECK(refuses("SparseReorder", {whole({2, 2}, {1, 0, 0, 2}), floats({3}, {1, 2, 3}), list({2, 3})},
                "Number of elements in indices (2) and values (3) do not match"));
  CHECK(refuses("SparseReorder", {whole({1, 2}, {0, 2}), floats({1}, {1}), list({2})}, "Index rank (2) and shape rank (1) do not match"));

  const auto concat = [](std::int64_t axis, tensor_value i, tensor_value v, tensor_value s, tensor_value j, tensor_value w,
                         tensor_value t) {
    return run_node("SparseConcat", {std::move(i), std::move(j), std::move(v), std::move(w), std::move(s), std::move(t)}, {},
                    {{"concat_dim", axis}, {"N", 2}});
  };
  const auto beside = concat(1, whole({2, 2}, {0, 0, 1, 1}), floats({2}, {1, 2}), list({2, 2}), whole({2, 2}, {0, 1, 1, 0}),
                             floats({2}, {3, 4}), list({2, 3}));
  CHECK(list_of(beside[0]) == number_list{0, 0, 0, 3, 1, 1, 1, 2});
  CHECK(list_of(beside[1]) == number_list{1, 3, 2, 4});
  CHECK(list_of(beside[2]) == number_list{2, 5});
  const auto above =
      concat(-2, whole({1, 2}, {0, 0}), floats({1}, {1}), list({1, 2}), whole({1, 2}, {0, 1}), floats({1}, {3}), list({2, 2}));
  CHECK(list_of(above[0]) == number_list{0, 0, 1, 1});
  const auto says = [&](std::int64_t axis, number_list second, std::string_view words) {
    CHECK(leat_test::says(
        leat_test::message_of<invalid_argument>([&] {
          concat(axis, whole({1, 2}, {0, 0}), floats({1}, {1}), list({1, 2}), whole({1, 2}, {0, 1}), floats({1}, {3}), list(second));
        }),
        words));
  };
  says(2, {1, 2}, "Concat dimension must be in range [-2, 2), got 2");
  says(0, {1, 3}, "Input shapes must match: expected 2 for dimension 1 but got 3 at position 1");
  const double half = 4611686018427387904.0;  // 2^62
  CHECK(leat_test::says(
      leat_test::message_of<invalid_argument>([&] {
        concat(1, whole({1, 2}, {0, 0}), floats({1}, {1}), list({1, half}), whole({1, 2}, {0, 1}), floats({1}, {3}), list({1, half}));
      }),
      "the sizes along the axis are too large"));

  const auto slice = [](number_list begin, number_list size) {
    return run_node("SparseSlice", {whole({3, 2}, {0, 0, 0, 2, 1, 1}), floats({3}, {1, 2, 3}), list({2, 3}), list(begin), list(size)}, {},
                    {});
  };
  const auto part = slice({0, 1}, {2, 2});
  CHECK(list_of(part[0]) == number_list{0, 1, 1, 0});
  CHECK(list_of(part[1]) == number_list{2, 3});
  CHECK(list_of(part[2]) == number_list{2, 2});
  CHECK(list_of(slice({1, 0}, {5, 5})[2]) == number_list{1, 3});
  CHECK(list_of(slice({3, 0}, {1, 1})[2]) == number_list{0, 1});
  CHECK(leat_test::says(leat_test::message_of<invalid_argument>([&] {
                          slice({0}, {1, 1});
                        }),
                        "Expected start to be a vector of length 2 but got length 1"));
  CHECK(leat_test::says(leat_test::message_of<invalid_argument>([&] { slice({0, 0}, {1, -1}); }), "Expected a non-negative size, got -1"));
}

TEST_CASE("rounding to few bits, and its gradients") {
  const tensor_value x = floats({10}, {-8, -6, -5.9, -1, 0, 0.01, 3, 5.9, 6, 7}), dy = floats({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  struct setting {
    float low, high;
    int bits;
    bool narrow;
    number_list rounded, slopes;
    double below, above;
  };
  const setting settings[]{{-6,
                            6,
                            8,
                            false,
                            {-6.0235295, -5.9764705, -5.8823528, -0.9882353, 0, 0, 3.0117648, 5.8823528, 5.9764705, 5.9764705},
                            {0, 1, 2, 3, 4, 5, 6, 7, 0, 0},
                            0,
                            17},
                           {-6, 6, 4, true, {-6, -6, -6, -0.85714287, 0, 0, 3.4285715, 6, 6, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 0}, 0, 9},
                           {0.1f, 2, 8, false, {0, 0, 0, 0, 0, 0.0074509801, 1.9, 1.9, 1.9, 1.9}, {0, 0, 0, 0, 4, 5, 0, 0, 0, 0}, 6, 30}};
  for (const setting& s : settings) {
    const attribute_map bits{{"num_bits", s.bits}, {"narrow_range", s.narrow}};
    attribute_map all = bits;
    all["min"] = s.low;
    all["max"] = s.high;
    const tensor_value low(s.low), high(s.high);
    check_near(list_of(run_node("FakeQuantWithMinMaxArgs", {x}, {}, all)[0]), s.rounded, 1e-6);
    check_near(list_of(run_node("FakeQuantWithMinMaxVars", {x, low, high}, {}, bits)[0]), s.rounded, 1e-6);
    CHECK(list_of(run_node("FakeQuantWithMinMaxArgsGradient", {dy, x}, {}, all)[0]) == s.slopes);
    const auto back = run_node("FakeQuantWithMinMaxVarsGradient", {dy, x, low, high}, {}, bits);
    CHECK(list_of(back[0]) == s.slopes);
    CHECK(list_of(back[1]) == number_list{s.below});
    CHECK(list_of(back[2]) == number_list{s.above});
    graph g;
    const auto scope = g.as_default();
    const output in = placeholder(dtype::float32, x.extent()), from = placeholder(dtype::float32, shape{}),
                 to = placeholder(dtype::float32, shape{});
    const output y = call_operator(g, "FakeQuantWithMinMaxVars", {in, from, to}, bits).result();
    const output z = call_operator(g, "FakeQuantWithMinMaxArgs", {in}, all).result();
    const output slopes = placeholder(dtype::float32, x.extent());
    auto wanted = gradients({reduce_sum(y * slopes)}, {in, from, to});
    wanted.push_back(gradients({reduce_sum(z * slopes)}, {in})[0]);
    graph_session session(g);
    const auto got = session.run(wanted, {{in, x}, {from, low}, {to, high}, {slopes, dy}});
    CHECK(list_of(got[0]) == s.slopes);
    CHECK(list_of(got[1]) == number_list{s.below});
    CHECK(list_of(got[2]) == number_list{s.above});
    CHECK(list_of(got[3]) == s.slopes);
  }
  const tensor_value zero(0.0f), one(1.0f);
  CHECK(list_of(run_node("FakeQuantWithMinMaxVars", {x, zero, zero}, {}, {})[0]) == number_list(10, 0));
  CHECK(list_of(run_node("FakeQuantWithMinMaxVarsGradient", {dy, x, zero, zero}, {}, {})[0]) == list_of(dy));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(list_of(run_node("FakeQuantWithMinMaxArgs", {floats({1}, {static_cast<double>(nan)})}, {}, {})[0])[0]));
  CHECK(std::isnan(list_of(run_node("FakeQuantWithMinMaxVars", {x, one, one}, {}, {})[0])[0]));
  CHECK(refuses("FakeQuantWithMinMaxArgs", {x}, "min has to be smaller than max, was: 1 >= 1", {{"min", 1.0f}, {"max", 1.0f}}));
  CHECK(refuses("FakeQuantWithMinMaxArgs", {x}, "min has to be smaller than max", {{"min", nan}}));
  for (const int bits : {1, 17, -1})
    CHECK(refuses("FakeQuantWithMinMaxArgs", {x}, "num_bits must be between 2 and 16, inclusive", {{"num_bits", bits}}));
  CHECK(refuses("FakeQuantWithMinMaxVars", {x, floats({1}, {0}), one}, "`min` must be rank 0 but is rank 1"));
  CHECK(refuses("FakeQuantWithMinMaxArgsGradient", {one, x}, "same size"));
}

TEST_CASE("the most probable labels of sequences") {
  const number_list numbers{.1, .6, .3, .2, .2, .9, .1, .6, .3, .5, .2, .1, .1, .1, .8, .9, .1, .2, .1, .7, .2, .3, .8, .1};
  for (const dtype type : {dtype::float32, dtype::float64}) {
    const auto decode = [&](std::vector<std::int32_t> lengths, const attribute_map& settings = {}) {
      return run_node("CTCGreedyDecoder", {tensor_of(type, {4, 2, 3}, numbers), tensor_value(lengths)}, {}, settings);
    };
    const auto merged = decode({4, 3}, {{"merge_repeated", true}});
    CHECK(list_of(merged[0]) == number_list{0, 0, 0, 1, 1, 0});
    CHECK(list_of(merged[1]) == number_list{1, 1, 0});
    CHECK(list_of(merged[2]) == number_list{2, 2});
    check_near(list_of(merged[3]), {-2.7, -2.3}, 1e-6);
    CHECK(merged[3].extent() == shape(2, {2, 1}));
    const auto all = decode({4, 3});
    CHECK(list_of(all[0]) == number_list{0, 0, 0, 1, 0, 2, 1, 0, 1, 1});
    CHECK(list_of(all[1]) == number_list{1, 1, 1, 0, 0});
    CHECK(list_of(decode({4, 3}, {{"merge_repeated", true}, {"blank_index", 0}})[1]) == number_list{1, 2, 1, 2});
    CHECK(list_of(decode({4, 3}, {{"merge_repeated", true}, {"blank_index", -2}})[1]) == number_list{2, 2, 0});
    CHECK(list_of(decode({4, -3})[2]) == number_list{2, 3});
    CHECK(decode({0, 0})[0].extent() == shape(2, {0, 2}));
    CHECK(leat_test::says(leat_test::message_of<failed_precondition>([&] { decode({5, 3}); }), "sequence_length(0) <= 4"));
    CHECK(leat_test::says(leat_test::message_of<failed_precondition>([&] { decode({5}); }),
                          "len(sequence_length) != batch_size.  len(sequence_length):  1 batch_size: 2"));
    CHECK(leat_test::says(leat_test::message_of<invalid_argument>([&] {
                            decode({4, 3}, {{"blank_index", 9}});
                          }),
                          "blank_index expected to be between -3 and 2 but was 9"));
  }
  CHECK(refuses("CTCGreedyDecoder", {floats({0, 2, 3}, {}), tensor_of(dtype::int32, {2}, {0, 0})}, "inputs must not be empty"));
  CHECK(refuses("CTCGreedyDecoder", {floats({2, 3}, number_list(6)), tensor_of(dtype::int32, {2}, {0, 0})}, "inputs is not a 3-Tensor"));
}

}  // namespace sparse_operator_tests
