#pragma once
// Rows of an array that lists of indices name, and places of elements for messages.

#include <leat/runtime/kernels/walk.hpp>

#include <string>
#include <vector>

namespace leat::runtime {

// The position of element `k` of a tensor, "indices[1,0]", for messages.
inline std::string element_place(std::string_view name, const shape& s, std::int64_t k) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(s.rank));
  for (int i = s.rank - 1; i >= 0; --i) {
    at[static_cast<std::size_t>(i)] = k % s[i];
    k /= s[i];
  }
  std::string text(name);
  if (s.rank == 0) return text;
  for (std::size_t i = 0; i < at.size(); ++i) text += (i == 0 ? "[" : ",") + std::to_string(at[i]);
  return text + "]";
}

// The rows that the innermost dimension of indices selects, and the width of a row. Indices of depth 0 all select the only row; they are
// not stored, because their number is not bounded by any array's elements.
struct named_rows {
  std::int64_t count = 0;
  std::int64_t width = 1;
  shape outer;
  named_rows(const std::vector<std::int64_t>& indices, const shape& places, const shape& s) {
    if (places.rank < 1) throw invalid_argument("indices must be at least a vector");
    const std::int64_t depth = places[places.rank - 1];
    if (depth > s.rank)
      throw invalid_argument("index innermost dimension length must be <= params rank; saw: " + std::to_string(depth) + " vs. " +
                             std::to_string(s.rank));
    for (int i = 0; i + 1 < places.rank; ++i) outer.push(places[i]);
    width = product(s, static_cast<int>(depth), s.rank);
    count = outer.elements();
    if (depth == 0) return;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t row = 0;
      for (std::int64_t a = 0; a < depth; ++a) {
        const auto at = indices[static_cast<std::size_t>(k * depth + a)];
        const auto size = s[static_cast<int>(a)];
        if (at < 0 || at >= size) {
          std::string text = element_place("indices", outer, k) + " = [";
          for (std::int64_t i = 0; i < depth; ++i)
            text += (i > 0 ? ", " : "") + std::to_string(indices[static_cast<std::size_t>(k * depth + i)]);
          throw invalid_argument(text + "] does not index into shape " + brackets(s));
        }
        row = row * size + at;
      }
      rows_.push_back(row);
    }
  }
  std::int64_t row(std::int64_t k) const { return rows_.empty() ? 0 : rows_[static_cast<std::size_t>(k)]; }
  /// The rows of the first `n` lists of indices, as a list.
  const std::int64_t* list(std::int64_t n) {
    if (static_cast<std::int64_t>(rows_.size()) < n) rows_.resize(static_cast<std::size_t>(n), 0);
    return rows_.data();
  }

 private:
  std::vector<std::int64_t> rows_;
};

}  // namespace leat::runtime
