#include <leat/io/json.hpp>

#include "support/graph_files.hpp"

#include <doctest/doctest.h>

#include <clocale>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace leat;
using leat_test::every_kind_of_graph;
using leat_test::every_kind_of_meta_graph;

namespace {

std::string error_of(std::string_view text) {
  try {
    io::read_json(text);
  } catch (const error& e) {
    return e.what();
  }
  return "read";
}

/// A graph of one node with one attribute, without its tensor's or shape's validation.
attribute_value attribute_of(const std::string& value) {
  const auto g =
      io::read_json(R"({"node": [{"name": "n", "op": "O", "attr": {"a": )" + value + "}}]}", {.validate = false});
  return *g.nodes.at(0).attributes.find("a");
}
std::string attribute_error(const std::string& value) {
  const std::string text = error_of(R"({"node": [{"name": "n", "op": "O", "attr": {"a": )" + value + "}}]}");
  const std::string_view begin = "node \"n\": attr[\"a\"]";
  return text.starts_with(begin) ? text.substr(begin.size()) : "elsewhere: " + text;
}
template <class T>
T value_in(const std::string& field, const std::string& value) {
  const auto a = attribute_of(R"({"tensor": {"dtype": "DT_FLOAT", ")" + field + "\": [" + value + "]}}");
  return leat::detail::value_at<T>(a.get_if<tensor_proto>()->bytes, 0);
}

}  // namespace

TEST_CASE("a graph with everything comes back equal") {
  const auto g = every_kind_of_graph();
  const auto text = io::write_json(g);
  CHECK(nlohmann::json::accept(text));
  CHECK(io::read_json(text, {.validate = false}) == g);
  std::istringstream in(text);
  CHECK(io::read_json(in) == g);
}

TEST_CASE("a meta graph with everything comes back equal") {
  const auto m = every_kind_of_meta_graph();
  CHECK(io::read_json<meta_graph_def>(io::write_json(m)) == m);
  CHECK(io::read_json<meta_graph_def>("{}") == meta_graph_def{});
}

TEST_CASE("the text is protobuf's") {
  graph_def g;
  g.nodes.push_back(
      leat_test::node("a", "Const", {}, {{"dtype", data_type::int32}, {"value", make_tensor_proto(std::int32_t{7})}}));
  g.nodes.push_back(leat_test::node("b\n\"\\\x7f", "Add", {"a", "a"},
                                    {{"i", 5}, {"f", 0.1f}, {"s", "hi"}, {"l", std::vector<std::int64_t>{1}}}));
  g.versions.producer = 24;
  CHECK(
      io::write_json(g) ==
      "{\"node\": [\n"
      "  {\"name\": \"a\", \"op\": \"Const\", \"attr\": {\"dtype\": {\"type\": \"DT_INT32\"}, \"value\": {\"tensor\": {\"dtype\": "
      "\"DT_INT32\", \"tensor_shape\": {}, \"int_val\": [7]}}}},\n"
      "  {\"name\": \"b\\n\\\"\\\\\\u007f\", \"op\": \"Add\", \"input\": [\"a\", \"a\"], \"attr\": {\"f\": {\"f\": 0.1}, \"i\": {\"i\": "
      "\"5\"}, \"l\": {\"list\": {\"i\": [\"1\"]}}, \"s\": {\"s\": \"aGk=\"}}}\n"
      "], \"versions\": {\"producer\": 24}}\n");
  CHECK(io::write_json(graph_def{}) == "{}\n");
}

TEST_CASE("other ways to write the same are read") {
  CHECK(attribute_of(R"({"i": 5})") == attribute_value(5));
  CHECK(attribute_of(R"({"i": 5.0})") == attribute_value(5));
  CHECK(attribute_of(R"({"i": -1e3})") == attribute_value(-1000));
  CHECK(attribute_of(R"({"i": "-9223372036854775808"})") == attribute_value(std::numeric_limits<std::int64_t>::min()));
  CHECK(attribute_of(R"({"type": 1})") == attribute_value(data_type::float32));
  CHECK(attribute_of(R"({"type": 101})") == attribute_value(reference_to(data_type::float32)));
  CHECK(attribute_of(R"({"type": 7777})") == attribute_value(static_cast<data_type>(7777)));
  CHECK(attribute_of(R"({"f": 3})") == attribute_value(3.0f));
  CHECK(attribute_of(R"({"f": "1.5e2"})") == attribute_value(150.0f));
  CHECK(attribute_of(R"({"s": "_-0"})") == attribute_value("\xff\xed"));
  CHECK(attribute_of(R"({"shape": {"unknownRank": true}})") == attribute_of(R"({"shape": {"unknown_rank": true}})"));
  CHECK(attribute_of(R"({"list": {"i": []}})") == attribute_value(attribute_list{}));
  CHECK(attribute_of(R"({"list": {"i": null, "s": ["YQ=="]}})") == attribute_value(std::vector<std::string>{"a"}));
  CHECK(
      attribute_of(
          R"({"tensor": {"dtype": "DT_INT32", "tensorShape": {"dim": [{"size": 1}]}, "versionNumber": 1, "intVal": [3], )"
          R"("tensor_content": ""}})")
          .get_if<tensor_proto>()
          ->field == tensor_field::int_val);
  CHECK(attribute_of(R"({"tensor": {"dtype": "DT_INT32", "int_val": [], "tensor_content": null}})") ==
        attribute_value(tensor_proto{.dtype = data_type::int32}));
  const auto g =
      io::read_json(R"({"versions": {"minConsumer": 3, "badConsumers": [1]}, "node": null, "library": {}, "version": 9,
                                   "debugInfo": {"files": ["x"], "traces": {}}})");
  CHECK(g.versions == version_def{0, 3, {1}});
  CHECK(io::read_json("\xef\xbb\xbf{}") == graph_def{});
}

TEST_CASE("known fields that are not kept are passed over, whatever they hold") {
  const auto g = io::read_json(
      R"({"node": [{"experimental_debug_info": {"original_node_names": ["x", {"a": [1.5, null, true]}]}, "name": "n",
                                   "experimentalType": [[]], "op": "O"}]})");
  CHECK(g.nodes.at(0) == leat_test::node("n", "O"));
}

TEST_CASE("floats are the nearest to their digits, and written so that they come back") {
  CHECK(value_in<float>("float_val", "0.1") == 0.1f);
  // Halfway between two floats and a little more: a double in between would round it down.
  CHECK(value_in<float>("float_val", "1.00000005960464477539062500000000000001") == std::nextafter(1.0f, 2.0f));
  CHECK(value_in<float>("float_val", "\"1.00000005960464477539062500000000000001\"") == std::nextafter(1.0f, 2.0f));
  CHECK(value_in<float>("float_val", "3.4028235e38") == std::numeric_limits<float>::max());
  CHECK(value_in<float>("float_val", "1e-300") == 0.0f);
  CHECK(value_in<float>("float_val", "\"1e-400\"") == 0.0f);
  CHECK(std::signbit(value_in<float>("float_val", "-0.0")));
  CHECK(value_in<float>("float_val", "\"-Infinity\"") == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(value_in<double>("double_val", "\"NaN\"")));
  CHECK(value_in<double>("double_val", "5e-324") == 5e-324);
  CHECK(value_in<double>("double_val", "18446744073709551615") == 18446744073709551615.0);
}

TEST_CASE("the ends of integers are read, and beyond them refused") {
  CHECK(value_in<std::int32_t>("int_val", "-2147483648") == std::numeric_limits<std::int32_t>::min());
  CHECK(value_in<std::int32_t>("int_val", "\"2147483647\"") == std::numeric_limits<std::int32_t>::max());
  CHECK(value_in<std::uint64_t>("uint64_val", "\"18446744073709551615\"") == std::numeric_limits<std::uint64_t>::max());
  CHECK(value_in<std::uint64_t>("uint64_val", "9223372036854775808.0") == std::uint64_t{1} << 63);
  CHECK(value_in<std::uint32_t>("uint32_val", "4294967295") == 4294967295u);
  const std::pair<std::string, std::string> beyond[]{{"int_val", "2147483648"},
                                                     {"int_val", "-2147483649"},
                                                     {"int_val", "1e10"},
                                                     {"int_val", "0.5"},
                                                     {"uint32_val", "-1"},
                                                     {"uint32_val", "4294967296"},
                                                     {"int64_val", "\"9223372036854775808\""},
                                                     {"int64_val", "9223372036854775808"},
                                                     {"int64_val", "1e19"},
                                                     {"uint64_val", "\"18446744073709551616\""},
                                                     {"uint64_val", "-1"},
                                                     {"uint64_val", "1.8446744073709552e19"},
                                                     {"float_val", "1e39"},
                                                     {"float_val", "3.4028236e38"},
                                                     {"float_val", "\"1e39\""},
                                                     {"double_val", "\"1e400\""}};
  for (const auto& [field, number] : beyond) {
    CAPTURE(field);
    CAPTURE(number);
    const auto text = attribute_error(R"({"tensor": {")" + field + "\": [0, " + number + "]}}");
    CHECK(text.starts_with(".tensor." + field + "[1]: \""));
    CHECK(text.find("is not a number of ") != text.npos);
  }
}

TEST_CASE("what is wrong is told with its place") {
  const std::pair<std::string, std::string> attributes[]{
      {R"({"q": 1})", ": AttrValue has no field \"q\""},
      {R"(5)", ": is a number, and should be an object"},
      {R"([])", ": is a list, and should be an object"},
      {R"(null)", ": is null"},
      {R"({"i": "1", "s": "YQ=="})", ".s: is a second value beside another, and only one can be"},
      {R"({"i": "1", "i": "2"})", ".i: is there twice"},
      {R"({"i": null})", ".i: is null"},
      {R"({"i": "1x"})", ".i: is not an integer: \"1x\""},
      {R"({"i": ""})", ".i: is not an integer: \"\""},
      {R"({"i": " 1"})", ".i: is not an integer: \" 1\""},
      {R"({"i": true})", ".i: is a truth value, and should be an integer"},
      {R"({"i": [1]})", ".i: is a list, and should be an integer"},
      {R"({"i": {}})", ".i: is an object, and should be an integer"},
      {R"({"b": 1})", ".b: is a number, and should be true or false"},
      {R"({"b": "true"})", ".b: is a text, and should be true or false"},
      {R"({"b": 0.5})", ".b: is a number with a fraction, and should be true or false"},
      {R"({"f": "inf"})", ".f: is not a number: \"inf\""},
      {R"({"f": ""})", ".f: is not a number: \"\""},
      {R"({"f": "1,5"})", ".f: is not a number: \"1,5\""},
      {R"({"f": "0x10"})", ".f: is not a number: \"0x10\""},
      {R"({"type": "DT_FLAOT"})", ".type: no element type is called \"DT_FLAOT\""},
      {R"({"type": 3000000000})", ".type: \"3000000000\" is not a number of int32"},
      {R"({"s": "a?=="})", ".s: is not base64: \"a?==\""},
      {R"({"s": 1})", ".s: is a number, and should be a text in base64"},
      {R"({"list": {"i": [1], "s": ["YQ=="]}})", ".list.s: is a second value beside another, and only one can be"},
      {R"({"list": {"s": ["YQ==", "Y"]}})", ".list.s[1]: is not base64: \"Y\""},
      {R"({"list": {"i": 1}})", ".list.i: is a number, and should be a list"},
      {R"({"list": {"i": [[1]]}})", ".list.i[0]: is a list, and should be an integer"},
      {R"({"list": {"i": [null]}})", ".list.i[0]: is null"},
      {R"({"list": {"shape": {}}})", ".list.shape: is an object, and should be a list"},
      {R"({"list": {"shape": [{}, {"dim": [{"size": "x"}]}]}})",
       ".list.shape[1].dim[0].size: is not an integer: \"x\""},
      {R"({"tensor": {"float_val": [1], "int_val": [1]}})",
       ".tensor.int_val: holds values beside those of another field"},
      {R"({"tensor": {"resource_handle_val": [{"device": ""}]}})",
       ".tensor.resource_handle_val: cannot be read from JSON"},
      {R"({"tensor": {"variant_val": 1}})", ".tensor.variant_val: cannot be read from JSON"},
      {R"({"func": {"name": "f", "attr": {"T": {"i": "z"}}}})", ".func.attr[\"T\"].i: is not an integer: \"z\""},
      {R"({"func": {"name": "f", "attr": {"T": {}, "T": {}}}})", ".func: attr \"T\" is there twice"},
      // and what validation says
      {R"({"tensor": {"dtype": "DT_FLOAT", "tensor_shape": {"dim": [{"size": "1000000000000"}]}, "tensor_content": "AAAA"}})",
       ".tensor: tensor_content has 3 bytes, which is not shape [1000000000000] of DT_FLOAT"},
      {R"({"shape": {"dim": [{"size": "-7"}]}})", ".shape: dimension 0 has size -7"},
  };
  for (const auto& [value, text] : attributes) {
    CAPTURE(value);
    CHECK(attribute_error(value) == text);
  }

  const std::pair<std::string, std::string> texts[]{
      {R"({"nodes": []})", "GraphDef has no field \"nodes\""},
      {R"([])", "is a list, and should be an object"},
      {R"(null)", "is null"},
      {R"({"node": {}})", "node: is an object, and should be a list"},
      {R"({"node": [1]})", "node[0]: is a number, and should be an object"},
      {R"({"node": [{"name": "a", "op": "A"}, {"op": 5}]})", "node number 1: op: is a number, and should be a text"},
      {R"({"node": [{"name": "a", "op": "A", "attr": {"x": {}, "x": {}}}]})", "node \"a\": attr \"x\" is there twice"},
      {R"({"node": [{"name": "a", "nmae": "b"}]})", "node \"a\": NodeDef has no field \"nmae\""},
      {R"({"node": [{"name": "a", "input": ["b", 1]}]})", "node \"a\": input[1]: is a number, and should be a text"},
      {R"({"node": [], "node": []})", "node: is there twice"},
      {R"({"versions": {"producer": 3}, "versions": {}})", "versions: is there twice"},
      {R"({"versions": {"minConsumer": 3, "min_consumer": 3}})", "versions.min_consumer: is there twice"},
      {R"({"library": {"function": []}})", "library: cannot be read from JSON"},
      {R"({"node": [{"name": "a", "op": "A"}, {"name": "a", "op": "A"}]})",
       "node \"a\": name: node number 0 has it already"},
      {R"({"node": [{"name": "a", "op": "A", "input": ["b"]}]})", "node \"a\": input[0]: there is no node \"b\""},
  };
  for (const auto& [json, text] : texts) {
    CAPTURE(json);
    CHECK(error_of(json) == text);
  }
}

TEST_CASE("what is not JSON is told with its byte, and the node it stands in") {
  for (auto text : {"", "{", "{}}", "{]", "{\"node\": [{\"name\": \"a\"", "{\"node\": [{\"name\": \"a", "nul",
                    "{'node': []}", "{\"versions\": {\"producer\": 01}}", "{\"node\": [{\"name\": \"\\ud800\"}]}",
                    "{\"node\": [{\"name\": \"\x01\"}]}", "{\"node\": [],}", "{} {}", "// x\n{}", "\xff"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(io::read_json(text), data_loss);
    CHECK(error_of(text).find("not JSON at byte ") != std::string::npos);
  }
  const auto invalid = error_of("{\"node\": [{\"name\": \"a\", \"op\": \"\xc3(\"}]}");
  CHECK(invalid.starts_with("node \"a\": op: not JSON at byte 33: "));
  CHECK(invalid.find("ill-formed UTF-8") != invalid.npos);
  CHECK(error_of("{\"versions\": {\"producer\": 1e999}}").starts_with("versions.producer: a number is out of range: "));
  CHECK_THROWS_AS(io::read_json("{\"node\": [{\"attr\": {\"x\": {\"s\": \"=\"}}}]}"), data_loss);
  CHECK_THROWS_AS(io::read_json("{\"library\": {\"function\": [{}]}}"), unimplemented);
  CHECK_THROWS_AS(io::read_json("{\"q\": 1}"), invalid_argument);
}

TEST_CASE("what is cut off anywhere is refused") {
  const auto text = io::write_json(every_kind_of_meta_graph());
  for (std::size_t n = 0; n + 2 < text.size(); ++n) {
    INFO(n);
    REQUIRE_THROWS_AS(io::read_json<meta_graph_def>(std::string_view(text).substr(0, n)), error);
  }
}

TEST_CASE("nesting has a limit, in what is read, passed over and written") {
  const auto most = leat_test::nested_functions(31);
  CHECK(io::read_json(io::write_json(most)) == most);
  CHECK_THROWS_AS(io::write_json(leat_test::nested_functions(32)), invalid_argument);

  for (auto [open, close] :
       {std::pair{"{\"debug_info\": ", "}"}, {"{\"node\": [{\"attr\": {\"a\": {\"list\": {\"shape\": ", "}}}}]}"}}) {
    for (int levels : {200, 100000}) {
      std::string text = open;
      for (int i = 0; i < levels; ++i) text += "[";
      text += std::string(static_cast<std::size_t>(levels), ']') + close;
      CHECK_THROWS_AS(io::read_json(text), invalid_argument);
    }
  }
  std::string text = "{\"node\": [{\"name\": \"n\", \"attr\": {\"a\": ";
  for (int i = 0; i < 1000; ++i) text += "{\"func\": {\"attr\": {\"a\": ";
  CHECK(error_of(text).ends_with("messages are nested deeper than 64"));
}

TEST_CASE("a text that is not UTF-8 is not written") {
  const std::string bad = "\xff";
  const auto message = [](const graph_def& g) {
    try {
      io::write_json(g);
    } catch (const invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string("written");
  };
  graph_def g;
  g.nodes.push_back(leat_test::node("n", bad));
  CHECK(message(g) == "node \"n\": op: is not UTF-8: \"\\xff\"");
  g.nodes[0] = leat_test::node("n", "O", {bad});
  CHECK(message(g) == "node \"n\": input: is not UTF-8: \"\\xff\"");
  g.nodes[0] = leat_test::node("n", "O", {}, {{bad, 1}});
  CHECK(message(g) == "node \"n\": attr[\"\\xff\"]: the name is not UTF-8");
  g.nodes[0] = leat_test::node("n", "O", {}, {{"s", bad}});
  CHECK(message(g) == "written");
  g.nodes[0] = leat_test::node(
      "n", "O", {},
      {{"v", tensor_proto{.dtype = data_type::float32, .field = tensor_field::float_val, .bytes = "12345"}}});
  CHECK(message(g) == "node \"n\": attr[\"v\"].tensor.float_val: ends in half a value");
}

TEST_CASE("what JSON cannot carry is not dropped in silence") {
  graph_def g;
  g.library = "x";
  // Functions are carried in binary form.
  CHECK(io::write_json(g).find("\"library_bytes\": \"eA==\"") != std::string::npos);
  CHECK(io::read_json(io::write_json(g)).library == "x");
  meta_graph_def m;
  m.collections["c"].kind = collection_def::any_list{{"x"}};
  CHECK_THROWS_WITH_AS(io::write_json(m),
                       "collection_def[\"c\"].any_list.value: cannot be written as JSON; binary files and texts (.pbtxt) can hold it",
                       unimplemented);
  m.collections["c"].kind = collection_def::any_list{};
  CHECK(io::read_json<meta_graph_def>(io::write_json(m)) == m);
}

TEST_CASE("meta graphs are refused with their place, too") {
  const auto message = [](std::string_view text) {
    try {
      io::read_json<meta_graph_def>(text);
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string("read");
  };
  CHECK(message(R"({"collection_def": {"c": {"int64_list": {"value": ["1", "x"]}}}})") ==
        "collection_def[\"c\"].int64_list.value[1]: is not an integer: \"x\"");
  CHECK(message(R"({"collection_def": {"c": {}, "c": {}}})") == "collection_def[\"c\"]: is there twice");
  CHECK(message(R"({"signature_def": {"s": {"inputs": {"x": {"dtype": "FLOAT"}}}}})") ==
        "signature_def[\"s\"].inputs[\"x\"].dtype: no element type is called \"FLOAT\"");
  CHECK(message(R"({"saver_def": {"version": "V3"}})") == "saver_def.version: no value is called \"V3\"");
  CHECK(message(R"({"graph_def": {"node": [{"name": "a", "op": 1}]}})") ==
        "node \"a\": op: is a number, and should be a text");
  CHECK(message(R"({"signature_def": {"s": {"inputs": {"x": {"compositeTensor": {"components": []}}}}}})")
            .ends_with("cannot be read from JSON"));
  CHECK(message(R"({"meta_info_def": {"stripped_op_list": {"op": [{}]}, "function_aliases": {"a": "b"}}})") == "read");
}

TEST_CASE("a comma as decimal point does not change what is read") {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  if (std::setlocale(LC_NUMERIC, "de_DE.UTF-8") == nullptr && std::setlocale(LC_NUMERIC, "fr_FR.UTF-8") == nullptr) {
    MESSAGE("no such locale here");
    return;
  }
  CHECK(attribute_of(R"({"f": 0.5})") == attribute_value(0.5f));
  CHECK(attribute_of(R"({"f": "0.5"})") == attribute_value(0.5f));
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST_CASE("files are read and written, and named in what is wrong") {
  const auto path = std::filesystem::temp_directory_path() / "leat_test_io_json.json";
  const auto g = every_kind_of_graph();
  io::write_json_file(g, path);
  CHECK(io::read_json_file(path) == g);
  io::write_file(path, "{\"q\": 1}");
  CHECK_THROWS_WITH_AS(io::read_json_file(path), (path.string() + ": GraphDef has no field \"q\"").c_str(),
                       invalid_argument);
  std::filesystem::remove(path);
  CHECK_THROWS_WITH_AS(io::read_json_file(path), (path.string() + ": cannot be opened").c_str(), not_found);
  CHECK_THROWS_AS(io::read_json_file(std::filesystem::temp_directory_path()), not_found);
  CHECK_THROWS_AS(io::write_json_file(g, path / "x.json"), failed_precondition);
}
