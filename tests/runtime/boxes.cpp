// Crops, selected boxes, dilation, resizing from many pixels, reversed sequences and cells in graphs: values of TensorFlow 2.21 for small cases,
// gradients against differences, and what is refused.

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <cmath>

using namespace leat;
using namespace node_results;

namespace boxes_test {

tensor_value floats(const extents& of, const number_list& list) { return tensor_of(dtype::float32, of, list); }
tensor_value number_of(double value) { return floats({}, {value}); }
tensor_value whole(double value) { return tensor_of(dtype::int32, {}, {value}); }
template <class F>
std::string refusal(F f) {
  return leat_test::message_of<error>(f);
}

}  // namespace boxes_test
using namespace boxes_test;

TEST_CASE("boxes of images are cut out and resized") {
  number_list squares;
  for (int i = 0; i < 12; ++i) squares.push_back(i * i);
  const auto corners = floats({3, 4}, {0, 0, 1, 1, 0.25, 0.1, 0.8, 0.9, -0.5, 0.5, 0.5, 1.5});
  // No position halfway between two pixels that rounding could move to either.
  const auto clear_corners = floats({3, 4}, {0, 0, 1, 1, 0.25, 0.15, 0.8, 0.9, -0.5, 0.5, 0.5, 1.5});
  const auto corners_for = [&](const std::string& method) { return method == "nearest" ? clear_corners : corners; };
  const auto images = tensor_of(dtype::int32, {3}, {0, 0, 0});
  number_list quarters;
  for (int i = 0; i < 18; ++i) quarters.push_back(i / 4.0);
  const auto dy = floats({3, 2, 3, 1}, quarters);
  const auto crop = [&](std::string method, dtype d) {
    return list_of(run_node("CropAndResize", {tensor_of(d, {1, 3, 4, 1}, squares), corners_for(method), images}, {integers({2, 3}, {2})},
                            {{"method", method}, {"extrapolation_value", -1.0f}})[0]);
  };
  const auto to_image = [&](std::string method, dtype d) {
    return list_of(run_node("CropAndResizeGradImage", {dy, corners_for(method), images}, {integers({1, 3, 4, 1}, {4})}, {{"method", method}, {"T", d}})[0]);
  };
  for (const dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64}) {
    check_near(crop("bilinear", d), {0, 2.5, 9, 64, 90.5, 121, 9.500001, 16.5, 26.299999, 48.940002, 66.5, 86.860001, -1, -1, -1, 30.5, 49, -1});
    CHECK(crop("nearest", d) == number_list{0, 4, 9, 64, 100, 121, 16, 36, 49, 64, 100, 121, -1, -1, -1, 36, 49, -1});
    check_near(list_of(run_node("CropAndResizeGradBoxes", {dy, tensor_of(d, {1, 3, 4, 1}, squares), corners, images}, {}, {})[0]),
               {0, 29.625, 0, 29.625, 303.59998, 193.27501, 909.59998, 278.47498, 0, 123.75, 0, 0});
  }
  for (const dtype d : {dtype::float32, dtype::float64}) {
    check_near(to_image("bilinear", d), {0.525, 0.7875, 0.8625, 1.2, 1.155, 3.3075, 3.4425, 5.47, 1.695, 1.655, 1.745, 2.405});
    CHECK(to_image("nearest", d) == number_list{0, 0, 0.25, 0.5, 1.5, 0, 5.5, 6, 3, 0, 3.5, 4});
  }
  // No box, and boxes of positions that are no numbers.
  CHECK(run_node("CropAndResize", {floats({1, 3, 4, 1}, squares), floats({0, 4}, {}), tensor_of(dtype::int32, {0}, {})}, {integers({2, 3}, {2})},
                 {})[0]
            .elements() == 0);
  const double nan = std::nan("");
  CHECK(list_of(run_node("CropAndResize", {floats({1, 3, 4, 1}, squares), floats({1, 4}, {nan, 0, 1, INFINITY}), tensor_of(dtype::int32, {1}, {0})},
                         {integers({1, 2}, {2})}, {{"extrapolation_value", 7.0f}})[0]) == number_list{7, 7});
  const auto message = [&](const tensor_value& image, const tensor_value& its_boxes, const number_list& indices, std::vector<std::int32_t> sizes) {
    return refusal([&] {
      run_node("CropAndResize", {image, its_boxes, tensor_of(dtype::int32, {static_cast<std::int64_t>(indices.size())}, indices)},
               {integers(sizes, {static_cast<std::int64_t>(sizes.size())})}, {});
    });
  };
  const auto image = floats({1, 3, 4, 1}, squares);
  CHECK(leat_test::says(message(image, corners, {0, 0, 1}, {2, 3}), "outside [0, batch_size)"));
  CHECK(leat_test::says(message(image, corners, {0, -1, 0}, {2, 3}), "outside [0, batch_size)"));
  CHECK(leat_test::says(message(image, corners, {0, 0}, {2, 3}), "incompatible shape"));
  CHECK(leat_test::says(message(image, corners, {0, 0, 0}, {2, 0}), "positive"));
  CHECK(leat_test::says(message(image, corners, {0, 0, 0}, {2}), "two elements"));
  CHECK(leat_test::says(message(image, floats({2, 3}, {0, 0, 0, 0, 0, 0}), {0, 0}, {2, 3}), "4 columns"));
  CHECK(leat_test::says(message(floats({1, 0, 4, 1}, {}), corners, {0, 0, 0}, {2, 3}), "positive"));
  CHECK(leat_test::says(message(floats({3, 4, 1}, squares), corners, {0, 0, 0}, {2, 3}), "4-D"));
  CHECK(!message(image, corners, {0, 0, 0}, {2147483647, 2147483647}).empty());
  check_gradient({{2, 3, 4, 2}}, [&](const std::vector<output>& in) {
    const output box = constant(number_list{0.1, 0.2, 0.7, 0.9}), flat = cast(reshape(box, {1, 4}), dtype::float32);
    return call_operator(in[0].owner(), "CropAndResize", {in[0], flat, tensor_literal({1}), tensor_literal({2, 3})}, {}).result();
  }, 2e-3);
}

TEST_CASE("boxes are selected by their scores; those that overlap a selected one are left out, or their scores are lowered") {
  const auto corners = floats({6, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.9, 0, 10, 1, 11, 1, 11.1, 0, 10.1, 0, 100, 1, 101});
  const auto scores = floats({6}, {0.9, 0.75, 0.6, 0.95, 0.5, 0.3});
  const auto selected = [&](std::string type, double most, const std::vector<tensor_value>& more, bool pads = false) {
    std::vector<tensor_value> inputs{corners, scores, whole(most)};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return run_node(type, inputs, {}, pads ? attribute_map{{"pad_to_max_output_size", true}} : attribute_map{});
  };
  CHECK(list_of(selected("NonMaxSuppression", 3, {})[0]) == number_list{3, 0, 5});
  CHECK(list_of(selected("NonMaxSuppression", 0, {})[0]).empty());
  CHECK(list_of(selected("NonMaxSuppressionV2", 3, {number_of(1)})[0]) == number_list{3, 0, 1});
  CHECK(list_of(selected("NonMaxSuppressionV3", 30, {number_of(0.5), number_of(0)})[0]) == number_list{3, 0, 5});
  CHECK(list_of(selected("NonMaxSuppressionV3", 30, {number_of(0.5), number_of(0.4)})[0]) == number_list{3, 0});
  const auto padded = selected("NonMaxSuppressionV4", 5, {number_of(0.5), number_of(0.4)}, true);
  CHECK(list_of(padded[0]) == number_list{3, 0, 0, 0, 0});
  CHECK(list_of(padded[1]) == number_list{2});
  CHECK(padded[1].extent().rank == 0);
  const auto soft = selected("NonMaxSuppressionV5", 6, {number_of(0.5), number_of(0), number_of(0.5)});
  CHECK(list_of(soft[0]) == number_list{3, 0, 1, 5, 4, 2});
  check_near(list_of(soft[1]), {0.95, 0.9, 0.38400355, 0.3, 0.2560026, 0.19697244});
  CHECK(list_of(soft[2]) == number_list{6});
  const auto hard = selected("NonMaxSuppressionV5", 4, {number_of(0.5), number_of(0), number_of(0)}, true);
  CHECK(list_of(hard[0]) == number_list{3, 0, 5, 0});
  check_near(list_of(hard[1]), {0.95, 0.9, 0.3, 0});
  CHECK(list_of(hard[2]) == number_list{3});
  const auto overlaps = floats({3, 3}, {1, 0.6, 0, 0.6, 1, 0.2, 0, 0.2, 1});
  CHECK(list_of(run_node("NonMaxSuppressionWithOverlaps", {overlaps, floats({3}, {0.5, 0.7, 0.7}), whole(3), number_of(0.5), number_of(0)}, {},
                         {})[0]) == number_list{1, 2});
  const double nan = std::nan("");
  CHECK(list_of(run_node("NonMaxSuppression", {floats({2, 4}, {nan, nan, nan, nan, 0, 0, 1, 1}), floats({2}, {nan, 0.5}), whole(5)}, {}, {})[0]) ==
        number_list{1});
  CHECK(list_of(run_node("NonMaxSuppression", {floats({0, 4}, {}), floats({0}, {}), whole(5)}, {}, {})[0]).empty());

  const auto message = [&](const std::vector<tensor_value>& inputs) { return refusal([&] { run_node("NonMaxSuppressionV3", inputs, {}, {}); }); };
  CHECK(leat_test::says(message({corners, scores, whole(-1), number_of(0.5), number_of(0)}), "output size must be non-negative"));
  CHECK(leat_test::says(message({corners, scores, whole(1), number_of(1.5), number_of(0)}), "iou_threshold must be in [0, 1]"));
  CHECK(leat_test::says(message({corners, scores, whole(1), number_of(nan), number_of(0)}), "iou_threshold must be in [0, 1]"));
  CHECK(leat_test::says(message({corners, floats({2}, {1, 2}), whole(1), number_of(0.5), number_of(0)}), "scores has incompatible shape"));
  CHECK(leat_test::says(message({floats({2, 3}, {1, 2, 3, 4, 5, 6}), scores, whole(1), number_of(0.5), number_of(0)}), "4 columns"));
  CHECK(leat_test::says(message({corners, scores, tensor_of(dtype::int32, {1}, {1}), number_of(0.5), number_of(0)}), "0-D"));
  CHECK(leat_test::says(refusal([&] { selected("NonMaxSuppressionV5", 6, {number_of(0.5), number_of(0), number_of(-1)}); }), "soft_nms_sigma"));
}

TEST_CASE("images are resized between sixteen pixels, and to the means of areas") {
  const auto row = floats({1, 1, 4, 1}, {0, 1, 4, 9});
  const auto resize = [&](std::string type, const tensor_value& images, std::vector<std::int32_t> to, bool aligned, bool centered) {
    attribute_map settings{{"align_corners", aligned}};
    if (centered) settings["half_pixel_centers"] = true;
    return list_of(run_node(type, {images}, {integers(to, {static_cast<std::int64_t>(to.size())})}, settings)[0]);
  };
  check_near(resize("ResizeBicubic", row, {1, 6}, false, false), {0, 0.35220474, 1.7771268, 4, 7.5941124, 9.5555553});
  check_near(resize("ResizeBicubic", row, {1, 6}, true, false), {0, 0.2876721, 1.5044218, 3.0152268, 6.2660618, 9});
  check_near(resize("ResizeBicubic", row, {1, 6}, false, true), {-0.065888837, 0.29411769, 1.3618708, 3.3599176, 6.8235297, 9.329443});
  check_near(resize("ResizeArea", row, {1, 3}, false, false), {0.25, 2.5, 7.75});
  check_near(resize("ResizeArea", row, {2, 6}, true, false), {0, 1 / 3.0, 1, 3, 4, 9, 0, 1 / 3.0, 1, 3, 4, 9});
  const auto whole_row = tensor_of(dtype::int32, {1, 1, 4, 1}, {0, 1, 4, 9});
  check_near(resize("ResizeArea", whole_row, {1, 3}, false, false), {0.25, 2.5, 7.75});
  for (const bool centered : {false, true})
    check_gradient({{2, 3, 4, 2}}, [&](const std::vector<output>& in) {
      return call_operator(in[0].owner(), "ResizeBicubic", {in[0], integers({5, 3}, {2})}, {{"half_pixel_centers", centered}}).result();
    }, 2e-3);
  for (const char* type : {"ResizeBicubic", "ResizeArea"}) {
    CHECK(leat_test::says(refusal([&] { resize(type, row, {0, 3}, false, false); }), "positive"));
    CHECK(leat_test::says(refusal([&] { resize(type, row, {1, 2, 3}, false, false); }), "2 elements"));
    CHECK(leat_test::says(refusal([&] { resize(type, floats({1, 0, 4, 1}, {}), {1, 2}, false, false); }), "non-zero size"));
  }
  CHECK(leat_test::says(refusal([&] { resize("ResizeBicubic", row, {1, 2}, true, true); }), "half_pixel_centers"));
}

TEST_CASE("dilation adds a filter to the elements of windows and takes the largest; its gradients go there") {
  using list = std::vector<std::int64_t>;
  const attribute_map settings{{"padding", std::string("SAME")}, {"strides", list{1, 1, 1, 1}}, {"rates", list{1, 1, 1, 1}}};
  const number_list x{1, 5, 2, 0, 3, 7, 4, 4, 6}, f{0, 1, 2, -1}, dy{1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (const dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64}) {
    const auto image = tensor_of(d, {1, 3, 3, 1}, x), filter = tensor_of(d, {2, 2, 1}, f), slope = tensor_of(d, {1, 3, 3, 1}, dy);
    CHECK(list_of(run_node("Dilation2D", {image, filter}, {}, settings)[0]) == number_list{6, 6, 9, 6, 8, 8, 5, 7, 6});
    CHECK(list_of(run_node("Dilation2DBackpropInput", {image, filter, slope}, {}, settings)[0]) == number_list{0, 1, 0, 0, 0, 10, 4, 7, 23});
    CHECK(list_of(run_node("Dilation2DBackpropFilter", {image, filter, slope}, {}, settings)[0]) == number_list{9, 21, 13, 2});
  }
  check_gradient({{2, 5, 4, 2}, {2, 2, 2}}, [](const std::vector<output>& in) {
    return call_operator(in[0].owner(), "Dilation2D", {in[0], in[1]},
                         {{"padding", std::string("VALID")}, {"strides", list{1, 2, 1, 1}}, {"rates", list{1, 2, 1, 1}}})
        .result();
  });
  const auto message = [&](const extents& filter, list strides, list rates) {
    return refusal([&] {
      run_node("Dilation2D", {floats({1, 3, 3, 1}, x), floats(filter, number_list(static_cast<std::size_t>(count_of(filter))))}, {},
               {{"padding", std::string("VALID")}, {"strides", strides}, {"rates", rates}});
    });
  };
  CHECK(leat_test::says(message({2, 2, 2}, {1, 1, 1, 1}, {1, 1, 1, 1}), "same depth"));
  CHECK(leat_test::says(message({2, 2}, {1, 1, 1, 1}, {1, 1, 1, 1}), "3-dimensional"));
  CHECK(leat_test::says(message({2, 2, 1}, {1, 0, 1, 1}, {1, 1, 1, 1}), "positive"));
  CHECK(leat_test::says(message({2, 2, 1}, {1, 1, 1, 1}, {1, std::int64_t{1} << 62, 1, 1}), "too large"));
  CHECK(leat_test::says(message({5, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}), "negative"));
  CHECK(message({4, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}) == "nothing was thrown");  // no window, as TensorFlow counts
}

TEST_CASE("normalization by given means and variances, and its gradients") {
  const auto x = floats({1, 1, 2, 2}, {1, 2, 3, 4}), mean = floats({2}, {2, 2}), variance = floats({2}, {3.99, 0.24}), beta = floats({2}, {1, -1}),
             gamma = floats({2}, {3, 5});
  for (const bool scales : {false, true}) {
    const attribute_map settings{{"variance_epsilon", 0.01f}, {"scale_after_normalization", scales}};
    const double a = scales ? 3 : 1, b = scales ? 5 : 1;
    check_near(list_of(run_node("BatchNormWithGlobalNormalization", {x, mean, variance, beta, gamma}, {}, settings)[0]),
               {1 - a / 2, -1, 1 + a / 2, -1 + 4 * b});
    check_gradient({{1, 2, 3, 2}, {2}, {2}, {2}, {2}}, [&](const std::vector<output>& in) {
      return call_operator(in[0].owner(), "BatchNormWithGlobalNormalization", {in[0], in[1], square(in[2]) + 0.5, in[3], in[4]}, settings).result();
    });
    CHECK(leat_test::says(refusal([&] { run_node("BatchNormWithGlobalNormalization", {x, mean, variance, floats({1}, {1}), gamma}, {}, settings); }),
                          "beta"));
    CHECK(leat_test::says(refusal([&] { run_node("BatchNormWithGlobalNormalization", {mean, mean, variance, beta, gamma}, {}, settings); }), "4-dimensional"));
  }
}

TEST_CASE("the beginnings of sequences are turned around") {
  const number_list x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (const dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64})
    for (const dtype of_lengths : {dtype::int32, dtype::int64}) {
      const auto reversed = [&](const extents& of, const number_list& lengths, int seq, int batch) {
        return list_of(run_node("ReverseSequence",
                                {tensor_of(d, of, x), tensor_of(of_lengths, {static_cast<std::int64_t>(lengths.size())}, lengths)}, {},
                                {{"seq_dim", seq}, {"batch_dim", batch}})[0]);
      };
      CHECK(reversed({2, 3, 2}, {2, 3}, 1, 0) == number_list{3, 4, 1, 2, 5, 6, 11, 12, 9, 10, 7, 8});
      CHECK(reversed({3, 4}, {0, 1, 2, 3}, 0, 1) == number_list{1, 2, 7, 12, 5, 6, 3, 8, 9, 10, 11, 4});
      CHECK(reversed({2, 3, 2}, {0, 2}, 1, 2) == number_list{1, 4, 3, 2, 5, 6, 7, 10, 9, 8, 11, 12});
    }
  const auto empty = run_node("ReverseSequence", {floats({0, 3}, {}), tensor_of(dtype::int32, {0}, {})}, {}, {{"seq_dim", 1}});
  CHECK(empty[0].elements() == 0);
  check_gradient({{2, 3, 2}}, [](const std::vector<output>& in) {
    return call_operator(in[0].owner(), "ReverseSequence", {in[0], tensor_literal({2, 3})}, {{"seq_dim", 1}}).result() * 2.0;
  });
  const auto message = [&](const number_list& lengths, std::int64_t seq, std::int64_t batch) {
    return refusal([&] {
      run_node("ReverseSequence", {floats({2, 6}, x), tensor_of(dtype::int32, {static_cast<std::int64_t>(lengths.size())}, lengths)}, {},
               {{"seq_dim", seq}, {"batch_dim", batch}});
    });
  };
  CHECK(leat_test::says(message({1, 7}, 1, 0), "seq_lens(1) > input.dims(1)"));
  CHECK(leat_test::says(message({1, -1}, 1, 0), "seq_lens(1) < 0"));
  CHECK(leat_test::says(message({1}, 1, 0), "Length of seq_lengths != input.dims(0), (1 vs. 2)"));
  CHECK(leat_test::says(message({1, 1}, 0, 0), "batch_dim == seq_dim == 0"));
  CHECK(leat_test::says(message({1, 1}, 2, 0), "seq_dim must be < input rank ( 2 vs. 2)"));
  CHECK(leat_test::says(message({1, 1}, std::int64_t{1} << 62, 0), "seq_dim must be < input rank"));
  CHECK(leat_test::says(message({1, 1}, -1, 0), "Invalid seq_dim -1"));
}

TEST_CASE("cells of recurrent networks in one operator") {
  number_list weights;
  for (int i = 0; i < 12; ++i) weights.push_back(i / 8.0 - 0.7);
  const auto before = floats({1, 1}, {0.2}), hidden = floats({1, 1}, {-0.4}), w = floats({3, 4}, weights), bias = floats({4}, {0.1, 0.2, -0.1, 0});
  const auto peephole = [](double value) { return floats({1}, {value}); };
  const attribute_map settings{{"use_peephole", true}, {"cell_clip", 0.3f}, {"forget_bias", 0.5f}};
  const std::vector<number_list> wanted{{0.47252768, 0.38410324}, {0.0069739893, -0.031352445}, {0.46132737, 0.59550351}, {0.35358551, 0.56257099},
                                        {-0.18050051, -0.092437342}, {0.0069738762, -0.031342179}, {0.0024658616, -0.017632201}};
  const auto sequence = [&](double steps, const number_list& x, const attribute_map& how) {
    const auto time = static_cast<std::int64_t>(x.size()) / 2;
    return run_node("BlockLSTM",
                    {tensor_of(dtype::int64, {}, {steps}), floats({time, 1, 2}, x), before, hidden, w, peephole(0.3), peephole(-0.3), peephole(0.6), bias},
                    {}, how);
  };
  const auto all = sequence(2, {0.5, -1, 0.25, 2}, settings), one = sequence(1, {0.5, -1, 0.25, 2}, settings);
  const auto step = run_node("LSTMBlockCell", {floats({1, 2}, {0.5, -1}), before, hidden, w, peephole(0.3), peephole(-0.3), peephole(0.6), bias}, {},
                             settings);
  for (std::size_t k = 0; k < 7; ++k) {
    check_near(list_of(all[k]), wanted[k], 1e-5);
    check_near(list_of(one[k]), {wanted[k][0], 0}, 1e-5);
    check_near(list_of(step[k]), {wanted[k][0]}, 1e-5);
  }
  CHECK(sequence(0, {}, settings)[0].elements() == 0);
  const auto clipped = run_node("LSTMBlockCell", {floats({1, 2}, {0.5, -1}), floats({1, 1}, {-50}), hidden, w, peephole(0), peephole(0), peephole(0), bias},
                                {}, settings);
  CHECK(list_of(clipped[1]) == number_list{static_cast<double>(-0.3f)});
  const auto columns = [&](int first, int count) {
    number_list some;
    for (int r = 0; r < 3; ++r)
      for (int k = first; k < first + count; ++k) some.push_back(weights[static_cast<std::size_t>(4 * r + k)]);
    return floats({3, count}, some);
  };
  const auto gru = run_node("GRUBlockCell",
                            {floats({1, 2}, {0.5, -1}), hidden, columns(0, 2), columns(2, 1), floats({2}, {0.1, 0.2}), floats({1}, {-0.3})}, {}, {});
  const double of_gru[]{0.45760205, 0.45450121, -0.58869886, -0.50293499};
  for (std::size_t k = 0; k < 4; ++k) check_near(list_of(gru[k]), {of_gru[k]});

  CHECK(leat_test::says(refusal([&] { sequence(3, {0.5, -1, 0.25, 2}, settings); }), "between 0 and 2, not 3"));
  CHECK(leat_test::says(refusal([&] { sequence(-1, {0.5, -1, 0.25, 2}, settings); }), "not -1"));
  CHECK(leat_test::says(refusal([&] {
          run_node("LSTMBlockCell", {floats({1, 2}, {0.5, -1}), before, hidden, floats({3, 3}, number_list(9)), bias, bias, bias, bias}, {}, {});
        }),
        "w has the shape [3,3], where [3,4] is expected"));
}
