// Convolutions and pools of typed expressions: values known by hand, gradients of both orders against differences, named batches, and the
// item-by-item kernels of other devices against the loops of the CPU.

#include <leat/ops/images.hpp>

#include "support/check.hpp"

#include <leat/cpu/image_steps.hpp>

#include <cmath>
#include <vector>

using namespace leat;
using namespace leat::literals;
using leat_test::filled;

namespace {

// The largest difference between the gradients `slopes` of `loss` by variables and differences of the loss.
template <class Session, class Loss, class Slope, class V, class... Feeds>
double slope_error(Session& s, const Loss& loss, const Slope& slope, const V& v, const Feeds&... feeds) {
  const auto got = std::get<0>(s.run(fetch(slope), feeds...));
  const auto at = s.value(v);
  double worst = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto moved = [&](double step) {
      auto there = at;
      there.data()[i] += step;
      s.assign(v, there);
      return std::get<0>(s.run(fetch(loss), feeds...));
    };
    const double numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
    worst = std::max(worst, std::abs(numeric - got.data()[i]) / (1 + std::abs(numeric)));
  }
  s.assign(v, at);
  return worst;
}

// The result of a kernel that runs item by item, beside that of the CPU's loops.
template <class Op>
bool items_agree(const std::vector<std::int64_t>& numbers, std::vector<std::vector<double>> operands, std::size_t results) {
  std::vector<double> by_loops(results, 7), by_items(results, 9);
  std::vector<void*> p;
  for (auto& o : operands) p.push_back(o.data());
  p.push_back(by_loops.data());
  const kernels::step_numbers n(numbers.data());
  using kernel = typename kernels::kernel_of<Op>::template type<double, void>;
  cpu::loops_of<kernel>::run(kernel(p.data(), n));
  p.back() = by_items.data();
  const kernel one_by_one(p.data(), n);
  CHECK(one_by_one.work() > 0);
  for (std::int64_t k = 0; k < one_by_one.items(); ++k) one_by_one(k);
  bool same = true;
  for (std::size_t i = 0; i < results; ++i) same = same && std::abs(by_loops[i] - by_items[i]) <= 1e-12 * (1 + std::abs(by_loops[i]));
  return same;
}

std::vector<double> numbers_of(std::size_t n, std::size_t seed) {
  const auto all = filled<double, 1>({n}, -1, 1, seed);
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("a convolution sums the products of each window and each filter") {
  const auto x = placeholder<"x", float, 1, 3, 3, 1>();
  const auto w = placeholder<"w", float, 2, 2, 1, 1>();
  const auto valid = conv2d(x, w);
  const auto same = conv2d<1, padding::same>(x, w);
  const auto apart = conv2d<2, padding::same>(x, w);
  const auto wide = conv2d<1, padding::valid, 2>(x, w);
  const auto tall = conv2d<hw{1, 2}>(x, w);
  static_assert(decltype(valid)::extent[1] == 2 && decltype(same)::extent[1] == 3 && decltype(wide)::extent[2] == 1);
  static_assert(decltype(tall)::extent[1] == 2 && decltype(tall)::extent[2] == 1);
  session s{valid, same, apart, wide, tall};
  const xt::xtensor<float, 4> image{{{{1}, {2}, {3}}, {{4}, {5}, {6}}, {{7}, {8}, {9}}}};
  const xt::xtensor<float, 4> filter{{{{1}}, {{10}}}, {{{100}}, {{1000}}}};
  const auto [v, m, a, d, t] = s.run(fetch(valid, same, apart, wide, tall), x = image, w = filter);
  CHECK(v == xt::xtensor<float, 4>{{{{5421}, {6532}}, {{8754}, {9865}}}});
  CHECK(m == xt::xtensor<float, 4>{{{{5421}, {6532}, {603}}, {{8754}, {9865}, {906}}, {{87}, {98}, {9}}}});
  CHECK(a == xt::xtensor<float, 4>{{{{5421}, {603}}, {{87}, {9}}}});
  CHECK(d == xt::xtensor<float, 4>{{{{9731}}}});
  CHECK(t == xt::xtensor<float, 4>{{{{5421}}, {{8754}}}});
}

TEST_CASE("pools take the largest element or the mean of each window within the image") {
  const auto x = placeholder<"x", float, 1, 3, 3, 1>();
  const auto largest = max_pool<2>(x);
  const auto near = max_pool<2, 1>(x);
  const auto padded = max_pool<2, 2, padding::same>(x);
  const auto mean = avg_pool<2, 2, padding::same>(x);
  session s{largest, near, padded, mean};
  const xt::xtensor<float, 4> image{{{{1}, {2}, {3}}, {{4}, {5}, {6}}, {{7}, {8}, {9}}}};
  const auto [l, n, p, m] = s.run(fetch(largest, near, padded, mean), x = image);
  CHECK(l == xt::xtensor<float, 4>{{{{5}}}});
  CHECK(n == xt::xtensor<float, 4>{{{{5}, {6}}, {{8}, {9}}}});
  CHECK(p == xt::xtensor<float, 4>{{{{5}, {6}}, {{8}, {9}}}});
  CHECK(m == xt::xtensor<float, 4>{{{{3}, {4.5f}}, {{7.5f}, {9}}}});
}

TEST_CASE("padding may be stated, and channels may stand behind the batch") {
  const auto x = placeholder<"x", double, "batch", 5, 4, 2>();
  const auto w = placeholder<"w", double, 3, 2, 2, 4>();
  const auto d = placeholder<"d", double, 2, 2, 2, 3>();
  const auto padded = pad<before<0, 1, 0, 0>, behind<0, 2, 3, 0>>(x);
  const auto turned = transpose<0, 3, 1, 2>(x);
  const auto listed = conv2d<hw{2, 1}, pads{1, 2, 0, 3}>(x, w);
  const auto same_as_listed = conv2d<hw{2, 1}>(padded, w);
  const auto by_channel = depthwise_conv2d<1, pads{1, 2, 0, 3}, 1>(x, d);
  const auto same_as_by_channel = depthwise_conv2d(padded, d);
  const auto largest = max_pool<3, 2, pads{1, 2, 0, 2}>(x * x);
  const auto same_as_largest = max_pool<3, 2>(pad<before<0, 1, 0, 0>, behind<0, 2, 2, 0>>(x * x));
  const auto first = conv2d<1, padding::same, 1, axis_order::channels_first>(turned, w);
  const auto last = conv2d<1, padding::same>(x, w);
  const auto pooled = avg_pool<2, 1, padding::same, axis_order::channels_first>(turned);
  const auto pooled_last = avg_pool<2, 1, padding::same>(x);
  static_assert(decltype(first)::extent[1] == 4 && decltype(pooled)::extent[1] == 2 && decltype(listed)::extent[1] == 3);
  const auto loss =
      reduce_sum(listed * listed) + reduce_sum(by_channel * by_channel) + reduce_sum(largest * largest) + reduce_sum(first * first);
  const auto other = reduce_sum(same_as_listed * same_as_listed) + reduce_sum(same_as_by_channel * same_as_by_channel) +
                     reduce_sum(same_as_largest * same_as_largest) + reduce_sum(last * last);
  const auto [dx, dw, dd] = gradients(loss, x, w, d);
  const auto [ex, ew, ed] = gradients(other, x, w, d);
  const auto apart = reduce_max(abs(dx - ex)) + reduce_max(abs(dw - ew)) + reduce_max(abs(dd - ed)) +
                     reduce_max(abs(listed - same_as_listed)) + reduce_max(abs(by_channel - same_as_by_channel)) +
                     reduce_max(abs(largest - same_as_largest)) + reduce_max(abs(transpose<0, 2, 3, 1>(first) - last)) +
                     reduce_max(abs(transpose<0, 2, 3, 1>(pooled) - pooled_last));
  session s{apart, dx};
  const auto [far, slope] = s.run(fetch(apart, dx), x = filled<double, 4>({2, 5, 4, 2}, -1, 1, 4),
                                  w = filled<double, 4>({3, 2, 2, 4}, -1, 1, 5), d = filled<double, 4>({2, 2, 2, 3}, -1, 1, 6));
  CHECK(far < 1e-12);
  CHECK(xt::amax(xt::abs(slope))() > 0.1);
}

TEST_CASE("sequences are convolved") {
  const auto x = placeholder<"x", float, "batch", 4, 1>();
  const auto w = placeholder<"w", float, 2, 1, 1>();
  const auto valid = conv1d(x, w);
  const auto apart = conv1d<2, padding::same>(x, w);
  const auto wide = conv1d<1, padding::valid, 3>(x, w);
  static_assert(decltype(valid)::rank == 3 && decltype(valid)::extent[1] == 3 && decltype(wide)::extent[1] == 1);
  session s{valid, apart, wide};
  const auto [v, a, d] =
      s.run(fetch(valid, apart, wide), x = xt::xtensor<float, 3>{{{1}, {2}, {3}, {4}}}, w = xt::xtensor<float, 3>{{{1}}, {{10}}});
  CHECK(v == xt::xtensor<float, 3>{{{21}, {32}, {43}}});
  CHECK(a == xt::xtensor<float, 3>{{{21}, {43}}});
  CHECK(d == xt::xtensor<float, 3>{{{41}}});
}

TEST_CASE("gradients of convolutions and pools, of both orders, against differences") {
  const auto x = placeholder<"x", double, "batch", 5, 4, 2>();
  const auto w = variable<"w", double, 3, 2, 2, 4>(random_uniform(-1, 1, 1));
  const auto d = variable<"d", double, 2, 2, 2, 2>(random_uniform(-1, 1, 2));
  const auto k = variable<"k", double, 1, 1, 4, 2>(random_uniform(-1, 1, 3));
  const auto hidden = conv2d<hw{2, 1}, padding::same>(x, w);
  const auto deep = depthwise_conv2d<1, padding::same, hw{1, 2}>(avg_pool<2, 1, padding::same>(conv2d(hidden, k)), d);
  const auto y = max_pool<2, 1>(deep);
  const auto loss = reduce_sum(y * y * y);
  const auto [dx, dw, dd, dk] = gradients(loss, x, w, d, k);
  const auto bend = reduce_sum(square(dw)) + reduce_sum(square(dd)) + reduce_sum(square(dx)) + reduce_sum(square(dk));
  const auto [bw, bd, bk] = gradients(bend, w, d, k);
  session s{loss, dx, dw, dd, dk, bend, bw, bd, bk};
  s.initialize();
  const auto images = filled<double, 4>({3, 5, 4, 2}, -1, 1, 4);
  CHECK(slope_error(s, loss, dw, w, x = images) < 1e-6);
  CHECK(slope_error(s, loss, dd, d, x = images) < 1e-6);
  CHECK(slope_error(s, loss, dk, k, x = images) < 1e-6);
  CHECK(slope_error(s, bend, bw, w, x = images) < 1e-5);
  CHECK(slope_error(s, bend, bd, d, x = images) < 1e-5);
  CHECK(slope_error(s, bend, bk, k, x = images) < 1e-5);
  const auto slope = std::get<0>(s.run(fetch(dx), x = images));
  for (const std::size_t i : {0u, 17u, 63u, 119u}) {
    const auto moved = [&](double step) {
      auto there = images;
      there.data()[i] += step;
      return std::get<0>(s.run(fetch(loss), x = there));
    };
    CHECK(slope.data()[i] == doctest::Approx((moved(1e-5) - moved(-1e-5)) / 2e-5).epsilon(1e-5));
  }
  const auto none = s.run(fetch(loss, dw), x = xt::xtensor<double, 4>(std::array<std::size_t, 4>{0, 5, 4, 2}));
  CHECK(std::get<0>(none) == 0);
  CHECK(xt::all(xt::equal(std::get<1>(none), 0.0)));
}

TEST_CASE("items of other devices give what the loops of the CPU give") {
  // images [2, 5, 4, 6], filters [3, 2, 3, 4] in two groups, results [2, 3, 4, 4]; strides 2 and 1, padding SAME, dilation 1 and 2
  const std::vector<std::int64_t> windows{1, 2, 1, 1, 0, 1, 1, 2, 1}, image{4, 2, 5, 4, 6}, filter{4, 3, 2, 3, 4}, result{4, 2, 3, 4, 4};
  const auto numbers = [](std::initializer_list<std::vector<std::int64_t>> attributes, std::initializer_list<std::vector<std::int64_t>> extents) {
    std::vector<std::int64_t> made{0};
    for (const auto& a : attributes) made.insert(made.end(), a.begin(), a.end());
    made[0] = static_cast<std::int64_t>(made.size()) - 1;
    for (const auto& e : extents) made.insert(made.end(), e.begin(), e.end());
    return made;
  };
  const auto sizes = [](const std::vector<std::int64_t>& extent) { return std::vector<std::int64_t>(extent.begin() + 1, extent.end()); };
  const auto images = numbers_of(240, 1), filters = numbers_of(72, 2), slopes = numbers_of(96, 3);
  CHECK(items_agree<convolution_op<convolved::images>>(numbers({windows}, {image, filter, result}), {images, filters}, 96));
  CHECK(items_agree<convolution_input_grad_op<convolved::images>>(numbers({sizes(image), windows}, {filter, result, image}),
                                                                  {filters, slopes}, 240));
  CHECK(items_agree<convolution_filter_grad_op<convolved::images>>(numbers({sizes(filter), windows}, {image, result, filter}),
                                                                   {images, slopes}, 72));
  const std::vector<std::int64_t> by_channel{4, 3, 2, 6, 2}, many{4, 2, 3, 4, 12};
  const auto more = numbers_of(288, 5);
  CHECK(items_agree<convolution_op<convolved::channels>>(numbers({windows}, {image, by_channel, many}), {images, filters}, 288));
  CHECK(items_agree<convolution_input_grad_op<convolved::channels>>(numbers({sizes(image), windows}, {by_channel, many, image}),
                                                                    {filters, more}, 240));
  CHECK(items_agree<convolution_filter_grad_op<convolved::channels>>(numbers({sizes(by_channel), windows}, {image, many, by_channel}),
                                                                     {images, more}, 72));
  // pools of 3 x 2 elements, strides 2 and 1
  const std::vector<std::int64_t> pool{1, 3, 2, 1, 1, 2, 1, 1, 0}, pooled{4, 2, 3, 4, 6};
  const auto dy = numbers_of(144, 4);
  CHECK(items_agree<max_pool_op<2>>(numbers({pool}, {image, pooled}), {images}, 144));
  CHECK(items_agree<avg_pool_op<2>>(numbers({pool}, {image, pooled}), {images}, 144));
  CHECK(items_agree<max_pool_grad_op<2>>(numbers({pool}, {image, pooled, pooled, image}), {images, dy, dy}, 240));
  CHECK(items_agree<max_pool_grad_grad_op<2>>(numbers({pool}, {image, pooled, image, pooled}), {images, dy, images}, 144));
  CHECK(items_agree<avg_pool_grad_op<2>>(numbers({sizes(image), pool}, {pooled, image}), {dy}, 240));
}

TEST_CASE("what does not fit is refused in words") {
  const auto problem = [](auto infer, const std::vector<tensor_info>& operands, const std::vector<std::int64_t>& numbers) {
    return infer(operand_list{operands.data(), static_cast<int>(operands.size()), numbers.data(), static_cast<int>(numbers.size())}).problem;
  };
  const auto of = [](std::initializer_list<std::int64_t> sizes, dtype t = dtype::float32) {
    shape s;
    for (const std::int64_t n : sizes) s.push(n);
    return tensor_info{t, s};
  };
  const std::vector<std::int64_t> usual{1, 1, 1, 1, 1, 1, 1, 1, 1};
  const auto conv = [&](const tensor_info& x, const tensor_info& w, const std::vector<std::int64_t>& numbers) {
    return problem(&convolution_op<convolved::images>::infer, {x, w}, numbers);
  };
  const auto image = of({2, 5, 5, 3}), filter = of({3, 3, 3, 8});
  const std::int64_t named = -5000;
  CHECK(conv(image, filter, usual).empty());
  CHECK(conv(of({named, 5, 5, 3}), filter, usual).empty());
  CHECK(conv(of({5, 5, 3}), filter, usual) == "takes rank 4: images [batch, height, width, channels]");
  CHECK(conv(image, of({3, 3, 3, 8}, dtype::float64), usual) == "dtypes differ (cast<T>(x) converts)");
  CHECK(conv(of({2, 5, 5, 3}, dtype::int32), of({3, 3, 3, 8}, dtype::int32), usual) == "takes floating-point dtypes only");
  CHECK(conv(image, of({3, 3, 2, 8}), usual) == "the images' channels are not a multiple of the filters' channels");
  CHECK(conv(of({2, 5, 5, 6}), of({3, 3, 3, 7}), usual) == "the number of filters is not a multiple of the number of groups of channels");
  CHECK(conv(image, of({6, 3, 3, 8}), usual) == "a window is larger than the image");
  CHECK(conv(image, of({3, 0, 3, 8}), usual) == "a window has no element");
  CHECK(conv(image, of({3, 3, 0, 8}), usual) == "a filter has no channel");
  CHECK(conv(of({2, named, 5, 3}), filter, usual) == "height and width of images, windows and filters must be sizes that the compiler knows");
  CHECK(conv(image, filter, {1, 0, 1, 1, 1, 1, 1, 1, 1}) == "windows, strides and dilations must be positive");
  CHECK(conv(image, filter, {1, std::int64_t{1} << 62, 1, 1, 1, 1, 1, 1, 1}) == "windows, strides and dilations must be positive");
  CHECK(conv(image, filter, {2, 1, 1, 1, 1, 1, 1, 1, 1}) == "windows, strides and dilations of the batch and of the channels must be 1");
  CHECK(conv(image, filter, {1, 1, 1, 1, 3, 1, 1, 1, 1}) == "padding is none of SAME, VALID and EXPLICIT");
  CHECK(conv(image, filter, {1, 1, 1, 1, 2, 1, 1, 1, 1}) ==
        "explicit_paddings must have 8 elements where padding is EXPLICIT, and none elsewhere");
  CHECK(conv(image, filter, {1, 1, 1, 1, 2, 1, 1, 1, 1, 0, 0, 1, 2, 0, 1, 0, 0}).empty());
  CHECK(conv(image, filter, {1, 1, 1, 1, 1, 1, std::int64_t{1} << 43, 1, 1}) == "a window is too large");
  // as many windows as a stride beyond all sizes leaves, one
  CHECK(convolution_op<convolved::images>::infer({std::vector<tensor_info>{image, filter}.data(), 2,
                                                  std::vector<std::int64_t>{1, (std::int64_t{1} << 44) - 1, 1, 1, 0, 1, 1, 1, 1}.data(), 9})
            .extent == of({2, 1, 5, 8}).extent);
  // a shape that is known only in graphs: unknown sizes stay unknown, unless stride and padding keep them
  const std::int64_t unknown = unknown_dimension;
  const auto open = of({unknown, unknown, 5, 3});
  const std::vector<tensor_info> both{open, filter};
  CHECK(convolution_op<convolved::images>::infer({both.data(), 2, usual.data(), 9}).extent == of({unknown, unknown, 3, 8}).extent);
  CHECK(problem(&max_pool_op<2>::infer, {image}, {1, 9, 2, 1, 1, 2, 2, 1, 1}) == "a window is larger than the image");
}
