// Outlines of boxes on images: values of TensorFlow 2.21, and what is refused.

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <cmath>

using namespace leat;
using namespace node_results;

namespace drawn_boxes_test {

tensor_value floats(const extents& of, const number_list& list) { return tensor_of(dtype::float32, of, list); }
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

}  // namespace drawn_boxes_test
