#pragma once
// Kernels that read and write files within a graph, only in the folder `session_options::file_root`. Source: TensorFlow's readers
// (`TextLineReaderV2`, `TFRecordReaderV2`, `WholeFileReaderV2`, `IdentityReaderV2`, `ReaderReadV2` and their kin), `ReadFile`, `WriteFile`,
// `MatchingFiles`, `InitializeTableFromTextFileV2`.

#include <leat/core/decimal.hpp>
#include <leat/core/fill.hpp>
#include <leat/core/memory.hpp>
#include <leat/data/file_reader.hpp>
#include <leat/runtime/kernels/tables.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

namespace leat::detail {

// ---- readers ------------------------------------------------------------------------------------------------------------

inline void make_reader(kernel_context& c, opens_file opens) {
  const std::string shared = c.node.text("shared_name");
  const std::string& name = shared.empty() ? c.node.name() : shared;
  c.set(0, tensor_value::handle(c.step.session.resources.find_or_make<file_reader>(
               c.node.text("container"), "reader " + name, [&] { return std::make_shared<file_reader>(std::move(opens)); })));
}
inline io::record_compression record_compression_of(const std::string& word) {
  if (word.empty()) return io::record_compression::none;
  if (word == "ZLIB") return io::record_compression::zlib;
  if (word == "GZIP") return io::record_compression::gzip;
  throw invalid_argument("the compression_type '" + word + "': there are '', ZLIB and GZIP");
}
inline file_reader& held_reader(kernel_context& c) { return runtime::held_as<file_reader>(c.input(0)); }
inline auto read_records(kernel_context& c, std::int64_t most) {
  return held_reader(c).read(c, runtime::held_as<runtime::value_queue>(c.input(1)), most);
}
inline void run_read_record(kernel_context& c) {
  auto records = read_records(c, 1);
  c.set(0, tensor_value(std::move(records[0].first)));
  c.set(1, tensor_value(std::move(records[0].second)));
}
inline void run_read_records(kernel_context& c) {
  std::vector<std::string> keys, values;
  for (auto& [key, value] : read_records(c, c.number(2))) {
    keys.push_back(std::move(key));
    values.push_back(std::move(value));
  }
  c.set(0, tensor_value(std::move(keys)));
  c.set(1, tensor_value(std::move(values)));
}

// ---- whole files ----------------------------------------------------------------------------------------------------------

inline std::string file_name_of(kernel_context& c) {
  if (c.extent(0).rank != 0) throw invalid_argument("Input filename tensor must be scalar, but had shape: " + brackets(c.extent(0)));
  return c.input(0).as<std::string>();
}
inline void run_write_file(kernel_context& c) {
  const std::string path = path_within_root(c, file_name_of(c));
  if (c.extent(1).rank != 0) throw invalid_argument("Contents tensor must be scalar, but had shape: " + brackets(c.extent(1)));
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) throw failed_precondition(path + "; Is a directory");
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
  if (problem) throw failed_precondition(path + ": its folder cannot be made: " + problem.message());
  io::write_file(path, c.input(1).as<std::string>());
}

// The path of a name that a folder's list gave; nothing if it leads outside, as a link may.
inline std::optional<std::string> path_if_within_root(kernel_context& c, const std::string& name) {
  try {
    return path_within_root(c, name);
  } catch (const invalid_argument&) {
    return std::nullopt;
  }
}
/// Adds the names that match a pattern, in which `*`, `?` and `[...]` stand within the name of one file or folder. A name is written as the
/// pattern is: behind the folder of files, or from the root on.
inline void add_matches(kernel_context& c, const std::string& pattern, std::set<std::string>& to) {
  const auto has_pattern = [](const std::string& part) { return part.find_first_of("*?[\\") != part.npos; };
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= pattern.size();) {
    const std::size_t end = std::min(pattern.find('/', at), pattern.size());
    if (end > at) parts.push_back(pattern.substr(at, end - at));
    at = end + 1;
  }
  if (parts.empty()) return;
  // The folders in the pattern's words; the first is the root, or the session's folder.
  std::set<std::string> found{pattern.starts_with('/') ? "/" : ""};
  metered_bytes taken;  // "*/../*/../*" has as many matches as there are pairs of folders, and so on
  std::error_code problem;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    std::set<std::string> next;
    std::size_t bytes = 0, counted = std::size_t{1} << 16;
    for (const std::string& folder : found) {
      c.step.check();
      const auto add = [&](const std::string& name) {
        constexpr std::size_t of_node = 64;
        bytes += folder.size() + name.size() + of_node;
        if (bytes > counted) taken.take(counted *= 2);
        next.insert(folder + name + (k + 1 < parts.size() ? "/" : ""));
      };
      if (!has_pattern(parts[k])) {
        add(parts[k]);
        continue;
      }
      const auto inside = path_if_within_root(c, folder + "x");
      if (!inside) continue;
      const std::filesystem::path where = std::filesystem::path(*inside).parent_path();
      for (std::filesystem::directory_iterator at(where, problem), end; !problem && at != end; at.increment(problem)) {
        const std::string name = at->path().filename().string();
        if (::fnmatch(parts[k].c_str(), name.c_str(), FNM_PATHNAME) == 0) add(name);
      }
      problem.clear();
    }
    found = std::move(next);
  }
  for (const std::string& name : found)
    if (const auto inside = path_if_within_root(c, name); inside && std::filesystem::exists(*inside, problem)) to.insert(name);
}
inline void run_matching_files(kernel_context& c) {
  std::set<std::string> names;
  const tensor_value patterns = c.input(0);
  if (patterns.extent().rank > 1)
    throw invalid_argument("Input patterns tensor must be scalar or vector, but had shape: " + brackets(patterns.extent()));
  for (const std::string& pattern : patterns.texts()) {
    static_cast<void>(path_within_root(c, pattern.substr(0, pattern.find_first_of("*?[\\")) + "x"));  // also if nothing matches
    add_matches(c, pattern, names);
  }
  c.set(0, tensor_value(std::vector<std::string>(names.begin(), names.end())));
}

// ---- tables -------------------------------------------------------------------------------------------------------------

/// Keys or values of a table from the lines of a file: a column, the whole line, or the number of the line.
class table_column {
 public:
  static constexpr std::int64_t line = -2, number = -1;
  table_column(std::int64_t index, dtype type, const char* what) : index_(index), type_(type) {
    const std::string word = what;
    if (index < line) throw invalid_argument(word + "_index " + std::to_string(index) + " must be at least minimum -2");
    const std::string upper = word == "key" ? "Key" : "Value";
    if (index == number && type != dtype::int64)
      throw invalid_argument(upper + " index for line number requires table " + word + " dtype of int64, got " + runtime::type_word(type));
    if (index == line && type != text_dtype && !is_integer(type))
      throw invalid_argument(upper + " index for whole line requires string or integer table " + word + ", got " +
                             runtime::type_word(type));
  }
  std::int64_t columns() const { return index_ >= 0 ? index_ + 1 : 0; }
  void add(const std::string& whole, const std::vector<std::string>& columns, std::int64_t at, std::int64_t offset) {
    if (index_ == number) {
      std::int64_t sum = 0;
      if (__builtin_add_overflow(at, offset, &sum)) throw invalid_argument("offset is too large");
      texts_.push_back(std::to_string(sum));
      return;
    }
    texts_.push_back(index_ == line ? whole : columns[static_cast<std::size_t>(index_)]);
    if (type_ == text_dtype) return;
    with_number(type_, [&]<class T>(T) {
      T value{};
      if (!read_number(texts_.back(), value))
        throw invalid_argument("Field " + texts_.back() + " in line " + std::to_string(at) + " is not a valid " +
                               runtime::type_word(type_) + ".");
    });
  }
  tensor_value values() const {
    if (type_ == text_dtype) return tensor_value(texts_);
    tensor_value made(type_, {static_cast<std::int64_t>(texts_.size())});
    with_number(type_, [&]<class T>(T) {
      for (std::size_t i = 0; i < texts_.size(); ++i) static_cast<void>(read_number(texts_[i], made.values<T>()[i]));
    });
    return made;
  }

 private:
  std::int64_t index_;
  dtype type_;
  std::vector<std::string> texts_;
};
inline void run_initialize_table_from_file(kernel_context& c) {
  auto& table = runtime::held_as<runtime::lookup_table>(c.input(0));
  if (c.extent(1).rank != 0) throw invalid_argument("filename should be a single string, but got " + brackets(c.extent(1)));
  const std::string name = c.input(1).as<std::string>(), delimiter = c.node.attribute<std::string>("delimiter", "\t");
  const std::int64_t size = c.node.integer("vocab_size", -1), offset = c.node.integer("offset");
  if (delimiter.size() != 1) throw invalid_argument("delimiter should be only 1 char");
  if (size < -1) throw invalid_argument("vocab_size " + std::to_string(size) + " must be at least minimum -1");
  table_column keys(c.node.integer("key_index"), table.keys(), "key"), values(c.node.integer("value_index"), table.values(), "value");
  const std::int64_t wanted = std::max(keys.columns(), values.columns());
  io::line_reader lines(path_within_root(c, name));
  std::int64_t at = 0;
  for (; size < 0 || at < size; ++at) {
    if (at % 1024 == 0) c.step.check();
    const auto next = lines.next();
    if (!next) break;
    const std::string whole(*next);
    if (whole.empty())
      throw invalid_argument("Invalid content in " + name + ": empty line found at position " + std::to_string(lines.offset()) + ".");
    std::vector<std::string> columns;
    for (std::size_t from = 0; wanted > 0;) {
      const std::size_t end = std::min(whole.find(delimiter[0], from), whole.size());
      columns.push_back(whole.substr(from, end - from));
      if (end == whole.size()) break;
      from = end + 1;
    }
    if (static_cast<std::int64_t>(columns.size()) < wanted)
      throw invalid_argument("Invalid number of columns in " + name + " line " + std::to_string(at) + " (" + whole +
                             ") : expected at least " + std::to_string(wanted) + " got " + std::to_string(columns.size()));
    keys.add(whole, columns, at, offset);
    values.add(whole, columns, at, offset);
  }
  if (at == 0) throw out_of_range(name + " has no lines");
  if (size >= 0 && at < size)
    throw invalid_argument("Invalid vocab_size in " + name + ": expected " + std::to_string(size) + " but got " + std::to_string(at));
  table.initialize(keys.values(), values.values());
}

LEAT_FILL(fill_file_kernels) {
  for (const char* version : {"", "V2"}) {
    const std::string v = version;
    register_kernel("TextLineReader" + v, [](kernel_context& c) {
      make_reader(c, [skipped = c.node.integer("skip_header_lines")](const std::string& name, const std::string& path) {
        return std::make_unique<lines_of_file>(name, path, skipped);
      });
    });
    register_kernel("TFRecordReader" + v, [](kernel_context& c) {
      make_reader(c, [how = record_compression_of(c.node.text("compression_type"))](const std::string& name, const std::string& path) {
        return std::make_unique<records_of_file>(name, path, how);
      });
    });
    register_kernel("WholeFileReader" + v, [](kernel_context& c) {
      make_reader(c,
                  [](const std::string& name, const std::string& path) { return std::make_unique<whole_file>(name, io::read_file(path)); });
    });
    register_kernel("IdentityReader" + v, [](kernel_context& c) {
      make_reader(c, [](const std::string& name, const std::string&) { return std::make_unique<whole_file>(name, name); });
    });
    register_kernel("ReaderRead" + v, run_read_record);
    register_kernel("ReaderReadUpTo" + v, run_read_records);
    register_kernel("ReaderReset" + v, [](kernel_context& c) { held_reader(c).reset(c); });
    register_kernel("ReaderNumRecordsProduced" + v, [](kernel_context& c) { c.set(0, tensor_value(held_reader(c).records(c))); });
    register_kernel("ReaderNumWorkUnitsCompleted" + v, [](kernel_context& c) { c.set(0, tensor_value(held_reader(c).files(c))); });
    register_kernel("InitializeTableFromTextFile" + v, run_initialize_table_from_file);
  }
  register_kernel("ReadFile", [](kernel_context& c) { c.set(0, tensor_value(io::read_file(path_within_root(c, file_name_of(c))))); });
  register_kernel("WriteFile", run_write_file);
  register_kernel("MatchingFiles", run_matching_files);
}

}  // namespace leat::detail
