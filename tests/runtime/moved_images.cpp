// Images that are projected, scaled, cut into glimpses and patches, and boxes of several classes: TensorFlow 2.21's values, and what is
// refused.

#include "support/recorded_nodes.hpp"

#include <cmath>
#include <limits>
#include <string>

using namespace leat;
using namespace recorded_nodes;

namespace moved_images_test {

const std::vector<recorded>& recordings() {
  // clang-format off
  static const std::vector<recorded> list{
      {"ImageProjectiveTransformV3", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), f32({2, 8}, {1.1, 0.2,
       -0.7, -0.1, 0.9, 0.6, 0.01, 0.02, 0.5, 0, 3, 0, 2.2, -3, 0, 0}), i32({2}, {3, 4}), f32({}, {7})}, {{"interpolation", "NEAREST"},
       {"fill_mode", "CONSTANT"}}, {f32({2, 3, 4, 1}, {7, 0, 3, 7, 4, 7, 10, 7, 8, 0, 3, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7})}},
      {"ImageProjectiveTransformV3", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), f32({2, 8}, {1.1, 0.2,
       -0.7, -0.1, 0.9, 0.6, 0.01, 0.02, 0.5, 0, 3, 0, 2.2, -3, 0, 0}), i32({2}, {3, 4}), f32({}, {7})}, {{"interpolation", "BILINEAR"},
       {"fill_mode", "CONSTANT"}}, {f32({2, 3, 4, 1}, {5.6200004, 3.168317, 5.980392, 7.0785184, 6.430219, 4.8826466, 7.1538467, 7.666666,
       7.4926033, 2.8752828, 2.7262375, 6.2663116, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7})}},
      {"ImageProjectiveTransformV3", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), f32({2, 8}, {1.1, 0.2,
       -0.7, -0.1, 0.9, 0.6, 0.01, 0.02, 0.5, 0, 3, 0, 2.2, -3, 0, 0}), i32({2}, {3, 4}), f32({}, {7})}, {{"interpolation", "NEAREST"},
       {"fill_mode", "REFLECT"}}, {f32({2, 3, 4, 1}, {4, 0, 3, 6, 4, 7, 10, 10, 8, 0, 3, 3, 8, 8, 5, 5, 0, 0, 8, 8, 4, 4, 1, 1})}},
      {"ImageProjectiveTransformV3", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), f32({2, 8}, {1.1, 0.2,
       -0.7, -0.1, 0.9, 0.6, 0.01, 0.02, 0.5, 0, 3, 0, 2.2, -3, 0, 0}), i32({2}, {3, 4}), f32({}, {7})}, {{"interpolation", "BILINEAR"},
       {"fill_mode", "REFLECT"}}, {f32({2, 3, 4, 1}, {2.4, 3.168317, 5.980392, 7.1650486, 5.882353, 4.8826466, 7.1538467, 9, 8, 1.9047613,
       2.3773592, 3.2616832, 8, 6.5, 5, 3.5, 0, 4, 8, 6.5, 5.6000004, 4.1000004, 2.6000004, 4.3999996})}},
      {"ImageProjectiveTransformV3", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), f32({2, 8}, {1.1, 0.2,
       -0.7, -0.1, 0.9, 0.6, 0.01, 0.02, 0.5, 0, 3, 0, 2.2, -3, 0, 0}), i32({2}, {3, 4}), f32({}, {7})}, {{"interpolation", "NEAREST"},
       {"fill_mode", "WRAP"}}, {f32({2, 3, 4, 1}, {10, 0, 3, 0, 10, 7, 10, 4, 6, 3, 6, 8, 2, 5, 2, 2, 2, 5, 2, 2, 9, 1, 9, 9})}},
      {"ImageProjectiveTransformV3", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), f32({2, 8}, {1.1, 0.2,
       -0.7, -0.1, 0.9, 0.6, 0.01, 0.02, 0.5, 0, 3, 0, 2.2, -3, 0, 0}), i32({2}, {3, 4}), f32({}, {7})}, {{"interpolation", "BILINEAR"},
       {"fill_mode", "WRAP"}}, {f32({2, 3, 4, 1}, {8.4, 3.168317, 5.980392, 1.1650486, 6.7058825, 4.8826466, 7.1538467, 4.571429, 6,
       2.2857146, 5.3773594, 7.8504667, 2, 3.5, 2, 2, 2, 3.5, 2, 2, 6.1999993, 4.3999996, 6.1999993, 6.1999993})}},
      {"ImageProjectiveTransformV3", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), f32({2, 8}, {1.1, 0.2,
       -0.7, -0.1, 0.9, 0.6, 0.01, 0.02, 0.5, 0, 3, 0, 2.2, -3, 0, 0}), i32({2}, {3, 4}), f32({}, {7})}, {{"interpolation", "NEAREST"},
       {"fill_mode", "NEAREST"}}, {f32({2, 3, 4, 1}, {4, 0, 3, 6, 4, 7, 10, 10, 8, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4})}},
      {"ImageProjectiveTransformV3", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), f32({2, 8}, {1.1, 0.2,
       -0.7, -0.1, 0.9, 0.6, 0.01, 0.02, 0.5, 0, 3, 0, 2.2, -3, 0, 0}), i32({2}, {3, 4}), f32({}, {7})}, {{"interpolation", "BILINEAR"},
       {"fill_mode", "NEAREST"}}, {f32({2, 3, 4, 1}, {2.4, 3.168317, 5.980392, 7.1650486, 5.882353, 4.8826466, 7.1538467, 9, 8, 1.9047613,
       2.3773592, 3.2616832, 0, 0, 0, 0, 0, 0, 0, 0, 5.6000004, 5.6000004, 5.6000004, 5.6000004})}},
      {"ImageProjectiveTransformV2", {f32({2, 2, 3, 2}, {0, 7, 3, 10, 6, 2, 4, 0, 7, 3, 10, 6, 5, 1, 8, 4, 0, 7, 9, 5, 1, 8, 4, 0}),
       f32({1, 8}, {1.1, 0.2, -0.7, -0.1, 0.9, 0.6, 0.01, 0.02}), i32({2}, {3, 2})}, {{"interpolation", "BILINEAR"}}, {f32({2, 3, 2, 2},
       {0.72, 0.84000003, 3.168317, 4.7227726, 1.0795847, 0, 3.6829104, 1.119804, 0, 0, 0, 0, 2.22, 1.02, 6.011666, 4.168317, 2.4290657,
       1.3494809, 2.7808456, 4.323687, 0, 0, 0, 0})}},
      {"ImageProjectiveTransformV2", {i32({1, 4, 5, 1}, {0, 60, 120, 180, 20, 80, 140, 200, 40, 100, 160, 0, 60, 120, 180, 20, 80, 140,
       200, 40}), f32({1, 8}, {0.5, 0, 3, 0, 2.2, -3, 0, 0}), i32({2}, {3, 4})}, {{"interpolation", "BILINEAR"}, {"fill_mode",
       "REFLECT"}}, {i32({1, 3, 4, 1}, {120, 150, 180, 180, 180, 100, 20, 20, 72, 102, 132, 132})}},
      {"ImageProjectiveTransformV3", {u8({1, 4, 5, 1}, {0, 60, 120, 180, 20, 80, 140, 200, 40, 100, 160, 0, 60, 120, 180, 20, 80, 140,
       200, 40}), f32({1, 8}, {1.1, 0.2, -0.7, -0.1, 0.9, 0.6, 0.01, 0.02}), i32({2}, {3, 4}), f32({}, {300})}, {{"interpolation",
       "NEAREST"}}, {u8({1, 3, 4, 1}, {44, 0, 60, 180, 80, 140, 200, 40, 160, 0, 60, 120})}},
      {"ExtractGlimpse", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {3, 2}), f32({2, 2}, {0.3,
       -0.2, -0.9, 0.8})}, {{"noise", "zero"}, {"uniform_noise", false}}, {f32({2, 3, 2, 1}, {0, 3, 4, 7, 8, 0, 0, 0, 8, 0, 1, 4})}},
      {"ExtractGlimpse", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {3, 2}), f32({2, 2}, {0.3,
       -0.2, -0.9, 0.8})}, {{"centered", false}, {"noise", "zero"}, {"uniform_noise", false}}, {f32({2, 3, 2, 1}, {0, 0, 0, 4, 0, 8, 0, 0,
       0, 0, 0, 0})}},
      {"ExtractGlimpse", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {3, 2}), f32({2, 2},
       {0.90000004, -0.6, -2.6999998, 2.4})}, {{"normalized", false}, {"noise", "zero"}, {"uniform_noise", false}}, {f32({2, 3, 2, 1}, {0,
       3, 4, 7, 8, 0, 0, 0, 8, 0, 1, 4})}},
      {"ExtractGlimpse", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {3, 2}), f32({2, 2},
       {0.90000004, -0.6, -2.6999998, 2.4})}, {{"normalized", false}, {"centered", false}, {"noise", "zero"}, {"uniform_noise", false}},
       {f32({2, 3, 2, 1}, {0, 0, 0, 4, 0, 8, 0, 0, 0, 0, 0, 0})}},
      {"ExtractGlimpse", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {3, 2}), f32({2, 2}, {9, 0,
       1, -7})}, {{"normalized", false}, {"centered", false}, {"noise", "zero"}, {"uniform_noise", false}}, {f32({2, 3, 2, 1}, {0, 0, 0,
       0, 0, 0, 0, 0, 0, 0, 0, 0})}},
      {"ExtractGlimpse", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {2, 1}), f32({2, 2},
       {0.030000001, -0.020000001, -0.089999996, 0.080000006})}, {}, {f32({2, 2, 1, 1}, {0, 4, 8, 1})}},
      {"ExtractGlimpse", {f32({1, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3}), i32({2}, {6, 5}), f32({1, 2}, {0.3, -0.2})}, {{"noise",
       "zero"}, {"uniform_noise", false}}, {f32({1, 6, 5, 1}, {0, 0, 0, 0, 0, 0, 0, 3, 6, 0, 0, 4, 7, 10, 0, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0,
       0, 0, 0, 0, 0})}},
      {"ExtractGlimpseV2", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {3, 2}), f32({2, 2},
       {0.3, -0.2, -0.9, 0.8})}, {{"noise", "zero"}, {"uniform_noise", false}}, {f32({2, 3, 2, 1}, {0, 3, 4, 7, 8, 0, 0, 0, 8, 0, 1,
       4})}},
      {"ExtractGlimpseV2", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {3, 2}), f32({2, 2},
       {0.3, -0.2, -0.9, 0.8})}, {{"centered", false}, {"noise", "zero"}, {"uniform_noise", false}}, {f32({2, 3, 2, 1}, {0, 3, 4, 7, 8, 0,
       0, 0, 0, 0, 0, 0})}},
      {"ExtractGlimpseV2", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {3, 2}), f32({2, 2},
       {0.90000004, -0.6, -2.6999998, 2.4})}, {{"normalized", false}, {"noise", "zero"}, {"uniform_noise", false}}, {f32({2, 3, 2, 1}, {8,
       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})}},
      {"ExtractGlimpseV2", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {3, 2}), f32({2, 2},
       {0.90000004, -0.6, -2.6999998, 2.4})}, {{"normalized", false}, {"centered", false}, {"noise", "zero"}, {"uniform_noise", false}},
       {f32({2, 3, 2, 1}, {0, 3, 4, 7, 8, 0, 0, 0, 0, 0, 0, 0})}},
      {"ExtractGlimpseV2", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {3, 2}), f32({2, 2}, {9,
       0, 1, -7})}, {{"normalized", false}, {"centered", false}, {"noise", "zero"}, {"uniform_noise", false}}, {f32({2, 3, 2, 1}, {0, 0,
       0, 0, 0, 0, 0, 0, 0, 0, 0, 0})}},
      {"ExtractGlimpseV2", {f32({2, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3, 5, 8, 0, 9, 1, 4, 2, 5, 8}), i32({2}, {2, 1}), f32({2, 2},
       {0.030000001, -0.020000001, -0.089999996, 0.080000006})}, {}, {f32({2, 2, 1, 1}, {0, 4, 8, 1})}},
      {"ExtractGlimpseV2", {f32({1, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3}), i32({2}, {6, 5}), f32({1, 2}, {0.3, -0.2})}, {{"noise",
       "zero"}, {"uniform_noise", false}}, {f32({1, 6, 5, 1}, {0, 0, 0, 0, 0, 0, 0, 3, 6, 0, 0, 4, 7, 10, 0, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0,
       0, 0, 0, 0, 0})}},
      {"CombinedNonMaxSuppression", {f32({2, 5, 1, 4}, {0.22, 0.87, 0.62, 1.27, 0.49, 0.61, 0.89, 1.01, 0.3, 0.19, 0.70000005, 0.59000003,
       0.44, 0.16, 0.84000003, 0.56, 0.41, 0.3, 0.81, 0.70000005, 0.6, 0.27, 1, 0.67, 0.33, 0.14, 0.73, 0.54, 0.96, 0.19, 1.36,
       0.59000003, 0.7, 0.78, 1.1, 1.18, 0, 0.52, 0.4, 0.91999996}), f32({2, 5, 2}, {0.26, 0.8, 0.87, 0.92, 0, 0.47, 0.98, 0.4, 0.81,
       0.55, 0.77, 0.48, 0.03, 0.09, 0.11, 0.25, 0.96, 0.63, 0.82, 0.57}), i32({}, {2}), i32({}, {5}), f32({}, {0.2}), f32({}, {0.15})},
       {}, {f32({2, 5, 4}, {0.44, 0.16, 0.84000003, 0.56, 0.49, 0.61, 0.89, 1, 0.49, 0.61, 0.89, 1, 0.22, 0.87, 0.62, 1, 0, 0, 0, 0, 0.7,
       0.78, 1, 1, 0, 0.52, 0.4, 0.91999996, 0.7, 0.78, 1, 1, 0, 0.52, 0.4, 0.91999996, 0, 0, 0, 0}), f32({2, 5}, {0.98, 0.92, 0.87, 0.8,
       0, 0.96, 0.82, 0.63, 0.57, 0}), f32({2, 5}, {0, 1, 0, 1, 0, 0, 0, 1, 1, 0}), i32({2}, {4, 4})}},
      {"CombinedNonMaxSuppression", {f32({2, 5, 1, 4}, {0.22, 0.87, 0.62, 1.27, 0.49, 0.61, 0.89, 1.01, 0.3, 0.19, 0.70000005, 0.59000003,
       0.44, 0.16, 0.84000003, 0.56, 0.41, 0.3, 0.81, 0.70000005, 0.6, 0.27, 1, 0.67, 0.33, 0.14, 0.73, 0.54, 0.96, 0.19, 1.36,
       0.59000003, 0.7, 0.78, 1.1, 1.18, 0, 0.52, 0.4, 0.91999996}), f32({2, 5, 2}, {0.26, 0.8, 0.87, 0.92, 0, 0.47, 0.98, 0.4, 0.81,
       0.55, 0.77, 0.48, 0.03, 0.09, 0.11, 0.25, 0.96, 0.63, 0.82, 0.57}), i32({}, {1}), i32({}, {7}), f32({}, {0.2}), f32({}, {0.15})},
       {{"pad_per_class", true}}, {f32({2, 2, 4}, {0.44, 0.16, 0.84000003, 0.56, 0.49, 0.61, 0.89, 1, 0.7, 0.78, 1, 1, 0.7, 0.78, 1, 1}),
       f32({2, 2}, {0.98, 0.92, 0.96, 0.63}), f32({2, 2}, {0, 1, 0, 1}), i32({2}, {2, 2})}},
      {"CombinedNonMaxSuppression", {f32({2, 5, 2, 4}, {0.73, 0.96, 1.23, 1.46, 0.97, 0.02, 1.47, 0.52, 0.61, 0.93, 1.11, 1.4300001, 0.38,
       0.22, 0.88, 0.72, 0.73, 0.54, 1.23, 1.04, 1.13, 0.05, 1.63, 0.55, 0.03, 0.4, 0.53, 0.9, 0.38, -0.08, 0.88, 0.42000002, 0.52, 1,
       1.02, 1.5, 0.94, -0.07, 1.44, 0.43, 1.18, 0.94, 1.68, 1.44, 0.49, 0.81, 0.99, 1.31, 1.1, 1.14, 1.6, 1.64, 0.33, 0.01, 0.83000004,
       0.51, 1.06, 1.15, 1.56, 1.65, 0.82, 0.81, 1.3199999, 1.31, 0.39, 0.01, 0.89, 0.51, 0.37, 0.95, 0.87, 1.45, 0.96, 0.24, 1.46, 0.74,
       0.01, 0.95, 0.51, 1.45}), f32({2, 5, 2}, {0.26, 0.8, 0.87, 0.92, 0, 0.47, 0.98, 0.4, 0.81, 0.55, 0.77, 0.48, 0.03, 0.09, 0.11,
       0.25, 0.96, 0.63, 0.82, 0.57}), i32({}, {5}), i32({}, {4}), f32({}, {0.2}), f32({}, {0.15})}, {{"clip_boxes", false}}, {f32({2, 4,
       4}, {0.03, 0.4, 0.53, 0.9, 0.38, 0.22, 0.88, 0.72, 0.61, 0.93, 1.11, 1.4300001, 0.97, 0.02, 1.47, 0.52, 0.39, 0.01, 0.89, 0.51,
       0.96, 0.24, 1.46, 0.74, 1.18, 0.94, 1.68, 1.44, 0.37, 0.95, 0.87, 1.45}), f32({2, 4}, {0.98, 0.92, 0.87, 0.8, 0.96, 0.82, 0.77,
       0.63}), f32({2, 4}, {0, 1, 0, 1, 0, 0, 0, 1}), i32({2}, {4, 4})}},
      {"CombinedNonMaxSuppression", {f32({2, 5, 2, 4}, {0.73, 0.96, 1.23, 1.46, 0.97, 0.02, 1.47, 0.52, 0.61, 0.93, 1.11, 1.4300001, 0.38,
       0.22, 0.88, 0.72, 0.73, 0.54, 1.23, 1.04, 1.13, 0.05, 1.63, 0.55, 0.03, 0.4, 0.53, 0.9, 0.38, -0.08, 0.88, 0.42000002, 0.52, 1,
       1.02, 1.5, 0.94, -0.07, 1.44, 0.43, 1.18, 0.94, 1.68, 1.44, 0.49, 0.81, 0.99, 1.31, 1.1, 1.14, 1.6, 1.64, 0.33, 0.01, 0.83000004,
       0.51, 1.06, 1.15, 1.56, 1.65, 0.82, 0.81, 1.3199999, 1.31, 0.39, 0.01, 0.89, 0.51, 0.37, 0.95, 0.87, 1.45, 0.96, 0.24, 1.46, 0.74,
       0.01, 0.95, 0.51, 1.45}), f32({2, 5, 2}, {0.26, 0.8, 0.87, 0.92, 0, 0.47, 0.98, 0.4, 0.81, 0.55, 0.77, 0.48, 0.03, 0.09, 0.11,
       0.25, 0.96, 0.63, 0.82, 0.57}), i32({}, {5}), i32({}, {3}), f32({}, {0.2}), f32({}, {0.15})}, {{"pad_per_class", true}}, {f32({2,
       3, 4}, {0.03, 0.4, 0.53, 0.9, 0.38, 0.22, 0.88, 0.72, 0.61, 0.93, 1, 1, 0.39, 0.01, 0.89, 0.51, 0.96, 0.24, 1, 0.74, 1, 0.94, 1,
       1}), f32({2, 3}, {0.98, 0.92, 0.87, 0.96, 0.82, 0.77}), f32({2, 3}, {0, 1, 0, 0, 0, 0}), i32({2}, {3, 3})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {2, 3}), f32({2},
       {0.5, 0.6}), f32({2}, {0, 0.2})}, {{"kernel_type", "lanczos1"}, {"antialias", true}}, {f32({1, 2, 3, 1}, {2.8070579, 6.512805,
       4.7641478, 4.0251346, 4.207712, 6.7534504})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {5, 4}), f32({2},
       {1.3, 0.7}), f32({2}, {-0.4, 0.5})}, {{"kernel_type", "lanczos1"}, {"antialias", false}}, {f32({1, 5, 4, 1}, {0.21459225,
       3.1969452, 6.782958, 1.7275841, 3.9936101, 6.9759626, 8.110961, 4.787134, 7.5219517, 0.8759096, 4.2340765, 8.31426, 4.5, 2.014706,
       5.707547, 5.673077, 1, 3.9823527, 7.7075477, 2.5538468})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {2, 3}), f32({2},
       {0.5, 0.6}), f32({2}, {0, 0.2})}, {{"kernel_type", "lanczos3"}, {"antialias", true}}, {f32({1, 2, 3, 1}, {2.964248, 6.126266,
       5.015321, 3.8450994, 4.5221186, 6.7165995})}},
      {"ScaleAndTranslateGrad", {f32({1, 2, 3, 1}, {0.49, 0.5, 0.79, 0.17, -1.75, 0.63}), f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2,
       5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), f32({2}, {0.5, 0.6}), f32({2}, {0, 0.2})}, {{"kernel_type", "lanczos3"}, {"antialias", true}},
       {f32({1, 4, 5, 1}, {0.16203213, 0.19959715, 0.2100578, 0.20800366, 0.11240257, 0.1888793, 0.044225406, 0.024705172, 0.23365943,
       0.20092791, 0.111159086, -0.29806083, -0.36409143, 0.122364104, 0.2384676, 0.03377613, -0.36525285, -0.4315449, 0.024341092,
       0.17435162})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {5, 4}), f32({2},
       {1.3, 0.7}), f32({2}, {-0.4, 0.5})}, {{"kernel_type", "lanczos3"}, {"antialias", false}}, {f32({1, 5, 4, 1}, {-0.27039897,
       3.5424843, 8.09967, 2.4301875, 3.1306946, 6.6219363, 7.5305634, 3.9339447, 10.099373, 1.6791323, 4.2504845, 8.490056, 5.288761,
       1.5428894, 6.584462, 6.175263, -1.0922496, 4.432571, 9.826448, 2.4886703})}},
      {"ScaleAndTranslateGrad", {f32({1, 5, 4, 1}, {0.5, 1.02, -0.85, 2.52, -1.23, 0.73, 0.05, -0.49, 0.82, -0.28, -2.34, -1.17, 0.46,
       2.24, -1.48, -0.02, 1.45, 0.61, -0.38, -1.42}), f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}),
       f32({2}, {1.3, 0.7}), f32({2}, {-0.4, 0.5})}, {{"kernel_type", "lanczos3"}, {"antialias", false}}, {f32({1, 4, 5, 1}, {0.45465854,
       0.9553363, -0.6158248, 0.22912025, 1.9431523, -1.0494672, 0.89203835, -0.5782467, -0.36174724, -0.30239618, 0.8854337, 0.99572563,
       -2.2297413, -1.3777932, -0.48776668, 2.2741187, 1.5746472, -0.67225546, -0.6596583, -1.1293328})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {2, 3}), f32({2},
       {0.5, 0.6}), f32({2}, {0, 0.2})}, {{"kernel_type", "lanczos5"}, {"antialias", true}}, {f32({1, 2, 3, 1}, {2.9486508, 6.1128693,
       5.042818, 3.861302, 4.52009, 6.7892075})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {5, 4}), f32({2},
       {1.3, 0.7}), f32({2}, {-0.4, 0.5})}, {{"kernel_type", "lanczos5"}, {"antialias", false}}, {f32({1, 5, 4, 1}, {-0.5493753, 3.699932,
       8.270397, 2.3427405, 3.591065, 6.5340223, 7.422987, 3.802427, 11.291842, 1.6216094, 4.083249, 8.644505, 5.0498934, 1.4590318,
       6.8022966, 6.038075, -1.531673, 4.8301067, 10.052656, 2.4070942})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {2, 3}), f32({2},
       {0.5, 0.6}), f32({2}, {0, 0.2})}, {{"kernel_type", "gaussian"}, {"antialias", true}}, {f32({1, 2, 3, 1}, {3.4681785, 5.652744,
       5.2128186, 3.8950646, 4.813859, 6.2116995})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {5, 4}), f32({2},
       {1.3, 0.7}), f32({2}, {-0.4, 0.5})}, {{"kernel_type", "gaussian"}, {"antialias", false}}, {f32({1, 5, 4, 1}, {0.90418726, 3.720715,
       7.024824, 3.2373273, 3.8687282, 5.8240514, 6.8133974, 4.4729033, 6.675425, 2.9417753, 4.983774, 7.034988, 4.5, 2.5892794, 5.999815,
       6.104491, 1.3084848, 3.7083602, 7.823539, 4.125642})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {2, 3}), f32({2},
       {0.5, 0.6}), f32({2}, {0, 0.2})}, {{"kernel_type", "box"}, {"antialias", true}}, {f32({1, 2, 3, 1}, {2, 6.5, 4.25, 4.5, 3.5,
       6.75})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {5, 4}), f32({2},
       {1.3, 0.7}), f32({2}, {-0.4, 0.5})}, {{"kernel_type", "box"}, {"antialias", false}}, {f32({1, 5, 4, 1}, {0, 3, 6, 1, 4, 7, 10, 5,
       8, 0, 3, 9, 4.5, 2, 5, 5.5, 1, 4, 7, 2})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {2, 3}), f32({2},
       {0.5, 0.6}), f32({2}, {0, 0.2})}, {{"kernel_type", "triangle"}, {"antialias", true}}, {f32({1, 2, 3, 1}, {3.265306, 5.94643,
       5.142858, 3.9387755, 4.767858, 6.3214297})}},
      {"ScaleAndTranslateGrad", {f32({1, 2, 3, 1}, {-1.78, -0.75, -0.37, -2.25, -1.69, 0.3}), f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10,
       2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), f32({2}, {0.5, 0.6}), f32({2}, {0, 0.2})}, {{"kernel_type", "triangle"}, {"antialias",
       true}}, {f32({1, 4, 5, 1}, {-0.54489803, -0.3384949, -0.18053578, -0.119464315, -0.059464283, -0.7744898, -0.52086735, -0.29589292,
       -0.1282143, -0.043392856, -0.87040824, -0.659949, -0.40625012, -0.06607142, 0.028392863, -0.6887756, -0.54711735, -0.34607154,
       -0.026249982, 0.04821429})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {5, 4}), f32({2},
       {1.3, 0.7}), f32({2}, {-0.4, 0.5})}, {{"kernel_type", "triangle"}, {"antialias", false}}, {f32({1, 5, 4, 1}, {0.76923084, 3.554945,
       7.085165, 3.0302205, 3.8461537, 6.6318674, 7.140109, 4.293956, 6.9230776, 2.244505, 4.8983507, 7.28022, 4.5, 2.1785717, 6.071429,
       6.0357146, 1, 3.7857141, 8.071428, 3.7142868})}},
      {"ScaleAndTranslateGrad", {f32({1, 5, 4, 1}, {-0.41, -0.75, -0.41, -0.81, 0.93, 1.64, 2.07, 0.71, 0.75, 1.46, 1.74, 1.47, 1.21,
       -0.63, -1.6, 0.88, -0.09, -0.06, -0.89, -1.3}), f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}),
       f32({2}, {1.3, 0.7}), f32({2}, {-0.4, 0.5})}, {{"kernel_type", "triangle"}, {"antialias", false}}, {f32({1, 4, 5, 1}, {-0.33414835,
       -0.5039285, -0.16170324, -0.2241759, -0.49258235, 1.1477197, 1.6953567, 1.5299995, 1.0477198, 0.7249722, 1.206786, 0.69821453,
       0.303132, 0.492885, 1.1897527, 0.48821425, -0.34821427, -1.0864285, -0.7878574, -0.67571414})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {2, 3}), f32({2},
       {0.5, 0.6}), f32({2}, {0, 0.2})}, {{"kernel_type", "keyscubic"}, {"antialias", true}}, {f32({1, 2, 3, 1}, {3.0324416, 6.166569,
       4.9661856, 3.8853052, 4.5005236, 6.607438})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {5, 4}), f32({2},
       {1.3, 0.7}), f32({2}, {-0.4, 0.5})}, {{"kernel_type", "keyscubic"}, {"antialias", false}}, {f32({1, 5, 4, 1}, {0.09340179,
       3.4073591, 7.5680957, 2.5243702, 3.4411476, 6.79921, 7.565038, 4.276279, 8.504926, 1.5794826, 4.519187, 8.081736, 4.882353,
       1.741523, 6.2259383, 6.031228, -0.15068105, 4.096399, 8.934657, 2.8081994})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {2, 3}), f32({2},
       {0.5, 0.6}), f32({2}, {0, 0.2})}, {{"kernel_type", "mitchellcubic"}, {"antialias", true}}, {f32({1, 2, 3, 1}, {3.2670763,
       5.8652396, 5.11676, 3.867532, 4.695115, 6.400198})}},
      {"ScaleAndTranslate", {f32({1, 4, 5, 1}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 1, 4, 7, 10, 2}), i32({2}, {5, 4}), f32({2},
       {1.3, 0.7}), f32({2}, {-0.4, 0.5})}, {{"kernel_type", "mitchellcubic"}, {"antialias", false}}, {f32({1, 5, 4, 1}, {0.49459478,
       3.5805078, 7.3564157, 2.938572, 3.6627872, 6.24706, 7.1369905, 4.324579, 7.589095, 2.3843215, 4.782441, 7.499446, 4.7032056,
       2.1679695, 6.1729035, 6.105406, 0.5164799, 3.8801432, 8.495692, 3.506512})}},
      {"ScaleAndTranslate", {u8({2, 3, 3, 2}, {0, 63, 27, 90, 54, 18, 36, 0, 63, 27, 90, 54, 72, 36, 0, 63, 27, 90, 45, 9, 72, 36, 0, 63,
       81, 45, 9, 72, 36, 0, 18, 81, 45, 9, 72, 36}), i32({2}, {2, 2}), f32({2}, {0.7, 0.7}), f32({2}, {0, 0})}, {}, {f32({2, 2, 2, 2},
       {15.5324955, 52.89462, 62.687897, 43.71397, 47.7539, 22.461647, 41.33043, 66.85987, 62.365578, 28.336893, 23.112438, 47.91799,
       36.366833, 61.17238, 45.83841, 22.723705})}},
      {"ExtractVolumePatches", {f32({2, 3, 2, 3, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
       23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35})}, {{"ksizes", std::vector<std::int64_t>{1, 2, 2, 2, 1}}, {"strides",
       std::vector<std::int64_t>{1, 1, 1, 1, 1}}, {"padding", "VALID"}}, {f32({2, 2, 1, 2, 8}, {0, 1, 3, 4, 6, 7, 9, 10, 1, 2, 4, 5, 7, 8,
       10, 11, 6, 7, 9, 10, 12, 13, 15, 16, 7, 8, 10, 11, 13, 14, 16, 17, 18, 19, 21, 22, 24, 25, 27, 28, 19, 20, 22, 23, 25, 26, 28, 29,
       24, 25, 27, 28, 30, 31, 33, 34, 25, 26, 28, 29, 31, 32, 34, 35})}},
      {"ExtractVolumePatches", {i32({1, 3, 2, 3, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17})}, {{"ksizes",
       std::vector<std::int64_t>{1, 2, 1, 2, 1}}, {"strides", std::vector<std::int64_t>{1, 2, 1, 2, 1}}, {"padding", "SAME"}}, {i32({1, 2,
       2, 2, 4}, {0, 1, 6, 7, 2, 0, 8, 0, 3, 4, 9, 10, 5, 0, 11, 0, 12, 13, 0, 0, 14, 0, 0, 0, 15, 16, 0, 0, 17, 0, 0, 0})}},
  };
  // clang-format on
  return list;
}
std::vector<double> list_of(const tensor_value& v) {
  std::vector<double> list;
  for (const float x : v.values<float>()) list.push_back(static_cast<double>(x));
  return list;
}
/// The gradient of the sum of squares of a node's result by its first input, for constants as its other inputs.
tensor_value slopes(std::string_view type, const tensor_value& images, const std::vector<number_argument>& others,
                    const attribute_map& settings) {
  graph g;
  const auto scope = g.as_default();
  const output place = placeholder(images.type(), images.extent());
  std::vector<number_argument> inputs{place};
  inputs.insert(inputs.end(), others.begin(), others.end());
  const output y = call_operator(g, type, inputs, settings).result();
  const auto by = gradients({reduce_sum(y * y)}, {place});
  REQUIRE(static_cast<bool>(by[0]));
  return graph_session(g).run({by[0]}, {{place, images}})[0];
}
number_argument literal(const size_list& of, const std::vector<float>& list) { return tensor_literal(extent_of(of), list); }
number_argument literal(const std::vector<std::int32_t>& list) {
  return tensor_literal(extent_of({static_cast<std::int64_t>(list.size())}), list);
}
std::vector<double> remainders(std::int64_t count) {
  std::vector<double> list;
  for (std::int64_t k = 0; k < count; ++k) list.push_back(static_cast<double>(k * 7 % 11));
  return list;
}

TEST_CASE("images are moved, scaled and cut as in TensorFlow") { check_recorded(recordings()); }

TEST_CASE("gradients of moved images are TensorFlow's") {
  // Every second channel of the first rows of 5 pixels of remainders.
  const auto image = f32({1, 3, 3, 1}, {0, 3, 6, 4, 7, 10, 8, 0, 3});
  const auto transform = literal({1, 8}, {1.1f, 0.2f, -0.7f, -0.1f, 0.9f, 0.6f, 0.01f, 0.02f});
  const auto project = [&](const char* interpolation) {
    return slopes("ImageProjectiveTransformV3", image, {transform, literal({3, 4}), literal({}, {2})}, {{"interpolation", interpolation}});
  };
  check_equal(project("NEAREST"), f32({1, 3, 3, 1}, {0, 6, 4, 14, 14, 20, 16, 0, 6}), 1e-5);
  check_equal(project("BILINEAR"), f32({1, 3, 3, 1}, {2.41059, 5.12116, 6.33763, 7.23508, 10.762, 11.7859, 8.11294, 5.41858, 5.18949}),
              1e-5);
  check_equal(slopes("ScaleAndTranslate", image, {literal({2, 3}), literal({2}, {0.5f, 0.6f}), literal({2}, {0, 0.2f})}, {}),
              f32({1, 3, 3, 1}, {0.732852, 2.29586, 2.37765, 4.21794, 5.02493, 3.33636, 8.26724, 6.99656, 2.93481}), 1e-5);
  std::vector<double> numbers;
  for (int k = 0; k < 18; ++k) numbers.push_back(k);
  using list = std::vector<std::int64_t>;
  check_equal(slopes("ExtractVolumePatches", f32({1, 3, 2, 3, 1}, numbers), {},
                     {{"ksizes", list{1, 2, 2, 2, 1}}, {"strides", list{1, 1, 1, 1, 1}}, {"padding", "SAME"}}),
              f32({1, 3, 2, 3, 1}, {0, 4, 8, 12, 32, 40, 24, 56, 64, 72, 160, 176, 48, 104, 112, 120, 256, 272}), 1e-5);
}

TEST_CASE("glimpses beyond an image are noise of its range") {
  const auto image = f32({1, 2, 2, 1}, {3, 4, 5, 7});
  const auto size = i32({2}, {40, 50}), center = f32({1, 2}, {0, 0});
  for (const char* noise : {"uniform", "gaussian"}) {
    const auto made =
        run_on("ExtractGlimpseV2", {image, size, center}, {{"noise", noise}, {"uniform_noise", noise == std::string("uniform")}})[0];
    double sum = 0, squares = 0;
    bool is_in_range = true;
    for (const float v : made.values<float>()) {
      is_in_range = is_in_range && v >= 3 && v <= 7;
      sum += static_cast<double>(v);
      squares += static_cast<double>(v) * static_cast<double>(v);
    }
    CHECK(is_in_range);
    const double mean = sum / 2000, deviation = std::sqrt(squares / 2000 - mean * mean);
    CHECK(mean == doctest::Approx(noise == std::string("uniform") ? 5 : 4.8).epsilon(0.03));
    CHECK(deviation == doctest::Approx(noise == std::string("uniform") ? 1.155 : 1.3).epsilon(0.1));
  }
  CHECK(list_of(run_on("ExtractGlimpseV2", {image, i32({2}, {1, 1}), f32({1, 2}, {NAN, 1e30})},
                       {{"noise", "zero"}, {"uniform_noise", false}})[0]) == std::vector<double>{0});
}

TEST_CASE("transformations, places and scales that are no numbers give values, not crashes") {
  const auto image = f32({1, 2, 2, 1}, {3, 4, 5, 7});
  for (const double odd : {std::nan(""), static_cast<double>(INFINITY), -1e30, 1e30})
    for (const char* mode : {"REFLECT", "WRAP", "CONSTANT", "NEAREST"})
      for (const char* interpolation : {"NEAREST", "BILINEAR"})
        CHECK(run_on("ImageProjectiveTransformV2", {image, f32({1, 8}, {odd, 0, 0, 0, 1, odd, 0, 0}), i32({2}, {2, 2})},
                     {{"interpolation", interpolation}, {"fill_mode", mode}})[0]
                  .elements() == 4);
  for (const double odd : {1e-30, 1e30, static_cast<double>(INFINITY)})
    CHECK(run_on("ScaleAndTranslate", {image, i32({2}, {2, 2}), f32({2}, {odd, 1}), f32({2}, {0, odd})}, {})[0].elements() == 4);
  session_options small;
  small.memory_limit_in_bytes = 1 << 20;
  CHECK(leat_test::says(leat_test::message_of<resource_exhausted>([&] {
          run_on("ScaleAndTranslate", {image, i32({2}, {INT32_MAX, 1}), f32({2}, {1, 1}), f32({2}, {0, 0})}, {}, false, small);
        }),
                        "memory_limit_in_bytes"));
}

TEST_CASE("moved images of wrong shapes and settings are refused") {
  const auto image = f32({1, 2, 2, 1}, {3, 4, 5, 7}), flat = f32({2, 2}, {3, 4, 5, 7});
  const auto transform = f32({1, 8}, {1, 0, 0, 0, 1, 0, 0, 0}), two = i32({2}, {2, 2});
  const auto projects = [&](const std::vector<tensor_value>& inputs, std::string_view words, const char* interpolation = "NEAREST",
                            const char* mode = "WRAP") {
    return refuses("ImageProjectiveTransformV3", inputs, {{"interpolation", interpolation}, {"fill_mode", mode}}, words);
  };
  const auto zero = f32({}, {0});
  CHECK(projects({flat, transform, two, zero}, "Input images must have rank 4"));
  CHECK(projects({image, f32({1, 7}, std::vector<double>(7)), two, zero}, "Input transform should be num_images x 8 or 1 x 8"));
  CHECK(projects({image, f32({2, 8}, std::vector<double>(16)), two, zero}, "Input transform should be num_images x 8 or 1 x 8"));
  CHECK(projects({image, transform, i32({1}, {2}), zero}, "output shape must have two elements"));
  CHECK(projects({image, transform, i32({2}, {0, 2}), zero}, "output dimensions must be positive"));
  CHECK(projects({image, transform, two, f32({1}, {0})}, "fill_value must be a scalar"));
  CHECK(projects({image, transform, two, zero}, "Invalid interpolation LINEAR", "LINEAR"));
  CHECK(projects({image, transform, two, zero}, "Invalid mode EDGE", "NEAREST", "EDGE"));
  CHECK(run_on("ImageProjectiveTransformV2", {f32({1, 0, 2, 1}, {}), transform, two},
               {{"interpolation", "BILINEAR"}, {"fill_mode", "WRAP"}})[0]
            .elements() == 4);

  const auto place = f32({1, 2}, {0, 0});
  CHECK(refuses("ExtractGlimpse", {flat, two, place}, {}, "input must be 4-dimensional"));
  CHECK(refuses("ExtractGlimpse", {image, i32({1}, {1}), place}, {}, "input must be a vector of size 2"));
  CHECK(refuses("ExtractGlimpse", {image, i32({2}, {-1, 1}), place}, {}, "Expected a non-negative size, got -1"));
  CHECK(refuses("ExtractGlimpse", {image, two, f32({2}, {0, 0})}, {}, "input must be a matrix"));
  CHECK(refuses("ExtractGlimpse", {image, two, f32({2, 2}, {0, 0, 0, 0})}, {}, "first dimension should be batch"));
  CHECK(refuses("ExtractGlimpse", {image, two, f32({1, 3}, {0, 0, 0})}, {}, "second dimension should be of size 2"));
  CHECK(refuses("ExtractGlimpse", {image, two, place}, {{"noise", "zero"}}, "could not be specified at the same time"));
  CHECK(refuses("ExtractGlimpse", {image, two, place}, {{"noise", "x"}, {"uniform_noise", false}},
                "could only be uniform, gaussian, or zero"));
  CHECK(run_on("ExtractGlimpse", {f32({1, 0, 2, 1}, {}), two, place}, {})[0].elements() == 4);

  const auto boxes = f32({1, 2, 1, 4}, std::vector<double>(8, 0.5)), scores = f32({1, 2, 3}, std::vector<double>(6, 0.5));
  const auto number = [](std::int32_t v) { return i32({}, {v}); };
  const auto limit = [](double v) { return f32({}, {v}); };
  const auto selects = [&](const std::vector<tensor_value>& inputs, std::string_view words) {
    return refuses("CombinedNonMaxSuppression", inputs, {}, words);
  };
  CHECK(selects({f32({2, 1, 4}, std::vector<double>(8)), scores, number(1), number(2), limit(0.5), limit(0)}, "boxes must be 4-D"));
  CHECK(selects({boxes, f32({2, 3}, std::vector<double>(6)), number(1), number(2), limit(0.5), limit(0)}, "scores must be 3-D"));
  CHECK(selects({f32({1, 2, 1, 3}, std::vector<double>(6)), scores, number(1), number(2), limit(0.5), limit(0)},
                "boxes must have 4 columns"));
  CHECK(selects({boxes, f32({1, 1, 3}, {1, 2, 3}), number(1), number(2), limit(0.5), limit(0)}, "scores has incompatible shape"));
  CHECK(selects({boxes, f32({2, 2, 3}, std::vector<double>(12)), number(1), number(2), limit(0.5), limit(0)}, "must have same batch size"));
  CHECK(selects({f32({1, 2, 2, 4}, std::vector<double>(16)), scores, number(1), number(2), limit(0.5), limit(0)},
                "third dimension of boxes"));
  CHECK(selects({boxes, scores, number(0), number(2), limit(0.5), limit(0)}, "max_size_per_class must be positive"));
  CHECK(selects({boxes, scores, number(1), number(0), limit(0.5), limit(0)}, "max_total_size must be > 0"));
  CHECK(selects({boxes, scores, i32({1}, {1}), number(2), limit(0.5), limit(0)}, "max_size_per_class must be 0-D"));
  CHECK(selects({boxes, scores, number(1), number(2), limit(1.5), limit(0)}, "iou_threshold must be in [0, 1]"));
  CHECK(selects({boxes, scores, number(1), number(2), limit(NAN), limit(0)}, "iou_threshold must be in [0, 1]"));
  CHECK(selects({boxes, scores, number(1), number(2), limit(0.5), f32({1}, {0})}, "score_threshold must be 0-D"));

  const auto ones = f32({2}, {1, 1}), zeros = f32({2}, {0, 0});
  const auto scales = [&](const std::vector<tensor_value>& inputs, std::string_view words, const char* filter = "box") {
    return refuses("ScaleAndTranslate", inputs, {{"kernel_type", filter}}, words);
  };
  CHECK(scales({flat, two, ones, zeros}, "input must be 4-dimensional"));
  CHECK(scales({image, i32({1}, {2}), ones, zeros}, "output_shape_t must have two elements"));
  CHECK(scales({image, i32({2}, {0, 2}), ones, zeros}, "output dimensions must be positive"));
  CHECK(scales({image, two, f32({1}, {1}), zeros}, "t must have two elements"));
  CHECK(scales({image, two, f32({2}, {0, 1}), zeros}, "Scale must be greater than zero."));
  CHECK(scales({image, two, f32({2}, {NAN, 1}), zeros}, "Scale must be greater than zero."));
  CHECK(scales({image, two, ones, zeros}, "Unrecognized kernel type: x", "x"));
  CHECK(scales({f32({1, 0, 2, 1}, {}), two, ones, zeros}, "input image must be of non-zero size"));
  CHECK(scales({f32({1, 2, 2, 0}, {}), two, ones, zeros}, "at least one channel"));
  CHECK(refuses("ScaleAndTranslateGrad", {flat, image, ones, zeros}, {}, "input_grad must be 4-dimensional"));
  CHECK(refuses("ScaleAndTranslateGrad", {image, flat, ones, zeros}, {}, "original_image must be 4-dimensional"));
  CHECK(run_on("ScaleAndTranslateGrad", {image, f32({1, 0, 2, 1}, {}), ones, zeros}, {})[0].elements() == 0);

  const auto volume = f32({1, 2, 2, 2, 1}, std::vector<double>(8));
  using list = std::vector<std::int64_t>;
  const auto patches = [](list ksizes, list strides = {1, 1, 1, 1, 1}) {
    return attribute_map{{"ksizes", std::move(ksizes)}, {"strides", std::move(strides)}, {"padding", "VALID"}};
  };
  CHECK(refuses("ExtractVolumePatches", {image}, patches({1, 1, 1, 1, 1}), "input must be 5-dimensional"));
  CHECK(refuses<unimplemented>("ExtractVolumePatches", {volume}, patches({2, 1, 1, 1, 1}), "Only support ksizes across space."));
  CHECK(refuses<out_of_range>("ExtractVolumePatches", {volume}, patches({1, 0, 1, 1, 1}), "ksizes is out of range."));
  CHECK(refuses<out_of_range>("ExtractVolumePatches", {volume}, patches({1, 1, 1, 1, 1}, {1, 0, 1, 1, 1}), "strides is out of range."));
  CHECK(refuses("ExtractVolumePatches", {volume}, patches({1, 1, 1}), "ksizes must have 5 elements"));
  CHECK(refuses("ExtractVolumePatches", {volume}, patches({1, 5, 1, 1, 1}), "Computed output size would be negative"));
  CHECK(run_on("ExtractVolumePatches", {volume}, patches({1, 3, 1, 1, 1}))[0].elements() == 0);
}

}  // namespace moved_images_test
