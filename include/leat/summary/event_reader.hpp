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

  /// The next event, or nothing at the end; a part of a record at the end, which a writer that was killed or is at work leaves, is the end.
  /// Asked again after the file has grown, it goes on.
  /// Errors: data_loss, naming file and offset, for a corrupt record or one that is no event; invalid_argument for a malformed tensor.
  std::optional<event> next();
  /// How the file ended.
  io::record_end end() const { return file_.end(); }
  /// The offset of the next event, in bytes.
  std::uint64_t offset() const { return file_.offset(); }

 private:
  io::record_reader file_;
};

/// All events of a file. Errors: those of `event_reader`.
std::vector<event> read_events(const std::filesystem::path& path);

/// The event files of a folder in the order in which TensorBoard reads them: by name, hence by time. Errors: not_found without the folder.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& logdir);

/// A number at a step.
struct scalar_point {
  std::int64_t step = 0;
  float value = 0;
  double wall_time = 0;
};
/// The curves of a run, as TensorBoard shows them: the numbers of all event files of a folder by tag. What a session event says is done
/// again (`session_status::start`) is dropped.
/// Errors: those of `event_reader`, and not_found without the folder.
std::map<std::string, std::vector<scalar_point>> read_scalars(const std::filesystem::path& logdir);

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/event_reader_bodies.hpp>
#endif
