// Blocks of pixels as channels and as entries of the batch, mirror images: TensorFlow's values, gradients, errors.

#include <leat/ops/blocks.hpp>
#include <leat/ops/mirror_pad.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstddef>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

template <std::size_t Rank>
xt::xtensor<std::int32_t, Rank> counted(std::array<std::size_t, Rank> sizes) {
  xt::xtensor<std::int32_t, Rank> made(sizes);
  for (std::size_t i = 0; i < made.size(); ++i) made.data()[i] = static_cast<std::int32_t>(i);
  return made;
}
template <class Got>
void has(const Got& got, const std::vector<std::int32_t>& expected) {
  CHECK(got.size() == expected.size());
  CHECK(std::equal(expected.begin(), expected.end(), got.data()));
}

}  // namespace

// made by tf.raw_ops of TensorFlow 2.21
TEST_CASE("blocks of pixels become channels, and channels blocks") {
  const auto x = placeholder<"x", std::int32_t, "batch", 4, 4, 1>();
  const auto c = placeholder<"c", std::int32_t, 1, 1, 2, 8>();
  const auto deep = space_to_depth<2>(x);
  const auto wide = depth_to_space<2>(c);
  const auto back = depth_to_space<2>(deep);
  static_assert(decltype(deep)::extent[1] == 2 && decltype(deep)::extent[3] == 4 && decltype(wide)::extent[2] == 4);
  session s{deep, wide, back};
  const auto [d, w, b] = s.run(fetch(deep, wide, back), x = counted<4>({1, 4, 4, 1}), c = counted<4>({1, 1, 2, 8}));
  has(d, {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15});
  has(w, {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15});
  CHECK(b == counted<4>({1, 4, 4, 1}));
}

TEST_CASE("blocks of pixels become entries of the batch, and entries blocks") {
  const auto x = placeholder<"x", std::int32_t, 1, 3, 2, 1>();
  const auto many = space_to_batch<sizes<2, 2>, before<1, 0>, behind<0, 2>>(x);
  const auto one = batch_to_space<sizes<2, 2>, before<1, 0>, behind<0, 2>>(many);
  const auto line = space_to_batch<sizes<3>, before<0>, behind<0>>(x);
  static_assert(decltype(many)::extent[0] == 4 && decltype(one)::extent[1] == 3 && decltype(line)::extent[0] == 3);
  session s{many, one, line};
  const auto given = counted<4>({1, 3, 2, 1});
  const auto [m, o, l] = s.run(fetch(many, one, line), x = given);
  has(m, {0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 1, 0, 5, 0});
  CHECK(o == given);
  has(l, {0, 1, 2, 3, 4, 5});
}

TEST_CASE("arrays are padded by mirror images") {
  const auto x = placeholder<"x", std::int32_t, 2, 3>();
  const auto y = placeholder<"y", std::int32_t, "n", 2>();
  const auto without = mirror_pad<mirror::reflect, before<1, 2>, behind<1, 1>>(x);
  const auto with = mirror_pad<mirror::symmetric, before<1, 2>, behind<1, 1>>(x);
  const auto named = mirror_pad<mirror::symmetric, before<0, 2>, behind<0, 2>>(y);
  session s{without, with, named};
  const auto [a, b, c] = s.run(fetch(without, with, named), x = counted<2>({2, 3}), y = counted<2>({1, 2}));
  has(a, {5, 4, 3, 4, 5, 4, 2, 1, 0, 1, 2, 1, 5, 4, 3, 4, 5, 4, 2, 1, 0, 1, 2, 1});
  has(b, {1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 4, 3, 3, 4, 5, 5, 4, 3, 3, 4, 5, 5});
  has(c, {1, 0, 0, 1, 1, 0});
  const auto [none] = s.run(fetch(named), y = xt::xtensor<std::int32_t, 2>(std::array<std::size_t, 2>{0, 2}));
  CHECK(none.size() == 0);
}

TEST_CASE("gradients of blocks and mirror images, of both orders, against differences") {
  const auto x = placeholder<"x", double, 2, 4, 4, 2>();
  const auto deep = space_to_depth<2>(x * x);
  const auto many = space_to_batch<sizes<2, 3>, before<0, 2>, behind<2, 2>>(deep * deep);
  const auto wide = mirror_pad<mirror::reflect, before<0, 1, 0, 1>, behind<0, 2, 3, 0>>(x * x * x);
  const auto twice = mirror_pad<mirror::symmetric, before<1, 0, 4, 0>, behind<2, 0, 4, 1>>(depth_to_space<2>(deep) * x);
  const auto back = batch_to_space<sizes<2>, before<1>, behind<2>>(x * x);
  const auto loss = reduce_sum(many * many) + reduce_sum(wide * wide) + reduce_sum(twice * twice) + reduce_sum(back * back * back);
  const auto [dx] = gradients(loss, x);
  const auto bend = reduce_sum(dx * dx);
  const auto [ddx] = gradients(bend, x);
  session s{loss, dx, bend, ddx};
  const auto images = filled<double, 4>({2, 4, 4, 2}, 0.5, 1, 4);
  const auto [d, dd] = s.run(fetch(dx, ddx), x = images);
  for (const std::size_t i : {0u, 7u, 23u, 41u, 63u}) {
    const auto moved = [&](const auto& of, double step) {
      auto there = images;
      there.data()[i] += step;
      return std::get<0>(s.run(fetch(of), x = there));
    };
    CHECK(d.data()[i] == doctest::Approx((moved(loss, 1e-5) - moved(loss, -1e-5)) / 2e-5).epsilon(1e-6));
    CHECK(dd.data()[i] == doctest::Approx((moved(bend, 1e-5) - moved(bend, -1e-5)) / 2e-5).epsilon(1e-6));
  }
}

TEST_CASE("what does not fit is refused in words") {
  const auto problem = [](auto infer, std::initializer_list<std::int64_t> sizes, const std::vector<std::int64_t>& numbers) {
    shape extent;
    for (const std::int64_t n : sizes) extent.push(n);
    const tensor_info one{dtype::float32, extent};
    return infer(operand_list{&one, 1, numbers.data(), static_cast<int>(numbers.size())}).problem;
  };
  const auto deep = [&](std::initializer_list<std::int64_t> sizes, std::int64_t block) {
    return problem(&block_exchange_op<true>::infer, sizes, {block});
  };
  CHECK(deep({-5000, 4, 4, 3}, 2).empty());
  CHECK(deep({1, 4, 3}, 2) == "takes rank 4: images [batch, height, width, channels]");
  CHECK(deep({1, 4, 4, 3}, 1) == "Block size should be > 1");
  CHECK(deep({1, 4, 5, 3}, 2) == "height and width must be evenly divisible by the block size");
  CHECK(deep({1, 4, 4, 3}, std::int64_t{1} << 40) == "the block size is too large");
  CHECK(problem(&block_exchange_op<false>::infer, {1, 4, 4, 6}, {2}) ==
        "the number of channels must be evenly divisible by that of the pixels of a block");
  const auto batch = [&](std::initializer_list<std::int64_t> sizes, const std::vector<std::int64_t>& numbers) {
    return problem(&batch_exchange_op<true>::infer, sizes, numbers);
  };
  CHECK(batch({1, 4, 4}, {2, 2, 0, 0, 0, 0}).empty());
  CHECK(batch({-5000, 4, 4}, {2, 2, 0, 0, 0, 0}) == "the batch and the axes of a block must be sizes that the compiler knows");
  CHECK(batch({1, 4, 5}, {2, 2, 0, 0, 0, 0}) == "a padded size is not divisible by that of the block");
  CHECK(batch({1, 4, 4}, {0, 2, 0, 0, 0, 0}) == "All values in block_shape must be positive");
  CHECK(batch({1, 4, 4}, {2, 2, -1, 0, 0, 0}) == "paddings and crops are not negative");
  CHECK(batch({1, 4}, {2, 2, 0, 0, 0, 0}) == "the rank must be above the number of axes of a block");
  CHECK(problem(&batch_exchange_op<false>::infer, {4, 1, 1}, {2, 2, 1, 1, 1, 2}) == "the crops are larger than an axis");
  CHECK(problem(&batch_exchange_op<false>::infer, {3, 1, 1}, {2, 2, 0, 0, 0, 0}) ==
        "the batch is not divisible by the product of block sizes");
  const auto mirrored = [&](std::initializer_list<std::int64_t> sizes, const std::vector<std::int64_t>& numbers) {
    return problem(&mirror_pad_op::infer, sizes, numbers);
  };
  CHECK(mirrored({3}, {0, 2, 2}).empty());
  CHECK(mirrored({3}, {0, 3, 0}) == "paddings must be no greater than the dimension size minus 1");
  CHECK(mirrored({3}, {1, 3, 4}) == "paddings must be no greater than the dimension size");
  CHECK(mirrored({-5000}, {1, 1, 0}) == "a named dimension cannot be padded");
  CHECK(mirrored({3}, {1, -1, 0}) == "paddings must be non-negative");
  CHECK(mirrored({3}, {1, 0}) == "one number before and one behind each axis");
}
