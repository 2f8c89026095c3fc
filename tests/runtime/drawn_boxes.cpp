// Outlines of boxes on images, and the most probable labels of sequences: values of TensorFlow 2.21, and what is refused.

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <cmath>
#include <sstream>

using namespace leat;
using namespace node_results;

namespace drawn_boxes_test {

tensor_value floats(const extents& of, const number_list& list) { return tensor_of(dtype::float32, of, list); }
tensor_value counts(const number_list& list) { return tensor_of(dtype::int32, {static_cast<std::int64_t>(list.size())}, list); }
template <class Error = invalid_argument>
bool refuses(std::string_view type, const std::vector<tensor_value>& arrays, std::string_view words, const attribute_map& settings = {}) {
  return leat_test::says(leat_test::message_of<Error>([&] { run_node(type, arrays, {}, settings); }), words);
}

struct drawing {
  extents images, boxes;
  number_list corners;
  extents colors;
  number_list its_colors, result;
};
// The images' pixels are i % 7 + 2.
const std::vector<drawing>& drawings() {
  // clang-format off
  static const std::vector<drawing> list{
      {{1, 4, 6, 1}, {1, 4, 4}, {-0.212, 0.347, 0.124, 1.397, 0.599, -0.445, 1.155, 0.318, 0.159, 0.576, 1.007, 1.077, -0.232, 0.306,
       0.106, 0.407}, {}, {},
       {2, 1, 1, 1, 1, 1, 1, 1, 1, 4, 5, 1, 7, 1, 1, 3, 4, 1, 1, 1, 1, 1, 1, 1}},
      {{2, 2, 4, 3}, {2, 2, 4}, {1.001, 0.061, 0.47, 1.461, 1.423, 0.95, 0.582, 0.054, -0.179, 1.44, 0.532, -0.268, 0.747, 1.053, 0.726,
       1.335}, {}, {},
       {2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 0, 0, 1, 3, 4, 5, 6, 7, 8, 2,
       3, 4, 5, 6, 7}},
      {{1, 1, 6, 4}, {1, 3, 4}, {0.419, -0.375, 0.783, 1.205, 0.686, 0.02, 1.18, 0.519, -0.204, 1.006, 0.522, 1.139}, {2, 4}, {16.8,
       17.9, 11.9, 18, 11.9, 10.8, 18.6, 18.6},
       {11.9, 10.8, 18.6, 18.6, 11.9, 10.8, 18.6, 18.6, 11.9, 10.8, 18.6, 18.6, 16.8, 17.9, 11.9, 18, 16.8, 17.9, 11.9, 18, 16.8, 17.9,
       11.9, 18}},
      {{2, 7, 3, 1}, {2, 2, 4}, {0.048, -0.486, 0.791, 0.94, 1.171, 0.064, -0.07, 0.779, 1.11, 1.427, -0.199, 0.464, 1.289, 0.345, 0.679,
       -0.451}, {}, {},
       {1, 1, 4, 1, 1, 7, 1, 1, 3, 1, 1, 6, 1, 1, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8}},
      {{1, 5, 4, 3}, {1, 4, 4}, {0.821, -0.009, 1.154, 1.271, 1.037, -0.375, 1.163, -0.077, 0.25, -0.171, 1.151, 0.133, 0.293, -0.488,
       0.883, -0.143}, {}, {},
       {2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 0, 1, 0, 3, 4, 5, 6, 7, 8, 2, 3, 4, 0, 1, 0, 8, 2, 3, 4, 5, 6, 7, 8, 2, 0, 1, 0, 1, 1, 0, 1,
       1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0}},
      {{2, 2, 4, 4}, {2, 2, 4}, {-0.288, 0.766, 0.261, 0.951, 0.808, 0.362, 1.235, 0.764, 1.121, 0.184, 0.587, -0.107, 1.492, -0.014,
       0.014, -0.354}, {2, 5}, {12.6, 17.6, 17, 11.3, 13.8, 14.2, 16.6, 14.6, 15.9, 18.4},
       {2, 3, 4, 5, 14.2, 16.6, 14.6, 15.9, 14.2, 16.6, 14.6, 15.9, 7, 8, 2, 3, 4, 5, 6, 7, 14.2, 16.6, 14.6, 15.9, 14.2, 16.6, 14.6,
       15.9, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2}},
      {{2, 6, 5, 1}, {2, 2, 4}, {-0.281, -0.094, 0.397, 0.235, 0.068, 0.128, 0.126, 0.653, 1.082, 1.019, 1.443, 1.049, 0.694, 0.501,
       0.879, 1.335}, {}, {},
       {1, 1, 1, 5, 6, 1, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 2,
       3, 4, 5, 6, 1, 1, 1, 3, 4, 1, 1, 1, 8, 2, 3, 4, 1}},
      {{2, 1, 1, 3}, {2, 2, 4}, {-0.074, -0.235, 0.512, 1.07, 0.09, 1.038, 0.551, -0.202, 1.43, 0.303, 0.09, 1.194, -0.251, 0.967,
       -0.124, 0.285}, {}, {},
       {0, 0, 1, 0, 0, 1}},
  };
  // clang-format on
  return list;
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

TEST_CASE("outlines of boxes are drawn on images as in TensorFlow") {
  for (const drawing& d : drawings()) {
    number_list pixels;
    for (std::int64_t i = 0; i < count_of(d.images); ++i) pixels.push_back(static_cast<double>(i % 7 + 2));
    std::vector<tensor_value> inputs{floats(d.images, pixels), floats(d.boxes, d.corners)};
    if (!d.colors.empty()) inputs.push_back(floats(d.colors, d.its_colors));
    const auto made = run_node(d.colors.empty() ? "DrawBoundingBoxes" : "DrawBoundingBoxesV2", inputs, {}, {})[0];
    number_list wanted;
    for (const double x : d.result) wanted.push_back(static_cast<double>(static_cast<float>(x)));
    CHECK(list_of(made) == wanted);
  }
  const auto image = floats({1, 2, 2, 1}, {2, 3, 4, 5});
  // No colors are TensorFlow's; corners that are no numbers, or none that an integer holds, draw nothing.
  CHECK(list_of(run_node("DrawBoundingBoxesV2", {image, floats({1, 1, 4}, {0, 0, 0, 1}), floats({0, 3}, {})}, {}, {})[0]) ==
        number_list{1, 1, 4, 5});
  for (const double odd : {std::nan(""), 1e30, -1e30, static_cast<double>(INFINITY)})
    for (const std::size_t k : {0, 1, 2, 3}) {
      number_list box{0, 0, 1, 1};
      box[k] = odd;
      const bool is_drawn = k < 2 ? odd != 1e30 && odd != static_cast<double>(INFINITY) : false;
      const auto made = list_of(run_node("DrawBoundingBoxes", {image, floats({1, 1, 4}, box)}, {}, {})[0]);
      CHECK((made == number_list{2, 3, 4, 5}) == !(is_drawn || (k < 2 && odd > 0)));
    }
  CHECK(run_node("DrawBoundingBoxes", {floats({2, 0, 3, 1}, {}), floats({2, 1, 4}, number_list(8, 0.5))}, {}, {})[0].elements() == 0);
  CHECK(run_node("DrawBoundingBoxes", {floats({0, 2, 3, 1}, {}), floats({0, 5, 4}, {})}, {}, {})[0].elements() == 0);
  const auto boxes = floats({1, 1, 4}, {0, 0, 1, 1});
  CHECK(refuses("DrawBoundingBoxes", {floats({2, 2, 1}, {2, 3, 4, 5}), boxes}, "rank of the images should be 4"));
  CHECK(refuses("DrawBoundingBoxes", {image, floats({1, 4}, {0, 0, 1, 1})}, "rank of the boxes tensor should be 3"));
  CHECK(refuses("DrawBoundingBoxes", {image, floats({2, 1, 4}, number_list(8))}, "batch sizes should be the same"));
  CHECK(refuses("DrawBoundingBoxes", {image, floats({1, 1, 5}, number_list(5))}, "third dimension of the box must be 4"));
  CHECK(refuses("DrawBoundingBoxes", {floats({1, 2, 1, 2}, {2, 3, 4, 5}), boxes}, "Channel depth"));
  CHECK(refuses("DrawBoundingBoxesV2", {image, boxes, floats({3}, {1, 2, 3})}, "colors must be a 2-D matrix"));
  CHECK(refuses("DrawBoundingBoxesV2", {image, boxes, floats({2, 0}, {})}, "equal or more channels"));
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

}  // namespace drawn_boxes_test
