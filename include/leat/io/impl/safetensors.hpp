#pragma once
// Implementation of safetensors.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/safetensors.hpp>

namespace leat::io {

LEAT_FUNCTION array_bytes safetensors::operator[](std::string_view name) const& {
  const auto at = places_.find(name);
  if (at == places_.end()) throw not_found("no array " + detail::in_quotes(name) + " in the file");
  const array_place& place = at->second;
  if (!place.problem.empty()) throw unimplemented("array " + detail::in_quotes(name) + ": " + place.problem);
  const std::string_view stored = std::string_view(text_).substr(data_ + place.begin, place.size);
  if (!place.format) return {place.type, place.extent, std::as_bytes(std::span(stored))};
  const std::lock_guard hold(converted_->guard);
  auto made = converted_->arrays.find(name);
  if (made == converted_->arrays.end()) {
    try {
      made = converted_->arrays.emplace(std::string(name), native_elements(*place.format, stored)).first;
    } catch (const error& e) {
      leat::detail::rethrow_saying(e, "array " + detail::in_quotes(name) + ": " + e.what());
    }
  }
  return {dtype_as_read(*place.format), place.extent, std::as_bytes(std::span(made->second))};
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
  } catch (const nlohmann::json::parse_error& e) {  // its message repeats bytes of the file unescaped
    throw data_loss("the header is no JSON: wrong at byte " + std::to_string(e.byte));
  } catch (const nlohmann::json::exception& e) {
    throw data_loss("the header is no JSON: " + in_quotes(e.what(), 200));
  }
}

LEAT_FUNCTION std::size_t whole_number(const nlohmann::json& value, const std::string& name, std::string_view field) {
  if (!value.is_number_unsigned()) throw invalid_argument("array " + in_quotes(name) + ": " + std::string(field) + " is no whole number");
  return value.get<std::size_t>();
}

struct converted_type {
  std::string_view name;
  element_format format;
  data_type narrow;
};
inline constexpr converted_type safetensors_converted[]{{"F16", {element_kind::floating, 2}, data_type::half},
                                                        {"BF16", {element_kind::bfloat, 2}, data_type::bfloat16},
                                                        {"I8", {element_kind::signed_integer, 1}, data_type::int8},
                                                        {"I16", {element_kind::signed_integer, 2}, data_type::int16},
                                                        {"U16", {element_kind::unsigned_integer, 2}, data_type::uint16},
                                                        {"U32", {element_kind::unsigned_integer, 4}, data_type::uint32},
                                                        {"U64", {element_kind::unsigned_integer, 8}, data_type::uint64}};

LEAT_FUNCTION array_place parse_place(const std::string& name, const nlohmann::json& entry, std::size_t available) {
  const auto wrong = [&](const std::string& what) { throw invalid_argument("array " + in_quotes(name) + ": " + what); };
  if (!entry.is_object()) wrong("its entry is no object");
  array_place found;
  for (const auto& [key, value] : entry.items()) {
    if (key == "dtype") {
      if (!value.is_string()) wrong("dtype is no text");
      for (const auto& [text, type] : safetensors_types)
        if (text == value.get_ref<const std::string&>()) found.type = type;
      for (const auto& [text, format, narrow] : safetensors_converted)
        if (text == value.get_ref<const std::string&>()) {
          found.format = format;
          found.narrow = static_cast<dtype>(narrow);
        }
      if (found.type == dtype::invalid && !found.format)
        found.problem = "its dtype " + in_quotes(value.get_ref<const std::string&>()) + " is none that the library reads";
    } else if (key == "shape") {
      if (!value.is_array()) wrong("shape is no list");
      if (value.size() > static_cast<std::size_t>(max_rank) && found.problem.empty()) found.problem = "it has more than 8 dimensions";
      for (const auto& d : value) {
        const std::size_t size = whole_number(d, name, "shape");
        if (size > available + 1 && size > (std::size_t{1} << 40)) wrong("a dimension of " + std::to_string(size));
        if (found.extent.rank < max_rank) found.extent.push(static_cast<std::int64_t>(size));
      }
    } else if (key == "data_offsets") {
      if (!value.is_array() || value.size() != 2) wrong("data_offsets are no two numbers");
      found.begin = whole_number(value[0], name, "data_offsets");
      const std::size_t end = whole_number(value[1], name, "data_offsets");
      if (end < found.begin || end > available)
        throw data_loss("array " + in_quotes(name) + ": its bytes " + std::to_string(found.begin) + " to " + std::to_string(end) +
                        " are not all in the file, which has " + std::to_string(available));
      found.size = end - found.begin;
    }
  }
  for (const char* field : {"dtype", "shape", "data_offsets"})
    if (!entry.contains(field)) wrong(std::string("lacks ") + field);
  if (!found.problem.empty()) return found;
  std::size_t bytes = static_cast<std::size_t>(found.format ? found.format->bytes : element_bytes(found.type));
  for (int i = 0; i < found.extent.rank; ++i) {
    const auto size = static_cast<std::size_t>(found.extent[i]);
    if (size != 0 && bytes > SIZE_MAX / size) wrong("its shape has too many elements");
    bytes *= size;
  }
  if (bytes != found.size) wrong("its shape takes " + std::to_string(bytes) + " bytes, but it has " + std::to_string(found.size));
  return found;
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION safetensors_layout parse_safetensors_header(std::string_view text, std::size_t available) {
  const nlohmann::json header = detail::parse_header(text);
  safetensors_layout layout;
  std::vector<std::pair<std::size_t, std::size_t>> taken;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      if (!entry.is_object()) throw invalid_argument("__metadata__ is no object");
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) throw invalid_argument("__metadata__: " + detail::in_quotes(key) + " is no text");
        layout.metadata[key] = value.get<std::string>();
      }
      continue;
    }
    const array_place found = detail::parse_place(name, entry, available);
    taken.emplace_back(found.begin, found.size);
    layout.places.emplace(name, found);
  }
  std::sort(taken.begin(), taken.end());
  std::size_t at = 0;
  for (const auto& [begin, size] : taken) {
    if (begin != at)
      throw invalid_argument(begin < at ? "two arrays share bytes"
                                        : "bytes " + std::to_string(at) + " to " + std::to_string(begin) + " belong to no array");
    at += size;
  }
  if (at != available) throw invalid_argument(std::to_string(available - at) + " bytes at the end belong to no array");
  return layout;
}

LEAT_FUNCTION void safetensors::parse() {
  if (text_.size() < 8) throw data_loss("cut off before its header");
  std::uint64_t length = 0;
  std::memcpy(&length, text_.data(), 8);
  if (length > longest_safetensors_header)
    throw invalid_argument("a header of " + std::to_string(length) + " bytes, more than the format allows");
  if (length > text_.size() - 8) throw data_loss("cut off within its header");
  data_ = 8 + static_cast<std::size_t>(length);
  safetensors_layout layout =
      parse_safetensors_header(std::string_view(text_).substr(8, static_cast<std::size_t>(length)), text_.size() - data_);
  for (const auto& [name, found] : layout.places)
    if (found.type == dtype::boolean)
      for (const char c : std::string_view(text_).substr(data_ + found.begin, found.size))
        if (c != 0 && c != 1) throw data_loss("array " + detail::in_quotes(name) + ": a truth value that is neither 0 nor 1");
  metadata = std::move(layout.metadata);
  places_ = std::move(layout.places);
}

LEAT_FUNCTION std::string safetensors_header(std::span<const std::pair<std::string, array_bytes>> arrays,
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
    for (const auto& [text, format, narrow] : detail::safetensors_converted)
      if (static_cast<dtype>(narrow) == array.type) type = text;
    if (type.empty()) wrong("a dtype that the format cannot hold");
    if (!array.extent.has_rank() || !array.extent.is_static() ||
        array.bytes.size() != static_cast<std::size_t>(array.extent.elements() * element_bytes(array.type)))
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
  return text += json;
}

LEAT_FUNCTION std::string write_safetensors(const std::map<std::string, array_bytes, std::less<>>& arrays,
                                            const std::map<std::string, std::string, std::less<>>& metadata) {
  const std::vector<std::pair<std::string, array_bytes>> list(arrays.begin(), arrays.end());
  std::string text = safetensors_header(list, metadata);
  std::size_t size = text.size();
  for (const auto& [name, array] : arrays) size += array.bytes.size();
  text.reserve(size);
  for (const auto& [name, array] : arrays) text.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return text;
}

}  // namespace leat::io
