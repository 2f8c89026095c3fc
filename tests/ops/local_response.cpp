// Normalization over neighboring channels: TensorFlow's values, gradients against differences, errors.

#include <leat/ops/local_response.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

// made by tf.raw_ops.LRN, TensorFlow 2.21
TEST_CASE("channels are divided by the norm of their neighbors, as in TensorFlow") {
  const auto x = placeholder<"x", float, 1, 1, 2, 5>();
  const auto y = local_response_normalization<2, 1.0, 0.5, 0.75>(x);
  const auto usual = local_response_normalization(x);
  session s{y, usual};
  xt::xtensor<float, 4> images(std::array<std::size_t, 4>{1, 1, 2, 5});
  const float pi[]{3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
  for (std::size_t i = 0; i < 10; ++i) images.data()[i] = pi[i] / 4;
  const auto [a, b] = s.run(fetch(y, usual), x = images);
  const double first[]{0.4801232, 0.1580023, 0.4849009, 0.1319795, 0.6665745, 0.6958673, 0.138044, 0.3990915, 0.5090883, 0.3143936};
  const double second[]{0.3638034, 0.1212678, 0.4850712, 0.1212678, 0.606339, 0.6882472, 0.1529438, 0.4588315, 0.3823596, 0.2294157};
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(a.data()[i] == doctest::Approx(first[i]).epsilon(1e-5));
    CHECK(b.data()[i] == doctest::Approx(second[i]).epsilon(1e-5));
  }
}

TEST_CASE("the gradient of normalized channels, against differences") {
  const auto x = placeholder<"x", double, "batch", 2, 1, 6>();
  const auto y = local_response_normalization<1, 2.0, 0.25, 0.75>(x);
  const auto loss = reduce_sum(y * y * y);
  const auto [dx] = gradients(loss, x);
  session s{loss, dx};
  const auto images = filled<double, 4>({2, 2, 1, 6}, -2, 2, 4);
  const auto [d] = s.run(fetch(dx), x = images);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto moved = [&](double step) {
      auto there = images;
      there.data()[i] += step;
      return std::get<0>(s.run(fetch(loss), x = there));
    };
    CHECK(d.data()[i] == doctest::Approx((moved(1e-5) - moved(-1e-5)) / 2e-5).epsilon(1e-6));
  }
  const auto [none] = s.run(fetch(dx), x = xt::xtensor<double, 4>(std::array<std::size_t, 4>{0, 2, 1, 6}));
  CHECK(none.size() == 0);
}

TEST_CASE("what does not fit is refused in words") {
  const auto problem = [](int rank, std::int64_t radius, dtype type) {
    shape extent;
    for (int k = 0; k < rank; ++k) extent.push(2);
    const tensor_info one{type, extent};
    const std::int64_t numbers[]{radius, 0, 0, 0};
    return local_response_op::infer({&one, 1, numbers, 4}).problem;
  };
  CHECK(problem(4, 1, dtype::float32).empty());
  CHECK(problem(3, 1, dtype::float32) == "takes rank 4: images [batch, height, width, channels]");
  CHECK(problem(4, -1, dtype::float32) == "depth_radius must be 0 or more");
  CHECK(problem(4, 1, dtype::int32) == "takes floating-point dtypes only");
}
