#pragma once
// Data-parallel training on all ranks: each rank computes the gradients of its part of the data, and all apply their mean. So the variables
// stay equal on all ranks, and a step equals that of one process with the data of all ranks if each rank has the same amount of data and
// the loss is a mean over it:
//
//   leat::collective::communicator ranks;
//   auto train = data_parallel(adam(0.001f)).minimize(loss);
//   session s{loss, train};
//   s.initialize();
//   broadcast_variables(s);                          // rank 0's first values to all
//   while (...) s.run(train, x = its_part, y = its_labels);
//
// The small gradients of one dtype are sent in one message, each large gradient in a message of its own. Sparse gradients of looked-up rows
// are averaged as dense gradients. Source: Horovod `DistributedOptimizer` (Sergeev and Del Balso 2018).

#include <leat/collective/operators.hpp>
#include <leat/session/typed/basic_session.hpp>
#include <leat/train/optimizer.hpp>

#include <array>
#include <cstring>
#include <tuple>

namespace leat {

namespace detail {

// Larger gradients are reduced separately, where they are stored, because copying them into one array with others takes longer than a
// message.
inline constexpr std::int64_t most_packed_bytes = 1 << 16;
constexpr bool is_packed(dtype t, const shape& extent) { return extent.elements() * size_of(t) <= most_packed_bytes; }

// The small gradients of dtype T: their indices, and their positions in the message.
template <dtype T, class... Gs>
struct gradients_of_dtype {
  static constexpr bool has(std::size_t k) {
    const dtype types[]{Gs::type...};
    const bool packed[]{is_packed(Gs::type, Gs::extent)...};
    return types[k] == T && packed[k];
  }
  static constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (std::size_t k = 0; k < sizeof...(Gs); ++k) n += has(k) ? 1 : 0;
    return n;
  }();
  static constexpr std::array<std::size_t, count + 1> places = [] {
    std::array<std::size_t, count + 1> found{};
    for (std::size_t k = 0, n = 0; k < sizeof...(Gs); ++k)
      if (has(k)) found[n++] = k;
    return found;
  }();
  // The number of elements that precede gradient K among those of the dtype.
  static constexpr std::int64_t begin(std::size_t k) {
    const std::int64_t sizes[]{Gs::extent.elements()...};
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < k; ++i)
      if (has(i)) sum += sizes[i];
    return sum;
  }
};
struct name_of_gradients {
  static constexpr std::string_view view() { return "gradients"; }
};
using mean_of_gradients = collective_words<static_cast<int>(reduce_by::mean), name_of_gradients>::type;
template <class V>
struct name_of_leaf {
  static constexpr std::string_view view() { return leaf_name<V>(); }
};
template <class V>
using mean_of_gradient = typename collective_words<static_cast<int>(reduce_by::mean), name_of_leaf<V>>::type;

// The gradient that begins at element `Begin` of the message, in the gradient's shape.
template <std::int64_t Begin, class G, class Message>
constexpr auto gradient_in(const Message& message) {
  const auto flat = make<slice_op, attributes<Begin, G::extent.elements()>>(message);
  return [&]<std::size_t... D>(std::index_sequence<D...>) {
    return make<reshape_op, attributes<G::extent[static_cast<int>(D)]...>>(flat);
  }(std::make_index_sequence<static_cast<std::size_t>(G::rank)>{});
}
template <class... Gs, class... Vs>
constexpr auto averaged(const std::tuple<gradient_and_variable<Gs, Vs>...>& pairs) {
  const auto message = [&]<dtype T>(std::integral_constant<dtype, T>) {
    using group = gradients_of_dtype<T, Gs...>;
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      if constexpr (group::count == 0) return 0;
      else return make<all_reduce_op, mean_of_gradients>(std::get<group::places[K]>(pairs).gradient...);
    }(std::make_index_sequence<group::count>{});
  };
  const auto messages =
      std::make_tuple(message(std::integral_constant<dtype, dtype::float32>{}), message(std::integral_constant<dtype, dtype::float64>{}));
  const auto part = [&]<std::size_t K, class G, class V>(const gradient_and_variable<G, V>& pair) {
    using group = gradients_of_dtype<G::type, Gs...>;
    const auto& its = std::get<(G::type == dtype::float32 ? 0 : 1)>(messages);
    if constexpr (!group::has(K)) return with_variable(make<all_reduce_op, mean_of_gradient<V>>(pair.gradient), pair.variable);
    else if constexpr (group::count == 1) return with_variable(its, pair.variable);
    else return with_variable(gradient_in<group::begin(K), G>(its), pair.variable);
  };
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::make_tuple(part.template operator()<K>(std::get<K>(pairs))...);
  }(std::index_sequence_for<Gs...>{});
}

}  // namespace detail

/// An optimizer that averages gradients over the ranks; small gradients of one dtype share a message. Made by `data_parallel`.
template <optimizer_like Optimizer>
class data_parallel_optimizer {
 public:
  constexpr explicit data_parallel_optimizer(const Optimizer& optimizer) : optimizer_(optimizer) {}

  /// As the optimizer's `compute_gradients`: of the loss alone, or with the variables. The gradients are means over the ranks.
  template <tensor_expression Loss, tensor_expression... Vs>
  constexpr auto compute_gradients(const Loss& loss, const Vs&... variables) const {
    return detail::averaged(optimizer_.compute_gradients(loss, variables...));
  }
  /// As the optimizer's `apply_gradients`: takes pairs that `compute_gradients` returned, optionally followed by an integer variable that
  /// counts steps.
  template <class... Pairs>
  constexpr auto apply_gradients(const Pairs&... pairs) const {
    return optimizer_.apply_gradients(pairs...);
  }
  /// As the optimizer's `minimize`. Errors (at compile time): those of `optimizer::minimize`.
  template <tensor_expression Loss, tensor_expression... Step>
    requires(sizeof...(Step) < 2 && detail::loss_problem<Loss>::none)
  constexpr auto minimize(const Loss& loss, const Step&... step) const {
    return optimizer_.apply_gradients(compute_gradients(loss), step...);
  }
  template <tensor_expression Loss, class... Step>
    requires(!detail::loss_problem<Loss>::none)
  constexpr typename detail::loss_refusal<Loss>::problem minimize(const Loss&, const Step&...) const = delete;
  /// `minimize` on graphs with names, for programs that include named_data_parallel.hpp.
  template <std::same_as<output> Loss, class Options = minimize_options>
  auto minimize(const Loss& loss, const Options& options = {}, const std::source_location& where = std::source_location::current()) const {
    return data_parallel(on_graph(optimizer_)).minimize(loss, options, where);
  }
  constexpr const Optimizer& optimizer() const { return optimizer_; }

 private:
  Optimizer optimizer_;
};

/// Returns the optimizer with its gradients averaged over the ranks of the process's `collective::communicator`. With one rank the result
/// is the same as the optimizer's. Source: Horovod `DistributedOptimizer`.
template <optimizer_like Optimizer>
constexpr auto data_parallel(const Optimizer& optimizer) {
  return data_parallel_optimizer<Optimizer>(optimizer);
}

namespace detail {

// Errors: failed_precondition on all ranks if `has_all` is false on one of them.
inline void require_values_on_all(bool has_all, int root) {
  auto& ranks = collective::communicator::current();
  const shape one{};
  const std::int32_t mine = has_all ? 1 : 0;
  std::int32_t all = 0;
  const void* const from[]{&mine};
  void* const to[]{&all};
  ranks.all_reduce({"broadcast_variables", dtype::int32, {&one, 1}}, reduce_by::minimum, from, to);
  if (all == 0)
    throw failed_precondition(
        "broadcast_variables: a variable has no value on " +
        (root < 0 ? std::string("some rank: initialize the session on all of them") : "rank " + std::to_string(root)));
}

}  // namespace detail

/// Gives all variables of a session, including slots and counters, the values that they have on rank `root`. All ranks must call it, with
/// sessions of the same expressions. Errors: failed_precondition if a variable has no value there; those of `collective::communicator`.
/// Source: Horovod `broadcast_variables`.
template <class Device, expression... Es>
void broadcast_variables(basic_session<Device, Es...>& s, int root = 0) {
  auto& ranks = collective::communicator::current();
  detail::list<detail::stored_value> given;
  detail::list<std::vector<std::byte>> bytes;
  s.with_values([&](const detail::list<detail::stored_value>& values) {
    bool has_all = true;
    for (const auto& v : values) has_all = has_all && v.is_initialized;
    detail::require_values_on_all(has_all || ranks.rank() != root, root);
    for (const auto& v : values) {
      bytes.push_back(std::vector<std::byte>(static_cast<std::size_t>(v.extent.elements() * size_of(v.type))));
      ranks.broadcast({v.name, v.type, {&v.extent, 1}}, root, v.bytes.data(), bytes.back().data());
      given.push_back({v.name, v.type, v.extent, bytes.back(), true});
    }
  });
  if (!given.empty()) s.assign_values(given);
}

}  // namespace leat
