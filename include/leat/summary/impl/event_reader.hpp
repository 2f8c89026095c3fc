#pragma once
// Implementation of event_reader.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/summary/event_reader.hpp>

#include <algorithm>

namespace leat::summary {

LEAT_FUNCTION std::optional<event> event_reader::next() {
  const std::uint64_t at = file_.offset();
  const auto record = file_.next();
  if (!record) return std::nullopt;
  try {
    return read_event(*record);
  } catch (const error& e) {
    file_.seek(at);
    leat::detail::rethrow_saying(e, file_.path().string() + ": the record at byte " + std::to_string(at) + " is no event: " + e.what());
  }
}

LEAT_FUNCTION std::vector<event> read_events(const std::filesystem::path& path) {
  std::vector<event> all;
  event_reader in(path);
  while (auto e = in.next()) all.push_back(std::move(*e));
  return all;
}

LEAT_FUNCTION std::vector<std::filesystem::path> event_files(const std::filesystem::path& logdir) {
  std::vector<std::filesystem::path> files;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(logdir, problem))
    if (entry.path().filename().string().find("tfevents") != std::string::npos) files.push_back(entry.path());
  if (problem) throw not_found(logdir.string() + ": cannot be read: " + problem.message());
  std::sort(files.begin(), files.end());
  return files;
}

LEAT_FUNCTION std::map<std::string, std::vector<scalar_point>> read_scalars(const std::filesystem::path& logdir) {
  std::map<std::string, std::vector<scalar_point>> curves;
  for (const auto& path : event_files(logdir)) {
    event_reader in(path);
    while (const auto e = in.next()) {
      if (e->session && e->session->status == session_status::start)
        for (auto& [tag, points] : curves) std::erase_if(points, [&](const scalar_point& p) { return p.step >= e->step; });
      if (!e->summary) continue;
      for (const summary_value& v : e->summary->values)
        if (const float* number = std::get_if<float>(&v.content)) curves[v.tag].push_back({e->step, *number, e->wall_time});
    }
  }
  return curves;
}

}  // namespace leat::summary
