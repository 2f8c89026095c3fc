#pragma once
// The overloads of `run` that graph sessions, monitored sessions and the sessions of a supervisor share. Each of these classes runs a list
// of fetches in its own way.

#include <leat/core/error.hpp>
#include <leat/session/fetch_feed.hpp>
#include <leat/session/run_options.hpp>

#include <initializer_list>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace leat {

/// Base of a class `Session` that has `run_list(fetches, feeds, options)`.
template <class Session>
class run_calls {
 public:
  /// Runs the fetches and returns their values in the same structure; an operation yields an empty value.
  /// Errors: invalid_argument if a needed placeholder is not fed or a feed does not fit; failed_precondition for uninitialized variables;
  /// out_of_range, cancelled and deadline_exceeded of queues and waits; unimplemented for operators without a kernel; resource_exhausted if
  /// memory runs out; errors of kernels, with the node and its source line. Source: TensorFlow `Session.run`.
  template <graph_fetch F>
  typename detail::fetch_structure<F>::result run(const F& fetches, const feed_list& feeds = {}, const run_options& how = {}) {
    std::vector<fetch_item> list;
    detail::fetch_structure<F>::flatten(fetches, list);
    std::vector<tensor_value> results = self().run_list(list, feeds, how);
    auto at = results.begin();
    return detail::fetch_structure<F>::rebuild(fetches, at);
  }
  std::vector<tensor_value> run(std::initializer_list<fetch_item> fetches, const feed_list& feeds = {}, const run_options& how = {}) {
    return self().run_list({fetches.begin(), fetches.size()}, feeds, how);
  }
  /// Like `run`, with the values converted to these types: `auto [a, b] = s.run<float, xt::xarray<float>>({loss, w})`.
  template <class T, class... Ts>
    requires detail::run_result<T>
  auto run(std::initializer_list<fetch_item> fetches, const feed_list& feeds = {}, const run_options& how = {}) {
    if (fetches.size() != 1 + sizeof...(Ts))
      throw invalid_argument(std::to_string(fetches.size()) + " fetches as " + std::to_string(1 + sizeof...(Ts)) + " types");
    const auto results = self().run_list({fetches.begin(), fetches.size()}, feeds, how);
    std::size_t at = 0;
    if constexpr (sizeof...(Ts) == 0) {
      return results[at].template as<T>();
    } else {
      const auto next = [&]() -> const tensor_value& { return results[at++]; };
      return std::tuple<T, Ts...>{next().template as<T>(), next().template as<Ts>()...};  // braces evaluate from left to right
    }
  }
  template <class T>
    requires detail::run_result<T>
  T run(const fetch_item& fetch, const feed_list& feeds = {}, const run_options& how = {}) {
    return self().run_list({&fetch, 1}, feeds, how)[0].template as<T>();
  }

 private:
  friend Session;
  run_calls() = default;
  Session& self() { return static_cast<Session&>(*this); }
};

}  // namespace leat
