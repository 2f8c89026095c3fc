#pragma once
// Kernels of quantized networks. Their numbers are integers of 8, 16 or 32 bits which stand for a range of real numbers: the lowest integer
// for its start, the highest for its end. Each kernel gives the range of its result, too. Products and sums are exact in int32, which
// wraps. Roundings are TensorFlow's, step by step. Source: TensorFlow `QuantizeV2`, `Dequantize`, `Requantize`, `QuantizedMatMul`,
// `QuantizedConv2D` and their kin; quantization_utils.h.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/window_attributes.hpp>
#include <leat/ops/windows.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/special.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace leat::runtime {

namespace quantized {

/// The integers of a dtype.
struct integers_of {
  std::int64_t lowest = 0, highest = 0;
  double steps() const { return static_cast<double>(highest - lowest); }
  bool is_signed() const { return lowest < 0; }
  std::int32_t clamped(std::int64_t v) const { return static_cast<std::int32_t>(std::clamp(v, lowest, highest)); }
  /// The nearest number of the dtype that a float represents. A NaN becomes the lowest.
  std::int32_t of_float(float v) const {
    const float least = static_cast<float>(lowest), most = std::min(static_cast<float>(highest), 2147483520.0f);
    return static_cast<std::int32_t>(v > least ? std::min(v, most) : least);
  }
};
inline integers_of kind_of(dtype type) {
  switch (to_data_type(type)) {
    case data_type::qint8: return {-128, 127};
    case data_type::quint8: return {0, 255};
    case data_type::qint16: return {-32768, 32767};
    case data_type::quint16: return {0, 65535};
    case data_type::qint32: return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    default: throw unimplemented("no kernel for dtype " + dtype_name(type));
  }
}

/// A product that is rounded before it is added to anything, whatever the compiler would join.
inline float product_of(float a, float b) {
  const volatile float made = a * b;
  return made;
}

struct range {
  float low = 0, high = 0;
};
inline float scalar(kernel_context& c, int k, const char* name) {
  if (c.input(k).elements() != 1)
    throw invalid_argument(std::string(name) + " must be a scalar, but got shape " + brackets(c.extent(k)));
  return c.input(k).values<float>()[0];
}
/// The range in inputs `k` and `k + 1`.
inline range range_at(kernel_context& c, int k, const char* of = "input") {
  const std::string name(of);
  return {scalar(c, k, ("min_" + name).c_str()), scalar(c, k + 1, ("max_" + name).c_str())};
}
inline void set_range(kernel_context& c, const range& r, int k = 1) {
  c.set(k, tensor_value(r.low));
  c.set(k + 1, tensor_value(r.high));
}

/// The integer that stands for a number; it may be out of the dtype.
inline std::int64_t unclamped(const integers_of& kind, float value, const range& r) {
  if (r.low == r.high) return kind.lowest;
  const double count = kind.steps() + 1, width = static_cast<double>(r.high - r.low) * (count / kind.steps()), scale = count / width;
  const double made = std::round(static_cast<double>(value) * scale) - std::round(static_cast<double>(r.low) * scale);
  if (!(std::abs(made) < 0x1p62)) return made > 0 ? std::int64_t{1} << 62 : -(std::int64_t{1} << 62);
  return static_cast<std::int64_t>(made) + kind.lowest;
}
inline std::int32_t of_number(const integers_of& kind, float value, const range& r) { return kind.clamped(unclamped(kind, value, r)); }
/// The number for which an integer stands.
inline float number_of(const integers_of& kind, std::int64_t value, const range& r) {
  if (r.low == r.high) return r.low;
  const double count = kind.steps() + 1, width = static_cast<double>(r.high - r.low) * (count / kind.steps()), scale = width / count;
  const auto step = static_cast<double>(static_cast<float>(scale));
  const double low = std::round(static_cast<double>(r.low) / step) * step;
  return static_cast<float>(low + static_cast<double>(value - kind.lowest) * scale);
}
/// The same in float, as TensorFlow's vector code computes it.
class to_number {
 public:
  to_number(const integers_of& kind, const range& r) : scale_(static_cast<float>(static_cast<double>(r.high - r.low) / kind.steps())) {
    const float low = r.high == r.low ? r.low : product_of(std::round(r.low / scale_), scale_);
    start_ = low - product_of(static_cast<float>(kind.lowest), scale_);
  }
  float operator()(std::int32_t value) const { return start_ + product_of(static_cast<float>(value), scale_); }

 private:
  float scale_, start_ = 0;
};
class to_integer {
 public:
  to_integer(const integers_of& kind, const range& r)
      : kind_(kind),
        scale_(r.high == r.low ? 0.0f : static_cast<float>(kind.steps() / static_cast<double>(r.high - r.low))),
        offset_(std::round(product_of(r.low, scale_)) - static_cast<float>(kind.lowest)) {}
  std::int32_t operator()(float value) const { return kind_.of_float(std::round(product_of(value, scale_)) - offset_); }

 private:
  integers_of kind_;
  float scale_, offset_;
};

/// The integers of an input, as int32.
inline tensor_value integers_at(kernel_context& c, int k) {
  if (!is_quantized(c.type(k))) throw unimplemented("no kernel for dtype " + dtype_name(c.type(k)));
  return c.input(k).widened();
}
inline void set(kernel_context& c, int k, const tensor_value& made, dtype type) { c.set(k, made.narrowed(to_data_type(type))); }
inline std::int32_t wrapped(std::int64_t v) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(v))); }

// ---- between real numbers and integers --------------------------------------------------------------------------------

/// The slices of an array along an axis, each with a range of its own; without an axis it is one.
struct slices {
  std::int64_t count = 1, inner = 1;
  std::size_t operator()(std::size_t element) const { return static_cast<std::size_t>(static_cast<std::int64_t>(element) / inner % count); }
};

inline void run_quantize(kernel_context& c) {
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  const dtype type = c.node.type_of("T");
  const integers_of kind = kind_of(type);
  const std::string mode = c.node.record->attributes.find("mode") != nullptr ? c.node.text("mode") : "MIN_COMBINED";
  const std::string rounding = c.node.record->attributes.find("round_mode") != nullptr ? c.node.text("round_mode") : "HALF_AWAY_FROM_ZERO";
  if (mode != "MIN_COMBINED" && mode != "MIN_FIRST" && mode != "SCALED")
    throw invalid_argument("Mode string must be 'MIN_COMBINED', 'MIN_FIRST', or 'SCALED', is '" + mode + "'");
  if (rounding != "HALF_AWAY_FROM_ZERO" && rounding != "HALF_TO_EVEN")
    throw invalid_argument("Round mode string must be 'HALF_AWAY_FROM_ZERO' or 'HALF_TO_EVEN', is '" + rounding + "'");
  if (rounding == "HALF_TO_EVEN" && mode != "SCALED")
    throw invalid_argument("Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '" + mode + "'.");
  const std::int64_t axis = c.node.integer("axis", -1);
  const float least_width = c.node.attribute<float>("ensure_minimum_range", 0.01f);
  slices parts;
  if (axis < -1) throw invalid_argument("Axis must be at least -1. Found " + std::to_string(axis));
  if (axis >= 0) {
    if (axis >= s.rank)
      throw invalid_argument(
          "Axis is on a zero-based index, so its value must always be less than number of input's dims, but given axis value was " +
          std::to_string(axis) + " and input's dims was " + std::to_string(s.rank));
    parts = {s[static_cast<int>(axis)], std::max<std::int64_t>(product(s, static_cast<int>(axis) + 1, s.rank), 1)};
  }
  for (const int k : {1, 2}) {
    const std::string name = k == 1 ? "min_range" : "max_range";
    if (axis < 0 && c.input(k).elements() != 1)
      throw invalid_argument("If axis is not specified, " + name + " must contain a single float element, but it contains " +
                             std::to_string(c.input(k).elements()) + " elements");
    if (axis >= 0 && (c.extent(k).rank != 1 || c.extent(k)[0] != parts.count))
      throw invalid_argument(
          "If axis is specified, " + name +
          " must be a 1-D tensor whose size matches the axis dimension of the input and output tensors, but its shape is " +
          brackets(c.extent(k)) + " and input's axis dimension was of size " + std::to_string(parts.count));
  }
  if (parts.count != 1 && mode == "MIN_FIRST") throw unimplemented("MIN_FIRST mode is not implemented for Quantize with axis != -1.");
  struct part {
    range of{};
    float scale = 0;
  };
  std::vector<part> all(static_cast<std::size_t>(parts.count));
  tensor_value lows(dtype::float32, c.extent(1)), highs(dtype::float32, c.extent(1));
  for (std::size_t k = 0; k < all.size(); ++k) {
    const float low = c.input(1).values<float>()[k], high = c.input(2).values<float>()[k];
    if (high < low) throw invalid_argument("input_max_range must be larger than input_min_range.");
    part& its = all[k];
    its.of.low = std::min(0.0f, low);
    const float width = product_of(std::max(1.0f, std::max(std::abs(low), std::abs(high))), least_width);
    its.of.high = std::max(0.0f, std::max(high, its.of.low + width));
    if (mode == "MIN_COMBINED") {
      its.scale = static_cast<float>(kind.steps() / static_cast<double>(its.of.high - its.of.low));
    } else if (mode == "SCALED") {
      const auto least = static_cast<float>(kind.lowest + (c.node.flag("narrow_range") ? 1 : 0)), most = static_cast<float>(kind.highest);
      constexpr float none = std::numeric_limits<float>::max();
      its.scale = std::min(least * its.of.low > 0 ? least / its.of.low : none, most * its.of.high > 0 ? most / its.of.high : none);
      its.of = {least / its.scale, most / its.scale};
    }
    lows.values<float>()[k] = its.of.low;
    highs.values<float>()[k] = its.of.high;
  }
  tensor_value made(dtype::int32, s);
  const auto half = static_cast<float>((kind.steps() + 1) / 2);
  for (std::size_t i = 0; i < x.values<float>().size(); ++i) {
    if (i % 4096 == 0) c.step.check();
    const part& its = all[parts(i)];
    const float value = x.values<float>()[i], inside = std::max(std::min(value, its.of.high), its.of.low);
    float scaled = 0;
    if (mode == "MIN_FIRST") {
      made.values<std::int32_t>()[i] = to_integer(kind, its.of)(value);
      continue;
    }
    if (mode == "MIN_COMBINED") {
      scaled = product_of(inside - its.of.low, its.scale);
      scaled = kind.is_signed() ? std::round(scaled - half) : std::trunc(scaled + 0.5f);
    } else {
      scaled = product_of(inside, its.scale);
      scaled = rounding == "HALF_TO_EVEN" ? std::nearbyint(scaled) : std::round(scaled);
    }
    made.values<std::int32_t>()[i] = kind.of_float(scaled);
  }
  set(c, 0, made, type);
  c.set(1, std::move(lows));
  c.set(2, std::move(highs));
}

inline void run_dequantize(kernel_context& c) {
  const tensor_value x = integers_at(c, 0);
  const shape& s = x.extent();
  const integers_of kind = kind_of(c.type(0));
  const std::string mode = c.node.record->attributes.find("mode") != nullptr ? c.node.text("mode") : "MIN_COMBINED";
  const dtype type = c.node.type_of("dtype", dtype::float32);
  if (mode != "MIN_COMBINED" && mode != "MIN_FIRST" && mode != "SCALED")
    throw invalid_argument("Mode string must be 'MIN_COMBINED', 'MIN_FIRST', or 'SCALED', is '" + mode + "'");
  if (type != dtype::float32 && mode != "MIN_COMBINED")
    throw invalid_argument("When output type is bfloat16, Mode string must be 'MIN_COMBINED', is '" + mode + "'");
  const std::int64_t axis = c.node.integer("axis", -1);
  if (axis < -1) throw invalid_argument("Axis must be at least -1. Found " + std::to_string(axis));
  if (axis >= s.rank)
    throw invalid_argument("Axis must be less than input dimension(" + std::to_string(s.rank) + "), got " + std::to_string(axis));
  slices parts;
  if (axis >= 0) parts = {s[static_cast<int>(axis)], std::max<std::int64_t>(product(s, static_cast<int>(axis) + 1, s.rank), 1)};
  for (const int k : {1, 2})
    if (c.input(k).elements() != parts.count)
      throw invalid_argument(std::string(k == 1 ? "input_min_tensor" : "input_max_tensor") +
                             " must have as many elements as input on the dequantization axis (" + std::to_string(axis) + "), got " +
                             std::to_string(c.input(k).elements()) + ", expected " + std::to_string(parts.count));
  if (parts.count != 1 && mode == "MIN_FIRST") throw unimplemented("MIN_FIRST mode is not implemented for Dequantize with axis != -1.");
  tensor_value made(dtype::float32, s);
  std::vector<range> all;
  for (std::size_t k = 0; k < static_cast<std::size_t>(parts.count); ++k)
    all.push_back({c.input(1).values<float>()[k], c.input(2).values<float>()[k]});
  const auto half = kind.is_signed() ? static_cast<float>((kind.steps() + 1) / 2) : 0.0f;
  const auto least = static_cast<float>(kind.lowest + (c.node.flag("narrow_range") ? 1 : 0)), most = static_cast<float>(kind.highest);
  std::vector<float> scales;
  for (const range& r : all)
    scales.push_back(mode == "SCALED" ? (kind.is_signed() ? std::max(r.low / least, r.high / most) : r.high / most)
                                      : (r.high - r.low) / (static_cast<float>(kind.highest) - static_cast<float>(kind.lowest)));
  for (std::size_t i = 0; i < x.values<std::int32_t>().size(); ++i) {
    if (i % 4096 == 0) c.step.check();
    const std::int32_t value = x.values<std::int32_t>()[i];
    const std::size_t k = parts(i);
    float& to = made.values<float>()[i];
    if (mode == "MIN_FIRST") to = to_number(kind, all[k])(value);
    else if (mode == "SCALED") to = product_of(static_cast<float>(value), scales[k]);
    else to = product_of(static_cast<float>(value) + half, scales[k]) + all[k].low;
  }
  c.set(0, type == dtype::float32 ? std::move(made) : made.narrowed(to_data_type(type)));
}

/// The same numbers by integers of another range. From 32 to 8 bits, TensorFlow computes with 16 binary places.
inline tensor_value in_range(const tensor_value& x, const integers_of& from, const range& before, const integers_of& to,
                             const range& after) {
  tensor_value made(dtype::int32, x.extent());
  const auto given = x.values<std::int32_t>();
  const auto result = made.values<std::int32_t>();
  if (from.steps() > 65535 && to.lowest == 0 && to.highest == 255) {
    const float width = before.high - before.low, new_width = after.high - after.low;
    const float inverse = new_width == 0 ? 0.0f : static_cast<float>(255.0 / static_cast<double>(new_width));
    const auto middle = static_cast<float>(static_cast<double>(before.low + before.high) / 2.0);
    const auto whole = [](double v) { return std::abs(v) < 0x1p62 ? static_cast<std::int64_t>(v) : std::int64_t{0}; };
    const std::int64_t scale = new_width == 0 ? 0 : whole(255.0 * 65536 * static_cast<double>(width) / static_cast<double>(new_width));
    const std::int64_t offset = whole(static_cast<double>(product_of(middle, inverse) * 65536.0f));
    const std::int64_t start =
        new_width == 0 ? 0 : whole(65536 * (static_cast<double>(after.low) * 255.0) / static_cast<double>(new_width));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto scaled = static_cast<std::int64_t>(static_cast<std::uint64_t>(std::int64_t{given[i]}) * static_cast<std::uint64_t>(scale));
      const auto sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(scaled >> 32) + static_cast<std::uint64_t>(offset) -
                                                 static_cast<std::uint64_t>(start) + (1u << 15));
      result[i] = to.clamped(sum >> 16);
    }
    return made;
  }
  const to_number number(from, before);
  const to_integer integer(to, after);
  for (std::size_t i = 0; i < given.size(); ++i) result[i] = integer(number(given[i]));
  return made;
}
/// The range that the numbers use, with 0.
inline range used_range(const tensor_value& x, const integers_of& kind, const range& r) {
  std::int64_t least = kind.highest, most = kind.lowest;
  for (const std::int32_t v : x.values<std::int32_t>()) {
    least = std::min<std::int64_t>(least, v);
    most = std::max<std::int64_t>(most, v);
  }
  return {std::min(0.0f, number_of(kind, least, r)), number_of(kind, most, r)};
}
inline void run_shrink_range(kernel_context& c) {
  const tensor_value x = integers_at(c, 0);
  const range before = range_at(c, 1);
  const integers_of kind = kind_of(c.type(0));
  const range after = used_range(x, kind, before);
  const dtype type = c.node.type_of("out_type");
  set(c, 0, in_range(x, kind, before, kind_of(type), after), type);
  set_range(c, after);
}
inline void run_requantization_range(kernel_context& c) {
  set_range(c, used_range(integers_at(c, 0), kind_of(c.type(0)), range_at(c, 1)), 0);
}
inline void run_requantize(kernel_context& c) {
  const tensor_value x = integers_at(c, 0);
  const range before = range_at(c, 1), after{scalar(c, 3, "requested_output_min"), scalar(c, 4, "requested_output_max")};
  const auto text = [](float v) { return summary_text(tensor_value(v)); };
  if (!(after.low <= 0)) throw invalid_argument("requested_output_min must be <= 0, but got " + text(after.low));
  if (!(after.high >= after.low))
    throw invalid_argument("requested_output_max must be >= requested_output_min, but got " + text(after.high) + " and " + text(after.low));
  const dtype type = c.node.type_of("out_type");
  set(c, 0, in_range(x, kind_of(c.type(0)), before, kind_of(type), after), type);
  set_range(c, after);
}

// ---- products ---------------------------------------------------------------------------------------------------------

/// What a product of two integers stands for, in the range of a dtype.
inline range range_of_products(const integers_of& a, const range& ra, const integers_of& b, const range& rb, const integers_of& to) {
  const auto step = [](const integers_of& kind, const range& r) {
    return (r.high - r.low) / static_cast<float>(kind.highest - kind.lowest);
  };
  const float each = step(a, ra) * step(b, rb);
  return {each * static_cast<float>(to.lowest), each * static_cast<float>(to.highest)};
}
/// Two operands whose products are summed: their integers less those that stand for 0.
struct factors {
  tensor_value a, b;
  std::int64_t zero_a = 0, zero_b = 0;
  range of_result{};
  dtype type = dtype::invalid;
};
inline factors factors_of(kernel_context& c, const char* type, const char* first, const char* second, bool wants_width) {
  factors made{integers_at(c, 0), integers_at(c, 1)};
  const integers_of a = kind_of(c.type(0)), b = kind_of(c.type(1));
  const range ra = range_at(c, 2, first), rb = range_at(c, 4, second);
  if (wants_width) {
    if (!(ra.high > ra.low)) throw invalid_argument("max_" + std::string(first) + " must be larger than min_" + first + ".");
    if (!(rb.high > rb.low)) throw invalid_argument("max_" + std::string(second) + " must be larger than min_" + second + ".");
  }
  made.zero_a = wrapped(unclamped(a, 0, ra));
  made.zero_b = wrapped(unclamped(b, 0, rb));
  made.type = c.node.type_of(type, static_cast<dtype>(data_type::qint32));
  made.of_result = range_of_products(a, ra, b, rb, kind_of(made.type));
  return made;
}
inline std::int64_t offset_by(std::int32_t v, std::int64_t zero) { return std::int64_t{v} - zero; }
/// A sum of products, which wraps at 64 bits.
inline void add_product(std::uint64_t& sum, std::int64_t a, std::int64_t b) {
  sum += static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
}

inline void run_matmul(kernel_context& c) {
  const shape &a = c.extent(0), &b = c.extent(1);
  if (a.rank != 2) throw invalid_argument("In[0] is not a matrix");
  if (b.rank != 2) throw invalid_argument("In[1] is not a matrix");
  const factors in = factors_of(c, "Toutput", "a", "b", true);
  const bool ta = c.node.flag("transpose_a"), tb = c.node.flag("transpose_b");
  const std::int64_t rows = a[ta ? 1 : 0], inner = a[ta ? 0 : 1], columns = b[tb ? 0 : 1];
  if (inner != b[tb ? 1 : 0])
    throw invalid_argument("Matrix size-incompatible: In[0]: " + brackets(a) + ", In[1]: " + brackets(b));
  tensor_value made(dtype::int32, {rows, columns});
  const std::int32_t *const x = in.a.values<std::int32_t>().data(), *const y = in.b.values<std::int32_t>().data();
  const integers_of kind = kind_of(in.type);
  std::int32_t* to = made.values<std::int32_t>().data();
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    c.step.check();
    std::fill(sums.begin(), sums.end(), 0);
    for (std::int64_t k = 0; k < inner; ++k) {
      const std::int64_t left = offset_by(x[ta ? k * rows + i : i * inner + k], in.zero_a);
      for (std::int64_t j = 0; j < columns; ++j)
        add_product(sums[static_cast<std::size_t>(j)], left, offset_by(y[tb ? j * inner + k : k * columns + j], in.zero_b));
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto sum = static_cast<std::int64_t>(sums[static_cast<std::size_t>(j)]);
      *to++ = in.type == static_cast<dtype>(data_type::qint32) ? wrapped(sum) : kind.clamped(sum);
    }
  }
  set(c, 0, made, in.type);
  set_range(c, in.of_result);
}

/// The windows of an axis: how many, and where the first one begins.
struct axis_windows {
  std::int64_t count = 0, before = 0, stride = 1, dilation = 1;
};
inline axis_windows windows_of(const std::string& padding, std::int64_t size, std::int64_t window, std::int64_t stride,
                               std::int64_t dilation = 1) {
  if (stride < 1 || dilation < 1 || window < 1 || stride > (1 << 30) || dilation > (1 << 30) || window > (1 << 30))
    throw invalid_argument("a window of " + std::to_string(window) + " elements with stride " + std::to_string(stride) + " and dilation " +
                           std::to_string(dilation));
  const std::int64_t span = (window - 1) * dilation + 1;
  if (padding == "SAME") {
    const std::int64_t count = (size + stride - 1) / stride, more = std::max<std::int64_t>((count - 1) * stride + span - size, 0);
    return {count, more / 2, stride, dilation};
  }
  if (padding != "VALID") throw invalid_argument("padding \"" + padding + "\" is none of SAME and VALID");
  if (span > size)
    throw invalid_argument("Computed output size would be negative: " + std::to_string(size - span + 1) +
                           " [input_size: " + std::to_string(size) + ", effective_filter_size: " + std::to_string(span) +
                           ", stride: " + std::to_string(stride) + "]");
  return {(size - span) / stride + 1, 0, stride, dilation};
}
inline std::int64_t element_of(const std::vector<std::int64_t>& list, std::size_t k, std::int64_t otherwise) {
  return k < list.size() ? list[k] : otherwise;
}

inline void run_convolution(kernel_context& c) {
  const shape &image = c.extent(0), &filter = c.extent(1);
  if (image.rank != 4) throw invalid_argument("input must be rank 4 but is rank " + std::to_string(image.rank));
  if (filter.rank != 4) throw invalid_argument("filter must be rank 4 but is rank " + std::to_string(filter.rank));
  if (image[3] != filter[2])
    throw invalid_argument("input and filter must have the same depth: " + std::to_string(image[3]) + " vs " + std::to_string(filter[2]));
  const auto strides = c.node.list<std::int64_t>("strides"), dilations = c.node.list<std::int64_t>("dilations");
  if (strides.size() != 4) throw invalid_argument("Sliding window strides field must specify 4 dimensions");
  if (strides[0] != 1 || strides[3] != 1)
    throw invalid_argument("Current implementation does not yet support strides in the batch and depth dimensions.");
  if (!dilations.empty() && (dilations.size() != 4 || dilations[0] != 1 || dilations[3] != 1))
    throw invalid_argument("Current implementation does not yet support dilations in the batch and depth dimensions.");
  const factors in = factors_of(c, "out_type", "input", "filter", false);
  const std::string padding = c.node.text("padding");
  const axis_windows down = windows_of(padding, image[1], filter[0], strides[1], element_of(dilations, 1, 1));
  const axis_windows across = windows_of(padding, image[2], filter[1], strides[2], element_of(dilations, 2, 1));
  tensor_value made(dtype::int32, {image[0], down.count, across.count, filter[3]});
  const std::int32_t *const x = in.a.values<std::int32_t>().data(), *const y = in.b.values<std::int32_t>().data();
  const integers_of kind = kind_of(in.type);
  std::int32_t* to = made.values<std::int32_t>().data();
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(filter[3]));
  for (std::int64_t n = 0; n < image[0]; ++n)
    for (std::int64_t r = 0; r < down.count; ++r) {
      c.step.check();
      for (std::int64_t q = 0; q < across.count; ++q) {
        std::fill(sums.begin(), sums.end(), 0);
        for (std::int64_t i = 0; i < filter[0]; ++i) {
          const std::int64_t row = r * down.stride - down.before + i * down.dilation;
          if (row < 0 || row >= image[1]) continue;  // what is outside of the image stands for 0
          for (std::int64_t j = 0; j < filter[1]; ++j) {
            const std::int64_t column = q * across.stride - across.before + j * across.dilation;
            if (column < 0 || column >= image[2]) continue;
            const std::int32_t* const pixel = x + ((n * image[1] + row) * image[2] + column) * image[3];
            const std::int32_t* const weights = y + (i * filter[1] + j) * filter[2] * filter[3];
            for (std::int64_t k = 0; k < filter[2]; ++k) {
              const std::int64_t left = offset_by(pixel[k], in.zero_a);
              for (std::int64_t m = 0; m < filter[3]; ++m)
                add_product(sums[static_cast<std::size_t>(m)], left, offset_by(weights[k * filter[3] + m], in.zero_b));
            }
          }
        }
        for (const std::uint64_t sum : sums) *to++ = kind.clamped(static_cast<std::int64_t>(sum));
      }
    }
  set(c, 0, made, in.type);
  set_range(c, in.of_result);
}

// ---- sums -------------------------------------------------------------------------------------------------------------

inline void run_bias_add(kernel_context& c) {
  const shape &s = c.extent(0), &bias = c.extent(1);
  const range rx = range_at(c, 2), rb = range_at(c, 4, "bias");
  if (s.rank < 2) throw invalid_argument("Input tensor must be at least 2D: " + brackets(s));
  if (bias.rank != 1) throw invalid_argument("Biases must be 1D: " + brackets(bias));
  if (bias[0] != s[s.rank - 1])
    throw invalid_argument("Must provide as many biases as the last dimension of the input tensor: " + brackets(bias) + " vs. " +
                           brackets(s));
  const dtype type = c.node.type_of("out_type");
  const integers_of kind = kind_of(type);
  const float largest = std::max(rx.high, std::max(-rx.low, std::max(rb.high, -rb.low))) * 131072.0f;
  const range all{-largest, largest};
  const std::int64_t zero = of_number(kind, 0, all);
  const tensor_value x = in_range(integers_at(c, 0), kind_of(c.type(0)), rx, kind, all);
  const tensor_value y = in_range(integers_at(c, 1), kind_of(c.type(1)), rb, kind, all);
  tensor_value made(dtype::int32, s);
  const auto count = static_cast<std::size_t>(bias[0]);
  for (std::size_t i = 0; i < made.values<std::int32_t>().size(); ++i)
    made.values<std::int32_t>()[i] = wrapped(std::int64_t{x.values<std::int32_t>()[i]} + y.values<std::int32_t>()[i % count] + zero);
  set(c, 0, made, type);
  set_range(c, all);
}

inline shape broadcast_of(kernel_context& c) {
  const auto both = broadcast(c.extent(0), c.extent(1));
  if (!both.ok) throw invalid_argument("Incompatible shapes: " + brackets(c.extent(0)) + " vs. " + brackets(c.extent(1)));
  return both.extent;
}
/// Sums in a range that is 2^14 times as wide, so that they lie in it.
inline void run_add(kernel_context& c) {
  const shape s = broadcast_of(c);
  const range rx = range_at(c, 2, "x"), ry = range_at(c, 4, "y");
  if (!(rx.high > rx.low)) throw invalid_argument("max_x must be larger than min_x.");
  if (!(ry.high > ry.low)) throw invalid_argument("max_y must be larger than min_y.");
  const dtype type = c.node.type_of("Toutput", static_cast<dtype>(data_type::qint32));
  const integers_of kind = kind_of(type);
  const float widest = std::max(std::abs(std::min(rx.low, ry.low)), std::abs(std::max(rx.high, ry.high))) * 16384.0f;
  const range all{-widest, widest};
  // Integers of 8 bits are lines in the wide range, by the images of 0 and 1; a single one is not.
  const int alone = c.input(0).elements() == 1 ? 0 : c.input(1).elements() == 1 ? 1 : -1;
  const auto moved = [&](int k, const range& r) {
    const integers_of from = kind_of(c.type(k));
    const bool is_line = k != alone && from.lowest == 0 && from.highest == 255 && kind.steps() > 65535;
    const std::int64_t zero = is_line ? unclamped(kind, number_of(from, 0, r), all) : 0;
    const std::int64_t each = is_line ? wrapped(unclamped(kind, number_of(from, 1, r), all) - zero) : 0;
    tensor_value made = integers_at(c, k);
    if (!made.is_alone()) made = made.copy();
    for (std::int32_t& v : made.values<std::int32_t>())
      v = is_line ? kind.clamped(zero + v * each) : of_number(kind, number_of(from, v, r), all);
    return broadcast_elements<std::int32_t>(made, s);
  };
  const auto x = moved(0, rx), y = moved(1, ry);
  tensor_value made(dtype::int32, s);
  for (std::size_t i = 0; i < x.size(); ++i) made.values<std::int32_t>()[i] = wrapped(std::int64_t{x[i]} + y[i]);
  set(c, 0, made, type);
  set_range(c, all);
}
inline void run_multiply(kernel_context& c) {
  const shape s = broadcast_of(c);
  const factors in = factors_of(c, "Toutput", "x", "y", true);
  const auto x = broadcast_elements<std::int32_t>(in.a, s), y = broadcast_elements<std::int32_t>(in.b, s);
  tensor_value made(dtype::int32, s);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::uint64_t product = 0;
    add_product(product, offset_by(x[i], in.zero_a), offset_by(y[i], in.zero_b));
    made.values<std::int32_t>()[i] = wrapped(static_cast<std::int64_t>(product));
  }
  set(c, 0, made, in.type);
  set_range(c, in.of_result);
}

// ---- activations, pools, normalization --------------------------------------------------------------------------------

/// Numbers below 0 become 0, and those above `most`, which is that number.
inline void activate(kernel_context& c, int first_range, const float* most) {
  tensor_value x = integers_at(c, 0);
  const integers_of kind = kind_of(c.type(0));
  const range r = range_at(c, first_range, "features");
  if (const dtype type = c.node.type_of("out_type", static_cast<dtype>(data_type::quint8)); type != c.type(0))
    throw unimplemented("no kernel for features of " + dtype_name(c.type(0)) + " and activations of " + dtype_name(type));
  const std::int32_t low = of_number(kind, 0, r), high = most != nullptr ? of_number(kind, *most, r) : kind.clamped(kind.highest);
  if (!x.is_alone()) x = x.copy();
  for (std::int32_t& v : x.values<std::int32_t>()) v = std::min(std::max(v, low), high);
  set(c, 0, x, c.type(0));
  set_range(c, r);
}

template <bool IsMean>
void run_pool(kernel_context& c) {
  const tensor_value x = integers_at(c, 0);
  const shape& s = x.extent();
  const range r = range_at(c, 1);
  const auto window = c.node.list<std::int64_t>("ksize"), strides = c.node.list<std::int64_t>("strides");
  if (window.size() != 4) throw invalid_argument("Sliding window ksize field must specify 4 dimensions");
  if (strides.size() != 4) throw invalid_argument("Sliding window strides field must specify 4 dimensions");
  if (window[0] != 1 || strides[0] != 1) throw unimplemented("Pooling is not yet supported on the batch dimension.");
  if (window[3] != 1 || strides[3] != 1) throw unimplemented("Non-spatial pooling is not yet supported.");
  if (s.rank != 4) throw invalid_argument("tensor_in must be 4-dimensional");
  const std::string padding = c.node.text("padding");
  const axis_windows down = windows_of(padding, s[1], window[1], strides[1]), across = windows_of(padding, s[2], window[2], strides[2]);
  tensor_value made(dtype::int32, {s[0], down.count, across.count, s[3]});
  const std::int32_t* const from = x.values<std::int32_t>().data();
  std::int32_t* to = made.values<std::int32_t>().data();
  for (std::int64_t n = 0; n < s[0]; ++n)
    for (std::int64_t i = 0; i < down.count; ++i) {
      c.step.check();
      for (std::int64_t j = 0; j < across.count; ++j) {
        const std::int64_t top = i * down.stride - down.before, left = j * across.stride - across.before;
        const std::int64_t first_row = std::max<std::int64_t>(top, 0), last_row = std::min(top + window[1], s[1]);
        const std::int64_t first_column = std::max<std::int64_t>(left, 0), last_column = std::min(left + window[2], s[2]);
        for (std::int64_t k = 0; k < s[3]; ++k) {
          std::int64_t sum = 0, most = std::numeric_limits<std::int32_t>::min();
          for (std::int64_t row = first_row; row < last_row; ++row)
            for (std::int64_t column = first_column; column < last_column; ++column) {
              const std::int64_t v = from[((n * s[1] + row) * s[2] + column) * s[3] + k];
              sum += v;
              most = std::max(most, v);
            }
          const std::int64_t count = (last_row - first_row) * (last_column - first_column);
          *to++ = static_cast<std::int32_t>(IsMean ? (count > 0 ? sum / count : 0) : most);
        }
      }
    }
  set(c, 0, made, c.type(0));
  set_range(c, r);
}

inline void run_batch_norm(kernel_context& c) {
  const shape& s = c.extent(0);
  constexpr const char* names[]{"input", "mean", "var", "beta", "gamma"};
  for (int k = 0; k < 5; ++k) {
    const shape& its = c.extent(3 * k);
    if (its.rank != (k == 0 ? 4 : 1))
      throw invalid_argument(std::string(names[k]) + " must be " + (k == 0 ? "4" : "1") + "-dimensional" + brackets(its));
    if (k > 0 && its[0] != s[3])
      throw invalid_argument(std::string(names[k]) + " must have as many elements as input has channels: " + brackets(its) + " vs. " +
                             brackets(s));
  }
  const dtype type = c.node.type_of("out_type");
  const integers_of kind = kind_of(type), from = kind_of(c.type(0));
  const range all{-1048576.0f, 1048576.0f}, before = range_at(c, 1);
  const float epsilon = c.node.attribute<float>("variance_epsilon", 0);
  const auto channels = static_cast<std::size_t>(s[3]);
  std::vector<std::int64_t> scales(channels), offsets(channels);
  tensor_value parts[5];
  range ranges[5];
  for (int k = 1; k < 5; ++k) {
    parts[k] = integers_at(c, 3 * k);
    ranges[k] = range_at(c, 3 * k + 1, names[k]);
  }
  for (std::size_t k = 0; k < channels; ++k) {
    const auto number = [&](int part) { return number_of(kind_of(c.type(3 * part)), parts[part].values<std::int32_t>()[k], ranges[part]); };
    float scale = 1.0f / std::sqrt(number(2) + epsilon);
    if (c.node.flag("scale_after_normalization")) scale *= number(4);
    scales[k] = of_number(kind, scale, all);
    offsets[k] = of_number(kind, product_of(-number(1), scale) + number(3), all);
  }
  const std::int64_t one = std::max<std::int64_t>(of_number(kind, 1.0f, all), 1);
  tensor_value made = integers_at(c, 0);
  if (!made.is_alone()) made = made.copy();
  const auto to = made.values<std::int32_t>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::int64_t value = of_number(kind, number_of(from, to[i], before), all);
    to[i] = wrapped(wrapped(value * scales[i % channels]) / one + offsets[i % channels]);
  }
  set(c, 0, made, type);
  set_range(c, all);
}

/// Each image and channel less its mean, over its spread.
inline void run_instance_norm(kernel_context& c) {
  const tensor_value x = integers_at(c, 0);
  const shape& s = x.extent();
  for (const int k : {1, 2})
    if (c.extent(k).rank != 0)
      throw invalid_argument(std::string(k == 1 ? "`x_min`" : "`x_max`") + " must be rank 0 but is rank " +
                             std::to_string(c.extent(k).rank));
  const range r = range_at(c, 1);
  const auto text = [](float v) { return summary_text(tensor_value(v)); };
  if (!(r.low < r.high)) throw invalid_argument("input_min must be less than input_max : " + text(r.low) + " >= " + text(r.high));
  if (s.rank != 4) throw invalid_argument("x must be 4-dimensional, not of shape " + brackets(s));
  const bool is_given = c.node.flag("output_range_given");
  range after{c.node.attribute<float>("given_y_min", 0), c.node.attribute<float>("given_y_max", 0)};
  if (is_given && !(after.low < after.high))
    throw invalid_argument("given_y_min must be less than given_y_max : " + text(after.low) + " >= " + text(after.high));
  const integers_of kind = kind_of(c.type(0));
  const double step = static_cast<double>((r.high - r.low) / static_cast<float>(kind.steps())),
               epsilon = static_cast<double>(c.node.attribute<float>("variance_epsilon", 1e-5f));
  const std::int64_t pixels = s[1] * s[2], channels = s[3];
  const std::int32_t* const from = x.values<std::int32_t>().data();
  tensor_value normed(dtype::float32, s);
  float* const to = normed.values<float>().data();
  for (std::int64_t n = 0; n < s[0]; ++n)
    for (std::int64_t k = 0; k < channels; ++k) {
      c.step.check();
      const std::int64_t begin = n * pixels * channels + k;
      double mean = 0, variance = 0;
      for (std::int64_t p = 0; p < pixels; ++p) mean += from[begin + p * channels];
      mean /= static_cast<double>(pixels);
      for (std::int64_t p = 0; p < pixels; ++p) {
        const double off = step * (from[begin + p * channels] - mean);
        variance += off * off;
      }
      variance /= static_cast<double>(pixels);
      for (std::int64_t p = 0; p < pixels; ++p)
        to[begin + p * channels] = static_cast<float>(step * (from[begin + p * channels] - mean) / std::sqrt(variance + epsilon));
    }
  if (!is_given) {
    after = {std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
    for (const float v : normed.values<float>()) after = {std::min(after.low, v), std::max(after.high, v)};
  }
  const float apart = c.node.attribute<float>("min_separation", 1e-3f);
  if (after.high - after.low < apart) after.high = after.low + apart;
  tensor_value made(dtype::int32, s);
  const to_integer integer(kind, after);
  for (std::size_t i = 0; i < made.values<std::int32_t>().size(); ++i) made.values<std::int32_t>()[i] = integer(to[i]);
  set(c, 0, made, c.type(0));
  set_range(c, after);
}

// ---- places -----------------------------------------------------------------------------------------------------------

inline void run_concat(kernel_context& c) {
  const int count = (c.input_count() - 1) / 3;
  if (count < 1 || 3 * count + 1 != c.input_count()) throw invalid_argument("QuantizedConcatOp : Expected as many ranges as values");
  if (c.input(0).elements() != 1)
    throw invalid_argument("Concat dim tensor should be a scalar integer, but got shape " + brackets(c.extent(0)));
  const std::int64_t axis = c.number(0);
  const shape& first = c.extent(1);
  if (axis < 0 || axis >= first.rank)
    throw invalid_argument("ConcatOp : Expected concatenating dimensions in the range [0, " + std::to_string(first.rank) + "), but got " +
                           std::to_string(axis));
  shape extent = first;
  extent.dim[axis] = 0;
  const dtype type = c.type(1);
  const integers_of kind = kind_of(type);
  range all{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
  std::vector<range> ranges;
  for (int k = 0; k < count; ++k) {
    const shape& its = c.extent(1 + k);
    if (its.rank != first.rank)
      throw invalid_argument("ConcatOp : Ranks of all input tensors should match: shape[0] = " + brackets(first) + " vs. shape[" +
                             std::to_string(k) + "] = " + brackets(its));
    for (int d = 0; d < first.rank; ++d)
      if (d != axis && its[d] != first[d])
        throw invalid_argument("ConcatOp : Dimensions of inputs should match: shape[0] = " + brackets(first) + " vs. shape[" +
                               std::to_string(k) + "] = " + brackets(its));
    extent.dim[axis] += its[static_cast<int>(axis)];
    ranges.push_back({scalar(c, 1 + count + k, "input_mins"), scalar(c, 1 + 2 * count + k, "input_maxes")});
    all = {std::min(all.low, ranges.back().low), std::max(all.high, ranges.back().high)};
  }
  if (kind.is_signed()) {
    const float largest = std::max(std::abs(all.low), std::abs(all.high));
    all = {-largest, largest};
  }
  tensor_value made(dtype::int32, extent);
  const std::int64_t outer = product(extent, 0, static_cast<int>(axis)), inner = product(extent, static_cast<int>(axis), extent.rank);
  std::int64_t begin = 0;
  for (int k = 0; k < count; ++k) {
    const range& r = ranges[static_cast<std::size_t>(k)];
    tensor_value part = integers_at(c, 1 + k);
    const to_number number(kind, r);
    const to_integer integer(kind, all);
    if (r.low != all.low || r.high != all.high) {
      if (!part.is_alone()) part = part.copy();
      for (std::int32_t& v : part.values<std::int32_t>()) v = integer(number(v));
    }
    const std::int64_t width = product(part.extent(), static_cast<int>(axis), extent.rank);
    for (std::int64_t i = 0; i < outer; ++i)
      std::copy_n(part.values<std::int32_t>().data() + i * width, width, made.values<std::int32_t>().data() + i * inner + begin);
    begin += width;
  }
  set(c, 0, made, type);
  set_range(c, all);
}

inline void run_reshape(kernel_context& c) {
  const tensor_value x = c.input(0);
  auto sizes = c.numbers(1);
  std::int64_t known = 1, open = -1;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    if (sizes[k] == -1) {
      if (open >= 0)
        throw invalid_argument("Only one input size may be -1, not both " + std::to_string(open) + " and " + std::to_string(k));
      open = static_cast<std::int64_t>(k);
    } else if (sizes[k] < 0 || !multiplies(known, sizes[k], known)) {
      throw invalid_argument("Size " + std::to_string(k) + " must be non-negative, not " + std::to_string(sizes[k]));
    }
  if (open >= 0) {
    if (known == 0 || x.elements() % known != 0)
      throw invalid_argument("Input to reshape is a tensor with " + std::to_string(x.elements()) +
                             " values, but the requested shape requires a multiple of " + std::to_string(known));
    sizes[static_cast<std::size_t>(open)] = x.elements() / known;
    known = x.elements();
  }
  if (known != x.elements())
    throw invalid_argument("Input to reshape is a tensor with " + std::to_string(x.elements()) + " values, but the requested shape has " +
                           std::to_string(known));
  const range r = range_at(c, 2);
  c.set(0, x.reshaped(shape_from(sizes)));
  set_range(c, r);
}

/// Where a pixel of the result is on an axis of the image: between two pixels, by `fraction`.
struct between {
  std::int64_t lower = 0, upper = 0;
  float fraction = 0;
};
inline std::vector<between> places_between(std::int64_t from, std::int64_t to, bool aligns_corners, bool has_half_pixels) {
  const float scale = aligns_corners && to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                                               : static_cast<float>(from) / static_cast<float>(to);
  std::vector<between> made;
  for (std::int64_t i = 0; i < to; ++i) {
    const float at = has_half_pixels ? product_of(static_cast<float>(i) + 0.5f, scale) - 0.5f : product_of(static_cast<float>(i), scale);
    const float below = std::floor(at);
    const std::int64_t upper = std::min(static_cast<std::int64_t>(std::ceil(at)), from - 1);
    made.push_back({std::min(std::max<std::int64_t>(static_cast<std::int64_t>(below), 0), std::max<std::int64_t>(upper, 0)),
                    std::max<std::int64_t>(upper, 0), at - below});
  }
  return made;
}
/// Integers between integers: fractions have 7 binary places for 8 bits, and 30 for 32.
template <int Places>
std::int32_t interpolated(const std::int32_t (&corners)[4], std::int64_t x, std::int64_t y) {
  constexpr std::int64_t one = std::int64_t{1} << Places;
  const std::int64_t top = corners[0] * one + (std::int64_t{corners[1]} - corners[0]) * x;
  const std::int64_t bottom = corners[2] * one + (std::int64_t{corners[3]} - corners[2]) * x;
  const std::int64_t all = top + (bottom - top) / one * y;
  return static_cast<std::int32_t>((all + one / 2) / one);
}
inline void run_resize(kernel_context& c) {
  const dtype type = c.type(0);
  const bool is_real = type == dtype::float32;
  if (!is_real && type != static_cast<dtype>(data_type::quint8) && type != static_cast<dtype>(data_type::qint32))
    throw unimplemented("no kernel for dtype " + dtype_name(type));
  const tensor_value x = is_real ? c.input(0) : integers_at(c, 0);
  const shape& s = x.extent();
  const auto sizes = c.numbers(1);
  if (s.rank != 4) throw invalid_argument("input must be 4-dimensional" + brackets(s));
  if (c.extent(1).rank != 1 || sizes.size() != 2) throw invalid_argument("shape_t must have two elements" + brackets(c.extent(1)));
  if (sizes[0] <= 0 || sizes[1] <= 0) throw invalid_argument("output dimensions must be positive");
  if (s[1] <= 0 || s[2] <= 0) throw invalid_argument("input image must be of non-zero size");
  for (const int k : {2, 3})
    if (c.extent(k).rank != 0) throw invalid_argument(std::string(k == 2 ? "min" : "max") + " must be a scalar");
  const range r = range_at(c, 2);
  tensor_value made(is_real ? dtype::float32 : dtype::int32, {s[0], sizes[0], sizes[1], s[3]});
  const bool aligns = c.node.flag("align_corners"), has_half = c.node.flag("half_pixel_centers");
  const auto rows = places_between(s[1], sizes[0], aligns, has_half), columns = places_between(s[2], sizes[1], aligns, has_half);
  const bool is_same = s[1] == sizes[0] && s[2] == sizes[1], is_wide = type == static_cast<dtype>(data_type::qint32);
  const auto fixed = [&](float fraction) { return static_cast<std::int64_t>(product_of(fraction, is_wide ? 1073741824.0f : 128.0f)); };
  with_number(made.type(), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>) {
      const T* const from = x.values<T>().data();
      T* to = made.values<T>().data();
      if (is_same) {
        std::copy_n(from, x.elements(), to);
        return;
      }
      for (std::int64_t n = 0; n < s[0]; ++n)
        for (const between& row : rows) {
          c.step.check();
          for (const between& column : columns)
            for (std::int64_t k = 0; k < s[3]; ++k) {
              const auto at = [&](std::int64_t i, std::int64_t j) { return from[((n * s[1] + i) * s[2] + j) * s[3] + k]; };
              const T corners[4]{at(row.lower, column.lower), at(row.lower, column.upper), at(row.upper, column.lower),
                                 at(row.upper, column.upper)};
              if constexpr (std::is_same_v<T, float>) {
                const float top = corners[0] + product_of(corners[1] - corners[0], column.fraction);
                const float bottom = corners[2] + product_of(corners[3] - corners[2], column.fraction);
                *to++ = top + product_of(bottom - top, row.fraction);
              } else {
                const std::int64_t across = fixed(column.fraction), down = fixed(row.fraction);
                *to++ = is_wide ? interpolated<30>(corners, across, down) : interpolated<7>(corners, across, down);
              }
            }
        }
    }
  });
  if (is_real) c.set(0, std::move(made));
  else set(c, 0, made, type);
  set_range(c, r);
}

}  // namespace quantized

LEAT_FILL(fill_quantized_layer_kernels) {
  register_kernel("QuantizeV2", quantized::run_quantize);
  register_kernel("Dequantize", quantized::run_dequantize);
  register_kernel("QuantizeDownAndShrinkRange", quantized::run_shrink_range);
  register_kernel("RequantizationRange", quantized::run_requantization_range);
  register_kernel("Requantize", quantized::run_requantize);
  register_kernel("QuantizedMatMul", quantized::run_matmul);
  register_kernel("QuantizedConv2D", quantized::run_convolution);
  register_kernel("QuantizedBiasAdd", quantized::run_bias_add);
  register_kernel("QuantizedAdd", quantized::run_add);
  register_kernel("QuantizedMul", quantized::run_multiply);
  register_kernel("QuantizedRelu", [](kernel_context& c) { quantized::activate(c, 1, nullptr); });
  register_kernel("QuantizedRelu6", [](kernel_context& c) {
    constexpr float six = 6;
    quantized::activate(c, 1, &six);
  });
  register_kernel("QuantizedReluX", [](kernel_context& c) {
    const float most = quantized::scalar(c, 1, "max_value");
    quantized::activate(c, 2, &most);
  });
  register_kernel("QuantizedMaxPool", quantized::run_pool<false>);
  register_kernel("QuantizedAvgPool", quantized::run_pool<true>);
  register_kernel("QuantizedBatchNormWithGlobalNormalization", quantized::run_batch_norm);
  register_kernel("QuantizedInstanceNorm", quantized::run_instance_norm);
  register_kernel("QuantizedConcat", quantized::run_concat);
  register_kernel("QuantizedReshape", quantized::run_reshape);
  register_kernel("QuantizedResizeBilinear", quantized::run_resize);
}

}  // namespace leat::runtime
