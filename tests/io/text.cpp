#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/text.hpp>
#include <leat/io/text/write.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>

using namespace leat;

namespace {
/// A graph of one node "n" with these attributes, in text format.
std::string one_node(const std::string& attributes) { return "node {\n  name: \"n\"\n  op: \"Op\"\n" + attributes + "}\n"; }
std::string one_attribute(const std::string& value) { return one_node("attr { key: \"a\" value { " + value + " } }\n"); }
attribute_value value_in(const std::string& value) {
  const graph_def g = io::read_text(std::string_view(one_attribute(value)));
  const attribute_value* read = g.nodes.at(0).attributes.find("a");
  REQUIRE(read != nullptr);
  return *read;
}
template <class T>
T as(const std::string& value) {
  const attribute_value read = value_in(value);
  const T* held = read.get_if<T>();
  REQUIRE(held != nullptr);
  return *held;
}
template <class M = graph_def>
std::string why_not(const std::string& text) {
  try {
    io::read_text<M>(std::string_view(text));
  } catch (const error& e) {
    return e.what();
  }
  return "";
}
}  // namespace

TEST_CASE("every form of protobuf's text format is read") {
  const graph_def plain = io::read_text(
      std::string_view(
          "node {\n  name: \"a\"\n  op: \"Const\"\n}\nnode {\n  name: \"b\"\n  op: \"Add\"\n  input: \"a\"\n  input: \"a:1\"\n}\n"),
      {.validate = false});
  REQUIRE(plain.nodes.size() == 2);
  for (const char* same :
       {"node: < name: 'a' op: 'Const' > node: { name: 'b', op: 'Add'; input: ['a', 'a:1'] }",
        "node [ { name: 'a' op: 'Const' }, < op: \"Add\" name: \"\" 'b' input: [ ] input: 'a' input: 'a' ':' '1' > ]",
        "\xef\xbb\xbf# a comment\n\n\tnode{name:'a'op:'Const'};node{# another\nname:'b'op:'Add'input:'a'input:'a:1'} # last",
        "node { name: '\\141' op: 'Con\\x73t' } node { name: '\\u0062' op: '\\U00000041dd' input: \"\\x61\" input: '\\141:1' }"}) {
    CAPTURE(same);
    CHECK(io::read_text(std::string_view(same), {.validate = false}) == plain);
  }
  std::istringstream in(io::write_text(plain));
  CHECK(io::read_text(in, {.validate = false}) == plain);
  CHECK(io::read_text(std::string_view("# nothing\n")).nodes.empty());

  CHECK(as<std::string>(R"(s: "\a\b\f\n\r\t\v\\\'\"\?\0\x1\377\u00e4\ud83d\ude00")") ==
        std::string("\a\b\f\n\r\t\v\\'\"?\0\x01\xff\xc3\xa4\xf0\x9f\x98\x80", 20));
  CHECK(as<std::string>("s: 'two\nlines'") == "two\nlines");
  CHECK(as<std::int64_t>("i: -9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(as<std::int64_t>("i: 0x7fffffffffffffff") == std::numeric_limits<std::int64_t>::max());
  CHECK(as<std::int64_t>("i: - 017") == -15);
  CHECK(as<float>("f: 1.5f") == 1.5f);
  CHECK(as<float>("f: .5e+1F") == 5.0f);
  CHECK(as<float>("f: 12") == 12.0f);
  CHECK(as<float>("f: -inf") == -std::numeric_limits<float>::infinity());
  CHECK(as<float>("f: Infinity") == std::numeric_limits<float>::infinity());
  CHECK(as<float>("f: 1e40") == std::numeric_limits<float>::infinity());
  CHECK(as<float>("f: 1e-400") == 0.0f);
  CHECK(std::isnan(as<float>("f: -nan")));
  CHECK(std::signbit(as<float>("f: -0.0")));
  for (const char* yes : {"true", "t", "True", "1"}) CHECK(as<bool>(std::string("b: ") + yes));
  for (const char* no : {"false", "f", "False", "0"}) CHECK_FALSE(as<bool>(std::string("b: ") + no));
  CHECK(as<data_type>("type: DT_INT32_REF") == reference_to(data_type::int32));
  CHECK(as<data_type>("type: 9") == data_type::int64);
  CHECK(value_in("list { type: [DT_FLOAT, 3] type: DT_BOOL }") ==
        attribute_value(std::vector<data_type>{data_type::float32, data_type::int32, data_type::boolean}));
  CHECK(value_in("list { }") == attribute_value(attribute_list{}));
  CHECK(value_in("func { name: 'f' attr { value { b: true } key: 'k' } }") ==
        attribute_value(function_value{"f", {{"k", attribute_value(true)}}}));
  const attribute_value tensor = value_in("tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: [1, 2.5] }");
  CHECK(tensor.get_if<tensor_proto>()->bytes.size() == 8);
  CHECK(value_in("tensor { dtype: DT_INT32 tensor_content: '\\001\\000\\000\\000' }").get_if<tensor_proto>()->bytes ==
        std::string("\1\0\0\0", 4));
}

TEST_CASE("what a file has beyond a graph is kept, or passed over") {
  const std::string text =
      "meta_info_def { stripped_op_list { op { name: 'A' attr < default_value: { list { i: [1, -2, 0x3] f: -inf s: 'x' 'y' } } > } }\n"
      "  any_info { [type.googleapis.com/some.Type] { a: 1 } } tags: 'serve' }\n"
      "graph_def { node { name: 'a' op: 'NoOp' experimental_debug_info { original_node_names: ['a'] } } version: 3 versions { producer: 27 } }\n"
      "saver_def { version: V2 keep_checkpoint_every_n_hours: 10000 sharded: true }\n"
      "collection_def { key: 'c' value { int64_list { value: [1, 2] } } }\n"
      "collection_def { key: 'd' value { any_list { value { type_url: 't/u' value: '\\000' } } } }\n"
      "signature_def { key: 's' value { inputs { key: 'x' value { name: 'a:0' dtype: DT_FLOAT tensor_shape { unknown_rank: true } } } } }\n";
  const auto meta = io::read_text<meta_graph_def>(std::string_view(text));
  CHECK(meta.meta_info.tags == std::vector<std::string>{"serve"});
  CHECK(meta.graph.nodes.at(0).name == "a");
  CHECK(meta.graph.versions.producer == 27);
  CHECK(meta.saver->version == 2);
  CHECK(std::get<collection_def::int64_list>(meta.collections.at("c").kind).value == std::vector<std::int64_t>{1, 2});
  CHECK(meta.signatures.at("s").inputs.at("x").tensor_shape->unknown_rank);
  CHECK(io::read_text<meta_graph_def>(std::string_view(io::write_text(meta))) == meta);
  CHECK(io::write_text(meta).find("version: V2\n") != std::string::npos);
  CHECK(io::read_binary<meta_graph_def>(std::string_view(io::write_binary(meta))) == meta);

  // Protobuf writes a message of a type that it knows by its fields; TensorFlow's SavedModels have such messages of assets.
  const auto collection = [](const std::string& value) {
    return io::read_text<meta_graph_def>(std::string_view("collection_def { key: 'd' value { any_list { value { " + value + " } } } }"));
  };
  const auto plain = collection("type_url: 'type.googleapis.com/tensorflow.AssetFileDef' value: '\\n\\005\\n\\003a:0\\022\\005v.txt'");
  CHECK(collection("[type.googleapis.com/tensorflow.AssetFileDef] { tensor_info { name: 'a:0' } filename: 'v.txt' }") == plain);
  CHECK(collection("[ type.googleapis.com / tensorflow.AssetFileDef ]: < tensor_info { name: 'a:0' } filename: 'v.txt' >;") == plain);
  const auto refusal = [&](const std::string& value) { return leat_test::message_of<error>([&] { collection(value); }); };
  CHECK(refusal("[a.b/c.D] { x: 1 }").find("a message of the type c.D, whose fields are not known") != std::string::npos);
  CHECK(refusal("[a.b/tensorflow.AssetFileDef] { x: 1 }").find("AssetFileDef has no field \"x\"") != std::string::npos);
  CHECK(refusal("[a.b;] { }").find("expected the name of a type and ']'") != std::string::npos);
  CHECK(refusal("[a.b").find("expected the name of a type and ']'") != std::string::npos);

  // A function library is carried in binary form.
  const std::string library =
      "library {\n  function {\n    signature {\n      name: \"f\"\n      input_arg {\n        name: \"x\"\n        type: DT_FLOAT\n      }\n"
      "      is_stateful: true\n      control_output: \"c\"\n    }\n    node_def {\n      name: \"y\"\n      op: \"Neg\"\n    }\n"
      "    ret {\n      key: \"a\"\n      value: \"y:y:0\"\n    }\n    ret {\n      key: \"b\"\n      value: \"y:y:0\"\n    }\n"
      "    attr {\n      key: \"k\"\n      value {\n        b: true\n      }\n    }\n  }\n"
      "  gradient {\n    function_name: \"f\"\n    gradient_func: \"g\"\n  }\n}\nversions {\n  producer: 27\n}\n";
  const graph_def with_library = io::read_text(std::string_view(library));
  CHECK_FALSE(with_library.library.empty());
  CHECK(io::write_text(with_library) == library);
  CHECK_THROWS_AS(io::write_text(graph_def{.library = "\xff"}), data_loss);
  CHECK(io::write_text(graph_def{.library = "\x42\x01z"}).empty());  // only a field that it does not have
}

TEST_CASE("errors in a text name line, column and field") {
  const auto says = [](const std::string& text, const std::string& wanted) { CHECK(why_not(text) == wanted); };
  const std::string at = "line 4, column ", in = ": node \"n\": attr[\"a\"]";
  says(one_attribute("i: 1 i: 2"), at + "30" + in + ".i: is a second value beside another, and only one can be");
  says(one_attribute("i: 9223372036854775808"), at + "28" + in + ".i: \"9223372036854775808\" is out of the range of int64");
  says(one_attribute("i: 1.5"), at + "28" + in + ".i: should be an integer, and is \"1.5\"");
  says(one_attribute("i: 08"), at + "28" + in + ".i: should be an integer, and is \"08\"");
  says(one_attribute("f: 010"), at + "28" + in + ".f: should be a decimal number, and is \"010\"");
  says(one_attribute("f: x"), at + "28" + in + ".f: should be a number, and is \"x\"");
  says(one_attribute("b: 2"), at + "28" + in + ".b: should be true or false, and is \"2\"");
  says(one_attribute("s: 5"), at + "28" + in + ".s: should be a text in quotes, and is \"5\"");
  says(one_attribute("s: 'a"), at + "28" + in + ".s: a text without its last quote");
  says(one_attribute("s: '\\q'"), at + "29" + in + ".s: a text with an unknown escape: \"\\q\"");
  says(one_attribute("s: '\\400'"), at + "29" + in + ".s: a text with an octal escape beyond \\377");
  says(one_attribute("s: '\\ud800'"), at + "29" + in + ".s: a text with an escape that is no character");
  says(one_attribute("s \"x\""), at + "27" + in + ".s: expected ':', got \"\"\"");
  says(one_attribute("s: ['a']"), at + "28" + in + ".s: should be a text in quotes, and is \"[\"");
  says(one_attribute("type: DT_NONE"), at + "31" + in + ".type: no element type is called \"DT_NONE\"");
  says(one_attribute("list { i: 1 s: 'a' }"), at + "37" + in + ".list: s beside values of another kind in one list");
  says(one_attribute("z: 1"), at + "25" + in + ": AttrValue has no field \"z\"");
  says(one_attribute("[a.b]: 1"), at + "25" + in + ": AttrValue with an extension, or a message in the form of its type");
  says(one_attribute("tensor { int_val: 1 float_val: 2 }"), at + "45" + in + ".tensor: float_val beside values in int_val");
  says(one_attribute("tensor { resource_handle_val { } }"), at + "34" + in + ".tensor: resource_handle_val cannot be read");
  says(one_node("name: 'm'\n"), "line 4, column 1: node \"n\": name: is there twice");
  says(one_node("device: '\xff'\n"), "line 4, column 9: node \"n\": device: is not UTF-8: \"\\xff\"");
  says(one_node("attr { key: 'a' } attr { key: 'a' }\n"), "line 2, column 3: node \"n\": attr \"a\" is there twice");
  says(one_node("attr { key: 'a' key: 'b' }\n"), "line 4, column 17: node \"n\": attr[\"a\"].key: is there twice");
  says("node { name: 'a' ", "line 1, column 18: node \"a\": expected a field's name, got the end of the text");
  says("node { name: 'a' >", "line 1, column 18: node \"a\": expected a field's name, got \">\"");
  says("versions { producer: 1 }}", "line 1, column 25: expected a field's name, got \"}\"");
  says("{\"node\": []}", "line 1, column 1: expected a field's name, got \"{\"");
  says("saved_model_schema_version: 1", std::string(io::tensorflow_saved_model));
  CHECK(why_not<meta_graph_def>("collection_def { key: 'c' value { } } collection_def { key: 'c' }") ==
        "line 1, column 56: collection_def[\"c\"]: is there twice");
  CHECK_THROWS_AS(io::read_text(std::string_view("node {")), data_loss);
  CHECK_THROWS_AS(io::read_text(std::string_view("node { x: 1 }")), invalid_argument);
  CHECK_THROWS_AS(io::read_text(std::string_view("node { name: 'a' op: 'A' input: 'b' }")), invalid_argument);
  CHECK_THROWS_AS(io::read_text_file("no_such.pbtxt"), not_found);

  // As deep as binary files, and no deeper, also in what is passed over.
  const auto nested = [](std::size_t count, const std::string& open, const std::string& close) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += open;
    for (std::size_t i = 0; i < count; ++i) text += close;
    return text;
  };
  const std::string open = "func { attr { key: 'a' value { ", close = "} } }";
  CHECK(why_not(one_attribute(nested(30, open, close))).empty());
  CHECK(why_not(one_attribute(nested(40, open, close))).find("nested deeper than 64") != std::string::npos);
  const std::string passed_over = "node { name: 'n' op: 'O' experimental_debug_info { a: ";
  CHECK(why_not(passed_over + nested(100, "{ a: ", "} ").insert(500, "1 ") + "} }").empty());
  for (const char* bracket : {"{ a", "[", "< a"})
    CHECK(why_not(passed_over + nested(1'000'000, bracket, "")).find("is nested too deeply") != std::string::npos);
}

TEST_CASE("a text is known by its beginning") {
  CHECK(io::looks_like_text("node { }"));
  CHECK(io::looks_like_text("# comment\n\n  meta_info_def<>"));
  CHECK(io::looks_like_text("versions: { }"));
  CHECK(io::looks_like_text("saved_model_schema_version: 1"));
  CHECK(io::holds_saved_model_text("meta_graphs {"));
  CHECK_FALSE(io::holds_saved_model_text("node {"));
  for (const char* other : {"", "node", "{\"node\": []}", "model_checkpoint_path: \"a\"",
                            "\n\x0b\n\x04node\x12\x03"
                            "Abc"})
    CHECK_FALSE(io::looks_like_text(other));
}

TEST_CASE("numbers have the digits that Python prints") {
  const auto printed = [](auto value) {
    std::string text;
    io::detail::append_text_number(text, value);
    return text;
  };
  CHECK(printed(0.1f) == "0.1");
  CHECK(printed(3.0f) == "3.0");
  CHECK(printed(-0.0f) == "-0.0");
  CHECK(printed(1e-5f) == "1e-05");
  CHECK(printed(0.0001f) == "0.0001");
  CHECK(printed(1e20f) == "1e+20");
  CHECK(printed(1e15) == "1000000000000000.0");
  CHECK(printed(1e16) == "1e+16");
  CHECK(printed(123456789.0f) == "123456790.0");
  CHECK(printed(3.4028235e38f) == "3.4028235e+38");
  CHECK(printed(std::numeric_limits<float>::denorm_min()) == "1.4013e-45");
  CHECK(printed(std::numeric_limits<double>::denorm_min()) == "5e-324");
  CHECK(printed(1.0 / 3) == "0.3333333333333333");
  CHECK(printed(1.7976931348623157e308) == "1.7976931348623157e+308");
  CHECK(printed(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
}

TEST_CASE("an operation is printed in protobuf's text form") {
  graph g;
  auto here = g.as_default();
  auto a = constant({{1.0f, 2.0f}}), b = constant({{1.0f}, {3.0f}});
  auto on = device("/job:ps/task:1");
  auto wait = control_dependencies({no_op("first")});
  auto product = matmul(a, b, "exampleop");
  const std::string text = describe(product.operation());
  CHECK(
      text.starts_with("name: \"exampleop\"\nop: \"MatMul\"\ninput: \"Const\"\ninput: \"Const_1\"\ninput: \"^first\"\n"
                       "device: \"/job:ps/task:1\"\nattr {\n  key: \"T\"\n  value {\n    type: DT_FLOAT\n  }\n}\n"));
  CHECK(text.ends_with("attr {\n  key: \"transpose_b\"\n  value {\n    b: false\n  }\n}\n"));
  std::ostringstream out;
  out << product.operation() << product;
  CHECK(out.str() == text + describe(product));
  CHECK_THROWS_AS(describe(graph_operation{}), failed_precondition);
}

TEST_CASE("a constant is printed with its values") {
  graph g;
  auto here = g.as_default();
  CHECK(describe(constant(3.0f, "c").operation()) ==
        "name: \"c\"\nop: \"Const\"\nattr {\n  key: \"dtype\"\n  value {\n    type: DT_FLOAT\n  }\n}\n"
        "attr {\n  key: \"value\"\n  value {\n    tensor {\n      dtype: DT_FLOAT\n      tensor_shape {\n      }\n"
        "      float_val: 3.0\n    }\n  }\n}\n");
  const std::string several = describe(constant({1, 2}, "d").operation());
  CHECK(several.find("      tensor_shape {\n        dim {\n          size: 2\n        }\n      }\n"
                     "      tensor_content: \"\\001\\000\\000\\000\\002\\000\\000\\000\"\n") != several.npos);
  CHECK(describe(constant("a\"b\n\xc3\xa4", "s").operation()).find("string_val: \"a\\\"b\\n\\303\\244\"\n") != std::string::npos);
  CHECK(describe(placeholder(dtype::float32, {-1, 3}, "x").operation())
            .find("    shape {\n      dim {\n        size: -1\n      }\n      dim {\n        size: 3\n      }\n    }\n") !=
        std::string::npos);
  CHECK(describe(placeholder(dtype::float32, unknown_shape, "y").operation()).find("    shape {\n      unknown_rank: true\n    }\n") !=
        std::string::npos);
}

TEST_CASE("numbers, lists and functions of attributes") {
  node_def node;
  node.name = "n";
  node.attributes["f"] = attribute_value(0.1f);
  node.attributes["inf"] = attribute_value(-std::numeric_limits<float>::infinity());
  node.attributes["nan"] = attribute_value(std::numeric_limits<float>::quiet_NaN());
  node.attributes["l"] = attribute_value(std::vector<std::int64_t>{1, -2});
  node.attributes["t"] = attribute_value(std::vector<std::string>{"a", ""});
  node.attributes["g"] = attribute_value(function_value{"h", {{"k", attribute_value(true)}}});
  node.attributes["e"] = attribute_value(std::vector<float>{});
  const auto entry = [](const std::string& key, const std::string& value) {
    return "attr {\n  key: \"" + key + "\"\n  value {\n" + value + "  }\n}\n";
  };
  CHECK(io::write_text(node) ==
        "name: \"n\"\n" + entry("e", "    list {\n    }\n") + entry("f", "    f: 0.1\n") +
            entry("g",
                  "    func {\n      name: \"h\"\n      attr {\n        key: \"k\"\n        value {\n          b: true\n        }\n"
                  "      }\n    }\n") +
            entry("inf", "    f: -inf\n") + entry("l", "    list {\n      i: 1\n      i: -2\n    }\n") + entry("nan", "    f: nan\n") +
            entry("t", "    list {\n      s: \"a\"\n      s: \"\"\n    }\n"));
}

TEST_CASE("a graph is printed node by node, and what is malformed is named") {
  graph_def file;
  CHECK(io::write_text(file).empty());
  file.nodes.resize(2);
  file.nodes[0].name = "a";
  file.nodes[1].name = "b";
  file.versions.producer = 27;
  CHECK(io::write_text(file) == "node {\n  name: \"a\"\n}\nnode {\n  name: \"b\"\n}\nversions {\n  producer: 27\n}\n");

  tensor_proto half;
  half.dtype = data_type::float32;
  half.field = tensor_field::float_val;
  half.bytes = "abc";
  file.nodes[1].attributes["value"] = attribute_value(half);
  try {
    io::write_text(file);
    CHECK(false);
  } catch (const invalid_argument& e) {
    CHECK(std::string(e.what()).find("node \"b\"") != std::string::npos);
    CHECK(std::string(e.what()).find("float_val") != std::string::npos);
  }
  function_value nested{"f", {}};
  for (int depth = 0; depth < 200; ++depth) nested = function_value{"f", {{"f", attribute_value(nested)}}};
  file.nodes[1].attributes["value"] = attribute_value(nested);
  CHECK_THROWS_AS(io::write_text(file), invalid_argument);
}
