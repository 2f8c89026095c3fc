#pragma once
// Reads event files: `summary::event_reader in(path); while (auto e = in.next()) ...`. Files are untrusted.

#include <leat/core/function_bodies.hpp>
#include <leat/io/record.hpp>
#include <leat/summary/event.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace leat::summary {

/// The events of a file, one after the other.
class event_reader {
 public:
  /// Errors: not_found if the file cannot be opened.
  explicit event_reader(const std::filesystem::path& path) : file_(path) {}

  /// The next event, or nothing at the end. An incomplete record at the end, left by a writer that was killed or is still writing, counts
  /// as the end. If the file has grown since, the next call continues.
  /// Errors: data_loss, naming file and offset, for a corrupt record or one that is not an event; invalid_argument for a malformed tensor.
  std::optional<event> next();
  /// How the file ended.
  io::record_end end() const { return file_.end(); }
  /// The offset of the next event in bytes.
  std::uint64_t offset() const { return file_.offset(); }

 private:
  io::record_reader file_;
};

/// All events of a file. Errors: those of `event_reader`.
std::vector<event> read_events(const std::filesystem::path& path);

/// The event files of a folder in the order in which TensorBoard reads them: by name, hence by time. Errors: not_found if the folder cannot
/// be read.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& logdir);

/// A number at a step, with its time.
struct scalar_point {
  std::int64_t step = 0;
  float value = 0;
  double wall_time = 0;
};
/// The curves of a run as TensorBoard shows them: the numbers of all event files of a folder, by tag. Points that a session event replaces
/// (`session_status::start`) are dropped.
/// Errors: those of `event_reader`; not_found if the folder cannot be read.
std::map<std::string, std::vector<scalar_point>> read_scalars(const std::filesystem::path& logdir);

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/impl/event_reader.hpp>
#endif
