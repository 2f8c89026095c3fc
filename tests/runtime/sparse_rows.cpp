// Sparse tensors that are added, reshaped, reduced and sliced, whose empty rows are filled, and rows that are added up by segment: values and
// errors of TensorFlow 2.21, gradients against differences, and hostile input.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace sparse_row_tests {

using namespace leat;
using namespace node_results;

namespace {

constexpr std::int64_t huge = std::int64_t{1} << 62;

tensor_value whole(const extents& of, const std::vector<std::int64_t>& list) {
  shape s;
  for (const auto n : of) s.push(n);
  return tensor_value(s, list);
}
tensor_value list(const std::vector<std::int64_t>& numbers) { return tensor_value(numbers); }
tensor_value counts(const std::vector<std::int32_t>& numbers) { return tensor_value(numbers); }
tensor_value floats(const extents& of, const number_list& numbers) { return tensor_of(dtype::float32, of, numbers); }
tensor_value number(float x) { return tensor_value(x); }
void says(std::string_view type, const std::vector<tensor_value>& arrays, std::string_view words, const attribute_map& settings = {}) {
  const std::string problem = leat_test::message_of<error>([&] { run_node(type, arrays, {}, settings); });
  CHECK_MESSAGE(leat_test::says(problem, words), type << ": " << problem);
}
number_list values_of(std::string_view type, const std::vector<tensor_value>& arrays, const attribute_map& settings = {}, std::size_t k = 0) {
  return list_of(run_node(type, arrays, {}, settings)[k]);
}
const tensor_value places = whole({3, 2}, {0, 1, 2, 0, 0, 2}), sides = list({4, 3}), none = whole({0, 2}, {});
const tensor_value three = floats({3}, {1, 2, 3}), nothing = floats({0}, {});

}  // namespace

TEST_CASE("empty rows of a sparse tensor") {
  const auto fill = [](tensor_value at, tensor_value v, tensor_value s, tensor_value d) {
    return run_node("SparseFillEmptyRows", {std::move(at), std::move(v), std::move(s), std::move(d)}, {}, {});
  };
  const auto made = fill(places, three, sides, number(9));
  CHECK(list_of(made[0]) == number_list{0, 1, 0, 2, 1, 0, 2, 0, 3, 0});
  CHECK(list_of(made[1]) == number_list{1, 3, 9, 2, 9});
  CHECK(list_of(made[2]) == number_list{0, 1, 0, 1});
  CHECK(list_of(made[3]) == number_list{0, 3, 1});
  const auto turned = fill(whole({3, 2}, {1, 1, 0, 0, 2, 2}), three, list({3, 3}), number(9));
  CHECK(list_of(turned[0]) == number_list{0, 0, 1, 1, 2, 2});
  CHECK(list_of(turned[3]) == number_list{1, 0, 2});
  CHECK(list_of(fill(none, nothing, list({2, 3}), number(9))[0]) == number_list{0, 0, 1, 0});
  CHECK(fill(none, nothing, list({0, 3}), number(9))[0].extent() == shape(2, {0, 2}));
  const auto words = run_node("SparseFillEmptyRows", {whole({1, 1}, {1}), tensor_value(std::vector<std::string>{"a"}), list({2}), tensor_value("none")}, {}, {});
  CHECK(words[1].texts() == std::vector<std::string>{"none", "a"});
  const auto wrong = [](std::string_view text, tensor_value at, tensor_value v, tensor_value s, tensor_value d = number(9)) {
    says("SparseFillEmptyRows", {std::move(at), std::move(v), std::move(s), std::move(d)}, text);
  };
  wrong("indices(1, 0) is invalid: 2 >= 2", places, three, list({2, 3}));
  wrong("indices(0, 0) is invalid: -1 >= 2", whole({1, 2}, {-1, 0}), floats({1}, {1}), list({2, 3}));
  wrong("Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = 3", places, three, list({0, 3}));
  wrong("indices must be a matrix, saw: [2]", list({0, 1}), three, sides);
  wrong("values must be a vector, saw: [1,3]", places, floats({1, 3}, {1, 2, 3}), sides);
  wrong("The length of `values` (2) must match the first dimension of `indices` (3).", places, floats({2}, {1, 2}), sides);
  wrong("dense_shape must be a vector, saw: [1,2]", places, three, whole({1, 2}, {4, 3}));
  wrong("default_value must be a scalar, saw: [1]", places, three, sides, floats({1}, {9}));
  wrong("Dense shape cannot be empty.", whole({3, 0}, {}), three, list({}));
  wrong("The length of `dense_shape` (1) must match the second dimension of `indices` (2).", places, three, list({4}));
  wrong("", none, nothing, list({huge, 3}));
  wrong("", none, nothing, list({-1, 3}));

  CHECK(values_of("SparseFillEmptyRowsGrad", {list({0, 2}), three}) == number_list{1, 3});
  CHECK(values_of("SparseFillEmptyRowsGrad", {list({0, 2}), three}, {}, 1) == number_list{2});
  says("SparseFillEmptyRowsGrad", {list({0, 3}), three}, "Elements in reverse index must be in [0, 3) but got 3");
  says("SparseFillEmptyRowsGrad", {list({0, -1}), three}, "Elements in reverse index must be in [0, 3) but got -1");
  says("SparseFillEmptyRowsGrad", {whole({1, 1}, {0}), three}, "reverse_index_map must be a vector, saw: [1,1]");
  says("SparseFillEmptyRowsGrad", {list({0}), floats({1, 3}, {1, 2, 3})}, "grad_values must be a vector, saw: [1,3]");
}

TEST_CASE("sparse tensors in another shape") {
  const auto made = run_node("SparseReshape", {places, sides, list({2, -1})}, {}, {});
  CHECK(list_of(made[0]) == number_list{0, 1, 1, 0, 0, 2});
  CHECK(list_of(made[1]) == number_list{2, 6});
  CHECK(values_of("SparseReshape", {places, sides, list({12})}) == number_list{1, 6, 2});
  CHECK(values_of("SparseReshape", {none, list({0, 3}), list({-1, 3})}, {}, 1) == number_list{0, 3});
  CHECK(values_of("SparseReshape", {whole({1, 0}, {}), list({}), list({1})}) == number_list{0});
  CHECK(run_node("SparseReshape", {places, sides, list({3, 2, 2, 1})}, {}, {})[0].extent() == shape(2, {3, 4}));
  CHECK(values_of("SparseReshape", {whole({1, 2}, {7, 7}), sides, list({12})}) == number_list{28});
  const auto wrong = [](std::string_view text, tensor_value at, tensor_value from, tensor_value to) {
    says("SparseReshape", {std::move(at), std::move(from), std::move(to)}, text);
  };
  wrong("SparseTensor with 12 dense values, but the requested shape requires a multiple of 5. input_shape=[4,3] output_shape=[5,", places, sides, list({5, -1}));
  wrong("only one output dimension may be -1, not both 0 and 1", places, sides, list({-1, -1}));
  wrong("size 0 must be non-negative, not -2", places, sides, list({-2, 6}));
  wrong("Input to reshape is a tensor with 12 dense values, but the requested shape has 5. input_shape=[4,3] output_shape=[5]", places, sides, list({5}));
  wrong("Input must be a matrix.", list({0, 1}), sides, list({12}));
  wrong("Input shape must be a vector.", places, whole({1, 2}, {4, 3}), list({12}));
  wrong("Target shape should be a vector but received shape [1,1]", places, sides, whole({1, 1}, {12}));
  wrong("Input tensor rank must match input shape length.", places, list({4}), list({4}));
  wrong("reshape cannot infer the missing input size for an empty tensor", none, list({0, 3}), list({-1, 0}));
  wrong("Encountered overflow when multiplying 1099511627776 with 1099511627776", places, list({std::int64_t{1} << 40, std::int64_t{1} << 40}), list({12}));
  wrong("Encountered overflow", places, sides, list({huge, 4}));
  wrong("Expected shape dimensions to be non-negative, got -4", places, list({-4, 3}), list({12}));
  run_node("SparseReshape", {whole({1, 2}, {std::numeric_limits<std::int64_t>::min(), huge}), sides, list({12})}, {}, {});
}

TEST_CASE("rows that are added up by segment") {
  const tensor_value data = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const tensor_value at = counts({0, 2, 1, 1}), ids = counts({0, 0, 2, 2});
  CHECK(values_of("SparseSegmentSum", {data, at, ids}) == number_list{6, 8, 0, 0, 6, 8});
  CHECK(values_of("SparseSegmentMean", {data, at, ids}) == number_list{3, 4, 0, 0, 3, 4});
  check_near(values_of("SparseSegmentSqrtN", {data, at, ids}), {4.2426405, 5.656855, 0, 0, 4.2426405, 5.656855}, 1e-6);
  CHECK(values_of("SparseSegmentSumWithNumSegments", {data, at, ids, tensor_value(4)}) == number_list{6, 8, 0, 0, 6, 8, 0, 0});
  CHECK(values_of("SparseSegmentSumWithNumSegments", {data, counts({}), counts({}), tensor_value(2)}) == number_list{0, 0, 0, 0});
  CHECK(run_node("SparseSegmentMean", {data, counts({}), counts({})}, {}, {})[0].extent() == shape(2, {0, 2}));
  CHECK(values_of("SparseSegmentSum", {tensor_of(dtype::int32, {2}, {5, 7}), list({1, 1, 0}), list({0, 1, 1})}) == number_list{7, 12});
  check_near(values_of("SparseSegmentSumGrad", {data, at, ids, tensor_value(4)}), {1, 2, 10, 12, 1, 2, 0, 0});
  check_near(values_of("SparseSegmentMeanGrad", {data, at, ids, tensor_value(4)}), {0.5, 1, 5, 6, 0.5, 1, 0, 0});
  check_near(values_of("SparseSegmentSqrtNGrad", {data, at, ids, tensor_value(4)}), {0.70710677, 1.4142135, 7.071068, 8.485281, 0.70710677, 1.4142135, 0, 0});
  check_near(values_of("SparseSegmentMeanGrad", {data, counts({0, 1}), counts({1, 0}), tensor_value(2)}), {3, 4, 1, 2});
  for (const char* type : {"SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"}) {
    const std::string gradient = std::string(type) + "Grad", counted = std::string(type) + "WithNumSegments";
    says(type, {data, counts({0, 3}), counts({0, 0})}, "Bad: indices[1] == 3 out of range [0, 3)");
    says(type, {data, counts({0, -1}), counts({0, 0})}, "Bad: indices[1] == -1 out of range [0, 3)");
    says(type, {data, counts({0, 1}), counts({1, 0})}, "segment ids are not increasing");
    says(type, {data, counts({0, 1, 2}), counts({0, 2, 1})}, "segment ids are not increasing");
    says(type, {data, counts({0, 1}), counts({-1, 0})}, "Segment id -1 out of range [0, 1), possibly because 'segment_ids' input is not sorted.");
    says(type, {data, counts({0}), counts({-1})}, "segment ids must be >= 0");
    says(type, {data, counts({0}), counts({1, 0})}, "segment_ids and indices should have same size.");
    says(type, {data, whole({1, 1}, {0}), counts({0})}, "indices should be a vector.");
    says(type, {data, counts({0}), whole({1, 1}, {0})}, "segment_ids should be a vector.");
    says(type, {number(1), counts({0}), counts({0})}, "Shape must be at least rank 1");
    says(type, {data, list({0}), list({std::numeric_limits<std::int64_t>::max()})}, "segment ids must be >= 0");
    says(type, {data, list({0}), list({huge})}, "more than 2^44 elements, which no memory holds");
    says(counted, {data, at, ids, tensor_value(2)}, "segment ids must be < num_segments");
    says(counted, {data, at, ids, tensor_value(-1)}, "segment ids must be");
    says(counted, {data, at, ids, counts({4})}, "num_segments should be a scalar, not shape [1]");
    says(gradient, {data, counts({0, 4}), counts({0, 0}), tensor_value(4)}, "Index 4 out of range [0, 4).");
    says(gradient, {data, counts({-1}), counts({0}), tensor_value(4)}, "Index -1 out of range [0, 4).");
    says(gradient, {data, counts({0, 1}), counts({0, 3}), tensor_value(4)}, "Invalid number of segments");
    says(gradient, {data, counts({0, 1}), counts({0, -3}), tensor_value(4)}, "Segment id -3 out of range [0, 3).");
    says(gradient, {data, counts({0}), counts({0}), tensor_value(-4)}, "Expected a non-negative size, got -4");
    says(gradient, {data, counts({0}), counts({0}), counts({4})}, "output_dim0 should be a scalar.");
  }
}

TEST_CASE("sums and softmax of sparse tensors along axes") {
  const auto reduce = [](const char* type, const std::vector<std::int32_t>& axes, bool keeps = false) {
    return run_node(type, {places, three, sides, counts(axes)}, {}, {{"keep_dims", keeps}})[0];
  };
  CHECK(list_of(reduce("SparseReduceSum", {0})) == number_list{2, 1, 3});
  CHECK(list_of(reduce("SparseReduceSum", {-1})) == number_list{4, 0, 2, 0});
  CHECK(list_of(reduce("SparseReduceSum", {0, 1})) == number_list{6});
  CHECK(list_of(reduce("SparseReduceSum", {})) == number_list{0, 1, 3, 0, 0, 0, 2, 0, 0, 0, 0, 0});
  CHECK(reduce("SparseReduceSum", {0, 0}, true).extent() == shape(2, {1, 3}));
  CHECK(list_of(reduce("SparseReduceMax", {1}, true)) == number_list{3, 0, 2, 0});
  CHECK(list_of(run_node("SparseReduceMax", {whole({2, 1}, {1, 1}), floats({2}, {-3, -5}), list({2}), counts({})}, {}, {})[0]) == number_list{0, -3});
  for (const char* type : {"SparseReduceSum", "SparseReduceMax"}) {
    says(type, {places, three, sides, counts({2})}, "Invalid reduction dimension 2, for input with 2 dimensions.");
    says(type, {places, three, sides, counts({-3})}, "Invalid reduction dimension -3, for input with 2 dimensions.");
    says(type, {places, three, list({2, 3}), counts({1})}, "Obtained a write index of 2 which is outside of bounds of [0, 2)");
    CHECK(values_of(type, {whole({1, 2}, {0, 5}), floats({1}, {1}), sides, counts({1})}) == number_list{1, 0, 0, 0});
    says(type, {places, three, list({huge, huge}), counts({})}, "more than 2^44 elements, which no memory holds");
  }
  check_near(values_of("SparseSoftmax", {whole({3, 2}, {0, 1, 0, 2, 2, 0}), three, sides}), {0.26894143, 0.73105859, 1});
  check_near(values_of("SparseSoftmax", {places, three, sides}), {0.11920292, 0.88079703, 1});
  CHECK(values_of("SparseSoftmax", {none, nothing, sides}).empty());
  says("SparseSoftmax", {whole({2, 1}, {0, 1}), floats({2}, {1, 2}), list({3})}, "Input should have rank >= 2, but received shape: 3");
}

TEST_CASE("sums of sparse tensors, and with arrays") {
  const tensor_value a = whole({2, 2}, {0, 1, 2, 0}), b = whole({2, 2}, {0, 1, 1, 0});
  const auto add = [&](tensor_value va, tensor_value sb, tensor_value least) {
    return std::vector<tensor_value>{a, std::move(va), sides, b, floats({2}, {-1, 5}), std::move(sb), std::move(least)};
  };
  const auto all = run_node("SparseAdd", add(floats({2}, {1, 2}), sides, number(0)), {}, {});
  CHECK(list_of(all[0]) == number_list{0, 1, 1, 0, 2, 0});
  CHECK(list_of(all[1]) == number_list{0, 5, 2});
  CHECK(list_of(all[2]) == number_list{4, 3});
  CHECK(values_of("SparseAdd", add(floats({2}, {1, 2}), sides, number(0.5f)), {}, 1) == number_list{5, 2});
  // The threshold is one of sums, not of values that stand alone.
  CHECK(values_of("SparseAdd", add(floats({2}, {1, 0.25}), sides, number(0.5f)), {}, 1) == number_list{5, 0.25});
  says("SparseAdd", add(floats({2}, {1, 2}), list({4, 4}), number(0)), "Operands' shapes do not match: got 3 and 4 for dimension 1");
  says("SparseAdd", add(floats({1}, {1}), sides, number(0)), "Expected 2 and 2 non-empty input values, got 1 and 2");
  says("SparseAdd", add(floats({2}, {1, 2}), sides, floats({1}, {0})), "The magnitude threshold must be a scalar: got shape [1]");
  says("SparseAdd", {a, floats({2}, {1, 2}), sides, whole({2, 1}, {0, 1}), floats({2}, {1, 2}), list({4}), number(0)},
       "Input indices must have the same dimension, got 2 and 1");
  const auto back = run_node("SparseAddGrad", {floats({2}, {1, 2}), a, b, whole({2, 2}, {1, 0, 2, 0})}, {}, {});
  CHECK(list_of(back[0]) == number_list{0, 2});
  CHECK(list_of(back[1]) == number_list{0, 1});
  says("SparseAddGrad", {floats({2}, {1, 2}), a, b, whole({1, 2}, {1, 0})}, "should match");

  const auto dense = floats({4, 3}, number_list(12, 1));
  CHECK(values_of("SparseTensorDenseAdd", {places, three, sides, dense}) == number_list{1, 2, 4, 1, 1, 1, 3, 1, 1, 1, 1, 1});
  says("SparseTensorDenseAdd", {places, three, sides, floats({4, 2}, number_list(8))},
       "Dimension 1 does not equal (no broadcasting is supported): sparse side 3 vs dense side 2");
  says("SparseTensorDenseAdd", {places, three, sides, floats({4}, number_list(4))}, "Two operands have different ranks; received: 2 and 1");
  says("SparseTensorDenseAdd", {whole({1, 2}, {4, 0}), floats({1}, {1}), sides, dense}, "Sparse tensor has an invalid index on dimension 0: a_indices(0,0) = 4");

  const auto column = floats({4, 1}, {1, 2, 3, 4}), row = floats({3}, {1, 2, 3});
  CHECK(values_of("SparseDenseCwiseMul", {places, three, sides, column}) == number_list{1, 6, 3});
  CHECK(values_of("SparseDenseCwiseMul", {places, three, sides, row}) == number_list{2, 2, 9});
  CHECK(values_of("SparseDenseCwiseDiv", {places, three, sides, row}) == number_list{0.5, 2, 1});
  CHECK(values_of("SparseDenseCwiseAdd", {places, three, sides, column}) == number_list{2, 5, 4});
  for (const char* type : {"SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"}) {
    says(type, {places, three, sides, floats({2}, {1, 2})}, "broadcasts dense to sparse only; got incompatible shapes: [4,3] vs. [2]");
    says(type, {places, three, sides, floats({1, 4, 3}, number_list(12))}, "got incompatible shapes: [4,3] vs. [1,4,3]");
    says(type, {whole({1, 2}, {0, 3}), floats({1}, {1}), sides, number(2)}, "Provided indices are out-of-bounds");
  }
  says("SparseDenseCwiseDiv", {places, tensor_of(dtype::int32, {3}, {1, 2, 3}), sides, tensor_value(0)}, "division by zero");
}

TEST_CASE("gradients of operators on sparse tensors, against differences") {
  const auto at = [] { return number_argument(tensor_literal(shape_value{3, 2}, std::vector<std::int64_t>{0, 1, 0, 2, 2, 0})); };
  const auto size = [] { return number_argument(tensor_literal(std::vector<std::int64_t>{4, 3})); };
  const auto call = [](std::string_view type, std::vector<number_argument> in, const attribute_map& settings = {}) {
    return call_operator(default_graph(), type, in, settings);
  };
  check_gradient({{3}, {}}, [&](const auto& x) { return call("SparseFillEmptyRows", {at(), x[0], size(), x[1]}).result(1); });
  check_gradient({{3}, {3}}, [&](const auto& x) {
    return call("SparseAdd", {at(), x[0], size(), tensor_literal(shape_value{3, 2}, std::vector<std::int64_t>{0, 0, 0, 2, 3, 0}), x[1], size(), tensor_literal(0.0)}).result(1);
  });
  check_gradient({{3}, {4, 3}}, [&](const auto& x) { return call("SparseTensorDenseAdd", {at(), x[0], size(), x[1]}).result(); });
  for (const auto& axes : {std::vector<std::int32_t>{0}, {1}, {-1, 0}, {}})
    check_gradient({{3}}, [&](const auto& x) { return call("SparseReduceSum", {at(), x[0], size(), tensor_literal(axes)}).result(); });
  check_gradient({{3}}, [&](const auto& x) {
    return call("SparseSlice", {at(), x[0], size(), tensor_literal(std::vector<std::int64_t>{0, 1}), tensor_literal(std::vector<std::int64_t>{2, 2})}).result(1);
  });
  for (const extents& of : {extents{4, 3}, {4, 1}, {3}, {}})
    for (const char* type : {"SparseDenseCwiseMul", "SparseDenseCwiseDiv"})
      check_gradient({{3}, of}, [&](const auto& x) { return call(type, {at(), x[0], size(), x[1]}).result(); }, 1e-4);
  check_gradient({{3}}, [&](const auto& x) { return call("SparseSoftmax", {at(), x[0], size()}).result(); });
  for (const std::string type : {"SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"})
    for (const bool is_counted : {false, true})
      check_gradient({{4, 2}}, [&](const auto& x) {
        std::vector<number_argument> in{x[0], tensor_literal({0, 2, 1, 1}), tensor_literal({0, 0, 2, 2})};
        if (is_counted) in.emplace_back(tensor_literal(4));
        return call(type + (is_counted ? "WithNumSegments" : ""), in).result();
      });
}

}  // namespace sparse_row_tests
