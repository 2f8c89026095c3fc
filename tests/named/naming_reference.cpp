#include <leat/named/variables/variable_scope.hpp>

#include "support/reference_json.hpp"

#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>

#include <map>
#include <string>
#include <variant>
#include <vector>

using namespace leat;
using leat_test::reference_json;
using nlohmann::json;

// The programs of naming.json: each instruction is run, and what it gives is compared with what TensorFlow gave.

namespace {

dtype dtype_named(const std::string& name) {
  if (name == "string") return static_cast<dtype>(data_type::string);
  for (auto d : {dtype::float32, dtype::float64, dtype::int32, dtype::uint8, dtype::int64, dtype::boolean})
    if (name_of_dtype(d) == name) return d;
  return dtype::invalid;
}

void collect(const json& value, std::vector<json>& flat, shape& extent, int depth) {
  if (!value.is_array()) {
    flat.push_back(value);
    return;
  }
  if (extent.rank == depth) extent.push(static_cast<std::int64_t>(value.size()));
  for (const auto& v : value) collect(v, flat, extent, depth + 1);
}

tensor_literal literal_of(const json& value) {
  std::vector<json> flat;
  shape extent;
  collect(value, flat, extent, 0);
  if (flat.empty() || flat[0].is_number_float()) {
    std::vector<float> list;
    for (const auto& v : flat) list.push_back(v.get<float>());
    return {extent, list};
  }
  if (flat[0].is_boolean()) {
    if (extent.rank == 0) return flat[0].get<bool>();
    return {dtype::boolean, extent, flat[0].get<bool>() ? 1.0 : 0.0};
  }
  if (flat[0].is_string()) return flat[0].get<std::string>();
  std::vector<std::int32_t> list;
  for (const auto& v : flat) list.push_back(v.get<std::int32_t>());
  return {extent, list};
}

shape shape_of(const json& list) {
  if (list.is_null()) return shape::unknown();
  shape s;
  for (const auto& d : list) s.push(d.is_null() ? unknown_dimension : d.get<std::int64_t>());
  return s;
}

json shape_json(const shape& s) {
  if (!s.has_rank()) return nullptr;
  json list = json::array();
  for (int i = 0; i < s.rank; ++i) list.push_back(s[i] < 0 ? json(nullptr) : json(s[i]));
  return list;
}

class program {
 public:
  explicit program(const json& source) : source_(source) {}

  // Differences between what happened and what was recorded; empty if there are none.
  std::vector<std::string> run() {
    const auto scope = g_.as_default();
    steps(source_["steps"]);
    compare("variables", names(global_variables()), source_["variables"]);
    compare("trainable", names(trainable_variables()), source_["trainable"]);
    if (source_.contains("regularization_losses"))
      compare("regularization_losses", names(get_tensors(g_, collection::regularization_losses)), source_["regularization_losses"]);
    json nodes = json::array();
    for (const auto& op : get_operations(g_)) nodes.push_back({op.name(), std::string(op.type())});
    compare("nodes", nodes, source_["nodes"]);
    return differences_;
  }

 private:
  static json names(const std::vector<output>& tensors) {
    json list = json::array();
    for (const auto& t : tensors) list.push_back(t.name());
    return list;
  }
  void compare(const std::string& what, const json& got, const json& expected) {
    if (got != expected) differences_.push_back(what + " is " + got.dump() + ", TensorFlow gives " + expected.dump());
  }
  operand_value value(const json& v) {
    if (v.is_string()) return tensors_.at(v);
    return operand_value(literal_of(v));
  }
  output tensor(const json& v) { return tensors_.at(v); }
  first_value initializer(const json& v) {
    if (v.is_null()) return {};
    if (v == "zeros") return zeros;
    return constant_initializer(v["constant"].get<double>());
  }
  static variable_regularizer regularizer(const json& v) {
    if (v.is_null()) return {};
    const float scale = v["l2"].get<float>();
    return [scale](const output& x) { return scale * l2_loss(x); };
  }
  static reuse_setting reuse(const json& v) {
    if (v.is_boolean()) return v.get<bool>();
    if (v.is_string()) return AUTO_REUSE;
    return nullptr;
  }

  void steps(const json& list) {
    for (const auto& step : list) {
      try {
        json result = instruction(step);
        if (step.contains("error")) {
          differences_.push_back(step.dump() + " was not refused");
          continue;
        }
        const json& expected = step["result"];
        for (auto field = result.begin(); result.is_object() && field != result.end(); ++field)
          if (expected.contains(field.key()))
            compare(step["do"].get<std::string>() + "." + field.key(), field.value(), expected[field.key()]);
        if (!result.is_object() && !result.is_null()) compare(step["do"], result, expected);
        if (expected.is_object() && expected.contains("same_as"))
          compare("same_as", tensors_[step["as"]].index(), tensors_[expected["same_as"]].index());
      } catch (const leat::error& e) {
        if (!step.contains("error")) {
          differences_.push_back(step["do"].get<std::string>() + ": " + e.what());
          continue;
        }
        check_words(e.what(), step["error"]["message"]);
      }
    }
  }
  // Key words of TensorFlow's message that ours must have: the names in it.
  void check_words(const std::string& ours, const std::string& theirs) {
    for (std::string_view words :
         {"already exists", "does not exist", "Trying to share variable", "is not a valid node name", "is not a valid root scope name",
          "If initializer is a constant, do not specify shape", "cannot be used without a name_or_scope", "If default_name is None",
          "did not get an initializer", "The initializer passed is not valid", "found shape (2,)",
          "specified dtype float64 and found dtype float32_ref"})
      if (theirs.find(words) != std::string::npos && ours.find(words) == std::string::npos)
        differences_.push_back("the message \"" + ours + "\" lacks \"" + std::string(words) + "\"");
  }

  json keep(const json& step, const output& o) {
    if (step.contains("as")) tensors_.insert_or_assign(step["as"].get<std::string>(), o);
    json j{{"tensor", o.name()}, {"op", std::string(o.operation().type())}, {"dtype", dtype_text(o)}, {"shape", shape_json(o.extent())}};
    return j;
  }
  json keep_variable(const json& step, const output& v) {
    if (step.contains("as")) tensors_.insert_or_assign(step["as"].get<std::string>(), v);
    std::string type = dtype_text(v);
    return {{"variable", v.name()},
            {"op", std::string(v.operation().type())},
            {"dtype", type.substr(0, type.find("_ref"))},
            {"shape", shape_json(v.extent())},
            {"read", value_of(v).name()}};
  }

  json instruction(const json& s) {
    const std::string what = s["do"];
    const bool named = s.contains("name") && s["name"].is_string();
    const std::string name = named ? s["name"].get<std::string>() : std::string{};
    // nodes are settled at the end of each step, as TensorFlow names each node at once
    if (what == "constant") return keep(s, named ? constant(literal_of(s["value"]), name) : constant(literal_of(s["value"])));
    if (what == "placeholder") return keep(s, placeholder(dtype_named(s["dtype"]), shape_of(s["shape"]), named ? name : "Placeholder"));
    if (what == "Variable")
      return keep_variable(s, variable(value(s["value"]), name, {.trainable = s.value("trainable", true)}));
    if (what == "get_variable") {
      variable_settings settings;
      settings.trainable = s.value("trainable", true);
      if (s.contains("dtype")) settings.type = dtype_named(s["dtype"]);
      if (s.contains("value")) settings.initializer = value(s["value"]);
      if (s.contains("initializer")) settings.initializer = initializer(s["initializer"]);
      if (s.contains("regularizer")) settings.regularizer = regularizer(s["regularizer"]);
      if (!s.contains("shape") || s["shape"].is_null()) return keep_variable(s, get_variable(name, settings));
      return keep_variable(s, get_variable(name, shape_of(s["shape"]), settings));
    }
    if (what == "add") return keep(s, add(value(s["a"]), value(s["b"]), name));
    if (what == "subtract") return keep(s, subtract(value(s["a"]), value(s["b"]), name));
    if (what == "multiply") return keep(s, multiply(value(s["a"]), value(s["b"]), name));
    if (what == "matmul") return keep(s, matmul(value(s["a"]), value(s["b"]), name));
    if (what.starts_with("op_")) return keep(s, by_operator(what, s["a"], s["b"]));
    if (what == "identity") return keep(s, identity(tensor(s["x"]), name));
    if (what == "square") return keep(s, square(tensor(s["x"]), name));
    if (what == "reduce_mean") return keep(s, reduce_mean(tensor(s["x"]), all_axes, keep_dims::no, name));
    if (what == "assign") return keep(s, assign(tensor(s["ref"]), value(s["value"]), name));
    if (what == "assign_add") return keep(s, assign_add(tensor(s["ref"]), value(s["value"]), name));
    if (what == "unique_name") return unique_name(name);
    if (what == "group") {
      std::vector<control_input> on;
      for (const auto& h : s["on"]) on.push_back(tensors_.at(h));
      const auto op = named ? group(on, name) : group(on);
      return {{"operation", op.name()}, {"op", std::string(op.type())}};
    }
    if (what == "name_scope") {
      const std::string text = s["name"].is_object() ? texts_.at(s["name"]["handle"]) : name;
      const name_scope scope(text);
      if (s.contains("as")) texts_.insert_or_assign(s["as"].get<std::string>(), scope.text());
      steps(s["body"]);
      return {{"scope", scope.text()}};
    }
    if (what == "control_dependencies") {
      std::vector<control_input> on;
      for (const auto& h : s["on"]) on.push_back(tensors_.at(h));
      const control_dependencies scope(on);
      steps(s["body"]);
      return nullptr;
    }
    if (what == "variable_scope") {
      variable_scope_options options;
      if (s.contains("reuse")) options.reuse = reuse(s["reuse"]);
      if (s.contains("initializer")) options.initializer = initializer(s["initializer"]);
      if (s.contains("regularizer")) options.regularizer = regularizer(s["regularizer"]);
      if (s.contains("dtype")) options.type = dtype_named(s["dtype"]);
      if (s.contains("default_name")) options.default_name = s["default_name"];
      if (s.contains("auxiliary_name_scope")) options.auxiliary_name_scope = s["auxiliary_name_scope"];
      if (s["name"].is_object()) return inside(s, variable_scope(objects_.at(s["name"]["handle"]), options));
      if (named) return inside(s, variable_scope(name, options));
      return inside(s, variable_scope(nullptr, options));
    }
    if (what == "reuse_variables") {
      get_variable_scope().reuse_variables();
      return nullptr;
    }
    if (what == "get_variable_scope") {
      const auto object = get_variable_scope();
      if (s.contains("as")) {
        objects_.insert_or_assign(s["as"].get<std::string>(), object);
        texts_.insert_or_assign(s["as"].get<std::string>(), object.original_name_scope());
      }
      return scope_result(object);
    }
    throw unimplemented("the instruction " + what);
  }
  json inside(const json& s, const variable_scope& scope) {
    if (s.contains("as")) {
      objects_.insert_or_assign(s["as"].get<std::string>(), scope.object());
      texts_.insert_or_assign(s["as"].get<std::string>(), scope.original_name_scope());
    }
    const json before = scope_result(scope.object());
    const std::string current = get_name_scope();
    steps(s["body"]);
    json result = before;
    result["current_name_scope"] = current;
    return result;
  }
  static json scope_result(const variable_scope_object& o) {
    return {{"scope", o.name()},
            {"original_name_scope", o.original_name_scope()},
            {"reuse", o.reuse() == reuse_mode::yes ? json(true) : o.reuse() == reuse_mode::automatic ? json("AUTO_REUSE") : json(false)}};
  }
  output by_operator(const std::string& what, const json& a, const json& b) {
    const auto apply = [&](const auto& x, const auto& y) -> output {
      if (what == "op_add") return x + y;
      if (what == "op_sub") return x - y;
      if (what == "op_mul") return x * y;
      return x / y;
    };
    if (a.is_number()) return apply(a.get<float>(), tensor(b));
    if (b.is_number()) return apply(tensor(a), b.get<float>());
    return apply(tensor(a), tensor(b));
  }

  const json& source_;
  graph g_;
  std::map<std::string, output> tensors_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, variable_scope_object> objects_;
  std::vector<std::string> differences_;
};

}  // namespace

TEST_CASE("programs of names and scopes give the nodes that TensorFlow gives") {
  const auto reference = reference_json("naming.json");
  if (!reference) return;
  int right = 0;
  for (const auto& source : (*reference)["programs"]) {
    INFO(source["id"].get<std::string>());
    const auto differences = program(source).run();
    for (const auto& d : differences) FAIL_CHECK(d);
    right += differences.empty() ? 1 : 0;
  }
  MESSAGE(right << " of " << (*reference)["programs"].size() << " programs");
}

TEST_CASE("names of nodes and scopes are accepted or refused as by TensorFlow") {
  const auto reference = reference_json("naming.json");
  if (!reference) return;
  for (const auto& row : (*reference)["valid_names"]) {
    const std::string name = row["name"];
    INFO(name);
    const auto node = [&]() -> json {
      graph g;
      const auto scope = g.as_default();
      try {
        return constant(1.0f, name).name();
      } catch (const invalid_argument&) {
        return nullptr;
      }
    };
    const auto scope_in = [&](std::string_view outer) -> json {
      graph g;
      const auto scope = g.as_default();
      try {
        const name_scope around(outer);
        return name_scope(name).text();
      } catch (const invalid_argument&) {
        return nullptr;
      }
    };
    CHECK(node() == row["node"]);
    CHECK(scope_in("") == row["scope"]);
    CHECK(scope_in("outer") == row["nested_scope"]);
  }
}
