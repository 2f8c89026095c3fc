// The library's tables are filled when they are first used, in a program all of whose sources compile the library: a graph runs here that has
// nodes of a source which only makes them, with kernels of another which only registers them, before main.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include <cstdio>
#include <string>

leat::output summary_of(const leat::output& x);

int main() {
  using namespace leat;
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2}, "x");
  const auto loss = reduce_sum(square(relu(x)));
  const auto slope = reduce_sum(gradients({loss}, {x})[0]);
  const auto text = summary_of(loss);
  const auto own = reduce_sum(call_operator(g, "FilledTablesOwn", {x}).result());
  const auto rank = call_operator(g, "Rank", {x}).result();
  graph_session s(g);
  const feed_list feeds{{x, {3.0f, -1.0f}}};
  const bool right = s.run<float>(slope, feeds) == 6.0f && s.run<std::string>(text, feeds).size() == 13 && s.run<float>(own, feeds) == 2.0f &&
                     s.run<std::int32_t>(rank, feeds) == 1;
  if (!right) std::printf("wrong results\n");
  return right ? 0 : 1;
}
