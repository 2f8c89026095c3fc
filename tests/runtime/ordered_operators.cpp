// The n-th elements of rows, patches of images, sets, shapes that are broadcast, concatenated rows, arrays without values and copies, in
// graphs: values of TensorFlow 2.21 for small cases, gradients against differences, and what is refused.

#include <leat/cpu/parallel.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <cmath>

using namespace leat;
using namespace node_results;

namespace ordered_operators_test {

tensor_value floats_of(const extents& of, const number_list& list) { return tensor_of(dtype::float32, of, list); }
shape sizes_of(const extents& of) {
  shape s;
  for (const auto n : of) s.push(n);
  return s;
}
tensor_value whole(double value) { return tensor_of(dtype::int32, {}, {value}); }
template <class F>
std::string refusal(F f) {
  return leat_test::message_of<error>(f);
}
attribute_map windows(std::string padding, std::int64_t stride, std::int64_t rate) {
  using integers = std::vector<std::int64_t>;
  return {{"ksizes", integers{1, 2, 2, 1}},
          {"strides", integers{1, stride, 1, 1}},
          {"rates", integers{1, 1, rate, 1}},
          {"padding", std::move(padding)}};
}

}  // namespace ordered_operators_test
using namespace ordered_operators_test;

TEST_CASE("the n-th smallest and largest elements of rows") {
  const number_list rows{3, 1, 2, 1, 5, 5, 5, 0};
  for (const dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64}) {
    const auto nth = [&](double n, bool reverse) {
      return list_of(run_node("NthElement", {tensor_of(d, {2, 4}, rows), whole(n)}, {}, {{"reverse", reverse}})[0]);
    };
    CHECK(nth(1, false) == number_list{1, 5});
    CHECK(nth(1, true) == number_list{2, 5});
    CHECK(nth(3, false) == number_list{3, 5});
  }
  CHECK(run_node("NthElement", {floats_of({0, 4}, {}), whole(1)}, {}, {})[0].elements() == 0);
  // NaN is behind all numbers.
  CHECK(list_of(run_node("NthElement", {floats_of({3}, {NAN, 2, 1}), whole(1)}, {}, {})[0]) == number_list{2});
  const auto message = [&](const tensor_value& x, double n) {
    return refusal([&] { run_node("NthElement", {x, whole(n)}, {}, {}); });
  };
  CHECK(leat_test::says(message(floats_of({3}, {1, 2, 3}), 3), "at least n+1 columns"));
  CHECK(leat_test::says(message(floats_of({3}, {1, 2, 3}), -1), "n must be non-negative but is -1"));
  CHECK(leat_test::says(message(floats_of({}, {1}), 0), "at least rank 1"));
  check_gradient({{3, 4}}, [](const std::vector<output>& in) {
    return call_operator(in[0].owner(), "NthElement", {in[0], std::int32_t{2}}, {}).result();
  });
}
TEST_CASE("elements that are equal to the n-th share its gradient") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, sizes_of({4}));
  const output y = call_operator(g, "NthElement", {x, std::int32_t{1}}, {}).result();
  graph_session s(g);
  CHECK(list_of(s.run({gradients({y * 6.0f}, {x})[0]}, {{x, floats_of({4}, {5, 5, 5, 0})}})[0]) == number_list{2, 2, 2, 0});
}

TEST_CASE("patches of images, with zeros outside") {
  number_list counted;
  for (int i = 1; i <= 12; ++i) counted.push_back(i);
  for (const dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64}) {
    const auto patches = [&](const std::string& padding) {
      return run_node("ExtractImagePatches", {tensor_of(d, {1, 3, 4, 1}, counted)}, {}, windows(padding, 2, 2))[0];
    };
    CHECK(list_of(patches("SAME")) == number_list{0, 2,  0, 6, 1, 3,  5, 7, 2,  4,  6, 8, 3,  0, 7, 0,
                                                  0, 10, 0, 0, 9, 11, 0, 0, 10, 12, 0, 0, 11, 0, 0, 0});
    CHECK(list_of(patches("VALID")) == number_list{1, 3, 5, 7, 2, 4, 6, 8});
  }
  for (const char* padding : {"SAME", "VALID"})
    check_gradient({{2, 3, 4, 2}}, [&](const std::vector<output>& in) {
      return call_operator(in[0].owner(), "ExtractImagePatches", {in[0]}, windows(padding, 1, 2)).result();
    });
  CHECK(leat_test::says(refusal([&] { run_node("ExtractImagePatches", {floats_of({3, 4, 1}, counted)}, {}, windows("SAME", 1, 1)); }), "4"));
  CHECK(leat_test::says(
      refusal([&] { run_node("ExtractImagePatches", {floats_of({1, 12, 1, 1}, counted)}, {}, windows("VALID", 1, 3)); }), "negative"));
}

TEST_CASE("patches of one large image, whatever the number of threads") {
  const std::int64_t height = 61, width = 47, channels = 3, rows = (height - 3) / 2 + 1, columns = (width - 3) / 2 + 1;
  const number_list image = random_values(2 * height * width * channels);
  number_list wanted;
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t y = 0; y < rows; ++y)
      for (std::int64_t x = 0; x < columns; ++x)
        for (std::int64_t i = 0; i < 3; ++i)
          for (std::int64_t j = 0; j < 3; ++j)
            for (std::int64_t k = 0; k < channels; ++k)
              wanted.push_back(image[static_cast<std::size_t>(((n * height + 2 * y + i) * width + 2 * x + j) * channels + k)]);
  const int before = cpu::thread_count();
  for (const int threads : {1, 2, 3}) {
    cpu::set_thread_count(threads);
    CHECK(list_of(run_node("ExtractImagePatches", {tensor_of(dtype::float64, {2, height, width, channels}, image)}, {},
                           {{"ksizes", std::vector<std::int64_t>{1, 3, 3, 1}},
                            {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                            {"rates", std::vector<std::int64_t>{1, 1, 1, 1}},
                            {"padding", "VALID"}})[0]) == wanted);
  }
  cpu::set_thread_count(before);
}

TEST_CASE("sets in rows of arrays and of sparse tensors") {
  using lists = std::vector<number_list>;
  const auto combined = [](std::string_view type, const std::vector<tensor_value>& inputs, std::string operation) {
    lists results;
    for (const tensor_value& v : run_node(type, inputs, {}, {{"set_operation", std::move(operation)}})) results.push_back(list_of(v));
    return results;
  };
  const auto wide = [](const extents& of, const number_list& list) { return tensor_of(dtype::int64, of, list); };
  for (const dtype d : {dtype::int32, dtype::int64, dtype::uint8}) {
    const auto set_in = [&](const number_list& list) {
      tensor_value made(d, sizes_of({2, static_cast<std::int64_t>(list.size()) / 2}));
      with_number(d, [&]<class T>(T) {
        for (std::size_t i = 0; i < list.size(); ++i) made.values<T>()[i] = static_cast<T>(list[i]);
      });
      return made;
    };
    const auto a = set_in({3, 1, 3, 4, 5, 5}), b = set_in({1, 7, 5, 4});
    const auto both = [&](const char* operation) { return combined("DenseToDenseSetOperation", {a, b}, operation); };
    CHECK(both("a-b") == lists{{0, 0}, {3}, {2, 1}});
    CHECK(both("b-a") == lists{{0, 0}, {7}, {2, 1}});
    CHECK(both("intersection") == lists{{0, 0, 1, 0, 1, 1}, {1, 4, 5}, {2, 2}});
    CHECK(both("union") == lists{{0, 0, 0, 1, 0, 2, 1, 0, 1, 1}, {1, 3, 7, 4, 5}, {2, 3}});
    CHECK(leat_test::says(refusal([&] { both("sum"); }), "not 'sum'"));
    CHECK(leat_test::says(refusal([&] { combined("DenseToDenseSetOperation", {a, tensor_of(d, {}, {})}, "union"); }), "2 dimensions"));
  }
  const auto ints = [](const extents& of, const number_list& list) { return tensor_of(dtype::int32, of, list); };
  const auto places = wide({2, 2}, {0, 0, 1, 0}), sizes = wide({2}, {3, 1});
  CHECK(combined("SparseToSparseSetOperation",
                 {wide({2, 2}, {0, 0, 2, 1}), ints({2}, {5, 6}), wide({2}, {3, 2}), places, ints({2}, {5, 8}), sizes}, "union") ==
        lists{{0, 0, 1, 0, 2, 0}, {5, 8, 6}, {3, 1}});
  CHECK(combined("DenseToSparseSetOperation", {ints({3, 1}, {5, 5, 5}), places, ints({2}, {5, 8}), sizes}, "a-b") ==
        lists{{1, 0, 2, 0}, {5, 5}, {3, 1}});
  CHECK(combined("DenseToDenseSetOperation", {ints({2, 0}, {}), ints({2, 0}, {})}, "union") == lists{{}, {}, {2, 0}});
  const auto message = [&](const std::vector<tensor_value>& inputs) {
    return refusal([&] { combined(inputs.size() == 4 ? "DenseToSparseSetOperation" : "DenseToDenseSetOperation", inputs, "union"); });
  };
  CHECK(leat_test::says(message({ints({2, 1}, {5, 5}), ints({3, 1}, {5, 5, 5})}), "[2] and [3]"));
  CHECK(leat_test::says(message({ints({3, 1}, {5, 5, 5}), wide({2, 2}, {0, 0, 7, 0}), ints({2}, {5, 8}), sizes}), "outside of the shape"));
  tensor_value words(text_dtype, sizes_of({1, 2}));
  words.texts()[0] = "b";
  words.texts()[1] = "a";
  const auto made = run_node("DenseToDenseSetOperation", {words, words}, {}, {{"set_operation", "intersection"}});
  CHECK(std::vector<std::string>(made[1].texts().begin(), made[1].texts().end()) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("shapes are broadcast, rows concatenated, arrays copied or left empty") {
  for (const dtype d : {dtype::int32, dtype::int64}) {
    const auto both = [&](const number_list& a, const number_list& b) {
      const auto sizes = [&](const number_list& list) { return tensor_of(d, {static_cast<std::int64_t>(list.size())}, list); };
      return list_of(run_node("BroadcastArgs", {sizes(a), sizes(b)}, {}, {})[0]);
    };
    CHECK(both({3, 1}, {2, 1, 4}) == number_list{2, 3, 4});
    CHECK(both({}, {2}) == number_list{2});
    CHECK(leat_test::says(refusal([&] { both({3, 2}, {2, 1, 4}); }), "Incompatible shapes: [3,2] vs. [2,1,4]"));
  }
  const auto concat = [](const std::vector<tensor_value>& rows, const shape& s) {
    return list_of(run_node("ParallelConcat", rows, {}, {{"N", static_cast<std::int64_t>(rows.size())}, {"shape", to_proto(s)}})[0]);
  };
  const shape pair = sizes_of({2, 2});
  CHECK(concat({floats_of({1, 2}, {1, 2}), floats_of({1, 2}, {3, 4})}, pair) == number_list{1, 2, 3, 4});
  CHECK(leat_test::says(refusal([&] { concat({floats_of({1, 2}, {1, 2})}, pair); }), "takes 2 inputs, not 1"));
  CHECK(leat_test::says(refusal([&] { concat({floats_of({2, 1}, {1, 2}), floats_of({1, 2}, {3, 4})}, pair); }),
                        "rows of 1 in the first dimension"));
  CHECK(leat_test::says(refusal([&] { concat({floats_of({1, 2}, {1, 2})}, shape{}); }), "rank"));
  CHECK(list_of(run_node("DeepCopy", {floats_of({2}, {1, 2})}, {}, {})[0]) == number_list{1, 2});
  const auto empty = run_node("Empty", {tensor_of(dtype::int32, {2}, {2, 3})}, {}, {{"dtype", dtype::int64}})[0];
  CHECK(empty.type() == dtype::int64);
  CHECK(empty.elements() == 6);
}
