#pragma once
// Converts a node's axes and sizes, which may include named dimensions, to TensorFlow's inputs. Shared by the classes that write plain
// tables into graphs with names; each supplies its way to compute the size of a named dimension.

#include <leat/named/graph/convert.hpp>
#include <leat/named/graph/part.hpp>
#include <leat/ops/array_parts.hpp>

#include <optional>

namespace leat::detail {

/// A shape in the form of files, where named dimensions are unknown.
inline shape without_names(shape s) {
  for (int i = 0; i < s.rank; ++i)
    if (s[i] < 0) s.dim[i] = unknown_dimension;
  return s;
}

/// The sizes as constants, if possible: if no dimension is named, or if the only named one is computed by the operator itself
/// (`computes_one`).
inline std::optional<std::vector<std::int32_t>> constant_sizes(std::span<const std::int64_t> sizes, bool computes_one) {
  int named = 0;
  bool open = false;
  std::vector<std::int32_t> plain;
  for (auto s : sizes) {
    named += is_named(s) ? 1 : 0;
    open = open || s == unknown_dimension;
    plain.push_back(is_named(s) ? -1 : as_int32(s));
  }
  if (named == 0 || (computes_one && named == 1 && !open)) return plain;
  return std::nullopt;
}

/// Converts a node's attributes to arguments, by its operator's form. `sizes(numbers, computes_one)` returns several sizes as one argument,
/// `size(dimension)` the size of one named dimension; `refuse()` throws if a named dimension stands for something other than a size.
template <class Sizes, class Size, class Refuse>
std::vector<number_argument> size_arguments(const node& n, std::span<const std::int64_t> numbers, Sizes sizes, Size size, Refuse refuse) {
  std::vector<number_argument> arguments;
  number_cursor cursor(numbers);
  for (const field& f : form_of(*n.op, n.input_count)) {
    switch (f.kind) {
      case field_kind::vector:
        arguments.push_back(sizes(cursor.rest(), is_operator<reshape_op>(*n.op) || is_operator<slice_op>(*n.op)));
        break;
      case field_kind::half: arguments.push_back(sizes(cursor.take(cursor.left() / 2), false)); break;
      case field_kind::list: cursor.take(static_cast<std::size_t>(f.value)); break;
      case field_kind::text: cursor.text(); break;
      case field_kind::scalar: {
        const auto v = cursor.next();
        arguments.push_back(is_named(v) ? number_argument(size(v)) : number_argument(tensor_literal(static_cast<std::int32_t>(v))));
        break;
      }
      case field_kind::flag:
      case field_kind::integer:
      case field_kind::real:
      case field_kind::type_number:
      case field_kind::word:
      case field_kind::in_graphs:
      case field_kind::unwritten: cursor.next(); break;
      default:
        if (is_number_input(f.kind)) refuse();
    }
  }
  return arguments;
}

}  // namespace leat::detail
