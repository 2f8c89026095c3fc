// Graphs at run time as docs/graphs.md shows them: nodes, names, scopes, variables, control dependencies, devices.

// [listing graphs_includes]
#include <leat/graphs.hpp>
#include <leat/leat.hpp>

#include <array>
#include <cstdio>
// [end]

using namespace leat;

namespace {

void print(graph& g) {
  for (const auto& op : get_operations(g)) {
    std::printf("%-24s %s", op.name().c_str(), std::string(op.type()).c_str());
    for (const auto& in : op.inputs()) std::printf(" %s", in.name().c_str());
    for (const auto& c : op.control_inputs()) std::printf(" ^%s", c.name().c_str());
    if (!op.device().empty()) std::printf(" on %s", op.device().c_str());
    std::printf("\n");
  }
}

void first() {
  // [listing graphs_first]
  graph g;
  auto scope = g.as_default();

  auto x = placeholder(dtype::float32, {-1, 3}, "x");
  auto w = variable({{1.0f}, {2.0f}, {3.0f}}, "w");
  auto y = matmul(x, w) * 2.0f;
  auto mean = reduce_mean(y, {0}, keep_dims::no, "mean");

  for (const auto& op : get_operations(g)) std::printf("%s (%s)\n", op.name().c_str(), std::string(op.type()).c_str());
  std::printf("%s\n", describe(mean).c_str());
  // [end]
}

void scopes() {
  graph g;
  auto scope = g.as_default();
  // [listing graphs_scopes]
  auto a = constant(1.0f, "a");
  {
    auto layer = name_scope("layer");
    auto b = constant(1.0f, "a");  // "layer/a"
    {
      auto d = device("/job:ps/task:1");
      add(a, b, "c");  // "layer/c", on /job:ps/task:1
    }
  }
  {
    auto layer = name_scope("layer");   // "layer_1/"
    auto again = name_scope("layer/");  // "layer/" itself
    auto waits = control_dependencies({a});
    identity(get_tensor_by_name(default_graph(), "layer/c:0"), "d");
  }
  // [end]
  print(g);
}

void shared() {
  graph g;
  auto scope = g.as_default();
  auto x = placeholder(dtype::float32, {-1, 3}, "x");
  // [listing graphs_variables]
  auto tower = [](const output& in) {
    auto s = variable_scope("tower", {.reuse = AUTO_REUSE, .initializer = zeros});
    return matmul(in, get_variable("w", {3, 2}));
  };
  auto left = tower(x);          // makes "tower/w"; the product is "tower/MatMul"
  auto right = tower(x + 1.0f);  // finds it; the product is "tower_1/MatMul"

  auto init = global_variables_initializer();
  for (const auto& v : trainable_variables()) std::printf("%s %s\n", v.name().c_str(), shape_text(v.extent()).c_str());
  // [end]
  std::printf("%s and %s, %s\n", left.name().c_str(), right.name().c_str(), init.name().c_str());
}

void slopes() {
  graph g;
  auto scope = g.as_default();
  // [listing graphs_gradients]
  auto x = placeholder(dtype::float32, {-1, 3}, "x");
  auto w = variable({{1.0f}, {2.0f}, {3.0f}}, "w");
  auto loss = reduce_sum(square(matmul(x, w)), {0, 1}, keep_dims::no, "loss");
  auto dw = gradients({loss}, {w, x}, {.stop_gradients = {x}})[0];
  for (const auto& op : get_operations(g))
    if (op.name().starts_with("gradients/") && op.type() != "Const") std::printf("%s\n", op.name().c_str());
  std::printf("%s\n", describe(dw).c_str());
  // [end]
}

void branches() {
  graph g;
  auto scope = g.as_default();
  // [listing graphs_control]
  auto x = placeholder(dtype::float32, {}, "x");
  auto n = placeholder(dtype::int32, {}, "n");

  auto size = cond(x < 0.0f, [&] { return -x; }, [&] { return x; });

  auto more = [&](output i, output) { return i < n; };
  auto next = [&](output i, output y) { return std::array{i + 1, y * size}; };
  auto [times, power] = while_loop(more, next, {0, 1.0f});

  auto slope = gradients({power}, {x})[0];
  auto positive = check_positive(power, {.name = "check"});
  auto waits = control_dependencies({positive});
  auto shown = print(power, {times, slope}, {.message = "times, slope: "});
  // [end]
  std::printf("%s, %s, %s\n", size.name().c_str(), power.name().c_str(), slope.name().c_str());
  std::printf("%s waits for %s\n", shown.name().c_str(), positive.name().c_str());
}

void wrong() {
  graph g;
  auto scope = g.as_default();
  auto x = placeholder(dtype::float32, {-1, 3}, "x");
  // [listing graphs_wrong]
  try {
    matmul(x, {{1.0f, 2.0f}}, "product");
  } catch (const invalid_argument& e) {
    const std::string text = e.what();
    std::printf("%s\n", text.substr(0, text.find(", made at")).c_str());
  }
  try {
    get_tensor_by_name(g, "y:0");
  } catch (const not_found& e) {
    std::printf("%s\n", e.what());
  }
  // [end]
}

void typed() {
  // [listing graphs_typed]
  auto x = placeholder<"x", float, "batch", 3>();
  auto w = variable<"w", float, 3, 1>(zeros);
  auto loss = reduce_mean(square(matmul(x, w)));

  graph g;
  auto scope = g.as_default();
  to_graph(loss);
  graph_def file = export_graph(g);
  graph copy;
  import_graph(copy, file, {.name = ""});
  // [end]
  print(copy);
}

}  // namespace

int main() {
  first();
  scopes();
  shared();
  slopes();
  branches();
  wrong();
  typed();
}
