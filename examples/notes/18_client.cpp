// One server, one client. client.sh starts the server as a process of its own (17_server) and this program as its client, twice: variables
// outlive the first.
//
//   client --- run(c, d, b = d) ---> /job:worker/task:0:   a = [1.5, 6],  b = [1.5, 3.2],  c = a b + a / b,  d = c a

#include <leat/cluster.hpp>

#include "support/notes.hpp"

using namespace leat;
using namespace leat::examples;

namespace {

struct model {
  output b, d;
  graph_operation keep;
  model() {
    const device there("/job:worker/task:0/cpu:0");
    const auto a = constant({1.5f, 6.0f});
    b = variable({1.5f, 3.2f}, "b");
    const auto c = add(multiply(a, b), divide(a, b));
    d = multiply(c, a);
    keep = assign(b, d).operation();
  }
};

// What one client does, at a server that may be elsewhere.
tensor_value one_client(const std::string& target, bool initializes) {
  graph g;
  const auto scope = g.as_default();
  const model m;
  graph_session s(g, {.target = target});
  if (initializes) s.run(global_variables_initializer());
  const tensor_value d = s.run(m.d);
  s.run(m.keep);
  return d;
}

void variables_outlive() {
  server here = server::local();
  // The job is called local there.
  const cluster_spec c{{"worker", {here.target().substr(6)}}};
  here.stop();
  server worker(c);
  item("18.1", "a client");
  expect("d", one_client(worker.target(), true), {4.875f, 126.45f}, 1e-4);
  item("18.2", "a second client, which does not initialize");
  expect("d", one_client(worker.target(), false), {11.430288f, 4552.4847f}, 1e-2);
}

void two_models() {
  item("18.3", "two clients, two models, one name");
  server here = server::local();
  graph one, two;
  output w1, w2;
  {
    const auto scope = one.as_default();
    w1 = variable({1.0f, 2.0f}, "w");
  }
  {
    const auto scope = two.as_default();
    w2 = variable({3.0f, 4.0f, 5.0f}, "w");
  }
  graph_session first(one, {.target = here.target()}), second(two, {.target = here.target()});
  first.run(initializer_of(w1));
  expect_refused<invalid_argument>("one name, two shapes", "the variable 'w' has shape", [&] { second.run(initializer_of(w2)); });

  graph three;
  output w3;
  {
    const auto scope = three.as_default();
    const auto mine = container("b");
    w3 = variable({3.0f, 4.0f, 5.0f}, "w");
  }
  graph_session third(three, {.target = here.target()});
  third.run(initializer_of(w3));
  expect("in a container", third.run(w3), {3, 4, 5});
  third.reset("b");
  expect_true("cleared", !third.is_initialized(w3));
  expect("and the other is as it was", first.run(w1), {1, 2});
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::string_view(arguments[1]) == "--client") {
    const bool first = std::string_view(arguments[2]).ends_with("#first");
    const std::string target(arguments[2], std::string_view(arguments[2]).find('#'));
    try {
      const auto d = one_client(target, first).as<std::vector<float>>();
      std::printf("%.8g %.8g\n", static_cast<double>(d[0]), static_cast<double>(d[1]));
      return 0;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "error: %s\n", e.what());
      return 1;
    }
  }
  return run_sections(count, arguments, "one server, one client",
                      {{"outlive", "variables outlive their client", variables_outlive}, {"containers", "two models", two_models}});
}
