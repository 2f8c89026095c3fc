#include <leat/core/sanitizer.hpp>
#include <leat/session/typed/session.hpp>

#include "support/allocations.hpp"
#include "support/check.hpp"

#include <leat/calculus.hpp>
#include <leat/train/optimizer.hpp>
#include <leat/vmap.hpp>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("the counter counts") {
  static void* volatile kept = nullptr;
  CHECK(count([] {
          kept = ::operator new(100);
          ::operator delete(kept);
        }) == 2);
  CHECK(count([] {
          kept = ::operator new(100, std::align_val_t{64});
          ::operator delete(kept, std::align_val_t{64});
        }) == 2);
#if !defined(LEAT_ADDRESS_SANITIZER) && !defined(LEAT_THREAD_SANITIZER)
  CHECK(count([] {
          kept = std::malloc(100);
          std::free(kept);
        }) == 2);
#endif
  CHECK(count([] {}) == 0);
}

TEST_CASE("a warm step of linear regression allocates nothing, static or named") {
  const auto check = [](const auto& x, const auto& y) {
    const auto w = variable<"w", float, 10, 1>(zeros);
    const auto b = variable<"b", float>(0.0f);
    const auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
    const auto [dw, db] = gradients(loss, w, b);
    const auto train = group(assign_sub(w, 0.1f * dw), assign_sub(b, 0.1f * db));
    session s{loss, train};
    s.initialize();
    const auto xs = filled<float, 2>({100, 10});
    const auto ys = filled<float, 1>({100});
    CHECK(count([&] { s.run(fetch(loss, train), x = xs, y = ys); }) == 0);
    CHECK(count([&] { s.run(fetch(train), x = xs, y = ys); }) == 0);
    const auto prepared = s.prepare(fetch(loss, train), x = xs, y = ys);
    CHECK(count(prepared) == 0);
  };
  check(placeholder<"x", float, 100, 10>(), placeholder<"y", float, 100>());
  check(placeholder<"x", float, "batch", 10>(), placeholder<"y", float, "batch">());
}

TEST_CASE("nor does one of a convolutional network") {
  const auto x = placeholder<"x", float, "batch", 12, 12, 3>();
  const auto y = placeholder<"y", std::int64_t, "batch">();
  const auto maps = max_pool<2>(relu(conv<"conv1", 8, 3, 1, padding::same>(x)));
  const auto logits = dense<"logits", 5>(flatten_layer(relu(conv<"conv2", 8, 3, 2>(maps))));
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(y, logits));
  const auto train = adam(0.01f).minimize(loss);
  session s{loss, train};
  s.initialize();
  const auto xs = filled<float, 4>({16, 12, 12, 3});
  const auto ys = filled<std::int64_t, 1>({16}, 0, 5);
  s.run(fetch(loss, train), x = xs, y = ys);
  CHECK(count([&] { s.run(fetch(loss, train), x = xs, y = ys); }) == 0);
}

TEST_CASE("nor does one with constant arrays, however its expressions are held") {
  const auto x = placeholder<"x", float, "batch", 3>();
  const auto w = variable<"w">(std::array<std::array<float, 2>, 3>{{{1, 2}, {3, 4}, {5, 6}}});
  const auto scales = constant(std::array{2.0f, 0.5f});
  const auto loss = reduce_mean(square(matmul(x, w) * scales));
  const auto train = gradient_descent(0.01f).minimize(loss);
  session s{loss, train};
  s.initialize();
  const auto xs = filled<float, 2>({100, 3});
  CHECK(count([&] { s.run(fetch(loss, train), x = xs); }) == 0);
  const auto copied = loss;
  CHECK(count([&] { s.run(fetch(copied), x = xs); }) == 0);
  const auto step = s.prepare(fetch(loss, train), x = xs);
  CHECK(count(step) == 0);
}

TEST_CASE("nor does one of a network, whatever is fetched into arrays that fit") {
  const auto x = placeholder<"x", float, "batch", 64>();
  const auto labels = placeholder<"labels", std::int32_t, "batch">();
  const auto w1 = variable<"w1", float, 64, 128>(glorot_uniform(1));
  const auto b1 = variable<"b1", float, 128>(zeros);
  const auto w2 = variable<"w2", float, 128, 10>(glorot_uniform(2));
  const auto b2 = variable<"b2", float, 10>(zeros);
  const auto logits = matmul(relu(matmul(x, w1) + b1), w2) + b2;
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  const auto [d1, e1, d2, e2] = gradients(loss, w1, b1, w2, b2);
  const auto train = group(assign_sub(w1, 0.1f * d1), assign_sub(b1, 0.1f * e1), assign_sub(w2, 0.1f * d2), assign_sub(b2, 0.1f * e2));
  session s{loss, logits, train};
  s.initialize();
  const auto xs = filled<float, 2>({64, 64});
  const auto ls = filled<std::int32_t, 1>({64}, 0, 10);
  xt::xtensor<float, 2> into_array;
  CHECK(count([&] { s.run(fetch(loss, train), x = xs, labels = ls); }) == 0);
  CHECK(count([&] { s.run(fetch(into(logits, into_array), loss), x = xs, labels = ls); }) == 0);
  const auto step = s.prepare(fetch(loss, train), x = xs, labels = ls);
  CHECK(count(step) == 0);
}

TEST_CASE("nor does one of many small models with their Jacobians, of any number") {
  const auto check = [](const auto& x, std::size_t models) {
    const auto [z, slopes] = vmap([](const auto& position) {
      const auto east = index<0>(position);
      const auto north = index<1>(position);
      const auto measured = stack<0>(sqrt(square(east) + square(north)), atan2(north, east));
      return std::tuple(measured, jacobian(measured, position));
    })(x);
    session s{z, slopes};
    const auto xs = filled<double, 2>({models, 2});
    s.run(fetch(z, slopes), x = xs);
    std::vector<double> measured(2 * models), by_position(4 * models);
    const auto step = s.prepare(fetch(into(z, measured), into(slopes, by_position)), x = xs);
    step();
    CHECK(count(step) == 0);
  };
  check(placeholder<"x", double, 100, 2>(), 100);
  check(placeholder<"x", double, "models", 2>(), 100);
}
