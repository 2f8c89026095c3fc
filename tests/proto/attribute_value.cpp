#include <leat/proto/attribute_value.hpp>
#include <leat/proto/graph_def.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

using namespace leat;

TEST_CASE("a value is what it was made of, and nothing else") {
  const attribute_value values[]{"text",
                                 3,
                                 2.5f,
                                 true,
                                 data_type::half,
                                 tensor_shape_proto{2, -1},
                                 tensor_proto{},
                                 std::vector<std::int64_t>{1, 2},
                                 function_value{"f", {}},
                                 attribute_placeholder{"T"}};
  CHECK(*values[0].get_if<std::string>() == "text");
  CHECK(*values[1].get_if<std::int64_t>() == 3);
  CHECK(*values[2].get_if<float>() == 2.5f);
  CHECK(*values[3].get_if<bool>());
  CHECK(*values[4].get_if<data_type>() == data_type::half);
  CHECK(values[5].get_if<tensor_shape_proto>()->dims.size() == 2);
  CHECK(values[6].get_if<tensor_proto>() != nullptr);
  CHECK(*values[7].get_list<std::int64_t>() == std::vector<std::int64_t>{1, 2});
  CHECK(values[7].get_list<float>() == nullptr);
  CHECK(values[8].get_if<function_value>()->name == "f");
  CHECK(values[9].get_if<attribute_placeholder>()->name == "T");
  for (const auto& a : values) {
    CHECK(a.has_value());
    CHECK_FALSE(a == attribute_value{});
    for (const auto& b : values) CHECK((a == b) == (&a == &b));
  }
  CHECK(values[1].get_if<bool>() == nullptr);
  CHECK(*attribute_value(dtype::int32).get_if<data_type>() == data_type::int32);
}

TEST_CASE("copies are deep, moves leave the value intact") {
  attribute_value a = tensor_proto{.dtype = data_type::int32, .field = tensor_field::int_val, .shape = {1}, .bytes = "abcd"};
  attribute_value b = a;
  b.get_if<tensor_proto>()->bytes = "efgh";
  CHECK(a.get_if<tensor_proto>()->bytes == "abcd");
  a = b;
  CHECK(a == b);
  const attribute_value c = std::move(a);
  CHECK(c == b);
  CHECK(sizeof(attribute_value) <= 40);
}

TEST_CASE("numbers are equal by their bits") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(attribute_value(nan) == attribute_value(nan));
  CHECK(attribute_value(0.0f) != attribute_value(-0.0f));
  CHECK(attribute_value(std::vector<float>{nan, 1}) == attribute_value(std::vector<float>{nan, 1}));
  CHECK(attribute_value(std::vector<float>{0.0f}) != attribute_value(std::vector<float>{-0.0f}));
  CHECK(attribute_value(std::vector<float>{1}) != attribute_value(std::vector<float>{1, 1}));
}

TEST_CASE("empty lists are equal whatever they could hold") {
  CHECK(attribute_value(std::vector<float>{}) == attribute_value(std::vector<std::string>{}));
  CHECK(attribute_value(attribute_list{}) == attribute_value(std::vector<bool>{}));
  CHECK(attribute_value(attribute_list{}) != attribute_value(std::vector<bool>{true}));
  CHECK(attribute_value(std::vector<float>{1}) != attribute_value(std::vector<std::int64_t>{1}));
}

TEST_CASE("a map of attributes is sorted and has each name once") {
  attribute_map m{{"b", 1}, {"a", true}, {"b", 2}};
  REQUIRE(m.size() == 2);
  CHECK(m.begin()->name == "a");
  CHECK(*m.find("b") == attribute_value(2));
  CHECK(m.find("c") == nullptr);
  m["c"] = "text";
  CHECK(m.contains("c"));
  m.erase("a");
  m.erase("none");
  CHECK(m.size() == 2);
  CHECK(m == attribute_map{{"c", "text"}, {"b", 2}});
  CHECK(m != attribute_map{{"c", "text"}});
}

TEST_CASE("attributes that were added in any order are sorted at the end, and a name given twice is told") {
  attribute_map m;
  for (auto name : {"T", "value", "N", "_class"}) m.append(name) = std::string(name);
  CHECK(m.restore_order() == nullptr);
  for (auto name : {"T", "value", "N", "_class"}) CHECK(*m.find(name)->get_if<std::string>() == name);
  m.append("N") = 1;
  const auto* twice = m.restore_order();
  REQUIRE(twice != nullptr);
  CHECK(*twice == "N");
}

TEST_CASE("functions hold attributes that hold functions") {
  attribute_value v = function_value{"leaf", {}};
  for (int i = 0; i < 50; ++i) v = function_value{"f", {{"g", v}, {"h", std::vector<function_value>{{"k", {{"T", i}}}}}}};
  const attribute_value copy = v;
  CHECK(copy == v);
  v.get_if<function_value>()->attributes["T"] = 1;
  CHECK(copy != v);
}

TEST_CASE("maps that are copies of one another differ after a change of one of them") {
  attribute_map first{{"T", dtype::float32}, {"axis", 1}};
  attribute_map second = first;
  const attribute_map third = first;
  CHECK(second == first);
  second["axis"] = 2;
  CHECK(*std::as_const(first).find("axis")->get_if<std::int64_t>() == 1);
  CHECK(*std::as_const(second).find("axis")->get_if<std::int64_t>() == 2);
  *first.find_to_change("axis") = 3;
  CHECK(*third.find("axis")->get_if<std::int64_t>() == 1);
  second.erase("T");
  CHECK(second.size() == 1);
  CHECK(third.size() == 2);
  second.erase("nothing");
  attribute_map nothing, moved = std::move(second);
  CHECK(nothing.empty());
  CHECK(nothing.begin() == nothing.end());
  CHECK(nothing == attribute_map{});
  CHECK(nothing.find("T") == nullptr);
  CHECK(nothing.restore_order() == nullptr);
  nothing.erase("T");
  CHECK(moved.size() == 1);
  nothing = moved;
  nothing.append("a") = 1;
  CHECK(nothing.restore_order() == nullptr);
  CHECK(nothing.begin()->name == "a");
  CHECK(moved.size() == 1);
}

TEST_CASE("copies that a map hands out are as others") {
  attribute_map taken;
  {
    attribute_supply supply(attribute_map{{"T", dtype::float32}, {"axis", 1}});
    std::vector<attribute_map> copies;
    for (int k = 0; k < 200; ++k) copies.push_back(supply.copy());  // more than are counted at a time
    copies[0]["axis"] = 2;
    CHECK(*std::as_const(copies[1]).find("axis")->get_if<std::int64_t>() == 1);
    taken = copies[2];
    attribute_supply moved = std::move(supply);
    CHECK(moved.copy() == copies[3]);
    CHECK(supply.copy().empty());
    moved = attribute_supply(attribute_map{{"N", 3}});
    CHECK(moved.copy().size() == 1);
  }
  CHECK(taken.size() == 2);
  taken["axis"] = 5;
  CHECK(*std::as_const(taken).find("axis")->get_if<std::int64_t>() == 5);
  CHECK(attribute_supply().copy().empty());
}
