#pragma once
// State that a session keeps for one set of fetches between runs: sizes, addresses and plan of its program, and memory; on a device with
// memory of its own, also copies of feeds and fetches (device_copies.hpp). Also the results of a run, and the observers of its steps.

#include <atomic>
#include <leat/core/list.hpp>
#include <leat/expr/feed.hpp>
#include <leat/expr/fetch.hpp>
#include <leat/kernels/program_plan.hpp>
#include <leat/session/typed/array.hpp>
#include <leat/session/typed/device_copies.hpp>
#include <leat/session/typed/planned/session_plan.hpp>
#include <memory>
#include <tuple>

namespace leat::detail {

// State of one set of fetches between runs.
struct step_memory_base {
  virtual ~step_memory_base() = default;
};
struct no_copies {};
template <class Program, bool Planned = Program::is_planned>
struct step_addresses {
  std::int64_t sizes[Program::view.names() + 1]{};
  void* buffers[Program::view.buffers() + 1]{};
};
// For a planned program, whose counts are known only when it is planned.
template <class Program>
struct step_addresses<Program, true> {
  const planned_code& code = Program::code();
  list<std::int64_t> size_list = list<std::int64_t>(static_cast<std::size_t>(code.names()) + 1);
  list<void*> buffer_list = list<void*>(static_cast<std::size_t>(code.view().buffers()) + 1);
  std::int64_t* const sizes = size_list.data();
  void** const buffers = buffer_list.data();
  planned_code::direct_calls calls;
};
// The addresses of one run of a tiny program (`is_tiny`). They are a local variable, so that the compiler keeps each address, and the place
// of a fetched scalar, in a register.
template <class Program>
struct run_addresses {
  void* buffers[Program::view.buffers() + 1];
  const std::int64_t* sizes;

  /// Copies the addresses that a session keeps: with `planned`, those within planned memory; else the others.
  template <std::size_t... B>
  [[gnu::always_inline]] void take(void* const* kept, bool planned, std::index_sequence<B...>) {
    ((is_planned_place(static_cast<int>(B)) == planned ? void(buffers[B] = kept[B]) : void()), ...);
  }
  /// Compiler barrier for feeds and fetches, which may be local variables of the caller: no arithmetic on them moves across this place,
  /// because it must run in the processor's floating-point mode of a run (cpu/float_mode.hpp).
  template <std::size_t... B>
  [[gnu::always_inline]] void order(std::index_sequence<B...>) const {
    (order_one<static_cast<int>(B)>(), ...);
  }

 private:
  static constexpr bool is_planned_place(int b) {
    const auto where = Program::view.buffer_at(b).where;
    return where == storage::arena || where == storage::extent;
  }
  template <int B>
  [[gnu::always_inline]] void order_one() const {
    constexpr auto where = Program::view.buffer_at(B).where;
    if constexpr (where != storage::arena && where != storage::extent && where != storage::variable)
      __asm__ volatile("" : : "r"(buffers[B]) : "memory");
  }
};
template <class Program, class Device>
struct step_memory : step_memory_base, step_addresses<Program> {
  program_plan plan;
  owned_bytes<Device> arena;
  bool planned = false;
  [[no_unique_address]] std::conditional_t<Device::shares_memory, no_copies, device_copies<Program, Device>> device;
};

template <class Program>
const std::int64_t* data_of() {
  if constexpr (Program::is_planned) return Program::code().data();
  else return Program::data.data();
}

// The observer of a run's steps: none, or a trace.
struct unobserved {};
template <class Trace>
struct observed {
  // Adapts an observer to step_listener, for code that does not know traces.
  template <class Observer>
  struct listener final : step_listener {
    explicit listener(Observer& observer) : observer_(observer) {}
    void before(int step) override { observer_.before(step); }
    void after(int step) override { observer_.after(step); }

   private:
    Observer& observer_;
  };
  Trace& trace;
  template <class Device, class Program, class State, class Steps>
  void run(const typename Device::workspace& w, const State& state, Steps steps) const {
    const int number = trace.begin_run();
    const std::int64_t* const data = data_of<Program>();
    typename Trace::observer_type observer(trace, number, data);
    {
      const typename Trace::scope_type timed(&trace, number, "run", "Session");
      if constexpr (Program::is_planned) {
        listener<typename Trace::observer_type> listening(observer);
        state.code.run(w, listening);
      } else {
        Device::template run_observed<Program>(w, observer, steps);
      }
    }
    trace.add_memory({data, state.sizes, &state.plan});
  }
};

inline int next_step_number() {
  static std::atomic<int> next{0};
  return next++;
}
template <class Program>
int step_number() {
  static const int number = next_step_number();
  return number;
}

template <class F>
using fetch_target_of = typename fetch_target<F>::type;

// The result of one fetch; empty for operations and for fetches into the user's array.
template <class F>
struct fetch_result {
  using type = std::tuple<>;
};
template <tensor_expression E>
struct fetch_result<E> {
  using type = std::tuple<array_of<E>>;
};
template <tensor_expression E, template <class> class Wrap>
struct fetch_result<fetch_as<E, Wrap>> {
  using type = std::tuple<Wrap<array_of<E>>>;
};
template <class... Fs>
using fetch_results = decltype(std::tuple_cat(std::declval<typename fetch_result<Fs>::type>()...));

}  // namespace leat::detail
