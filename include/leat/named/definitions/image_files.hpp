#pragma once
// Definitions of operators between images and their files' bytes; their kernels are in a higher layer (data/kernels_images.hpp).

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

LEAT_FILL(fill_image_file_definitions) {
  constexpr facts pure{.is = nature::pure, .narrow = narrow_rule::any, .stops_gradient = true};
  const auto image = [](shape_context& c) {
    shapes::want_rank(c, 0, 0);
    shape s = shapes::vector_of(-1);
    s.push(unknown_dimension);
    s.push(c.integer("channels") > 0 && c.integer("channels") <= 4 ? c.integer("channels") : unknown_dimension);
    c.set(0, s);
  };
  define_operator("DecodePng(contents: string) -> (image: dtype); channels: int = 0; dtype: type = uint8", pure, image);
  define_operator("DecodeBmp(contents: string) -> (image: uint8); channels: int = 0", pure, image);
  const std::string reading = "channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; try_recover_truncated: bool = false; "
                              "acceptable_fraction: float = 1.0; dct_method: string = \"\"";
  define_operator("DecodeJpeg(contents: string) -> (image: uint8); " + reading, pure, image);
  define_operator("DecodeAndCropJpeg(contents: string, crop_window: int32) -> (image: uint8); " + reading, pure, [](shape_context& c) {
    shapes::want_rank(c, 0, 0);
    shapes::want_rank(c, 1, 1);
    const auto window = c.numbers(1);
    if (window && window->size() != 4) c.fail("crop_window must have four elements, not " + std::to_string(window->size()));
    shape s;
    for (const std::size_t k : {2, 3}) s.push(window && (*window)[k] >= 0 ? (*window)[k] : unknown_dimension);
    s.push(c.integer("channels") > 0 && c.integer("channels") <= 4 ? c.integer("channels") : unknown_dimension);
    c.set(0, s);
  });
  define_operator("ExtractJpegShape(contents: string) -> (image_shape: output_type); output_type: {int32, int64} = int32", pure,
                  [](shape_context& c) {
                    shapes::want_rank(c, 0, 0);
                    c.set(0, shapes::vector_of(3));
                  });
  define_operator("DecodeGif(contents: string) -> (image: uint8)", pure, [](shape_context& c) {
    shapes::want_rank(c, 0, 0);
    shape s = shapes::vector_of(-1);
    s.push(unknown_dimension);
    s.push(unknown_dimension);
    s.push(3);
    c.set(0, s);
  });
  define_operator("DecodeImage(contents: string) -> (image: dtype); channels: int = 0; dtype: type = uint8; expand_animations: bool = true",
                  pure, [](shape_context& c) { shapes::want_rank(c, 0, 0); });
  define_operator(
      "EncodeJpeg(image: uint8) -> (contents: string); format: string = \"\"; quality: int = 95; progressive: bool = false; optimize_size: "
      "bool "
      "= false; chroma_downsampling: bool = true; density_unit: string = \"in\"; x_density: int = 300; y_density: int = 300; xmp_metadata: "
      "string = \"\"",
      pure, [](shape_context& c) {
        shapes::want_rank(c, 0, 3);
        c.set(0, shape{});
      });
  define_operator("EncodeJpegVariableQuality(images: uint8, quality: int32) -> (contents: string)", pure, [](shape_context& c) {
    shapes::want_rank(c, 0, 3);
    shapes::want_rank(c, 1, 0);
    c.set(0, shape{});
  });
  define_operator("EncodePng(image: T) -> (contents: string); T: type = uint8; compression: int = -1", pure, [](shape_context& c) {
    const shape& s = c.input(0).extent;
    if (!s.has_rank()) return;
    if (s.rank < 3) c.fail("Shape must be at least rank 3 but is rank " + std::to_string(s.rank));
    shape batch;
    for (int axis = 0; axis + 3 < s.rank; ++axis) batch.push(s[axis]);
    c.set(0, batch);
  });
}

}  // namespace leat::detail
