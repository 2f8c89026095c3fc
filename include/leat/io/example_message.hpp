#pragma once
// The features of tf.Example and tf.SequenceExample messages as they lie in their bytes (example.hpp).

#include <leat/core/error.hpp>

#include <protozero/pbf_reader.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace leat::io::detail {

/// A feature: the field number of its list, 0 for none, and the list's bytes.
struct feature_bytes {
  std::uint32_t number = 0;
  std::string_view list;
};
inline std::string_view next_bytes(protozero::pbf_reader& in) {
  const auto view = in.get_view();
  return {view.data(), view.size()};
}
// Calls `use` with the bytes of each message in a field. Other fields are skipped.
template <class Use>
void for_each_message(std::string_view bytes, std::uint32_t field, Use use) {
  constexpr auto message = protozero::pbf_wire_type::length_delimited;
  for (protozero::pbf_reader in(bytes.data(), bytes.size()); in.next();)
    if (in.tag_and_type() == protozero::tag_and_type(field, message)) use(next_bytes(in));
    else in.skip();
}
// Adds a feature's message to what was read of it before: of several lists the last one counts.
inline void read_feature(std::string_view bytes, feature_bytes& to) {
  for (protozero::pbf_reader in(bytes.data(), bytes.size()); in.next();) {
    if (in.wire_type() != protozero::pbf_wire_type::length_delimited || in.tag() < 1 || in.tag() > 3) {
      in.skip();
      continue;
    }
    to.number = in.tag();
    to.list = next_bytes(in);
  }
}
// For each entry of the map in this field: calls `value` with the bytes of its value, or of several, and then `end` with its name.
template <class Value, class End>
void for_each_entry(std::string_view bytes, std::uint32_t field, Value value, End end) {
  constexpr auto message = protozero::pbf_wire_type::length_delimited;
  try {
    for_each_message(bytes, field, [&](std::string_view maps) {
      for_each_message(maps, 1, [&](std::string_view entry) {
        std::string_view name;
        for (protozero::pbf_reader in(entry.data(), entry.size()); in.next();)
          if (in.tag_and_type() == protozero::tag_and_type(1, message)) name = next_bytes(in);
          else if (in.tag_and_type() == protozero::tag_and_type(2, message)) value(next_bytes(in));
          else in.skip();
        end(name);
      });
    });
  } catch (const protozero::exception& e) {
    throw data_loss(std::string("Example: the message is cut off or damaged (") + e.what() + ")");
  }
}

// Calls `use(name, field number of the list or 0, bytes of the list)` for each feature of an example, or of the context of a sequence.
template <class Use>
void for_each_feature(std::string_view bytes, Use use) {
  feature_bytes found;
  for_each_entry(
      bytes, 1, [&](std::string_view value) { read_feature(value, found); },
      [&](std::string_view name) {
        use(name, found.number, found.list);
        found = {};
      });
}
// Calls `use(name, bytes of the list)` for each list of features of a sequence.
template <class Use>
void for_each_feature_list(std::string_view bytes, Use use) {
  std::string_view list;
  for_each_entry(
      bytes, 2, [&](std::string_view value) { list = value; },
      [&](std::string_view name) {
        use(name, list);
        list = {};
      });
}
// Calls `use` with the feature of each step of a list.
template <class Use>
void for_each_step(std::string_view list, Use use) {
  try {
    for_each_message(list, 1, [&](std::string_view step) {
      feature_bytes found;
      read_feature(step, found);
      use(found);
    });
  } catch (const protozero::exception& e) {
    throw data_loss(std::string("Example: a list of features is cut off or damaged (") + e.what() + ")");
  }
}

// Calls `use` for each value of a list.
template <class T, class Use>
void for_each_value(std::string_view list, Use use) {
  constexpr auto packed = protozero::tag_and_type(1, protozero::pbf_wire_type::length_delimited);
  try {
    for (protozero::pbf_reader in(list.data(), list.size()); in.next();) {
      if constexpr (std::is_same_v<T, std::string>) {
        if (in.tag_and_type() == packed) {
          const auto view = in.get_view();
          use(std::string_view(view.data(), view.size()));
        } else {
          in.skip();
        }
      } else if constexpr (std::is_same_v<T, float>) {
        if (in.tag_and_type() == packed)
          for (const float value : in.get_packed_float()) use(value);
        else if (in.tag_and_type() == protozero::tag_and_type(1, protozero::pbf_wire_type::fixed32)) use(in.get_float());
        else in.skip();
      } else {
        if (in.tag_and_type() == packed)
          for (const std::int64_t value : in.get_packed_int64()) use(value);
        else if (in.tag_and_type() == protozero::tag_and_type(1, protozero::pbf_wire_type::varint)) use(in.get_int64());
        else in.skip();
      }
    }
  } catch (const protozero::exception& e) {
    throw data_loss(std::string("Example: a list of values is cut off or damaged (") + e.what() + ")");
  }
}
template <class T>
std::vector<T> values_of(std::string_view list) {
  std::vector<T> values;
  for_each_value<T>(list, [&](auto value) { values.emplace_back(value); });
  return values;
}

}  // namespace leat::io::detail
