#pragma once
// Constant propagation for small integer tensors while a graph is built: sizes, axes, shapes. Known are constants and values computed
// from known shapes. With it `reshape(x, stack({shape_of(x)[0], 10}))` has a static second dimension.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/named_part.hpp>

namespace leat {

namespace detail {

class known_value_reader {
 public:
  explicit known_value_reader(graph& g) : g_(g), nodes_(g.named()) {}

  using numbers = std::optional<std::vector<std::int64_t>>;

  numbers read(const output& o, int depth) const;

 private:
  static constexpr int max_depth = 16;
  // Nodes with several users are read once; at most this many, as graphs may be wide.
  static constexpr int max_visited = 256;
  static constexpr std::int64_t max_count = 64;

  output in(const output& o, int k) const { return nodes_.input(g_, o.index(), k); }
  int inputs(const output& o) const { return nodes_.input_count(g_, o.index()); }
  std::int64_t attribute(const output& o, std::string_view name) const;

  numbers computed(const output& o, int depth) const;

  numbers together(const output& o, int count, int depth) const;

  numbers strided(const output& o, int depth) const;

  numbers arithmetic(const output& o, std::string_view type, int depth) const;

  graph& g_;
  named_part& nodes_;
  mutable int visited_ = 0;
  mutable std::vector<std::pair<int, numbers>> read_;  // memo for nodes of several inputs
};

}  // namespace detail

/// The elements of an integer tensor of rank 0 or 1, -1 for each that is unknown (or computed and negative); nothing if their count is
/// unknown.
inline std::optional<std::vector<std::int64_t>> known_numbers(const output& o) {
  return detail::known_value_reader(o.owner()).read(o, 0);
}
/// The same if all of them are known and none is negative.
inline std::optional<std::vector<std::int64_t>> fully_known_numbers(const output& o) {
  auto found = known_numbers(o);
  if (found)
    for (auto n : *found)
      if (n < 0) return std::nullopt;
  return found;
}

namespace detail {

std::optional<tensor_literal> whole_numbers(const output& o);

// For operators whose one argument is the result's shape.
shape partial_shape(const op_info& op, std::span<const number_argument> arguments);

}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/known_value_bodies.hpp>
#endif
