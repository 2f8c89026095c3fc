#pragma once
// Common to the programs of this folder: sections, the items in them, and comparisons of what was computed with what is said of it.
// What is not as it is said to be ends the program with 1 and the item's number.

#include <leat/runtime/state/tensor_value.hpp>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace leat::examples {

/// A part of a program, which `--section NAME` runs alone.
struct section {
  const char* name;
  const char* about;
  void (*show)();
};

/// Reads the program's arguments and runs its sections: 0 if all that they say holds, 1 if not.
int run_sections(int count, char** arguments, const char* about, std::initializer_list<section> sections);

/// Begins an item: prints its number and what it does.
void item(std::string_view number, std::string_view what);

/// Not as it is said to be.
class surprise : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Prints a result, which must be `wanted`: of its shape, and each number within `tolerance` of it. Numbers of any dtypes are compared.
void expect(std::string_view what, const tensor_value& got, const tensor_literal& wanted, double tolerance = 0);
/// The same of two results, which must have one dtype, too.
void expect_equal(std::string_view what, const tensor_value& got, const tensor_value& wanted, double tolerance = 0);
/// Prints a text, which must be `wanted`.
void expect_text(std::string_view what, std::string_view got, std::string_view wanted);
/// Prints a property, which must hold.
void expect_true(std::string_view what, bool holds);

namespace detail {
// Prints why something is refused, but for the file and line at the end; `words` must be among it.
void print_refusal(std::string_view what, std::string_view why, std::string_view words);
[[noreturn]] void was_accepted(std::string_view what);
}  // namespace detail

/// What must be refused with an exception of this class, and these words.
template <class Error, class Wrong>
void expect_refused(std::string_view what, std::string_view words, const Wrong& wrong) {
  try {
    wrong();
  } catch (const Error& e) {
    return detail::print_refusal(what, e.what(), words);
  }
  detail::was_accepted(what);
}

}  // namespace leat::examples
