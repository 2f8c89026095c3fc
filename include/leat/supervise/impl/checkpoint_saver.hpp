#pragma once
// Implementation of checkpoint_saver.hpp.

#include <leat/checkpoint/graph_session_access.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/data/iterator_states.hpp>
#include <leat/io/collections.hpp>
#include <leat/io/random_state.hpp>
#include <leat/supervise/checkpoint_saver.hpp>
#include <leat/supervise/scaffold.hpp>
#include <leat/supervise/summary_saver.hpp>

#include <filesystem>

namespace leat {

namespace detail {

// The prefix keeps the names of a program's parts apart from the library's own keys.
inline constexpr const char* random_key = "leat/random";
inline constexpr const char* iterators_key = "leat/iterators";
inline std::string part_key(const std::string& name) { return "part/" + name; }

}  // namespace detail

LEAT_FUNCTION save_options detail::state_beside(watched_session& s, const saved_parts& parts) {
  save_options how;
  if (s.of_graph() != nullptr) {
    how.values[random_key] = io::write_random_state(s.of_graph()->random_state());
    if (std::string states = iterator_states(*s.of_graph()); !states.empty()) how.values[iterators_key] = std::move(states);
  }
  for (const auto& [name, part] : parts) how.values[part_key(name)] = part.save();
  return how;
}

LEAT_FUNCTION std::string save_run(saver& to, watched_session& s, const std::string& prefix, std::int64_t step, const saved_parts& parts) {
  return s.save(to, prefix, step, detail::state_beside(s, parts));
}

LEAT_FUNCTION void restore_run(const saver& from, watched_session& s, const checkpoint_path& path, const saved_parts& parts) {
  const auto opened = path.open();
  s.restore(from, path);
  const auto& values = opened->manifest().values;
  if (const auto random = values.find(detail::random_key); random != values.end() && s.of_graph() != nullptr)
    s.of_graph()->set_random_state(io::read_random_state(random->second, opened->path()));
  // Iterators of another graph, for example of an evaluation next to the training, iterate over other data even if their names are equal.
  if (const auto states = values.find(detail::iterators_key);
      states != values.end() && s.of_graph() != nullptr && opened->manifest().graph == detail::fingerprint_of(s.of_graph()->owner()))
    restore_iterator_states(*s.of_graph(), states->second, of_other_data::begins_anew);
  for (const auto& [name, part] : parts)
    if (const auto state = values.find(detail::part_key(name)); state != values.end()) part.restore(state->second);
}

LEAT_FUNCTION bool restore_latest_run(saver& from, watched_session& s, const std::string& folder, const saved_parts& parts) {
  if (folder.empty()) return false;
  const checkpoint_path latest = latest_checkpoint(folder);
  if (!latest) return false;
  restore_run(from, s, latest, parts);
  // Checkpoints of an earlier process are removed in their turn, but not those that a copied folder's state file names elsewhere: they
  // belong to another run.
  if (const auto state = get_checkpoint_state(folder)) {
    std::vector<std::string> paths;
    for (const std::string& one : state->all_model_checkpoint_paths)
      if (detail::lies_in(folder, one)) paths.push_back(one);
    from.recover_last_checkpoints(paths);
  }
  return true;
}

namespace detail {

class checkpoint_saver_hook final : public session_run_hook {
 public:
  explicit checkpoint_saver_hook(checkpoint_saver_options how)
      : how_(std::move(how)), timer_({.every_steps = how_.save_steps, .every_secs = how_.save_secs}) {
    if (how_.checkpoint_dir.empty()) throw invalid_argument("a checkpoint saver needs a folder: checkpoint_dir is empty");
    prefix_ = (std::filesystem::path(how_.checkpoint_dir) / how_.checkpoint_basename).string();
  }
  void begin(const begin_context& c) override {
    require_global_step(c.has_global_step, "CheckpointSaverHook");
    for (const auto& l : how_.listeners) l->begin();
  }
  void after_create_session(watched_session& s, coordinator&) override {
    saver_ = how_.its_saver;
    if (saver_ == nullptr && s.its_scaffold() != nullptr) saver_ = s.its_scaffold()->parts().its_saver;
    if (saver_ == nullptr) saver_ = s.of_graph() != nullptr ? std::make_shared<saver>(s.of_graph()->owner()) : std::make_shared<saver>();
    if (how_.write_events) {
      graph* g = s.of_graph() != nullptr ? &s.of_graph()->owner() : nullptr;
      if (writer_ == nullptr) writer_ = shared_writer(how_.checkpoint_dir, g);
      if (g != nullptr) {  // again, as TensorFlow does: the writer may be older than the complete graph
        meta_graph_def meta;
        meta.graph = summary::graph_with_shapes(*g);
        meta.collections = io::export_collections(*g);
        write_graph(*g, how_.checkpoint_dir);
        writer_->add_graph(meta.graph);
        writer_->add_meta_graph(meta);
      }
    }
    timer_.reset();
    const std::int64_t step = s.global_step();
    save(s, step);
    timer_.update_last_triggered_step(step);
  }
  void after_run(session_run_context& c, const session_run_values&) override {
    const std::int64_t step = c.session().global_step();
    if (!timer_.should_trigger_for_step(step)) return;
    const second_or_step_timer before = timer_;
    timer_.update_last_triggered_step(step);
    try {
      if (save(c.session(), step)) c.request_stop();
    } catch (...) {
      timer_ = before;  // this step has not been saved yet
      throw;
    }
  }
  void end(watched_session& s) override {
    const std::int64_t step = s.global_step();
    if (timer_.last_triggered_step() != step) save(s, step);
    for (const auto& l : how_.listeners) l->end(s, step);
    saver_->wait();
    if (writer_ != nullptr) writer_->flush();
  }

 private:
  bool save(watched_session& s, std::int64_t step) {
    for (const auto& l : how_.listeners) l->before_save(s, step);
    const std::string path = save_run(*saver_, s, prefix_, step, how_.parts);
    if (writer_ != nullptr) {
      writer_->add_session_log({.status = summary::session_status::checkpoint, .checkpoint_path = path}, step);
      writer_->flush();
    }
    bool stop = false;
    for (const auto& l : how_.listeners) stop = l->after_save(s, step) || stop;
    return stop;
  }

  checkpoint_saver_options how_;
  second_or_step_timer timer_;
  std::string prefix_;
  std::shared_ptr<saver> saver_;
  std::shared_ptr<summary::file_writer> writer_;
};

}  // namespace detail

LEAT_FUNCTION hook checkpoint_saver(checkpoint_saver_options how) {
  return std::make_shared<detail::checkpoint_saver_hook>(std::move(how));
}

}  // namespace leat
