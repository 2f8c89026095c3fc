#pragma once
// Implementation of checkpoint_state.hpp.

#include <leat/checkpoint/checkpoint_state.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/place.hpp>

#include <algorithm>
#include <charconv>

namespace leat::detail {

LEAT_FUNCTION std::string text_form(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '\'') made += '\\', made += c;
    else if (c == '\n') made += "\\n";
    else if (c == '\t') made += "\\t";
    else if (c == '\r') made += "\\r";
    else if (byte < 0x20 || byte >= 0x7f)
      made += '\\', made += static_cast<char>('0' + (byte >> 6)), made += static_cast<char>('0' + (byte >> 3 & 7)),
          made += static_cast<char>('0' + (byte & 7));
    else made += c;
  }
  return made + '"';
}

// The contents of a string literal of protobuf's text form; `at` is after its first quote, and is moved after its last.
LEAT_FUNCTION bool read_text_form(std::string_view line, std::size_t& at, char quote, std::string& text) {
  const auto digit = [&](unsigned base) {
    if (at >= line.size()) return -1;
    const char c = line[at];
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
    return value < static_cast<int>(base) ? value : -1;
  };
  while (at < line.size()) {
    const char c = line[at++];
    if (c == quote) return true;
    if (c != '\\') {
      text += c;
      continue;
    }
    if (at >= line.size()) return false;
    const bool hexadecimal = line[at] == 'x' || line[at] == 'X';
    if (hexadecimal) ++at;
    if (const unsigned base = hexadecimal ? 16 : 8; digit(base) >= 0) {
      int value = 0;
      for (int n = 0; n < (hexadecimal ? 2 : 3) && digit(base) >= 0; ++n) value = value * static_cast<int>(base) + digit(base), ++at;
      if (value > 255) return false;
      text += static_cast<char>(value);
      continue;
    }
    if (hexadecimal) return false;
    constexpr std::string_view letters = "abfnrtv\\'\"?", meant = "\a\b\f\n\r\t\v\\'\"?";
    const auto found = letters.find(line[at++]);
    if (found == letters.npos) return false;
    text += meant[found];
  }
  return false;
}

LEAT_FUNCTION std::string number_text(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

LEAT_FUNCTION bool lies_in(const std::string& folder, const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  std::error_code problem;
  return std::filesystem::equivalent(parent.empty() ? "." : parent, folder.empty() ? "." : folder, problem) && !problem;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION std::string write_checkpoint_state(const checkpoint_state& state) {
  std::string text = "model_checkpoint_path: " + detail::text_form(state.model_checkpoint_path) + "\n";
  for (const std::string& path : state.all_model_checkpoint_paths) text += "all_model_checkpoint_paths: " + detail::text_form(path) + "\n";
  for (const double time : state.all_model_checkpoint_timestamps)
    text += "all_model_checkpoint_timestamps: " + detail::number_text(time) + "\n";
  if (state.last_preserved_timestamp != 0)
    text += "last_preserved_timestamp: " + detail::number_text(state.last_preserved_timestamp) + "\n";
  return text;
}

LEAT_FUNCTION checkpoint_state read_checkpoint_state(std::string_view text) {
  checkpoint_state state;
  std::size_t line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto wrong = [&](const char* what) {
      throw data_loss("line " + std::to_string(line_number) + ": " + what + ": " + io::detail::in_quotes(line));
    };
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
    while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const auto colon = line.find(':');
    if (colon == line.npos) wrong("expected FIELD: VALUE");
    const std::string_view field = line.substr(0, colon);
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && is_space(value.front())) value.remove_prefix(1);
    if (field == "model_checkpoint_path" || field == "all_model_checkpoint_paths") {
      std::string path;
      std::size_t at = 1;
      if (value.empty() || (value[0] != '"' && value[0] != '\'') || !detail::read_text_form(value, at, value[0], path) ||
          at != value.size())
        wrong("expected a string in quotes");
      if (path.find('\0') != path.npos) wrong("a path with a zero byte");
      if (field == "model_checkpoint_path") state.model_checkpoint_path = path;
      else state.all_model_checkpoint_paths.push_back(path);
    } else if (field == "all_model_checkpoint_timestamps" || field == "last_preserved_timestamp") {
      double number = 0;
      const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
      if (read.ec != std::errc{} || read.ptr != value.data() + value.size()) wrong("expected a number");
      if (field == "last_preserved_timestamp") state.last_preserved_timestamp = number;
      else state.all_model_checkpoint_timestamps.push_back(number);
    } else {
      wrong("an unknown field");
    }
  }
  return state;
}

LEAT_FUNCTION std::optional<checkpoint_state> get_checkpoint_state(const std::string& folder, const std::string& latest_filename) {
  const std::filesystem::path at = std::filesystem::path(folder) / latest_filename;
  std::string text;
  try {
    text = io::input_file(at).text();
  } catch (const not_found&) {
    return std::nullopt;
  }
  checkpoint_state state = io::detail::naming(at, [&] { return read_checkpoint_state(text); });
  const auto whole = [&](std::string& path) {
    if (path.empty()) return;
    if (path[0] != '/') path = (std::filesystem::path(folder) / path).string();
    else if (!detail::lies_in(folder, path))
      if (const auto here = (std::filesystem::path(folder) / std::filesystem::path(path).filename()).string(); checkpoint_exists(here))
        path = here;
  };
  whole(state.model_checkpoint_path);
  for (std::string& path : state.all_model_checkpoint_paths) whole(path);
  return state;
}

LEAT_FUNCTION checkpoint_path latest_checkpoint(const std::string& folder, const std::string& latest_filename) {
  std::optional<checkpoint_state> before;
  for (;;) {
    const auto state = get_checkpoint_state(folder, latest_filename);
    if (!state) return {};
    std::vector<std::string> candidates{state->model_checkpoint_path};
    for (auto at = state->all_model_checkpoint_paths.rbegin(); at != state->all_model_checkpoint_paths.rend(); ++at)
      candidates.push_back(*at);
    // A relative path may lead out of the folder, to where nothing is after a move.
    for (std::string& path : candidates)
      if (!path.empty() && !checkpoint_exists(path))
        if (const auto moved = (std::filesystem::path(folder) / std::filesystem::path(path).filename()).string(); checkpoint_exists(moved))
          path = moved;
    // What is removed between the reading of the state and the opening is no longer the newest: then the state says another one. Only if
    // it does not, someone removed it by hand, and an older one is the newest that is left.
    const std::size_t count = before == state ? candidates.size() : 1;
    for (std::size_t i = 0; i < count; ++i) {
      if (candidates[i].empty()) continue;
      try {
        return checkpoint_path(std::make_shared<const checkpoint_reader>(candidates[i]));
      } catch (const not_found&) {
      }
    }
    if (before == state) return {};
    before = state;
  }
}

}  // namespace leat
