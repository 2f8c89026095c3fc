#pragma once
// The instruction lists of a cluster under construction: those that run once, per row, per batch of lanes of a stage, and at the end. Also
// allocates registers, and remembers the loads, constants and indices that already have one.

#include <leat/core/list.hpp>
#include <leat/graph/id_table.hpp>
#include <leat/passes/instruction.hpp>
#include <leat/passes/lower/cluster_space.hpp>

namespace leat::passes::detail {

class cluster_lists : protected cluster_space {
 protected:
  constexpr ~cluster_lists() = default;  // nvcc's implicit destructor is not constexpr
  using cluster_space::cluster_space;
  using code_list = list<std::int64_t>;
  constexpr void put(code_list& to, std::int64_t op, std::int64_t d, std::int64_t a = -1, std::int64_t b = -1, std::int64_t c = -1) {
    std::int64_t words[words_per_instruction]{op, d, a, b, c, pack_signature(op, d, a, b, c)};
    const bool computes = op >= 0;
    if (d >= 0 && (computes || makes_register(op))) words[1] = register_number(d);
    if (a >= 0 && (computes || takes_register(op))) words[2] = register_number(a);
    if (b >= 0 && computes) words[3] = register_number(b);
    if (c >= 0 && computes) words[4] = register_number(c);
    to.append(words, words_per_instruction);
  }
  constexpr std::int64_t new_register(bool scalar, dtype type) {
    const auto file = at(register_file(type));
    return make_register(scalar ? scalar_count_[file]++ : lane_count_[file]++, scalar, type);
  }

  constexpr void start_lists(int stages) {
    for (int k = 0; k < register_files; ++k) scalar_count_[k] = lane_max_[k] = 0;
    once_.clear();
    last_.clear();
    row_.assign(at(stages) + 1, {});
    lanes_.assign(at(stages), {});
    loaded_scalar_.assign(step_.operands.size(), -1);
    constants_.clear();
    constant_at_ = {};
    accumulators_ = spills_ = 0;
    accumulating_.clear();
    element_ = !rows_;
    uniform_width_ = 0;
    mixed_ = of_models_ = false;
  }
  // Starts another stage, whose lanes reuse the registers of the one before.
  constexpr void start_lanes() {
    for (int k = 0; k < register_files; ++k) lane_count_[k] = 0;
    loaded_lane_.assign(step_.operands.size(), -1);
  }
  constexpr void end_lanes() {
    for (int k = 0; k < register_files; ++k)
      if (lane_count_[k] > lane_max_[k]) lane_max_[k] = lane_count_[k];
  }
  // Concatenates the lists, preceded by their lengths.
  constexpr void join_lists(int stages) {
    auto& out = step_.instructions;
    out.assign(phase_lengths, 0);
    out[lane_width] = mixed_ ? 0 : uniform_width_;
    out[outer_loops] = step_.loops.empty() ? 0 : inner_loop();
    out[has_lanes] = step_.loops.empty() ? 0 : 1;
    out[instructions::stages] = stages;
    out[operand_total] = static_cast<std::int64_t>(step_.operands.size());
    out[accumulator_total] = accumulators_;
    for (int k = 0; k < register_files; ++k) {
      out[lane_registers + k] = lane_max_[k];
      out[scalar_registers + k] = scalar_count_[k];
    }
    out[spill_total] = spills_;
    out[accumulating_total] = static_cast<std::int64_t>(accumulating_.size() / 3);
    out[element_loop] = element_ ? 1 : 0;
    out[instructions::of_models] = of_models_ ? 1 : 0;
    step_.scratch = spills_;
    auto length = [&](const code_list& l) { out.push_back(static_cast<std::int64_t>(l.size() / words_per_instruction)); };
    length(once_);
    for (int t = 0; t < stages; ++t) {
      length(row_[t]);
      length(lanes_[t]);
    }
    length(row_[stages]);
    length(last_);
    auto append = [&](const code_list& l) { out.append(l.data(), l.size()); };
    append(accumulating_);
    append(once_);
    for (int t = 0; t < stages; ++t) {
      append(row_[t]);
      append(lanes_[t]);
    }
    append(row_[stages]);
    append(last_);
  }

  constexpr void note_type(dtype d) {
    if (d == dtype::boolean) return;
    const int width = size_of(d);
    if (width == 1) mixed_ = true;
    if (uniform_width_ == 0) uniform_width_ = width;
    if (uniform_width_ != width) mixed_ = true;
  }
  constexpr void note_accumulating(int operand, const node& n) {
    accumulating_.push_back(operand);
    accumulating_.push_back(n.op->code);
    accumulating_.push_back(static_cast<std::int64_t>(n.result.type));
  }

  constexpr std::int64_t constant_register(int p) {
    const node& q = g_.at(p);
    const auto bits = g_.attribute(q, 0);
    const auto is_it = [&](const known_constant& c) { return c.bits == bits && register_type(c.where) == q.result.type; };
    // A short linear search is faster in constant evaluation than a hash table.
    constexpr std::size_t few = 16;
    const auto key = mix(static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(q.result.type));
    if (const int known = constants_.size() > few ? constant_at_.find(key) : -1; known >= 0 && is_it(constants_[known]))
      return constants_[known].where;
    for (std::size_t k = 0; k < constants_.size() && k < few; ++k)
      if (is_it(constants_[k])) return constants_[k].where;
    const auto r = new_register(true, q.result.type);
    put(once_, immediate, r, bits);
    if (constants_.size() >= few) constant_at_.insert(key, static_cast<int>(constants_.size()));
    constants_.push_back({bits, r});
    return r;
  }
  // The register of an operand that is read from memory once per row, or once in all.
  constexpr std::int64_t scalar_load(int operand, dtype type) {
    auto& r = loaded_scalar_[operand];
    if (r < 0) {
      r = new_register(true, type);
      put(is_uniform(operand) || step_.loops.empty() ? once_ : row_[0], load, r, operand, 0);
    }
    return r;
  }
  constexpr std::int64_t lane_load(int operand, dtype type, int t) {
    const int inner = inner_class(operand);
    if (inner == 0) return scalar_load(operand, type);
    auto& r = loaded_lane_[operand];
    if (r < 0) {
      r = new_register(false, type);
      put(lanes_[t], load, r, operand, inner);
      note_type(type);
    }
    return r;
  }
  // The register of an index along an axis: as lanes of stage `t`, or as a scalar if `t` is negative.
  constexpr std::int64_t index_register(const node& n, int p, int t) {
    const int loop = loop_of_index(n, p);
    const dtype type = g_.at(p).result.type;
    if (loop < 0) {
      const auto r = new_register(true, type);
      put(once_, immediate, r, 0);
      return r;
    }
    if (t < 0 || loop != inner_loop()) {
      const auto r = new_register(true, type);
      put(row_[0], position, r, loop);
      return r;
    }
    const auto r = new_register(false, type);
    put(lanes_[t], position, r, -1);
    note_type(type);
    return r;
  }

  code_list once_;
  code_list last_;
  list<code_list> row_;
  list<code_list> lanes_;
  int accumulators_ = 0;
  int spills_ = 0;
  bool element_ = true;
  bool mixed_ = false;
  bool of_models_ = false;

 private:
  struct known_constant {
    std::int64_t bits;
    std::int64_t where;
  };
  list<known_constant> constants_;
  id_table constant_at_;  // finds constants after the first few
  list<std::int64_t> loaded_scalar_;
  list<std::int64_t> loaded_lane_;
  int scalar_count_[register_files]{};
  int lane_count_[register_files]{};
  int lane_max_[register_files]{};
  list<std::int64_t> accumulating_;
  int uniform_width_ = 0;
};

}  // namespace leat::passes::detail
