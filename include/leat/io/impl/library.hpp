#pragma once
// Implementation of library.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/binary/read.hpp>
#include <leat/io/function_messages.hpp>
#include <leat/io/impl/function_parts.hpp>
#include <leat/io/library.hpp>
#include <leat/io/place.hpp>

#include <protozero/pbf_writer.hpp>

#include <map>
#include <set>

namespace leat::io::detail {

/// The functions of a library by name, each with its bytes.
class library_index {
 public:
  struct entry {
    std::string_view bytes;
    function_def def;
  };
  explicit library_index(std::string_view library) {
    try {
      protozero::pbf_reader in(library.data(), library.size());
      const place whole{nullptr, "library"};
      while (in.next(function_field, protozero::pbf_wire_type::length_delimited)) {
        const auto view = in.get_view();
        entry e{{view.data(), view.size()}, {}};
        read_message(protozero::pbf_reader(view), e.def, place{&whole, "function"}, 2);
        if (!e.def.signature) continue;
        const std::string name = e.def.signature->name;
        if (by_name_.try_emplace(name, std::move(e)).second) order_.push_back(name);
      }
    } catch (const protozero::exception& e) {
      throw data_loss("the library of functions is damaged: " + std::string(e.what()));
    }
  }
  const entry* find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : &at->second;
  }
  const std::vector<std::string>& names() const { return order_; }
  /// The functions that nodes name.
  std::set<std::string> named_by(std::span<const node_def> nodes) const {
    std::set<std::string> names;
    for (const node_def& n : nodes) {
      add(n.op, names);
      add(n.attributes, names, 0);
    }
    return names;
  }
  static void append(std::string& to, std::string_view bytes) {
    protozero::pbf_writer(to).add_message(function_field, bytes.data(), bytes.size());
  }

 private:
  static constexpr protozero::pbf_tag_type function_field = 1;
  void add(const std::string& name, std::set<std::string>& names) const {
    if (by_name_.contains(name)) names.insert(name);
  }
  void add(const attribute_map& attributes, std::set<std::string>& names, int depth) const {
    constexpr int most_depth = 64;
    if (depth > most_depth) return;
    const auto add_value = [&](const function_value& f) {
      add(f.name, names);
      add(f.attributes, names, depth + 1);
    };
    for (const auto& [key, value] : attributes) {
      if (const auto* f = value.get_if<function_value>()) add_value(*f);
      else if (const auto* list = value.get_list<function_value>())
        for (const function_value& one : *list) add_value(one);
    }
  }

  std::map<std::string, entry> by_name_;
  std::vector<std::string> order_;
};

// Refuses functions that need themselves, which would run, or make functions that run, without end.
class nesting_check {
 public:
  explicit nesting_check(const library_index& library) : library_(library) {}
  /// How many functions are nested in each other from this one on.
  int depth_of(const std::string& name) {
    if (const auto known = depths_.find(name); known != depths_.end()) {
      if (known->second == open) throw invalid_argument("the function '" + name + "' needs itself");
      return known->second;
    }
    if (++on_the_way_ > most_nested_functions) refuse();
    depths_[name] = open;
    int depth = 0;
    for (const std::string& inner : library_.named_by(library_.find(name)->def.nodes)) depth = std::max(depth, depth_of(inner));
    --on_the_way_;
    if (++depth > most_nested_functions) refuse();
    return depths_[name] = depth;
  }

 private:
  static constexpr int open = -1;
  [[noreturn]] static void refuse() {
    throw resource_exhausted("more than " + std::to_string(most_nested_functions) + " functions within each other");
  }
  const library_index& library_;
  std::map<std::string, int> depths_;
  int on_the_way_ = 0;
};

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION std::string needed_functions(std::string_view library, std::span<const node_def> nodes) {
  if (library.empty()) return {};
  const detail::library_index index(library);
  std::set<std::string> needed;
  std::vector<std::string> open;
  const auto add = [&](std::span<const node_def> of) {
    for (const std::string& name : index.named_by(of))
      if (needed.insert(name).second) open.push_back(name);
  };
  add(nodes);
  while (!open.empty()) {
    const auto* one = index.find(open.back());
    open.pop_back();
    add(one->def.nodes);
  }
  std::string part;
  for (const std::string& name : index.names())
    if (needed.contains(name)) detail::library_index::append(part, index.find(name)->bytes);
  return part;
}

LEAT_FUNCTION std::string merged_libraries(std::string_view kept, std::string_view more) {
  if (kept.empty() || more.empty()) return std::string(kept.empty() ? more : kept);
  const detail::library_index first(kept), second(more);
  std::string all(kept);
  for (const std::string& name : second.names()) {
    const auto* of_both = first.find(name);
    if (of_both == nullptr) detail::library_index::append(all, second.find(name)->bytes);
    else if (of_both->bytes != second.find(name)->bytes)
      throw invalid_argument("Cannot add function '" + name + "' because a different function with the same name already exists.");
  }
  return all;
}

LEAT_FUNCTION function_call call_of_function(std::string_view library, const function_value& f) {
  using parts = detail::function_parts;
  const detail::library_index index(library);
  const auto* found = index.find(f.name);
  if (found == nullptr) throw not_found("the function '" + f.name + "' is not in the graph's library of functions");
  detail::nesting_check(index).depth_of(f.name);
  const auto& signature = *found->def.signature;
  function_call made;
  made.graph.library = std::string(library);
  node_def call{.name = "call", .op = f.name, .inputs = {}, .device = {}, .attributes = f.attributes};
  const auto types_of = [&](const detail::operator_argument& a) {
    if (!a.type_list_attr.empty()) return parts::types_in(call, a.type_list_attr);
    const data_type type = a.type_attr.empty() ? a.type : parts::type_in(f.attributes, a.type_attr);
    return std::vector<data_type>(parts::count_of(a, f.attributes), type);
  };
  try {
    tensor_shape_proto any;
    any.unknown_rank = true;
    for (const auto& a : signature.input_arg)
      for (const data_type type : types_of(a)) {
        const std::string name = "argument_" + std::to_string(made.arguments.size());
        made.graph.nodes.push_back(
            {.name = name, .op = "Placeholder", .inputs = {}, .device = {}, .attributes = {{"dtype", type}, {"shape", any}}});
        made.arguments.push_back(name);
        call.inputs.push_back(name);
      }
    for (const auto& a : signature.output_arg)
      for (std::size_t k = types_of(a).size(); k > 0; --k) made.results.push_back("call:" + std::to_string(made.results.size()));
  } catch (const parts::not_inlined&) {
    throw invalid_argument("the function '" + f.name + "' is named without attributes that give the types of its arguments");
  }
  made.graph.nodes.push_back(std::move(call));
  return made;
}

}  // namespace leat::io
