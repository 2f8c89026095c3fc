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
