#pragma once
// Binds inputs to the arguments of a defined operator (named/graph/operator_definition.hpp) and infers its remaining attributes and the
// dtypes and shapes of its results.

#include <leat/named/graph/known_value.hpp>
#include <leat/named/graph/operator_definition.hpp>

namespace leat {

namespace detail {

// The range of inputs that belong to one argument of a definition.
struct argument_range {
  const argument_definition* argument;
  int first;
  int count;
};

inline const std::int64_t* integer_in(const attribute_map& attributes, std::string_view name) {
  const auto* a = attributes.find(name);
  return a != nullptr ? a->get_if<std::int64_t>() : nullptr;
}
inline const std::vector<data_type>* types_in(const attribute_map& attributes, std::string_view name) {
  const auto* a = attributes.find(name);
  return a != nullptr ? a->get_list<data_type>() : nullptr;
}

/// Splits `total` inputs among the arguments. The length of a list is taken from the attributes if they have it; lists without a given
/// length share the remaining inputs equally. Errors: invalid_argument if `total` does not fit.
inline std::vector<argument_range> ranges_of(const operator_definition& d, int total, const attribute_map& attributes) {
  const auto wrong = [&] {
    throw invalid_argument(d.type + ": " + std::to_string(total) + " inputs, which is not what the operator takes");
  };
  int single = 0;
  int open = 0;  // lists without a given length
  int said = 0;
  const auto length_of = [&](const argument_definition& a) -> std::int64_t {
    if (!a.count_attribute.empty()) {
      const auto* n = integer_in(attributes, a.count_attribute);
      if (n != nullptr && *n < 0)
        throw invalid_argument(d.type + ": the attribute " + a.count_attribute + " is " + std::to_string(*n) + ", less than 0");
      return n != nullptr ? *n : -1;
    }
    const auto* types = types_in(attributes, a.list_attribute);
    return types != nullptr ? static_cast<std::int64_t>(types->size()) : -1;
  };
  for (const auto& a : d.inputs) {
    if (!a.is_list()) ++single;
    else if (length_of(a) < 0) ++open;
    else if (length_of(a) > total) wrong();
    else said += static_cast<int>(length_of(a));
  }
  const int rest = total - single - said;
  if (rest < 0 || (open == 0 && rest != 0) || (open > 0 && rest % open != 0)) wrong();
  std::vector<argument_range> ranges;
  int at = 0;
  for (const auto& a : d.inputs) {
    int count = 1;
    if (a.is_list()) count = length_of(a) < 0 ? rest / open : static_cast<int>(length_of(a));
    ranges.push_back({&a, at, count});
    at += count;
  }
  return ranges;
}

inline std::string type_text(data_type t) {
  if (to_dtype(t) != dtype::invalid) return std::string(name_of_dtype(to_dtype(t)));
  return lower_name_of_data_type(t);
}

/// Checks the inputs' dtypes against the definition, and adds the attributes that follow from them, then the defaults. Unknown dtypes (of
/// opaque nodes) match any dtype. Errors: invalid_argument with TensorFlow's messages.
inline void bind_attributes(const operator_definition& d, std::span<const argument_range> ranges, std::span<const tensor_info> inputs,
                            attribute_map& attributes) {
  std::map<std::string_view, std::string_view> first_argument;  // by type attribute: the argument that set it
  for (const auto& range : ranges) {
    const argument_definition& a = *range.argument;
    if (!a.count_attribute.empty() && !attributes.contains(a.count_attribute)) attributes[a.count_attribute] = range.count;
    std::vector<data_type> list;
    for (int k = range.first; k < range.first + range.count; ++k) {
      const data_type is = base_of(to_data_type(inputs[static_cast<std::size_t>(k)].type));
      if (!a.list_attribute.empty()) {
        list.push_back(is);
      } else if (is == data_type::invalid || (a.reference && (a.type == data_type::resource || is == data_type::resource))) {
        continue;  // a variable of any dtype by its handle, or a handle that control flow has passed on
      } else if (a.type != data_type::invalid) {
        if (a.type != is)
          throw invalid_argument("Input '" + a.name + "' of '" + d.type + "' Op has type " + type_text(is) +
                                 " that does not match expected type of " + type_text(a.type) + ".");
      } else {
        const auto* known = attributes.find(a.type_attribute);
        const auto* type = known != nullptr ? known->get_if<data_type>() : nullptr;
        if (type == nullptr) {
          attributes[a.type_attribute] = is;
          first_argument.emplace(a.type_attribute, a.name);
        } else if (base_of(*type) != is) {
          const auto who = first_argument.find(a.type_attribute);
          throw invalid_argument("Input '" + a.name + "' of '" + d.type + "' Op has type " + type_text(is) + " that does not match type " +
                                 type_text(*type) +
                                 (who != first_argument.end() ? " of argument '" + std::string(who->second) + "'."
                                                              : " of attribute '" + a.type_attribute + "'."));
        }
      }
    }
    if (!a.list_attribute.empty() && !attributes.contains(a.list_attribute)) {
      if (list.empty()) attributes[a.list_attribute] = attribute_list{};
      else attributes[a.list_attribute] = list;
    }
  }
  for (const auto& a : d.attributes)
    if (!attributes.contains(a.name) && a.fallback.has_value()) attributes[a.name] = a.fallback;
}

// Checks that no attribute is missing and that each has the kind that the definition asks for. Errors: invalid_argument.
inline void check_attributes(const operator_definition& d, const attribute_map& attributes) {
  for (const auto& a : d.attributes) {
    const auto* value = attributes.find(a.name);
    if (value == nullptr) throw invalid_argument(d.type + ": lacks the attribute " + a.name);
    if (a.is_list) {
      const auto* list = value->get_if<attribute_list>();
      if (list == nullptr) throw invalid_argument(d.type + ": the attribute " + a.name + " is no list");
      if (static_cast<std::int64_t>(list->size()) < a.least)
        throw invalid_argument(d.type + ": the list " + a.name + " has " + std::to_string(list->size()) + " values, fewer than " +
                               std::to_string(a.least));
      continue;
    }
    bool fits = true;
    switch (a.kind) {
      case attribute_kind::type: {
        const auto* type = value->get_if<data_type>();
        fits = type != nullptr;
        if (fits && !a.allowed.empty() && *type != data_type::invalid &&
            std::find(a.allowed.begin(), a.allowed.end(), base_of(*type)) == a.allowed.end()) {
          std::string allowed;
          for (const data_type t : a.allowed) allowed += (allowed.empty() ? "" : ", ") + type_text(t);
          throw invalid_argument("Value passed to parameter of '" + d.type + "' has DataType " + type_text(*type) +
                                 " not in list of allowed values: " + allowed);
        }
        break;
      }
      case attribute_kind::integer: {
        const auto* n = value->get_if<std::int64_t>();
        fits = n != nullptr;
        if (fits && *n < a.least)
          throw invalid_argument(d.type + ": the attribute " + a.name + " is " + std::to_string(*n) + ", less than " +
                                 std::to_string(a.least));
        break;
      }
      case attribute_kind::real: fits = value->get_if<float>() != nullptr; break;
      case attribute_kind::flag: fits = value->get_if<bool>() != nullptr; break;
      case attribute_kind::text: fits = value->get_if<std::string>() != nullptr; break;
      case attribute_kind::shape: fits = value->get_if<tensor_shape_proto>() != nullptr; break;
      case attribute_kind::tensor: fits = value->get_if<tensor_proto>() != nullptr; break;
      case attribute_kind::function: fits = value->get_if<function_value>() != nullptr; break;
    }
    if (!fits) throw invalid_argument(d.type + ": the attribute " + a.name + " is of another kind than the operator takes");
  }
}

// A limit for the number of results, above that of any real graph: a count read from a file must not cause an allocation of that size.
inline constexpr std::int64_t max_results = 65535;

/// The dtypes of all results, from the attributes; their shapes have unknown rank.
inline std::vector<tensor_info> results_of(const operator_definition& d, const attribute_map& attributes) {
  std::vector<tensor_info> results;
  for (const auto& a : d.results) {
    if (!a.list_attribute.empty()) {
      const auto* types = types_in(attributes, a.list_attribute);
      if (types != nullptr)
        for (const data_type t : *types) results.push_back({static_cast<dtype>(base_of(t)), shape::unknown()});
      continue;
    }
    data_type type = a.type;
    if (type == data_type::invalid) {
      const auto* held = attributes.find(a.type_attribute);
      const auto* said = held != nullptr ? held->get_if<data_type>() : nullptr;
      if (said != nullptr) type = base_of(*said);
    }
    std::int64_t count = 1;
    if (!a.count_attribute.empty()) {
      const auto* n = integer_in(attributes, a.count_attribute);
      count = n != nullptr ? *n : 0;
    }
    if (count < 0 || count > max_results)
      throw invalid_argument(d.type + ": the attribute " + a.count_attribute + " is " + std::to_string(count) +
                             ", beyond the results a node can have");
    results.insert(results.end(), static_cast<std::size_t>(count), {static_cast<dtype>(type), shape::unknown()});
  }
  return results;
}

/// Dtypes and shapes of a node's results, once its attributes are bound.
inline std::vector<tensor_info> infer_results(const operator_definition& d, std::span<const output> tensors,
                                              std::span<const tensor_info> inputs, const attribute_map& attributes) {
  std::vector<tensor_info> results = results_of(d, attributes);
  if (d.shapes) {
    shape_context context(d, inputs, attributes, results);
    context.numbers_of = [&](int k) { return known_numbers(tensors[static_cast<std::size_t>(k)]); };
    context.constant_of = [&](int k) {
      const output& o = tensors[static_cast<std::size_t>(k)];
      return o.port() == 0 && o.owner().at(o.index()).op->kind == op_kind::constant;
    };
    d.shapes(context);
  }
  return results;
}

}  // namespace detail

}  // namespace leat
