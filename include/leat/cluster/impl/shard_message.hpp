#pragma once
// Implementation of shard_message.hpp.

#include <leat/cluster/shard_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <nlohmann/json.hpp>

#include <limits>

namespace leat::cluster {

template <class F>
auto read_shard_message(std::string_view text, F f) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  try {
    return f(json);
  } catch (const nlohmann::json::exception& e) {
    throw data_loss(std::string("a message of shards: ") + e.what());
  }
}

LEAT_FUNCTION std::string json_of(const shard_of_task& order) {
  nlohmann::json variables = nlohmann::json::array();
  for (const auto& v : order.variables) variables.push_back({v.container, v.name, v.name_in_file});
  return nlohmann::json{{"incarnation", order.incarnation}, {"path", order.path}, {"variables", std::move(variables)}}.dump();
}

LEAT_FUNCTION shard_of_task shard_of_task_in(std::string_view text) {
  return read_shard_message(text, [](const nlohmann::json& json) {
    shard_of_task order;
    json.at("incarnation").get_to(order.incarnation);
    json.at("path").get_to(order.path);
    for (const auto& v : json.at("variables"))
      order.variables.push_back({v.at(0).get<std::string>(), v.at(1).get<std::string>(), v.at(2).get<std::string>()});
    return order;
  });
}

LEAT_FUNCTION std::string json_of(const std::vector<shard_order>& orders) {
  nlohmann::json list = nlohmann::json::array();
  for (const shard_order& o : orders) list.push_back({{"device", o.device}, {"path", o.path}, {"variables", o.variables}});
  return list.dump();
}

LEAT_FUNCTION std::vector<shard_order> shard_orders_in(std::string_view text) {
  return read_shard_message(text, [](const nlohmann::json& json) {
    std::vector<shard_order> orders;
    for (const auto& one : json) {
      shard_order& o = orders.emplace_back();
      one.at("device").get_to(o.device);
      one.at("path").get_to(o.path);
      one.at("variables").get_to(o.variables);
    }
    return orders;
  });
}

// A shape of unknown rank is null; negative sizes stand for unknown ones, as in a graph.
inline nlohmann::json json_of_shape(const shape& s) {
  return s.has_rank() ? nlohmann::json(std::vector<std::int64_t>(s.dim, s.dim + s.rank)) : nlohmann::json();
}
inline shape shape_in(const nlohmann::json& json, std::int64_t least) {
  if (json.is_null() && least < 0) return shape::unknown();
  shape read;
  for (const auto size : json.get<std::vector<std::int64_t>>()) {
    if (size < least || read.rank >= max_rank) throw data_loss("a message of shards: a shape that is none");
    read.push(size);
  }
  return read;
}

LEAT_FUNCTION std::string json_of(const reading_of_task& order) {
  nlohmann::json variables = nlohmann::json::array();
  for (const auto& v : order.variables)
    variables.push_back(
        {v.container, v.name, json_of_shape(v.graph_extent), v.name_in_file, v.is_slice, v.offset, json_of_shape(v.extent)});
  return nlohmann::json{{"incarnation", order.incarnation},
                        {"session", order.session},
                        {"prefix", order.prefix},
                        {"manifest_crc", order.manifest_crc},
                        {"variables", std::move(variables)}}
      .dump();
}

LEAT_FUNCTION reading_of_task reading_of_task_in(std::string_view text) {
  return read_shard_message(text, [](const nlohmann::json& json) {
    reading_of_task order;
    json.at("incarnation").get_to(order.incarnation);
    json.at("session").get_to(order.session);
    json.at("prefix").get_to(order.prefix);
    json.at("manifest_crc").get_to(order.manifest_crc);
    for (const auto& v : json.at("variables"))
      order.variables.push_back({v.at(0).get<std::string>(), v.at(1).get<std::string>(),
                                 shape_in(v.at(2), std::numeric_limits<std::int64_t>::min()), v.at(3).get<std::string>(),
                                 v.at(5).get<std::vector<std::int64_t>>(), shape_in(v.at(6), 0), v.at(4).get<bool>()});
    return order;
  });
}

LEAT_FUNCTION std::string json_of(const std::vector<shard_reading>& orders) {
  nlohmann::json list = nlohmann::json::array();
  for (const shard_reading& o : orders) {
    nlohmann::json variables = nlohmann::json::array();
    for (const auto& v : o.variables) variables.push_back({v.node, v.name, v.is_slice, v.offset, json_of_shape(v.extent)});
    list.push_back({{"device", o.device}, {"prefix", o.prefix}, {"manifest_crc", o.manifest_crc}, {"variables", std::move(variables)}});
  }
  return list.dump();
}

LEAT_FUNCTION std::vector<shard_reading> shard_readings_in(std::string_view text) {
  return read_shard_message(text, [](const nlohmann::json& json) {
    std::vector<shard_reading> orders;
    for (const auto& one : json) {
      shard_reading& o = orders.emplace_back();
      one.at("device").get_to(o.device);
      one.at("prefix").get_to(o.prefix);
      one.at("manifest_crc").get_to(o.manifest_crc);
      for (const auto& v : one.at("variables"))
        o.variables.push_back({v.at(0).get<std::string>(), v.at(1).get<std::string>(), v.at(3).get<std::vector<std::int64_t>>(),
                               shape_in(v.at(4), 0), v.at(2).get<bool>()});
    }
    return orders;
  });
}

LEAT_FUNCTION std::string json_of(const std::vector<written_shard>& written) {
  nlohmann::json list = nlohmann::json::array();
  for (const written_shard& w : written) {
    nlohmann::json tensors = nlohmann::json::array();
    for (const auto& t : w.tensors)
      tensors.push_back({t.name, static_cast<int>(t.dtype), std::vector<std::int64_t>(t.shape.dim, t.shape.dim + t.shape.rank), t.crc32c});
    list.push_back({{"bytes", w.bytes}, {"head_bytes", w.head_bytes}, {"head_crc32c", w.head_crc32c}, {"tensors", std::move(tensors)}});
  }
  return list.dump();
}

LEAT_FUNCTION std::vector<written_shard> written_shards_in(std::string_view text) {
  return read_shard_message(text, [](const nlohmann::json& json) {
    std::vector<written_shard> written;
    for (const auto& one : json) {
      written_shard& w = written.emplace_back();
      one.at("bytes").get_to(w.bytes);
      one.at("head_bytes").get_to(w.head_bytes);
      one.at("head_crc32c").get_to(w.head_crc32c);
      for (const auto& tensor : one.at("tensors")) {
        auto& t = w.tensors.emplace_back();
        tensor.at(0).get_to(t.name);
        const int type = tensor.at(1).get<int>();
        if (type < 0 || type > 255) throw data_loss("a message of shards: a dtype that is none");
        t.dtype = static_cast<dtype>(type);
        for (const auto size : tensor.at(2).get<std::vector<std::int64_t>>()) {
          if (size < 0 || t.shape.rank >= max_rank) throw data_loss("a message of shards: a shape that is none");
          t.shape.push(size);
        }
        tensor.at(3).get_to(t.crc32c);
      }
    }
    return written;
  });
}

}  // namespace leat::cluster
