// Trained models and sessions' state on each of Thrust's systems for the host.

#include "../support/own_host_kernel.hpp"
#include "models.hpp"
#include "systems.hpp"

#include <sstream>

using namespace leat_test;

TEST_CASE_TEMPLATE("linear regression", Device, LEAT_TEST_SYSTEMS) { check_linear_regression<Device>(); }

TEST_CASE_TEMPLATE("a network with gradient descent", Device, LEAT_TEST_SYSTEMS) {
  check_network<Device>(gradient_descent(0.1_c));
}

TEST_CASE_TEMPLATE("a network with Adam", Device, LEAT_TEST_SYSTEMS) { check_network<Device>(adam(0.01_c)); }

TEST_CASE_TEMPLATE("rows of a table with Adagrad and momentum", Device, LEAT_TEST_SYSTEMS) {
  check_rows<Device>(adagrad(0.1_c));
  check_rows<Device>(momentum(0.1_c, 0.9_c));
}

TEST_CASE_TEMPLATE("printing", Device, LEAT_TEST_SYSTEMS) {
  const auto x = placeholder<"x", float, "batch">();
  const auto shown = print<"twice: ">(x, x * 2_c, reduce_sum(x));
  auto s = session_on<Device>(shown);
  std::ostringstream text;
  const print_log log(text);
  const auto [given] = s.run(fetch(shown), x = std::vector<float>{1, 2, 3, 4});
  CHECK(given(3) == 4);
  CHECK(text.str() == "twice: [2 4 6...][10]\n");
}

TEST_CASE_TEMPLATE("a kernel of one's own in host memory", Device, LEAT_TEST_SYSTEMS) {
  const auto x = placeholder<"x", float, "n">();
  const auto y = make<leat_test::backward_op>(x * 2_c) + 1_c;
  auto s = session_on<Device>(y);
  const auto [a] = s.run(fetch(y), x = std::vector<float>{1, 2, 3});
  CHECK(a(0) == 7);
  CHECK(a(2) == 3);
  CHECK_THROWS_AS(s.run(fetch(y), x = std::vector<float>{-1, 2}), invalid_argument);
}

TEST_CASE_TEMPLATE("variables and numbers", Device, LEAT_TEST_SYSTEMS) { check_state<Device>(); }
TEST_CASE_TEMPLATE("constant arrays", Device, LEAT_TEST_SYSTEMS) { check_constant_arrays<Device>(); }

TEST_CASE_TEMPLATE("errors", Device, LEAT_TEST_SYSTEMS) { check_errors<Device>(); }
