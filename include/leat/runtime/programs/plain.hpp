#pragma once
// Compiles a plan to one program. A plan without control flow, queues and host functions is translated to a plain table (plain_table.hpp);
// the passes fuse it and plan its memory, and the interpreter runs it. The executor runs plans that have no such table, and repeats a run
// that fails, so that its error names the node.

#include <leat/runtime/programs/plain_sizes.hpp>
#include <leat/runtime/programs/plain_table.hpp>
#include <leat/runtime/programs/stops.hpp>
#include <leat/runtime/state/program_budget.hpp>

namespace leat::runtime {

class program_cache;

/// A plan compiled for certain shapes, with its variables, feeds and fetches.
class plain_program : public budgeted_program, public std::enable_shared_from_this<plain_program> {
 public:
  struct feed_binding {
    int buffer;
    int feed;
  };
  struct variable_binding {
    int buffer;
    variable_slot* slot;
    tensor_info info;
    bool written;
    const std::byte* elements = nullptr;  // their address in the last run
  };
  std::vector<tensor_info> feeds;  // the feeds it was compiled for; sizes that may vary have names
  std::vector<std::pair<int, tensor_value>> known_feeds;  // feeds whose elements are fixed
  std::vector<variable_binding> variables;  // sorted by slot
  std::vector<feed_binding> feed_buffers;
  std::vector<tensor_value> arrays;
  std::vector<tensor_value> known;  // indexed by fetch: its value, if it depends on shapes alone
  std::vector<int> fetches;         // indexed by fetch: the buffer, or -1
  std::vector<tensor_info> results;
  std::vector<std::vector<int>> together;  // groups of variables' buffers, each written by one node
  std::vector<int> size_names;             // indexed by the program's named dimensions: the index of the size
  std::optional<general_table> general;    // of a general program: its table
  checked_sizes checked;                   // sizes that are known to fit; guarded by the cache's lock
  std::optional<cpu::interpreter> code;
  std::optional<cpu::bound_program> bound;
  program_stops stops;
  std::int64_t own_bytes = 0;       // memory without that for intermediate results
  std::mutex guard;

  explicit plain_program(const plain_table& t)
      : feeds(t.feeds), known_feeds(t.known_feeds), arrays(t.arrays), known(t.known), results(t.results) {
    if (t.targets.empty()) {  // all fetches are known
      fetches = t.targets_of;
      return;
    }
    const program p = passes::compile(t.rows, t.targets);
    if (p.problem.size > 0) throw invalid_argument(std::string(p.problem.view()));
    code.emplace(p);
    bound.emplace(*code);
    bind(t);
    own_bytes = code->bytes();
    for (const tensor_value& a : arrays)
      if (!a.is_borrowed()) own_bytes += static_cast<std::int64_t>(a.bytes());
    bytes.store(own_bytes, std::memory_order_relaxed);
    if (size_names.empty()) stops = find_stops(code->view(), code->data(), bound->sizes(), together);
  }

  /// Whether the feeds match; sets `sizes` to the values of named dimensions. For a program for many sizes, `checked` must also have them.
  bool fits(std::span<const tensor_value> given, plan_sizes& sizes) const {
    if (!general) return fits_alone(given);
    sizes.fill(-1);
    for (std::size_t k = 0; k < feeds.size(); ++k)
      if (feeds[k].type != given[k].type() || !match(feeds[k].extent, given[k].extent(), sizes)) return false;
    return knows_elements_of(given);
  }
  /// Whether it was compiled for exactly these shapes.
  bool fits_alone(std::span<const tensor_value> given) const {
    if (general) return false;
    for (std::size_t k = 0; k < feeds.size(); ++k)
      if (feeds[k].type != given[k].type() || !(feeds[k].extent == given[k].extent())) return false;
    return knows_elements_of(given);
  }
  /// Whether it is for one set of shapes, and too short to be stopped.
  bool is_short() const { return !general && !stops.is_long; }
  /// The dtypes and shapes of the results for these feeds, which must fit.
  std::vector<tensor_info> results_for(std::span<const tensor_value> given) const {
    if (!general) return results;
    plan_sizes sizes;
    std::vector<tensor_info> all = results;
    if (fits(given, sizes))
      for (tensor_info& r : all) r.extent = with_sizes(r.extent, sizes);
    return all;
  }
  /// Runs the program. Returns false if a variable's shape or presence has changed. `cache` is its owner. Errors: those of the interpreter;
  /// no variable has been written then. A longer run may also throw cancelled or deadline_exceeded; then each node has written all of its
  /// variables or none.
  bool run(std::span<const tensor_value> given, std::vector<tensor_value>& fetched, step_state& step, program_cache& cache) {
    const std::lock_guard lock(guard);
    plan_sizes sizes;
    if (general) {
      if (!fits(given, sizes)) return false;
      for (std::size_t k = 0; k < size_names.size(); ++k)
        bound->set_size(static_cast<int>(k), sizes[static_cast<std::size_t>(size_names[k])]);
    }
    if (bound && !bound->is_ready()) [[unlikely]]
      have_memory(step, cache);
    return run_locked(given, fetched, sizes, [&] {
      if (step.trace == nullptr && !stops.is_long) bound->run();
      else run_observed(step);
    });
  }
  /// Like `run`, but needs no state of the run. Returns false, without effect, unless the program is for one set of shapes, has its memory
  /// and is short. For runs that are not traced.
  bool run_at_once(std::span<const tensor_value> given, std::vector<tensor_value>& fetched) {
    const std::lock_guard lock(guard);
    if (!is_short() || (bound && !bound->is_ready())) return false;
    static constexpr plan_sizes none{};
    return run_locked(given, fetched, none, [&] { bound->run(); });
  }

 private:
  // Binds all arrays and calls `compute`. The program's lock must be held.
  template <class Compute>
  [[gnu::always_inline]] bool run_locked(std::span<const tensor_value> given, std::vector<tensor_value>& fetched, const plan_sizes& sizes,
                                         Compute compute) {
    struct unlock {
      std::vector<variable_binding>& all;
      std::size_t locked = 0;
      ~unlock() {
        for (std::size_t k = 0; k < locked; ++k) all[k].slot->guard().unlock();
      }
    } held{variables};
    for (std::size_t k = 0; k < variables.size(); ++k) {
      // Taking a lock is a memory barrier, so the data of later variables is prefetched here.
      constexpr std::size_t ahead = 6;
      if (k + ahead < variables.size()) variables[k + ahead].slot->fetch(variables[k + ahead].elements);
      variable_binding& v = variables[k];
      v.slot->guard().lock();
      ++held.locked;
      tensor_value& value = v.slot->locked_value();
      if (!value || value.type() != v.info.type || !(value.extent() == v.info.extent)) return false;
      if (v.written && !value.is_alone()) value = value.copy();
      if (std::byte* const elements = value.data(); elements != v.elements || elements == nullptr) {
        v.elements = elements;
        if (v.buffer >= 0) bound->bind(v.buffer, elements);
      }
    }
    for (const auto& f : feed_buffers) bound->bind(f.buffer, const_cast<std::byte*>(given[static_cast<std::size_t>(f.feed)].data()));
    fetched.resize(fetches.size());
    for (std::size_t k = 0; k < fetches.size(); ++k) {
      if (fetches[k] < 0) continue;
      tensor_value& to = fetched[k];
      const auto have_place = [&](const shape& extent) {
        if (!to.is_alone() || to.type() != results[k].type || !(to.extent() == extent)) to = tensor_value(results[k].type, extent);
      };
      if (general) have_place(with_sizes(results[k].extent, sizes));
      else have_place(results[k].extent);
      bound->bind(fetches[k], to.data());
    }
    if (bound) compute();
    for (std::size_t k = 0; k < fetches.size(); ++k)
      if (fetches[k] < 0) fetched[k] = known[k];
    return true;
  }
  bool knows_elements_of(std::span<const tensor_value> given) const {
    for (const auto& [k, value] : known_feeds) {
      const tensor_value& now = given[static_cast<std::size_t>(k)];
      if (value.bytes() != now.bytes() || std::memcmp(value.data(), now.data(), value.bytes()) != 0) return false;
    }
    return true;
  }
  [[gnu::cold]] void have_memory(step_state& step, program_cache& cache);

  // Binds buffers to the feeds, variables and arrays of the table.
  void bind(const plain_table& t) {
    const program_view view = code->view();
    for (int k = 0; k < view.names(); ++k) size_names.push_back(size_of_name(view.name(k)));
    for (const int f : t.targets_of) {
      fetches.push_back(f < 0 ? -1 : view.fetch(f));
      if (f >= 0 && view.buffer_at(fetches.back()).where != storage::fetch) throw unimplemented("a fetch without a place of its own");
    }
    std::vector<int> variable_buffers(t.variables.size(), -1);
    for (int b = 0; b < view.buffers(); ++b) {
      const auto info = view.buffer_at(b);
      if (info.where != storage::feed && info.where != storage::variable) continue;
      const plain_table::leaf_source& from = t.sources[static_cast<std::size_t>(info.id) - 1];
      if (from.kind == plain_table::leaf_kind::feed) feed_buffers.push_back({b, from.index});
      else if (from.kind == plain_table::leaf_kind::variable) variable_buffers[static_cast<std::size_t>(from.index)] = b;
      else bound->bind(b, arrays[static_cast<std::size_t>(from.index)].data());
    }
    const auto place_of = [&](const variable_slot* slot) {
      return std::find_if(t.variables.begin(), t.variables.end(), [&](const auto& v) { return v.slot == slot; }) - t.variables.begin();
    };
    for (const auto& slots : t.together) {
      auto& list = together.emplace_back();
      for (const auto* s : slots) list.push_back(variable_buffers[static_cast<std::size_t>(place_of(s))]);
    }
    for (std::size_t k = 0; k < t.variables.size(); ++k)
      variables.push_back({variable_buffers[k], t.variables[k].slot, t.variables[k].info, t.variables[k].written});
    std::sort(variables.begin(), variables.end(), [](const auto& a, const auto& b) { return a.slot < b.slot; });
  }

  void run_observed(step_state& step) {
    if (stops.is_long) step.start_clock();
    const step_interruption interruption(step);
    if (step.trace == nullptr) {
      stop_observer<cpu::no_observer> stoppable(stops, interruption);
      return bound->run(stoppable);
    }
    step_observer traced(*step.trace, step.traced_run, code->data());
    stop_observer<step_observer> stoppable(stops, interruption, traced);
    bound->run(stoppable);
    step.trace->add_memory({code->data(), bound->sizes(), &bound->plan()}, weak_from_this().lock());
  }
};

}  // namespace leat::runtime
