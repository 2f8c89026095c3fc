#pragma once
// Implementation of named_optimizers.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/handle.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/train/named/optimizer.hpp>
#include <leat/train/named/optimizers.hpp>

namespace leat::detail {

LEAT_FUNCTION operand_value float_setting(const operand_value& v) {
  if (v.literal() == nullptr || v.literal()->type() == data_type::float32) return v;
  return v.literal()->as(dtype::float32);
}

LEAT_FUNCTION std::optional<rule_text> find_rule(std::uint64_t hash_of_name) {
  std::optional<rule_text> found;
  const auto look = [&]<class... Rules>(std::type_identity<std::tuple<Rules...>>) {
    ((hash_text(Rules::name) == hash_of_name ? static_cast<void>(found = text_of_rule<Rules>()) : void()), ...);
  };
  look(std::type_identity<train::all_rules<std::tuple>>{});
  return found;
}

LEAT_FUNCTION std::vector<graph_operation> adam_from_rows(const named_optimizer& o, const gradient_value& v, const output& variable) {
  graph& g = variable.owner();
  const dtype type = variable.type();
  const auto scatter_add = [&](const output& to, const output& rows) {
    if (is_handle(to))
      return read_after(to, g.named().raw(g, "ResourceScatterAdd", std::array{to, v.indices, rows},
                                          {{"dtype", type}, {"Tindices", v.indices.type()}}, {}));
    return g.named()
        .raw(g, "ScatterAdd", std::array{to, v.indices, rows}, {{"T", type}, {"Tindices", v.indices.type()}, {"use_locking", o.locks()}},
             {{type, to.extent()}})
        .result();
  };
  const auto locked = [&](const output& made) {
    set_locking(made, o.locks());
    return made;
  };
  const output power1 = o.argument("beta1_power", type);
  const output power2 = o.argument("beta2_power", type);
  const output rate = o.argument("learning_rate", type);
  const output beta1 = o.argument("beta1", type);
  const output beta2 = o.argument("beta2", type);
  const output epsilon = o.argument("epsilon", type);
  const output rest2 = 1 - power2;
  const output root = sqrt(rest2, {});
  const output raised = rate * root;
  const output rest1 = 1 - power1;
  const output step = raised / rest1;
  const output m = o.slot(variable, "m");
  const output part1 = 1 - beta1;
  const output scaled = v.values * part1;
  const output decayed_m = value_of(m) * beta1;
  output next_m = locked(assign(m, decayed_m));
  {
    const control_dependencies wait({write_of(next_m)});
    next_m = scatter_add(m, scaled);
  }
  const output slot_v = o.slot(variable, "v");
  const output squared = v.values * v.values;
  const output part2 = 1 - beta2;
  const output scaled_square = squared * part2;
  const output decayed_v = value_of(slot_v) * beta2;
  output next_v = locked(assign(slot_v, decayed_v));
  {
    const control_dependencies wait({write_of(next_v)});
    next_v = scatter_add(slot_v, scaled_square);
  }
  const output v_root = sqrt(next_v, {});
  const output numerator = step * next_m;
  const output denominator = v_root + epsilon;
  const output change = numerator / denominator;
  const output moved = locked(assign_sub(variable, change));
  return {group({write_of(moved), next_m, next_v}, "group_deps")};
}

LEAT_FUNCTION std::vector<graph_operation> scattered_descent(const named_optimizer& o, const gradient_value& v, const output& variable) {
  graph& g = variable.owner();
  if (is_handle(variable)) {
    const output change = negative(v.values, "Neg") * o.argument("learning_rate", variable.type());
    return {g.named().raw(g, "ResourceScatterAdd", std::array{variable, v.indices, change},
                          {{"dtype", variable.type()}, {"Tindices", v.indices.type()}}, {})};
  }
  const output rows = v.values * o.argument("learning_rate", variable.type());
  return {g.named().raw(g, "ScatterSub", std::array{variable, v.indices, rows},
                        {{"T", variable.type()}, {"Tindices", v.indices.type()}, {"use_locking", o.locks()}},
                        {{variable.type(), variable.extent()}})};
}

// An update that is no operator: makes its formula as nodes, and assigns the results.
LEAT_FUNCTION std::vector<graph_operation> assigned_update(const rule_text& rule, const named_optimizer& o, const gradient_value& gradient,
                                                           const output& variable) {
  std::vector<output> written{variable}, inputs{value_of(variable)};
  for (const auto a : rule.arguments) {
    written.push_back(o.argument(std::string(a), gradient, variable));
    inputs.push_back(a.starts_with('&') ? value_of(written.back()) : written.back());
  }
  std::vector<graph_operation> made;
  for (const update::change& c : rule.expand(inputs)) {
    const output& to = written[static_cast<std::size_t>(c.variable)];
    const output one = c.subtract ? assign_sub(to, c.value) : assign(to, c.value);
    set_locking(one, o.locks());
    made.push_back(write_of(one));
  }
  return made;
}

// The initial value of ftrl's accumulator, in TensorFlow's nodes.
LEAT_FUNCTION variable_initializer ones_times(float start) {
  return [start](const shape& extent, dtype type) {
    graph& g = default_graph();
    const output one = g.named().make_constant(g, {type, extent, 1}, "ones");
    return multiply(one, start, "mul");
  };
}

// The attributes listed in `flags`, "use_nesterov: bool = false; ...", with the rule's values.
LEAT_FUNCTION attribute_map attributes_of(const rule_text& rule) {
  attribute_map made;
  for (std::string_view rest = rule.flags; !rest.empty();) {
    const std::size_t end = rest.find("; ");
    const std::string_view one = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 2);
    made[std::string(one.substr(0, one.find(':')))] = rule.flag(one.substr(0, one.find(':')), one.ends_with("true"));
  }
  return made;
}

// Adapts the description of ftrl to TensorFlow's nodes: beta is added to l2, and without shrinkage the operator that does not have it is
// used.
LEAT_FUNCTION void describe_ftrl(optimizer_description& made) {
  const operand_value rate = made.settings[0].value, l2 = made.settings[2].value, beta = made.settings[3].value;
  const auto strength = [rate, l2, beta] {
    graph& g = default_graph();
    output least;
    {
      const name_scope scope(g, "Maximum");
      const output x = rate.tensor() != nullptr ? g.named().value_of(*rate.tensor()) : g.named().make_constant(g, *rate.literal(), "x");
      const output y = g.named().make_constant(g, 1e-36f, "y");
      least = maximum(x, y, scope.text());
    }
    const output twice = multiply(2.0f, least, "mul");
    const output part = divide(beta, twice, "truediv");
    return add(l2, part, "add");
  };
  made.settings[2] = {"l2", 0.0f, strength};
  const tensor_literal* shrinkage = made.settings[4].value.literal();
  if (shrinkage != nullptr && shrinkage->number(0) == 0) {
    for (optimizer_update* u : {&made.dense, &made.sparse}) {
      u->type.erase(u->type.size() - 2);
      std::erase(u->arguments, "l2_shrinkage_regularization_strength");
    }
  }
}

LEAT_FUNCTION optimizer_description describe_rule(const rule_text& rule, std::span<const operand_value> settings) {
  optimizer_description made;
  made.name = rule.step_name;
  std::vector<bool> starts(rule.settings.size());
  for (const train::slot_rule& s : rule.slots) {
    if (s.start >= 0) starts[static_cast<std::size_t>(s.start)] = true;
    const auto start = [&]() -> variable_initializer {
      if (s.start == train::starts_with_ones) return as_variable_initializer(ones);
      if (s.start < 0) return as_variable_initializer(zeros);
      const tensor_literal* number = settings[static_cast<std::size_t>(s.start)].literal();
      if (number == nullptr) throw invalid_argument(made.name + ": what a slot starts with is a number");
      if (rule.name == train::ftrl_rule::name) return ones_times(static_cast<float>(number->number(0)));
      return constant_initializer(number->number(0));
    };
    made.slots.push_back({std::string(s.name), start()});
  }
  for (std::size_t k = 0; k < rule.settings.size(); ++k)
    if (!starts[k]) made.settings.push_back({std::string(rule.settings[k]), float_setting(settings[k])});
  for (const auto p : rule.powers) made.powers.emplace_back(p);
  std::vector<std::string> arguments(rule.arguments.begin(), rule.arguments.end());
  if (rule.expand != nullptr) {
    made.dense_update = [rule](const named_optimizer& o, const gradient_value& gradient, const output& variable) {
      return assigned_update(rule, o, gradient, variable);
    };
    return made;
  }
  made.dense = {"Apply" + std::string(rule.update), arguments, attributes_of(rule)};
  if (rule.of_rows) {
    arguments.insert(std::find(arguments.begin(), arguments.end(), "gradient") + 1, "indices");
    made.sparse = {"SparseApply" + std::string(rule.update), std::move(arguments), attributes_of(rule)};
  }
  const auto is = [&](std::string_view name) { return rule.name == name; };
  if (is(train::gradient_descent_rule::name)) {
    made.sparse_update = scattered_descent;
    made.adds_equal_rows = false;
  }
  if (is(train::adam_rule::name)) made.sparse_update = adam_from_rows;
  if (is(train::proximal_gradient_descent_rule::name) || is(train::proximal_adagrad_rule::name)) made.casts_settings = false;
  if (is(train::adagrad_da_rule::name))
    for (auto& s : made.settings) s.keeps_dtype = s.name == "global_step";
  if (is(train::ftrl_rule::name)) describe_ftrl(made);
  return made;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION named_optimizer gradient_descent(const output& rate) {
  return named_optimizer(detail::describe<train::gradient_descent_rule>({rate}));
}
LEAT_FUNCTION named_optimizer momentum(const output& rate, const operand_value& m) {
  return named_optimizer(detail::describe<train::momentum_rule<false>>({rate, m}));
}
LEAT_FUNCTION named_optimizer nesterov_momentum(const output& rate, const operand_value& m) {
  return named_optimizer(detail::describe<train::momentum_rule<true>>({rate, m}));
}
LEAT_FUNCTION named_optimizer adam(const output& rate, const operand_value& beta1, const operand_value& beta2,
                                   const operand_value& epsilon) {
  return named_optimizer(detail::describe<train::adam_rule>({rate, beta1, beta2, epsilon}));
}
LEAT_FUNCTION named_optimizer adam_w(const output& rate, const operand_value& weight_decay, const operand_value& beta1,
                                     const operand_value& beta2, const operand_value& epsilon) {
  return named_optimizer(detail::describe<train::decayed_adam_rule<update::adam_w>>({rate, weight_decay, beta1, beta2, epsilon}));
}
LEAT_FUNCTION named_optimizer lamb(const output& rate, const operand_value& weight_decay, const operand_value& beta1,
                                   const operand_value& beta2, const operand_value& epsilon) {
  return named_optimizer(detail::describe<train::decayed_adam_rule<update::lamb>>({rate, weight_decay, beta1, beta2, epsilon}));
}
LEAT_FUNCTION named_optimizer adagrad(const output& rate, double start) {
  return named_optimizer(detail::describe<train::adagrad_rule>({rate, detail::checked_start(start)}));
}
LEAT_FUNCTION named_optimizer rms_prop(const output& rate, const operand_value& decay, const operand_value& momentum,
                                       const operand_value& epsilon) {
  return named_optimizer(detail::describe<train::rms_prop_rule>({rate, decay, momentum, epsilon}));
}
LEAT_FUNCTION named_optimizer centered_rms_prop(const output& rate, const operand_value& decay, const operand_value& momentum,
                                                const operand_value& epsilon) {
  return named_optimizer(detail::describe<train::centered_rms_prop_rule>({rate, decay, momentum, epsilon}));
}
LEAT_FUNCTION named_optimizer adadelta(const output& rate, const operand_value& rho, const operand_value& epsilon) {
  return named_optimizer(detail::describe<train::adadelta_rule>({rate, rho, epsilon}));
}
LEAT_FUNCTION named_optimizer ftrl(const output& rate, const ftrl_options& options) {
  detail::check_ftrl(options);
  return named_optimizer(detail::describe<train::ftrl_rule>(
      {rate, options.l1, options.l2, options.beta, options.l2_shrinkage, options.learning_rate_power, options.start}));
}
LEAT_FUNCTION named_optimizer proximal_gradient_descent(const output& rate, const proximal_options& options) {
  return named_optimizer(detail::describe<train::proximal_gradient_descent_rule>({rate, options.l1, options.l2}));
}
LEAT_FUNCTION named_optimizer proximal_adagrad(const output& rate, const proximal_options& options) {
  detail::checked_start(static_cast<double>(options.start));
  return named_optimizer(detail::describe<train::proximal_adagrad_rule>({rate, options.l1, options.l2, options.start}));
}
LEAT_FUNCTION named_optimizer adagrad_da(const operand_value& rate, const output& step, const proximal_options& options) {
  if (!static_cast<bool>(step)) throw invalid_argument("adagrad_da: no counter of steps");
  detail::checked_start(static_cast<double>(options.start));
  optimizer_description made = detail::describe<train::adagrad_da_rule>({rate, options.l1, options.l2, step, options.start});
  for (auto& s : made.settings)
    if (s.name == "global_step")
      s.compute = [step] {
        const output now = identity(step, {});
        return cast(now + 1, dtype::int64);
      };
  return named_optimizer(std::move(made));
}

}  // namespace leat
