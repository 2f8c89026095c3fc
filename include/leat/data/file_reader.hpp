#pragma once
// Readers of graphs: they take names of files from a queue and give the records of these files, one after another. A session keeps a reader
// between runs. Thread-safe. Source: TensorFlow's `ReaderBase`.

#include <leat/io/file.hpp>
#include <leat/io/lines.hpp>
#include <leat/io/record.hpp>
#include <leat/runtime/kernels/file_root.hpp>
#include <leat/runtime/kernels/queue.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leat::detail {

/// The records of one file, each with its key.
class file_records {
 public:
  virtual ~file_records() = default;
  /// The next key and record; nothing at the end.
  virtual std::optional<std::pair<std::string, std::string>> next() = 0;
};

/// How a reader opens a file of the name that the queue gave, which is at `path`.
using opens_file = std::function<std::unique_ptr<file_records>(const std::string& name, const std::string& path)>;

class file_reader final : public resource {
 public:
  explicit file_reader(opens_file opens) : opens_(std::move(opens)) {}

  /// Up to `most` keys and records of the current file, or of the next ones of the queue if it has none left. Errors: those of the queue,
  /// of the file and of the step's check.
  std::vector<std::pair<std::string, std::string>> read(kernel_context& c, runtime::value_queue& names, std::int64_t most) {
    const auto lock = wait(c);
    std::vector<std::pair<std::string, std::string>> records;
    while (most > 0) {
      c.step.check();
      if (file_ == nullptr) {
        const std::string name = next_name(c, names);
        file_ = opens_(name, path_within_root(c, name));
      }
      try {
        while (static_cast<std::int64_t>(records.size()) < most) {
          auto record = file_->next();
          if (!record) {
            file_ = nullptr;
            ++files_;
            break;
          }
          ++records_;
          records.push_back(std::move(*record));
          if (records.size() % 1024 == 0) c.step.check();
        }
      } catch (...) {
        file_ = nullptr;  // a damaged file is left, as one that cannot be opened is
        throw;
      }
      if (!records.empty()) break;
    }
    return records;
  }
  void reset(kernel_context& c) {
    const auto lock = wait(c);
    file_ = nullptr;
    records_ = files_ = 0;
  }
  std::int64_t records(kernel_context& c) const {
    const auto lock = wait(c);
    return records_;
  }
  std::int64_t files(kernel_context& c) const {
    const auto lock = wait(c);
    return files_;
  }

 private:
  // Another run may hold the reader while it waits for the queue, so this run's deadline counts meanwhile.
  std::unique_lock<std::timed_mutex> wait(kernel_context& c) const {
    std::unique_lock lock(guard_, std::defer_lock);
    while (!lock.try_lock_for(std::chrono::milliseconds(2))) c.step.check();
    return lock;
  }
  static std::string next_name(kernel_context& c, runtime::value_queue& names) {
    const auto& types = names.made_with().types;
    if (types.size() != 1 || types[0] != text_dtype) throw invalid_argument("Expected queue with single string component");
    const auto taken = names.take(1, false, c.step);
    if (taken[0][0].elements() != 1) throw invalid_argument("Expected to dequeue a one-element string tensor");
    return taken[0][0].texts()[0];
  }

  const opens_file opens_;
  mutable std::timed_mutex guard_;
  std::unique_ptr<file_records> file_;
  std::int64_t records_ = 0, files_ = 0;
};

// ---- files --------------------------------------------------------------------------------------------------------------

class lines_of_file final : public file_records {
 public:
  lines_of_file(std::string name, const std::string& path, std::int64_t skipped) : name_(std::move(name)), lines_(path) {
    for (std::int64_t i = 0; i < skipped && lines_.next();) ++i;
  }
  std::optional<std::pair<std::string, std::string>> next() override {
    const auto number = lines_.next_line();
    const auto line = lines_.next();
    if (!line) return std::nullopt;
    return std::pair(name_ + ":" + std::to_string(number), std::string(*line));
  }

 private:
  std::string name_;
  io::line_reader lines_;
};

class records_of_file final : public file_records {
 public:
  records_of_file(std::string name, const std::string& path, io::record_compression compression)
      : name_(std::move(name)), records_(path, std::size_t{1} << 18, compression) {}
  std::optional<std::pair<std::string, std::string>> next() override {
    const auto at = records_.offset();
    const auto record = records_.next();
    if (record) return std::pair(name_ + ":" + std::to_string(at), std::string(*record));
    if (records_.end() == io::record_end::truncated) throw data_loss(name_ + ": truncated record at " + std::to_string(at));
    return std::nullopt;
  }

 private:
  std::string name_;
  io::record_reader records_;
};

/// A file as one record: its contents, or its own name.
class whole_file final : public file_records {
 public:
  whole_file(std::string name, std::string contents) : record_(std::pair(std::move(name), std::move(contents))) {}
  std::optional<std::pair<std::string, std::string>> next() override { return std::exchange(record_, std::nullopt); }

 private:
  std::optional<std::pair<std::string, std::string>> record_;
};

}  // namespace leat::detail
