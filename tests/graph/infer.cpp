#include <leat/graph/infer.hpp>

#include <doctest/doctest.h>
#include <leat/graph/graph.hpp>
#include <leat/ops/known.hpp>

using namespace leat;

namespace {
tensor_info of(std::initializer_list<std::int64_t> sizes) {
  tensor_info t{dtype::float32, {}};
  for (auto d : sizes) t.extent.push(d < 0 ? unknown_dimension : d);
  return t;
}
const tensor_info unknown{dtype::float32, shape::unknown()};
}  // namespace

TEST_CASE("an unknown rank leaves what is true of every rank") {
  const auto infer = [](const op_info& op, std::vector<tensor_info> operands, std::vector<std::int64_t> numbers = {}) {
    return infer_result(op, operands, numbers);
  };
  CHECK(!infer(info_of<add_op>, {unknown, of({2, 3})}).extent.has_rank());
  CHECK(!infer(info_of<tanh_op>, {unknown}).extent.has_rank());
  // a product takes matrices alone
  const auto product = infer(info_of<matmul_op>, {unknown, of({4, 5})}, {0, 0});
  CHECK(product.problem.empty());
  CHECK(product.extent.rank == 2);
  CHECK(product.extent[0] == unknown_dimension);
  CHECK(product.extent[1] == 5);
  // the sum of everything is a number whatever the rank
  CHECK(infer(info_of<sum_op>, {unknown}, {0}).extent.rank == 0);
  CHECK(!infer(info_of<sum_op>, {unknown}, {0, 0}).extent.has_rank());
  CHECK(infer(info_of<reshape_op>, {unknown}, {2, 3}).extent == of({2, 3}).extent);
  CHECK(infer(info_of<add_op>, {unknown, unknown}).type == dtype::float32);
}

TEST_CASE("what no rank allows is a problem") {
  const tensor_info operands[]{unknown, of({4})};
  const std::int64_t numbers[]{0, 0};
  CHECK(!infer_result(info_of<matmul_op>, operands, numbers).problem.empty());
}

TEST_CASE("many operands of unknown rank take that of the others") {
  std::vector<tensor_info> operands(6, unknown);
  const std::int64_t axis[]{0};
  CHECK(!infer_result(info_of<concat_op>, operands, axis).extent.has_rank());
  operands[3] = of({2, 7});
  const auto got = infer_result(info_of<concat_op>, operands, axis);
  CHECK(got.extent.rank == 2);
  CHECK(got.extent[1] == 7);
}

TEST_CASE("every rank that arrays have is tried, and none beyond") {
  const std::int64_t perm[]{4, 3, 2, 1, 0};
  CHECK(infer_result(info_of<transpose_op>, std::vector{unknown}, perm).extent.rank == 5);
  for (const std::int64_t axis : {max_rank - 1, -max_rank}) {
    const std::int64_t numbers[]{0, axis};
    CHECK(infer_result(info_of<sum_op>, std::vector{unknown}, numbers).extent.rank == max_rank - 1);
    CHECK(infer_result(info_of<concat_op>, std::vector(6, unknown), std::span(numbers).last(1)).extent.rank == max_rank);
  }
  const std::int64_t beyond[]{0, max_rank};
  CHECK_FALSE(infer_result(info_of<sum_op>, std::vector{unknown}, beyond).problem.empty());
  CHECK_FALSE(infer_result(info_of<expand_dims_op>, std::vector{unknown}, std::span(beyond).last(1)).problem.empty());
}

TEST_CASE("an operator of five operands that are no list keeps its dtype") {
  constexpr static op_info first{.type = "FirstOfFive", .infer = [](const operand_list& x) {
                                   if (x.extent(4).rank != x.extent(0).rank) return inference::wrong("ranks differ");
                                   return inference{x.type(1), x.extent(0)};
                                 }};
  std::vector<tensor_info> operands(5, unknown);
  operands[1].type = dtype::int32;
  const auto got = infer_result(first, operands, {});
  CHECK(got.problem.empty());
  CHECK(got.type == dtype::int32);
  CHECK_FALSE(got.extent.has_rank());
}
