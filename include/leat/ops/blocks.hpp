#pragma once
// Blocks of pixels that become channels or further images of the batch, and the way back. Errors of all functions: rules.hpp.

#include <leat/ops/array_parts.hpp>
#include <leat/ops/reduction.hpp>

namespace leat {

namespace detail {

/// Which sizes do not allow the exchange of blocks of pixels and channels: those of an axis are no multiple of a number.
struct block_exchange {
  shape result;
  int axis = -1;
  std::int64_t divisor = 0;
  bool too_large = false;
  constexpr bool fits() const { return axis < 0 && !too_large; }
};
/// A block of block x block pixels becomes channels, or channels become a block; unknown sizes stay unknown. `space`: the first axis of the
/// pixels; `channel`: that of the channels.
constexpr block_exchange exchanged_blocks(const shape& x, std::int64_t block, bool into_channels, int space, int channel) {
  block_exchange made{.result = x};
  std::int64_t area = 0;
  if (!multiplies(block, block, area) || area > max_elements) {
    made.too_large = true;
    return made;
  }
  const auto change = [&](int axis, std::int64_t by, bool divides) {
    std::int64_t& size = made.result.dim[axis];
    if (made.axis < 0 && divides && size >= 0 && size % by != 0) {
      made.axis = axis;
      made.divisor = by;
    }
    if (size < 0) size = unknown_dimension;
    else if (divides) size /= by;
    else if (!multiplies(size, by, size)) size = unknown_dimension;
  };
  change(space, block, into_channels);
  change(space + 1, block, into_channels);
  change(channel, area, !into_channels);
  return made;
}

}  // namespace detail

namespace rule {

/// x in the given sizes, its axes in another order, in another shape.
constexpr output rearranged(const output& x, const shape& apart, std::initializer_list<int> order, const shape& result) {
  std::int64_t axes[max_rank]{};
  std::size_t count = 0;
  for (const int axis : order) axes[count++] = axis;
  return reshape_to(make_node<transpose_op>({axes, count}, reshape_to(x, apart)), result);
}

}  // namespace rule

/// Blocks of pixels as channels, or channels as blocks of pixels. Attribute: the size of a block along either axis. Source: TensorFlow
/// `SpaceToDepth`, `DepthToSpace`.
template <bool IntoChannels>
struct block_exchange_op {
  static constexpr std::string_view type = IntoChannels ? "SpaceToDepth" : "DepthToSpace";
  static constexpr facts what{.narrow = narrow_rule::moves};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr std::string_view order[]{"NHWC"};
  static constexpr field form[4]{{field_kind::operand, "input"},
                                 {field_kind::type_of, "T"},
                                 {field_kind::integer, "block_size"},
                                 {field_kind::fixed_word, "data_format", 0, order}};
  static constexpr inference infer(const operand_list& x) {
    const shape& s = x.extent(0);
    if (s.rank != 4) return inference::wrong("takes rank 4: images [batch, height, width, channels]");
    if (x.attribute(0) < 2) return inference::wrong("Block size should be > 1");
    if (is_named(s[1]) || is_named(s[2]) || is_named(s[3]))
      return inference::wrong("height, width and channels must be sizes that the compiler knows");
    const auto made = leat::detail::exchanged_blocks(s, x.attribute(0), IntoChannels, 1, 3);
    if (made.too_large) return inference::wrong("the block size is too large");
    if (!made.fits())
      return inference::wrong(IntoChannels ? "height and width must be evenly divisible by the block size"
                                           : "the number of channels must be evenly divisible by that of the pixels of a block");
    return {x.type(0), made.result};
  }
  template <class G>
  static constexpr output expand(G& g) {
    const shape &from = g.input(0).extent(), &to = g.result().extent(), &pixels = IntoChannels ? to : from,
                &channels = IntoChannels ? from : to;
    const std::int64_t block = g.attribute(0);
    shape apart;
    if (IntoChannels)
      for (const std::int64_t n : {from[0], pixels[1], block, pixels[2], block, channels[3]}) apart.push(n);
    else
      for (const std::int64_t n : {from[0], pixels[1], pixels[2], block, block, channels[3]}) apart.push(n);
    return rule::rearranged(g.input(0), apart, {0, 1, 3, 2, 4, 5}, to);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const std::int64_t block[]{g.attribute(0)};
    if (g.wants(0)) give(g, 0, make_node<block_exchange_op<!IntoChannels>>(block, g.dy()));
  }
};

/// Blocks of pixels as further images of the batch, after padding; or the way back, before crops. Attributes: the sizes of a block along
/// the axes that follow the batch, the paddings or crops before, those behind. There is no form, because of two lists of numbers:
/// `to_graph` writes it. Source: TensorFlow `SpaceToBatchND`, `BatchToSpaceND`.
template <bool IntoBatch>
struct batch_exchange_op {
  static constexpr std::string_view type = IntoBatch ? "SpaceToBatchND" : "BatchToSpaceND";
  static constexpr facts what{.narrow = narrow_rule::moves};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    const shape& s = x.extent(0);
    const int axes = x.attribute_count / 3;
    if (x.attribute_count % 3 != 0 || axes == 0)
      return inference::wrong("one size of a block, one number before and one behind for each axis");
    if (s.rank < 1 + axes) return inference::wrong("the rank must be above the number of axes of a block");
    if (s.rank + axes > max_rank) return inference::wrong("more than 8 dimensions, where each axis of a block counts twice");
    for (int k = 0; k <= axes; ++k)
      if (is_named(s[k])) return inference::wrong("the batch and the axes of a block must be sizes that the compiler knows");
    inference got{x.type(0), s};
    std::int64_t all = 1;
    for (int k = 0; k < axes; ++k) {
      const std::int64_t block = x.attribute(k), before = x.attribute(axes + k), behind = x.attribute(2 * axes + k);
      if (block < 1) return inference::wrong("All values in block_shape must be positive");
      if (before < 0 || behind < 0 || before > max_elements || behind > max_elements)
        return inference::wrong("paddings and crops are not negative");
      if (!multiplies(all, block, all) || all > max_elements) return inference::wrong("block_shape is too large");
      std::int64_t& size = got.extent.dim[1 + k];
      if (size < 0) size = unknown_dimension;
      else if (IntoBatch) {
        size += before + behind;
        if (size % block != 0) return inference::wrong("a padded size is not divisible by that of the block");
        size /= block;
      } else {
        if (!multiplies(size, block, size)) return inference::wrong("block_shape is too large");
        size -= before + behind;
        if (size < 0) return inference::wrong("the crops are larger than an axis");
      }
    }
    std::int64_t& batch = got.extent.dim[0];
    if (batch >= 0 && IntoBatch && !multiplies(batch, all, batch)) return inference::wrong("block_shape is too large");
    if (batch >= 0 && !IntoBatch) {
      if (batch % all != 0) return inference::wrong("the batch is not divisible by the product of block sizes");
      batch /= all;
    }
    return got.extent.is_countable() ? got : inference::wrong("a result of more than 2^44 elements");
  }
  template <class G>
  static constexpr output expand(G& g) {
    const int axes = g.attribute_count() / 3;
    const output x = g.input(0);
    const shape &from = x.extent(), &to = g.result().extent();
    // [b, n0, block0, n1, block1, ..., rest] are the padded images, [block0, block1, ..., b, n0, n1, ..., rest] those of the larger batch
    shape images, blocks;
    const std::int64_t batch = IntoBatch ? from[0] : to[0];
    shape whole = from;
    for (int k = 0; k < axes; ++k) {
      if (IntoBatch) whole.dim[1 + k] += g.attribute(axes + k) + g.attribute(2 * axes + k);
      else whole.dim[1 + k] *= g.attribute(k);
      blocks.push(g.attribute(k));
    }
    whole.dim[0] = batch;
    images.push(batch);
    blocks.push(batch);
    std::int64_t order[max_rank]{};
    order[IntoBatch ? axes : 0] = IntoBatch ? 0 : axes;
    for (int k = 0; k < axes; ++k) {
      const std::int64_t block = g.attribute(k), count = whole[1 + k] / block;
      images.push(count);
      images.push(block);
      blocks.push(count);
      const int many = 1 + 2 * k, inner = 2 + 2 * k;  // among the axes of the images; of the larger batch: axes + 1 + k and k
      if (IntoBatch) {
        order[axes + 1 + k] = many;
        order[k] = inner;
      } else {
        order[many] = axes + 1 + k;
        order[inner] = k;
      }
    }
    for (int a = axes + 1; a < from.rank; ++a) {
      images.push(from[a]);
      blocks.push(from[a]);
      order[axes + a] = axes + a;
    }
    std::int64_t edges[2 * max_rank]{};
    for (int k = 0; k < axes; ++k) {
      edges[1 + k] = g.attribute(axes + k);
      edges[from.rank + 1 + k] = IntoBatch ? g.attribute(2 * axes + k) : to[1 + k];
    }
    const std::span<const std::int64_t> numbers(edges, static_cast<std::size_t>(2 * from.rank)),
        turned(order, static_cast<std::size_t>(from.rank + axes));
    if (IntoBatch) return reshape_to(make_node<transpose_op>(turned, reshape_to(make_node<pad_op>(numbers, x), images)), to);
    edges[from.rank] = -1;
    for (int a = axes + 1; a < from.rank; ++a) edges[from.rank + a] = -1;
    return make_node<slice_op>(numbers, reshape_to(make_node<transpose_op>(turned, reshape_to(x, blocks)), whole));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    std::int64_t numbers[3 * max_rank]{};
    const auto count = static_cast<std::size_t>(g.attribute_count());
    for (std::size_t k = 0; k < count; ++k) numbers[k] = g.attribute(static_cast<int>(k));
    if (g.wants(0)) give(g, 0, make_node<batch_exchange_op<!IntoBatch>>({numbers, count}, g.dy()));
  }
};

// ---- functions --------------------------------------------------------------------------------------------------------------------------

#define LEAT_BLOCK_FUNCTION(function, op)                              \
  template <std::int64_t Block, tensor_expression X>                   \
    requires accepted_with<op, attributes<Block>, X>                   \
  constexpr made_with<op, attributes<Block>, X> function(const X& x) { \
    return make<op, attributes<Block>>(x);                             \
  }                                                                    \
  template <std::int64_t Block, tensor_expression X>                   \
    requires refused_with<op, attributes<Block>, X>                    \
  why_with<op, attributes<Block>, X> function(const X&) = delete;      \
  LEAT_OTHERWISE_OF(function, "<block>(images) takes one tensor of rank 4; the size of a block is a template argument; " LEAT_TENSORS)
/// Blocks of Block x Block pixels as channels: `space_to_depth<2>(images)`. Shapes: images [batch, height, width, channels]; result [batch,
/// height / Block, width / Block, channels Block²]. Dtypes: any. Source: TensorFlow `SpaceToDepth`.
LEAT_BLOCK_FUNCTION(space_to_depth, block_exchange_op<true>);
/// Channels as blocks of Block x Block pixels, the inverse of `space_to_depth`. Source: TensorFlow `DepthToSpace`.
LEAT_BLOCK_FUNCTION(depth_to_space, block_exchange_op<false>);
#undef LEAT_BLOCK_FUNCTION

namespace detail {
template <class Blocks, class First, class Second>
struct three_lists {};
template <std::int64_t... Bs, std::int64_t... Fs, std::int64_t... Ss>
struct three_lists<sizes<Bs...>, before<Fs...>, behind<Ss...>> {
  using type = attributes<Bs..., Fs..., Ss...>;
};
template <class Blocks, class First, class Second>
using three_lists_of = typename three_lists<Blocks, First, Second>::type;
}  // namespace detail

#define LEAT_BATCH_FUNCTION(function, op, words)                                                             \
  template <class Blocks, class Before, class Behind, tensor_expression X>                                   \
    requires accepted_with<op, detail::three_lists_of<Blocks, Before, Behind>, X>                            \
  constexpr made_with<op, detail::three_lists_of<Blocks, Before, Behind>, X> function(const X& x) {          \
    return make<op, detail::three_lists_of<Blocks, Before, Behind>>(x);                                      \
  }                                                                                                          \
  template <class Blocks, class Before, class Behind, tensor_expression X>                                   \
    requires refused_with<op, detail::three_lists_of<Blocks, Before, Behind>, X>                             \
  why_with<op, detail::three_lists_of<Blocks, Before, Behind>, X> function(const X&) = delete;               \
  LEAT_OTHERWISE(#function words LEAT_TENSORS) function(...) LEAT_DELETED;                                   \
  template <class First, class... Rest>                                                                      \
  LEAT_OTHERWISE(#function words LEAT_TENSORS) function(...) LEAT_DELETED
#define LEAT_BATCH_WORDS \
  "<sizes<2, 2>, before<0, 0>, behind<0, 1>>(x) takes one tensor; the sizes of a block along the axes that follow the batch, and what is "
/// Blocks of elements along the axes that follow the batch as further entries of the batch, after padding with zeros:
/// `space_to_batch<sizes<2, 2>, before<0, 0>, behind<0, 1>>(x)`. Shapes: x [batch, n0, …, rest]; result [batch b0 …, (n0 + padding) / b0,
/// …, rest]. Dtypes: any. Errors: a named dimension among the batch and these axes. Source: TensorFlow `SpaceToBatchND`.
LEAT_BATCH_FUNCTION(space_to_batch, batch_exchange_op<true>, LEAT_BATCH_WORDS "padded, are template arguments; ");
/// The inverse of `space_to_batch`: entries of the batch as blocks of elements, of which the first and last are cropped. Source: TensorFlow
/// `BatchToSpaceND`.
LEAT_BATCH_FUNCTION(batch_to_space, batch_exchange_op<false>, LEAT_BATCH_WORDS "cropped, are template arguments; ");
#undef LEAT_BATCH_WORDS
#undef LEAT_BATCH_FUNCTION

}  // namespace leat
