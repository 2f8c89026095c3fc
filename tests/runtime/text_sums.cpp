// Sums of strings, which are joined, and strings that are placed by index: values and errors of TensorFlow 2.21.

#include <leat/core/memory.hpp>
#include <leat/graphs.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <string>

namespace text_sum_tests {

using namespace leat;
using namespace node_results;

namespace {

using texts = std::vector<std::string>;

tensor_value strings(const texts& all, const extents& of) {
  shape s;
  for (const auto n : of) s.push(n);
  return tensor_value(all).reshaped(s);
}
tensor_value counts(const extents& of, const number_list& list) { return tensor_of(dtype::int32, of, list); }
void refuses(std::string_view type, const std::vector<tensor_value>& arrays, std::string_view words) {
  const std::string problem = leat_test::message_of<invalid_argument>([&] { run_node(type, arrays, {}, {}, "culprit"); });
  CHECK_MESSAGE(leat_test::says(problem, words, "culprit"), type << ": " << problem);
}

}  // namespace

TEST_CASE("sums of strings join them") {
  for (const char* type : {"Add", "AddV2"}) {
    const auto made = run_node(type, {strings({"a", "b"}, {2}), strings({"x", "yy"}, {2})}, {}, {})[0];
    CHECK(made.texts() == texts{"ax", "byy"});
    const auto wide = run_node(type, {strings({"a", "b"}, {2, 1}), strings({"x", "yy"}, {2})}, {}, {})[0];
    CHECK(wide.extent() == shape(2, {2, 2}));
    CHECK(wide.texts() == texts{"ax", "ayy", "bx", "byy"});
    CHECK(run_node(type, {strings({"a", "b"}, {2}), tensor_value("z")}, {}, {})[0].texts() == texts{"az", "bz"});
    CHECK(run_node(type, {strings({}, {0}), tensor_value("z")}, {}, {})[0].texts().empty());
    refuses(type, {strings({"a", "b", "c"}, {3}), strings({"x", "yy"}, {2})}, "Incompatible shapes: [3] vs. [2]");
  }
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(text_dtype, {2}, "x");
  const auto y = call_operator(g, "Add", {x, tensor_literal("!")}, {}, "y").result();
  CHECK(y.extent() == shape(1, {2}));
  CHECK_THROWS_AS(call_operator(g, "Mul", {x, x}), error);
  CHECK_THROWS_AS(call_operator(g, "Add", {x, placeholder(text_dtype, {3})}), invalid_argument);
  const graph_def def = export_graph(g);
  graph again;
  import_graph(again, def, {.name = ""});
  for (const bool fuse : {true, false}) {
    graph_session s(again, {.fuse = fuse});
    const auto made = s.run(get_tensor_by_name(again, "y:0"), {{get_tensor_by_name(again, "x:0"), strings({"a", "b"}, {2})}});
    CHECK(made.texts() == texts{"a!", "b!"});
  }
}

TEST_CASE("strings are placed by index, and those of one place are joined") {
  const auto placed = [](const tensor_value& at, const tensor_value& words, const number_list& sizes) {
    return run_node("ScatterNd", {at, words, counts({static_cast<std::int64_t>(sizes.size())}, sizes)}, {}, {})[0];
  };
  CHECK(placed(counts({2, 1}, {3, 1}), strings({"a", "b"}, {2}), {4}).texts() == texts{"", "b", "", "a"});
  CHECK(placed(counts({3, 1}, {1, 1, 0}), strings({"a", "b", "c"}, {3}), {2}).texts() == texts{"c", "ab"});
  CHECK(placed(counts({2, 1}, {1, 0}), strings({"a", "b", "c", "d"}, {2, 2}), {3, 2}).texts() == texts{"c", "d", "a", "b", "", ""});
  refuses("ScatterNd", {counts({1, 1}, {4}), strings({"a"}, {1}), counts({1}, {3})}, "indices[0] = [4] does not index into shape [3]");
  refuses("ScatterNd", {counts({1, 1}, {-1}), strings({"a"}, {1}), counts({1}, {3})}, "indices[0] = [-1] does not index into shape [3]");
  refuses("ScatterNd", {counts({2, 1}, {0, 1}), strings({"a"}, {1}), counts({1}, {3})}, "do not fit");
  CHECK(list_of(run_node("ScatterNd", {counts({2, 1}, {1, 1}), counts({2}, {3, 4}), counts({1}, {3})}, {}, {})[0]) == number_list{0, 7, 0});
}

}  // namespace text_sum_tests
