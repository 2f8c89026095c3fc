// Random tensors of a seed: TensorFlow's own numbers, the same for any number of threads, distributed as they should be.

#include <leat/ops/random.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {
using seed_pair = std::vector<std::int64_t>;
}  // namespace

TEST_CASE("uniform numbers are those of TensorFlow, to the bit") {
  const auto seed = placeholder<"seed", std::int64_t, 2>();
  const auto small = placeholder<"small", std::int32_t, 2>();
  const auto floats = stateless_random_uniform<float, 2, 3>(seed);
  const auto doubles = stateless_random_uniform<double, 4>(seed);
  const auto of_small = stateless_random_uniform<float, 6>(small);
  static_assert(decltype(floats)::rank == 2 && decltype(doubles)::type == dtype::float64);
  session s{floats, doubles, of_small};
  // made by tf.raw_ops.StatelessRandomUniform, TensorFlow 2.21
  const auto check = [&](const seed_pair& given, std::vector<float> f, std::vector<double> d) {
    const auto [fs, ds] = s.run(fetch(floats, doubles), seed = given);
    CHECK(std::equal(fs.begin(), fs.end(), f.begin(), f.end()));
    CHECK(std::equal(ds.begin(), ds.end(), d.begin(), d.end()));
  };
  check({1, 2}, {0x1.b028b00000000p-1f, 0x1.894f100000000p-3f, 0x1.fe10f80000000p-1f, 0x1.4879300000000p-3f, 0x1.1684980000000p-2f, 0x1.4c77140000000p-1f},
        {0x1.81458cf3129e2p-1, 0x1.f087c2c290f26p-1, 0x1.6849f8a98ee28p-3, 0x1.b60b64610ae7cp-1});
  check({-5, 7}, {0x1.7ef3000000000p-5f, 0x1.1387a00000000p-2f, 0x1.44a0bc0000000p-1f, 0x1.632d040000000p-1f, 0x1.f8cbc40000000p-1f, 0x1.b370d80000000p-2f},
        {0x1.7ef31be89c3d0p-2, 0x1.282f83d8cb410p-4, 0x1.c65e3956cdc36p-1, 0x1.a6ac599bbaa20p-5});
  check({123456789012, 3}, {0x1.dadad40000000p-1f, 0x1.e4f4680000000p-1f, 0x1.808d780000000p-1f, 0x1.beaaa00000000p-4f, 0x1.d237500000000p-2f, 0x1.2dcb380000000p-2f},
        {0x1.adad783e4f468p-2, 0x1.1af5146faaa80p-7, 0x1.48dd55c4b72cep-1, 0x1.4cefee3701be0p-3});
  const auto [narrow] = s.run(fetch(of_small), small = std::vector<std::int32_t>{-5, 7});
  const auto [wide] = s.run(fetch(floats), seed = seed_pair{-5, 7});
  CHECK(std::equal(narrow.begin(), narrow.end(), wide.begin()));
}

TEST_CASE("normal numbers are those of TensorFlow but for the last bits") {
  const auto seed = placeholder<"seed", std::int64_t, 2>();
  const auto floats = stateless_random_normal<float, 6>(seed);
  const auto doubles = stateless_random_normal<double, 4>(seed);
  const auto many = stateless_random_normal<double, "n">(seed);
  const auto other = placeholder<"other", float, "n">();
  const auto count = many + cast<double>(other);
  session s{floats, doubles, count};
  const auto check = [&](const seed_pair& given, std::vector<float> f) {
    const auto [fs] = s.run(fetch(floats), seed = given);
    for (std::size_t i = 0; i < 6; ++i) CHECK(fs(i) == doctest::Approx(f[i]).epsilon(1e-5));
  };
  check({1, 2}, {0.544110119342804f, 0.20738030970096588f, 0.0735643208026886f, 0.04643455147743225f, -1.301589846611023f, -0.9538565278053284f});
  check({-5, 7}, {2.4573304653167725f, -0.29588761925697327f, -0.8955138325691223f, -0.3306739330291748f, 0.07620611041784286f, -0.15011084079742432f});
  const auto [ds] = s.run(fetch(doubles), seed = seed_pair{1, 2});
  const std::vector<double> expected{-0.1423118100189212, 0.7406072461585091, -1.469047669443883, 1.147747453689489};
  for (std::size_t i = 0; i < 4; ++i) CHECK(ds(i) == doctest::Approx(expected[i]).epsilon(1e-12));
  const std::vector<float> zeros_of(100001, 0.0f);
  const auto [all] = s.run(fetch(count), seed = seed_pair{3, 4}, other = zeros_of);
  double sum = 0, squares = 0;
  for (const double v : all) sum += v, squares += v * v;
  CHECK(std::abs(sum / 100001) < 0.02);
  CHECK(std::abs(squares / 100001 - 1) < 0.02);
  const auto [none] = s.run(fetch(count), seed = seed_pair{3, 4}, other = std::vector<float>{});
  CHECK(none.size() == 0);
}

TEST_CASE("dropout draws a new mask in each training step, and the same one in the same step") {
  const auto x = placeholder<"x", float, "batch", 50>();
  const auto w = variable<"w", float, 50>(ones);
  const auto steps = global_step();
  const auto kept = dropout<"first">(x * w, 0.25f, steps);
  const auto other = dropout<"second">(x * w, 0.25f, steps);
  const auto loss = reduce_sum(kept);
  const auto [slope] = gradients(loss, x);
  const auto train = gradient_descent(0.0f).minimize(loss, steps);
  session s{kept, other, slope, train};
  s.initialize();
  const auto ones_of = xt::xtensor<float, 2>(xt::ones<float>({40, 50}));
  const auto [first, second, d] = s.run(fetch(kept, other, slope), x = ones_of);
  const auto [again] = s.run(fetch(kept), x = ones_of);
  CHECK(first == again);
  CHECK(first != second);
  CHECK(first == d);  // the gradient passes where the value did, with the same factor
  std::size_t zeros_in = 0;
  for (const float v : first) {
    zeros_in += v == 0 ? 1 : 0;
    CHECK((v == 0 || v == doctest::Approx(4.0 / 3)));
  }
  CHECK(zeros_in > 400);
  CHECK(zeros_in < 600);
  s.run(fetch(train), x = ones_of);
  const auto [later] = s.run(fetch(kept), x = ones_of);
  CHECK(later != first);
}
