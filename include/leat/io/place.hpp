#pragma once
// The location of an error for a message: a chain of steps on the stack, from the field with the error up to the whole message. It costs
// nothing until it is printed, as `node "a/b": attr["value"].tensor.float_val`.

#include <leat/proto/in_quotes.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace leat::io::detail {

/// One step of the path. A node restarts the text, since its name identifies the location.
struct place {
  const place* parent = nullptr;
  std::string_view field{};          // "attr"
  const std::string* key = nullptr;  // key of a map's entry
  std::int64_t index = -1;           // index in a repeated field
  const std::string* node_name = nullptr;
};

using proto::detail::in_quotes;

/// Appends one step to a path.
inline void append_step(std::string& node, std::string& path, const place& step) {
  if (step.node_name != nullptr) {
    node = step.node_name->empty() ? "node number " + std::to_string(step.index) : "node " + in_quotes(*step.node_name);
    path.clear();
    return;
  }
  if (!step.field.empty()) {
    if (!path.empty()) path += '.';
    path += step.field;
  }
  if (step.key != nullptr) path += "[" + in_quotes(*step.key) + "]";
  if (step.index >= 0) path += "[" + std::to_string(step.index) + "]";
}

inline std::string joined(const std::string& node, const std::string& path) {
  return node.empty() || path.empty() ? node + path : node + ": " + path;
}

inline void append_steps(std::string& node, std::string& path, const place* step) {
  if (step == nullptr) return;
  append_steps(node, path, step->parent);
  append_step(node, path, *step);
}

/// The whole path as text.
inline std::string to_text(const place& at) {
  std::string node, path;
  append_steps(node, path, &at);
  return joined(node, path);
}

template <class Error>
[[noreturn]] void fail(const place& at, std::string_view what) {
  const std::string where = to_text(at);
  throw Error(where.empty() ? std::string(what) : where + ": " + std::string(what));
}

}  // namespace leat::io::detail
