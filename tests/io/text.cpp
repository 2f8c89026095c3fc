#include <leat/graphs.hpp>
#include <leat/io/text.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <sstream>

using namespace leat;

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
