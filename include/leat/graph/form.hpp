#pragma once
// How TensorFlow writes an operator: its inputs in order, and its attributes. A row of the flat table has operands and a list of numeric
// attributes (axes, sizes, flags); TensorFlow has named attributes, and passes axes and shapes as further inputs, usually constants. A
// table of fields, in the operator's class, maps one to the other. It is read in both directions: when a node is added to a graph with
// names, and when a file is imported. The default form is one operand "x", or two, "x" and "y", and the attribute "T", their dtype.

#include <cstdint>
#include <span>
#include <string_view>

namespace leat {

/// The kinds of fields: inputs and attributes of TensorFlow's node. "The next value" advances through the row's numeric attributes from
/// field to field.
enum class field_kind : unsigned char {
  operand,      // an input: a tensor. Operands with equal `value` have one dtype; each operand with -1 has its own
  operands,     // the remaining tensors; the attribute "N" is their count
  reference,    // an input: a variable's reference, not its value
  type_of,      // attribute: the dtype of operand `value`
  type_number,  // attribute: the dtype given by the next value
  flag,         // attribute: the next value, as bool; `value` where a node has none
  integer,      // attribute: the next value
  real,         // attribute: the next value, the bits of a float64, as float32
  integers,     // attribute: all remaining values, as a list
  list,         // attribute: the next `value` values, as a list
  word,         // attribute: the next value, as one of `words`
  text,         // attribute: a string of any length; the next value is its length, and one for each character follows
  fixed_word,   // attribute: always `words[value]`
  fixed_flag,   // attribute: always `value`
  fixed_integer,
  fixed_type,    // attribute: the dtype of the inputs that hold values of the row; `value` if these inputs are created here
  scalar,        // input: the next value, int32
  vector,        // input: all remaining values, int32 [n]
  half,          // input: the first half of the remaining values, int32 [n]
  pairs,         // input: all remaining values, int32 [n, 2]; the first half is column 0
  axes,          // input: all remaining values; if there are none, all axes of operand 0
  bits,          // input: a constant of the result's dtype, from its bits
  fixed_scalar,  // input: always `value`, int32
  unwritten,     // the next value, absent in TensorFlow: always `value`, or the last axis if that is -1
  in_graphs,     // the next value, absent in TensorFlow: `value` in graphs with names, and in typed expressions missing
  result         // a further result, with the shape of operand `value`, or the shape that all operands broadcast to if that is -1
};

/// One entry of an operator's form.
struct field {
  field_kind kind;
  std::string_view name;
  std::int64_t value = 0;
  std::span<const std::string_view> words{};
};

/// Whether the field is an input that holds numeric attributes, not an operand.
constexpr bool is_number_input(field_kind k) {
  return k == field_kind::scalar || k == field_kind::vector || k == field_kind::half || k == field_kind::pairs || k == field_kind::axes ||
         k == field_kind::bits || k == field_kind::fixed_scalar;
}
/// Whether the field is an operand.
constexpr bool is_operand(field_kind k) { return k == field_kind::operand || k == field_kind::operands || k == field_kind::reference; }

namespace form {

inline constexpr field pair[]{{field_kind::operand, "x"}, {field_kind::operand, "y"}, {field_kind::type_of, "T"}};
inline constexpr field single[]{{field_kind::operand, "x"}, {field_kind::type_of, "T"}};
/// Forms without "T", for operators that take only bool.
inline constexpr field untyped_pair[]{{field_kind::operand, "x"}, {field_kind::operand, "y"}};
inline constexpr field untyped_single[]{{field_kind::operand, "x"}};
inline constexpr field equality[]{{field_kind::operand, "x"},
                                  {field_kind::operand, "y"},
                                  {field_kind::type_of, "T"},
                                  {field_kind::fixed_flag, "incompatible_shape_error", 1}};
inline constexpr field activation[]{{field_kind::operand, "features"}, {field_kind::type_of, "T"}};
inline constexpr field root_gradient[]{{field_kind::operand, "y"}, {field_kind::operand, "dy"}, {field_kind::type_of, "T"}};
/// The gradient of an activation, from the gradient of its result and from its operand or its result.
inline constexpr field slope_of_features[]{
    {field_kind::operand, "gradients"}, {field_kind::operand, "features"}, {field_kind::type_of, "T"}};
inline constexpr field slope_of_outputs[]{{field_kind::operand, "gradients"}, {field_kind::operand, "outputs"}, {field_kind::type_of, "T"}};
inline constexpr field angle[]{{field_kind::operand, "y"}, {field_kind::operand, "x"}, {field_kind::type_of, "T"}};
inline constexpr field logits[]{{field_kind::operand, "logits"}, {field_kind::unwritten, "axis", -1}, {field_kind::type_of, "T"}};
inline constexpr field same[]{{field_kind::operand, "input"}, {field_kind::type_of, "T"}};
inline constexpr field reduction[]{{field_kind::operand, "input"},
                                   {field_kind::flag, "keep_dims"},
                                   {field_kind::axes, "reduction_indices"},
                                   {field_kind::type_of, "T"},
                                   {field_kind::fixed_type, "Tidx", 3}};
inline constexpr field untyped_reduction[]{{field_kind::operand, "input"},
                                           {field_kind::flag, "keep_dims"},
                                           {field_kind::axes, "reduction_indices"},
                                           {field_kind::fixed_type, "Tidx", 3}};

}  // namespace form

}  // namespace leat
