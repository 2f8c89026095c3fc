#include <leat/train/named/optimizers.hpp>

#include "support/recorded_items.hpp"
#include "support/recorded_program.hpp"
#include "support/same_nodes.hpp"

#include <leat/io/binary.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/scopes/replica_device_setter.hpp>
#include <leat/train/named/clip.hpp>
#include <leat/train/named/global_step.hpp>

#include <filesystem>
#include <functional>
#include <set>

using namespace leat;
using leat_test::recorded_program;
using leat_test::reference_folder;

namespace {

bool is_recorded(const std::string& file) {
  const bool is = std::filesystem::exists(reference_folder() + "/graphs/" + file + ".pb");
  if (!is) MESSAGE("skipped: the set has no graph " << file);
  return is;
}

// Builds a model as the recorded program did, and compares all nodes.
leat_test::comparison against(const std::string& file, const std::function<void()>& program) {
  if (!is_recorded(file)) return {};
  const graph_def recorded = io::read_binary_file(reference_folder() + "/graphs/" + file + ".pb");
  graph g;
  const auto scope = g.as_default();
  program();
  const auto c = leat_test::compare(recorded, export_graph(g), [](const node_def&) { return true; });
  MESSAGE(file << ": " << c.same << " of " << c.recorded << " recorded nodes are equal, " << c.made << " are made");
  for (const auto& d : c.differences) MESSAGE(d);
  return c;
}
bool is_here() {
  if (std::filesystem::exists(reference_folder() + "/graphs")) return true;
  MESSAGE("skipped: " << reference_folder() << "/graphs is missing");
  return false;
}
void check(const leat_test::comparison& c) {
  CHECK(c.same == c.recorded);
  CHECK(c.made == c.recorded);
}

}  // namespace

TEST_CASE("a regression of one weight: the step and what is built after it") {
  if (!is_here()) return;
  check(against("fetch_order", [] {
    const recorded_program r("fetch_order");
    const auto w = variable(r.literal("w/initial_value", 3.0f), "w");
    const auto x = constant(r.literal("Const", {1.0f, 2.0f}));
    const auto y = constant(r.literal("Const_1", {5.0f, 7.0f}));
    const auto product = x * w;
    const auto error = y - product;
    const auto loss = reduce_mean(square(error, {}), all_axes);
    const auto step = gradient_descent(r.number("GradientDescent/learning_rate", 0.05f)).minimize(loss);
    {
      const control_dependencies after({step});
      const auto y_again = constant(r.literal("Const_3", {5.0f, 7.0f}));
      const auto product_again = x * w;
      const auto error_again = y_again - product_again;
      reduce_mean(square(error_again, {}), all_axes, keep_dims::no, "loss_end");
    }
    global_variables_initializer();
  }));
}

TEST_CASE("linear regression with placeholders of unknown rank") {
  if (!is_here()) return;
  check(against("linear_regression", [] {
    const recorded_program r("linear_regression");
    const auto x = placeholder(dtype::float32);
    const auto y = placeholder(dtype::float32);
    const auto w = variable(r.literal("weight/initial_value", {0.5f}), "weight");
    const auto b = variable(zeros_of(r.extent("bias", shape_value{1})), "bias");
    const auto product = multiply(x, w);
    const auto prediction = product + b;
    const auto error = y - prediction;
    const auto loss = reduce_mean(square(error, {}), all_axes);
    gradient_descent(r.number("GradientDescent/learning_rate", 0.01f)).minimize(loss);
    global_variables_initializer();
  }));
  const auto worker = [](const recorded_program& r) {
    const auto w = variable(r.literal("weight/initial_value", 0.0f), "weight");
    const auto b = variable(r.literal("bias/initial_value", 0.0f), "bias");
    const auto x = get_tensor_by_name(default_graph(), "Placeholder:0");
    const auto y = get_tensor_by_name(default_graph(), "Placeholder_1:0");
    const auto product = multiply(x, w);
    const auto part = y - product;
    const auto error = part - b;
    const auto loss = square(error, {});
    const auto steps = variable(r.literal("Variable/initial_value", std::int32_t{0}));
    adagrad(r.number("Adagrad/learning_rate", 0.01f), r.number("weight/Adagrad/Initializer/Const", 0.1f))
        .minimize(loss, {.global_step = steps});
    global_variables_initializer();
  };
  check(against("linear_regression_adagrad", [&] {
    placeholder(dtype::float32);
    placeholder(dtype::float32);
    worker(recorded_program("linear_regression_adagrad"));
  }));
  check(against("between_graph_worker", [&] {
    placeholder(dtype::float32);
    placeholder(dtype::float32);
    const recorded_program r("between_graph_worker");
    const auto where = device(replica_device_setter(
        {.ps_tasks = 1, .worker_device = r.device("weight/initial_value", "/job:worker/task:0")}));
    worker(r);
  }));
}

TEST_CASE("one set of weights in two towers: gradients without and with gates") {
  if (!is_here()) return;
  check(against("two_towers", [] {
    const recorded_program r("two_towers");
    const auto x1 = constant(r.literal("Const", {{1.0f, 2.0f}}));
    const auto x2 = constant(r.literal("Const_1", {{3.0f, 4.0f}}));
    const auto tower = [&](const output& in, bool reuse) {
      const auto scope = variable_scope("net", {.reuse = reuse});
      return matmul(in, get_variable("w", {.initializer = operand_value(r.literal("net/w/initial_value", {{1.0f}, {2.0f}}))}));
    };
    const auto left = tower(x1, false);
    const auto right = tower(x2, true);
    const auto loss = reduce_sum(square(left - right, {}), all_axes);
    gradients({loss}, {trainable_variables()[0]});
    gradient_descent(r.number("GradientDescent/learning_rate", 0.01f)).minimize(loss);
    global_variables_initializer();
  }));
}

TEST_CASE("gradients are clipped between computing and applying them") {
  if (!is_here()) return;
  check(against("clip_and_apply", [] {
    const recorded_program r("clip_and_apply");
    const auto w = variable(r.literal("w/initial_value", {3.0f, -4.0f}), "w");
    const auto loss = reduce_sum(square(w, {}), all_axes);
    const auto steps = get_or_create_global_step();
    const named_optimizer optimizer = gradient_descent(r.number("GradientDescent/learning_rate", 0.1f));
    auto pairs = optimizer.compute_gradients(loss);
    for (auto& p : pairs) p.gradient = clip_by_norm(p.gradient, r.number("clip_by_norm/mul_1/y", 1.0f));
    optimizer.apply_gradients(pairs, steps);
    global_variables_initializer();
  }));
}

TEST_CASE("variables on parameter servers: slots and updates stand beside them") {
  if (!is_here()) return;
  check(against("ps_placement", [] {
    const auto where = device(replica_device_setter({.ps_tasks = 3}));
    const recorded_program r("ps_placement");
    const auto w0 = variable(zeros_of(r.extent("w_0", shape_value{2, 2})), "w_0");
    const auto b0 = variable(zeros_of(r.extent("b_0", shape_value{2})), "b_0");
    const auto w1 = variable(zeros_of(r.extent("w_1", shape_value{2, 1})), "w_1");
    const auto b1 = variable(zeros_of(r.extent("b_1", shape_value{1})), "b_1");
    const auto x = placeholder(dtype::float32, r.extent("input", shape_value{-1, 2}), "input");
    const auto product = matmul(x, w0);
    const auto hidden = product + b0;
    const auto product1 = matmul(hidden, w1);
    const auto y = product1 + b1;
    const auto loss = reduce_mean(square(y, {}), all_axes);
    const auto steps = get_or_create_global_step();
    adagrad(r.number("Adagrad/learning_rate", 0.1f), r.number("b_1/Adagrad/Initializer/Const", 0.1f))
        .minimize(loss, {.global_step = steps});
  }));
}

TEST_CASE("two dense layers with a softmax loss") {
  if (!is_here()) return;
  check(against("mlp", [] {
    graph& g = default_graph();
    const recorded_program r("mlp");
    const auto x = placeholder(dtype::float32, r.extent("X", shape_value{-1, 3}), "X");
    const auto y = placeholder(dtype::int32, r.extent("Y", shape_value{-1}), "Y");
    output hidden;
    {
      const auto scope = variable_scope("layer1");
      const auto w = get_variable(
          "w", {.initializer = operand_value(r.literal(
                    "layer1/w/initial_value",
                    {{0.2f, -0.47f, 0.14f, 0.15f}, {0.06f, -0.05f, 0.5f, 0.35f}, {-0.15f, -0.27f, -0.21f, -0.3f}}))});
      const auto b = get_variable("b", r.extent("layer1/b", shape_value{4}), {.initializer = zeros});
      const auto product = matmul(x, w);
      hidden = relu(product + b, {});
    }
    output logits;
    {
      const auto scope = variable_scope("layer2");
      const auto w = get_variable(
          "w",
          {.initializer = operand_value(r.literal(
               "layer2/w/initial_value",
               {{0.27f, -0.34f, -0.38f}, {0.29f, 0.41f, -0.29f}, {0.3f, -0.45f, 0.49f}, {-0.23f, 0.22f, 0.06f}}))});
      const auto b = get_variable("b", r.extent("layer2/b", shape_value{3}), {.initializer = zeros});
      const auto product = matmul(hidden, w);
      logits = g.named()
                   .raw(g, "BiasAdd", std::array{product, value_of(b)}, {{"T", dtype::float32}, {"data_format", "NHWC"}},
                        {{dtype::float32, product.extent()}})
                   .result();
    }
    output each;
    {
      const name_scope scope("SparseSoftmaxCrossEntropyWithLogits");
      shape_of(y);
      const output both[]{logits, y};
      each = g.named().build(g, info_of<sparse_softmax_cross_entropy_op>, both, {}, "SparseSoftmaxCrossEntropyWithLogits");
    }
    const auto loss = reduce_mean(each, all_axes, keep_dims::no, "loss");
    const auto best = argmax(logits, 1);
    const auto as_label = cast(best, dtype::int32);
    const auto right = equal(as_label, y);
    reduce_mean(cast(right, dtype::float32), all_axes, keep_dims::no, "accuracy");
    gradient_descent(r.number("GradientDescent/learning_rate", 0.5f)).minimize(loss);
    global_variables_initializer();
    softmax(logits, {});
  }));
}

// Takes what a recorded program made before its first gradient from the file, does the rest, and compares that.
void goes_on(const std::string& file, const std::function<void(graph&)>& rest) {
  if (!is_recorded(file)) return;
  const graph_def recorded = io::read_binary_file(reference_folder() + "/graphs/" + file + ".pb");
  graph_def before{.versions = recorded.versions};
  graph_def after;
  for (const auto& n : recorded.nodes) {
    if (n.name == "init") break;
    (after.nodes.empty() && !n.name.starts_with("gradients/") ? before : after).nodes.push_back(n);
  }
  graph g;
  import_graph(g, before, {.name = ""});
  const auto scope = g.as_default();
  for (const auto& op : get_operations(g))
    if (op.type() == "VariableV2" && !op.name().starts_with("global_step")) add_to_collection(collection::trainable_variables, op.result());
  rest(g);
  std::set<std::string> earlier;
  for (const auto& n : before.nodes) earlier.insert(n.name);
  const auto c = leat_test::compare(after, export_graph(g), [&](const node_def& n) { return !earlier.contains(n.name); });
  MESSAGE(file << ": " << c.same << " of " << c.recorded << " recorded nodes are equal, " << c.made << " are made");
  for (const auto& d : c.differences) MESSAGE(d);
  check(c);
}

TEST_CASE("training on imported models: Adam with clipping, momentum with a falling rate, rows, images") {
  if (!is_here()) return;
  goes_on("mlp_other_optimizer", [](graph& g) {
    const recorded_program r("mlp_other_optimizer");
    const named_optimizer optimizer = adam(r.number("Adam/learning_rate", 0.05f));
    auto pairs = optimizer.compute_gradients(get_tensor_by_name(g, "total_loss:0"));
    std::vector<gradient_value> values;
    for (const auto& p : pairs) values.push_back(p.gradient);
    const auto clipped = clip_by_global_norm(values, r.number("clip_by_global_norm/mul/x", 0.5f));
    for (std::size_t k = 0; k < pairs.size(); ++k) pairs[k].gradient = clipped.values[k];
    optimizer.apply_gradients(pairs, create_global_step());
  });
  goes_on("vector_regression", [](graph& g) {
    momentum(get_tensor_by_name(g, "ExponentialDecay:0"), recorded_program("vector_regression").number("Momentum/momentum", 0.9f))
        .minimize(get_tensor_by_name(g, "mean_squared_error/value:0"), {.global_step = get_tensor_by_name(g, "global_step:0")});
  });
  goes_on("embedding_model", [](graph& g) {
    const auto loss = get_tensor_by_name(g, "Mean:0");
    gradient_descent(recorded_program("embedding_model").number("GradientDescent/learning_rate", 0.1f)).minimize(loss);
    sparse_gradients({loss}, {get_tensor_by_name(g, "table:0")});
  });
  goes_on("cnn", [](graph& g) {
    adam(recorded_program("cnn").number("Adam/learning_rate", 0.01f)).minimize(get_tensor_by_name(g, "Mean:0"));
  });
}

TEST_CASE("what each optimizer adds for v * v, in the recorded order") {
  const auto data = leat_test::reference_json("optimizers.json");
  if (!data) return;
  const std::map<std::string, std::function<named_optimizer()>> optimizers{
      {"GradientDescent", [] { return named_optimizer(gradient_descent(0.1f)); }},
      {"Momentum", [] { return named_optimizer(momentum(0.1f, 0.9f)); }},
      {"Adagrad", [] { return adagrad(0.1f); }},
      {"Adam", [] { return named_optimizer(adam(0.1f)); }},
      {"RMSProp", [] { return rms_prop(0.1f); }},
      {"Ftrl", [] { return ftrl(0.1f); }},
      {"Adadelta", [] { return adadelta(0.1f); }}};
  int compared = 0;
  for (const auto& behavior : data->at("behaviours")) {
    const std::string what = behavior.at("what");
    const std::string train = "minimize(name='train')";
    if (!what.starts_with("nodes and variables that ") && what != train) continue;
    INFO(what);
    const std::string name = what == train ? "GradientDescent" : what.substr(25, what.find(" minimize") - 25);
    const auto at = optimizers.find(name);
    REQUIRE(at != optimizers.end());
    graph g;
    const auto scope = g.as_default();
    const auto v = variable(3.0f, "v");
    minimize_options options;
    if (what.find("global step") != what.npos || what == train) options.global_step = get_or_create_global_step();
    if (what == train) options.name = "train";
    const int before = g.size();
    at->second().minimize(v * v, options);
    std::vector<std::string> made;
    for (const auto& op : get_operations(g)) {
      if (op.index() < before) continue;
      std::string line = op.name() + " " + std::string(op.type());
      for (const auto& in : op.inputs()) line += " " + (in.port() == 0 ? in.operation().name() : in.name());
      std::set<std::string> waits;
      for (const auto& c : op.control_inputs()) waits.insert("^" + c.name());
      for (const auto& c : waits) line += " " + c;
      made.push_back(line);
    }
    std::vector<std::string> recorded;
    for (const auto& n : behavior.at("result").at("nodes")) {
      std::string line = n.at("name").get<std::string>() + " " + n.at("op").get<std::string>();
      for (const auto& in : n.at("inputs")) line += " " + in.get<std::string>();
      std::set<std::string> waits;
      for (const auto& c : n.at("control")) waits.insert("^" + c.get<std::string>());
      for (const auto& c : waits) line += " " + c;
      recorded.push_back(line);
    }
    CHECK(made == recorded);
    for (std::size_t i = 0; i < std::max(made.size(), recorded.size()); ++i)
      if (i >= made.size() || i >= recorded.size() || made[i] != recorded[i]) {
        MESSAGE("first difference: " << (i < made.size() ? made[i] : "") << " | " << (i < recorded.size() ? recorded[i] : ""));
        break;
      }
    std::vector<std::string> variables;
    for (const auto& o : global_variables()) variables.push_back(o.name());
    CHECK(variables == behavior.at("result").at("variables").get<std::vector<std::string>>());
    std::vector<std::string> trainable;
    for (const auto& o : trainable_variables()) trainable.push_back(o.name());
    CHECK(trainable == behavior.at("result").at("trainable").get<std::vector<std::string>>());
    ++compared;
  }
  CHECK(compared > 0);
  MESSAGE(compared << " lists of nodes compared");
}

TEST_CASE("recorded behaviors: slots, scopes, what is refused") {
  const auto data = leat_test::reference_json("optimizers.json");
  if (!data) return;
  leat_test::recorded_items items("behaviors");
  // What the set has of a behavior is compared; where it has none, that is said.
  const auto as_recorded = [&](std::string_view what, const auto& compare) {
    for (const auto& b : data->at("behaviours"))
      if (b.at("what").get<std::string>().starts_with(what)) {
        INFO(std::string(what));
        items.ran();
        return compare(b);
      }
    items.left_out(std::string(what), "the set has no record of it");
  };
  const auto names = [](const std::vector<output>& list) {
    std::vector<std::string> all;
    for (const auto& o : list) all.push_back(o.name());
    return all;
  };
  {
    graph g;
    const auto scope = g.as_default();
    const auto v = variable(3.0f, "v");
    adam(0.1f).minimize(v * v);
    adam(0.1f).minimize(v * v);
    as_recorded("two Adam", [&](const auto& b) { CHECK(names(global_variables()) == b.at("result").template get<std::vector<std::string>>()); });
    // one optimizer keeps its slots
    const named_optimizer one = adam(0.1f);
    one.minimize(v * v);
    const auto count = global_variables().size();
    one.minimize(v * v);
    CHECK(global_variables().size() == count);
    CHECK(one.slot(v, "m").name() == "v/Adam_4:0");
    CHECK(one.slot_names() == std::vector<std::string>{"m", "v"});
    CHECK(names(one.variables()) == std::vector<std::string>{"beta1_power_2:0", "beta2_power_2:0", "v/Adam_4:0", "v/Adam_5:0"});
    CHECK(get_collection(collection::train_op).size() == 4);
  }
  {
    graph g;
    const auto outer = g.as_default();
    const auto scope = variable_scope("net");
    const auto w = variable(3.0f, "w");
    adam(0.1f).minimize(w * w);
    std::vector<std::string> nodes;
    for (const auto& op : get_operations(g)) nodes.push_back(op.name());
    as_recorded("Adam built", [&](const auto& b) {
      CHECK(names(global_variables()) == b.at("result").at("variables").template get<std::vector<std::string>>());
      CHECK(nodes == b.at("result").at("nodes").template get<std::vector<std::string>>());
    });
  }
  const auto refused = [&](std::string_view what, const auto& f) {
    std::string said;
    try {
      f();
    } catch (const invalid_argument& e) {
      said = e.what();
    }
    CHECK(said != "");
    as_recorded(what, [&](const auto& b) { CHECK(said == b.at("error").at("message").template get<std::string>()); });
  };
  graph g;
  const auto scope = g.as_default();
  refused("minimize without any variable", [] { gradient_descent(0.1f).minimize(constant(1.0f)); });
  const auto v = variable(3.0f, "v");
  graph h;
  {
    const auto inner = h.as_default();
    const auto w = variable(3.0f, "v");
    refused("minimize of a loss that no variable reaches", [&] { gradient_descent(0.1f).minimize(constant(1.0f)); });
    refused("apply_gradients with only None", [&] { named_optimizer(gradient_descent(0.1f)).apply_gradients({{{}, w}}); });
    refused("apply_gradients([])", [&] { named_optimizer(gradient_descent(0.1f)).apply_gradients({}); });
    static_cast<void>(create_global_step());
    refused("create_global_step twice", [&] { create_global_step(); });
    CHECK(dtype_text(get_global_step()) == "int64_ref");
  }
  CHECK_FALSE(static_cast<bool>(get_global_step()));
  // a step of integers among the trainable variables gets no gradient
  const auto steps = variable(std::int32_t{0});
  const auto pairs = gradient_descent(0.1f).compute_gradients(v * v);
  CHECK(pairs[0].gradient.values.name() == "gradients/AddN:0");
  CHECK_FALSE(static_cast<bool>(pairs[1].gradient));
  const auto train = adagrad(0.1f).minimize(v * v, {.global_step = steps});
  as_recorded("the same, through minimize", [&](const auto& b) { CHECK(train.name() == b.at("result").template get<std::string>()); });
  items.finish();
}
