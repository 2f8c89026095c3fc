// complex64 and complex128 in runs: values, nodes that move elements, arithmetic, sums and products, variables, casts, files and errors.
// Numbers recorded from TensorFlow 2.21.

#include <leat/checkpoint.hpp>
#include <leat/graphs.hpp>
#include <leat/io/npy.hpp>
#include <leat/session/graph_session.hpp>

#include "support/graph_text.hpp"
#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace complex_numbers_tests {

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using single = std::complex<float>;
using number = std::complex<double>;
using singles = std::vector<single>;
using numbers = std::vector<number>;

namespace {

struct imported {
  explicit imported(std::string_view text, const session_options& options = {}) : file(leat_test::graph_text(text).parse()) {
    g.named();
    import_graph(g, file, {.name = ""});
    session.emplace(g, options);
  }
  tensor_value run(const std::string& fetch, const feed_list& feeds = {}) { return session->run({fetch}, feeds)[0]; }
  graph_def file;
  graph g;
  std::optional<graph_session> session;
};

numbers wide(const tensor_value& v) {
  if (v.type() == complex128_dtype) return v.as<numbers>();
  const auto all = v.as<singles>();
  return {all.begin(), all.end()};
}
bool is_close(const numbers& got, const numbers& wanted, double error) {
  if (got.size() != wanted.size()) return false;
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (std::isnan(wanted[k].real()) && (std::isnan(got[k].real()) || std::isnan(got[k].imag()))) continue;
    if (wanted[k] == got[k]) continue;  // infinities
    if (!(std::abs(got[k] - wanted[k]) <= error * std::max(1.0, std::abs(wanted[k])))) {
      MESSAGE("element ", k, ": ", got[k].real(), " ", got[k].imag(), " for ", wanted[k].real(), " ", wanted[k].imag());
      return false;
    }
  }
  return true;
}

const numbers x_numbers{{1, 2}, {-3.5, 0.25}, {0, 0}, {0, -1}}, y_numbers{{0.5, -1}, {2, 2}, {0, 0}, {3, 0}};
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// A node `z` of one or two operands of complex64 and of complex128, compared with TensorFlow's numbers of complex64.
void check_node(const std::string& op, const numbers& wanted, bool has_two = false) {
  INFO(op);
  for (const std::string type : {"complex64", "complex128"}) {
    imported i("x = Placeholder dtype=" + type + " shape=[-1]\ny = Placeholder dtype=" + type + " shape=[-1]\nz = " + op +
               (has_two ? "(x, y) T=" : "(x) T=") + type + "\n");
    const auto given = [&](const numbers& all) {
      return type == "complex128" ? tensor_value(all) : tensor_value(singles(all.begin(), all.end()));
    };
    CHECK(is_close(wide(i.run("z:0", {{"x", given(x_numbers)}, {"y", given(y_numbers)}})), wanted, 3e-7));
  }
}

}  // namespace

TEST_CASE("complex numbers: values are made from std::complex, and read as such") {
  const tensor_value v(singles{{1, 2}, {-0.5f, 0}, {3, -4}});
  CHECK(v.type() == complex64_dtype);
  CHECK(v.bytes() == 24);
  CHECK(v.as<singles>()[2] == single(3, -4));
  CHECK(tensor_value(number(1, 2)).as<number>() == number(1, 2));
  CHECK(tensor_value({1, 2}, numbers{{1, 2}, {3, 4}}).extent() == shape(2, {1, 2}));
  CHECK(summary_text(v) == "[(1,2) (-0.5,0) (3,-4)]");
  CHECK(says(message_of<invalid_argument>([&] { v.as<numbers>(); }), "a value of complex64 was taken as complex128"));
  CHECK(says(message_of<invalid_argument>([&] { v.as<std::vector<float>>(); }), "a value of complex64 was taken as float32"));
  CHECK(v.widened().type() == complex64_dtype);
  const tensor_value copied = v.copy();
  CHECK(copied.as<singles>() == v.as<singles>());
}

TEST_CASE("complex numbers: constants, feeds and fetches") {
  graph g;
  const default_graph_scope here(g);
  const output x = placeholder(complex64_dtype, {-1}, "x");
  const output c = constant(singles{{1, 2}, {3, 4}});
  const output y = (x + c) * number(0, 1);
  CHECK(c.type() == complex64_dtype);
  CHECK(y.type() == complex64_dtype);
  CHECK(y.extent() == shape(1, {2}));
  graph_session session(g);
  const singles given{{1, 0}, {0, 1}};
  CHECK(session.run(y, {{x, given}}).as<singles>() == singles{{-2, 2}, {-5, 3}});
  CHECK(session.run(y, {{x, tensor_value(given)}}).as<singles>() == singles{{-2, 2}, {-5, 3}});
  // A number or list that a feed writes out takes the tensor's dtype; an array must have it.
  const output z = placeholder(complex128_dtype, {}, "z");
  CHECK(session.run(z, {{z, single(0.5f, 2)}}).as<number>() == number(0.5, 2));
  CHECK(session.run(z, {{z, 3}}).as<number>() == number(3, 0));
  CHECK(says(message_of<invalid_argument>([&] { session.run(y, {{x, numbers{{1, 2}}}}); }),
             "Cannot feed a value of complex128 for Tensor 'x:0', which has dtype complex64"));
  CHECK(says(message_of<invalid_argument>([&] { add(x, constant({1.0f, 2.0f})); }), "complex64", "float32"));
  CHECK(says(message_of<invalid_argument>([&] { complex(constant({1, 2}), constant({1, 2})); }), "float32 or float64, not int32"));
  CHECK(says(message_of<invalid_argument>([&] { tensor_literal(single(1, 2)).as(dtype::float32); }), "complex number"));
  CHECK(constant(2.5f, complex128_dtype).type() == complex128_dtype);
  CHECK(session.run(zeros_of({2}, complex64_dtype)).as<singles>() == singles(2));
  CHECK(session.run(ones_of({2}, complex128_dtype)).as<numbers>() == numbers{1, 1});
}

TEST_CASE("complex numbers: nodes that move elements") {
  for (const std::string type : {"complex64", "complex128"}) {
    INFO(type);
    imported i("x = Placeholder dtype=" + type + " shape=[2,3]\n"
               "flat = Const int32[1]{-1}\n"
               "turn = Const int32[2]{1,0}\n"
               "axis = Const int32[]{1}\n"
               "first = Const int32[]{0}\n"
               "pads = Const int32[2,2]{0,1,1,0}\n"
               "twice = Const int32[2]{1,2}\n"
               "from = Const int32[2]{0,1}\n"
               "size = Const int32[2]{2,-1}\n"
               "step = Const int32[2]{1,2}\n"
               "end = Const int32[2]{2,3}\n"
               "rows = Const int32[2]{1,0}\n"
               "yes = Const bool[2,3]{true,false,true,false,false,true}\n"
               "one = Const " + type + "[]{1,-1}\n"
               "is = Const bool[]{true}\n"
               "reshaped = Reshape(x, flat) T=" + type + "\n"
               "turned = Transpose(x, turn) T=" + type + "\n"
               "joined = ConcatV2(x, x, axis) N=2 T=" + type + "\n"
               "sliced = Slice(x, from, size) T=" + type + " Index=int32\n"
               "strided = StridedSlice(x, from, end, step) T=" + type + " Index=int32\n"
               "gathered = GatherV2(x, rows, first) Tparams=" + type + " Tindices=int32 Taxis=int32\n"
               "packed = Pack(x, x) N=2 T=" + type + " axis=1\n"
               "parts = Unpack(x) num=2 T=" + type + " axis=0\n"
               "split = Split(axis, x) num_split=3 T=" + type + "\n"
               "padded = Pad(x, pads) T=" + type + "\n"
               "filled = PadV2(x, pads, one) T=" + type + "\n"
               "mirrored = MirrorPad(x, pads) T=" + type + " mode=\"SYMMETRIC\"\n"
               "tiled = Tile(x, twice) T=" + type + "\n"
               "wide = ExpandDims(x, first) T=" + type + "\n"
               "narrow = Squeeze(wide) T=" + type + "\n"
               "full = Fill(rows, one) T=" + type + "\n"
               "zeros = ZerosLike(x) T=" + type + "\n"
               "ones = OnesLike(x) T=" + type + "\n"
               "chosen = Select(yes, x, zeros) T=" + type + "\n"
               "chosen2 = SelectV2(yes, x, one) T=" + type + "\n"
               "reversed = ReverseV2(x, from) T=" + type + "\n"
               "branch = Switch(x, is) T=" + type + "\n"
               "back = Merge(branch:0, branch:1) N=2 T=" + type + "\n"
               "diagonal = MatrixDiag(x) T=" + type + "\n"
               "spread = BroadcastTo(one, size2) T=" + type + "\n"
               "size2 = Const int32[2]{2,2}\n"
               "again = Bitcast(x) T=" + type + " type=" + (type == "complex64" ? "int64" : "complex64") + "\n"
               "count = Size(x) T=" + type + "\n"
               "stopped = StopGradient(x) T=" + type + "\n");
    const numbers all{{1, -1}, {2, 0.5}, {3, 0}, {4, 4}, {5, -2}, {6, 1}};
    const tensor_value x =
        type == "complex64" ? tensor_value({2, 3}, singles(all.begin(), all.end())) : tensor_value({2, 3}, all);
    const auto run = [&](const char* name) { return i.run(std::string(name) + ":0", {{"x", x}}); };
    const auto is = [&](const char* name, const shape& extent, const std::vector<int>& places) {
      INFO(name);
      const tensor_value v = run(name);
      CHECK(v.extent() == extent);
      CHECK(v.type() == x.type());
      numbers wanted;  // -1: zero, -2: 1 - i, -3: one
      for (const int at : places) {
        if (at >= 0) wanted.push_back(all[static_cast<std::size_t>(at)]);
        else wanted.push_back(at == -1 ? number(0) : at == -2 ? number(1, -1) : number(1));
      }
      CHECK(wide(v) == wanted);
    };
    is("reshaped", shape(1, {6}), {0, 1, 2, 3, 4, 5});
    is("turned", shape(2, {3, 2}), {0, 3, 1, 4, 2, 5});
    is("joined", shape(2, {2, 6}), {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    is("sliced", shape(2, {2, 2}), {1, 2, 4, 5});
    is("strided", shape(2, {2, 1}), {1, 4});
    is("gathered", shape(2, {2, 3}), {3, 4, 5, 0, 1, 2});
    is("packed", shape(3, {2, 2, 3}), {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    is("parts", shape(1, {3}), {0, 1, 2});
    is("split", shape(2, {2, 1}), {0, 3});
    is("padded", shape(2, {3, 4}), {-1, 0, 1, 2, -1, 3, 4, 5, -1, -1, -1, -1});
    is("filled", shape(2, {3, 4}), {-2, 0, 1, 2, -2, 3, 4, 5, -2, -2, -2, -2});
    is("mirrored", shape(2, {3, 4}), {0, 0, 1, 2, 3, 3, 4, 5, 3, 3, 4, 5});
    is("tiled", shape(2, {2, 6}), {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    is("wide", shape(3, {1, 2, 3}), {0, 1, 2, 3, 4, 5});
    is("narrow", shape(2, {2, 3}), {0, 1, 2, 3, 4, 5});
    is("full", shape(2, {1, 0}), {});
    is("zeros", shape(2, {2, 3}), {-1, -1, -1, -1, -1, -1});
    is("ones", shape(2, {2, 3}), {-3, -3, -3, -3, -3, -3});
    is("chosen", shape(2, {2, 3}), {0, -1, 2, -1, -1, 5});
    is("chosen2", shape(2, {2, 3}), {0, -2, 2, -2, -2, 5});
    is("reversed", shape(2, {2, 3}), {5, 4, 3, 2, 1, 0});
    is("back", shape(2, {2, 3}), {0, 1, 2, 3, 4, 5});
    is("diagonal", shape(3, {2, 3, 3}), {0, -1, -1, -1, 1, -1, -1, -1, 2, 3, -1, -1, -1, 4, -1, -1, -1, 5});
    is("spread", shape(2, {2, 2}), {-2, -2, -2, -2});
    is("stopped", shape(2, {2, 3}), {0, 1, 2, 3, 4, 5});
    CHECK(run("count").as<std::int32_t>() == 6);
    CHECK(run("again").bytes() == x.bytes());
  }
}

TEST_CASE("complex numbers: queues, stacks, tensor arrays and lists hold them") {
  for (const std::string type : {"complex64", "complex128"}) {
    INFO(type);
    imported i("x = Placeholder dtype=" + type + " shape=[2]\n"
               "two = Const int32[]{2}\n"
               "zero = Const int32[]{0}\n"
               "one = Const int32[]{1}\n"
               "q = FIFOQueueV2 component_types=(" + type + ") shapes=([2])\n"
               "in = QueueEnqueueV2(q, x) Tcomponents=(" + type + ")\n"
               "in2 = QueueEnqueueV2(q, x, ^in) Tcomponents=(" + type + ")\n"
               "out = QueueDequeueManyV2(q, two, ^in2) component_types=(" + type + ")\n"
               "s = StackV2(two) elem_type=" + type + "\n"
               "push = StackPushV2(s, x) T=" + type + "\n"
               "pop = StackPopV2(s, ^push) elem_type=" + type + "\n"
               "a = TensorArrayV3(two) dtype=" + type + " element_shape=[2]\n"
               "w = TensorArrayWriteV3(a, zero, x, a:1) T=" + type + "\n"
               "w2 = TensorArrayWriteV3(a, one, x, w) T=" + type + "\n"
               "both = Const int32[2]{1,0}\n"
               "rows = TensorArrayGatherV3(a, both, w2) dtype=" + type + "\n"
               "any = Const int32[]{-1}\n"
               "lengths = Const int64[2]{1,1}\n"
               "list = TensorListSplit(x, any, lengths) element_dtype=" + type + " shape_type=int32\n"
               "whole = TensorListConcat(list) element_dtype=" + type + "\n");
    const numbers all{{1, -1}, {2, 0.5}};
    const tensor_value x = type == "complex64" ? tensor_value(singles(all.begin(), all.end())) : tensor_value(all);
    const numbers twice{{1, -1}, {2, 0.5}, {1, -1}, {2, 0.5}};
    CHECK(wide(i.run("out:0", {{"x", x}})) == twice);
    CHECK(wide(i.run("pop:0", {{"x", x}})) == all);
    CHECK(wide(i.run("rows:0", {{"x", x}})) == twice);
    CHECK(wide(i.run("whole:0", {{"x", x}})) == all);
  }
}

TEST_CASE("complex numbers: arithmetic and functions give TensorFlow's numbers") {
  check_node("AddV2", {{1.5, 1}, {-1.5, 2.25}, {0, 0}, {3, -1}}, true);
  check_node("Sub", {{0.5, 3}, {-5.5, -1.75}, {0, 0}, {-3, -1}}, true);
  check_node("Mul", {{2.5, 0}, {-7.5, -6.5}, {0, 0}, {0, -3}}, true);
  check_node("RealDiv", {{-1.2, 1.6}, {-0.8125, 0.9375}, {nan, nan}, {0, -0.33333334}}, true);
  check_node("Div", {{-1.2, 1.6}, {-0.8125, 0.9375}, {nan, nan}, {0, -0.33333334}}, true);
  check_node("DivNoNan", {{-1.2, 1.6}, {-0.8125, 0.9375}, {0, 0}, {0, -0.33333334}}, true);
  check_node("SquaredDifference", {{9.25, 0}, {33.3125, 0}, {0, 0}, {10, 0}}, true);
  // 0^0 is 1, as for real numbers; TensorFlow's is NaN.
  check_node("Pow", {{4.3825650, -1.1243975}, {-0.018970655, 0.01852796}, {1, 0}, {0, 1}}, true);
  check_node("Neg", {{-1, -2}, {3.5, -0.25}, {0, 0}, {0, 1}});
  check_node("Conj", {{1, -2}, {-3.5, -0.25}, {0, 0}, {0, 1}});
  check_node("Square", {{-3, 4}, {12.1875, -1.75}, {0, 0}, {-1, 0}});
  check_node("Reciprocal", {{0.2, -0.4}, {-0.28426397, -0.02030457}, {nan, nan}, {0, 1}});
  check_node("Inv", {{0.2, -0.4}, {-0.28426397, -0.02030457}, {nan, nan}, {0, 1}});
  check_node("Sqrt", {{1.2720196, 0.7861514}, {0.0667728, 1.8720199}, {0, 0}, {0.70710677, -0.70710677}});
  check_node("Exp", {{-1.1312042, 2.4717267}, {0.02925862, 0.00747095}, {1, 0}, {0.5403023, -0.84147096}});
  check_node("Log", {{0.804719, 1.1071488}, {1.2553076, 3.0702853}, {-std::numeric_limits<double>::infinity(), 0}, {0, -1.5707964}});
  check_node("Sin", {{3.1657786, 1.9596009}, {0.3618024, -0.2365605}, {0, 0}, {0, -1.1752012}});
  check_node("Cos", {{2.032723, -3.0518978}, {-0.96587366, -0.08861217}, {1, 0}, {1.5430806, 0}});
  check_node("Tan", {{0.03381282, 1.0147936}, {-0.34917712, 0.27695325}, {0, 0}, {0, -0.7615941}});
  check_node("Sinh", {{-0.48905626, 1.4031192}, {-16.028357, 4.1001825}, {0, 0}, {0, -0.84147096}});
  check_node("Cosh", {{-0.64214814, 1.0686073}, {16.057615, -4.0927114}, {1, 0}, {0.5403023, 0}});
  check_node("Tanh", {{1.1667362, -0.24345821}, {-0.99840045, 0.00087296119}, {0, 0}, {0, -1.5574077}});
  check_node("Sigmoid", {{1.0214154, 0.4034387}, {0.02847807, 0.00705187}, {0.5, 0}, {0.5, -0.27315122}});
  check_node("Sign", {{0.4472136, 0.8944272}, {-0.99745876, 0.07124705}, {0, 0}, {0, -1}});
  check_node("Expm1", {{-2.1312041, 2.4717267}, {-0.9707414, 0.00747095}, {0, 0}, {-0.45969772, -0.84147096}});
  check_node("Log1p", {{1.0397208, 0.7853982}, {0.9212659, 3.041924}, {0, 0}, {0.34657356, -0.7853982}});
  check_node("Asin", {{0.42707852, 1.528571}, {-1.4964164, 1.9277362}, {0, 0}, {0, -0.88137364}});
  check_node("Acos", {{1.1437178, -1.528571}, {3.0672128, -1.9277362}, {1.5707964, 0}, {1.5707964, 0.88137364}});
  check_node("Asinh", {{1.4693516, 1.06344}, {-1.967984, 0.06858472}, {0, 0}, {0, -1.5707964}});
  check_node("Acosh", {{1.528571, 1.1437178}, {1.9277362, 3.0672128}, {0, 1.5707964}, {0.88137364, -1.5707964}});
  check_node("Atanh", {{0.1732868, 1.1780972}, {-0.29217616, 1.5487113}, {0, 0}, {0, -0.7853982}});

  graph g;
  const default_graph_scope here(g);
  const output x = constant(numbers{{3, 4}, {-1, 0}, {0, -2}});
  graph_session session(g);
  const auto run = [&](const output& y) { return session.run(y).as<std::vector<double>>(); };
  CHECK(run(abs(x)) == std::vector<double>{5, 1, 2});
  CHECK(abs(x).operation().type() == "ComplexAbs");
  CHECK(run(real(x)) == std::vector<double>{3, -1, 0});
  CHECK(run(imag(x)) == std::vector<double>{4, 0, -2});
  CHECK(run(angle(x)) == std::vector<double>{std::atan2(4.0, 3.0), std::acos(-1.0), -std::acos(-1.0) / 2});
  CHECK(session.run(complex(real(x), 2.0)).as<numbers>() == numbers{{3, 2}, {-1, 2}, {0, 2}});
  CHECK(session.run(equal(x, conj(conj(x)))).as<std::vector<bool>>() == std::vector<bool>{true, true, true});
  CHECK(session.run(not_equal(x, conj(x))).as<std::vector<bool>>() == std::vector<bool>{true, false, true});
  const output r = constant({1.5, -2.0});
  CHECK(real(r).index() == r.index());
  CHECK(conj(r).index() == r.index());
  CHECK(run(imag(r)) == std::vector<double>{0, 0});
  CHECK(run(angle(r)) == std::vector<double>{0, std::acos(-1.0)});
  // Large and small numbers: no intermediate result of complex64 overflows.
  const output large = constant(singles{{1e30f, 1e30f}, {1e-30f, 1e-30f}}), by = constant(singles{{1e-30f, 1e30f}, {3e-30f, 0}});
  const auto divided = session.run(divide(large, by)).as<singles>();
  CHECK(divided[0] == single(1, -1));
  CHECK(std::abs(divided[1] - single(1.0f / 3, 1.0f / 3)) < 1e-7f);
  CHECK(session.run(abs(large)).as<std::vector<float>>()[0] == 1.41421356e30f);
}

TEST_CASE("complex numbers: operands broadcast") {
  graph g;
  const default_graph_scope here(g);
  graph_session session(g);
  // Element by element, against the definition.
  const std::vector<std::vector<std::int64_t>> shapes{{}, {1}, {3}, {2, 1}, {2, 3}, {1, 3}, {4, 1, 3}, {4, 2, 1}, {4, 2, 3}, {4, 1, 1}};
  int wrong = 0;
  for (const auto& a : shapes)
    for (const auto& b : shapes) {
      shape sa, sb;
      for (const auto n : a) sa.push(n);
      for (const auto n : b) sb.push(n);
      const auto filled = [](const shape& s, double seed) {
        numbers all;
        for (std::int64_t i = 0; i < s.elements(); ++i) all.push_back({seed + static_cast<double>(i), seed - static_cast<double>(2 * i)});
        return tensor_value(s, all);
      };
      const tensor_value va = filled(sa, 1), vb = filled(sb, 0.5);
      const output x = placeholder(complex128_dtype, shape_value(sa)), y = placeholder(complex128_dtype, shape_value(sb));
      const tensor_value got = session.run(x - y, {{x, va}, {y, vb}});
      const shape whole = broadcast(sa, sb).extent;
      wrong += !(got.extent() == whole);
      const auto at = [&](const tensor_value& v, std::int64_t i) {
        std::int64_t place = 0, step = 1;
        for (int k = 1; k <= whole.rank; ++k) {
          const std::int64_t index = i % whole[whole.rank - k];
          i /= whole[whole.rank - k];
          if (k > v.extent().rank) continue;
          const std::int64_t size = v.extent()[v.extent().rank - k];
          place += size == 1 ? 0 : index * step;
          step *= size;
        }
        return v.values<number>()[static_cast<std::size_t>(place)];
      };
      for (std::int64_t i = 0; i < got.elements(); ++i)
        wrong += got.values<number>()[static_cast<std::size_t>(i)] != at(va, i) - at(vb, i);
    }
  CHECK(wrong == 0);
  const output x = placeholder(complex64_dtype), y = placeholder(complex64_dtype);
  CHECK(says(message_of<invalid_argument>([&] { session.run(x * y, {{x, singles(2)}, {y, singles(3)}}); }), "[2] vs. [3]", "(Mul)"));
}

TEST_CASE("complex numbers: sums, products and matrices give TensorFlow's numbers") {
  for (const std::string type : {"complex64", "complex128"}) {
    INFO(type);
    imported i("a = Placeholder dtype=" + type + " shape=[2,3]\n"
               "i = Placeholder dtype=" + type + " shape=[3]\n"
               "one = Const int32[]{1}\n"
               "zero = Const int32[]{0}\n"
               "all = Const int32[2]{0,1}\n"
               "turn = Const int32[2]{1,0}\n"
               "same = Const int32[2]{0,0}\n"
               "ones = Const int32[2]{1,1}\n"
               "three = Const int32[]{3}\n"
               "many = ExpandDims(a, zero) T=" + type + "\n"
               "sum = Sum(a, one) T=" + type + "\n"
               "mean = Mean(a, all) T=" + type + "\n"
               "prod = Prod(a, zero) T=" + type + "\n"
               "whole = Prod(a, all) T=" + type + " keep_dims=true\n"
               "cumsum = Cumsum(a, one) T=" + type + "\n"
               "cumprod = Cumprod(a, one) T=" + type + " exclusive=true reverse=true\n"
               "matmul = MatMul(a, a) T=" + type + " transpose_b=true\n"
               "adjoint = BatchMatMulV2(a, a) T=" + type + " adj_y=true\n"
               "older = BatchMatMul(many, many) T=" + type + " adj_x=true\n"
               "einsum = Einsum(a, a) N=2 T=" + type + " equation=\"ij,kj->ik\"\n"
               "turned = ConjugateTranspose(a, turn) T=" + type + "\n"
               "bias = BiasAdd(a, i) T=" + type + "\n"
               "segments = SegmentSum(a, same) T=" + type + " Tindices=int32\n"
               "unsorted = UnsortedSegmentSum(a, ones, three) T=" + type + " Tindices=int32\n"
               "addn = AddN(a, a, a) N=3 T=" + type + "\n");
    const numbers all{{0, 5}, {1, 4}, {2, 3}, {3, 2}, {4, 1}, {5, 0}}, bias{{0, 1}, 2, 3};
    const auto given = [&](const numbers& n, const shape& s) {
      return type == "complex64" ? tensor_value(s, singles(n.begin(), n.end())) : tensor_value(s, n);
    };
    const auto is = [&](const char* name, const shape& extent, const numbers& wanted) {
      INFO(name);
      const tensor_value v = i.run(std::string(name) + ":0", {{"a", given(all, shape(2, {2, 3}))}, {"i", given(bias, shape(1, {3}))}});
      CHECK(v.extent() == extent);
      CHECK(wide(v) == wanted);
    };
    is("sum", shape(1, {2}), {{3, 12}, {12, 3}});
    is("mean", shape{}, {{2.5, 2.5}});
    is("prod", shape(1, {3}), {{-10, 15}, {0, 17}, {10, 15}});
    is("whole", shape(2, {1, 1}), {number(-10, 15) * number(0, 17) * number(10, 15)});
    is("cumsum", shape(2, {2, 3}), {{0, 5}, {1, 9}, {3, 12}, {3, 2}, {7, 3}, {12, 3}});
    is("cumprod", shape(2, {2, 3}), {{-10, 11}, {2, 3}, {1, 0}, {20, 5}, {5, 0}, {1, 0}});
    is("matmul", shape(2, {2, 2}), {{-45, 20}, {0, 47}, {0, 47}, {45, 20}});
    is("adjoint", shape(2, {2, 2}), {{55, 0}, {28, 45}, {28, -45}, {55, 0}});
    is("older", shape(3, {1, 3, 3}),
       {{38, 0}, {34, -10}, {30, -20}, {34, 10}, {34, 0}, {34, -10}, {30, 20}, {34, 10}, {38, 0}});
    is("einsum", shape(2, {2, 2}), {{-45, 20}, {0, 47}, {0, 47}, {45, 20}});
    is("turned", shape(2, {3, 2}), {{0, -5}, {3, -2}, {1, -4}, {4, -1}, {2, -3}, {5, 0}});
    is("bias", shape(2, {2, 3}), {{0, 6}, {3, 4}, {5, 3}, {3, 3}, {6, 1}, {8, 0}});
    is("segments", shape(2, {1, 3}), {{3, 7}, {5, 5}, {7, 3}});
    is("unsorted", shape(2, {3, 3}), {0, 0, 0, {3, 7}, {5, 5}, {7, 3}, 0, 0, 0});
    is("addn", shape(2, {2, 3}), {{0, 15}, {3, 12}, {6, 9}, {9, 6}, {12, 3}, {15, 0}});
  }
}

TEST_CASE("complex numbers: Cast takes the real part, and gives imaginary parts of 0") {
  const auto cast_to = [](const tensor_value& x, const std::string& from, const std::string& to) {
    imported i("x = Placeholder dtype=" + from + " shape=[-1]\ny = Cast(x) SrcT=" + from + " DstT=" + to + "\n");
    return i.run("y:0", {{"x", x}});
  };
  const tensor_value x(singles{{1.75f, 2}, {-3.5f, 0}, {0, 2}, {300, 0}});
  CHECK(cast_to(x, "complex64", "float32").as<std::vector<float>>() == std::vector<float>{1.75f, -3.5f, 0, 300});
  CHECK(cast_to(x, "complex64", "float64").as<std::vector<double>>() == std::vector<double>{1.75, -3.5, 0, 300});
  CHECK(cast_to(x, "complex64", "int32").as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{1, -3, 0, 300});
  CHECK(cast_to(x, "complex64", "bool").as<std::vector<bool>>() == std::vector<bool>{true, true, false, true});
  CHECK(cast_to(x, "complex64", "complex128").as<numbers>() == numbers{{1.75, 2}, {-3.5, 0}, {0, 2}, {300, 0}});
  CHECK(cast_to(x, "complex64", "half").widened().as<std::vector<float>>() == std::vector<float>{1.75f, -3.5f, 0, 300});
  CHECK(cast_to(x, "complex64", "int8").widened().as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{1, -3, 0, 44});
  CHECK(cast_to(numbers{{0.1, 1e300}}, "complex128", "complex64").as<singles>()[0] ==
        single(0.1f, std::numeric_limits<float>::infinity()));
  CHECK(cast_to(std::vector<std::int32_t>{1, -2}, "int32", "complex64").as<singles>() == singles{1, -2});
  CHECK(cast_to(std::vector<bool>{true, false}, "bool", "complex128").as<numbers>() == numbers{1, 0});
  CHECK(cast_to(tensor_value(std::vector<float>{1.5f}).narrowed(data_type::half), "half", "complex64").as<singles>() == singles{1.5f});
  CHECK(cast_to(tensor_value(std::vector<std::int64_t>{-1}).narrowed(data_type::uint64), "uint64", "complex128").as<numbers>() ==
        numbers{0x1p64});
  CHECK(cast_to(std::vector<double>{0.1}, "float64", "complex64").as<singles>() == singles{0.1f});
}

TEST_CASE("complex numbers: variables of both kinds are assigned, changed, read, saved and restored") {
  const char* text =
      "two = Const complex64[2]{1,2,3,-4}\n"
      "rate = Const complex64[]{0,1}\n"
      "v = VariableV2 dtype=complex64 shape=[2]\n"
      "set = Assign(v, two) T=complex64\n"
      "add = AssignAdd(v, two) T=complex64\n"
      "down = ApplyGradientDescent(v, rate, two) T=complex64\n"
      "h = VarHandleOp dtype=complex128 shape=[3]\n"
      "big = Const complex128[3]{1,2,3,4,5,6}\n"
      "put = AssignVariableOp(h, big) dtype=complex128\n"
      "more = AssignAddVariableOp(h, big) dtype=complex128\n"
      "less = AssignSubVariableOp(h, big) dtype=complex128\n"
      "get = ReadVariableOp(h) dtype=complex128\n"
      "i = Const int32[2]{2,0}\n"
      "rows = ResourceGather(h, i) dtype=complex128 Tindices=int32\n"
      "one = Const int32[1]{1}\n"
      "row = Const complex64[1]{7,8}\n"
      "placed = ScatterUpdate(v, one, row) T=complex64 Tindices=int32\n";
  imported a(text);
  a.session->run({"set", "put"});
  CHECK(a.run("add:0").as<singles>() == singles{{2, 4}, {6, -8}});
  CHECK(a.run("down:0").as<singles>() == singles{{4, 3}, {2, -11}});  // v - i (1 + 2i), v - i (3 - 4i)
  CHECK(a.run("placed:0").as<singles>() == singles{{4, 3}, {7, 8}});
  a.session->run({"more"});
  CHECK(a.run("get:0").as<numbers>() == numbers{{2, 4}, {6, 8}, {10, 12}});
  CHECK(a.run("rows:0").as<numbers>() == numbers{{10, 12}, {2, 4}});
  a.session->run({"less"});
  CHECK(a.run("get:0").as<numbers>() == numbers{{1, 2}, {3, 4}, {5, 6}});
  CHECK(says(message_of<failed_precondition>([&] { imported(text).run("add:0"); }), "uninitialized value v"));

  const leat_test::scratch_folder folder("complex_numbers");
  for (const checkpoint_format format : {checkpoint_format::leat, checkpoint_format::tensorflow}) {
    const std::string path = saver(a.g, {.format = format}).save(*a.session, (folder.path / "model").string());
    imported b(text);
    saver(b.g).restore(*b.session, path, {.exact = true});
    CHECK(b.run("v:0").as<singles>() == singles{{4, 3}, {7, 8}});
    CHECK(b.run("get:0").as<numbers>() == numbers{{1, 2}, {3, 4}, {5, 6}});
  }

  graph g;
  const default_graph_scope here(g);
  const output w = variable(singles{{1, 1}, {2, -2}}, "w");
  const output step = assign_sub(w, constant(singles{{0, 1}, {1, 0}}));
  graph_session session(g);
  session.run(global_variables_initializer());
  CHECK(session.run(step).as<singles>() == singles{{1, 0}, {1, -2}});
  session.assign(w, singles{{5, 6}, {7, 8}});
  CHECK(session.value(w).as<singles>() == singles{{5, 6}, {7, 8}});
}

TEST_CASE("complex numbers: elements stand in files in TensorFlow's fields") {
  const tensor_proto one = tensor_value(single(1, -2)).proto();
  CHECK(one.field == tensor_field::scomplex_val);
  CHECK(one.bytes.size() == 8);
  CHECK(tensor_value(number(1, -2)).proto().field == tensor_field::dcomplex_val);
  CHECK(tensor_value(numbers{{1, -2}, {3, 4}}).proto().field == tensor_field::tensor_content);
  for (const numbers& all : {numbers{}, numbers{{1, -2}}, numbers{{1, -2}, {0.5, 3}, {0, -1}}})
    for (const tensor_value& v : {tensor_value(all), tensor_value(singles(all.begin(), all.end()))}) {
      CHECK(problem_of(v.proto()).empty());
      const tensor_value back = tensor_value::from_proto(v.proto());
      CHECK(back.type() == v.type());
      CHECK(wide(back) == all);
      const std::string file = io::write_npy(v.proto());
      CHECK(file.find(v.type() == complex64_dtype ? "'<c8'" : "'<c16'") != file.npos);
      CHECK(wide(tensor_value::from_proto(io::read_npy(file))) == all);
    }
  // Big endian, of the same array: the parts' bytes are exchanged, not the parts.
  std::string file = io::write_npy(tensor_value(numbers{{1, -2}, {0.5, 3}}).proto());
  file.replace(file.find("'<c16'"), 6, "'>c16'");
  for (std::size_t at = file.size() - 32; at < file.size(); at += 8)
    std::reverse(file.begin() + static_cast<std::ptrdiff_t>(at), file.begin() + static_cast<std::ptrdiff_t>(at + 8));
  CHECK(tensor_value::from_proto(io::read_npy(file)).as<numbers>() == numbers{{1, -2}, {0.5, 3}});
  // One value may stand for all.
  tensor_proto repeated = one;
  repeated.shape.dims.push_back({3, {}});
  CHECK(tensor_value::from_proto(repeated).as<singles>() == singles(3, single(1, -2)));
  repeated.bytes.resize(4);
  CHECK(says(message_of<invalid_argument>([&] { tensor_value::from_proto(repeated); }), "scomplex_val ends in half a value"));
  tensor_proto cut{.dtype = data_type::complex128, .field = tensor_field::tensor_content, .bytes = std::string(15, 'x')};
  CHECK(says(message_of<invalid_argument>([&] { tensor_value::from_proto(cut); }), "15 bytes"));
}

TEST_CASE("complex numbers: the other nodes of a plan run in fused parts, with the same numbers") {
  graph g;
  const default_graph_scope here(g);
  const output x = placeholder(dtype::float32, {64}, "x");
  const output before = exp(x * 0.1f) - square(x) * 0.01f;
  const output z = complex(before, sin(x)) * single(0.5f, -1);
  const output after = tanh(abs(z)) * 2.0f + sqrt(square(real(z)) + 1.0f);
  std::vector<float> given;
  for (int k = 0; k < 64; ++k) given.push_back(0.2f * static_cast<float>(k) - 5);
  graph_session fused(g), alone(g, {.fuse = false});
  const auto a = fused.run(after, {{x, given}}).as<std::vector<float>>(), b = alone.run(after, {{x, given}}).as<std::vector<float>>();
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double t = static_cast<double>(given[k]);
    const number c = number(std::exp(0.1 * t) - 0.01 * t * t, std::sin(t)) * number(0.5, -1);
    const double wanted = 2 * std::tanh(std::abs(c)) + std::sqrt(c.real() * c.real() + 1);
    CHECK(std::abs(static_cast<double>(a[k]) - wanted) < 2e-6);
    CHECK(std::abs(a[k] - b[k]) < 1e-6f);
  }
}

TEST_CASE("complex numbers: what has no kernel, and what does not fit, are errors that name the node") {
  imported i(
      "c = Placeholder dtype=complex64 shape=[]\n"
      "d = Placeholder dtype=complex128 shape=[-1]\n"
      "l = FloorDiv(c, c) T=complex64\n"
      "r = Relu(d) T=complex128\n"
      "m = Max(d, z) T=complex128\n"
      "z = Const int32[]{0}\n"
      "s = RandomShuffle(d) T=complex128\n"
      "a = AddV2(d, d2) T=complex128\n"
      "d2 = Placeholder dtype=complex128 shape=[-1]\n");
  CHECK(says(message_of<unimplemented>([&] { i.run("l:0", {{"c", 1}}); }), "no kernel of FloorDiv for dtype complex64", "'l' (FloorDiv)"));
  CHECK(says(message_of<unimplemented>([&] { i.run("r:0", {{"d", numbers(1)}}); }), "no kernel of Relu for dtype complex128", "'r' (Relu)"));
  CHECK(says(message_of<unimplemented>([&] { i.run("m:0", {{"d", numbers(1)}}); }), "no kernel of Max for dtype complex128"));
  CHECK(says(message_of<unimplemented>([&] { i.run("s:0", {{"d", numbers(1)}}); }), "no kernel of RandomShuffle for dtype complex128"));
  CHECK(says(message_of<invalid_argument>([&] { i.run("a:0", {{"d", numbers(2)}, {"d2", numbers(3)}}); }), "[2] vs. [3]", "'a' (AddV2)",
             "input 0: complex128 [2]"));
  CHECK(says(message_of([] { imported("c = Const complex64[2]{}\nd = Const float32[2]{}\ny = Mul(c, d) T=complex64\n"); }), "'y' (Mul)",
             "complex64"));
  imported limited("n = Const int32[1]{4000000}\nv = Const complex128[]{1,2}\ny = Fill(n, v) T=complex128\nz = Exp(y) T=complex128\n",
                   {.memory_limit_in_bytes = 1 << 20});
  CHECK(says(message_of<resource_exhausted>([&] { limited.run("z:0"); }), "memory_limit_in_bytes", "'y' (Fill)"));
}

}  // namespace complex_numbers_tests
