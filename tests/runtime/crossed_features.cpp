// Crossed features: TensorFlow 2.21's hashes and texts, and what is refused.

#include "support/recorded_nodes.hpp"

#include <cmath>
#include <string>

using namespace leat;
using namespace recorded_nodes;

namespace crossed_feature_tests {

const std::vector<recorded>& recordings() {
  // clang-format off
  static const std::vector<recorded> list{
      {"SparseCross", {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), text({4}, {"a", "bb", "c", "d"}), i64({2}, {4, 2}), text({4, 1}, {"x",
       "y", "z", "a longer text than the others are"})}, {{"N", std::int64_t{1}}, {"sparse_types",
       std::vector<data_type>{data_type::string}}, {"dense_types", std::vector<data_type>{data_type::string}}, {"hashed_output", true},
       {"num_buckets", std::int64_t{0}}, {"hash_key", std::int64_t{-7}}, {"out_type", dtype::int64}, {"internal_type", text_dtype}},
       {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({4}, {1895681116792143293, 782406961602257239, 1511773659779583992,
       6504848572758897995}), i64({2}, {4, 2})}},
      {"SparseCross", {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb", "c",
       "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({4, 2}, {7, 8, 9, 10, 11, 12, 13, -14})}, {{"N", std::int64_t{2}}, {"sparse_types",
       std::vector<data_type>{data_type::string, data_type::int64}}, {"dense_types", std::vector<data_type>{data_type::string,
       data_type::int64}}, {"hashed_output", true}, {"num_buckets", std::int64_t{0}}, {"hash_key", std::int64_t{956888297470}},
       {"out_type", dtype::int64}, {"internal_type", dtype::int64}}, {i64({10, 2}, {0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1, 1, 2, 1, 3, 3,
       0, 3, 1}), i64({10}, {3819167011611407446, 8818566038263987335, 1588693445765322776, 6902010337318511212, 4581566205122471076,
       7829550016535547196, 705271281997570294, 8280446376850439684, 7904254210580805499, 4408658001359867129}), i64({2}, {4, 4})}},
      {"SparseCross", {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), text({4}, {"a", "bb", "c", "d"}), i64({2}, {4, 2}), text({4, 1}, {"x",
       "y", "z", "a longer text than the others are"})}, {{"N", std::int64_t{1}}, {"sparse_types",
       std::vector<data_type>{data_type::string}}, {"dense_types", std::vector<data_type>{data_type::string}}, {"hashed_output", true},
       {"num_buckets", std::int64_t{100}}, {"hash_key", std::int64_t{-7}}, {"out_type", dtype::int64}, {"internal_type", text_dtype}},
       {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({4}, {0, 46, 99, 95}), i64({2}, {4, 2})}},
      {"SparseCross", {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb", "c",
       "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({4, 2}, {7, 8, 9, 10, 11, 12, 13, -14})}, {{"N", std::int64_t{2}}, {"sparse_types",
       std::vector<data_type>{data_type::string, data_type::int64}}, {"dense_types", std::vector<data_type>{data_type::string,
       data_type::int64}}, {"hashed_output", true}, {"num_buckets", std::int64_t{100}}, {"hash_key", std::int64_t{956888297470}},
       {"out_type", dtype::int64}, {"internal_type", dtype::int64}}, {i64({10, 2}, {0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1, 1, 2, 1, 3, 3,
       0, 3, 1}), i64({10}, {53, 42, 76, 19, 83, 96, 1, 91, 99, 36}), i64({2}, {4, 4})}},
      {"SparseCross", {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), text({4}, {"a", "bb", "c", "d"}), i64({2}, {4, 2}), text({4, 1}, {"x",
       "y", "z", "a longer text than the others are"})}, {{"N", std::int64_t{1}}, {"sparse_types",
       std::vector<data_type>{data_type::string}}, {"dense_types", std::vector<data_type>{data_type::string}}, {"hashed_output",
       false}, {"num_buckets", std::int64_t{0}}, {"hash_key", std::int64_t{0}}, {"out_type", text_dtype}, {"internal_type",
       text_dtype}}, {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), text({4}, {"a_X_x", "bb_X_x", "c_X_y",
       "d_X_a longer text than the others are"}), i64({2}, {4, 2})}},
      {"SparseCross", {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb", "c",
       "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({4, 2}, {7, 8, 9, 10, 11, 12, 13, -14})}, {{"N", std::int64_t{2}}, {"sparse_types",
       std::vector<data_type>{data_type::string, data_type::int64}}, {"dense_types", std::vector<data_type>{data_type::string,
       data_type::int64}}, {"hashed_output", false}, {"num_buckets", std::int64_t{0}}, {"hash_key", std::int64_t{0}}, {"out_type",
       text_dtype}, {"internal_type", dtype::int64}}, {i64({10, 2}, {0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1, 1, 2, 1, 3, 3, 0, 3, 1}),
       text({10}, {"a_X_1_X_x_X_7", "a_X_1_X_x_X_8", "bb_X_1_X_x_X_7", "bb_X_1_X_x_X_8", "c_X_2_X_y_X_9", "c_X_2_X_y_X_10",
       "c_X_3_X_y_X_9", "c_X_3_X_y_X_10", "d_X_5_X_a longer text than the others are_X_13",
       "d_X_5_X_a longer text than the others are_X_-14"}), i64({2}, {4, 4})}},
      {"SparseCross", {text({4, 1}, {"x", "y", "z", "a longer text than the others are"}), i64({4, 2}, {7, 8, 9, 10, 11, 12, 13,
       -14})}, {{"N", std::int64_t{0}}, {"sparse_types", attribute_list{}}, {"dense_types", std::vector<data_type>{data_type::string,
       data_type::int64}}, {"hashed_output", true}, {"num_buckets", std::int64_t{10}}, {"hash_key", std::int64_t{1}}, {"out_type",
       dtype::int64}, {"internal_type", dtype::int64}}, {i64({8, 2}, {0, 0, 0, 1, 1, 0, 1, 1, 2, 0, 2, 1, 3, 0, 3, 1}), i64({8}, {2, 5,
       3, 5, 2, 3, 7, 8}), i64({2}, {4, 2})}},
      {"SparseCross", {}, {{"N", std::int64_t{0}}, {"sparse_types", attribute_list{}}, {"dense_types", attribute_list{}},
       {"hashed_output", true}, {"num_buckets", std::int64_t{10}}, {"hash_key", std::int64_t{1}}, {"out_type", dtype::int64},
       {"internal_type", dtype::int64}}, {i64({0, 2}, {}), i64({0}, {}), i64({2}, {0, 0})}},
      {"SparseCrossV2", {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb", "c",
       "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({4, 2}, {7, 8, 9, 10, 11, 12, 13, -14}), text({}, {"-|-"})}, {{"N", std::int64_t{2}},
       {"sparse_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"dense_types",
       std::vector<data_type>{data_type::string, data_type::int64}}}, {i64({10, 2}, {0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1, 1, 2, 1, 3, 3,
       0, 3, 1}), text({10}, {"a-|-1-|-x-|-7", "a-|-1-|-x-|-8", "bb-|-1-|-x-|-7", "bb-|-1-|-x-|-8", "c-|-2-|-y-|-9", "c-|-2-|-y-|-10",
       "c-|-3-|-y-|-9", "c-|-3-|-y-|-10", "d-|-5-|-a longer text than the others are-|-13",
       "d-|-5-|-a longer text than the others are-|--14"}), i64({2}, {4, 4})}},
      {"SparseCrossHashed", {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb",
       "c", "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({4, 2}, {7, 8, 9, 10, 11, 12, 13, -14}), i64({}, {0}), flags({}, {0}), i64({2}, {137,
       -173})}, {{"N", std::int64_t{2}}, {"sparse_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"dense_types",
       std::vector<data_type>{data_type::string, data_type::int64}}}, {i64({10, 2}, {0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1, 1, 2, 1, 3, 3,
       0, 3, 1}), i64({10}, {3761303345121671446, 7457888288673324587, 853728329192034419, 2446162142640983066, 1554135680262531610,
       8186242641050087518, 7036648038890175982, 3385160635940457183, 1180072827116968655, 7508965741998494756}), i64({2}, {4, 4})}},
      {"SparseCrossHashed", {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb",
       "c", "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({}, {0}), flags({}, {1}), i64({2}, {137, -173})}, {{"N", std::int64_t{2}},
       {"sparse_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"dense_types",
       std::vector<data_type>{data_type::string}}}, {i64({5, 2}, {0, 0, 0, 1, 1, 0, 1, 1, 3, 0}), i64({5}, {4027606032081178018,
       5838441654173082875, 5934176019622168402, 4153919876499815855, 7707366396338503560}), i64({2}, {4, 2})}},
      {"SparseCrossHashed", {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb",
       "c", "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({4, 2}, {7, 8, 9, 10, 11, 12, 13, -14}), i64({}, {100}), flags({}, {0}), i64({2},
       {137, -173})}, {{"N", std::int64_t{2}}, {"sparse_types", std::vector<data_type>{data_type::string, data_type::int64}},
       {"dense_types", std::vector<data_type>{data_type::string, data_type::int64}}}, {i64({10, 2}, {0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1,
       1, 1, 2, 1, 3, 3, 0, 3, 1}), i64({10}, {46, 94, 26, 66, 10, 18, 82, 83, 55, 63}), i64({2}, {4, 4})}},
      {"SparseCrossHashed", {i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb",
       "c", "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({}, {100}), flags({}, {1}), i64({2}, {137, -173})}, {{"N", std::int64_t{2}},
       {"sparse_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"dense_types",
       std::vector<data_type>{data_type::string}}}, {i64({5, 2}, {0, 0, 0, 1, 1, 0, 1, 1, 3, 0}), i64({5}, {25, 82, 9, 55, 60}),
       i64({2}, {4, 2})}},
      {"RaggedCross", {text({4}, {"a", "bb", "c", "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({5}, {0, 2, 3, 3, 4}), i64({5}, {0, 1, 3, 4,
       5}), i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb", "c", "d"}),
       i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({4, 2}, {7, 8, 9, 10, 11, 12, 13, -14})}, {{"Nsparse", std::int64_t{2}},
       {"ragged_values_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"ragged_splits_types",
       std::vector<data_type>{data_type::int64, data_type::int64}}, {"sparse_values_types", std::vector<data_type>{data_type::string,
       data_type::int64}}, {"dense_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"input_order", "RSDRSD"},
       {"hashed_output", true}, {"num_buckets", std::int64_t{100}}, {"hash_key", std::int64_t{956888297470}}, {"out_values_type",
       dtype::int64}, {"out_row_splits_type", dtype::int64}}, {i64({18}, {34, 55, 1, 36, 97, 25, 56, 41, 54, 43, 29, 41, 63, 20, 42, 9,
       45, 28}), i64({5}, {0, 8, 16, 16, 18})}},
      {"RaggedCross", {text({4}, {"a", "bb", "c", "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({5}, {0, 2, 3, 3, 4}), i64({5}, {0, 1, 3, 4,
       5}), i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb", "c", "d"}),
       i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({4, 2}, {7, 8, 9, 10, 11, 12, 13, -14})}, {{"Nsparse", std::int64_t{2}},
       {"ragged_values_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"ragged_splits_types",
       std::vector<data_type>{data_type::int64, data_type::int64}}, {"sparse_values_types", std::vector<data_type>{data_type::string,
       data_type::int64}}, {"dense_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"input_order", "DDSSRR"},
       {"hashed_output", true}, {"num_buckets", std::int64_t{100}}, {"hash_key", std::int64_t{956888297470}}, {"out_values_type",
       dtype::int64}, {"out_row_splits_type", dtype::int64}}, {i64({18}, {6, 35, 4, 16, 6, 55, 54, 76, 68, 97, 85, 41, 88, 46, 99, 8,
       60, 82}), i64({5}, {0, 8, 16, 16, 18})}},
      {"RaggedCross", {text({4}, {"a", "bb", "c", "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({5}, {0, 2, 3, 3, 4}), i64({5}, {0, 1, 3, 4,
       5}), i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb", "c", "d"}),
       i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({4, 2}, {7, 8, 9, 10, 11, 12, 13, -14})}, {{"Nsparse", std::int64_t{2}},
       {"ragged_values_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"ragged_splits_types",
       std::vector<data_type>{data_type::int64, data_type::int64}}, {"sparse_values_types", std::vector<data_type>{data_type::string,
       data_type::int64}}, {"dense_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"input_order", "RSDRSD"},
       {"hashed_output", false}, {"num_buckets", std::int64_t{100}}, {"hash_key", std::int64_t{956888297470}}, {"out_values_type",
       text_dtype}, {"out_row_splits_type", dtype::int64}}, {text({18}, {"a_X_a_X_x_X_1_X_1_X_7", "a_X_a_X_x_X_1_X_1_X_8",
       "a_X_bb_X_x_X_1_X_1_X_7", "a_X_bb_X_x_X_1_X_1_X_8", "bb_X_a_X_x_X_1_X_1_X_7", "bb_X_a_X_x_X_1_X_1_X_8",
       "bb_X_bb_X_x_X_1_X_1_X_7", "bb_X_bb_X_x_X_1_X_1_X_8", "c_X_c_X_y_X_2_X_2_X_9", "c_X_c_X_y_X_2_X_2_X_10",
       "c_X_c_X_y_X_2_X_3_X_9", "c_X_c_X_y_X_2_X_3_X_10", "c_X_c_X_y_X_3_X_2_X_9", "c_X_c_X_y_X_3_X_2_X_10", "c_X_c_X_y_X_3_X_3_X_9",
       "c_X_c_X_y_X_3_X_3_X_10", "d_X_d_X_a longer text than the others are_X_5_X_5_X_13",
       "d_X_d_X_a longer text than the others are_X_5_X_5_X_-14"}), i64({5}, {0, 8, 16, 16, 18})}},
      {"RaggedCross", {text({4}, {"a", "bb", "c", "d"}), i64({5}, {1, 2, 3, 4, 5}), i64({5}, {0, 2, 3, 3, 4}), i64({5}, {0, 1, 3, 4,
       5}), i64({4, 2}, {0, 0, 0, 1, 1, 0, 3, 0}), i64({5, 2}, {0, 0, 1, 0, 1, 1, 2, 0, 3, 0}), text({4}, {"a", "bb", "c", "d"}),
       i64({5}, {1, 2, 3, 4, 5}), i64({2}, {4, 2}), i64({2}, {4, 2}), text({4, 1}, {"x", "y", "z",
       "a longer text than the others are"}), i64({4, 2}, {7, 8, 9, 10, 11, 12, 13, -14})}, {{"Nsparse", std::int64_t{2}},
       {"ragged_values_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"ragged_splits_types",
       std::vector<data_type>{data_type::int64, data_type::int64}}, {"sparse_values_types", std::vector<data_type>{data_type::string,
       data_type::int64}}, {"dense_types", std::vector<data_type>{data_type::string, data_type::int64}}, {"input_order", "DDSSRR"},
       {"hashed_output", false}, {"num_buckets", std::int64_t{100}}, {"hash_key", std::int64_t{956888297470}}, {"out_values_type",
       text_dtype}, {"out_row_splits_type", dtype::int64}}, {text({18}, {"x_X_7_X_a_X_1_X_a_X_1", "x_X_7_X_a_X_1_X_bb_X_1",
       "x_X_7_X_bb_X_1_X_a_X_1", "x_X_7_X_bb_X_1_X_bb_X_1", "x_X_8_X_a_X_1_X_a_X_1", "x_X_8_X_a_X_1_X_bb_X_1",
       "x_X_8_X_bb_X_1_X_a_X_1", "x_X_8_X_bb_X_1_X_bb_X_1", "y_X_9_X_c_X_2_X_c_X_2", "y_X_9_X_c_X_2_X_c_X_3", "y_X_9_X_c_X_3_X_c_X_2",
       "y_X_9_X_c_X_3_X_c_X_3", "y_X_10_X_c_X_2_X_c_X_2", "y_X_10_X_c_X_2_X_c_X_3", "y_X_10_X_c_X_3_X_c_X_2", "y_X_10_X_c_X_3_X_c_X_3",
       "a longer text than the others are_X_13_X_d_X_5_X_d_X_5", "a longer text than the others are_X_-14_X_d_X_5_X_d_X_5"}), i64({5},
       {0, 8, 16, 16, 18})}},
      {"RaggedCross", {i64({5}, {1, 2, 3, 4, 5}), i64({5}, {0, 1, 3, 4, 5})}, {{"Nsparse", std::int64_t{0}}, {"ragged_values_types",
       std::vector<data_type>{data_type::int64}}, {"ragged_splits_types", std::vector<data_type>{data_type::int64}},
       {"sparse_values_types", attribute_list{}}, {"dense_types", attribute_list{}}, {"input_order", "R"}, {"hashed_output", true},
       {"num_buckets", std::int64_t{0}}, {"hash_key", std::int64_t{3}}, {"out_values_type", dtype::int64}, {"out_row_splits_type",
       dtype::int64}}, {i64({5}, {1931496402576582459, 4034474337905866424, 2392692707121566935, 5098798514666458975,
       931555029368463343}), i64({5}, {0, 1, 3, 4, 5})}}};
  // clang-format on
  return list;
}

const attribute_map hashed{{"N", std::int64_t{1}},         {"hashed_output", true},       {"num_buckets", std::int64_t{0}},
                           {"hash_key", std::int64_t{0}},  {"out_type", dtype::int64},    {"internal_type", dtype::int64}};
bool refused(const std::vector<tensor_value>& inputs, std::string_view words, std::int64_t columns = 1, dtype internal = dtype::int64) {
  attribute_map settings = hashed;
  settings["N"] = columns;
  settings["internal_type"] = internal;
  std::vector<data_type> sparse, dense;
  for (std::int64_t k = 0; k < columns; ++k) sparse.push_back(to_data_type(inputs[static_cast<std::size_t>(columns + k)].type()));
  for (std::size_t k = static_cast<std::size_t>(3 * columns); k < inputs.size(); ++k) dense.push_back(to_data_type(inputs[k].type()));
  settings["sparse_types"] = sparse;
  settings["dense_types"] = dense;
  return refuses<error>("SparseCross", inputs, settings, words);
}

TEST_CASE("crossed features have TensorFlow's values") { check_recorded(recordings()); }

TEST_CASE("crossed features that are refused") {
  const tensor_value at = i64({1, 2}, {0, 0}), one = text({1}, {"a"}), sizes = i64({2}, {4, 2});
  CHECK(refused({i64({1}, {0}), one, sizes}, "Input indices should be a matrix but received shape [1] at position 0"));
  CHECK(refused({i64({1, 1}, {0}), one, sizes}, "Expected D2 of index to be 2 got 1 at position 0"));
  CHECK(refused({at, text({2}, {"a", "b"}), sizes}, "Expected size of values to be 1 got 2 at position 0"));
  CHECK(refused({at, text({1, 1}, {"a"}), sizes}, "Input values should be a vector but received shape [1,1] at position 0"));
  CHECK(refused({at, one, i64({3}, {4, 2, 3})}, "shape should imply a 2D tensor, but got [3] at position 0"));
  CHECK(refused({at, one, i64({1, 2}, {4, 2})}, "Input shapes should be a vector but received shape [1,2] at position 0"));
  CHECK(refused({at, one, sizes, one}, "Dense inputs should be a matrix but received shape [1] at position 0"));
  CHECK(refused({at, one, sizes, text({1, 1}, {"a"})}, "Expected batch size 4 got 1 at dense tensor 0"));
  CHECK(refused({at, at, one, one, sizes, i64({2}, {3, 2})}, "Expected batch size 4 got 3 at position 1", 2));
  CHECK(refused({at, one, i64({2}, {-4, 2})}, "Expected batch size to be non-negative, got -4"));
  CHECK(refused({at, i64({1}, {1}), sizes}, "should be of internal type string but received int64", 1, text_dtype));
  // Rows that no memory holds take none, and more crosses than there is memory for are an error.
  attribute_map settings = hashed;
  settings["sparse_types"] = std::vector<data_type>{data_type::string};
  const auto made = run_on("SparseCross", {at, one, i64({2}, {INT64_MAX, 2})}, settings);
  CHECK(made[0].as<std::vector<std::int64_t>>() == std::vector<std::int64_t>{0, 0});
  CHECK(made[2].as<std::vector<std::int64_t>>() == std::vector<std::int64_t>{INT64_MAX, 1});
  std::vector<tensor_value> wide(8, text({1, 4096}, std::vector<std::string>(4096, "x")));
  CHECK(refused(wide, "", 0));

  const attribute_map salted{{"N", std::int64_t{1}}, {"sparse_types", std::vector<data_type>{data_type::string}}};
  CHECK(refuses("SparseCrossHashed", {at, one, sizes, i64({}, {3}), flags({}, {1}), i64({1}, {137})}, salted,
                "Input \"salt\" must have length 2 but has length 1"));
  CHECK(refuses("SparseCrossV2", {at, one, sizes, text({2}, {"-", "-"})}, salted, "Input separator should be a scalar."));

  const auto ragged = [](const std::vector<tensor_value>& inputs, const std::string& order, int columns, int sparse, std::string_view words) {
    attribute_map its = {{"Nsparse", std::int64_t{sparse}},         {"input_order", order},
                         {"hashed_output", true},                   {"num_buckets", std::int64_t{10}},
                         {"hash_key", std::int64_t{3}},             {"out_values_type", dtype::int64},
                         {"out_row_splits_type", dtype::int64},     {"ragged_values_types", std::vector<data_type>(static_cast<std::size_t>(columns), data_type::int64)},
                         {"ragged_splits_types", std::vector<data_type>(static_cast<std::size_t>(columns), data_type::int64)},
                         {"sparse_values_types", std::vector<data_type>(static_cast<std::size_t>(sparse), data_type::int64)},
                         {"dense_types", std::vector<data_type>(inputs.size() - static_cast<std::size_t>(2 * columns + 3 * sparse), data_type::int64)}};
    CHECK(refuses("RaggedCross", inputs, its, words));
  };
  const tensor_value two = i64({2}, {1, 2}), both = i64({2}, {0, 2});
  const std::string wrong = "Invalid ragged splits: ";
  ragged({two, i64({2}, {0, 1})}, "R", 1, 0, wrong + "last element of ragged splits must be the number of ragged values(2) but is 1");
  ragged({two, i64({2}, {1, 2})}, "R", 1, 0, wrong + "first element of ragged splits  must be 0 but is 1");
  ragged({two, i64({0}, {})}, "R", 1, 0, wrong + "ragged splits must have at least one splits, but is empty");
  ragged({two, i64({4}, {0, 2, 1, 2})}, "R", 1, 0,
         wrong + "ragged splits must be monotonically increasing, but ragged_splits[2]=1 is smaller than row_splits[1]=2");
  ragged({two, two, both, i64({3}, {0, 1, 2})}, "RR", 2, 0, "inputs must all have the same batch dimension size.");
  ragged({two, both}, "D", 1, 0, "input_order \"D\" specifies reading a dense tensor at index 0 from a list of 0 tensors.");
  ragged({two, both}, "RX", 1, 0, "Invalid length for input_order");
  ragged({i64({1, 2}, {0, 0}), i64({1}, {1}), i64({1}, {4})}, "S", 0, 1, "tf.ragged.cross only supports inputs with rank=2.");
}

}  // namespace crossed_feature_tests
