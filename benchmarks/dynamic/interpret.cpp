// bench_interpret [filter]: programs run by the interpreter against the same programs compiled into the binary, in pairs, on
// one thread; results must agree. The last cases have no rival: nanoseconds a node of chains of scalar additions.

#include "../rivals/fused.hpp"
#include "../rivals/linear.hpp"

#include "../../tests/support/interpreted.hpp"

#include <leat/cpu/interpret.hpp>
#include <leat/leat.hpp>
#include <xtensor/xadapt.hpp>

#include "environment.hpp"
#include "network_model.hpp"
#include "suite.hpp"

#include <cstdio>
#include <cstring>

namespace bench {
namespace {

using leat_test::interpreted;

template <int N>
void compare_fused(suite& cases, const std::string& name) {
  using namespace leat;
  using namespace leat::literals;
  const fused_data data(N);
  const auto array = [](const buffer& values) {
    return xt::adapt(values.data(), values.size(), xt::no_ownership(), std::array{values.size()});
  };
  const auto as = array(data.a), bs = array(data.b), cs = array(data.c), ds = array(data.d);
  buffer results(N), compiled_results(N);
  auto out = xt::adapt(compiled_results.data(), compiled_results.size(), xt::no_ownership(), std::array{compiled_results.size()});

  auto a = placeholder<"a", float, N>();
  auto b = placeholder<"b", float, N>();
  auto c = placeholder<"c", float, N>();
  auto d = placeholder<"d", float, N>();
  auto result = tanh(a * b + c) * sigmoid(d) - 0.5_c * a;
  session s{result};
  auto step = s.prepare(leat::fetch(into(result, out)), a = as, b = bs, c = cs, d = ds);
  interpreted code(leat::fetch(result));
  code.bind(a, data.a.data());
  code.bind(b, data.b.data());
  code.bind(c, data.c.data());
  code.bind(d, data.d.data());
  code.fetch(0, results.data());
  cases.compare(name, 2e-6, contend("interpreted", [] {}, [&] { code.step().run(); }, [&] { return joined(results); }),
                {contend("compiled", [] {}, [&] { step(); }, [&] { return joined(compiled_results); })});
}

template <int N>
void compare_linear(suite& cases, const std::string& name) {
  using namespace leat;
  using namespace leat::literals;
  const linear_data data(N);
  xt::xtensor<float, 1> xs = xt::adapt(data.x.data(), {N}), ys = xt::adapt(data.y.data(), {N});
  float last_loss = 0;

  auto x = placeholder<"x", float, N>();
  auto y = placeholder<"y", float, N>();
  auto w = variable<"w", float>(zeros);
  auto b = variable<"b", float>(zeros);
  auto loss = reduce_mean(square(w * x + b - y));
  auto train = gradient_descent(0.01_c).minimize(loss);
  session s{loss, train};
  auto step = s.prepare(leat::fetch(loss, train), x = xs, y = ys);
  const auto compiled = contend(
      "compiled",
      [&] {
        s.assign(w, linear_start_w);
        s.assign(b, linear_start_b);
      },
      [&] { last_loss = std::get<0>(step()); },
      [&] {
        return std::vector<float>{s.value(w), s.value(b), last_loss};
      });
  float our_w = 0, our_b = 0, our_loss = 0;
  interpreted code(leat::fetch(loss, train));
  code.bind(x, xs.data());
  code.bind(y, ys.data());
  code.bind(w, &our_w);
  code.bind(b, &our_b);
  code.fetch(0, &our_loss);
  s.assign(w, linear_start_w);
  s.assign(b, linear_start_b);
  cases.compare(name, 1e-5,
                contend(
                    "interpreted",
                    [&] {
                      our_w = linear_start_w;
                      our_b = linear_start_b;
                    },
                    [&] { code.step().run(); },
                    [&] {
                      return std::vector<float>{our_w, our_b, our_loss};
                    }),
                {compiled});
}

void compare_network(suite& cases, const std::string& name) {
  using namespace leat;
  using namespace leat::literals;
  const network_data data;
  using of = network_leaves;
  const network_arrays in(data);
  const auto loss = network_loss();
  const auto train = gradient_descent(0.01_c).minimize(loss);

  // aligned as a session's storage is
  buffer v1(784 * 256), v2(256 * 128), v3(128 * 10), c1(256), c2(128), c3(10);
  float our_loss = 0;
  interpreted code(leat::fetch(loss, train));
  code.bind(of::x, in.x.data());
  code.bind(of::y, in.labels.data());
  code.bind(of::w1, v1.data());
  code.bind(of::w2, v2.data());
  code.bind(of::w3, v3.data());
  code.bind(of::b1, c1.data());
  code.bind(of::b2, c2.data());
  code.bind(of::b3, c3.data());
  code.fetch(0, &our_loss);
  const auto ours = contend(
      "interpreted",
      [&] {
        std::copy(in.start1.begin(), in.start1.end(), v1.begin());
        std::copy(in.start2.begin(), in.start2.end(), v2.begin());
        std::copy(in.start3.begin(), in.start3.end(), v3.begin());
        std::fill(c1.begin(), c1.end(), 0.0f);
        std::fill(c2.begin(), c2.end(), 0.0f);
        std::fill(c3.begin(), c3.end(), 0.0f);
      },
      [&] { code.step().run(); }, [&] { return joined(std::vector<float>{our_loss}, v1, c1, v2, c2, v3, c3); });
  with_compiled_network("compiled", in, train, [&](const contender& compiled) { cases.compare(name, 1e-4, ours, {compiled}); });
}

template <int Rows, int Columns>
void compare_softmax(suite& cases, const std::string& name) {
  using namespace leat;
  auto x = placeholder<"x", float, Rows, Columns>();
  auto result = softmax(x);
  xt::xtensor<float, 2> xs = xt::xtensor<float, 2>::from_shape({Rows, Columns});
  for (std::size_t i = 0; i < xs.size(); ++i) xs.data()[i] = static_cast<float>(i * 7919 % 1000) / 250 - 2;
  xt::xtensor<float, 2> out = xs, ours = xs;
  session s{result};
  auto step = s.prepare(leat::fetch(into(result, out)), x = xs);
  interpreted code(leat::fetch(result));
  code.bind(x, xs.data());
  code.fetch(0, ours.data());
  cases.compare(name, 2e-6, contend("interpreted", [] {}, [&] { code.step().run(); }, [&] { return joined(ours); }),
                {contend("compiled", [] {}, [&] { step(); }, [&] { return joined(out); })});
}

template <int Rows, int Columns>
void compare_bias(suite& cases, const std::string& name) {
  using namespace leat;
  auto x = placeholder<"x", float, Rows, Columns>();
  auto b = placeholder<"b", float, Columns>();
  auto c = placeholder<"c", float, Rows, 1>();
  auto result = relu(x + b) * c;
  xt::xtensor<float, 2> xs = xt::xtensor<float, 2>::from_shape({Rows, Columns});
  xt::xtensor<float, 1> bs = xt::xtensor<float, 1>::from_shape({Columns});
  xt::xtensor<float, 2> cs = xt::xtensor<float, 2>::from_shape({Rows, 1});
  for (std::size_t i = 0; i < xs.size(); ++i) xs.data()[i] = static_cast<float>(i * 7919 % 1000) / 250 - 2;
  for (std::size_t i = 0; i < bs.size(); ++i) bs.data()[i] = static_cast<float>(i % 5) / 5;
  for (std::size_t i = 0; i < cs.size(); ++i) cs.data()[i] = static_cast<float>(i % 7) / 7;
  xt::xtensor<float, 2> out = xs, ours = xs;
  session s{result};
  auto step = s.prepare(leat::fetch(into(result, out)), x = xs, b = bs, c = cs);
  interpreted code(leat::fetch(result));
  code.bind(x, xs.data());
  code.bind(b, bs.data());
  code.bind(c, cs.data());
  code.fetch(0, ours.data());
  cases.compare(name, 2e-6, contend("interpreted", [] {}, [&] { code.step().run(); }, [&] { return joined(ours); }),
                {contend("compiled", [] {}, [&] { step(); }, [&] { return joined(out); })});
}

// One addition after the other, of two numbers that are fed.
void time_chain(suite& cases, const std::string& name, int nodes, double seconds) {
  if (!cases.wants(name)) return;
  using namespace leat;
  graph g;
  const auto a = placeholder<"a", float>();
  const auto b = placeholder<"b", float>();
  const output first{g, flatten<decltype(a)>(g)};
  output sum{g, flatten<decltype(b)>(g)};
  for (int k = 0; k < nodes; ++k) sum = sum + first;
  const cpu::interpreter code(passes::compile(g, {sum.index()}));
  cpu::bound_program step(code);
  float one = 1, start = 0, result = 0;
  for (int b2 = 0; b2 < code.view().buffers(); ++b2) {
    const auto info = code.view().buffer_at(b2);
    if (info.where == storage::feed) step.bind(b2, info.id == decltype(a)::identity::hash ? &one : &start);
  }
  step.bind(code.view().fetch(0), &result);
  step.run();
  if (result != static_cast<float>(nodes)) std::printf("%s: wrong result %g\n", name.c_str(), static_cast<double>(result));
  auto run = [&] { step.run(); };
  double best = 1;
  const long calls = std::max(1L, 200'000L / nodes);
  for (double spent = 0; spent < seconds;) {
    const double t = seconds_of(run, calls);
    spent += t;
    best = std::min(best, t / static_cast<double>(calls));
  }
  std::printf("%-16s %8.1f ns a run, %6.2f ns a node\n", name.c_str(), best * 1e9, best * 1e9 / nodes);
}

}  // namespace
}  // namespace bench

int main(int count, char** arguments) try {
  bench::options settings;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--seconds") == 0 && i + 1 < count)
      settings.seconds = std::strtod(arguments[++i], nullptr);
    else if (std::strcmp(arguments[i], "--json") == 0 && i + 1 < count)
      settings.json = arguments[++i];
    else
      settings.filter = arguments[i];
  }
  bench::prepare_environment(arguments);
  const leat::denormals_as_zero flushed;  // as the rivals are timed, too
  bench::suite cases(settings);
  using bench::on_one_thread;
  on_one_thread(cases, "fused_1e3", [&](const std::string& name) { bench::compare_fused<1'000>(cases, name); });
  on_one_thread(cases, "fused_1e5", [&](const std::string& name) { bench::compare_fused<100'000>(cases, name); });
  on_one_thread(cases, "fused_1e7", [&](const std::string& name) { bench::compare_fused<10'000'000>(cases, name); });
  on_one_thread(cases, "linear_1", [&](const std::string& name) { bench::compare_linear<1>(cases, name); });
  on_one_thread(cases, "linear_100", [&](const std::string& name) { bench::compare_linear<100>(cases, name); });
  on_one_thread(cases, "network_sgd", [&](const std::string& name) { bench::compare_network(cases, name); });
  on_one_thread(cases, "softmax_64x10", [&](const std::string& name) { bench::compare_softmax<64, 10>(cases, name); });
  on_one_thread(cases, "softmax_64x1000", [&](const std::string& name) { bench::compare_softmax<64, 1000>(cases, name); });
  on_one_thread(cases, "bias_64x3", [&](const std::string& name) { bench::compare_bias<64, 3>(cases, name); });
  on_one_thread(cases, "bias_64x256", [&](const std::string& name) { bench::compare_bias<64, 256>(cases, name); });
  bench::time_chain(cases, "chain_10", 10, settings.seconds);
  bench::time_chain(cases, "chain_1000", 1000, settings.seconds);
  return cases.finish();
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_interpret: %s\n", error.what());
  return 1;
}
