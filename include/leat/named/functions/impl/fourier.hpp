#pragma once
// Implementation of fourier.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/fourier.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/known_value.hpp>

#include <algorithm>

namespace leat::detail {

inline output transform_node(std::string_view type, const output& x, std::string_view name, const std::source_location& where) {
  graph& g = x.owner();
  const source_scope line(g, where);
  return call_operator(g, type, {x}, {}, name).result();
}

// A transform of real numbers, or back to them, along the last `rank` axes. Source: TensorFlow's `_rfft_wrapper` and `_irfft_wrapper`.
class real_transform_writer {
 public:
  real_transform_writer(const output& x, int rank, bool is_inverse) : g_(x.owner()), x_(x), rank_(rank), is_inverse_(is_inverse) {}

  output write(std::string_view type, const fft_length& length, std::string_view name) {
    const dtype part = is_inverse_ ? part_dtype(x_.type()) : x_.type();
    if (complex_of(part) == dtype::invalid)
      throw invalid_argument(is_inverse_ ? "IRFFT requires tf.complex64 or tf.complex128 inputs, got: " + describe(x_)
                                         : "RFFT requires tf.float32 or tf.float64 inputs, got: " + describe(x_));
    if (x_.extent().has_rank() && x_.extent().rank < rank_)
      throw invalid_argument("Shape " + leat::shape_text(x_.extent()) + " must have rank at least " + std::to_string(rank_));
    const bool is_given = static_cast<bool>(length.tensor()) || !length.sizes().empty();
    if (!length.sizes().empty() && length.sizes().size() != static_cast<std::size_t>(rank_))
      throw invalid_argument("fft_length must have shape [" + std::to_string(rank_) + "]");
    number_argument lengths = tensor_literal(length.sizes());
    if (static_cast<bool>(length.tensor())) {
      const auto known = fully_known_numbers(length.tensor());
      if (known) lengths = tensor_literal(std::vector<std::int32_t>(known->begin(), known->end()));
      else lengths = length.tensor();
    }
    if (!is_given) lengths = own_lengths();
    const output padded = is_given ? in_lengths(lengths) : x_;
    const attribute_map attributes = is_inverse_ ? attribute_map{{"Treal", part}} : attribute_map{{"Tcomplex", complex_of(part)}};
    return call_operator(g_, type, {padded, lengths}, attributes, name).result();
  }

 private:
  shape inner() const {
    shape s;
    for (int k = 0; k < rank_; ++k) s.push(x_.extent()[x_.extent().rank - rank_ + k]);
    return s;
  }
  number_argument own_lengths() const {
    if (x_.extent().has_rank() && inner().is_static()) {
      std::vector<std::int32_t> sizes;
      for (int k = 0; k < rank_; ++k) sizes.push_back(static_cast<std::int32_t>(inner()[k]));
      if (is_inverse_) sizes.back() = std::max(0, 2 * (sizes.back() - 1));
      return tensor_literal(sizes);
    }
    const output sizes = index(shape_of(x_), {along::from(-rank_)});
    if (!is_inverse_) return sizes;
    const output last = maximum(0, (index(sizes, {along::from(-1)}) - 1) * 2);
    return rank_ == 1 ? last : concat({index(sizes, {along::until(-1)}), last}, 0);
  }
  // x, padded with zeros where the lengths are beyond its sizes.
  output in_lengths(const number_argument& lengths) const {
    const shape& s = x_.extent();
    for (int k = 0; k < s.rank; ++k)
      if (s[k] == 0) return x_;
    const auto* literal = std::get_if<tensor_literal>(&lengths);
    const output* const tensor = std::get_if<output>(&lengths);
    std::optional<std::vector<std::int64_t>> known;
    if (literal != nullptr) known = integers_of(literal->proto());
    else known = fully_known_numbers(*tensor);
    if (known && known->size() == static_cast<std::size_t>(rank_) && s.has_rank() && inner().is_static()) {
      std::vector<std::int32_t> paddings(static_cast<std::size_t>(2 * s.rank));
      bool pads = false;
      for (int k = 0; k < rank_; ++k) {
        const std::int64_t length = (*known)[static_cast<std::size_t>(k)];
        const std::int64_t wanted = is_inverse_ && k == rank_ - 1 ? length / 2 + 1 : length;
        const std::int64_t more = std::max<std::int64_t>(0, wanted - inner()[k]);
        paddings[static_cast<std::size_t>(2 * (s.rank - rank_ + k) + 1)] = static_cast<std::int32_t>(more);
        pads = pads || more > 0;
      }
      if (!pads) return x_;
      shape rows;
      rows.push(s.rank);
      rows.push(2);
      return pad(x_, tensor_literal(rows, paddings));
    }
    const output sizes = index(shape_of(x_), {along::from(-rank_)});
    output wanted = literal != nullptr ? constant(*literal) : *tensor;
    if (is_inverse_) {
      const output last = floordiv(index(wanted, {along::from(-1)}), 2) + 1;
      wanted = rank_ == 1 ? last : concat({index(wanted, {along::until(-1)}), last}, 0);
    }
    const output after = maximum(0, wanted - sizes);
    const output outer = maximum(0, rank_of(x_) - rank_);
    const number_argument outer_zeros[]{expand_dims(outer, 0), tensor_literal(std::int32_t{0})};
    const output all = concat({call_operator(g_, "Fill", outer_zeros, {{"index_type", dtype::int32}}).result(), after}, 0);
    const output paddings = stack({zeros_like(all), all}, 1);
    const number_argument only[]{paddings};
    return call_with(info_of<pad_op>, x_, only, {}, {}, "Pad", std::source_location());
  }

  graph& g_;
  output x_;
  int rank_;
  bool is_inverse_;
};

inline output real_transform(std::string_view type, int rank, bool is_inverse, const output& x, const fft_length& length,
                             std::string_view name, const std::source_location& where) {
  graph& g = x.owner();
  const source_scope line(g, where);
  const default_graph_scope here(g);
  const name_scope scope(g, name);
  real_transform_writer writer(g.named().value_of(x), rank, is_inverse);
  return writer.write(type, length, scope.text());
}

}  // namespace leat::detail

namespace leat {

#define LEAT_COMPLEX_TRANSFORM(function, type)                                                                \
  LEAT_FUNCTION output function(const output& x, std::string_view name, const std::source_location& where) { \
    return detail::transform_node(type, x, name, where);                                                      \
  }
LEAT_COMPLEX_TRANSFORM(fft, "FFT")
LEAT_COMPLEX_TRANSFORM(ifft, "IFFT")
LEAT_COMPLEX_TRANSFORM(fft2d, "FFT2D")
LEAT_COMPLEX_TRANSFORM(ifft2d, "IFFT2D")
LEAT_COMPLEX_TRANSFORM(fft3d, "FFT3D")
LEAT_COMPLEX_TRANSFORM(ifft3d, "IFFT3D")
#undef LEAT_COMPLEX_TRANSFORM

#define LEAT_REAL_TRANSFORM(function, type, rank, is_inverse)                                                  \
  LEAT_FUNCTION output function(const output& x, const fft_length& length, std::string_view name,             \
                                const std::source_location& where) {                                          \
    return detail::real_transform(type, rank, is_inverse, x, length, name, where);                            \
  }
LEAT_REAL_TRANSFORM(rfft, "RFFT", 1, false)
LEAT_REAL_TRANSFORM(rfft2d, "RFFT2D", 2, false)
LEAT_REAL_TRANSFORM(rfft3d, "RFFT3D", 3, false)
LEAT_REAL_TRANSFORM(irfft, "IRFFT", 1, true)
LEAT_REAL_TRANSFORM(irfft2d, "IRFFT2D", 2, true)
LEAT_REAL_TRANSFORM(irfft3d, "IRFFT3D", 3, true)
#undef LEAT_REAL_TRANSFORM

}  // namespace leat
