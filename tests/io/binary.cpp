#include <leat/io/binary.hpp>

#include "support/graph_files.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace leat;
using leat_test::every_kind_of_graph;
using leat_test::every_kind_of_meta_graph;

namespace {

// Protobuf's binary form by hand: `field(3, "abc")` is a length-delimited field, `number(3, 5)` a varint.
std::string varint(std::uint64_t v) {
  std::string s;
  for (; v >= 0x80; v >>= 7) s += static_cast<char>(v | 0x80);
  return s += static_cast<char>(v);
}
std::string field(unsigned n, const std::string& bytes) { return varint(n << 3 | 2) + varint(bytes.size()) + bytes; }
std::string number(unsigned n, std::uint64_t v) { return varint(n << 3) + varint(v); }
std::string fixed32(unsigned n, std::string_view bytes) { return varint(n << 3 | 5) + std::string(bytes); }

/// A graph whose node "n" has an attribute "a" of these bytes.
std::string with_attribute(const std::string& value) {
  return field(1, field(1, "n") + field(2, "O") + field(5, field(1, "a") + field(2, value)));
}
attribute_value attribute_of(const std::string& value) {
  const auto g = io::read_binary(with_attribute(value), {.validate = false});
  return *g.nodes.at(0).attributes.find("a");
}
std::string error_of(const std::string& bytes) {
  try {
    io::read_binary(bytes);
  } catch (const error& e) {
    return e.what();
  }
  return "read";
}

}  // namespace

TEST_CASE("a graph with everything comes back equal, by equal bytes") {
  auto g = every_kind_of_graph();
  g.library = field(1, "opaque");
  const auto bytes = io::write_binary(g);
  CHECK(io::read_binary(bytes) == g);
  CHECK(io::write_binary(io::read_binary(bytes)) == bytes);
  std::istringstream in(bytes);
  CHECK(io::read_binary(in) == g);
}

TEST_CASE("a meta graph with everything comes back equal") {
  auto m = every_kind_of_meta_graph();
  m.collections["any"].kind = collection_def::any_list{{field(1, "type.googleapis.com/x"), ""}};
  CHECK(io::read_binary<meta_graph_def>(io::write_binary(m)) == m);
  CHECK(io::read_binary<meta_graph_def>(std::string_view()) == meta_graph_def{});
}

TEST_CASE("the bytes are protobuf's") {
  graph_def g;
  g.nodes.push_back(leat_test::node("n", "O", {"x"}, {{"i", -1}, {"t", tensor_shape_proto{}}}));
  g.versions.producer = 300;
  const auto attribute = [](const std::string& name, const std::string& value) {
    return field(5, field(1, name) + field(2, value));
  };
  const auto expected = field(1, field(1, "n") + field(2, "O") + field(3, "x") +
                                     attribute("i", number(3, ~std::uint64_t{0})) + attribute("t", field(7, ""))) +
                        field(4, number(1, 300));
  const bool equal = io::write_binary(g) == expected;
  CHECK(equal);
}

TEST_CASE("numbers come packed or one by one, fields in any order and more than once") {
  const auto list = attribute_of(field(1, number(3, 1) + field(3, varint(2) + varint(3)) + number(3, 4)));
  CHECK(list == attribute_value(std::vector<std::int64_t>{1, 2, 3, 4}));
  const std::string one("\0\0\x80\x3f", 4);
  CHECK(attribute_of(field(1, fixed32(4, one) + field(4, one + one))) == attribute_value(std::vector<float>{1, 1, 1}));
  CHECK(attribute_of(field(1, number(5, 0x100) + field(5, std::string("\0\1\x80\x02", 4)))) ==
        attribute_value(std::vector<bool>{true, false, true, true}));
  CHECK(
      attribute_of(field(8, number(1, 3) + field(7, varint(5)) + number(7, ~std::uint64_t{0}))) ==
      attribute_value(tensor_proto{
          .dtype = data_type::int32, .field = tensor_field::int_val, .bytes = leat_test::raw<std::int32_t>({5, -1})}));
  // The last one counts; messages are merged.
  CHECK(attribute_of(number(3, 7) + field(2, "x")) == attribute_value("x"));
  CHECK(io::read_binary(field(4, number(1, 5)) + field(4, number(2, 3))).versions == version_def{5, 3, {}});
  // An entry without a value, its value first, or without a name.
  const auto g = io::read_binary(field(1, field(5, field(1, "b")) + field(5, field(2, number(3, 1)) + field(1, "a")) +
                                              field(5, field(2, number(5, 1)))),
                                 {.validate = false});
  CHECK(g.nodes.at(0).attributes == attribute_map{{"", true}, {"a", 1}, {"b", {}}});
}

TEST_CASE("fields that are not known, or of another wire type, are passed over") {
  const auto g =
      io::read_binary(field(1, field(1, "n") + field(2, "O") + field(99, "x") + number(98, 1) + fixed32(97, "1234") +
                                   number(1, 5) + field(6, field(1, "x")) + field(7, "\x08\x01")) +
                      number(3, 9) + field(5, "anything"));
  CHECK(g.nodes.at(0) == leat_test::node("n", "O"));
}

TEST_CASE("what is wrong is told with its place") {
  const auto at_attribute = [](const std::string& value) { return error_of(with_attribute(value)); };
  const std::string start = "node \"n\": attr[\"a\"]";
  CHECK(error_of(field(1, field(1, "n") + field(2, "\xff"))) == "node \"n\": op: is not UTF-8: \"\\xff\"");
  CHECK(error_of(field(1, field(1, "\xff"))) == "node number 0: name: is not UTF-8: \"\\xff\"");
  CHECK(error_of(field(1, field(1, "n") + field(3, "a") + field(3, "\xff"))) ==
        "node \"n\": input[1]: is not UTF-8: \"\\xff\"");
  CHECK(error_of(field(1, field(1, "n") + field(5, field(1, "\xff")))) ==
        "node \"n\": a name in attr is not UTF-8: \"\\xff\"");
  CHECK(error_of(field(1, field(1, "n") + field(2, "O") + field(5, field(1, "a")) + field(5, field(1, "a")))) ==
        "node \"n\": attr \"a\" is there twice");
  CHECK(at_attribute(field(1, number(3, 1) + field(2, "x"))) ==
        start + ".list: s beside values of another kind in one list");
  CHECK(at_attribute(field(8, number(7, 1) + field(4, "x"))) ==
        start + ".tensor: tensor_content beside values in int_val");
  CHECK(at_attribute(field(8, field(14, ""))) == start + ".tensor: resource_handle_val cannot be read");
  CHECK(at_attribute(field(9, "\xff")) == start + ".placeholder: is not UTF-8: \"\\xff\"");
  CHECK(at_attribute(field(7, field(2, field(2, "\xff")))) == start + ".shape.dim[0].name: is not UTF-8: \"\\xff\"");
  CHECK(at_attribute(field(7, field(2, number(1, ~std::uint64_t{6})))) == start + ".shape: dimension 0 has size -7");
  CHECK(at_attribute(field(8, number(1, 1) + field(2, field(2, number(1, 1000000000000))) + field(4, "abc"))) ==
        start + ".tensor: tensor_content has 3 bytes, which is not shape [1000000000000] of DT_FLOAT");
  CHECK(at_attribute(field(1, field(4, "12345")))
            .starts_with(start + ".list: AttrValue.ListValue is not in protobuf's binary form"));
  CHECK(error_of(field(1, field(1, "a") + field(2, "A")) + field(1, field(1, "a") + field(2, "A"))) ==
        "node \"a\": name: node number 0 has it already");
}

TEST_CASE("what is cut off or damaged is refused") {
  CHECK(error_of("\x0a\x05") == "GraphDef is cut off");
  CHECK(error_of(field(1, field(1, "n") + "\x12\x05")) == "node \"n\": NodeDef is cut off");
  CHECK(error_of(field(1, field(1, "n") + field(5, field(1, "a") + field(2, "\x1a\x7f")))) ==
        "node \"n\": attr[\"a\"]: AttrValue is cut off");
  for (const auto& bytes : {std::string("\x0a\xff\xff\xff\xff\x0f"), std::string("\x00\x01", 2), std::string("\x0b"),
                            std::string(11, '\xff'), std::string("\x0a")}) {
    CAPTURE(bytes);
    CHECK_THROWS_AS(io::read_binary(bytes), data_loss);
  }
  // Of what is cut off between two fields nothing can be noticed; otherwise it is refused, and never anything else.
  const auto whole = io::write_binary(every_kind_of_meta_graph());
  std::size_t refused = 0;
  for (std::size_t n = 0; n < whole.size(); ++n) try {
      io::read_binary<meta_graph_def>(std::string_view(whole).substr(0, n));
    } catch (const error&) {
      ++refused;
    }
  CHECK(refused + 20 > whole.size());
}

TEST_CASE("any change of a byte is an error of ours or another graph") {
  const auto whole = io::write_binary(every_kind_of_meta_graph());
  std::string bytes = whole;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int flip : {0x01, 0x80, 0xff, 0x07}) {
      bytes[i] = static_cast<char>(whole[i] ^ flip);
      try {
        const auto m = io::read_binary<meta_graph_def>(bytes, {.validate = false});
        const bool same = io::read_binary<meta_graph_def>(io::write_binary(m), {.validate = false}) == m;
        if (!same) FAIL_CHECK("byte " << i << " with " << flip << " comes back changed");
      } catch (const error&) {
      }
    }
    bytes[i] = whole[i];
  }
  CHECK(true);
}

TEST_CASE("nesting has a limit, read and written") {
  const auto most = leat_test::nested_functions(31);
  CHECK(io::read_binary(io::write_binary(most)) == most);
  CHECK_THROWS_AS(io::write_binary(leat_test::nested_functions(32)), invalid_argument);
  std::string value;
  for (int i = 0; i < 2000; ++i) value = field(10, field(2, field(2, value)));
  const auto message = error_of(with_attribute(value));
  CHECK(message.ends_with("messages are nested deeper than 64"));
  CHECK(message.size() < 1000);
}

TEST_CASE("what could not be read again is not written") {
  graph_def g;
  g.nodes.push_back(leat_test::node("n", "\xff"));
  CHECK_THROWS_WITH_AS(io::write_binary(g), "node \"n\": op: is not UTF-8: \"\\xff\"", invalid_argument);
  g.nodes[0] = leat_test::node(
      "n", "O", {}, {{"v", tensor_proto{.dtype = data_type::int32, .field = tensor_field::int_val, .bytes = "12345"}}});
  CHECK_THROWS_WITH_AS(io::write_binary(g), "node \"n\": attr[\"v\"].tensor.int_val: ends in half a value",
                       invalid_argument);
}

TEST_CASE("files are read and written, and named in what is wrong") {
  const auto path = std::filesystem::temp_directory_path() / "leat_test_io_binary.pb";
  const auto g = every_kind_of_graph();
  io::write_binary_file(g, path);
  CHECK(io::read_binary_file(path) == g);
  io::write_file(path, "\x0a\x05");
  CHECK_THROWS_WITH_AS(io::read_binary_file(path), (path.string() + ": GraphDef is cut off").c_str(), data_loss);
  std::filesystem::remove(path);
  CHECK_THROWS_AS(io::read_binary_file(path), not_found);
}

TEST_CASE("a SavedModel of TensorFlow's is no graph without nodes") {
  CHECK_THROWS_WITH_AS(io::read_binary(std::string_view("\x08\x01\x12\x02\x0a\x00", 6)), doctest::Contains("SavedModel of TensorFlow's"),
                       unimplemented);
  CHECK_THROWS_AS(io::read_binary<meta_graph_def>(std::string_view("\x08\x01\x12\x02\x0a\x00", 6)), unimplemented);
}
