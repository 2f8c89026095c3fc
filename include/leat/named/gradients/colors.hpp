#pragma once
// The gradient of the conversion of colors to hue, saturation and value, in graphs with names. Its values are those of TensorFlow's
// gradient, with fewer nodes: what TensorFlow writes for each of the three colors is one formula in which the colors take turns. Where
// several colors are the largest or the smallest, red comes before green, and green before blue. Source: TensorFlow's gradient of
// `RGBToHSV`.

#include <leat/core/fill.hpp>
#include <leat/named/gradients/array.hpp>

#include <array>

namespace leat::detail {

/// The three parts of colors, also of those whose rank is not known.
inline std::vector<output> parts_of_colors(const output& x) {
  shape part = x.extent();
  if (part.has_rank()) --part.rank;
  return x.owner()
      .named()
      .raw(x.owner(), "Unpack", std::array{x}, {{"num", std::int64_t{3}}, {"T", x.type()}, {"axis", std::int64_t{-1}}},
           std::vector<tensor_info>(3, {x.type(), part}), "unstack")
      .outputs();
}
inline gradient_list gradient_of_rgb_to_hsv(const gradient_call& c) {
  const output dy = c.dy();
  const dtype type = dy.type();
  const auto rgb = parts_of_colors(c.input(0)), slopes = parts_of_colors(dy), hsv = parts_of_colors(c.result());
  const auto one_of = [&](const output& a, const output& b) { return cast(logical_and(a, b), type); };
  const output &r = rgb[0], &g = rgb[1], &b = rgb[2];
  const std::array most{one_of(greater_equal(r, b), greater_equal(r, g)), one_of(greater(g, r), greater_equal(g, b)),
                        one_of(greater(b, r), greater(b, g))};
  const std::array least{one_of(less(r, b), less(r, g)), one_of(less_equal(g, r), less(g, b)), one_of(less_equal(b, r), less_equal(b, g))};
  const output zero = c.owner().named().make_constant(c.owner(), {type, {}, 0.0}, "zero");
  const output one = c.owner().named().make_constant(c.owner(), {type, {}, 1.0}, "one");
  const output sixth = c.owner().named().make_constant(c.owner(), {type, {}, 1.0 / 6}, "sixth");
  const output value = hsv[2];
  const output smallest = least[0] * r + (least[1] * g + least[2] * b);
  // A color without light has no hue and no saturation.
  const output lit = cast(greater(value, zero), type);
  const output per_range = lit * div_no_nan(one, value - smallest);
  const output per_value = div_no_nan(one, value);
  std::vector<output> parts;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t next = (k + 1) % 3, other = (k + 2) % 3;
    const output turned = (rgb[other] - rgb[next]) * (most[k] + least[k]) * square(per_range);
    const output by_hue = sixth * (turned + (most[other] * least[next] - most[next] * least[other]) * per_range);
    const output by_saturation =
        cast(greater(rgb[k], zero), type) * (most[k] * smallest * square(per_value) - least[k] * per_value);
    parts.push_back(slopes[0] * by_hue + (slopes[1] * by_saturation + slopes[2] * most[k]));
  }
  return {stack(parts, -1)};
}

LEAT_FILL(fill_color_gradients) {
  enter_gradients({{"RGBToHSV", gradient_of_rgb_to_hsv}});
}

}  // namespace leat::detail
