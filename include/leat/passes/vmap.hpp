#pragma once
// One function for many models: `vmap(f)(x, w)` computes `f` for each model, as one step over an axis along which the models are stored.
// `f` is called once, by the compiler, with tensors of one model, and its expressions are rewritten for all models (`passes/batching.hpp`).
// The result is an expression like any other: it has gradients, and can be fetched, assigned and trained. docs/vmap.md explains along which
// axis models are best stored. Source: JAX's vmap; Bradbury et al. 2018.

#include <leat/expr/leaf.hpp>
#include <leat/expr/tensor_list.hpp>
#include <leat/passes/batching.hpp>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leat {

/// An operand of `vmap(f)` with its models along another axis than the other operands: the result of `models_along<Axis>(x)`.
template <int Axis, tensor_expression X>
struct models_along_axis {
  X value;
};
/// An operand of `vmap(f)` that all models share: the result of `shared(x)`.
template <tensor_expression X>
struct shared_operand {
  X value;
};

/// In a call of `vmap(f)`: the models of x are along `Axis`; -1 is the last axis. Errors at compile time: axis out of range.
template <int Axis, tensor_expression X>
constexpr models_along_axis<Axis, X> models_along(const X& x) {
  return {x};
}
LEAT_OTHERWISE_OF(models_along,
                  "<axis>(x) takes one tensor; the axis of the models is a template argument: models_along<-1>(x); " LEAT_TENSORS);
/// In a call of `vmap(f)`: all models share x. An expression that f captures is shared, too.
template <tensor_expression X>
constexpr shared_operand<X> shared(const X& x) {
  return {x};
}
LEAT_OTHERWISE("shared(x) takes one tensor, which all models have in common; " LEAT_TENSORS) shared(...) LEAT_DELETED;

namespace detail {

// The structure of one model's part of an array: a leaf in the graph of one model.
template <std::uint64_t Hash, class X, class Dims>
struct model_leaf : numbers_of<X> {
  static constexpr std::uint64_t hash = Hash;
  template <class E>
  static constexpr int enter(graph& g) {
    dimension_names<Dims>::enter(g);
    return g.add_leaf(info_of<model_op>, {X::type, Dims::value}, {}, Hash);
  }
};

// Resolves an axis, which counts from the end if it is negative; -1 if it is out of range.
constexpr int models_axis(int axis, int rank) { return axis < 0 ? (axis + rank < 0 ? -1 : axis + rank) : axis < rank ? axis : -1; }

template <class Dims, int Axis, std::int64_t Size>
struct dims_with_models {
  template <std::size_t... I>
  static auto pack(std::index_sequence<I...>)
      -> dims<(static_cast<int>(I) == Axis ? Size
                                           : Dims::value[static_cast<int>(I) < Axis ? static_cast<int>(I) : static_cast<int>(I) - 1])...>;
  using type = decltype(pack(std::make_index_sequence<static_cast<std::size_t>(Dims::rank) + 1>{}));
};
template <class Dims, int Axis>
struct dims_of_model {
  template <std::size_t... I>
  static auto pack(std::index_sequence<I...>)
      -> dims<Dims::value[static_cast<int>(I) < Axis ? static_cast<int>(I) : static_cast<int>(I) + 1]...>;
  using type = decltype(pack(std::make_index_sequence<static_cast<std::size_t>(Dims::rank) - 1>{}));
};

// Describes an operand: its expression, whether models have their own values of it, and along which axis.
template <int Default, class X>
struct model_operand {
  static constexpr bool ok = false;
};
template <int Default, tensor_expression X>
struct model_operand<Default, X> {
  static constexpr bool ok = true;
  static constexpr bool is_shared = false;
  static constexpr int axis = models_axis(Default, X::rank);
  static constexpr std::int64_t models = axis < 0 ? 0 : X::extent[axis < 0 ? 0 : axis];
  using expression = X;
  static constexpr const X& value(const X& x) { return x; }
};
template <int Default, int Axis, class X>
struct model_operand<Default, models_along_axis<Axis, X>> : model_operand<Axis, X> {
  static constexpr const X& value(const models_along_axis<Axis, X>& x) { return x.value; }
};
template <int Default, class X>
struct model_operand<Default, shared_operand<X>> {
  static constexpr bool ok = true;
  static constexpr bool is_shared = true;
  static constexpr int axis = 0;
  static constexpr std::int64_t models = 0;
  using expression = X;
  static constexpr const X& value(const shared_operand<X>& x) { return x.value; }
};

// The argument that the function gets for an operand. The function is part of the leaf's identity, because nested calls of vmap map
// different leaves.
template <class F, class Operand>
struct given_to_function {
  using X = typename Operand::expression;
  using extents = typename dims_of_model<typename X::extents, Operand::axis>::type;
  using leaf = model_leaf<mix(mix(mix(site_hash<F>, X::identity::hash), static_cast<std::uint64_t>(Operand::axis)), 401), X, extents>;
  using type = leaf_tensor<leaf, typename X::element, extents>;
};
template <class F, class Operand>
  requires(Operand::is_shared)
struct given_to_function<F, Operand> {
  using type = typename Operand::expression;
};

template <class F, class... Operands>
struct vmap_leaves {
  // The error in the operands: an axis that does not exist, different numbers of models, or no operand with models; empty if there is none.
  static constexpr message operands_problem() {
    message m;
    const int axes[]{Operands::axis...};
    const bool is_shared[]{Operands::is_shared...};
    const std::int64_t sizes[]{Operands::models...};
    const int count = static_cast<int>(sizeof...(Operands));
    int first = -1;
    graph g;
    (dimension_names<typename Operands::expression::extents>::enter(g), ...);
    const auto number = [&](std::int64_t size) {
      if (is_named(size)) m << g.text_of(size);
      else m << static_cast<long long>(size);
    };
    for (int k = 0; k < count && m.size == 0; ++k) {
      if (is_shared[k]) continue;
      if (axes[k] < 0) {
        m << "vmap: operand " << k + 1 << " has no such axis, along which models lie: shared(x) is one for all of them";
      } else if (first < 0) {
        first = k;
      } else if (sizes[k] != sizes[first]) {
        m << "vmap: operand " << first + 1 << " has ";
        number(sizes[first]);
        m << " models, operand " << k + 1 << " has ";
        number(sizes[k]);
        m << "; models_along<-1>(x) says another axis, shared(x) that x is one for all models";
      }
    }
    if (m.size == 0 && first < 0) m << "vmap: no operand has models of its own: all are shared";
    return m;
  }
  struct words {
    static constexpr message text() { return operands_problem(); }
  };
  static constexpr bool fit = operands_problem().size == 0;
  static constexpr std::int64_t models = [] {
    std::int64_t found = 0;
    ((found = Operands::is_shared ? found : Operands::models), ...);
    return found;
  }();
};

template <class... Ts>
struct types_of {};

// One call of vmap(f): its operands and its results, and how they enter a graph.
template <int Axis, class F, class Operands, class Results>
struct vmap_call;
template <int Axis, class F, class... Operands, class... Es>
struct vmap_call<Axis, F, types_of<Operands...>, std::tuple<Es...>> {
  static constexpr std::int64_t models = vmap_leaves<F, Operands...>::models;
  static constexpr std::uint64_t base = [] {
    auto h = mix(mix(402, static_cast<std::uint64_t>(Axis)), static_cast<std::uint64_t>(models));
    ((h = mix(h, given_to_function<F, Operands>::type::identity::hash)), ...);
    ((h = mix(h, Es::identity::hash)), ...);
    return h;
  }();
  template <std::size_t I>
  static constexpr std::uint64_t result_hash = mix(base, I + 1);
  template <class E>
  static constexpr int result_axis = models_axis(Axis, E::rank + 1);

  // Adds the results for all models to a graph; sets their rows, in the order of the results.
  static constexpr message enter(graph& g, int* rows) {
    graph one;
    one.is_written = g.is_written;
    const int own[]{flatten<Es>(one)...};
    passes::batcher all(one, g, models);
    g.note_models(models);
    const auto put = [&]<class Operand>(const Operand*) {
      using leaf = typename given_to_function<F, Operand>::type;
      if constexpr (!Operand::is_shared)
        if (const int row = one.find(leaf::identity::hash); row >= 0)
          all.put(row, output(g, flatten<typename Operand::expression>(g)), Operand::axis);
    };
    (put(static_cast<const Operands*>(nullptr)), ...);
    const int axes[]{result_axis<Es>...};
    for (std::size_t k = 0; k < sizeof...(Es) && all.problem().size == 0; ++k) {
      const output made = all.all(own[k], axes[k]);
      if (all.problem().size == 0) rows[k] = made.index();
    }
    return all.problem();
  }
  static constexpr message problem() {
    message m;
    if (((result_axis<Es> < 0) || ...)) return m << "vmap: a result has no such axis, along which the models are to lie";
    graph g;
    int rows[sizeof...(Es)]{};
    return enter(g, rows);
  }
  static constexpr message found = problem();
  struct words {
    static constexpr message text() { return found; }
  };

  static constexpr auto hashes = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<std::uint64_t, sizeof...(I)>{result_hash<I>...};
  }(std::index_sequence_for<Es...>{});
  template <std::size_t I>
  struct result_structure : numbers_of<Es..., typename Operands::expression...> {
    template <class E>
    static constexpr int enter(graph& g) {
      int rows[sizeof...(Es)]{};
      if (const message m = vmap_call::enter(g, rows); m.size > 0) LEAT_THROW(unimplemented(std::string(m.view())));
      for (std::size_t k = 0; k < sizeof...(Es); ++k)
        if (k != I && g.find(hashes[k]) < 0) g.remember(hashes[k], rows[k]);
      return rows[I];
    }
  };
  template <std::size_t I, class E = std::tuple_element_t<I, std::tuple<Es...>>>
  using result = typename record<id<result_hash<I>>, result_structure<I>>::template tensor<
      typename E::element, typename dims_with_models<typename E::extents, result_axis<E>, models>::type>;
};

template <int Axis, class F, class X>
using given = typename given_to_function<F, model_operand<Axis, X>>::type;
/// Operands of vmap(f) that are tensors with the same number of models.
template <int Axis, class F, class... Xs>
concept operands_of_models = (model_operand<Axis, Xs>::ok && ...) && vmap_leaves<F, model_operand<Axis, Xs>...>::fit;
/// Operands whose per-model parts f accepts. An error in f is reported here, as near to the user's line as possible.
template <int Axis, class F, class... Xs>
concept given_operands = operands_of_models<Axis, F, Xs...> && requires(const F& f, const given<Axis, F, Xs>&... xs) { f(xs...); };

// The result of f for one model.
template <int Axis, class F, class... Xs>
using one_result = tensor_list<decltype(std::declval<const F&>()(std::declval<const given<Axis, F, Xs>&>()...))>;
template <int Axis, class F, class... Xs>
using vmap_call_of = vmap_call<Axis, F, types_of<model_operand<Axis, Xs>...>, typename one_result<Axis, F, Xs...>::type>;
template <int Axis, class F, class... Xs>
concept returns_tensors = one_result<Axis, F, Xs...>::ok;
template <int Axis, class F, class... Xs>
concept mapped = returns_tensors<Axis, F, Xs...> && vmap_call_of<Axis, F, Xs...>::found.size == 0;

// The reason why a call is rejected, as a type; empty if the call is not rejected, or for another reason, because clang instantiates the
// return type before it checks the function's constraints.
template <int Axis, class F, class... Xs>
struct vmap_refusal {};
template <int Axis, class F, class... Xs>
  requires((model_operand<Axis, Xs>::ok && ...) && !operands_of_models<Axis, F, Xs...>)
struct vmap_refusal<Axis, F, Xs...> {
  using problem = error_in_expression<problem_text<typename vmap_leaves<F, model_operand<Axis, Xs>...>::words>(),
                                      operand_text<typename model_operand<Axis, Xs>::expression>()...>;
};
template <int Axis, class F, class... Xs>
struct vmap_call_refusal {};
template <int Axis, class F, class... Xs>
  requires(operands_of_models<Axis, F, Xs...> && !given_operands<Axis, F, Xs...>)
struct vmap_call_refusal<Axis, F, Xs...> {
  using problem =
      error_in_expression<literal_text{"vmap(f)(x, ...): f is called with what one model has of each operand, and does not take "
                                       "these: [](auto x, auto w) { ... } has a parameter for each"},
                          operand_text<given<Axis, F, Xs>>()...>;
};
template <int Axis, class F, class... Xs>
struct vmap_result_refusal {};
template <int Axis, class F, class... Xs>
  requires(given_operands<Axis, F, Xs...> && !returns_tensors<Axis, F, Xs...>)
struct vmap_result_refusal<Axis, F, Xs...> {
  using problem = error_in_expression<
      literal_text{"vmap(f)(x, ...): f returns the result for one model: a tensor, or several as std::tuple(y, z)"}>;
};
template <int Axis, class F, class... Xs>
  requires(given_operands<Axis, F, Xs...> && returns_tensors<Axis, F, Xs...> && !mapped<Axis, F, Xs...>)
struct vmap_result_refusal<Axis, F, Xs...> {
  using problem = error_in_expression<problem_text<typename vmap_call_of<Axis, F, Xs...>::words>()>;
};

template <class Operand, class F, class X>
constexpr typename given_to_function<F, Operand>::type given_of(const X& x) {
  if constexpr (Operand::is_shared) return Operand::value(x);
  else return carry_all<typename given_to_function<F, Operand>::type>(Operand::value(x));
}

}  // namespace detail

/// A function of one model as a function of many: the result of `vmap(f)`, which is called with the operands of all models.
template <int Axis, class F>
class mapped_function {
 public:
  constexpr explicit mapped_function(F f) : f_(std::move(f)) {}

  /// The function's result for each model of the operands: a tensor that holds the results of all models, or a tuple of such tensors.
  template <class... Xs>
    requires detail::given_operands<Axis, F, Xs...> && detail::mapped<Axis, F, Xs...>
  [[nodiscard("what vmap(f)(x) gives are expressions: fetch them, or assign them")]] constexpr auto operator()(const Xs&... xs) const {
    using results = detail::one_result<Axis, F, Xs...>;
    using call = detail::vmap_call_of<Axis, F, Xs...>;
    const auto one = f_(detail::given_of<detail::model_operand<Axis, Xs>, F>(xs)...);
    if constexpr (results::single)
      return detail::carry_all<typename call::template result<0>>(one, detail::model_operand<Axis, Xs>::value(xs)...);
    else
      return all_results<call>(std::make_index_sequence<std::tuple_size_v<typename results::type>>{}, one,
                               detail::model_operand<Axis, Xs>::value(xs)...);
  }
  template <class... Xs>
    requires detail::given_operands<Axis, F, Xs...> && (!detail::mapped<Axis, F, Xs...>)
  typename detail::vmap_result_refusal<Axis, F, Xs...>::problem operator()(const Xs&...) const = delete;
  template <class... Xs>
    requires detail::operands_of_models<Axis, F, Xs...> && (!detail::given_operands<Axis, F, Xs...>)
  typename detail::vmap_call_refusal<Axis, F, Xs...>::problem operator()(const Xs&...) const = delete;
  template <class... Xs>
    requires((detail::model_operand<Axis, Xs>::ok && ...) && !detail::operands_of_models<Axis, F, Xs...>)
  typename detail::vmap_refusal<Axis, F, Xs...>::problem operator()(const Xs&...) const = delete;
  LEAT_OTHERWISE("vmap(f)(x, ...) takes tensors, one for each parameter of f; shared(x) is one for all models; " LEAT_TENSORS)
  operator()(...) const LEAT_DELETED;

 private:
  template <class Call, std::size_t... I, class One, class... Es>
  static constexpr auto all_results(std::index_sequence<I...>, const One& one, const Es&... es) {
    return std::apply(
        [&](const auto&... each) { return std::tuple(detail::carry_all<typename Call::template result<I>>(each..., es...)...); }, one);
  }

  F f_;
};

/// `f`, a function of one model, as a function of many models: `vmap(f)(x, w)`. The models are along axis `Axis` of the operands and of the
/// results; `vmap<-1>(f)` uses the last axis. `models_along<Axis>(x)` sets another axis for one operand, and `shared(x)` passes the same
/// array to all models; expressions that `f` captures are shared, too. Shapes: `f` takes tensors of one model's shapes, and returns a
/// tensor or a std::tuple of tensors. Errors, at compile time: an axis that an operand or a result does not have; different numbers of
/// models; no operand with models; in `f`, everything that is an error in a program of one model, assignments, and operators that need all
/// models at once. Source: JAX's vmap.
template <int Axis = 0, class F>
  requires(!tensor_expression<F>)
constexpr mapped_function<Axis, F> vmap(F f) {
  return mapped_function<Axis, F>(std::move(f));
}
template <int Axis = 0, tensor_expression X, class... Xs>
LEAT_OTHERWISE("vmap(f)(x, ...) takes a function of what one model has, and its result the operands of all models")
vmap(const X&, const Xs&...) LEAT_DELETED;

}  // namespace leat
