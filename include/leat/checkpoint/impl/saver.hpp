#pragma once
// Implementation of saver.hpp.

#include <leat/checkpoint/checkpoint_files.hpp>
#include <leat/checkpoint/saver.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/staged_file.hpp>
#include <leat/proto/in_quotes.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace leat::detail {

/// A variable that is saved or restored: as a tensor of the checkpoint, or as a slice of one.
struct chosen_variable {
  std::string name_in_checkpoint;
  const session_variable* variable;
  bool is_slice = false;
};
/// Variables of a session, and names that the session does not have.
struct chosen_variables {
  std::vector<chosen_variable> found{};
  std::vector<std::string> unknown{};
};

// The variables of a list; for a partitioned variable, which is listed by its own name, all of its slices.
// Errors: invalid_argument for two variables under one name.
LEAT_FUNCTION chosen_variables listed_variables(const std::vector<saved_variable>& list, const std::vector<session_variable>& there) {
  std::map<std::string_view, const session_variable*> by_name;
  std::map<std::string_view, std::vector<const session_variable*>> by_whole;
  for (const session_variable& v : there) {
    by_name.emplace(v.name, &v);
    if (v.slice) by_whole[v.slice->full_name].push_back(&v);
  }
  chosen_variables all;
  for (const saved_variable& one : list) {
    const auto single = by_name.find(one.variable);
    const auto whole = by_whole.find(one.variable);
    if (single != by_name.end()) {
      const session_variable& v = *single->second;
      const bool is_slice = v.slice && one.name_in_checkpoint == one.variable;
      all.found.push_back({is_slice ? v.slice->full_name : one.name_in_checkpoint, &v, is_slice});
    } else if (whole != by_whole.end()) {
      for (const session_variable* v : whole->second) all.found.push_back({one.name_in_checkpoint, v, true});
    } else {
      all.unknown.push_back(one.variable);
    }
  }
  std::set<std::pair<std::string, const session_variable*>> seen;
  std::erase_if(all.found, [&](const chosen_variable& v) { return !seen.emplace(v.name_in_checkpoint, v.variable).second; });
  // Puts the slices of a tensor next to each other, at the position of its first slice.
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<chosen_variable>> tensors;
  for (chosen_variable& v : all.found) {
    const auto [at, is_new] = places.emplace(v.name_in_checkpoint, tensors.size());
    if (is_new) tensors.emplace_back();
    tensors[at->second].push_back(std::move(v));
  }
  all.found.clear();
  for (auto& its : tensors) all.found.insert(all.found.end(), std::make_move_iterator(its.begin()), std::make_move_iterator(its.end()));
  std::map<std::string_view, const chosen_variable*> taken;
  for (const chosen_variable& v : all.found) {
    const auto [at, is_new] = taken.emplace(v.name_in_checkpoint, &v);
    const chosen_variable& first = *at->second;
    if (is_new) continue;
    if (!first.is_slice || !v.is_slice || first.variable->slice->full_name != v.variable->slice->full_name)
      throw invalid_argument("two variables are saved under the name '" + v.name_in_checkpoint + "': '" + first.variable->name + "' and '" +
                             v.variable->name + "'");
    if (first.variable->slice->full_shape != v.variable->slice->full_shape || first.variable->type != v.variable->type)
      throw invalid_argument("the slices '" + first.variable->name + "' and '" + v.variable->name + "' are of different wholes");
  }
  return all;
}

}  // namespace leat::detail

namespace leat {

/// State that copies of a saver share.
struct saver::kept {
  struct checkpoint {
    std::string path;
    double time = 0;     // seconds since 1970
    std::string digits;  // identifies the save; empty for a recovered checkpoint
  };
  saver_options options;
  std::uint64_t captured = 0;          // serial number of the graph whose variables are in `list`
  std::vector<saved_variable> list{};  // empty: all variables

  mutable std::mutex guard;  // guards the members up to `closed`
  std::vector<checkpoint> last{};
  double next_kept_time = 0;
  std::set<std::string> cleaned{};  // folders without abandoned files
  bool closed = false;

  std::mutex saving;  // one save at a time
  std::thread worker;
  std::exception_ptr failure;

  ~kept() {
    if (worker.joinable()) worker.join();
  }
  static double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }
  void check_options() {
    if (options.max_to_keep < 0)
      throw invalid_argument("max_to_keep is " + std::to_string(options.max_to_keep) + "; it is a count, or 0 for all");
    if (!(options.keep_checkpoint_every_n_hours > 0)) throw invalid_argument("keep_checkpoint_every_n_hours is not above 0");
    if (options.format == checkpoint_format::tensorflow_v1)
      throw invalid_argument(
          "checkpoints of TensorFlow's first format are read, not written: save in .format = checkpoint_format::tensorflow");
    if (options.sharded && options.format != checkpoint_format::leat)
      throw invalid_argument("a sharded checkpoint is of leat's format: leave out .format, or .sharded");
    if (options.sharded && options.in_background)
      throw invalid_argument("a sharded checkpoint is written by the tasks at once: leave out .in_background, or .sharded");
    std::set<std::string> names;
    for (const saved_variable& v : options.var_list)
      if (!names.insert(v.name_in_checkpoint).second)
        throw invalid_argument("two variables are saved under the name '" + v.name_in_checkpoint + "'");
    list = options.var_list;
    next_kept_time = now() + options.keep_checkpoint_every_n_hours * 3600;
  }
  void capture(graph* of) {
    if (const auto capture_of = detail::capture_of_graphs(); capture_of != nullptr && list.empty()) captured = capture_of(of, list);
  }
  // The variables of a session that are saved or restored.
  std::vector<saved_variable> chosen(const detail::session_access& s, const std::vector<detail::session_variable>& there) const {
    if (!list.empty() && (captured == 0 || captured == s.serial())) return list;
    std::vector<saved_variable> all;
    for (const auto& v : there) all.emplace_back(v.name);
    return all;
  }
  void join() {
    if (worker.joinable()) worker.join();
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }
  void write(const std::string& path, detail::checkpoint_contents contents, const std::vector<tensor_value>& values,
             const save_options& how);
  void put(const std::string& path, detail::staged_checkpoint& staged, const save_options& how);
  checkpoint_state state_of(const std::string& path, const std::vector<checkpoint>& newest) const;
  std::vector<checkpoint> take_oldest(std::vector<checkpoint>& list_now, double& next_time) const;
};

LEAT_FUNCTION saver::saver(saver_options options) : kept_(std::make_shared<kept>()) {
  kept_->options = std::move(options);
  kept_->check_options();
  kept_->capture(nullptr);
}

LEAT_FUNCTION saver::saver(graph& g, saver_options options) : kept_(std::make_shared<kept>()) {
  kept_->options = std::move(options);
  kept_->check_options();
  kept_->capture(&g);
  if (kept_->list.empty() && !kept_->options.defer_build) throw invalid_argument("No variables to save");
}

LEAT_FUNCTION const saver_options& saver::options() const { return kept_->options; }

LEAT_FUNCTION std::vector<std::string> saver::last_checkpoints() const {
  const std::lock_guard lock(kept_->guard);
  std::vector<std::string> paths;
  for (const auto& one : kept_->last) paths.push_back(one.path);
  return paths;
}

LEAT_FUNCTION void saver::recover_last_checkpoints(const std::vector<std::string>& paths) {
  std::vector<kept::checkpoint> found;
  for (const std::string& path : paths)
    if (const auto time = detail::checkpoint_time(path)) found.push_back({path, *time, {}});
  const std::lock_guard lock(kept_->guard);
  kept_->last = std::move(found);
}

LEAT_FUNCTION void saver::wait() {
  const std::lock_guard one(kept_->saving);
  kept_->join();
}

LEAT_FUNCTION void saver::close() {
  const std::lock_guard one(kept_->saving);
  kept_->closed = true;
  kept_->join();
}

// Removes from a list, and returns, the checkpoints that are no longer kept.
LEAT_FUNCTION std::vector<saver::kept::checkpoint> saver::kept::take_oldest(std::vector<checkpoint>& list_now, double& next_time) const {
  std::vector<checkpoint> removed;
  while (options.max_to_keep > 0 && list_now.size() > static_cast<std::size_t>(options.max_to_keep)) {
    if (list_now.front().time > next_time) next_time += options.keep_checkpoint_every_n_hours * 3600;
    else removed.push_back(list_now.front());
    list_now.erase(list_now.begin());
  }
  return removed;
}

LEAT_FUNCTION void saver::kept::write(const std::string& path, detail::checkpoint_contents contents,
                                      const std::vector<tensor_value>& values, const save_options& how) {
  detail::staged_checkpoint staged(path, options.format, std::move(contents), values);
  put(path, staged, how);
}

// Commits a checkpoint, and removes those that are no longer kept.
LEAT_FUNCTION void saver::kept::put(const std::string& path, detail::staged_checkpoint& staged, const save_options& how) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const io::folder_lock lock(folder);
  const std::lock_guard mine(guard);
  std::vector<checkpoint> next = last;
  if (options.max_to_keep > 0) {
    std::erase_if(next, [&](const checkpoint& one) { return one.path == path; });
    next.push_back({path, now(), staged.digits()});
  }
  double next_time = next_kept_time;
  const std::vector<checkpoint> removed = take_oldest(next, next_time);
  // Everything that can fail for lack of space is done before the first rename.
  std::optional<io::staged_file> state;
  if (how.write_state) {
    state.emplace(folder / how.latest_filename);
    state->write(write_checkpoint_state(state_of(path, next)));
    state->sync();
  }
  staged.commit(lock);
  if (state) {
    state->put_in_place();
    lock.sync();
  }
  last = std::move(next);
  next_kept_time = next_time;
  // Only now, when the state file no longer names them.
  for (const checkpoint& one : removed) detail::remove_checkpoint(one.path, one.digits);
  // Once per folder: files that are abandoned later are removed by the saver of the next run.
  if (cleaned.insert(folder.string()).second) detail::remove_abandoned_data(folder);
}

// The newest checkpoint is last; if no list is kept, it is the only one.
LEAT_FUNCTION checkpoint_state saver::kept::state_of(const std::string& path, const std::vector<checkpoint>& newest) const {
  checkpoint_state state{.model_checkpoint_path = path};
  for (const auto& one : newest) state.all_model_checkpoint_paths.push_back(one.path);
  if (newest.empty()) state.all_model_checkpoint_paths.push_back(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!options.save_relative_paths && folder.is_absolute()) return state;
  // A path relative to the program's working directory has no meaning in a file; the file's paths are relative to its folder.
  const auto relative = [&](std::string& name) {
    const std::filesystem::path its = name;
    if (its.is_absolute() == folder.is_absolute()) name = its.lexically_relative(folder.empty() ? "." : folder).string();
  };
  relative(state.model_checkpoint_path);
  for (std::string& name : state.all_model_checkpoint_paths) relative(name);
  return state;
}

LEAT_FUNCTION std::string saver::save_from(detail::session_access& s, const std::string& prefix, const checkpoint_step& step,
                                           const save_options& how) {
  const std::lock_guard one(kept_->saving);
  if (kept_->closed) throw failed_precondition("the saver is closed");
  kept_->join();

  const auto there = s.variables();
  const auto find = [&](const std::string& name) {
    return std::find_if(there.begin(), there.end(), [&](const auto& v) { return v.name == name; });
  };
  std::vector<std::string> all, names, without_value;
  for (const auto& v : there) all.push_back(v.name);
  detail::checkpoint_contents contents;
  std::map<std::string, std::vector<detail::tensor_block>> blocks;  // of partitioned variables, by name in the checkpoint
  const auto [chosen, unknown] = detail::listed_variables(kept_->chosen(s, there), there);
  for (const detail::chosen_variable& v : chosen) {
    if (!v.variable->is_initialized) without_value.push_back(v.variable->name);
    if (v.is_slice) {
      const save_slice_info& slice = *v.variable->slice;
      const detail::tensor_block block{slice.var_offset, slice.var_shape};
      blocks[v.name_in_checkpoint].push_back(block);
      contents.whole_shapes.emplace(v.name_in_checkpoint, slice.full_shape);
      contents.blocks.emplace(names.size(), block);
    }
    names.push_back(v.variable->name);
    contents.names.push_back(v.name_in_checkpoint);
  }
  if (names.empty() && unknown.empty()) throw invalid_argument("No variables to save");
  if (!unknown.empty()) throw not_found("the session has no variables " + detail::names_with_nearest(unknown, all));
  if (!without_value.empty())
    throw failed_precondition("Attempting to use uninitialized value " + without_value.front() + ": variables without a value: " +
                              detail::name_list(without_value) + "; initialize or restore them before they are saved");

  for (const auto& [name, parts] : blocks)
    if (const std::string problem = detail::covering_problem(contents.whole_shapes.at(name), parts); !problem.empty())
      throw invalid_argument("the partitioned variable '" + name + "' " + brackets(contents.whole_shapes.at(name)) +
                             " is saved whole, but has " + problem + "; name the whole instead of its slices");

  std::string path = prefix;
  contents.manifest.step = step.number();
  if (!step.variable().empty()) {
    const auto counter = find(step.variable());
    if (counter == there.end() || !counter->is_initialized || (counter->type != dtype::int64 && counter->type != dtype::int32) ||
        counter->extent.rank != 0)
      throw invalid_argument("the step counts in '" + step.variable() + "', which is no int32 or int64 scalar with a value");
    s.with_values({step.variable()}, [&](const std::vector<tensor_value>& values) { contents.manifest.step = integer(values[0]); });
  }
  if (contents.manifest.step) {
    char digits[32];
    std::snprintf(digits, sizeof digits, kept_->options.pad_step_number ? "-%08lld" : "-%lld",
                  static_cast<long long>(*contents.manifest.step));
    path += digits;
  }
  const std::filesystem::path at = path;
  if (!at.has_filename()) throw invalid_argument("'" + prefix + "' is no name for a checkpoint: it ends in a folder");
  if (how.write_state &&
      (how.latest_filename.empty() || how.latest_filename.find('/') != std::string::npos || at.filename() == how.latest_filename))
    throw invalid_argument("the state file '" + how.latest_filename +
                           "' stands in the folder of the checkpoint and has another name than '" + at.filename().string() + "'");
  std::error_code problem;
  if (at.has_parent_path()) std::filesystem::create_directories(at.parent_path(), problem);
  if (problem) throw failed_precondition(at.parent_path().string() + ": cannot be made: " + problem.message());

  contents.manifest.pipeline_state = how.pipeline_state;
  contents.manifest.values = how.values;
  contents.manifest.graph = s.fingerprint();
  if (how.write_meta_graph) contents.meta_graph = s.meta_graph();
  if (const auto tasks = kept_->options.sharded ? s.tasks_of_variables() : std::map<std::string, std::string>(); !tasks.empty()) {
    detail::staged_checkpoint staged(path, std::move(contents), names, tasks, s);
    kept_->put(path, staged, how);
    return path;
  }
  s.with_values(names, [&](std::vector<tensor_value> values) {
    if (!kept_->options.in_background) return kept_->write(path, std::move(contents), values, how);
    for (tensor_value& v : values) v = v.kept();
    kept_->worker = std::thread([mine = kept_.get(), path, contents = std::move(contents), values = std::move(values), how]() mutable {
      try {
        mine->write(path, std::move(contents), values, how);
      } catch (...) {
        mine->failure = std::current_exception();
      }
    });
  });
  return path;
}

namespace detail {

/// Has the tasks of a session read their variables themselves. Returns false if they cannot: the session has no tasks, or one of them does
/// not see the checkpoint.
LEAT_FUNCTION bool restore_by_tasks(session_access& s, const checkpoint_reader& from, const std::vector<const chosen_variable*>& restored) {
  const auto tasks = s.tasks_of_variables();
  if (tasks.empty()) return false;
  std::map<std::string, shard_reading> by_task;
  for (const chosen_variable* v : restored) {
    const auto task = tasks.find(v->variable->name);
    if (task == tasks.end()) return false;
    shard_reading::variable one{v->variable->name, v->name_in_checkpoint, {}, {}, v->is_slice};
    if (v->is_slice) one.offset = v->variable->slice->var_offset, one.extent = v->variable->slice->var_shape;
    by_task[task->second].variables.push_back(std::move(one));
  }
  const std::string prefix = std::filesystem::absolute(from.path()).string();
  std::uint32_t manifest = 0;
  try {
    manifest = io::crc32c(write_manifest(from.manifest()));
  } catch (const invalid_argument&) {
    return false;  // it has strings that are not UTF-8
  }
  if (!io::is_utf8(prefix)) return false;
  std::vector<shard_reading> orders;
  for (auto& [device, order] : by_task) {
    order.device = device;
    order.prefix = prefix;
    order.manifest_crc = manifest;
    orders.push_back(std::move(order));
  }
  try {
    s.read_shards(orders);
  } catch (const not_found&) {
    return false;
  }
  return true;
}

}  // namespace detail

LEAT_FUNCTION restore_report saver::restore_to(detail::session_access& s, const checkpoint_path& path, const restore_options& how) const {
  const auto opened = path.open();
  const auto there = s.variables();
  restore_report report;
  std::vector<std::string> all, names;
  std::vector<const detail::chosen_variable*> restored;
  std::set<std::string, std::less<>> wanted;
  std::string misshapen;
  for (const auto& v : there) all.push_back(v.name);
  const auto list = kept_->chosen(s, there);
  const auto [chosen, unknown] = detail::listed_variables(list, there);
  // The slices of a partitioned variable count as one tensor.
  const auto add_once = [](std::vector<std::string>& to, const std::string& name) {
    if (to.empty() || to.back() != name) to.push_back(name);
  };
  for (const detail::chosen_variable& v : chosen) {
    const std::string& name = v.name_in_checkpoint;
    const shape& extent = v.is_slice ? v.variable->slice->full_shape : v.variable->extent;
    const auto saved = opened->manifest().tensors.find(name);
    const bool is_first = wanted.insert(name).second;
    if (saved == opened->manifest().tensors.end()) {
      add_once(report.missing, name);
    } else if (saved->second.dtype != v.variable->type || !may_equal(extent, saved->second.shape)) {
      if (!is_first) continue;
      report.misshapen.push_back(name);
      misshapen += "; '" + name + "' is " + dtype_name(saved->second.dtype) + " " + brackets(saved->second.shape) +
                   " in the checkpoint, but the variable " + dtype_name(v.variable->type) + " " + brackets(extent);
    } else if (is_carried_only(v.variable->type)) {
      if (!is_first) continue;
      report.misshapen.push_back(name);
      misshapen += "; '" + name + "' is " + dtype_name(saved->second.dtype) + ", which no array is: .partly leaves it as it is";
    } else {
      add_once(report.restored, name);
      names.push_back(v.variable->name);
      restored.push_back(&v);
    }
  }
  for (const auto& [name, tensor] : opened->manifest().tensors)
    if (!wanted.contains(name)) report.additional.push_back(name);
  if (list.empty()) throw invalid_argument("the session has no variables to restore");
  if (!unknown.empty()) throw not_found("the session has no variables " + detail::names_with_nearest(unknown, all));

  const bool wrong = !how.partly && (!report.missing.empty() || !report.misshapen.empty());
  if (wrong || (how.exact && !report.additional.empty())) {
    std::string text = opened->path() + ": the checkpoint is not of this model";
    if (const std::string& its = opened->manifest().graph; !its.empty() && its == s.fingerprint())
      text = opened->path() + ": the checkpoint is of this model, but of other variables";
    if (!report.missing.empty()) text += "; it lacks the variables " + detail::names_with_nearest(report.missing, report.additional);
    text += misshapen;
    if (!report.additional.empty()) text += "; it also has " + detail::names_with_nearest(report.additional, {});
    if (!report.misshapen.empty() || report.missing.empty()) throw invalid_argument(text);
    throw not_found(text);
  }
  if (kept_->options.sharded && !how.mapped && detail::restore_by_tasks(s, *opened, restored)) return report;
  std::vector<tensor_value> values;
  tensor_value whole;  // the tensor of the current slices, which are next to each other
  std::string whose;
  for (const detail::chosen_variable* v : restored) {
    if (!v->is_slice) {
      values.push_back(how.mapped ? opened->mapped(v->name_in_checkpoint) : opened->value(v->name_in_checkpoint));
      continue;
    }
    if (!whole || whose != v->name_in_checkpoint) {
      whole = how.mapped ? opened->mapped(v->name_in_checkpoint) : opened->value(v->name_in_checkpoint);
      whose = v->name_in_checkpoint;
    }
    values.push_back(detail::take_block(whole, {v->variable->slice->var_offset, v->variable->slice->var_shape}));
  }
  s.assign(names, values, how.mapped);
  return report;
}

}  // namespace leat
