// Everything that optimizers.json records, on graphs with names: trajectories of optimizers with their slots, schedules, clipping and
// moving averages, as fused programs and by kernels.

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/recorded_items.hpp"
#include "support/reference_json.hpp"
#include "support/reference_values.hpp"

#include <functional>
#include <map>
#include <set>

using namespace leat;
using namespace leat_test;

namespace {

float number(const nlohmann::json& args, const char* name, float otherwise) {
  return args.contains(name) && !args.at(name).is_null() ? args.at(name).get<float>() : otherwise;
}
operand_value rate_or_steps(const nlohmann::json& j) {
  return j.is_number_integer() ? operand_value(j.get<std::int32_t>()) : operand_value(j.get<float>());
}

// A schedule of a recorded call; the steps are an integer as in the call.
output schedule_of(const std::string& api, const nlohmann::json& args, const output& step) {
  const std::string what = api.substr(api.find('.') + 1);
  const auto rate = [&] { return operand_value(args.at("learning_rate").get<float>()); };
  const auto get = [&](const char* name) { return rate_or_steps(args.at(name)); };
  if (what == "piecewise_constant") {
    std::vector<operand_value> boundaries, values;
    for (const auto& b : args.at("boundaries")) boundaries.push_back(rate_or_steps(b));
    for (const auto& v : args.at("values")) values.emplace_back(v.get<float>());
    return piecewise_constant(step, boundaries, values);
  }
  const bool stairs = args.value("staircase", false);
  if (what == "exponential_decay") return exponential_decay(rate(), step, get("decay_steps"), get("decay_rate"), {.staircase = stairs});
  if (what == "natural_exp_decay") return natural_exp_decay(rate(), step, get("decay_steps"), get("decay_rate"), {.staircase = stairs});
  if (what == "inverse_time_decay") return inverse_time_decay(rate(), step, get("decay_steps"), get("decay_rate"), {.staircase = stairs});
  if (what == "polynomial_decay")
    return polynomial_decay(rate(), step, get("decay_steps"),
                            {.end_learning_rate = get("end_learning_rate"), .power = get("power"), .cycle = args.at("cycle").get<bool>()});
  if (what == "cosine_decay") return cosine_decay(rate(), step, get("decay_steps"), {.alpha = get("alpha")});
  if (what == "cosine_decay_restarts")
    return cosine_decay_restarts(rate(), step, get("first_decay_steps"),
                                 {.t_mul = get("t_mul"), .m_mul = get("m_mul"), .alpha = get("alpha")});
  if (what == "linear_cosine_decay")
    return linear_cosine_decay(rate(), step, get("decay_steps"),
                               {.num_periods = get("num_periods"), .alpha = get("alpha"), .beta = get("beta")});
  FAIL("a schedule that is not known: " << what);
  return {};
}

named_optimizer optimizer_of(const std::string& api, const nlohmann::json& args, const output& step) {
  const std::string what = api.substr(api.find('.') + 1);
  const auto real = [&](const char* name, float otherwise) { return number(args, name, otherwise); };
  const auto& given = args.at("learning_rate");
  if (given.is_object() && what == "MomentumOptimizer") return momentum(schedule_of(given.at("api"), given, step), real("momentum", 0.9f));
  const float rate = given.get<float>();
  if (what == "GradientDescentOptimizer") return gradient_descent(rate);
  if (what == "MomentumOptimizer") {
    if (args.value("use_nesterov", false)) return nesterov_momentum(rate, real("momentum", 0));
    return momentum(rate, real("momentum", 0));
  }
  if (what == "AdagradOptimizer") return adagrad(rate, args.value("initial_accumulator_value", 0.1));
  if (what == "AdamOptimizer") return adam(rate, real("beta1", 0.9f), real("beta2", 0.999f), real("epsilon", 1e-8f));
  if (what == "AdadeltaOptimizer") return adadelta(rate, real("rho", 0.95f), real("epsilon", 1e-8f));
  if (what == "RMSPropOptimizer") {
    const float decay = real("decay", 0.9f), momentum = real("momentum", 0), epsilon = real("epsilon", 1e-10f);
    if (args.value("centered", false)) return centered_rms_prop(rate, decay, momentum, epsilon);
    return rms_prop(rate, decay, momentum, epsilon);
  }
  if (what == "FtrlOptimizer")
    return ftrl(rate, {.learning_rate_power = real("learning_rate_power", -0.5f),
                       .start = real("initial_accumulator_value", 0.1f),
                       .l1 = real("l1_regularization_strength", 0),
                       .l2 = real("l2_regularization_strength", 0),
                       .beta = real("beta", 0),
                       .l2_shrinkage = real("l2_shrinkage_regularization_strength", 0)});
  const proximal_options penalties{.l1 = real("l1_regularization_strength", 0),
                                   .l2 = real("l2_regularization_strength", 0),
                                   .start = real("initial_accumulator_value", real("initial_gradient_squared_accumulator_value", 0.1f))};
  if (what == "ProximalGradientDescentOptimizer") return proximal_gradient_descent(rate, penalties);
  if (what == "ProximalAdagradOptimizer") return proximal_adagrad(rate, penalties);
  if (what == "AdagradDAOptimizer") return adagrad_da(rate, step, penalties);
  FAIL("an optimizer that is not known: " << what);
  return gradient_descent(rate);
}

// A variable that starts with a recorded tensor.
output variable_of(const nlohmann::json& tensor, const std::string& name) {
  const tensor_value value = value_of_json(tensor);
  return with_dtype(value.type(), [&]<class T>(T) {
    const auto all = value.values<T>();
    return variable(operand_value(tensor_literal(value.extent(), std::vector<T>(all.begin(), all.end()))), name);
  });
}
double near_of(const nlohmann::json& tensor) { return tensor.at("dtype") == "float64" ? 1e-6 : 1e-5; }

}  // namespace

TEST_CASE("trajectories of optimizers, dense and sparse, with slots and counters") {
  const auto data = reference_json("optimizers.json");
  if (!data) return;
  int compared = 0, fused = 0;
  for (const auto& t : data->at("trajectories")) {
    INFO(t.at("id").get<std::string>());
    graph g;
    const auto scope = g.as_default();
    std::vector<variable_gradient> pairs;
    std::vector<output> variables;
    for (const auto& v : t.at("variables")) variables.push_back(variable_of(v.at("initial"), v.at("name")));
    const auto steps = create_global_step();
    const auto& first = t.at("steps").at(0).at("grads");
    for (std::size_t k = 0; k < variables.size(); ++k) {
      const std::string name = "g" + std::to_string(k);
      if (first.at(k).is_null()) {
        pairs.push_back({{}, variables[k]});
      } else if (first.at(k).contains("indices")) {
        const auto rows = placeholder(variables[k].type(), unknown_shape, name);
        const auto at = placeholder(dtype_named(first[k]["indices"]["dtype"]), {-1}, name + "_at");
        const shape extent = variables[k].extent();
        const auto whole = constant(std::vector<std::int32_t>(extent.dim, extent.dim + extent.rank));
        pairs.push_back({gradient_value(rows, at, whole), variables[k]});
      } else {
        pairs.push_back({gradient_value(placeholder(variables[k].type(), variables[k].extent(), name)), variables[k]});
      }
    }
    const named_optimizer optimizer = optimizer_of(t.at("api"), t.at("args"), steps);
    const auto train = optimizer.apply_gradients(pairs, steps);
    const std::string train_name = t.at("train_op");
    CHECK(train.name() == train_name);
    std::set<std::string> types, recorded_types;
    for (const auto& u : t.at("update_ops")) recorded_types.insert(u.get<std::string>());
    for (const auto& op : get_operations(g))
      if (op.name().starts_with(train_name + "/update_") &&
          (op.type().find("Apply") != op.type().npos || op.type().starts_with("Scatter") || op.type() == "AssignSub"))
        types.insert(std::string(op.type()));
    CHECK(types == recorded_types);
    std::vector<std::string> made;
    for (const auto& v : optimizer.variables()) made.push_back(v.operation().name());
    CHECK(made == t.at("slot_variables").get<std::vector<std::string>>());
    const auto init = global_variables_initializer();
    for (const bool fuse : {true, false}) {
      INFO(std::string(fuse ? "fused" : "by kernels"));
      graph_session s(g, {.fuse = fuse});
      s.run(init);
      const auto check_state = [&](const nlohmann::json& slots, const nlohmann::json& extra) {
        for (std::size_t k = 0; k < variables.size(); ++k)
          for (const auto& [name, value] : slots.at(variables[k].operation().name()).items()) {
            INFO(name);
            const output slot = optimizer.slot(variables[k], name);
            REQUIRE(static_cast<bool>(slot));
            CHECK(difference(s.run(slot), value, near_of(value), near_of(value)) == "");
          }
        for (const auto& [name, value] : extra.items()) CHECK(difference(s.run(name + ":0"), value, near_of(value), near_of(value)) == "");
      };
      check_state(t.at("initial_slots"), t.at("initial_extra"));
      std::size_t n = 0;
      for (const auto& step : t.at("steps")) {
        std::map<std::string, tensor_value> feeds;
        for (std::size_t k = 0; k < variables.size(); ++k) {
          const auto& gradient = step.at("grads").at(k);
          const std::string name = "g" + std::to_string(k);
          if (gradient.is_null()) continue;
          if (gradient.contains("indices")) {
            feeds.emplace(name + ":0", value_of_json(gradient.at("values")));
            feeds.emplace(name + "_at:0", value_of_json(gradient.at("indices")));
          } else {
            feeds.emplace(name + ":0", value_of_json(gradient));
          }
        }
        s.run(train, feeds);
        for (std::size_t k = 0; k < variables.size(); ++k) {
          const auto& value = step.at("values").at(k);
          CHECK(difference(s.run(variables[k]), value, near_of(value), near_of(value)) == "");
        }
        check_state(step.at("slots"), step.at("extra"));
        CHECK(s.run<std::int64_t>(steps) == t.at("global_step").at(n++).get<std::int64_t>());
        ++compared;
      }
      fused += s.fused_runs() > 0 ? 1 : 0;
    }
  }
  MESSAGE(compared << " steps compared, " << fused << " sessions with fused programs");
  CHECK(compared > 0);
  for (const auto& f : data->at("failed")) {
    INFO(f.at("what").get<std::string>());
    graph g;
    const auto scope = g.as_default();
    const auto v = variable(constant(1.0, dtype::float64), "v");
    std::string said;
    try {
      optimizer_of(f.at("api"), f.at("args"), {}).minimize(v * v);
    } catch (const invalid_argument& e) {
      said = e.what();
    }
    CHECK(said == f.at("error").at("message").get<std::string>());
  }
}

TEST_CASE("schedules of the learning rate") {
  const auto data = reference_json("optimizers.json");
  if (!data) return;
  int compared = 0;
  for (const auto& t : data->at("schedules")) {
    INFO(t.at("id").get<std::string>());
    graph g;
    const auto scope = g.as_default();
    const auto step = placeholder(dtype_named(t.at("step_dtype")), {}, "step");
    const auto rate = schedule_of(t.at("api"), t.at("args"), step);
    CHECK(rate.name() == t.at("tensor_name").get<std::string>());
    CHECK(name_of_dtype(rate.type()) == t.at("dtype").get<std::string>());
    for (const bool fuse : {true, false}) {
      graph_session s(g, {.fuse = fuse});
      for (std::size_t k = 0; k < t.at("steps").size(); ++k) {
        const double now = t["steps"][k].get<double>();
        INFO(now);
        const tensor_value fed = with_dtype(step.type(), [&]<class T>(T) { return tensor_value(static_cast<T>(now)); });
        CHECK(s.run<float>(rate, {{step, fed}}) == doctest::Approx(number_of_json(t.at("values").at(k))).epsilon(2e-5));
        ++compared;
      }
    }
  }
  MESSAGE(compared << " rates compared");
  CHECK(compared > 0);
}

TEST_CASE("gradients are clipped between the halves") {
  const auto data = reference_json("optimizers.json");
  if (!data) return;
  int compared = 0;
  for (const auto& t : data->at("clipping")) {
    INFO(t.at("id").get<std::string>());
    graph g;
    const auto scope = g.as_default();
    const auto x = variable_of(t.at("initial").at("x"), "x");
    const auto y = variable_of(t.at("initial").at("y"), "y");
    variable(1.0f, "unused");
    const auto matrix = value_of_json(t.at("A"));
    const auto a =
        constant(tensor_literal(matrix.extent(), std::vector<float>(matrix.values<float>().begin(), matrix.values<float>().end())));
    const auto product = squeeze(matmul(a, expand_dims(x, 1)), {1});
    const auto error = product - y;
    const auto part = reduce_sum(square(error, {}), all_axes);
    const auto rest = reduce_sum(square(y, {}), all_axes) / 2.0f;
    const auto loss = part + rest;
    const auto steps = create_global_step();
    const named_optimizer optimizer = optimizer_of(t.at("optimizer"), t, steps);
    auto pairs = optimizer.compute_gradients(loss);
    const auto& recorded = t.at("gradients_and_variables");
    REQUIRE(pairs.size() == recorded.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      CHECK(pairs[k].variable.name() == recorded[k][1].get<std::string>());
      CHECK(static_cast<bool>(pairs[k].gradient) == !recorded[k][0].is_null());
    }
    std::vector<output> before, after;
    for (const auto& p : pairs)
      if (p.gradient) before.push_back(p.gradient.values);
    const std::string kind = t.at("clip").at("kind");
    const auto& limit = t.at("clip").at("arg");
    if (kind == "clip_by_global_norm") {
      std::vector<gradient_value> values;
      for (const auto& p : pairs) values.push_back(p.gradient);
      const auto clipped = clip_by_global_norm(values, limit.get<float>());
      for (std::size_t k = 0; k < pairs.size(); ++k) pairs[k].gradient = clipped.values[k];
    } else if (kind != "none") {
      for (auto& p : pairs)
        if (p.gradient)
          p.gradient = kind == "clip_by_norm"
                           ? clip_by_norm(p.gradient, limit.get<float>())
                           : gradient_value(clip_by_value(p.gradient.values, limit.at(0).get<float>(), limit.at(1).get<float>(), {}));
    }
    for (const auto& p : pairs)
      if (p.gradient) after.push_back(p.gradient.values);
    const auto train = optimizer.apply_gradients(pairs, steps);
    const auto init = global_variables_initializer();
    for (const bool fuse : {true, false}) {
      graph_session s(g, {.fuse = fuse});
      s.run(init);
      for (const auto& step : t.at("steps")) {
        CHECK(s.run<float>(loss) == doctest::Approx(step.at("loss_before").get<double>()).epsilon(1e-5));
        for (std::size_t k = 0; k < before.size(); ++k) {
          CHECK(difference(s.run(before[k]), step.at("gradients").at(k), 1e-5, 1e-5) == "");
          CHECK(difference(s.run(after[k]), step.at("clipped").at(k), 1e-5, 1e-5) == "");
        }
        s.run(train);
        CHECK(difference(s.run(x), step.at("x"), 1e-5, 1e-5) == "");
        CHECK(difference(s.run(y), step.at("y"), 1e-5, 1e-5) == "");
        CHECK(s.run<std::int64_t>(steps) == step.at("global_step").get<std::int64_t>());
        ++compared;
      }
    }
  }
  MESSAGE(compared << " steps compared");
  CHECK(compared > 0);
}

TEST_CASE("exponential moving averages") {
  const auto data = reference_json("optimizers.json");
  if (!data) return;
  int compared = 0;
  for (const auto& t : data->at("moving_averages")) {
    INFO(t.at("id").get<std::string>());
    graph g;
    const auto scope = g.as_default();
    const auto w = variable_of(t.at("initial").at("variable"), "w");
    const auto count = variable(0.0f, "n", {.trainable = false});
    const auto doubled = multiply(w, 2.0f, "mul");
    const auto& args = t.at("args");
    moving_average_options options{.zero_debias = args.at("zero_debias").get<bool>()};
    if (!args.at("num_updates").is_null()) options.num_updates = count;
    exponential_moving_average ema(args.at("decay").get<float>(), options);
    CHECK(ema.average_name(w) == t.at("average_name_variable").get<std::string>());
    const auto update = ema.apply({w, doubled});
    CHECK(ema.average_name(w) == t.at("average_name_variable").get<std::string>());
    CHECK(ema.average_name(doubled) == t.at("average_name_tensor").get<std::string>());
    std::vector<std::string> names;
    for (const auto& v : global_variables()) names.push_back(v.operation().name());
    CHECK(names == t.at("variables").get<std::vector<std::string>>());
    const auto fed = placeholder(w.type(), w.extent(), "fed");
    const auto given = assign(w, fed);
    const auto counted = placeholder(dtype::float32, {}, "counted");
    const auto count_given = assign(count, counted);
    const auto init = global_variables_initializer();
    for (const bool fuse : {true, false}) {
      graph_session s(g, {.fuse = fuse});
      s.run(init);
      CHECK(difference(s.run(ema.average(w)), t.at("initial").at("shadow"), 1e-5, 1e-6) == "");
      CHECK(difference(s.run(ema.average(doubled)), t.at("initial").at("tensor_shadow"), 1e-5, 1e-6) == "");
      for (const auto& a : t.at("applies")) {
        s.run(given.operation(), {{fed, value_of_json(a.at("value"))}});
        if (!a.at("num_updates").is_null()) s.run(count_given.operation(), {{counted, tensor_value(a.at("num_updates").get<float>())}});
        s.run(update);
        CHECK(difference(s.run(ema.average(w)), a.at("shadow"), 1e-5, 1e-6) == "");
        CHECK(difference(s.run(ema.average(doubled)), a.at("tensor_shadow"), 1e-5, 1e-6) == "");
        ++compared;
      }
    }
  }
  MESSAGE(compared << " updates compared");
  CHECK(compared > 0);
}

namespace {

// What a recorded behavior gave: its result, or the message of its error.
nlohmann::json outcome_of(const std::function<nlohmann::json()>& program) {
  try {
    return {{"result", program()}, {"error", nullptr}};
  } catch (const error& e) {
    return {{"result", nullptr}, {"error", std::string(e.what())}};
  }
}
nlohmann::json names_of(const std::vector<variable_gradient>& pairs) {
  nlohmann::json made = nlohmann::json::array();
  for (const auto& p : pairs)
    made.push_back({p.gradient ? nlohmann::json(p.gradient.values.name()) : nlohmann::json(nullptr), p.variable.name()});
  return made;
}
// The loss of the behaviors whose gradient needs what the loss is made of.
output regression(const output& v) {
  const auto product = v * constant({1.0f, 2.0f});
  return reduce_mean(square(constant({5.0f, 7.0f}) - product, {}), all_axes);
}

}  // namespace

TEST_CASE("every recorded behavior") {
  const auto data = reference_json("optimizers.json");
  if (!data) return;
  const auto v3 = [] { return variable(3.0f, "v"); };
  const std::map<std::string, std::function<nlohmann::json()>> programs{
      {"minimize of a loss that no variable reaches",
       [&] {
         v3();
         gradient_descent(0.1f).minimize(constant(1.0f));
         return nullptr;
       }},
      {"minimize without any variable",
       [] {
         gradient_descent(0.1f).minimize(constant(1.0f));
         return nullptr;
       }},
      {"apply_gradients([])",
       [] {
         named_optimizer(gradient_descent(0.1f)).apply_gradients({});
         return nullptr;
       }},
      {"apply_gradients with only None gradients",
       [&] {
         named_optimizer(gradient_descent(0.1f)).apply_gradients({{{}, v3()}});
         return nullptr;
       }},
      {"get_or_create_global_step: name, dtype, shape, collections, trainable",
       [] {
         const auto steps = get_or_create_global_step();
         nlohmann::json collections = nlohmann::json::array();
         for (const auto& name : get_all_collection_keys(default_graph())) collections.push_back(name);
         return nlohmann::json{{"name", steps.name()},
                               {"dtype", dtype_text(steps)},
                               {"shape", nlohmann::json::array()},
                               {"trainable", !trainable_variables().empty()},
                               {"op", std::string(steps.operation().type())},
                               {"collections", collections}};
       }},
      {"create_global_step twice",
       [] {
         create_global_step();
         create_global_step();
         return nullptr;
       }},
      {"get_global_step without one", [] { return get_global_step() ? nlohmann::json("one") : nlohmann::json(nullptr); }},
      {"get_global_step finds a variable named global_step",
       [] {
         variable(std::int64_t{0}, "global_step");
         return get_global_step().name();
       }},
      {"get_global_step with a float variable of that name",
       [] {
         variable(0.0f, "global_step");
         return get_global_step().name();
       }},
      {"a trainable int32 Variable passed as global_step is left out of the gradients",
       [&] {
         const auto v = v3();
         variable(std::int32_t{0});
         return names_of(adagrad(0.1f).compute_gradients(v * v));
       }},
      {"the same, through minimize",
       [&] {
         const auto v = v3();
         const auto steps = variable(std::int32_t{0});
         return adagrad(0.1f).minimize(v * v, {.global_step = steps}).name();
       }},
      {"under control_dependencies([train_op]): identity(loss) stays the old loss; building the loss again reads the new value (ref "
       "variables share their buffer with reads)",
       [&] {
         const auto v = v3();
         const auto loss = regression(v);
         const auto train = gradient_descent(0.1f).minimize(loss);
         output old, again;
         {
           const auto wait = control_dependencies({train});
           old = identity(loss, {});
           again = regression(read_value(v));
         }
         graph_session s(default_graph());
         s.run(global_variables_initializer());
         nlohmann::json made = nlohmann::json::array();
         for (int k = 0; k < 3; ++k) {
           const auto [before, after, now] = s.run<float, float, float>({old, again, loss});
           made.push_back({{"identity_of_loss", before}, {"loss_built_again", after}, {"loss", now}, {"next_run", s.run<float>(loss)}});
         }
         return made;
       }},
      {"gate constants",
       [] {
         return nlohmann::json{{"GATE_NONE", static_cast<int>(gate_gradients::none)},
                               {"GATE_OP", static_cast<int>(gate_gradients::operation)},
                               {"GATE_GRAPH", static_cast<int>(gate_gradients::graph)}};
       }},
      {"compute_gradients covers trainable variables only",
       [] {
         const auto a = variable(1.0f, "a");
         const auto b = variable(2.0f, "b", {.trainable = false});
         return nlohmann::json::array({gradient_descent(0.1f).compute_gradients(a * b).at(0).variable.name()});
       }},
      {"compute_gradients with var_list of a non-trainable",
       [] {
         const auto a = variable(1.0f, "a");
         const auto b = variable(2.0f, "b", {.trainable = false});
         return nlohmann::json::array({gradient_descent(0.1f).compute_gradients(a * b, {.variables = {b}}).at(0).variable.name()});
       }},
      {"piecewise_constant with too few values",
       [] {
         piecewise_constant(get_or_create_global_step(), {10, 20}, {1.0f, 0.5f});
         return nullptr;
       }},
      {"exponential_decay without global_step",
       [] {
         exponential_decay(0.1f, {}, 10, 0.9f);
         return nullptr;
       }},
      {"two Adam optimizers on one variable: slot names",
       [&] {
         const auto v = v3();
         adam(0.1f).minimize(v * v);
         adam(0.1f).minimize(v * v);
         nlohmann::json made = nlohmann::json::array();
         for (const auto& o : global_variables()) made.push_back(o.name());
         return made;
       }},
      {"Adam built inside variable_scope('net'): slot names", [] {
         const auto net = variable_scope("net");
         const auto w = variable(3.0f, "w");
         adam(0.1f).minimize(w * w);
         nlohmann::json variables = nlohmann::json::array(), nodes = nlohmann::json::array();
         for (const auto& o : global_variables()) variables.push_back(o.name());
         for (const auto& o : get_operations(default_graph())) nodes.push_back(o.name());
         return nlohmann::json{{"variables", variables}, {"nodes", nodes}};
       }}};
  leat_test::recorded_items items("behaviors");
  for (const auto& b : data->at("behaviours")) {
    const std::string what = b.at("what");
    INFO(what);
    graph g;
    const auto scope = g.as_default();
    if (what.starts_with("nodes and variables that ") || what == "minimize(name='train')") {
      items.left_out(what, "compared by named.named_optimizer_reference");
      continue;
    }
    if (what.starts_with("fetch [loss, train op]")) {
      const bool reads_buffer = what.find("loss v*v") != what.npos;
      const auto v = v3();
      const auto loss = reads_buffer ? v * v : regression(v);
      const auto train = gradient_descent(0.1f).minimize(loss);
      const auto init = global_variables_initializer();
      const auto& recorded = b.at("result");
      for (const int threads : {1, 4}) {
        graph_session s(g, {.inter_op_parallelism_threads = threads});
        s.run(init);
        // Where TensorFlow may give either value, ours is the old one: a read is the value at the start of the run.
        const auto fetched = s.run({loss, train});
        CHECK(fetched[0].as<float>() == doctest::Approx(recorded.at("loss_before").get<double>()));
        CHECK(s.run<float>(loss) == doctest::Approx(recorded.at("loss_after").get<double>()));
      }
      items.ran();
      continue;
    }
    const auto program = programs.find(what);
    if (program == programs.end()) {
      items.left_out(what, "not played by this test");
      continue;
    }
    const nlohmann::json is = outcome_of(program->second);
    if (b.at("error").is_null()) {
      if (what.starts_with("under control_dependencies")) {
        for (std::size_t k = 0; k < b.at("result").size(); ++k)
          for (const auto& [key, value] : b["result"][k].items())
            CHECK(is.at("result").at(k).at(key).get<double>() == doctest::Approx(value.get<double>()).epsilon(1e-5));
      } else {
        CHECK(is == nlohmann::json{{"result", b.at("result")}, {"error", nullptr}});
      }
    } else {
      CHECK(is.at("error") == b.at("error").at("message"));
    }
    items.ran();
  }
  items.finish();
}
