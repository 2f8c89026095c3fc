#pragma once
// The bodies of cpu/interpret.hpp: see core/function_bodies.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/cpu/interpret.hpp>
#include <leat/cpu/interpret/cluster_writer.hpp>
#include <leat/cpu/interpret/direct_writer.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace leat::cpu {

LEAT_FUNCTION interpreter::interpreter(leat::detail::list<std::int64_t> data) : data_(std::move(data)) {
  const program_view v = view();
  int at = 0;
  for (int k = 0; k < v.steps(); ++k) {
    const auto info = v.step_at(k);
    step& s = steps_.emplace_back(step{info, at, std::nullopt, nullptr, {}});
    at += leat::detail::plan_size(info);
    if (info.is_cluster) {
      s.cluster.emplace(v, data_.data(), k);
    } else {
      std::vector<dtype> types;
      for (int o = 0; o < info.operand_count; ++o) {
        s.buffers.push_back(info.operand_buffer(o));
        types.push_back(v.buffer_at(s.buffers.back()).type);
      }
      const auto known = functions_of(info.code);
      if (known.kernel != nullptr) s.kernel = known.kernel(types.data(), info.operand_count);
      if (s.kernel == nullptr) detail::no_function(info.code, types.back(), types.data(), info.operand_count - 1);
    }
  }
}

LEAT_FUNCTION std::optional<direct_program> interpreter::direct(const std::int64_t* numbers) const {
  const auto is_small = [&](const step& s) {
    if (!s.cluster) return false;
    const std::int64_t* plan = numbers + s.plan_begin;
    const std::int64_t inner = s.cluster->has_inner ? plan[plan_rows] * plan[plan_inner] : 1;
    return inner * (s.info.instruction_count / words_per_instruction) <= direct_program::most_work;
  };
  if (std::none_of(steps_.begin(), steps_.end(), is_small)) return std::nullopt;
  detail::direct_writer writer;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const step& s = steps_[k];
    const std::size_t mark = writer.mark();
    writer.begin_step();
    if (is_small(s) && writer.cluster(*s.cluster, s.info, numbers + s.plan_begin)) continue;
    writer.back_to(mark);
    writer.step_as_it_is(static_cast<int>(k));
  }
  return writer.finish();
}

LEAT_FUNCTION bound_program::bound_program(const interpreter& code) : code_(code) {
  const auto v = code.view();
  buffers_.assign(static_cast<std::size_t>(v.buffers()) + 1, nullptr);
  sizes_.assign(static_cast<std::size_t>(v.names()) + 1, -1);
  bound_.assign(static_cast<std::size_t>(v.buffers()), false);
}

LEAT_FUNCTION void bound_program::check() {
  for (int b = 0; b < code_.view().buffers(); ++b)
    if (!is_own(b) && !bound_[static_cast<std::size_t>(b)])
      throw failed_precondition("buffer " + std::to_string(b) + " of the program is bound to no array");
  complete_ = true;
}

LEAT_FUNCTION void bound_program::make_own_plan() {
  const auto v = code_.view();
  for (int k = 0; k < v.names(); ++k)
    if (sizes_[static_cast<std::size_t>(k)] < 0)
      throw failed_precondition("named dimension " + std::to_string(k) + " of the program has no size");
  make_plan(code_.data(), sizes_.data(), device::chunks, plan_);
  planned_ = true;
}

LEAT_FUNCTION void bound_program::place() {
  if (!planned_) make_own_plan();
  const auto v = code_.view();
  if (plan_.arena_bytes > arena_bytes_) {
    release();
    arena_taken_.take(static_cast<std::size_t>(plan_.arena_bytes));
    arena_ = static_cast<std::byte*>(device::allocate(static_cast<std::size_t>(plan_.arena_bytes)));
    arena_bytes_ = plan_.arena_bytes;
  }
  for (int b = 0; b < v.buffers(); ++b) {
    const auto info = v.buffer_at(b);
    if (!is_own(b)) continue;
    void* const at = arena_ + plan_.offsets[static_cast<std::size_t>(b)];
    buffers_[static_cast<std::size_t>(b)] = at;
    if (info.where == storage::extent)
      detail::with_element(info.type, [&]<class T>(T) { *static_cast<T*>(at) = static_cast<T>(v.elements(info.extent, sizes_.data())); });
  }
  direct_ = code_.direct(plan_.numbers.data());
  ready_ = true;
}

}  // namespace leat::cpu
