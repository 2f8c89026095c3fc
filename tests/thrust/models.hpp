#pragma once
// Models trained on a device and on the CPU: the same losses on the way, the same variables in the end.

#include "compare.hpp"

namespace leat_test {

/// Constant arrays and variables that start from one: on the device they have the elements of what is fetched. Names, as nvcc wants them.
template <class Device>
void check_constant_arrays() {
  const auto x = placeholder<"x", float, "batch", 3>();
  const auto rate = parameter<"rate">(0.5f);
  const auto w = variable<"w", float, 3, 2>({1, 2, 3, 4, 5, 6});
  const auto scaled = [&](float scale) {
    return reduce_mean<0>(matmul(x, w) * constant<"scales">(std::array{scale, 2.0f})) * rate + constant<"shift", float, 2>({1, -1});
  };
  const auto y = scaled(1.0f);
  const auto train = gradient_descent(0.01_c).minimize(reduce_sum(y));
  session on_cpu{y, train};
  auto on_device = session_on<Device>(y, train);
  on_cpu.initialize();
  on_device.initialize();
  const auto check = [&](const auto& fetched, const auto&... feeds) {
    const auto [expected] = on_cpu.run(fetch(fetched), feeds...);
    const auto [got] = on_device.run(fetch(fetched), feeds...);
    check_close("arrays", got, expected, 1e-5);
  };
  for (const std::size_t batch : {100U, 7U}) {
    const auto xs = filled<float>(std::array{batch, std::size_t{3}});
    check(y, x = xs);
    check(scaled(5.0f), x = xs);
    check(scaled(5.0f), x = xs, rate = 3.0f);
    check(y, x = xs);
    on_cpu.run(fetch(train), x = xs);
    on_device.run(fetch(train), x = xs);
  }
  check_close("w", on_device.value(w), on_cpu.value(w), 1e-5);
}

/// Two sizes of batches, so that the plan is made anew between steps.
template <class Device>
void check_linear_regression() {
  const auto x = placeholder<"x", float, "batch", 10>();
  const auto y = placeholder<"y", float, "batch">();
  const auto w = variable<"w", float, 10, 1>(zeros);
  const auto b = variable<"b", float>(0.5f);
  const auto prediction = squeeze<1>(matmul(x, w)) + b;
  const auto loss = reduce_mean(square(prediction - y));
  const auto train = gradient_descent(0.1_c).minimize(loss);
  session on_cpu{loss, prediction, train};
  auto on_device = session_on<Device>(loss, prediction, train);
  on_cpu.initialize();
  on_device.initialize();
  for (const std::size_t batch : {100U, 7U, 20000U, 1U}) {
    const auto xs = filled<float>(std::array{batch, std::size_t{10}});
    const auto ys = filled<float>(std::array{batch}, -1, 1, 5);
    for (int step = 0; step < 20; ++step) {
      const auto [expected] = on_cpu.run(fetch(loss, train), x = xs, y = ys);
      const auto [got] = on_device.run(fetch(loss, train), x = xs, y = ys);
      CHECK(close(got, expected, 1e-5));
    }
    auto into_this = xt::xtensor<float, 1>::from_shape({batch});
    on_device.run(fetch(into(prediction, into_this)), x = xs);
    check_close("prediction", into_this, std::get<0>(on_cpu.run(fetch(prediction), x = xs)), 1e-5);
  }
  check_close("w", on_device.value(w), on_cpu.value(w), 1e-5);
  CHECK(close(on_device.value(b), on_cpu.value(b), 1e-5));
}

/// Rows of a table that a step looks up, many of them twice.
template <class Device, class Optimizer>
void check_rows(const Optimizer& optimizer) {
  const auto ids = placeholder<"ids", std::int32_t, "batch", 2>();
  const auto table = variable<"table", float, 50, 20>(random_uniform(-1, 1, 3));
  const auto loss = reduce_mean(square(gather(table, ids)));
  const auto train = optimizer.minimize(loss);
  session on_cpu{loss, train};
  auto on_device = session_on<Device>(loss, train);
  on_cpu.initialize();
  on_device.initialize();
  for (const std::size_t batch : {3U, 1000U, 1U}) {
    const auto some = filled<std::int32_t>(std::array{batch, std::size_t{2}}, 0, 30);
    const auto [expected] = on_cpu.run(fetch(loss, train), ids = some);
    const auto [got] = on_device.run(fetch(loss, train), ids = some);
    CHECK(close(got, expected, 1e-5));
    check_close("table", on_device.value(table), on_cpu.value(table), 1e-5);
  }
}

template <class Device, class Optimizer>
void check_network(const Optimizer& optimizer) {
  const auto x = placeholder<"x", float, "batch", 64>();
  const auto labels = placeholder<"labels", std::int32_t, "batch">();
  const auto hidden = relu(dense<"hidden", 32>(x, 1));
  const auto logits = dense<"logits", 10>(hidden, 2);
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  const auto accuracy = reduce_mean(cast<float>(equal(argmax<1, std::int32_t>(logits), labels)));
  const auto train = optimizer.minimize(loss);
  session on_cpu{loss, accuracy, train};
  auto on_device = session_on<Device>(loss, accuracy, train);
  on_cpu.initialize();
  on_device.initialize();
  const auto xs = filled<float>(std::array<std::size_t, 2>{50, 64});
  const auto ys = filled<std::int32_t>(std::array<std::size_t, 1>{50}, 0, 10);
  auto step = on_device.prepare(fetch(loss, train), x = xs, labels = ys);
  float first = 0;
  float last = 0;
  for (int k = 0; k < 30; ++k) {
    const auto [expected] = on_cpu.run(fetch(loss, train), x = xs, labels = ys);
    const auto [got] = step();
    CHECK(close(got, expected, 1e-4));
    if (k == 0) first = got;
    last = got;
  }
  CHECK(last < first);
  const auto [expected] = on_cpu.run(fetch(accuracy), x = xs, labels = ys);
  const auto [got] = on_device.run(fetch(accuracy), x = xs, labels = ys);
  CHECK(close(got, expected, 0.03));
  const auto kernel = variable<"hidden/kernel", float, 64, 32>(glorot_uniform(1));
  const auto bias = variable<"logits/bias", float, 10>(zeros);
  check_close("hidden/kernel", on_device.value(kernel), on_cpu.value(kernel), 1e-4);
  check_close("logits/bias", on_device.value(bias), on_cpu.value(bias), 1e-4);
}

/// What a session does beside running: values in and out, numbers that are fed or set.
template <class Device>
void check_state() {
  const auto a = variable<"a", double, 3, 4>(random_normal(0.0, 1.0, 7));
  const auto n = variable<"n", std::int64_t>(5);
  const auto rate = parameter<"rate">(0.5f);
  const auto scaled = a * cast<double>(rate);
  const auto update = group(assign_add(n, 2_c), assign(a, scaled));
  session on_cpu{scaled, update};
  auto s = session_on<Device>(scaled, update);
  CHECK_FALSE(s.is_initialized(a));
  CHECK_THROWS_AS(s.value(a), failed_precondition);
  CHECK_THROWS_AS(s.run(fetch(update)), failed_precondition);
  on_cpu.initialize();
  s.initialize();
  const auto start = on_cpu.value(a);
  check_close("random start", s.value(a), start, 0);
  s.run(fetch(update));
  CHECK(s.value(n) == 7);
  check_each("halved", s.value(a), 0, [&](std::size_t i) { return start.data()[i] * 0.5; });
  const auto given = filled<double>(std::array<std::size_t, 2>{3, 4});
  s.assign(a, given);
  check_close("assigned", s.value(a), given, 0);
  const auto [fed] = s.run(fetch(scaled), rate = 3.0f);
  check_each("fed", fed, 0, [&](std::size_t i) { return given.data()[i] * 3; });
  const auto [unfed] = s.run(fetch(scaled));
  check_each("as before", unfed, 0, [&](std::size_t i) { return given.data()[i] * 0.5; });
  s.assign(rate, 2.0f);
  const auto [set] = s.run(fetch(scaled));
  check_each("set", set, 0, [&](std::size_t i) { return given.data()[i] * 2; });
  const auto wrong = filled<double>(std::array<std::size_t, 2>{4, 3});
  CHECK_THROWS_AS(s.assign(a, wrong), invalid_argument);
}

template <class Device>
void check_errors() {
  const auto table = variable<"table", float, 5, 3>(ones);
  const auto ids = placeholder<"ids", std::int32_t, "n">();
  const auto x = placeholder<"x", float, "n">();
  const auto found = reduce_sum<1>(gather(table, ids)) * x;
  auto s = session_on<Device>(found);
  s.initialize();
  const xt::xtensor<float, 1> xs{1, 2, 3};
  const xt::xtensor<std::int32_t, 1> good{0, 4, 1};
  const xt::xtensor<std::int32_t, 1> high{0, 5, 1};
  const xt::xtensor<std::int32_t, 1> low{-1, 5, 1};
  const xt::xtensor<std::int32_t, 1> shorter{0, 4};
  check_each("rows", std::get<0>(s.run(fetch(found), ids = good, x = xs)), 0,
             [](std::size_t i) { return 3.0 * static_cast<double>(i + 1); });
  CHECK_THROWS_WITH_AS(s.run(fetch(found), ids = high, x = xs), doctest::Contains("index 5 at position 1"),
                       invalid_argument);
  CHECK_THROWS_WITH_AS(s.run(fetch(found), ids = low, x = xs), doctest::Contains("index -1 at position 0"),
                       invalid_argument);
  CHECK_THROWS_WITH_AS(s.run(fetch(found), ids = shorter, x = xs), doctest::Contains("\"n\""), invalid_argument);
  check_each("rows again", std::get<0>(s.run(fetch(found), ids = good, x = xs)), 0,
             [](std::size_t i) { return 3.0 * static_cast<double>(i + 1); });
}

/// Steps that a device with memory of its own records: right in every run, for other sizes, other numbers and after errors.
template <class Device>
void check_recordings() {
  const auto x = placeholder<"x", float, "batch", 3>();
  const auto ids = placeholder<"ids", std::int32_t, "batch">();
  const auto table = variable<"table", float, 6, 3>(random_normal(0.0, 1.0, 7));
  const auto rate = parameter<"rate">(0.25f);
  const auto loss = reduce_mean(square(gather(table, ids) - x));
  const auto train = gradient_descent(rate).minimize(loss);
  session on_cpu{loss, train};
  auto s = session_on<Device>(loss, train);
  on_cpu.initialize();
  s.initialize();
  const auto check_run = [&](std::size_t batch, std::uint64_t seed, const auto&... more) {
    CAPTURE(batch);
    CAPTURE(seed);
    const auto xs = filled<float>(std::array{batch, std::size_t{3}}, -1, 1, seed);
    const auto some = filled<std::int32_t>(std::array{batch}, 0, 6, seed);
    const auto [expected] = on_cpu.run(fetch(loss, train), x = xs, ids = some, more...);
    const auto [got] = s.run(fetch(loss, train), x = xs, ids = some, more...);
    CHECK(close(got, expected, 1e-5));
    check_close("table", s.value(table), on_cpu.value(table), 1e-5);
  };
  CHECK_FALSE(s.is_recorded(fetch(loss, train)));
  check_run(4, 1);
  CHECK_FALSE(s.is_recorded(fetch(loss, train)));
  for (std::uint64_t seed = 2; seed < 5; ++seed) check_run(4, seed);
  CHECK(s.is_recorded(fetch(loss, train)));
  check_run(9, 5);
  CHECK_FALSE(s.is_recorded(fetch(loss, train)));
  for (std::uint64_t seed = 6; seed < 8; ++seed) check_run(9, seed);
  CHECK(s.is_recorded(fetch(loss, train)));
  check_run(9, 8, rate = 0.5f);
  check_run(9, 9, rate = 0.125f);
  for (std::uint64_t seed = 10; seed < 12; ++seed) check_run(9, seed);
  s.assign(rate, 1.0f);
  on_cpu.assign(rate, 1.0f);
  check_run(9, 12);

  const auto before = s.value(table);
  auto wrong = filled<std::int32_t>(std::array{std::size_t{9}}, 0, 6);
  wrong(7) = 6;
  const auto xs = filled<float>(std::array{std::size_t{9}, std::size_t{3}});
  CHECK_THROWS_WITH_AS(s.run(fetch(loss, train), x = xs, ids = wrong), doctest::Contains("index 6 at position 7"), invalid_argument);
  check_close("table after an error", s.value(table), before, 0);
  check_run(9, 13);

  // Indices that a step computes are checked on the device, between two recordings.
  const auto found = gather(table, cast<std::int32_t>(x * 4_c));
  auto looking = session_on<Device>(found);
  looking.initialize();
  session looking_on_cpu{found};
  looking_on_cpu.initialize();
  for (int run = 0; run < 4; ++run) {
    CAPTURE(run);
    auto places = filled<float>(std::array{std::size_t{5}, std::size_t{3}}, 0, 1, static_cast<std::size_t>(run));
    check_close("rows", std::get<0>(looking.run(fetch(found), x = places)), std::get<0>(looking_on_cpu.run(fetch(found), x = places)), 0);
    places(2, 1) = 2;
    CHECK_THROWS_WITH_AS(looking.run(fetch(found), x = places), doctest::Contains("index 8 at position 7"), invalid_argument);
  }
}

}  // namespace leat_test
