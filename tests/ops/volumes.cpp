// Convolutions and pools of volumes: values against sums of convolutions of images, gradients of both orders against differences, the
// item-by-item kernels of other devices against the loops of the CPU.

#include <leat/ops/volumes.hpp>

#include "support/check.hpp"

#include <leat/cpu/image_steps.hpp>
#include <leat/ops/images.hpp>
#include <leat/ops/reorder.hpp>

#include <cmath>
#include <vector>

using namespace leat;
using namespace leat::literals;
using leat_test::filled;

namespace {

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

TEST_CASE("a convolution of volumes is a sum of convolutions of images") {
  const auto x = placeholder<"x", double, 3, 4, 5, 6, 2>();
  const auto w = placeholder<"w", double, 2, 3, 2, 2, 4>();
  const auto whole = conv3d<dhw{1, 2, 1}>(x, w);
  static_assert(decltype(whole)::extent[1] == 3 && decltype(whole)::extent[2] == 2 && decltype(whole)::extent[4] == 4);
  const auto layers = [&]<std::int64_t L>(std::integral_constant<std::int64_t, L>) {
    const auto part = reshape<9, 5, 6, 2>(slice<begins<0, L, 0, 0, 0>, sizes<-1, 3, -1, -1, -1>>(x));
    return conv2d<hw{2, 1}>(part, reshape<3, 2, 2, 4>(slice<begins<L, 0, 0, 0, 0>, sizes<1, -1, -1, -1, -1>>(w)));
  };
  const auto by_layer = layers(std::integral_constant<std::int64_t, 0>{}) + layers(std::integral_constant<std::int64_t, 1>{});
  const auto apart = reduce_max(abs(reshape<9, 2, 5, 4>(whole) - by_layer));
  session s{whole, apart};
  const auto [y, far] =
      s.run(fetch(whole, apart), x = filled<double, 5>({3, 4, 5, 6, 2}, -1, 1, 1), w = filled<double, 5>({2, 3, 2, 2, 4}, -1, 1, 2));
  CHECK(far < 1e-12);
  CHECK(xt::amax(xt::abs(y))() > 0.1);
}

TEST_CASE("pools of volumes, and where their gradients go") {
  const auto x = placeholder<"x", float, 1, 2, 2, 3, 1>();
  const auto largest = max_pool3d<dhw{2, 2, 1}, 1>(x);
  const auto mean = avg_pool3d<2, 2, padding::same>(x);
  const auto [dx] = gradients(reduce_sum(largest), x);
  session s{largest, mean, dx};
  xt::xtensor<float, 5> volume(std::array<std::size_t, 5>{1, 2, 2, 3, 1});
  const float values[]{1, 5, 2, 1, 3, 8, 1, 5, 0, 1, 4, 8};
  std::copy_n(values, 12, volume.data());
  const auto [l, m, d] = s.run(fetch(largest, mean, dx), x = volume);
  const float largest_of[]{1, 5, 8}, mean_of[]{2.625f, 4.5f}, slopes[]{1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1};
  CHECK(std::equal(largest_of, largest_of + 3, l.data()));
  CHECK(std::equal(mean_of, mean_of + 2, m.data()));
  CHECK(std::equal(slopes, slopes + 12, d.data()));  // to all elements that are equally large, as in TensorFlow
}

TEST_CASE("gradients of convolutions and pools of volumes, of both orders, against differences") {
  const auto x = placeholder<"x", double, "batch", 3, 4, 3, 2>();
  const auto w = placeholder<"w", double, 2, 3, 2, 2, 3>();
  const auto y = avg_pool3d<2, 1, padding::same>(conv3d<dhw{1, 2, 1}, padding::same, dhw{2, 1, 1}>(x, w));
  const auto loss = reduce_sum(y * y * y) + reduce_sum(square(max_pool3d<dhw{2, 2, 2}, dhw{1, 2, 1}>(x)));
  const auto [dx, dw] = gradients(loss, x, w);
  const auto bend = reduce_sum(square(dx)) + reduce_sum(square(dw));
  const auto [bx, bw] = gradients(bend, x, w);
  session s{loss, dx, dw, bend, bx, bw};
  auto xs = filled<double, 5>({2, 3, 4, 3, 2}, -1, 1, 4), ws = filled<double, 5>({2, 3, 2, 2, 3}, -1, 1, 5);
  const auto [gx, gw, hx, hw_] = s.run(fetch(dx, dw, bx, bw), x = xs, w = ws);
  const auto check = [&](auto& array, const auto& of, const auto& slope, double tolerance) {
    for (std::size_t i = 0; i < array.size(); i += 7) {
      const auto moved = [&](double step) {
        const double held = array.data()[i];
        array.data()[i] += step;
        const double value = std::get<0>(s.run(fetch(of), x = xs, w = ws));
        array.data()[i] = held;
        return value;
      };
      const double numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
      CHECK(std::abs(slope.data()[i] - numeric) < tolerance * (1 + std::abs(numeric)));
    }
  };
  check(xs, loss, gx, 1e-6);
  check(ws, loss, gw, 1e-6);
  check(xs, bend, hx, 1e-5);
  check(ws, bend, hw_, 1e-5);
}

TEST_CASE("items of other devices give what the loops of the CPU give, for volumes") {
  // volumes [2, 3, 4, 3, 2], filters [2, 3, 2, 2, 3], strides 1, 2, 1, padding SAME, results [2, 3, 2, 3, 3]
  const std::vector<std::int64_t> windows{1, 1, 2, 1, 1, 0, 1, 1, 1, 1, 1}, volume{5, 2, 3, 4, 3, 2}, filter{5, 2, 3, 2, 2, 3},
      result{5, 2, 3, 2, 3, 3};
  const auto numbers = [](std::initializer_list<std::vector<std::int64_t>> attributes,
                          std::initializer_list<std::vector<std::int64_t>> extents) {
    std::vector<std::int64_t> made{0};
    for (const auto& a : attributes) made.insert(made.end(), a.begin(), a.end());
    made[0] = static_cast<std::int64_t>(made.size()) - 1;
    for (const auto& e : extents) made.insert(made.end(), e.begin(), e.end());
    return made;
  };
  const auto sizes = [](const std::vector<std::int64_t>& extent) { return std::vector<std::int64_t>(extent.begin() + 1, extent.end()); };
  const auto volumes = numbers_of(144, 1), filters = numbers_of(72, 2), slopes = numbers_of(108, 3);
  CHECK(items_agree<convolution_op<convolved::volumes>>(numbers({windows}, {volume, filter, result}), {volumes, filters}, 108));
  CHECK(items_agree<convolution_input_grad_op<convolved::volumes>>(numbers({sizes(volume), windows}, {filter, result, volume}),
                                                                   {filters, slopes}, 144));
  CHECK(items_agree<convolution_filter_grad_op<convolved::volumes>>(numbers({sizes(filter), windows}, {volume, result, filter}),
                                                                    {volumes, slopes}, 72));
  const std::vector<std::int64_t> pool{1, 2, 3, 2, 1, 1, 1, 2, 1, 1, 0}, pooled{5, 2, 3, 2, 3, 2};
  const auto dy = numbers_of(72, 4);
  std::vector<double> maxima(72);
  {
    auto held = volumes;
    void* p[]{held.data(), maxima.data()};
    const auto all = numbers({pool}, {volume, pooled});
    const typename kernels::kernel_of<max_pool_op<3>>::type<double, void> kernel(p, kernels::step_numbers(all.data()));
    for (std::int64_t k = 0; k < kernel.items(); ++k) kernel(k);
  }
  CHECK(items_agree<max_pool_op<3>>(numbers({pool}, {volume, pooled}), {volumes}, 72));
  CHECK(items_agree<avg_pool_op<3>>(numbers({pool}, {volume, pooled}), {volumes}, 72));
  CHECK(items_agree<max_pool_grad_op<3>>(numbers({pool}, {volume, pooled, pooled, volume}), {volumes, maxima, dy}, 144));
  CHECK(items_agree<max_pool_grad_grad_op<3>>(numbers({pool}, {volume, pooled, volume, pooled}), {volumes, maxima, volumes}, 72));
  CHECK(items_agree<avg_pool_grad_op<3>>(numbers({sizes(volume), pool}, {pooled, volume}), {dy}, 144));
}

TEST_CASE("what does not fit is refused in words") {
  const auto conv = [](std::initializer_list<std::int64_t> image, std::initializer_list<std::int64_t> filter,
                       const std::vector<std::int64_t>& numbers) {
    tensor_info both[]{{dtype::float32, {}}, {dtype::float32, {}}};
    for (const std::int64_t n : image) both[0].extent.push(n);
    for (const std::int64_t n : filter) both[1].extent.push(n);
    return convolution_op<convolved::volumes>::infer({both, 2, numbers.data(), static_cast<int>(numbers.size())}).problem;
  };
  const std::vector<std::int64_t> usual{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  CHECK(conv({2, 5, 5, 5, 3}, {3, 3, 3, 3, 8}, usual).empty());
  CHECK(conv({2, 5, 5, 3}, {3, 3, 3, 8}, usual) == "takes rank 5: volumes [batch, depth, height, width, channels]");
  CHECK(conv({2, 5, 5, 5, 6}, {3, 3, 3, 3, 8}, usual) == "images and filters differ in the number of channels");
  CHECK(conv({2, 2, 5, 5, 3}, {3, 3, 3, 3, 8}, usual) == "a window is larger than the image");
  auto listed = usual;
  listed[5] = 2;
  CHECK(conv({2, 5, 5, 5, 3}, {3, 3, 3, 3, 8}, listed) == "volumes have no explicit padding");
}
