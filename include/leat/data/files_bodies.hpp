#pragma once
// Implementation of files.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/data/files.hpp>

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

LEAT_FUNCTION std::string detail::options_text(const io::csv_options& options) {
  std::string text;
  if (options.delimiter != ',') text += std::string(", delimiter ") + options.delimiter;
  if (!options.header) text += ", no header";
  for (const std::string& column : options.columns) text += ", " + column;
  if (options.empty) text += ", empty is " + std::to_string(*options.empty);
  return text;
}

}  // namespace leat::data
