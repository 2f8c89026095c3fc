// Random typed programs: a dynamic session gives the bytes of the compiled one, fused; node by node it gives the same but for
// rounding. Compiled without contraction of a b + c, which a compiled cluster may do across operators.

#include <leat/session/graph_session.hpp>

#include "support/agreement.hpp"
#include "support/check.hpp"
#include "support/random_expressions.hpp"

#include <leat/cpu/parallel.hpp>

using namespace leat;
using namespace leat_test;

namespace {

template <unsigned Seed, int Columns>
void check_random() {
  using in = random_leaves<Columns>;
  const auto [p, q, r, t, needs] = random_results<Seed, Columns>();
  session compiled{p, q, r, t, needs};
  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(p, q, r, t, needs);
  graph_session fused(g), plain(g, {.fuse = false});
  for (const std::size_t size : {std::size_t{5}, std::size_t{1}, std::size_t{64}, std::size_t{1003}}) {
    const random_arrays a(size, Columns);
    CAPTURE(Seed);
    CAPTURE(Columns);
    CAPTURE(size);
    const auto values =
        compiled.run(fetch(p, q, r, t, needs), in::x = a.x, in::y = a.y, in::row = a.row, in::column = a.column, in::s = a.s);
    const feed_list feeds{{"x", a.x}, {"y", a.y}, {"row", a.row}, {"column", a.column}, {"s", a.s}};
    std::vector<tensor_value> first;
    for (const int threads : {1, 2}) {
      cpu::set_thread_count(threads);
      const auto results = fused.run(made, feeds);
      CHECK(distance(results[0], std::get<0>(values)) == 0);
      CHECK(distance(results[1], std::get<1>(values)) == 0);
      // rows of one element: knowing all sizes, the dynamic session sums over one loop what the compiled one sums over two
      CHECK(distance(results[2], std::get<2>(values)) <= (Columns == 1 ? 1e-6 : 0));
      CHECK(distance(results[3], std::get<3>(values)) == 0);
      CHECK(distance(results[4], std::get<4>(values)) == 0);
      const auto apart = plain.run(made, feeds);
      CHECK(distance(apart[0], std::get<0>(values)) < 1e-5);
      CHECK(distance(apart[1], std::get<1>(values)) < 1e-5);
      CHECK(distance(apart[2], std::get<2>(values)) < 1e-4);
      CHECK(distance(apart[3], std::get<3>(values)) < 1e-4);
      CHECK(distance(apart[4], std::get<4>(values)) < 1e-5);
      if (first.empty()) first = apart;
      for (std::size_t k = 0; k < apart.size(); ++k) CHECK(std::memcmp(apart[k].data(), first[k].data(), apart[k].bytes()) == 0);
    }
    cpu::set_thread_count(1);
  }
  CHECK(fused.fused_runs() == 8);
  CHECK(plain.fused_runs() == 0);
}

}  // namespace

TEST_CASE("random programs") {
  check_random<21, 3>();
  check_random<22, 37>();
  check_random<23, 100>();
  check_random<24, 64>();
  check_random<25, 1>();
  check_random<26, 300>();
}
