// Normalization, resizing, mirror images and blocks of pixels in graphs: values of small cases by hand, gradients against differences, and what
// is refused.

#include <leat/cpu/parallel.hpp>
#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace leat;
using namespace node_results;

TEST_CASE("batch normalization: means, variances and results, in training and after it, in either layout") {
  const extents of{2, 3, 2, 3};
  const number_list x = random_values(36);
  const number_list scale{0.5, 1, 2}, offset{-1, 0, 3};
  for (const bool first : {false, true})
    for (const bool is_training : {true, false})
      for (const double factor : {1.0, 0.25}) {
        if (!is_training && factor != 1) continue;
        const number_list old_mean{0.1, 0.2, 0.3}, old_variance{1, 2, 3};
        number_list mean(3), variance(3), wanted(36), in = x;
        const auto at = [&](int b, int p, int c) { return static_cast<std::size_t>(first ? (b * 3 + c) * 6 + p : (b * 6 + p) * 3 + c); };
        for (int c = 0; c < 3; ++c) {
          const auto k = static_cast<std::size_t>(c);
          for (int b = 0; b < 2; ++b)
            for (int p = 0; p < 6; ++p) mean[k] += in[at(b, p, c)] / 12;
          for (int b = 0; b < 2; ++b)
            for (int p = 0; p < 6; ++p) variance[k] += std::pow(in[at(b, p, c)] - mean[k], 2) / 12;
          if (!is_training) mean[k] = old_mean[k], variance[k] = old_variance[k];
          for (int b = 0; b < 2; ++b)
            for (int p = 0; p < 6; ++p)
              wanted[at(b, p, c)] = (in[at(b, p, c)] - mean[k]) / std::sqrt(variance[k] + 0.001) * scale[k] + offset[k];
        }
        const attribute_map settings{{"epsilon", 0.001f},
                                     {"is_training", is_training},
                                     {"exponential_avg_factor", static_cast<float>(factor)},
                                     {"data_format", std::string(first ? "NCHW" : "NHWC")}};
        const extents layout = first ? extents{2, 3, 3, 2} : of;
        for (const char* type : {"FusedBatchNorm", "FusedBatchNormV3"})
          for (const dtype d : {dtype::float32, dtype::float64}) {
            const auto of_channels = [&](const number_list& v) { return tensor_of(d, {3}, v); };
            const auto results = run_node(type,
                                          {tensor_of(d, layout, in), of_channels(scale), of_channels(offset), of_channels(old_mean),
                                           of_channels(old_variance)},
                                          {}, settings);
            const number_list y = list_of(results[0]);
            for (std::size_t i = 0; i < 36; ++i) CHECK(y[i] == doctest::Approx(wanted[i]).epsilon(1e-5).scale(1));
            for (std::size_t k = 0; k < 3; ++k) {
              const double unbiased = is_training ? variance[k] * 12 / 11 : variance[k];
              CHECK(list_of(results[1])[k] == doctest::Approx((1 - factor) * old_mean[k] + factor * mean[k]).epsilon(1e-5).scale(1));
              CHECK(list_of(results[2])[k] == doctest::Approx((1 - factor) * old_variance[k] + factor * unbiased).epsilon(1e-5).scale(1));
              CHECK(list_of(results[3])[k] == doctest::Approx(mean[k]).epsilon(1e-5).scale(1));
              CHECK(list_of(results[4])[k] == doctest::Approx(variance[k]).epsilon(1e-5).scale(1));
            }
          }
      }
}

TEST_CASE("a batch without elements has no mean") {
  const auto of = [](const number_list& v) { return tensor_of(dtype::float32, {2}, v); };
  for (const std::string version : {"", "V2", "V3"})
    for (const extents& sizes : {extents{0, 2, 3, 2}, extents{2, 0, 3, 2}})
      for (const bool is_training : {true, false})
        for (const float factor : {1.0f, 0.5f}) {
          const auto x = tensor_of(dtype::float32, sizes, {});
          const attribute_map settings{{"is_training", is_training}, {"exponential_avg_factor", factor}};
          const auto results = run_node("FusedBatchNorm" + version, {x, of({1, 2}), of({3, 4}), of({5, 6}), of({7, 8})}, {}, settings);
          CHECK(results[0].extent() == x.extent());
          for (const int k : {1, 2})
            for (const double v : list_of(results[static_cast<std::size_t>(k)])) CHECK(std::isnan(v));
          CHECK(list_of(results[3]) == number_list{0, 0});
          CHECK(list_of(results[4]) == number_list{0, 0});
          std::vector<tensor_value> back{x, x, of({1, 2}), results[3], results[4]};
          if (version == "V3") back.push_back(results[5]);
          const auto slopes = run_node("FusedBatchNormGrad" + version, back, {}, {{"is_training", is_training}});
          CHECK(slopes[0].extent() == x.extent());
          CHECK(list_of(slopes[1]) == number_list{0, 0});
          CHECK(list_of(slopes[2]) == number_list{0, 0});
        }
}

TEST_CASE("a window that is larger than its image by less than two strides has no place") {
  const attribute_map steps{{"padding", "VALID"}, {"strides", std::vector<std::int64_t>{1, 2, 2, 1}}};
  attribute_map pool = steps, patches = steps, dilation = steps;
  pool["ksize"] = patches["ksizes"] = std::vector<std::int64_t>{1, 5, 6, 1};
  patches["rates"] = dilation["rates"] = std::vector<std::int64_t>{1, 1, 1, 1};
  const auto of = [](const extents& sizes) { return tensor_of(dtype::float32, sizes, random_values(count_of(sizes))); };
  const auto sizes = [](const number_list& list) { return tensor_of(dtype::int32, {4}, list); };
  const auto is_zero = [&](const tensor_value& made, const extents& wanted) {
    CHECK(made.extent() == of(wanted).extent());
    CHECK(list_of(made) == number_list(static_cast<std::size_t>(count_of(wanted)), 0.0));
  };
  const auto image = of({2, 3, 4, 2}), filter = of({5, 6, 2, 3}), each = of({5, 6, 2, 2}), none = of({2, 0, 0, 3}), pooled = of({2, 0, 0, 2});
  CHECK(run_node("Conv2D", {image, filter}, {}, steps)[0].extent() == none.extent());
  is_zero(run_node("Conv2DBackpropInput", {sizes({2, 3, 4, 2}), filter, none}, {}, steps)[0], {2, 3, 4, 2});
  is_zero(run_node("Conv2DBackpropFilter", {image, sizes({5, 6, 2, 3}), none}, {}, steps)[0], {5, 6, 2, 3});
  CHECK(run_node("DepthwiseConv2dNative", {image, each}, {}, steps)[0].extent() == of({2, 0, 0, 4}).extent());
  is_zero(run_node("DepthwiseConv2dNativeBackpropFilter", {image, sizes({5, 6, 2, 2}), of({2, 0, 0, 4})}, {}, steps)[0], {5, 6, 2, 2});
  for (const char* type : {"MaxPool", "AvgPool"}) CHECK(run_node(type, {image}, {}, pool)[0].extent() == pooled.extent());
  is_zero(run_node("MaxPoolGrad", {image, pooled, pooled}, {}, pool)[0], {2, 3, 4, 2});
  is_zero(run_node("AvgPoolGrad", {sizes({2, 3, 4, 2}), pooled}, {}, pool)[0], {2, 3, 4, 2});
  CHECK(run_node("ExtractImagePatches", {image}, {}, patches)[0].extent() == of({2, 0, 0, 60}).extent());
  CHECK(run_node("Dilation2D", {image, of({5, 6, 2})}, {}, dilation)[0].extent() == pooled.extent());
  is_zero(run_node("Dilation2DBackpropInput", {image, of({5, 6, 2}), pooled}, {}, dilation)[0], {2, 3, 4, 2});
}

TEST_CASE("gradients of normalization, against differences") {
  for (const bool first : {false, true})
    for (const bool is_training : {true, false}) {
      const attribute_map settings{
          {"epsilon", 0.01f}, {"is_training", is_training}, {"data_format", std::string(first ? "NCHW" : "NHWC")}};
      check_gradient({first ? extents{2, 3, 2, 2} : extents{2, 2, 2, 3}, {3}, {3}}, [&](const std::vector<output>& in) {
        const auto mean = constant({0.1, 0.2, 0.3}), variance = constant({1.0, 2.0, 3.0});
        return call_operator(in[0].owner(), "FusedBatchNorm", {in[0], in[1], in[2], mean, variance}, settings).result(0);
      });
    }
  check_gradient({{2, 1, 2, 7}}, [](const std::vector<output>& in) {
    return call_operator(in[0].owner(), "LRN", {in[0]}, {{"T", dtype::float64}, {"depth_radius", 2}, {"bias", 1.5f}, {"alpha", 0.3f}, {"beta", 0.7f}})
        .result();
  });
}

TEST_CASE("the sums of batch normalization do not depend on the number of threads") {
  const int before = cpu::thread_count();
  std::vector<number_list> wanted;
  const number_list x = random_values(40 * 40 * 40 * 3), ones{1, 1, 1}, none{0, 0, 0};
  for (const int threads : {1, 2, 3}) {
    cpu::set_thread_count(threads);
    const auto of = [](const number_list& v) { return tensor_of(dtype::float32, {3}, v); };
    const auto results = run_node("FusedBatchNorm", {tensor_of(dtype::float32, {40, 40, 40, 3}, x), of(ones), of(none), of(none), of(ones)}, {}, {});
    std::vector<number_list> is;
    for (const auto& r : results) is.push_back(list_of(r));
    if (wanted.empty()) wanted = is;
    CHECK(is == wanted);
  }
  cpu::set_thread_count(before);
}

TEST_CASE("mirror images, and padding by a value") {
  const auto row = tensor_of(dtype::int32, {4}, {1, 2, 3, 4});
  const auto pads = [](std::int32_t a, std::int32_t b) { return integers({a, b}, {1, 2}); };
  CHECK(list_of(run_node("MirrorPad", {row}, {pads(2, 3)}, {{"mode", std::string("REFLECT")}})[0]) == number_list{3, 2, 1, 2, 3, 4, 3, 2, 1});
  CHECK(list_of(run_node("MirrorPad", {row}, {pads(2, 3)}, {{"mode", std::string("SYMMETRIC")}})[0]) == number_list{2, 1, 1, 2, 3, 4, 4, 3, 2});
  CHECK(list_of(run_node("MirrorPadGrad", {tensor_of(dtype::int32, {9}, {1, 1, 1, 1, 1, 1, 1, 1, 1})}, {pads(2, 3)},
                         {{"mode", std::string("REFLECT")}})[0]) == number_list{2, 3, 3, 1});
  CHECK(list_of(run_node("PadV2", {row}, {pads(1, 2), tensor_literal(std::int32_t{9})}, {})[0]) == number_list{9, 1, 2, 3, 4, 9, 9});
  CHECK(list_of(run_node("PadV2", {tensor_of(dtype::int32, {0}, {})}, {pads(1, 2), tensor_literal(std::int32_t{9})}, {})[0]) == number_list{9, 9, 9});
  const auto message = [&](std::int32_t a, std::int32_t b, std::string mode) {
    return leat_test::message_of<invalid_argument>([&] { run_node("MirrorPad", {row}, {pads(a, b)}, {{"mode", mode}}); });
  };
  CHECK(leat_test::says(message(4, 0, "REFLECT"), "no greater than the dimension size minus 1"));
  CHECK(leat_test::says(message(0, 5, "SYMMETRIC"), "no greater than the dimension size"));
  CHECK(leat_test::says(message(-1, 0, "SYMMETRIC"), "non-negative"));
  CHECK(leat_test::says(message(1, 1, "EDGE"), "REFLECT or SYMMETRIC"));
  for (const char* mode : {"REFLECT", "SYMMETRIC"})
    check_gradient({{3, 4}}, [&](const std::vector<output>& in) {
      return call_operator(in[0].owner(), "MirrorPad", {in[0], integers({1, 2, 2, 0}, {2, 2})}, {{"mode", std::string(mode)}}).result();
    });
  check_gradient({{3, 4}}, [&](const std::vector<output>& in) {
    return call_operator(in[0].owner(), "PadV2", {in[0], integers({1, 2, 2, 0}, {2, 2}), constant(0.5)}, {}).result();
  });
}

TEST_CASE("blocks of pixels become channels or batches, and come back") {
  number_list pixels(2 * 4 * 6 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<double>(i);
  const auto images = tensor_of(dtype::int32, {2, 4, 6, 3}, pixels);
  const auto deep = run_node("SpaceToDepth", {images}, {}, {{"block_size", 2}})[0];
  CHECK(deep.extent() == tensor_of(dtype::int32, {2, 2, 3, 12}, {}).extent());
  number_list first_pixel{0, 1, 2, 3, 4, 5, 18, 19, 20, 21, 22, 23};
  number_list is = list_of(deep);
  is.resize(12);
  CHECK(is == first_pixel);
  CHECK(list_of(run_node("DepthToSpace", {deep}, {}, {{"block_size", 2}})[0]) == pixels);
  const attribute_map first{{"block_size", 2}, {"data_format", std::string("NCHW")}};
  const auto planes = tensor_of(dtype::int32, {2, 3, 4, 6}, pixels);
  const auto deep_planes = run_node("SpaceToDepth", {planes}, {}, first)[0];
  CHECK(list_of(deep_planes)[0] == 0);
  CHECK(list_of(deep_planes)[1] == 2);
  CHECK(list_of(deep_planes)[6] == 24);  // channel 1 of the block's first pixel
  CHECK(list_of(run_node("DepthToSpace", {deep_planes}, {}, first)[0]) == pixels);

  const auto small = tensor_of(dtype::int32, {1, 2, 2, 1}, {1, 2, 3, 4});
  const auto spread = run_node("SpaceToBatchND", {small}, {integers({2, 2}, {2}), integers({0, 0, 0, 0}, {2, 2})}, {})[0];
  CHECK(spread.extent() == tensor_of(dtype::int32, {4, 1, 1, 1}, {}).extent());
  CHECK(list_of(spread) == number_list{1, 2, 3, 4});
  const auto padded = run_node("SpaceToBatchND", {images}, {integers({3, 2}, {2}), integers({1, 1, 2, 0}, {2, 2})}, {})[0];
  CHECK(padded.extent() == tensor_of(dtype::int32, {12, 2, 4, 3}, {}).extent());
  CHECK(list_of(run_node("BatchToSpaceND", {padded}, {integers({3, 2}, {2}), integers({1, 1, 2, 0}, {2, 2})}, {})[0]) == pixels);
  check_gradient({{1, 4, 4, 2}}, [](const std::vector<output>& in) {
    const auto deeper = call_operator(in[0].owner(), "SpaceToDepth", {in[0]}, {{"block_size", 2}}).result();
    return call_operator(in[0].owner(), "DepthToSpace", {square(deeper)}, {{"block_size", 2}}).result();
  });
  check_gradient({{1, 3, 4, 2}}, [](const std::vector<output>& in) {
    const auto wide = call_operator(in[0].owner(), "SpaceToBatchND", {in[0], integers({2, 2}, {2}), integers({1, 0, 0, 0}, {2, 2})}, {}).result();
    return call_operator(in[0].owner(), "BatchToSpaceND", {square(wide), integers({2, 2}, {2}), integers({0, 1, 1, 0}, {2, 2})}, {}).result();
  });
  const auto message = [&](std::string_view type, std::vector<number_argument> more, attribute_map settings) {
    return leat_test::message_of<error>([&] { run_node(type, {images}, std::move(more), settings); });
  };
  CHECK(leat_test::says(message("SpaceToDepth", {}, {{"block_size", 5}}), "divisible"));
  CHECK(leat_test::says(message("SpaceToDepth", {}, {{"block_size", 1}}), "block_size"));
  CHECK(leat_test::says(message("DepthToSpace", {}, {{"block_size", std::int64_t{1} << 40}}), "lock"));
  CHECK(leat_test::says(message("SpaceToBatchND", {integers({5}, {1}), integers({0, 0}, {1, 2})}, {}), "not divisible"));
  CHECK(leat_test::says(message("SpaceToBatchND", {integers({0}, {1}), integers({0, 0}, {1, 2})}, {}), "positive"));
  CHECK(leat_test::says(message("BatchToSpaceND", {integers({2}, {1}), integers({8, 8}, {1, 2})}, {}), "non-negative"));
}

TEST_CASE("images are resized as TensorFlow does, with the three conventions of pixels") {
  const auto row = tensor_of(dtype::float32, {1, 1, 4, 1}, {0, 1, 2, 3});
  const auto resize = [&](std::string_view type, std::int32_t width, bool aligned, bool centered) {
    return list_of(run_node(type, {row}, {integers({1, width}, {2})}, {{"align_corners", aligned}, {"half_pixel_centers", centered}})[0]);
  };
  CHECK(resize("ResizeNearestNeighbor", 8, false, false) == number_list{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(resize("ResizeNearestNeighbor", 2, false, false) == number_list{0, 2});
  CHECK(resize("ResizeNearestNeighbor", 2, false, true) == number_list{1, 3});
  CHECK(resize("ResizeNearestNeighbor", 7, true, false) == number_list{0, 1, 1, 2, 2, 3, 3});
  CHECK(resize("ResizeBilinear", 7, true, false) == number_list{0, 0.5, 1, 1.5, 2, 2.5, 3});
  CHECK(resize("ResizeBilinear", 8, false, false) == number_list{0, 0.5, 1, 1.5, 2, 2.5, 3, 3});
  CHECK(resize("ResizeBilinear", 8, false, true) == number_list{0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3});
  for (const bool aligned : {false, true})
    for (const bool centered : {false, true}) {
      if (aligned && centered) continue;
      const attribute_map settings{{"align_corners", aligned}, {"half_pixel_centers", centered}};
      check_gradient({{2, 3, 4, 2}}, [&](const std::vector<output>& in) {
        return call_operator(in[0].owner(), "ResizeNearestNeighbor", {in[0], integers({5, 3}, {2})}, settings).result();
      });
      check_gradient({{2, 3, 4, 2}}, [&](const std::vector<output>& in) {
        return call_operator(in[0].owner(), "ResizeBilinear", {in[0], integers({5, 3}, {2})}, settings).result();
      }, 2e-3);
    }
  const auto message = [&](std::vector<std::int32_t> to, bool centered) {
    return leat_test::message_of<error>([&] {
      run_node("ResizeBilinear", {row}, {integers(to, {static_cast<std::int64_t>(to.size())})},
               {{"align_corners", true}, {"half_pixel_centers", centered}});
    });
  };
  CHECK(leat_test::says(message({0, 3}, false), "positive"));
  CHECK(leat_test::says(message({-1, 3}, false), "positive"));
  CHECK(leat_test::says(message({1, 2, 3}, false), "2 elements"));
  CHECK(leat_test::says(message({1, 2}, true), "half_pixel_centers"));
  CHECK(leat_test::says(leat_test::message_of<error>([&] {
          run_node("ResizeBilinear", {tensor_of(dtype::float32, {1, 0, 4, 1}, {})}, {integers({2, 2}, {2})}, {});
        }),
        "non-zero size"));
}

TEST_CASE("the second derivative of a maximum over windows") {
  check_gradient({{1, 4, 4, 2}}, [](const std::vector<output>& in) {
    const auto y = max_pool(square(in[0]), {1, 2, 2, 1}, {1, 2, 2, 1}, padding::valid);
    return gradients({reduce_sum(square(y))}, {in[0]})[0] * 0.1;
  });
}
