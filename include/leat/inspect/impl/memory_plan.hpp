#pragma once
// Implementation of memory_plan.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/inspect/memory_plan.hpp>
#include <leat/ops/converged.hpp>
#include <leat/ops/print.hpp>

namespace leat {

LEAT_FUNCTION operator_names::operator_names() {
  // Operators that only the compiler creates.
  for (const op_info* op :
       {&info_of<check_range_op>, &info_of<print_op>, &info_of<check_converged_op>, &info_of<passes::check_divisor_op>,
        &info_of<passes::copy_op>, &info_of<passes::matmul_update_op>, &info_of<passes::check_rows_op>, &info_of<passes::first_rows_op>,
        &info_of<passes::sum_equal_rows_op>, &info_of<passes::write_rows_op>})
    by_code_.emplace(op->code, op->type);
  for (const auto& types : {detail::types_of_expressions(), known_operator_types()})
    for (const std::string_view type : types) by_code_.emplace(code_of_type(type), type);
}

LEAT_FUNCTION std::string operator_names::operator()(std::int64_t code) const {
  const auto at = by_code_.find(static_cast<int>(code));
  return at != by_code_.end() ? std::string(at->second) : "operator " + std::to_string(code);
}

LEAT_FUNCTION std::string step_name(const operator_names& operator_name, const program_view& p, const std::int64_t* data, int step) {
  using namespace instructions;
  const auto s = p.step_at(step);
  if (!s.is_cluster) return operator_name(s.code);
  const std::int64_t* code = data + s.instructions;
  std::vector<std::string> names;
  std::int64_t at = phase_lengths + 3 + 2 * code[stages] + 3 * code[accumulating_total];
  for (; at < s.instruction_count; at += words_per_instruction) {
    const std::int64_t* word = code + at;
    std::string name;
    if (word[0] >= 0) name = operator_name(word[0]);
    else if (word[0] == reduce_lanes || word[0] == reduce_array || word[0] == reduce_cell) name = operator_name(word[3]);
    if (!name.empty()) names.push_back(std::move(name));
  }
  if (names.empty()) return "copy";
  constexpr std::size_t most = 12;  // further operators are only counted
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k) text += (k > 0 ? "+" : "") + names[k];
  if (names.size() > most) text += "+ " + std::to_string(names.size() - most) + " more";
  return text;
}

LEAT_FUNCTION std::string memory_plan::text() const {
  static constexpr const char* places[]{"arena", "variable", "feed", "number", "size", "fetch"};
  char line[256];
  std::snprintf(line, sizeof line, "%zu steps, %zu buffers; arena %lld bytes for %lld bytes of intermediate results\n", steps.size(),
                buffers.size(), static_cast<long long>(arena_bytes), static_cast<long long>(intermediate_bytes));
  std::string all = line;
  for (std::size_t k = 0; k < steps.size(); ++k) all += "  step " + std::to_string(k) + "  " + steps[k] + "\n";
  for (const buffer& b : buffers) {
    std::string extent = "[";
    for (int i = 0; i < b.extent.rank; ++i) extent += (i > 0 ? "," : "") + std::to_string(b.extent[i]);
    std::snprintf(line, sizeof line, "  %%%-4d %-8s %-8s %-16s %10lld bytes", b.number, places[static_cast<int>(b.where)],
                  std::string(name_of_dtype(b.type)).c_str(), (extent + "]").c_str(), static_cast<long long>(b.bytes));
    all += line;
    if (b.offset >= 0) all += "  at " + std::to_string(b.offset);
    if (b.where == storage::arena) all += ", steps " + std::to_string(b.first) + " to " + std::to_string(b.last);
    all += "\n";
  }
  return all;
}

LEAT_FUNCTION memory_plan memory_plan_of(const planned_program& p) {
  const program_view view(p.data);
  memory_plan made;
  made.arena_bytes = p.plan->arena_bytes;
  const operator_names names;
  for (int k = 0; k < view.steps(); ++k) made.steps.push_back(step_name(names, view, p.data, k));
  for (int b = 0; b < view.buffers(); ++b) {
    const auto info = view.buffer_at(b);
    memory_plan::buffer row{.number = b, .where = info.where, .type = info.type};
    row.extent.rank = info.extent.rank;
    for (int i = 0; i < info.extent.rank; ++i) row.extent.dim[i] = view.size_of_dimension(info.extent[i], p.sizes);
    row.bytes = info.where == storage::extent ? size_of(info.type) : view.elements(info.extent, p.sizes) * size_of(info.type);
    const bool is_own = info.where == storage::arena || info.where == storage::extent;
    if (is_own && static_cast<std::size_t>(b) < p.plan->offsets.size()) row.offset = p.plan->offsets[static_cast<std::size_t>(b)];
    if (info.where == storage::arena) {
      row.first = info.first;
      row.last = info.last;
      made.intermediate_bytes += row.bytes;
    }
    made.buffers.push_back(row);
  }
  return made;
}

}  // namespace leat
