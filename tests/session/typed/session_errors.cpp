// What is left of a run that fails, whose numbers count, and what becomes of arrays that are lent: nothing that is dead or of an
// earlier run may be read.
#include <leat/session/typed/session.hpp>

#include "support/check.hpp"
#include "support/messages.hpp"

#include <xtensor/xadapt.hpp>
#include <xtensor/xview.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("the numbers of what is asked for count") {
  const auto w = variable<"w", float>(1.0f);
  const auto b = variable<"b", float>(0.0f);
  const auto scale = parameter<"scale">(2.0f);
  const auto step_of = [&](float rate) { return assign_sub(w, rate * w); };
  const auto setting = [&](float value) { return assign(b, value); };
  const auto scaled_by = [&](const auto& number, const auto& variable) { return number * variable; };
  const auto step = step_of(0.1f);
  const auto scaled = scaled_by(scale, b);
  session s{step, setting(1.0f), scaled};
  s.initialize();
  s.run(fetch(step_of(0.0f)));
  CHECK(s.value(w) == 1.0f);
  const auto prepared = s.prepare(fetch(step_of(0.5f)));
  for (const float value : {3.0f, 4.0f, 5.0f}) {
    s.run(fetch(setting(value)));
    CHECK(s.value(b) == value);
  }
  s.run(fetch(step));
  CHECK(s.value(w) == 0.9f);
  prepared();
  CHECK(s.value(w) == 0.45f);
  s.run(fetch(step));
  CHECK(s.value(w) == doctest::Approx(0.405f));
  // of one number two values, and what the session has by its name
  const auto both = message_of<invalid_argument>([&] { s.run(fetch(setting(1.0f), setting(2.0f))); });
  CHECK_MESSAGE(says(both, "two values for one number"), both);
  const auto named = message_of<invalid_argument>([&] { s.run(fetch(scaled_by(parameter<"scale">(3.0f), b))); });
  CHECK_MESSAGE(says(named, "parameter \"scale\" starts from another number"), named);
  const auto other = variable<"b", float>(7.0f);
  const auto initial = message_of<invalid_argument>([&] { s.run(fetch(scaled_by(scale, other))); });
  CHECK_MESSAGE(says(initial, "variable \"b\" starts from another number"), initial);
  CHECK(std::get<0>(s.run(fetch(scaled))) == 10.0f);
  s.initialize(other);
  CHECK(s.value(b) == 7.0f);
  s.initialize();
  CHECK(s.value(b) == 0.0f);
}

TEST_CASE("numbers that a dtype does not hold are refused where they enter") {
  constexpr double large = 1e300;
  const auto x = placeholder<"x", float>();
  const auto bytes = placeholder<"bytes", std::uint8_t>();
  const auto whole = variable<"whole", std::int32_t>(0);
  const auto count = parameter<"count">(std::int32_t{1});
  const auto y = x * 1.0f;
  const auto moved = bytes + 1;
  const auto counted = whole + count;
  session s{y, moved, counted};
  s.initialize();
  const auto check = [&](const char* part, auto run) {
    const auto text = message_of<invalid_argument>(run);
    CHECK_MESSAGE(says(text, part), text);
  };
  check("feed of \"x\": the number 1e+300 does not fit the dtype float32", [&] { s.run(fetch(y), x = large); });
  check("feed of \"x\": the number 16777217 does not fit the dtype float32", [&] { s.run(fetch(y), x = 16777217); });
  check("feed of \"bytes\": the number -1 does not fit the dtype uint8", [&] { s.run(fetch(moved), bytes = -1); });
  check("feed of \"bytes\": the number 300 does not fit the dtype uint8", [&] { s.run(fetch(moved), bytes = 300); });
  check("feed of \"count\": the number 3000000000 does not fit the dtype int32", [&] { s.run(fetch(counted), count = 3000000000u); });
  check("variable \"whole\": the number 3000000000 does not fit the dtype int32", [&] { s.assign(whole, 3000000000u); });
  check("parameter \"count\": the number -3000000000 does not fit the dtype int32", [&] { s.assign(count, std::int64_t{-3000000000}); });
  check("variable \"w\": the number 1e+300 does not fit the dtype float32", [&] { static_cast<void>(variable<"w", float>(large)); });
  check("the number 1e+300 does not fit the dtype float32 of the expression beside it", [&] { static_cast<void>(large * x); });
  check("the number -1 does not fit the dtype uint8 of the expression beside it", [&] { static_cast<void>(-1 * bytes); });
  const auto wide = variable<"wide", float, 3>(random_uniform(-large, large));
  const auto first = variable<"first", float>(2.0f);
  session random{wide, first};
  check("variable \"wide\": the number -1e+300 does not fit the dtype float32", [&] { random.initialize(); });
  CHECK(random.uninitialized().size() == 2);
  // what can be held is: rounded to the nearest fraction, infinite where it was
  CHECK(std::get<0>(s.run(fetch(y), x = 16777216)) == 16777216.0f);
  CHECK(std::get<0>(s.run(fetch(y), x = 16777217.0)) == 16777216.0f);
  CHECK(std::get<0>(s.run(fetch(y), x = std::numeric_limits<double>::infinity())) == std::numeric_limits<float>::infinity());
  CHECK(std::get<0>(s.run(fetch(moved), bytes = 254)) == 255);
  CHECK(std::get<0>(s.run(fetch(counted))) == 1);
}

TEST_CASE("feeds own what has no name; prepared runs keep numbers and views") {
  const auto x = placeholder<"x", float, "n", 2>();
  const auto scale = parameter<"scale">(1.0f);
  const auto sum = reduce_sum(x) * scale;
  session s{sum};
  const auto make = [](float value) { return std::vector<float>(4, value); };
  const auto stored = x = make(2.0f);
  const auto number = scale = 3.0f;
  const auto noise = make(100.0f);  // takes the memory that a temporary left
  CHECK(std::get<0>(s.run(fetch(sum), stored, number)) == 24.0f);
  xt::xtensor<float, 2> xs({6, 2}, 1.0f);
  const auto rows = s.prepare(fetch(sum), x = xt::view(xs, xt::range(1, 3), xt::all()), scale = 10.0f);
  const auto elements = s.prepare(fetch(sum), x = std::span<const float>(xs.data(), 6), number);
  const auto columns = s.prepare(fetch(sum), x = xt::adapt(xs.data(), 4, xt::no_ownership(), std::array<std::size_t, 2>{2, 2}));
  const auto other = make(200.0f);
  CHECK(std::get<0>(rows()) == 40.0f);
  CHECK(std::get<0>(elements()) == 18.0f);
  CHECK(std::get<0>(columns()) == 4.0f);
  xs.fill(2.0f);
  CHECK(std::get<0>(rows()) == 80.0f);
  CHECK(std::get<0>(elements()) == 36.0f);
  CHECK(noise[0] + other[0] == 300.0f);
}

TEST_CASE("a fetch into an array that is fed") {
  const auto x = placeholder<"x", float, 3, 3>();
  const auto v = placeholder<"v", float, "n">();
  const auto turned = transpose(x);
  const auto square_of = matmul(x, x);
  const auto table = expand_dims<0>(v) * expand_dims<1>(v);
  session s{turned, square_of, table};
  const xt::xtensor<float, 2> xs{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  auto a = xs;
  s.run(fetch(into(turned, a)), x = a);
  check_each("turned", a, 0, [&](std::size_t i) { return xs(i % 3, i / 3); });
  a = xs;
  s.run(fetch(into(square_of, a)), x = a);
  check_close("product", a, std::get<0>(s.run(fetch(square_of), x = xs)), 0);
  // it becomes larger, so that it lies elsewhere: fed whole, and in part
  std::vector<float> values{1, 2, 3};
  s.run(fetch(into(table, values)), v = values);
  CHECK(values == std::vector<float>{1, 2, 3, 2, 4, 6, 3, 6, 9});
  s.run(fetch(into(table, values)), v = std::span<const float>(values).subspan(5));
  CHECK(values == std::vector<float>{36, 18, 36, 54, 18, 9, 18, 27, 36, 18, 36, 54, 54, 27, 54, 81});
  a = xs;
  const auto twice = message_of<invalid_argument>([&] { s.run(fetch(into(turned, a), into(square_of, a)), x = xs); });
  CHECK_MESSAGE(says(twice, "into the same memory"), twice);
  check_close("as before", a, xs, 0);
}

TEST_CASE("nothing along an axis, and divisors of 0") {
  const auto x = placeholder<"x", float, "n", 2>();
  const auto i = placeholder<"i", std::int32_t, "k">();
  const auto d = placeholder<"d", std::int32_t>();
  const auto runs = variable<"runs", std::int64_t>(0);
  const auto largest = argmax<0>(x);
  const auto quotients = i / d;
  const auto rests = floor_mod(7, i);
  const auto halves = floor_divide(i, 2);
  const auto one_more = assign_add(runs, 1);
  session s{largest, quotients, rests, halves, one_more};
  s.initialize();
  const xt::xtensor<float, 2> nothing({0, 2}), some({3, 2}, 1.0f);
  const std::vector<std::int32_t> is{-7, 7, 0}, none;
  const auto empty = message_of<invalid_argument>([&] { s.run(fetch(largest, one_more), x = nothing); });
  CHECK_MESSAGE(says(empty, "ArgMax: Reduction axis 0 is empty"), empty);
  const auto zero = message_of<invalid_argument>([&] { s.run(fetch(quotients, one_more), i = is, d = 0); });
  CHECK_MESSAGE(says(zero, "Integer division by zero"), zero);
  const auto third = message_of<invalid_argument>([&] { s.run(fetch(rests, one_more), i = is); });
  CHECK_MESSAGE(says(third, "element 2 of the divisor is 0"), third);
  CHECK_THROWS_AS(static_cast<void>(i / 0), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(truncate_mod(i, 0)), invalid_argument);
  CHECK(s.value(runs) == 0);
  CHECK(std::get<0>(s.run(fetch(quotients, one_more), i = none, d = 0)).size() == 0);  // nothing is divided
  CHECK(std::get<0>(s.run(fetch(largest, one_more), x = some)) == xt::xtensor<std::int64_t, 1>{0, 0});
  CHECK(std::get<0>(s.run(fetch(halves), i = is)) == xt::xtensor<std::int32_t, 1>{-4, 3, 0});
  CHECK(s.value(runs) == 2);
}

// Sessions that went through runs that failed and runs that did not, against sessions that are new.
TEST_CASE("after any sequence of runs a session does what a new one does") {
  const auto x = placeholder<"x", float, "n", 3>();
  const auto picks = placeholder<"picks", std::int32_t, "k">();
  const auto divisors = placeholder<"divisors", std::int32_t, "k">();
  const auto rate = parameter<"rate">(0.5f);
  const auto w = variable<"w", float, 3>(ones);
  const auto counter = variable<"counter", std::int32_t>(1);
  const auto model = [&](float number) {
    return std::make_pair(reduce_sum(x * w) * rate + number, assign_sub(w, number * rate * reduce_mean<0>(x)));
  };
  const auto [loss, train] = model(0.25f);
  const auto scaled = x * w * rate;
  const auto picked = gather(w, picks);
  const auto quotients = picks / divisors;
  const auto count = assign_add(counter, 1);
  const auto make_session = [&] {
    return std::make_unique<
        session<std::remove_const_t<decltype(loss)>, std::remove_const_t<decltype(train)>, std::remove_const_t<decltype(scaled)>,
                std::remove_const_t<decltype(picked)>, std::remove_const_t<decltype(quotients)>, std::remove_const_t<decltype(count)>>>(
        loss, train, scaled, picked, quotients, count);
  };
  struct state {
    std::optional<xt::xtensor<float, 1>> w;
    std::optional<std::int32_t> counter;
    bool operator==(const state&) const = default;
  };
  const auto state_of = [&](const auto& s) {
    state now;
    if (s.is_initialized(w)) now.w = s.value(w);
    if (s.is_initialized(counter)) now.counter = s.value(counter);
    return now;
  };
  std::mt19937 draw(20261122);
  const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
  int failed = 0;
  for (int sequence = 0; sequence < 40; ++sequence) {
    const auto used = make_session();
    float current = 0.5f;
    xt::xtensor<float, 2> lent({2, 3}, 1.0f);
    const auto prepared = used->prepare(fetch(loss, train), x = lent);
    for (int k = 0; k < 30; ++k) {
      const auto before = state_of(*used);
      const auto fresh = make_session();
      if (before.w) fresh->assign(w, *before.w);
      if (before.counter) fresh->assign(counter, *before.counter);
      fresh->assign(rate, current);
      // what the run is given: each part may be wrong
      const auto rows = static_cast<std::size_t>(1 + below(3));
      const std::size_t columns = below(5) == 0 ? 4 : 3;
      const xt::xtensor<float, 2> xs = filled<float, 2>({rows, columns});
      const std::vector<float> flat(rows * 3 + (below(5) == 0 ? 1 : 0), static_cast<float>(k));
      const std::vector<std::int32_t> indices{below(3), below(6) == 0 ? 3 : 2, below(8) == 0 ? -1 : 1};
      const std::vector<std::int32_t> by{1, below(4) == 0 ? 0 : 2, 3};
      const double fed = below(5) == 0 ? 1e39 : 0.125 * below(8);
      const float number = 0.25f * static_cast<float>(below(3));
      const int kind = below(10);
      lent = filled<float, 2>({rows, columns}, -1, 1, static_cast<unsigned>(k));
      const auto act = [&](auto& s, std::vector<double>& out) {
        const auto put = [&](const auto& values) {
          if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(values)>>)
            out.push_back(static_cast<double>(values));
          else
            for (const auto v : values) out.push_back(static_cast<double>(v));
        };
        switch (kind) {
          case 0: put(std::get<0>(s.run(fetch(loss, train), x = xs))); break;
          case 1: put(std::get<0>(s.run(fetch(loss, train), rate = fed, x = flat))); break;
          case 2: {
            const auto [l, t] = model(number);
            put(std::get<0>(s.run(fetch(l, t), x = flat)));
            break;
          }
          case 3: put(std::get<0>(s.run(fetch(picked, count), picks = indices))); break;
          case 4: put(std::get<0>(s.run(fetch(quotients, count), picks = indices, divisors = by))); break;
          case 5: {
            xt::xtensor<float, 2> to;
            s.run(fetch(into(scaled, to)), x = xs, rate = fed);
            put(to);
            break;
          }
          case 6: {
            auto both = xs;  // read and written
            s.run(fetch(into(scaled, both)), x = both);
            put(both);
            break;
          }
          case 7: s.initialize(); break;
          case 8: s.assign(rate, fed); break;
          case 9: put(std::get<0>(&s == used.get() ? prepared() : s.run(fetch(loss, train), x = lent))); break;
        }
      };
      std::vector<double> got, expected;
      std::string refusal, expected_refusal;
      try {
        act(*used, got);
      } catch (const leat::error& e) {
        refusal = e.what();
      }
      try {
        act(*fresh, expected);
      } catch (const leat::error& e) {
        expected_refusal = e.what();
      }
      INFO("sequence " << sequence << ", run " << k << " of kind " << kind);
      REQUIRE(refusal == expected_refusal);
      REQUIRE(got == expected);
      REQUIRE((state_of(*used) == state_of(*fresh)));
      if (!refusal.empty()) {
        REQUIRE((state_of(*used) == before));
        ++failed;
      } else if (kind == 8) {
        current = static_cast<float>(fed);
      }
    }
  }
  CHECK(failed > 200);
  CHECK(failed < 1000);
}
