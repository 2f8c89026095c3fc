#include <leat/graph/form.hpp>

#include <doctest/doctest.h>
#include <leat/named/graph/convert.hpp>
#include <leat/ops/known.hpp>

#include <set>

using namespace leat;

// Every form must be one that TensorFlow's notation can hold: operands first, then inputs with numbers; no name twice; types of
// operands that exist.
TEST_CASE("the forms of all operators are well made") {
  for (const auto type : known_operator_types()) {
    INFO(type);
    const op_info& op = *find_operator(type);
    std::set<std::string_view> names;
    int operands = 0;
    bool numbers_began = false;
    bool list = false;
    for (const field& f : op.form) {
      CHECK(!f.name.empty());
      CHECK(names.insert(f.name).second);
      if (is_operand(f.kind)) {
        CHECK(!numbers_began);
        CHECK(!list);  // a list takes all that is left
        list = f.kind == field_kind::operands;
        ++operands;
      }
      numbers_began = numbers_began || is_number_input(f.kind);
    }
    for (const field& f : op.form)
      if (f.kind == field_kind::type_of || f.kind == field_kind::result) CHECK(f.value < operands);
  }
}

TEST_CASE("an operator without a form has the usual one") {
  op_info op{.type = "TestPlain"};
  CHECK(form_of(op, 1).data() == static_cast<const field*>(form::single));
  CHECK(form_of(op, 2).data() == static_cast<const field*>(form::pair));
  CHECK(form_of(op, 3).empty());
  CHECK(operand_name(form_of(op, 2), 1) == "y");
}
