#pragma once
// Implementation of tensor_parts.hpp.

#include <leat/io/tensor_parts.hpp>
#include <leat/core/function_bodies.hpp>

#include <algorithm>
#include <cstring>

namespace leat::detail {

LEAT_FUNCTION bool blocks_overlap(const tensor_block& a, const tensor_block& b) {
  for (int i = 0; i < a.extent.rank; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (a.extent[i] == 0 || b.extent[i] == 0) return false;
    if (a.offset[k] + a.extent[i] <= b.offset[k] || b.offset[k] + b.extent[i] <= a.offset[k]) return false;
  }
  return true;
}

LEAT_FUNCTION std::string covering_problem(const shape& whole, std::span<const tensor_block> blocks) {
  std::int64_t elements = 0;
  int cut = -1;  // the axis along which they are divided, if there is only one
  bool cut_once = true;
  for (const tensor_block& b : blocks) {
    if (b.extent.rank != whole.rank || b.offset.size() != static_cast<std::size_t>(whole.rank)) return "a part of another rank";
    for (int i = 0; i < whole.rank; ++i) {
      const std::int64_t begin = b.offset[static_cast<std::size_t>(i)];
      if (begin < 0 || b.extent[i] < 0 || begin > whole[i] || b.extent[i] > whole[i] - begin) return "a part that lies beyond it";
      if (b.extent[i] == whole[i]) continue;
      if (cut >= 0 && cut != i) cut_once = false;
      cut = i;
    }
    elements += b.extent.elements();
    if (elements > whole.elements()) break;
  }
  if (elements != whole.elements())
    return "parts of " + std::to_string(elements) + " elements or more, where it has " + std::to_string(whole.elements());
  if (elements == 0) return {};
  const std::string overlap = "parts that overlap";
  if (cut_once) {
    const auto axis = static_cast<std::size_t>(std::max(cut, 0));
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;
    if (whole.rank > 0)
      for (const tensor_block& b : blocks) spans.emplace_back(b.offset[axis], b.extent[static_cast<int>(axis)]);
    std::sort(spans.begin(), spans.end());
    std::int64_t next = 0;
    for (const auto& [begin, length] : spans) {
      if (length != 0 && begin != next) return overlap;
      next += length;
    }
    return {};
  }
  // Checks all pairs; variables that are divided along two axes have few parts.
  constexpr std::size_t most = 4096;
  if (blocks.size() > most) return "more than 4096 parts that are cut along several axes";
  for (std::size_t a = 0; a < blocks.size(); ++a)
    for (std::size_t b = a + 1; b < blocks.size(); ++b)
      if (blocks_overlap(blocks[a], blocks[b])) return overlap;
  return {};
}

// Calls `copy(in whole, in part, count)` for each run of elements that are contiguous in both.
template <class Copy>
void for_each_run(const shape& whole, const tensor_block& at, Copy copy) {
  const std::int64_t count = at.extent.elements();
  if (count == 0) return;
  int inner = at.extent.rank;  // axes from here on are whole in the block
  while (inner > 0 && at.extent[inner - 1] == whole[inner - 1]) --inner;
  if (inner > 0) --inner;  // the last divided axis is contiguous, too
  const std::int64_t run = at.extent.elements(inner, at.extent.rank);
  std::vector<std::int64_t> index(static_cast<std::size_t>(inner), 0);
  for (std::int64_t done = 0; done < count; done += run) {
    std::int64_t begin = 0;
    for (int i = 0; i < whole.rank; ++i) {
      const auto k = static_cast<std::size_t>(i);
      begin = begin * whole[i] + at.offset[k] + (i < inner ? index[k] : 0);
    }
    copy(static_cast<std::size_t>(begin), static_cast<std::size_t>(done), static_cast<std::size_t>(run));
    for (int i = inner - 1; i >= 0 && ++index[static_cast<std::size_t>(i)] == at.extent[i]; --i) index[static_cast<std::size_t>(i)] = 0;
  }
}

LEAT_FUNCTION void put_block(tensor_value& whole, const tensor_block& at, const tensor_value& part) {
  if (whole.type() == text_dtype)
    return for_each_run(whole.extent(), at, [&](std::size_t to, std::size_t from, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) whole.texts()[to + i] = part.texts()[from + i];
    });
  const auto bytes = static_cast<std::size_t>(element_bytes(whole.type()));
  for_each_run(whole.extent(), at, [&](std::size_t to, std::size_t from, std::size_t count) {
    std::memcpy(whole.data() + to * bytes, part.data() + from * bytes, count * bytes);
  });
}

LEAT_FUNCTION tensor_value take_block(const tensor_value& whole, const tensor_block& at) {
  tensor_value part(whole.type(), at.extent);
  if (whole.type() == text_dtype) {
    for_each_run(whole.extent(), at, [&](std::size_t from, std::size_t to, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) part.texts()[to + i] = whole.texts()[from + i];
    });
    return part;
  }
  const auto bytes = static_cast<std::size_t>(element_bytes(whole.type()));
  for_each_run(whole.extent(), at, [&](std::size_t from, std::size_t to, std::size_t count) {
    std::memcpy(part.data() + to * bytes, whole.data() + from * bytes, count * bytes);
  });
  return part;
}

}  // namespace leat::detail
