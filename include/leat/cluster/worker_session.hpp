#pragma once
// A typed session with variables at parameter servers. Its step runs compiled (or planned) at the worker, with copies of the variables.
// Gradients are sent to the servers, which apply them by the optimizer's operators, and new values are sent back:
//
//   worker_session s({.target = here.target(), .cluster = c}, loss, train);
//   if (here.task_index() == 0) s.initialize();
//   s.wait_until_initialized();
//   auto [l] = s.run(fetch(loss, train), x = xs, y = ys);
//
// A training step of the expressions is split where variables are written. Its gradients belong to a local session; slots, powers, the step
// counter and everything on which the settings depend belong to the servers (worker_halves.hpp, parameter_client.hpp).

#include <leat/cluster/worker_halves.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace leat {

/// A session of typed expressions, as `session`, that stores its variables at parameter servers under their names, together with the slots
/// of optimizers and the step counter; sessions of graphs, savers, and other workers use the same variables. A run with a training step
/// computes gradients by compiled code, and the servers apply them, with one round trip to each. It computes with the values in the answer
/// to the session's last step, which lack the updates that other workers have made since. A run without a training step reads the values
/// first.
///
/// Gradients of rows that were gathered from a variable are sent as rows, and applied as in `session`. If a variable is only read by
/// gathering rows, with indices that are fed, a run reads these rows first. A run may have one training step; other writes are refused.
/// With `worker_options::replicas` workers train synchronously: a run ends when the update is made to which all of them have contributed
/// gradients.
template <class Device, expression... Es>
class basic_worker_session {
  static constexpr bool as_rows = Device::shares_memory;
  // Removes duplicates.
  template <class Done, class Rest>
  struct distinct;
  template <class... Done>
  struct distinct<std::tuple<Done...>, std::tuple<>> {
    using type = std::tuple<Done...>;
  };
  template <class... Done, class Next, class... Rest>
  struct distinct<std::tuple<Done...>, std::tuple<Next, Rest...>>
      : std::conditional_t<(std::is_same_v<Done, Next> || ...), distinct<std::tuple<Done...>, std::tuple<Rest...>>,
                           distinct<std::tuple<Done..., Next>, std::tuple<Rest...>>> {};
  using computed = decltype(std::tuple_cat(detail::worker_half<as_rows>(std::declval<const Es&>())...));
  using counters = decltype(std::tuple_cat(detail::counter_of(std::declval<const Es&>())...));
  using expressions = typename distinct<std::tuple<>, decltype(std::tuple_cat(std::declval<computed>(), std::declval<counters>()))>::type;
  using ids = typename detail::worker_table<Device, as_rows, computed, expressions>::ids_tuple;
  using with_ids = typename distinct<std::tuple<>, decltype(std::tuple_cat(std::declval<expressions>(), std::declval<ids>()))>::type;
  using table = detail::worker_table<Device, as_rows, computed, with_ids>;
  using local_session = typename table::session_type;
  template <class V>
  static constexpr int variable_of = table::find_variable(V::identity::hash);
  template <class Leaf>
  static constexpr bool is_setting = [] {
    bool found = false;
    const auto look = [&]<class E>(const E*) {
      if constexpr (detail::is_training_step<E>) found = found || detail::halves_of<E>::has_leaf(Leaf::identity::hash);
    };
    (look(static_cast<const Es*>(nullptr)), ...);
    return found;
  }();
  template <class Leaf>
  static constexpr bool is_local = table::has_leaf(Leaf::identity::hash);

 public:
  /// Connects. Errors: those of a `graph_session` with a target; invalid_argument for options out of range, and for a parameter-server job
  /// that the cluster does not have.
  explicit basic_worker_session(const worker_options& options, const Es&... es)
      : given_(es...),
        local_(std::make_from_tuple<local_session>(
            first_of_each(std::tuple_cat(detail::worker_half<as_rows>(es)..., detail::counter_of(es)..., ids{})))) {
    detail::carried_table carried;
    (detail::collect_carried(carried, es), ...);
    auto variables = table::parameters();
    if (!variables.empty()) variables.front().leaf.carried = std::move(carried);
    std::vector<cluster::parameter_step> steps;
    (add_step<Es>(steps), ...);
    for (const auto& v : variables) {
      if (!v.is_copied) continue;
      detail::stored_value copy;
      copy.name = v.name;
      copies_.push_back(std::move(copy));
    }
    servers_ = std::make_unique<cluster::parameter_client>(options, std::move(variables), table::row_reads(), std::move(steps));
  }
  basic_worker_session(const basic_worker_session&) = delete;
  basic_worker_session& operator=(const basic_worker_session&) = delete;

  /// Initializes every variable at the servers, including slots and counters; existing values are overwritten. To be called by one worker,
  /// the chief.
  void initialize() {
    local_.initialize();
    servers_->initialize_slots();
    local_.with_values([&](const detail::list<detail::stored_value>& values) {
      for (const auto& v : values) {
        tensor_value value(v.type, v.extent);
        std::copy(v.bytes.begin(), v.bytes.end(), value.data());
        servers_->assign(index_of(v.name), value);
      }
    });
    is_current_ = true;
  }
  /// Waits until all variables, including slots, have values, that is, until the chief has initialized them. Errors: deadline_exceeded,
  /// naming the variables without a value; those of a run.
  void wait_until_initialized(std::chrono::milliseconds timeout = std::chrono::minutes(10)) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (true) {
      const std::vector<std::string> missing = servers_->uninitialized();
      if (missing.empty()) return;
      if (std::chrono::steady_clock::now() >= deadline) {
        std::string text;
        for (std::size_t k = 0; k < missing.size() && k < 8; ++k) text += (k == 0 ? "" : ", ") + missing[k];
        throw deadline_exceeded("variables without a value after " + std::to_string(timeout.count()) + " ms: " + text +
                                (missing.size() > 8 ? ", ..." : "") + "; the chief calls initialize() or restores a checkpoint");
      }
      std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(std::chrono::milliseconds(20), timeout));
    }
  }
  /// The names of variables without a value, including slots.
  std::vector<std::string> uninitialized() { return servers_->uninitialized(); }
  template <tensor_expression V>
    requires(variable_of<V> >= 0)
  bool is_initialized(const V&) {
    return servers_->is_initialized(static_cast<std::size_t>(variable_of<V>));
  }

  /// As `session::run`. Further errors: those of the servers and of the cluster (unavailable, aborted, deadline_exceeded), naming the task;
  /// with staleness they may be those of an earlier push; invalid_argument for a training step with other settings than the session's.
  template <class... Fs, feed_binding... Feeds>
  auto run(const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    static_assert(detail::training_steps_in<Fs...> <= 1, "worker_session: one training step in a run");
    constexpr bool trains = detail::training_steps_in<Fs...> == 1;
    constexpr std::uint32_t rows = table::rows_needed_by(
        static_cast<const decltype(std::tuple_cat(detail::worker_half<as_rows>(std::declval<const detail::fetch_target_of<Fs>&>())...))*>(
            nullptr));
    cluster::step_watch watch(trains && is_measured_ ? &times_ : nullptr);
    if constexpr (rows != 0) refresh_rows<rows>(std::make_index_sequence<std::tuple_size_v<ids>>{}, feeds...);
    else if (!trains || !is_current_) refresh();
    watch.give(&worker_times::reading);
    if constexpr (!trains) {
      return run_local(fetches, feeds...);
    } else {
      using train = std::tuple_element_t<step_place<Fs...>, std::tuple<detail::fetch_target_of<Fs>...>>;
      const train& asked = std::get<step_place<Fs...>>(fetches.targets);
      constexpr std::size_t step = step_number<train>;
      constexpr auto given = place_of<train>;
      static_assert(given < sizeof...(Es), "worker_session: a training step that is not part of the session: give it to its constructor");
      if (!detail::halves_of<train>::same_settings(asked, std::get<given>(given_)))
        throw invalid_argument(
            "worker_session: a training step with other numbers as settings than the session's; take parameters, "
            "which can be fed and assigned");
      auto& sets = std::get<given>(buffers_);
      if (sets.empty()) sets.resize(static_cast<std::size_t>(servers_->staleness()) + 2);
      auto& buffers = sets[turn_++ % sets.size()];
      std::size_t next = 0;
      std::apply([&](auto&... b) {
        (b.take_memory([&, k = next++](dtype type, const shape& extent) { return servers_->gradient_memory(step, k, type, extent); }), ...);
      }, buffers);
      auto results = run_local(with_gradients(fetches, asked, buffers), feeds...);
      pushed_.clear();
      std::apply([&](auto&... b) { (pushed_.push_back(b.written()), ...); }, buffers);
      settings_now_ = settings_;
      (add_setting<train>(feeds), ...);
      is_current_ = false;
      watch.give(&worker_times::computing);
      std::int64_t at_servers = 0;
      const auto* values = servers_->push(step, pushed_, settings_now_, is_measured_ ? &at_servers : nullptr);
      watch.give_exchange(at_servers);
      if (values != nullptr) take(*values);
      servers_->release();
      pushed_.clear();
      is_current_ = true;
      watch.give(&worker_times::reading);
      watch.end_step();
      return results;
    }
  }

  /// Prepares a run once, as `session::prepare`. The result must not outlive the session.
  template <class... Fs, feed_binding... Feeds>
  [[nodiscard("a prepared run does nothing until it is called")]] auto prepare(const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    return [this, fetches, feeds...] { return run(fetches, feeds...); };
  }

  /// Switches the measurement of training steps on or off, and resets the sums. A run that fails is not counted. While it is off, runs read
  /// no clock.
  void measure_steps(bool on = true) {
    times_ = {};
    is_measured_ = on;
  }
  /// The sums so far; all zero without `measure_steps()`.
  worker_times times() const { return times_; }

  /// Waits until no push is in flight. Errors: those of the pushes.
  void finish() { servers_->finish(); }

  /// Synchronous training: this worker has no more data, or never had any. Updates are made from the others' gradients from now on, until
  /// it trains again. The destructor of a session that has trained does the same. Errors: those of a run.
  void leave() { servers_->leave(); }

  /// The value of a variable at its server. Errors: failed_precondition if it has none.
  template <tensor_expression V>
    requires(variable_of<V> >= 0)
  array_of<V> value(const V& variable) {
    const tensor_value now = servers_->value(static_cast<std::size_t>(variable_of<V>));
    local_.assign(variable, now.template values<typename V::element>());
    return local_.value(variable);
  }
  /// Sets a variable at its server. Errors: invalid_argument if the array has another shape.
  template <tensor_expression V, class Array>
    requires(variable_of<V> >= 0)
  void assign(const V& variable, const Array& array) {
    local_.assign(variable, array);
    is_current_ = false;
    const auto put = [&](const detail::list<detail::stored_value>& values) {
      for (const auto& v : values) {
        if (index_of(v.name) != static_cast<std::size_t>(variable_of<V>)) continue;
        tensor_value value(v.type, v.extent);
        std::copy(v.bytes.begin(), v.bytes.end(), value.data());
        servers_->assign(static_cast<std::size_t>(variable_of<V>), value);
      }
    };
    local_.with_values(put);
  }
  /// Sets a parameter, for all following runs of this worker.
  template <tensor_expression P, number N>
    requires(P::rank == 0 && variable_of<P> < 0 && (is_setting<P> || is_local<P>))
  void assign(const P& parameter, N value) {
    if constexpr (is_local<P>) local_.assign(parameter, value);
    if constexpr (is_setting<P>) put_setting(settings_, detail::leaf_name<P>(), tensor_value(static_cast<typename P::element>(value)));
  }

  /// The servers' half, for savers and hooks: a graph of the variables and their updates, and the session that runs it.
  graph& owner() {
    servers_->finish();
    return servers_->owner();
  }
  graph_session& servers() {
    servers_->finish();
    is_current_ = false;  // the caller may change variables there
    return servers_->session();
  }

 private:
  template <class... Ts>
  static with_ids first_of_each(const std::tuple<Ts...>& all) {
    return [&]<class... Us>(const std::tuple<Us...>*) {
      return with_ids{std::get<position<Us, Ts...>>(all)...};
    }(static_cast<const with_ids*>(nullptr));
  }
  template <class U, class... Ts>
  static constexpr std::size_t position = [] {
    const bool same[]{std::is_same_v<U, Ts>..., true};
    std::size_t k = 0;
    while (!same[k]) ++k;
    return k;
  }();
  template <class Train>
  static constexpr std::size_t place_of = position<Train, Es...>;
  // The position of the training step among fetches, and of an expression among the session's steps.
  template <class... Fs>
  static constexpr std::size_t step_place = [] {
    const bool is_step[]{detail::is_training_step<detail::fetch_target_of<Fs>>..., true};
    std::size_t k = 0;
    while (!is_step[k]) ++k;
    return k;
  }();
  template <class Train>
  static constexpr std::size_t step_number = [] {
    const bool is_step[]{detail::is_training_step<Es>..., true};
    std::size_t number = 0;
    for (std::size_t k = 0; k < place_of<Train> && k < sizeof...(Es); ++k) number += is_step[k] ? 1 : 0;
    return number;
  }();

  template <class E>
  static void add_step(std::vector<cluster::parameter_step>& steps) {
    if constexpr (detail::is_training_step<E>) {
      using half = typename detail::halves_of<E>::template server<E, as_rows>;
      steps.push_back({{&half::enter, false, {}}, half::placeholders(), half::rows()});
    }
  }
  std::size_t index_of(std::string_view name) const {
    static const auto all = table::parameters();
    std::size_t k = 0;
    while (k + 1 < all.size() && all[k].name != name) ++k;
    return k;
  }

  template <class F, class Train, class Buffers>
  static auto local_fetch(const F& f, [[maybe_unused]] const Train& asked, [[maybe_unused]] Buffers& buffers) {
    if constexpr (detail::is_training_step<detail::fetch_target_of<F>>) {
      const auto parts = detail::worker_half<as_rows>(asked);
      return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return std::make_tuple(into(std::get<K>(parts), std::get<K>(buffers).destination())...);
      }(std::make_index_sequence<std::tuple_size_v<Buffers>>{});
    } else {
      return std::tuple<F>(f);
    }
  }
  template <class... Fs, class Train, class Buffers>
  static auto with_gradients(const fetch_list<Fs...>& fetches, const Train& asked, Buffers& buffers) {
    const auto all = std::apply([&](const auto&... f) { return std::tuple_cat(local_fetch(f, asked, buffers)...); }, fetches.targets);
    return std::apply([](const auto&... f) { return fetch(f...); }, all);
  }
  // Feeds that only settings use are not passed to the local session.
  template <class Feed>
  static auto local_feed(const Feed& f) {
    if constexpr (is_setting<typename Feed::leaf> && !is_local<typename Feed::leaf>) return std::tuple<>{};
    else return std::tuple<const Feed&>(f);
  }
  template <class... Fs, class... Feeds>
  auto run_local(const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    return std::apply([&](const auto&... f) { return local_.run(fetches, f...); }, std::tuple_cat(local_feed(feeds)...));
  }
  static void put_setting(cluster::named_values& all, std::string_view name, tensor_value value) {
    for (auto& [known, its] : all)
      if (known == name) {
        its = std::move(value);
        return;
      }
    all.emplace_back(name, std::move(value));
  }
  template <class Train, class Feed>
  void add_setting(const Feed& f) {
    using leaf = typename Feed::leaf;
    if constexpr (detail::halves_of<Train>::has_leaf(leaf::identity::hash)) {
      static_assert(std::is_arithmetic_v<typename Feed::array_type>, "worker_session: an optimizer's setting is fed a number");
      put_setting(settings_now_, detail::leaf_name<leaf>(), tensor_value(static_cast<typename leaf::element>(f.array)));
    }
  }

  void refresh() {
    take(servers_->read());
    servers_->release();
    is_current_ = true;
  }
  // Reads the values of the variables, and the rows that the step will use.
  template <std::uint32_t Which, std::size_t... R, class... Feeds>
  void refresh_rows(std::index_sequence<R...>, const Feeds&... feeds) {
    wanted_.clear();
    const auto ask = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
      if constexpr ((Which >> K & 1) != 0) {
        using part = std::tuple_element_t<K, ids>;
        auto& buffer = std::get<K>(indices_);
        const auto run = [&](const auto& feed) {
          if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(feed)>::leaf::identity, typename part::identity>)
            static_cast<void>(local_.run(fetch(into(part{}, buffer.destination())), feed));
        };
        (run(feeds), ...);
        wanted_.push_back(buffer.written());
      }
    };
    (ask(std::integral_constant<std::size_t, R>{}), ...);
    const auto& values = servers_->read_rows(Which, wanted_);
    take(values);
    std::size_t next = copies_.size();
    const auto give = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
      if constexpr ((Which >> K & 1) != 0) {
        using part = std::tuple_element_t<K, ids>;
        static const std::string name =
            table::parameters()[static_cast<std::size_t>(table::find_variable(table::rows.row[K].variable))].name;
        const tensor_value& rows = values[next++];
        row_copy_.name = name;
        row_copy_.type = rows.type();
        row_copy_.bytes = {rows.data(), rows.bytes()};
        local_.assign_rows(row_copy_, std::span<const typename part::element>(
                                          std::as_const(std::get<K>(indices_).value).template values<typename part::element>()));
      }
    };
    (give(std::integral_constant<std::size_t, R>{}), ...);
    servers_->release();
    wanted_.clear();
    is_current_ = true;
  }
  void take(const std::vector<tensor_value>& values) {
    for (std::size_t k = 0; k < copies_.size(); ++k) {
      copies_[k].type = values[k].type();
      copies_[k].extent = values[k].extent();
      copies_[k].bytes = {values[k].data(), values[k].bytes()};
    }
    local_.assign_values(copies_);
  }

  template <class E>
  struct buffers_of {
    using type = std::tuple<>;
  };
  template <class E>
    requires detail::is_training_step<E>
  struct buffers_of<E> {
    using type = std::vector<typename detail::sent_parts<detail::parts_of_step<E, as_rows>>::type>;
  };

  std::tuple<Es...> given_;
  local_session local_;
  std::tuple<typename buffers_of<Es>::type...> buffers_;
  detail::list<detail::stored_value> copies_;
  std::vector<tensor_value> pushed_;
  typename detail::sent_parts<ids>::type indices_;
  std::vector<tensor_value> wanted_;
  detail::stored_value row_copy_;
  cluster::named_values settings_;      // set by `assign`
  cluster::named_values settings_now_;  // of the current run
  std::size_t turn_ = 0;
  worker_times times_;
  bool is_measured_ = false;
  bool is_current_ = false;  // whether the copies are those of the last answer
  std::unique_ptr<cluster::parameter_client> servers_;
};

LEAT_SESSIONS_BEGIN
/// `basic_worker_session` on the CPU, for expressions, as `session` is `basic_session` on the CPU.
template <expression... Es>
class worker_session : public basic_worker_session<session_device, Es...> {
  using basic_worker_session<session_device, Es...>::basic_worker_session;
  worker_session(const worker_session&) = delete;  // a session stays where it is made
  worker_session& operator=(const worker_session&) = delete;
};
/// The class of a session with an expression that is refused: instantiating it prints the reason.
template <detail::literal_text... Words>
class worker_session<detail::refused_session<Words...>> {
 public:
  worker_session(...) = delete;
};

template <expression... Es>
  requires((detail::worker_takes<Es> && ...) && check_of_session<Es...>::ok)
worker_session(const worker_options&, const Es&...) -> worker_session<Es...>;
template <expression... Es>
  requires((detail::worker_takes<Es> && ...) && !check_of_session<Es...>::ok)
worker_session(const worker_options&, const Es&...) -> worker_session<typename check_of_session<Es...>::refusal::problem>;
template <expression... Es>
  requires(!(detail::worker_takes<Es> && ...))
worker_session(const worker_options&, const Es&...)
    -> worker_session<detail::refused_session<LEAT_WORDS("worker_session s(options, a, b, ...) takes tensors and training steps, "
                                                         "optimizer.minimize(...) or apply_gradients(...); what else writes variables "
                                                         "would write the worker's copies alone")>>;
worker_session(...) -> worker_session<detail::refused_session<
    LEAT_WORDS("worker_session s(options, a, b, ...) takes worker_options, then expressions: what is fetched and done in its runs")>>;
LEAT_SESSIONS_END

}  // namespace leat
