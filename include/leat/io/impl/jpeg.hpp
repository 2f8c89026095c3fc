#pragma once
// Implementation of jpeg.hpp. libjpeg reports an error by a call that must not return, so that it is left by longjmp: the functions that
// call it hold nothing that has a destructor.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/memory.hpp>
#include <leat/io/jpeg.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <string>

#if defined(LEAT_USE_JPEG)
#include <jpeglib.h>

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#endif

namespace leat::io::detail {

#if defined(LEAT_USE_JPEG)

struct jpeg_errors {
  ::jpeg_error_mgr base;
  std::jmp_buf back;
  char words[JMSG_LENGTH_MAX];
};
[[noreturn]] inline void leave_jpeg(::j_common_ptr of) {
  auto* const errors = reinterpret_cast<jpeg_errors*>(of->err);
  of->err->format_message(of, errors->words);
  std::longjmp(errors->back, 1);
}
inline void begin_errors(jpeg_errors& errors) {
  ::jpeg_std_error(&errors.base);
  errors.base.error_exit = leave_jpeg;
  errors.base.output_message = [](::j_common_ptr) {};
  errors.words[0] = 0;
}

// The bytes of a file. Where it ends too early, an end is made up once, if that is asked for.
struct jpeg_source {
  ::jpeg_source_mgr base;
  bool recovers, has_ended;
};
inline constexpr ::JOCTET jpeg_end[]{0xff, 0xd9};
inline ::boolean refill_jpeg(::j_decompress_ptr of) {
  auto* const source = reinterpret_cast<jpeg_source*>(of->src);
  if (!source->recovers || source->has_ended) {
    of->err->msg_code = 0;
    leave_jpeg(reinterpret_cast<::j_common_ptr>(of));
  }
  source->has_ended = true;
  source->base.next_input_byte = jpeg_end;
  source->base.bytes_in_buffer = sizeof jpeg_end;
  return TRUE;
}
inline void skip_jpeg(::j_decompress_ptr of, long count) {
  if (count <= 0) return;
  const auto more = static_cast<std::size_t>(count);
  if (more > of->src->bytes_in_buffer) {
    of->src->bytes_in_buffer = 0;
    refill_jpeg(of);
    return;
  }
  of->src->next_input_byte += more;
  of->src->bytes_in_buffer -= more;
}
// What is asked after each row of blocks. An exception cannot pass through libjpeg, so it is kept.
struct jpeg_progress {
  ::jpeg_progress_mgr base;
  const std::function<void()>* check;
  std::exception_ptr* thrown;
};
inline bool may_go_on(const jpeg_progress& progress) noexcept {
  try {
    (*progress.check)();
    return true;
  } catch (...) {
    *progress.thrown = std::current_exception();
    return false;
  }
}
inline void ask_jpeg(::j_common_ptr of) {
  constexpr int most_scans = 500;  // a file may have any number of scans over all pixels, each of a few bytes
  if (of->is_decompressor && reinterpret_cast<::j_decompress_ptr>(of)->input_scan_number > most_scans) leave_jpeg(of);
  const auto& progress = *reinterpret_cast<const jpeg_progress*>(of->progress);
  if (*progress.check && !may_go_on(progress)) leave_jpeg(of);
}

struct jpeg_sizes {
  std::int64_t height, width, channels;
  std::size_t coefficient_bytes = 0;  // of all pixels at once, if there are several scans over them
  std::int64_t row_width = 0, components = 0;  // of the whole image, in the file
};
// Reads the header, and the pixels if `to` is not null. `row` is the memory of a row of the whole image, of four channels. False for an
// error, and with an exception of `how.check`.
inline bool decode_jpeg(std::string_view file, const jpeg_reading& how, jpeg_sizes& sizes, std::uint8_t* to, std::uint8_t* row,
                        std::exception_ptr& thrown) {
  ::jpeg_decompress_struct info;
  jpeg_errors errors;
  jpeg_source source{};
  jpeg_progress progress{{}, &how.check, &thrown};
  info.err = &errors.base;
  begin_errors(errors);
  if (setjmp(errors.back) != 0) {
    ::jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  info.mem->max_memory_to_use = 1L << 30;  // of the coefficients of a progressive file
  source.recovers = how.try_recover_truncated;
  source.base.next_input_byte = reinterpret_cast<const ::JOCTET*>(file.data());
  source.base.bytes_in_buffer = file.size();
  source.base.init_source = [](::j_decompress_ptr) {};
  source.base.fill_input_buffer = refill_jpeg;
  source.base.skip_input_data = skip_jpeg;
  source.base.resync_to_restart = ::jpeg_resync_to_restart;
  source.base.term_source = [](::j_decompress_ptr) {};
  info.src = &source.base;
  progress.base.progress_monitor = ask_jpeg;
  info.progress = &progress.base;
  ::jpeg_read_header(&info, TRUE);
  const bool is_cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  sizes.channels = how.channels != 0 ? how.channels : std::min(info.num_components, 3);
  info.out_color_space = sizes.channels == 1 ? JCS_GRAYSCALE : is_cmyk ? JCS_CMYK : JCS_RGB;
  info.do_fancy_upsampling = how.fancy_upscaling ? TRUE : FALSE;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(how.ratio);
  info.dct_method = how.is_accurate ? JDCT_ISLOW : JDCT_IFAST;
  ::jpeg_calc_output_dimensions(&info);
  sizes.height = info.output_height;
  sizes.width = info.output_width;
  sizes.coefficient_bytes = 0;
  sizes.row_width = info.output_width;
  sizes.components = info.num_components;
  std::int64_t top = 0, left = 0;
  if (how.window) {
    const jpeg_window& w = *how.window;
    const auto is_inside = [](std::int64_t begin, std::int64_t count, std::int64_t size) {
      return begin >= 0 && count > 0 && begin < size && count <= size - begin;
    };
    if (!is_inside(w.y, w.height, sizes.height) || !is_inside(w.x, w.width, sizes.width))
      leave_jpeg(reinterpret_cast<::j_common_ptr>(&info));
    top = w.y;
    left = w.x;
    sizes.height = w.height;
    sizes.width = w.width;
  }
  if (::jpeg_has_multiple_scans(&info))
    for (int k = 0; k < info.num_components; ++k)
      sizes.coefficient_bytes +=
          std::size_t{info.comp_info[k].width_in_blocks} * info.comp_info[k].height_in_blocks * sizeof(::JBLOCK);
  if (to != nullptr) {
    ::jpeg_start_decompress(&info);
    for (std::int64_t y = 0; y < top + sizes.height; ++y) {
      std::uint8_t* const its = to + std::max<std::int64_t>(y - top, 0) * sizes.width * sizes.channels;
      const bool is_direct = info.out_color_space != JCS_CMYK && !how.window;
      ::JSAMPROW next = is_direct ? its : row;
      if (::jpeg_read_scanlines(&info, &next, 1) != 1) leave_jpeg(reinterpret_cast<::j_common_ptr>(&info));
      if (is_direct || y < top) continue;
      if (info.out_color_space != JCS_CMYK) {
        std::copy_n(row + left * sizes.channels, sizes.width * sizes.channels, its);
        continue;
      }
      // Adobe writes the complements.
      const auto color = [&](int part, int black) {
        const int a = info.saw_Adobe_marker ? part : 255 - part, b = info.saw_Adobe_marker ? black : 255 - black;
        return static_cast<std::uint8_t>(a * b / 255);
      };
      for (std::int64_t x = 0; x < sizes.width; ++x)
        for (int k = 0; k < 3; ++k) its[3 * x + k] = color(row[4 * (left + x) + k], row[4 * (left + x) + 3]);
    }
    if (info.output_scanline == info.output_height)
      ::jpeg_finish_decompress(&info);  // reads to the end of the file, which may be damaged
  }
  ::jpeg_destroy_decompress(&info);
  return true;
}

// A file in memory that libjpeg has allocated, which the caller frees. False for an error.
inline bool encode_jpeg(const std::uint8_t* pixels, const jpeg_sizes& sizes, const jpeg_writing& how, unsigned char*& to,
                        unsigned long& size) {
  ::jpeg_compress_struct info;
  jpeg_errors errors;
  info.err = &errors.base;
  begin_errors(errors);
  volatile bool has_buffer = false;
  if (setjmp(errors.back) != 0) {
    if (has_buffer) info.dest->term_destination(&info);  // `to` is the buffer that it has by now
    ::jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  ::jpeg_mem_dest(&info, &to, &size);
  has_buffer = true;
  info.image_width = static_cast<::JDIMENSION>(sizes.width);
  info.image_height = static_cast<::JDIMENSION>(sizes.height);
  info.input_components = static_cast<int>(sizes.channels);
  info.in_color_space = sizes.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  ::jpeg_set_defaults(&info);
  if (how.optimize_size) info.optimize_coding = TRUE;
  info.density_unit = how.in_centimeters ? 2 : 1;
  info.X_density = static_cast<::UINT16>(how.x_density);
  info.Y_density = static_cast<::UINT16>(how.y_density);
  ::jpeg_set_quality(&info, static_cast<int>(how.quality), TRUE);
  if (how.progressive) ::jpeg_simple_progression(&info);
  if (!how.chroma_downsampling)
    for (int k = 0; k < info.num_components; ++k) info.comp_info[k].h_samp_factor = info.comp_info[k].v_samp_factor = 1;
  ::jpeg_start_compress(&info, TRUE);
  if (!how.xmp_metadata.empty())
    ::jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const ::JOCTET*>(how.xmp_metadata.data()),
                        static_cast<unsigned>(how.xmp_metadata.size()));
  while (info.next_scanline < info.image_height) {
    ::JSAMPROW row = const_cast<std::uint8_t*>(pixels) +
                     static_cast<std::size_t>(info.next_scanline) * static_cast<std::size_t>(sizes.width * sizes.channels);
    ::jpeg_write_scanlines(&info, &row, 1);
  }
  ::jpeg_finish_compress(&info);
  ::jpeg_destroy_compress(&info);
  return true;
}

#endif

[[noreturn]] inline void fail_without_jpeg() {
  throw unimplemented("JPEG needs libjpeg: compile with LEAT_USE_JPEG and link it, or convert the images to PNG");
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION jpeg_image::jpeg_image(std::string_view file, const jpeg_reading& how) : file_(file), how_(how) {
  if (how.channels != 0 && how.channels != 1 && how.channels != 3)
    throw invalid_argument("`channels` must be 0, 1 or 3 for JPEG, but got " + std::to_string(how.channels));
  if (how.ratio != 1 && how.ratio != 2 && how.ratio != 4 && how.ratio != 8)
    throw invalid_argument("ratio must be 1, 2, 4, or 8, got " + std::to_string(how.ratio));
#if defined(LEAT_USE_JPEG)
  detail::jpeg_sizes sizes{};
  std::exception_ptr none;
  if (!detail::decode_jpeg(file, how, sizes, nullptr, nullptr, none))
    throw invalid_argument("jpeg::Uncompress failed. Invalid JPEG data or crop window.");
  height_ = sizes.height;
  width_ = sizes.width;
  channels_ = sizes.channels;
  row_width_ = sizes.row_width;
  coefficient_bytes_ = sizes.coefficient_bytes;
  if (channels_ == 2 || height_ < 1 || width_ < 1) throw invalid_argument("jpeg::Uncompress failed. Invalid JPEG data or crop window.");
  if (height_ * width_ * channels_ >= std::int64_t{1} << 30) throw invalid_argument("JPEG: an image of 2^30 bytes of pixels or more");
#else
  detail::fail_without_jpeg();
#endif
}
LEAT_FUNCTION void jpeg_image::read(std::span<std::uint8_t> to) const {
#if defined(LEAT_USE_JPEG)
  if (to.size() < static_cast<std::size_t>(height_ * width_ * channels_)) throw invalid_argument("JPEG: too little memory for the pixels");
  metered_bytes coefficients;
  coefficients.take(coefficient_bytes_);
  std::string row(static_cast<std::size_t>(4 * row_width_), '\0');
  detail::jpeg_sizes sizes{};
  std::exception_ptr thrown;
  const bool is_read = detail::decode_jpeg(file_, how_, sizes, to.data(), reinterpret_cast<std::uint8_t*>(row.data()), thrown);
  if (thrown) std::rethrow_exception(thrown);
  if (!is_read)
    throw invalid_argument("jpeg::Uncompress failed. Invalid JPEG data or crop window.");
#else
  static_cast<void>(to);
  detail::fail_without_jpeg();
#endif
}

LEAT_FUNCTION jpeg_shape read_jpeg_shape(std::string_view file) {
#if defined(LEAT_USE_JPEG)
  detail::jpeg_sizes sizes{};
  std::exception_ptr none;
  if (!detail::decode_jpeg(file, {}, sizes, nullptr, nullptr, none))
    throw invalid_argument("Invalid JPEG data, size " + std::to_string(file.size()));
  return {sizes.height, sizes.width, sizes.components};
#else
  static_cast<void>(file);
  detail::fail_without_jpeg();
#endif
}

LEAT_FUNCTION std::string write_jpeg(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width, std::int64_t channels,
                                     const jpeg_writing& how) {
  constexpr std::int64_t most = 65500;  // libjpeg's
  if (height < 1 || width < 1 || height > most || width > most)
    throw invalid_argument("JPEG: an image of " + std::to_string(height) + " x " + std::to_string(width) + " pixels");
  if (channels != 1 && channels != 3) throw invalid_argument("image must have 1 or 3 channels, got " + std::to_string(channels));
  if (pixels.size() != static_cast<std::size_t>(height * width * channels))
    throw invalid_argument("JPEG: the bytes do not match the sizes");
  if (how.quality < 0 || how.quality > 100) throw invalid_argument("quality must be in [0,100], got " + std::to_string(how.quality));
  for (const std::int64_t n : {how.x_density, how.y_density})
    if (n < 0 || n > 65535) throw invalid_argument("JPEG: a density of " + std::to_string(n));
#if defined(LEAT_USE_JPEG)
  jpeg_writing its = how;
  if (!its.xmp_metadata.empty()) its.xmp_metadata = std::string("http://ns.adobe.com/xap/1.0/") + '\0' + its.xmp_metadata;
  if (its.xmp_metadata.size() > 65533) throw invalid_argument("JPEG: xmp_metadata is longer than a marker holds");
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const bool is_made = detail::encode_jpeg(pixels.data(), {height, width, channels}, its, bytes, size);
  std::string made;
  if (is_made) made.assign(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  if (!is_made) throw invalid_argument("JPEG encoding failed");
  return made;
#else
  detail::fail_without_jpeg();
#endif
}

}  // namespace leat::io
