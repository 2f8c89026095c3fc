#pragma once
// Files of nodes. A graph is untrusted: all names are within the folder `session_options::file_root`.

#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

namespace leat::detail {

/// The file or prefix that a node of a graph names, in the session's folder for files. Errors: failed_precondition if the session has no
/// folder for files; invalid_argument for a name that is not within it.
inline std::string path_within(const std::string& root, const std::string& name) {
  if (root.empty())
    throw failed_precondition("the graph may not use files, here '" + name +
                              "': name the folder that it may use in session_options::file_root (on a server, server_options::file_root)");
  const auto refuse = [&](const std::string& why) { throw invalid_argument("the file name '" + name + "' " + why); };
  if (name.empty() || name.find('\0') != name.npos) refuse("is empty or has a zero byte");
  std::error_code problem;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(std::filesystem::absolute(root), problem);
  if (problem) throw failed_precondition(root + ": " + problem.message());
  const std::filesystem::path path = std::filesystem::weakly_canonical(folder / name, problem);
  if (problem || !path.has_filename()) refuse("is not the name of a file");
  const auto [at, end] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  if (at != folder.end() || end == path.end()) refuse("is not within " + folder.string() + ", the folder of files of the session");
  return path.string();
}
inline std::string path_within_root(kernel_context& c, const std::string& name) { return path_within(c.step.session.file_root, name); }

/// The only string of an input. Errors: invalid_argument.
inline std::string only_text(kernel_context& c, int k, std::string_view what) {
  const tensor_value v = c.input(k);
  if (v.elements() != 1) throw invalid_argument(std::string(what) + " must be one string, not " + brackets(v.extent()));
  return v.texts()[0];
}

}  // namespace leat::detail
