#pragma once
// The table of operators: TensorFlow's, and their equivalents in ONNX. If ONNX's operator differs (sign of remainders, indices out of
// range, sizes of zero), further nodes make the result that of TensorFlow. Source: ONNX's Operators.md, versions 17 to 21.

#include <leat/graph/older_spellings.hpp>
#include <leat/io/onnx/node_writer.hpp>
#include <leat/proto/operator_names.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace leat::io::onnx::detail {

inline constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t to_the_begin = std::numeric_limits<std::int64_t>::min();

// ---- arithmetic -----------------------------------------------------------------------------------------------------

inline std::string onnx_not(onnx_writer& w, const std::string& x) { return w.one("Not", {x}); }

/// Whether the sign of a remainder differs from that of the divisor.
inline std::string wrong_remainder(onnx_writer& w, const std::string& remainder, const std::string& divisor) {
  const std::string zero = w.number(w.type(), 0);
  const std::string signs = w.one("Xor", {w.one("Less", {remainder, zero}), w.one("Less", {divisor, zero})});
  return w.one("And", {onnx_not(w, w.one("Equal", {remainder, zero})), signs});
}
inline void floor_divide(onnx_writer& w) {
  const std::string a = w.in(0), b = w.in(1), quotient = w.one("Div", {a, b});
  if (is_floating(w.type())) return w.result(w.one("Floor", {quotient}));
  if (w.type() == dtype::uint8) return w.result(quotient);
  const std::string remainder = w.one("Mod", {a, b}, {{"fmod", std::int64_t{1}}});
  const std::string less = w.cast(w.type(), wrong_remainder(w, remainder, b));
  w.result(w.one("Sub", {quotient, less}));
}
inline void floor_mod(onnx_writer& w) {
  const std::string a = w.in(0), b = w.in(1);
  if (!is_floating(w.type())) return w.result(w.one("Mod", {a, b}));
  const std::string remainder = w.one("Mod", {a, b}, {{"fmod", std::int64_t{1}}});
  w.result(w.one("Where", {wrong_remainder(w, remainder, b), w.one("Add", {remainder, b}), remainder}));
}
inline void truncate_mod(onnx_writer& w) { w.result(w.one("Mod", w.all(), {{"fmod", std::int64_t{1}}})); }
inline void squared(onnx_writer& w, const std::string& x) { w.result(w.one("Mul", {x, x})); }
/// `otherwise` where input `tested` (the divisor or a factor) is not zero, 0 elsewhere.
inline void or_zero(onnx_writer& w, std::size_t tested, const std::string& otherwise) {
  const std::string zero = w.number(w.type(), 0);
  w.result(w.one("Where", {w.one("Equal", {w.in(tested), zero}), zero, otherwise}));
}
inline void add_several(onnx_writer& w) {
  std::string sum = w.in(0);
  for (std::size_t k = 1; k < w.inputs(); ++k) sum = w.one("Add", {sum, w.in(k)});
  w.result(sum);
}
inline void clip(onnx_writer& w) { w.result(w.one("Min", {w.one("Max", {w.in(0), w.in(1)}), w.in(2)})); }
inline void batch_product(onnx_writer& w, bool first, bool second) {
  names sides = w.all();
  for (std::size_t k = 0; k < 2; ++k) {
    if (!(k == 0 ? first : second)) continue;
    std::vector<std::int64_t> order;
    for (int i = 0; i < w.rank(k); ++i) order.push_back(i);
    if (order.size() >= 2) std::swap(order.end()[-1], order.end()[-2]);
    sides[k] = w.one("Transpose", {sides[k]}, {{"perm", order}});
  }
  w.result(w.one("MatMul", sides));
}
inline void product(onnx_writer& w) {
  const bool a = w.flag("transpose_a"), b = w.flag("transpose_b");
  if (!is_floating(w.type()) || (!a && !b)) return batch_product(w, a, b);
  w.result(w.one("Gemm", w.all(), {{"transA", std::int64_t{a}}, {"transB", std::int64_t{b}}}));
}
inline void biased(onnx_writer& w) {
  const auto format = w.attribute<std::string>("data_format", "NHWC");
  std::string bias = w.in(1);
  if (format.starts_with("NC")) {
    std::vector<std::int64_t> axes;
    for (int i = 1; i + 1 < w.rank(); ++i) axes.push_back(i);
    if (!axes.empty()) bias = w.one("Unsqueeze", {bias, w.ints(axes)});
  }
  w.result(w.one("Add", {w.in(0), bias}));
}
inline void select(onnx_writer& w) {
  std::string condition = w.in(0);
  // A condition that is a vector selects rows.
  if (w.operation().type() == "Select" && w.rank(0) == 1 && w.rank(1) > 1) {
    std::vector<std::int64_t> axes;
    for (int i = 1; i < w.rank(1); ++i) axes.push_back(i);
    condition = w.one("Unsqueeze", {condition, w.ints(axes)});
  }
  w.result(w.one("Where", {condition, w.in(1), w.in(2)}));
}

// ---- reductions -----------------------------------------------------------------------------------------------------

inline std::string reduced(onnx_writer& w, std::string_view op, const std::string& x, const std::vector<std::int64_t>& axes) {
  const std::int64_t keep = w.flag("keep_dims") ? 1 : 0;
  if (w.opset() >= 18 || op == "ReduceSum") return w.one(op, {x, w.ints(axes)}, {{"keepdims", keep}});
  return w.one(op, {x}, {{"axes", axes}, {"keepdims", keep}});
}
inline void reduction(onnx_writer& w, std::string_view op) {
  const auto axes = w.wanted(1, "the axes of a reduction");
  if (axes.empty()) return w.result(w.in(0));
  const dtype type = w.type();
  if (type == dtype::boolean) {  // counts, so that the result for no elements is true for All and false for Any
    const bool is_all = op == "All";
    const std::string x = is_all ? onnx_not(w, w.in(0)) : w.in(0);
    const std::string none = w.one("Equal", {reduced(w, "ReduceSum", w.cast(dtype::int64, x), axes), w.integer_scalar(0)});
    return w.result(is_all ? none : onnx_not(w, none));
  }
  const bool narrow = type == dtype::uint8;  // ONNX has no sums of uint8
  const std::string x = narrow ? w.cast(dtype::int32, w.in(0)) : w.in(0);
  const std::string y = reduced(w, op, x, axes);
  w.result(narrow ? w.cast(type, y) : y);
}
inline void extreme_index(onnx_writer& w, std::string_view op) {
  const std::string at = w.one(op, {w.in(0)}, {{"axis", w.wanted_one(1, "the axis")}, {"keepdims", std::int64_t{0}}});
  w.result(w.as(w.operation().result().type(), dtype::int64, at));
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

inline void reshape(onnx_writer& w) {
  // TensorFlow's size 0 means no elements. ONNX takes 0 for the input's size unless `allowzero` is set, which excludes -1.
  const auto sizes = w.known(1);
  const bool zero = sizes && std::find(sizes->begin(), sizes->end(), 0) != sizes->end();
  if (zero && std::find(sizes->begin(), sizes->end(), -1) != sizes->end()) {
    const shape result = w.operation().result().extent();
    if (!result.is_static()) w.refuse("ONNX takes no shape with both 0 and -1");
    return w.result(w.one("Reshape", {w.in(0), w.ints({result.dim, result.dim + result.rank})}, {{"allowzero", std::int64_t{1}}}));
  }
  onnx_attributes how;
  if (zero) how.push_back({"allowzero", std::int64_t{1}});
  w.result(w.one("Reshape", {w.in(0), w.indices(1)}, how));
}
inline void squeeze(onnx_writer& w) {
  const auto* a = w.operation().attributes().find("squeeze_dims");
  if (a == nullptr) a = w.operation().attributes().find("axis");
  const auto* axes = a != nullptr ? a->get_list<std::int64_t>() : nullptr;
  names inputs{w.in(0)};
  if (axes != nullptr && !axes->empty()) inputs.push_back(w.ints(*axes));
  w.result(w.one("Squeeze", inputs));
}
inline void unsqueeze(onnx_writer& w) { w.result(w.one("Unsqueeze", {w.in(0), w.ints({w.wanted_one(1, "the axis")})})); }
inline void joined(onnx_writer& w) {
  names parts = w.all();
  parts.pop_back();
  const std::int64_t axis = w.wanted_one(parts.size(), "the axis");
  w.result(w.one("Concat", parts, {{"axis", axis}}));
}
inline void pack(onnx_writer& w) {
  const std::int64_t axis = w.integer("axis");
  names parts;
  for (std::size_t k = 0; k < w.inputs(); ++k) parts.push_back(w.one("Unsqueeze", {w.in(k), w.ints({axis})}));
  w.result(w.one("Concat", parts, {{"axis", axis}}));
}
inline void unpack(onnx_writer& w) {
  const std::int64_t axis = w.integer("axis");
  const auto count = static_cast<std::size_t>(w.integer("num"));
  if (count == 0) return;
  const names parts = w.add("Split", {w.in(0), w.ints(std::vector<std::int64_t>(count, 1))}, {{"axis", axis}}, count);
  for (std::size_t k = 0; k < count; ++k) w.result(w.one("Squeeze", {parts[k], w.ints({axis})}), static_cast<int>(k));
}
inline void split(onnx_writer& w) {
  const bool by_sizes = w.operation().type() == "SplitV";
  const std::size_t x = by_sizes ? 0 : 1;
  const std::int64_t axis = w.wanted_one(by_sizes ? 2 : 0, "the axis");
  const auto count = static_cast<std::size_t>(w.integer("num_split"));
  names inputs{w.in(x)};
  onnx_attributes how{{"axis", axis}};
  if (by_sizes) {
    auto sizes = w.known(1);
    if (sizes && std::find(sizes->begin(), sizes->end(), -1) != sizes->end()) {
      const int at = static_cast<int>(axis < 0 ? axis + w.rank(x) : axis);
      std::int64_t rest = w.extent(x)[at];
      if (rest < 0) w.refuse("a size of -1 of an axis of unknown size");
      for (const std::int64_t n : *sizes) rest -= n == -1 ? 0 : n;
      std::replace(sizes->begin(), sizes->end(), std::int64_t{-1}, rest);
    }
    inputs.push_back(sizes ? w.ints(*sizes) : w.indices(1));
  } else if (w.opset() >= 18) {
    how.emplace_back("num_outputs", static_cast<std::int64_t>(count));
  }
  const names parts = w.add("Split", inputs, how, count);
  for (std::size_t k = 0; k < count; ++k) w.result(parts[k], static_cast<int>(k));
}
inline void slice(onnx_writer& w) {
  const auto begin = w.known(1), size = w.known(2);
  if (begin && size && begin->size() == size->size()) {
    std::vector<std::int64_t> end;
    for (std::size_t i = 0; i < begin->size(); ++i) end.push_back((*size)[i] == -1 ? to_the_end : (*begin)[i] + (*size)[i]);
    if (end.empty()) return w.result(w.in(0));
    return w.result(w.one("Slice", {w.in(0), w.ints(*begin), w.ints(end)}));
  }
  const std::string from = w.indices(1), count = w.indices(2);
  const std::string whole = w.one("Equal", {count, w.integer_scalar(-1)});
  w.result(w.one("Slice", {w.in(0), from, w.one("Where", {whole, w.integer_scalar(to_the_end), w.one("Add", {from, count})})}));
}
inline void strided_slice(onnx_writer& w) {
  const auto strides = w.wanted(3, "the strides of a slice");
  const auto begin = w.known(1), end = w.known(2);
  const auto bit = [&](const char* mask, std::size_t k) { return (w.integer(mask) >> k & 1) != 0; };
  std::vector<std::int64_t> axes, steps, removed, added, entries, from, to;
  std::vector<bool> shrinks, fixed_from, fixed_to;
  std::int64_t axis = 0, result = 0;
  std::size_t named = 0;
  bool has_ellipsis = false;
  for (std::size_t k = 0; k < strides.size(); ++k) {
    if (bit("ellipsis_mask", k)) has_ellipsis = true;
    else if (!bit("new_axis_mask", k)) ++named;
  }
  const std::int64_t rest = has_ellipsis ? w.rank() - static_cast<std::int64_t>(named) : 0;
  for (std::size_t k = 0; k < strides.size(); ++k) {
    if (bit("ellipsis_mask", k)) {
      axis += rest;
      result += rest;
    } else if (bit("new_axis_mask", k)) {
      added.push_back(result++);
    } else {
      const bool shrink = bit("shrink_axis_mask", k);
      const bool open_from = !shrink && bit("begin_mask", k), open_to = !shrink && bit("end_mask", k);
      axes.push_back(axis);
      entries.push_back(static_cast<std::int64_t>(k));
      steps.push_back(shrink ? 1 : strides[k]);
      shrinks.push_back(shrink);
      fixed_from.push_back(open_from);
      fixed_to.push_back(open_to);
      if (shrink) removed.push_back(axis);
      else ++result;
      const bool back = steps.back() < 0;
      from.push_back(open_from ? (back ? to_the_end : 0) : begin ? begin->at(k) : 0);
      to.push_back(open_to           ? (back ? to_the_begin : to_the_end)
                   : shrink && begin ? (begin->at(k) == -1 ? to_the_end : begin->at(k) + 1)
                   : end             ? end->at(k)
                                     : 0);
      ++axis;
    }
  }
  std::string x = w.in(0);
  if (!axes.empty()) {
    // If begin or end is computed at run time, masks select between the computed and the fixed values.
    const auto flags = [&](const std::vector<bool>& list) {
      std::string bytes;
      for (const bool b : list) bytes += b ? '\1' : '\0';
      return w.constant(dtype::boolean, {static_cast<std::int64_t>(list.size())}, bytes);
    };
    const auto computed = [&](std::size_t k) { return w.one("Gather", {w.indices(k), w.ints(entries)}); };
    const std::string starts = begin ? w.ints(from) : w.one("Where", {flags(fixed_from), w.ints(from), computed(1)});
    std::string ends = end ? w.ints(to) : w.one("Where", {flags(fixed_to), w.ints(to), computed(2)});
    if (!begin && !removed.empty()) {
      const std::string last = w.one("Equal", {starts, w.integer_scalar(-1)});
      const std::string behind = w.one("Where", {last, w.integer_scalar(to_the_end), w.one("Add", {starts, w.integer_scalar(1)})});
      ends = w.one("Where", {flags(shrinks), behind, ends});
    } else if (begin && !end && !removed.empty()) {
      ends = w.one("Where", {flags(shrinks), w.ints(to), ends});
    }
    x = w.one("Slice", {x, starts, ends, w.ints(axes), w.ints(steps)});
  }
  if (!removed.empty()) x = w.one("Squeeze", {x, w.ints(removed)});
  if (!added.empty()) x = w.one("Unsqueeze", {x, w.ints(added)});
  w.result(x);
}
inline void reverse(onnx_writer& w) {
  const auto axes = w.wanted(1, "the axes");
  if (axes.empty()) return w.result(w.in(0));
  const std::vector<std::int64_t> last(axes.size(), -1), first(axes.size(), to_the_begin), back(axes.size(), -1);
  w.result(w.one("Slice", {w.in(0), w.ints(last), w.ints(first), w.ints(axes), w.ints(back)}));
}
inline void pad(onnx_writer& w) {
  if (const auto list = w.known(1)) {
    std::vector<std::int64_t> pads;
    for (std::size_t side = 0; side < 2; ++side)
      for (std::size_t i = side; i < list->size(); i += 2) pads.push_back((*list)[i]);
    if (pads.empty()) return w.result(w.in(0));
    return w.result(w.one("Pad", {w.in(0), w.ints(pads)}));
  }
  const std::string sides = w.one("Transpose", {w.indices(1)}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  w.result(w.one("Pad", {w.in(0), w.one("Reshape", {sides, w.ints({-1})})}));
}
inline void gather(onnx_writer& w) {
  if (w.integer("batch_dims") != 0) w.refuse("batch_dims has no counterpart: use gather_nd");
  const std::int64_t axis = w.inputs() > 2 ? w.wanted_one(2, "the axis") : 0;
  w.result(w.one("Gather", {w.in(0), w.in(1)}, {{"axis", axis}}));
}
/// Compares with 0, 1, ... along a new axis, since ONNX's OneHot counts negative indices from the end.
inline void one_hot(onnx_writer& w) {
  const int rank = w.rank();
  const std::int64_t at = w.integer("axis", -1), axis = at < 0 ? at + rank + 1 : at;
  const std::string x = w.one("Unsqueeze", {w.as(dtype::int64, w.type(), w.in(0)), w.ints({axis})});
  const std::string depth = w.as(dtype::int64, w.type(1), w.in(1));
  std::string positions = w.one("Range", {w.integer_scalar(0), depth, w.integer_scalar(1)});
  std::vector<std::int64_t> behind;
  for (std::int64_t i = axis; i < rank; ++i) behind.push_back(i - axis + 1);
  if (!behind.empty()) positions = w.one("Unsqueeze", {positions, w.ints(behind)});
  w.result(w.one("Where", {w.one("Equal", {x, positions}), w.in(2), w.in(3)}));
}
inline void top_k(onnx_writer& w) {
  const std::string count = w.one("Reshape", {w.as(dtype::int64, w.type(1), w.in(1)), w.ints({1})});
  const auto sorted = static_cast<std::int64_t>(w.attribute<bool>("sorted", true));
  const names both = w.add("TopK", {w.in(0), count}, {{"axis", std::int64_t{-1}}, {"sorted", sorted}}, 2);
  w.result(both[0], 0);
  w.result(w.as(w.operation().result(1).type(), dtype::int64, both[1]), 1);
}
inline void shape_of_each(onnx_writer& w) {
  for (std::size_t k = 0; k < w.inputs(); ++k)
    w.result(w.as(w.operation().result(static_cast<int>(k)).type(), dtype::int64, w.one("Shape", {w.in(k)})), static_cast<int>(k));
}
inline void size(onnx_writer& w) { w.result(w.as(w.operation().result().type(), dtype::int64, w.one("Size", {w.in(0)}))); }
inline void rank(onnx_writer& w) { w.result(w.cast(dtype::int32, w.one("Size", {w.one("Shape", {w.in(0)})}))); }
inline void filled_like(onnx_writer& w, double value) { w.result(w.one("Expand", {w.number(w.type(), value), w.one("Shape", {w.in(0)})})); }
inline void scatter_nd(onnx_writer& w) {
  const dtype type = w.type(1);
  const std::string zeros = w.one("Expand", {w.number(type, 0), w.indices(2)});
  w.result(w.one("ScatterND", {zeros, w.as(dtype::int64, w.type(), w.in(0)), w.in(1)}, {{"reduction", std::string("add")}}));
}
inline void cumulative(onnx_writer& w) {
  w.result(w.one("CumSum", {w.in(0), w.in(1)},
                 {{"exclusive", std::int64_t{w.flag("exclusive")}}, {"reverse", std::int64_t{w.flag("reverse")}}}));
}
inline void transpose(onnx_writer& w) { w.result(w.one("Transpose", {w.in(0)}, {{"perm", w.wanted(1, "the order of the axes")}})); }
inline void cross_entropy(onnx_writer& w) {
  const auto classes = [&](std::size_t k) {
    const shape s = w.operation().inputs()[k].extent();
    return !s.has_rank() ? unknown_dimension : s.rank == 0 ? 1 : s[s.rank - 1];
  };
  if (!may_equal(classes(0), classes(1))) w.refuse("logits and labels of different numbers of classes: broadcast one of them first");
  const std::string logs = w.one("LogSoftmax", {w.in(0)}, {{"axis", std::int64_t{-1}}});
  const std::string sum = w.one("ReduceSum", {w.one("Mul", {w.in(1), logs}), w.ints({-1})}, {{"keepdims", std::int64_t{0}}});
  w.result(w.one("Neg", {sum}), 0);
  w.result(w.one("Sub", {w.one("Exp", {logs}), w.in(1)}), 1);
}

// ---- the table ------------------------------------------------------------------------------------------------------

/// One operator of TensorFlow: the ONNX operator that has the same inputs and no attributes, or a rule.
struct onnx_row {
  std::string_view type;
  std::string_view same;
  void (*rule)(onnx_writer&) = nullptr;
};

inline constexpr onnx_row onnx_rows[]{
    {"AddV2", "Add"},
    {"Sub", "Sub"},
    {"Mul", "Mul"},
    {"RealDiv", "Div"},
    {"Div", "Div"},
    {"TruncateDiv", "Div"},
    {"FloorDiv", "", floor_divide},
    {"FloorMod", "", floor_mod},
    {"TruncateMod", "", truncate_mod},
    {"DivNoNan", "", [](onnx_writer& w) { or_zero(w, 1, w.one("Div", w.all())); }},
    {"Xlogy", "", [](onnx_writer& w) { or_zero(w, 0, w.one("Mul", {w.in(0), w.one("Log", {w.in(1)})})); }},
    {"Xdivy", "", [](onnx_writer& w) { or_zero(w, 0, w.one("Div", w.all())); }},
    {"AddN", "", add_several},
    {"Neg", "",
     [](onnx_writer& w) { w.result(w.type() == dtype::uint8 ? w.one("Sub", {w.number(w.type(), 0), w.in()}) : w.one("Neg", {w.in()})); }},
    {"Reciprocal", "Reciprocal"},
    {"Square", "", [](onnx_writer& w) { squared(w, w.in()); }},
    {"SquaredDifference", "", [](onnx_writer& w) { squared(w, w.one("Sub", w.all())); }},
    {"Maximum", "Max"},
    {"Minimum", "Min"},
    {"ClipByValue", "", clip},
    {"Abs", "Abs"},
    {"Sign", "Sign"},
    {"Floor", "Floor"},
    {"Ceil", "Ceil"},
    {"Round", "Round"},
    {"Exp", "Exp"},
    {"Expm1", "", [](onnx_writer& w) { w.result(w.one("Sub", {w.one("Exp", {w.in()}), w.number(w.type(), 1)})); }},
    {"Log", "Log"},
    {"Log1p", "", [](onnx_writer& w) { w.result(w.one("Log", {w.one("Add", {w.in(), w.number(w.type(), 1)})})); }},
    {"Sqrt", "Sqrt"},
    {"Rsqrt", "", [](onnx_writer& w) { w.result(w.one("Reciprocal", {w.one("Sqrt", {w.in()})})); }},
    {"Pow", "Pow"},
    {"Sin", "Sin"},
    {"Cos", "Cos"},
    {"Tan", "Tan"},
    {"Asin", "Asin"},
    {"Acos", "Acos"},
    {"Atan", "Atan"},
    {"Sinh", "Sinh"},
    {"Cosh", "Cosh"},
    {"Tanh", "Tanh"},
    {"Erf", "Erf"},
    {"Sigmoid", "Sigmoid"},
    {"Softplus", "Softplus"},
    {"Softsign", "Softsign"},
    {"Equal", "Equal"},
    {"NotEqual", "", [](onnx_writer& w) { w.result(onnx_not(w, w.one("Equal", w.all()))); }},
    {"Less", "Less"},
    {"LessEqual", "LessOrEqual"},
    {"Greater", "Greater"},
    {"GreaterEqual", "GreaterOrEqual"},
    {"LogicalAnd", "And"},
    {"LogicalOr", "Or"},
    {"LogicalNot", "Not"},
    {"IsNan", "IsNaN"},
    {"IsInf", "IsInf"},
    {"IsFinite", "", [](onnx_writer& w) { w.result(onnx_not(w, w.one("Or", {w.one("IsNaN", {w.in()}), w.one("IsInf", {w.in()})}))); }},
    {"Select", "", select},
    {"SelectV2", "", select},
    {"Cast", "", [](onnx_writer& w) { w.result(w.cast(w.operation().result().type(), w.in())); }},
    {"Sum", "", [](onnx_writer& w) { reduction(w, "ReduceSum"); }},
    {"Mean", "", [](onnx_writer& w) { reduction(w, "ReduceMean"); }},
    {"Max", "", [](onnx_writer& w) { reduction(w, "ReduceMax"); }},
    {"Min", "", [](onnx_writer& w) { reduction(w, "ReduceMin"); }},
    {"Prod", "", [](onnx_writer& w) { reduction(w, "ReduceProd"); }},
    {"All", "", [](onnx_writer& w) { reduction(w, "All"); }},
    {"Any", "", [](onnx_writer& w) { reduction(w, "Any"); }},
    {"ArgMax", "", [](onnx_writer& w) { extreme_index(w, "ArgMax"); }},
    {"ArgMin", "", [](onnx_writer& w) { extreme_index(w, "ArgMin"); }},
    {"Cumsum", "", cumulative},
    {"MatMul", "", product},
    {"BatchMatMulV2", "", [](onnx_writer& w) { batch_product(w, w.flag("adj_x"), w.flag("adj_y")); }},
    {"BiasAdd", "", biased},
    {"Relu", "", [](onnx_writer& w) { w.result(w.type() == dtype::uint8 ? w.in() : w.one("Relu", {w.in()})); }},
    {"Relu6", "", [](onnx_writer& w) { w.result(w.one("Clip", {w.in(), w.number(w.type(), 0), w.number(w.type(), 6)})); }},
    {"LeakyRelu", "", [](onnx_writer& w) { w.result(w.one("LeakyRelu", {w.in()}, {{"alpha", w.attribute<float>("alpha", 0.2f)}})); }},
    {"Elu", "Elu"},
    {"Selu", "Selu"},
    {"Softmax", "", [](onnx_writer& w) { w.result(w.one("Softmax", {w.in()}, {{"axis", std::int64_t{-1}}})); }},
    {"LogSoftmax", "", [](onnx_writer& w) { w.result(w.one("LogSoftmax", {w.in()}, {{"axis", std::int64_t{-1}}})); }},
    {"SoftmaxCrossEntropyWithLogits", "", cross_entropy},
    {"L2Loss", "",
     [](onnx_writer& w) {
       w.result(
           w.one("Mul", {w.one("ReduceSum", {w.one("Mul", {w.in(), w.in()})}, {{"keepdims", std::int64_t{0}}}), w.number(w.type(), 0.5)}));
     }},
    {"Reshape", "", reshape},
    {"Transpose", "", transpose},
    {"ExpandDims", "", unsqueeze},
    {"Squeeze", "", squeeze},
    {"BroadcastTo", "", [](onnx_writer& w) { w.result(w.one("Expand", {w.in(0), w.indices(1)})); }},
    {"Fill", "", [](onnx_writer& w) { w.result(w.one("Expand", {w.in(1), w.indices(0)})); }},
    {"ZerosLike", "", [](onnx_writer& w) { filled_like(w, 0); }},
    {"OnesLike", "", [](onnx_writer& w) { filled_like(w, 1); }},
    {"Range", "Range"},
    {"ConcatV2", "", joined},
    {"Pack", "", pack},
    {"Unpack", "", unpack},
    {"Split", "", split},
    {"SplitV", "", split},
    {"Slice", "", slice},
    {"StridedSlice", "", strided_slice},
    {"ReverseV2", "", reverse},
    {"Tile", "", [](onnx_writer& w) { w.result(w.one("Tile", {w.in(0), w.indices(1)})); }},
    {"Pad", "", pad},
    {"Gather", "", gather},
    {"GatherV2", "", gather},
    {"GatherNd", "", [](onnx_writer& w) { w.result(w.one("GatherND", {w.in(0), w.as(dtype::int64, w.type(1), w.in(1))})); }},
    {"ScatterNd", "", scatter_nd},
    {"OneHot", "", one_hot},
    {"TopKV2", "", top_k},
    {"Where", "",
     [](onnx_writer& w) { w.result(w.one("Transpose", {w.one("NonZero", {w.in()})}, {{"perm", std::vector<std::int64_t>{1, 0}}})); }},
    {"Shape", "", shape_of_each},
    {"ShapeN", "", shape_of_each},
    {"Size", "", size},
    {"Rank", "", rank}};

/// Operators that return their first input.
inline constexpr std::string_view passes_through[]{"Identity",      "StopGradient", "PreventGradient",       "Snapshot",
                                                   "CheckNumerics", "Print",        "PlaceholderWithDefault"};
/// Operators without a lasting effect, so that no node needs to wait for them.
inline constexpr std::string_view without_effect[]{
    "NoOp",         "Assert",          "PrintV2",        "ControlTrigger", "ScalarSummary", "ImageSummary", "HistogramSummary",
    "MergeSummary", "TensorSummaryV2", "AudioSummaryV2", "AudioSummary",   "Const",         "Placeholder",  "PlaceholderV2"};

inline const onnx_row* find_onnx_row(std::string_view type) {
  static const std::unordered_map<std::string_view, const onnx_row*> rows = [] {
    std::unordered_map<std::string_view, const onnx_row*> made;
    for (const onnx_row& row : onnx_rows) made.emplace(row.type, &row);
    return made;
  }();
  const auto at = rows.find(current_spelling(type));
  return at != rows.end() ? at->second : nullptr;
}
inline bool is_passed_through(std::string_view type) {
  return std::find(std::begin(passes_through), std::end(passes_through), type) != std::end(passes_through);
}
inline bool is_without_effect(std::string_view type) {
  return std::find(std::begin(without_effect), std::end(without_effect), type) != std::end(without_effect) || is_passed_through(type) ||
         leat::detail::is_kept_variable(type) || find_onnx_row(type) != nullptr;
}

}  // namespace leat::io::onnx::detail
