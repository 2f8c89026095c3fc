#pragma once
// Applies C++ functions that are written with operators to arrays: `evaluated(f)` computes f, `gradient_of(f)` its gradient,
// `value_and_gradient_of(f)` both.
//
//   auto f = [](auto x) { return reduce_sum(square(x)); };
//   auto df = gradient_of(f);
//   xt::xarray<float> slope = df(xs);             // 2 xs
//   float second = gradient_of(gradient_of([](auto x) { return x * x * x; }))(2.0f);
//
// f is called once for each combination of its arguments' dtypes and shapes, with placeholders of a graph of its own; later calls run that
// graph's session. So f must consist of operators: its other side effects happen once. If the arguments are handles of a graph or typed
// expressions, the function returns handles or expressions.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/gradients/gradient.hpp>
#include <leat/passes/gradient.hpp>
#include <leat/session/graph_session.hpp>

namespace leat {

namespace detail {

template <class V>
tensor_value lent_argument(const V& v) {
  if constexpr (element_type<V>) return tensor_value(v);
  else if constexpr (requires { lend(v); }) return lend(v);
  else return tensor_value(v);
}
// The type of the gradient for an argument of type V: V if it can hold a gradient, else tensor_value.
template <class V>
struct gradient_type {
  using type = tensor_value;
};
template <class V>
  requires(element_type<V> || makable_array<V>)
struct gradient_type<V> {
  using type = V;
};
template <element_type T>
struct gradient_type<std::vector<T>> {
  using type = std::vector<T>;
};

inline void append_results(std::vector<output>& list, const output& o) { list.push_back(o); }
void append_results(std::vector<output>& list, const std::vector<output>& os);
template <class... Os>
void append_results(std::vector<output>& list, const std::tuple<Os...>& os) {
  std::apply([&](const Os&... o) { (append_results(list, o), ...); }, os);
}

// A graph for arguments of certain dtypes and shapes.
struct traced_function {
  graph nodes;
  std::unique_ptr<graph_session> session;
  std::optional<graph_callable> step;
};

// A function's graphs, keyed by the dtypes and shapes of its arguments. `Write` makes the results from the placeholders.
class traced_functions {
 public:
  template <class Write>
  std::vector<tensor_value> run(const std::vector<tensor_value>& arguments, Write write) {
    const std::lock_guard lock(guard_);
    std::vector<std::int64_t> key;
    for (const tensor_value& a : arguments) {
      key.push_back(static_cast<std::int64_t>(a.type()));
      key.push_back(a.extent().rank);
      for (int i = 0; i < a.extent().rank; ++i) key.push_back(a.extent()[i]);
    }
    auto& made = known_[key];
    if (made == nullptr) made = make(arguments, write);
    std::vector<tensor_value> results;
    for (const tensor_value& v : made->step->call(arguments)) results.push_back(v.copy());
    return results;
  }

 private:
  template <class Write>
  static std::unique_ptr<traced_function> make(const std::vector<tensor_value>& arguments, Write write) {
    auto made = std::make_unique<traced_function>();
    std::vector<output> places, results;
    {
      const auto scope = made->nodes.as_default();
      for (const tensor_value& a : arguments) places.push_back(placeholder(a.type(), a.extent(), "argument"));
      results = write(places);
    }
    made->session = std::make_unique<graph_session>(made->nodes);
    made->step.emplace(made->session->prepare(results, places));
    return made;
  }
  std::mutex guard_;
  std::map<std::vector<std::int64_t>, std::unique_ptr<traced_function>> known_;
};

// dy/dx for each x; zeros if y does not depend on x.
std::vector<output> gradients_for(const std::vector<output>& ys, const std::vector<output>& xs);

}  // namespace detail

/// A function of arrays. Copies share their graphs. Thread-safe; calls run one at a time.
template <class F>
class evaluated_function {
 public:
  explicit evaluated_function(F f) : f_(std::move(f)) {}

  /// The value of f, or a vector of values if f returns several; converts to numbers and arrays.
  /// Errors: those of the operators, of gradients and of runs.
  template <class... As>
    requires(sizeof...(As) > 0)
  auto operator()(const As&... arguments) const {
    std::vector<tensor_value> values = graphs_->run({detail::lent_argument(arguments)...}, [this](const std::vector<output>& places) {
      std::vector<output> results;
      detail::append_results(results, call(places, std::index_sequence_for<As...>{}));
      return results;
    });
    if constexpr (std::is_same_v<decltype(call({}, std::index_sequence_for<As...>{})), output>) return tensor_value(values[0]);
    else return values;
  }

 private:
  template <std::size_t... I>
  auto call(const std::vector<output>& places, std::index_sequence<I...>) const {
    return f_(places[I]...);
  }
  F f_;
  std::shared_ptr<detail::traced_functions> graphs_ = std::make_shared<detail::traced_functions>();
};

/// The function object that `gradient_of` and `value_and_gradient_of` return.
template <bool WithValue, class F, std::size_t... Of>
class function_gradient {
  // Indices of the arguments, out of N, whose gradients are requested.
  template <std::size_t N>
  using wanted = std::conditional_t<sizeof...(Of) == 0, std::make_index_sequence<N>, std::index_sequence<Of...>>;

 public:
  explicit function_gradient(F f) : f_(std::move(f)) {}

  /// For arrays and numbers: the gradient of each requested argument, in that argument's type if it can hold one. Several gradients are
  /// returned as a tuple; `value_and_gradient_of` puts the value in front of them.
  /// Errors: invalid_argument if a requested argument has an integer dtype, or if `value_and_gradient_of` gets a function of several
  /// results; those of the operators and of runs.
  template <class... As>
    requires(sizeof...(As) > 0 && !(std::is_same_v<As, output> || ...) && !(tensor_expression<As> || ...))
  auto operator()(const As&... arguments) const {
    constexpr auto n = std::index_sequence_for<As...>{};
    const std::vector<tensor_value> values = graphs_->run({detail::lent_argument(arguments)...}, [&](const std::vector<output>& places) {
      return write(places, n, wanted<sizeof...(As)>{});
    });
    return results<std::tuple<As...>>(values, wanted<sizeof...(As)>{});
  }
  /// For handles of a graph: adds nodes to that graph and returns their handles.
  template <std::same_as<output>... Os>
    requires(sizeof...(Os) > 0)
  auto operator()(const Os&... arguments) const {
    constexpr auto n = std::index_sequence_for<Os...>{};
    const std::vector<output> made = write({arguments...}, n, wanted<sizeof...(Os)>{});
    return tuple_of(made, std::make_index_sequence<wanted<sizeof...(Os)>::size() + (WithValue ? 1 : 0)>{});
  }
  /// For typed expressions: returns typed expressions.
  template <tensor_expression... Es>
    requires(sizeof...(Es) > 0)
  constexpr auto operator()(const Es&... arguments) const {
    const auto y = f_(arguments...);
    const auto slopes = [&]<std::size_t... I>(std::index_sequence<I...>, const auto& all) {
      return gradients(y, std::get<I>(all)...);
    }(wanted<sizeof...(Es)>{}, std::tie(arguments...));
    if constexpr (WithValue) return std::tuple_cat(std::tuple(y), slopes);
    else if constexpr (std::tuple_size_v<std::remove_const_t<decltype(slopes)>> == 1) return std::get<0>(slopes);
    else return slopes;
  }

 private:
  template <std::size_t... K, std::size_t... I>
  std::vector<output> write(const std::vector<output>& places, std::index_sequence<K...>, std::index_sequence<I...>) const {
    static_assert(((I < sizeof...(K)) && ...), "gradient_of: the function has no argument of that number");
    std::vector<output> made;
    detail::append_results(made, f_(places[K]...));
    const std::vector<output> slopes = detail::gradients_for(made, {places[I]...});
    if constexpr (!WithValue) made.clear();
    else if (made.size() != 1)
      throw invalid_argument("value_and_gradient_of: the function gives " + std::to_string(made.size()) + " values");
    made.insert(made.end(), slopes.begin(), slopes.end());
    return made;
  }
  template <std::size_t... K>
  static auto tuple_of(const std::vector<output>& made, std::index_sequence<K...>) {
    if constexpr (sizeof...(K) == 1) return made[0];
    else return std::make_tuple(made[K]...);
  }
  template <class As, std::size_t... I>
  static auto results(const std::vector<tensor_value>& values, std::index_sequence<I...>) {
    constexpr std::size_t before = WithValue ? 1 : 0;
    std::size_t at = before;
    const auto next = [&]() -> const tensor_value& { return values[at++]; };
    if constexpr (!WithValue && sizeof...(I) == 1) {
      return (next().template as<typename detail::gradient_type<std::tuple_element_t<I, As>>::type>(), ...);
    } else {
      // Braces evaluate from left to right.
      auto slopes = std::tuple<typename detail::gradient_type<std::tuple_element_t<I, As>>::type...>{
          next().template as<typename detail::gradient_type<std::tuple_element_t<I, As>>::type>()...};
      if constexpr (WithValue) return std::tuple_cat(std::tuple<tensor_value>(values[0]), std::move(slopes));
      else return slopes;
    }
  }

  F f_;
  std::shared_ptr<detail::traced_functions> graphs_ = std::make_shared<detail::traced_functions>();
};

/// f as a function of arrays: `xt::xarray<float> y = evaluated([](auto a, auto b) { return matmul(a, b); })(xs, ys)`.
template <class F>
evaluated_function<F> evaluated(F f) {
  return evaluated_function<F>(std::move(f));
}
/// The gradient of f for each of its arguments, or for those listed: `gradient_of<0>(f)`. If a result is not a scalar, the gradient of its
/// sum. Source: TensorFlow `gradients`.
template <std::size_t... Of, class F>
function_gradient<false, F, Of...> gradient_of(F f) {
  return function_gradient<false, F, Of...>(std::move(f));
}
/// The value of f and its gradients, from one run: `auto [loss, slope] = value_and_gradient_of(f)(xs)`.
template <std::size_t... Of, class F>
function_gradient<true, F, Of...> value_and_gradient_of(F f) {
  return function_gradient<true, F, Of...>(std::move(f));
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/session/impl/gradient_of.hpp>
#endif
