#pragma once
// Kernel of the number of insertions, deletions and substitutions that make one sequence of labels from another. Source: TensorFlow
// `EditDistance`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/sparse.hpp>
#include <leat/runtime/kernels/unique.hpp>

#include <limits>
#include <map>
#include <numeric>

namespace leat::runtime {

/// Which values of a sparse tensor belong to each sequence, by the index of the sequence: all axes but the last.
inline std::map<std::vector<std::int64_t>, std::vector<std::size_t>> sequences_of(const sparse_parts& x) {
  std::map<std::vector<std::int64_t>, std::vector<std::size_t>> made;
  for (std::size_t k = 0; k < x.count; ++k) made[std::vector<std::int64_t>(x.index(k), x.index(k) + x.rank - 1)].push_back(k);
  return made;
}
/// The smallest number of changes that make sequence `b` from `a`. `is_same` compares values.
template <class S, class Same>
std::int64_t edit_distance(kernel_context& c, const S* a, const std::vector<std::size_t>& at_a, const S* b,
                           const std::vector<std::size_t>& at_b, const Same& is_same) {
  std::vector<std::int64_t> row(at_b.size() + 1);
  std::iota(row.begin(), row.end(), std::int64_t{0});
  for (std::size_t i = 0; i < at_a.size(); ++i) {
    c.step.check();
    std::int64_t diagonal = row[0]++;
    for (std::size_t j = 0; j < at_b.size(); ++j) {
      const std::int64_t changed = diagonal + (is_same(a[at_a[i]], b[at_b[j]]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}
inline void run_edit_distance(kernel_context& c) {
  if (c.extent(2).rank == 1 && c.extent(5).rank == 1) {
    if (c.extent(5)[0] < 2)
      throw invalid_argument("Input SparseTensors must have rank at least 2, but truth_shape rank is: " + std::to_string(c.extent(5)[0]));
    if (c.extent(2)[0] != c.extent(5)[0])
      throw invalid_argument("Expected truth and hypothesis to have matching ranks, but their shapes are: " + brackets(c.extent(5)) +
                             " and " + brackets(c.extent(2)));
  }
  const sparse_parts hypothesis(c, 0, 1, 2), truth(c, 3, 4, 5);
  const bool is_normal = c.node.flag("normalize", true);
  std::vector<std::int64_t> sizes;
  for (std::size_t d = 0; d + 1 < truth.rank; ++d) sizes.push_back(std::max(truth.sizes[d], hypothesis.sizes[d]));
  const shape extent = shape_from(sizes);
  tensor_value made = filled_number(dtype::float32, extent, 0);
  auto guesses = sequences_of(hypothesis);
  const auto truths = sequences_of(truth);
  for (const auto& entry : truths) guesses.try_emplace(entry.first);
  static const std::vector<std::size_t> nothing;
  with_storage(truth.values.type(), [&]<class S>(S) {
    // 0 equals -0, and NaN nothing.
    const element_key<S> key(truth.values.type());
    const auto is_same = [&](const S& a, const S& b) { return key(a) == key(b) && !key.equals_nothing(a); };
    for (const auto& [index, guess] : guesses) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < index.size(); ++d) {
        if (index[d] < 0 || index[d] >= sizes[d])
          throw invalid_argument("Got an index " + std::to_string(index[d]) +
                                 " which would require writing to outside of the buffer for the output tensor (shape " + brackets(extent) +
                                 ")");
        place = place * sizes[d] + index[d];
      }
      const auto found = truths.find(index);
      const auto& right = found == truths.end() ? nothing : found->second;
      const auto changes = static_cast<float>(
          edit_distance(c, stored<S>(hypothesis.values), guess, stored<S>(truth.values), right, is_same));
      const auto size = static_cast<float>(right.size());
      made.values<float>()[static_cast<std::size_t>(place)] =
          !is_normal ? changes : right.empty() ? std::numeric_limits<float>::infinity() : changes / size;
    }
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_edit_distance_kernels) { register_kernel("EditDistance", run_edit_distance); }

}  // namespace leat::runtime
