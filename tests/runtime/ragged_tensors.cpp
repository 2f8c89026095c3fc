// Ragged tensors and counts of numbers: values of TensorFlow 2.21, gradients, and what is refused.

#include "support/recorded_nodes.hpp"

#include <cmath>
#include <string>

using namespace leat;
using namespace recorded_nodes;

namespace ragged_tensor_tests {

const std::vector<recorded>& recordings() {
  // clang-format off
  static const std::vector<recorded> list{
      {"RaggedRange", {i32({3}, {2, 5, 8}), i32({3}, {3, 5, 12}), i32({3}, {1, 1, 1})}, {{"Tsplits", dtype::int64}}, {i64({4}, {0, 1,
       1, 5}), i32({5}, {2, 8, 9, 10, 11})}},
      {"RaggedRange", {i32({3}, {0, 5, 8}), i32({}, {12}), i32({3}, {4, 1, -1})}, {{"Tsplits", dtype::int32}}, {i32({4}, {0, 3, 10,
       10}), i32({10}, {0, 4, 8, 5, 6, 7, 8, 9, 10, 11})}},
      {"RaggedRange", {f32({3}, {0, 1, 5}), f32({3}, {1, -1, 5}), f32({3}, {0.25, -0.5, 2})}, {{"Tsplits", dtype::int64}}, {i64({4},
       {0, 4, 8, 8}), f32({8}, {0, 0.25, 0.5, 0.75, 1, 0.5, 0, -0.5})}},
      {"RaggedRange", {i64({}, {3}), i64({}, {0}), i64({}, {-2})}, {{"Tsplits", dtype::int64}}, {i64({2}, {0, 2}), i64({2}, {3, 1})}},
      {"RaggedRange", {f64({2}, {0, 3}), f64({2}, {1, 4}), f64({}, {0.3})}, {{"Tsplits", dtype::int64}}, {i64({3}, {0, 4, 8}), f64({8},
       {0, 0.3, 0.6, 0.8999999999999999, 3, 3.3, 3.5999999999999996, 3.8999999999999995})}},
      {"RaggedRange", {i32({0}, {}), i32({0}, {}), i32({0}, {})}, {{"Tsplits", dtype::int64}}, {i64({1}, {0}), i32({0}, {})}},
      {"RaggedRange", {i32({1}, {1}), i32({1}, {5}), i32({1}, {-1})}, {{"Tsplits", dtype::int64}}, {i64({2}, {0, 0}), i32({0}, {})}},
      {"RaggedGather", {i64({5}, {0, 2, 3, 3, 5}), text({5}, {"a", "b", "c", "d", "e"}), i64({4}, {3, 0, 3, 2})},
       {{"OUTPUT_RAGGED_RANK", std::int64_t{1}}}, {i64({5}, {0, 2, 4, 6, 6}), text({6}, {"d", "e", "a", "b", "d", "e"})}},
      {"RaggedGather", {i64({5}, {0, 2, 3, 3, 5}), f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), i32({2, 2}, {0, 1, 3, 2})},
       {{"OUTPUT_RAGGED_RANK", std::int64_t{2}}}, {i64({3}, {0, 2, 4}), i64({5}, {0, 2, 3, 5, 5}), f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8,
       9, 10})}},
      {"RaggedGather", {i64({5}, {0, 2, 3, 3, 5}), f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), i32({}, {1})}, {{"OUTPUT_RAGGED_RANK",
       std::int64_t{0}}}, {f32({1, 2}, {5, 6})}},
      {"RaggedGather", {i64({4}, {0, 1, 3, 3}), i64({4}, {0, 2, 2, 5}), f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), i64({4}, {1, 0,
       2, 1})}, {{"OUTPUT_RAGGED_RANK", std::int64_t{2}}}, {i64({5}, {0, 2, 3, 3, 5}), i64({6}, {0, 0, 3, 5, 5, 8}), f32({8, 2}, {5, 6,
       7, 8, 9, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})}},
      {"RaggedGather", {i32({4}, {0, 1, 3, 3}), i32({4}, {0, 2, 2, 5}), text({5}, {"a", "b", "c", "d", "e"}), i64({1, 2}, {1, 0})},
       {{"OUTPUT_RAGGED_RANK", std::int64_t{3}}}, {i32({2}, {0, 2}), i32({3}, {0, 2, 3}), i32({4}, {0, 0, 3, 5}), text({5}, {"c", "d",
       "e", "a", "b"})}},
      {"RaggedGather", {i64({4}, {0, 1, 3, 3}), i64({4}, {0, 2, 2, 5}), f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), i64({0}, {})},
       {{"OUTPUT_RAGGED_RANK", std::int64_t{2}}}, {i64({1}, {0}), i64({1}, {0}), f32({0, 2}, {})}},
      {"RaggedGather", {i64({4}, {0, 1, 3, 3}), i64({4}, {0, 2, 2, 5}), f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), i64({}, {1})},
       {{"OUTPUT_RAGGED_RANK", std::int64_t{1}}}, {i64({3}, {0, 0, 3}), f32({3, 2}, {5, 6, 7, 8, 9, 10})}},
      {"RaggedTensorToSparse", {i64({5}, {0, 2, 3, 3, 5}), text({5}, {"a", "b", "c", "d", "e"})}, {}, {i64({5, 2}, {0, 0, 0, 1, 1, 0,
       3, 0, 3, 1}), text({5}, {"a", "b", "c", "d", "e"}), i64({2}, {4, 2})}},
      {"RaggedTensorToSparse", {i32({4}, {0, 1, 3, 3}), i32({4}, {0, 2, 2, 5}), f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})}, {},
       {i64({10, 4}, {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 2, 0, 1, 1,
       2, 1}), f32({10}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), i64({4}, {3, 2, 3, 2})}},
      {"RaggedTensorToSparse", {i64({1}, {0}), f32({0}, {})}, {}, {i64({0, 2}, {}), f32({0}, {}), i64({2}, {0, 0})}},
      {"RaggedTensorToSparse", {i64({4}, {0, 1, 3, 3}), i64({4}, {0, 2, 2, 5}), f32({5, 0}, {})}, {}, {i64({0, 4}, {}), f32({0}, {}),
       i64({4}, {3, 2, 3, 0})}},
      {"RaggedTensorToTensor", {i64({2}, {-1, -1}), text({5}, {"a", "b", "c", "d", "e"}), text({}, {"-"}), i64({5}, {0, 2, 3, 3, 5})},
       {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}}, {text({4, 2}, {"a", "b", "c", "-", "-", "-", "d", "e"})}},
      {"RaggedTensorToTensor", {i32({2}, {-1, -1}), text({5}, {"a", "b", "c", "d", "e"}), text({}, {"-"}), i64({5}, {0, 2, 3, 3, 5})},
       {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}}, {text({4, 2}, {"a", "b", "c", "-", "-", "-", "d", "e"})}},
      {"RaggedTensorToTensor", {i32({2}, {3, 2}), text({5}, {"a", "b", "c", "d", "e"}), text({}, {"-"}), i64({5}, {0, 2, 3, 3, 5})},
       {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}}, {text({3, 2}, {"a", "b", "c", "-", "-", "-"})}},
      {"RaggedTensorToTensor", {i32({2}, {6, 1}), f32({5}, {1, 2, 3, 4, 5}), f32({}, {0}), i64({5}, {0, 2, 3, 3, 5})},
       {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}}, {f32({6, 1}, {1, 3, 0, 4, 0, 0})}},
      {"RaggedTensorToTensor", {i32({3}, {-1, -1, 2}), f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), f32({2}, {7, 8}), i64({5}, {0, 2,
       3, 3, 5})}, {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}}, {f32({4, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 7, 8, 7,
       8, 7, 8, 9, 10})}},
      {"RaggedTensorToTensor", {i32({3}, {-1, 3, 2}), f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), f32({1}, {7}), i64({5}, {0, 2, 3,
       3, 5})}, {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}}, {f32({4, 3, 2}, {1, 2, 3, 4, 7, 7, 5, 6, 7, 7, 7, 7,
       7, 7, 7, 7, 7, 7, 7, 8, 9, 10, 7, 7})}},
      {"RaggedTensorToTensor", {i32({4}, {-1, -1, -1, 2}), f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), f32({}, {9}), i64({4}, {0, 1,
       3, 3}), i64({4}, {0, 2, 2, 5})}, {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS", "ROW_SPLITS"}}}, {f32({3, 2, 3,
       2}, {1, 2, 3, 4, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 5, 6, 7, 8, 9, 10, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9})}},
      {"RaggedTensorToTensor", {i32({4}, {2, 2, 3, 2}), f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), f32({}, {9}), i64({4}, {0, 1, 3,
       3}), i64({4}, {0, 2, 2, 5})}, {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS", "ROW_SPLITS"}}}, {f32({2, 2, 3,
       2}, {1, 2, 3, 4, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 5, 6, 7, 8, 9, 10})}},
      {"RaggedTensorToTensor", {i64({2}, {-1, -1}), f32({5}, {1, 2, 3, 4, 5}), f32({}, {0}), i64({}, {4}), i64({5}, {0, 0, 2, 3, 3})},
       {{"row_partition_types", std::vector<std::string>{"FIRST_DIM_SIZE", "VALUE_ROWIDS"}}}, {f32({4, 2}, {1, 2, 0, 0, 3, 0, 4, 5})}},
      {"RaggedTensorToTensor", {i64({3}, {-1, -1, 3}), f32({5}, {1, 2, 3, 4, 5}), f32({}, {0}), i32({}, {3}), i32({3}, {0, 0, 2}),
       i32({5}, {0, 0, 1, 2, 2})}, {{"row_partition_types", std::vector<std::string>{"FIRST_DIM_SIZE", "VALUE_ROWIDS",
       "VALUE_ROWIDS"}}}, {f32({3, 2, 3}, {1, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 4, 5, 0, 0, 0, 0})}},
      {"RaggedTensorToTensor", {i64({3}, {-1, -1, -1}), f32({5}, {1, 2, 3, 4, 5}), f32({}, {0}), i32({3}, {0, 2, 3}), i32({5}, {0, 0,
       1, 2, 2})}, {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS", "VALUE_ROWIDS"}}}, {f32({2, 2, 2}, {1, 2, 3, 0, 4,
       5, 0, 0})}},
      {"RaggedTensorToTensor", {i64({2}, {-1, -1}), f32({0}, {}), f32({}, {0}), i64({3}, {0, 0, 0})}, {{"row_partition_types",
       std::vector<std::string>{"ROW_SPLITS"}}}, {f32({2, 0}, {})}},
      {"RaggedTensorToTensor", {i64({2}, {-1, -1}), f32({0}, {}), f32({}, {0}), i64({}, {0}), i64({0}, {})}, {{"row_partition_types",
       std::vector<std::string>{"FIRST_DIM_SIZE", "VALUE_ROWIDS"}}}, {f32({0, 0}, {})}},
      {"RaggedTensorToTensor", {i64({2}, {0, 2}), text({5}, {"a", "b", "c", "d", "e"}), text({}, {"-"}), i64({5}, {0, 2, 3, 3, 5})},
       {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}}, {text({0, 2}, {})}},
      {"RaggedTensorToTensor", {i64({4}, {-1, -1, -1, -1}), f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), f32({2, 1}, {0, 9}), i64({3}, {0,
       2, 2})}, {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}}, {f32({2, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 9,
       9, 0, 0, 9, 9})}},
      {"RaggedFillEmptyRows", {i64({4}, {0, 0, 2, 3}), text({4}, {"a", "b", "c", "d"}), i64({}, {5}), text({}, {"x"})}, {}, {i64({6},
       {0, 0, 1, 2, 3, 4}), text({6}, {"a", "b", "x", "c", "d", "x"}), flags({5}, {0, 1, 0, 0, 1}), i64({4}, {0, 1, 3, 4})}},
      {"RaggedFillEmptyRows", {i64({0}, {}), f32({0}, {}), i64({}, {2}), f32({}, {3})}, {}, {i64({2}, {0, 1}), f32({2}, {3, 3}),
       flags({2}, {1, 1}), i64({0}, {})}},
      {"RaggedFillEmptyRows", {i64({3}, {1, 0, 1}), f32({3}, {1, 2, 3}), i64({}, {2}), f32({}, {3})}, {}, {i64({3}, {0, 1, 1}),
       f32({3}, {2, 1, 3}), flags({2}, {0, 0}), i64({3}, {1, 0, 2})}},
      {"RaggedFillEmptyRowsGrad", {i64({3}, {0, 1, 3}), f32({4}, {1, 2, 3, 4})}, {}, {f32({3}, {1, 2, 4}), f32({}, {3})}},
      {"RaggedBincount", {i64({4}, {0, 2, 2, 5}), i32({5}, {1, 3, 0, 0, 7}), i32({}, {5}), i32({0}, {})}, {{"binary_output", false}},
       {i32({3, 5}, {0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0})}},
      {"SparseBincount", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), i32({}, {5}),
       i32({0}, {})}, {{"binary_output", false}}, {i32({3, 5}, {0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0})}},
      {"SparseBincount", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({}, {5}), i32({0}, {})},
       {{"binary_output", false}}, {i32({5}, {2, 1, 0, 1, 0})}},
      {"RaggedBincount", {i64({4}, {0, 2, 2, 5}), i32({5}, {1, 3, 0, 0, 7}), i32({}, {5}), i32({0}, {})}, {{"binary_output", true}},
       {i32({3, 5}, {0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0})}},
      {"SparseBincount", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), i32({}, {5}),
       i32({0}, {})}, {{"binary_output", true}}, {i32({3, 5}, {0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0})}},
      {"SparseBincount", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({}, {5}), i32({0}, {})},
       {{"binary_output", true}}, {i32({5}, {1, 1, 0, 1, 0})}},
      {"RaggedBincount", {i64({4}, {0, 2, 2, 5}), i32({5}, {1, 3, 0, 0, 7}), i32({}, {5}), f32({5}, {0.5, 1, 1.5, 2, 4})},
       {{"binary_output", false}}, {f32({3, 5}, {0, 0.5, 0, 1, 0, 0, 0, 0, 0, 0, 3.5, 0, 0, 0, 0})}},
      {"SparseBincount", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), i32({}, {5}),
       f32({5}, {0.5, 1, 1.5, 2, 4})}, {{"binary_output", false}}, {f32({3, 5}, {0, 0.5, 0, 1, 0, 0, 0, 0, 0, 0, 3.5, 0, 0, 0, 0})}},
      {"SparseBincount", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({}, {5}), f32({5}, {0.5, 1, 1.5,
       2, 4})}, {{"binary_output", false}}, {f32({5}, {3.5, 0.5, 0, 1, 0})}},
      {"RaggedBincount", {i64({4}, {0, 2, 2, 5}), i32({5}, {1, 3, 0, 0, 7}), i32({}, {5}), f32({5}, {0.5, 1, 1.5, 2, 4})},
       {{"binary_output", true}}, {f32({3, 5}, {0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0})}},
      {"SparseBincount", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), i32({}, {5}),
       f32({5}, {0.5, 1, 1.5, 2, 4})}, {{"binary_output", true}}, {f32({3, 5}, {0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0})}},
      {"SparseBincount", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({}, {5}), f32({5}, {0.5, 1, 1.5,
       2, 4})}, {{"binary_output", true}}, {f32({5}, {1, 1, 0, 1, 0})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), i32({0}, {})}, {{"minlength", std::int64_t{-1}},
       {"maxlength", std::int64_t{-1}}, {"binary_output", false}}, {i64({4, 2}, {0, 1, 0, 3, 2, 0, 2, 7}), i32({4}, {1, 1, 2, 1}),
       i64({2}, {3, 8})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), f32({5}, {0.5, 1, 1.5, 2, 4})}, {{"minlength",
       std::int64_t{-1}}, {"maxlength", std::int64_t{-1}}, {"binary_output", false}}, {i64({4, 2}, {0, 1, 0, 3, 2, 0, 2, 7}), f32({4},
       {0.5, 1, 3.5, 4}), i64({2}, {3, 8})}},
      {"DenseCountSparseOutput", {i32({2, 3}, {1, 3, 1, 7, 2, 2}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"minlength", std::int64_t{-1}},
       {"maxlength", std::int64_t{-1}}, {"binary_output", false}}, {i64({4, 2}, {0, 1, 0, 3, 1, 2, 1, 7}), f32({4}, {4, 2, 11, 4}),
       i64({2}, {2, 8})}},
      {"DenseCountSparseOutput", {i32({3}, {1, 3, 1}), f32({0}, {})}, {{"minlength", std::int64_t{-1}}, {"maxlength",
       std::int64_t{-1}}, {"binary_output", false}}, {i64({2, 1}, {1, 3}), f32({2}, {2, 1}), i64({1}, {4})}},
      {"SparseCountSparseOutput", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), f64({5},
       {0.5, 1, 1.5, 2, 4})}, {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{-1}}, {"binary_output", false}}, {i64({4,
       2}, {0, 1, 0, 3, 2, 0, 2, 7}), f64({4}, {0.5, 1, 3.5, 4}), i64({2}, {3, 8})}},
      {"SparseCountSparseOutput", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({0}, {})},
       {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{-1}}, {"binary_output", false}}, {i64({4, 1}, {0, 1, 3, 7}),
       i64({4}, {2, 1, 1, 1}), i64({1}, {8})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), i32({0}, {})}, {{"minlength", std::int64_t{5}},
       {"maxlength", std::int64_t{-1}}, {"binary_output", false}}, {i64({4, 2}, {0, 1, 0, 3, 2, 0, 2, 7}), i32({4}, {1, 1, 2, 1}),
       i64({2}, {3, 8})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), f32({5}, {0.5, 1, 1.5, 2, 4})}, {{"minlength",
       std::int64_t{5}}, {"maxlength", std::int64_t{-1}}, {"binary_output", false}}, {i64({4, 2}, {0, 1, 0, 3, 2, 0, 2, 7}), f32({4},
       {0.5, 1, 3.5, 4}), i64({2}, {3, 8})}},
      {"DenseCountSparseOutput", {i32({2, 3}, {1, 3, 1, 7, 2, 2}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"minlength", std::int64_t{5}},
       {"maxlength", std::int64_t{-1}}, {"binary_output", false}}, {i64({4, 2}, {0, 1, 0, 3, 1, 2, 1, 7}), f32({4}, {4, 2, 11, 4}),
       i64({2}, {2, 8})}},
      {"DenseCountSparseOutput", {i32({3}, {1, 3, 1}), f32({0}, {})}, {{"minlength", std::int64_t{5}}, {"maxlength", std::int64_t{-1}},
       {"binary_output", false}}, {i64({2, 1}, {1, 3}), f32({2}, {2, 1}), i64({1}, {5})}},
      {"SparseCountSparseOutput", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), f64({5},
       {0.5, 1, 1.5, 2, 4})}, {{"minlength", std::int64_t{5}}, {"maxlength", std::int64_t{-1}}, {"binary_output", false}}, {i64({4, 2},
       {0, 1, 0, 3, 2, 0, 2, 7}), f64({4}, {0.5, 1, 3.5, 4}), i64({2}, {3, 8})}},
      {"SparseCountSparseOutput", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({0}, {})},
       {{"minlength", std::int64_t{5}}, {"maxlength", std::int64_t{-1}}, {"binary_output", false}}, {i64({4, 1}, {0, 1, 3, 7}),
       i64({4}, {2, 1, 1, 1}), i64({1}, {8})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), i32({0}, {})}, {{"minlength", std::int64_t{-1}},
       {"maxlength", std::int64_t{3}}, {"binary_output", false}}, {i64({2, 2}, {0, 1, 2, 0}), i32({2}, {1, 2}), i64({2}, {3, 3})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), f32({5}, {0.5, 1, 1.5, 2, 4})}, {{"minlength",
       std::int64_t{-1}}, {"maxlength", std::int64_t{3}}, {"binary_output", false}}, {i64({2, 2}, {0, 1, 2, 0}), f32({2}, {0.5, 3.5}),
       i64({2}, {3, 3})}},
      {"DenseCountSparseOutput", {i32({2, 3}, {1, 3, 1, 7, 2, 2}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"minlength", std::int64_t{-1}},
       {"maxlength", std::int64_t{3}}, {"binary_output", false}}, {i64({2, 2}, {0, 1, 1, 2}), f32({2}, {4, 11}), i64({2}, {2, 3})}},
      {"DenseCountSparseOutput", {i32({3}, {1, 3, 1}), f32({0}, {})}, {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{3}},
       {"binary_output", false}}, {i64({1, 1}, {1}), f32({1}, {2}), i64({1}, {3})}},
      {"SparseCountSparseOutput", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), f64({5},
       {0.5, 1, 1.5, 2, 4})}, {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{3}}, {"binary_output", false}}, {i64({2, 2},
       {0, 1, 2, 0}), f64({2}, {0.5, 3.5}), i64({2}, {3, 3})}},
      {"SparseCountSparseOutput", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({0}, {})},
       {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{3}}, {"binary_output", false}}, {i64({2, 1}, {0, 1}), i64({2}, {2,
       1}), i64({1}, {3})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), i32({0}, {})}, {{"minlength", std::int64_t{9}},
       {"maxlength", std::int64_t{4}}, {"binary_output", false}}, {i64({3, 2}, {0, 1, 0, 3, 2, 0}), i32({3}, {1, 1, 2}), i64({2}, {3,
       4})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), f32({5}, {0.5, 1, 1.5, 2, 4})}, {{"minlength",
       std::int64_t{9}}, {"maxlength", std::int64_t{4}}, {"binary_output", false}}, {i64({3, 2}, {0, 1, 0, 3, 2, 0}), f32({3}, {0.5, 1,
       3.5}), i64({2}, {3, 4})}},
      {"DenseCountSparseOutput", {i32({2, 3}, {1, 3, 1, 7, 2, 2}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"minlength", std::int64_t{9}},
       {"maxlength", std::int64_t{4}}, {"binary_output", false}}, {i64({3, 2}, {0, 1, 0, 3, 1, 2}), f32({3}, {4, 2, 11}), i64({2}, {2,
       4})}},
      {"DenseCountSparseOutput", {i32({3}, {1, 3, 1}), f32({0}, {})}, {{"minlength", std::int64_t{9}}, {"maxlength", std::int64_t{4}},
       {"binary_output", false}}, {i64({2, 1}, {1, 3}), f32({2}, {2, 1}), i64({1}, {4})}},
      {"SparseCountSparseOutput", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), f64({5},
       {0.5, 1, 1.5, 2, 4})}, {{"minlength", std::int64_t{9}}, {"maxlength", std::int64_t{4}}, {"binary_output", false}}, {i64({3, 2},
       {0, 1, 0, 3, 2, 0}), f64({3}, {0.5, 1, 3.5}), i64({2}, {3, 4})}},
      {"SparseCountSparseOutput", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({0}, {})},
       {{"minlength", std::int64_t{9}}, {"maxlength", std::int64_t{4}}, {"binary_output", false}}, {i64({3, 1}, {0, 1, 3}), i64({3},
       {2, 1, 1}), i64({1}, {4})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), i32({0}, {})}, {{"minlength", std::int64_t{-1}},
       {"maxlength", std::int64_t{-1}}, {"binary_output", true}}, {i64({4, 2}, {0, 1, 0, 3, 2, 0, 2, 7}), i32({4}, {1, 1, 1, 1}),
       i64({2}, {3, 8})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), f32({5}, {0.5, 1, 1.5, 2, 4})}, {{"minlength",
       std::int64_t{-1}}, {"maxlength", std::int64_t{-1}}, {"binary_output", true}}, {i64({4, 2}, {0, 1, 0, 3, 2, 0, 2, 7}), f32({4},
       {1, 1, 1, 1}), i64({2}, {3, 8})}},
      {"DenseCountSparseOutput", {i32({2, 3}, {1, 3, 1, 7, 2, 2}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"minlength", std::int64_t{-1}},
       {"maxlength", std::int64_t{-1}}, {"binary_output", true}}, {i64({4, 2}, {0, 1, 0, 3, 1, 2, 1, 7}), f32({4}, {1, 1, 1, 1}),
       i64({2}, {2, 8})}},
      {"DenseCountSparseOutput", {i32({3}, {1, 3, 1}), f32({0}, {})}, {{"minlength", std::int64_t{-1}}, {"maxlength",
       std::int64_t{-1}}, {"binary_output", true}}, {i64({2, 1}, {1, 3}), f32({2}, {1, 1}), i64({1}, {4})}},
      {"SparseCountSparseOutput", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), f64({5},
       {0.5, 1, 1.5, 2, 4})}, {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{-1}}, {"binary_output", true}}, {i64({4, 2},
       {0, 1, 0, 3, 2, 0, 2, 7}), f64({4}, {1, 1, 1, 1}), i64({2}, {3, 8})}},
      {"SparseCountSparseOutput", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({0}, {})},
       {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{-1}}, {"binary_output", true}}, {i64({4, 1}, {0, 1, 3, 7}),
       i64({4}, {1, 1, 1, 1}), i64({1}, {8})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), i32({0}, {})}, {{"minlength", std::int64_t{5}},
       {"maxlength", std::int64_t{-1}}, {"binary_output", true}}, {i64({4, 2}, {0, 1, 0, 3, 2, 0, 2, 7}), i32({4}, {1, 1, 1, 1}),
       i64({2}, {3, 8})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), f32({5}, {0.5, 1, 1.5, 2, 4})}, {{"minlength",
       std::int64_t{5}}, {"maxlength", std::int64_t{-1}}, {"binary_output", true}}, {i64({4, 2}, {0, 1, 0, 3, 2, 0, 2, 7}), f32({4},
       {1, 1, 1, 1}), i64({2}, {3, 8})}},
      {"DenseCountSparseOutput", {i32({2, 3}, {1, 3, 1, 7, 2, 2}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"minlength", std::int64_t{5}},
       {"maxlength", std::int64_t{-1}}, {"binary_output", true}}, {i64({4, 2}, {0, 1, 0, 3, 1, 2, 1, 7}), f32({4}, {1, 1, 1, 1}),
       i64({2}, {2, 8})}},
      {"DenseCountSparseOutput", {i32({3}, {1, 3, 1}), f32({0}, {})}, {{"minlength", std::int64_t{5}}, {"maxlength", std::int64_t{-1}},
       {"binary_output", true}}, {i64({2, 1}, {1, 3}), f32({2}, {1, 1}), i64({1}, {5})}},
      {"SparseCountSparseOutput", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), f64({5},
       {0.5, 1, 1.5, 2, 4})}, {{"minlength", std::int64_t{5}}, {"maxlength", std::int64_t{-1}}, {"binary_output", true}}, {i64({4, 2},
       {0, 1, 0, 3, 2, 0, 2, 7}), f64({4}, {1, 1, 1, 1}), i64({2}, {3, 8})}},
      {"SparseCountSparseOutput", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({0}, {})},
       {{"minlength", std::int64_t{5}}, {"maxlength", std::int64_t{-1}}, {"binary_output", true}}, {i64({4, 1}, {0, 1, 3, 7}), i64({4},
       {1, 1, 1, 1}), i64({1}, {8})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), i32({0}, {})}, {{"minlength", std::int64_t{-1}},
       {"maxlength", std::int64_t{3}}, {"binary_output", true}}, {i64({2, 2}, {0, 1, 2, 0}), i32({2}, {1, 1}), i64({2}, {3, 3})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), f32({5}, {0.5, 1, 1.5, 2, 4})}, {{"minlength",
       std::int64_t{-1}}, {"maxlength", std::int64_t{3}}, {"binary_output", true}}, {i64({2, 2}, {0, 1, 2, 0}), f32({2}, {1, 1}),
       i64({2}, {3, 3})}},
      {"DenseCountSparseOutput", {i32({2, 3}, {1, 3, 1, 7, 2, 2}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"minlength", std::int64_t{-1}},
       {"maxlength", std::int64_t{3}}, {"binary_output", true}}, {i64({2, 2}, {0, 1, 1, 2}), f32({2}, {1, 1}), i64({2}, {2, 3})}},
      {"DenseCountSparseOutput", {i32({3}, {1, 3, 1}), f32({0}, {})}, {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{3}},
       {"binary_output", true}}, {i64({1, 1}, {1}), f32({1}, {1}), i64({1}, {3})}},
      {"SparseCountSparseOutput", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), f64({5},
       {0.5, 1, 1.5, 2, 4})}, {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{3}}, {"binary_output", true}}, {i64({2, 2},
       {0, 1, 2, 0}), f64({2}, {1, 1}), i64({2}, {3, 3})}},
      {"SparseCountSparseOutput", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({0}, {})},
       {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{3}}, {"binary_output", true}}, {i64({2, 1}, {0, 1}), i64({2}, {1,
       1}), i64({1}, {3})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), i32({0}, {})}, {{"minlength", std::int64_t{9}},
       {"maxlength", std::int64_t{4}}, {"binary_output", true}}, {i64({3, 2}, {0, 1, 0, 3, 2, 0}), i32({3}, {1, 1, 1}), i64({2}, {3,
       4})}},
      {"RaggedCountSparseOutput", {i64({4}, {0, 2, 2, 5}), i64({5}, {1, 3, 0, 0, 7}), f32({5}, {0.5, 1, 1.5, 2, 4})}, {{"minlength",
       std::int64_t{9}}, {"maxlength", std::int64_t{4}}, {"binary_output", true}}, {i64({3, 2}, {0, 1, 0, 3, 2, 0}), f32({3}, {1, 1,
       1}), i64({2}, {3, 4})}},
      {"DenseCountSparseOutput", {i32({2, 3}, {1, 3, 1, 7, 2, 2}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"minlength", std::int64_t{9}},
       {"maxlength", std::int64_t{4}}, {"binary_output", true}}, {i64({3, 2}, {0, 1, 0, 3, 1, 2}), f32({3}, {1, 1, 1}), i64({2}, {2,
       4})}},
      {"DenseCountSparseOutput", {i32({3}, {1, 3, 1}), f32({0}, {})}, {{"minlength", std::int64_t{9}}, {"maxlength", std::int64_t{4}},
       {"binary_output", true}}, {i64({2, 1}, {1, 3}), f32({2}, {1, 1}), i64({1}, {4})}},
      {"SparseCountSparseOutput", {i64({5, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 3}), i32({5}, {1, 3, 0, 0, 7}), i64({2}, {3, 4}), f64({5},
       {0.5, 1, 1.5, 2, 4})}, {{"minlength", std::int64_t{9}}, {"maxlength", std::int64_t{4}}, {"binary_output", true}}, {i64({3, 2},
       {0, 1, 0, 3, 2, 0}), f64({3}, {1, 1, 1}), i64({2}, {3, 4})}},
      {"SparseCountSparseOutput", {i64({5, 1}, {0, 1, 2, 4, 5}), i64({5}, {1, 3, 0, 0, 7}), i64({1}, {6}), i64({0}, {})},
       {{"minlength", std::int64_t{9}}, {"maxlength", std::int64_t{4}}, {"binary_output", true}}, {i64({3, 1}, {0, 1, 3}), i64({3}, {1,
       1, 1}), i64({1}, {4})}},
      {"DenseCountSparseOutput", {i32({3}, {1, 0, 1}), f32({0}, {})}, {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{0}},
       {"binary_output", false}}, {i64({0, 1}, {}), f32({0}, {}), i64({1}, {0})}},
      {"RaggedCountSparseOutput", {i64({3}, {0, 0, 0}), i32({0}, {}), f32({0}, {})}, {{"minlength", std::int64_t{-1}}, {"maxlength",
       std::int64_t{0}}, {"binary_output", false}}, {i64({0, 2}, {}), f32({0}, {}), i64({2}, {2, 0})}},
      {"SparseCountSparseOutput", {i64({0, 2}, {}), i32({0}, {}), i64({2}, {3, 0}), f32({0}, {})}, {{"minlength", std::int64_t{2}},
       {"maxlength", std::int64_t{0}}, {"binary_output", false}}, {i64({0, 2}, {}), f32({0}, {}), i64({2}, {3, 0})}},
      {"DenseCountSparseOutput", {i32({2, 0}, {}), f32({0}, {})}, {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{0}},
       {"binary_output", false}}, {i64({0, 2}, {}), f32({0}, {}), i64({2}, {2, 0})}},
      {"DenseCountSparseOutput", {i32({3}, {1, 0, 1}), f32({0}, {})}, {{"minlength", std::int64_t{-1}}, {"maxlength",
       std::int64_t{-1}}, {"binary_output", false}}, {i64({2, 1}, {0, 1}), f32({2}, {1, 2}), i64({1}, {2})}},
      {"RaggedCountSparseOutput", {i64({3}, {0, 0, 0}), i32({0}, {}), f32({0}, {})}, {{"minlength", std::int64_t{-1}}, {"maxlength",
       std::int64_t{-1}}, {"binary_output", false}}, {i64({0, 2}, {}), f32({0}, {}), i64({2}, {2, 1})}},
      {"SparseCountSparseOutput", {i64({0, 2}, {}), i32({0}, {}), i64({2}, {3, 0}), f32({0}, {})}, {{"minlength", std::int64_t{2}},
       {"maxlength", std::int64_t{-1}}, {"binary_output", false}}, {i64({0, 2}, {}), f32({0}, {}), i64({2}, {3, 2})}},
      {"DenseCountSparseOutput", {i32({2, 0}, {}), f32({0}, {})}, {{"minlength", std::int64_t{-1}}, {"maxlength", std::int64_t{-1}},
       {"binary_output", false}}, {i64({0, 2}, {}), f32({0}, {}), i64({2}, {2, 1})}}};
  // clang-format on
  return list;
}

const attribute_map by_splits{{"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}};
const attribute_map by_rows{{"row_partition_types", std::vector<std::string>{"FIRST_DIM_SIZE", "VALUE_ROWIDS"}}};
const attribute_map counts{{"binary_output", false}};
bool refuses_gather(const std::vector<tensor_value>& inputs, std::int64_t rank, std::string_view words) {
  return refuses("RaggedGather", inputs, {{"OUTPUT_RAGGED_RANK", rank}}, words);
}

TEST_CASE("ragged tensors and counts have TensorFlow's values") { check_recorded(recordings()); }

TEST_CASE("an unknown shape of a dense array is the scalar -1") {
  graph g;
  const auto scope = g.as_default();
  const output made = call_operator(g, "RaggedTensorToTensor", {tensor_literal(-1), tensor_literal({1.0f, 2.0f, 3.0f}), tensor_literal(0.0f),
                                                                tensor_literal({std::int64_t{0}, std::int64_t{1}, std::int64_t{3}})},
                                    by_splits)
                          .result();
  CHECK(made.extent() == shape(2, {unknown_dimension, unknown_dimension}));
  graph_session s(g);
  check_equal(s.run({made})[0], f32({2, 2}, {1, 0, 2, 3}), 0);
}

TEST_CASE("ranges and gathered rows that are refused") {
  CHECK(refuses("RaggedRange", {i32({2}, {1, 2}), i32({3}, {1, 2, 3}), i32({}, {1})}, {}, "starts, limits, and deltas must have the same shape"));
  CHECK(refuses("RaggedRange", {i32({2}, {1, 2}), i32({}, {5}), i32({}, {0})}, {}, "Requires delta != 0"));
  CHECK(refuses("RaggedRange", {i32({1, 1}, {1}), i32({}, {5}), i32({}, {1})}, {}, "starts must be a scalar or vector"));
  const std::string too_many = "Requires ((limit - start) / delta) <= ";
  for (const double limit : {1e30, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    CHECK(refuses("RaggedRange", {f32({1}, {0}), f32({1}, {limit}), f32({1}, {1})}, {}, too_many + "9223372036854775807"));
  CHECK(refuses("RaggedRange", {i64({1}, {0}), i64({1}, {std::int64_t{1} << 40}), i64({1}, {1})}, {{"Tsplits", dtype::int32}},
                too_many + "2147483647"));
  CHECK(refuses("RaggedRange", {i64({2}, {0, 0}), i64({2}, {2147483647, 1}), i64({1}, {1}).reshaped({})}, {{"Tsplits", dtype::int32}}, too_many));
  CHECK(refuses<error>("RaggedRange", {i64({1}, {INT64_MIN}), i64({1}, {INT64_MAX}), i64({1}, {1})}, {}, ""));

  const tensor_value splits = i64({5}, {0, 2, 3, 3, 5}), values = text({5}, {"a", "b", "c", "d", "e"});
  CHECK(refuses_gather({splits, values, i64({1}, {4})}, 1, "indices[0] = 4 is not in [0, 4)"));
  CHECK(refuses_gather({splits, values, i64({1}, {-1})}, 1, "indices[0] = -1 is not in [0, 4)"));
  CHECK(refuses_gather({i64({2}, {0, 6}), values, i64({1}, {0})}, 1, "Ragged splits must not point past values"));
  CHECK(refuses_gather({i64({3}, {0, 3, 2}), values, i64({1}, {0})}, 1, "Ragged splits must be sorted"));
  CHECK(refuses_gather({i64({2}, {-1, 2}), values, i64({1}, {0})}, 1, "Ragged splits must be non-negative"));
  CHECK(refuses_gather({i64({0}, {}), values, i64({1}, {0})}, 1, "indices[0] = 0 is not in [0, -1)"));
  CHECK(refuses_gather({splits, text({}, {"a"}), i64({1}, {0})}, 1, "params.rank must be nonzero"));
  CHECK(refuses_gather({splits, values, i64({1}, {0})}, 2, "OUTPUT_RAGGED_RANK must be 1, not 2"));
  CHECK(refuses("RaggedGather", {i64({2}, {0, 9}), i64({2}, {0, 2}), values, i64({1}, {0})}, {{"OUTPUT_RAGGED_RANK", std::int64_t{2}}},
                "Ragged splits must not point past values"));
}

TEST_CASE("dense and sparse arrays of ragged tensors that are refused") {
  const tensor_value values = f32({5}, {1, 2, 3, 4, 5}), splits = i64({5}, {0, 2, 3, 3, 5}), zero = f32({}, {0}), open = i32({2}, {-1, -1});
  const auto dense = [&](const std::vector<tensor_value>& inputs, const attribute_map& settings, std::string_view words) {
    CHECK(refuses("RaggedTensorToTensor", inputs, settings, words));
  };
  const auto named = [](std::vector<std::string> names) { return attribute_map{{"row_partition_types", std::move(names)}}; };
  dense({open, values, zero, splits}, named({"X"}), "Unknown string for partition info type");
  dense({open, values, zero, splits}, named({}), "Partition info types should not be empty");
  dense({open, values, zero, splits}, named({"VALUE_ROWIDS"}), "VALUE_ROWIDS cannot be first");
  dense({open, values, zero, i64({}, {4})}, named({"FIRST_DIM_SIZE"}), "FIRST_DIM_SIZE must be followed by VALUE_ROWIDS");
  dense({open, values, zero, splits, splits}, named({"ROW_SPLITS", "FIRST_DIM_SIZE"}), "FIRST_DIM_SIZE must be first");
  dense({open, values, zero, splits, splits}, named({"ROW_SPLITS"}),
        "Number of row partition tensors (2) does not equal the number of row partition types(1).");
  dense({i32({3}, {-1, -1, -1}), values, zero, splits}, by_splits, "are incompatible: rt_input.rank = 2 but shape.rank = 3");
  dense({open, values, f32({1}, {0}), splits}, by_splits, "default_value.rank = 1  must be less than rt_input.flat_values.rank = 1");
  dense({open, f32({}, {0}), zero, splits}, by_splits, "");
  const tensor_value pairs = f32({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 0});
  dense({i32({3}, {-1, -1, 2}), pairs, f32({3}, {1, 2, 3}), splits}, by_splits, "default_value.shape[-1] = 3 but rt_input.flat_values.shape[-1] = 2");
  dense({i32({3}, {-1, -1, 3}), pairs, f32({1}, {1}), splits}, by_splits, "are incompatible");
  dense({i32({2}, {-1, -5}), values, zero, splits}, by_splits, "");
  dense({i32({1, 2}, {-1, -1}), values, zero, splits}, by_splits, "");
  for (const tensor_value& bad : {i64({3}, {0, 2, 9}), i64({3}, {0, 2, 4}), i64({2}, {1, 5}), i64({4}, {0, 3, 2, 5})})
    dense({open, values, zero, bad}, by_splits, "Invalid row split size.");
  dense({open, values, zero, i64({0}, {})}, by_splits, "Invalid first partition input. Tensor requires at least one element.");
  dense({open, values, zero, i64({1, 2}, {0, 5})}, by_splits, "Row partition must be a vector.");
  dense({open, values, zero, i64({}, {4}), i64({5}, {0, 0, 1, 9, 9})}, by_rows, "Got next_value_rowid=9 which is not less than 4");
  dense({open, values, zero, i64({}, {4}), i64({5}, {-1, 0, 2, 2, 2})}, by_rows, "Got current_value_rowid=-1 which is not less than 4");
  dense({open, values, zero, i64({}, {4}), i64({5}, {0, 0, 2, 1, 1})}, by_rows, "value_rowids must be sorted");
  dense({open, values, zero, i64({}, {4}), i64({3}, {0, 0, 1})}, by_rows, "Invalid row split size.");
  dense({open, values, zero, i64({}, {-4}), i64({5}, {0, 0, 0, 0, 0})}, by_rows, "Dimension -4 must be >= 0");
  dense({i32({3}, {-1, -1, -1}), values, zero, i64({2}, {0, 9}), i64({2}, {0, 5})}, named({"ROW_SPLITS", "ROW_SPLITS"}), "Invalid row split size.");
  CHECK(refuses<error>("RaggedTensorToTensor", {i32({2}, {1 << 30, 1 << 30}), values, zero, splits}, by_splits, ""));
  CHECK(refuses<error>("RaggedTensorToTensor", {open, values, zero, i64({}, {std::int64_t{1} << 50}), i64({5}, {0, 0, 0, 0, 0})}, by_rows, ""));

  const auto sparse = [&](const std::vector<tensor_value>& inputs, std::string_view words) {
    CHECK(refuses("RaggedTensorToSparse", inputs, {}, words));
  };
  sparse({i64({2}, {1, 5}), values}, "First value of ragged splits must be 0.");
  sparse({i64({2}, {0, 3}), values}, "Final value of ragged splits must match the length the corresponding ragged values.");
  sparse({i64({2}, {0, 9}), i64({2}, {0, 5}), values}, "Final value of ragged splits must match the length the corresponding ragged values.");
  sparse({i64({0}, {}), values}, "ragged splits may not be empty.");
  sparse({i64({4}, {0, 3, 2, 5}), values}, "Ragged splits should be non decreasing, but we got 3 followed by 2");

  const auto fill = [&](const std::vector<tensor_value>& inputs, std::string_view words) {
    CHECK(refuses("RaggedFillEmptyRows", inputs, {}, words));
  };
  const tensor_value one = f32({1}, {1}), three = i64({}, {3});
  fill({i64({2}, {0, 5}), f32({2}, {1, 2}), three, zero}, "indices(1, 0) is invalid: 5 >= 3");
  fill({i64({1}, {-1}), one, three, zero}, "indices(0, 0) is invalid: -1 >= 3");
  fill({i64({1}, {0}), f32({2}, {1, 2}), three, zero}, "The length of `values` (2) must match the first dimension of `value_rowids` (1).");
  fill({i64({1}, {0}), one, i64({}, {-3}), zero}, "Expected shape dimensions to be non-negative, got -3");
  fill({i64({1}, {0}), one, i64({}, {0}), zero}, "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = 1");
  CHECK(refuses<error>("RaggedFillEmptyRows", {i64({1}, {0}), one, i64({}, {std::int64_t{1} << 50}), zero}, {}, ""));
  CHECK(refuses("RaggedFillEmptyRowsGrad", {i64({2}, {0, 9}), f32({2}, {1, 2})}, {}, "Elements in reverse index must be in [0, 2) but got 9"));
}

TEST_CASE("counts that are refused") {
  const tensor_value none = i32({0}, {}), two = i32({2}, {1, 2}), four = i32({}, {4}), both = i64({2}, {0, 2});
  const auto ragged = [&](const std::vector<tensor_value>& inputs, std::string_view words) { CHECK(refuses("RaggedBincount", inputs, {}, words)); };
  ragged({both, two, i32({}, {-1}), none}, "size (-1) must be non-negative");
  ragged({both, i32({2}, {1, -2}), four, none}, "Input must be non-negative");
  ragged({i64({2}, {0, 3}), two, four, none}, "Splits must end with the number of values, got 3 instead of 2");
  ragged({i64({2}, {1, 2}), two, four, none}, "Splits must start with 0, not with 1");
  ragged({i64({0}, {}), two, four, none}, "Splits must be non-empty");
  ragged({i64({4}, {0, 2, 1, 2}), two, four, none}, "Splits must be sorted");
  ragged({both, two, four, i32({1}, {1})}, "Weights and values must have the same shape.");
  CHECK(refuses<error>("RaggedBincount", {both, i64({2}, {1, 2}), i64({}, {std::int64_t{1} << 60}), none}, {}, ""));

  const tensor_value at = i64({2, 2}, {0, 0, 1, 0}), sizes = i64({2}, {2, 2});
  const auto sparse = [&](const std::vector<tensor_value>& inputs, std::string_view words) { CHECK(refuses("SparseBincount", inputs, {}, words)); };
  sparse({at, two, sizes, i32({}, {-4}), none}, "size (-4) must be non-negative");
  sparse({at, i32({3}, {1, 2, 3}), sizes, four, none}, "Number of elements in indices (2) and values (3) do not match");
  sparse({at, two, i64({1}, {2}), four, none}, "Index rank (2) and shape rank (1) do not match");
  sparse({i64({2, 2}, {0, 0, 5, 0}), two, sizes, four, none}, "Sparse index tuple indices[1, :] = [5, 0] is out of bounds");
  sparse({i64({2, 2}, {0, 0, -1, 0}), two, sizes, four, none}, "Sparse index tuple indices[1, :] = [-1, 0] is out of bounds");
  sparse({i64({2}, {0, 1}), two, sizes, four, none}, "Sparse indices must be rank 2 but is rank 1");
  CHECK(refuses<error>("SparseBincount", {at, two, i64({2}, {INT64_MAX, 2}), four, none}, {}, ""));

  CHECK(refuses("DenseCountSparseOutput", {i32({1, 1, 1}, {1}), none}, counts, "Input must be a 1 or 2-dimensional tensor. Got: [1,1,1]"));
  CHECK(refuses("DenseCountSparseOutput", {i32({2}, {1, -1}), none}, counts, "Input values must all be non-negative"));
  CHECK(refuses("DenseCountSparseOutput", {two, i32({1}, {1})}, counts,
                "Weights and data must have the same shape. Weight shape: [1]; data shape: [2]"));
  const auto counted = [&](const std::vector<tensor_value>& inputs, std::string_view words) {
    CHECK(refuses("SparseCountSparseOutput", inputs, counts, words));
  };
  counted({at, i32({2}, {1, -2}), sizes, none}, "Input values must all be non-negative");
  counted({at, i32({1}, {1}), sizes, none}, "Number of values must match first dimension of indices.Got 1 values, indices shape: [2,2]");
  counted({i64({2, 2}, {0, 0, 5, 0}), two, sizes, none}, "Invalid index value at 1: dimension 0 has value 5 which is not in [0, 2)");
  counted({at, two, i64({1}, {2}), none}, "Number of dimensions must match second dimension of indices.Got 1 dimensions, indices shape: [2,2]");
  counted({at, two, sizes, i32({1}, {1})}, "Weights and values must have the same shape. Weight shape: [1]; values shape: [2]");
  const auto of_rows = [&](const std::vector<tensor_value>& inputs, std::string_view words) {
    CHECK(refuses("RaggedCountSparseOutput", inputs, counts, words));
  };
  of_rows({both, i32({2}, {1, -2}), none}, "Input values must all be non-negative");
  of_rows({i64({2}, {0, 3}), two, none}, "Splits must end with the number of values, got 3 instead of 2");
  of_rows({i64({2}, {1, 2}), two, none}, "Splits must start with 0, not with 1");
  of_rows({i64({1}, {0}), none, none}, "Must provide at least 2 elements for the splits argument");
}

TEST_CASE("gradients of ragged tensors") {
  graph g;
  const auto scope = g.as_default();
  const output values = placeholder(dtype::float32, shape(1, {5})), otherwise = placeholder(dtype::float32, shape{});
  const tensor_literal splits({std::int64_t{0}, std::int64_t{2}, std::int64_t{3}, std::int64_t{3}, std::int64_t{5}});
  const std::vector<feed_item> feeds{{values, f32({5}, {1, 2, 3, 4, 5})}, {otherwise, f32({}, {7})}};
  const auto weighted = [](const output& y) { return reduce_sum(square(y), all_axes); };
  const output dense = call_operator(g, "RaggedTensorToTensor", {tensor_literal({3, 1}), values, otherwise, splits}, by_splits).result();
  const auto of_dense = gradients({weighted(dense)}, {values, otherwise});
  const output rows = call_operator(g, "RaggedGather", {splits, values, tensor_literal({std::int64_t{0}, std::int64_t{3}, std::int64_t{0}})},
                                    {{"OUTPUT_RAGGED_RANK", std::int64_t{1}}})
                          .result(1);
  const auto of_rows = gradients({weighted(rows)}, {values});
  const output sparse = call_operator(g, "RaggedTensorToSparse", {splits, values}).result(1);
  const auto of_sparse = gradients({weighted(sparse)}, {values});
  const output filled = call_operator(g, "RaggedFillEmptyRows", {tensor_literal({std::int64_t{0}, std::int64_t{0}, std::int64_t{2}, std::int64_t{3}, std::int64_t{3}}),
                                                                 values, tensor_literal(std::int64_t{6}), otherwise})
                            .result(1);
  const auto of_filled = gradients({weighted(filled)}, {values, otherwise});
  graph_session s(g);
  const auto is = [&](const output& y, const tensor_value& wanted) { check_equal(s.run({y}, feeds)[0], wanted, 1e-6); };
  is(of_dense[0], f32({5}, {2, 0, 6, 0, 0}));
  is(of_dense[1], f32({}, {14}));
  is(of_rows[0], f32({5}, {4, 8, 0, 8, 10}));
  is(of_sparse[0], f32({5}, {2, 4, 6, 8, 10}));
  is(of_filled[0], f32({5}, {2, 4, 6, 8, 10}));
  is(of_filled[1], f32({}, {42}));
}

}  // namespace ragged_tensor_tests
