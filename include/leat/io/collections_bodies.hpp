#pragma once
// Implementation of collections.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/collections.hpp>

namespace leat::io::detail {

LEAT_FUNCTION std::string write_variable_def(const variable_def& v) {
  std::string bytes;
  const auto put = [&](char field, const std::string& text) {
    if (text.empty()) return;
    bytes += static_cast<char>(field << 3 | 2);
    for (std::size_t n = text.size();; n >>= 7) {
      bytes += static_cast<char>(n < 128 ? n : (n & 127) | 128);
      if (n < 128) break;
    }
    bytes += text;
  };
  put(1, v.variable_name);
  put(2, v.initializer_name);
  put(3, v.snapshot_name);
  put(6, v.initial_value_name);
  if (v.trainable) bytes += "\x38\x01";
  return bytes;
}

LEAT_FUNCTION std::optional<variable_def> read_variable_def(std::string_view bytes) {
  variable_def v{.trainable = false};
  const auto number = [&]() -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    return std::nullopt;
  };
  while (!bytes.empty()) {
    const auto key = number();
    if (!key) return std::nullopt;
    if ((*key & 7) == 0) {
      const auto value = number();
      if (!value) return std::nullopt;
      if (*key >> 3 == 7) v.trainable = *value != 0;
    } else if ((*key & 7) == 2) {
      const auto length = number();
      if (!length || *length > bytes.size()) return std::nullopt;
      const auto text = bytes.substr(0, static_cast<std::size_t>(*length));
      bytes.remove_prefix(text.size());
      if (*key >> 3 == 1) v.variable_name = text;
      if (*key >> 3 == 2) v.initializer_name = text;
      if (*key >> 3 == 3) v.snapshot_name = text;
      if (*key >> 3 == 6) v.initial_value_name = text;
    } else {
      return std::nullopt;
    }
  }
  return v;
}

LEAT_FUNCTION std::optional<variable_def> variable_def_of(graph& g, const collection_item& item, bool trainable) {
  const auto* v = std::get_if<output>(&item);
  if (v == nullptr || g.at(v->index()).op->kind != op_kind::variable) return std::nullopt;
  const named_part& nodes = g.named();
  const node_record& r = nodes.record(v->index());
  if (r.read < 0 || r.initializer < 0) return std::nullopt;
  variable_def made{v->name(), nodes.record(r.initializer).name, nodes.record(r.read).name + ":0", {}, trainable};
  if (const auto first = nodes.first_values.find(v->index()); first != nodes.first_values.end())
    made.initial_value_name = first->second.name();
  return made;
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION std::map<std::string, collection_def> export_collections(graph& g) {
  g.named().settle_names(g);
  std::vector<char> trainable(static_cast<std::size_t>(g.size()), 0);
  for (const output& v : get_tensors(g, collection::trainable_variables)) trainable[static_cast<std::size_t>(v.index())] = 1;
  std::map<std::string, collection_def> all;
  for (const std::string& name : get_all_collection_keys(g)) {
    const auto items = get_collection(g, name);
    std::optional<collection_def> def;
    if (detail::is_of_variables(name)) {
      collection_def::bytes_list list;
      for (const auto& item : items) {
        const auto* v = std::get_if<output>(&item);
        const auto one = detail::variable_def_of(g, item, v != nullptr && trainable[static_cast<std::size_t>(v->index())] != 0);
        if (one) list.value.push_back(detail::write_variable_def(*one));
      }
      if (list.value.size() == items.size()) def = collection_def{list};
    }
    if (!def) {
      collection_def::node_list nodes;
      for (const auto& item : items) {
        if (const auto* tensor = std::get_if<output>(&item)) nodes.value.push_back(tensor->name());
        if (const auto* operation = std::get_if<graph_operation>(&item)) nodes.value.push_back(operation->name());
      }
      if (nodes.value.size() == items.size()) def = collection_def{nodes};
    }
    const auto as_it_is = [](const auto& value) { return value; };
    if (!def) def = detail::list_of<collection_def::bytes_list, std::string>(items, as_it_is);
    if (!def) def = detail::list_of<collection_def::int64_list, std::int64_t>(items, as_it_is);
    if (!def) def = detail::list_of<collection_def::float_list, double>(items, [](double value) { return static_cast<float>(value); });
    if (def) all.emplace(name, *std::move(def));
  }
  return all;
}

LEAT_FUNCTION void import_collections(graph& g, const std::map<std::string, collection_def>& all) {
  for (const auto& [name, def] : all) try {
      const bool variables = detail::is_of_variables(name);
      const auto add = [&](collection_item item) { add_to_collection(g, name, std::move(item)); };
      if (const auto* nodes = std::get_if<collection_def::node_list>(&def.kind)) {
        for (const auto& text : nodes->value) std::visit([&](const auto& element) { add(element); }, as_graph_element(g, text));
      } else if (const auto* bytes = std::get_if<collection_def::bytes_list>(&def.kind)) {
        for (const auto& text : bytes->value) {
          const auto v = variables ? detail::read_variable_def(text) : std::nullopt;
          if (!variables) {
            add(text);
            continue;
          }
          if (!v || v->variable_name.empty()) throw invalid_argument("an entry is no VariableDef");
          const output variable = get_tensor_by_name(g, v->variable_name);
          add(variable);
          node_record& r = g.named().record(variable.index());
          if (!v->initializer_name.empty()) r.initializer = get_operation_by_name(g, v->initializer_name).index();
          if (!v->snapshot_name.empty()) r.read = get_tensor_by_name(g, v->snapshot_name).index();
          if (!v->initial_value_name.empty())
            g.named().first_values.emplace(variable.index(), get_tensor_by_name(g, v->initial_value_name));
        }
      } else if (const auto* whole = std::get_if<collection_def::int64_list>(&def.kind)) {
        for (const std::int64_t value : whole->value) add(value);
      } else if (const auto* real = std::get_if<collection_def::float_list>(&def.kind)) {
        for (const float value : real->value) add(static_cast<double>(value));
      }
    } catch (const not_found& e) {
      throw not_found("collection '" + name + "': " + e.what());
    } catch (const invalid_argument& e) {
      throw invalid_argument("collection '" + name + "': " + e.what());
    }
}

}  // namespace leat::io
