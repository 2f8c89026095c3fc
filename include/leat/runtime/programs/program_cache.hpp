#pragma once
// A plan's programs, by the shapes that it runs with. The first two are for one set of shapes each, because many plans see no more; the
// third is for all sizes, if the tables differ only in sizes (plain_sizes.hpp). The programs share memory for intermediate results: a
// program without memory takes that of one that is not running. Their total memory is limited by the session's budget (program_budget.hpp).

#include <leat/runtime/programs/plain.hpp>

namespace leat::runtime {

class program_cache final : program_holder {
 public:
  program_cache() = default;
  program_cache(const program_cache&) = delete;
  program_cache& operator=(const program_cache&) = delete;
  ~program_cache() {
    if (budget_ != nullptr) budget_->leave(*this);
  }

  /// The program for these values, compiled if there is none yet; null if the plan runs without a program. It is valid only for the
  /// elements of `known_feeds`.
  std::shared_ptr<plain_program> find(graph& g, const run_plan& plan, step_state& step, std::span<const tensor_value> values,
                                      std::span<const int> known_feeds = {}) {
    std::shared_ptr<plain_program> p;
    {
      const std::lock_guard lock(guard_);
      plan_sizes sizes;
      bool may_have = false;  // a general program exists that was not checked for these sizes
      for (auto& at : programs_) {
        if (!at->fits(values, sizes)) continue;
        if (at->general && !at->checked.has(sizes)) {
          may_have = true;
          continue;
        }
        at->used.store(step.session.programs->now(), std::memory_order_relaxed);
        if (&at == &programs_.front()) return at;
        std::swap(at, programs_.front());
        return programs_.front();
      }
      step.start_clock();
      if (is_hopeless_) trace_reason(step);
      if (is_hopeless_ || (!may_have && !is_worth_making(values))) return nullptr;
      const auto [made, fresh] = make(g, plan, step, values, known_feeds, may_have);
      if (made == nullptr) return nullptr;
      made->used.store(step.session.programs->now(), std::memory_order_relaxed);
      if (!fresh) return made;
      programs_.push_back(p = made);
    }
    enter(step.session.programs);
    step.session.programs->tick();
    step.session.programs->trim(p.get());
    return p;
  }
  /// Like the other `find`; stores a program for one set of shapes in `last`, so that the caller's next run can try it first without
  /// waiting for the lock.
  std::shared_ptr<plain_program> find(graph& g, const run_plan& plan, step_state& step, std::span<const tensor_value> values,
                                      std::weak_ptr<plain_program>& last) {
    auto p = find(g, plan, step, values);
    if (p != nullptr && !p->general) last = p;
    return p;
  }
  /// If a program that is about to run lacks memory, gives it the memory of programs that are not running.
  void lend(plain_program& to, std::int64_t budget) {
    const std::int64_t wanted = to.bound->needed_bytes();
    if (wanted < least_lent || wanted <= to.bound->arena_bytes()) return;
    const std::lock_guard lock(guard_);
    for (auto& p : programs_) {
      if (p.get() == &to || !p->bound || !p->guard.try_lock()) continue;
      const std::lock_guard held(p->guard, std::adopt_lock);
      const std::int64_t there = p->bound->arena_bytes();
      if (there < least_lent || there > std::max(wanted, budget)) continue;
      to.bound->take_memory(*p->bound);
      p->bytes.store(p->own_bytes + p->bound->arena_bytes(), std::memory_order_relaxed);
      if (to.bound->arena_bytes() >= wanted) return;
    }
  }
  /// Drops a program because one of its variables has another shape now, or has no value.
  void forget(const std::shared_ptr<plain_program>& p) { drop(p.get()); }
  /// Whether compiling the plan has been given up.
  bool is_hopeless() {
    const std::lock_guard lock(guard_);
    return is_hopeless_;
  }

 private:
  static constexpr std::int64_t least_lent = 1 << 16;  // bytes; smaller memory is not lent
  static constexpr int ready_made = 64;
  static constexpr std::size_t remembered = 1024;

  void list(std::vector<program_use>& all) override {
    const std::lock_guard lock(guard_);
    for (const auto& p : programs_)
      all.push_back({p->used.load(std::memory_order_relaxed), p->bytes.load(std::memory_order_relaxed), p.get(), this});
  }
  void drop(const budgeted_program* p) override {
    const std::lock_guard lock(guard_);
    std::erase_if(programs_, [&](const auto& at) { return at.get() == p; });
  }

  struct made_program {
    std::shared_ptr<plain_program> program;
    bool fresh = false;
  };
  // The program for these values: an existing one for many sizes that fits, or a new one for these sizes or for many.
  made_program make(graph& g, const run_plan& plan, step_state& step, std::span<const tensor_value> values,
                    std::span<const int> known_feeds, bool may_have) {
    std::optional<trace_scope> timed;
    if (step.trace != nullptr) timed.emplace(step.trace, step.traced_run, "make a program", "Plan");
    const cpu::flush_denormals mode;  // for results that are computed here
    plain_builder builder(g, plan, step);
    std::optional<plain_table> table = builder.make(values, known_feeds);
    if (table && may_have) {
      if (auto p = instance(*table, values)) return {p};
      if (!is_worth_making(values)) return {};
    }
    std::shared_ptr<plain_program> p;
    if (table && earlier_) p = make_general(*table, values);
    if (table && p == nullptr) p = program_of(*table);
    if (p == nullptr) {
      if (!builder.reason().empty()) reason_ = builder.reason();
      if (!builder.lacks_values() && ++failed_ >= 3 && programs_.empty()) is_hopeless_ = true;  // the plan cannot be compiled
      timed.reset();
      trace_reason(step);
      return {};
    }
    // Keeps the second table: its differences from the third show how it depends on the sizes of feeds.
    if (made_++ > 0 && !p->general && failed_to_generalize_ < 3) earlier_ = std::move(table);
    return {p, true};
  }
  std::shared_ptr<plain_program> instance(const plain_table& table, std::span<const tensor_value> values) {
    plan_sizes sizes;
    for (auto& at : programs_)
      if (at->general && at->fits(values, sizes) && is_instance(*at->general, table, sizes)) {
        at->checked.add(sizes);
        return at;
      }
    return nullptr;
  }
  // A program for all sizes, of which this table and an earlier one are instances; null if there is none.
  std::shared_ptr<plain_program> make_general(const plain_table& table, std::span<const tensor_value> values) {
    std::optional<general_table> made = generalize(*earlier_, table);
    earlier_.reset();
    auto p = made ? program_of(made->table) : nullptr;
    plan_sizes sizes;
    if (p != nullptr) p->general = std::move(made);
    if (p == nullptr || !p->fits(values, sizes)) {
      ++failed_to_generalize_;
      return nullptr;
    }
    p->checked.add(sizes);
    p->own_bytes += static_cast<std::int64_t>(p->general->places.size() * (sizeof(node) + 4 * sizeof(int)));
    return p;
  }
  // Null if the passes reject the table or memory does not suffice. The executor then reports the error, or needs less memory.
  std::shared_ptr<plain_program> program_of(const plain_table& table) {
    try {
      return std::make_shared<plain_program>(table);
    } catch (const error& e) {
      reason_ = e.what();
    } catch (const std::bad_alloc&) {
      reason_ = "not enough memory";
    }
    return nullptr;
  }
  // Records an event of zero duration: the reason why the nodes run one by one.
  void trace_reason(step_state& step) const {
    if (step.trace == nullptr) return;
    const trace_scope why(step.trace, step.traced_run, "no program: " + reason_.substr(0, reason_.find('\n')), "Plan");
  }
  // After many different shapes, only shapes that were seen before are compiled, because compiling does not pay for a program that runs
  // once.
  bool is_worth_making(std::span<const tensor_value> values) {
    if (made_ < ready_made) return true;
    std::uint64_t h = 0;
    for (const tensor_value& v : values) {
      h = mix(h, static_cast<std::uint64_t>(v.type()));
      for (int i = 0; i < v.extent().rank; ++i) h = mix(h, static_cast<std::uint64_t>(v.extent()[i]));
    }
    if (std::find(seen_.begin(), seen_.end(), h) != seen_.end()) return true;
    if (seen_.size() < remembered) seen_.push_back(h);
    else seen_[next_seen_++ % remembered] = h;
    return false;
  }
  void enter(const std::shared_ptr<program_budget>& budget) {
    const std::lock_guard lock(entering_);
    if (budget_ != nullptr) return;
    budget->enter(*this);
    budget_ = budget;
  }

  std::mutex guard_;
  std::vector<std::shared_ptr<plain_program>> programs_;  // the most recently used first
  bool is_hopeless_ = false;
  std::string reason_;  // why the last attempt made no program
  std::optional<plain_table> earlier_;  // a table for other sizes, to compare with the next
  int failed_to_generalize_ = 0;
  int made_ = 0;
  int failed_ = 0;
  std::vector<std::uint64_t> seen_;  // hashes of shapes seen after many programs had been made
  std::size_t next_seen_ = 0;
  std::mutex entering_;
  std::shared_ptr<program_budget> budget_;
};

inline void plain_program::have_memory(step_state& step, program_cache& cache) {
  // Releases memory that was needed for larger sizes.
  if (bound->arena_bytes() > step.session.programs->most() && bound->needed_bytes() < bound->arena_bytes() / 2) bound->release_memory();
  cache.lend(*this, step.session.programs->most());
  const std::int64_t before = bound->arena_bytes();
  bound->reserve();
  if (general) stops = find_stops(code->view(), code->data(), bound->sizes(), together);
  bytes.store(own_bytes + bound->arena_bytes(), std::memory_order_relaxed);
  if (bound->arena_bytes() > before || bytes.load(std::memory_order_relaxed) > step.session.programs->most())
    step.session.programs->trim(this);
}

}  // namespace leat::runtime
