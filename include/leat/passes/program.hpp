#pragma once
// The result of compiling a graph: buffers, and steps that read and write them. A program consists of plain integers, so that constant
// evaluation can return it as one array, which `program_view` reads.

#include <cstdint>
#include <leat/core/dtype.hpp>
#include <leat/core/list.hpp>
#include <leat/core/shape.hpp>
#include <span>

namespace leat {

/// Where a buffer is stored.
enum class storage : int {
  arena,     // allocated by liveness, reused between steps
  variable,  // owned by the session
  feed,      // owned by the caller, for one run
  number,    // a number or parameter, stored in the session; with dimensions, a constant array, stored in the expression
  extent,    // a product of named dimensions
  fetch      // returned after the run
};

/// A size that depends on named dimensions: factor × Π size(name k) ^ power k, with four bits of `powers` for each name.
struct term {
  static constexpr int most_names = 15;  // most names of a program
  std::int64_t factor = 1;
  std::int64_t powers = 0;
  constexpr bool operator==(const term&) const = default;
  friend constexpr term operator*(term a, term b) { return {a.factor * b.factor, a.powers + b.powers}; }
  constexpr std::int64_t value(const std::int64_t* sizes) const {
    std::int64_t v = factor;
    std::int64_t p = powers;
    for (int k = 0; p != 0; ++k, p >>= 4)
      for (std::int64_t n = p & 15; n > 0; --n) v *= sizes[k];
    return v;
  }
};

/// An operand of a step: a buffer, an offset, and the stride along each loop. A looked-up operand begins at row `indices[…]` of rows of
/// `row` elements, where `indices` is another operand. A packed program has this only in an instruction.
struct step_operand {
  int buffer = -1;
  term offset{0, 0};
  detail::list<term> strides;
  int indices = -1;
  std::int64_t row = 0;
};

/// How a cluster may be cut into chunks. The cut depends only on the shape, never on the number of threads.
enum class cut_rule : int { never, rows, anywhere };

struct program_step {
  bool is_cluster = false;
  int code = 0;  // the operator's code, for a kernel
  detail::list<std::int64_t> instructions;
  detail::list<term> loops;  // outermost first; the innermost is vectorized
  detail::list<step_operand> operands;
  detail::list<std::int64_t> attributes;
  int chunked = 0;  // how a cluster may be cut: a `cut_rule`
  int scratch = 0;  // the number of row buffers
};

struct program_buffer {
  storage where = storage::arena;
  int index = 0;  // index among the buffers with the same storage
  dtype type = dtype::invalid;
  shape extent;
  std::uint64_t id = 0;    // id of a graph input or constant
  int first = 1 << 30;     // the first step that writes it
  int last = -1;           // the last step that reads it
  bool read = false;       // whether a variable's value is used, so that it must have been initialized
};

struct program {
  detail::list<std::int64_t> names;  // the named dimensions
  detail::list<program_buffer> buffers;
  detail::list<program_step> steps;
  detail::list<int> fetches;  // the buffer of each fetch, or -1
  message problem;
};

// ---- packing into one array of integers -----------------------------------------------------------------------------

namespace detail {
enum program_header {
  names_at,
  name_count,
  buffers_at,
  buffer_count,
  steps_at,
  step_count,
  fetches_at,
  fetch_count,
  program_problem_at,
  header_size
};
inline constexpr int buffer_row = 8 + max_rank;
inline constexpr int step_row = 12;
}  // namespace detail

/// Packs the program into one list of integers. The list is sized first and written through a pointer, because in constant evaluation each
/// `push_back` would cost a dozen calls.
constexpr detail::list<std::int64_t> pack(const program& p) {
  using namespace detail;
  std::size_t size = header_size + p.names.size() + p.buffers.size() * buffer_row + p.fetches.size() + p.steps.size() * step_row;
  for (const auto& s : p.steps) {
    size += s.instructions.size() + 2 * s.loops.size() + s.attributes.size();
    for (const auto& o : s.operands) size += 3 + 2 * o.strides.size();
  }
  size += p.problem.view().size() + 1;
  detail::list<std::int64_t> data(size, 0);
  std::int64_t* const begin = data.data();
  std::int64_t* to = begin + header_size;
  const auto put = [&to](std::int64_t v) { *to++ = v; };
  const auto put_term = [&to](const term& t) {
    *to++ = t.factor;
    *to++ = t.powers;
  };
  const auto put_list = [&](int at, int count, const auto& list) {
    begin[at] = to - begin;
    begin[count] = static_cast<std::int64_t>(list.size());
    for (const auto v : list) *to++ = v;
  };
  put_list(names_at, name_count, p.names);
  begin[buffers_at] = to - begin;
  begin[buffer_count] = static_cast<std::int64_t>(p.buffers.size());
  for (const auto& b : p.buffers) {
    put(static_cast<std::int64_t>(b.where));
    put(b.index);
    put(static_cast<std::int64_t>(b.type));
    put(static_cast<std::int64_t>(b.id));
    put(b.first);
    put(b.last);
    put(b.read ? 1 : 0);
    put(b.extent.rank);
    for (int i = 0; i < max_rank; ++i) put(b.extent[i]);
  }
  put_list(fetches_at, fetch_count, p.fetches);
  begin[steps_at] = to - begin;
  begin[step_count] = static_cast<std::int64_t>(p.steps.size());
  std::int64_t* row = to;
  to += p.steps.size() * step_row;
  for (const auto& s : p.steps) {
    row[0] = s.is_cluster ? 1 : 0;
    row[1] = s.code;
    row[2] = to - begin;
    row[3] = static_cast<std::int64_t>(s.instructions.size());
    for (const auto v : s.instructions) put(v);
    row[4] = to - begin;
    row[5] = static_cast<std::int64_t>(s.loops.size());
    for (const auto& t : s.loops) put_term(t);
    row[6] = to - begin;
    row[7] = static_cast<std::int64_t>(s.operands.size());
    for (const auto& o : s.operands) {
      put(o.buffer);
      put_term(o.offset);
      for (const auto& t : o.strides) put_term(t);
    }
    row[8] = to - begin;
    row[9] = static_cast<std::int64_t>(s.attributes.size());
    for (const auto v : s.attributes) put(v);
    row[10] = s.chunked;
    row[11] = s.scratch;
    row += step_row;
  }
  begin[program_problem_at] = to - begin;
  for (const char c : p.problem.view()) put(c);
  put(0);
  return data;
}

/// Reads a packed program, in constant evaluation and at run time.
class program_view {
 public:
  constexpr explicit program_view(const std::int64_t* data) : data_(data) {}

  struct buffer {
    storage where;
    int index;
    dtype type;
    std::uint64_t id;
    int first;
    int last;
    bool read;
    shape extent;
  };
  struct step {
    bool is_cluster;
    int code;
    std::int64_t instructions;  // position in the data
    int instruction_count;
    int loop_count;
    int operand_count;
    int attribute_count;
    int chunked;
    int scratch;
    const std::int64_t* loops;
    const std::int64_t* operands;
    const std::int64_t* attributes;
    constexpr term loop(int k) const { return {loops[2 * k], loops[2 * k + 1]}; }
    constexpr const std::int64_t* operand(int k) const { return operands + k * (3 + 2 * (is_cluster ? loop_count : 0)); }
    constexpr int operand_buffer(int k) const { return static_cast<int>(operand(k)[0]); }
    constexpr term operand_offset(int k) const { return {operand(k)[1], operand(k)[2]}; }
    constexpr term operand_stride(int k, int loop) const { return {operand(k)[3 + 2 * loop], operand(k)[4 + 2 * loop]}; }
  };

  constexpr int names() const { return static_cast<int>(data_[detail::name_count]); }
  constexpr std::int64_t name(int k) const { return data_[data_[detail::names_at] + k]; }
  constexpr int buffers() const { return static_cast<int>(data_[detail::buffer_count]); }
  constexpr buffer buffer_at(int k) const {
    const std::int64_t* row = data_ + data_[detail::buffers_at] + k * detail::buffer_row;
    buffer b{static_cast<storage>(row[0]), static_cast<int>(row[1]), static_cast<dtype>(row[2]), static_cast<std::uint64_t>(row[3]),
             static_cast<int>(row[4]), static_cast<int>(row[5]), row[6] != 0, {}};
    b.extent.rank = static_cast<int>(row[7]);
    for (int i = 0; i < max_rank; ++i) b.extent.dim[i] = row[8 + i];
    return b;
  }
  constexpr int steps() const { return static_cast<int>(data_[detail::step_count]); }
  constexpr step step_at(int k) const {
    const std::int64_t* row = data_ + data_[detail::steps_at] + k * detail::step_row;
    return {row[0] != 0,
            static_cast<int>(row[1]),
            row[2],
            static_cast<int>(row[3]),
            static_cast<int>(row[5]),
            static_cast<int>(row[7]),
            static_cast<int>(row[9]),
            static_cast<int>(row[10]),
            static_cast<int>(row[11]),
            data_ + row[4],
            data_ + row[6],
            data_ + row[8]};
  }
  constexpr int fetches() const { return static_cast<int>(data_[detail::fetch_count]); }
  constexpr int fetch(int k) const { return static_cast<int>(data_[data_[detail::fetches_at] + k]); }
  /// The size of a dimension, given the sizes of the named ones.
  constexpr std::int64_t size_of_dimension(std::int64_t d, const std::int64_t* sizes) const {
    if (d >= 0) return d;
    for (int k = 0; k < names(); ++k)
      if (name(k) == d) return sizes[k];
    return 0;
  }
  constexpr std::int64_t elements(const shape& extent, const std::int64_t* sizes) const {
    std::int64_t n = 1;
    for (int i = 0; i < extent.rank; ++i) n *= size_of_dimension(extent[i], sizes);
    return n;
  }

 private:
  const std::int64_t* data_;
};

}  // namespace leat
