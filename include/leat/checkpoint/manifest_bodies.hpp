#pragma once
// Implementation of manifest.hpp.

#include <leat/checkpoint/manifest.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/encoding.hpp>
#include <leat/proto/in_quotes.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <nlohmann/json.hpp>

#include <set>
#include <vector>

namespace leat::detail {

inline constexpr std::string_view manifest_format = "leat checkpoint";
inline constexpr std::int64_t manifest_version = 1;

inline constexpr std::pair<std::string_view, dtype> manifest_types[]{
    {"float32", dtype::float32}, {"float64", dtype::float64}, {"int32", dtype::int32}, {"int64", dtype::int64},
    {"uint8", dtype::uint8},     {"bool", dtype::boolean},    {"string", text_dtype}};

LEAT_FUNCTION nlohmann::json parse_manifest(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    using event_t = nlohmann::json::parse_event_t;
    if (depth > 8) throw invalid_argument("the manifest is nested too deeply");
    if (event == event_t::object_start) keys.emplace_back();
    if (event == event_t::object_end) keys.pop_back();
    if (event == event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw invalid_argument(proto::detail::in_quotes(value.get<std::string>()) + " stands twice in one object of the manifest");
    return true;
  };
  try {
    return nlohmann::json::parse(text.begin(), text.end(), watch);
  } catch (const nlohmann::json::parse_error& e) {  // its own message repeats bytes of the file unescaped
    throw data_loss("the manifest is no JSON: wrong at byte " + std::to_string(e.byte));
  } catch (const nlohmann::json::exception& e) {
    throw data_loss("the manifest is no JSON: " + proto::detail::in_quotes(e.what(), 200));
  }
}

LEAT_FUNCTION std::uint32_t checksum_of_text(const std::string& text) {
  std::uint32_t number = 0;
  if (text.size() != 8 || text.find_first_not_of("0123456789abcdef") != text.npos)
    throw invalid_argument("the checksum " + proto::detail::in_quotes(text) + " is not eight hexadecimal digits");
  for (const char c : text) number = number << 4 | static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  return number;
}

LEAT_FUNCTION checkpoint_manifest::tensor read_manifest_tensor(const std::string& name, const nlohmann::json& entry) {
  const auto wrong = [&](const std::string& what) {
    throw invalid_argument("manifest: tensor " + proto::detail::in_quotes(name) + ": " + what);
  };
  checkpoint_manifest::tensor made;
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("crc32c"))
    wrong("has not exactly the fields dtype, shape and crc32c");
  if (!entry["dtype"].is_string() || !entry["crc32c"].is_string()) wrong("dtype or crc32c is no text");
  for (const auto& [text, type] : manifest_types)
    if (text == entry["dtype"].get_ref<const std::string&>()) made.dtype = type;
  if (made.dtype == dtype::invalid)
    wrong("dtype " + proto::detail::in_quotes(entry["dtype"].get_ref<const std::string&>()) + " is not known");
  if (!entry["shape"].is_array() || entry["shape"].size() > static_cast<std::size_t>(max_rank))
    wrong("shape is no list of at most " + std::to_string(max_rank) + " sizes");
  std::uint64_t elements = 1;
  for (const auto& size : entry["shape"]) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > (std::uint64_t{1} << 40)) wrong("shape has a size that cannot be");
    const auto number = size.get<std::uint64_t>();
    if (number != 0 && elements > (std::uint64_t{1} << 48) / number) wrong("shape has too many elements");
    elements *= number;
    made.shape.push(static_cast<std::int64_t>(number));
  }
  made.crc32c = checksum_of_text(entry["crc32c"].get<std::string>());
  return made;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION std::string write_manifest(const checkpoint_manifest& manifest) {
  const auto text = [](const std::string& given, const char* what) -> const std::string& {
    if (!io::is_utf8(given)) throw invalid_argument(std::string(what) + " " + proto::detail::in_quotes(given) + " is not UTF-8");
    return given;
  };
  nlohmann::json json{{"format", detail::manifest_format}, {"version", detail::manifest_version}};
  json["data"] = {{"file", text(manifest.data_file, "the file name")}, {"bytes", manifest.data_bytes}};
  if (manifest.step) json["step"] = *manifest.step;
  if (!manifest.graph.empty()) json["graph"] = text(manifest.graph, "the graph");
  if (!manifest.pipeline_state.empty()) json["pipeline"] = text(manifest.pipeline_state, "the pipeline's state");
  if (!manifest.values.empty()) {
    auto& values = json["values"] = nlohmann::json::object();
    for (const auto& [key, value] : manifest.values) values[text(key, "the key")] = text(value, "the value");
  }
  auto& tensors = json["tensors"] = nlohmann::json::object();
  for (const auto& [name, tensor] : manifest.tensors) {
    std::string_view type;
    for (const auto& [name_of_type, its] : detail::manifest_types)
      if (its == tensor.dtype) type = name_of_type;
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < tensor.shape.rank; ++i) sizes.push_back(tensor.shape[i]);
    tensors[text(name, "the name")] = {{"dtype", type}, {"shape", sizes}, {"crc32c", io::checksum_text(tensor.crc32c)}};
  }
  const std::string checksum = io::checksum_text(io::crc32c(json.dump()));
  json["crc32c"] = checksum;
  return json.dump(1) + "\n";
}

LEAT_FUNCTION checkpoint_manifest read_manifest(std::string_view text) {
  nlohmann::json json = detail::parse_manifest(text);
  const auto wrong = [](const std::string& what) { throw invalid_argument("manifest: " + what); };
  const auto is_text = [&](const char* key) { return json.contains(key) && json[key].is_string(); };
  if (!json.is_object() || !is_text("format") || json["format"] != detail::manifest_format) throw data_loss("not a checkpoint's manifest");
  if (!json.contains("version") || !json["version"].is_number_unsigned()) wrong("version is no whole number");
  if (json["version"] != detail::manifest_version)
    throw unimplemented("a checkpoint of version " + json["version"].dump() + "; this library reads version " +
                        std::to_string(detail::manifest_version));
  if (!is_text("crc32c")) throw data_loss("the manifest has no checksum");
  const std::string checksum = json["crc32c"].get<std::string>();
  json.erase("crc32c");
  if (const std::string is = io::checksum_text(io::crc32c(json.dump())); is != checksum)
    throw data_loss("the manifest has the checksum " + is + ", not " + proto::detail::in_quotes(checksum) + ": altered");

  checkpoint_manifest manifest;
  for (const auto& [key, value] : json.items()) {
    if (key == "format" || key == "version") continue;
    if (key == "step") {
      if (!value.is_number_integer()) wrong("step is no whole number");
      manifest.step = value.get<std::int64_t>();
    } else if (key == "graph" || key == "pipeline") {
      if (!value.is_string()) wrong(key + " is no text");
      (key == "graph" ? manifest.graph : manifest.pipeline_state) = value.get<std::string>();
    } else if (key == "values") {
      if (!value.is_object()) wrong("values is no object");
      for (const auto& [name, own] : value.items()) {
        if (!own.is_string()) wrong("values: " + proto::detail::in_quotes(name) + " is no text");
        manifest.values[name] = own.get<std::string>();
      }
    } else if (key == "data") {
      if (!value.is_object() || !value.contains("file") || !value["file"].is_string() || !value.contains("bytes") ||
          !value["bytes"].is_number_unsigned())
        wrong("data has no file and bytes");
      manifest.data_file = value["file"].get<std::string>();
      manifest.data_bytes = value["bytes"].get<std::uint64_t>();
    } else if (key == "tensors") {
      if (!value.is_object()) wrong("tensors is no object");
      for (const auto& [name, entry] : value.items()) manifest.tensors.emplace(name, detail::read_manifest_tensor(name, entry));
    } else {
      wrong("the field " + proto::detail::in_quotes(key) + " is not known");
    }
  }
  // A manifest names a file of its own folder, never one elsewhere.
  if (manifest.data_file.empty() || manifest.data_file.find('/') != std::string::npos || manifest.data_file.find('\0') != std::string::npos)
    wrong("data: " + proto::detail::in_quotes(manifest.data_file) + " is no name of a file in its folder");
  return manifest;
}

}  // namespace leat
