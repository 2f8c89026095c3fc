#pragma once
// Implementation of operator_definition.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/older_spellings.hpp>
#include <leat/named/graph/operator_definition.hpp>

#include <algorithm>
#include <memory>

namespace leat::detail {

// Parses the line of a definition.
class definition_parser {
 public:
  explicit definition_parser(std::string_view text) : text_(text) {}

  operator_definition parse() {
    operator_definition d;
    d.type = word();
    d.inputs = arguments();
    expect("->");
    d.results = arguments();
    while (take(";")) d.attributes.push_back(declared());
    skip();
    if (at_ != text_.size()) fail("expected the end");
    for (const auto& a : d.inputs) add_implied(d, a);
    for (const auto& a : d.results) add_implied(d, a);
    return d;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw invalid_argument("definition of an operator, \"" + std::string(text_) + "\": " + what + " at character " +
                           std::to_string(at_ + 1));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail("expected '" + std::string(token) + "'");
  }
  static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '>'; }
  std::string word() {
    skip();
    const auto begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == begin) fail("expected a name");
    return std::string(text_.substr(begin, at_ - begin));
  }
  static std::optional<data_type> type_by_name(std::string_view name) {
    for (const dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean})
      if (name_of_dtype(d) == name) return to_data_type(d);
    if (name == "string") return data_type::string;
    if (name == "resource") return data_type::resource;
    if (name == "variant") return data_type::variant;
    for (const data_type d : {data_type::half, data_type::bfloat16, data_type::int8, data_type::int16, data_type::uint16, data_type::uint32,
                              data_type::uint64, data_type::complex64, data_type::complex128, data_type::qint8,
                              data_type::quint8, data_type::qint16, data_type::quint16, data_type::qint32})
      if (lower_name_of_data_type(d) == name) return d;
    return std::nullopt;
  }

  std::vector<argument_definition> arguments() {
    std::vector<argument_definition> list;
    expect("(");
    if (take(")")) return list;
    do {
      argument_definition a;
      a.name = word();
      expect(":");
      a.reference = take("&");
      std::string what = word();
      if (what == "list") {
        expect("(");
        a.list_attribute = word();
        expect(")");
      } else {
        if (take("*")) {
          a.count_attribute = what;
          what = word();
        }
        if (const auto fixed = type_by_name(what)) a.type = *fixed;
        else a.type_attribute = what;
      }
      list.push_back(std::move(a));
    } while (take(","));
    expect(")");
    return list;
  }

  attribute_definition declared() {
    attribute_definition a;
    a.name = word();
    expect(":");
    if (take("{")) {
      do {
        const std::string name = word();
        const auto type = type_by_name(name);
        if (!type) fail("'" + name + "' is no dtype");
        a.allowed.push_back(*type);
      } while (take(","));
      expect("}");
    } else {
      std::string kind = word();
      if (kind == "list") {
        a.is_list = true;
        expect("(");
        kind = word();
        expect(")");
      }
      a.kind = kind_of(kind);
    }
    if (take(">=")) a.least = std::stoll(number());
    if (take("=")) a.fallback = value(a);
    return a;
  }
  attribute_kind kind_of(std::string_view name) const {
    if (name == "type") return attribute_kind::type;
    if (name == "int") return attribute_kind::integer;
    if (name == "float") return attribute_kind::real;
    if (name == "bool") return attribute_kind::flag;
    if (name == "string") return attribute_kind::text;
    if (name == "shape") return attribute_kind::shape;
    if (name == "tensor") return attribute_kind::tensor;
    if (name == "func") return attribute_kind::function;
    fail("'" + std::string(name) + "' is no kind of attribute");
  }
  std::string number() {
    skip();
    const auto begin = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '-' || text_[at_] == '+' || text_[at_] == '.')) ++at_;
    if (at_ == begin) fail("expected a number");
    return std::string(text_.substr(begin, at_ - begin));
  }
  attribute_value value(const attribute_definition& a) {
    if (take("[]")) return a.is_list ? attribute_value(attribute_list{}) : attribute_value(tensor_shape_proto{});
    if (a.is_list && a.kind == attribute_kind::real) {
      std::vector<float> list;
      expect("[");
      do list.push_back(std::stof(number()));
      while (take(","));
      expect("]");
      return list;
    }
    if (a.is_list) fail("the default of a list is [], or numbers");
    switch (a.kind) {
      case attribute_kind::type: {
        const std::string name = word();
        const auto type = type_by_name(name);
        if (!type) fail("'" + name + "' is no dtype");
        return *type;
      }
      case attribute_kind::integer: return std::stoll(number());
      case attribute_kind::real: return std::stof(number());
      case attribute_kind::flag: return word() == "true";
      case attribute_kind::text: {
        expect("\"");
        const auto end = text_.find('"', at_);
        if (end == text_.npos) fail("a text without its end");
        std::string text(text_.substr(at_, end - at_));
        at_ = end + 1;
        return text;
      }
      case attribute_kind::shape: {
        expect("?");
        tensor_shape_proto open;
        open.unknown_rank = true;
        return open;
      }
      default: fail("no default of this kind");
    }
  }

  static void add_implied(operator_definition& d, const argument_definition& a) {
    const auto add = [&](const std::string& name, attribute_kind kind, bool is_list, std::int64_t least) {
      if (!name.empty() && d.find_attribute(name) == nullptr)
        d.attributes.push_back({.name = name, .kind = kind, .is_list = is_list, .least = least});
    };
    add(a.type_attribute, attribute_kind::type, false, INT64_MIN);
    add(a.list_attribute, attribute_kind::type, true, 0);
    add(a.count_attribute, attribute_kind::integer, false, 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Adds the facts that follow from the references in a line. A handle is not a variable, and a reference to strings is the queue handle of
// an older graph.
inline facts facts_with_references(const operator_definition& d, facts what) {
  if (what.is == nature::effect && what.state == state_role::none && !what.forwards)
    for (std::size_t k = 0; k < d.inputs.size(); ++k) {
      const argument_definition& in = d.inputs[k];
      if (!in.reference || in.is_list() || in.type == data_type::string) continue;
      if (k >= input_set::most) throw invalid_argument("definition of " + d.type + ": a reference behind input " + std::to_string(k));
      what.written.insert(static_cast<int>(k));
    }
  what.forwards_reference = what.written.empty() && !d.inputs.empty() && !d.results.empty() && d.results[0].reference;
  return what;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION const operator_definition& define_operator(std::string_view line, const facts& what, shape_rule shapes) {
  auto made = std::make_shared<operator_definition>(detail::definition_parser(line).parse());
  made->shapes = std::move(shapes);
  made->info.what = detail::facts_with_references(*made, what);
  made->info.type = made->type;
  made->info.call_name = made->type;
  made->info.kind = op_kind::kernel;
  made->info.code = code_of_type(made->type) | 0x40000000;
  return *detail::definitions().enter(made->type, &detail::operator_entry::definition, made);
}

namespace detail {
// TensorFlow's older spellings of operators that are defined by a line.
LEAT_FILL(fill_older_definitions) {
  for (const older_spelling& s : older_spellings) {
    const auto current = definitions().find(s.current, &operator_entry::definition);
    if (current == nullptr) continue;
    auto made = std::make_shared<operator_definition>(*current);
    made->type = s.older;
    std::erase_if(made->attributes, [&](const attribute_definition& a) { return a.name == s.lacks; });
    made->info.type = made->info.call_name = made->type;
    made->info.code = code_of_type(made->type) | 0x40000000;
    definitions().enter(made->type, &operator_entry::definition, made);
  }
}
}  // namespace detail

LEAT_FUNCTION const operator_definition* find_definition(std::string_view type) {
  return detail::definitions().find(type, &detail::operator_entry::definition).get();  // as long as the table, as the first one stays
}

LEAT_FUNCTION bool is_reference_result(const op_info& op, int port) {
  if (op.kind == op_kind::variable || op.kind == op_kind::assign) return true;
  const operator_definition* d = op.infer == nullptr ? find_definition(op.type) : nullptr;
  const auto at = static_cast<std::size_t>(port);
  return d != nullptr && at < d->results.size() && d->results[at].reference && !d->results[at].is_list();
}

LEAT_FUNCTION std::vector<int> reference_inputs(const op_info& op, int inputs) {
  if (op.kind == op_kind::assign) return {0};
  std::vector<int> list;
  const operator_definition* d = op.infer == nullptr ? find_definition(op.type) : nullptr;
  if (d == nullptr) return list;
  for (std::size_t k = 0; k < d->inputs.size() && static_cast<int>(k) < inputs; ++k)
    if (!d->inputs[k].is_list() && (d->inputs[k].reference || d->inputs[k].type == data_type::resource))
      list.push_back(static_cast<int>(k));
  return list;
}

LEAT_FUNCTION std::vector<std::string_view> defined_operator_types() {
  auto types = detail::definitions().keys(&detail::operator_entry::definition);
  std::sort(types.begin(), types.end());
  return types;
}

LEAT_FUNCTION const attribute_definition* operator_definition::find_attribute(std::string_view name) const {
  for (const auto& a : attributes)
    if (a.name == name) return &a;
  return nullptr;
}

LEAT_FUNCTION void shape_context::set(int result, const shape& extent) {
  check(extent);
  if (result < result_count()) results_[static_cast<std::size_t>(result)].extent = extent;
}

}  // namespace leat
