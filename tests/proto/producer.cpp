#include <leat/proto/producer.hpp>

#include <doctest/doctest.h>

using namespace leat;

namespace {
node_def with_shape(std::string op, tensor_shape_proto shape) { return {"n", std::move(op), {}, {}, {{"shape", std::move(shape)}}}; }
}  // namespace

TEST_CASE("an empty shape says nothing for the first variables and for placeholders of old producers") {
  CHECK_FALSE(declared_shape(node_def{"n", "Placeholder", {}, {}, {}}, 24));
  for (const std::int32_t producer : {0, 21}) CHECK(declared_shape(with_shape("Placeholder", {}), producer)->unknown_rank);
  for (const std::int32_t producer : {22, 1000}) CHECK_FALSE(declared_shape(with_shape("Placeholder", {}), producer)->unknown_rank);
  for (const std::int32_t producer : {0, 1000}) {
    CHECK(declared_shape(with_shape("Variable", {}), producer)->unknown_rank);
    for (const char* op : {"VariableV2", "PlaceholderV2", "PlaceholderWithDefault"})
      CHECK_FALSE(declared_shape(with_shape(op, {}), producer)->unknown_rank);
    for (const char* op : {"Variable", "Placeholder"})
      CHECK(*declared_shape(with_shape(op, {2, -1}), producer) == tensor_shape_proto{2, -1});
  }
}

TEST_CASE("what later producers may not write") {
  CHECK(deprecated_from("TopK") == 7);
  CHECK(deprecated_from("AdjustContrast") == 2);
  CHECK(deprecated_from("TensorArrayV2") == 26);
  CHECK_FALSE(deprecated_from("Inv"));
  CHECK_FALSE(deprecated_from(""));
  CHECK_FALSE(deprecated_from("Zeta"));
}

TEST_CASE("a graph is written as of the first producer that can say what it holds") {
  const node_def scalar = with_shape("Placeholder", {}), vector = with_shape("Placeholder", {3}), removed = with_shape("TopK", {});
  CHECK(versions_to_write({vector}, {.producer = 9}).producer == 9);
  CHECK(versions_to_write({vector, scalar}, {.producer = 9}).producer == 22);
  CHECK(versions_to_write({scalar, removed}, {.producer = 6}).producer == 6);
  CHECK(versions_to_write({scalar, with_shape("PlaceholderV2", {})}, {.producer = 6}).producer == 22);
  CHECK(versions_to_write({scalar}, {.producer = 134, .min_consumer = 12}) == version_def{.producer = 134, .min_consumer = 12});
}
