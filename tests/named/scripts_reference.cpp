#include <leat/named/exchange/export.hpp>

#include "support/recorded_items.hpp"
#include "support/recorded_program.hpp"
#include "support/same_nodes.hpp"

#include <leat/io/binary.hpp>
#include <leat/named/control/control.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/gradients/gradient.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <string>

using namespace leat;
using leat_test::recorded_program;
using leat_test::reference_json;
using nlohmann::json;

// naming.json's scripts: small whole programs, written again with this library from the nodes that TensorFlow made. Names,
// types, inputs, control inputs and devices of all nodes are compared.

namespace {

// The device of a script's first node of a name, as recorded.
std::string device_of(const json& naming, const std::string& script, const std::string& node, const std::string& otherwise) {
  if (naming.is_object())
    for (const auto& row : naming["scripts"])
      if (row["script"] == script)
        for (const auto& n : row["nodes"])
          if (n["name"] == node) return n["device"];
  return otherwise;
}

std::map<std::string, std::function<void()>> scripts(const json& naming) {
  std::map<std::string, std::function<void()>> all;
  all["const_add"] = [] {
    const auto a = constant(1.0f);
    const auto b = constant(2.0f);
    const auto c = constant(3.0f);
    const auto d = constant(4.0f);
    const auto sum = add(a, b);
    const auto product = multiply(b, c);
    add(c, d);
    add(sum, product);
  };
  all["two_by_matmul"] = [] {
    const auto a = constant({{1.0f, 2.0f}});
    const auto b = constant({{3.0f, 4.0f}});
    [[maybe_unused]] const auto product = a * b;
    const auto c = constant({{1.0f, 2.0f}});
    matmul(c, constant({{1.0f}, {2.0f}}));
  };
  all["named_matmul"] = [] {
    const auto a = constant({{1.0f, 3.0f}});
    matmul(a, constant({{1.0f}, {2.0f}}), "exampleop");
  };
  all["variable_forms"] = [] {
    variable(1.0f, "number");
    variable({1.0f, 2.0f}, "vector");
    variable({{1.0f, 2.0f}}, "matrix");
    variable(zeros_of({2}), "zero");
    const auto v = variable(random_normal_of({2, 3}));
    global_variables_initializer();
    shape_of(v);
  };
  all["counter"] = [] {
    const auto counter = variable(0.0f, "counter");
    const auto one = constant(1.0f);
    assign(counter, add(counter, one));
    global_variables_initializer();
    global_variables_initializer();
  };
  all["fetch_several"] = [] {
    const auto a = constant(3.0f);
    const auto b = constant(2.0f);
    multiply(a, add(b, constant(5.0f)));
  };
  all["feed_and_unfed"] = [] {
    const auto a = placeholder(dtype::float32);
    multiply(a, placeholder(dtype::float32));
  };
  all["add_with_dependency"] = [] {
    const auto a = variable(1.0f);
    const auto b = variable(2.0f);
    assign(a, 10.0f);
    add(a, b);
    const auto c = variable(1.0f);
    const auto d = variable(2.0f);
    const auto up = assign(c, 10.0f);
    {
      const auto waits = control_dependencies({up});
      add(c, d);
    }
    global_variables_initializer();
    global_variables_initializer();
  };
  all["dependency_old_tensor"] = [] {
    const auto v = variable(1.0f, "v");
    const auto old = v * 2.0f;
    const auto up = assign(v, 10.0f);
    {
      const auto waits = control_dependencies({up});
      identity(old, "same");
      multiply(v, 2.0f, "again");
      constant(5.0f, "cons");
      no_op("nothing");
    }
    for (int i = 0; i < 4; ++i) global_variables_initializer();
  };
  all["group_and_tuple"] = [] {
    const auto a = variable(1.0f, "a");
    const auto b = variable(2.0f, "b");
    const auto both = group({assign_add(a, 1.0f), assign_add(b, 1.0f)}, "both");
    {
      const auto first = control_dependencies({get_operation_by_name(default_graph(), "AssignAdd")});
      const auto second = control_dependencies({get_operation_by_name(default_graph(), "AssignAdd_1")});
      add(a, b, "sum");
      const auto none = control_dependencies(nullptr);
      add(a, b, "free");
    }
    const auto x = a * 2.0f;
    const auto y = b * 2.0f;
    tuple({x, y}, "tuple", {both});
    global_variables_initializer();
  };
  all["assigns"] = [] {
    const auto v = variable(1.0f, "v");
    assign(v, 2.0f);
    assign_add(v, 2.0f);
    assign_sub(v, 2.0f);
    assign_add(assign_add(v, 1.0f), 1.0f);
    global_variables_initializer();
    assign_add(v, 1.0f);
    read_value(v);
  };
  all["uninitialized"] = [] {
    const auto v = variable(1.0f, "v");
    {
      const auto scope = variable_scope("scope");
      get_variable("w", {2});
    }
    [[maybe_unused]] const auto sum = v + 1.0f;
    assign_add(v, 1.0f);
  };
  all["shared_scopes"] = [] {
    output v;
    {
      const auto outer = variable_scope("test1", {.initializer = constant_initializer(0.4)});
      v = get_variable("firstvar", {2});
      const auto inner = variable_scope("test2");
      get_variable("firstvar", {2});
      get_variable("test3", {2}, {.initializer = constant_initializer(0.3)});
    }
    assign(v, {1.0f, 2.0f});
    global_variables_initializer();
  };
  const std::string servers = device_of(naming, "cluster_client", "ones", "/job:ps/task:0");
  const std::string first_worker = device_of(naming, "cluster_client", "MatMul", "/job:worker/task:0");
  const std::string second_worker = device_of(naming, "cluster_client", "MatMul_1", "/job:worker/task:1");
  const auto cluster = [=](bool with_devices) {
    output a;
    output b;
    {
      const device ps(with_devices ? servers : "");
      a = variable(ones_of({2, 2}));
      b = variable(ones_of({2, 2}));
    }
    output c;
    {
      const device worker(with_devices ? first_worker : "");
      c = matmul(a, b) + a;
    }
    {
      const device worker(with_devices ? second_worker : "");
      [[maybe_unused]] const auto d = matmul(c, a) + a;
    }
    global_variables_initializer();
  };
  all["cluster_client"] = [cluster] { cluster(true); };
  all["cluster_client_local"] = [cluster] { cluster(false); };
  all["assign_product"] = [where = device_of(naming, "assign_product", "a", "/cpu:0")] {
    const device cpu(where);
    const auto a = constant(2.0f, "a");
    const auto b = variable(3.0f, "b");
    const auto product = a * b;  // one by one: C++ may evaluate either side of a + first
    const auto c = product + a / b;
    assign(b, c * a);
    global_variables_initializer();
  };
  all["subtract_interactive"] = [] {
    const auto x = variable({1.0f, 2.0f});
    subtract(x, constant({3.0f, 3.0f}));
  };
  all["reduce_and_stack"] = [] {
    const auto a = constant(tensor_literal(shape_value{2, 3, 4}, std::vector<float>(24, 1.0f)));
    const std::vector<output> parts{constant({1.0f, 2.0f}), constant({3.0f, 4.0f}), constant({5.0f, 6.0f})};
    reduce_sum(a, all_axes);
    for (int axis : {0, 1, 2, -1}) reduce_sum(a, axis);
    reduce_sum(a, {0, 1});
    reduce_sum(a, {0, 1, 2});
    stack(parts);
    const auto rows = stack(parts, 1);
    stack(parts, -1);
    std::vector<output> wide;
    for (const auto& p : parts) wide.push_back(expand_dims(p, 0));
    concat(wide, 0);
    unstack(rows);
  };
  all["cond_demo"] = [] {
    const recorded_program r("cond_demo");
    const auto a = constant(r.literal("Const", 2));
    const auto b = constant(r.literal("Const_1", 3));
    const auto four = constant(r.literal("Const_2", 4));
    const auto x = call_operator(default_graph(), "PlaceholderWithDefault", {four}, {{"shape", to_proto(four.extent())}}).result();
    const auto y = constant(r.literal("Const_3", 5));
    const auto product = multiply(a, b);
    cond(
        less(x, y), [&] { return add(x, product); }, [&] { return square(y, "Square"); });
  };
  all["cond_side_effects"] = [] {
    const recorded_program r("cond_side_effects");
    const auto p = placeholder(dtype::boolean, {}, "p");
    const auto q = placeholder(dtype::boolean, {}, "q");
    const auto v = variable(r.literal("v/initial_value", 1.0f), "v");
    const auto u = variable(r.literal("u/initial_value", 10.0f), "u");
    const auto outside = assign_add(u, r.literal("AssignAdd/value", 1.0f));
    cond(
        p, [&] { return assign_add(v, r.literal("cond/AssignAdd/value", 1.0f)) * r.number("cond/mul/y", 1.0f); },
        [&] { return assign_sub(v, r.literal("cond/AssignSub/value", 1.0f)) * r.number("cond/mul_1/y", 1.0f); });
    cond(
        p, [&] { return identity(outside, "Identity"); }, [&] { return constant(r.literal("cond_1/Const", 0.0f)); });
    const auto nested = cond(
        p,
        [&] {
          return cond(
              q, [&] { return u * r.number("cond_2/cond/mul/y", 2.0f); },
              [&] { return u * r.number("cond_2/cond/mul_1/y", 3.0f); });
        },
        [&] { return u * u; });
    gradients({nested}, {u});
    global_variables_initializer();
  };
  all["while_gradient"] = [] {
    const recorded_program r("while_gradient");
    const auto x = placeholder(dtype::float32, r.extent("x", {}), "x");
    const auto n = placeholder(dtype::int32, {}, "n");
    const auto below = [&](output i, output) { return less(i, n); };
    const auto first = while_loop(below,
                                  [&](output i, output y) {
                                    return std::array{i + r.number("while/add/y", 1), y * y};
                                  },
                                  {constant(r.literal("Const", 0)), x});
    gradients({first[1]}, {x});
    const auto w = variable(r.literal("w/initial_value", {{0.5f, 0.1f}, {0.0f, 0.5f}}), "w");
    const auto i = constant(r.literal("Const_1", 0));
    const auto second = while_loop(below, [&](output at, output y) { return std::array{at + r.number("while_1/add/y", 1), matmul(y, w)}; },
                                   {i, constant(r.literal("Const_2", {{1.0f, 2.0f}}))});
    gradients({reduce_sum(second[1])}, {w});
    global_variables_initializer();
  };
  all["init_order"] = [] {
    const recorded_program r("init_order");
    const auto w = variable(r.literal("w/initial_value", {1.0f, 2.0f}), "w");
    variable(initialized_value(w) * r.number("mul/y", 2.0f), "u");
    variable(w * r.number("mul_1/y", 3.0f), "x", {.collections = {"others"}});
    global_variables_initializer();
  };
  all["case_demo"] = [] {
    const recorded_program r("case_demo");
    const auto k = placeholder(dtype::int32, {}, "k");
    const auto first = equal(k, r.number("Equal/y", 0));
    const auto second = less(k, r.number("Less/y", 3));
    case_of({{first, [&] { return constant(r.literal("case/cond/Const", 10.0f)); }},
             {second, [&] { return cast(k, dtype::float32) * r.number("case/cond/cond/mul/y", 2.0f); }}},
            [&] { return constant(r.literal("case/cond/cond/Const", -1.0f)); });
  };
  all["while_sum"] = [] {
    const recorded_program r("while_sum");
    const auto n = placeholder(dtype::int32, {}, "n");
    const auto i = constant(r.literal("Const", 1));
    const auto s = constant(r.literal("Const_1", 0));
    const auto p = constant(r.literal("Const_2", 1));
    while_loop([&](output at, output, output) { return less_equal(at, n); },
               [&](output at, output sum, output product) {
                 const auto next = at + r.number("while/add/y", 1);
                 const auto added = sum + at;
                 return std::array{next, added, product * at};
               },
               {i, s, p});
  };
  all["while_nested"] = [] {
    const recorded_program r("while_nested");
    const auto v = variable(r.literal("v/initial_value", 0), "v");
    {
      const auto i = constant(r.literal("Const", 0));
      const auto sum = constant(r.literal("Const_1", 0));
      while_loop([&](output at, output) { return less(at, r.number("while/Less/y", 3)); },
                 [&](output at, output total) {
                   const auto inner = while_loop([&](output j, output) { return less(j, r.number("while/while/Less/y", 4)); },
                                                 [&](output j, output t) {
                                                   const auto next = j + r.number("while/while/add/y", 1);
                                                   const auto product = at * j;
                                                   return std::array{next, t + product};
                                                 },
                                                 {constant(r.literal("while/Const", 0)), total});
                   return std::array{at + r.number("while/add/y", 1), inner[1]};
                 },
                 {i, sum});
    }
    {
      const auto i = constant(r.literal("Const_2", 0));
      const auto sum = constant(r.literal("Const_3", 0));
      while_loop([&](output at, output) { return less(at, r.number("while_1/Less/y", 10)); },
                 [&](output at, output total) {
                   const auto next = at + r.number("while_1/add/y", 1);
                   const auto odd = equal(floor_mod(at, r.number("while_1/mod/y", 2)), r.number("while_1/Equal/y", 1));
                   return std::array{next, cond(
                                               odd, [&] { return total + at; }, [&] { return total; })};
                 },
                 {i, sum});
    }
    while_loop([&](output at) { return less(at, r.number("while_2/Less/y", 5)); },
               [&](output at) {
                 const auto waits = control_dependencies({assign_add(v, r.literal("while_2/AssignAdd/value", 2))});
                 return at + r.number("while_2/add/y", 1);
               },
               {constant(r.literal("Const_4", 0))});
    global_variables_initializer();
  };
  return all;
}

}  // namespace

TEST_CASE("small programs make the nodes that TensorFlow makes") {
  const auto reference = reference_json("naming.json");
  if (!reference) return;
  const auto all = scripts(*reference);
  leat_test::recorded_items items("scripts");
  for (const auto& row : (*reference)["scripts"]) {
    const std::string name = row["script"];
    const auto script = all.find(name);
    if (script == all.end()) {
      items.left_out(name, "not written again in this test; its graph is run by session.dynamic_reference");
      continue;
    }
    INFO(name);
    items.ran();
    graph g;
    const auto scope = g.as_default();
    script->second();
    const auto def = export_graph(g);
    const json& nodes = row["nodes"];
    CHECK(def.nodes.size() == nodes.size());
    for (std::size_t i = 0; i < std::min(def.nodes.size(), nodes.size()); ++i) {
      json inputs = json::array();
      json controls = json::array();
      for (const auto& in : def.nodes[i].inputs) {
        if (in.starts_with('^'))
          controls.push_back(in.substr(1));
        else
          inputs.push_back(in);
      }
      const json got{
          {"name", def.nodes[i].name}, {"op", def.nodes[i].op}, {"inputs", inputs}, {"control", controls}, {"device", def.nodes[i].device}};
      CHECK(got == nodes[i]);
    }
  }
  items.finish();
}

TEST_CASE("branches and loops have TensorFlow's attributes") {
  const auto all = scripts({});
  for (const char* name : {"cond_demo", "cond_side_effects", "case_demo", "while_sum", "while_nested", "while_gradient", "init_order"}) {
    const std::filesystem::path file = leat_test::reference_folder() + "/graphs/" + name + ".pb";
    if (!std::filesystem::exists(file)) {
      MESSAGE("skipped: " << file.string() << " is missing");
      continue;
    }
    INFO(name);
    graph g;
    const auto scope = g.as_default();
    all.at(name)();
    const auto compared =
        leat_test::compare(io::read_binary_file(file), export_graph(g), [](const node_def& n) { return n.op != "PlaceholderWithDefault"; });
    CHECK(compared.same > 0);
    for (const auto& difference : compared.differences) {
      if (difference.starts_with("init:") || difference.find("init_1") != std::string::npos) continue;
      CHECK_MESSAGE(false, difference);
    }
  }
}
