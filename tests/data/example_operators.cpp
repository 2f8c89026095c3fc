// tf.Example messages read within graphs: values, shapes and errors are those of TensorFlow 2.21.

#include <leat/data/kernels.hpp>
#include <leat/graphs.hpp>
#include <leat/io/example.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace leat;
using namespace std::string_literals;

namespace {

using floats = std::vector<float>;
using wholes = std::vector<std::int64_t>;
using strings = std::vector<std::string>;

std::string example_of(std::map<std::string, io::feature, std::less<>> features) { return io::write_example({std::move(features)}); }
tensor_shape_proto proto_of(std::initializer_list<std::int64_t> list) {
  shape s;
  for (const auto n : list) s.push(n);
  return to_proto(s);
}
struct wanted {
  strings sparse{};
  std::vector<data_type> sparse_types{};
  strings dense{};
  std::vector<tensor_value> defaults{};
  std::vector<tensor_shape_proto> shapes{};
  strings names{};
  strings ragged{};
  std::vector<data_type> ragged_types{};
};
std::vector<data_type> types_of(const std::vector<tensor_value>& list) {
  std::vector<data_type> types;
  for (const auto& v : list) types.push_back(to_data_type(v.type()));
  return types;
}
// A node whose inputs are fed.
class fed_node {
 public:
  fed_node() : scope_(g_.as_default()) {}
  void feed(const tensor_value& v, bool has_shape = true) {
    const output place = placeholder(v.type(), has_shape ? v.extent() : shape::unknown());
    inputs_.emplace_back(place);
    feeds_.push_back({place, v});
  }
  std::vector<tensor_value> run(std::string_view type, const attribute_map& settings) {
    const auto node = call_operator(g_, type, inputs_, settings);
    graph_session s(g_);
    auto got = s.run(node.outputs(), feeds_);
    for (std::size_t k = 0; k < got.size(); ++k) CHECK(may_equal(node.result(static_cast<int>(k)).extent(), got[k].extent()));
    return got;
  }

 private:
  graph g_;
  default_graph_scope scope_;
  std::vector<number_argument> inputs_;
  std::vector<feed_item> feeds_;
};
std::vector<tensor_value> parse(const strings& messages, const wanted& w) {
  fed_node node;
  node.feed(tensor_value(messages));
  node.feed(tensor_value(w.names));
  for (const auto& key : w.sparse) node.feed(tensor_value(key));
  for (const auto& key : w.dense) node.feed(tensor_value(key));
  for (const auto& v : w.defaults) node.feed(v);
  return node.run("ParseExample", {{"Nsparse", static_cast<std::int64_t>(w.sparse.size())},
                                   {"Ndense", static_cast<std::int64_t>(w.dense.size())},
                                   {"sparse_types", w.sparse_types},
                                   {"Tdense", types_of(w.defaults)},
                                   {"dense_shapes", w.shapes}});
}
std::vector<tensor_value> parse_by_vectors(const tensor_value& messages, const wanted& w) {
  fed_node node;
  node.feed(messages);
  node.feed(tensor_value(w.names));
  node.feed(tensor_value(w.sparse));
  node.feed(tensor_value(w.dense));
  node.feed(tensor_value(w.ragged));
  for (const auto& v : w.defaults) node.feed(v);
  return node.run("ParseExampleV2", {{"num_sparse", static_cast<std::int64_t>(w.sparse.size())},
                                     {"sparse_types", w.sparse_types},
                                     {"Tdense", types_of(w.defaults)},
                                     {"ragged_value_types", w.ragged_types},
                                     {"ragged_split_types", std::vector<data_type>(w.ragged.size(), data_type::int32)},
                                     {"dense_shapes", w.shapes}});
}
std::vector<tensor_value> parse_single(const std::string& text, const wanted& w) {
  fed_node node;
  node.feed(tensor_value(text));
  for (const auto& v : w.defaults) node.feed(v);
  return node.run("ParseSingleExample", {{"num_sparse", static_cast<std::int64_t>(w.sparse.size())},
                                         {"sparse_keys", w.sparse},
                                         {"dense_keys", w.dense},
                                         {"sparse_types", w.sparse_types},
                                         {"Tdense", types_of(w.defaults)},
                                         {"dense_shapes", w.shapes}});
}
template <class F>
std::string refusal(F f) {
  return leat_test::message_of<invalid_argument>(f);
}

const std::string a = example_of({{"x", floats{1, 2}}, {"y", wholes{3}}, {"z", strings{"q"}}});
const std::string b = example_of({{"x", floats{4, 5}}, {"y", wholes{6, 7}}});
const std::string nothing = example_of({});
const wanted two_floats{.dense = {"x"}, .defaults = {floats{}}, .shapes = {proto_of({2})}};
const wanted padded{.dense = {"y"}, .defaults = {tensor_value(std::int64_t{-1})}, .shapes = {proto_of({-1})}};

}  // namespace

TEST_CASE("dense features: required ones, defaults, shapes") {
  auto got = parse({a, b}, two_floats);
  CHECK(got[0].extent() == shape(2, {2, 2}));
  CHECK(got[0].as<floats>() == floats{1, 2, 4, 5});
  wanted w = two_floats;
  w.defaults = {floats{8, 9}};
  CHECK(parse({a, example_of({{"y", wholes{1}}})}, w)[0].as<floats>() == floats{1, 2, 8, 9});
  CHECK(parse({example_of({{"x", std::monostate{}}})}, w)[0].as<floats>() == floats{8, 9});
  CHECK(parse({example_of({{"x", floats{1}}}), nothing}, {.dense = {"x"}, .defaults = {tensor_value(5.0f)}, .shapes = {proto_of({})}})[0]
            .as<floats>() == floats{1, 5});
  CHECK(parse({example_of({{"x", floats{1, 2, 3, 4}}})}, {.dense = {"x"}, .defaults = {floats{}}, .shapes = {proto_of({2, 2})}})[0]
            .extent() == shape(3, {1, 2, 2}));
  CHECK(parse({example_of({{"x", floats{}}})}, {.dense = {"x"}, .defaults = {floats{}}, .shapes = {proto_of({0})}})[0].extent() ==
        shape(2, {1, 0}));
  const wanted text{.dense = {"z"}, .defaults = {strings{"d"}}, .shapes = {proto_of({1})}};
  CHECK(parse({a, nothing}, text)[0].texts() == strings{"q", "d"});
  CHECK(parse({}, two_floats)[0].extent() == shape(2, {0, 2}));
  CHECK(parse({a + example_of({{"x", floats{9, 9}}})}, two_floats)[0].as<floats>() == floats{9, 9});  // the last one counts
}

TEST_CASE("padded features") {
  const auto got = parse({a, b, nothing}, padded);
  CHECK(got[0].extent() == shape(2, {3, 2}));
  CHECK(got[0].as<wholes>() == wholes{3, -1, 6, 7, -1, -1});
  const wanted rows{.dense = {"x"}, .defaults = {floats{-1}}, .shapes = {proto_of({-1, 2})}};
  const auto pairs = parse({example_of({{"x", floats{1, 2, 3, 4}}}), a, nothing}, rows);
  CHECK(pairs[0].extent() == shape(3, {3, 2, 2}));
  CHECK(pairs[0].as<floats>() == floats{1, 2, 3, 4, 1, 2, -1, -1, -1, -1, -1, -1});
  CHECK(parse_single(b, padded)[0].as<wholes>() == wholes{6, 7});
  CHECK(parse_single(nothing, padded)[0].extent() == shape(1, {0}));
  CHECK(leat_test::says(
      refusal([&] {
        parse({example_of({{"x", floats{1, 2, 3}}})}, rows);
      }),
      "Name: <unknown>, Key: x, Index: 0.  Number of float values is not a multiple of stride length. Saw 3 values but output shape is: [?,2]"));
  wanted w = padded;
  w.defaults = {wholes{1, 2}};
  CHECK(leat_test::says(refusal([&] { parse({a}, w); }),
                        "therefore def_value[0] must contain a single element (the padding element).  But its shape is: [2]"));
}

TEST_CASE("sparse and ragged features") {
  const wanted w{.sparse = {"y", "z", "w"}, .sparse_types = {data_type::int64, data_type::string, data_type::float32}};
  const auto got = parse({a, b, nothing}, w);
  CHECK(got[0].as<wholes>() == wholes{0, 0, 1, 0, 1, 1});
  CHECK(got[1].as<wholes>() == wholes{0, 0});
  CHECK(got[2].extent() == shape(2, {0, 2}));
  CHECK(got[3].as<wholes>() == wholes{3, 6, 7});
  CHECK(got[4].texts() == strings{"q"});
  CHECK(got[5].extent() == shape(1, {0}));
  CHECK(got[6].as<wholes>() == wholes{3, 2});
  CHECK(got[8].as<wholes>() == wholes{3, 0});
  const auto single = parse_single(
      b, {.sparse = {"y"}, .sparse_types = {data_type::int64}, .dense = {"x"}, .defaults = {floats{}}, .shapes = {proto_of({2})}});
  CHECK(single[0].extent() == shape(2, {2, 1}));
  CHECK(single[0].as<wholes>() == wholes{0, 1});
  CHECK(single[2].as<wholes>() == wholes{2});
  CHECK(single[3].as<floats>() == floats{4, 5});
  const auto by_vectors = parse_by_vectors(
      tensor_value(b),
      {.sparse = {"y"}, .sparse_types = {data_type::int64}, .dense = {"x"}, .defaults = {floats{}}, .shapes = {proto_of({2})}});
  CHECK(by_vectors[0].as<wholes>() == wholes{0, 1});
  CHECK(by_vectors[3].extent() == shape(1, {2}));

  const wanted ragged{.ragged = {"y"}, .ragged_types = {data_type::int64}};
  const auto lists = parse_by_vectors(strings{a, b, nothing}, ragged);
  CHECK(lists[0].as<wholes>() == wholes{3, 6, 7});
  CHECK(lists[1].as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{0, 1, 3, 3});
  const auto alone = parse_by_vectors(tensor_value(b), ragged);
  CHECK(alone[0].as<wholes>() == wholes{6, 7});
  CHECK(alone[1].elements() == 0);
}

TEST_CASE("what is refused, in TensorFlow's words") {
  const auto says = [](const std::string& is, std::string_view words) { CHECK(leat_test::says(is, words)); };
  const std::string missing = "Feature: x (data type: float) is required but could not be found.";
  wanted named = two_floats;
  named.names = {"one", "two"};
  says(refusal([&] { parse({a, nothing}, two_floats); }), "Name: <unknown>, " + missing);
  says(refusal([&] { parse({a, nothing}, named); }), "Name: two, " + missing);
  says(refusal([&] { parse({""}, two_floats); }), missing);
  const std::string single = refusal([&] { parse_single(nothing, two_floats); });
  says(single, missing);
  CHECK(single.find("Name:") == std::string::npos);
  const std::string ints = example_of({{"x", wholes{1, 2}}});
  says(refusal([&] {
         parse({a, ints}, two_floats);
       }),
       "Name: <unknown>, Key: x, Index: 1.  Data types don't match. Data type: int64 but expected type: float");
  says(refusal([&] { parse_single(ints, two_floats); }), "Key: x.  Data types don't match. Data type: int64 but expected type: float");
  const wanted sparse{.sparse = {"y"}, .sparse_types = {data_type::float32}};
  says(refusal([&] { parse({a}, sparse); }),
       "Name: <unknown>, Key: y, Index: 0.  Data types don't match. Expected type: float, Actual type: int64");
  says(refusal([&] {
         parse({example_of({{"x", floats{1, 2, 3}}})}, two_floats);
       }),
       "Name: <unknown>, Key: x, Index: 0.  Number of float values != expected.  Values size: 3 but output shape: [2]");
  named.names = {"u"};
  says(refusal([&] { parse({a, b}, named); }), "Expected names have the same shape as serialized: name.shape=[1], serialized.shape=[2]");
  wanted w = two_floats;
  w.defaults = {floats{1, 2, 3}};
  says(refusal([&] { parse({a}, w); }), "def_value[0].shape() == [3] is not compatible with dense_shapes_[0] == [2]");
  w = two_floats;
  w.shapes = {proto_of({2, -1})};
  says(refusal([&] { parse({a}, w); }), "dense_shapes[0] has unknown rank or unknown inner dimensions");
  for (const std::string& damaged : {"\x0a\xff"s, a.substr(0, a.size() - 3), "\x0a\x05\x0a\x03\x0a\x05x"s, std::string(40, '\xff')})
    says(refusal([&] { parse({damaged}, two_floats); }), "Could not parse example input, value: ");
  w.shapes = {proto_of({std::int64_t{1} << 62})};
  w.defaults = {floats{}};
  CHECK_THROWS_AS(parse({a}, w), error);
  w.shapes = {};
  CHECK_THROWS_AS(parse({a}, w), error);
  wanted doubles = two_floats;
  doubles.defaults = {std::vector<double>{}};
  CHECK_THROWS_AS(parse({a}, doubles), error);
}
