#pragma once
// Padding by mirror images. Errors of all functions: rules.hpp.

#include <leat/ops/array_parts.hpp>

namespace leat {

/// What lies behind an image's border: its mirror image, without the element at the border (`reflect`) or with it (`symmetric`).
enum class mirror { reflect, symmetric };

namespace detail {

inline constexpr std::string_view mirror_words[]{"REFLECT", "SYMMETRIC"};
/// The padding that an axis may have at either end; `repeats`: 1 if the element at the border counts twice, else 0.
constexpr std::int64_t most_mirrored(std::int64_t size, std::int64_t repeats) { return size - 1 + repeats; }
/// The element of an axis that position `k` of the padded one shows, counted from the first element.
constexpr std::int64_t mirrored_place(std::int64_t k, std::int64_t size, std::int64_t repeats) {
  return k < 0 ? -k - repeats : k >= size ? 2 * size - 2 - k + repeats : k;
}

}  // namespace detail

namespace rule {

/// Attributes: a `mirror`, the padding before each axis, that behind each axis.
struct of_mirrors {
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr std::string_view problem(const operand_list& x) {
    if (x.attribute_count != 1 + 2 * x.extent(0).rank) return "one number before and one behind each axis";
    for (int k = 1; k < x.attribute_count; ++k)
      if (x.attribute(k) < 0 || x.attribute(k) > max_elements) return "paddings must be non-negative";
    return {};
  }
  /// Whether an axis of `size` elements has a mirror image of the padding that the attributes state for axis `a`.
  static constexpr bool has_image(const operand_list& x, int a, std::int64_t size) {
    const std::int64_t before = x.attribute(1 + a), behind = x.attribute(1 + x.extent(0).rank + a);
    const std::int64_t most = leat::detail::most_mirrored(size, x.attribute(0));
    return size < 0 || before + behind == 0 || (before <= most && behind <= most);
  }
  static constexpr std::string_view too_small(const operand_list& x) {
    return x.attribute(0) != 0 ? "paddings must be no greater than the dimension size"
                               : "paddings must be no greater than the dimension size minus 1";
  }
  template <class G>
  static constexpr leat::detail::list<std::int64_t> own(const G& g) {
    leat::detail::list<std::int64_t> numbers;
    for (int k = 0; k < g.attribute_count(); ++k) numbers.push_back(g.attribute(k));
    return numbers;
  }
};

}  // namespace rule

#define LEAT_MIRROR_FIELDS                                                                                                   \
  {field_kind::word, "mode", 0, detail::mirror_words}, {field_kind::pairs, "paddings"}, {field_kind::type_of, "T"}, {        \
    field_kind::fixed_type, "Tpaddings", 3                                                                                   \
  }

/// Source: TensorFlow `MirrorPad`.
struct mirror_pad_op : rule::of_mirrors {
  static constexpr std::string_view type = "MirrorPad";
  static constexpr facts what{.narrow = narrow_rule::moves};
  static constexpr field form[]{{field_kind::operand, "input"}, LEAT_MIRROR_FIELDS};
  static constexpr inference infer(const operand_list& x) {
    if (const auto wrong = problem(x); !wrong.empty()) return inference::wrong(wrong);
    inference got{x.type(0), x.extent(0)};
    for (int a = 0; a < got.extent.rank; ++a) {
      const std::int64_t before = x.attribute(1 + a), behind = x.attribute(1 + got.extent.rank + a);
      std::int64_t& size = got.extent.dim[a];
      if (is_named(size) && before + behind != 0) return inference::wrong("a named dimension cannot be padded");
      if (!has_image(x, a, size)) return inference::wrong(too_small(x));
      if (size >= 0) size += before + behind;
    }
    return got.extent.is_countable() ? got : inference::wrong("a result of more than 2^44 elements");
  }
  template <class G>
  static constexpr void gradient(G& g);
};
/// Sums of the elements that show the same element of the array that was padded. Source: TensorFlow `MirrorPadGrad`.
struct mirror_pad_grad_op : rule::of_mirrors {
  static constexpr std::string_view type = "MirrorPadGrad";
  static constexpr field form[]{{field_kind::operand, "input"}, LEAT_MIRROR_FIELDS};
  static constexpr inference infer(const operand_list& x) {
    if (!is_number(x.type(0))) return inference::wrong(rule::refusal(rule::takes::number));
    if (const auto wrong = problem(x); !wrong.empty()) return inference::wrong(wrong);
    inference got{x.type(0), x.extent(0)};
    for (int a = 0; a < got.extent.rank; ++a)
      if (got.extent[a] >= 0) {
        got.extent.dim[a] -= x.attribute(1 + a) + x.attribute(1 + got.extent.rank + a);
        if (got.extent[a] < 0) return inference::wrong("Output dimension must be non-negative");
        if (!has_image(x, a, got.extent[a])) return inference::wrong(too_small(x));
      }
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g);
};
// The gradients, which need all classes.
template <class G>
constexpr void mirror_pad_op::gradient(G& g) {
  const auto numbers = own(g);
  if (g.wants(0)) give(g, 0, make_node<mirror_pad_grad_op>({numbers.data(), numbers.size()}, g.dy()));
}
template <class G>
constexpr void mirror_pad_grad_op::gradient(G& g) {
  const auto numbers = own(g);
  if (g.wants(0)) give(g, 0, make_node<mirror_pad_op>({numbers.data(), numbers.size()}, g.dy()));
}

#undef LEAT_MIRROR_FIELDS

namespace detail {
template <mirror Mode, class First, class Second>
struct mirror_numbers {};
template <mirror Mode, std::int64_t... Fs, std::int64_t... Ss>
struct mirror_numbers<Mode, before<Fs...>, behind<Ss...>> {
  using type = attributes<static_cast<std::int64_t>(Mode), Fs..., Ss...>;
};
template <mirror Mode, class First, class Second>
using mirror_numbers_of = typename mirror_numbers<Mode, First, Second>::type;
}  // namespace detail

/// x padded by mirror images of itself: `mirror_pad<mirror::reflect, before<0, 1>, behind<0, 2>>(x)`; the lists have a number for each
/// axis. Shapes: x [d0, …]; result [before0 + d0 + behind0, …]. Dtypes: any. Errors: a padding above the dimension, or with
/// `mirror::reflect` above the dimension minus 1; a named dimension that is padded. Source: TensorFlow `MirrorPad`.
template <mirror Mode, class Before, class Behind, tensor_expression X>
  requires accepted_with<mirror_pad_op, detail::mirror_numbers_of<Mode, Before, Behind>, X>
constexpr made_with<mirror_pad_op, detail::mirror_numbers_of<Mode, Before, Behind>, X> mirror_pad(const X& x) {
  return make<mirror_pad_op, detail::mirror_numbers_of<Mode, Before, Behind>>(x);
}
template <mirror Mode, class Before, class Behind, tensor_expression X>
  requires refused_with<mirror_pad_op, detail::mirror_numbers_of<Mode, Before, Behind>, X>
why_with<mirror_pad_op, detail::mirror_numbers_of<Mode, Before, Behind>, X> mirror_pad(const X&) = delete;
#define LEAT_MIRROR_WORDS                                                                                                                  \
  "mirror_pad<mirror::reflect, before<0, 1>, behind<0, 2>>(x) takes one tensor; the mode and the numbers of elements are template "        \
  "arguments; " LEAT_TENSORS
LEAT_OTHERWISE(LEAT_MIRROR_WORDS) mirror_pad(...) LEAT_DELETED;
template <mirror Mode, class... Lists>
LEAT_OTHERWISE(LEAT_MIRROR_WORDS) mirror_pad(...) LEAT_DELETED;
template <class... Lists>
LEAT_OTHERWISE(LEAT_MIRROR_WORDS) mirror_pad(...) LEAT_DELETED;
#undef LEAT_MIRROR_WORDS

}  // namespace leat
