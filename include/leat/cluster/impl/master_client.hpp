#pragma once
// Implementation of master_client.hpp.

#include <leat/cluster/master_client.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/random_state.hpp>
#include <leat/named/exchange/export.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace leat::cluster {

class own_master final : public master_access {
 public:
  explicit own_master(std::shared_ptr<task_service> service) : service_(std::move(service)) {}

  std::uint64_t create_session(const master_session_options& options) override { return its().create_session(options); }
  void extend_session(std::uint64_t session, const graph_def& more, steady_time) override { its().extend_session(session, more); }
  std::uint64_t prepare(std::uint64_t session, const run_names& names, steady_time deadline) override {
    return its().prepare(session, names, deadline);
  }
  void drop_run(std::uint64_t session, std::uint64_t prepared) noexcept override {
    try {
      its().drop_run(session, prepared);
    } catch (const std::exception&) {
      // The session has ended, and with it the run.
    }
  }
  std::vector<tensor_value> run(std::uint64_t session, std::uint64_t prepared, std::span<const tensor_value> feeds, steady_time deadline,
                                const cancellation* cancel, traced_run* traced) override {
    if (traced != nullptr) traced->clock = {0, 0};
    return its().run(session, prepared, feeds, deadline, cancel, traced);
  }
  tensor_value feed_memory(std::uint64_t session, std::uint64_t prepared, std::size_t feed, dtype type, const shape& extent) override {
    return its().feed_memory(session, prepared, feed, type, extent);
  }
  std::vector<std::pair<std::string, std::string>> placement(std::uint64_t session, steady_time) override {
    return its().placement(session);
  }
  std::vector<std::string> devices(std::uint64_t session, steady_time) override { return its().devices(session); }
  void close_session(std::uint64_t session) override { its().close_session(session); }
  void reset(const std::string& container, steady_time deadline) override { its().reset(container, deadline); }
  tensor_value read_variable(std::uint64_t session, const std::string& node, steady_time deadline) override {
    return its().read_variable(session, node, deadline);
  }
  void write_variable(std::uint64_t session, const std::string& node, const tensor_value& value, steady_time deadline) override {
    its().write_variable(session, node, value, deadline);
  }
  bool has_variable(std::uint64_t session, const std::string& node, steady_time deadline) override {
    return its().has_variable(session, node, deadline);
  }
  std::vector<written_shard> write_shards(std::uint64_t session, const std::vector<shard_order>& orders, steady_time deadline) override {
    return its().write_shards(session, orders, deadline);
  }
  void read_shards(std::uint64_t session, const std::vector<shard_reading>& orders, steady_time deadline) override {
    its().read_shards(session, orders, deadline);
  }
  random_positions random_state(std::uint64_t session, steady_time deadline) override { return its().random_state(session, deadline); }
  void set_random_state(std::uint64_t session, const random_positions& positions, steady_time deadline) override {
    its().set_random_state(session, positions, deadline);
  }

 private:
  master& its() { return service_->its_master(); }
  std::shared_ptr<task_service> service_;
};

class far_master final : public master_access {
 public:
  far_master(std::shared_ptr<task_network> network, int task) : network_(std::move(network)), task_(task) {}

  std::uint64_t create_session(const master_session_options& options) override {
    transport::message m;
    const nlohmann::json asked{{"allow_soft_placement", options.allow_soft_placement}, {"device_filters", options.device_filters}};
    m.parts.push_back(transport::frame::of(asked.dump()));
    return words_of(ask(method::create_session, std::move(m), options.deadline), 0, 1)[0];
  }
  void extend_session(std::uint64_t session, const graph_def& more, steady_time deadline) override {
    transport::message m;
    put_words(m, {session});
    m.parts.push_back(transport::frame::of(io::write_binary(more)));
    static_cast<void>(ask(method::extend_session, std::move(m), deadline));
  }
  std::uint64_t prepare(std::uint64_t session, const run_names& names, steady_time deadline) override {
    transport::message m;
    put_words(m, {session});
    const nlohmann::json asked{{"fetches", names.fetches}, {"targets", names.targets}, {"feeds", names.feeds}};
    m.parts.push_back(transport::frame::of(asked.dump()));
    return words_of(ask(method::prepare_run, std::move(m), deadline), 0, 1)[0];
  }
  void drop_run(std::uint64_t session, std::uint64_t prepared) noexcept override {
    try {
      transport::message m;
      put_words(m, {session, prepared});
      network_->note(task_, method::drop_run, std::move(m));
    } catch (const std::exception&) {
      // The run is dropped with the session.
    }
  }
  std::vector<tensor_value> run(std::uint64_t session, std::uint64_t prepared, std::span<const tensor_value> feeds, steady_time deadline,
                                const cancellation* cancel, traced_run* traced) override {
    const std::uint64_t number = ++runs_;
    transport::message m;
    put_words(m, {session, prepared, number});
    put_tensors(m, feeds);
    std::int64_t asked = 0;
    if (traced != nullptr) m.edge = static_cast<std::uint32_t>(traced->level);
    const bool is_traced = traced != nullptr && has_statistics(traced->level);
    if (is_traced) {
      const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(250);
      if (const auto read = read_clocks(*network_, {task_}, std::min(deadline, patience)); !read.empty())
        traced->clock = read.begin()->second;
      asked = clock_now();
    }
    // The master ends the step at the deadline; its answer may arrive a little later.
    const transport::message answer = ask(method::run, std::move(m), deadline, cancel, number);
    const bool is_told = has_statistics(level_in(answer.edge));
    auto values = tensors_of(answer, is_told ? 1 : 0);
    if (is_traced) hear(*traced, is_told ? &answer.parts[0] : nullptr, asked, feeds, values);
    if (traced != nullptr) traced->slowest_part = static_cast<std::int64_t>(answer.mark);
    for (tensor_value& v : values) v = v.kept();
    return values;
  }
  tensor_value feed_memory(std::uint64_t, std::uint64_t, std::size_t, dtype type, const shape& extent) override {
    return placed_value(type, extent, [this](std::size_t bytes) { return network_->memory_for_task(task_, bytes); });
  }
  std::vector<std::pair<std::string, std::string>> placement(std::uint64_t session, steady_time deadline) override {
    transport::message m;
    put_words(m, {session});
    return told_in<std::vector<std::pair<std::string, std::string>>>(ask(method::placement, std::move(m), deadline),
                                                                     "where a session's nodes are");
  }
  std::vector<std::string> devices(std::uint64_t session, steady_time deadline) override {
    transport::message m;
    put_words(m, {session});
    return told_in<std::vector<std::string>>(ask(method::list_devices, std::move(m), deadline), "a session's devices");
  }
  void close_session(std::uint64_t session) override {
    transport::message m;
    put_words(m, {session});
    static_cast<void>(ask(method::close_session, std::move(m), std::chrono::steady_clock::now() + std::chrono::seconds(5)));
  }
  void reset(const std::string& container, steady_time deadline) override {
    transport::message m;
    m.parts.push_back(transport::frame::copy_of(container));
    static_cast<void>(ask(method::reset_all, std::move(m), deadline));
  }
  tensor_value read_variable(std::uint64_t session, const std::string& node, steady_time deadline) override {
    auto values = tensors_of(ask(method::read_node, of_node(session, node), deadline), 0);
    if (values.size() != 1) throw data_loss("a variable's value is missing");
    return values[0].kept();
  }
  void write_variable(std::uint64_t session, const std::string& node, const tensor_value& value, steady_time deadline) override {
    transport::message m = of_node(session, node);
    put_tensors(m, {&value, 1});
    static_cast<void>(ask(method::write_node, std::move(m), deadline));
  }
  bool has_variable(std::uint64_t session, const std::string& node, steady_time deadline) override {
    return words_of(ask(method::has_node, of_node(session, node), deadline), 0, 1)[0] != 0;
  }
  std::vector<written_shard> write_shards(std::uint64_t session, const std::vector<shard_order>& orders, steady_time deadline) override {
    transport::message m;
    put_words(m, {session});
    m.parts.push_back(transport::frame::of(json_of(orders)));
    return written_shards_in(part_at(ask(method::write_shards, std::move(m), deadline), 0).text());
  }
  void read_shards(std::uint64_t session, const std::vector<shard_reading>& orders, steady_time deadline) override {
    transport::message m;
    put_words(m, {session});
    m.parts.push_back(transport::frame::of(json_of(orders)));
    static_cast<void>(ask(method::read_shards, std::move(m), deadline));
  }
  random_positions random_state(std::uint64_t session, steady_time deadline) override {
    transport::message m;
    put_words(m, {session});
    return io::read_random_state(part_at(ask(method::random_state, std::move(m), deadline), 0).text(), "the session's target");
  }
  void set_random_state(std::uint64_t session, const random_positions& positions, steady_time deadline) override {
    transport::message m;
    put_words(m, {session});
    m.parts.push_back(transport::frame::of(io::write_random_state(positions)));
    static_cast<void>(ask(method::set_random_state, std::move(m), deadline));
  }

 private:
  template <class T>
  static T told_in(const transport::message& answer, const char* what) {
    try {
      return nlohmann::json::parse(part_at(answer, 0).text(), nullptr, false).get<T>();
    } catch (const nlohmann::json::exception& e) {
      throw data_loss(std::string(what) + ": " + e.what());
    }
  }
  // Invalid statistics do not make the run fail.
  void hear(traced_run& traced, const transport::frame* told, std::int64_t asked, std::span<const tensor_value> feeds,
            std::span<const tensor_value> values) const {
    const std::int64_t now = clock_now();
    try {
      if (told == nullptr) throw data_loss("it answered none");
      traced.statistics = step_statistics_of(*told);
      step_statistics& s = traced.statistics;
      const clock_reading by_run = clock_of_round_trip(asked, s.began, s.ended, now);
      if (by_run.error < traced.clock.error) traced.clock = by_run;
      if (traced.clock.error >= last_clock) throw data_loss("its clock is beyond all that can be compared");
      const std::int64_t offset = traced.clock.offset;
      s.told.transfers.push_back({"feeds", 0, 1, element_bytes(feeds), -1, asked + offset, s.began, 0});
      s.told.transfers.push_back({"fetches", 1, 0, element_bytes(values), -999999, s.ended, now + offset, 0});
    } catch (const std::exception& e) {
      traced = {.level = traced.level};
      traced.statistics.told.gaps.push_back({"the session's target", e.what(), 0});
    }
  }
  static transport::message of_node(std::uint64_t session, const std::string& node) {
    transport::message m;
    put_words(m, {session});
    m.parts.push_back(transport::frame::copy_of(node));
    return m;
  }
  transport::message ask(method what, transport::message m, steady_time deadline, const cancellation* cancel = nullptr,
                         std::uint64_t number = 0) {
    struct state {
      std::mutex guard;
      transport::message answer;
      std::exception_ptr failure;
      std::atomic<bool> done{false};
    };
    const auto s = std::make_shared<state>();
    // Waits somewhat longer than the deadline, because the master's own error names the cause.
    steady_time until = deadline, given_up = deadline;
    if (deadline != steady_time::max()) {
      const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline - std::chrono::steady_clock::now()).count();
      m.deadline = std::max<std::int64_t>(left, 1);
      until += std::chrono::seconds(2);
      given_up = until + std::chrono::seconds(1);  // later, so that the error below is the one that is reported
    }
    // The handler must not own the network: the network's thread runs the handler and would destroy its own network.
    network_->call(task_, what, std::move(m), given_up,
                   [s, network = network_.get()](transport::message answer, std::exception_ptr failure) {
                     {
                       const std::lock_guard lock(s->guard);
                       s->answer = std::move(answer);
                       s->failure = std::move(failure);
                     }
                     s->done.store(true);
                     network->wake();
                   });
    bool told = false;
    while (!s->done.load()) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= until) throw deadline_exceeded("no answer from the session's target: " + network_->describe(task_));
      if (!told && cancel != nullptr && cancel->is_cancelled()) {
        transport::message stop;
        stop.number = number;
        network_->note(task_, method::stop_run, std::move(stop));
        told = true;
      }
      static_cast<void>(network_->wait(s->done, cancel == nullptr ? until : std::min(until, now + std::chrono::milliseconds(10))));
    }
    const std::lock_guard lock(s->guard);
    if (s->failure) std::rethrow_exception(s->failure);
    return std::move(s->answer);
  }

  std::shared_ptr<task_network> network_;
  const int task_;
  std::atomic<std::uint64_t> runs_{0};
};

/// How many sets of fetches and feeds of a session its master keeps prepared; more are kept while they are in use at once.
inline constexpr std::size_t most_prepared_runs = 100;

/// The client's part of a session.
class client_session final : public remote_session {
 public:
  client_session(graph& g, const session_options& options, std::unique_ptr<master_access> master)
      : g_(g),
        master_(std::move(master)),
        timeout_(options.operation_timeout_in_ms),
        target_(options.target),
        logs_placement_(options.log_device_placement),
        log_(options.log != nullptr ? *options.log : std::cerr) {
    master_session_options asked;
    asked.allow_soft_placement = options.allow_soft_placement;
    asked.device_filters = options.device_filters;
    asked.deadline = deadline_in(options.start_timeout_in_ms);
    asked.log = options.log;
    session_ = master_->create_session(asked);
  }

  std::shared_ptr<remote_run> prepare(const std::vector<output>& fetches, const std::vector<int>& targets,
                                      const std::vector<output>& feeds) override {
    transport::check_generation(generation_);
    send_growth();
    run_names names;
    const named_part& nodes = g_.named();
    for (const output& f : fetches) names.fetches.push_back(nodes.result_name(f.index(), f.port()));
    for (const int t : targets) names.targets.push_back(nodes.record(t).name);
    for (const output& f : feeds) names.feeds.push_back(nodes.result_name(f.index(), f.port()));
    auto run = std::make_shared<known_run>();
    run->names = std::move(names);
    const run_in_use used(*this, *run, deadline_in(timeout_));
    return run;
  }
  std::vector<tensor_value> run(remote_run& prepared, std::span<const tensor_value> feeds, const run_options& how,
                                std::int64_t timeout_in_ms) override {
    transport::check_generation(generation_);
    const steady_time deadline = deadline_in(timeout_in_ms);
    const run_in_use used(*this, static_cast<known_run&>(prepared), deadline);
    const std::uint64_t number = used.number();
    if (how.trace == nullptr && how.time_at_tasks == nullptr) return master_->run(session_, number, feeds, deadline, how.cancel, nullptr);
    if (how.trace == nullptr) {
      traced_run timed{.level = trace_level::times};
      std::vector<tensor_value> values = master_->run(session_, number, feeds, deadline, how.cancel, &timed);
      *how.time_at_tasks = timed.slowest_part;
      return values;
    }
    const int run = how.trace->begin_run();
    traced_run traced{.level = level_of(how.trace->detail())};
    std::vector<tensor_value> values;
    try {
      const trace_scope timed(how.trace, run, "run", "Session");
      values = master_->run(session_, number, feeds, deadline, how.cancel, &traced);
    } catch (const std::exception& e) {
      how.trace->add_gap(run, "the tasks behind " + target_, std::string("the run failed: ") + e.what());
      throw;
    }
    how.trace->add_tasks(run, std::move(traced.statistics.told), traced.clock.offset, traced.clock.error);
    return values;
  }
  tensor_value feed_memory(remote_run& prepared, std::size_t feed, dtype type, const shape& extent) override {
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(runs_guard_);
      number = static_cast<known_run&>(prepared).number;
    }
    return number == 0 ? tensor_value{} : master_->feed_memory(session_, number, feed, type, extent);
  }
  bool is_initialized(const output& variable) override {
    transport::check_generation(generation_);
    send_growth();
    return master_->has_variable(session_, variable.operation().name(), deadline_in(timeout_));
  }
  tensor_value value(const output& variable) override {
    transport::check_generation(generation_);
    send_growth();
    return master_->read_variable(session_, variable.operation().name(), deadline_in(timeout_));
  }
  void assign(const output& variable, const tensor_value& value) override {
    transport::check_generation(generation_);
    send_growth();
    master_->write_variable(session_, variable.operation().name(), value, deadline_in(timeout_));
  }
  std::vector<std::pair<std::string, std::string>> placement() override {
    transport::check_generation(generation_);
    send_growth();
    return master_->placement(session_, deadline_in(timeout_));
  }
  std::vector<std::string> devices() override {
    transport::check_generation(generation_);
    return master_->devices(session_, deadline_in(timeout_));
  }
  std::vector<written_shard> write_shards(const std::vector<shard_order>& orders) override {
    transport::check_generation(generation_);
    send_growth();
    return master_->write_shards(session_, orders, deadline_in(timeout_));
  }
  void read_shards(const std::vector<shard_reading>& orders) override {
    transport::check_generation(generation_);
    send_growth();
    master_->read_shards(session_, orders, deadline_in(timeout_));
  }
  random_positions random_state() override {
    transport::check_generation(generation_);
    return master_->random_state(session_, deadline_in(timeout_));
  }
  void set_random_state(const random_positions& positions) override {
    transport::check_generation(generation_);
    send_growth();
    master_->set_random_state(session_, positions, deadline_in(timeout_));
  }
  void reset(std::string_view container) override {
    transport::check_generation(generation_);
    master_->reset(std::string(container), deadline_in(timeout_));
  }
  void close() override {
    transport::check_generation(generation_);
    master_->close_session(session_);
  }

 private:
  struct known_run final : remote_run, std::enable_shared_from_this<known_run> {
    run_names names;
    std::mutex preparing;
    // Guarded by the session's runs_guard_.
    std::uint64_t number = 0;  // at the master; 0 while the master does not keep it
    int users = 0;
    std::uint64_t last_use = 0;
  };
  // While an object exists, the master keeps the run prepared.
  class run_in_use {
   public:
    run_in_use(client_session& its, known_run& run, steady_time deadline) : its_(its), run_(run) {
      if (begin() != 0) return;
      try {
        const std::lock_guard one(run.preparing);
        if (number_of() == 0) its.keep(run, its.master_->prepare(its.session_, run.names, deadline));
      } catch (...) {
        end();
        throw;
      }
    }
    run_in_use(const run_in_use&) = delete;
    run_in_use& operator=(const run_in_use&) = delete;
    ~run_in_use() { end(); }
    std::uint64_t number() const { return number_of(); }

   private:
    std::uint64_t begin() {
      const std::lock_guard lock(its_.runs_guard_);
      ++run_.users;
      run_.last_use = ++its_.uses_;
      return run_.number;
    }
    void end() {
      const std::lock_guard lock(its_.runs_guard_);
      --run_.users;
    }
    std::uint64_t number_of() const {
      const std::lock_guard lock(its_.runs_guard_);
      return run_.number;
    }
    client_session& its_;
    known_run& run_;
  };
  // A graph may grow with each new run, so the master and its tasks keep only the most recently used runs.
  void keep(known_run& run, std::uint64_t number) {
    std::uint64_t dropped = 0;
    {
      const std::lock_guard lock(runs_guard_);
      run.number = number;
      prepared_.push_back(run.shared_from_this());
      if (prepared_.size() > most_prepared_runs) {
        const auto oldest = std::min_element(prepared_.begin(), prepared_.end(), [](const auto& a, const auto& b) {
          return std::pair(a->users > 0, a->last_use) < std::pair(b->users > 0, b->last_use);
        });
        if ((*oldest)->users == 0) {
          dropped = std::exchange((*oldest)->number, 0);
          prepared_.erase(oldest);
        }
      }
    }
    if (dropped != 0) master_->drop_run(session_, dropped);
  }
  static steady_time deadline_in(std::int64_t milliseconds) {
    constexpr std::int64_t thirty_years = 1'000'000'000'000;
    return milliseconds <= 0 || milliseconds > thirty_years ? steady_time::max()
                                                            : std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  }
  void send_growth() {
    const std::lock_guard lock(guard_);
    g_.named().settle_names(g_);
    if (sent_ == g_.size()) return;
    graph_def more;
    for (int i = sent_; i < g_.size(); ++i) more.nodes.push_back(to_node_def(g_, i));
    more.versions = g_.named().versions;
    more.library = g_.named().library;
    master_->extend_session(session_, more, deadline_in(timeout_));
    sent_ = g_.size();
    if (logs_placement_) log_placement();
  }
  // Logs nodes that are new, or have moved to another device since they were last logged.
  void log_placement() {
    std::vector<std::pair<std::string, std::string>> places;
    try {
      places = master_->placement(session_, deadline_in(timeout_));
    } catch (const std::exception& e) {
      log_ << "Device placement is not known: " << e.what() << "\n";
      return;
    }
    for (auto& [node, device] : places) {
      std::string& told = told_places_[node];
      if (told == device) continue;
      const int index = g_.named().find(node);
      if (index < 0) continue;
      log_ << node << ": (" << g_.at(index).op->type << "): " << device << "\n";
      told = std::move(device);
    }
    log_.flush();
  }

  graph& g_;
  const std::uint64_t generation_ = transport::fork_generation();
  std::unique_ptr<master_access> master_;
  const std::int64_t timeout_;
  const std::string target_;
  const bool logs_placement_;
  std::ostream& log_;
  std::map<std::string, std::string> told_places_;
  std::uint64_t session_ = 0;
  std::mutex guard_;
  int sent_ = 0;
  std::mutex runs_guard_;
  std::vector<std::shared_ptr<known_run>> prepared_;
  std::uint64_t uses_ = 0;
};

LEAT_FUNCTION std::unique_ptr<master_access> access_to(std::shared_ptr<task_service> service) {
  return std::make_unique<own_master>(std::move(service));
}
LEAT_FUNCTION std::unique_ptr<master_access> access_to(std::shared_ptr<task_network> network, int task) {
  return std::make_unique<far_master>(std::move(network), task);
}
LEAT_FUNCTION std::unique_ptr<remote_session> session_at(graph& g, const session_options& options, std::unique_ptr<master_access> master) {
  return std::make_unique<client_session>(g, options, std::move(master));
}

}  // namespace leat::cluster
