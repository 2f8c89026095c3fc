#pragma once
// Implementation of collections.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/collections.hpp>

namespace leat::io::detail {

LEAT_FUNCTION void put_varint(std::string& bytes, std::uint64_t n) {
  for (;; n >>= 7) {
    bytes += static_cast<char>(n < 128 ? n : (n & 127) | 128);
    if (n < 128) return;
  }
}
LEAT_FUNCTION void put_field(std::string& bytes, char field, const std::string& text) {
  if (text.empty()) return;
  bytes += static_cast<char>(field << 3 | 2);
  put_varint(bytes, text.size());
  bytes += text;
}
LEAT_FUNCTION void put_numbers(std::string& bytes, char field, std::span<const std::int64_t> numbers) {
  std::string packed;
  for (const std::int64_t n : numbers) put_varint(packed, static_cast<std::uint64_t>(n));
  put_field(bytes, field, packed);
}

// Removes the first varint from the bytes and returns it; nothing if the bytes end within it.
LEAT_FUNCTION std::optional<std::uint64_t> take_number(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  return std::nullopt;
}
// Calls `on_number(field, value)` and `on_text(field, text)` for each field, until one returns false. Returns false then, and if the bytes
// are not a message of such fields.
template <class OnNumber, class OnText>
bool walk_fields(std::string_view bytes, OnNumber on_number, OnText on_text) {
  while (!bytes.empty()) {
    const auto key = take_number(bytes);
    if (!key) return false;
    const auto value = take_number(bytes);
    if (!value) return false;
    if ((*key & 7) == 0) {
      if (!on_number(*key >> 3, *value)) return false;
    } else if ((*key & 7) == 2) {
      if (*value > bytes.size()) return false;
      const auto text = bytes.substr(0, static_cast<std::size_t>(*value));
      bytes.remove_prefix(text.size());
      if (!on_text(*key >> 3, text)) return false;
    } else {
      return false;
    }
  }
  return true;
}

// Field numbers of SaveSliceInfoDef: full_name 1, full_shape 2, var_offset 3, var_shape 4.
LEAT_FUNCTION std::string write_slice_info(const save_slice_info& its) {
  std::string bytes;
  put_field(bytes, 1, its.full_name);
  put_numbers(bytes, 2, {its.full_shape.dim, static_cast<std::size_t>(its.full_shape.rank)});
  put_numbers(bytes, 3, its.var_offset);
  put_numbers(bytes, 4, {its.var_shape.dim, static_cast<std::size_t>(its.var_shape.rank)});
  return bytes;
}
LEAT_FUNCTION std::optional<save_slice_info> read_slice_info(std::string_view bytes) {
  save_slice_info its;
  std::vector<std::int64_t> lists[3];
  const auto put = [&](std::uint64_t field, std::uint64_t value) {
    if (field < 2 || field > 4) return true;
    auto& list = lists[field - 2];
    if (list.size() == static_cast<std::size_t>(max_rank) || value > static_cast<std::uint64_t>(max_elements)) return false;
    list.push_back(static_cast<std::int64_t>(value));
    return true;
  };
  const bool read = walk_fields(bytes, put, [&](std::uint64_t field, std::string_view text) {
    if (field == 1) its.full_name = text;
    if (field < 2 || field > 4) return true;
    while (!text.empty()) {
      const auto value = take_number(text);
      if (!value || !put(field, *value)) return false;
    }
    return true;
  });
  if (!read || its.full_name.empty() || lists[0].empty() || lists[0].size() != lists[1].size() || lists[0].size() != lists[2].size())
    return std::nullopt;
  for (std::size_t i = 0; i < lists[0].size(); ++i) {
    if (lists[1][i] + lists[2][i] > lists[0][i]) return std::nullopt;
    its.full_shape.push(lists[0][i]), its.var_shape.push(lists[2][i]);
  }
  its.var_offset = std::move(lists[1]);
  return its;
}

LEAT_FUNCTION std::string write_variable_def(const variable_def& v) {
  std::string bytes;
  put_field(bytes, 1, v.variable_name);
  put_field(bytes, 2, v.initializer_name);
  put_field(bytes, 3, v.snapshot_name);
  if (v.slice) put_field(bytes, 4, write_slice_info(*v.slice));
  if (v.is_resource) bytes += "\x28\x01";
  put_field(bytes, 6, v.initial_value_name);
  if (v.trainable) bytes += "\x38\x01";
  return bytes;
}

LEAT_FUNCTION std::optional<variable_def> read_variable_def(std::string_view bytes) {
  variable_def v{.trainable = false};
  const bool read = walk_fields(
      bytes,
      [&](std::uint64_t field, std::uint64_t value) {
        if (field == 5) v.is_resource = value != 0;
        if (field == 7) v.trainable = value != 0;
        return true;
      },
      [&](std::uint64_t field, std::string_view text) {
        if (field == 1) v.variable_name = text;
        if (field == 2) v.initializer_name = text;
        if (field == 3) v.snapshot_name = text;
        if (field == 6) v.initial_value_name = text;
        if (field != 4) return true;
        v.slice = read_slice_info(text);
        return v.slice.has_value();
      });
  if (!read) return std::nullopt;
  return v;
}

LEAT_FUNCTION std::optional<variable_def> variable_def_of(graph& g, const collection_item& item, bool trainable) {
  const auto* v = std::get_if<output>(&item);
  if (v == nullptr || g.at(v->index()).op->kind != op_kind::variable) return std::nullopt;
  const named_part& nodes = g.named();
  const node_record& r = nodes.record(v->index());
  if (r.read < 0 || r.initializer < 0) return std::nullopt;
  variable_def made{v->name(), nodes.record(r.initializer).name, nodes.record(r.read).name + ":0", {}, trainable};
  made.is_resource = is_operator<handle_variable_op>(*g.at(v->index()).op);
  if (const auto first = nodes.first_values.find(v->index()); first != nodes.first_values.end())
    made.initial_value_name = first->second.name();
  if (const auto slice = nodes.partitioned.slices.find(v->index()); slice != nodes.partitioned.slices.end()) made.slice = slice->second;
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
          if (v->slice) {
            if (v->slice->var_shape != variable.extent())
              throw invalid_argument("the slice information of " + v->variable_name + " is of another shape than the variable");
            g.named().partitioned.slices.insert_or_assign(variable.index(), *v->slice);
          }
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
