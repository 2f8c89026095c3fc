// Scopes: variables that are shared by their names. The graph of the fifth section, one set of weights behind two inputs:
//
//    x1 ---> layer ---> y1 ---> loss of y1 ---> train
//              |
//              +-- "layer/w", made by the first call, found by the second
//              |
//    x2 ---> layer ---> y2

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/notes.hpp"

using namespace leat;
using namespace leat::examples;
using namespace leat::literals;

namespace {

std::string names_of(const std::vector<output>& variables) {
  std::string text;
  for (const output& v : variables) text += (text.empty() ? "" : " ") + v.name();
  return text;
}

void two_functions() {
  item("4.1", "variable makes one, get_variable finds or makes one");
  const auto make_plain = [] {
    auto a = variable(1.0f, "firstvar");
    auto first = a;
    a = variable(2.0f, "firstvar");
    auto b = variable(3.0f);
    auto second = b;
    b = variable(4.0f);
    return std::vector{first, a, second, b};
  };
  graph g;
  auto here = g.as_default();
  const auto plain = make_plain();
  expect_text("names", names_of(plain), "firstvar:0 firstvar_1:0 Variable:0 Variable_1:0");
  auto shared = get_variable("firstvar", {1}, {.initializer = constant_initializer(0.3)});
  expect_text("shared", shared.name(), "firstvar_2:0");
  expect_refused<invalid_argument>("the same again", "already exists, disallowed",
                                   [] { get_variable("firstvar", {1}, {.initializer = constant_initializer(0.4)}); });
  auto other = get_variable("firstvar1", {1}, {.initializer = constant_initializer(0.4)});
  expect_text("another", other.name(), "firstvar1:0");
  graph_session s(g);
  s.run(global_variables_initializer());
  expect("the handles hold the later ones", s.run<float>(plain[1]), 2);
  expect("and", s.run<float>(plain[3]), 4);
  expect("firstvar1", s.run(other), {0.4f});

  graph h;
  auto there = h.as_default();
  make_plain();
  expect_text("made twice before", names_of(make_plain()), "firstvar_2:0 firstvar_3:0 Variable_2:0 Variable_3:0");
  expect_text("then shared", get_variable("firstvar", {1}).name(), "firstvar_4:0");
}

void beside_and_within() {
  item("4.2", "scopes beside and within each other");
  graph g;
  auto here = g.as_default();
  for (const char* name : {"test1", "test2"}) {
    auto scope = variable_scope(name);
    get_variable("firstvar", {2});
  }
  expect_text("beside", names_of(global_variables()), "test1/firstvar:0 test2/firstvar:0");
  graph h;
  auto there = h.as_default();
  auto outer = variable_scope("test1");
  get_variable("firstvar", {2});
  auto inner = variable_scope("test2");
  get_variable("firstvar", {2});
  expect_text("within", names_of(global_variables()), "test1/firstvar:0 test1/test2/firstvar:0");
}

void reuse_once(const reuse_setting& again) {
  output var1, var2, var3, var4;
  {
    auto outer = variable_scope("test1");
    var1 = get_variable("firstvar", {2});
    auto inner = variable_scope("test2");
    var2 = get_variable("firstvar", {2});
  }
  auto outer = variable_scope("test1", {.reuse = again});
  var3 = get_variable("firstvar", {2});
  auto inner = variable_scope("test2");
  var4 = get_variable("firstvar", {2});
  expect_true("var3 is var1", same_tensor(var3, var1));
  expect_true("var4 is var2", same_tensor(var4, var2));
  if (again.mode() == AUTO_REUSE) expect_text("a name that does not exist is made", get_variable("new", {2}).name(), "test1/test2/new:0");
  else expect_refused<invalid_argument>("a name that does not exist", "does not exist", [] { get_variable("new", {2}); });
}

void reuse() {
  item("4.3", "reuse");
  for (int time = 0; time < 2; ++time) {
    for (const reuse_setting again : {reuse_setting(true), reuse_setting(AUTO_REUSE)}) {
      reset_default_graph();
      reuse_once(again);
    }
  }
}

void inherited() {
  item("4.4", "inherited first values");
  graph g;
  auto here = g.as_default();
  auto outer = variable_scope("test1", {.initializer = constant_initializer(0.4)});
  auto a = get_variable("firstvar", {2});
  auto inner = variable_scope("test2");
  auto b = get_variable("firstvar", {2});
  auto c = get_variable("var2", {2}, {.initializer = constant_initializer(0.3)});
  graph_session s(g);
  s.run(global_variables_initializer());
  expect(a.name(), s.run(a), {0.4f, 0.4f});
  expect(b.name(), s.run(b), {0.4f, 0.4f});
  expect(c.name(), s.run(c), {0.3f, 0.3f});
}

void two_networks() {
  item("4.5", "two networks, one set of weights");
  graph g;
  auto here = g.as_default();
  const auto layer = [](const output& x) {
    auto scope = variable_scope("layer", {.reuse = AUTO_REUSE, .initializer = ones});
    return multiply(x, get_variable("w", shape_value{}));
  };
  auto y1 = layer(constant(2.0f)), y2 = layer(constant(3.0f));
  auto train = gradient_descent(0.125f).minimize(square(y1));
  expect("variables", static_cast<int>(global_variables().size()), 1);
  graph_session s(g);
  s.run(global_variables_initializer());
  expect("second network before", s.run(y2), 3);
  s.run(train);
  const auto after_step = s.run<float>(y2);
  expect("after a step on the first's loss", after_step, 0);

  const auto typed_layer = [](const auto& x) { return x * leat::variable<"layer/w", float>(ones); };
  auto t1 = typed_layer(leat::constant<2.0f>());
  auto t2 = typed_layer(leat::constant<3.0f>());
  auto typed_train = gradient_descent(0.125f).minimize(square(t1));
  session t{t2, typed_train};
  t.initialize();
  t.run(fetch(typed_train));
  auto [typed] = t.run(fetch(t2));
  expect_equal("typed", typed, after_step);
}

void objects() {
  item("4.6", "scope objects, name scopes, empty scopes");
  graph g;
  auto here = g.as_default();
  std::optional<variable_scope_object> sp;
  {
    auto scope = variable_scope("scope1");
    sp = scope.object();
    expect_text("first", get_variable("v", {1}).name(), "scope1/v:0");
  }
  expect_text("its scope", sp->name(), "scope1");
  {
    auto scope = variable_scope("scope2");
    expect_text("second", get_variable("v", {1}).name(), "scope2/v:0");
    auto again = variable_scope(*sp);
    auto v3 = get_variable("v3", {1});
    expect_text("the first entered again", v3.name(), "scope1/v3:0");
    expect_text("an operation there", add(v3, 1.0f, "sum").name(), "scope2/scope1/sum:0");
    auto empty = variable_scope("");
    expect_text("an empty scope within it", get_variable("v4", {1}).name(), "scope1//v4:0");
  }
  auto scope = variable_scope("scope");
  auto names = name_scope("bar");
  auto v = get_variable("v", {1});
  expect_text("name scopes do not count for get_variable", v.name(), "scope/v:0");
  expect_text("they do for a sum", (1.0f + v).operation().name(), "scope/bar/add");
  expect_text("and for a plain variable", variable(1.0f, "plain").name(), "scope/bar/plain:0");
  auto root = name_scope("");
  expect_text("a sum in an empty name scope", (1.0f + v).operation().name(), "add");
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Scopes: variables shared by name.",
                      {{"functions", "variable and get_variable", two_functions},
                       {"scopes", "scopes beside and within each other", beside_and_within},
                       {"reuse", "reuse, and AUTO_REUSE", reuse},
                       {"inherited", "inherited first values", inherited},
                       {"networks", "two networks, one set of weights", two_networks},
                       {"objects", "scope objects, name scopes, empty scopes", objects}});
}
