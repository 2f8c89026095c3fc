// Operands that a file may have and a program never makes: arrays without elements and with any number of rows, lists whose elements have
// other shapes than the list says, ranges that a dtype cannot hold. A node gives TensorFlow's result or says what is wrong, soon.

#include <leat/data/kernels.hpp>

#include "support/graph_text.hpp"
#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace hostile_operand_tests {

using namespace leat;
using namespace node_results;

namespace {

constexpr std::int64_t many = std::int64_t{1} << 22, whole_limit = std::numeric_limits<std::int32_t>::max();
constexpr double infinite = std::numeric_limits<double>::infinity();

tensor_value floats(const extents& of, const number_list& list = {}) { return tensor_of(dtype::float32, of, list); }
tensor_value counts(const extents& of, const number_list& list = {}) { return tensor_of(dtype::int32, of, list); }
tensor_value wholes(const extents& of, const number_list& list = {}) { return tensor_of(dtype::int64, of, list); }

std::string message_of_node(const std::string& type, const std::vector<tensor_value>& inputs, const attribute_map& settings = {}) {
  return leat_test::message_of<error>([&] { run_node(type, inputs, {}, settings); });
}
/// The first result of a graph's node `y`, or what is wrong.
std::string outcome(const std::string& text) {
  return leat_test::message_of<error>([&] {
    graph g;
    g.named();
    import_graph(g, leat_test::graph_text(text).parse(), {.name = ""});
    const auto got = graph_session(g).run({fetch_item("y:0")});
    throw error("ok " + brackets(got[0].extent()) + summary_text(got[0], 20));
  });
}

}  // namespace

TEST_CASE("elements of a list that have another shape than the list says") {
  const std::string start =
      "any = Const int32[]{-1}\nthree = Const int32[1]{3}\nn = Const int32[]{2}\nl = TensorListReserve(three, n) element_dtype=float32\n"
      "i = Const int32[1]{0}\n";
  const std::string wide = start + "x = Const float32[1,5]{1 2 3 4 5}\nm = TensorListScatterIntoExistingList(l, x, i) element_dtype=float32\n";
  CHECK(leat_test::says(outcome(wide + "y = TensorListStack(m, any) element_dtype=float32"), "Tried to scatter a tensor with incompatible shape",
                        "Rows of the tensor: [5] list shape: [3]"));
  CHECK(leat_test::says(outcome(wide + "y = TensorListGather(m, i, any) element_dtype=float32"), "Tried to scatter a tensor"));
  CHECK(outcome(start + "x = Const float32[1,3]{1 2 3}\nm = TensorListScatterIntoExistingList(l, x, i) element_dtype=float32\n"
                        "y = TensorListStack(m, any) element_dtype=float32") == "ok [2,3][[1 2 3][0 0 0]]");
}

TEST_CASE("images and crops without channels have no pixels") {
  const attribute_map windows{{"ksize", std::vector<std::int64_t>{1, 1, 1, 1}}, {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                              {"padding", "VALID"}};
  const auto image = floats({1, many, many / 2, 0});
  CHECK(run_node("MaxPool", {image}, {}, windows)[0].extent() == image.extent());
  CHECK(run_node("MaxPoolGrad", {image, image, image}, {}, windows)[0].extent() == image.extent());
  CHECK(run_node("AvgPool", {image}, {}, windows)[0].extent() == image.extent());
  attribute_map first = windows;
  first["data_format"] = "NCHW";
  CHECK(run_node("AvgPool", {floats({many, 0, many / 2, 1})}, {}, first)[0].extent()[0] == many);
  CHECK(run_node("MaxPoolWithArgmax", {image}, {}, windows)[1].extent() == image.extent());
  CHECK(run_node("MaxPoolGradWithArgmax", {image, image, wholes({1, many, many / 2, 0})}, {}, windows)[0].extent() == image.extent());
  const attribute_map steps{{"strides", std::vector<std::int64_t>{1, 1, 1, 1}}, {"rates", std::vector<std::int64_t>{1, 1, 1, 1}},
                            {"padding", "VALID"}};
  CHECK(run_node("Dilation2D", {image, floats({1, 1, 0})}, {}, steps)[0].extent() == image.extent());
  const attribute_map patches{{"ksizes", std::vector<std::int64_t>{1, 1, 1, 1}}, {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                              {"rates", std::vector<std::int64_t>{1, 1, 1, 1}}, {"padding", "VALID"}};
  CHECK(run_node("ExtractImagePatches", {image}, {}, patches)[0].extent() == image.extent());
  const attribute_map convolved{{"strides", std::vector<std::int64_t>{1, 1, 1, 1}}, {"padding", "VALID"}};
  CHECK(run_node("Conv2D", {image, floats({1, 1, 1, 0})}, {}, convolved)[0].extent() == image.extent());
  CHECK(run_node("Conv2DBackpropFilter", {image, counts({4}, {1, 1, 1, 0}), image}, {}, convolved)[0].elements() == 0);

  const auto box = floats({1, 4}, {0, 0, 1, 1}), of = counts({1}, {0});
  CHECK(run_node("CropAndResize", {floats({1, 1, 1, 0}), box, of, counts({2}, {double(many), double(many / 2)})}, {}, {})[0].extent() ==
        image.extent());
  CHECK(run_node("CropAndResizeGradImage", {image, box, of, counts({4}, {1, 1, 1, 0})}, {}, {{"T", dtype::float32}})[0].elements() == 0);
  CHECK(list_of(run_node("CropAndResizeGradBoxes", {image, floats({1, 1, 1, 0}), box, of}, {}, {})[0]) == number_list{0, 0, 0, 0});
}

TEST_CASE("no images in any size") {
  const auto sizes = counts({2}, {whole_limit, 4096});
  for (const char* type : {"ResizeBicubic", "ResizeArea", "ResizeBilinear", "ResizeNearestNeighbor"})
    CHECK(run_node(type, {floats({0, 1, 1, 1}), sizes}, {}, {})[0].extent()[1] == whole_limit);
  CHECK(run_node("ResizeBicubicGrad", {floats({0, whole_limit, 4096, 1}), floats({0, 1, 1, 1})}, {}, {})[0].elements() == 0);
}

TEST_CASE("blocks of pixels of arrays without elements") {
  const attribute_map block{{"block_size", whole_limit}};
  CHECK(leat_test::says(message_of_node("DepthToSpace", {floats({1, std::int64_t{1} << 40, 1, 0})}, block),
                        "Block size 2147483647 is too large for [1,1099511627776,1,0]"));
  CHECK(leat_test::says(message_of_node("SpaceToDepth", {floats({1, 0, 0, std::int64_t{1} << 40})}, block), "Block size 2147483647 is too large"));
}

TEST_CASE("rows of a sparse tensor of no axes, and slices without elements") {
  const auto rows = wholes({std::int64_t{1} << 43, 0});
  CHECK(run_node("SparseReshape", {rows, wholes({0}), wholes({0})}, {}, {})[0].extent() == rows.extent());
  CHECK(run_node("QuantizeAndDequantizeV2", {floats({many * 512, 0}), floats({}, {0}), floats({}, {0})}, {}, {{"axis", 0}})[0].extent()[0] ==
        many * 512);
}

TEST_CASE("no rows of any number of classes, and no elements of any number of segments") {
  const auto none = floats({0, std::int64_t{1} << 43});
  CHECK(run_node("Multinomial", {none, counts({}, {3})}, {}, {})[0].elements() == 0);
  const auto slopes = floats({std::int64_t{1} << 43, 0});
  for (const char* type : {"SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad"})
    CHECK(run_node(type, {slopes, counts({1}, {0}), counts({1}, {5}), counts({}, {2})}, {}, {})[0].extent() == floats({2, 0}).extent());
}

TEST_CASE("norms along no axis are sizes") {
  const auto no_axis = counts({0});
  CHECK(list_of(run_node("EuclideanNorm", {floats({2}, {-3, 2}), no_axis}, {}, {})[0]) == number_list{3, 2});
  CHECK(list_of(run_node("EuclideanNorm", {counts({2, 1}, {-3, 2}), no_axis}, {}, {})[0]) == number_list{3, 2});
  CHECK(run_node("EuclideanNorm", {floats({2, 0}), no_axis}, {}, {})[0].extent() == floats({2, 0}).extent());
}

TEST_CASE("bins of a range that its dtype cannot hold") {
  constexpr double least = std::numeric_limits<std::int32_t>::min();
  const auto range = counts({2}, {least, whole_limit});
  CHECK(leat_test::says(message_of_node("HistogramFixedWidth", {counts({2}, {0, 5}), range, counts({}, {4})}),
                        "value_range '[-2147483648 2147483647]' has no 4 bins of one width that int32 can hold"));
  CHECK(leat_test::says(message_of_node("HistogramFixedWidth", {floats({1}, {infinite}), floats({2}, {0, infinite}), counts({}, {4})}),
                        "is infinite, and so is a value"));
  CHECK(leat_test::says(message_of_node("HistogramFixedWidth", {floats({1}, {1}), floats({2}, {-infinite, 1}), counts({}, {4})}), "is infinite"));
  // As in TensorFlow, values of a range without end are in its first bin.
  CHECK(list_of(run_node("HistogramFixedWidth", {floats({2}, {1, 2}), floats({2}, {0, infinite}), counts({}, {2})}, {}, {})[0]) == number_list{2, 0});
}

TEST_CASE("room for boxes that are not found is the session's") {
  graph g;
  const auto scope = g.as_default();
  const auto boxes = placeholder(dtype::float32, shape::unknown()), scores = placeholder(dtype::float32, shape::unknown());
  const auto node = call_operator(g, "NonMaxSuppressionV5",
                                  {boxes, scores, constant(static_cast<std::int32_t>(whole_limit)), constant(0.5f), constant(0.0f), constant(0.0f)},
                                  {{"pad_to_max_output_size", true}});
  session_options options;
  options.memory_limit_in_bytes = 1 << 20;
  graph_session s(g, options);
  CHECK_THROWS_AS(s.run(node.outputs(), {{boxes, floats({1, 4}, {0, 0, 1, 1})}, {scores, floats({1}, {1})}}), resource_exhausted);
}

TEST_CASE("room for accidental hits, as many as the product of two sizes, is the session's") {
  graph g;
  const auto scope = g.as_default();
  const auto given = placeholder(dtype::int64, shape::unknown()), drawn = placeholder(dtype::int64, shape::unknown());
  const auto node = call_operator(g, "ComputeAccidentalHits", {given, drawn}, {{"num_true", 1}});
  session_options options;
  options.memory_limit_in_bytes = 16 << 20;
  graph_session s(g, options);
  constexpr std::int64_t size = 20000;
  CHECK_THROWS_AS(s.run(node.outputs(), {{given, wholes({size, 1}, number_list(size, 7))}, {drawn, wholes({size}, number_list(size, 7))}}),
                  resource_exhausted);
  const auto few = s.run(node.outputs(), {{given, wholes({2, 1}, {7, 5})}, {drawn, wholes({4}, {5, 7, 5, 9})}});
  CHECK(list_of(few[0]) == number_list{0, 1, 1});
  CHECK(list_of(few[1]) == number_list{1, 0, 2});
}

namespace {

/// What one node says within a limit of 4 MiB, and the bytes that its session counts while the results exist; -1 for resource_exhausted.
std::int64_t bytes_within_limit(const std::string& type, const std::vector<tensor_value>& inputs, const attribute_map& settings = {}) {
  graph g;
  const auto scope = g.as_default();
  std::vector<number_argument> places;
  std::vector<feed_item> feeds;
  for (const tensor_value& v : inputs) {
    const auto place = placeholder(v.type(), shape::unknown());
    places.emplace_back(place);
    feeds.push_back({place, v});
  }
  const auto node = call_operator(g, type, places, settings);
  session_options options;
  options.memory_limit_in_bytes = 4 << 20;
  graph_session s(g, options);
  try {
    const auto results = s.run(node.outputs(), feeds);
    return s.memory_in_bytes();
  } catch (const resource_exhausted&) {
    return -1;
  }
}
tensor_value texts_of(const extents& of, const std::string& text) {
  return tensor_value(std::vector<std::string>(static_cast<std::size_t>(count_of(of)), text)).reshaped(floats(of).extent());
}

}  // namespace

TEST_CASE("long strings that a node copies many times are the session's") {
  constexpr std::int64_t kilo = 1 << 10;
  const tensor_value one = texts_of({}, std::string(8 * kilo, 'x')), row = texts_of({4}, std::string(8 * kilo, 'x')), none = texts_of({}, "");
  const auto yes = [](std::int64_t n) {
    tensor_value all(dtype::boolean, {n});
    for (bool& b : all.values<bool>()) b = true;
    return all;
  };
  struct node {
    std::string type;
    std::function<std::vector<tensor_value>(std::int64_t)> inputs;  // for a result with so many copies
    attribute_map settings = {};
  };
  const node nodes[]{
      {"Fill", [&](std::int64_t n) { return std::vector{counts({1}, {double(n)}), one}; }},
      {"Tile", [&](std::int64_t n) { return std::vector{row, counts({1}, {double(n / 4)})}; }},
      {"GatherV2", [&](std::int64_t n) { return std::vector{row, counts({n}, number_list(std::size_t(n), 1)), counts({}, {0})}; }},
      {"GatherNd", [&](std::int64_t n) { return std::vector{row, counts({n, 1}, number_list(std::size_t(n), 1))}; }},
      {"PadV2", [&](std::int64_t n) { return std::vector{row, counts({1, 2}, {0, double(n - 4)}), one}; }},
      {"MirrorPad", [&](std::int64_t n) { return std::vector{texts_of({n / 2}, one.texts()[0]), counts({1, 2}, {0, double(n / 2)})}; },
       {{"mode", "SYMMETRIC"}}},
      {"Select", [&](std::int64_t n) { return std::vector{yes(n), texts_of({n}, one.texts()[0]), texts_of({n}, "")}; }},
      {"SelectV2", [&](std::int64_t n) { return std::vector{yes(n), one, none}; }},
      {"BroadcastTo", [&](std::int64_t n) { return std::vector{one, counts({1}, {double(n)})}; }},
      {"Slice", [&](std::int64_t n) { return std::vector{texts_of({n}, one.texts()[0]), counts({1}, {0}), counts({1}, {double(n)})}; }},
      {"Pack", [&](std::int64_t n) { return std::vector<tensor_value>(std::size_t(n), one); }},
      {"ConcatV2",
       [&](std::int64_t n) {
         std::vector<tensor_value> all(std::size_t(n / 4), row);
         all.push_back(counts({}, {0}));
         return all;
       }},
      {"SparseToDense",
       [&](std::int64_t n) { return std::vector{wholes({1}, {0}), wholes({1}, {double(n)}), texts_of({}, one.texts()[0]), one}; }},
      {"ReverseV2", [&](std::int64_t n) { return std::vector{texts_of({n}, one.texts()[0]), counts({1}, {0})}; }},
      {"StringJoin", [&](std::int64_t n) { return std::vector{texts_of({n}, ""), one}; }},
      {"AsString", [&](std::int64_t n) { return std::vector{counts({n * 8})}; }, {{"width", 1023}}},
      {"DecodeCSV", [&](std::int64_t n) { return std::vector{texts_of({n}, "x,"), one, one}; }},
  };
  for (const node& each : nodes) {
    CAPTURE(each.type);
    CHECK(bytes_within_limit(each.type, each.inputs(1 << 12), each.settings) == -1);  // 32 MiB
    const std::int64_t few = bytes_within_limit(each.type, each.inputs(32), each.settings);
    CHECK(few >= 32 * 8 * kilo);
    CHECK(few < 48 * 8 * kilo);
  }
  // Short strings have no memory of their own, and what a node does not copy does not count.
  CHECK(bytes_within_limit("Fill", {counts({1}, {1 << 14}), texts_of({}, "short")}) < 1 << 20);
  CHECK(bytes_within_limit("GatherV2", {texts_of({1 << 10}, one.texts()[0]), counts({1}, {1}), counts({}, {0})}) < 16 * kilo);
}

TEST_CASE("sets of many elements are the session's, and end with the run") {
  constexpr std::int64_t size = 1 << 15;
  number_list first(size), second(size);
  for (std::int64_t i = 0; i < size; ++i) first[static_cast<std::size_t>(i)] = double(i), second[static_cast<std::size_t>(i)] = double(i + size);
  const attribute_map common{{"set_operation", "intersection"}};
  CHECK(bytes_within_limit("DenseToDenseSetOperation", {wholes({1, size}, first), wholes({1, size}, second)}, common) == -1);
  first.resize(size / 16);
  CHECK(bytes_within_limit("DenseToDenseSetOperation", {wholes({1, size / 16}, first), wholes({1, size / 16}, first)}, common) > 0);

  graph g;
  const auto scope = g.as_default();
  const auto a = placeholder(dtype::int64, shape::unknown()), b = placeholder(dtype::int64, shape::unknown());
  const auto node = call_operator(g, "DenseToDenseSetOperation", {a, b}, common, "long");
  graph_session s(g);
  constexpr std::int64_t many_more = 1 << 21;
  number_list shuffled(many_more);
  for (std::int64_t i = 0; i < many_more; ++i) shuffled[static_cast<std::size_t>(i)] = double(i * 1'000'003 % many_more);
  const feed_list feeds{{a, wholes({1, many_more}, shuffled)}, {b, wholes({1, many_more}, shuffled)}};
  const std::string message = leat_test::message_of<error>([&] { s.run(node.outputs(), feeds, {.timeout_in_ms = 20}); });
  CHECK(leat_test::says(message, "Timed out after 20 ms", "node 'long'"));
}

TEST_CASE("room for what many short messages do not have is the session's") {
  graph g;
  const auto scope = g.as_default();
  constexpr int features = 500, messages = 20000;
  std::vector<number_argument> inputs;
  std::vector<feed_item> feeds;
  const auto add = [&](std::vector<std::string> texts) {
    const auto place = placeholder(text_dtype, shape::unknown());
    inputs.emplace_back(place);
    feeds.push_back({place, tensor_value(std::move(texts))});
  };
  std::vector<std::string> keys;
  for (int k = 0; k < features; ++k) keys.push_back(std::to_string(k));
  add(std::vector<std::string>(messages));
  add({});
  add(keys);
  add({});
  add({});
  const std::vector<data_type> none;
  const auto node = call_operator(g, "ParseExampleV2", inputs,
                                  {{"num_sparse", features},
                                   {"sparse_types", std::vector<data_type>(features, data_type::float32)},
                                   {"Tdense", none},
                                   {"dense_shapes", std::vector<tensor_shape_proto>{}},
                                   {"ragged_value_types", none},
                                   {"ragged_split_types", none}});
  session_options options;
  options.memory_limit_in_bytes = 64 << 20;
  graph_session s(g, options);
  CHECK_THROWS_AS(s.run(node.result(0), feeds), resource_exhausted);
}

TEST_CASE("room for texts that grow by a separator or a rewrite is the session's") {
  graph g;
  const auto scope = g.as_default();
  const auto texts = placeholder(text_dtype, shape::unknown());
  const std::string wide(1 << 16, 'x');
  const auto joined = call_operator(g, "ReduceJoin", {texts, constant(0)}, {{"separator", wide}});
  const auto replaced = call_operator(g, "StaticRegexReplace", {texts}, {{"pattern", "a"}, {"rewrite", wide}});
  session_options options;
  options.memory_limit_in_bytes = 16 << 20;
  graph_session s(g, options);
  const tensor_value many_texts(std::vector<std::string>(4000, "a"));
  CHECK_THROWS_AS(s.run(joined.result(), {{texts, many_texts}}), resource_exhausted);
  CHECK_THROWS_AS(s.run(replaced.result(), {{texts, many_texts}}), resource_exhausted);
  CHECK(s.run<std::string>(joined.result(), {{texts, tensor_value(std::vector<std::string>{"a", "b"})}}).size() == wide.size() + 2);
}

TEST_CASE("fractions are compared as numbers in the distance of sequences") {
  const auto places = wholes({2, 2}, {0, 0, 1, 0}), sides = wholes({2}, {2, 1});
  const double nan = std::nan("");
  CHECK(list_of(run_node("EditDistance", {places, floats({2}, {0, nan}), sides, places, floats({2}, {-0.0, nan}), sides}, {},
                         {{"normalize", false}})[0]) == number_list{0, 1});
}

TEST_CASE("the mean of more gradients than their dtype counts") {
  graph g;
  const auto scope = g.as_default();
  const auto held = call_operator(g, "ResourceConditionalAccumulator", {},
                                  {{"dtype", dtype::uint8}, {"shape", tensor_shape_proto{}}, {"reduction_type", "MEAN"}});
  const auto gradient = placeholder(dtype::uint8, {});
  const auto add = call_operator(g, "ResourceAccumulatorApplyGradient", {held.result(), constant(std::int64_t{0}), gradient}, {{"dtype", dtype::uint8}});
  const auto mean = call_operator(g, "ResourceAccumulatorTakeGradient", {held.result(), constant(256)}, {{"dtype", dtype::uint8}});
  graph_session s(g);
  for (int k = 0; k < 256; ++k) s.run(add, {{gradient, tensor_value(std::uint8_t{0})}});
  CHECK(s.run<std::uint8_t>(mean.result()) == 0);
}

}  // namespace hostile_operand_tests
