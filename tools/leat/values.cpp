#include "values.hpp"

#include <leat/checkpoint/saver.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/model_files.hpp>
#include <leat/io/npy.hpp>
#include <leat/io/saved_model_folder.hpp>
#include <leat/io/saver_nodes.hpp>
#include <leat/named/exchange/import.hpp>

#include "array_names.hpp"
#include "graph_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace tool {

using namespace leat;
using nlohmann::json;
namespace files = std::filesystem;

namespace {

// `name` is the option and the name that it gives a value, as in "--freeze: w".
[[noreturn]] void refuse(const std::string& name, const std::string& what) { throw usage_error(name + ": " + what); }

/// JSON has no words for what is infinite or no number: as Python writes them (NaN, Infinity, -Infinity), and as NumPy and C do (nan, inf,
/// in any case, with a sign), they become texts that no other text is, for `special_number`.
constexpr char special = '\1';
std::string with_special_numbers(const std::string& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t first = at;
    if (text[at] == '"') {  // a text stays as it is
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
      at = std::min(at + 1, text.size());
      made += text.substr(first, at - first);
      continue;
    }
    const bool has_sign = text[at] == '-' || text[at] == '+';
    if (has_sign) ++at;
    const bool is_within_number = first > 0 && (is_digit(text[first - 1]) || text[first - 1] == '.');
    std::string word;
    for (; at < text.size() && is_letter(text[at]); ++at) word += static_cast<char>(text[at] | 0x20);
    if (!is_within_number && (word == "nan" || word == "inf" || word == "infinity")) {
      made += std::string("\"\\u000") + static_cast<char>('0' + special) +
              (word == "nan"        ? "nan"
               : text[first] == '-' ? "-inf"
                                    : "inf") +
              "\"";
      continue;
    }
    if (at == first) ++at;
    made += text.substr(first, at - first);
  }
  return made;
}
/// The number that such a text stands for.
std::optional<double> special_number(const json& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string_view text = value.get_ref<const std::string&>();
  if (!text.starts_with(special)) return std::nullopt;
  if (text.ends_with("nan")) return std::numeric_limits<double>::quiet_NaN();
  return text[1] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

/// All numbers of a nested list, row by row; its sizes are those of the first of each list.
void flatten(const std::string& name, const json& value, std::size_t depth, std::vector<std::int64_t>& sizes, std::vector<json>& numbers) {
  if (!value.is_array()) {
    if (depth != sizes.size()) refuse(name, "lists of different depths");
    if (const auto number = special_number(value)) {
      numbers.emplace_back(*number);
      return;
    }
    if (!value.is_number() && !value.is_boolean()) refuse(name, "a list of numbers is wanted, and has " + value.dump());
    numbers.push_back(value);
    return;
  }
  const auto size = static_cast<std::int64_t>(value.size());
  if (depth == sizes.size()) {
    if (!numbers.empty()) refuse(name, "lists of different depths");
    if (depth == max_file_rank) refuse(name, "lists nested too deeply");
    sizes.push_back(size);
  }
  if (sizes[depth] != size) refuse(name, "lists of different lengths");
  for (const auto& part : value) flatten(name, part, depth + 1, sizes, numbers);
}

template <class T>
tensor_proto numbers_as(const std::string& name, const std::vector<json>& numbers, const tensor_shape_proto& extent) {
  std::vector<T> list;
  for (const json& n : numbers) {
    const double real = n.is_number_float() ? n.get<double>() : 0.0;
    const auto fail = [&] {
      const std::string said = std::isnan(real) ? "nan" : std::isinf(real) ? (real > 0 ? "inf" : "-inf") : n.dump();
      refuse(name, said + " is no " + name_of_data_type(to_data_type(dtype_of<T>)));
    };
    if constexpr (std::is_same_v<T, bool>) {
      if (!n.is_boolean()) fail();
      list.push_back(n.get<bool>());
    } else {
      if (!n.is_number()) fail();
      if constexpr (std::is_integral_v<T>) {
        if (!n.is_number_integer()) fail();
        if (n.is_number_unsigned() && n.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) fail();
        if (!n.is_number_unsigned() && n.get<std::int64_t>() < static_cast<std::int64_t>(std::numeric_limits<T>::min())) fail();
      } else if (!std::isinf(real) && std::isinf(static_cast<T>(n.get<double>()))) {
        fail();
      }
      list.push_back(n.get<T>());
    }
  }
  return make_tensor_proto(list, extent);
}

/// A text, or bytes as results have them: {"b64": "..."}.
std::optional<std::string> bytes_in(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string bytes;
  if (!value.is_object() || value.size() != 1 || !value.contains("b64") || !value["b64"].is_string() ||
      !leat::detail::from_base64(value["b64"].get_ref<const std::string&>(), bytes))
    return std::nullopt;
  return bytes;
}

void flatten_texts(const std::string& name, const json& value, std::vector<std::int64_t>& sizes, std::vector<std::string>& texts) {
  if (auto text = bytes_in(value)) {
    texts.push_back(*std::move(text));
    return;
  }
  if (!value.is_array() || !sizes.empty()) refuse(name, "a text or a list of texts is wanted");
  sizes.push_back(static_cast<std::int64_t>(value.size()));
  for (const auto& part : value) {
    auto text = bytes_in(part);
    if (!text) refuse(name, "a text or a list of texts is wanted");
    texts.push_back(*std::move(text));
  }
}

/// Numbers of a wide dtype in the narrow one: real ones are rounded, integers must fit.
tensor_proto narrowed(const std::string& name, const std::string& text, const tensor_value& given, data_type type) {
  const tensor_value narrow = given.narrowed(type);
  if (is_integer(given.type()) && !(narrow.widened().proto() == given.proto()))
    refuse(name, text + " has a number that is no " + name_of_data_type(type));
  return narrow.proto();
}

tensor_proto value_in_words(const std::string& name, const std::string& text, data_type type) {
  json value = json::parse(type == data_type::string ? text : with_special_numbers(text), nullptr, false);
  if (value.is_discarded() && type == data_type::string) value = text;
  if (value.is_discarded())
    refuse(name, "\"" + text + "\" is neither a number, nor a list of numbers such as [[1, 2], [3, 4]], nor a file that ends in .npy");
  std::vector<std::int64_t> sizes;
  std::vector<json> numbers;
  std::vector<std::string> texts;
  if (type == data_type::string) flatten_texts(name, value, sizes, texts);
  else flatten(name, value, 0, sizes, numbers);
  tensor_shape_proto extent;
  for (auto size : sizes) extent.dims.push_back({size, {}});
  switch (type) {
    case data_type::float32: return numbers_as<float>(name, numbers, extent);
    case data_type::float64: return numbers_as<double>(name, numbers, extent);
    case data_type::int32: return numbers_as<std::int32_t>(name, numbers, extent);
    case data_type::int64: return numbers_as<std::int64_t>(name, numbers, extent);
    case data_type::uint8: return numbers_as<std::uint8_t>(name, numbers, extent);
    case data_type::boolean: return numbers_as<bool>(name, numbers, extent);
    case data_type::string: return make_tensor_proto(texts, extent);
    default: break;
  }
  if (const dtype wide = wide_dtype(static_cast<dtype>(type)); wide != dtype::invalid) {
    return narrowed(name, text, tensor_value::from_proto(value_in_words(name, text, to_data_type(wide))), type);
  }
  if (const dtype part = part_dtype(static_cast<dtype>(type)); part != dtype::invalid) {  // a pair of numbers for each element
    const tensor_value parts = tensor_value::from_proto(value_in_words(name, text, to_data_type(part)));
    shape whole = parts.extent();
    if (whole.rank == 0 || whole[whole.rank - 1] != 2) refuse(name, text + " is no complex number, [real, imaginary], and no list of them");
    --whole.rank;
    return parts.reinterpreted(static_cast<dtype>(type)).reshaped(whole).proto();
  }
  refuse(name, "has the dtype " + name_of_data_type(type) + ", for which there are no values");
}

data_type dtype_of_variable(const node_def& variable) {
  const auto* attribute = variable.attributes.find("dtype");
  const auto* type = attribute != nullptr ? attribute->get_if<data_type>() : nullptr;
  return type != nullptr ? *type : data_type::invalid;
}

/// Under which names a SavedModel's checkpoint has the values of variables: models of TensorFlow 2 name them by the objects that own them.
/// Empty if the folder has several graphs, or one that cannot be imported.
std::map<std::string, std::string, std::less<>> keys_in_saved_model(const std::string& folder) {
  try {
    const io::model_files read = io::read_saved_model_folder(folder);
    if (!read.meta.saver) return {};
    leat::graph g;
    g.named();
    import_graph(g, read.meta.graph, {.name = ""});
    return io::names_in_checkpoint(g, *read.meta.saver);
  } catch (const error&) {
    return {};
  }
}

}  // namespace

tensor_proto value_of(const std::string& name, const std::string& text, data_type type) {
  if (text.ends_with(".npy")) {
    tensor_proto read = io::read_npy_file(text.starts_with('@') ? text.substr(1) : text);
    const dtype wide = wide_dtype(static_cast<dtype>(type));
    return wide != dtype::invalid && to_data_type(wide) == read.dtype ? narrowed(name, text, tensor_value::from_proto(read), type) : read;
  }
  if (text.starts_with('@')) return value_in_words(name, io::read_file(text.substr(1)), type);
  return value_in_words(name, text, type);
}

variable_values values_of(const graph_def& graph, const std::vector<std::string>& words, const std::string& option) {
  std::unordered_map<std::string_view, const node_def*> variables;
  for (const auto& node : graph.nodes)
    if (leat::detail::is_variable(node)) variables.emplace(node.name, &node);
  variable_values values;
  const auto is_variable = [&](const std::string& name) { return variables.contains(name); };
  const auto enter = [&](const std::string& name, tensor_proto value) {
    if (!values.emplace(name, std::move(value)).second) refuse(option + ": " + name, "has two values");
  };
  std::size_t before = 0;
  const auto check_used = [&](const std::string& word) {
    if (std::exchange(before, values.size()) != values.size()) return;
    std::string names;
    int told = 0;
    for (const auto& node : graph.nodes)
      if (leat::detail::is_variable(node) && told < 6) names += (names.empty() ? "'" : ", '") + (told++ < 5 ? node.name + "'" : "...'");
    refuse(option + ": " + word, names.empty() ? "the graph has no variables" : "there are no values for the variables " + names);
  };
  // Which part of a variable a slice is, a graph does not say; without this error the slices would silently keep other values.
  const auto check_slices = [&](const std::string& word, const auto& has) {
    for (const auto& node : graph.nodes) {
      const auto at = node.name.rfind("/part_");
      if (at == node.name.npos || !variables.contains(node.name) || has(node.name) || !has(node.name.substr(0, at))) continue;
      refuse(option + ": " + word, "has '" + node.name.substr(0, at) + "' in one piece, of which the variable '" + node.name +
                                       "' is a slice; run the checkpoint or saved model itself, which has its own graph");
    }
  };
  for (const auto& word : words) {
    std::error_code ignored;
    if (const auto checkpoint = word.find('=') == word.npos ? checkpoint_at(word) : nullptr; checkpoint != nullptr) {
      check_slices(word, [&](const std::string& name) { return checkpoint->manifest().tensors.contains(name); });
      for (const auto& name : checkpoint->names())
        if (variables.contains(name) && !is_carried_only(checkpoint->manifest().tensors.at(name).dtype))
          enter(name, checkpoint->value(name).proto());
      check_used(word);
      continue;
    }
    const bool is_folder = files::is_directory(word, ignored);
    if (is_folder && io::is_saved_model_folder(word) && !io::is_model_folder(word)) {
      variable_values found;
      const auto arrays = io::read_bundle((files::path(word) / io::saved_model_variables).string(), &found);
      const std::vector<std::string> names = arrays.names();
      check_slices(word, [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); });
      const auto keys = keys_in_saved_model(word);
      const auto is_key = [&](const std::string& name) { return std::ranges::any_of(keys, [&](const auto& key) { return key.second == name; }); };
      found.merge(io::to_variable_values(arrays, [&](const std::string& name) { return is_variable(name) || is_key(name); }));
      for (const auto& [variable, node] : variables) {
        const std::string name(variable);
        const auto key = keys.find(name);
        const auto at = found.contains(name) || key == keys.end() ? found.find(name) : found.find(key->second);
        if (at != found.end()) enter(name, at->second);
      }
      check_used(word);
      continue;
    }
    if (is_folder ? io::is_model_folder(word) : word.ends_with(".safetensors") && word.find('=') == word.npos) {
      for (auto& [name, value] : io::to_variable_values(io::read_variables(word), is_variable)) enter(name, std::move(value));
      check_used(word);
      continue;
    }
    if (is_folder) {
      for (const auto& entry : files::recursive_directory_iterator(word)) {
        if (!entry.is_regular_file() || entry.path().extension() != ".npy") continue;
        std::string name = array_name(entry.path().lexically_relative(word).generic_string());
        if (name.ends_with(":0")) name.resize(name.size() - 2);  // as `--fetch w:0` wrote it
        if (variables.contains(name)) enter(name, io::read_npy_file(entry.path()));
      }
      check_used(word);
      continue;
    }
    const auto equals = word.find('=');
    if (equals == word.npos)
      throw usage_error(option + ": \"" + word + "\" is neither NAME=VALUE, nor a folder, nor a .safetensors file, nor a checkpoint");
    const std::string name = word.substr(0, equals), text = word.substr(equals + 1);
    const auto at = variables.find(name);
    if (at == variables.end()) refuse(option + ": " + name, "the graph has no such variable");
    enter(name, value_of(option + ": " + name, text, dtype_of_variable(*at->second)));
    before = values.size();
  }
  return values;
}

std::vector<std::string> restore_fitting(graph_session& session, const std::shared_ptr<const checkpoint_reader>& from) {
  std::vector<std::string> left_out;
  if (saved_variables(session.owner()).empty()) return left_out;
  saver its(session.owner(), {.defer_build = true});
  const restore_report report = its.restore(session, checkpoint_path(from), {.partly = true});
  for (const std::string& name : report.missing) left_out.push_back("the checkpoint has no tensor '" + name + "'");
  for (const std::string& name : report.misshapen) {
    const auto& tensor = from->manifest().tensors.at(name);
    left_out.push_back("'" + name + "' is " + dtype_name(tensor.dtype) + " " + brackets(tensor.shape) +
                       " in the checkpoint, which the variable cannot hold");
  }
  return left_out;
}

}  // namespace tool
