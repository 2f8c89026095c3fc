// Random tensors of a seed: TensorFlow's own numbers, the same for any number of threads, distributed as they should be.

#include <leat/ops/random.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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

TEST_CASE("truncated normal numbers are those of TensorFlow but for the last bits") {
  const auto seed = placeholder<"seed", std::int64_t, 2>();
  const auto floats = stateless_truncated_normal<float, 3, 3>(seed);
  const auto doubles = stateless_truncated_normal<double, 5>(seed);
  const auto many = stateless_truncated_normal<float, 10001>(seed);
  session s{floats, doubles, many};
  // made by tf.raw_ops.StatelessTruncatedNormal, TensorFlow 2.21
  const auto check = [&](const seed_pair& given, std::vector<double> f, std::vector<double> d) {
    const auto [fs, ds] = s.run(fetch(floats, doubles), seed = given);
    for (std::size_t i = 0; i < 9; ++i) CHECK(fs.data()[i] == doctest::Approx(f[i]).epsilon(1e-5));
    for (std::size_t i = 0; i < 5; ++i) CHECK(ds(i) == doctest::Approx(d[i]).epsilon(1e-12));
  };
  check({1, 2},
        {0.544110119342804, 0.20738030970096588, 0.0735643208026886, 0.04643455147743225, 0.16820591688156128, -1.6850333213806152,
         0.24202857911586761, 1.703450322151184, 1.1060677766799927},
        {-0.1423118100189212, 0.7406072461585091, -0.552387756244845, -0.734450092480207, -0.39842023956588357});
  check({-5, 7},
        {-0.29588761925697327, -0.8955138325691223, -0.3306739330291748, 0.07620611041784286, 0.9245980381965637, 0.34252455830574036,
         0.33287298679351807, 0.30745401978492737, 0.14600308239459991},
        {0.6155384970137748, 1.260257498009569, 1.7044392280694418, 1.2549931841810942, 0.4004598123535857});
  const auto [all] = s.run(fetch(many), seed = seed_pair{8, 9});
  CHECK(*std::max_element(all.begin(), all.end()) < 2);
  CHECK(*std::min_element(all.begin(), all.end()) > -2);
}

TEST_CASE("random integers are those of TensorFlow") {
  const auto seed = placeholder<"seed", std::int64_t, 2>();
  const auto narrow = stateless_random_integer<std::int32_t, -3, 1000, 6>(seed);
  const auto wide = stateless_random_integer<std::int64_t, -3, 1000000000000000, 5>(seed);
  const auto whole = stateless_random_integer<int, -2147483648, 2147483647, 3>(seed);
  const auto rows = placeholder<"rows", float, "batch">();
  const auto open = stateless_random_integer<std::int32_t, 0, 2, "batch", 3>(seed);
  const auto beside = rows + 1.0f;
  static_assert(decltype(narrow)::type == dtype::int32 && decltype(wide)::type == dtype::int64 && decltype(open)::rank == 2);
  session s{narrow, wide, whole, open, beside};
  const auto check = [&](const seed_pair& given, xt::xtensor<std::int32_t, 1> n, xt::xtensor<std::int64_t, 1> w,
                         xt::xtensor<std::int32_t, 1> all) {
    const auto [ns, ws, as] = s.run(fetch(narrow, wide, whole), seed = given);
    CHECK(ns == n);
    CHECK(ws == w);
    CHECK(as == all);
  };
  check({1, 2}, {97, 284, 647, 168, 310, 224}, {880146280592049, 45637757956502, 275318163997897, 363516006994628, 554327646006268},
        {-1041495508, -409430799, 1811907646});
  check({-5, 7}, {268, 779, 148, 884, 917, 25}, {116078819122565, 566895830546648, 983506836686788, 479848831823231, 621527398684850},
        {-1039795252, -274566924, -288282577});
  const auto [bits, unused] = s.run(fetch(open, beside), seed = seed_pair{1, 2}, rows = std::vector<float>{1, 2, 3, 4});
  CHECK(bits.shape()[0] == 4);
  for (const auto b : bits) CHECK((b == 0 || b == 1));
}

TEST_CASE("classes are drawn as TensorFlow draws them") {
  const auto seed = placeholder<"seed", std::int64_t, 2>();
  const auto logits = placeholder<"logits", float, "rows", 4>();
  const auto drawn = stateless_multinomial<7>(logits, seed);
  const auto of_doubles = stateless_multinomial<3, std::int32_t>(cast<double>(logits), seed);
  static_assert(decltype(drawn)::type == dtype::int64 && decltype(of_doubles)::type == dtype::int32);
  session s{drawn, of_doubles};
  const float none = -std::numeric_limits<float>::infinity();
  const xt::xtensor<float, 2> given{{0.5f, 1, -2, 0}, {3, 0, 0, 1.5f}, {none, 0, none, 0}};
  const auto [a, b] = s.run(fetch(drawn, of_doubles), seed = seed_pair{1, 2}, logits = given);
  CHECK(a == xt::xtensor<std::int64_t, 2>{{1, 3, 0, 3, 1, 1, 3}, {0, 3, 2, 0, 0, 0, 0}, {3, 1, 3, 1, 3, 1, 1}});
  CHECK(b == xt::xtensor<std::int32_t, 2>{{1, 3, 0}, {3, 0, 0}, {3, 1, 3}});
  const auto [c, d] = s.run(fetch(drawn, of_doubles), seed = seed_pair{-5, 7}, logits = given);
  CHECK(c == xt::xtensor<std::int64_t, 2>{{1, 0, 3, 0, 1, 0, 0}, {3, 0, 0, 0, 0, 1, 0}, {1, 1, 3, 3, 3, 1, 1}});
  CHECK(d == xt::xtensor<std::int32_t, 2>{{1, 0, 3}, {0, 0, 0}, {1, 3, 1}});
  const auto [e] = s.run(fetch(drawn), seed = seed_pair{1, 2}, logits = xt::xtensor<float, 2>(std::array<std::size_t, 2>{0, 4}));
  CHECK(e.size() == 0);
  // item by item, as other devices run it
  const std::vector<std::int64_t> numbers{2, 7, static_cast<std::int64_t>(dtype::int64), 2, 3, 4, 1, 2, 2, 3, 7};
  std::int64_t pair[]{-5, 7}, out[21]{};
  void* p[]{const_cast<float*>(given.data()), pair, out};
  const kernels::stateless_multinomial_kernel<float, std::int64_t> items(p, kernels::step_numbers(numbers.data()));
  for (std::int64_t k = 0; k < items.items(); ++k) items(k);
  CHECK(std::equal(c.begin(), c.end(), out));
}

TEST_CASE("a shuffle has the order of TensorFlow 2, and passes gradients") {
  const auto seed = placeholder<"seed", std::int64_t, 2>();
  const auto x = placeholder<"x", double, "n", 2>();
  const auto numbers = constant<"numbers", std::int32_t, 8>({0, 1, 2, 3, 4, 5, 6, 7});
  const auto order = stateless_shuffle(numbers, seed);
  const auto rows = stateless_shuffle(x, seed);
  const auto [dx] = gradients(reduce_sum(rows * rows * rows), x);
  session s{order, rows, dx};
  const auto [found] = s.run(fetch(order), seed = seed_pair{1, 2});
  CHECK(found == xt::xtensor<std::int32_t, 1>{4, 2, 1, 7, 3, 6, 0, 5});  // tf.random.experimental.stateless_shuffle, TensorFlow 2.21
  xt::xtensor<double, 2> given(std::array<std::size_t, 2>{8, 2});
  for (std::size_t i = 0; i < 16; ++i) given.data()[i] = static_cast<double>(i);
  const auto [r, d] = s.run(fetch(rows, dx), seed = seed_pair{1, 2}, x = given);
  for (std::size_t i = 0; i < 8; ++i) CHECK(r(i, 1) == 2 * found(i) + 1);
  CHECK(xt::all(xt::equal(d, 3.0 * given * given)));
  const auto [none] = s.run(fetch(rows), seed = seed_pair{1, 2}, x = xt::xtensor<double, 2>(std::array<std::size_t, 2>{0, 2}));
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
