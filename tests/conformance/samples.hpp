#pragma once
// What each operator is tried with: inputs of the dtype that is tried, or of their own, and attributes. Operators of one element
// function get shapes that broadcast; all others are written out in samples.cpp.

#include <leat/graph/operator.hpp>
#include <leat/proto/attribute_value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace conformance {

/// An input of a sample.
struct argument {
  enum class role { tensor, number, variable };
  role what = role::tensor;
  leat::shape extent{};
  leat::dtype type = leat::dtype::invalid;  // invalid: the one that is tried
  std::vector<double> fixed{};              // its elements; none: they are made
};

/// One call of an operator.
struct sample {
  std::string type;
  std::vector<argument> inputs;
  leat::attribute_map attributes{};
  bool sharp = false;  // its gradient is one of TensorFlow's making, and not what differences give
  bool sums = false;   // adds several elements: extremes may overflow in one order of the summands and not in another
};

/// Why an operator has no paths that could differ.
struct exemption {
  std::string_view type;
  std::string_view why;
};

leat::shape sized(std::initializer_list<std::int64_t> dimensions);
/// Samples of all operators that are no plain element functions.
std::vector<sample> written_samples();
/// Samples of an element function of so many operands.
std::vector<sample> element_samples(std::string_view type, int operands);
/// Operators that are no function of their inputs, or have one kernel that is compared with TensorFlow's numbers by a test of its own.
const std::vector<exemption>& exemptions();

}  // namespace conformance
