#pragma once
// Loops in programs that a session plans: the program of a step is made at the first run, and interpreted.

#include <leat/cpu/interpret.hpp>
#include <leat/cpu/run_loop.hpp>
#include <leat/kernels/loops.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace leat::cpu::detail {

/// The program of a loop's step, as one thread keeps it.
class interpreted_loop {
 public:
  interpreted_loop(std::vector<std::int64_t> attributes, leat::detail::list<std::int64_t> code)
      : attributes_(std::move(attributes)), code_(std::move(code)), tables_(code_.data()), steps_(program_of(code_)) {
    buffers_.resize(static_cast<std::size_t>(steps_.view().buffers()) + 1);
    moving_.resize(static_cast<std::size_t>(tables_.xs + tables_.given()) + 1);
  }

  bool is_of(const kernels::step_numbers& n) const {
    if (n.attributes() != static_cast<std::int64_t>(attributes_.size())) return false;
    for (std::size_t k = 1; k < attributes_.size(); ++k)  // the length does not matter
      if (n.attribute(static_cast<int>(k)) != attributes_[k]) return false;
    return true;
  }
  void run(void* const* p, const kernels::step_numbers& n) {
    plan_.prepare(code_.data(), tables_.names(), steps_.view().names(), n);
    if (placed_ != plan_.version) {
      direct_ = steps_.direct(plan_.plan.numbers.data());
      placed_ = plan_.version;
    }
    const scratch<std::byte> arena(plan_.plan.arena_bytes + 64);
    place_buffers(steps_.view(), plan_, arena.get(), buffers_.data());
    const workspace w{buffers_.data(), plan_.plan.numbers.data(), arena.get()};
    run_steps(tables_, p, n, buffers_.data(), moving_.data(), [&] {
      if (direct_) steps_.run_direct(w, *direct_);
      else steps_.run_in_mode(w);
    });
  }

 private:
  static leat::detail::list<std::int64_t> program_of(const leat::detail::list<std::int64_t>& code) {
    const auto begin = static_cast<std::size_t>(code[passes::code_program]);
    return {code.data() + begin, code.size() - begin};
  }
  std::vector<std::int64_t> attributes_;
  leat::detail::list<std::int64_t> code_;
  loop_tables tables_;
  interpreter steps_;
  loop_plan plan_;
  std::uint64_t placed_ = 0;
  std::optional<direct_program> direct_;
  std::vector<void*> buffers_;
  std::vector<moving_buffer> moving_;
};

template <class Op>
void interpret_loop(void* const* p, const kernels::step_numbers& n, int) {
  thread_local std::vector<std::unique_ptr<interpreted_loop>> known;
  for (const auto& loop : known)
    if (loop->is_of(n)) return loop->run(p, n);
  std::vector<std::int64_t> attributes;
  for (int k = 0; k < n.attributes(); ++k) attributes.push_back(n.attribute(k));
  const std::span<const std::int64_t> recipe(attributes.data() + passes::loop_recipe, attributes.size() - passes::loop_recipe);
  auto code = passes::loop_code_of(Op::make(recipe), attributes[passes::loop_tape], false, 0);
  known.push_back(std::make_unique<interpreted_loop>(std::move(attributes), std::move(code)));
  known.back()->run(p, n);
}

/// Makes a loop known to planned sessions, before main; and the loops within its steps.
template <class Op>
struct planned_loop {
  static void enter() {
    static bool entered = false;
    if (entered) return;
    entered = true;
    leat::detail::register_expression_operator<Op>();
    leat::detail::register_expression_operator<passes::loop_memory_op>();
    leat::detail::register_expression_operator<passes::loop_result_op>();
    enter_functions(operator_record<Op>::code,
                    {nullptr, nullptr, [](const dtype*, int) -> kernel_function { return &interpret_loop<Op>; }});
    register_kernel<passes::loop_memory_op>();
    register_kernel<passes::loop_result_op>();
    enter_inner(std::make_index_sequence<inner.size()>{});
  }
  static inline const leat::detail::filled_early known{[] { enter(); }};

 private:
  static constexpr std::size_t most = 64;
  static constexpr auto found = [] {
    struct {
      std::array<int, most> code{};
      std::size_t count = 0;
    } all;
    const passes::loop_body b = Op::make({});
    for (int i = 0; i < b.g.size() && all.count < most; ++i)
      if (b.g.at(i).op->type.starts_with("loop.")) all.code[all.count++] = b.g.at(i).op->code;
    return all;
  }();
  static constexpr auto inner = [] {
    std::array<int, found.count> codes{};
    for (std::size_t k = 0; k < codes.size(); ++k) codes[k] = found.code[k];
    return codes;
  }();
  template <std::size_t... K>
  static void enter_inner(std::index_sequence<K...>) {
    (planned_loop<operator_with<inner[K]>>::enter(), ...);
  }
};

}  // namespace leat::cpu::detail
