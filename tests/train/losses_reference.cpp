#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/train/losses.hpp>

#include "support/reference_json.hpp"
#include "support/reference_values.hpp"

#include <functional>

using namespace leat;
using losses::reduction;
using nlohmann::json;

namespace {

// ---- arrays of cases ------------------------------------------------------------------------------------------------

template <class T, int Rank>
auto array_of(const json& j) {
  if constexpr (Rank == 0) {
    return static_cast<T>(leat_test::number_of_json(j.at("data")[0]));
  } else {
    typename xt::xtensor<T, Rank>::shape_type extent;
    for (std::size_t k = 0; k < Rank; ++k) extent[k] = j.at("shape")[k].get<std::size_t>();
    auto made = xt::xtensor<T, Rank>::from_shape(extent);
    for (std::size_t k = 0; k < made.size(); ++k) made.data()[k] = static_cast<T>(leat_test::number_of_json(j.at("data")[k]));
    return made;
  }
}

template <class Result>
std::string difference(const Result& is, const json& expected) {
  std::vector<double> values;
  json extent = json::array();
  if constexpr (std::is_arithmetic_v<Result>) {
    values.push_back(static_cast<double>(is));
  } else {
    for (const auto v : is) values.push_back(static_cast<double>(v));
    for (const auto n : is.shape()) extent.push_back(n);
  }
  if (extent != expected.at("shape")) return "shape " + extent.dump() + " for " + expected.at("shape").dump();
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double wanted = leat_test::number_of_json(expected.at("data")[k]);
    const bool same = values[k] == wanted || (std::isnan(values[k]) && std::isnan(wanted)) ||
                      std::abs(values[k] - wanted) <= 1e-5 + 1e-4 * std::abs(wanted);
    if (!same) return "element " + std::to_string(k) + " is " + std::to_string(values[k]) + " for " + std::to_string(wanted);
  }
  return {};
}

// ---- functions ------------------------------------------------------------------------------------------------------

struct not_given {};

// A loss of labels and predictions; a setting comes behind the weights.
#define LEAT_CALL(function, second_name, setting_name)                                                        \
  struct function##_call {                                                                                    \
    static constexpr const char* api = "losses." #function;                                                   \
    static constexpr fixed_string name{second_name};                                                          \
    static constexpr const char* second = second_name;                                                        \
    static constexpr const char* setting = setting_name;                                                      \
    template <reduction R, class L, class P, class W>                                                         \
    static auto make(const L& labels, const P& predictions, const W& weights, [[maybe_unused]] float value) { \
      if constexpr (std::is_same_v<W, not_given>) return losses::function<R>(labels, predictions);            \
      else return LEAT_WITH_SETTING(function);                                                                \
    }                                                                                                         \
  };
#define LEAT_WITH_SETTING(function) losses::function<R>(labels, predictions, weights)
LEAT_CALL(absolute_difference, "predictions", "")
LEAT_CALL(mean_squared_error, "predictions", "")
LEAT_CALL(hinge_loss, "logits", "")
LEAT_CALL(sparse_softmax_cross_entropy, "logits", "")
#undef LEAT_WITH_SETTING
#define LEAT_WITH_SETTING(function) losses::function<R>(labels, predictions, weights, value)
LEAT_CALL(huber_loss, "predictions", "delta")
LEAT_CALL(log_loss, "predictions", "epsilon")
LEAT_CALL(sigmoid_cross_entropy, "logits", "label_smoothing")
LEAT_CALL(softmax_cross_entropy, "logits", "label_smoothing")
#undef LEAT_WITH_SETTING
struct cosine_distance_call {
  static constexpr const char* api = "losses.cosine_distance";
  static constexpr fixed_string name{"predictions"};
  static constexpr const char* second = "predictions";
  static constexpr const char* setting = "";
  template <reduction R, class L, class P, class W>
  static auto make(const L& labels, const P& predictions, const W& weights, float) {
    if constexpr (std::is_same_v<W, not_given>) return losses::cosine_distance<1, R>(labels, predictions);
    else return losses::cosine_distance<1, R>(labels, predictions, weights);
  }
};
struct mean_pairwise_squared_error_call {
  static constexpr const char* api = "losses.mean_pairwise_squared_error";
  static constexpr fixed_string name{"predictions"};
  static constexpr const char* second = "predictions";
  static constexpr const char* setting = "";
  template <reduction R, class L, class P, class W>
  static auto make(const L& labels, const P& predictions, const W& weights, float) {
    if constexpr (std::is_same_v<W, not_given>) return losses::mean_pairwise_squared_error(labels, predictions);
    else return losses::mean_pairwise_squared_error(labels, predictions, weights);
  }
};
// The losses are both operands, so that one runner serves.
struct compute_weighted_loss_call {
  static constexpr const char* api = "losses.compute_weighted_loss";
  static constexpr fixed_string name{"losses"};
  static constexpr const char* second = "losses";
  static constexpr const char* setting = "";
  template <reduction R, class L, class P, class W>
  static auto make(const L&, const P& each, const W& weights, float) {
    if constexpr (std::is_same_v<W, not_given>) return losses::compute_weighted_loss<R>(each);
    else return losses::compute_weighted_loss<R>(each, weights);
  }
};

// ---- runs -----------------------------------------------------------------------------------------------------------

struct tally {
  int values = 0;
  int slopes = 0;
  int typed = 0;
};

// The expression as a graph with names, which `add` makes: what costs the compiler least. Gradients are those of the graph.
void run_exported(const json& c, const std::function<output()>& add, tally& counted) {
  graph g;
  const auto scope = g.as_default();
  const output made = add();
  std::vector<std::pair<output, tensor_value>> feeds;
  std::vector<output> fetches{made};
  std::vector<std::string> names;
  const output total = reduce_sum(made, all_axes);
  for (const auto& [name, value] : c.at("inputs").items()) {
    const output in = get_tensor_by_name(g, name + ":0");
    feeds.emplace_back(in, leat_test::value_of_json(value));
    if (!c.at("grads").contains(name)) continue;
    const output slope = gradients({total}, {in})[0];
    CHECK(static_cast<bool>(slope) == !c.at("grads").at(name).is_null());
    if (!static_cast<bool>(slope)) continue;
    fetches.push_back(slope);
    names.push_back(name);
  }
  graph_session s(g);
  const auto results = s.run(fetches, feed_list(std::move(feeds)));
  CHECK(leat_test::difference(results[0], c.at("output")) == "");
  ++counted.values;
  for (std::size_t k = 0; k < names.size(); ++k) {
    CAPTURE(names[k]);
    CHECK(leat_test::difference(results[k + 1], c.at("grads").at(names[k])) == "");
    ++counted.slopes;
  }
}

// In a typed session, with typed gradients.
template <class Call, class Loss, tensor_expression L, tensor_expression P, tensor_expression W>
void run_typed(const json& c, const Loss& loss, const L& labels, const P& predictions, const W& weights, tally& counted) {
  const auto& in = c.at("inputs");
  const auto total = reduce_sum(loss);
  const auto [p_slope, w_slope] = gradients(total, predictions, weights);
  const auto p_value = array_of<typename P::element, P::rank>(in.at(Call::second));
  const auto l_value = array_of<typename L::element, L::rank>(in.at("labels"));
  const auto w_value = array_of<float, W::rank>(in.at("weights"));
  planned_session s{loss, p_slope, w_slope};
  const auto results = s.run(fetch(loss, p_slope, w_slope), labels = l_value, predictions = p_value, weights = w_value);
  CHECK(difference(std::get<0>(results), c.at("output")) == "");
  CHECK(difference(std::get<1>(results), c.at("grads").at(Call::second)) == "");
  CHECK(difference(std::get<2>(results), c.at("grads").at("weights")) == "");
  ++counted.typed;
}

// Whether the recorded weights have the sizes of named dimensions that predictions give them: graphs take others that broadcast.
bool has_sizes_of_names(const json& in, const char* second) {
  const auto& w = in.at("weights").at("shape");
  const auto& x = in.at(second).at("shape");
  return w[0] == x[0] && (w.size() == 1 || w[1] == 1 || w[1] == x[1]);
}

template <class Call, reduction R, tensor_expression L, tensor_expression P, class W>
void run(const json& c, const L& labels, const P& predictions, const W& weights, float setting, tally& counted) {
  const auto loss = Call::template make<R>(labels, predictions, weights, setting);
  run_exported(c, [&] { return std::get<output>(to_graph(loss)[0]); }, counted);
  if constexpr (R == reduction::sum_by_nonzero_weights && tensor_expression<W> && !std::is_same_v<Call, compute_weighted_loss_call>)
    if constexpr (W::rank > 0)
      if (has_sizes_of_names(c.at("inputs"), Call::second)) run_typed<Call>(c, loss, labels, predictions, weights, counted);
}

template <class Call, tensor_expression L, tensor_expression P, class W>
void reduced(const json& c, const L& labels, const P& predictions, const W& weights, tally& counted) {
  const auto& args = c.at("args");
  const std::string name = args.value("reduction", "weighted_sum_by_nonzero_weights");
  const float setting = args.value(Call::setting, 0.0f);
  const auto as = [&]<reduction R>() { run<Call, R>(c, labels, predictions, weights, setting, counted); };
  if (name == "weighted_sum_by_nonzero_weights") return as.template operator()<reduction::sum_by_nonzero_weights>();
  if constexpr (!std::is_same_v<Call, mean_pairwise_squared_error_call>) {
    if (name == "none") return as.template operator()<reduction::none>();
    if (name == "weighted_sum") return as.template operator()<reduction::sum>();
    if (name == "weighted_mean") return as.template operator()<reduction::mean>();
    if (name == "weighted_sum_over_batch_size") return as.template operator()<reduction::sum_over_batch_size>();
  }
  FAIL("no such reduction: " << name);
}

// Labels and predictions of the recorded dtype and rank, each axis a named dimension but the classes.
template <class Call, class L, class P, dimension... Ds>
bool of_shape(const json& c, tally& counted) {
  constexpr bool sparse = std::is_same_v<Call, sparse_softmax_cross_entropy_call>;
  const auto& in = c.at("inputs");
  const auto predictions = placeholder<Call::name, P, Ds...>();
  if constexpr (sparse) {
    const auto rank = in.at("labels").at("shape").size();
    const auto labels = placeholder<"labels", L, "rows">();
    if (rank == 2) {
      reduced<Call>(c, placeholder<"labels", L, "rows", 1>(), predictions, not_given{}, counted);
    } else if (!in.contains("weights")) {
      reduced<Call>(c, labels, predictions, not_given{}, counted);
    } else if (in.at("weights").at("shape").empty()) {
      reduced<Call>(c, labels, predictions, placeholder<"weights", float>(), counted);
    } else if (in.at("weights").at("shape").size() == 2) {
      reduced<Call>(c, labels, predictions, placeholder<"weights", float, "rows", 1>(), counted);
    } else {
      reduced<Call>(c, labels, predictions, placeholder<"weights", float, "rows">(), counted);
    }
    return true;
  } else {
    const auto labels = placeholder<"labels", L, Ds...>();
    const bool set = *Call::setting != '\0' && c.at("args").contains(Call::setting);
    if (!in.contains("weights")) {
      if (!set) {
        reduced<Call>(c, labels, predictions, not_given{}, counted);
        return true;
      }
      if constexpr (*Call::setting != '\0') reduced<Call>(c, labels, predictions, 1.0f, counted);
      return true;
    }
    const auto& w = in.at("weights").at("shape");
    // A setting that is not recorded has its usual value.
    json filled = c;
    const std::map<std::string, double> usual{{"delta", 1.0}, {"epsilon", 1e-7}, {"label_smoothing", 0.0}};
    if (*Call::setting != '\0' && !set) filled["args"][Call::setting] = usual.at(Call::setting);
    if (w.empty()) {
      reduced<Call>(filled, labels, predictions, placeholder<"weights", float>(), counted);
      return true;
    }
    if constexpr (sizeof...(Ds) == 2) {
      if (w.size() == 1) {
        if constexpr (std::is_same_v<Call, softmax_cross_entropy_call>)
          reduced<Call>(filled, labels, predictions, placeholder<"weights", float, "rows">(), counted);
      } else if (w[1] == 1) {
        if constexpr (!std::is_same_v<Call, softmax_cross_entropy_call>)
          reduced<Call>(filled, labels, predictions, placeholder<"weights", float, "rows", 1>(), counted);
      } else {
        if constexpr (!std::is_same_v<Call, softmax_cross_entropy_call> && !std::is_same_v<Call, cosine_distance_call>)
          reduced<Call>(filled, labels, predictions, placeholder<"weights", float, Ds...>(), counted);
      }
      return true;
    }
    return false;
  }
}

template <class Call>
bool of_case(const json& c, tally& counted) {
  constexpr bool sparse = std::is_same_v<Call, sparse_softmax_cross_entropy_call>;
  const auto& second = c.at("inputs").at(Call::second);
  const auto rank = second.at("shape").size();
  const std::string type = second.at("dtype");
  if constexpr (sparse) {
    if (rank != 2 || type != "float32" || c.at("inputs").at("labels").at("dtype") != "int32") return false;
    if (second.at("shape")[1] == 2) return of_shape<Call, std::int32_t, float, "rows", 2>(c, counted);
    return second.at("shape")[1] == 3 && of_shape<Call, std::int32_t, float, "rows", 3>(c, counted);
  } else {
    const std::string labels = c.at("inputs").value("labels", second).at("dtype");
    if (rank == 2 && type == "float32" && labels == "float32") return of_shape<Call, float, float, "rows", "columns">(c, counted);
    if (c.at("inputs").contains("weights") || c.at("args").contains("reduction")) return false;
    constexpr bool plain = std::is_same_v<Call, mean_squared_error_call>;
    if constexpr (plain) {
      if (rank == 2 && type == "float64" && labels == "float64") return of_shape<Call, double, double, "rows", "columns">(c, counted);
      if (rank == 1 && type == "float32" && labels == "int32") return of_shape<Call, std::int32_t, float, "n">(c, counted);
      if (rank == 0 && type == "float32" && labels == "float32") return of_shape<Call, float, float>(c, counted);
    }
    if constexpr (!std::is_same_v<Call, softmax_cross_entropy_call> && !std::is_same_v<Call, cosine_distance_call> &&
                  !std::is_same_v<Call, compute_weighted_loss_call>)
      if (rank == 1 && type == "float32" && labels == "float32") return of_shape<Call, float, float, "n">(c, counted);
    return false;
  }
}

}  // namespace

TEST_CASE("recorded losses as typed expressions: value and gradients") {
  const auto data = leat_test::reference_json("losses.json");
  if (!data) return;
  tally counted;
  int others = 0;
  for (const auto& c : data->at("cases")) {
    const std::string id = c.at("id");
    CAPTURE(id);
    const std::string api = c.at("api");
    bool run = false;
    const auto of = [&]<class Call>(const Call&) { run = run || (api == Call::api && of_case<Call>(c, counted)); };
    of(compute_weighted_loss_call{});
    of(absolute_difference_call{});
    of(mean_squared_error_call{});
    of(huber_loss_call{});
    of(log_loss_call{});
    of(hinge_loss_call{});
    of(cosine_distance_call{});
    of(mean_pairwise_squared_error_call{});
    of(sigmoid_cross_entropy_call{});
    of(softmax_cross_entropy_call{});
    of(sparse_softmax_cross_entropy_call{});
    others += run ? 0 : 1;
  }
  MESSAGE(counted.values << " losses and " << counted.slopes << " gradients agree, " << counted.typed << " of them in typed sessions; "
                         << others << " are not asked for here");
}
