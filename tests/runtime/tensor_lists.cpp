// Lists of tensors: values that nodes change without changing what others hold, graphs of TensorFlow 2, and what is refused. Values of the
// imported graph are TensorFlow's.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/graph_text.hpp"
#include "tensor_array_graphs.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace leat;

namespace {

using float_list = std::vector<float>;
using size_list = std::vector<std::int64_t>;

/// Runs a graph given as text, fused and node by node.
template <class Check>
void run_text(const std::string& text, const std::vector<std::string>& fetches, const std::vector<feed_item>& feeds, Check check) {
  for (const bool fuse : {true, false})
    for (const int threads : {1, 3}) {
      graph g;
      g.named();
      import_graph(g, leat_test::graph_text(text).parse(), {.name = ""});
      graph_session s(g, {.fuse = fuse, .inter_op_parallelism_threads = threads});
      for (int times = 0; times < 2; ++times)
        check(s.run(std::vector<fetch_item>(fetches.begin(), fetches.end()), std::vector<feed_item>(feeds)));
    }
}
std::string outcome(const std::string& text) {
  try {
    graph g;
    g.named();
    import_graph(g, leat_test::graph_text(text).parse(), {.name = ""});
    graph_session s(g);
    const auto got = s.run({fetch_item("y:0")});
    return "ok " + dtype_name(got[0].type()) + brackets(got[0].extent()) + summary_text(got[0], 20);
  } catch (const error& e) {
    const std::string what = e.what();
    return what.substr(0, what.find('\n'));
  }
}
const std::string any = "any = Const int32[]{-1}\n";
std::string stack_of(const std::string& list, const std::string& name, const std::string& kind = "float32") {
  return name + " = TensorListStack(" + list + ", any) element_dtype=" + kind + "\n";
}

}  // namespace

TEST_CASE("a node that changes a list leaves the list that it took") {
  const std::string text =
      any +
      "x = Placeholder dtype=float32 shape=[?,2]\nl = TensorListFromTensor(x, any)\none = Const int32[]{1}\n"
      "v = Const float32[2]{9 8}\na = TensorListSetItem(l, one, v) element_dtype=float32\nb = TensorListPushBack(a, v)\n"
      "c = TensorListPopBack(l, any) element_dtype=float32\nfive = Const int32[]{5}\nd = TensorListResize(l, five)\ne = TensorListResize(l, one)\n"
      "f = TensorListConcatLists(l, a) element_dtype=float32\ni = Const int32[2]{2 0}\nw = Const float32[2,2]{5 5 6 6}\n"
      "g = TensorListScatterIntoExistingList(l, w, i)\nlast = Identity(c:1)\nn = TensorListLength(b)\n"
      "h = TensorListGather(b, i, any) element_dtype=float32\np = TensorListElementShape(l) shape_type=int64\n" +
      stack_of("l", "y0") + stack_of("a", "y1") + stack_of("b", "y2") + stack_of("c", "y3") + stack_of("d", "y4") + stack_of("e", "y5") +
      stack_of("f", "y6") + stack_of("g", "y7");
  run_text(text, {"y0:0", "y1:0", "y2:0", "y3:0", "y4:0", "y5:0", "y6:0", "y7:0", "last:0", "n:0", "h:0", "p:0"},
           {{"x", tensor_value({3, 2}, float_list{1, 2, 3, 4, 5, 6})}}, [](const std::vector<tensor_value>& got) {
             CHECK(got[0].as<float_list>() == float_list{1, 2, 3, 4, 5, 6});
             CHECK(got[1].as<float_list>() == float_list{1, 2, 9, 8, 5, 6});
             CHECK(got[2].as<float_list>() == float_list{1, 2, 9, 8, 5, 6, 9, 8});
             CHECK(got[3].as<float_list>() == float_list{1, 2, 3, 4});
             CHECK(got[4].as<float_list>() == float_list{1, 2, 3, 4, 5, 6, 0, 0, 0, 0});
             CHECK(got[5].as<float_list>() == float_list{1, 2});
             CHECK(got[6].as<float_list>() == float_list{1, 2, 3, 4, 5, 6, 1, 2, 9, 8, 5, 6});
             CHECK(got[7].as<float_list>() == float_list{6, 6, 3, 4, 5, 5});
             CHECK(got[8].as<float_list>() == float_list{5, 6});
             CHECK(got[9].as<std::int32_t>() == 4);
             CHECK(got[10].as<float_list>() == float_list{5, 6, 1, 2});
             CHECK(got[11].as<std::int64_t>() == -1);
           });
}

TEST_CASE("lists of each dtype, of rows, and of elements that were not set") {
  for (const std::string kind : {"float32", "float64", "int32", "int64", "uint8", "bool", "string"}) {
    CAPTURE(kind);
    const bool is_text = kind == "string", is_cast = kind == "uint8" || kind == "bool";
    const std::string v = is_text   ? "v = Const string[2]{\"a\" \"b\"}\n"
                          : is_cast ? "w = Const int32[2]{1 1}\nv = Cast(w) SrcT=int32 DstT=" + kind + "\n"
                                    : "v = Const " + kind + "[2]{1 1}\n";
    const std::string text =
        any + v + "l = TensorListFromTensor(v, any)\nn = Const int32[]{3}\nm = TensorListResize(l, n)\n" + stack_of("m", "y", kind);
    CHECK(outcome(text) == "ok " + kind + "[3]" + (is_text ? "[a b ]" : "[1 1 0]"));
  }
  const std::string rows = any +
                           "x = Const float32[4,2]{1 2 3 4 5 6 7 8}\ns = Const int32[2]{-1 2}\nn = Const int64[3]{1 3 0}\n"
                           "l = TensorListSplit(x, s, n)\nd = Const int64[0]{}\ny = TensorListConcatV2(l, s, d) element_dtype=float32\n";
  CHECK(outcome(rows) == "ok float32[4,2][[1 2][3 4][5 6][7 8]]");
  run_text(rows, {"y:0", "y:1"}, {}, [](const std::vector<tensor_value>& got) { CHECK(got[1].as<size_list>() == size_list{1, 3, 0}); });
  const std::string unset = any +
                            "n = Const int32[]{2}\nl = TensorListReserve(any, n) element_dtype=float32\none = Const int32[]{1}\n"
                            "v = Const float32[2]{1 2}\nm = TensorListSetItem(l, one, v)\n";
  CHECK(outcome(unset + stack_of("m", "y")) == "ok float32[2,2][[0 0][1 2]]");
  CHECK(outcome(unset + "i = Const int32[]{0}\ny = TensorListGetItem(m, i, any) element_dtype=float32") == "ok float32[2][0 0]");
  CHECK(outcome(unset + "d = Const int64[1]{3}\ny = TensorListConcatV2(m, any, d) element_dtype=float32") == "ok float32[5][0 0 0 1 2]");
  CHECK(outcome(any +
                "x = Const float32[2,2]{1 2 3 4}\ni = Const int32[2]{3 1}\nn = Const int32[]{5}\n"
                "l = TensorListScatterV2(x, i, any, n)\n" +
                stack_of("l", "y")) == "ok float32[5,2][[0 0][3 4][0 0][1 2][0 0]]");
  CHECK(outcome(any +
                "m = Const int32[]{2}\nx = Const float32[2]{1 2}\nl = TensorListFromTensor(x, any)\n"
                "o = EmptyTensorList(any, m) element_dtype=variant\np = TensorListPushBack(o, l)\ni = Const int32[]{0}\n"
                "q = TensorListGetItem(p, i, any) element_dtype=variant\n" +
                stack_of("q", "y")) == "ok float32[2][1 2]");
}

TEST_CASE("sums and zeros of lists, which gradients are") {
  const std::string two = any +
                          "x = Const float32[2]{1 2}\nn = Const int32[]{3}\nl = TensorListFromTensor(x, any)\nz = ZerosLike(l)\n"
                          "a = AddN(l, l, z) T=variant\nk = TensorListReserve(any, n) element_dtype=float32\nr = TensorListResize(l, n)\n"
                          "b = AddN(k, r) T=variant\n";
  CHECK(outcome(two + stack_of("a", "y")) == "ok float32[2][2 4]");
  CHECK(outcome(two + stack_of("z", "y")) == "ok float32[2][0 0]");
  CHECK(outcome(two + stack_of("l", "y", "float32")) == "ok float32[2][1 2]");
  CHECK(outcome(two + stack_of("b", "y")) == "ok float32[3][1 2 0]");
}

TEST_CASE("a loop of TensorFlow 2 with its gradient, lowered to nodes") {
  run_text(tensor_array_graphs::list_gradient, {"out0:0", "out1:0"},
           {{"x", tensor_value({3, 3}, float_list{0.4375, -0.3125, 2.4375, -0.25, 0.125, 1.5625, -0.9375, -0.5625, 0.1875})}},
           [](const std::vector<tensor_value>& got) {
             const float_list wanted[]{
                 {1.08567035F, -0.78781122F, 1.65881515F, -0.35564321F, 0.17921993F, 1.43745053F, 1.05798149F, 0.69995975F, -0.24465434F},
                 {8.5919981F, -0.28999066F, -2.92778587F, 2.10477757F, 3.6067028F, 3.12975121F, -4.18698931F, -4.09772396F, -1.91246557F}};
             for (std::size_t k = 0; k < 2; ++k) {
               const auto is = got[k].as<float_list>();
               REQUIRE(is.size() == 9);
               for (std::size_t i = 0; i < 9; ++i) CHECK(is[i] == doctest::Approx(wanted[k][i]).epsilon(2e-5));
             }
           });
}

TEST_CASE("joined lists pass no gradient, as in TensorFlow") {
  graph g;
  const auto scope = g.as_default();
  import_graph(g,
               leat_test::graph_text(any + "x = Placeholder dtype=float32 shape=[2]\nl = TensorListFromTensor(x, any)\n"
                                           "m = TensorListConcatLists(l, l) element_dtype=float32\n" +
                                     stack_of("m", "y") + stack_of("l", "z"))
                   .parse(),
               {.name = ""});
  const output x = get_tensor_by_name(g, "x:0");
  CHECK_FALSE(static_cast<bool>(gradients({get_tensor_by_name(g, "y:0")}, {x})[0]));
  CHECK(static_cast<bool>(gradients({get_tensor_by_name(g, "z:0")}, {x})[0]));
}

TEST_CASE("lists in each other end, and lists do not outgrow a session's limit") {
  // Each iteration puts the list into a new one.
  graph g;
  const auto scope = g.as_default();
  const auto any_shape = constant(-1);
  const auto start = call_operator(g, "EmptyTensorList", {any_shape, any_shape}, {{"element_dtype", data_type::variant}}).result();
  const auto count = placeholder(dtype::int32, {}, "count");
  const auto [steps, deep] = while_loop(
      [&](output i, output) { return i < count; },
      [&](output i, output l) {
        const auto empty = call_operator(g, "EmptyTensorList", {any_shape, any_shape}, {{"element_dtype", data_type::variant}}).result();
        return std::array{i + 1, call_operator(g, "TensorListPushBack", {empty, l}, {{"element_dtype", data_type::variant}}).result()};
      },
      {0, start});
  const auto length = call_operator(g, "TensorListLength", {deep}).result();
  graph_session s(g);
  CHECK(s.run<std::int32_t>(length, {{count, tensor_value(20)}}) == 1);
  CHECK_THROWS_WITH_AS(s.run(length, {{count, tensor_value(100000)}}), doctest::Contains("more than 64 lists in each other"),
                       unimplemented);
  graph small;
  small.named();
  import_graph(small,
               leat_test::graph_text(any + "n = Const int32[]{1000000}\nl = TensorListReserve(any, n) element_dtype=float32\n"
                                           "y = TensorListLength(l)")
                   .parse(),
               {.name = ""});
  session_options options;
  options.memory_limit_in_bytes = 1 << 20;
  graph_session limited(small, options);
  CHECK_THROWS_AS(limited.run("y:0"), resource_exhausted);
  CHECK(graph_session(small).run<std::int32_t>("y:0") == 1000000);
}
