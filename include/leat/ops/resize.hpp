#pragma once
// Images [batch, height, width, channels] of another size, by the nearest pixel or between four. Height and width are sizes, the batch may
// be a named dimension. Errors of all functions: rules.hpp.

#include <leat/ops/reduction.hpp>

namespace leat {

/// How pixels of a resized image correspond to those of the image: pixel k begins at k times the ratio of the sizes (`usual`); the corners'
/// pixels lie on each other (`align_corners`); the centers of pixels correspond (`half_pixel_centers`).
enum class pixels { usual, align_corners, half_pixel_centers };

namespace rule {

/// Rules that the operators share. Attributes: whether corners are aligned, whether centers correspond, height, width.
struct of_resized {
  static constexpr op_kind kind = op_kind::kernel;
  /// The shape of images in another size.
  static constexpr shape resized(const shape& images, std::int64_t height, std::int64_t width) {
    shape made = images;
    made.dim[1] = height;
    made.dim[2] = width;
    return made;
  }
  static constexpr inference infer_images(dtype type, const operand_list& x) {
    const shape& s = x.extent(0);
    if (s.rank != 4) return inference::wrong("takes rank 4: images [batch, height, width, channels]");
    if (x.attribute(0) != 0 && x.attribute(1) != 0) return inference::wrong("If half_pixel_centers is True, align_corners must be False");
    for (int k = 1; k < 4; ++k) {
      if (is_named(s[k])) return inference::wrong("height, width and channels must be sizes that the compiler knows");
      if (s[k] == 0) return inference::wrong("input image must be of non-zero size");
    }
    for (const std::int64_t n : {x.attribute(2), x.attribute(3)})
      if (n < 1 || n > (std::int64_t{1} << 31) - 1) return inference::wrong("output dimensions must be positive");
    return {type, resized(s, x.attribute(2), x.attribute(3))};
  }
  /// This node's attributes, with the height and width of images.
  struct numbers {
    std::int64_t data[5];
    template <class G>
    constexpr numbers(const G& g, const shape& images)
        : data{g.attribute(0), g.attribute(1), images[1], images[2], static_cast<std::int64_t>(g.input(0).type())} {}
  };
};

}  // namespace rule

#define LEAT_RESIZED_FIELDS                                                                                                  \
  {field_kind::flag, "align_corners"}, {field_kind::flag, "half_pixel_centers"}, {field_kind::vector, "size"}, { field_kind::type_of, "T" }

/// Source: TensorFlow `ResizeNearestNeighbor`.
struct resize_nearest_op : rule::of_resized {
  static constexpr std::string_view type = "ResizeNearestNeighbor";
  static constexpr field form[]{{field_kind::operand, "images"}, LEAT_RESIZED_FIELDS};
  static constexpr inference infer(const operand_list& x) {
    return is_number(x.type(0)) ? infer_images(x.type(0), x) : inference::wrong(rule::refusal(rule::takes::number));
  }
  template <class G>
  static constexpr void gradient(G& g);
};
/// Sums of the pixels that were made of each. Source: TensorFlow `ResizeNearestNeighborGrad`.
struct resize_nearest_grad_op : rule::of_resized {
  static constexpr std::string_view type = "ResizeNearestNeighborGrad";
  static constexpr field form[]{{field_kind::operand, "grads"}, LEAT_RESIZED_FIELDS};
  static constexpr inference infer(const operand_list& x) {
    return is_number(x.type(0)) ? infer_images(x.type(0), x) : inference::wrong(rule::refusal(rule::takes::number));
  }
  template <class G>
  static constexpr void gradient(G& g);
};
#undef LEAT_RESIZED_FIELDS
/// Source: TensorFlow `ResizeBilinear`, whose results are float32 for all images.
struct resize_bilinear_op : rule::of_resized {
  static constexpr std::string_view type = "ResizeBilinear";
  static constexpr auto& form = resize_nearest_op::form;
  static constexpr inference infer(const operand_list& x) {
    return is_number(x.type(0)) ? infer_images(dtype::float32, x) : inference::wrong(rule::refusal(rule::takes::number));
  }
  template <class G>
  static constexpr void gradient(G& g);
};
/// Each pixel's gradient, distributed to the four between which it lies. Attributes: also the dtype of the images. It has no form: graphs
/// with names make TensorFlow's node (named/gradients/images.hpp). Source: TensorFlow `ResizeBilinearGrad`.
struct resize_bilinear_grad_op : rule::of_resized {
  static constexpr std::string_view type = "ResizeBilinearGrad";
  static constexpr inference infer(const operand_list& x) {
    return is_floating(x.type(0)) ? infer_images(static_cast<dtype>(x.attribute(4)), x)
                                  : inference::wrong(rule::refusal(rule::takes::floating));
  }
  template <class G>
  static constexpr void gradient(G& g);
};

// The gradients, which need all classes.
template <class G>
constexpr void resize_nearest_op::gradient(G& g) {
  if (g.wants(0)) give(g, 0, make_node<resize_nearest_grad_op>({numbers(g, g.input(0).extent()).data, 4}, g.dy()));
}
template <class G>
constexpr void resize_nearest_grad_op::gradient(G& g) {
  if (g.wants(0)) give(g, 0, make_node<resize_nearest_op>({numbers(g, g.input(0).extent()).data, 4}, g.dy()));
}
template <class G>
constexpr void resize_bilinear_op::gradient(G& g) {
  if (g.wants(0)) give(g, 0, make_node<resize_bilinear_grad_op>(numbers(g, g.input(0).extent()).data, g.dy()));
}
template <class G>
constexpr void resize_bilinear_grad_op::gradient(G& g) {
  if (g.wants(0)) give(g, 0, make_node<resize_bilinear_op>({numbers(g, g.input(0).extent()).data, 4}, g.dy()));
}

namespace detail {
template <std::int64_t Height, std::int64_t Width, pixels How>
using resized_attributes = attributes<How == pixels::align_corners, How == pixels::half_pixel_centers, Height, Width>;
}  // namespace detail

#define LEAT_RESIZE_FUNCTION(function, op)                                                                                        \
  template <std::int64_t Height, std::int64_t Width, pixels How = pixels::usual, tensor_expression X>                             \
    requires accepted_with<op, detail::resized_attributes<Height, Width, How>, X>                                                 \
  constexpr made_with<op, detail::resized_attributes<Height, Width, How>, X> function(const X& images) {                          \
    return make<op, detail::resized_attributes<Height, Width, How>>(images);                                                      \
  }                                                                                                                               \
  template <std::int64_t Height, std::int64_t Width, pixels How = pixels::usual, tensor_expression X>                             \
    requires refused_with<op, detail::resized_attributes<Height, Width, How>, X>                                                  \
  why_with<op, detail::resized_attributes<Height, Width, How>, X> function(const X&) = delete;                                    \
  LEAT_OTHERWISE_OF(function, "<height, width>(images) takes one tensor of rank 4; height, width and perhaps pixels::align_corners or " \
                              "pixels::half_pixel_centers are template arguments; " LEAT_TENSORS)
/// Images in another size, each pixel a copy of the nearest: `resize_nearest_neighbor<8, 8>(images)`, `resize_nearest_neighbor<8, 8,
/// pixels::half_pixel_centers>(images)`. Shapes: images [batch, height, width, channels]; result [batch, Height, Width, channels]. Dtypes:
/// numbers. Source: TensorFlow `ResizeNearestNeighbor`.
LEAT_RESIZE_FUNCTION(resize_nearest_neighbor, resize_nearest_op);
/// Images in another size, each pixel a mean of four, weighted by distance; arguments and shapes as of `resize_nearest_neighbor`. Dtypes:
/// numbers; result float32. Source: TensorFlow `ResizeBilinear`.
LEAT_RESIZE_FUNCTION(resize_bilinear, resize_bilinear_op);
#undef LEAT_RESIZE_FUNCTION

}  // namespace leat
