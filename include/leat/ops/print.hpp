#pragma once
// Printing during a run.

#include <leat/core/list.hpp>
#include <leat/ops/reduction.hpp>

#include <array>

namespace leat {

/// Returns the first operand; whenever it is computed, the other operands are printed (kernels/print.hpp). Attributes: how many elements of
/// each are printed, -1 for all; the number of dtypes, then the dtypes of all operands; the message, as `put_text` writes it. Source:
/// TensorFlow `Print`.
struct print_op {
  static constexpr std::string_view type = "Print";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) == dtype::invalid) return inference::wrong(rule::refusal(rule::takes::any));
    return {x.type(0), x.extent(0)};
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy());
  }
};

namespace detail {

template <fixed_string Message, std::int64_t Summarize, dtype... Types>
struct print_attributes {
  static constexpr std::size_t size = 2 + sizeof...(Types) + 1 + (sizeof(Message.text) + 6) / 8;
  static constexpr auto words = [] {
    detail::list<std::int64_t> list{Summarize, sizeof...(Types), static_cast<std::int64_t>(Types)...};
    put_text(list, Message.view());
    std::array<std::int64_t, size> fixed{};
    for (std::size_t k = 0; k < list.size(); ++k) fixed[k] = list[k];
    return fixed;
  }();
  template <std::size_t... I>
  static attributes<words[I]...> list(std::index_sequence<I...>);
  using type = decltype(list(std::make_index_sequence<size>{}));
};

}  // namespace detail

/// Returns `x`; whenever a run computes it, prints a line with the message and the data: `print<"loss: ">(loss, loss, rate)`. Of each
/// array, `Summarize` elements are printed, or all if it is -1. A print node that no fetch needs prints nothing; `after(step,
/// print<"...">(x, x))` prints before the step. Output goes to standard error, or to the `print_log` of the thread that runs. Gradients
/// pass through. Shapes and dtypes: any; result as x. Source: TensorFlow `Print`, without `first_n`.
template <fixed_string Message, std::int64_t Summarize = 3, tensor_expression X, tensor_expression... Data>
  requires(Summarize >= -1)
constexpr auto print(const X& x, const Data&... data) {
  using its_attributes = typename detail::print_attributes<Message, Summarize, X::type, Data::type...>::type;
  return make<print_op, its_attributes>(x, data...);
}
template <fixed_string Message, LEAT_ANY_NUMBER... Rest>
LEAT_OTHERWISE("print<message>(x, data...) takes the tensor that it gives back, then those to print; " LEAT_TENSORS)
print(...) LEAT_DELETED;

}  // namespace leat
