#pragma once
// Implementation of files.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/data/files.hpp>
#include <leat/proto/in_quotes.hpp>

namespace leat::data {

LEAT_FUNCTION std::string file_list::description() const {
  std::string text;
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < paths_.size(); ++k) {
    std::error_code problem;
    const auto bytes = std::filesystem::file_size(paths_[k], problem);
    if (problem) throw not_found(paths_[k].string() + ": cannot be opened: " + problem.message());
    const std::string one = paths_[k].filename().string() + " of " + std::to_string(bytes) + " bytes";
    if (k < 3) text += (k > 0 ? ", " : "") + one;
    else hash = mix(hash, hash_text(one));
  }
  if (paths_.size() > 3) text += ", and " + std::to_string(paths_.size() - 3) + " more #" + std::to_string(hash);
  return text;
}

LEAT_FUNCTION void detail::csv_rows::check_names(const csv_tables& tables) const {
  if (!tables.options.header || !tables.options.columns.empty()) return;
  for (std::size_t k = 0; !tables.names && tables.paths[k] != reader_.path(); ++k) {
    try {
      tables.names = io::csv_reader(tables.paths[k], tables.options, 4096).columns();
    } catch (const error&) {  // reported when that file is read
    }
  }
  if (!tables.names) tables.names = reader_.columns();
  if (*tables.names == reader_.columns()) return;
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + proto::detail::in_quotes(name);
    return text;
  };
  throw invalid_argument(reader_.path().string() + ": the header has " + list(reader_.columns()) + ", that of a file before it " +
                         list(*tables.names) + "; choose the columns by name");
}

LEAT_FUNCTION std::string detail::options_text(const io::csv_options& options) {
  std::string text;
  if (options.delimiter != ',') text += std::string(", delimiter ") + options.delimiter;
  if (!options.header) text += ", no header";
  for (const std::string& column : options.columns) text += ", " + column;
  if (options.empty) text += ", empty is " + setting_text(*options.empty);
  return text;
}

}  // namespace leat::data
