#pragma once
// Implementation of checkpoint_state.hpp.

#include <leat/checkpoint/checkpoint_state.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/text/read.hpp>
#include <leat/io/text/write.hpp>

namespace leat::io::detail {
template <>
struct message_fields<checkpoint_state> : plain_message {
  static constexpr std::string_view name = "CheckpointState";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "model_checkpoint_path", m.model_checkpoint_path);
    v.texts(2, "all_model_checkpoint_paths", m.all_model_checkpoint_paths);
    v.values(3, "all_model_checkpoint_timestamps", m.all_model_checkpoint_timestamps);
    v.value(4, "last_preserved_timestamp", m.last_preserved_timestamp);
  }
};
}  // namespace leat::io::detail

namespace leat::detail {

LEAT_FUNCTION bool lies_in(const std::string& folder, const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  std::error_code problem;
  return std::filesystem::equivalent(parent.empty() ? "." : parent, folder.empty() ? "." : folder, problem) && !problem;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION std::string write_checkpoint_state(const checkpoint_state& state) { return io::detail::text_of_message(state); }

LEAT_FUNCTION checkpoint_state read_checkpoint_state(std::string_view text) {
  checkpoint_state state;
  try {
    io::detail::read_text_message(text, state);
  } catch (const invalid_argument& e) {
    throw data_loss(e.what());
  }
  const auto check = [](const std::string& path) {
    if (path.find('\0') != path.npos) throw data_loss("a path with a zero byte: " + io::detail::in_quotes(path));
  };
  check(state.model_checkpoint_path);
  for (const std::string& path : state.all_model_checkpoint_paths) check(path);
  return state;
}

LEAT_FUNCTION std::optional<checkpoint_state> get_checkpoint_state(const std::string& folder, const std::string& latest_filename) {
  const std::filesystem::path at = std::filesystem::path(folder) / latest_filename;
  std::string text;
  try {
    text = io::input_file(at).text();
  } catch (const not_found&) {
    return std::nullopt;
  }
  checkpoint_state state = io::detail::naming(at, [&] { return read_checkpoint_state(text); });
  const auto whole = [&](std::string& path) {
    if (path.empty()) return;
    if (path[0] != '/') path = (std::filesystem::path(folder) / path).string();
    else if (!detail::lies_in(folder, path))
      if (const auto here = (std::filesystem::path(folder) / std::filesystem::path(path).filename()).string(); checkpoint_exists(here))
        path = here;
  };
  whole(state.model_checkpoint_path);
  for (std::string& path : state.all_model_checkpoint_paths) whole(path);
  return state;
}

LEAT_FUNCTION checkpoint_path latest_checkpoint(const std::string& folder, const std::string& latest_filename) {
  std::optional<checkpoint_state> before;
  for (;;) {
    const auto state = get_checkpoint_state(folder, latest_filename);
    if (!state) return {};
    std::vector<std::string> candidates{state->model_checkpoint_path};
    for (auto at = state->all_model_checkpoint_paths.rbegin(); at != state->all_model_checkpoint_paths.rend(); ++at)
      candidates.push_back(*at);
    // A relative path may lead out of the folder, where nothing exists after a move.
    for (std::string& path : candidates)
      if (!path.empty() && !checkpoint_exists(path))
        if (const auto moved = (std::filesystem::path(folder) / std::filesystem::path(path).filename()).string(); checkpoint_exists(moved))
          path = moved;
    // A checkpoint that was removed after the state was read is no longer the newest, and the state names another one. Only if the state is
    // unchanged was the checkpoint removed by hand; then the newest remaining one counts.
    const std::size_t count = before == state ? candidates.size() : 1;
    for (std::size_t i = 0; i < count; ++i) {
      if (candidates[i].empty()) continue;
      try {
        return checkpoint_path(std::make_shared<const checkpoint_reader>(candidates[i]));
      } catch (const not_found&) {
      }
    }
    if (before == state) return {};
    before = state;
  }
}

}  // namespace leat
