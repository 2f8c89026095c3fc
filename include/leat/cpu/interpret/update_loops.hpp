#pragma once
// Optimizers' steps as loops that are compiled ahead of time (ready_loops.hpp). Their formulas (ops/updates.hpp) become programs in
// constant evaluation, as in typed sessions. The instructions from which each loop is compiled are those that a cluster with such a step
// contains.

#include <leat/cpu/execute.hpp>
#include <leat/cpu/interpret/ready_loops.hpp>
#include <leat/ops/updates.hpp>

#include <array>

namespace leat::cpu::detail {

// The program of an update: all of its inputs are feeds, and the new values of its variables are fetches.
template <class Update, dtype Type, bool Flag>
struct update_program {
  static constexpr std::int64_t named_size = unknown_dimension - 1;

  static constexpr leat::detail::list<std::int64_t> make() {
    shape array;
    array.push(named_size);
    constexpr auto layout = update::inputs_of<Update>;
    graph g;
    std::vector<output> inputs;
    for (int k = 0; k < layout.count; ++k) {
      const shape extent = layout.roles[k] == update::role::scalar ? shape{} : array;
      inputs.push_back({g, g.add_leaf(info_of<placeholder_op>, {Type, extent}, layout.names[k], static_cast<std::uint64_t>(k) + 1)});
    }
    update::row_writer w({inputs.data(), inputs.size()}, [](std::string_view, bool) { return Flag; });
    Update::expand(w);
    leat::detail::list<int> targets;
    for (const update::change& c : w.changes()) {
      const output& before = inputs[static_cast<std::size_t>(c.variable)];
      targets.push_back((c.subtract ? before - c.value : c.value).index());
    }
    return pack(passes::compile(g, targets));
  }
  static constexpr std::size_t size = make().size();
  static constexpr auto data = [] {
    std::array<std::int64_t, size> all{};
    const auto made = make();
    std::copy(made.begin(), made.end(), all.begin());
    return all;
  }();
  static constexpr program_view view{data.data()};
  // The index of its only loop.
  static constexpr int step = [] {
    int found = -1;
    for (int k = 0; k < view.steps(); ++k) {
      const auto s = view.step_at(k);
      if (!s.is_cluster || data[static_cast<std::size_t>(s.instructions) + has_lanes] == 0) continue;
      if (found >= 0) throw invalid_argument("an update of more than one loop");
      found = k;
    }
    if (found < 0) throw invalid_argument("an update without a loop");
    return found;
  }();
  using cluster = kernels::cluster_of<batch_lanes<size_of(Type)>, update_program, step>;
  static_assert(cluster::operands <= loop_call::most_operands && cluster::outer == 0);

  static void run(void* const* operands, std::int64_t n) {
    kernels::cluster_arguments a{.base = operands};
    cluster::run(a, {0, 1, 0, n});
  }
};

template <class Update, bool Flag>
void enter_update() {
  using program = update_program<Update, dtype::float32, Flag>;
  enter_loop(read_loop(program::data.data() + program::view.step_at(program::step).instructions, &program::run));
}

// Registers the updates that gain from it: those with roots and quotients, whose latency hides all other work.
inline void enter_updates() {
  enter_update<update::adam, false>();
  enter_update<update::adam, true>();
  enter_update<update::adagrad, true>();
  enter_update<update::rms_prop, false>();
}

}  // namespace leat::cpu::detail
