#include <leat/session/interactive_session.hpp>

#include <doctest/doctest.h>

#include <leat/graphs.hpp>

#include <thread>

using namespace leat;

namespace {
std::string refusal_of(const auto& f) {
  try {
    f();
  } catch (const invalid_argument& e) {
    return e.what();
  }
  return "no error";
}
}  // namespace

TEST_CASE("an interactive session is the default while it lives") {
  graph g;
  const auto a = [&] {
    const auto scope = g.as_default();
    return constant(3.0f, "a");
  }();
  CHECK(default_session() == nullptr);
  CHECK(refusal_of([&] { eval(a); }).find("Cannot evaluate tensor using `eval()`: No default session is registered.") == 0);
  CHECK(refusal_of([&] { run(a.operation()); }).find("Cannot execute operation using `run()`: No default session is registered.") == 0);
  {
    interactive_session s(g);
    CHECK(default_session() == &s);
    CHECK(&default_graph() == &g);
    CHECK(eval<float>(a) == 3);
    const auto x = placeholder(dtype::float32, {}, "x");
    const auto v = variable(1.0f, "v");
    run(initializer_of(v));
    CHECK(eval<float>(v) == 1);
    run(assign_add(v, x).operation(), {{x, 2.0f}});
    CHECK(eval<float>(v * x, {{x, 5.0f}}) == 15);
    CHECK(s.value(v).as<float>() == 3);
    float sum = eval(a + v);
    CHECK(sum == 6);
  }
  CHECK(default_session() == nullptr);
}

TEST_CASE("sessions as the default, one in the other; each has values of its own") {
  graph g, another;
  const auto scope = g.as_default();
  const auto v = variable(1.0f, "v");
  graph_session one(g), two(g), strange(another);
  one.assign(v, 1.0f);
  two.assign(v, 2.0f);
  {
    const auto outer = as_default(one);
    CHECK(eval<float>(v) == 1);
    {
      const auto inner = as_default(two);
      CHECK(eval<float>(v) == 2);
      CHECK(eval(v, one).as<float>() == 1);
      CHECK(eval(v, {}, one).as<float>() == 1);
    }
    CHECK(eval<float>(v) == 1);
    std::thread([] { CHECK(default_session() == nullptr); }).join();
    const auto wrong = as_default(strange);
    CHECK(refusal_of([&] {
            eval(v);
          }).find("Cannot use the default session to evaluate tensor: its graph is different from the session's graph.") == 0);
    CHECK(refusal_of([&] { run(v.operation()); }).find("Cannot use the default session to execute operation:") == 0);
  }
  CHECK(eval(v, two).as<float>() == 2);
  CHECK(refusal_of([&] { eval(v, strange); }).find("Cannot use the given session to evaluate tensor:") == 0);
  CHECK(refusal_of([] { eval(output{}); }) == "eval of what is no node of a graph");
}

TEST_CASE("two interactive sessions may end in any order") {
  graph g;
  auto a = std::make_unique<graph_session>(g);
  auto first = std::make_unique<default_session_scope>(*a);
  graph_session b(g);
  auto second = std::make_unique<default_session_scope>(b);
  first.reset();
  a.reset();
  CHECK(default_session() == &b);
  second.reset();
  CHECK(default_session() == nullptr);
}
