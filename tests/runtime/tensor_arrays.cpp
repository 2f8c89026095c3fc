// Tensor arrays: elements that loops write and read, their gradients, graphs that TensorFlow built of them, and what is refused. Values of
// imported graphs are TensorFlow's.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/graph_text.hpp"
#include "support/messages.hpp"
#include "support/node_results.hpp"
#include "tensor_array_graphs.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace leat;

namespace {

using node_results::list_of;
using node_results::number_list;

void check_near(const tensor_value& v, const number_list& wanted, double tolerance = 2e-5) {
  const number_list is = list_of(v);
  REQUIRE(is.size() == wanted.size());
  for (std::size_t i = 0; i < is.size(); ++i) CHECK(is[i] == doctest::Approx(wanted[i]).epsilon(tolerance).scale(1));
}
tensor_value floats(std::initializer_list<std::int64_t> sizes, const std::vector<float>& values) { return {sizes, values}; }

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
std::vector<std::string> outs(int count) {
  std::vector<std::string> names;
  for (int k = 0; k < count; ++k) names.push_back("out" + std::to_string(k) + ":0");
  return names;
}

/// The gradients of a loss by float64 tensors of some shapes, against differences.
template <class F>
void check_array_gradient(const std::vector<shape_value>& shapes, F loss_of) {
  graph g;
  const auto scope = g.as_default();
  std::vector<output> places;
  std::vector<std::vector<double>> lists;
  for (const shape_value& s : shapes) {
    places.push_back(placeholder(dtype::float64, s));
    std::vector<double> list;
    for (std::int64_t i = 0; i < s.elements(); ++i)
      list.push_back(std::sin(1.7 * static_cast<double>(i) + static_cast<double>(lists.size())));
    lists.push_back(list);
  }
  const output loss = loss_of(places);
  const auto by = gradients({loss}, places);
  const auto feeds = [&] {
    std::vector<feed_item> list;
    for (std::size_t k = 0; k < places.size(); ++k) list.push_back({places[k], tensor_value(shapes[k], lists[k])});
    return list;
  };
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    for (std::size_t k = 0; k < places.size(); ++k) {
      REQUIRE(static_cast<bool>(by[k]));
      const auto slopes = list_of(s.run({by[k]}, feeds())[0]);
      for (std::size_t i = 0; i < lists[k].size(); ++i) {
        constexpr double step = 1e-5;
        const double before = lists[k][i];
        lists[k][i] = before + step;
        const double above = list_of(s.run({loss}, feeds())[0])[0];
        lists[k][i] = before - step;
        const double below = list_of(s.run({loss}, feeds())[0])[0];
        lists[k][i] = before;
        CHECK(slopes[i] == doctest::Approx((above - below) / (2 * step)).epsilon(1e-6).scale(1));
      }
    }
  }
}

std::string outcome(const std::string& text, const std::string& fetch) {
  try {
    graph g;
    g.named();
    import_graph(g, leat_test::graph_text(text).parse(), {.name = ""});
    graph_session s(g);
    const auto got = s.run({fetch_item(fetch)});
    return "ok " + dtype_name(got[0].type()) + brackets(got[0].extent()) + summary_text(got[0], 20);
  } catch (const error& e) {
    const std::string what = e.what();
    return what.substr(0, what.find('\n'));
  }
}

}  // namespace

TEST_CASE("a loop writes an element in each iteration, and what follows reads all of them") {
  for (const std::int64_t parallel : {1, 10}) {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, {4, 2}, "x");
    const tensor_array in = tensor_array(dtype::float32, 4).unstack(x);
    const tensor_array out(dtype::float32, 4);
    const auto [steps, last, after] =
        while_loop([](output i, output, output) { return i < 4; },
                   [&](output i, output sum, output flow) {
                     const output next = sum * 2.0f + square(in.read(i));
                     return std::array{i + 1, next, out.with_flow(flow).write(i, next).flow()};
                   },
                   {0, zeros_of({2}), out.flow()}, {.parallel_iterations = parallel, .swap_memory = parallel == 1});
    const output all = out.with_flow(after).stack();
    CHECK(all.extent() == shape{2, {4, 2}});
    const auto slope = gradients({reduce_sum(all * all)}, {x})[0];
    for (const bool fuse : {true, false})
      for (const int threads : {1, 3}) {
        graph_session s(g, {.fuse = fuse, .inter_op_parallelism_threads = threads});
        for (int times = 0; times < 3; ++times) {
          const auto got = s.run({all, slope, last}, {{x, floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}});
          check_near(got[0], {1, 4, 11, 24, 47, 84, 143, 232});
          check_near(got[1], {5420, 17952, 8124, 17920, 6660, 13152, 4004, 7424});
          check_near(got[2], {143, 232});
        }
      }
  }
}

TEST_CASE("the nodes of tensor arrays and of their gradients are called as TensorFlow's") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {3, 2}, "x");
  const tensor_array a = tensor_array(dtype::float32, 3, {.clear_after_read = false}).unstack(x);
  const output y = a.read(1) * a.stack();
  gradients({y}, {x});
  const tensor_array b = tensor_array(dtype::float32, 0, {.dynamic_size = true, .name = "more"}).write(2, 1.0f);
  const output n = b.size();
  b.identity().close();
  for (const char* name : {"TensorArray/size",
                           "TensorArray",
                           "TensorArrayUnstack/Shape",
                           "TensorArrayUnstack/range",
                           "TensorArrayUnstack/strided_slice",
                           "TensorArrayUnstack/TensorArrayScatter/TensorArrayScatterV3",
                           "TensorArrayReadV3/index",
                           "TensorArrayReadV3",
                           "TensorArrayStack/Const",
                           "TensorArrayStack/range",
                           "TensorArrayStack/TensorArrayGatherV3",
                           "more/size",
                           "more",
                           "TensorArrayWrite/value",
                           "TensorArrayWrite/TensorArrayWriteV3/index",
                           "TensorArrayWrite/TensorArrayWriteV3",
                           "TensorArraySizeV3",
                           "TensorArrayCloseV3",
                           "gradients/TensorArrayReadV3_grad/TensorArrayGrad/TensorArrayGradV3",
                           "gradients/TensorArrayReadV3_grad/TensorArrayGrad/gradient_flow",
                           "gradients/TensorArrayReadV3_grad/TensorArrayWrite/TensorArrayWriteV3",
                           "gradients/TensorArrayStack/TensorArrayGatherV3_grad/TensorArrayScatter/TensorArrayScatterV3",
                           "gradients/TensorArrayUnstack/TensorArrayScatter/TensorArrayScatterV3_grad/write_barrier",
                           "gradients/TensorArrayUnstack/TensorArrayScatter/TensorArrayScatterV3_grad/TensorArrayGatherV3"}) {
    CAPTURE(name);
    CHECK_NOTHROW(get_operation_by_name(g, name));
  }
  const auto made = get_operation_by_name(g, "gradients/TensorArrayReadV3_grad/TensorArrayGrad/TensorArrayGradV3");
  CHECK(*made.attribute("source").get_if<std::string>() == "gradients");
  CHECK(a.element_shape() == shape{1, {2}});
  CHECK(a.read(0).extent() == shape{1, {2}});
  CHECK(n.type() == dtype::int32);
}

TEST_CASE("elements of each dtype are read, stacked, gathered, joined and split") {
  const std::string kinds[]{"float32", "float64", "int32", "int64", "uint8", "bool", "string"};
  for (const std::string& kind : kinds) {
    CAPTURE(kind);
    const bool is_text = kind == "string", is_bool = kind == "bool";
    const std::string v = is_text ? "{\"a\" \"b\" \"c\"}" : is_bool ? "{true false true}" : "{1 2 3}";
    // Constants of one byte are made from those of four.
    const bool is_cast = kind == "uint8" || is_bool;
    const std::string source =
        is_cast ? "v0 = Const int32[3]{1 0 3}\nv = Cast(v0) SrcT=int32 DstT=" + kind + "\n" : "v = Const " + kind + "[3]" + v + "\n";
    const std::string text =
        "n = Const int32[]{3}\na = TensorArrayV3(n) clear_after_read=false dtype=" + kind + "\n" + source +
        "i = Const int32[3]{2 0 1}\nw = TensorArrayScatterV3(a, i, v, a:1) T=" + kind +
        "\none = Const int32[]{1}\ny0 = TensorArrayReadV3(a, one, w) dtype=" + kind +
        "\nk = Const int32[3]{0 2 2}\ny1 = TensorArrayGatherV3(a, k, w) dtype=" + kind +
        "\ntwo = Const int32[]{2}\nb = TensorArrayV3(two) clear_after_read=false dtype=" + kind +
        "\nl = Const int64[2]{2 1}\nx = TensorArraySplitV3(b, v, l, b:1) T=" + kind + "\nc = TensorArrayConcatV3(b, x) dtype=" + kind +
        "\nzero = Const int32[]{0}\ny2 = TensorArrayReadV3(b, zero, x) dtype=" + kind +
        "\nz = TensorArraySizeV3(b, x)\ng = TensorArrayGradV3(a, w) source=\"s\"\ny4 = TensorArrayReadV3(g, one, g:1) dtype=" + kind + "\n";
    run_text(text, {"y0:0", "y1:0", "c:0", "c:1", "y2:0", "z:0"}, {}, [&](const std::vector<tensor_value>& got) {
      CHECK(got[3].as<std::vector<std::int64_t>>() == std::vector<std::int64_t>{2, 1});
      CHECK(got[5].as<std::int32_t>() == 2);
      CHECK(got[4].extent() == shape{1, {2}});
      if (is_text) {
        CHECK(got[0].as<std::string>() == "c");
        CHECK(got[1].texts() == std::vector<std::string>{"b", "a", "a"});
        CHECK(got[2].texts() == std::vector<std::string>{"a", "b", "c"});
        return;
      }
      const number_list x = is_bool ? number_list{1, 0, 1} : kind == "uint8" ? number_list{1, 0, 3} : number_list{1, 2, 3};
      CHECK(list_of(got[0]) == number_list{x[2]});
      CHECK(list_of(got[1]) == number_list{x[1], x[0], x[0]});
      CHECK(list_of(got[2]) == x);
    });
    if (is_text) CHECK(outcome(text, "y4:0") == "tensor_array::TensorSetZero type not supported: string");
    else CHECK(outcome(text, "y4:0").ends_with("[]0"));
  }
}

TEST_CASE("the older forms of handles") {
  for (const std::string v : {"", "V2"}) {
    CAPTURE(v);
    std::string text = "n = Const int32[]{2}\nf = Const float32[]{0}\na = TensorArray" + v +
                       "(n) dtype=float32 clear_after_read=false\n"
                       "x = Const float32[2,2]{1 2 3 4}\ni = Const int32[2]{0 1}\nz = Const int32[]{1}\n"
                       "w = TensorArrayScatter" +
                       v + "(a, i, x, f) T=float32\ny0 = TensorArrayRead" + v +
                       "(a, z, w) dtype=float32\n"
                       "y1 = TensorArrayGather" +
                       v + "(a, i, w) dtype=float32\ny2 = TensorArrayConcat" + v +
                       "(a, w) dtype=float32\n"
                       "y3 = TensorArraySize" +
                       v + "(a, w)\ng = TensorArrayGrad" + v +
                       "(a, w) source=\"s\"\n"
                       "p = TensorArrayWrite" +
                       v + "(g, z, y0, w) T=float32\nq = TensorArrayWrite" + v +
                       "(g, z, y0, p) T=float32\n"
                       "y4 = TensorArrayGather" +
                       v +
                       "(g, i, q) dtype=float32\nm = Const int64[2]{1 1}\n"
                       "b = TensorArray" +
                       v + "(n) dtype=float32\ns = TensorArraySplit" + v +
                       "(b, x, m, f) T=float32\n"
                       "y5 = TensorArrayRead" +
                       v + "(b, z, s) dtype=float32\nd = TensorArrayClose" + v + "(b, ^y5)\n";
    std::vector<std::string> fetches{"y0:0", "y1:0", "y2:0", "y3:0", "y4:0", "y5:0"};
    if (v.empty()) {
      text += "c = TensorArray(n) dtype=float32\nu = TensorArrayUnpack(c, x, f) T=float32\ny6 = TensorArrayPack(c, u) dtype=float32\n";
      fetches.push_back("y6:0");
    }
    run_text(text, fetches, {}, [&](const std::vector<tensor_value>& got) {
      CHECK(list_of(got[0]) == number_list{3, 4});
      CHECK(list_of(got[1]) == number_list{1, 2, 3, 4});
      CHECK(got[2].extent() == shape{1, {4}});
      CHECK(got[3].as<std::int32_t>() == 2);
      CHECK(list_of(got[4]) == number_list{0, 0, 6, 8});
      CHECK(got[5].extent() == shape{2, {1, 2}});
      if (v.empty()) CHECK(list_of(got[6]) == number_list{1, 2, 3, 4});
    });
  }
}

TEST_CASE("gradients of each operation against differences") {
  const auto loss = [](const output& y) { return reduce_sum(tanh(y) * y); };
  check_array_gradient({{3, 2}}, [&](const std::vector<output>& x) {
    const tensor_array a = tensor_array(dtype::float64, 3, {.clear_after_read = false}).unstack(x[0]);
    return loss(a.read(0) * a.read(2)) + loss(a.gather(std::vector<std::int32_t>{1, 1, 0}));
  });
  check_array_gradient({{2}, {2}}, [&](const std::vector<output>& x) {
    const tensor_array a(dtype::float64, 4, {.element_shape = {2}});
    return loss(a.write(3, x[0]).write(1, x[1] * x[0]).stack());  // elements that nobody wrote are zeros
  });
  check_array_gradient({{5, 2}}, [&](const std::vector<output>& x) {
    const tensor_array a = tensor_array(dtype::float64, 3, {.infer_shape = false}).split(x[0], std::vector<std::int32_t>{2, 0, 3});
    const tensor_array b =
        tensor_array(dtype::float64, 0, {.dynamic_size = true, .infer_shape = false}).write(1, a.read(0)).write(0, a.read(2));
    return loss(b.concat());
  });
  // Some elements are read by what has no gradient: theirs is zero.
  check_array_gradient({{3, 2}}, [&](const std::vector<output>& x) {
    const tensor_array a = tensor_array(dtype::float64, 3).unstack(x[0]);
    return loss(a.read(1)) + reduce_sum(cast(cast(a.read(2), dtype::int32), dtype::float64));
  });
}

TEST_CASE("gradients through loops within loops, and through branches in them") {
  const auto each = [](const output& x, std::int32_t count, const std::function<output(const output&)>& f) {
    const tensor_array in = tensor_array(dtype::float64, count).unstack(x);
    const tensor_array out(dtype::float64, count);
    const auto [steps, after] = while_loop(
        [count](output i, output) { return i < count; },
        [&](output i, output flow) { return std::array{i + 1, out.with_flow(flow).write(i, f(in.read(i))).flow()}; }, {0, out.flow()});
    return out.with_flow(after).stack();
  };
  check_array_gradient({{2, 3, 2}}, [&](const std::vector<output>& x) {
    const output y = each(x[0], 2, [&](const output& m) { return each(m, 3, [&](const output& e) { return exp(e) * reduce_sum(m); }); });
    return reduce_sum(y * y);
  });
  check_array_gradient({{4}}, [&](const std::vector<output>& x) {
    const output y = each(x[0], 4, [&](const output& e) { return cond(e > 0.25, [&] { return e * e; }, [&] { return sin(e) * 3.0; }); });
    return reduce_sum(y * y);
  });
}

TEST_CASE("each call of gradients has an array of gradients of its own") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 2}, "x");
  const tensor_array a = tensor_array(dtype::float32, 2, {.clear_after_read = false}).unstack(x);
  const output y = a.read(0) * 2.0f, z = a.read(0) * a.read(1);
  const auto dy = gradients({y}, {x})[0], dz = gradients({z}, {x})[0], both = gradients({y, z}, {x})[0];
  output named;
  {
    const name_scope outer("outer");
    named = gradients({z}, {x}, {.name = "slopes"})[0];
  }
  graph_session s(g);
  const auto got = s.run({dy, dz, both, named}, {{x, floats({2, 2}, {1, 2, 3, 4})}});
  CHECK(list_of(got[0]) == number_list{2, 2, 0, 0});
  CHECK(list_of(got[1]) == number_list{3, 4, 1, 2});
  CHECK(list_of(got[2]) == number_list{5, 6, 1, 2});
  CHECK(list_of(got[3]) == number_list{3, 4, 1, 2});
}

TEST_CASE("an array grows, fills up with zeros, is cleared, and is new in each run") {
  graph g;
  const auto scope = g.as_default();
  const auto n = placeholder(dtype::int32, {}, "n");
  const tensor_array a = tensor_array(dtype::float32, 1, {.dynamic_size = true, .clear_after_read = false}).write(n, 5.0f);
  const output count = a.size(), all = a.stack();
  const tensor_array once = tensor_array(dtype::float32, 2).write(0, std::vector<float>{1, 2});
  const output first = once.read(0);
  output second;
  {
    const control_dependencies later({first});
    second = once.read(0);
  }
  const output none = tensor_array(dtype::float32, 0, {.element_shape = {3}}).stack();
  graph_session s(g);
  for (const int last : {0, 3, 1}) {
    const auto got = s.run({count, all}, {{n, tensor_value(last)}});
    CHECK(got[0].as<std::int32_t>() == last + 1);
    number_list wanted(static_cast<std::size_t>(last) + 1);
    wanted.back() = 5;
    CHECK(list_of(got[1]) == wanted);
  }
  CHECK(list_of(s.run(first)) == number_list{1, 2});
  CHECK_THROWS_WITH_AS(s.run(second), doctest::Contains("Could not read index 0 twice because it was cleared after a previous read"),
                       invalid_argument);
  CHECK(s.run(none).extent() == shape{2, {0, 3}});
}

TEST_CASE("graphs that TensorFlow built: dynamic_rnn, map_fn in map_fn, scan, pieces") {
  run_text(tensor_array_graphs::lstm, outs(6),
           {{"x", floats({2, 3, 2}, {0.4375, -0.3125, 2.4375, -0.25, 0.125, 1.5625, -0.9375, -0.5625, 0.1875, -0.3125, -1.1875, -0.1875})},
            {"len", std::vector<std::int32_t>{3, 2}}},
           [](const std::vector<tensor_value>& got) {
             CHECK(got[0].extent() == shape{3, {2, 3, 2}});
             check_near(got[0], {-0.20288439, 0.06152804, -0.20501076, 0.16219543, -0.2814813, 0.30283147, -0.25473791, -0.15133047,
                                 -0.27998617, -0.06543592, 0, 0});
             check_near(got[1], {-0.55085874, 1.06307077, -0.4963299, -0.16688828});
             check_near(got[2], {-0.2814813, 0.30283147, -0.27998617, -0.06543592});
             check_near(got[3], {0.17258169, 0.17776911, 0.00769199, 0.04710646, -0.04592606, 0.0181218, -0.06380651, -0.05393152,
                                 -0.10445862, -0.06246334, 0, 0});
             check_near(got[4], {0.07115555,  0.30750406,  -0.54206192, 0.26306054, 0.1229595,   0.01511342,  -0.02644727, 0.16552509,
                                 -0.00738831, 0.12148619,  -0.27887565, 0.05962864, 0.03883963,  0.06969956,  0.16928644,  0.4570846,
                                 -0.0491186,  -0.04929463, 0.19742961,  0.00189804, -0.03745004, -0.01235655, -0.05314258, -0.07806518,
                                 -0.00013445, 0.02836729,  -0.026937,   0.02473992, -0.00128139, 0.00651989,  0.00347613,  0.05207544});
             check_near(got[5], {0.37941891, 0.32742277, -1.20190728, 0.22964865, 0.16473669, 0.05828226, 0.26330453, 0.40104124});
           });
  run_text(tensor_array_graphs::nested_map, outs(2),
           {{"x", floats({2, 2, 2}, {-0.375, 0.625, -1.6875, -0.6875, 1.125, 1.875, -1.5, 0.625})}},
           [](const std::vector<tensor_value>& got) {
             check_near(got[0], {0.76150948, -1.17852437, 1.98438478, 1.26729381, 1.71976483, 2.0273459, -1.92344022, 1.17852437});
             check_near(got[1], {-9.8915081, -3.60257339, -8.14992332, -10.54112053, 13.96302795, 12.2149086, 9.96398354, 14.90933037});
           });
  run_text(tensor_array_graphs::scan, outs(3), {{"x", std::vector<double>{-1, -0.875, -0.875, -0.4375}}, {"a", 0.5}},
           [](const std::vector<tensor_value>& got) {
             check_near(got[0], {0.27685547, 0.72314453, 0.31640625, 0.78125}, 1e-8);
             check_near(got[1], {0.40041304, 0.2824173, -0.11577606, 0.84608459}, 1e-8);
             check_near(got[2], {-0.74032402}, 1e-8);
           });
  run_text(
      tensor_array_graphs::pieces, outs(2),
      {{"x", floats({5, 2}, {1, 0.6875, 0.0625, -0.375, 0, -0.125, 0.8125, -0.625, 0, -0.125})}, {"n", std::vector<std::int32_t>{1, 4, 0}}},
      [](const std::vector<tensor_value>& got) {
        check_near(got[0], {0.76159418, 0.59637356, 0.12483749, -0.7167148, 0, -0.24870603, 1.3419342, -1.1091994, 0, -0.24870603});
        check_near(got[1], {0.6397, 0.76853299, 0.49740443, -2.49869704, 0, -0.97944051, 2.95119858, -3.07212377, 0, -0.97944051});
      });
}

TEST_CASE("what is refused while a graph is built") {
  graph g;
  const auto scope = g.as_default();
  const tensor_array a(dtype::float32, 3, {.element_shape = {2, -1}});
  CHECK_THROWS_WITH_AS(static_cast<void>(a.write(0, 1)),
                       doctest::Contains("TensorArray dtype is float32 but Op is trying to write dtype int32"), invalid_argument);
  CHECK_THROWS_WITH_AS(static_cast<void>(a.write(0, zeros_of({3, 1}))),
                       doctest::Contains("Inconsistent shapes: saw (3, 1) but expected (2, ?)"), invalid_argument);
  static_cast<void>(a.write(0, zeros_of({2, 5})));
  CHECK(a.element_shape() == shape{2, {2, 5}});
  CHECK_THROWS_AS(static_cast<void>(a.write(1, zeros_of({2, 4}))), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(a.unstack(1.0f)), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(a.write(std::vector<std::int32_t>{0}, zeros_of({2, 5}))), invalid_argument);
  CHECK_THROWS_AS(tensor_array(dtype::float32, 2.0f), invalid_argument);
  CHECK_THROWS_AS(tensor_array(dtype::float32, std::vector<std::int32_t>{2}), invalid_argument);
}

TEST_CASE("what is refused in a run, in TensorFlow's words") {
  const std::string three = "n = Const int32[]{3}\nzero = Const int32[]{0}\none = Const float32[]{1}\na = TensorArrayV3(n) dtype=float32\n";
  const std::string written = three + "w = TensorArrayWriteV3(a, zero, one, a:1) T=float32\n";
  CHECK(outcome(written + "y = TensorArrayWriteV3(a, zero, one, w) T=float32", "y:0") ==
        "TensorArray a: Could not write to TensorArray index 0 because it has already been written to.");
  CHECK(outcome(written + "r = TensorArrayReadV3(a, zero, w) dtype=float32\ny = TensorArrayWriteV3(a, zero, r, w) T=float32", "y:0") ==
        "TensorArray a: Could not write to TensorArray index 0 because it has already been read.");
  CHECK(outcome(written + "y = TensorArrayWriteV3(a, n, one, w) T=float32", "y:0") ==
        "TensorArray a: Tried to write to index 3 but array is not resizeable and size is: 3");
  CHECK(outcome(written + "y = TensorArrayReadV3(a, n, w) dtype=float32", "y:0") == "Tried to read from index 3 but array size is: 3");
  CHECK(
      outcome(written + "i = Const int32[]{1}\ny = TensorArrayReadV3(a, i, w) dtype=float32", "y:0")
          .starts_with(
              "TensorArray a: Could not read from TensorArray index 1.  Furthermore, the element shape is not fully defined: <unknown>."));
  CHECK(outcome(written + "y = TensorArrayReadV3(a, zero, w) dtype=int32", "y:0") ==
        "TensorArray dtype is float32 but Op requested dtype int32.");
  CHECK(outcome(written + "y = TensorArrayWriteV3(a, zero, n, w) T=int32", "y:0") ==
        "TensorArray dtype is float32 but Op is trying to write dtype int32.");
  CHECK(outcome(written + "c = TensorArrayCloseV3(a, ^w)\ny = TensorArraySizeV3(a, w, ^c)", "y:0") ==
        "TensorArray a has already been closed.");
  CHECK(outcome(three + "v = Const float32[4]{1}\nl = Const int64[3]{1}\ny = TensorArraySplitV3(a, v, l, a:1) T=float32", "y:0") ==
        "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is 3 and value's shape is: [4]");
  CHECK(outcome(three + "v = Const float32[4]{1}\nl = Const int64[2]{2}\ny = TensorArraySplitV3(a, v, l, a:1) T=float32", "y:0") ==
        "TensorArray's size is not equal to the size of lengths (3 vs. 2), and the TensorArray is not marked as dynamically resizeable");
  CHECK(outcome(three + "v = Const float32[2]{1}\ni = Const int32[2]{0 3}\ny = TensorArrayScatterV3(a, i, v, a:1) T=float32", "y:0") ==
        "Max scatter index must be < array size (3 vs. 3)");
  CHECK(outcome(three + "v = Const float32[3]{1}\ni = Const int32[2]{0 1}\ny = TensorArrayScatterV3(a, i, v, a:1) T=float32", "y:0") ==
        "Expected len(indices) == values.shape[0], but saw: 2 vs. 3");
  CHECK(outcome(written + "y = TensorArrayConcatV3(a, w) dtype=float32 element_shape_except0=[]", "y:0")
            .starts_with("TensorArray a: Could not read from TensorArray index 1"));
  const std::string full = three + "v = Const float32[3]{1}\ni = Const int32[3]{0 1 2}\nu = TensorArrayScatterV3(a, i, v, a:1) T=float32\n";
  CHECK(outcome(full + "y = TensorArrayConcatV3(a, u) dtype=float32", "y:0") ==
        "Concat saw a scalar shape at index 0 but requires at least vectors.  Did you mean to call pack?");
  CHECK(outcome(full + "y = TensorArrayGatherV3(a, i, u) dtype=float32 element_shape=[2]", "y:0") ==
        "TensorArray was passed element_shape [2] which does not match the Tensor at index 0: []");
  CHECK(outcome(full + "y = TensorArrayGatherV3(a, i, u) dtype=float32 element_shape=[]", "y:0") == "ok float32[3][1 1 1]");
  const std::string sizes = "n = Const int32[]{0}\na = TensorArrayV3(n) dtype=float32 dynamic_size=true\n";
  CHECK(outcome(sizes + "i = Const int32[0]{}\ny = TensorArrayGatherV3(a, i, a:1) dtype=float32 element_shape=[?]", "y:0") ==
        "TensorArray has size zero, but element shape [?] is not fully defined. Currently only static shapes are supported when packing "
        "zero-size TensorArrays.");
  CHECK(outcome(sizes + "y = TensorArrayConcatV3(a, a:1) dtype=float32 element_shape_except0=[2]", "y:0") == "ok float32[0,2][]");
  const std::string apart = sizes +
                            "z = Const int32[]{0}\no = Const int32[]{1}\np = Const float32[1]{1}\nq = Const float32[2]{1}\n"
                            "s = TensorArrayWriteV3(a, z, p, a:1) T=float32\nt = TensorArrayWriteV3(a, o, q, s) T=float32\n";
  CHECK(outcome(apart + "i = Const int32[2]{0 1}\ny = TensorArrayGatherV3(a, i, t) dtype=float32", "y:0") ==
        "TensorArray has inconsistent shapes.  Index 0 has shape: [1] but index 1 has shape: [2]");
  CHECK(outcome(apart + "y = TensorArrayConcatV3(a, t) dtype=float32", "y:0") == "ok float32[3][1 1 1]");
  // Only writes that happened by then count among the gradients' sizes: from then on the array is fixed.
  CHECK(outcome(apart + "g = TensorArrayGradV3(a, s) source=\"s\"\nc = Const int32[]{7}\ny = TensorArrayWriteV3(a, c, p, t, ^g) T=float32",
                "y:0")
            .starts_with("TensorArray a: Tried to write to index 7 but array is not resizeable and size is: "));
  CHECK(outcome(
            apart +
                "e = Const int32[1]{3}\ng = TensorArrayGradWithShape(a, t, e) source=\"s\"\ny = TensorArrayReadV3(g, o, g:1) dtype=float32",
            "y:0") == "ok float32[3,2][[0 0][0 0][0 0]]");
}
