#pragma once
// What `inline_functions` asks of single nodes: their attributes, the parts of their inputs' names, and where a named result is among all.

#include <leat/graph/known_operators.hpp>
#include <leat/io/function_messages.hpp>
#include <leat/named/graph/operator_definition.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace leat::io::detail {

struct function_parts {
  // Why a call remains; the reason is not told, because whoever runs it is told that it cannot run.
  struct not_inlined {};
  using attributes_of_call = const attribute_map*;

  static attribute_value filled(const attribute_value& value, attributes_of_call given) {
    if (const auto* open = value.get_if<attribute_placeholder>()) {
      const auto* known = given != nullptr ? given->find(open->name) : nullptr;
      if (known == nullptr) throw not_inlined{};
      return *known;
    }
    if (const auto* f = value.get_if<function_value>()) {
      function_value made{.name = f->name, .attributes = filled(f->attributes, given)};
      return attribute_value(std::move(made));
    }
    return value;
  }
  static attribute_map filled(const attribute_map& map, attributes_of_call given) {
    attribute_map made = map;
    for (const auto& [name, value] : map)
      if (value.get_if<attribute_placeholder>() != nullptr || value.get_if<function_value>() != nullptr) made[name] = filled(value, given);
    return made;
  }
  static const function_value& function_in(const node_def& n, std::string_view attribute) {
    const auto* value = n.attributes.find(attribute);
    const auto* f = value != nullptr ? value->get_if<function_value>() : nullptr;
    if (f == nullptr) throw not_inlined{};
    return *f;
  }
  static std::vector<data_type> types_in(const node_def& n, std::string_view attribute) {
    const auto* value = n.attributes.find(attribute);
    const auto* list = value != nullptr ? value->get_list<data_type>() : nullptr;
    return list != nullptr ? *list : std::vector<data_type>{};
  }
  static data_type type_in(const attribute_map& attributes, std::string_view name) {
    const auto* value = attributes.find(name);
    const auto* type = value != nullptr ? value->get_if<data_type>() : nullptr;
    if (type == nullptr) throw not_inlined{};
    return *type;
  }
  // How many tensors an argument of a signature is.
  static std::size_t count_of(const operator_argument& a, const attribute_map& attributes) {
    if (!a.number_attr.empty()) {
      const auto* value = attributes.find(a.number_attr);
      const auto* n = value != nullptr ? value->get_if<std::int64_t>() : nullptr;
      if (n == nullptr || *n < 0 || *n > 65535) throw not_inlined{};
      return static_cast<std::size_t>(*n);
    }
    if (a.type_list_attr.empty()) return 1;
    const auto* value = attributes.find(a.type_list_attr);
    const auto* list = value != nullptr ? value->get_list<data_type>() : nullptr;
    return list != nullptr ? list->size() : 0;
  }

  // The place among the results of a node's operator: of its result `out`, the element `index`.
  static int port_of(const node_def& n, const std::string& out, int index) {
    if (const op_info* op = find_operator(n.op)) {
      int port = 0;
      for (const field& f : op->form)
        if (f.kind == field_kind::result && (++port, f.name == out)) return port;
      return index;
    }
    const operator_definition* d = find_definition(n.op);
    if (d == nullptr) return index;
    int first = 0;
    for (const argument_definition& a : d->results) {
      if (a.name == out) return first + index;
      int count = 1;
      if (!a.count_attribute.empty()) {
        const auto* value = n.attributes.find(a.count_attribute);
        const auto* held = value != nullptr ? value->get_if<std::int64_t>() : nullptr;
        count = held != nullptr && *held >= 0 && *held < 65536 ? static_cast<int>(*held) : 0;
      } else if (!a.list_attribute.empty()) {
        count = static_cast<int>(types_in(n, a.list_attribute).size());
      }
      first += count;
    }
    return index;
  }
  struct reference {
    std::string node, out;
    int index = 0;
    bool has_index = false, control = false, is_valid = true;
  };
  static reference parse(const std::string& text, bool is_graph) {
    reference r;
    std::string_view rest = text;
    if (rest.starts_with('^')) {
      r.control = true;
      r.node = rest.substr(1);
      return r;
    }
    const auto cut = [&] {
      const auto at = rest.find(':');
      const std::string_view first = rest.substr(0, at);
      rest = at == rest.npos ? std::string_view{} : rest.substr(at + 1);
      return std::string(first);
    };
    r.node = cut();
    if (!is_graph && rest.find(':') != rest.npos) r.out = cut();
    else if (!is_graph && !rest.empty() && rest.find_first_not_of("0123456789") != rest.npos) r.out = cut();
    if (!rest.empty()) {
      r.is_valid = rest.size() <= 5 && rest.find_first_not_of("0123456789") == rest.npos;
      r.has_index = r.is_valid;
      if (r.is_valid) r.index = std::stoi(std::string(rest));
    }
    return r;
  }
  static bool has_effects(const std::string& op) {
    if (const op_info* known = find_operator(op)) return !known->what.is_pure() && known->what.is != nature::control;
    if (const operator_definition* d = find_definition(op)) return !d->info.what.is_pure() && d->info.what.is != nature::control;
    return true;
  }
  static bool only_reads(const std::string& op) {
    const operator_definition* d = find_definition(op);
    const op_info* known = find_operator(op);
    const facts* what = known != nullptr ? &known->what : d != nullptr ? &d->info.what : nullptr;
    return what != nullptr && (what->is == nature::inert || what->is == nature::observes || what->is == nature::random);
  }
};

}  // namespace leat::io::detail
