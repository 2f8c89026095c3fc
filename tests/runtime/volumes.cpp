// Convolutions and pools of volumes in graphs, against loops over the definition; pools whose windows are inputs, and pools that give
// places.

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <algorithm>
#include <array>
#include <cmath>

using namespace leat;
using namespace node_results;

namespace volumes_test {

struct volume_axis {
  std::int64_t size, window, stride, dilation;
};
struct volume_case {
  bool is_same;
  std::array<volume_axis, 3> axes;  // d, h, w
  std::int64_t batch, channels, filters;
};
struct volume_windows {
  std::int64_t count, before;
};
// Source: TensorFlow's documentation of SAME and VALID.
volume_windows windows_of(bool is_same, const volume_axis& a) {
  const std::int64_t span = (a.window - 1) * a.dilation + 1;
  if (!is_same) return {(a.size - span) / a.stride + 1, 0};
  const std::int64_t count = (a.size + a.stride - 1) / a.stride;
  return {count, std::max<std::int64_t>((count - 1) * a.stride + span - a.size, 0) / 2};
}
const volume_case cases[]{
    {true, {{{5, 3, 1, 1}, {4, 2, 1, 1}, {6, 3, 1, 1}}}, 2, 2, 3},
    {true, {{{5, 3, 2, 1}, {4, 2, 3, 1}, {6, 3, 1, 1}}}, 1, 3, 2},
    {false, {{{6, 2, 2, 2}, {5, 3, 1, 1}, {7, 2, 1, 3}}}, 2, 1, 2},
    {false, {{{3, 1, 1, 1}, {2, 1, 1, 1}, {4, 1, 1, 1}}}, 2, 3, 2},  // by pixel
    {false, {{{3, 3, 1, 1}, {4, 1, 1, 1}, {4, 1, 1, 1}}}, 1, 2, 2},
    {true, {{{0, 3, 1, 1}, {4, 2, 1, 1}, {3, 3, 1, 1}}}, 2, 2, 3},
    {true, {{{3, 3, 1, 1}, {4, 2, 1, 1}, {3, 3, 1, 1}}}, 0, 2, 3},
    {true, {{{12, 3, 1, 1}, {12, 3, 1, 1}, {12, 3, 1, 1}}}, 1, 8, 4},  // several blocks
};

/// Calls f(window of the result, element of the filter, pixel of the volume) for all cells in the volumes; places are without channels.
template <class F>
void for_cells(const volume_case& t, F f) {
  std::array<volume_windows, 3> w{};
  for (std::size_t a = 0; a < 3; ++a) w[a] = windows_of(t.is_same, t.axes[a]);
  const auto inside = [&](std::size_t a, std::int64_t at, std::int64_t k) {
    const std::int64_t p = at * t.axes[a].stride - w[a].before + k * t.axes[a].dilation;
    return p < t.axes[a].size ? p : -1;
  };
  std::int64_t out = 0;
  for (std::int64_t b = 0; b < t.batch; ++b)
    for (std::int64_t l = 0; l < w[0].count; ++l)
      for (std::int64_t i = 0; i < w[1].count; ++i)
        for (std::int64_t j = 0; j < w[2].count; ++j, ++out) {
          std::int64_t cell = 0;
          for (std::int64_t p = 0; p < t.axes[0].window; ++p)
            for (std::int64_t q = 0; q < t.axes[1].window; ++q)
              for (std::int64_t r = 0; r < t.axes[2].window; ++r, ++cell) {
                const std::int64_t z = inside(0, l, p), y = inside(1, i, q), x = inside(2, j, r);
                if (z >= 0 && y >= 0 && x >= 0) f(out, cell, ((b * t.axes[0].size + z) * t.axes[1].size + y) * t.axes[2].size + x);
              }
        }
}
extents volume(const volume_case& t, bool of_result, std::int64_t channels, bool first) {
  extents s{t.batch};
  if (first) s.push_back(channels);
  for (const volume_axis& a : t.axes) s.push_back(of_result ? windows_of(t.is_same, a).count : a.size);
  if (!first) s.push_back(channels);
  return s;
}
extents filter_of(const volume_case& t) { return {t.axes[0].window, t.axes[1].window, t.axes[2].window, t.channels, t.filters}; }
// [b, pixels, c] as [b, c, pixels] if `first`.
number_list in_order(const number_list& x, std::int64_t b, std::int64_t c, bool first) {
  if (!first || x.empty()) return x;
  const std::int64_t pixels = static_cast<std::int64_t>(x.size()) / (b * c);
  number_list made(x.size());
  for (std::int64_t i = 0; i < b; ++i)
    for (std::int64_t p = 0; p < pixels; ++p)
      for (std::int64_t k = 0; k < c; ++k)
        made[static_cast<std::size_t>((i * c + k) * pixels + p)] = x[static_cast<std::size_t>((i * pixels + p) * c + k)];
  return made;
}
number_list whole_numbers(std::int64_t count, int seed) {
  number_list list = random_values(count, seed);
  for (double& v : list) v = std::round(2 * v);
  return list;
}
attribute_map settings_of(const volume_case& t, bool first, bool is_pool) {
  const auto five = [&](std::int64_t volume_axis::*what) {
    std::vector<std::int64_t> list{1};
    if (first) list.push_back(1);
    for (const volume_axis& a : t.axes) list.push_back(a.*what);
    if (!first) list.push_back(1);
    return list;
  };
  attribute_map a{{"padding", std::string(t.is_same ? "SAME" : "VALID")}, {"data_format", std::string(first ? "NCDHW" : "NDHWC")}};
  a["strides"] = five(&volume_axis::stride);
  a[is_pool ? "ksize" : "dilations"] = five(is_pool ? &volume_axis::window : &volume_axis::dilation);
  return a;
}

}  // namespace volumes_test
using namespace volumes_test;

TEST_CASE("convolutions of volumes and their gradients are what their definition says, in either layout") {
  for (const volume_case& t : cases)
    for (const bool first : {false, true})
      for (const dtype d : {dtype::float32, dtype::float64}) {
        const extents filter = filter_of(t);
        const auto x = whole_numbers(count_of(volume(t, false, t.channels, false)), 1), f = whole_numbers(count_of(filter), 2),
                   dy = whole_numbers(count_of(volume(t, true, t.filters, false)), 3);
        number_list y(dy.size()), dx(x.size()), df(f.size());
        for_cells(t, [&](std::int64_t out, std::int64_t cell, std::int64_t pixel) {
          for (std::int64_t c = 0; c < t.channels; ++c)
            for (std::int64_t k = 0; k < t.filters; ++k) {
              const auto at_y = static_cast<std::size_t>(out * t.filters + k), at_x = static_cast<std::size_t>(pixel * t.channels + c),
                         at_f = static_cast<std::size_t>((cell * t.channels + c) * t.filters + k);
              y[at_y] += x[at_x] * f[at_f];
              dx[at_x] += dy[at_y] * f[at_f];
              df[at_f] += dy[at_y] * x[at_x];
            }
        });
        const auto settings = settings_of(t, first, false);
        const extents of_x = volume(t, false, t.channels, first), of_y = volume(t, true, t.filters, first);
        const auto images = tensor_of(d, of_x, in_order(x, t.batch, t.channels, first)), filters = tensor_of(d, filter, f),
                   slopes = tensor_of(d, of_y, in_order(dy, t.batch, t.filters, first));
        const auto sizes = [&](const extents& s) { return tensor_of(dtype::int32, {5}, number_list(s.begin(), s.end())); };
        CHECK(list_of(run_node("Conv3D", {images, filters}, {}, settings)[0]) == in_order(y, t.batch, t.filters, first));
        CHECK(list_of(run_node("Conv3DBackpropInputV2", {sizes(of_x), filters, slopes}, {}, settings)[0]) ==
              in_order(dx, t.batch, t.channels, first));
        CHECK(list_of(run_node("Conv3DBackpropFilterV2", {images, sizes(filter), slopes}, {}, settings)[0]) == df);
        if (first) continue;
        CHECK(list_of(run_node("Conv3DBackpropInput", {images, filters, slopes}, {}, settings)[0]) == dx);
        CHECK(list_of(run_node("Conv3DBackpropFilter", {images, filters, slopes}, {}, settings)[0]) == df);
      }
}

TEST_CASE("pools of volumes and their gradients; equal elements each get the gradient") {
  for (volume_case t : cases)
    for (const bool first : {false, true}) {
      for (volume_axis& a : t.axes) a.dilation = 1;
      const std::int64_t c = t.channels;
      const auto x = whole_numbers(count_of(volume(t, false, c, false)), 4), dy = whole_numbers(count_of(volume(t, true, c, false)), 5);
      number_list most(dy.size(), -1e9), mean(dy.size()), count(dy.size()), d_most(x.size()), d_mean(x.size()), taken(dy.size());
      std::vector<bool> is_taken(dy.size());
      const auto at = [&](std::int64_t place, std::int64_t k) { return static_cast<std::size_t>(place * c + k); };
      const auto each = [&](auto f) {
        for_cells(t, [&](std::int64_t out, std::int64_t, std::int64_t pixel) {
          for (std::int64_t k = 0; k < c; ++k) f(at(out, k), at(pixel, k));
        });
      };
      each([&](std::size_t out, std::size_t pixel) {
        most[out] = std::max(most[out], x[pixel]);
        mean[out] += x[pixel];
        ++count[out];
      });
      each([&](std::size_t out, std::size_t pixel) {
        d_mean[pixel] += dy[out] / count[out];
        if (x[pixel] != most[out]) return;
        d_most[pixel] += dy[out];
        if (!is_taken[out]) taken[out] = 7 - static_cast<double>(pixel);
        is_taken[out] = true;
      });
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] /= count[i];
      number_list places(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) places[i] = 7 - static_cast<double>(i);
      const auto settings = settings_of(t, first, true);
      const extents of_x = volume(t, false, c, first), of_y = volume(t, true, c, first);
      const auto large = [&](dtype d, const number_list& v) { return tensor_of(d, of_x, in_order(v, t.batch, c, first)); };
      const auto small = [&](dtype d, const number_list& v) { return tensor_of(d, of_y, in_order(v, t.batch, c, first)); };
      for (const dtype d : {dtype::float32, dtype::float64}) {
        CHECK(list_of(run_node("MaxPool3D", {large(d, x)}, {}, settings)[0]) == in_order(most, t.batch, c, first));
        const attribute_map typed = [&] {
          attribute_map a = settings;
          a["T"] = d, a["TInput"] = d;
          return a;
        }();
        CHECK(list_of(run_node("MaxPool3DGrad", {large(d, x), small(d, most), small(d, dy)}, {}, typed)[0]) ==
              in_order(d_most, t.batch, c, first));
        CHECK(list_of(run_node("MaxPool3DGradGrad", {large(d, x), small(d, most), large(d, places)}, {}, settings)[0]) ==
              in_order(taken, t.batch, c, first));
        check_near(list_of(run_node("AvgPool3D", {large(d, x)}, {}, settings)[0]), in_order(mean, t.batch, c, first));
        const number_list sizes(of_x.begin(), of_x.end());
        check_near(list_of(run_node("AvgPool3DGrad", {tensor_of(dtype::int32, {5}, sizes), small(d, dy)}, {}, settings)[0]),
                   in_order(d_mean, t.batch, c, first));
      }
    }
}

TEST_CASE("gradients of convolutions and pools of volumes, first and second order, against differences") {
  using list = std::vector<std::int64_t>;
  const attribute_map steps{{"padding", std::string("SAME")}, {"strides", list{1, 2, 1, 1, 1}}};
  attribute_map pool = steps;
  pool["ksize"] = list{1, 2, 2, 2, 1};
  pool["T"] = dtype::float64;
  const auto convolve = [&](const output& x, const output& f) { return call_operator(x.owner(), "Conv3D", {x, f}, steps).result(); };
  check_gradient({{1, 3, 3, 2, 2}, {2, 2, 2, 2, 2}}, [&](const std::vector<output>& in) { return convolve(in[0], in[1]) * 0.2; });
  check_gradient({{1, 3, 3, 2, 2}, {2, 2, 1, 2, 2}}, [&](const std::vector<output>& in) {
    const auto by = gradients({reduce_sum(tanh(convolve(in[0], in[1])))}, {in[0], in[1]});
    return reduce_sum(square(by[0])) * 0.1 + reduce_sum(square(by[1])) * 0.1;
  });
  check_gradient({{1, 3, 2, 3, 2}}, [&](const std::vector<output>& in) {
    return call_operator(in[0].owner(), "AvgPool3D", {in[0]}, pool).result();
  });
  for (const char* type : {"MaxPool3D", "AvgPool3D"})
    check_gradient({{1, 3, 2, 3, 2}}, [&](const std::vector<output>& in) {
      const auto y = call_operator(in[0].owner(), type, {square(in[0])}, pool).result();
      return gradients({reduce_sum(square(y))}, {in[0]})[0] * 0.1;
    });
}

TEST_CASE("a pool's window and strides may be inputs") {
  const auto x = tensor_of(dtype::int32, {1, 3, 3, 1}, {1, 5, 2, 0, 3, 7, 4, 4, 6});
  const auto four = [](std::vector<std::int32_t> n) { return integers(n, {static_cast<std::int64_t>(n.size())}); };
  const attribute_map same{{"padding", std::string("SAME")}}, valid{{"padding", std::string("VALID")}};
  const auto y = run_node("MaxPoolV2", {x}, {four({1, 2, 2, 1}), four({1, 2, 2, 1})}, same)[0];
  CHECK(list_of(y) == number_list{5, 7, 4, 6});
  CHECK(list_of(run_node("MaxPoolV2", {x}, {four({1, 2, 2, 1}), four({1, 1, 1, 1})}, valid)[0]) == number_list{5, 7, 4, 7});
  const auto dy = tensor_of(dtype::int32, {1, 2, 2, 1}, {1, 2, 3, 4});
  CHECK(list_of(run_node("MaxPoolGradV2", {x, y, dy}, {four({1, 2, 2, 1}), four({1, 2, 2, 1})}, same)[0]) ==
        number_list{0, 1, 0, 0, 0, 2, 3, 0, 4});
  CHECK(list_of(run_node("MaxPoolGradGradV2", {x, y, x}, {four({1, 2, 2, 1}), four({1, 2, 2, 1})}, same)[0]) == number_list{5, 7, 4, 6});
  check_gradient({{1, 4, 4, 2}}, [&](const std::vector<output>& in) {
    const auto most = call_operator(in[0].owner(), "MaxPoolV2", {square(in[0]), four({1, 2, 2, 1}), four({1, 2, 2, 1})}, same).result();
    return gradients({reduce_sum(square(most))}, {in[0]})[0] * 0.1;
  });
  const auto message = [&](std::vector<std::int32_t> window, std::vector<std::int32_t> step) {
    return leat_test::message_of<error>([&] { run_node("MaxPoolV2", {x}, {four(window), four(step)}, valid); });
  };
  CHECK(leat_test::says(message({2, 2}, {1, 1, 1, 1}), "Sliding window ksize field must specify 4 dimensions"));
  CHECK(leat_test::says(message({1, 2, 2, 1}, {1, 1}), "Sliding window stride field must specify 4 dimensions"));
  CHECK(leat_test::says(message({1, 0, 2, 1}, {1, 1, 1, 1}), "positive"));
  CHECK(leat_test::says(message({1, 2, 2, 1}, {1, -1, 1, 1}), "positive"));
  CHECK(leat_test::says(message({1, 2147483647, 2, 1}, {1, 1, 1, 1}), "egative"));
}

TEST_CASE("a pool gives the places of its results, in an image or in all of them") {
  const auto x = tensor_of(dtype::float32, {2, 2, 4, 1}, {1, 5, 2, 2, 0, 3, 2, 2, 9, 8, 7, 6, 5, 4, 3, 2});
  attribute_map settings{{"padding", std::string("VALID")}};
  for (const char* name : {"ksize", "strides"}) settings[name] = std::vector<std::int64_t>{1, 2, 2, 1};
  const auto with = [&](bool in_batch, dtype d) {
    attribute_map a = settings;
    a["include_batch_in_index"] = in_batch;
    a["Targmax"] = d;
    return a;
  };
  for (const dtype d : {dtype::int32, dtype::int64})
    for (const bool in_batch : {false, true}) {
      const auto found = run_node("MaxPoolWithArgmax", {x}, {}, with(in_batch, d));
      CHECK(list_of(found[0]) == number_list{5, 2, 9, 7});
      CHECK(found[1].type() == d);
      CHECK(list_of(found[1]) == (in_batch ? number_list{1, 2, 8, 10} : number_list{1, 2, 0, 2}));
      const auto dy = tensor_of(dtype::float32, {2, 1, 2, 1}, {1, 2, 3, 4});
      CHECK(list_of(run_node("MaxPoolGradWithArgmax", {x, dy, found[1]}, {}, with(in_batch, d))[0]) ==
            number_list{0, 1, 2, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0});
      CHECK(list_of(run_node("MaxPoolGradGradWithArgmax", {x, x, found[1]}, {}, with(in_batch, d))[0]) == number_list{5, 2, 9, 7});
      for (const double outside : {-1.0, in_batch ? 3.0 : 8.0, 16.0}) {
        const auto bad = tensor_of(d, {2, 1, 2, 1}, {1, 2, in_batch ? 8.0 : 0.0, outside});
        CHECK_THROWS_AS(run_node("MaxPoolGradWithArgmax", {x, dy, bad}, {}, with(in_batch, d)), invalid_argument);
        CHECK_THROWS_AS(run_node("MaxPoolGradGradWithArgmax", {x, x, bad}, {}, with(in_batch, d)), invalid_argument);
      }
    }
  check_gradient({{1, 4, 4, 2}}, [&](const std::vector<output>& in) {
    const auto most = call_operator(in[0].owner(), "MaxPoolWithArgmax", {square(in[0])}, settings).result();
    return gradients({reduce_sum(square(most))}, {in[0]})[0] * 0.1;
  });
}

TEST_CASE("settings that volumes cannot have are refused") {
  using list = std::vector<std::int64_t>;
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  const auto of_ones = [](const extents& of) { return tensor_of(dtype::float32, of, number_list(static_cast<std::size_t>(count_of(of)), 1)); };
  const auto message = [&](attribute_map settings, const extents& in, const extents& filter) {
    if (!settings.contains("padding")) settings["padding"] = std::string("VALID");
    if (!settings.contains("strides")) settings["strides"] = list{1, 1, 1, 1, 1};
    return leat_test::message_of<error>([&] { run_node("Conv3D", {of_ones(in), of_ones(filter)}, {}, settings); });
  };
  const extents image{1, 3, 3, 3, 2}, filter{2, 2, 2, 2, 1};
  CHECK(leat_test::says(message({{"strides", list{1, 0, 1, 1, 1}}}, image, filter), "strides must be positive, not 0"));
  CHECK(leat_test::says(message({{"strides", list{1, 1, 1, 1}}}, image, filter), "must have 5 elements"));
  CHECK(leat_test::says(message({{"strides", list{1, huge, 1, 1, 1}}}, image, filter), "too large"));
  CHECK(leat_test::says(message({{"dilations", list{1, huge, huge, 1, 1}}}, image, filter), "too large"));
  CHECK(leat_test::says(message({{"padding", std::string("EXPLICIT")}}, image, filter), "10 elements"));
  CHECK(leat_test::says(message({{"data_format", std::string("NHWC")}}, image, filter), "neither NDHWC nor NCDHW"));
  CHECK(leat_test::says(message({}, {1, 3, 3, 2}, filter), "5-dimensional"));
  CHECK(leat_test::says(message({}, image, {2, 2, 2, 1}), "5-dimensional"));
  CHECK(leat_test::says(message({}, image, {2, 2, 2, 1, 1}), "same depth"));
  CHECK(leat_test::says(message({}, image, {5, 2, 2, 2, 1}), "negative"));
  const auto sizes = [&](const number_list& n) {
    return leat_test::message_of<error>([&] {
      const auto held = tensor_of(dtype::int64, {static_cast<std::int64_t>(n.size())}, n);
      run_node("Conv3DBackpropInputV2", {held, of_ones(filter), of_ones({1, 2, 2, 2, 1})}, {},
               {{"padding", std::string("VALID")}, {"strides", list{1, 1, 1, 1, 1}}});
    });
  };
  CHECK(leat_test::says(sizes({1, 3, 3, 2}), "5 elements"));
  CHECK(leat_test::says(sizes({1, 3, 3, -3, 2}), "negative"));
  CHECK(leat_test::says(sizes({1, 3, 3, 4, 2}), "is expected"));
  CHECK(!sizes({4e18, 3, 3, 3, 2}).empty());
}
