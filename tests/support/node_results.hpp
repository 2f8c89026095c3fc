#pragma once
// Results of single nodes of graphs, from arrays that are lists of numbers; gradients against differences.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace node_results {

using namespace leat;
using extents = std::vector<std::int64_t>;
using number_list = std::vector<double>;

inline tensor_value tensor_of(dtype type, const extents& of, const number_list& list) {
  shape s;
  for (const auto n : of) s.push(n);
  tensor_value made(type, s);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (type == dtype::float32) made.values<float>()[i] = static_cast<float>(list[i]);
    else if (type == dtype::float64) made.values<double>()[i] = list[i];
    else if (type == dtype::int64) made.values<std::int64_t>()[i] = static_cast<std::int64_t>(list[i]);
    else made.values<std::int32_t>()[i] = static_cast<std::int32_t>(list[i]);
  }
  return made;
}
inline number_list list_of(const tensor_value& v) {
  number_list list;
  with_dtype(v.type(), [&]<class T>(T) {
    for (const T x : v.values<T>()) list.push_back(static_cast<double>(x));
  });
  return list;
}
inline number_list random_values(std::int64_t count, int seed = 1) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::normal_distribution<double> normal;
  number_list list(static_cast<std::size_t>(count));
  for (double& v : list) v = normal(random);
  return list;
}
inline std::int64_t count_of(const extents& of) {
  std::int64_t n = 1;
  for (const auto k : of) n *= k;
  return n;
}
inline number_argument integers(const std::vector<std::int32_t>& list, extents of) {
  shape s;
  for (const auto n : of) s.push(n);
  return tensor_literal(s, list);
}
/// The results of one node whose first inputs are arrays. Its name is that of its type, unless one is given.
inline std::vector<tensor_value> run_node(std::string_view type, const std::vector<tensor_value>& arrays, std::vector<number_argument> more,
                                   const attribute_map& settings, std::string_view name = {}) {
  graph g;
  const auto scope = g.as_default();
  std::vector<number_argument> inputs;
  std::vector<feed_item> feeds;
  for (const tensor_value& a : arrays) {
    const auto place = placeholder(a.type(), shape::unknown());
    inputs.emplace_back(place);
    feeds.push_back({place, a});
  }
  inputs.insert(inputs.end(), more.begin(), more.end());
  const auto node = call_operator(g, type, inputs, settings, name);
  graph_session s(g);
  return s.run(node.outputs(), feeds);
}

/// The gradient of a function of arrays of float64, against differences.
inline void check_gradient(const std::vector<extents>& shapes, const std::function<output(const std::vector<output>&)>& f,
                           double tolerance = 1e-5) {
  graph g;
  const auto scope = g.as_default();
  std::vector<output> places;
  std::vector<number_list> lists;
  for (const extents& of : shapes) {
    shape s;
    for (const auto n : of) s.push(n);
    places.push_back(placeholder(dtype::float64, s));
    lists.push_back(random_values(count_of(of), static_cast<int>(lists.size()) + 3));
  }
  const output y = cast(f(places), dtype::float64);
  const output loss = reduce_sum(tanh(y) * y);
  const auto by = gradients({loss}, places);
  graph_session s(g);
  const auto feeds = [&] {
    std::vector<feed_item> list;
    for (std::size_t k = 0; k < places.size(); ++k) list.push_back({places[k], tensor_of(dtype::float64, shapes[k], lists[k])});
    return list;
  };
  const double step = tolerance > 1e-4 ? 1e-2 : 1e-5;
  for (std::size_t k = 0; k < places.size(); ++k) {
    REQUIRE(static_cast<bool>(by[k]));
    const auto slopes = list_of(s.run({by[k]}, feeds())[0]);
    for (std::size_t i = 0; i < lists[k].size(); i += 3) {
      const double before = lists[k][i];
      lists[k][i] = before + step;
      const double above = list_of(s.run({loss}, feeds())[0])[0];
      lists[k][i] = before - step;
      const double below = list_of(s.run({loss}, feeds())[0])[0];
      lists[k][i] = before;
      CHECK(slopes[i] == doctest::Approx((above - below) / (2 * step)).epsilon(tolerance).scale(1));
    }
  }
}
/// Whether two lists differ by no more than rounding.
inline void check_near(const number_list& is, const number_list& wanted, double tolerance = 1e-5) {
  REQUIRE(is.size() == wanted.size());
  for (std::size_t i = 0; i < is.size(); ++i) CHECK(is[i] == doctest::Approx(wanted[i]).epsilon(tolerance).scale(1));
}

}  // namespace node_results
