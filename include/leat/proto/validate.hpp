#pragma once
// Validates a graph_def: names are well-formed and unique, inputs exist, control inputs come last, there are no cycles except through a
// loop's back edge (from NextIteration to Merge), tensors match their shapes. Operators are not interpreted. Takes time linear in the size
// of the graph.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/graph_def.hpp>
#include <leat/proto/in_quotes.hpp>
#include <leat/proto/node_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::proto {

/// An error in a graph: the node, the field ("input[1]", `attr["value"].tensor`), and a description.
struct finding {
  std::string node;
  std::string field;
  std::string what;
  bool operator==(const finding&) const = default;
};

/// The error as text: `node "a": input[0]: ...`.
std::string to_text(const finding& f);

/// Whether TensorFlow accepts the name of a node: letters, digits, `.`, and after the first also `_ / \ > -`.
constexpr bool is_node_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
  };
  if (name.empty() || !letter(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || c == '_' || c == '/' || c == '\\' || c == '>' || c == '-'; });
}

/// An input as written: "name" or "name:1", or "^name" for a control input.
struct input_name {
  std::string_view node;
  int output = 0;
  bool control = false;
};
/// Parses an input. Returns nothing for any other form, such as an empty name or an output that is not a number below 2^31.
constexpr std::optional<input_name> parse_input(std::string_view text) {
  input_name input;
  if (text.starts_with('^')) {
    input.control = true;
    text.remove_prefix(1);
  } else if (const auto colon = text.rfind(':'); colon != text.npos) {
    const auto digits = text.substr(colon + 1);
    if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
    std::int64_t number = 0;
    for (char c : digits) {
      if (c < '0' || c > '9') return std::nullopt;
      number = 10 * number + (c - '0');
      if (number > 0x7fffffff) return std::nullopt;
    }
    input.output = static_cast<int>(number);
    text.remove_suffix(text.size() - colon);
  }
  input.node = text;
  if (!is_node_name(text)) return std::nullopt;
  return input;
}

namespace detail {
inline constexpr std::size_t most_findings = 1000;
}  // namespace detail

/// All errors of a whole graph, at most `most` of them; only the first cycle is reported.
std::vector<finding> findings(const graph_def& graph, std::size_t most = detail::most_findings);

/// Throws if the graph has errors. Errors: invalid_argument, with node and field of the first error, and the number of other errors.
void validate(const graph_def& graph);
inline void validate(const meta_graph_def& meta) { validate(meta.graph); }

}  // namespace leat::proto

#if LEAT_WITH_BODIES
#include <leat/proto/impl/validate.hpp>
#endif
