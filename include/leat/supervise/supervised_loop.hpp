#pragma once
// Supervised training of a session of typed expressions, compiled or planned, with the same hooks as graph sessions: a loop that
// initializes the session or restores it from the newest checkpoint, counts its steps, saves, and stops in order.
//
//   session s{loss, train};
//   auto step = s.prepare(fetch(train, summary::scalar<"loss">(loss)), x = xs, y = ys);
//   supervised_loop training(s, {.checkpoint_dir = "log", .hooks = {nan_tensor("loss"), stop_at_step(3000)}});
//   training.loop(step);
//
// Hooks refer to the values of a step by name: values of typed summaries by their tag, others by `value_names`, in the order of the
// results.

#include <leat/checkpoint/typed_session_access.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/summary/typed_summary.hpp>
#include <leat/supervise/monitored_session.hpp>

#include <concepts>
#include <functional>
#include <tuple>

namespace leat {

namespace detail {

// A session of typed expressions as hooks see it; the derived class `watched_typed_session` knows the session's type.
class watched_steps : public watched_session {
 public:
  graph_session* of_graph() override { return nullptr; }
  bool has_global_step() const override { return true; }
  std::int64_t global_step() override { return step; }
  LEAT_INLINE std::vector<tensor_value> evaluate(std::span<const fetch_item> fetches, const feed_list& feeds) override;
  LEAT_INLINE const summary::value_list* step_summary() const override;
  LEAT_INLINE void restore(const saver& from, const checkpoint_path& path) override;

  std::int64_t step = 0;
  std::vector<std::pair<std::string, tensor_value>> values;  // of the last step, by name; between steps scalars only
  std::function<void(summary::value_list&)> append_summaries;

 protected:
  virtual void restore_variables(const saver& from, const checkpoint_path& path) = 0;

 private:
  mutable summary::value_list summaries_;
};

template <class Session>
class watched_typed_session final : public watched_steps {
 public:
  explicit watched_typed_session(Session& s) : session_(s) {}
  session_values variables() override {
    session_values values_now;
    session_.for_each_value([&](const std::string& name, dtype type, const shape& extent, std::span<const std::byte> bytes) {
      tensor_value v(type, extent);
      std::copy(bytes.begin(), bytes.end(), v.data());
      values_now.emplace(name, std::move(v));
    });
    return values_now;
  }
  std::string save(saver& to, const std::string& prefix, std::int64_t at, const save_options& how) override {
    return to.save(session_, prefix, at, how);
  }

 private:
  void restore_variables(const saver& from, const checkpoint_path& path) override { from.restore(session_, path); }
  Session& session_;
};

/// The part of the loop that does not depend on the session's type.
class step_loop {
 public:
  step_loop(std::unique_ptr<watched_steps> watched, monitored_options options, const std::function<void()>& initialize);
  step_loop(const step_loop&) = delete;
  step_loop& operator=(const step_loop&) = delete;
  ~step_loop();

  /// Before and after each step. `failed` is called in the handler of an exception of the step or of a hook, and rethrows it or its cause.
  void before();
  void after(seconds took);
  [[noreturn]] void failed();
  bool should_stop() const;
  void request_stop();
  void close();
  void abandon() noexcept;
  int stopped_by_signal() const;
  watched_steps& watched();

 private:
  struct kept;
  std::unique_ptr<kept> kept_;
};

template <class R>
concept tagged_value = requires(const R& r) {
  { R::tag() } -> std::convertible_to<std::string_view>;
  r.value;
};

template <class V>
tensor_value lent_value(const V& v) {
  if constexpr (value_element<V>) return tensor_value(v);
  else return lend(v);
}

}  // namespace detail

/// Supervises the steps of a typed session. Options that concern graphs have no effect. `value_names` name the values of a step that have
/// no tag. A step is counted after it has run; the count is the step of checkpoints and summaries. The destructor closes the loop, unless
/// an exception other than the end of the input is being handled; what hooks and threads threw is logged.
class supervised_loop {
 public:
  /// Restores the session from the newest checkpoint, or initializes it if no variable has a value. Errors: those of `saver::restore`; what
  /// hooks throw.
  template <class Session>
  explicit supervised_loop(Session& s, monitored_options options = {}, std::vector<std::string> value_names = {})
      : core_(std::make_unique<detail::watched_typed_session<Session>>(s), std::move(options),
              [&s] {
                if (!s.uninitialized().empty()) s.initialize();
              }),
        names_(std::move(value_names)) {}

  /// Calls a step with hooks: a prepared run, or a function that returns the result of a run. Errors: failed_precondition after a hook
  /// requested a stop or `should_stop` returned true; not_found if a hook asks for a value that the step does not return; what the step,
  /// hooks and their threads throw.
  template <std::invocable Step>
  decltype(auto) run(Step&& step) {
    try {
      core_.before();
      const auto start = std::chrono::steady_clock::now();
      if constexpr (std::is_void_v<std::invoke_result_t<Step>>) {
        step();
        core_.after(std::chrono::steady_clock::now() - start);
      } else {
        auto results = step();
        const seconds took = std::chrono::steady_clock::now() - start;
        take(results);
        core_.after(took);
        return results;
      }
    } catch (...) {
      core_.failed();
    }
  }
  /// Calls the step until training is over, and closes. out_of_range means the end of the input; after other exceptions the hooks'
  /// `before_end` and `end` are not called.
  template <std::invocable Step>
  void loop(Step&& step) {
    try {
      while (!should_stop()) run(step);
    } catch (const out_of_range&) {
    } catch (...) {
      core_.abandon();
      throw;
    }
    close();
  }

  /// Whether training is over: a hook, `request_stop`, the coordinator or a signal requested a stop, or the loop is closed.
  bool should_stop() const { return core_.should_stop(); }
  /// Ends training after the current step.
  void request_stop() { core_.request_stop(); }
  /// Calls `before_end` and `end` of the hooks, and ends their threads. A second call does nothing. Errors: what hooks and threads threw.
  void close() { core_.close(); }
  /// The number of steps so far.
  std::int64_t global_step() { return core_.watched().global_step(); }
  /// The signal that ended training; 0 if none did.
  int stopped_by_signal() const { return core_.stopped_by_signal(); }

 private:
  template <class Results>
  void take(const Results& results) {
    auto& values = core_.watched().values;
    values.clear();
    std::size_t unnamed = 0;
    const auto one = [&]<class R>(const R& r) {
      if constexpr (detail::tagged_value<R>) values.emplace_back(std::string(R::tag()), detail::lent_value(r.value));
      else if (unnamed < names_.size()) values.emplace_back(names_[unnamed++], detail::lent_value(r));
    };
    if constexpr (requires { std::tuple_size<Results>::value; }) std::apply([&](const auto&... all) { (one(all), ...); }, results);
    else one(results);
    if constexpr (summary::has_typed_values<Results>)
      core_.watched().append_summaries = [&results](summary::value_list& to) { summary::append_typed(to, results); };
  }

  detail::step_loop core_;
  std::vector<std::string> names_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/supervised_loop.hpp>
#endif
