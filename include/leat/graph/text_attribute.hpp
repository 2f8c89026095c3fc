#pragma once
// Texts among the numeric attributes of an operator: the length, then the characters.

#include <leat/core/text.hpp>
#include <leat/graph/build.hpp>

namespace leat {

namespace detail {
template <fixed_string Text, std::size_t... I>
attributes<static_cast<std::int64_t>(sizeof...(I)), static_cast<std::int64_t>(static_cast<unsigned char>(Text.view()[I]))...>
attributes_of_text(std::index_sequence<I...>);
template <class... Lists>
struct attributes_joined;
template <std::int64_t... Vs>
struct attributes_joined<attributes<Vs...>> {
  using type = attributes<Vs...>;
};
template <std::int64_t... Vs, std::int64_t... Ws, class... Rest>
struct attributes_joined<attributes<Vs...>, attributes<Ws...>, Rest...> : attributes_joined<attributes<Vs..., Ws...>, Rest...> {};
}  // namespace detail

/// The attributes that a text becomes, for `field_kind::text`: `make<my_op, text_attribute<"nearest">>(x)`.
template <fixed_string Text>
using text_attribute = decltype(detail::attributes_of_text<Text>(std::make_index_sequence<Text.view().size()>{}));
/// Several lists of attributes as one, in the order of the operator's form: `join_attributes<attributes<1>, text_attribute<"nearest">>`.
template <class... Lists>
using join_attributes = typename detail::attributes_joined<Lists...>::type;

/// A text among the attributes of a node.
class attribute_text {
 public:
  static constexpr int most = 256;
  /// The number of attributes that it takes.
  constexpr int attributes() const { return size_ + 1; }
  constexpr std::string_view view() const { return {text_, static_cast<std::size_t>(size_)}; }
  constexpr bool operator==(std::string_view other) const { return view() == other; }

  /// Reads the text that begins at attribute `k`, from the argument of `infer`, `expand` or `gradient`. Of texts longer than `most`, the
  /// first `most` characters.
  template <class Node>
  constexpr attribute_text(const Node& node, int k, int count) {
    const std::int64_t length = k < count ? node.attribute(k) : 0;
    while (size_ < length && size_ < most && k + 1 + size_ < count) {
      text_[size_] = static_cast<char>(node.attribute(k + 1 + size_));
      ++size_;
    }
  }

 private:
  char text_[most]{};
  int size_ = 0;
};

/// The text that begins at attribute `k`: `text_at(x, 0)` in `infer`, `text_at(g, 0)` in `expand` and `gradient`. At most
/// `attribute_text::most` characters of it.
constexpr attribute_text text_at(const operand_list& x, int k) { return {x, k, x.attribute_count}; }
constexpr attribute_text text_at(const gradient_scope& g, int k) { return {g, k, g.attribute_count()}; }

}  // namespace leat
