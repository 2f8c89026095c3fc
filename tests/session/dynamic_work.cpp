// What nodes count as, before they run.

#include <leat/session/dynamic/work.hpp>

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

using namespace leat;
using dynamic::heavy_work;
using dynamic::work_kind;

namespace {

token array(std::vector<std::int64_t> sizes) {
  shape s;
  for (const auto n : sizes) s.push(n);
  return {tensor_value(dtype::float32, s), nullptr, false};
}
token numbers(std::vector<std::int32_t> values) { return {tensor_value(values), nullptr, false}; }

std::int64_t work(std::string_view type, std::vector<token> inputs, attribute_map attributes = {}) {
  node_record record;
  record.attributes = std::move(attributes);
  kernel_node node;
  node.type = type;
  node.record = &record;
  return dynamic::work_of(dynamic::work_kind_of(type), node, inputs);
}

}  // namespace

TEST_CASE("element by element, the largest operand counts, or what two make of each other") {
  CHECK(work("Tanh", {array({256, 256})}) == heavy_work);
  CHECK(work("AddV2", {array({}), array({1000})}) == 1000);
  CHECK(work("AddV2", {array({1000, 1}), array({1, 1000})}) == 1'000'000);
  CHECK(work("Sum", {array({300, 300}), numbers({0})}) == 90'000);
  CHECK(work("Tanh", {array({0, 5})}) == 0);
  CHECK(work("OfOnesOwn", {array({70'000})}) >= heavy_work);
}

TEST_CASE("products count by their multiplications") {
  CHECK(work("MatMul", {array({128, 128}), array({128, 128})}) == heavy_work);
  CHECK(work("MatMul", {array({127, 127}), array({127, 127})}) < heavy_work);
  // few sums of many numbers, and many of few: the same arrays, one of them turned
  CHECK(work("MatMul", {array({4, 100'000}), array({100'000, 4})}) == 4 * 4 * 100'000 / 32);
  CHECK(work("MatMul", {array({4, 100'000}), array({4, 1'000})}, {{"transpose_a", true}}) >= heavy_work);
  CHECK(work("BatchMatMul", {array({10, 64, 64}), array({10, 64, 64})}) == 10 * 64 * 64 * 64 / 32);
}

TEST_CASE("what makes an array from sizes counts the array") {
  CHECK(work("RandomUniform", {numbers({100, 100})}) == 80'000);
  CHECK(work("Fill", {numbers({1000, 1000}), array({})}) == 1'000'000);
  CHECK(work("Tile", {array({10}), numbers({500})}) == 5'000);
  CHECK(work("BroadcastTo", {array({10}), numbers({500, 10})}) == 5'000);
  CHECK(work("Fill", {numbers({-5}), array({})}) == 0);
  CHECK(work("Fill", {numbers({2'000'000'000, 2'000'000'000, 2'000'000'000}), array({})}) >= heavy_work);
}

TEST_CASE("rows of a large array count as those rows") {
  CHECK(work("GatherV2", {array({100'000, 8}), numbers({1, 2, 3}), array({})}) == 24);
  variable_slot table("table", dtype::float32, shape{2, {100'000, 8}});
  CHECK(work("ScatterAdd", {{{}, &table, false}, numbers({1, 2, 3}), array({3, 8})}) == 24);
  CHECK(work("Assign", {{{}, &table, false}, array({100'000, 8})}) == 800'000);
}

TEST_CASE("what passes values on is no work") {
  for (const char* type : {"Identity", "Reshape", "Switch", "Merge", "NextIteration", "StackPushV2", "Shape", "QueueSizeV2"})
    CHECK(work(type, {array({1000, 1000}), array({1000, 1000})}) == 0);
  CHECK(work("NoOp", {}) == 0);
}
