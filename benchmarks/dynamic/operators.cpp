// bench_operators [filter]: one operator of a model in a graph session against the best rival of this process: oneDNN where it has the
// primitive, otherwise Eigen or a loop by hand; in turns, on one thread, and what oneDNN has on two as well. Sizes are those of real models
// and small ones. Both sides must agree before they are timed. Prints the minimum of each and their ratio.

#include "operators.hpp"

#include <leat/cpu/parallel.hpp>

#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>

#include <unsupported/Eigen/CXX11/Tensor>

namespace operators {
namespace {

using leat::attribute_map;
using leat::dtype;
using leat::padding;

void pools(table& rows, const extents& image, int window, int stride) {
  const auto n = image[0], h = image[1], w = image[2], c = image[3];
  const auto to = [&](std::int64_t size) { return (size + stride - 1) / stride; };
  const auto pad = [&](std::int64_t size) { return std::max<std::int64_t>((to(size) - 1) * stride + window - size, 0); };
  const extents result{n, to(h), to(w), c};
  const dims strides{stride, stride}, kernel{window, window}, before{pad(h) / 2, pad(w) / 2}, after{pad(h) - pad(h) / 2, pad(w) - pad(w) / 2};
  const attribute_map settings{{"ksize", std::vector<std::int64_t>{1, window, window, 1}},
                               {"strides", std::vector<std::int64_t>{1, stride, stride, 1}},
                               {"padding", std::string("SAME")}};
  const array x = random_array(image, 1), dy = random_array(result, 2);
  for (const bool largest : {true, false}) {
    const std::string name = std::string(largest ? "max_pool " : "avg_pool ") + std::to_string(window) + "x" + std::to_string(window) + " " + text(image);
    if (!rows.wants(name)) continue;
    const auto how = largest ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_exclude_padding;
    device on;
    auto xs = on.images(x), ys = on.images(result), dys = on.images(dy), dxs = on.images(image);
    const dnnl::pooling_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, how, xs.get_desc(), ys.get_desc(), strides, kernel, before, after}, on.engine);
    const dnnl::pooling_forward::primitive_desc only_forward(
        {dnnl::prop_kind::forward_inference, how, xs.get_desc(), ys.get_desc(), strides, kernel, before, after}, on.engine);
    const dnnl::pooling_backward::primitive_desc backward({how, dxs.get_desc(), dys.get_desc(), strides, kernel, before, after}, on.engine, forward);
    arguments with{{DNNL_ARG_SRC, xs}, {DNNL_ARG_DST, ys}};
    arguments back{{DNNL_ARG_DIFF_DST, dys}, {DNNL_ARG_DIFF_SRC, dxs}};
    if (largest) {
      const dnnl::memory places(forward.workspace_desc(), on.engine);
      with[DNNL_ARG_WORKSPACE] = places;
      back[DNNL_ARG_WORKSPACE] = places;
    }
    on.run(dnnl::pooling_forward(forward), with);
    const auto inference = on.call(dnnl::pooling_forward(only_forward), {{DNNL_ARG_SRC, xs}, {DNNL_ARG_DST, ys}});
    rows.compare(name, rival("oneDNN", inference, {&ys}), {x},
                 [&](const outputs& in) { return outputs{node(largest ? "MaxPool" : "AvgPool", {in[0]}, settings)}; });
    if (largest) {
      array y(result);
      on.copy(ys, y);
      rows.compare(name + " gradient", rival("oneDNN", on.call(dnnl::pooling_backward(backward), back), {&dxs}), {x, y, dy},
                   [&](const outputs& in) { return outputs{node("MaxPoolGrad", {in[0], in[1], in[2]}, settings)}; });
    } else {
      rows.compare(name + " gradient", rival("oneDNN", on.call(dnnl::pooling_backward(backward), back), {&dxs}), {dy}, [&](const outputs& in) {
        return outputs{node("AvgPoolGrad", {integers({n, h, w, c}), in[0]}, settings)};
      });
    }
  }
}

void normalizations(table& rows, const extents& image) {
  const extents channels{image[3]};
  const array x = random_array(image, 1), dy = random_array(image, 2), scale = random_array(channels, 3), offset = random_array(channels, 4);
  array mean(channels), variance(channels, 1);
  const std::string name = "batch_norm " + text(image);
  if (!rows.wants(name)) return;
  device on;
  auto xs = on.images(x), ys = on.images(image), dys = on.images(dy), dxs = on.images(image);
  auto scales = on.vector(scale), offsets = on.vector(offset), means = on.vector(mean), variances = on.vector(variance);
  auto by_scale = on.vector(mean), by_offset = on.vector(mean);
  using dnnl::normalization_flags;
  const auto shifts = normalization_flags::use_scale | normalization_flags::use_shift;
  const dnnl::batch_normalization_forward::primitive_desc training(
      {dnnl::prop_kind::forward_training, xs.get_desc(), 1e-3f, shifts}, on.engine);
  const dnnl::batch_normalization_forward::primitive_desc inference(
      {dnnl::prop_kind::forward_inference, xs.get_desc(), 1e-3f, shifts | normalization_flags::use_global_stats}, on.engine);
  const dnnl::batch_normalization_backward::primitive_desc backward(
      {dnnl::prop_kind::backward, dys.get_desc(), xs.get_desc(), 1e-3f, shifts}, on.engine, training);
  const arguments with{{DNNL_ARG_SRC, xs},       {DNNL_ARG_SCALE, scales},       {DNNL_ARG_SHIFT, offsets},
                       {DNNL_ARG_MEAN, means}, {DNNL_ARG_VARIANCE, variances}, {DNNL_ARG_DST, ys}};
  const auto in_graph = [](bool is_training) {
    return [is_training](const outputs& in) {
      const attribute_map settings{{"epsilon", 1e-3f}, {"is_training", is_training}};
      return outputs{node("FusedBatchNormV3", {in[0], in[1], in[2], in[3], in[4]}, settings)};
    };
  };
  rows.compare(name + " inference", rival("oneDNN", on.call(dnnl::batch_normalization_forward(inference), with), {&ys}),
               {x, scale, offset, mean, variance}, in_graph(false));
  rows.compare(name + " training", rival("oneDNN", on.call(dnnl::batch_normalization_forward(training), with), {&ys}),
               {x, scale, offset, mean, variance}, in_graph(true));
  on.copy(means, mean);
  on.copy(variances, variance);
  const arguments back{{DNNL_ARG_SRC, xs},       {DNNL_ARG_DIFF_DST, dys}, {DNNL_ARG_SCALE, scales},         {DNNL_ARG_MEAN, means},       {DNNL_ARG_SHIFT, offsets},
                       {DNNL_ARG_VARIANCE, variances}, {DNNL_ARG_DIFF_SRC, dxs}, {DNNL_ARG_DIFF_SCALE, by_scale}, {DNNL_ARG_DIFF_SHIFT, by_offset}};
  rows.compare(name + " gradient", rival("oneDNN", on.call(dnnl::batch_normalization_backward(backward), back), {&dxs, &by_scale, &by_offset}),
               {dy, x, scale, mean, variance}, [](const outputs& in) {
                 const auto made = leat::call_operator(in[0].owner(), "FusedBatchNormGradV3", {in[0], in[1], in[2], in[3], in[4], in[4]},
                                                       attribute_map{{"epsilon", 1e-3f}, {"is_training", true}});
                 return outputs{made.result(0), made.result(1), made.result(2)};
               });
}

void local_responses(table& rows, const extents& image) {
  const std::string name = "lrn " + text(image);
  if (!rows.wants(name)) return;
  constexpr int radius = 2, size = 2 * radius + 1;
  constexpr float alpha = 1e-1f, beta = 0.75f, bias = 1;
  const array x = random_array(image, 1), dy = random_array(image, 2);
  device on;
  auto xs = on.images(x), ys = on.images(image), dys = on.images(dy), dxs = on.images(image);
  const dnnl::lrn_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, dnnl::algorithm::lrn_across_channels, xs.get_desc(), size, alpha * size, beta, bias}, on.engine);
  const dnnl::lrn_backward::primitive_desc backward(
      {dnnl::algorithm::lrn_across_channels, xs.get_desc(), dys.get_desc(), size, alpha * size, beta, bias}, on.engine, forward);
  arguments with{{DNNL_ARG_SRC, xs}, {DNNL_ARG_DST, ys}}, back{{DNNL_ARG_SRC, xs}, {DNNL_ARG_DIFF_DST, dys}, {DNNL_ARG_DIFF_SRC, dxs}};
  const dnnl::memory kept(forward.workspace_desc(), on.engine);
  with[DNNL_ARG_WORKSPACE] = kept;
  back[DNNL_ARG_WORKSPACE] = kept;
  const attribute_map settings{{"depth_radius", radius}, {"alpha", alpha}, {"beta", beta}, {"bias", bias}};
  rows.compare(name, rival("oneDNN", on.call(dnnl::lrn_forward(forward), with), {&ys}), {x},
               [&](const outputs& in) { return outputs{node("LRN", {in[0]}, settings)}; });
  array y(image);
  on.copy(ys, y);
  rows.compare(name + " gradient", rival("oneDNN", on.call(dnnl::lrn_backward(backward), back), {&dxs}), {dy, x, y},
               [&](const outputs& in) { return outputs{node("LRNGrad", {in[0], in[1], in[2]}, settings)}; });
}

void resizes(table& rows, const extents& image) {
  const std::string name = "resize_bilinear " + text(image);
  if (!rows.wants(name)) return;
  const extents larger{image[0], 2 * image[1], 2 * image[2], image[3]};
  const array x = random_array(image, 1), dy = random_array(larger, 2);
  device on;
  auto xs = on.images(x), ys = on.images(larger), dys = on.images(dy), dxs = on.images(image);
  const std::vector<float> factors{2, 2};
  const dnnl::resampling_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, dnnl::algorithm::resampling_linear, factors, xs.get_desc(), ys.get_desc()}, on.engine);
  const dnnl::resampling_backward::primitive_desc backward(
      {dnnl::algorithm::resampling_linear, factors, dxs.get_desc(), dys.get_desc()}, on.engine, forward);
  const attribute_map settings{{"half_pixel_centers", true}};
  rows.compare(name, rival("oneDNN", on.call(dnnl::resampling_forward(forward), {{DNNL_ARG_SRC, xs}, {DNNL_ARG_DST, ys}}), {&ys}), {x},
               [&](const outputs& in) { return outputs{node("ResizeBilinear", {in[0], integers({larger[1], larger[2]})}, settings)}; });
  rows.compare(name + " gradient",
               rival("oneDNN", on.call(dnnl::resampling_backward(backward), {{DNNL_ARG_DIFF_DST, dys}, {DNNL_ARG_DIFF_SRC, dxs}}), {&dxs}), {dy, x},
               [&](const outputs& in) { return outputs{node("ResizeBilinearGrad", {in[0], in[1]}, settings)}; });
}

void depthwise(table& rows, const extents& image) {
  const std::string name = "depthwise 3x3 " + text(image);
  if (!rows.wants(name)) return;
  const auto c = image[3];
  const extents window{3, 3, c, 1};
  const array x = random_array(image, 1), f = random_array(window, 2), dy = random_array(image, 3);
  device on;
  auto xs = on.images(x), ys = on.images(image), dys = on.images(dy), dxs = on.images(image);
  const auto plain = [&](const array& of) {  // [h, w, channels, 1] in memory, as groups of one channel
    return dnnl::memory({{c, 1, 1, 3, 3}, dnnl::memory::data_type::f32, dims{1, 1, 1, 3 * c, c}}, on.engine, const_cast<float*>(of.values.data()));
  };
  array slopes(window);
  auto fs = plain(f), dfs = plain(slopes);
  const dims one{1, 1};
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const dnnl::memory::desc any({c, 1, 1, 3, 3}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, xs.get_desc(), any, ys.get_desc(), one, one, one}, on.engine);
  const dnnl::convolution_backward_data::primitive_desc to_images({algorithm, dxs.get_desc(), any, dys.get_desc(), one, one, one}, on.engine, forward);
  const dnnl::convolution_backward_weights::primitive_desc to_filters({algorithm, xs.get_desc(), any, dys.get_desc(), one, one, one}, on.engine, forward);
  const std::vector<std::int64_t> strides{1, 1, 1, 1};
  const attribute_map settings{{"strides", strides}, {"padding", std::string("SAME")}};
  rows.compare(name,
               rival("oneDNN",
                     on.call(dnnl::convolution_forward(forward), {{DNNL_ARG_SRC, xs}, {DNNL_ARG_DST, ys}}, {{DNNL_ARG_WEIGHTS, fs, forward.weights_desc()}}),
                     {&ys}),
               {x, f}, [&](const outputs& in) { return outputs{node("DepthwiseConv2dNative", {in[0], in[1]}, settings)}; });
  rows.compare(name + " gradient of images",
               rival("oneDNN",
                     on.call(dnnl::convolution_backward_data(to_images), {{DNNL_ARG_DIFF_DST, dys}, {DNNL_ARG_DIFF_SRC, dxs}},
                             {{DNNL_ARG_WEIGHTS, fs, to_images.weights_desc()}}),
                     {&dxs}),
               {f, dy}, [&](const outputs& in) {
                 return outputs{node("DepthwiseConv2dNativeBackpropInput", {integers({image[0], image[1], image[2], c}), in[0], in[1]}, settings)};
               });
  auto theirs = rival("oneDNN",
                      on.call(dnnl::convolution_backward_weights(to_filters), {{DNNL_ARG_SRC, xs}, {DNNL_ARG_DIFF_DST, dys}}, {},
                              {{DNNL_ARG_DIFF_WEIGHTS, dfs, to_filters.diff_weights_desc()}}),
                      {});
  theirs.results = {slopes.values.data()};
  theirs.sums = static_cast<double>(image[0] * image[1] * image[2]);
  rows.compare(name + " gradient of filters", theirs, {x, dy}, [&](const outputs& in) {
    return outputs{node("DepthwiseConv2dNativeBackpropFilter", {in[0], integers({3, 3, c, 1}), in[1]}, settings)};
  });
}

template <int Rank>
using eigen_map = Eigen::TensorMap<Eigen::Tensor<float, Rank, Eigen::RowMajor, Eigen::Index>>;
template <int Rank>
using eigen_reader = Eigen::TensorMap<const Eigen::Tensor<float, Rank, Eigen::RowMajor, Eigen::Index>>;
template <int Rank>
Eigen::array<Eigen::Index, Rank> sizes_of(const extents& s) {
  Eigen::array<Eigen::Index, Rank> made;
  for (int i = 0; i < Rank; ++i) made[static_cast<std::size_t>(i)] = s[static_cast<std::size_t>(i)];
  return made;
}

// [batch, h, w, channels] with its axes in another order, by oneDNN's reorder and by Eigen's shuffle.
void transposes(table& rows, const extents& from, const std::array<int, 4>& order) {
  std::string name = "transpose " + text(from) + " by";
  for (const int k : order) name += " " + std::to_string(k);
  if (!rows.wants(name)) return;
  extents to;
  std::vector<std::int64_t> strides(4, 1), moved(4);
  for (int i = 2; i >= 0; --i) strides[static_cast<std::size_t>(i)] = strides[static_cast<std::size_t>(i) + 1] * from[static_cast<std::size_t>(i) + 1];
  std::vector<std::int64_t> order_list;
  for (std::size_t i = 0; i < 4; ++i) {
    to.push_back(from[static_cast<std::size_t>(order[i])]);
    moved[i] = strides[static_cast<std::size_t>(order[i])];
    order_list.push_back(order[i]);
  }
  const array x = random_array(from, 1);
  array y(to);
  const auto in_graph = [&](const outputs& in) { return outputs{node("Transpose", {in[0], integers(order_list)}, {})}; };
  device on;
  dnnl::memory source({to, dnnl::memory::data_type::f32, moved}, on.engine, const_cast<float*>(x.values.data()));
  dnnl::memory target({to, dnnl::memory::data_type::f32, dnnl::memory::format_tag::abcd}, on.engine, y.values.data());
  rows.compare(name, rival("oneDNN", on.call(dnnl::reorder(source, target), {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}}), {&target}), {x}, in_graph);
  rows.compare(name, rival("Eigen", [&] {
                 eigen_map<4> made(y.values.data(), sizes_of<4>(to));
                 made = eigen_reader<4>(x.values.data(), sizes_of<4>(from)).shuffle(order);
               }, y), {x}, in_graph);
}
// Blocks of 2 x 2 pixels become channels: axes of a six-dimensional array change places.
void blocks(table& rows, const extents& image) {
  const std::string name = "space_to_depth 2 " + text(image);
  if (!rows.wants(name)) return;
  const auto n = image[0], h = image[1], w = image[2], c = image[3];
  const extents to{n, h / 2, w / 2, 4 * c};
  const array x = random_array(image, 1);
  array y(to);
  rows.compare(name, rival("loops", [&] {
                 float* out = y.values.data();
                 for (std::int64_t row = 0; row < n * h / 2; ++row)
                   for (std::int64_t j = 0; j < w / 2; ++j)
                     for (std::int64_t a = 0; a < 2; ++a) out = std::copy_n(x.values.data() + ((2 * row + a) * w + 2 * j) * c, 2 * c, out);
               }, y), {x}, [](const outputs& in) { return outputs{node("SpaceToDepth", {in[0]}, {{"block_size", 2}})}; });
  const array z = y;
  array back(image);
  rows.compare("depth_to_space 2 " + text(to), rival("loops", [&] {
                 const float* from = z.values.data();
                 for (std::int64_t row = 0; row < n * h / 2; ++row)
                   for (std::int64_t j = 0; j < w / 2; ++j)
                     for (std::int64_t a = 0; a < 2; ++a, from += 2 * c) std::copy_n(from, 2 * c, back.values.data() + ((2 * row + a) * w + 2 * j) * c);
               }, back), {z}, [](const outputs& in) { return outputs{node("DepthToSpace", {in[0]}, {{"block_size", 2}})}; });
}

void largest(table& rows, std::int64_t count, std::int64_t width, std::int64_t k) {
  const std::string name = k == width ? "sort " + text({count, width}) : "top " + std::to_string(k) + " of " + text({count, width});
  if (!rows.wants(name)) return;
  const array x = random_array({count, width}, 1);
  array y({count, k});
  std::vector<std::int32_t> places(static_cast<std::size_t>(count * k)), order(static_cast<std::size_t>(width));
  rows.compare(name, rival("std", [&] {
                 for (std::int64_t r = 0; r < count; ++r) {
                   const float* const row = x.values.data() + r * width;
                   std::iota(order.begin(), order.end(), 0);
                   std::partial_sort(order.begin(), order.begin() + k, order.end(),
                                     [row](std::int32_t a, std::int32_t b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
                   for (std::int64_t i = 0; i < k; ++i) {
                     places[static_cast<std::size_t>(r * k + i)] = order[static_cast<std::size_t>(i)];
                     y.values[static_cast<std::size_t>(r * k + i)] = row[order[static_cast<std::size_t>(i)]];
                   }
                 }
               }, y), {x}, [&](const outputs& in) {
                 const auto made = leat::call_operator(in[0].owner(), "TopKV2", {in[0], leat::constant(static_cast<std::int32_t>(k))}, attribute_map{});
                 return outputs{made.result(0), made.result(1)};
               });
}

std::vector<std::int32_t> random_rows(std::int64_t count, std::int64_t below) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int32_t> any(0, static_cast<std::int32_t>(below - 1));
  std::vector<std::int32_t> list(static_cast<std::size_t>(count));
  for (auto& v : list) v = any(random);
  return list;
}
void lookups(table& rows, std::int64_t height, std::int64_t width, std::int64_t count) {
  const std::string of = text({height, width}) + ", " + std::to_string(count) + " rows";
  const auto places = random_rows(count, height);
  if (rows.wants("gather " + of)) {
    const array x = random_array({height, width}, 1);
    array y({count, width});
    rows.compare("gather " + of, rival("loops", [&] {
                   float* to = y.values.data();
                   for (const auto r : places) to = std::copy_n(x.values.data() + r * width, width, to);
                 }, y), {x, places}, [](const outputs& in) { return outputs{node("GatherV2", {in[0], in[1], leat::constant(std::int32_t{0})}, {})}; });
  }
  if (rows.wants("scatter_nd " + of)) {
    const array x = random_array({count, width}, 1);
    array y({height, width});
    rows.compare("scatter_nd " + of, rival("loops", [&] {
                   std::fill(y.values.begin(), y.values.end(), 0.0f);
                   const float* from = x.values.data();
                   for (const auto r : places)
                     for (std::int64_t k = 0; k < width; ++k) y.values[static_cast<std::size_t>(r * width + k)] += *from++;
                 }, y), {x, places}, [&](const outputs& in) {
                   const auto column = node("ExpandDims", {in[1], leat::constant(std::int32_t{1})}, {});
                   return outputs{node("ScatterNd", {column, in[0], integers({height, width})}, {})};
                 });
  }
}
void one_hots(table& rows, std::int64_t count, std::int64_t depth) {
  const std::string name = "one_hot " + text({count, depth});
  if (!rows.wants(name)) return;
  const auto places = random_rows(count, depth);
  array y({count, depth});
  rows.compare(name, rival("loops", [&] {
                 std::fill(y.values.begin(), y.values.end(), 0.0f);
                 for (std::size_t r = 0; r < places.size(); ++r) y.values[r * static_cast<std::size_t>(depth) + static_cast<std::size_t>(places[r])] = 1;
               }, y), {places}, [&](const outputs& in) {
                 return outputs{leat::one_hot(in[0], static_cast<std::int32_t>(depth))};
               });
}
void sums(table& rows, std::int64_t height, std::int64_t width) {
  const array x = random_array({height, width}, 1);
  array y({height, width});
  for (const int axis : {0, 1}) {
    const std::string name = "cumsum " + text({height, width}) + " axis " + std::to_string(axis);
    if (!rows.wants(name)) continue;
    rows.compare(name, rival("loops", [&, axis] {
                   const float* from = x.values.data();
                   float* to = y.values.data();
                   if (axis == 1) {
                     for (std::int64_t r = 0; r < height; ++r) {
                       float sum = 0;
                       for (std::int64_t k = 0; k < width; ++k) *to++ = sum += *from++;
                     }
                   } else {
                     std::copy_n(from, width, to);
                     for (std::int64_t k = width; k < height * width; ++k) to[k] = to[k - width] + from[k];
                   }
                 }, y), {x}, [axis](const outputs& in) { return outputs{node("Cumsum", {in[0], leat::constant(std::int32_t{axis})}, {})}; });
  }
}
void concatenations(table& rows, const extents& image) {
  const std::string name = "concat of two " + text(image);
  if (!rows.wants(name)) return;
  const array a = random_array(image, 1), b = random_array(image, 2);
  array y({image[0], image[1], image[2], 2 * image[3]});
  rows.compare(name, rival("loops", [&] {
                 float* to = y.values.data();
                 for (std::int64_t p = 0; p < image[0] * image[1] * image[2]; ++p) {
                   to = std::copy_n(a.values.data() + p * image[3], image[3], to);
                   to = std::copy_n(b.values.data() + p * image[3], image[3], to);
                 }
               }, y), {a, b}, [](const outputs& in) { return outputs{leat::concat({in[0], in[1]}, 3)}; });
}

}  // namespace
}  // namespace operators

int main(int count, char** arguments) {
  using namespace operators;
  table rows(count > 1 ? arguments[1] : "");
  const extents large{32, 56, 56, 64}, small{1, 28, 28, 32};
  for (const int threads : {1, 2}) {
    leat::cpu::set_thread_count(threads);
    omp_set_num_threads(threads);
    rows.use_threads(threads);
    std::printf("threads: %d\n", threads);
    for (const extents& image : {large, small}) {
      pools(rows, image, 3, 2);
      pools(rows, image, 2, 2);
      normalizations(rows, image);
      local_responses(rows, image);
      depthwise(rows, image);
      resizes(rows, image);
      transposes(rows, image, {0, 3, 1, 2});
    }
    transposes(rows, {8, 128, 12, 64}, {0, 2, 1, 3});
    transposes(rows, {16, 64, 56, 56}, {0, 2, 3, 1});
    if (threads > 1) break;  // the rivals below run on one thread
    for (const extents& image : {large, small}) {
      blocks(rows, image);
      concatenations(rows, image);
    }
    largest(rows, 64, 10000, 10);
    largest(rows, 1, 1000, 5);
    largest(rows, 64, 10000, 10000);
    largest(rows, 1, 1000, 1000);
    lookups(rows, 50000, 128, 4096);
    lookups(rows, 1000, 16, 64);
    one_hots(rows, 4096, 1000);
    one_hots(rows, 64, 10);
    sums(rows, 4096, 1024);
    sums(rows, 32, 64);
  }
}
