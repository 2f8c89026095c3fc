#pragma once
// Nodes with the results that TensorFlow gave for them, written as they are recorded:
//
//   {"ExtractJpegShape", {text({}, {file})}, {}, {i32({3}, {2, 3, 1})}},
//
// Each runs twice: with shapes that are unknown while the graph is built, and with known ones, integers as constants.

#include "support/messages.hpp"

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace recorded_nodes {

using namespace leat;
using size_list = std::vector<std::int64_t>;

inline shape extent_of(const size_list& list) {
  shape s;
  for (const auto n : list) s.push(n);
  return s;
}
inline tensor_value f32(const size_list& of, const std::vector<double>& list) {
  return {extent_of(of), std::vector<float>(list.begin(), list.end())};
}
inline tensor_value f64(const size_list& of, const std::vector<double>& list) { return {extent_of(of), list}; }
inline tensor_value i32(const size_list& of, const std::vector<std::int32_t>& list) { return {extent_of(of), list}; }
inline tensor_value i64(const size_list& of, const std::vector<std::int64_t>& list) { return {extent_of(of), list}; }
inline tensor_value u8(const size_list& of, const std::vector<int>& list) {
  return {extent_of(of), std::vector<std::uint8_t>(list.begin(), list.end())};
}
inline tensor_value flags(const size_list& of, const std::vector<int>& list) {
  tensor_value made(dtype::boolean, extent_of(of));
  for (std::size_t k = 0; k < list.size(); ++k) made.values<bool>()[k] = list[k] != 0;
  return made;
}
inline tensor_value text(const size_list& of, const std::vector<std::string>& list) {
  tensor_value made(text_dtype, extent_of(of));
  made.texts() = list;
  return made;
}

struct recorded {
  const char* type;
  std::vector<tensor_value> inputs;
  attribute_map settings;
  std::vector<tensor_value> results;
};

/// The results of a node of these inputs.
inline std::vector<tensor_value> run_on(std::string_view type, const std::vector<tensor_value>& inputs, const attribute_map& settings,
                                        bool is_known = false, const session_options& options = {}) {
  graph g;
  const auto scope = g.as_default();
  std::vector<number_argument> arguments;
  std::vector<feed_item> feeds;
  for (const tensor_value& v : inputs) {
    if (is_known && v.type() == dtype::int32) {
      arguments.emplace_back(tensor_literal(v.extent(), v.as<std::vector<std::int32_t>>()));
    } else if (is_known && v.type() == dtype::int64) {
      arguments.emplace_back(tensor_literal(v.extent(), v.as<std::vector<std::int64_t>>()));
    } else {
      const output place = placeholder(v.type(), is_known ? v.extent() : shape::unknown());
      arguments.emplace_back(place);
      feeds.push_back({place, v});
    }
  }
  const auto node = call_operator(g, type, arguments, settings);
  graph_session s(g, options);
  auto results = s.run(node.outputs(), feeds);
  for (std::size_t k = 0; k < results.size(); ++k) CHECK(may_equal(node.outputs()[k].extent(), results[k].extent()));
  return results;
}

/// Whether two values are equal, real numbers up to `tolerance`, absolute below 1 and relative above.
inline void check_equal(const tensor_value& is, const tensor_value& wanted, double tolerance) {
  REQUIRE(dtype_name(is.type()) == dtype_name(wanted.type()));
  REQUIRE(brackets(is.extent()) == brackets(wanted.extent()));
  if (is.type() == text_dtype) {
    CHECK(is.texts() == wanted.texts());
    return;
  }
  with_dtype(is.type(), [&]<class T>(T) {
    for (std::size_t i = 0; i < is.values<T>().size(); ++i) {
      INFO("element ", i);
      const auto a = static_cast<double>(is.values<T>()[i]), b = static_cast<double>(wanted.values<T>()[i]);
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(b) || std::isinf(b) || tolerance == 0) CHECK((a == b || (std::isnan(a) && std::isnan(b))));
        else CHECK(std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)));
      } else {
        CHECK(a == b);
      }
    }
  });
}

inline void check_recorded(const std::vector<recorded>& list, double tolerance = 1e-5) {
  for (std::size_t at = 0; at < list.size(); ++at)
    for (const bool is_known : {false, true}) {
      const std::string which = list[at].type + std::string(is_known ? ", known shapes" : "");
      INFO("recording ", at, ": ", which);
      std::vector<tensor_value> results;
      const std::string thrown =
          leat_test::message_of<error>([&] { results = run_on(list[at].type, list[at].inputs, list[at].settings, is_known); });
      CHECK(thrown == "nothing was thrown");
      REQUIRE(results.size() == list[at].results.size());
      for (std::size_t k = 0; k < results.size(); ++k) check_equal(results[k], list[at].results[k], tolerance);
    }
}
/// Whether such a node is refused by an error of this class, with these words.
template <class Error = invalid_argument>
bool refuses(std::string_view type, const std::vector<tensor_value>& inputs, const attribute_map& settings, std::string_view words) {
  return leat_test::says(leat_test::message_of<Error>([&] { run_on(type, inputs, settings); }), words);
}

}  // namespace recorded_nodes
