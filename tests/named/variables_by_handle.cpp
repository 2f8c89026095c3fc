// Variables by handle that C++ code makes: TensorFlow's nodes and names, reads after writes, gradients, optimizers, scopes, branches and
// loops.
#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/session/graph_variables.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {
using floats = std::vector<float>;

std::vector<std::string> types_and_names(graph& g, std::string_view under = {}) {
  std::vector<std::string> all;
  g.named().settle_names(g);
  for (const auto& op : get_operations(g)) {
    std::string line = std::string(op.type()) + " " + op.name();
    if (!op.name().starts_with(under)) continue;
    for (const auto& in : op.inputs()) line += " " + in.name();
    for (const auto& before : op.control_inputs()) line += " ^" + before.name();
    all.push_back(line);
  }
  return all;
}
void has(const std::vector<std::string>& all, std::initializer_list<const char*> lines) {
  for (const char* line : lines) {
    const bool found = std::ranges::find(all, line) != all.end();
    CHECK_MESSAGE(found, line);
    if (found) continue;
    for (const auto& one : all) MESSAGE(one);
    return;
  }
}
}  // namespace

TEST_CASE("a variable by handle has TensorFlow's nodes") {
  graph g;
  const auto here = g.as_default();
  const auto w = variable(std::vector<float>{1, 2}, "w", {.use_resource = true});
  const auto y = add(w, 1.0f);
  CHECK(types_and_names(g) == std::vector<std::string>{"Const w/Initializer/initial_value", "VarHandleOp w",
                                                       "VarIsInitializedOp w/IsInitialized/VarIsInitializedOp w:0",
                                                       "AssignVariableOp w/Assign w:0 w/Initializer/initial_value:0",
                                                       "ReadVariableOp w/Read/ReadVariableOp w:0", "Const Add/y",
                                                       "ReadVariableOp Add/ReadVariableOp w:0", "AddV2 Add Add/ReadVariableOp:0 Add/y:0"});
  CHECK(w.extent() == shape_value{2});
  CHECK(w.type() == dtype::float32);
  graph_session s(g);
  CHECK(says(message_of([&] { s.run(y); }), "ttempting to use uninitialized value w"));
  CHECK(s.run(report_uninitialized_variables()).as<std::vector<std::string>>() == std::vector<std::string>{"w"});
  s.run(global_variables_initializer());
  CHECK(s.run(y).as<floats>() == floats{2, 3});
  CHECK(s.run(w).as<floats>() == floats{1, 2});
  CHECK(s.run(read_value(w)).as<floats>() == floats{1, 2});
  CHECK(s.run(is_variable_initialized(w)).as<bool>());
  s.assign(w, floats{5, 6});
  CHECK(s.run(value_of(w)).as<floats>() == floats{5, 6});
}

TEST_CASE("reads wait for writes around them") {
  graph g;
  const auto here = g.as_default();
  const auto v = get_variable("v", {2}, {.initializer = ones, .use_resource = true});
  const auto before = identity(v);
  const auto assigned = assign(v, std::vector<float>{3, 4});
  const auto added = assign_add(v, std::vector<float>{10, 10});
  const auto taken = assign_sub(v, std::vector<float>{1, 2});
  output after;
  {
    const control_dependencies wait({added});
    after = multiply(v, 2.0f);
  }
  has(types_and_names(g),
      {"AssignVariableOp AssignVariableOp v:0 AssignVariableOp/value:0", "ReadVariableOp ReadVariableOp v:0 ^AssignVariableOp",
       "ReadVariableOp ReadVariableOp_1 v:0 ^AssignAddVariableOp", "ReadVariableOp ReadVariableOp_2 v:0 ^AssignSubVariableOp"});
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(s.run(before).as<floats>() == floats{1, 1});
  CHECK(s.run(assigned).as<floats>() == floats{3, 4});
  CHECK(s.run(after).as<floats>() == floats{26, 28});
  CHECK(s.run(taken).as<floats>() == floats{12, 12});
  s.run(scatter_add(v, std::vector<std::int32_t>{1, 1}, std::vector<float>{0.5f, 0.25f}));
  CHECK(s.run(v).as<floats>() == floats{12, 12.75f});
  s.run(scatter_update(v, std::vector<std::int32_t>{0}, std::vector<float>{7}));
  CHECK(s.run(v).as<floats>() == floats{7, 12.75f});
  CHECK(says(message_of([&] { assign(v, std::vector<float>{1, 2, 3}); }), "shape"));
}

TEST_CASE("scopes make variables by handle, and are inherited") {
  graph g;
  const auto here = g.as_default();
  {
    const auto outer = variable_scope("s", {.use_resource = true});
    const auto inner = variable_scope("t");
    CHECK(get_variable("a", {2}).operation().type() == "VarHandleOp");
    CHECK(get_variable("b", {2}, {.use_resource = false}).operation().type() == "VariableV2");
    const auto y = layers::dense(placeholder(dtype::float32, {-1, 3}), 2);
    CHECK(y.name() == "s/t/dense/BiasAdd:0");
  }
  CHECK(get_variable("c", {2}).operation().type() == "VariableV2");
  const auto again = variable_scope("s/t", {.reuse = true});
  CHECK(get_variable("a", {2}).name() == "s/t/a:0");
  has(types_and_names(g), {"ReadVariableOp s/t/dense/MatMul/ReadVariableOp s/t/dense/kernel:0",
                           "ReadVariableOp s/t/dense/BiasAdd/ReadVariableOp s/t/dense/bias:0"});
}

namespace {
// The same network with variables of either kind.
std::vector<floats> trained(bool by_handle, const std::function<named_optimizer()>& make, std::vector<std::string>* nodes = nullptr) {
  graph g;
  const auto here = g.as_default();
  const auto scope = variable_scope("net", {.use_resource = by_handle});
  const auto x = constant({{1.0f, 2.0f}, {3.0f, -1.0f}, {0.5f, 0.25f}}, "x");
  const auto w = get_variable("w", {2, 3}, {.initializer = random_uniform(-1.0, 1.0, 5)});
  const auto b = get_variable("b", {3}, {.initializer = zeros});
  const auto rows = get_variable("rows", {4, 3}, {.initializer = random_uniform(-1.0, 1.0, 6)});
  const auto y = tanh(matmul(x, w) + b, {}) + embedding_lookup(rows, std::vector<std::int32_t>{2, 0, 2});
  const auto step = get_variable("global_step", {}, {.type = dtype::int64, .initializer = zeros, .trainable = false});
  named_optimizer o = make();
  const auto train = o.minimize(reduce_sum(square(y - 1.0f, {}), all_axes), step);
  if (nodes != nullptr) *nodes = types_and_names(g);
  graph_session s(g);
  s.run(global_variables_initializer());
  for (int k = 0; k < 5; ++k) s.run(train);
  std::vector<floats> all;
  for (const auto& v : global_variables())
    if (v.type() == dtype::float32) all.push_back(s.run(v).as<floats>());
  CHECK(s.run(step).as<std::int64_t>() == 5);
  return all;
}
}  // namespace

TEST_CASE("optimizers update variables by handle as they update others") {
  const std::vector<std::function<named_optimizer()>> optimizers{[] { return named_optimizer(gradient_descent(0.1f)); },
                                                                 [] { return named_optimizer(momentum(0.1f, 0.9f)); },
                                                                 [] { return named_optimizer(adam(0.1f)); },
                                                                 [] { return named_optimizer(adagrad(0.1f)); },
                                                                 [] { return named_optimizer(rms_prop(0.1f)); },
                                                                 [] { return named_optimizer(adadelta(0.1f)); },
                                                                 [] { return named_optimizer(ftrl(0.1f)); },
                                                                 [] { return named_optimizer(adam_w(0.1f, 0.01f)); }};
  for (const auto& make : optimizers) {
    const auto handles = trained(true, make), others = trained(false, make);
    REQUIRE(handles.size() == others.size());
    for (std::size_t k = 0; k < handles.size(); ++k) {
      REQUIRE(handles[k].size() == others[k].size());
      for (std::size_t i = 0; i < handles[k].size(); ++i) CHECK(handles[k][i] == doctest::Approx(others[k][i]).epsilon(1e-6));
    }
  }
}

TEST_CASE("the nodes of an Adam step by handle are TensorFlow's") {
  std::vector<std::string> nodes;
  trained(true, [] { return named_optimizer(adam(0.1f)); }, &nodes);
  has(nodes, {"VarHandleOp net/beta1_power", "VarHandleOp net/net/w/Adam", "VarHandleOp net/net/b/Adam_1"});
  const auto starts = [&](const std::string& line) {
    const bool found = std::ranges::any_of(nodes, [&](const std::string& one) { return one.starts_with(line); });
    CHECK_MESSAGE(found, line);
    if (!found)
      for (const auto& one : nodes) MESSAGE(one);
  };
  starts("ReadVariableOp net/Adam/update_net/w/ResourceApplyAdam/ReadVariableOp net/beta1_power:0");
  starts("ReadVariableOp net/Adam/update_net/w/ResourceApplyAdam/ReadVariableOp_1 net/beta2_power:0");
  starts(
      "ResourceApplyAdam net/Adam/update_net/w/ResourceApplyAdam net/w:0 net/net/w/Adam:0 net/net/w/Adam_1:0 "
      "net/Adam/update_net/w/ResourceApplyAdam/ReadVariableOp:0 net/Adam/update_net/w/ResourceApplyAdam/ReadVariableOp_1:0 "
      "net/Adam/learning_rate:0 net/Adam/beta1:0 net/Adam/beta2:0 net/Adam/epsilon:0 ");
  starts("AssignVariableOp net/Adam/AssignVariableOp net/beta1_power:0 net/Adam/mul:0");
  starts("ReadVariableOp net/Adam/ReadVariableOp_1 net/beta1_power:0");
  starts("AssignVariableOp net/Adam/AssignVariableOp_1 net/beta2_power:0 net/Adam/mul_1:0");
  starts("ResourceGather net/embedding_lookup net/rows:0 net/embedding_lookup/ids:0");
  starts("ResourceScatterAdd net/Adam/update_net/rows/ResourceScatterAdd net/net/rows/Adam:0");
  starts("AssignSubVariableOp net/Adam/update_net/rows/AssignSubVariableOp net/rows:0");
  starts("AssignAddVariableOp net/Adam net/global_step:0");
}

TEST_CASE("branches and loops read and write variables by handle") {
  graph g;
  const auto here = g.as_default();
  const auto v = get_variable("v", {.initializer = 2.0f, .use_resource = true});
  const auto p = placeholder(dtype::boolean, {}, "p");
  const auto chosen = cond(p, [&] { return v * 10.0f; }, [&] { return assign_add(v, 1.0f); });
  const auto total = while_loop([](const output& i, const output&) { return i < 3; },
                                [&](const output& i, const output& sum) { return std::array{i + 1, sum + v * v}; }, {0, 0.0f})[1];
  const auto counted = while_loop([](const output& i) { return i < 3; },
                                  [&](const output& i) {
                                    const control_dependencies wait({assign_add(v, 1.0f)});
                                    return std::array{i + 1};
                                  },
                                  {0})[0];
  const auto slope_of_total = gradients({total}, {v});
  const auto slope = gradients({chosen}, {v});
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(s.run(chosen, {{p, true}}).as<float>() == 20);
  CHECK(s.run(v).as<float>() == 2);
  CHECK(s.run(slope[0], {{p, true}}).as<float>() == 10);
  CHECK(s.run(chosen, {{p, false}}).as<float>() == 3);
  CHECK(s.run(v).as<float>() == 3);
  CHECK(s.run(total).as<float>() == 27);
  CHECK(s.run(slope_of_total[0]).as<float>() == 18);
  s.run(counted);
  CHECK(s.run(v).as<float>() == 6);
}

TEST_CASE("gradients with respect to a variable by handle are those of all its reads") {
  graph g;
  const auto here = g.as_default();
  const auto v = get_variable("v", {3, 2}, {.initializer = ones, .use_resource = true});
  const auto y = reduce_sum(v * v * 3.0f, all_axes) + reduce_sum(gather(v, std::vector<std::int32_t>{1, 1}), all_axes);
  const auto slope = gradients({y}, {v});
  const auto second = gradients({reduce_sum(slope[0] * slope[0], all_axes)}, {v});
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(s.run(slope[0]).as<floats>() == floats{6, 6, 8, 8, 6, 6});
  CHECK(s.run(second[0]).as<floats>() == floats{72, 72, 96, 96, 72, 72});
}
