#include <leat/named/graph/convert.hpp>

#include <doctest/doctest.h>
#include <leat/ops/known.hpp>

using namespace leat;

namespace {

shape extent_of(std::initializer_list<std::int64_t> sizes) {
  shape s;
  for (auto d : sizes) s.push(d);
  return s;
}

// The numbers of a node, written as TensorFlow's inputs and attributes and read from them again.
std::optional<std::vector<std::int64_t>> there_and_back(const op_info& op, std::vector<std::int64_t> numbers,
                                                        std::vector<tensor_info> operands, dtype result) {
  const auto fields = form_of(op, static_cast<int>(operands.size()));
  const auto inputs = inputs_from_numbers(fields, numbers, operands, result);
  const auto attributes = attributes_from_numbers(fields, numbers, operands);
  std::vector<tensor_proto> contents;
  for (const auto& in : inputs) contents.push_back(in.value.proto());
  number_values values;
  for (const auto& c : contents) values.push_back(&c);
  return numbers_from(fields, attributes, values, operands);
}

}  // namespace

TEST_CASE("a node's numbers survive TensorFlow's notation") {
  const tensor_info x{dtype::float32, extent_of({4, 6, 2})};
  using list = std::vector<std::int64_t>;
  const auto same = [&](const op_info& op, list numbers, std::vector<tensor_info> operands, dtype result = dtype::float32) {
    INFO(op.type);
    CHECK(there_and_back(op, numbers, operands, result) == numbers);
  };
  same(info_of<sum_op>, {1, 0, 2}, {x});              // keep_dims, axes
  same(info_of<mean_op>, {0, -1}, {x});
  same(info_of<reshape_op>, {8, -1}, {x});
  same(info_of<transpose_op>, {2, 0, 1}, {x});
  same(info_of<slice_op>, {0, 1, 0, 4, 2, -1}, {x});  // begins, then sizes
  same(info_of<pad_op>, {1, 0, 2, 0, 3, 0}, {x});     // before, then after
  same(info_of<squeeze_op>, {0}, {{dtype::float32, extent_of({1, 3})}});
  same(info_of<expand_dims_op>, {1}, {x});
  same(info_of<cast_op>, {static_cast<std::int64_t>(dtype::int32)}, {x}, dtype::int32);
  same(info_of<argmax_op>, {1, static_cast<std::int64_t>(dtype::int64)}, {x}, dtype::int64);
  same(info_of<matmul_op>, {1, 0}, {{dtype::float32, extent_of({2, 3})}, {dtype::float32, extent_of({2, 3})}});
  same(info_of<one_hot_op>,
       {5, static_cast<std::int64_t>(dtype::float32), std::bit_cast<std::int64_t>(2.5), std::bit_cast<std::int64_t>(-1.0), 0},
       {{dtype::int32, extent_of({3})}});
  same(info_of<concat_op>, {1}, {x, x, x});
}

TEST_CASE("axes of everything become those of the operand") {
  const tensor_info x{dtype::float32, extent_of({4, 6})};
  CHECK(there_and_back(info_of<sum_op>, {0}, {x}, dtype::float32) == std::vector<std::int64_t>{0, 0, 1});
  CHECK(there_and_back(info_of<transpose_op>, {}, {x}, dtype::float32) == std::vector<std::int64_t>{1, 0});
}

TEST_CASE("what is not a constant is not known") {
  const tensor_info x{dtype::float32, extent_of({4, 6})};
  const tensor_info operands[]{x};
  CHECK(!numbers_from(form_of(info_of<sum_op>, 1), {}, {nullptr}, operands));
  CHECK(!numbers_from(form_of(info_of<sum_op>, 1), {}, {}, operands));
  const tensor_proto text = tensor_literal("no numbers").proto();
  CHECK(!numbers_from(form_of(info_of<sum_op>, 1), {}, {&text}, operands));
}
