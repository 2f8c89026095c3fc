#pragma once
// Makes the plan of a program for given sizes: at run time (kernels/program_plan.hpp), and in constant evaluation for static sessions.

#include <leat/kernels/plan.hpp>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace leat::detail {

inline std::int64_t told_last_cache() {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  static const auto told = static_cast<std::int64_t>(::sysconf(_SC_LEVEL3_CACHE_SIZE));
  return larger(told, 0);
#else
  return 0;
#endif
}

// Runs when sizes change, not in a warm step, so it is compiled for size.
class planner {
 public:
  constexpr planner(const program_view& p, const std::int64_t* data, const std::int64_t* sizes, const chunk_limits& limits,
                    program_plan& out)
      : p_(p), data_(data), sizes_(sizes), limits_(limits), out_(out) {}

  [[gnu::cold]] constexpr void run() {
    out_.numbers.clear();
    out_.offsets.assign(static_cast<std::size_t>(p_.buffers()), -1);
    out_.work = 0;
    for (int b = 0; b < p_.buffers(); ++b) {
      const auto info = p_.buffer_at(b);
      if (info.where == storage::arena)
        add_block(b, p_.elements(info.extent, sizes_) * size_of(info.type), info.first, info.last);
      else if (info.where == storage::extent)
        add_block(b, size_of(info.type), 0, p_.steps());
    }
    for (int k = 0; k < p_.steps(); ++k) {
      const auto s = p_.step_at(k);
      const auto at = out_.numbers.size();
      out_.numbers.resize(at + static_cast<std::size_t>(plan_size(s)), 0);
      if (s.is_cluster)
        plan_cluster(k, s, at);
      else
        plan_kernel(s, at);
    }
    place();
    for (const auto& b : blocks_) {
      if (b.buffer >= 0)
        out_.offsets[static_cast<std::size_t>(b.buffer)] = b.offset;
      else
        out_.numbers[static_cast<std::size_t>(-1 - b.buffer)] = b.offset;
    }
  }

 private:
  struct block {
    int buffer;  // the buffer, or -1 - position of the number that holds the offset
    std::int64_t bytes;
    int first;
    int last;
    std::int64_t offset;
  };

  constexpr void add_block(int buffer, std::int64_t bytes, int first, int last) {
    blocks_.push_back({buffer, rounded(larger(bytes, 1)), first, last, 0});
  }

  [[gnu::cold]] constexpr void plan_cluster(int k, const program_view::step& s, std::size_t at) {
    std::int64_t rows = 1;
    std::int64_t inner = 1;
    for (int l = 0; l < s.loop_count; ++l) {
      const auto extent = s.loop(l).value(sizes_);
      number(at, plan_numbers + l) = extent;
      if (l + 1 < s.loop_count)
        rows *= extent;
      else
        inner = extent;
    }
    for (int o = 0; o < s.operand_count; ++o) {
      for (int l = 0; l < s.loop_count; ++l)
        number(at, plan_numbers + s.loop_count + o * s.loop_count + l) = s.operand_stride(o, l).value(sizes_);
      number(at, plan_numbers + s.loop_count + s.operand_count * s.loop_count + o) = s.operand_offset(o).value(sizes_);
    }
    const std::int64_t* code = data_ + s.instructions;
    const auto accumulating = code[accumulating_total];
    std::int64_t chunks = 1;
    std::int64_t rows_per_chunk = rows;
    std::int64_t inner_per_chunk = inner;
    const auto rule = static_cast<cut_rule>(s.chunked);
    const std::int64_t total = rows * inner;
    out_.work = larger(out_.work, total);
    if (rule != cut_rule::never && total > 2 * limits_.elements) {
      const auto most = accumulating > 0 ? limits_.most_partials : limits_.most;
      if (rows > 1) {
        rows_per_chunk = larger(larger(1, limits_.elements / larger(inner, 1)), divide_up(rows, most));
        chunks = divide_up(rows, rows_per_chunk);
      } else if (rule == cut_rule::anywhere) {
        const auto pieces = accumulating > 0 ? limits_.most_pieces : limits_.most;
        inner_per_chunk = larger(limits_.elements, divide_up(divide_up(inner, pieces), 64) * 64);
        chunks = divide_up(inner, inner_per_chunk);
        rows_per_chunk = 0;
      }
    }
    number(at, plan_rows) = rows;
    number(at, plan_inner) = inner;
    number(at, plan_chunks) = chunks;
    number(at, plan_rows_per_chunk) = rows_per_chunk;
    number(at, plan_inner_per_chunk) = inner_per_chunk;
    if (s.scratch > 0) {
      const std::int64_t row = rounded(inner * 8) + limits_.alignment;
      number(at, plan_scratch_row) = row;
      blocks_.push_back({-1 - static_cast<int>(at + plan_scratch), row * s.scratch * chunks, k, k, 0});
    }
    if (chunks > 1 && accumulating > 0) {
      std::int64_t bytes = 0;
      for (int a = 0; a < accumulating; ++a) bytes += partial_bytes(s, code, a);
      blocks_.push_back({-1 - static_cast<int>(at + plan_partials), bytes * chunks, k, k, 0});
    }
    number(at, plan_stores) = stores_of(s, code, total);
  }

  // Chooses how a cluster writes its results. Rows of several stages leave time to prefetch the lines that they will be written to, so that
  // results that fit the processor's last cache stay there, at the speed of a copy of as much memory.
  [[gnu::cold]] constexpr std::int64_t stores_of(const program_view::step& s, const std::int64_t* code, std::int64_t elements) const {
    if (elements * 4 <= fetched_bytes || !may_stream(s, code)) return stores_plainly;
    if (code[stages] > 2) {
      std::int64_t touched = 0;
      for (int o = 0; o < s.operand_count; ++o) {
        bool again = false;
        for (int before = 0; before < o; ++before) again = again || s.operand_buffer(before) == s.operand_buffer(o);
        const auto info = p_.buffer_at(s.operand_buffer(o));
        if (!again) touched += p_.elements(info.extent, sizes_) * size_of(info.type);
      }
      if (elements * 4 <= stream_bytes || touched <= last_cache() / 4) return stores_fetched;
    }
    return elements * 4 > stream_bytes ? stores_past_caches : stores_plainly;
  }
  // The bytes of the last cache, or 0 if they are unknown.
  constexpr std::int64_t last_cache() const {
    return limits_.last_cache < 0 && !__builtin_is_constant_evaluated() ? told_last_cache() : larger(limits_.last_cache, 0);
  }

 public:
  /// The bytes of one chunk's partial results for the a-th combined operand.
  constexpr std::int64_t partial_bytes(const program_view::step& s, const std::int64_t* code, int a) const {
    const std::int64_t* row = code + phase_lengths + 2 * code[stages] + 3 + 3 * a;
    const auto info = p_.buffer_at(s.operand_buffer(static_cast<int>(row[0])));
    return rounded(p_.elements(info.extent, sizes_) * size_of(info.type));
  }

 private:
  [[gnu::cold]] constexpr void plan_kernel(const program_view::step& s, std::size_t at) {
    const auto attributes = s.attributes[0];
    int k = 0;
    for (; k <= attributes; ++k) number(at, plan_numbers + k) = s.attributes[k];
    while (k < s.attribute_count) {
      const auto rank = s.attributes[k];
      number(at, plan_numbers + k++) = rank;
      for (std::int64_t a = 0; a < rank; ++a, ++k) number(at, plan_numbers + k) = p_.size_of_dimension(s.attributes[k], sizes_);
    }
    out_.work = larger(out_.work, 4096);
  }

  constexpr std::int64_t rounded(std::int64_t bytes) const { return divide_up(bytes, limits_.alignment) * limits_.alignment; }
  constexpr std::int64_t& number(std::size_t at, int k) { return out_.numbers[at + static_cast<std::size_t>(k)]; }

  // Assigns offsets by first fit, largest block first: two blocks may share bytes if no step uses both.
  [[gnu::cold]] constexpr void place() {
    window_ = static_cast<int>(larger(64, p_.steps() / 256));
    // Each window of steps has two lists of the placed blocks that are live in it: those that start in it, and those that started earlier.
    const int lists = 2 * (p_.steps() / window_ + 1);
    for (int k = 0; k < lists; ++k) {
      entries_.push_back(-1);
      entries_.push_back(-1);
      ends_.push_back(2 * k);
    }
    std::int64_t end = 0;
    std::int64_t largest = -1;  // the size of the largest remaining blocks
    std::size_t search = 0;     // the blocks before it are smaller
    for (std::size_t done = 0; done < blocks_.size(); ++done) {
      std::size_t next = search < done ? done : search;
      while (next < blocks_.size() && blocks_[next].bytes != largest) ++next;
      if (next == blocks_.size()) {
        next = done;
        for (std::size_t i = done + 1; i < blocks_.size(); ++i)
          if (blocks_[i].bytes > blocks_[next].bytes) next = i;
        largest = blocks_[next].bytes;
      }
      search = next;
      block b = blocks_[next];
      blocks_[next] = blocks_[done];
      const int first = b.first / window_, last = b.first > b.last ? -1 : b.last / window_;
      // Finds the lowest offset at which the block overlaps no block that is live at the same time.
      for (bool moved = true; moved && last >= 0;) {
        moved = climb(b, 2 * first + 1);
        for (int w = first; w <= last; ++w) moved = climb(b, 2 * w) || moved;
      }
      blocks_[done] = b;
      for (int w = first; w <= last; ++w) {
        int& at = ends_[static_cast<std::size_t>(w == first ? 2 * w : 2 * w + 1)];
        entries_[static_cast<std::size_t>(at + 1)] = static_cast<int>(entries_.size());
        at = static_cast<int>(entries_.size());
        entries_.push_back(static_cast<int>(done));
        entries_.push_back(-1);
      }
      if (b.offset + b.bytes > end) end = b.offset + b.bytes;
    }
    out_.arena_bytes = end;
  }
  // Moves a block past the blocks of a list that it overlaps; returns whether it moved.
  [[gnu::cold]] constexpr bool climb(block& b, int list) const {
    bool moved = false;
    for (int e = entries_[static_cast<std::size_t>(2 * list + 1)]; e >= 0; e = entries_[static_cast<std::size_t>(e + 1)]) {
      const block& o = blocks_[static_cast<std::size_t>(entries_[static_cast<std::size_t>(e)])];
      if (o.first > b.last || b.first > o.last || o.offset >= b.offset + b.bytes || b.offset >= o.offset + o.bytes) continue;
      b.offset = o.offset + o.bytes;
      moved = true;
    }
    return moved;
  }

  const program_view& p_;
  const std::int64_t* data_;
  const std::int64_t* sizes_;
  const chunk_limits limits_;
  program_plan& out_;
  detail::list<block> blocks_;
  int window_ = 1;            // the number of steps in a window
  detail::list<int> entries_;  // entries of lists: a block, and the next entry; each list begins with an empty entry
  detail::list<int> ends_;     // the last entry of each list
};

}  // namespace detail
