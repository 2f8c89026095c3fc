// half, bfloat16, int8, int16, uint16, uint32 and uint64 in runs: their conversions, arithmetic in wide kernels, variables, casts, files
// and errors.

#include <leat/checkpoint.hpp>
#include <leat/graphs.hpp>
#include <leat/io/npy.hpp>
#include <leat/proto/narrow_floats.hpp>
#include <leat/session/graph_session.hpp>

#include "support/graph_text.hpp"
#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace narrow_dtypes_tests {

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

constexpr dtype of(data_type type) { return static_cast<dtype>(type); }

tensor_value reals(data_type type, const std::vector<float>& numbers) { return tensor_value(numbers).narrowed(type); }
tensor_value integers_of(data_type type, const std::vector<std::int64_t>& numbers) { return tensor_value(numbers).narrowed(type); }
std::vector<float> reals(const tensor_value& v) { return v.widened().as<std::vector<float>>(); }
std::vector<std::int64_t> whole(const tensor_value& v) {
  const tensor_value wide = v.widened();
  if (wide.type() == dtype::int64) return wide.as<std::vector<std::int64_t>>();
  const auto all = wide.as<std::vector<std::int32_t>>();
  return {all.begin(), all.end()};
}

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

// A node `y` of two operands of one dtype.
tensor_value of_two(const std::string& op, const std::string& type, const tensor_value& a, const tensor_value& b) {
  imported i("a = Placeholder dtype=" + type + " shape=[-1]\nb = Placeholder dtype=" + type + " shape=[-1]\ny = " + op +
             "(a, b) T=" + type + "\n");
  return i.run("y:0", {{"a", a}, {"b", b}});
}

}  // namespace

TEST_CASE("narrow dtypes: every half and bfloat16 is a float, and that float the same half") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto b = static_cast<std::uint16_t>(bits);
    wrong += half_of_float(float_of_half(b)) != b;
    wrong += bfloat16_of_float(float_of_bfloat16(b)) != b;
    const int exponent = b >> 10 & 31, fraction = b & 1023;
    const float value = float_of_half(b);
    if (exponent == 31) {
      wrong += fraction == 0 ? !std::isinf(value) : !std::isnan(value);
    } else {
      const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      wrong += std::fabs(value) != size;
    }
    wrong += std::signbit(value) != (b >> 15 != 0);
  }
  CHECK(wrong == 0);
}

TEST_CASE("narrow dtypes: a float between two halves becomes the nearer, one in the middle the even") {
  int wrong = 0;
  const auto check = [&](std::uint16_t low, float a, float b, auto to_bits, auto sign) {
    const float middle = static_cast<float>((static_cast<double>(a) + static_cast<double>(b)) / 2);
    const auto high = static_cast<std::uint16_t>(low + 1), even = (low & 1) != 0 ? high : low;
    const auto bits = [&](float x) { return to_bits(sign ? -x : x); };
    const auto with_sign = [&](std::uint16_t x) { return static_cast<std::uint16_t>(x | (sign ? 0x8000 : 0)); };
    wrong += bits(middle) != with_sign(even);
    wrong += bits(std::nextafter(middle, 0.0f)) != with_sign(low);
    wrong += bits(std::nextafter(middle, std::numeric_limits<float>::infinity())) != with_sign(high);
  };
  for (const bool sign : {false, true}) {
    for (std::uint16_t low = 0; low < 0x7bff; ++low)
      check(low, float_of_half(low), float_of_half(static_cast<std::uint16_t>(low + 1)), half_of_float, sign);
    check(0x7bff, 65504, 65536, half_of_float, sign);  // beyond the middle is infinity
    for (std::uint16_t low = 0; low < 0x7f7f; ++low)
      check(low, float_of_bfloat16(low), float_of_bfloat16(static_cast<std::uint16_t>(low + 1)), bfloat16_of_float, sign);
  }
  CHECK(wrong == 0);
  CHECK(half_of_float(std::numeric_limits<float>::max()) == 0x7c00);
  CHECK(bfloat16_of_float(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(half_of_float(std::numeric_limits<float>::quiet_NaN()) == 0x7e00);
  CHECK(half_of_float(std::bit_cast<float>(0x7f800001u)) == 0x7e00);  // a NaN whose upper bits are zero stays one
  CHECK(bfloat16_of_float(std::bit_cast<float>(0xff800001u)) == 0xffc0);
  CHECK(half_of_float(0x1p-149f) == 0);
}

TEST_CASE("narrow dtypes: values are made from floats and integers, and read as such") {
  const tensor_value h = reals(data_type::half, {1, 2049, 1e6f, 1e-8f});
  CHECK(h.type() == of(data_type::half));
  CHECK(h.bytes() == 8);
  CHECK(reals(h) == std::vector<float>{1, 2048, std::numeric_limits<float>::infinity(), 0});
  CHECK(whole(integers_of(data_type::int8, {127, 128, -129, 256})) == std::vector<std::int64_t>{127, -128, 127, 0});
  CHECK(whole(integers_of(data_type::int16, {32768})) == std::vector<std::int64_t>{-32768});
  CHECK(whole(integers_of(data_type::uint16, {-1, 65536})) == std::vector<std::int64_t>{65535, 0});
  CHECK(whole(integers_of(data_type::uint32, {-1, 4294967296})) == std::vector<std::int64_t>{4294967295, 0});
  CHECK(whole(integers_of(data_type::uint64, {-1})) == std::vector<std::int64_t>{-1});
  CHECK(tensor_value(2.5f).widened().as<float>() == 2.5f);
  CHECK(summary_text(h) == "[1 2048 inf...]");
  CHECK(summary_text(integers_of(data_type::uint64, {-1, 2})) == "[18446744073709551615 2]");
  CHECK(
      says(message_of<invalid_argument>([&] { h.as<std::vector<float>>(); }), "half was taken as float32; widened() gives it as float32"));
  CHECK(says(message_of<invalid_argument>([] { tensor_value(1.5f).narrowed(data_type::int8); }), "float32", "int8", "Cast"));
  CHECK(says(message_of<invalid_argument>([] { tensor_value(1).narrowed(data_type::complex64); }), "complex64 is none of half"));
}

TEST_CASE("narrow dtypes: integers wrap, real numbers round, and unsigned numbers keep their order") {
  using numbers = std::vector<std::int64_t>;
  const auto run = [](const std::string& op, data_type type, const numbers& a, const numbers& b) {
    return whole(of_two(op, lower_name_of_data_type(type), integers_of(type, a), integers_of(type, b)));
  };
  CHECK(run("AddV2", data_type::int8, {100, -100}, {100, -100}) == numbers{-56, 56});
  CHECK(run("Mul", data_type::int16, {300, -2}, {300, 5}) == numbers{90000 - 65536, -10});
  CHECK(run("AddV2", data_type::uint16, {65535, 1}, {2, 1}) == numbers{1, 2});
  CHECK(run("Sub", data_type::uint32, {1, 5}, {2, 2}) == numbers{4294967295, 3});
  CHECK(run("Mul", data_type::uint32, {4294967295}, {4294967295}) == numbers{1});
  CHECK(run("Maximum", data_type::uint32, {4294967295, 3}, {1, 4}) == numbers{4294967295, 4});
  CHECK(run("Minimum", data_type::uint16, {65535}, {1}) == numbers{1});
  CHECK(run("FloorDiv", data_type::int8, {-7, 7}, {2, -2}) == numbers{-4, -4});
  CHECK(run("LeftShift", data_type::int8, {1, 1}, {3, 9}) == numbers{8, -128});  // by 7 at most, as in TensorFlow
  CHECK(run("RightShift", data_type::uint32, {4294967295}, {28}) == numbers{15});
  CHECK(run("RightShift", data_type::uint16, {32768}, {40}) == numbers{1});
  CHECK(run("AddV2", data_type::uint64, {-1}, {3}) == numbers{2});
  CHECK(run("Maximum", data_type::uint64, {-1, 7}, {1, 5}) == numbers{-1, 7});

  CHECK(reals(of_two("AddV2", "half", reals(data_type::half, {2048, 2050, 65504}), reals(data_type::half, {1, 1, 65504}))) ==
        std::vector<float>{2048, 2052, std::numeric_limits<float>::infinity()});
  CHECK(reals(of_two("RealDiv", "bfloat16", reals(data_type::bfloat16, {1}), reals(data_type::bfloat16, {3}))) ==
        std::vector<float>{float_of_bfloat16(bfloat16_of_float(1.0f / 3.0f))});
  CHECK(
      of_two("Less", "uint32", integers_of(data_type::uint32, {1, -1}), integers_of(data_type::uint32, {-1, 1})).as<std::vector<bool>>() ==
      std::vector<bool>{true, false});
}

TEST_CASE("narrow dtypes: sums are rounded once, and reductions, positions and shapes have the dtypes of TensorFlow") {
  imported i(
      "x = Placeholder dtype=half shape=[2,-1]\n"
      "k = Placeholder dtype=int8 shape=[-1]\n"
      "axis = Const int32[]{1}\n"
      "zero = Const int32[]{0}\n"
      "s = Sum(x, axis) T=half\n"
      "at = ArgMax(x, axis) T=half\n"
      "soft = Softmax(x) T=half\n"
      "n = Shape(x) T=half\n"
      "least = Max(k, zero) T=int8\n"
      "t = MatMul(x, x) T=half transpose_b=true\n"
      "relu = Relu(x) T=half\n");
  const tensor_value x = reals(data_type::half, {2048, 1, 1, 1, 0, -1}).reshaped(shape(2, {2, 3}));
  CHECK(reals(i.run("s:0", {{"x", x}})) == std::vector<float>{2050, 0});  // in halves, one by one, it were 2048
  CHECK(i.run("at:0", {{"x", x}}).as<std::vector<std::int64_t>>() == std::vector<std::int64_t>{0, 0});
  CHECK(i.run("n:0", {{"x", x}}).as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{2, 3});
  CHECK(i.run("soft:0", {{"x", x}}).type() == of(data_type::half));
  CHECK(reals(i.run("t:0", {{"x", x}}))[3] == 2);
  CHECK(reals(i.run("relu:0", {{"x", x}})) == std::vector<float>{2048, 1, 1, 1, 0, 0});
  CHECK(whole(i.run("least:0", {{"k", integers_of(data_type::int8, {})}})) == std::vector<std::int64_t>{-128});
  // Numbers and lists that a feed writes out take the tensor's dtype: real numbers are rounded, integers must fit.
  CHECK(reals(i.run("s:0", {{"x", tensor_literal(shape(2, {2, 1}), std::vector<float>{2049, 0.5f})}})) == std::vector<float>{2048, 0.5f});
  CHECK(whole(i.run("least:0", {{"k", tensor_literal(std::vector<int>{3, -128})}})) == std::vector<std::int64_t>{3});
  CHECK(says(message_of([&] { i.run("least:0", {{"k", tensor_literal(std::vector<int>{128})}}); }), "int8"));
  CHECK(says(message_of<invalid_argument>([&] { i.run("s:0", {{"x", tensor_value({2, 1}, std::vector<float>{1, 2})}}); }),
             "Cannot feed a value of float32 for Tensor 'x:0', which has dtype half"));
}

TEST_CASE("narrow dtypes: Cast converts between all dtypes, and Bitcast reads the bits") {
  const auto cast = [](const tensor_value& x, const std::string& from, const std::string& to, const std::string& more = "") {
    imported i("x = Placeholder dtype=" + from + " shape=[-1]\ny = Cast(x) SrcT=" + from + " DstT=" + to + more + "\n");
    CHECK(i.g.at(get_operation_by_name(i.g, "y").index()).result.type == of(*data_type_by_name("DT_" + [&] {
            std::string upper = to == "float32" ? "float" : to == "float64" ? "double" : to;
            for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            return upper;
          }())));
    return i.run("y:0", {{"x", x}});
  };
  CHECK(whole(cast(std::vector<float>{1.9f, -1.9f, 300}, "float32", "int8")) == std::vector<std::int64_t>{1, -1, 44});
  CHECK(cast(reals(data_type::half, {2.5f, -3}), "half", "int32").as<std::vector<int>>() == std::vector<int>{2, -3});
  CHECK(cast(reals(data_type::half, {2.5f}), "half", "float32").as<std::vector<float>>() == std::vector<float>{2.5f});
  CHECK(reals(cast(std::vector<int>{2049, 7}, "int32", "half")) == std::vector<float>{2048, 7});
  CHECK(reals(cast(reals(data_type::half, {1.0009765625f}), "half", "bfloat16")) == std::vector<float>{1});
  CHECK(whole(cast(std::vector<std::int64_t>{-1}, "int64", "uint32")) == std::vector<std::int64_t>{4294967295});
  CHECK(cast(integers_of(data_type::uint16, {0, 9}), "uint16", "bool").as<std::vector<bool>>() == std::vector<bool>{false, true});
  CHECK(cast(integers_of(data_type::uint64, {-1}), "uint64", "float64").as<std::vector<double>>() == std::vector<double>{0x1p64});
  CHECK(whole(cast(std::vector<double>{0x1p63}, "float64", "uint64")) ==
        std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
  CHECK(whole(cast(integers_of(data_type::int8, {-1}), "int8", "uint64")) == std::vector<std::int64_t>{-1});
  CHECK(reals(cast(std::vector<float>{1.99951171875f}, "float32", "bfloat16", " Truncate=true")) == std::vector<float>{1.9921875f});

  imported bits(
      "x = Placeholder dtype=half shape=[-1]\n"
      "y = Bitcast(x) T=half type=uint16\n"
      "f = Placeholder dtype=float32 shape=[]\n"
      "z = Bitcast(f) T=float32 type=bfloat16\n");
  CHECK(whole(bits.run("y:0", {{"x", reals(data_type::half, {1, -2})}})) == std::vector<std::int64_t>{0x3c00, 0xc000});
  CHECK(reals(bits.run("z:0", {{"f", 1.0f}})) == std::vector<float>{0, 1});
}

TEST_CASE("narrow dtypes: DecodeRaw reads them from bytes, of either order") {
  const auto read = [](const std::string& bytes, const char* type, const char* is_little) {
    imported i(std::string("t = Placeholder dtype=string shape=[1]\ny = DecodeRaw(t) out_type=") + type + " little_endian=" + is_little +
               "\n");
    return i.run("y:0", {{"t", tensor_value(std::vector<std::string>{bytes})}});
  };
  const tensor_value v = read(std::string("\x01\x00\xff\xff", 4), "uint16", "true");
  CHECK(v.extent() == shape(2, {1, 2}));
  CHECK(whole(v) == std::vector<std::int64_t>{1, 65535});
  CHECK(whole(read(std::string("\xff\xfe\x00\x02", 4), "int16", "false")) == std::vector<std::int64_t>{-2, 2});
  CHECK(says(message_of<invalid_argument>([&] { read("abc", "int16", "true"); }), "not a multiple of 2, the size of int16"));
}

TEST_CASE("narrow dtypes: variables of both kinds are assigned, changed, read, saved and restored") {
  const char* text =
      "two = Const half[2]{16384,16384}\n"  // by its bits: 2
      "v = VariableV2 dtype=half shape=[2]\n"
      "set = Assign(v, two) T=half\n"
      "add = AssignAdd(v, two) T=half\n"
      "h = VarHandleOp dtype=uint16 shape=[3]\n"
      "big = Const uint16[3]{65535,1,2}\n"
      "put = AssignVariableOp(h, big) dtype=uint16\n"
      "more = AssignAddVariableOp(h, big) dtype=uint16\n"
      "get = ReadVariableOp(h) dtype=uint16\n"
      "i = Const int32[2]{2,0}\n"
      "rows = ResourceGather(h, i) dtype=uint16 Tindices=int32\n";
  imported a(text);
  a.session->run({"set", "put"});
  CHECK(reals(a.run("add:0")) == std::vector<float>{4, 4});
  a.session->run({"more"});
  CHECK(whole(a.run("get:0")) == std::vector<std::int64_t>{65534, 2, 4});
  CHECK(whole(a.run("rows:0")) == std::vector<std::int64_t>{4, 65534});
  CHECK(reals(a.run("v:0")) == std::vector<float>{4, 4});
  CHECK(says(message_of<failed_precondition>([&] { imported(text).run("add:0"); }), "uninitialized value v"));

  const leat_test::scratch_folder folder("narrow_dtypes");
  for (const checkpoint_format format : {checkpoint_format::leat, checkpoint_format::tensorflow}) {
    const std::string path = saver(a.g, {.format = format}).save(*a.session, (folder.path / "model").string());
    imported b(text);
    saver(b.g).restore(*b.session, path, {.exact = true});
    CHECK(reals(b.run("v:0")) == std::vector<float>{4, 4});
    CHECK(whole(b.run("get:0")) == std::vector<std::int64_t>{65534, 2, 4});
  }
}

TEST_CASE("narrow dtypes: elements stand in files in TensorFlow's fields") {
  const auto one = [](const tensor_value& v) { return v.reshaped(shape{}).proto(); };
  const tensor_proto half = one(reals(data_type::half, {1}));
  CHECK(half.field == tensor_field::half_val);
  CHECK(half.bytes == std::string("\x00\x3c\x00\x00", 4));
  const tensor_proto small = one(integers_of(data_type::int8, {-2}));
  CHECK(small.field == tensor_field::int_val);
  CHECK(small.bytes == "\xfe\xff\xff\xff");
  CHECK(one(integers_of(data_type::uint16, {65535})).bytes == std::string("\xff\xff\x00\x00", 4));
  CHECK(one(integers_of(data_type::uint32, {-1})).field == tensor_field::uint32_val);
  CHECK(one(integers_of(data_type::uint64, {-1})).field == tensor_field::uint64_val);
  for (const data_type type : {data_type::int8, data_type::int16, data_type::uint16, data_type::uint32, data_type::uint64})
    for (const std::vector<std::int64_t>& numbers : {std::vector<std::int64_t>{}, {-1}, {1, -1, 5}}) {
      const tensor_value v = integers_of(type, numbers);
      CHECK(problem_of(v.proto()).empty());
      CHECK(whole(tensor_value::from_proto(v.proto())) == whole(v));
      CHECK(io::write_npy(v.proto()).size() == 128 + v.bytes());
    }
  // One value may stand for all.
  tensor_proto repeated = half;
  repeated.shape.dims.push_back({3, {}});
  CHECK(reals(tensor_value::from_proto(repeated)) == std::vector<float>{1, 1, 1});
}

TEST_CASE("narrow dtypes: elements of uint64 pass queues, lists and stacks, and are scattered and added") {
  const char* text =
      "x = Placeholder dtype=uint64 shape=[2]\n"
      "i = Const int32[1,1]{1}\n"
      "y = Const uint64[1]{5,0}\n"  // by its bits: 5
      "q = PaddingFIFOQueueV2 component_types=(uint64) shapes=([2])\n"
      "in = QueueEnqueueV2(q, x) Tcomponents=(uint64)\n"
      "out = QueueDequeueV2(q, ^in) component_types=(uint64)\n"
      "any = Const int32[]{-1}\n"
      "lengths = Const int64[2]{1,1}\n"
      "list = TensorListSplit(x, any, lengths) element_dtype=uint64 shape_type=int32\n"
      "joined = TensorListConcat(list) element_dtype=uint64\n"
      "s = Stack elem_type=uint64\n"
      "push = StackPush(s, x) T=uint64\n"
      "pop = StackPop(s, ^push) elem_type=uint64\n"
      "v = VariableV2 dtype=uint64 shape=[2]\n"
      "set = Assign(v, x) T=uint64\n"
      "add = ScatterNdAdd(v, i, y) T=uint64 Tindices=int32\n"
      "put = ScatterNdUpdate(v, i, y) T=uint64 Tindices=int32\n"
      "sizes = Const int32[2]{1,2}\n"
      "row = Reshape(x, sizes) T=uint64\n"
      "biased = BiasAddV1(row, x) T=uint64\n";
  imported i(text);
  const tensor_value x = integers_of(data_type::uint64, {-1, 2});
  const auto run = [&](const char* fetch) { return whole(i.run(fetch, {{"x", x}})); };
  using numbers = std::vector<std::int64_t>;
  CHECK(run("out:0") == numbers{-1, 2});
  CHECK(run("joined:0") == numbers{-1, 2});
  CHECK(run("pop:0") == numbers{-1, 2});
  CHECK(run("biased:0") == numbers{-2, 4});
  i.session->run({"set"}, {{"x", x}});
  CHECK(run("add:0") == numbers{-1, 7});
  CHECK(run("put:0") == numbers{-1, 5});
}

TEST_CASE("narrow dtypes: malformed elements, huge shapes, a memory limit and what has no kernel are errors") {
  tensor_proto p{.dtype = data_type::half, .field = tensor_field::half_val, .bytes = std::string("\x00\x00\x01\x00", 4)};
  CHECK(says(message_of<invalid_argument>([&] { tensor_value::from_proto(p); }), "65536", "not a number of DT_HALF"));
  p = {.dtype = data_type::int16, .field = tensor_field::tensor_content, .bytes = "abc"};
  CHECK(says(message_of<invalid_argument>([&] { tensor_value::from_proto(p); }), "3 bytes"));
  p = {.dtype = data_type::half, .field = tensor_field::half_val};
  p.shape.dims.push_back({std::int64_t{1} << 62, {}});
  CHECK_THROWS_AS(tensor_value::from_proto(p), resource_exhausted);
  p.shape.dims[0].size = std::int64_t{1} << 29;
  CHECK_THROWS_AS(tensor_value::from_proto(p), error);
  CHECK_THROWS_AS(tensor_value(of(data_type::half), {std::int64_t{1} << 62}), resource_exhausted);

  imported limited("n = Const int32[1]{4000000}\nv = Const half[]{1}\ny = Fill(n, v) T=half\n", {.memory_limit_in_bytes = 1 << 20});
  CHECK(says(message_of<resource_exhausted>([&] { limited.run("y:0"); }), "memory_limit_in_bytes", "'y' (Fill)"));

  imported i(
      "c = Placeholder dtype=int4 shape=[]\n"
      "d = Identity(c) T=int4\n"
      "u = Placeholder dtype=uint64 shape=[]\n"
      "l = FloorDiv(u, u) T=uint64\n"
      "a = Placeholder dtype=half shape=[2]\n"
      "b = Placeholder dtype=half shape=[-1]\n"
      "s = AddV2(a, b) T=half\n");
  CHECK(says(message_of<unimplemented>([&] { i.run("d:0", {}); }), "no kernel for dtype int4"));
  CHECK(says(message_of<unimplemented>([&] { i.run("l:0", {{"u", 1}}); }), "no kernel of FloorDiv for its dtypes", "'l' (FloorDiv)"));
  CHECK(says(message_of<invalid_argument>([&] {
               i.run("s:0", {{"a", reals(data_type::half, {1, 2})}, {"b", reals(data_type::half, {1, 2, 3})}});
             }),
             "'s' (AddV2)", "input 0: half [2]"));
  CHECK(i.session->refusal_of(get_operation_by_name(i.g, "s")).empty());
}

}  // namespace narrow_dtypes_tests
