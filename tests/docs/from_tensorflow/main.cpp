// docs/from_tensorflow.md: what TensorFlow 1.x calls something, and what leat calls it. Each piece of code in the tables' columns of leat is
// compiled and run by this program, with its result checked; page.md has the text, with {{key}} for the code of a key.
// `document_from_tensorflow REPOSITORY` runs all and compares the page with the file, `document_from_tensorflow REPOSITORY --write` writes it.

#include "shown.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace from_tensorflow {

std::map<std::string, std::string>& shown() {
  static std::map<std::string, std::string> texts;
  return texts;
}

std::vector<std::string>& problems() {
  static std::vector<std::string> all;
  return all;
}

void show(const std::string& key, const std::string& text) {
  std::string cell;  // of a table
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  const auto [at, is_new] = shown().emplace(key, cell);
  if (!is_new && at->second != cell) throw leat::invalid_argument("two texts of the key " + key + ": " + at->second + " and " + cell);
}

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  std::size_t begin = 1;
  for (std::size_t k = 1; k < row.size(); ++k)
    if (row[k] == '|' && row[k - 1] != '\\') {
      cells.push_back(row.substr(begin, k - begin));
      begin = k + 1;
    }
  return cells;
}

// The columns of leat, by the heading of a table.
std::set<std::size_t> own_columns(const std::vector<std::string>& heading) {
  std::set<std::size_t> own;
  for (std::size_t k = 0; k < heading.size(); ++k)
    if (heading[k] == " typed " || heading[k] == " graph " || heading[k] == " leat ") own.insert(k);
  return own;
}

// The page; what is wrong with its source becomes a problem.
std::string page_of(const std::string& source) {
  std::string page;
  std::set<std::string> used;
  std::set<std::size_t> own;
  std::istringstream lines(source);
  bool in_table = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_row = line.starts_with("|");
    if (is_row && !in_table) own = own_columns(cells_of(line));
    else if (is_row && !line.starts_with("|---")) {
      const auto cells = cells_of(line);
      for (const std::size_t k : own) {
        const std::string cell = k < cells.size() ? cells[k] : "";
        const bool says_none = cell.starts_with(" –") || cell.starts_with(" *not yet*") || cell.starts_with(" *not needed*");
        const bool is_link = cell.starts_with(" [");  // to a page whose listings are compiled
        if (!says_none && !is_link && cell.find("{{") == cell.npos) problems().push_back("no code that is run: " + cell + " in " + line);
        if (cell.find('`') != cell.npos) problems().push_back("code that is not run: " + cell + " in " + line);
      }
    }
    in_table = is_row;
    std::string text;
    for (std::size_t at = 0; at < line.size();) {
      const auto begin = line.find("{{", at);
      const auto end = begin == line.npos ? line.npos : line.find("}}", begin);
      text += line.substr(at, begin == line.npos ? line.npos : begin - at);
      if (end == line.npos) break;
      const std::string key = line.substr(begin + 2, end - begin - 2);
      const auto found = shown().find(key);
      if (found == shown().end()) problems().push_back("no code is run under the key " + key);
      else text += "`" + found->second + "`";
      used.insert(key);
      at = end + 2;
    }
    page += text + "\n";
  }
  for (const auto& [key, text] : shown())
    if (!used.contains(key)) problems().push_back("the page does not show " + key + ", " + text);
  return page;
}

int run(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: document_from_tensorflow REPOSITORY [--write]\n");
    return 2;
  }
  for (void (*part)() : {graphs_and_names, variables_and_scopes, mathematics, arrays, networks, losses_and_training, control_and_queues,
                         sessions, data_and_files, supervised_runs, clusters, typed})
    try {
      part();
    } catch (const std::exception& e) {
      problems().push_back(e.what());
    }
  const std::filesystem::path root = std::filesystem::absolute(arguments[1]);
  const std::string made = page_of(text_of(root / "tests/docs/from_tensorflow/page.md"));
  for (const std::string& problem : problems()) std::fprintf(stderr, "%s\n", problem.c_str());
  if (!problems().empty()) return 1;
  const auto page = root / "docs/from_tensorflow.md";
  if (count > 2 && std::string_view(arguments[2]) == "--write") {
    std::ofstream(page) << made;
    return 0;
  }
  if (text_of(page) == made) {
    std::printf("%zu pieces of code, as the page shows them\n", shown().size());
    return 0;
  }
  std::fprintf(stderr, "docs/from_tensorflow.md is not what `document_from_tensorflow . --write` writes\n");
  return 1;
}

}  // namespace
}  // namespace from_tensorflow

int main(int count, char** arguments) {
  try {
    return from_tensorflow::run(count, arguments);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
