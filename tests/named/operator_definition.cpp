#include <leat/named/graph/operator_definition.hpp>

#include <doctest/doctest.h>

using namespace leat;

TEST_CASE("a definition is read from its line") {
  const auto& d = define_operator(
      "TestBlend(first: T, rest: N*T, others: list(U), variable: &T) -> (out: &T, index: int32, parts: num*T); num: int >= 2; rate: "
      "float = 0.5; mode: string = \"slow\"; kind: {float32, int64} = int64; sizes: list(int) = []; open: shape = ?; exact: bool = true");
  CHECK(d.type == "TestBlend");
  REQUIRE(d.inputs.size() == 4);
  CHECK(d.inputs[0].type_attribute == "T");
  CHECK(d.inputs[1].count_attribute == "N");
  CHECK(d.inputs[2].list_attribute == "U");
  CHECK(d.inputs[3].reference);
  REQUIRE(d.results.size() == 3);
  CHECK(d.results[0].reference);
  CHECK(d.results[1].type == data_type::int32);
  CHECK(d.results[2].count_attribute == "num");
  REQUIRE(d.find_attribute("num") != nullptr);
  CHECK(d.find_attribute("num")->least == 2);
  CHECK(!d.find_attribute("num")->fallback.has_value());
  CHECK(*d.find_attribute("rate")->fallback.get_if<float>() == 0.5f);
  CHECK(*d.find_attribute("mode")->fallback.get_if<std::string>() == "slow");
  CHECK(d.find_attribute("kind")->allowed == std::vector{data_type::float32, data_type::int64});
  CHECK(*d.find_attribute("kind")->fallback.get_if<data_type>() == data_type::int64);
  CHECK(d.find_attribute("open")->fallback.get_if<tensor_shape_proto>()->unknown_rank);
  CHECK(*d.find_attribute("exact")->fallback.get_if<bool>());
  // what follows from the arguments
  CHECK(d.find_attribute("T")->kind == attribute_kind::type);
  CHECK(d.find_attribute("N")->least == 1);
  CHECK(d.find_attribute("U")->is_list);
  CHECK(find_definition("TestBlend") == &d);
  CHECK(&define_operator("TestBlend() -> ()") == &d);  // the first stays
  CHECK(find_definition("TestNothing") == nullptr);
}

TEST_CASE("the facts of a line: what is stated, and what its references say") {
  const auto facts_of = [](const operator_definition& d) { return d.info.what; };
  const facts open = facts_of(define_operator("TestOpenFacts(x: T) -> (y: T)"));
  CHECK(open.is == nature::effect);  // it may do anything
  CHECK(open.written.empty());
  CHECK(facts_of(define_operator("TestPureFacts(x: T) -> (y: T)", {.is = nature::pure})).is_pure());
  const facts writes = facts_of(define_operator("TestWriting(x: T, a: &T, queue: &string, b: &T) -> (a_out: &T)"));
  CHECK(writes.written == input_set{0b1010});
  CHECK(!writes.forwards_reference);
  const facts forwards = facts_of(define_operator("TestForwarding(x: &T) -> (y: &T)", {.is = nature::inert, .forwards = true}));
  CHECK(forwards.written.empty());
  CHECK(forwards.forwards_reference);
  const facts looks = facts_of(define_operator("TestLooking(x: &T) -> (y: bool)", {.is = nature::observes}));
  CHECK(looks.written.empty());
  CHECK(!looks.forwards_reference);
}

TEST_CASE("a line that cannot be read says where") {
  const auto says = [](std::string_view line) {
    try {
      define_operator(line);
    } catch (const invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(says("TestBad(x: T -> (y: T)").find("expected ')' at character 14") != std::string::npos);
  CHECK(says("TestBad(x: T)").find("expected '->'") != std::string::npos);
  CHECK(says("TestBad(x: T) -> (y: T); n: number").find("'number' is no kind of attribute") != std::string::npos);
  CHECK(says("TestBad(x: T) -> (y: T); t: {float99}").find("'float99' is no dtype") != std::string::npos);
  CHECK(says("TestBad(x: T) -> (y: T) more").find("expected the end") != std::string::npos);
  CHECK(find_definition("TestBad") == nullptr);
}
