// Operators of older graphs and their small kin: values and errors of TensorFlow 2.21, where files of an older version reach its kernels.

#include <leat/graphs.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace older_operator_tests {

using namespace leat;
using namespace node_results;

namespace {

constexpr dtype real = dtype::float32;

tensor_value floats(const extents& of, const number_list& numbers) { return tensor_of(real, of, numbers); }
tensor_value counts(const extents& of, const number_list& numbers) { return tensor_of(dtype::int32, of, numbers); }
number_list values_of(std::string_view type, const std::vector<tensor_value>& arrays, const attribute_map& settings = {}, std::size_t k = 0) {
  return list_of(run_node(type, arrays, {}, settings)[k]);
}
template <class Error = invalid_argument>
void refuses(std::string_view type, const std::vector<tensor_value>& arrays, std::string_view words, const attribute_map& settings = {}) {
  const std::string problem = leat_test::message_of<Error>([&] { run_node(type, arrays, {}, settings, "culprit"); });
  CHECK_MESSAGE(leat_test::says(problem, words, "culprit"), type << ": " << problem);
}
const number_list matrix{4, 1, 0.5, 1, 3, -1, 0.5, -1, 5};
number_list two_matrices() {
  number_list both = matrix;
  both.insert(both.end(), {6, 1, 0.5, 1, 5, -1, 0.5, -1, 7});
  return both;
}

}  // namespace

TEST_CASE("names of stacks of matrices are those of matrices") {
  const tensor_value stack = floats({2, 3, 3}, two_matrices()), right = floats({2, 3, 1}, {1, 2, 3, 4, 5, 6}), diagonal = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const tensor_value weight = tensor_value(0.5);
  const auto same = [](std::string_view older, std::string_view current, const std::vector<tensor_value>& arrays) {
    INFO(older);
    const auto is = run_node(older, arrays, {}, {}), wanted = run_node(current, arrays, {}, {});
    REQUIRE(is.size() == wanted.size());
    for (std::size_t k = 0; k < is.size(); ++k) {
      CHECK(is[k].extent() == wanted[k].extent());
      CHECK(list_of(is[k]) == list_of(wanted[k]));
    }
  };
  for (const char* type : {"MatrixDeterminant", "MatrixDiagPart", "MatrixInverse", "Cholesky", "SelfAdjointEigV2", "Svd"})
    same(std::string("Batch") + type, type, {stack});
  for (const char* type : {"MatrixSolve", "MatrixTriangularSolve"}) same(std::string("Batch") + type, type, {stack, right});
  same("BatchMatrixSolveLs", "MatrixSolveLs", {stack, right, weight});
  same("BatchMatrixDiag", "MatrixDiag", {diagonal});
  same("BatchMatrixSetDiag", "MatrixSetDiag", {stack, diagonal});
  same("BatchCholeskyGrad", "CholeskyGrad", {stack, stack});
  const number_list band{4, 1, 0, 0, 3, -1, 0, 0, 5, 6, 1, 0, 0, 5, -1, 0, 0, 7};
  CHECK(values_of("BatchMatrixBandPart", {stack, tensor_value(std::int64_t{0}), tensor_value(std::int64_t{1})}) == band);
}

TEST_CASE("eigenvalues above eigenvectors") {
  const auto lengths = [](number_list list) {
    for (double& x : list) x = std::abs(x);  // the sign of an eigenvector is free
    return list;
  };
  const number_list first{1.9719703,  4.6074195,  5.4206104,  0.48215738, 0.872386,   0.08041681,
                          0.80508333, 0.47740957, 0.35202402, 0.34549266, 0.10498876, 0.93253};
  number_list both = first;
  both.insert(both.end(), {3.971969, 6.6074176, 7.4206095, 0.48215708, 0.8723861, 0.08041672, 0.8050834, 0.4774092, 0.35202408, 0.3454927, 0.104988754, 0.93252987});
  check_near(lengths(values_of("SelfAdjointEig", {floats({3, 3}, matrix)})), first);
  for (const char* type : {"SelfAdjointEig", "BatchSelfAdjointEig"}) {
    const auto made = run_node(type, {floats({2, 3, 3}, two_matrices())}, {}, {});
    CHECK(made[0].extent() == shape(3, {2, 4, 3}));
    check_near(lengths(list_of(made[0])), both);
    CHECK(run_node(type, {floats({0, 0}, {})}, {}, {})[0].extent() == shape(2, {1, 0}));
    refuses(type, {floats({2, 3}, {1, 2, 3, 4, 5, 6})}, "must be square");
    refuses(type, {floats({3}, {1, 2, 3})}, "rank >= 2");
  }
}

TEST_CASE("blocks of images") {
  number_list pixels(16), rows(24);
  for (std::size_t i = 0; i < rows.size(); ++i) (i < 16 ? pixels[i] : rows[i]) = rows[i] = static_cast<double>(i);
  const tensor_value image = counts({1, 4, 4, 1}, pixels), blocks = counts({4, 2, 3, 1}, rows);
  const attribute_map two{{"block_size", 2}};
  CHECK(values_of("SpaceToBatch", {image, counts({2, 2}, {0, 0, 0, 0})}, two) == number_list{0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15});
  CHECK(values_of("SpaceToBatch", {image, counts({2, 2}, {1, 1, 2, 0})}, two) ==
        number_list{0, 0, 0, 0, 4, 6, 0, 12, 14, 0, 0, 0, 0, 5, 7, 0, 13, 15, 0, 0, 2, 0, 8, 10, 0, 0, 0, 0, 1, 3, 0, 9, 11, 0, 0, 0});
  CHECK(values_of("BatchToSpace", {blocks, counts({2, 2}, {0, 0, 0, 0})}, two) ==
        number_list{0, 6, 1, 7, 2, 8, 12, 18, 13, 19, 14, 20, 3, 9, 4, 10, 5, 11, 15, 21, 16, 22, 17, 23});
  CHECK(values_of("BatchToSpace", {blocks, counts({2, 2}, {1, 0, 1, 2})}, two) == number_list{18, 13, 19, 9, 4, 10, 21, 16, 22});

  refuses("SpaceToBatch", {image, counts({2, 2}, {1, 0, 2, 0})}, "not divisible", two);
  refuses("SpaceToBatch", {image, counts({2, 2}, {-1, 1, 2, 0})}, "non-negative", two);
  refuses("SpaceToBatch", {image, counts({1, 2}, {1, 1})}, "shape [2,2]", two);
  refuses("SpaceToBatch", {counts({4, 4, 1}, pixels), counts({2, 2}, {1, 1, 2, 0})}, "rank should be: 4", two);
  refuses("BatchToSpace", {blocks, counts({2, 2}, {1, 0, 1, 20})}, "non-negative", two);
  refuses("BatchToSpace", {counts({3, 2, 3, 1}, number_list(18)), counts({2, 2}, {1, 0, 1, 2})}, "not divisible", two);
  refuses("BatchToSpace", {counts({3, 2, 3, 1}, number_list(18)), counts({2, 2}, {1, 0, 1, 2})}, "", {{"block_size", std::int64_t{1} << 40}});
  CHECK_THROWS_AS(run_node("SpaceToBatch", {image, counts({2, 2}, {0, 0, 0, 0})}, {}, {{"block_size", 1}}), invalid_argument);

  graph g;
  const auto scope = g.as_default();
  const auto shape_made = [&](std::string_view type, const output& of) {
    return call_operator(g, type, {of, integers({0, 0, 0, 0}, {2, 2})}, {{"block_size", 2}}).result().extent();
  };
  CHECK(shape_made("SpaceToBatch", placeholder(dtype::int32, {2, 4, 4, 3})) == shape(4, {8, unknown_dimension, unknown_dimension, 3}));
  CHECK(shape_made("BatchToSpace", placeholder(dtype::int32, {8, 2, 3, 1})) == shape(4, {2, unknown_dimension, unknown_dimension, 1}));
  CHECK_THROWS_AS(shape_made("BatchToSpace", placeholder(dtype::int32, {3, 2, 3, 1})), invalid_argument);
  CHECK_THROWS_AS(shape_made("SpaceToBatch", placeholder(dtype::int32, {2, 3, 1})), invalid_argument);

  check_gradient({{1, 4, 4, 1}}, [](const std::vector<output>& in) {
    return call_operator(in[0].owner(), "SpaceToBatch", {in[0], integers({1, 1, 2, 0}, {2, 2})}, {{"block_size", 2}}).result();
  });
  check_gradient({{4, 2, 3, 1}}, [](const std::vector<output>& in) {
    return call_operator(in[0].owner(), "BatchToSpace", {in[0], integers({1, 0, 1, 2}, {2, 2})}, {{"block_size", 2}}).result();
  });
}

TEST_CASE("contrast within limits") {
  const number_list pixels{1, 2, 30, 4, 50, 60, 7, 8, 9, 100, 11, 12}, wanted{0, 0, 31.125, 0, 66.125, 76.125, 0, 3.125, 0, 80, 7.625, 4.125};
  const tensor_value factor(1.5f), least(0.0f), most(80.0f);
  for (const dtype type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64}) {
    const auto made = run_node("AdjustContrast", {tensor_of(type, {1, 2, 2, 3}, pixels), factor, least, most}, {}, {});
    CHECK(made[0].type() == real);
    check_near(list_of(made[0]), wanted, 1e-6);
  }
  CHECK(run_node("AdjustContrast", {floats({1, 0, 2, 3}, {}), factor, least, most}, {}, {})[0].elements() == 0);
  refuses("AdjustContrast", {floats({2, 3}, {1, 2, 3, 4, 5, 6}), factor, least, most}, "at least 3-D");
  refuses("AdjustContrast", {floats({1, 1, 3}, {1, 2, 3}), floats({2}, {1, 2}), least, most}, "contrast_factor must be scalar");
  refuses("AdjustContrast", {floats({1, 1, 3}, {1, 2, 3}), factor, least, floats({1}, {1})}, "max_value must be scalar");
}

TEST_CASE("the sums of what Tile repeats") {
  const number_list twelve{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  CHECK(values_of("TileGrad", {floats({4, 3}, twelve), counts({2}, {2, 3})}) == number_list{30, 48});
  CHECK(values_of("TileGrad", {floats({4, 3}, twelve), counts({2}, {2, 1})}) == number_list{8, 10, 12, 14, 16, 18});
  CHECK(values_of("TileGrad", {floats({4, 3}, twelve), counts({2}, {1, 1})}) == twelve);
  CHECK(values_of("TileGrad", {floats({}, {3}), counts({0}, {})}) == number_list{3});
  CHECK(run_node("TileGrad", {floats({0, 3}, {}), counts({2}, {2, 3})}, {}, {})[0].extent() == shape(2, {0, 1}));
  refuses("TileGrad", {floats({4, 3}, twelve), counts({2}, {2, 2})}, "multiple of 2");
  refuses("TileGrad", {floats({4, 3}, twelve), counts({2}, {2, 0})}, "multiples[1] > 0");
  refuses("TileGrad", {floats({4, 3}, twelve), counts({2}, {2, -1})}, "multiples[1] > 0");
  refuses("TileGrad", {floats({4, 3}, twelve), counts({1}, {2})}, "vector of length 2");
}

TEST_CASE("rows that are written in place") {
  const tensor_value x = floats({3, 2}, {0, 1, 2, 3, 4, 5}), v = floats({2, 2}, {10, 20, 30, 40});
  const auto at = [](const number_list& list) { return counts({static_cast<std::int64_t>(list.size())}, list); };
  CHECK(values_of("InplaceUpdate", {x, at({0, 2}), v}) == number_list{10, 20, 2, 3, 30, 40});
  CHECK(values_of("InplaceUpdate", {x, at({2, 2}), v}) == number_list{0, 1, 2, 3, 30, 40});
  CHECK(values_of("InplaceUpdate", {x, at({-1, 4}), v}) == number_list{0, 1, 30, 40, 10, 20});
  CHECK(values_of("InplaceAdd", {x, at({0, 2}), v}) == number_list{10, 21, 2, 3, 34, 45});
  CHECK(values_of("InplaceAdd", {x, at({2, 2}), v}) == number_list{0, 1, 2, 3, 44, 65});
  CHECK(values_of("InplaceSub", {x, at({-1, 4}), v}) == number_list{0, 1, -28, -37, -6, -15});
  CHECK(list_of(x) == number_list{0, 1, 2, 3, 4, 5});
  const auto words = run_node("InplaceUpdate", {tensor_value(std::vector<std::string>{"a", "b", "c"}), at({1}), tensor_value(std::vector<std::string>{"zz"})}, {}, {});
  CHECK(words[0].texts() == std::vector<std::string>{"a", "zz", "c"});
  for (const char* type : {"InplaceUpdate", "InplaceAdd", "InplaceSub"}) {
    CHECK(values_of(type, {x, at({}), floats({0, 2}, {})}) == number_list{0, 1, 2, 3, 4, 5});
    CHECK(values_of(type, {floats({0, 2}, {}), at({0}), floats({1, 2}, {1, 2})}).empty());
    refuses(type, {x, at({0}), v}, "i and x shape doesn't match at index 0: [1] vs. [2,2]");
    refuses(type, {x, counts({}, {1}), v}, "i must be a vector. []");
    refuses(type, {x, at({0, 1}), floats({2, 1}, {1, 2})}, "x and v shape doesn't match at index 1 : [3,2] vs. [2,1]");
    refuses(type, {floats({}, {3}), at({0}), v}, "(ranks differ): [] vs. [2,2]");
  }
  refuses<error>("InplaceAdd", {tensor_value(std::vector<std::string>{"a"}), at({0}), tensor_value(std::vector<std::string>{"b"})}, "no kernel");
}

TEST_CASE("products of matrices of two dtypes") {
  const auto narrow = [](data_type type, const extents& of, const number_list& list) { return counts(of, list).narrowed(type); };
  const tensor_value a = narrow(data_type::int8, {2, 3}, {100, -3, 5, 7, 120, -128});
  tensor_value b(dtype::uint8, {3, 2});
  const std::uint8_t bytes[]{200, 3, 5, 250, 255, 1};
  std::copy_n(bytes, 6, b.values<std::uint8_t>().begin());
  const attribute_map as_int{{"Tout", dtype::int32}};
  CHECK(values_of("BatchMatMulV3", {a, b}, as_int) == number_list{21260, -445, -30640, 29893});
  CHECK(values_of("BatchMatMulV3", {a, a}, {{"Tout", dtype::int32}, {"adj_y", true}}) == number_list{10034, -300, -300, 30833});
  CHECK(values_of("BatchMatMulV3", {floats({1, 2}, {1, 2}), floats({2, 1}, {3, 4})}, {{"Tout", real}}) == number_list{11});
  refuses<unimplemented>("BatchMatMulV3", {floats({1, 2}, {1, 2}), floats({2, 1}, {3, 4})}, "no kernel", {{"Tout", dtype::float64}});
  refuses("BatchMatMulV3", {floats({1, 2}, {1, 2}), floats({1, 2}, {3, 4})}, "size-incompatible", {{"Tout", real}});
  check_gradient({{2, 3}, {2, 4, 3}}, [](const std::vector<output>& in) {
    return call_operator(in[0].owner(), "BatchMatMulV3", {in[0], in[1]}, {{"Tout", dtype::float64}, {"adj_y", true}}).result();
  });
}

TEST_CASE("further names of the same") {
  const tensor_value x = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(values_of("ConjugateTranspose", {x, counts({2}, {1, 0})}) == number_list{0, 3, 1, 4, 2, 5});
  CHECK(values_of("GuaranteeConst", {x}) == number_list{0, 1, 2, 3, 4, 5});
  const std::vector<tensor_value> segments{floats({3, 2}, {1, 2, 3, 4, 5, 6}), counts({3}, {0, 0, 2}), counts({}, {4})};
  const double least = -3.4028234663852886e+38;
  CHECK(values_of("SegmentSumV2", segments) == number_list{4, 6, 0, 0, 5, 6, 0, 0});
  CHECK(values_of("SegmentProdV2", segments) == number_list{3, 8, 1, 1, 5, 6, 1, 1});
  CHECK(values_of("SegmentMinV2", segments) == number_list{1, 2, -least, -least, 5, 6, -least, -least});
  CHECK(values_of("SegmentMaxV2", segments) == number_list{3, 4, least, least, 5, 6, least, least});
  CHECK(values_of("SegmentSumV2", {segments[0], counts({3}, {0, -1, 3}), segments[2]}) == number_list{1, 2, 0, 0, 0, 0, 5, 6});
  const auto now = [] { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); };
  const double before = now(), is = list_of(run_node("Timestamp", {}, {}, {})[0])[0];
  CHECK(before <= is);
  CHECK(is <= now());

  graph g;
  const auto scope = g.as_default();
  call_operator(g, "GuaranteeConst", {placeholder(real, {2}, "x")}, {}, "y");
  const graph_def def = export_graph(g);
  CHECK(std::ranges::count_if(def.nodes, [](const node_def& n) { return n.op == "GuaranteeConst"; }) == 1);
  graph again;
  import_graph(again, def, {.name = ""});
  graph_session s(again);
  CHECK(list_of(s.run(get_tensor_by_name(again, "y:0"), {{get_tensor_by_name(again, "x:0"), tensor_literal({1.0f, 2.0f})}})) == number_list{1, 2});
}

TEST_CASE("one of several variables") {
  graph g;
  const auto scope = g.as_default();
  std::vector<output> variables;
  std::vector<number_argument> inputs{placeholder(dtype::int32, shape::unknown(), "which")};
  for (int k = 0; k < 3; ++k) {
    variables.push_back(variable(tensor_literal({static_cast<float>(k + 1), 2.0f})));
    inputs.emplace_back(variables.back());
  }
  const output which = std::get<output>(inputs[0]);
  const auto chosen = call_operator(g, "RefSelect", inputs, {}, "culprit").result();
  CHECK(chosen.extent() == shape(1, {2}));
  const auto added = call_operator(g, "AssignAdd", {chosen, tensor_literal({10.0f, 10.0f})}).result();
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(list_of(s.run(added, {{which, tensor_literal(std::int32_t{1})}})) == number_list{12, 12});
  CHECK(list_of(s.run(variables[0])) == number_list{1, 2});
  CHECK(list_of(s.run(variables[1])) == number_list{12, 12});
  const auto problem = [&](const tensor_literal& at) { return leat_test::message_of<invalid_argument>([&] { s.run(added, {{which, at}}); }); };
  CHECK(leat_test::says(problem(std::int32_t{-1}), "Index must be in the range [0, 3) but got -1", "culprit"));
  CHECK(leat_test::says(problem(std::int32_t{3}), "Index must be in the range [0, 3) but got 3"));
  CHECK(leat_test::says(problem(tensor_literal({0})), "Index must be a scalar, but it has shape [1]"));
}

}  // namespace older_operator_tests
