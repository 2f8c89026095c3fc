#pragma once
// Kernels that move elements of arrays in blocks: padding by mirror images or by a value, blocks of pixels that become channels or batches,
// and the way back. Source: TensorFlow `MirrorPad`, `MirrorPadGrad`, `PadV2`, `SpaceToDepth`, `DepthToSpace`, `SpaceToBatchND`,
// `BatchToSpaceND`.

#include <leat/core/fill.hpp>
#include <leat/kernels/mirror_pad.hpp>
#include <leat/named/definitions/window_attributes.hpp>
#include <leat/runtime/kernels/class_kernel.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <array>
#include <span>
#include <stdexcept>

namespace leat::runtime {

/// The pairs of an input [rank, 2]. Errors: invalid_argument if it has another shape, or a negative element.
inline std::vector<std::pair<std::int64_t, std::int64_t>> pairs_of(kernel_context& c, int k, int rank, std::string_view what) {
  const shape& s = c.extent(k);
  if (s.rank != 2 || s[0] != rank || s[1] != 2)
    throw invalid_argument(std::string(what) + " must have the shape [" + std::to_string(rank) + ",2], not " + brackets(s));
  const auto numbers = c.numbers(k);
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
    for (const std::int64_t n : {numbers[i], numbers[i + 1]})
      if (n < 0 || n > max_elements) throw invalid_argument(std::string(what) + " must be non-negative: " + std::to_string(n));
    pairs.emplace_back(numbers[i], numbers[i + 1]);
  }
  return pairs;
}

/// The shape of the padded array.
inline shape padded_by(const shape& s, const std::vector<std::pair<std::int64_t, std::int64_t>>& pads) {
  shape padded;
  for (int a = 0; a < s.rank; ++a) {
    const auto [before, behind] = pads[static_cast<std::size_t>(a)];
    padded.push(s[a] + before + behind);
  }
  if (!padded.is_countable()) throw invalid_argument("a result of more than 2^44 elements, which no memory holds");
  return padded;
}
/// The axes of an array and of the one that is padded by its mirror images.
inline kernels::mirrored_axes mirrored(const kernel_node& n, const shape& inner, const shape& padded,
                                       const std::vector<std::pair<std::int64_t, std::int64_t>>& pads) {
  const std::string mode = n.text("mode");
  const auto found = std::find(std::begin(leat::detail::mirror_words), std::end(leat::detail::mirror_words), mode);
  if (found == std::end(leat::detail::mirror_words)) throw invalid_argument("mode must be either REFLECT or SYMMETRIC, not '" + mode + "'");
  const std::int64_t repeats = found - std::begin(leat::detail::mirror_words);  // 1 if the element at the border counts twice
  std::int64_t before_each[max_rank]{};
  for (int a = 0; a < inner.rank; ++a) {
    const auto [before, behind] = pads[static_cast<std::size_t>(a)];
    const std::int64_t most = leat::detail::most_mirrored(inner[a], repeats);
    if (before > most || behind > most)
      throw invalid_argument("paddings must be no greater than " +
                             std::string(repeats == 1 ? "the dimension size" : "the dimension size minus 1") + ": " +
                             std::to_string(before) + ", " + std::to_string(behind) + " greater than " + std::to_string(most));
    before_each[a] = before;
  }
  return {inner, padded, before_each, repeats};
}
inline auto run_mirror_pad(kernel_context& c) {
  const tensor_value x = c.input(0);
  const auto pads = pairs_of(c, 1, x.extent().rank, "paddings");
  const shape padded = padded_by(x.extent(), pads);
  const auto axes = mirrored(c.node, x.extent(), padded, pads);
  return with_storage(x.type(), [&]<class T>(T) {
    tensor_value made(x.type(), padded);
    const auto done = computed_by<mirror_pad_op>::run<T>(stored<T>(x), stored<T>(made), axes);
    c.set(0, std::move(made));
    return done;
  });
}
inline auto run_mirror_pad_back(kernel_context& c) {
  const tensor_value dy = c.input(0);
  const shape& s = dy.extent();
  const auto pads = pairs_of(c, 1, s.rank, "paddings");
  shape inner;
  for (int a = 0; a < s.rank; ++a) {
    const auto [before, behind] = pads[static_cast<std::size_t>(a)];
    if (s[a] < before + behind) throw invalid_argument("Output dimension must be non-negative");
    inner.push(s[a] - before - behind);
  }
  const auto axes = mirrored(c.node, inner, s, pads);
  return with_number(dy.type(), [&]<class T>(T) {
    tensor_value made(dy.type(), inner);
    const auto done = computed_by<mirror_pad_grad_op>::run<T>(dy.values<T>().data(), made.values<T>().data(), axes);
    c.set(0, std::move(made));
    return done;
  });
}
/// Copies an array into a larger one that `filler` fills.
template <class T>
computed_by<pad_op> pad_array(const T* from, const shape& s, const shape& padded,
                              const std::vector<std::pair<std::int64_t, std::int64_t>>& pads, const T& filler, T* to) {
  std::int64_t before[max_rank]{};
  for (std::size_t a = 0; a < pads.size(); ++a) before[a] = pads[a].first;
  return computed_by<pad_op>::run<T>(from, to, s, padded, std::data(before), filler);
}
inline auto run_pad_with(kernel_context& c) {
  const tensor_value x = c.input(0), value = c.input(2);
  if (value.extent().rank != 0) throw invalid_argument("constant_values must be a scalar, not " + brackets(value.extent()));
  const auto pads = pairs_of(c, 1, x.extent().rank, "paddings");
  const shape padded = padded_by(x.extent(), pads);
  return with_storage(x.type(), [&]<class T>(T) {
    tensor_value made(x.type(), padded);
    const auto done = pad_array(stored<T>(x), x.extent(), padded, pads, *stored<T>(value), stored<T>(made));
    c.set(0, std::move(made));
    return done;
  });
}

/// Moves the elements of an array of these sizes to another order of its axes.
template <class T>
void move_axes(const T* from, std::span<const std::int64_t> sizes, std::span<const std::size_t> order, T* to) {
  constexpr std::size_t most = 2 * max_rank;  // each axis of a tensor, and a block along it
  if (sizes.size() > most || order.size() > most) throw std::logic_error("more axes than blocks of a tensor have");
  std::int64_t strides[most], counts[most], steps[most], step = 1;
  for (std::size_t a = sizes.size(); a-- > 0; step *= sizes[a]) strides[a] = step;
  for (std::size_t k = 0; k < order.size(); ++k) {
    counts[k] = sizes[order[k]];
    steps[k] = strides[order[k]];
  }
  gather_walk(to, from, counts, steps, order.size());
}
template <bool IntoChannels>
void run_blocks_of_pixels(kernel_context& c) {
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  const auto channels_at = leat::detail::channel_order_of(c.node.record->attributes.find("data_format"), 2);
  if (!channels_at) throw unimplemented("data_format '" + c.node.text("data_format") + "' is neither NHWC nor NCHW");
  const bool first = *channels_at == leat::detail::channel_order::first;
  if (s.rank != 4) throw invalid_argument("Input rank should be: 4 instead of: " + std::to_string(s.rank));
  const std::int64_t block = c.node.integer("block_size");
  if (block < 2 || block > INT32_MAX) throw invalid_argument("Block size should be > 1, but was: " + std::to_string(block));
  const std::int64_t h = s[first ? 2 : 1], w = s[first ? 3 : 2], depth = s[first ? 1 : 3];
  if (IntoChannels ? h % block != 0 || w % block != 0 : depth % (block * block) != 0)
    throw invalid_argument("Dimension sizes of " + brackets(s) + " must be divisible by the block size " + std::to_string(block));
  const std::int64_t rows = IntoChannels ? h / block : h, columns = IntoChannels ? w / block : w;
  const std::int64_t channels = IntoChannels ? depth : depth / (block * block);
  shape result = s;
  // An array without elements may have any number of the others.
  const auto times = [&](std::int64_t size, std::int64_t by) {
    if (std::int64_t product = 0; multiplies(size, by, product)) return product;
    throw invalid_argument("Block size " + std::to_string(block) + " is too large for " + brackets(s));
  };
  result.dim[first ? 2 : 1] = IntoChannels ? rows : times(rows, block);
  result.dim[first ? 3 : 2] = IntoChannels ? columns : times(columns, block);
  result.dim[first ? 1 : 3] = IntoChannels ? times(channels, block * block) : channels;
  // Axes of the array: with pixels in blocks [b, rows, block, columns, block, channels], with channels [b, rows, columns, block, block,
  // channels].
  std::array<std::int64_t, 6> sizes;
  std::array<std::size_t, 6> order;
  if (IntoChannels && !first) sizes = {s[0], rows, block, columns, block, channels}, order = {0, 1, 3, 2, 4, 5};
  else if (!IntoChannels && !first) sizes = {s[0], rows, columns, block, block, channels}, order = {0, 1, 3, 2, 4, 5};
  else if (IntoChannels && first) sizes = {s[0], channels, rows, block, columns, block}, order = {0, 3, 5, 1, 2, 4};
  else sizes = {s[0], block, block, channels, rows, columns}, order = {0, 3, 4, 1, 5, 2};
  with_storage(x.type(), [&]<class T>(T) {
    tensor_value made(x.type(), result);
    if (made.elements() > 0) move_axes<T>(stored<T>(x), sizes, order, stored<T>(made));
    c.set(0, std::move(made));
  });
}

/// The blocks of SpaceToBatchND and BatchToSpaceND: the sizes of a block along the axes after the batch. The older forms, of images, have
/// squares instead, as an attribute.
inline std::vector<std::int64_t> block_sizes(kernel_context& c, int rank) {
  if (c.input_count() == 2) {
    if (rank != 4) throw invalid_argument("Input rank should be: 4 instead of: " + std::to_string(rank));
    const std::int64_t size = c.node.integer("block_size");
    if (size < 2 || size > INT32_MAX) throw invalid_argument("Block size should be > 1: " + std::to_string(size));
    return {size, size};
  }
  if (c.extent(1).rank != 1) throw invalid_argument("block_shape must be a vector, not " + brackets(c.extent(1)));
  const auto blocks = c.numbers(1);
  if (rank < 1 + static_cast<int>(blocks.size()))
    throw invalid_argument("input rank should be >= " + std::to_string(1 + blocks.size()) + " instead of " + std::to_string(rank));
  for (const std::int64_t b : blocks)
    if (b < 1 || b > INT32_MAX) throw invalid_argument("All values in block_shape must be positive, got value " + std::to_string(b));
  return blocks;
}
inline void run_space_to_batch(kernel_context& c) {
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  const auto blocks = block_sizes(c, s.rank);
  const auto given = pairs_of(c, c.input_count() - 1, static_cast<int>(blocks.size()), "paddings");
  std::vector<std::pair<std::int64_t, std::int64_t>> pads(static_cast<std::size_t>(s.rank));
  std::copy(given.begin(), given.end(), pads.begin() + 1);
  const shape padded = padded_by(s, pads);
  // [b, n0, block0, n1, block1, ..., rest] becomes [block0, block1, ..., b, n0, n1, ..., rest].
  std::vector<std::int64_t> sizes{padded[0]};
  std::vector<std::size_t> order, inner{0};
  std::int64_t batches = padded[0];
  shape result;
  result.push(0);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const std::int64_t size = padded[static_cast<int>(k) + 1];
    if (size % blocks[k] != 0)
      throw invalid_argument("padded_shape[" + std::to_string(k) + "]=" + std::to_string(size) + " is not divisible by block_shape[" +
                             std::to_string(k) + "]=" + std::to_string(blocks[k]));
    inner.push_back(sizes.size());
    sizes.push_back(size / blocks[k]);
    order.push_back(sizes.size());
    sizes.push_back(blocks[k]);
    result.push(size / blocks[k]);
    if (!multiplies(batches, blocks[k], batches)) throw invalid_argument("block_shape is too large");
  }
  for (int a = static_cast<int>(blocks.size()) + 1; a < s.rank; ++a) {
    inner.push_back(sizes.size());
    sizes.push_back(padded[a]);
    result.push(padded[a]);
  }
  result.dim[0] = batches;
  order.insert(order.end(), inner.begin(), inner.end());
  with_storage(x.type(), [&]<class T>(T) {
    tensor_value whole = x, made(x.type(), result);
    if (!(padded == s)) {
      whole = tensor_value(x.type(), padded);
      pad_array(stored<T>(x), s, padded, pads, T{}, stored<T>(whole));
    }
    if (made.elements() > 0) move_axes<T>(stored<T>(std::as_const(whole)), sizes, order, stored<T>(made));
    c.set(0, std::move(made));
  });
}
inline void run_batch_to_space(kernel_context& c) {
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  const auto blocks = block_sizes(c, s.rank);
  const auto crops = pairs_of(c, c.input_count() - 1, static_cast<int>(blocks.size()), "crops");
  std::int64_t all = 1;
  for (const std::int64_t b : blocks)
    if (!multiplies(all, b, all)) throw invalid_argument("block_shape is too large");
  if (s[0] % all != 0)
    throw invalid_argument("Input batch dimension (" + std::to_string(s[0]) + ") is not divisible by product of block sizes (" +
                           std::to_string(all) + ")");
  // [block0, block1, ..., b, n0, n1, ..., rest] becomes [b, n0, block0, n1, block1, ..., rest].
  const std::size_t depth = blocks.size();
  std::vector<std::int64_t> sizes(blocks);
  sizes.push_back(s[0] / all);
  for (int a = 1; a < s.rank; ++a) sizes.push_back(s[a]);
  std::vector<std::size_t> order{depth};
  shape whole_shape, result;
  whole_shape.push(s[0] / all);
  result.push(s[0] / all);
  for (std::size_t k = 0; k < depth; ++k) {
    order.push_back(depth + 1 + k);
    order.push_back(k);
    std::int64_t size = 0;
    if (!multiplies(s[static_cast<int>(k) + 1], blocks[k], size)) throw invalid_argument("block_shape is too large");
    if (crops[k].first + crops[k].second > size)
      throw invalid_argument("cropped_shape[" + std::to_string(k) + "]=" + std::to_string(size - crops[k].first - crops[k].second) +
                             " must be non-negative");
    whole_shape.push(size);
    result.push(size - crops[k].first - crops[k].second);
  }
  for (int a = static_cast<int>(depth) + 1; a < s.rank; ++a) {
    order.push_back(depth + static_cast<std::size_t>(a));
    whole_shape.push(s[a]);
    result.push(s[a]);
  }
  with_storage(x.type(), [&]<class T>(T) {
    tensor_value whole(x.type(), whole_shape), made(x.type(), result);
    if (whole.elements() > 0) move_axes<T>(stored<T>(x), sizes, order, stored<T>(whole));
    std::vector<std::int64_t> counts, strides = strides_of(whole_shape);
    std::int64_t first = 0;
    for (int a = 0; a < result.rank; ++a) {
      counts.push_back(result[a]);
      if (a > 0 && a <= static_cast<int>(depth))
        first += crops[static_cast<std::size_t>(a) - 1].first * strides[static_cast<std::size_t>(a)];
    }
    if (made.elements() > 0) gather_walk<T>(stored<T>(made), stored<T>(whole) + first, counts.data(), strides.data(), counts.size());
    c.set(0, std::move(made));
  });
}

LEAT_FILL(fill_block_kernels) {
  register_class_kernel("MirrorPad", counting_texts(run_mirror_pad));
  register_class_kernel("MirrorPadGrad", run_mirror_pad_back);
  register_class_kernel("PadV2", counting_texts(run_pad_with));
  register_kernel("SpaceToDepth", run_blocks_of_pixels<true>);
  register_kernel("DepthToSpace", run_blocks_of_pixels<false>);
  register_kernels({"SpaceToBatchND", "SpaceToBatch"}, counting_texts(run_space_to_batch));
  register_kernels({"BatchToSpaceND", "BatchToSpace"}, counting_texts(run_batch_to_space));
}

}  // namespace leat::runtime
