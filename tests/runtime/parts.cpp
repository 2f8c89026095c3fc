// Runs of which only parts can be programs: branches, loops, random numbers, queues and host functions between what is computed.

#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/named/control/control.hpp>
#include <leat/named/control/loop.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/functions/host_function.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <cmath>
#include <random>
#include <sstream>

using namespace leat;

namespace {

tensor_value ramp(std::int64_t rows, std::int64_t columns) {
  tensor_value made(dtype::float32, shape{2, {rows, columns}});
  int k = 0;
  for (float& v : made.values<float>()) v = std::sin(0.37f * static_cast<float>(++k));
  return made;
}
bool close(const tensor_value& a, const tensor_value& b) {
  if (a.type() != b.type() || !(a.extent() == b.extent())) return false;
  if (a.type() != dtype::float32) return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
  const auto x = a.values<float>(), y = b.values<float>();
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(std::abs(x[i] - y[i]) <= 1e-4f * (1 + std::abs(y[i]))) && !(std::isnan(x[i]) && std::isnan(y[i]))) return false;
  return true;
}
// Fetches run in parts and node by node; gives how many parts ran.
std::int64_t check_both_ways(graph& g, const std::vector<output>& fetches, const feed_list& feeds, int runs = 2) {
  graph_session parts(g), nodes(g, {.fuse = false});
  const graph_operation start = global_variables_initializer();
  parts.run(start);
  nodes.run(start);
  for (int k = 0; k < runs; ++k) {
    const auto a = parts.run(fetches, feeds), b = nodes.run(fetches, feeds);
    for (std::size_t i = 0; i < a.size(); ++i)
      CHECK_MESSAGE(close(a[i], b[i]), "fetch ", fetches[i].name(), " in run ", k, ": ", summary_text(a[i]), " is not ",
                    summary_text(b[i]));
  }
  CHECK(nodes.fused_parts() == 0);
  return parts.fused_parts();
}

// Graphs of 3 x 3 matrices with branches, loops, random numbers and host functions in each other, all from a number. What is
// decided hangs on what is fed: on computed numbers, rounding could decide it.
class random_program {
 public:
  random_program(unsigned seed, output signs) : draw_(seed), signs_(signs) {}

  output value(std::vector<output> have, int depth) {
    for (int k = 0; k < 6; ++k) have.push_back(step(have, depth));
    return (have.back() + one_of(have)) * 0.5f;
  }

 private:
  int below(int n) { return static_cast<int>(draw_() % static_cast<unsigned>(n)); }
  output one_of(const std::vector<output>& have) { return have[static_cast<std::size_t>(below(static_cast<int>(have.size())))]; }
  output step(const std::vector<output>& have, int depth) {
    const output a = one_of(have), b = one_of(have);
    switch (below(depth > 0 ? 15 : 11)) {
      case 0: return tanh(a + b);
      case 1: return a * sigmoid(b) - 0.25f;
      case 2: return tanh(matmul(a, b));
      case 3: return a - reduce_mean(b, {below(2)}, keep_dims::yes);
      case 4: return maximum(a, transpose(b) * 0.5f);
      case 5: return reshape(slice(reshape(a, {9}), {3}, {3}), {1, 3}) + b * constant({{0.5f}, {-0.5f}, {1.0f}});
      case 6: return tanh(a + random_uniform_of(shape{2, {3, 3}}, dtype::float32, 1 + static_cast<std::uint64_t>(below(1000))));
      case 7: {
        if (depth < 2) return a - b * 0.25f;  // loops go ahead of nodes that wait, and random numbers may meet iterations in another order
        const auto same = [](std::span<const tensor_literal> in) { return std::vector<tensor_literal>(in.begin(), in.end()); };
        const output given = host_function(same, {a}, {dtype::float32}).outputs()[0];
        return tanh(reshape(given, {3, 3})) + b * 0.125f;
      }
      case 8: return reshape(tanh(a), shape_of(b)) * 0.5f;
      case 9: return call_operator(default_graph(), "Fill", {shape_of(a), constant(0.25f)}).result() + b;
      case 10: return select(greater(reshape(signs_, {3, 3}), constant(0.0f)), a, b * 0.5f);
      case 11:
      case 12: {
        const output p = gather(signs_, constant(below(9))) > 0.0f;
        return cond(p, [&] { return value(have, depth - 1); }, [&] { return value(have, depth - 1); });
      }
      default: {
        const int times = 1 + below(3);
        const bool two = below(2) == 0;
        const auto last = while_loop([&](output i, output, output) { return i < times; },
                                     [&](output i, output x, output y) {
                                       std::vector<output> inside = have;
                                       inside.push_back(x);
                                       inside.push_back(y);
                                       const output next = value(inside, depth - 1);
                                       return std::array{i + 1, next, two ? value(inside, depth - 1) : y};
                                     },
                                     {0, a, b});
        return last[1] + last[2] * 0.5f;
      }
    }
  }
  std::mt19937 draw_;
  output signs_;
};

}  // namespace

TEST_CASE("a loop's body and its condition") {
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, 3}, "x");
  const auto last = while_loop([](output i, output a) { return i < 5 && reduce_sum(a * a, {0, 1}) < 1e6f; },
                               [&](output i, output a) {
                                 return std::array{i + 1, tanh(a * 2.0f + x) - reduce_mean(a, {0}, keep_dims::yes)};
                               },
                               {0, x});
  // one run of the body in each iteration, one of the condition in each and the last
  CHECK(check_both_ways(g, {last[0], last[1]}, {{x, ramp(4, 3)}}, 1) == 5 + 6);
}

TEST_CASE("both branches, what follows them, and what neither needs") {
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, 3}, "x");
  const output p = placeholder(dtype::boolean, {}, "p"), q = placeholder(dtype::boolean, {}, "q");
  const output either = cond(p, [&] { return tanh(x * 2.0f) + 1.0f; },
                             [&] { return cond(q, [&] { return exp(x) * x; }, [&] { return (x - 3.0f) * 0.5f + x; }); });
  const output second = cond(q, [&] { return square(either) - x; }, [&] { return maximum(either, x) + 7.0f; });
  const output all = either * second + reduce_sum(second, {1}, keep_dims::yes) * x;
  for (const bool first : {true, false})
    for (const bool other : {true, false}) {
      const auto parts = check_both_ways(g, {either, second, all}, {{x, ramp(5, 3)}, {p, first}, {q, other}}, 3);
      CHECK(parts == 3 * 3);  // a branch of the first, one of the second, what is after
    }
}

TEST_CASE("gradients through loops and branches") {
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, 3}, "x");
  const output w = variable({{0.2f, -0.1f, 0.4f}, {0.3f, 0.5f, -0.2f}, {0.1f, 0.2f, 0.3f}}, "w");
  const auto state = while_loop([](output i, output) { return i < 4; },
                                [&](output i, output a) {
                                  const output moved = tanh(matmul(a, w) + x * 0.1f);
                                  return std::array{i + 1, cond(reduce_sum(moved, {0, 1}) > 0.0f, [&] { return moved * moved - a * 0.5f; },
                                                                [&] { return sigmoid(moved) * 2.0f + a; })};
                                },
                                {0, x});
  const output loss = reduce_mean(square(state[1] - 0.5f), {0, 1});
  const auto slopes = gradients({loss}, {w, x});
  CHECK(check_both_ways(g, {loss, slopes[0], slopes[1]}, {{x, ramp(4, 3)}}) > 2 * 8);
  CHECK(check_both_ways(g, {slopes[0]}, {{x, ramp(1, 3)}}) > 2 * 8);
}

TEST_CASE("training with random numbers between what is computed") {
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, 3}, "x");
  const output w = variable({{0.2f, -0.1f}, {0.3f, 0.5f}, {0.1f, 0.2f}}, "w");
  const output hidden = dropout(tanh(matmul(x, w) * 2.0f), 0.3, 11);
  const output loss = reduce_mean(square(reduce_sum(hidden, {1}) - 1.0f), {0}, keep_dims::no, "loss");
  const output step = assign_sub(w, gradients({loss}, {w})[0] * 0.1f, "step");
  graph_session parts(g), nodes(g, {.fuse = false});
  parts.run(global_variables_initializer());
  nodes.run(global_variables_initializer());
  for (int k = 0; k < 30; ++k) {
    const auto rows = k % 3 == 2 ? 5 : 8;
    const auto a = parts.run({loss, step.operation()}, {{x, ramp(rows, 3)}}), b = nodes.run({loss, step.operation()}, {{x, ramp(rows, 3)}});
    CHECK(close(a[0], b[0]));
  }
  CHECK(close(parts.value(w), nodes.value(w)));
  CHECK(parts.fused_parts() == 30 * 2);  // before and behind the random number
}

TEST_CASE("a variable of the operator before VariableV2 is read when its readers run, and not earlier") {
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {}, "x");
  graph_def old{.versions = {.producer = 15}};
  old.nodes.push_back({.name = "v", .op = "Variable", .attributes = {{"dtype", data_type::float32}, {"shape", tensor_shape_proto{}}}});
  import_graph(g, old, {.name = ""});
  const output v = get_tensor_by_name(g, "v:0");
  const auto start = assign(v, constant(1.0f)).operation();
  const output read = identity(v), before = tanh(read * 2.0f) + 1.0f;
  const auto same = [](std::span<const tensor_literal> in) { return std::vector<tensor_literal>(in.begin(), in.end()); };
  graph_operation add;
  {
    auto after_before = control_dependencies({before.operation()});
    add = assign_add(v, host_function(same, {x}, {dtype::float32}).outputs()[0]).operation();
  }
  auto after_add = control_dependencies({add});
  const output behind = tanh(identity(read) * 0.5f) + 2.0f;
  graph_session s(g);
  s.run(start);
  const auto results = s.run({before, behind}, {{x, 0.25f}});
  CHECK(s.fused_parts() > 0);
  CHECK(results[0].as<float>() == doctest::Approx(std::tanh(2.0f) + 1));
  CHECK(results[1].as<float>() == doctest::Approx(std::tanh(1.25f * 0.5f) + 2));
}

TEST_CASE("what waits for others keeps nobody waiting who does not need it") {
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {}, "x");
  const output queue = call_operator(g, "FIFOQueueV2", {},
                                     {{"component_types", std::vector<data_type>{data_type::float32}},
                                      {"shapes", std::vector<tensor_shape_proto>{tensor_shape_proto{}}},
                                      {"capacity", std::int64_t{4}}},
                                     "queue")
                           .result();
  const auto same = [](std::span<const tensor_literal> in) { return std::vector<tensor_literal>(in.begin(), in.end()); };
  const output ready = host_function(same, {x}, {dtype::float32}).outputs()[0];
  const std::vector<data_type> one_number{data_type::float32};
  const output taken = call_operator(g, "QueueDequeueV2", {queue}, {{"component_types", one_number}}).result();
  // both are one node behind one that waits: as one part, the first could not begin before the second one's element is there
  const output given = tanh(ready * 2.0f) + 1.0f;
  const output used = tanh(taken * 3.0f) - 1.0f;
  const auto add = call_operator(g, "QueueEnqueueV2", {queue, given}, {{"Tcomponents", std::vector<data_type>{data_type::float32}}});
  graph_session s(g);
  for (int k = 0; k < 5; ++k) {
    const auto results = s.run({add, given, used}, {{x, 0.1f * static_cast<float>(k)}}, {.timeout_in_ms = 20'000});
    const float sent = std::tanh(0.2f * static_cast<float>(k)) + 1;
    CHECK(results[1].as<float>() == doctest::Approx(sent));
    CHECK(results[2].as<float>() == doctest::Approx(std::tanh(3 * sent) - 1));
  }
  CHECK(s.fused_parts() == 5 * 2);
}

TEST_CASE("sizes that depend on shapes, and on what was computed") {
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, 4}, "x");
  const output noise = random_uniform_of(shape{}, dtype::float32, 5);
  const output scaled = (x + noise) * 2.0f;
  // sizes of the sum, known by its shape
  const output flat = reshape(scaled * scaled, reduce_prod(shape_of(scaled), {0}, keep_dims::yes));
  const output sum = reduce_sum(flat * flat, {0});
  CHECK(check_both_ways(g, {sum, flat}, {{x, ramp(3, 4)}}) > 0);
  CHECK(check_both_ways(g, {sum}, {{x, ramp(2, 4)}}) > 0);

  // rows by the loop's counter: they are sliced node by node, and the rest of the body is a part
  const auto rows = while_loop([](output i, output) { return i < 6; },
                               [&](output i, output a) {
                                 const output row = gather(x, i);
                                 const output begin = stack(std::vector<output>{i, constant(0)});
                                 const output piece = slice(x, begin, constant({1, 2}));
                                 return std::array{i + 1, tanh(a + row * 2.0f) + reduce_sum(piece * piece, {0, 1})};
                               },
                               {0, constant({0.0f, 0.0f, 0.0f, 0.0f})},
                               {.shape_invariants = {shape{}, shape::unknown()}});
  CHECK(check_both_ways(g, {rows[1]}, {{x, ramp(6, 4)}}) >= 6);
}

TEST_CASE("an error in a part names the node, and the session goes on") {
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1}, "x"), y = placeholder(dtype::float32, {-1}, "y");
  const output i = placeholder(dtype::int32, {-1}, "i");
  const output p = placeholder(dtype::boolean, {}, "p");
  const output w = variable({1.0f, 2.0f}, "w");
  const output r = cond(p, [&] { return reduce_sum(gather(x * 2.0f, i, "rows") * 3.0f, {0}); },
                        [&] { return reduce_sum(add(x * 2.0f, y, "the_sum") * w, {0}); });
  graph_session s(g);
  const auto text_of = [&](const feed_list& feeds) {
    try {
      s.run(r, feeds);
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const std::vector<float> two{1, 2}, three{1, 2, 3};
  const std::vector<std::int32_t> fits{1, 0}, beyond{1, 5};
  CHECK(text_of({{x, two}, {y, three}, {i, fits}, {p, false}}).find("w") != std::string::npos);
  s.run(global_variables_initializer());
  for (int k = 0; k < 3; ++k) {
    CHECK(text_of({{x, two}, {y, three}, {i, fits}, {p, false}}).find("the_sum") != std::string::npos);
    CHECK(text_of({{x, two}, {y, three}, {i, beyond}, {p, true}}).find("rows") != std::string::npos);
    CHECK(s.run<float>(r, {{x, two}, {y, two}, {i, fits}, {p, true}}) == 18);
    CHECK(s.run<float>(r, {{x, two}, {y, two}, {i, fits}, {p, false}}) == 15);
  }
  CHECK(s.fused_parts() > 0);
  // a branch that was not taken, fetched
  output inside;
  cond(p, [&] { return inside = exp(tanh(x * 2.0f), "inside"); }, [&] { return x; });
  try {
    s.run(inside, {{x, two}, {p, false}});
    CHECK(false);
  } catch (const invalid_argument& e) {
    CHECK(std::string(e.what()).find("inside") != std::string::npos);
  }
}

TEST_CASE("a kernel of the program's own runs in each run, whatever comes to it") {
  static int calls = 0;
  define_operator("Ticks(x: T) -> (y: T)", [](shape_context& c) { c.set(0, shape{}); });
  register_kernel("Ticks", [](kernel_context& c) { c.set(0, tensor_value(static_cast<float>(++calls))); });
  graph g;
  auto scope = g.as_default();
  const output t = call_operator(g, "Ticks", {constant(0.0f)}).result();
  const output x = placeholder(dtype::float32, {-1}, "x");
  const output y = reduce_sum(tanh(x) * 2.0f, {0}) * 0.0f + t;
  graph_session s(g);
  for (int k = 1; k <= 4; ++k) CHECK(s.run<float>(y, {{x, std::vector<float>{1, 2, 3}}}) == static_cast<float>(k));
  CHECK(s.fused_parts() == 4);
}

TEST_CASE("a trace of steps sees the steps of parts, one of nodes the nodes") {
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, 2}, "x");
  const output p = placeholder(dtype::boolean, {}, "p");
  const output y = cond(p, [&] { return transpose(tanh(multiply(x, 2.0f, "twice"), "bent")); }, [&] { return x; });
  graph_session s(g);
  for (const auto detail : {trace_detail::steps, trace_detail::nodes}) {
    run_trace t(detail);
    s.run(y, {{x, {{1.0f, 2.0f}, {3.0f, 4.0f}}}, {p, true}}, {.trace = &t});
    bool has_node = false, has_step = false;
    for (const trace_event& e : t.events()) {
      has_node = has_node || e.name == "cond/twice";
      CHECK_MESSAGE(e.name.find("operator ") == std::string::npos, e.name);  // every step has names
      has_step = has_step || e.name.find("Tanh") != std::string::npos;
    }
    CHECK(has_node == (detail == trace_detail::nodes));
    CHECK(has_step == (detail == trace_detail::steps));
  }
}

TEST_CASE("random graphs give the same in parts and node by node") {
  std::int64_t parts = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    graph g;
    auto scope = g.as_default();
    const output x = placeholder(dtype::float32, {3, 3}, "x");
    const output w = variable({{0.2f, -0.1f, 0.4f}, {0.3f, 0.5f, -0.2f}, {0.1f, 0.2f, 0.3f}}, "w");
    const output signs = placeholder(dtype::float32, {9}, "signs");
    random_program program(seed, signs);
    const output y = program.value({x, value_of(w), x * 0.5f}, 2);
    output z;
    {
      const auto after = control_dependencies({assign_sub(w, y * 0.1f)});
      z = tanh(w * 2.0f + y) - x;
    }
    parts += check_both_ways(g, {y, z}, {{x, ramp(3, 3)}, {signs, std::vector<float>{1, -1, 2, 1, -3, -1, 1, -2, 1}}}, 3);
  }
  CHECK(parts > 1000);
}
