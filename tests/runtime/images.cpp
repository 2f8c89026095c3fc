// Convolution and pooling in graphs, against loops over the definition; their gradients, first and second order; either layout.

#include <leat/cpu/parallel.hpp>
#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

namespace images_test {

using namespace leat;

struct axis_case {
  std::int64_t size, window, stride, dilation, before, behind;
};
struct image_case {
  std::string padding;
  axis_case h, w;
  std::int64_t batch, channels, filters, groups;
  bool is_depthwise = false;
};

struct windows {
  std::int64_t count, before;
};
// Source: TensorFlow's documentation of SAME, VALID and EXPLICIT.
windows windows_of(const std::string& padding, const axis_case& a) {
  const std::int64_t span = (a.window - 1) * a.dilation + 1;
  if (padding == "SAME") {
    const std::int64_t count = (a.size + a.stride - 1) / a.stride;
    return {count, std::max<std::int64_t>((count - 1) * a.stride + span - a.size, 0) / 2};
  }
  const std::int64_t before = padding == "EXPLICIT" ? a.before : 0, behind = padding == "EXPLICIT" ? a.behind : 0;
  return {(a.size + before + behind - span) / a.stride + 1, before};
}

std::vector<double> random_values(std::int64_t count, std::mt19937& random) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& v : values) v = static_cast<double>(static_cast<int>(random() % 17) - 8);
  return values;
}
template <class T>
tensor_value tensor_of(const std::vector<double>& values, std::initializer_list<std::int64_t> sizes) {
  shape s;
  for (const auto n : sizes) s.push(n);
  tensor_value made(dtype_of<T>, s);
  for (std::size_t i = 0; i < values.size(); ++i) made.template values<T>()[i] = static_cast<T>(values[i]);
  return made;
}
template <class T>
std::vector<double> list_of(const tensor_value& v) {
  const auto values = v.template values<T>();
  return {values.begin(), values.end()};
}
// [b, h, w, c] as [b, c, h, w], and back.
std::vector<double> channels_first(const std::vector<double>& x, std::int64_t b, std::int64_t pixels, std::int64_t c) {
  std::vector<double> made(x.size());
  for (std::int64_t i = 0; i < b; ++i)
    for (std::int64_t p = 0; p < pixels; ++p)
      for (std::int64_t k = 0; k < c; ++k)
        made[static_cast<std::size_t>((i * c + k) * pixels + p)] = x[static_cast<std::size_t>((i * pixels + p) * c + k)];
  return made;
}
attribute_map settings_of(const image_case& t, bool first) {
  const auto four = [&](std::int64_t h, std::int64_t w) {
    return first ? std::vector<std::int64_t>{1, 1, h, w} : std::vector<std::int64_t>{1, h, w, 1};
  };
  attribute_map a{{"padding", t.padding}, {"data_format", std::string(first ? "NCHW" : "NHWC")}};
  a["strides"] = four(t.h.stride, t.w.stride);
  a["dilations"] = four(t.h.dilation, t.w.dilation);
  if (t.padding == "EXPLICIT")
    a["explicit_paddings"] = first ? std::vector<std::int64_t>{0, 0, 0, 0, t.h.before, t.h.behind, t.w.before, t.w.behind}
                                   : std::vector<std::int64_t>{0, 0, t.h.before, t.h.behind, t.w.before, t.w.behind, 0, 0};
  return a;
}

const image_case cases[]{
    {"SAME", {7, 3, 1, 1, 0, 0}, {6, 3, 1, 1, 0, 0}, 2, 3, 4, 1},
    {"SAME", {7, 3, 2, 1, 0, 0}, {6, 2, 3, 1, 0, 0}, 1, 2, 5, 1},
    {"VALID", {7, 3, 2, 2, 0, 0}, {9, 2, 1, 3, 0, 0}, 2, 1, 2, 1},
    {"SAME", {5, 4, 1, 2, 0, 0}, {4, 5, 1, 1, 0, 0}, 2, 2, 2, 1},
    {"VALID", {4, 1, 1, 1, 0, 0}, {5, 1, 1, 1, 0, 0}, 3, 4, 3, 1},  // by pixel
    {"VALID", {4, 1, 2, 1, 0, 0}, {5, 1, 2, 1, 0, 0}, 3, 4, 3, 1},
    {"EXPLICIT", {5, 3, 2, 1, 2, 1}, {5, 3, 1, 1, 0, 3}, 1, 2, 3, 1},
    {"SAME", {6, 3, 1, 1, 0, 0}, {6, 3, 1, 1, 0, 0}, 2, 4, 6, 2},
    {"SAME", {6, 3, 2, 1, 0, 0}, {6, 3, 1, 1, 0, 0}, 2, 4, 4, 4},
    {"SAME", {6, 3, 1, 1, 0, 0}, {5, 2, 2, 1, 0, 0}, 2, 3, 6, 3, true},
    {"VALID", {6, 3, 1, 2, 0, 0}, {5, 2, 1, 1, 0, 0}, 2, 3, 3, 3, true},
    {"SAME", {0, 3, 1, 1, 0, 0}, {5, 3, 1, 1, 0, 0}, 2, 3, 3, 1},
    {"SAME", {3, 3, 1, 1, 0, 0}, {5, 3, 1, 1, 0, 0}, 0, 3, 3, 1},
    {"SAME", {40, 3, 1, 1, 0, 0}, {40, 3, 1, 1, 0, 0}, 2, 20, 8, 1},  // several blocks
};

template <class T>
void check_convolution(const image_case& t, bool first) {
  CAPTURE(t.padding);
  CAPTURE(t.h.size);
  CAPTURE(t.h.stride);
  CAPTURE(t.groups);
  CAPTURE(first);
  std::mt19937 random(11);
  const windows h = windows_of(t.padding, t.h), w = windows_of(t.padding, t.w);
  const std::int64_t depth = t.channels / t.groups, width = t.filters / t.groups;
  const auto x = random_values(t.batch * t.h.size * t.w.size * t.channels, random);
  const auto f = random_values(t.h.window * t.w.window * depth * t.filters, random);
  const auto dy = random_values(t.batch * h.count * w.count * t.filters, random);
  std::vector<double> y(dy.size()), dx(x.size()), df(f.size());
  for (std::int64_t b = 0; b < t.batch; ++b)
    for (std::int64_t i = 0; i < h.count; ++i)
      for (std::int64_t j = 0; j < w.count; ++j)
        for (std::int64_t p = 0; p < t.h.window; ++p)
          for (std::int64_t q = 0; q < t.w.window; ++q) {
            const std::int64_t row = i * t.h.stride - h.before + p * t.h.dilation, column = j * t.w.stride - w.before + q * t.w.dilation;
            if (row < 0 || row >= t.h.size || column < 0 || column >= t.w.size) continue;
            for (std::int64_t k = 0; k < t.filters; ++k)
              for (std::int64_t c = 0; c < depth; ++c) {
                const auto at_y = static_cast<std::size_t>(((b * h.count + i) * w.count + j) * t.filters + k);
                const auto at_x = static_cast<std::size_t>(((b * t.h.size + row) * t.w.size + column) * t.channels + k / width * depth + c);
                const auto at_f = static_cast<std::size_t>(((p * t.w.window + q) * depth + c) * t.filters + k);
                y[at_y] += x[at_x] * f[at_f];
                dx[at_x] += dy[at_y] * f[at_f];
                df[at_f] += dy[at_y] * x[at_x];
              }
          }
  const auto images = [&](const std::vector<double>& v, std::int64_t rows, std::int64_t columns, std::int64_t c) {
    return first ? tensor_of<T>(channels_first(v, t.batch, rows * columns, c), {t.batch, c, rows, columns})
                 : tensor_of<T>(v, {t.batch, rows, columns, c});
  };
  graph g;
  const auto scope = g.as_default();
  const auto in = placeholder(dtype_of<T>, shape::unknown(), "in");
  const auto filter = placeholder(dtype_of<T>, shape::unknown(), "filter");
  const auto slope = placeholder(dtype_of<T>, shape::unknown(), "slope");
  const std::string type = t.is_depthwise ? "DepthwiseConv2dNative" : "Conv2D";
  const auto settings = settings_of(t, first);
  const auto out = call_operator(g, type, {in, filter}, settings).result();
  const auto to_images = call_operator(g, type + "BackpropInput", {shape_of(in), filter, slope}, settings).result();
  const auto to_filters = call_operator(g, type + "BackpropFilter", {in, shape_of(filter), slope}, settings).result();
  graph_session s(g);
  const auto given = t.is_depthwise ? tensor_of<T>(f, {t.h.window, t.w.window, t.channels, width})
                                    : tensor_of<T>(f, {t.h.window, t.w.window, depth, t.filters});
  const auto results = s.run({out, to_images, to_filters}, {{in, images(x, t.h.size, t.w.size, t.channels)},
                                                            {filter, given},
                                                            {slope, images(dy, h.count, w.count, t.filters)}});
  CHECK(list_of<T>(results[0]) == (first ? channels_first(y, t.batch, h.count * w.count, t.filters) : y));
  CHECK(list_of<T>(results[1]) == (first ? channels_first(dx, t.batch, t.h.size * t.w.size, t.channels) : dx));
  CHECK(list_of<T>(results[2]) == df);
  CHECK(results[2].extent() == given.extent());
}

template <class T>
void check_pools(const image_case& t, bool first) {
  CAPTURE(t.padding);
  CAPTURE(t.h.size);
  CAPTURE(first);
  std::mt19937 random(5);
  const windows h = windows_of(t.padding, t.h), w = windows_of(t.padding, t.w);
  const auto x = random_values(t.batch * t.h.size * t.w.size * t.channels, random);
  const auto dy = random_values(t.batch * h.count * w.count * t.channels, random);
  std::vector<double> most(dy.size()), mean(dy.size()), d_most(x.size()), d_mean(x.size());
  for (std::int64_t b = 0; b < t.batch; ++b)
    for (std::int64_t i = 0; i < h.count; ++i)
      for (std::int64_t j = 0; j < w.count; ++j)
        for (std::int64_t c = 0; c < t.channels; ++c) {
          std::vector<std::size_t> cells;
          for (std::int64_t p = 0; p < t.h.window; ++p)
            for (std::int64_t q = 0; q < t.w.window; ++q) {
              const std::int64_t row = i * t.h.stride - h.before + p, column = j * t.w.stride - w.before + q;
              if (row < 0 || row >= t.h.size || column < 0 || column >= t.w.size) continue;
              cells.push_back(static_cast<std::size_t>(((b * t.h.size + row) * t.w.size + column) * t.channels + c));
            }
          const auto at = static_cast<std::size_t>(((b * h.count + i) * w.count + j) * t.channels + c);
          std::size_t best = cells.front();
          for (const std::size_t cell : cells) {
            if (x[cell] > x[best]) best = cell;
            mean[at] += x[cell];
            d_mean[cell] += dy[at] / static_cast<double>(cells.size());
          }
          most[at] = x[best];
          mean[at] /= static_cast<double>(cells.size());
          d_most[best] += dy[at];
        }
  const auto images = [&](const std::vector<double>& v, std::int64_t rows, std::int64_t columns) {
    return first ? tensor_of<T>(channels_first(v, t.batch, rows * columns, t.channels), {t.batch, t.channels, rows, columns})
                 : tensor_of<T>(v, {t.batch, rows, columns, t.channels});
  };
  graph g;
  const auto scope = g.as_default();
  const auto in = placeholder(dtype_of<T>, shape::unknown(), "in");
  const auto slope = placeholder(dtype_of<T>, shape::unknown(), "slope");
  auto settings = settings_of(t, first);
  settings.erase("dilations");
  settings["ksize"] = first ? std::vector<std::int64_t>{1, 1, t.h.window, t.w.window} : std::vector<std::int64_t>{1, t.h.window, t.w.window, 1};
  const auto maximum = call_operator(g, "MaxPool", {in}, settings).result();
  const auto d_maximum = call_operator(g, "MaxPoolGrad", {in, maximum, slope}, settings).result();
  graph_session s(g);
  const feed_list feeds{{in, images(x, t.h.size, t.w.size)}, {slope, images(dy, h.count, w.count)}};
  const auto turned = [&](const std::vector<double>& v, std::int64_t pixels) {
    return first ? channels_first(v, t.batch, pixels, t.channels) : v;
  };
  const auto results = s.run({maximum, d_maximum}, feeds);
  CHECK(list_of<T>(results[0]) == turned(most, h.count * w.count));
  CHECK(list_of<T>(results[1]) == turned(d_most, t.h.size * t.w.size));
  if constexpr (std::is_floating_point_v<T>) {
    if (t.padding == "EXPLICIT") return;
    const auto average = call_operator(g, "AvgPool", {in}, settings).result();
    const auto d_average = call_operator(g, "AvgPoolGrad", {shape_of(in), slope}, settings).result();
    const auto more = s.run({average, d_average}, feeds);
    const auto is = list_of<T>(more[0]), d_is = list_of<T>(more[1]);
    const auto wanted = turned(mean, h.count * w.count), d_wanted = turned(d_mean, t.h.size * t.w.size);
    for (std::size_t i = 0; i < is.size(); ++i) CHECK(is[i] == doctest::Approx(wanted[i]).epsilon(1e-6));
    for (std::size_t i = 0; i < d_is.size(); ++i) CHECK(d_is[i] == doctest::Approx(d_wanted[i]).epsilon(1e-5));
  }
}

}  // namespace images_test
using namespace images_test;

TEST_CASE("convolutions and their two gradients are what their definition says, in either layout") {
  for (const image_case& t : cases)
    for (const bool first : {false, true}) {
      check_convolution<float>(t, first);
      check_convolution<double>(t, first);
      check_convolution<std::int32_t>(t, first);
    }
}

TEST_CASE("pools and their gradients are what their definition says; the first of equal elements gets the gradient") {
  for (image_case t : cases) {
    if (t.is_depthwise) continue;
    t.h.dilation = t.w.dilation = 1;
    t.w.behind = std::min(t.w.behind, t.w.window - 1);  // no window of padding alone
    for (const bool first : {false, true}) {
      check_pools<float>(t, first);
      check_pools<double>(t, first);
      check_pools<std::int32_t>(t, first);
    }
  }
}

TEST_CASE("gradients of convolutions and pools, first and second order, against differences") {
  for (const bool is_depthwise : {false, true}) {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float64, {2, 5, 4, 2}, "x");
    const auto f = placeholder(dtype::float64, {3, 2, 2, 3}, "f");
    attribute_map settings{{"padding", std::string("SAME")}};
    settings["strides"] = std::vector<std::int64_t>{1, 2, 2, 1};
    const auto out = call_operator(g, is_depthwise ? "DepthwiseConv2dNative" : "Conv2D", {x, f}, settings).result();
    const auto y = avg_pool(tanh(out), {1, 2, 2, 1}, {1, 1, 1, 1}, padding::same);
    const auto loss = reduce_sum(square(y));
    const auto first = gradients({loss}, {x, f});
    const auto both = reduce_sum(square(first[0])) + reduce_sum(square(first[1]));
    const auto second = gradients({both}, {x, f});
    graph_session s(g);
    std::mt19937 random(3);
    std::array values{random_values(80, random), random_values(36, random)};
    for (auto& list : values)
      for (double& v : list) v /= 8;
    const auto feeds = [&] {
      return feed_list{{x, tensor_of<double>(values[0], {2, 5, 4, 2})}, {f, tensor_of<double>(values[1], {3, 2, 2, 3})}};
    };
    const auto check = [&](const output& of, const std::vector<output>& by) {
      for (std::size_t k = 0; k < 2; ++k) {
        const auto slopes = list_of<double>(s.run({by[k]}, feeds())[0]);
        for (std::size_t i = 0; i < values[k].size(); i += 7) {
          const double before = values[k][i], step = 1e-4;
          values[k][i] = before + step;
          const double above = list_of<double>(s.run({of}, feeds())[0])[0];
          values[k][i] = before - step;
          const double below = list_of<double>(s.run({of}, feeds())[0])[0];
          values[k][i] = before;
          CHECK(slopes[i] == doctest::Approx((above - below) / (2 * step)).epsilon(1e-4));
        }
      }
    };
    check(loss, {first[0], first[1]});
    check(both, {second[0], second[1]});
  }
}

TEST_CASE("results of convolutions do not depend on the number of threads") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {3, 33, 31, 16}, "x");
  const auto f = placeholder(dtype::float32, {3, 3, 16, 24}, "f");
  const auto y = conv2d(x, f, {1, 1, 1, 1}, padding::same);
  const auto by = gradients({reduce_sum(square(y))}, {x, f});
  graph_session s(g);
  std::mt19937 random(7);
  const auto given = [&](std::int64_t n) {
    auto list = random_values(n, random);
    for (double& v : list) v /= 7;
    return list;
  };
  const feed_list feeds{{x, tensor_of<float>(given(3 * 33 * 31 * 16), {3, 33, 31, 16})}, {f, tensor_of<float>(given(3456), {3, 3, 16, 24})}};
  const int before = cpu::thread_count();
  std::vector<std::vector<double>> wanted;
  for (const int threads : {1, 2, 4}) {
    cpu::set_thread_count(threads);
    const auto results = s.run({y, by[0], by[1]}, feeds);
    std::vector<std::vector<double>> is;
    for (const auto& r : results) is.push_back(list_of<float>(r));
    if (wanted.empty()) wanted = is;
    CHECK(is == wanted);
  }
  cpu::set_thread_count(before);
}

TEST_CASE("settings that images cannot have are refused, with the node's name") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, shape::unknown(), "x");
  const auto f = placeholder(dtype::float32, shape::unknown(), "f");
  graph_session s(g);
  const auto ones = [](std::initializer_list<std::int64_t> sizes) {
    std::int64_t count = 1;
    for (const auto n : sizes) count *= n;
    return tensor_of<float>(std::vector<double>(static_cast<std::size_t>(count), 1), sizes);
  };
  int number = 0;
  const auto message = [&](std::string_view type, attribute_map settings, const tensor_value& in, const tensor_value& filter) {
    const bool is_pool = type == "MaxPool";
    if (!settings.contains("padding")) settings["padding"] = std::string("VALID");
    if (!settings.contains("strides")) settings["strides"] = std::vector<std::int64_t>{1, 1, 1, 1};
    const std::string name = "node" + std::to_string(number++);
    const auto y = is_pool ? call_operator(g, type, {x}, settings, name).result() : call_operator(g, type, {x, f}, settings, name).result();
    const std::string text = leat_test::message_of<error>([&] { s.run({y}, is_pool ? feed_list{{x, in}} : feed_list{{x, in}, {f, filter}}); });
    CHECK(leat_test::says(text, name));
    return text;
  };
  const auto image = ones({1, 4, 4, 2}), filter = ones({3, 3, 2, 1});
  using list = std::vector<std::int64_t>;
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  CHECK(leat_test::says(message("Conv2D", {{"strides", list{1, 0, 1, 1}}}, image, filter), "strides must be positive, not 0"));
  CHECK(leat_test::says(message("Conv2D", {{"strides", list{1, -2, 1, 1}}}, image, filter), "not -2"));
  CHECK(leat_test::says(message("Conv2D", {{"strides", list{1, huge, 1, 1}}}, image, filter), "too large"));
  CHECK(leat_test::says(message("Conv2D", {{"strides", list{2, 1, 1, 1}}}, image, filter), "of the batch"));
  CHECK(leat_test::says(message("Conv2D", {{"strides", list{1, 1}}}, image, filter), "must have 4 elements"));
  CHECK(leat_test::says(message("Conv2D", {{"dilations", list{1, huge, huge, 1}}}, image, filter), "too large"));
  CHECK(leat_test::says(message("Conv2D", {{"padding", std::string("FULL")}}, image, filter), "'FULL'"));
  CHECK(leat_test::says(message("Conv2D", {{"padding", std::string("EXPLICIT")}}, image, filter), "8 elements"));
  CHECK(leat_test::says(
      message("Conv2D", {{"padding", std::string("EXPLICIT")}, {"explicit_paddings", list{0, 0, -1, 0, 0, 0, 0, 0}}}, image, filter), "-1"));
  CHECK(leat_test::says(message("Conv2D", {{"data_format", std::string("NHCW")}}, image, filter), "NHCW"));
  CHECK(leat_test::says(message("Conv2D", {}, ones({1, 1, 4, 2}), filter),
                        "Computed output size would be negative: -1 [input_size: 1, effective_filter_size: 3, stride: 1]"));
  CHECK(leat_test::says(message("MaxPool", {{"ksize", list{1, 9, 9, 1}}, {"strides", list{1, 2, 2, 1}}}, ones({1, 2, 2, 1}), filter),
                        "would be negative: -2 [input_size: 2, effective_filter_size: 9, stride: 2]"));
  CHECK(leat_test::says(message("Conv2D", {}, ones({4, 4, 2}), filter), "4-dimensional"));
  CHECK(leat_test::says(message("Conv2D", {}, image, ones({3, 3, 3, 1})), "divisible by filter depth"));
  CHECK(leat_test::says(message("DepthwiseConv2dNative", {}, image, ones({3, 3, 1, 1})), "same depth"));
  CHECK(leat_test::says(message("MaxPool", {{"ksize", list{1, 0, 2, 1}}}, image, filter), "positive"));
  CHECK(leat_test::says(message("MaxPool", {{"ksize", list{1, huge, 2, 1}}}, image, filter), "too large"));
  CHECK(leat_test::says(message("MaxPool", {{"ksize", list{1, 2, 2, 2}}}, image, filter), "of the channels"));
}
