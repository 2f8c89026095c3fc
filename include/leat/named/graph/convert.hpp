#pragma once
// Converts a node's numeric attributes in the table to TensorFlow's inputs and named attributes, and back, by the operator's form
// (graph/form.hpp).

#include <leat/core/list.hpp>
#include <leat/graph/infer.hpp>
#include <leat/graph/leaves.hpp>
#include <leat/named/graph/literal.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <algorithm>

namespace leat {

/// The form of an operator: its own, or the default form for this number of operands.
inline detail::list_view<field> form_of(const op_info& op, int operands) {
  if (!op.form.empty()) return op.form;
  if (operands == 1) return form::single;
  if (operands == 2) return form::pair;
  return {};
}

/// The name of operand `k` in the form; an unnamed constant is named after it ("mul/x").
inline std::string_view operand_name(detail::list_view<field> fields, int k) {
  int at = 0;
  for (const field& f : fields) {
    if (f.kind == field_kind::operands) return f.name;
    if (is_operand(f.kind) && at++ == k) return f.name;
  }
  return "x";
}

/// An input that holds numeric attributes.
struct number_input {
  std::string_view name;
  tensor_literal value;
  bool all_axes = false;  // a reduction over all axes: TensorFlow makes this constant outside the operator's scope
};

namespace detail {

// Reads a node's numeric attributes in the order of its form.
class number_cursor {
 public:
  explicit number_cursor(std::span<const std::int64_t> numbers) : rest_(numbers) {}
  std::int64_t next() {
    if (rest_.empty()) return 0;
    const auto n = rest_.front();
    rest_ = rest_.subspan(1);
    return n;
  }
  std::span<const std::int64_t> take(std::size_t n) {
    const auto part = rest_.first(n < rest_.size() ? n : rest_.size());
    rest_ = rest_.subspan(part.size());
    return part;
  }
  std::span<const std::int64_t> rest() { return take(rest_.size()); }
  std::string text() {
    const std::int64_t size = next();
    const auto part = take(static_cast<std::size_t>(std::max<std::int64_t>(size, 0)));
    std::string made;
    for (const std::int64_t c : part) made += static_cast<char>(c);
    return made;
  }
  std::size_t left() const { return rest_.size(); }

 private:
  std::span<const std::int64_t> rest_;
};

/// Converts to int32, the dtype of TensorFlow's inputs. Errors: invalid_argument if the value does not fit.
inline std::int32_t as_int32(std::int64_t n) {
  if (n > INT32_MAX || n < INT32_MIN) throw invalid_argument(std::to_string(n) + " does not fit int32, which sizes and axes of graphs are");
  return static_cast<std::int32_t>(n);
}

inline tensor_literal int32_vector(std::span<const std::int64_t> values) {
  std::vector<std::int32_t> list;
  for (auto v : values) list.push_back(v < 0 && is_named(v) ? -1 : as_int32(v));
  return tensor_literal(list);
}

}  // namespace detail

/// The inputs that hold numeric attributes, in order. `result` is the dtype of the node's result.
inline std::vector<number_input> inputs_from_numbers(detail::list_view<field> fields, std::span<const std::int64_t> numbers,
                                                     std::span<const tensor_info> operands, dtype result) {
  std::vector<number_input> inputs;
  detail::number_cursor cursor(numbers);
  for (const field& f : fields) {
    switch (f.kind) {
      case field_kind::scalar: inputs.push_back({f.name, static_cast<std::int32_t>(cursor.next())}); break;
      case field_kind::fixed_scalar: inputs.push_back({f.name, static_cast<std::int32_t>(f.value)}); break;
      case field_kind::half: inputs.push_back({f.name, detail::int32_vector(cursor.take(cursor.left() / 2))}); break;
      case field_kind::vector: {
        auto values = cursor.rest();
        std::vector<std::int64_t> reversed;
        if (values.empty() && f.name == "perm")  // a transpose without axes reverses them
          for (int i = operands[0].extent.rank - 1; i >= 0; --i) reversed.push_back(i);
        inputs.push_back({f.name, detail::int32_vector(values.empty() ? std::span<const std::int64_t>(reversed) : values)});
        break;
      }
      case field_kind::axes: {
        const auto values = cursor.rest();
        std::vector<std::int64_t> all;
        for (int i = 0; i < operands[0].extent.rank; ++i) all.push_back(i);
        if (values.empty()) inputs.push_back({f.name, detail::int32_vector(all), true});
        else if (values.size() == 1) inputs.push_back({f.name, static_cast<std::int32_t>(values[0])});
        else inputs.push_back({f.name, detail::int32_vector(values)});
        break;
      }
      case field_kind::pairs: {
        const auto values = cursor.rest();
        const std::size_t n = values.size() / 2;
        std::vector<std::int32_t> list;
        for (std::size_t i = 0; i < n; ++i) {
          list.push_back(static_cast<std::int32_t>(values[i]));
          list.push_back(static_cast<std::int32_t>(values[n + i]));
        }
        shape extent;
        extent.push(static_cast<std::int64_t>(n));
        extent.push(2);
        inputs.push_back({f.name, tensor_literal(extent, list)});
        break;
      }
      case field_kind::bits: {
        const std::int64_t bits = cursor.next();
        const double value = is_differentiable(result) ? std::bit_cast<double>(bits) : static_cast<double>(bits);
        inputs.push_back({f.name, tensor_literal(result, {}, value)});
        break;
      }
      case field_kind::flag:
      case field_kind::integer:
      case field_kind::real:
      case field_kind::type_number:
      case field_kind::word:
      case field_kind::in_graphs:
      case field_kind::unwritten: cursor.next(); break;
      case field_kind::list: cursor.take(static_cast<std::size_t>(f.value)); break;
      case field_kind::text: cursor.text(); break;
      case field_kind::integers: cursor.rest(); break;
      default: break;
    }
  }
  return inputs;
}

/// The named attributes that follow from the form and the numeric attributes.
inline attribute_map attributes_from_numbers(detail::list_view<field> fields, std::span<const std::int64_t> numbers,
                                             std::span<const tensor_info> operands) {
  attribute_map attributes;
  const auto is_attribute = [](const field& f) {
    return f.kind == field_kind::operands || (f.kind > field_kind::reference && f.kind < field_kind::scalar);
  };
  attributes.reserve(static_cast<std::size_t>(std::count_if(fields.begin(), fields.end(), is_attribute)));
  detail::number_cursor cursor(numbers);
  for (const field& f : fields) {
    switch (f.kind) {
      case field_kind::operands: attributes["N"] = static_cast<std::int64_t>(operands.size()); break;
      case field_kind::type_of: attributes[f.name] = operands[static_cast<std::size_t>(f.value)].type; break;
      case field_kind::type_number: attributes[f.name] = static_cast<dtype>(cursor.next()); break;
      case field_kind::flag: attributes[f.name] = cursor.next() != 0; break;
      case field_kind::integer: attributes[f.name] = cursor.next(); break;
      case field_kind::real: attributes[f.name] = static_cast<float>(std::bit_cast<double>(cursor.next())); break;
      case field_kind::integers: {
        const auto rest = cursor.rest();
        attributes[f.name] = std::vector<std::int64_t>(rest.begin(), rest.end());
        break;
      }
      case field_kind::list: {
        const auto part = cursor.take(static_cast<std::size_t>(f.value));
        attributes[f.name] = std::vector<std::int64_t>(part.begin(), part.end());
        break;
      }
      case field_kind::word: attributes[f.name] = std::string(f.words[static_cast<std::size_t>(cursor.next())]); break;
      case field_kind::text: attributes[f.name] = cursor.text(); break;
      case field_kind::fixed_word: attributes[f.name] = std::string(f.words[static_cast<std::size_t>(f.value)]); break;
      case field_kind::fixed_flag: attributes[f.name] = f.value != 0; break;
      case field_kind::fixed_integer: attributes[f.name] = f.value; break;
      case field_kind::fixed_type: attributes[f.name] = static_cast<dtype>(f.value); break;
      case field_kind::unwritten: {
        const std::int64_t n = cursor.next();
        const bool is_last = f.value == -1 && operands[0].extent.has_rank() && n == operands[0].extent.rank - 1;
        if (n != f.value && !is_last)
          throw unimplemented(std::string(f.name) + " " + std::to_string(n) +
                              ": TensorFlow's operator takes the last alone; transpose first");
        break;
      }
      case field_kind::in_graphs:
      case field_kind::scalar:
      case field_kind::bits: cursor.next(); break;
      case field_kind::half: cursor.take(cursor.left() / 2); break;
      case field_kind::vector:
      case field_kind::axes:
      case field_kind::pairs: cursor.rest(); break;
      default: break;
    }
  }
  return attributes;
}

/// The dtype of a result whose shape is known only at run time: the dtype in an attribute, or that of the operand with the dtype T, which
/// is the first one unless the form says otherwise.
inline dtype result_type(detail::list_view<field> fields, const attribute_map& attributes, std::span<const tensor_info> operands) {
  for (const field& f : fields) {
    if (f.kind != field_kind::type_number) continue;
    const auto* value = attributes.find(f.name);
    if (const auto* type = value != nullptr ? value->get_if<data_type>() : nullptr) return static_cast<dtype>(*type);
  }
  for (const field& f : fields)
    if (f.kind == field_kind::type_of && f.name == "T" && f.value > 0 && static_cast<std::size_t>(f.value) < operands.size())
      return operands[static_cast<std::size_t>(f.value)].type;
  return operands.empty() ? dtype::invalid : operands[0].type;
}

namespace detail {
/// Dtypes of typed expressions in place of others, one for each, which none of the operands has. `integers_first`: the first stand-ins are
/// integers, for operators that take no others.
class dtype_exchange {
 public:
  dtype_exchange(std::span<const tensor_info> operands, dtype named, bool integers_first)
      : free_(integers_first ? std::vector{dtype::int32, dtype::int64, dtype::uint8, dtype::float32, dtype::float64}
                             : std::vector{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8}) {
    std::erase_if(free_, [&](dtype d) {
      return d == named || std::any_of(operands.begin(), operands.end(), [&](const tensor_info& o) { return o.type == d; });
    });
  }
  dtype stand_in(dtype d) {
    if (size_of(d) > 0 || d == dtype::invalid) return d;
    for (std::size_t k = 0; k < replaced_.size(); ++k)
      if (replaced_[k] == d) return free_[k];
    if (replaced_.size() == free_.size()) return d;
    replaced_.push_back(d);
    return free_[replaced_.size() - 1];
  }
  dtype original(dtype d) const {
    for (std::size_t k = 0; k < replaced_.size(); ++k)
      if (free_[k] == d) return replaced_[k];
    return d;
  }

 private:
  std::vector<dtype> free_, replaced_;
};
}  // namespace detail

/// Dtype and shape of a node's result, as `infer_result`, for operands of any dtype. The rules of classes know the dtypes of typed
/// expressions, so that others are exchanged for these, and exchanged back in the result.
inline inference infer_any_result(const op_info& op, detail::list_view<field> fields, std::span<const tensor_info> operands,
                                  std::span<const std::int64_t> numbers) {
  std::size_t named_at = 0;  // of the number that is a dtype
  bool has_named = false;
  for (const field& f : fields) {
    if (f.kind == field_kind::type_number) {
      has_named = named_at < numbers.size();
      break;
    }
    named_at += f.kind == field_kind::flag || f.kind == field_kind::integer ? 1 : 0;
  }
  const dtype named = has_named ? static_cast<dtype>(numbers[named_at]) : dtype::invalid;
  inference got;
  for (const bool integers_first : {false, true}) {
    detail::dtype_exchange exchange(operands, named, integers_first);
    std::vector<tensor_info> others(operands.begin(), operands.end());
    for (tensor_info& o : others) o.type = exchange.stand_in(o.type);
    std::vector<std::int64_t> with(numbers.begin(), numbers.end());
    if (has_named) with[named_at] = static_cast<std::int64_t>(exchange.stand_in(named));
    got = infer_result(op, others, with);
    got.type = exchange.original(got.type);
    if (got.problem.empty()) break;
  }
  return got;
}

/// Dtype and shape of a result after the first, by its field of the form.
inline tensor_info further_info(const field& f, std::span<const tensor_info> operands) {
  if (f.value >= 0) return operands[static_cast<std::size_t>(f.value)];
  tensor_info all = operands[0];
  for (const tensor_info& o : operands)
    all.extent = all.extent.has_rank() && o.extent.has_rank() ? broadcast(all.extent, o.extent).extent : shape::unknown();
  return all;
}

/// Appends dtype and shape of a node's results after the first, by the rule of its class, or by its form. `numbers` are null if some are
/// known only when the node runs. Errors: invalid_argument if the rule refuses the operands, or their number is out of range or not known.
template <class Results>
void add_further_results(Results& results, const op_info& op, detail::list_view<field> fields, std::span<const tensor_info> operands,
                         const std::span<const std::int64_t>* numbers) {
  constexpr int most = 65535;
  std::vector<tensor_info> by_form;
  for (const field& f : fields)
    if (f.kind == field_kind::result) by_form.push_back(further_info(f, operands));
  if (op.results == nullptr) {
    for (const tensor_info& info : by_form) results.push_back(info);
    return;
  }
  const std::span<const std::int64_t> known = numbers != nullptr ? *numbers : std::span<const std::int64_t>();
  const int count = op.results({operands.data(), static_cast<int>(operands.size()), known.data(), static_cast<int>(known.size())});
  if (count < 1 || count > most)
    throw invalid_argument(std::string(op.type) + ": " + std::to_string(count) + " results; a node has from 1 to " + std::to_string(most));
  std::vector<std::int64_t> with_port(known.begin(), known.end());
  with_port.push_back(0);
  for (int port = 1; port < count; ++port) {
    if (numbers == nullptr) {
      const auto k = static_cast<std::size_t>(port) - 1;
      results.push_back({k < by_form.size() ? by_form[k].type : results[0].type, shape::unknown()});
      continue;
    }
    with_port.back() = port;
    const inference got = infer_result(op.further(), operands, with_port);
    if (!got.problem.empty()) throw invalid_argument(std::string(op.type) + ": " + std::string(got.problem));
    results.push_back({got.type, got.extent});
  }
}

/// Values of the inputs that hold numeric attributes; null for an input that is not a constant.
using number_values = std::vector<const tensor_proto*>;

namespace detail {
/// The bits of a scalar as a numeric attribute; nullopt for other shapes, and for dtypes that the library only carries.
inline std::optional<std::int64_t> scalar_bits(const tensor_proto& p) {
  if (p.shape.unknown_rank || !p.shape.dims.empty()) return std::nullopt;
  const dtype type = to_dtype(p.dtype);
  const bool in_bytes = p.field == tensor_field::tensor_content;
  switch (type) {
    case dtype::float32:
      return p.bytes.size() == 4 ? std::optional(bits_of(type, static_cast<double>(get_bytes<float>(p.bytes, 0)))) : std::nullopt;
    case dtype::float64: return p.bytes.size() == 8 ? std::optional(bits_of(type, get_bytes<double>(p.bytes, 0))) : std::nullopt;
    case dtype::int32: return p.bytes.size() == 4 ? std::optional<std::int64_t>(get_bytes<std::int32_t>(p.bytes, 0)) : std::nullopt;
    case dtype::int64: return p.bytes.size() == 8 ? std::optional(get_bytes<std::int64_t>(p.bytes, 0)) : std::nullopt;
    case dtype::boolean: return p.bytes.size() == 1 ? std::optional<std::int64_t>(p.bytes[0] != 0) : std::nullopt;
    case dtype::uint8:
      if (in_bytes) return p.bytes.size() == 1 ? std::optional<std::int64_t>(static_cast<unsigned char>(p.bytes[0])) : std::nullopt;
      return p.bytes.size() == 4 ? std::optional<std::int64_t>(get_bytes<std::int32_t>(p.bytes, 0)) : std::nullopt;
    default: return std::nullopt;
  }
}
}  // namespace detail

/// Whether nodes of this form may have numeric attributes, or named ones with values that the form does not allow. If not, `numbers_from`
/// returns an empty list.
inline bool has_numbers(detail::list_view<field> fields) {
  for (const field& f : fields) {
    if (is_number_input(f.kind)) return true;
    switch (f.kind) {
      case field_kind::flag:
      case field_kind::integer:
      case field_kind::real:
      case field_kind::integers:
      case field_kind::list:
      case field_kind::word:
      case field_kind::text:
      case field_kind::fixed_word:
      case field_kind::type_number:
      case field_kind::fixed_flag:
      case field_kind::fixed_integer:
      case field_kind::in_graphs:
      case field_kind::unwritten: return true;
      default: break;
    }
  }
  return false;
}

/// A node's numeric attributes, from its named attributes and the constants among its inputs; nullopt if one of these inputs is not a
/// constant, or the form cannot express the named attributes.
inline std::optional<std::vector<std::int64_t>> numbers_from(detail::list_view<field> fields, const attribute_map& attributes,
                                                             const number_values& values, std::span<const tensor_info> operands) {
  std::vector<std::int64_t> numbers;
  std::size_t at = 0;
  std::optional<std::size_t> first_half;
  dtype named_type = dtype::invalid;
  for (const field& f : fields) {
    if (is_number_input(f.kind)) {
      if (at >= values.size() || values[at] == nullptr) return std::nullopt;
      const tensor_proto& p = *values[at++];
      if (f.kind == field_kind::bits) {
        const auto one = p.dtype == to_data_type(named_type) ? detail::scalar_bits(p) : std::nullopt;
        if (!one) return std::nullopt;
        numbers.push_back(*one);
        continue;
      }
      const auto list = integers_of(p);
      if (!list) return std::nullopt;
      switch (f.kind) {
        case field_kind::scalar:
          if (list->size() != 1) return std::nullopt;
          numbers.push_back((*list)[0]);
          break;
        case field_kind::fixed_scalar:
          if (list->size() != 1 || (*list)[0] != f.value) return std::nullopt;
          break;
        case field_kind::axes:
          // An empty list of axes means that none are reduced, but a node without numeric attributes reduces all: the two agree only for a
          // scalar.
          if (list->empty() && operands[0].extent.rank != 0) return std::nullopt;
          numbers.insert(numbers.end(), list->begin(), list->end());
          break;
        case field_kind::pairs:
          if (p.shape.dims.size() != 2 || p.shape.dims[1].size != 2)
            throw invalid_argument(std::string(f.name) + " must be a matrix of two columns, not " + to_text(p.shape));
          for (std::size_t k = 0; k < 2; ++k)
            for (std::size_t i = k; i < list->size(); i += 2) numbers.push_back((*list)[i]);
          break;
        default:
          if (f.kind == field_kind::half) first_half = list->size();
          else if (first_half && list->size() != *first_half)
            throw invalid_argument(std::string(f.name) + " has " + std::to_string(list->size()) + " numbers, what stands before it " +
                                   std::to_string(*first_half));
          numbers.insert(numbers.end(), list->begin(), list->end());
          break;
      }
      continue;
    }
    const attribute_value* a = attributes.find(f.name);
    switch (f.kind) {
      case field_kind::flag:
        numbers.push_back((a != nullptr && a->get_if<bool>() != nullptr ? *a->get_if<bool>() : f.value != 0) ? 1 : 0);
        break;
      case field_kind::integer:
        numbers.push_back(a != nullptr && a->get_if<std::int64_t>() != nullptr ? *a->get_if<std::int64_t>() : f.value);
        break;
      case field_kind::real:
        numbers.push_back(a != nullptr && a->get_if<float>() != nullptr
                              ? std::bit_cast<std::int64_t>(static_cast<double>(*a->get_if<float>()))
                              : f.value);
        break;
      case field_kind::integers:
        if (a != nullptr)
          if (const auto* list = a->get_list<std::int64_t>()) numbers.insert(numbers.end(), list->begin(), list->end());
        break;
      case field_kind::list: {
        const auto* list = a != nullptr ? a->get_list<std::int64_t>() : nullptr;
        if (list != nullptr && !list->empty() && static_cast<std::int64_t>(list->size()) != f.value) return std::nullopt;
        if (list != nullptr && !list->empty()) numbers.insert(numbers.end(), list->begin(), list->end());
        else numbers.insert(numbers.end(), static_cast<std::size_t>(f.value), 1);  // a list that a file omits has ones
        break;
      }
      case field_kind::word: {
        const auto* word = a != nullptr ? a->get_if<std::string>() : nullptr;
        const auto found = word != nullptr ? std::find(f.words.begin(), f.words.end(), *word) : f.words.end();
        if (found == f.words.end()) return std::nullopt;
        numbers.push_back(found - f.words.begin());
        break;
      }
      case field_kind::text: {
        const auto* text = a != nullptr ? a->get_if<std::string>() : nullptr;
        numbers.push_back(text != nullptr ? static_cast<std::int64_t>(text->size()) : 0);
        if (text != nullptr)
          for (const char c : *text) numbers.push_back(static_cast<unsigned char>(c));
        break;
      }
      case field_kind::fixed_word:
        if (a != nullptr && a->get_if<std::string>() != nullptr && *a->get_if<std::string>() != f.words[static_cast<std::size_t>(f.value)])
          return std::nullopt;
        break;
      case field_kind::type_number: {
        const auto* type = a != nullptr ? a->get_if<data_type>() : nullptr;
        named_type = dtype::int64;  // ArgMax: if a file omits it
        if (type != nullptr) named_type = is_carried_only(static_cast<dtype>(*type)) ? static_cast<dtype>(*type) : array_dtype(*type);
        numbers.push_back(static_cast<std::int64_t>(named_type));
        break;
      }
      case field_kind::fixed_flag:
        if (a != nullptr && a->get_if<bool>() != nullptr && *a->get_if<bool>() != (f.value != 0) && f.name == "Truncate")
          return std::nullopt;
        break;
      case field_kind::fixed_integer:
        if (a != nullptr && a->get_if<std::int64_t>() != nullptr && *a->get_if<std::int64_t>() != f.value) return std::nullopt;
        break;
      case field_kind::in_graphs:
      case field_kind::unwritten: numbers.push_back(f.value); break;
      default: break;
    }
  }
  return numbers;
}

}  // namespace leat
