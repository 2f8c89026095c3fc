#pragma once
// Implementation of file_writer.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/record.hpp>
#include <leat/io/regular_file.hpp>
#include <leat/summary/field_writer.hpp>
#include <leat/summary/file_writer.hpp>
#include <leat/summary/run_metadata.hpp>

#include <fcntl.h>
#include <protozero/pbf_writer.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace leat::summary {

class file_writer::state {
 public:
  using clock = std::chrono::steady_clock;

  state(std::filesystem::path logdir, file_writer_options options) : logdir_(std::move(logdir)), options_(std::move(options)) {
    if (logdir_.empty()) throw invalid_argument("file_writer: the name of the folder is empty");
    if (!(options_.flush_secs >= 0)) throw invalid_argument("file_writer: flush_secs is " + std::to_string(options_.flush_secs));
    for (const char c : options_.filename_suffix)
      if (c == '/' || c == '\0') throw invalid_argument("file_writer: filename_suffix holds a '/' or a null character");
    open();
    flusher_ = std::thread([this] { flush_in_time(); });
  }
  ~state() {
    {
      const std::lock_guard lock(guard_);
      ends_ = true;
    }
    wakes_.notify_one();
    flusher_.join();
  }

  static double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

  // Adds a serialized event.
  void add(std::string_view bytes) {
    const std::lock_guard lock(guard_);
    add_locked(bytes);
  }
  // Adds an event with a summary that is known to be valid.
  void add_values(std::string_view summary, std::int64_t step) {
    const std::lock_guard lock(guard_);
    scratch_.clear();
    {
      detail::field_writer event(scratch_, 3 * detail::field_writer::most + summary.size());
      event.fixed(1, now());
      if (step != 0) event.number(2, static_cast<std::uint64_t>(step));
      event.bytes(5, summary);
    }
    add_locked(scratch_);
  }
  // Removes metadata of tags for which it was already written.
  std::string without_known_metadata(std::string_view serialized) {
    summary_def all = read_summary(serialized);
    const bool has_metadata =
        std::any_of(all.values.begin(), all.values.end(), [](const auto& v) { return v.metadata != summary_metadata{}; });
    if (!has_metadata) return std::string(serialized);
    const std::lock_guard lock(guard_);
    for (summary_value& v : all.values)
      if (v.metadata != summary_metadata{} && !tags_with_metadata_.insert(v.tag).second) v.metadata = {};
    return to_bytes(all);
  }
  void name_run(std::string_view tag) {
    const std::lock_guard lock(guard_);
    if (!run_tags_.emplace(tag).second) throw already_exists("The provided tag was already used for this event type: " + std::string(tag));
  }
  void flush() {
    const std::lock_guard lock(guard_);
    must_be_open();
    flush_locked();
  }
  void close() {
    const std::lock_guard lock(guard_);
    if (!file_) return;
    flush_locked();
    file_->close();
    file_.reset();
  }
  void reopen() {
    const std::lock_guard lock(guard_);
    if (!file_) open();
  }
  const std::filesystem::path& logdir() const { return logdir_; }
  std::filesystem::path path() {
    const std::lock_guard lock(guard_);
    return path_;
  }

 private:
  void must_be_open() {
    if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
    if (!file_) throw failed_precondition(path_.string() + ": is closed: reopen() begins another file");
  }
  void add_locked(std::string_view bytes) {
    must_be_open();
    if (pending_ >= std::max<std::size_t>(options_.max_queue, 1)) flush_locked();
    file_->write(bytes);
    if (pending_++ == 0) oldest_ = clock::now();
    if (pending_ < options_.max_queue && options_.flush_secs > 0) return;
    try {
      flush_locked();
    } catch (const error&) {  // the event is in memory: the next call tries again and reports the error
    }
  }
  void flush_locked() {
    file_->flush();
    pending_ = 0;
  }
  // Creates the file. If the name is taken, a number is appended: two writers may start in the same second.
  void open() {
    std::error_code problem;
    std::filesystem::create_directories(logdir_, problem);
    if (!std::filesystem::is_directory(logdir_))
      throw failed_precondition(logdir_.string() + ": the folder cannot be made" +
                                (problem ? ": " + problem.message() : ": a file has its name"));
    char host[256] = "localhost";
    if (::gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') std::snprintf(host, sizeof host, "localhost");
    std::replace(std::begin(host), std::end(host), '/', '_');
    char time[24];
    std::snprintf(time, sizeof time, "%010lld", static_cast<long long>(now()));
    const std::string stem = std::string("events.out.tfevents.") + time + "." + host;
    for (int number = 0;; ++number) {
      path_ = logdir_ / (stem + (number == 0 ? "" : "." + std::to_string(number)) + options_.filename_suffix);
      const descriptor made(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (made) break;
      if (errno != EEXIST || number > 9999)
        throw failed_precondition(path_.string() + ": cannot be opened for writing: " + io::detail::system_reason());
    }
    file_.emplace(path_, io::record_opening::anew, std::size_t{1} << 16);
    event first;
    first.wall_time = now();
    first.file_version = event_file_version;
    try {
      file_->write(to_bytes(first));
      flush_locked();
    } catch (...) {
      file_.reset();
      throw;
    }
    tags_with_metadata_.clear();
    run_tags_.clear();
  }

  // Adding an event does not wake this thread. It wakes after `most`; if the oldest event is younger than that, it sleeps until that event
  // is due.
  void flush_in_time() {
    const auto most =
        std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(std::clamp(options_.flush_secs, 1e-3, 1e8)));
    std::unique_lock lock(guard_);
    for (auto next = clock::now() + most; !ends_;) {
      if (wakes_.wait_until(lock, next, [&] { return ends_; })) break;
      const auto now = clock::now();
      next = now + most;
      if (pending_ == 0 || failed_) continue;
      if (oldest_ + most > now) {
        next = oldest_ + most;
        continue;
      }
      try {
        flush_locked();
      } catch (...) {
        failed_ = std::current_exception();
      }
    }
  }

  const std::filesystem::path logdir_;
  const file_writer_options options_;
  std::mutex guard_;
  std::condition_variable wakes_;
  std::filesystem::path path_;
  std::optional<io::record_writer> file_;
  std::string scratch_;
  std::size_t pending_ = 0;     // events that are not in the file yet
  clock::time_point oldest_{};  // when the oldest of them was added
  std::exception_ptr failed_;   // error of the flusher thread
  std::set<std::string> tags_with_metadata_;
  std::set<std::string, std::less<>> run_tags_;
  bool ends_ = false;
  std::thread flusher_;
};

LEAT_FUNCTION file_writer::file_writer(std::filesystem::path logdir, file_writer_options options)
    : state_(std::make_unique<state>(std::move(logdir), std::move(options))) {}
LEAT_FUNCTION file_writer::file_writer(file_writer&&) noexcept = default;
LEAT_FUNCTION file_writer& file_writer::operator=(file_writer&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
LEAT_FUNCTION file_writer::~file_writer() {
  try {
    if (state_) close();
  } catch (const error&) {
  }
}

LEAT_FUNCTION void file_writer::add_summary(std::string_view serialized, std::int64_t step) {
  if (!serialized.empty()) state_->add_values(state_->without_known_metadata(serialized), step);
}
LEAT_FUNCTION void file_writer::add_summary(const tensor_value& result, std::int64_t step) {
  if (!result) return;
  if (result.type() != text_dtype || result.elements() != 1)
    throw invalid_argument("add_summary: a value of " + dtype_name(result.type()) + " " + brackets(result.extent()) +
                           " is no summary: fetch what summary::scalar, merge_all and the like return");
  add_summary(std::string_view(result.texts()[0]), step);
}
LEAT_FUNCTION void file_writer::add_summary(const value_list& values, std::int64_t step) {
  if (!values.has_metadata()) state_->add_values(values.bytes(), step);
  else add_summary(std::string_view(values.bytes()), step);
}
LEAT_FUNCTION void file_writer::add_scalar(std::string_view tag, float value, std::int64_t step) {
  thread_local value_list values;
  values.clear();
  values.scalar(tag, value);
  add_summary(values, step);
}

LEAT_FUNCTION void file_writer::add_session_log(session_status status, std::int64_t step) { add_session_log({.status = status}, step); }
LEAT_FUNCTION void file_writer::add_session_log(const session_log& what, std::int64_t step) {
  event e;
  e.step = step;
  e.session = what;
  add_event(e);
}
LEAT_FUNCTION void file_writer::add_run_metadata(const run_trace& trace, std::string_view tag, std::int64_t step) {
  add_run_metadata(run_metadata_of(trace), tag, step);
}
LEAT_FUNCTION void file_writer::add_run_metadata(std::string_view serialized, std::string_view tag, std::int64_t step) {
  state_->name_run(tag);
  event e;
  e.step = step;
  e.metadata = tagged_run_metadata{std::string(tag), std::string(serialized)};
  add_event(e);
}
LEAT_FUNCTION void file_writer::add_event(const event& e) {
  if (e.wall_time != 0) return state_->add(to_bytes(e));
  event timed = e;
  timed.wall_time = state::now();
  state_->add(to_bytes(timed));
}

LEAT_FUNCTION void file_writer::flush() { state_->flush(); }
LEAT_FUNCTION void file_writer::close() { state_->close(); }
LEAT_FUNCTION void file_writer::reopen() { state_->reopen(); }
LEAT_FUNCTION const std::filesystem::path& file_writer::logdir() const { return state_->logdir(); }
LEAT_FUNCTION std::filesystem::path file_writer::path() const { return state_->path(); }

}  // namespace leat::summary
