#include <leat/named/gradients/gather.hpp>

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace leat;

namespace {

std::vector<double> values_of(graph_session& s, const output& flat, const output& x, const tensor_literal& at) {
  return s.run(flat, {{x, at}}).as<std::vector<double>>();
}
// The gradient of a function of y, and that gradient's, against differences, where x has elements that differ.
void check_differences(const output& x, const output& y, const shape_value& extent) {
  INFO(y.operation().type() << " " << y.name());
  graph& g = x.owner();
  const output total = reduce_sum(square(y, {}) * y, all_axes);
  const output slope = gradients({total}, {x})[0];
  REQUIRE(static_cast<bool>(slope));
  CHECK(may_equal(slope.extent(), x.extent()));
  const output of_slopes = reduce_sum(square(slope, {}), all_axes);
  const output second = gradients({of_slopes}, {x})[0];
  REQUIRE(static_cast<bool>(second));
  const output flat = reshape(slope, {-1}), flat_second = reshape(second, {-1});
  std::vector<double> at;
  for (std::int64_t k = 0; k < extent.elements(); ++k)
    at.push_back(0.4 + 0.07 * static_cast<double>(k * 5 % 13) + 0.001 * static_cast<double>(k));
  graph_session s(g);
  const auto differ = [&](const output& whole, std::size_t k) {
    auto moved = at;
    moved[k] += 1e-5;
    const double more = s.run<double>(whole, {{x, tensor_literal(extent, moved)}});
    moved[k] -= 2e-5;
    return (more - s.run<double>(whole, {{x, tensor_literal(extent, moved)}})) / 2e-5;
  };
  const auto got = values_of(s, flat, x, {extent, at}), got_second = values_of(s, flat_second, x, {extent, at});
  REQUIRE(got.size() == at.size());
  for (std::size_t k = 0; k < at.size(); ++k) {
    CHECK(got[k] == doctest::Approx(differ(total, k)).epsilon(1e-5));
    CHECK(got_second[k] == doctest::Approx(differ(of_slopes, k)).epsilon(1e-4));
  }
}

output node_of(std::string_view type, std::initializer_list<number_argument> inputs, attribute_map attributes = {}) {
  return call_operator(default_graph(), type, inputs, std::move(attributes)).result();
}

// What imported graphs have: `gather` of the library's own functions takes rows.
output gather_along(const output& x, const output& indices, std::int32_t axis, std::int64_t batch_dims = 0, std::string_view name = {}) {
  graph& g = x.owner();
  const output along = g.named().make_constant(g, axis, "axis");
  return g.named()
      .raw(g, "GatherV2", std::array{x, indices, along},
           {{"Tparams", x.type()}, {"Tindices", indices.type()}, {"Taxis", dtype::int32}, {"batch_dims", batch_dims}},
           {{x.type(), unknown_shape}}, name)
      .result();
}

// "name Type inputs", of the gradient of the node "n".
std::vector<std::string> gradient_lines(graph& g) {
  std::vector<std::string> list;
  const std::string scope = "gradients/";
  for (const auto& op : get_operations(g)) {
    if (!op.name().starts_with(scope + "n_grad/") || op.type() == "Const") continue;
    std::string text = op.name().substr(scope.size() + 7) + " " + std::string(op.type());
    for (const auto& in : op.inputs()) {
      const std::string name = in.name().starts_with(scope) ? in.name().substr(scope.size()) : in.name();
      text += " " + (name.starts_with("n_grad/") ? name.substr(7) : name);
    }
    list.push_back(text);
  }
  return list;
}

}  // namespace

TEST_CASE("gradients by index, along axes and of pairs: differences, also of what has an unknown shape, twice") {
  const shape_value extent({2, 3, 2});
  for (const shape_value& declared : {extent, shape_value({-1, 3, -1}), shape_value(unknown_shape)}) {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float64, declared, "x");
    const auto of = [&](const output& y) { check_differences(x, y, extent); };
    for (const std::int32_t axis : {0, 1, -1}) {
      of(cumsum(x, axis, {.exclusive = axis == 1}));
      of(cumprod(x, axis, {.reverse = axis == 0}));
      of(reverse(x, {axis}));
    }
    of(cumsum(x, 1, {.exclusive = true, .reverse = true}));
    const auto ids = constant({{0, 2}, {1, 1}}, "ids");
    of(gather_along(x, ids, 1));
    of(gather_along(x, constant({1, 0, 1}), 2));
    of(gather_along(x, constant({1, 0, 1}), -1));
    of(gather_along(x, ids, 1, 1));
    of(gather_along(x, constant({{1, 0, 1}, {0, 0, 1}}), 2, 1));
    of(gather_nd(x, constant({{0, 1}, {1, 2}, {0, 1}})));
    of(gather_nd(x, constant(tensor_literal(shape_value({3, 1}), std::vector<std::int64_t>{1, 0, 1}))));
    of(gather_nd(x, constant({{0, 1, 1}, {1, 2, 0}})));
    of(top_k(x, 1).first);
    of(top_k(x, 2).first);
  }
}

TEST_CASE("gradients of operators that TensorFlow's scripts make and that have no function of their own here") {
  graph g;
  const auto scope = g.as_default();
  const shape_value extent({2, 3});
  const auto x = placeholder(dtype::float64, {-1, 3}, "x");
  const auto other = constant({{0.3, 0.0, 1.4}});
  const auto of = [&](const output& y) { check_differences(x, y, extent); };
  for (const char* type : {"Atan2", "Div", "Xdivy"}) {
    of(node_of(type, {x, constant({{0.3, 0.7, 1.4}})}));
    of(node_of(type, {constant({{0.3, 0.7, 1.4}}), x}));
  }
  of(node_of("Xlogy", {x, constant({{0.3, 0.7, 1.4}})}));
  of(node_of("Xlogy", {other, x}));
  of(node_of("Xdivy", {other, x}));
  of(node_of("Selu", {x - 0.7}));
  of(node_of("Concat", {tensor_literal(std::int32_t{1}), x, x}));
  of(node_of("BiasAddV1", {x, constant({0.1, 0.2, 0.3})}));
  of(node_of("ScatterNd", {tensor_literal({{1}, {3}}), x, tensor_literal({4, 3})}));
  const graph_operation parts =
      call_operator(g, "SplitV", {x, tensor_literal({1, 2}), tensor_literal(std::int32_t{1})}, {{"num_split", std::int64_t{2}}});
  of(parts.result(1));
  of(concat({parts.result(1), parts.result(0)}, 1) * x);
}

TEST_CASE("Cumprod's gradient is 0 from a 0 on; of equal elements the first ones are the largest; nothing was gathered") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto product = gradients({cumprod(x)}, {x})[0];
  const auto top = gradients({top_k(x, 2).first}, {x})[0];
  const auto none = gradients({top_k(x, 0).first}, {x})[0];
  const auto nowhere = gradients({gather_nd(x, constant(tensor_literal(dtype::int32, shape_value({0, 1}))))}, {x})[0];
  const auto sums = gradients({cumsum(x)}, {x})[0];
  graph_session s(g);
  const auto at = [&](const output& o, const std::vector<float>& values) { return s.run(o, {{x, values}}).as<std::vector<float>>(); };
  CHECK(at(product, {2, 0, 3, 4}) == std::vector<float>{1, 0, 0, 0});  // as TensorFlow
  CHECK(at(top, {1, 3, 3, 3}) == std::vector<float>{0, 1, 1, 0});
  CHECK(at(none, {1, 2}) == std::vector<float>{0, 0});
  CHECK(at(nowhere, {1, 2}) == std::vector<float>{0, 0});
  CHECK(at(sums, {}).empty());
}

TEST_CASE("the nodes are TensorFlow's") {
  {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, {4}, "x");
    gradients({cumprod(x, 0, {}, "n")}, {x});
    CHECK(gradient_lines(g) == std::vector<std::string>{"Cumprod Cumprod x:0 n/axis:0", "mul Mul Cumprod:0 grad_ys_0:0",
                                                        "Cumsum Cumsum mul:0 n/axis:0", "div_no_nan DivNoNan Cumsum:0 x:0"});
  }
  {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, {2, 4}, "x");
    gradients({top_k(x, 2, true, "n").first}, {x});
    CHECK(gradient_lines(g) ==
          std::vector<std::string>{"Cast Cast Shape_1:0", "sub Sub Size:0 sub/y:0", "GatherV2 GatherV2 Cast:0 sub:0 GatherV2/axis:0",
                                   "stack Pack stack/0:0 GatherV2:0", "Reshape Reshape n:1 stack:0", "Cast_1 Cast Shape:0",
                                   "sub_1 Sub Size_1:0 sub_1/y:0", "GatherV2_1 GatherV2 Cast_1:0 sub_1:0 GatherV2_1/axis:0",
                                   "strided_slice StridedSlice Shape_2:0 strided_slice/stack:0 strided_slice/stack_1:0 "
                                   "strided_slice/stack_2:0",
                                   "Cast_2 Cast strided_slice:0", "mul Mul Cast_2:0 GatherV2_1:0", "range/Cast Cast range/start:0",
                                   "range Range range/Cast:0 mul:0 GatherV2_1:0", "ExpandDims ExpandDims range:0 ExpandDims/dim:0",
                                   "Cast_3 Cast ExpandDims:0", "add AddV2 Reshape:0 Cast_3:0", "Reshape_1 Reshape add:0 Reshape_1/shape:0",
                                   "ExpandDims_1 ExpandDims Reshape_1:0 ExpandDims_1/dim:0",
                                   "Reshape_2 Reshape grad_ys_0:0 Reshape_2/shape:0", "Prod Prod Shape:0 Const:0",
                                   "ScatterNd/shape Pack Prod:0", "ScatterNd ScatterNd ExpandDims_1:0 Reshape_2:0 ScatterNd/shape:0",
                                   "Reshape_3 Reshape ScatterNd:0 Shape:0"});
  }
  {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, {2, 4, 3}, "x");
    const auto ids = constant({{0, 2}, {1, 1}}, "ids");
    gradients({gather_along(x, ids, 1, 0, "n")}, {x});
    CHECK(gradient_lines(g) ==
          std::vector<std::string>{
              "ExpandDims ExpandDims Size:0 ExpandDims/dim:0",
              "strided_slice/stack Pack Const:0",
              "strided_slice/stack_1 Pack axis:0",
              "strided_slice/stack_2 Pack Const_1:0",
              "strided_slice StridedSlice Shape:0 strided_slice/stack:0 strided_slice/stack_1:0 strided_slice/stack_2:0",
              "strided_slice_1/stack Pack axis:0",
              "strided_slice_1/stack_1 Pack Const_2:0",
              "strided_slice_1/stack_2 Pack Const_3:0",
              "strided_slice_1 StridedSlice Shape:0 strided_slice_1/stack:0 strided_slice_1/stack_1:0 strided_slice_1/stack_2:0",
              "strided_slice_2 StridedSlice strided_slice_1:0 strided_slice_2/stack:0 strided_slice_2/stack_1:0 strided_slice_2/stack_2:0",
              "concat ConcatV2 strided_slice:0 concat/values_1:0 strided_slice_2:0 concat/axis:0",
              "range Range range/start:0 range/limit:0 range/delta:0",
              "range_1 Range range_1/start:0 Size_2:0 range_1/delta:0",
              "add AddV2 Size_2:0 add/y:0",
              "range_2 Range add:0 Size_1:0 range_2/delta:0",
              "Reshape Reshape grad_ys_0:0 concat:0",
              "concat_1/values_1 Pack Size_2:0",
              "concat_1 ConcatV2 range:0 concat_1/values_1:0 range_1:0 range_2:0 concat_1/axis:0",
              "transpose Transpose Reshape:0 concat_1:0",
              "GatherV2 GatherV2 Shape:0 concat_1:0 GatherV2/axis:0",
              "add_1 AddV2 axis:0 add_1/y:0",
              "strided_slice_3/stack Pack axis:0",
              "strided_slice_3/stack_1 Pack add_1:0",
              "strided_slice_3 StridedSlice Shape:0 strided_slice_3/stack:0 strided_slice_3/stack_1:0 strided_slice_3/stack_2:0",
              "ExpandDims_1 ExpandDims Size_3:0 ExpandDims_1/dim:0",
              "Reshape_1 Reshape ids:0 ExpandDims_1:0",
              "UnsortedSegmentSum UnsortedSegmentSum transpose:0 Reshape_1:0 strided_slice_3:0",
              "add_2 AddV2 range_1:0 add_2/y:0",
              "concat_2 ConcatV2 range:0 add_2:0 concat_2/values_2:0 range_2:0 concat_2/axis:0",
              "transpose_1 Transpose UnsortedSegmentSum:0 concat_2:0",
              "Reshape_2 Reshape transpose_1:0 Shape_1:0"});
  }
}

TEST_CASE("operators that are only kept have gradients, too: of segments of rows; and diagonals, of nodes made as they are") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, shape_value({4, 4}), "x");
  const auto d = placeholder(dtype::float32, {4}, "d");
  const auto ids = constant({0, 2, 3}), segments = constant({0, 0, 1});
  const auto raw = [&](std::string_view type, const std::vector<output>& inputs, const shape_value& extent, attribute_map attributes = {}) {
    attributes["T"] = dtype::float32;
    return g.named().raw(g, type, inputs, std::move(attributes), {{dtype::float32, extent}}).result();
  };
  const auto slope_of = [&](const output& y, const output& by) { return std::string(gradients({y}, {by})[0].operation().type()); };
  for (const char* kind : {"Sum", "Mean", "SqrtN"}) {
    const std::string type = std::string("SparseSegment") + kind;
    CHECK(slope_of(raw(type, {x, ids, segments}, shape_value({2, 4}), {{"Tidx", dtype::int32}}), x) == type + "Grad");
    CHECK(slope_of(raw(type + "WithNumSegments", {x, ids, segments, constant(3)}, shape_value({3, 4})), x) == type + "Grad");
  }
  CHECK(slope_of(raw("Diag", {d}, shape_value({4, 4})), d) == "DiagPart");
  CHECK(slope_of(raw("DiagPart", {x}, shape_value({4})), x) == "Diag");
  CHECK(slope_of(raw("MatrixDiag", {d}, shape_value({4, 4})), d) == "MatrixDiagPartV3");
  CHECK(slope_of(raw("MatrixDiagPart", {x}, shape_value({4})), x) == "MatrixDiagV3");
  CHECK(slope_of(raw("MatrixSetDiag", {x, d}, shape_value({4, 4})), x) == "MatrixSetDiagV3");
  CHECK(slope_of(raw("MatrixSetDiag", {x, d}, shape_value({4, 4})), d) == "MatrixDiagPartV3");
  CHECK(slope_of(raw("MatrixBandPart", {x, constant(1), constant(0)}, shape_value({4, 4})), x) == "MatrixBandPart");
  CHECK(slope_of(gradients({square(raw("MatrixDiag", {d}, shape_value({4, 4})), {})}, {d})[0], d) == "MatrixDiagPartV3");  // of a gradient
}
