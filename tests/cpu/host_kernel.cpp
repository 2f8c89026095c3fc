// Operators of one's own as kernels in host memory, by compiled steps and by the interpreter.
#include <leat/leat.hpp>
#include <leat/planned.hpp>

#include "../support/own_host_kernel.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace leat;
using namespace leat::literals;

TEST_CASE("a kernel of one's own, which refuses before anything is written") {
  const auto x = placeholder<"x", float, "n">();
  const auto w = variable<"w", float>(zeros);
  const auto y = make<leat_test::backward_op>(x * 2_c) + 1_c;
  const auto step = assign_add(w, 1_c);
  const auto last = make<leat_test::backward_op>(x);
  const auto check = [&](auto& s) {
    s.initialize();
    const auto [a] = s.run(fetch(y), x = std::vector<float>{1, 2, 3});
    CHECK(a(0) == 7);
    CHECK(a(2) == 3);
    CHECK_THROWS_AS(s.run(fetch(step, last), x = std::vector<float>{-1, 2}), invalid_argument);
    CHECK(s.value(w) == 0);
    s.run(fetch(step, last), x = std::vector<float>{1, 2});
    CHECK(s.value(w) == 1);
  };
  session s{y, step, last};
  check(s);
  detail::register_expression_operator<leat_test::backward_op>();
  cpu::detail::enter_functions(operator_record<leat_test::backward_op>::code, {nullptr, nullptr, &leat_test::find_backward});
  planned_session p{y, step, last};
  check(p);
}
