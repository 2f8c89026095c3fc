#pragma once
// Implementation of random_state.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/random_state.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>

namespace leat::io {

LEAT_FUNCTION std::string write_random_state(const random_positions& positions) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [node, at] : positions) all[node] = {at.seed, at.next};
  return all.dump();
}

LEAT_FUNCTION random_positions read_random_state(std::string_view text, std::string_view where) {
  try {
    random_positions positions;
    const auto all = nlohmann::json::parse(text);
    for (const auto& [node, at] : all.items())
      positions[node] = {.seed = at.at(0).get<std::uint64_t>(), .next = at.at(1).get<std::uint64_t>()};
    return positions;
  } catch (const nlohmann::json::exception& e) {
    throw data_loss(std::string(where) + ": the positions of random numbers are malformed: " + e.what());
  }
}

}  // namespace leat::io
