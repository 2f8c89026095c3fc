#pragma once
// Numbers shapes, without their dimensions of 1: fusion compares these numbers, which takes less constant evaluation than comparing shapes.

#include <leat/core/list.hpp>
#include <leat/core/shape.hpp>
#include <leat/core/text.hpp>
#include <leat/graph/id_table.hpp>

namespace leat::passes::detail {

using leat::detail::list;

/// Assigns a number to each shape, the same to equal ones, and stores the shapes by number in `shapes`.
class shape_numbers {
 public:
  constexpr explicit shape_numbers(list<shape>& shapes) : shapes_(shapes) {}
  constexpr int of(const shape& extent) {
    if (last_ >= 0 && extent == last_extent_) return last_;
    last_extent_ = extent;
    return last_ = find(extent.squeezed());
  }

 private:
  constexpr int find(const shape& s) {
    std::uint64_t key = 23;
    for (int i = 0; i < s.rank; ++i) key = mix(key, static_cast<std::uint64_t>(s.dim[i]));
    int known = known_.find(key);
    for (; known >= 0 && !(shapes_[known] == s); known = known_.find(++key)) {
    }
    if (known >= 0) return known;
    known = static_cast<int>(shapes_.size());
    known_.insert(key, known);
    shapes_.push_back(s);
    return known;
  }

  list<shape>& shapes_;
  id_table known_;
  shape last_extent_;
  int last_ = -1;
};

}  // namespace leat::passes::detail
