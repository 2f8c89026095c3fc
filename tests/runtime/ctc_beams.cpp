// The most probable labels of sequences by a beam search: values of TensorFlow 2.21, and what is refused.

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <cmath>
#include <sstream>

using namespace leat;
using namespace node_results;

namespace ctc_beams_test {

tensor_value floats(const extents& of, const number_list& list) { return tensor_of(dtype::float32, of, list); }
tensor_value counts(const number_list& list) { return tensor_of(dtype::int32, {static_cast<std::int64_t>(list.size())}, list); }
template <class Error = invalid_argument>
bool refuses(std::string_view type, const std::vector<tensor_value>& arrays, std::string_view words, const attribute_map& settings = {}) {
  return leat_test::says(leat_test::message_of<Error>([&] { run_node(type, arrays, {}, settings); }), words);
}

struct decoding {
  std::int64_t at;
  extents logits;
  number_list lengths;
  std::int64_t width, paths;
  bool merges;
  std::string labels;  // of each path: the sequences' labels, and the matrix's shape
  number_list logarithms;
};
const std::vector<decoding>& decodings() {
  // clang-format off
  static const std::vector<decoding> list{
      {0, {7, 1, 2}, {6}, 4, 2, false, "00[1,2] 0[1,1]", {-0.1326501, -2.089114}},
      {1, {4, 1, 4}, {3}, 7, 3, true, "021[1,3] 21[1,2] 02[1,2]", {-1.387256, -1.943395, -1.950771}},
      {2, {8, 1, 7}, {5}, 1, 1, false, "30[1,2]", {-2.816864}},
      {3, {3, 1, 5}, {1}, 4, 2, true, "0[1,1] [1,0]", {-0.8223724, -1.728622}},
      {4, {2, 3, 4}, {2, 1, 1}, 8, 3, false, "2,,0[3,1] 20,2,2[3,2] 21,1,1[3,2]", {-0.5912507, -0.8598161, -3.883254, -0.1711614,
       -2.124286, -3.593036, -0.2006209, -1.755308, -5.161558}},
      {5, {6, 3, 7}, {2, 2, 0}, 10, 1, true, "5,10,[3,2]", {-1.70279, -1.256914, 0}},
      {6, {2, 1, 4}, {2}, 7, 2, false, "02[1,2] 2[1,1]", {-0.9037261, -1.623292}},
      {7, {8, 3, 6}, {8, 8, 2}, 11, 1, true, "304,01310,4[3,5]", {-2.753456, -3.672661, -1.113697}},
      {8, {4, 2, 6}, {2, 1}, 100, 1, false, "0,4[2,1]", {-1.435528, -0.4224477}},
      {9, {8, 1, 4}, {6}, 10, 2, true, "20[1,2] 20[1,2]", {-1.731806, -2.104985}},
      {10, {4, 3, 5}, {2, 2, 2}, 8, 2, false, "0,03,1[3,2] 10,02,13[3,2]", {-0.7596996, -2.076255, -0.340729, -2.161041, -0.8032503,
       -0.9882855}},
      {11, {7, 2, 4}, {4, 4}, 10, 1, true, "0120,212[2,4]", {-1.905798, -0.5858649}},
      {12, {8, 2, 5}, {7, 4}, 1, 1, false, "031313,212[2,6]", {-3.048885, -2.141629}},
      {13, {4, 1, 6}, {4}, 7, 2, true, "434[1,3] 404[1,3]", {-2.401185, -2.66681}},
      {14, {5, 1, 3}, {3}, 3, 1, false, "0[1,1]", {-0.0856479}},
      {15, {1, 2, 6}, {0, 1}, 7, 1, true, ",[2,0]", {0, -0.1199849}},
      {16, {3, 3, 4}, {3, 3, 2}, 5, 3, false, "010,2,10[3,3] 10,22,0[3,2] 210,12,1[3,3]", {-0.8769629, -1.33189, -2.298838, -0.9395756,
       -1.251462, -1.908722, -0.5082223, -1.000008, -4.31904}},
      {17, {1, 3, 6}, {1, 1, 1}, 100, 2, true, ",1,4[3,1] 0,0,[3,1]", {-1.132967, -1.211092, -0.240489, -2.193614, -0.4280303,
       -1.513968}},
      {18, {2, 3, 3}, {2, 2, 1}, 6, 1, false, "01,0,1[3,2]", {-0.5369484, -0.3163529, -0.1364055}},
      {19, {1, 1, 2}, {1}, 10, 2, true, "[1,0] 0[1,1]", {-0.0009777546, -6.930665}},
      {20, {4, 1, 3}, {2}, 5, 2, false, "0[1,1] 1[1,1]", {-0.7089193, -1.435251}},
      {21, {5, 2, 5}, {5, 5}, 6, 2, true, "0303,121[2,4] 303,21[2,3]", {-1.49048, -2.100186, -1.285696, -1.854023}},
      {22, {7, 1, 5}, {2}, 10, 2, false, "02[1,2] 2[1,1]", {-1.052675, -1.461181}},
      {23, {5, 2, 7}, {1, 4}, 7, 1, true, ",513[2,3]", {-0.5392839, -2.309475}},
      {24, {8, 2, 2}, {7, 3}, 1, 1, false, "0,0[2,1]", {-0.1706588, -0.8362886}},
      {25, {4, 3, 3}, {0, 0, 1}, 9, 1, true, ",,[3,0]", {0, 0, -0.09510291}},
      {26, {4, 1, 5}, {1}, 100, 2, false, "0[1,1] [1,0]", {-0.8223724, -1.728622}},
      {27, {7, 1, 5}, {4}, 11, 2, true, "0231[1,4] 231[1,3]", {-1.877468, -2.285973}},
      {28, {3, 1, 3}, {3}, 1, 1, false, "01[1,2]", {-0.8889372}},
      {29, {4, 3, 4}, {3, 1, 4}, 9, 2, true, "2,0,0[3,1] 12,,020[3,3]", {-0.7683873, -0.9376186, -0.03566384, -3.512226, -0.7947641,
       -2.14096}},
      {30, {2, 3, 3}, {2, 0, 0}, 9, 1, false, "0,,[3,1]", {-0.3497961, 0, 0}},
      {31, {5, 1, 3}, {3}, 8, 3, true, "0[1,1] 10[1,2] 0[1,1]", {-0.9893713, -1.332159, -1.566369}},
      {32, {20, 1, 9}, {20}, 8, 1, false, "71461340675146450[1,17]", {-14.38212}},
      {33, {12, 1, 9}, {11}, 8, 1, true, "652473[1,6]", {-5.557191}},
      {34, {16, 1, 9}, {16}, 2, 2, false, "4516274567125[1,13] 1516274567125[1,13]", {-8.73847, -8.785345}},
      {35, {20, 1, 9}, {5}, 100, 3, true, "0634[1,4] 50634[1,5] 52634[1,5]", {-2.505589, -2.584249, -3.170186}},
  };
  // clang-format on
  return list;
}
number_list logits_of(const decoding& d) {
  number_list list;
  for (std::int64_t i = 0; i < count_of(d.logits); ++i) list.push_back(static_cast<double>((i * i * 31 + i * 7919 + d.at * 104729) % 1009) / 128.0 - 4);
  return list;
}
std::string text_of(const std::vector<tensor_value>& results, std::int64_t paths) {
  std::ostringstream text;
  for (std::size_t p = 0, n = static_cast<std::size_t>(paths); p < n; ++p) {
    const auto pairs = list_of(results[p]), labels = list_of(results[n + p]), sides = list_of(results[2 * n + p]);
    std::vector<std::string> rows(static_cast<std::size_t>(sides[0]));
    for (std::size_t k = 0; k < labels.size(); ++k) {
      std::string& row = rows[static_cast<std::size_t>(pairs[2 * k])];
      REQUIRE(static_cast<double>(row.size()) == pairs[2 * k + 1]);
      row += std::to_string(static_cast<int>(labels[k]));
    }
    if (p > 0) text << " ";
    for (std::size_t b = 0; b < rows.size(); ++b) text << (b > 0 ? "," : "") << rows[b];
    text << "[" << sides[0] << "," << sides[1] << "]";
  }
  return text.str();
}

TEST_CASE("a beam search decodes sequences as in TensorFlow") {
  for (const decoding& d : decodings())
    for (const dtype type : {dtype::float32, dtype::float64}) {
      CAPTURE(d.at);
      const auto made = run_node("CTCBeamSearchDecoder", {tensor_of(type, d.logits, logits_of(d)), counts(d.lengths)}, {},
                                 {{"beam_width", d.width}, {"top_paths", d.paths}, {"merge_repeated", d.merges}});
      CHECK(text_of(made, d.paths) == d.labels);
      check_near(list_of(made.back()), d.logarithms);
    }
  const auto with = [](std::int64_t width, std::int64_t paths) { return attribute_map{{"beam_width", width}, {"top_paths", paths}}; };
  // Logits that are no numbers, or without a way on: any answer, and no crash.
  const double infinite = INFINITY;
  for (const double odd : {std::nan(""), infinite, -infinite})
    for (int every = 1; every < 4; ++every) {
      number_list list;
      for (int i = 0; i < 5 * 2 * 4; ++i) list.push_back(i % every == 0 ? odd : i % 5);
      CHECK(run_node("CTCBeamSearchDecoder", {floats({5, 2, 4}, list), counts({5, 3})}, {}, with(3, 1)).size() == 4);
    }
  const auto logits = floats({2, 1, 3}, {0, 1, 2, 2, 1, 0});
  CHECK(refuses("CTCBeamSearchDecoder", {floats({2, 3}, number_list(6)), counts({1})}, "inputs is not a 3-Tensor", with(2, 1)));
  CHECK(refuses("CTCBeamSearchDecoder", {floats({2, 0, 3}, {}), counts({})}, "inputs must not be empty", with(2, 1)));
  CHECK(refuses<failed_precondition>("CTCBeamSearchDecoder", {logits, counts({1, 1})}, "len(sequence_length) != batch_size", with(2, 1)));
  CHECK(refuses<failed_precondition>("CTCBeamSearchDecoder", {logits, counts({3})}, "sequence_length(0) <= 2", with(2, 1)));
  CHECK(refuses("CTCBeamSearchDecoder", {logits, counts({2})}, "more paths than the beam width", with(2, 3)));
  CHECK(refuses("CTCBeamSearchDecoder", {logits, counts({0})}, "Less leaves", with(3, 2)));
  CHECK(refuses("CTCBeamSearchDecoder", {logits, counts({2})}, "beam_width", with(0, 1)));
  CHECK(refuses("CTCBeamSearchDecoder", {logits, tensor_of(dtype::int32, {1, 1}, {2})}, "sequence_length is not a vector", with(2, 1)));
  CHECK(text_of(run_node("CTCBeamSearchDecoder", {logits, counts({-1})}, {}, with(2, 1)), 1) == "[1,0]");
  CHECK(list_of(run_node("CTCBeamSearchDecoder", {logits, counts({2})}, {}, with(std::int64_t{1} << 62, 1)).back()).size() == 1);
}

}  // namespace ctc_beams_test
