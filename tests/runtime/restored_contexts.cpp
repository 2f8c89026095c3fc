// Branches and loops of graphs that were read from files: their gradients are those of the graph that was written, and what is no such loop
// is read as before.

#include <leat/io/text.hpp>

#include "support/graph_text.hpp"
#include "support/messages.hpp"
#include "support/node_results.hpp"

namespace restored_contexts_test {

using namespace leat;
using namespace node_results;

/// A function's result and its gradient, in the graph that was written, and in one that was read.
template <class F>
void check_same(F f) {
  graph g;
  const tensor_value x = tensor_of(dtype::float64, {2, 3}, random_values(6));
  number_list wanted;
  graph_def def;
  {
    const auto scope = g.as_default();
    const output in = placeholder(dtype::float64, {2, 3}, "x"), y = identity(f(in), "y");
    def = export_graph(g);
    const output dx = gradients({reduce_sum(square(y))}, {in})[0];
    wanted = list_of(graph_session(g).run({dx}, {{in, x}})[0]);
  }
  graph other;
  const auto scope = other.as_default();
  for (const char* prefix : {"", "again"}) {
    const std::string before = *prefix == '\0' ? "" : std::string(prefix) + "/";
    import_graph(other, def, {.name = prefix});
    const output in = get_tensor_by_name(other, before + "x:0"), y = get_tensor_by_name(other, before + "y:0");
    const output dx = gradients({reduce_sum(square(y))}, {in})[0];
    REQUIRE(static_cast<bool>(dx));
    for (const bool fuse : {true, false}) check_near(list_of(graph_session(other, {.fuse = fuse}).run({dx}, {{in, x}})[0]), wanted, 1e-12);
  }
}
std::string outcome_of(const std::string& text) {
  return leat_test::message_of<error>([&] {
    graph g;
    const auto scope = g.as_default();
    import_graph(g, leat_test::graph_text(text).parse(), {.name = ""});
    static_cast<void>(gradients({get_tensor_by_name(g, "y:0")}, {get_tensor_by_name(g, "x:0")}));
  });
}
const std::string start =
    "x = Placeholder dtype=float32 shape=[]\nzero = Const int32[]{0}\nn = Const int32[]{3}\nei = Enter(zero) frame_name=\"f\"\n"
    "ex = Enter(x) frame_name=\"f\"\nen = Enter(n) frame_name=\"f\" is_constant=true\nmi = Merge(ei, ni)\nmx = Merge(ex, nx)\n"
    "less = Less(mi, en)\nc = LoopCond(less)\nsi = Switch(mi, c)\nsx = Switch(mx, c)\nii = Identity(si:1)\nix = Identity(sx:1)\n"
    "one = Const(^ii) int32[]{1}\nadd = AddV2(ii, one)\nsquare = Mul(ix, ix)\nni = NextIteration(add)\n";

TEST_CASE("gradients of loops and branches of a file are those of the graph that was written") {
  check_same([](const output& x) {
    return while_loop([](output i, output) { return i < 3; },
                      [&](output i, output v) {
                        return std::array{i + 1, v * x + sin(v)};
                      },
                      {0, x})[1];
  });
  // A branch in a loop, which uses values from outside.
  check_same([](const output& x) {
    const output w = x * 0.5;
    return while_loop([](output i, output) { return i < 4; },
                      [&](output i, output v) {
                        return std::array{i + 1, cond(
                                                     equal(floor_mod(i, 2), 0), [&] { return v * w; }, [&] { return v + exp(w) * v; })};
                      },
                      {0, x})[1];
  });
  // A loop in a loop, and a branch in it.
  check_same([](const output& x) {
    return while_loop([](output i, output) { return i < 2; },
                      [&](output i, output v) {
                        const auto inner =
                            while_loop([&](output j, output) { return j <= i; },
                                       [&](output j, output w) {
                                         return std::array{j + 1, cond(
                                                                      equal(j, 0), [&] { return w * v; }, [&] { return tanh(w) * x; })};
                                       },
                                       {0, v});
                        return std::array{i + 1, inner[1] + v};
                      },
                      {0, x})[1];
  });
  // A loop in a branch, and two branches of one predicate, one after the other.
  check_same([](const output& x) {
    const output is_more = reduce_sum(square(x)) > 0.001;
    const output v = cond(
        is_more,
        [&] {
          return while_loop([](output i, output) { return i < 3; },
                            [&](output i, output u) {
                              return std::array{i + 1, u * x};
                            },
                            {0, x})[1];
        },
        [&] { return x * 2.0; });
    return v * cond(
                   is_more,
                   [&] {
                     return cond(
                         logical_not(is_more), [&] { return x; }, [&] { return x * 3.0; });
                   },
                   [&] { return exp(x); });
  });
}

TEST_CASE("what is no loop that a gradient runs back through is read, and refused") {
  const std::string whole = start + "nx = NextIteration(square)\ny = Exit(sx)\nleft = Exit(si)\n";
  CHECK(outcome_of(whole) == "nothing was thrown");
  const std::string refused = "read from a file";
  // A variable whose value does not leave the loop would lose its gradient.
  CHECK(leat_test::says(outcome_of(start + "ey = Enter(x) frame_name=\"f\"\nmy = Merge(ey, ny)\nsy = Switch(my, c)\niy = Identity(sy:1)\n"
                                        "product = Mul(ix, iy)\nny = NextIteration(product)\nnx = NextIteration(product)\ny = Exit(sx)\n"),
                        refused));
  // Two conditions, a Merge of one side, a Switch for both sides, and no body.
  CHECK(leat_test::says(outcome_of(whole + "d = LoopCond(less)\n"), refused));
  CHECK(leat_test::says(
      outcome_of(start + "p = Less(ii, one)\na = Switch(ix, p)\nb = Mul(a:1, a:1)\nm = Merge(a:0, b)\nnx = NextIteration(m)\ny = Exit(sx)\n"),
      refused));
  CHECK(leat_test::says(
      outcome_of(start + "p = Less(ii, one)\na = Switch(ix, p)\nb = Mul(a:1, a:1)\nm = Merge(b, b)\nnx = NextIteration(m)\ny = Exit(sx)\n"),
      refused));
  // Many branches in each other.
  std::string deep = "x = Placeholder dtype=float32 shape=[]\np0 = Placeholder dtype=bool shape=[]\nv0 = Identity(x)\n";
  for (int k = 0; k < 400; ++k) {
    const std::string a = std::to_string(k), b = std::to_string(k + 1);
    deep += "s" + a + " = Switch(p" + a + ", p" + a + ")\nt" + a + " = Identity(s" + a + ":1)\nw" + a + " = Switch(v" + a + ", p" + a +
            ")\nv" + b + " = Identity(w" + a + ":1)\nq" + a + " = Switch(p" + a + ", p" + a + ")\np" + b + " = Identity(q" + a + ":1)\n";
  }
  CHECK(outcome_of(deep + start.substr(start.find('\n') + 1) + "nx = NextIteration(square)\ny = Exit(sx)\n").size() > 0);
}

}  // namespace restored_contexts_test
