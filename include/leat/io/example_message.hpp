#pragma once
// The features of a tf.Example message as they lie in its bytes (example.hpp).

#include <leat/core/error.hpp>

#include <protozero/pbf_reader.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace leat::io::detail {

// Calls `use(name, field number of the list or 0, bytes of the list)` for each feature of an example.
template <class Use>
void for_each_feature(std::string_view bytes, Use use) {
  constexpr auto message = protozero::pbf_wire_type::length_delimited;
  try {
    for (protozero::pbf_reader all(bytes.data(), bytes.size()); all.next();) {
      if (all.tag_and_type() != protozero::tag_and_type(1, message)) {
        all.skip();
        continue;
      }
      for (protozero::pbf_reader features = all.get_message(); features.next();) {
        if (features.tag_and_type() != protozero::tag_and_type(1, message)) {
          features.skip();
          continue;
        }
        std::string_view name, list;
        std::uint32_t number = 0;
        for (protozero::pbf_reader entry = features.get_message(); entry.next();) {
          if (entry.tag_and_type() == protozero::tag_and_type(1, message)) {
            const auto view = entry.get_view();
            name = {view.data(), view.size()};
          } else if (entry.tag_and_type() == protozero::tag_and_type(2, message)) {
            for (protozero::pbf_reader value = entry.get_message(); value.next();) {
              if (value.wire_type() != message || value.tag() < 1 || value.tag() > 3) {
                value.skip();
                continue;
              }
              number = value.tag();
              const auto view = value.get_view();
              list = {view.data(), view.size()};
            }
          } else {
            entry.skip();
          }
        }
        use(name, number, list);
      }
    }
  } catch (const protozero::exception& e) {
    throw data_loss(std::string("Example: the message is cut off or damaged (") + e.what() + ")");
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
