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

#include <algorithm>
#include <set>
#include <vector>

namespace leat::detail {

inline constexpr std::string_view manifest_format = "leat checkpoint";
inline constexpr std::int64_t manifest_version = 1;
inline constexpr std::int64_t sharded_manifest_version = 2;  // a new version, because older readers would misread it

/// The dtype of variables with this name: one with arrays, or strings; `dtype::invalid` for other texts.
inline dtype manifest_type(std::string_view name) {
  for (int number = 1; number <= 64; ++number)
    if (const auto d = static_cast<dtype>(number); (element_bytes(d) > 0 || d == text_dtype) && dtype_name(d) == name) return d;
  return dtype::invalid;
}

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
  } catch (const nlohmann::json::parse_error& e) {  // its message would repeat bytes of the file unescaped
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

// Reads a shape of at most 2^48 elements.
template <class Wrong>
shape read_manifest_shape(const nlohmann::json& sizes, const Wrong& wrong) {
  if (!sizes.is_array() || sizes.size() > static_cast<std::size_t>(max_rank))
    wrong("shape is no list of at most " + std::to_string(max_rank) + " sizes");
  shape made;
  std::uint64_t elements = 1;
  for (const auto& size : sizes) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > (std::uint64_t{1} << 40)) wrong("shape has a size that cannot be");
    const auto number = size.get<std::uint64_t>();
    if (number != 0 && elements > (std::uint64_t{1} << 48) / number) wrong("shape has too many elements");
    elements *= number;
    made.push(static_cast<std::int64_t>(number));
  }
  return made;
}

template <class Wrong>
int read_manifest_file(const nlohmann::json& entry, std::size_t files, const Wrong& wrong) {
  if (!entry.contains("file")) return 0;
  if (!entry["file"].is_number_unsigned() || entry["file"].get<std::uint64_t>() >= files) wrong("file is no number of a file");
  return static_cast<int>(entry["file"].get<std::uint64_t>());
}

// Reads a slice of a tensor of a sharded checkpoint.
template <class Wrong>
checkpoint_manifest::part read_manifest_part(const nlohmann::json& entry, std::size_t files, const Wrong& wrong) {
  for (const char* key : {"name", "crc32c"})
    if (!entry.is_object() || !entry.contains(key) || !entry[key].is_string()) wrong(std::string("a part without ") + key);
  if (entry.size() != 5 || !entry.contains("file") || !entry.contains("offset") || !entry.contains("shape"))
    wrong("a part has not exactly the fields name, file, offset, shape and crc32c");
  checkpoint_manifest::part made;
  made.name = entry["name"].get<std::string>();
  made.file = read_manifest_file(entry, files, wrong);
  made.shape = read_manifest_shape(entry["shape"], wrong);
  const shape offset = read_manifest_shape(entry["offset"], wrong);
  made.offset.assign(offset.dim, offset.dim + offset.rank);
  if (offset.rank != made.shape.rank) wrong("a part whose offset has another rank than its shape");
  made.crc32c = checksum_of_text(entry["crc32c"].get<std::string>());
  return made;
}

// `files`: the number of files of a sharded checkpoint; 0 if the checkpoint is not sharded.
LEAT_FUNCTION checkpoint_manifest::tensor read_manifest_tensor(const std::string& name, const nlohmann::json& entry, std::size_t files) {
  const auto wrong = [&](const std::string& what) {
    throw invalid_argument("manifest: tensor " + proto::detail::in_quotes(name) + ": " + what);
  };
  checkpoint_manifest::tensor made;
  const bool is_in_parts = files > 0 && entry.is_object() && entry.contains("parts");
  const char* const last = is_in_parts ? "parts" : "crc32c";
  const std::size_t fields = files > 0 && !is_in_parts ? 4 : 3;
  if (!entry.is_object() || entry.size() != fields || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains(last) ||
      (fields == 4 && !entry.contains("file")))
    wrong(std::string("has not exactly the fields dtype, shape") + (fields == 4 ? ", file" : "") + " and " + last);
  if (!entry["dtype"].is_string() || (!is_in_parts && !entry["crc32c"].is_string())) wrong("dtype or crc32c is no text");
  made.dtype = manifest_type(entry["dtype"].get_ref<const std::string&>());
  if (made.dtype == dtype::invalid)
    wrong("dtype " + proto::detail::in_quotes(entry["dtype"].get_ref<const std::string&>()) + " is not known");
  made.shape = read_manifest_shape(entry["shape"], wrong);
  if (is_in_parts) {
    if (!entry["parts"].is_array() || entry["parts"].empty()) wrong("parts is no list of them");
    for (const auto& part : entry["parts"]) {
      made.parts.push_back(read_manifest_part(part, files, wrong));
      if (made.parts.back().shape.rank != made.shape.rank) wrong("a part of another rank");
    }
    return made;
  }
  made.file = read_manifest_file(entry, files, wrong);
  made.crc32c = checksum_of_text(entry["crc32c"].get<std::string>());
  return made;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION bool is_manifest(std::string_view text) { return text.find('"' + std::string(detail::manifest_format) + '"') != text.npos; }

LEAT_FUNCTION std::string write_manifest(const checkpoint_manifest& manifest) {
  const auto text = [](const std::string& given, const char* what) -> const std::string& {
    if (!io::is_utf8(given)) throw invalid_argument(std::string(what) + " " + proto::detail::in_quotes(given) + " is not UTF-8");
    return given;
  };
  const bool is_sharded = !manifest.more_files.empty() || std::any_of(manifest.tensors.begin(), manifest.tensors.end(),
                                                                      [](const auto& entry) { return !entry.second.parts.empty(); });
  nlohmann::json json{{"format", detail::manifest_format},
                      {"version", is_sharded ? detail::sharded_manifest_version : detail::manifest_version}};
  if (is_sharded) {
    auto& more = json["more"] = nlohmann::json::array();
    for (const auto& file : manifest.more_files) more.push_back({{"file", text(file.name, "the file name")}, {"bytes", file.bytes}});
  }
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
    const std::string type = dtype_name(tensor.dtype);
    if (detail::manifest_type(type) != tensor.dtype) throw unimplemented("checkpoints hold no variables of dtype " + type + ": '" + name + "'");
    const auto sizes = [](const shape& s) { return std::vector<std::int64_t>(s.dim, s.dim + s.rank); };
    auto& its = tensors[text(name, "the name")] = {{"dtype", type}, {"shape", sizes(tensor.shape)}};
    if (tensor.parts.empty()) its["crc32c"] = io::checksum_text(tensor.crc32c);
    if (tensor.parts.empty() && is_sharded) its["file"] = tensor.file;
    for (const auto& part : tensor.parts)
      its["parts"].push_back({{"name", text(part.name, "the name")},
                              {"file", part.file},
                              {"offset", part.offset},
                              {"shape", sizes(part.shape)},
                              {"crc32c", io::checksum_text(part.crc32c)}});
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
  const bool is_sharded = json["version"] == detail::sharded_manifest_version;
  if (!is_sharded && json["version"] != detail::manifest_version)
    throw unimplemented("a checkpoint of version " + json["version"].dump() + "; this library reads versions " +
                        std::to_string(detail::manifest_version) + " and " + std::to_string(detail::sharded_manifest_version));
  if (!is_text("crc32c")) throw data_loss("the manifest has no checksum");
  const std::string checksum = json["crc32c"].get<std::string>();
  json.erase("crc32c");
  if (const std::string is = io::checksum_text(io::crc32c(json.dump())); is != checksum)
    throw data_loss("the manifest has the checksum " + is + ", not " + proto::detail::in_quotes(checksum) + ": altered");

  checkpoint_manifest manifest;
  const auto read_file = [&](const nlohmann::json& value, const char* what) {
    if (!value.is_object() || !value.contains("file") || !value["file"].is_string() || !value.contains("bytes") ||
        !value["bytes"].is_number_unsigned())
      wrong(std::string(what) + " has no file and bytes");
    return checkpoint_manifest::file{value["file"].get<std::string>(), value["bytes"].get<std::uint64_t>()};
  };
  if (is_sharded) {
    if (!json.contains("more") || !json["more"].is_array() || json["more"].size() > 65535) wrong("more is no list of files");
    for (const auto& file : json["more"]) manifest.more_files.push_back(read_file(file, "more"));
  }
  const std::size_t files = is_sharded ? manifest.more_files.size() + 1 : 0;
  for (const auto& [key, value] : json.items()) {
    if (key == "format" || key == "version" || (is_sharded && key == "more")) continue;
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
      const checkpoint_manifest::file data = read_file(value, "data");
      manifest.data_file = data.name;
      manifest.data_bytes = data.bytes;
    } else if (key == "tensors") {
      if (!value.is_object()) wrong("tensors is no object");
      for (const auto& [name, entry] : value.items()) manifest.tensors.emplace(name, detail::read_manifest_tensor(name, entry, files));
    } else {
      wrong("the field " + proto::detail::in_quotes(key) + " is not known");
    }
  }
  // A manifest may only name files in its own folder.
  const auto check_name = [&](const std::string& name) {
    if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
      wrong("data: " + proto::detail::in_quotes(name) + " is no name of a file in its folder");
  };
  check_name(manifest.data_file);
  for (const auto& file : manifest.more_files) check_name(file.name);
  return manifest;
}

}  // namespace leat
