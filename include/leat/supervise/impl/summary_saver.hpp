#pragma once
// Implementation of summary_saver.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/staged_file.hpp>
#include <leat/io/text.hpp>
#include <leat/supervise/scaffold.hpp>
#include <leat/supervise/summary_saver.hpp>

#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>

namespace leat {

LEAT_FUNCTION std::shared_ptr<summary::file_writer> shared_writer(const std::string& folder, graph* g) {
  struct writers {
    std::mutex guard;
    std::map<std::string, std::weak_ptr<summary::file_writer>> by_folder;
  };
  static writers all;
  const std::string key = std::filesystem::absolute(folder).lexically_normal().string();
  const std::lock_guard lock(all.guard);
  if (auto known = all.by_folder[key].lock()) return known;
  auto made = g != nullptr ? std::make_shared<summary::file_writer>(folder, *g) : std::make_shared<summary::file_writer>(folder);
  all.by_folder[key] = made;
  return made;
}

LEAT_FUNCTION void write_graph(graph& g, const std::string& folder) {
  std::filesystem::create_directories(folder);
  io::staged_file file(std::filesystem::path(folder) / "graph.pbtxt");
  file.write(io::write_text(summary::graph_with_shapes(g)));
  file.put_in_place();
}

namespace detail {

class summary_saver_hook final : public session_run_hook {
 public:
  explicit summary_saver_hook(summary_saver_options how)
      : how_(std::move(how)), timer_({.every_steps = how_.save_steps, .every_secs = how_.save_secs}) {
    if (how_.output_dir.empty() == (how_.writer == nullptr))
      throw invalid_argument("a summary saver writes either to a folder or with a writer: give one of output_dir and writer");
  }
  void begin(const begin_context& c) override { require_global_step(c.has_global_step, "SummarySaverHook"); }
  void after_create_session(watched_session& s, coordinator&) override {
    if (how_.writer == nullptr) how_.writer = shared_writer(how_.output_dir, s.of_graph() != nullptr ? &s.of_graph()->owner() : nullptr);
    next_.reset();
    timer_.reset();
    summary_ = how_.summary_op;
    if (!static_cast<bool>(summary_) && s.its_scaffold() != nullptr) summary_ = s.its_scaffold()->parts().summary_op;
  }
  session_run_args before_run(session_run_context&) override {
    due_ = !next_ || timer_.should_trigger_for_step(*next_);
    if (!due_ || !static_cast<bool>(summary_)) return {};
    return {.fetches = {summary_}};
  }
  void after_run(session_run_context& c, const session_run_values& v) override {
    const std::int64_t step = c.session().global_step();
    if (!next_) how_.writer->add_session_log(summary::session_status::start, step);
    if (due_) {
      timer_.update_last_triggered_step(step);
      if (!v.results.empty()) how_.writer->add_summary(v.results[0], step);
      if (const summary::value_list* typed = c.session().step_summary(); typed != nullptr) how_.writer->add_summary(*typed, step);
      how_.writer->flush();
    }
    next_ = step + 1;
  }
  void end(watched_session&) override { how_.writer->flush(); }

 private:
  summary_saver_options how_;
  second_or_step_timer timer_;
  output summary_;
  std::optional<std::int64_t> next_;
  bool due_ = false;
};

// Opens the writer with the session, when the graph is complete.
class written_step_counter final : public session_run_hook {
 public:
  written_step_counter(std::string folder, counter_options how) : folder_(std::move(folder)), log_(how.log) {
    if (!how.report) {
      how.report = [this](const step_rate& r) {
        writer_->add_scalar("global_step/sec", static_cast<float>(r.steps_per_second), r.global_step);
        (log_ != nullptr ? *log_ : std::cerr) << "global_step/sec: " << r.steps_per_second << "\n";
      };
    }
    counter_ = step_counter(std::move(how));
  }
  void begin(const begin_context& c) override { counter_->begin(c); }
  void after_create_session(watched_session& s, coordinator& c) override {
    if (writer_ == nullptr) writer_ = shared_writer(folder_, s.of_graph() != nullptr ? &s.of_graph()->owner() : nullptr);
    counter_->after_create_session(s, c);
  }
  void after_run(session_run_context& c, const session_run_values& v) override { counter_->after_run(c, v); }
  void end(watched_session&) override { writer_->flush(); }

 private:
  std::string folder_;
  std::ostream* log_;
  std::shared_ptr<summary::file_writer> writer_;
  hook counter_;
};

}  // namespace detail

LEAT_FUNCTION hook summary_saver(summary_saver_options how) { return std::make_shared<detail::summary_saver_hook>(std::move(how)); }
LEAT_FUNCTION hook step_counter(const std::string& output_dir, counter_options how) {
  return std::make_shared<detail::written_step_counter>(output_dir, std::move(how));
}

}  // namespace leat
