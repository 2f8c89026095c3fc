#pragma once
// Typed sessions on any device, compiled or planned at run time: variables (session_store.hpp), and one step for each set of fetches. A
// step's buffers are planned once; a warm run binds the feeds, executes the steps and allocates nothing.

#include <leat/core/list.hpp>
#include <leat/session/typed/session_store.hpp>

#include <memory>

namespace leat {

namespace detail {

template <class Program>
constexpr auto step_sequence() {
  if constexpr (Program::is_planned) return std::index_sequence<>{};
  else return std::make_index_sequence<static_cast<std::size_t>(Program::view.steps())>{};
}
template <class Program>
constexpr auto buffer_sequence() {
  return std::make_index_sequence<static_cast<std::size_t>(Program::view.buffers())>{};
}
// Whether a program reads or writes variables; true if it is planned at run time, because that is not known yet.
template <class Program>
constexpr bool may_have_variables() {
  if constexpr (!Program::is_planned) {
    for (int b = 0; b < Program::view.buffers(); ++b)
      if (Program::view.buffer_at(b).where == storage::variable) return true;
  }
  return Program::is_planned;
}

}  // namespace detail

/// A session of typed expressions on any device; see `session`. A device defines whether it shares the host's memory, allocates and copies,
/// and runs a program's steps; see cpu::device.
template <class Device, expression... Es>
class basic_session : public detail::session_store<Device, Es...> {
  using base = detail::session_store<Device, Es...>;
  using check = detail::session_check<detail::choose_table<Device>::template type, Es...>;
  using base::carried_count;
  using base::carried_ids;
  using base::has_arrays;
  using base::plans;
  using base::rows;
  using base::view;
  using typename base::carried_values;
  using typename base::guard;
  using typename base::refused_calls;
  using typename base::table;
  template <class... Fs>
  using program_for = typename detail::choose_table<Device>::template program<table, detail::fetch_target_of<Fs>...>;
  template <class Program>
  using step_memory = detail::step_memory<Program, Device>;

 public:
  explicit basic_session(const Es&... expressions)
    requires(check::ok)
      : base(expressions...) {}
  template <class Refusal = typename check::refusal::problem>
    requires(!check::ok)
  explicit basic_session(const Es&..., Refusal* = nullptr) = delete;
  basic_session(const basic_session&) = delete;
  basic_session& operator=(const basic_session&) = delete;

  /// Runs the fetched expressions and operations, each node once, and returns the values of the expressions as a tuple; operations and
  /// fetches `into` an array return none.
  /// Plain numbers and constant arrays have the values that the fetched objects carry; parameters and variables have the session's values.
  /// Errors, at compile time: a placeholder that is needed and not fed, one that is fed twice, a fetch or feed that the session does not
  /// have, two writes to one variable without an order. At run time: invalid_argument (a feed's shape, a number that the dtype does not
  /// hold, an index out of range, an integer divided by zero, a parameter or an initializer with another value than in the session, two
  /// fetches into one array), failed_precondition (a variable without a value, a session entered twice). After an error the session is as
  /// it was before.
  template <class... Fs, feed_binding... Feeds>
    requires(detail::run_check<table, detail::fetch_targets<detail::fetch_target_of<Fs>...>, typename Feeds::leaf::identity...>::ok)
  [[gnu::always_inline]] detail::fetch_results<Fs...> run(const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    using its_program = program_for<Fs...>;
    const detail::session_guard<!detail::is_tiny<its_program>()> g(busy_);
    return run_in(detail::unobserved{}, state_of<its_program>(), fetches, feeds...);
  }
  using refused_calls::run;

  /// Prepares a run: calling the result looks nothing up. Named arrays and numbers are kept by reference: they are read or written when the
  /// run is called, and must outlive it. Unnamed numbers and views are copied into the prepared run. It must not outlive the session.
  /// Errors, at compile time: those of `run`, and a temporary array, because it would be destroyed before the call.
  template <class... Fs, feed_binding... Feeds>
    requires(detail::run_check<table, detail::fetch_targets<detail::fetch_target_of<Fs>...>, typename Feeds::leaf::identity...>::ok &&
             (detail::kept_check<Feeds>::ok && ...))
  [[nodiscard("a prepared run does nothing until it is called")]] auto prepare(const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    using its_program = program_for<Fs...>;
    const guard g(busy_);
    return [this, &state = state_of<its_program>(), fetches, feeds...]() __attribute__((always_inline)) {
      const detail::session_guard<!detail::is_tiny<its_program>()> entered(busy_);
      return run_in(detail::unobserved{}, state, fetches, feeds...);
    };
  }
  using refused_calls::prepare;
  using refused_calls::run_traced;
  using refused_calls::planned;
  using refused_calls::arena_bytes;

  /// Like `run`, and records the time of each step in a trace (<leat/inspect/trace.hpp>). A compiled step is compiled a second time for it,
  /// with calls of the clock, so that `run` has none. Only for devices that share the host's memory.
  template <class Trace, class... Fs, feed_binding... Feeds>
    requires(Device::shares_memory &&
             detail::run_check<table, detail::fetch_targets<detail::fetch_target_of<Fs>...>, typename Feeds::leaf::identity...>::ok)
  detail::fetch_results<Fs...> run_traced(Trace& trace, const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    using its_program = program_for<Fs...>;
    const guard g(busy_);
    detail::observed<Trace> observer{trace};
    return run_in(observer, state_of<its_program>(), fetches, feeds...);
  }
  /// The program of a set of fetches and the plan of its last run, for `memory_plan_of` (<leat/inspect/memory_plan.hpp>). Errors:
  /// failed_precondition if these fetches have not run yet.
  template <class... Fs>
  planned_program planned(const fetch_list<Fs...>&) {
    using its_program = program_for<Fs...>;
    auto& state = state_of<its_program>();
    if (!state.planned) throw failed_precondition("planned: these fetches have not run yet");
    return {detail::data_of<its_program>(), state.sizes, &state.plan};
  }

  /// The bytes of intermediate results that a set of fetches needs for the shapes of its last run.
  template <class... Fs>
  std::int64_t arena_bytes(const fetch_list<Fs...>&) {
    return state_of<program_for<Fs...>>().plan.arena_bytes;
  }
  /// Whether the device repeats the steps of a set of fetches from a recording, which it makes in their second run for the same shapes.
  /// Steps that wait for the device run between recordings. Only for devices with memory of their own.
  template <class... Fs>
    requires(!Device::shares_memory)
  bool is_recorded(const fetch_list<Fs...>&) {
    return state_of<program_for<Fs...>>().device.is_recorded();
  }

 private:
  static constexpr bool is_one_number(const auto& info) { return info.where == storage::number && info.extent.rank == 0; }
  // Buffers of constant arrays refer to the elements of this run's expressions.
  template <class Program, int B, class Addresses>
  [[gnu::always_inline]] void bind_array(Addresses& addresses) {
    constexpr auto info = Program::view.buffer_at(B);
    if constexpr (info.where == storage::number && info.extent.rank > 0) {
      constexpr auto at = static_cast<std::size_t>(carried_ids.find(info.id));
      addresses.buffers[B] = current_[at].elements.data();
    }
  }
  template <class Program, class Addresses, std::size_t... B>
  [[gnu::always_inline]] void bind_arrays(Addresses& addresses, std::index_sequence<B...>) {
    (bind_array<Program, static_cast<int>(B)>(addresses), ...);
  }

  // A run uses the numbers that the fetched objects carry. Usually they are those of the last run, so comparing them is all that it costs.
  template <class F>
  static constexpr const auto& asked_for(const F& fetch) {
    if constexpr (expression<F>)
      return fetch;
    else
      return fetch.value;
  }
  template <class E>
  [[gnu::always_inline]] bool has_numbers_of(const E& e) const {
    if constexpr (E::carried_count == 0) {
      return true;
    } else if constexpr (E::carried_count <= 8) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
        return ((current_[base::template places_of<E>[I]] == e.carried[I]) && ...);
      }(std::make_index_sequence<static_cast<std::size_t>(E::carried_count)>{});
    } else {
      bool same = true;
      for (std::size_t i = 0; i < base::template places_of<E>.size(); ++i) same &= current_[base::template places_of<E>[i]] == e.carried[i];
      return same;
    }
  }
  template <class... Fs, std::size_t... I>
  [[gnu::always_inline]] void adopt_numbers(const fetch_list<Fs...>& fetches, std::index_sequence<I...>) {
    if constexpr ((0 + ... + detail::fetch_target_of<Fs>::carried_count) > 0)
      if (!(has_numbers_of(asked_for(std::get<I>(fetches.targets))) && ...)) [[unlikely]]
        adopt_other_numbers(asked_for(std::get<I>(fetches.targets))...);
  }
  template <class... Ts>
  [[gnu::cold, gnu::noinline]] void adopt_other_numbers(const Ts&... asked) {
    carried_values next = current_;
    std::array<bool, carried_count + 1> set{};
    (take(next, set, asked), ...);
    for (std::size_t i = 0; i < carried_count; ++i)
      if (!(next[i] == current_[i])) detail::check_other_number(rows(), carried_ids.id[i], detail::bits_of_carried(next[i]));
    for (std::size_t i = 0; i < carried_count; ++i)
      if (!(next[i] == current_[i])) write_numbers(carried_ids.id[i], next[i]);
    current_ = next;
  }

  template <class Program>
  step_memory<Program>& state_of() {
    const auto number = static_cast<std::size_t>(detail::step_number<Program>());
    if (number < states_.size() && states_[number] != nullptr) [[likely]]
      return static_cast<step_memory<Program>&>(*states_[number]);
    return new_state<Program>(number);
  }
  template <class Program>
  [[gnu::noinline]] step_memory<Program>& new_state(std::size_t number) {
    auto state = std::make_unique<step_memory<Program>>();
    const auto all = rows();
    const program_view program = detail::view_of<Program>();
    for (int b = 0; b < program.buffers(); ++b) {
      const auto info = program.buffer_at(b);
      if constexpr (plans || view.variables() > 0)
        if (info.where == storage::variable) state->buffers[b] = storage_.data() + all.variable(all.find_variable(info.id)).offset;
      if constexpr (plans || view.numbers() > 0)
        if (is_one_number(info)) state->buffers[b] = &numbers_[static_cast<std::size_t>(all.find_number(info.id))];
    }
    if (states_.size() <= number) states_.resize(number + 1);
    auto& made = *state;
    states_[number] = std::move(state);
    return made;
  }

  template <class Program>
  [[gnu::noinline]] void plan(step_memory<Program>& state) {
    state.planned = false;  // until the plan is complete
    make_plan(detail::data_of<Program>(), state.sizes, Device::chunks, state.plan);
    if (static_cast<std::size_t>(state.plan.arena_bytes) > state.arena.size())
      state.arena = detail::owned_bytes<Device>(static_cast<std::size_t>(state.plan.arena_bytes));
    const program_view program = detail::view_of<Program>();
    for (int b = 0; b < program.buffers(); ++b) {
      const auto info = program.buffer_at(b);
      if (info.where == storage::arena || info.where == storage::extent)
        state.buffers[b] = state.arena.data() + state.plan.offsets[static_cast<std::size_t>(b)];
      if (info.where == storage::extent) {
        std::uint64_t number = 0;
        detail::write_number(&number, info.type,
                             detail::bits_as(info.type, static_cast<double>(program.elements(info.extent, state.sizes))));
        device_.copy_in(state.buffers[b], &number, static_cast<std::size_t>(size_of(info.type)));
      }
    }
    if constexpr (!Device::shares_memory) state.device.place(state, [&](int b) { return places_of_number(state, b); });
    if constexpr (plans) state.calls = state.code.resolve(state.plan);
    state.planned = true;
  }

  // Where the number or the constant array of a buffer is.
  template <class Program>
  detail::number_places places_of_number(const step_memory<Program>& state, int b) const {
    if constexpr (view.numbers() > 0) {
      const int found = view.find_number(Program::view.buffer_at(b).id);
      if (found < 0) return {};
      const auto k = static_cast<std::size_t>(found);
      if (Program::view.buffer_at(b).extent.rank > 0) return {state.buffers[b], device_arrays_[k].data()};
      return {&numbers_[k], device_numbers_.data() + k * sizeof numbers_[k]};
    }
    return {};
  }

  template <class Program>
  void check_variables() {
    const program_view program = detail::view_of<Program>();
    for (int b = 0; b < program.buffers(); ++b) {
      const auto info = program.buffer_at(b);
      if (info.where != storage::variable || !info.read) continue;
      const auto k = static_cast<std::size_t>(rows().find_variable(info.id));
      if (k < initialized_.size() && !initialized_[k]) without_value(static_cast<int>(k));  // every k is found, which g++ does not see
    }
  }
  template <class Program>
  void mark_written() {
    const program_view program = detail::view_of<Program>();
    for (int b = 0; b < program.buffers(); ++b) {
      const auto info = program.buffer_at(b);
      if (info.where != storage::variable || info.read) continue;
      const auto k = static_cast<std::size_t>(rows().find_variable(info.id));
      if (k < initialized_.size()) initialized_[k] = true;
    }
    all_initialized_ = uninitialized_count() == 0;
  }

  template <class Observer, class Program, class... Fs, class... Feeds>
  [[gnu::always_inline]] detail::fetch_results<Fs...> run_in([[maybe_unused]] const Observer& observer, step_memory<Program>& state,
                                                            const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    // binds each placeholder to its feed's memory, and each named dimension to its size
    std::int64_t sizes[detail::room_for_names<Program>() + 1];
    const int names = detail::view_of<Program>().names();
    for (int k = 0; k < names; ++k) sizes[k] = -1;
    adopt_numbers(fetches, std::index_sequence_for<Fs...>{});
    if constexpr (has_arrays && plans)
      for (const auto& a : state.code.arrays())
        state.buffers[a.buffer] = current_[static_cast<std::size_t>(carried_ids.find(a.id))].elements.data();
    constexpr bool has_own_addresses = Device::shares_memory && detail::is_tiny<Program>() && std::is_same_v<Observer, detail::unobserved>;
    auto&& addresses = addresses_of<has_own_addresses>(state);
    if constexpr (has_arrays && !plans)
      bind_arrays<Program>(addresses, std::make_index_sequence<static_cast<std::size_t>(Program::view.buffers())>{});
    constexpr bool into = (detail::is_into<Fs> || ...);
    std::tuple<detail::bound_feed<Feeds, into>...> bound;
    constexpr bool feeds_numbers = (detail::feeds_number<Program, Feeds>() || ...);
    [[maybe_unused]] const fed_numbers<Program, feeds_numbers && !has_own_addresses> until_the_end{*this, state};
    bind_feeds<Program>(addresses, sizes, bound, std::index_sequence_for<Feeds...>{}, feeds...);
    if constexpr (into)
      keep_apart<Program>(addresses, bound, fetches, std::index_sequence_for<Fs...>{}, std::index_sequence_for<Feeds...>{}, feeds...);
    bool replan = !state.planned;
    for (int k = 0; k < names; ++k) replan = replan || sizes[k] != state.sizes[k];
    if (replan) [[unlikely]] {
      std::copy_n(sizes, names, state.sizes);
      plan(state);
    }
    if constexpr (has_own_addresses) addresses.take(state.buffers, true, detail::buffer_sequence<Program>());
    const bool fresh = detail::may_have_variables<Program>() && !all_initialized_;
    if (fresh) [[unlikely]]
      check_variables<Program>();
    detail::fetch_results<Fs...> results;
    bind_fetches<Program>(addresses, results, fetches, std::index_sequence_for<Fs...>{});
    if constexpr (Device::shares_memory) {
      constexpr auto steps = detail::step_sequence<Program>();
      const typename Device::workspace w{addresses.buffers, state.plan.numbers.data(), state.arena.data()};
      const typename Device::mode mode;
      if constexpr (has_own_addresses) addresses.order(detail::buffer_sequence<Program>());
      if constexpr (plans && std::is_same_v<Observer, detail::unobserved>)
        state.code.run(w, state.calls.get());
      else if constexpr (std::is_same_v<Observer, detail::unobserved>)
        device_.template run<Program>(w, steps);
      else
        observer.template run<Device, Program>(w, state, steps);
    } else {
      state.device.copy_feeds(device_, state);
      state.device.run(device_, state);
      state.device.copy_fetches(device_, state);
    }
    if (fresh) [[unlikely]]
      mark_written<Program>();
    finish_fetches<Program>(state, fetches, std::index_sequence_for<Fs...>{});
    return results;
  }

  template <bool Own, class Program>
  [[gnu::always_inline]] static decltype(auto) addresses_of(step_memory<Program>& state) {
    if constexpr (Own) {
      detail::run_addresses<Program> addresses;
      addresses.sizes = state.sizes;
      addresses.take(state.buffers, false, detail::buffer_sequence<Program>());
      return addresses;
    } else {
      return (state);
    }
  }
  template <class Program, class Addresses, class Bound, std::size_t... I, class... Feeds>
  [[gnu::always_inline]] void bind_feeds(Addresses& addresses, [[maybe_unused]] std::int64_t* sizes, Bound& bound,
                                         std::index_sequence<I...>, const Feeds&... feeds) {
    (detail::bind_feed<Program>(addresses.buffers, sizes, std::get<I>(bound), feeds), ...);
  }
  template <class Program, class Addresses, class Bound, class... Fs, std::size_t... F, class Places, class... Feeds>
  [[gnu::always_inline]] void keep_apart(Addresses& addresses, Bound& bound, const fetch_list<Fs...>& fetches, std::index_sequence<F...>,
                                         Places places, const Feeds&... feeds) {
    (keep_apart_from<Program>(addresses, bound, std::get<F>(fetches.targets), places, feeds...), ...);
    if constexpr ((0 + ... + (detail::is_into<Fs> ? 1 : 0)) > 1)
      std::apply([](const Fs&... fs) { detail::refuse_same_destinations(fs...); }, fetches.targets);
  }
  template <class Program, class Addresses, class Bound, class F, std::size_t... I, class... Feeds>
  [[gnu::always_inline]] void keep_apart_from([[maybe_unused]] Addresses& addresses, [[maybe_unused]] Bound& bound,
                                              [[maybe_unused]] const F& fetch, std::index_sequence<I...>, const Feeds&... feeds) {
    if constexpr (detail::is_into<F> && sizeof...(Feeds) > 0) {
      const auto range = detail::destination_of(*fetch.array);
      (detail::copy_where_written<Program>(addresses.buffers, std::get<I>(bound), feeds, range), ...);
    }
  }
  // Ends the binding of fed parameters, even after an error, so that the next run reads the session's values again.
  template <class Program, bool Any>
  struct fed_numbers {
    basic_session& session;
    step_memory<Program>& state;
    ~fed_numbers() {
      if constexpr (Any) session.restore_numbers<Program>(state);
    }
  };
  template <class Program>
  void restore_numbers(step_memory<Program>& state) {
    if constexpr (plans) {
      const auto all = rows();
      for (const auto& n : state.code.numbers()) state.buffers[n.buffer] = &numbers_[static_cast<std::size_t>(all.find_number(n.id))];
    } else {
      for (int b = 0; b < Program::view.buffers(); ++b) {
        const auto info = Program::view.buffer_at(b);
        if (is_one_number(info)) state.buffers[b] = &numbers_[static_cast<std::size_t>(view.find_number(info.id))];
      }
    }
  }
  template <class Program, class Addresses, class Results, class... Fs, std::size_t... I>
  [[gnu::always_inline]] void bind_fetches(Addresses& addresses, Results& results, const fetch_list<Fs...>& fetches,
                                           std::index_sequence<I...>) {
    (detail::bind_fetch<Program, static_cast<int>(I), detail::result_position<static_cast<int>(I), Fs...>()>(addresses, results,
                                                                                                             std::get<I>(fetches.targets)),
     ...);
  }
  template <class Program, class... Fs, std::size_t... I>
  [[gnu::always_inline]] void finish_fetches(step_memory<Program>& state, const fetch_list<Fs...>& fetches, std::index_sequence<I...>) {
    (detail::finish_fetch<Program, static_cast<int>(I)>(state, std::get<I>(fetches.targets)), ...);
  }

  using base::all_initialized_;
  using base::busy_;
  using base::carried_;
  using base::current_;
  using base::device_;
  using base::device_arrays_;
  using base::device_numbers_;
  using base::initialized_;
  using base::numbers_;
  using base::storage_;
  using base::take;
  using base::uninitialized_count;
  using base::without_value;
  using base::write_numbers;

  detail::list<std::unique_ptr<detail::step_memory_base>> states_;
};

}  // namespace leat
