#pragma once
// Implementation of safetensors.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/safetensors.hpp>

namespace leat::io {

LEAT_FUNCTION array_bytes safetensors::operator[](std::string_view name) const& {
  const auto at = places_.find(name);
  if (at == places_.end()) throw not_found("no array " + detail::in_quotes(name) + " in the file");
  return {at->second.type, at->second.extent, std::as_bytes(std::span(text_).subspan(data_ + at->second.begin, at->second.size))};
}

}  // namespace leat::io

namespace leat::io::detail {

LEAT_FUNCTION nlohmann::json parse_header(std::string_view text) {
  std::set<std::string> names;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (depth > 8) throw invalid_argument("the header is nested too deeply");
    if (event == nlohmann::json::parse_event_t::key && depth == 1 && !names.insert(value.get<std::string>()).second)
      throw invalid_argument("the array " + in_quotes(value.get<std::string>()) + " stands twice in the header");
    return true;
  };
  try {
    nlohmann::json header = nlohmann::json::parse(text.begin(), text.end(), watch);
    if (!header.is_object()) throw invalid_argument("the header is no object");
    return header;
  } catch (const nlohmann::json::parse_error& e) {  // its own message repeats bytes of the file unescaped
    throw data_loss("the header is no JSON: wrong at byte " + std::to_string(e.byte));
  } catch (const nlohmann::json::exception& e) {
    throw data_loss("the header is no JSON: " + in_quotes(e.what(), 200));
  }
}

LEAT_FUNCTION std::size_t whole_number(const nlohmann::json& value, const std::string& name, std::string_view field) {
  if (!value.is_number_unsigned()) throw invalid_argument("array " + in_quotes(name) + ": " + std::string(field) + " is no whole number");
  return value.get<std::size_t>();
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION std::string write_safetensors(const std::map<std::string, array_bytes, std::less<>>& arrays,
                                            const std::map<std::string, std::string, std::less<>>& metadata) {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t at = 0;
  for (const auto& [name, array] : arrays) {
    const auto wrong = [&](const std::string& what) { throw invalid_argument("array " + detail::in_quotes(name) + ": " + what); };
    if (name == "__metadata__") wrong("a name that the format keeps for itself");
    if (!is_utf8(name)) wrong("its name is not UTF-8");
    std::string_view type;
    for (const auto& [text, its] : detail::safetensors_types)
      if (its == array.type) type = text;
    if (type.empty()) wrong("a dtype that the format cannot hold");
    if (!array.extent.has_rank() || !array.extent.is_static() ||
        array.bytes.size() != static_cast<std::size_t>(array.extent.elements() * size_of(array.type)))
      wrong("its bytes do not fit its shape");
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < array.extent.rank; ++i) sizes.push_back(array.extent[i]);
    header[name] = {{"dtype", type}, {"shape", sizes}, {"data_offsets", {at, at + array.bytes.size()}}};
    at += array.bytes.size();
  }
  std::string json = header.dump();
  json.resize((json.size() + 7) / 8 * 8, ' ');  // the arrays begin at a multiple of eight
  const std::uint64_t length = json.size();
  std::string text(sizeof length, '\0');
  std::memcpy(text.data(), &length, sizeof length);
  text.reserve(text.size() + json.size() + at);
  text += json;
  for (const auto& [name, array] : arrays) text.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return text;
}

}  // namespace leat::io
