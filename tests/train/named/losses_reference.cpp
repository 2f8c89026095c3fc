#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/train/named/losses.hpp>

#include "support/recorded_program.hpp"
#include "support/reference_values.hpp"
#include "support/same_nodes.hpp"

#include <map>

using namespace leat;
using leat_test::reference_json;

namespace {

losses::reduction reduction_named(const nlohmann::json& args) {
  const auto at = args.find("reduction");
  if (at == args.end()) return losses::reduction::sum_by_nonzero_weights;
  const std::map<std::string, losses::reduction> known{{"none", losses::reduction::none},
                                                       {"weighted_sum", losses::reduction::sum},
                                                       {"weighted_mean", losses::reduction::mean},
                                                       {"weighted_sum_over_batch_size", losses::reduction::sum_over_batch_size},
                                                       {"weighted_sum_by_nonzero_weights", losses::reduction::sum_by_nonzero_weights}};
  const auto found = known.find(at->get<std::string>());
  return found == known.end() ? static_cast<losses::reduction>(99) : found->second;
}

// The call of a case, on the tensors of its inputs.
output call(const nlohmann::json& c, const std::map<std::string, output>& in) {
  const std::string api = c.at("api");
  const auto& args = c.at("args");
  const auto number = [&](const char* name, double otherwise) { return args.value(name, otherwise); };
  const auto tensor = [&](const char* name) { return in.at(name); };
  losses::loss_options options{.reduction = reduction_named(args)};
  if (in.contains("weights")) options.weights = in.at("weights");
  if (api == "losses.compute_weighted_loss") return losses::compute_weighted_loss(tensor("losses"), options);
  if (api == "losses.absolute_difference") return losses::absolute_difference(tensor("labels"), tensor("predictions"), options);
  if (api == "losses.mean_squared_error") return losses::mean_squared_error(tensor("labels"), tensor("predictions"), options);
  if (api == "losses.huber_loss") return losses::huber_loss(tensor("labels"), tensor("predictions"), options, number("delta", 1));
  if (api == "losses.log_loss") return losses::log_loss(tensor("labels"), tensor("predictions"), options, number("epsilon", 1e-7));
  if (api == "losses.hinge_loss") return losses::hinge_loss(tensor("labels"), tensor("logits"), options);
  if (api == "losses.cosine_distance")
    return losses::cosine_distance(tensor("labels"), tensor("predictions"), args.at("axis").get<std::int32_t>(), options);
  if (api == "losses.mean_pairwise_squared_error")
    return losses::mean_pairwise_squared_error(tensor("labels"), tensor("predictions"), options);
  if (api == "losses.sigmoid_cross_entropy")
    return losses::sigmoid_cross_entropy(tensor("labels"), tensor("logits"), options, number("label_smoothing", 0));
  if (api == "losses.softmax_cross_entropy")
    return losses::softmax_cross_entropy(tensor("labels"), tensor("logits"), options, number("label_smoothing", 0));
  if (api == "losses.sparse_softmax_cross_entropy")
    return losses::sparse_softmax_cross_entropy(tensor("labels"), tensor("logits"), options);
  if (api == "nn.sigmoid_cross_entropy_with_logits") return sigmoid_cross_entropy_with_logits(tensor("labels"), tensor("logits"));
  if (api == "nn.weighted_cross_entropy_with_logits")
    return weighted_cross_entropy_with_logits(tensor("labels"), tensor("logits"), number("pos_weight", 1));
  if (api == "nn.softmax_cross_entropy_with_logits_v2")
    return softmax_cross_entropy_with_logits(tensor("labels"), tensor("logits"), args.value("axis", -1));
  if (api == "nn.softmax_cross_entropy_with_logits") {  // of version 1: no gradient for the labels
    const output labels = stop_gradient(tensor("labels"), "labels_stop_gradient");
    return softmax_cross_entropy_with_logits(labels, tensor("logits"), args.value("dim", -1));
  }
  if (api == "nn.sparse_softmax_cross_entropy_with_logits")
    return sparse_softmax_cross_entropy_with_logits(tensor("labels"), tensor("logits"), {});
  if (api == "nn.l2_loss") return l2_loss(tensor("t"), {});
  // What people write by hand: -z log(p) - (1 - z) log(1 - p), and its mean.
  const auto by_hand = [](const output& z, const output& p, const output& p_again) {
    const output first = negative(z) * log(p, {});
    const output second = (1.0f - z) * log(1.0f - p_again, {});
    return first - second;
  };
  const auto mean_if_scalar = [&](const output& each) {
    return c.at(c.contains("output") ? "output" : "inputs").at("shape").empty() ? reduce_mean(each, all_axes) : each;
  };
  if (api == "manual.sigmoid_cross_entropy") {
    const auto probability = [&] { return 1.0f / (1.0f + exp(negative(tensor("logits")), {})); };
    return mean_if_scalar(by_hand(tensor("labels"), probability(), probability()));
  }
  if (api == "manual.log_loss") return mean_if_scalar(by_hand(tensor("labels"), tensor("predictions"), tensor("predictions")));
  if (api == "manual.mean_of_sigmoid_cross_entropy_with_logits")
    return reduce_mean(sigmoid_cross_entropy_with_logits(tensor("labels"), tensor("logits")), all_axes);
  throw unimplemented("no such function here: " + api);
}

tensor_literal literal_of(const nlohmann::json& j) {
  const tensor_value v = leat_test::value_of_json(j);
  return with_dtype(v.type(), [&]<class T>(T) {
    const auto s = v.values<T>();
    return tensor_literal(v.type(), v.extent(), std::as_bytes(std::span(s.data(), s.size())));
  });
}

std::vector<std::string> types_from(graph& g, std::size_t first) {
  const auto all = get_operations(g);
  std::vector<std::string> types;
  for (std::size_t k = first; k < all.size(); ++k) types.emplace_back(all[k].type());
  return types;
}
std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& w : words) text += w + " ";
  return text;
}

}  // namespace

TEST_CASE("every recorded loss: value, gradients, nodes, collection") {
  const auto data = reference_json("losses.json");
  if (!data) return;
  int values = 0, slopes = 0, same_nodes = 0, with_nodes = 0;
  for (const auto& c : data->at("cases")) {
    const std::string id = c.at("id");
    CAPTURE(id);
    graph g;
    const auto scope = g.as_default();
    std::map<std::string, output> in;
    std::vector<std::string> names;
    for (const auto& [name, value] : c.at("inputs").items()) in.emplace(name, constant(literal_of(value), name));
    const std::size_t before = get_operations(g).size();
    const output made = call(c, in);
    // Nodes in TensorFlow's order. What is written by hand is the test's own.
    if (c.contains("nodes") && !id.starts_with("manual")) {
      ++with_nodes;
      const auto types = joined(types_from(g, before)), recorded = joined(c.at("nodes").get<std::vector<std::string>>());
      CHECK(types == recorded);
      same_nodes += types == recorded ? 1 : 0;
    }
    CHECK(get_collection(g, collection::losses).size() == c.value("losses_collection", std::size_t{0}));
    std::vector<output> fetches{made};
    if (c.contains("grads") && !c.at("grads").is_null())
      for (const auto& [name, value] : c.at("grads").items()) {
        const output slope = gradients({reduce_sum(made, all_axes)}, {in.at(name)})[0];
        CHECK(static_cast<bool>(slope) != value.is_null());
        if (static_cast<bool>(slope) && !value.is_null()) {
          fetches.push_back(slope);
          names.push_back(name);
        }
      }
    graph_session s(g);
    const auto results = s.run(fetches);
    CHECK(leat_test::difference(results[0], c.at("output")) == "");
    ++values;
    for (std::size_t k = 0; k < names.size(); ++k) {
      CAPTURE(names[k]);
      CHECK(leat_test::difference(results[k + 1], c.at("grads").at(names[k])) == "");
      ++slopes;
    }
  }
  MESSAGE(values << " losses and " << slopes << " gradients agree; " << same_nodes << " of " << with_nodes << " have TensorFlow's nodes");
}

TEST_CASE("every recorded error of losses") {
  const auto data = reference_json("losses.json");
  if (!data) return;
  for (const auto& c : data->at("error_cases")) {
    const std::string id = c.at("id");
    CAPTURE(id);
    graph g;
    const auto scope = g.as_default();
    std::map<std::string, output> in;
    for (const auto& [name, value] : c.at("inputs").items()) in.emplace(name, constant(literal_of(value), name));
    try {
      const output made = call(c, in);
      graph_session s(g);
      s.run(made);
      FAIL("nothing was refused");
    } catch (const invalid_argument& e) {
      const std::string recorded = c.at("error").at("message"), text = e.what();
      // The first sentence, up to what names nodes or lists values.
      const std::string first = recorded.substr(0, std::min(recorded.find_first_of(".`("), recorded.find(" bogus")));
      CHECK_MESSAGE(text.find(first) != std::string::npos, text << " instead of " << recorded);
    }
  }
}

TEST_CASE("the losses of a program, and their total, node for node") {
  if (!std::filesystem::exists(leat_test::reference_folder() + "/graphs/losses_demo.pb")) {
    MESSAGE("skipped: losses_demo.pb is missing");
    return;
  }
  const graph_def recorded = io::read_binary_file(leat_test::reference_folder() + "/graphs/losses_demo.pb");
  const leat_test::recorded_program r("losses_demo");
  graph g;
  const auto scope = g.as_default();
  const output labels = constant(r.literal("Const", 0.0f)), predictions = constant(r.literal("Const_1", 0.0f));
  const output classes = constant(r.literal("Const_2", 0.0f));
  losses::mean_squared_error(labels, predictions);
  losses::absolute_difference(labels, predictions);
  losses::huber_loss(labels, predictions, {}, r.number("huber_loss/Minimum/y", 1.0));
  losses::log_loss(classes, sigmoid(predictions, {}), {}, r.number("log_loss/add/y", 1e-7));
  losses::hinge_loss(classes, predictions);
  losses::sigmoid_cross_entropy(classes, predictions);
  losses::softmax_cross_entropy(classes, predictions);
  losses::sparse_softmax_cross_entropy(constant(r.literal("Const_3", std::int32_t{0})), predictions);
  reduce_mean(weighted_cross_entropy_with_logits(classes, predictions, r.number("logistic_loss/mul/x", 1.0) + 1), all_axes);
  losses::get_total_loss();
  const auto c = leat_test::compare(recorded, export_graph(g), [](const node_def&) { return true; });
  MESSAGE(c.same << " of " << c.recorded << " recorded nodes are equal, " << c.made << " are made");
  for (const auto& d : c.differences) MESSAGE(d);
  CHECK(c.same == c.recorded);
  CHECK(c.made == c.recorded);
}
