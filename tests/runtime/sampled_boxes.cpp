// Parts of images that are chosen at random: with seeds TensorFlow 2.21's, otherwise within their limits; and what is refused.

#include "support/recorded_nodes.hpp"

#include <set>
#include <string>

using namespace leat;
using namespace recorded_nodes;

namespace sampled_boxes_test {

const std::vector<recorded>& recordings() {
  // clang-format off
  static const std::vector<recorded> list{
      {"SampleDistortedBoundingBox", {i32({3}, {60, 40, 3}), f32({1, 2, 4}, {0.1, 0.2, 0.6, 0.9, 0.3, 0.3, 0.5, 0.4})}, {{"seed",
       std::int64_t{3}}, {"seed2", std::int64_t{2}}, {"min_object_covered", 0.4f}}, {i32({3}, {19, 2, 0}), i32({3}, {25, 31, -1}), f32({1,
       1, 4}, {0.31666666, 0.05, 0.73333335, 0.825})}},
      {"SampleDistortedBoundingBoxV2", {i64({3}, {60, 40, 3}), f32({1, 2, 4}, {0.1, 0.2, 0.6, 0.9, 0.3, 0.3, 0.5, 0.4}), f32({}, {0.7})},
       {{"seed", std::int64_t{0}}, {"seed2", std::int64_t{3}}}, {i64({3}, {11, 2, 0}), i64({3}, {29, 31, -1}), f32({1, 1, 4}, {0.18333334,
       0.05, 0.6666667, 0.825})}},
      {"StatelessSampleDistortedBoundingBox", {i32({3}, {60, 40, 3}), f32({1, 2, 4}, {0.1, 0.2, 0.6, 0.9, 0.3, 0.3, 0.5, 0.4}), f32({},
       {0.1}), i32({2}, {3, 9})}, {}, {i32({3}, {0, 3, 0}), i32({3}, {37, 35, -1}), f32({1, 1, 4}, {0, 0.075, 0.6166667, 0.95})}},
      {"SampleDistortedBoundingBox", {i32({3}, {7, 5, 3}), f32({1, 2, 4}, {0.1, 0.2, 0.6, 0.9, 0.3, 0.3, 0.5, 0.4})}, {{"area_range",
       std::vector<float>{0.3f, 1.0f}}, {"aspect_ratio_range", std::vector<float>{0.5f, 2.0f}}, {"seed", std::int64_t{4}}, {"seed2",
       std::int64_t{2}}, {"min_object_covered", 0.4f}}, {i32({3}, {0, 0, 0}), i32({3}, {3, 4, -1}), f32({1, 1, 4}, {0, 0, 0.42857143,
       0.8})}},
      {"SampleDistortedBoundingBoxV2", {i64({3}, {7, 5, 3}), f32({1, 2, 4}, {0.1, 0.2, 0.6, 0.9, 0.3, 0.3, 0.5, 0.4}), f32({}, {0.7})},
       {{"area_range", std::vector<float>{0.3f, 1.0f}}, {"aspect_ratio_range", std::vector<float>{0.5f, 2.0f}}, {"seed", std::int64_t{0}},
       {"seed2", std::int64_t{4}}}, {i64({3}, {0, 0, 0}), i64({3}, {6, 5, -1}), f32({1, 1, 4}, {0, 0, 0.85714287, 1})}},
      {"StatelessSampleDistortedBoundingBox", {i32({3}, {7, 5, 3}), f32({1, 2, 4}, {0.1, 0.2, 0.6, 0.9, 0.3, 0.3, 0.5, 0.4}), f32({},
       {0.1}), i32({2}, {4, 9})}, {{"area_range", std::vector<float>{0.3f, 1.0f}}, {"aspect_ratio_range", std::vector<float>{0.5f,
       2.0f}}}, {i32({3}, {2, 0, 0}), i32({3}, {3, 4, -1}), f32({1, 1, 4}, {0.2857143, 0, 0.71428573, 0.8})}},
      {"SampleDistortedBoundingBox", {i32({3}, {480, 640, 3}), f32({1, 2, 4}, {0.1, 0.2, 0.6, 0.9, 0.3, 0.3, 0.5, 0.4})}, {{"area_range",
       std::vector<float>{0.08f, 1.0f}}, {"max_attempts", std::int64_t{10}}, {"seed", std::int64_t{5}}, {"seed2", std::int64_t{2}},
       {"min_object_covered", 0.4f}}, {i32({3}, {6, 71, 0}), i32({3}, {469, 558, -1}), f32({1, 1, 4}, {0.0125, 0.1109375, 0.9895833,
       0.9828125})}},
      {"SampleDistortedBoundingBoxV2", {i64({3}, {480, 640, 3}), f32({1, 2, 4}, {0.1, 0.2, 0.6, 0.9, 0.3, 0.3, 0.5, 0.4}), f32({},
       {0.7})}, {{"area_range", std::vector<float>{0.08f, 1.0f}}, {"max_attempts", std::int64_t{10}}, {"seed", std::int64_t{0}}, {"seed2",
       std::int64_t{5}}}, {i64({3}, {7, 11, 0}), i64({3}, {453, 583, -1}), f32({1, 1, 4}, {0.014583333, 0.0171875, 0.9583333,
       0.928125})}},
      {"StatelessSampleDistortedBoundingBox", {i32({3}, {480, 640, 3}), f32({1, 2, 4}, {0.1, 0.2, 0.6, 0.9, 0.3, 0.3, 0.5, 0.4}), f32({},
       {0.1}), i32({2}, {5, 9})}, {{"area_range", std::vector<float>{0.08f, 1.0f}}, {"max_attempts", std::int64_t{10}}}, {i32({3}, {55,
       285, 0}), i32({3}, {297, 348, -1}), f32({1, 1, 4}, {0.114583336, 0.4453125, 0.73333335, 0.9890625})}},
      {"StatelessSampleDistortedBoundingBox", {u8({3}, {200, 100, 3}), f32({1, 0, 4}, {}), f32({}, {0.1}), i64({2}, {1, 9})},
       {{"use_image_if_no_bounding_boxes", true}}, {u8({3}, {94, 11, 0}), u8({3}, {68, 77, 255}), f32({1, 1, 4}, {0.47, 0.11, 0.81,
       0.88})}},
      {"RandomCrop", {i32({5, 4, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
       27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39}), i64({2}, {2, 3})}, {{"seed", std::int64_t{7}}, {"seed2", std::int64_t{1}}},
       {i32({2, 3, 2}, {24, 25, 26, 27, 28, 29, 32, 33, 34, 35, 36, 37})}},
      {"RandomCrop", {f32({5, 4, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
       27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39}), i64({2}, {5, 1})}, {{"seed", std::int64_t{7}}, {"seed2", std::int64_t{3}}},
       {f32({5, 1, 2}, {2, 3, 10, 11, 18, 19, 26, 27, 34, 35})}},
  };
  // clang-format on
  return list;
}

const std::vector<double> corners{0.25, 0.25, 0.75, 0.75};

TEST_CASE("parts of images by seeds are TensorFlow's") { check_recorded(recordings()); }

TEST_CASE("sampled boxes keep to their ranges and cover an object") {
  graph g;
  const auto scope = g.as_default();
  const output place = placeholder(dtype::int32, {3});
  const auto node = call_operator(
      g, "SampleDistortedBoundingBox", {place, constant(f32({1, 1, 4}, corners).as<std::vector<float>>(), {1, 1, 4})},
      {{"min_object_covered", 0.5f}, {"aspect_ratio_range", std::vector<float>{0.5f, 2}}, {"area_range", std::vector<float>{0.2f, 0.6f}}});
  graph_session s(g);
  std::set<std::vector<std::int32_t>> different;
  for (int run = 0; run < 200; ++run) {
    const auto made = s.run(node.outputs(), {{place, i32({3}, {80, 120, 3})}});
    const auto begin = made[0].as<std::vector<std::int32_t>>(), size = made[1].as<std::vector<std::int32_t>>();
    const double y = begin[0], x = begin[1], height = size[0], width = size[1];
    REQUIRE((y >= 0 && x >= 0 && y + height <= 80 && x + width <= 120));
    CHECK((begin[2] == 0 && size[2] == -1));
    const double part = height * width / 9600;
    CHECK((part >= 0.199 && part <= 0.601));
    CHECK((width / height > 0.48 && width / height < 2.1));
    const double down = std::min(y + height, 60.0) - std::max(y, 20.0), across = std::min(x + width, 90.0) - std::max(x, 30.0);
    CHECK(down * across >= 0.5 * 40 * 60);
    CHECK(made[2].values<float>()[3] == doctest::Approx((x + width) / 120));
    different.insert({begin[0], begin[1], size[0], size[1]});
  }
  CHECK(different.size() > 150);
}
TEST_CASE("without a part that fits, the whole image is taken") {
  const auto made = run_on("SampleDistortedBoundingBox", {i32({3}, {10, 10, 1}), f32({1, 1, 4}, {0, 0, 1, 1})},
                           {{"area_range", std::vector<float>{0.1f, 0.2f}}, {"min_object_covered", 0.9f}});
  CHECK(made[1].as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{10, 10, -1});
}

TEST_CASE("random crops begin anywhere in the image") {
  graph g;
  const auto scope = g.as_default();
  const output place = placeholder(dtype::int32, {3, 4, 1});
  const auto node = call_operator(g, "RandomCrop", {place, tensor_literal(extent_of({2}), std::vector<std::int64_t>{2, 3})}, {});
  graph_session s(g);
  std::set<std::int32_t> begins;
  for (int run = 0; run < 100; ++run) {
    const auto made =
        s.run(node.outputs(), {{place, i32({3, 4, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})}})[0].as<std::vector<std::int32_t>>();
    const int first = made[0];
    CHECK(made == std::vector<std::int32_t>{first, first + 1, first + 2, first + 4, first + 5, first + 6});
    begins.insert(first);
  }
  CHECK(begins == std::set<std::int32_t>{0, 1, 4, 5});
}

TEST_CASE("parts of images that cannot be are refused") {
  const auto size = i32({3}, {6, 6, 3}), box = f32({1, 1, 4}, corners), covered = f32({}, {0.1});
  const auto refused = [&](std::string_view words, const std::vector<tensor_value>& inputs, const attribute_map& settings = {}) {
    return refuses("SampleDistortedBoundingBoxV2", inputs, settings, words);
  };
  CHECK(refused("image_size must be 1-dimensional", {i32({}, {6}), box, covered}));
  CHECK(refused("image_size must contain 3 elements", {i32({2}, {6, 6}), box, covered}));
  CHECK(refused("image width cannot be", {i32({3}, {6, -6, 3}), box, covered}));
  CHECK(refused("image height cannot be", {i64({3}, {INT32_MAX, 6, 3}), box, covered}));
  CHECK(refused("input boxes must be 3-dimensional", {size, f32({1, 4}, corners), covered}));
  CHECK(refused("bounding boxes must have shape", {size, f32({1, 1, 3}, {0, 0, 1}), covered}));
  CHECK(refused("All bounding box coordinates", {size, f32({1, 1, 4}, {0, 0, 1.5, 1}), covered}));
  CHECK(refused("All bounding box coordinates", {size, f32({1, 1, 4}, {0, NAN, 1, 1}), covered}));
  CHECK(refused("No bounding boxes provided", {size, f32({1, 0, 4}, {}), covered}));
  CHECK(refused("min_object_covered must be 0-D", {size, box, f32({1}, {0.1})}));
  CHECK(refused("Min object covered must be non-negative", {size, box, f32({}, {-0.1})}));
  CHECK(refused("Max attempts", {size, box, covered}, {{"max_attempts", std::int64_t{0}}}));
  const auto range = [](const char* name, std::vector<float> list) { return attribute_map{{name, std::move(list)}}; };
  CHECK(refused("Area range must be non-negative", {size, box, covered}, range("area_range", {0, 1})));
  CHECK(refused("Area range must be less then", {size, box, covered}, range("area_range", {0.5f, 1.5f})));
  CHECK(refused("Area range field must specify 2", {size, box, covered}, range("area_range", {0.5f})));
  CHECK(refused("Aspect ratio range field must specify 2", {size, box, covered}, range("aspect_ratio_range", {1})));
  CHECK(refused("Aspect ratio range must be non-negative", {size, box, covered}, range("aspect_ratio_range", {-1, 1})));
  CHECK(refuses("StatelessSampleDistortedBoundingBox", {size, box, covered, i32({3}, {1, 2, 3})}, {}, "seed must have shape [2]"));
  const auto empty = run_on("SampleDistortedBoundingBoxV2", {i32({3}, {0, 0, 3}), box, covered}, {});
  CHECK(empty[1].as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{0, 0, -1});
  const auto image = i32({2, 2, 1}, {1, 2, 3, 4});
  CHECK(refuses("RandomCrop", {i32({2, 2}, {1, 2, 3, 4}), i64({2}, {1, 1})}, {}, "input must be 3-dimensional"));
  CHECK(refuses("RandomCrop", {image, i64({3}, {1, 1, 1})}, {}, "shape_t must have two elements"));
  CHECK(refuses("RandomCrop", {image, i64({2}, {1, -1})}, {}, "a size of -1"));
  CHECK(refuses<failed_precondition>("RandomCrop", {image, i64({2}, {3, 1})}, {}, "height must be >= target_height"));
  CHECK(refuses<failed_precondition>("RandomCrop", {image, i64({2}, {1, 3})}, {}, "width must be >= target_width"));
}

}  // namespace sampled_boxes_test
