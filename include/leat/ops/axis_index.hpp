#pragma once
// Entries of the function `index`, each of which says what a result takes of an axis: `along::between(1, 5)` is Python's `1:5`. Typed
// expressions and graphs with names have the same entries.

#include <cstdint>

namespace leat {

/// An entry of `index`: a position, which removes its axis, or a result of the functions in `along`. Its members are public so that it may
/// be a template argument.
struct axis_index {
  enum class kind { position, range, new_axis, rest };
  kind what = kind::position;
  bool has_begin = false;
  bool has_end = false;
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t step = 1;

  constexpr axis_index(std::int32_t position) : has_begin(true), begin(position) {}
  constexpr axis_index(kind its_kind, bool with_begin, bool with_end, std::int32_t its_begin, std::int32_t its_end, std::int32_t its_step)
      : what(its_kind), has_begin(with_begin), has_end(with_end), begin(its_begin), end(its_end), step(its_step) {}
};

namespace along {
/// The whole axis, `:`, or each `step`-th element of it, `::step`.
constexpr axis_index all(std::int32_t step = 1) { return {axis_index::kind::range, false, false, 0, 0, step}; }
/// `begin:`; a negative position counts from the end.
constexpr axis_index from(std::int32_t begin, std::int32_t step = 1) { return {axis_index::kind::range, true, false, begin, 0, step}; }
/// `:end`; a negative position counts from the end.
constexpr axis_index until(std::int32_t end, std::int32_t step = 1) { return {axis_index::kind::range, false, true, 0, end, step}; }
/// `begin:end`; negative positions count from the end.
constexpr axis_index between(std::int32_t begin, std::int32_t end, std::int32_t step = 1) {
  return {axis_index::kind::range, true, true, begin, end, step};
}
/// A new dimension of 1.
constexpr axis_index new_axis() { return {axis_index::kind::new_axis, false, false, 0, 0, 1}; }
/// All axes that the other entries do not name, `...`; may occur once.
constexpr axis_index rest() { return {axis_index::kind::rest, false, false, 0, 0, 1}; }
}  // namespace along

}  // namespace leat
