#include <leat/core/error.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace leat;

TEST_CASE_TEMPLATE("each is caught as itself, as an error of the library and as a runtime_error", E, invalid_argument, failed_precondition,
                   not_found, already_exists, out_of_range, data_loss, unimplemented) {
  CHECK_THROWS_WITH_AS(throw E("which"), "which", E);
  CHECK_THROWS_AS(throw E("which"), error);
  CHECK_THROWS_AS(throw E("which"), std::runtime_error);
}
