#pragma once
// A typed program run by both sessions: compiled, and as a graph with names by a dynamic session. Both begin with the same
// values of the variables and get the same feeds; how far their results are apart is told, 0 for the same bytes.

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

namespace leat_test {

/// The largest difference, relative to values above 1; 0 only for equal bytes, infinity for another shape.
template <class T>
double distance(std::span<const T> a, const T* b, std::size_t n) {
  if (a.size() != n) return std::numeric_limits<double>::infinity();
  if (n == 0 || std::memcmp(a.data(), b, n * sizeof(T)) == 0) return 0;
  double most = std::numeric_limits<double>::min();
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double d = std::abs(x - y) / std::max(1.0, std::abs(y));
    most = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(most, d);
  }
  return most;
}
template <class Value>
double distance(const leat::tensor_value& dynamic, const Value& compiled) {
  if constexpr (std::is_arithmetic_v<Value>) {
    return distance(dynamic.values<Value>(), &compiled, 1);
  } else {
    return distance(dynamic.values<typename Value::value_type>(), compiled.data(), compiled.size());
  }
}

/// Both sessions of some expressions; `train` is an operation, or an expression like the others.
template <class Train, class... Es>
class both_sessions {
 public:
  explicit both_sessions(const Train& train, const Es&... es) : typed_(es..., train), expressions_(es...), train_(train) {
    const auto scope = nodes_.as_default();
    const auto made = leat::to_graph(es..., train);
    fetches_.assign(made.begin(), made.end() - 1);
    step_.push_back(made.back());
    dynamic_.emplace(nodes_);
    typed_.initialize();
  }
  /// A variable starts with the compiled session's value.
  template <class Variable>
  void copy(const Variable& v) {
    dynamic_->assign(leat::get_tensor_by_name(nodes_, name_of(v) + ":0"), leat::tensor_value(typed_.value(v)));
  }
  /// How far a variable is apart.
  template <class Variable>
  double of(const Variable& v) {
    return distance(dynamic_->value(leat::get_tensor_by_name(nodes_, name_of(v) + ":0")), typed_.value(v));
  }
  /// Runs both; how far the fetches are apart.
  template <class... Feeds>
  double look(const leat::feed_list& feeds, const Feeds&... typed_feeds) {
    const auto results = dynamic_->run(fetches_, feeds);
    return std::apply(
        [&](const Es&... es) {
          const auto values = typed_.run(leat::fetch(es...), typed_feeds...);
          return farthest(results, values, std::index_sequence_for<Es...>{});
        },
        expressions_);
  }
  template <class... Feeds>
  void train(const leat::feed_list& feeds, const Feeds&... typed_feeds) {
    dynamic_->run(step_, feeds);
    typed_.run(leat::fetch(train_), typed_feeds...);
  }
  leat::graph_session& dynamic() { return *dynamic_; }
  const leat::session<Es..., Train>& typed() const { return typed_; }

 private:
  template <class Variable>
  static std::string name_of(const Variable&) {
    leat::graph g;
    return std::string(g.at(leat::flatten<Variable>(g)).name);
  }
  template <class Values, std::size_t... I>
  static double farthest(const std::vector<leat::tensor_value>& results, const Values& values, std::index_sequence<I...>) {
    return std::max({0.0, distance(results[I], std::get<I>(values))...});
  }

  leat::session<Es..., Train> typed_;
  std::tuple<Es...> expressions_;
  Train train_;
  leat::graph nodes_;
  std::vector<leat::graph_element> fetches_;
  std::vector<leat::graph_element> step_;
  std::optional<leat::graph_session> dynamic_;
};

}  // namespace leat_test
