#pragma once
// Implementation of example.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/example.hpp>
#include <leat/io/example_message.hpp>
#include <leat/proto/in_quotes.hpp>

#include <protozero/pbf_writer.hpp>

#include <algorithm>

namespace leat::io {

LEAT_FUNCTION example read_example(std::string_view bytes) {
  example made;
  detail::for_each_feature(bytes, [&](std::string_view name, std::uint32_t number, std::string_view list) {
    if (!is_utf8(name)) throw data_loss("Example: a feature's name is not UTF-8");
    feature values;
    if (number == 1) values = detail::values_of<std::string>(list);
    else if (number == 2) values = detail::values_of<float>(list);
    else if (number == 3) values = detail::values_of<std::int64_t>(list);
    if (!made.features.emplace(name, std::move(values)).second)
      throw invalid_argument("Example: the feature " + proto::detail::in_quotes(std::string(name)) + " comes twice");
  });
  return made;
}

LEAT_FUNCTION std::string write_example(const example& e) {
  std::string features;
  protozero::pbf_writer all(features);
  for (const auto& [name, values] : e.features) {
    if (!is_utf8(name)) throw invalid_argument("Example: a feature's name is not UTF-8");
    std::string list, value, entry;
    {
      protozero::pbf_writer in_list(list);
      if (const auto* texts = std::get_if<std::vector<std::string>>(&values))
        for (const std::string& text : *texts) in_list.add_bytes(1, text);
      else if (const auto* floats = std::get_if<std::vector<float>>(&values)) in_list.add_packed_float(1, floats->begin(), floats->end());
      else if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&values)) in_list.add_packed_int64(1, ints->begin(), ints->end());
    }
    if (values.index() > 0) protozero::pbf_writer(value).add_message(static_cast<protozero::pbf_tag_type>(values.index()), list);
    protozero::pbf_writer in_entry(entry);
    in_entry.add_string(1, name);
    in_entry.add_message(2, value);
    all.add_message(1, entry);
  }
  std::string message;
  protozero::pbf_writer(message).add_message(1, features);
  return message;
}

LEAT_FUNCTION example_fields::example_fields(std::vector<std::string> names) : names_(std::move(names)), places_(names_.size()) {
  for (std::size_t k = 0; k < names_.size(); ++k)
    if (std::find(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(k), names_[k]) !=
        names_.begin() + static_cast<std::ptrdiff_t>(k))
      throw invalid_argument("Example: the feature " + proto::detail::in_quotes(names_[k]) + " is asked for twice");
}

LEAT_FUNCTION void example_fields::find(std::string_view message) {
  std::fill(places_.begin(), places_.end(), place{});
  detail::for_each_feature(message, [&](std::string_view name, std::uint32_t number, std::string_view list) {
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (names_[k] != name) continue;
      if (places_[k].found) throw invalid_argument("Example: the feature " + proto::detail::in_quotes(names_[k]) + " comes twice");
      places_[k] = {static_cast<kind>(number), list, true};
    }
  });
  for (std::size_t k = 0; k < names_.size(); ++k) {
    if (places_[k].found) continue;
    std::string known;
    detail::for_each_feature(message, [&](std::string_view name, std::uint32_t, std::string_view) {
      if (known.size() < 200) known += (known.empty() ? "" : ", ") + proto::detail::in_quotes(std::string(name));
    });
    throw not_found("Example: has no feature " + proto::detail::in_quotes(names_[k]) +
                    (known.empty() ? "; it has none" : "; there are " + known));
  }
}

LEAT_FUNCTION std::size_t example_fields::count_of(std::size_t index, kind wanted) const {
  const place& at = places_.at(index);
  // A feature without a kind, or with an empty list of another kind, has no values.
  if (at.holds != wanted && !at.list.empty()) {
    static constexpr const char* words[] = {"nothing", "byte strings", "floats", "int64"};
    throw invalid_argument("Example: the feature " + proto::detail::in_quotes(names_[index]) + " holds " +
                           words[static_cast<int>(at.holds)] + " where " + words[static_cast<int>(wanted)] + " are expected");
  }
  if (at.holds != wanted) return 0;
  std::size_t count = 0;
  const auto one = [&](auto) { ++count; };
  if (wanted == kind::bytes) detail::for_each_value<std::string>(at.list, one);
  else if (wanted == kind::floats) detail::for_each_value<float>(at.list, one);
  else detail::for_each_value<std::int64_t>(at.list, one);
  return count;
}
LEAT_FUNCTION void example_fields::copy(std::size_t index, float* to) const {
  if (places_[index].holds == kind::floats) detail::for_each_value<float>(places_[index].list, [&](float value) { *to++ = value; });
}
LEAT_FUNCTION void example_fields::copy(std::size_t index, std::int64_t* to) const {
  if (places_[index].holds == kind::ints)
    detail::for_each_value<std::int64_t>(places_[index].list, [&](std::int64_t value) { *to++ = value; });
}
LEAT_FUNCTION void example_fields::copy(std::size_t index, std::string* to) const {
  if (places_[index].holds == kind::bytes)
    detail::for_each_value<std::string>(places_[index].list, [&](std::string_view value) { *to++ = value; });
}
LEAT_FUNCTION void example_fields::fail_count(std::size_t index, std::size_t there, std::size_t wanted) const {
  throw invalid_argument("Example: the feature " + proto::detail::in_quotes(names_[index]) + " has " + std::to_string(there) +
                         " values where " + std::to_string(wanted) + (wanted == 1 ? " is expected" : " are expected"));
}

}  // namespace leat::io
