#include <leat/checkpoint/saver.hpp>
#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/collections.hpp>

#include "support/messages.hpp"
#include "support/reference_json.hpp"
#include "support/scratch_folder.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace leat;
using leat_test::message_of;
using leat_test::reference_json;
using leat_test::says;
using leat_test::scratch_folder;
using nlohmann::json;

namespace {

json files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}
std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
// A path as it is recorded.
struct recorded_paths {
  std::string folder;
  std::string operator()(std::string text) const {
    for (std::size_t at; (at = text.find(folder)) != text.npos;) text.replace(at, folder.size(), "DIR");
    return text;
  }
  json operator()(const std::vector<std::string>& paths) const {
    json list = json::array();
    for (const auto& path : paths) list.push_back((*this)(path));
    return list;
  }
};

// How the recorded saver was made: what its title says, and otherwise what it kept.
saver_options options_of(const json& row) {
  saver_options options{.format = checkpoint_format::tensorflow};
  const std::string what = row["what"];
  options.pad_step_number = what.starts_with("pad_step_number");
  if (const std::string key = "max_to_keep "; what.starts_with(key)) {
    options.max_to_keep = std::atoi(what.c_str() + key.size());  // "None": 0
  } else {
    std::size_t most = 0, saved = 0;
    std::map<std::string, bool> names;
    for (const auto& entry : row["result"]["log"]) {
      most = std::max(most, entry["last_checkpoints"].size());
      names[entry["returned"]] = true;
      saved = names.size();
    }
    if (saved > most) options.max_to_keep = static_cast<int>(most);
  }
  return options;
}

const json* find(const json& list, const std::string& what) {
  for (const auto& row : list)
    if (row["what"].get<std::string>().starts_with(what)) return &row;
  return nullptr;
}

struct two_variables {
  graph g;
  default_graph_scope here = g.as_default();
  output a = variable({1.0f, 2.0f}, "a");
  output b = variable(std::int64_t{3}, "b");
};

}  // namespace

TEST_CASE("files, state and list after each save are TensorFlow's") {
  const auto reference = reference_json("training.json");
  if (!reference) return;
  int checked = 0;
  for (const auto& row : (*reference)["saver"]) {
    if (!row["result"].is_object() || !row["result"].contains("log")) continue;
    INFO(row["what"].get<std::string>());
    const scratch_folder scratch("saver_reference");
    const recorded_paths recorded{scratch.path.string()};
    two_variables v;
    graph_session s(v.g);
    s.run(global_variables_initializer());
    saver save(options_of(row));
    for (const auto& entry : row["result"]["log"]) {
      const json& step = entry["global_step"];
      const auto path = save(s, (scratch.path / "model.ckpt").string(), step.is_null() ? checkpoint_step() : step.get<std::int64_t>());
      CHECK(json(recorded(path)) == entry["returned"]);
      CHECK(files_in(scratch.path) == entry["files"]);
      CHECK(json(recorded(text_of(scratch.path / "checkpoint"))) == entry["checkpoint"]);
      CHECK(recorded(save.last_checkpoints()) == entry["last_checkpoints"]);
      CHECK(checkpoint_exists(path));
      ++checked;
    }
    CHECK(json(recorded(latest_checkpoint(scratch.path.string()).str())) == row["result"]["latest_checkpoint"]);
  }
  CHECK(checked > 0);
}

TEST_CASE("a step given as a variable, no graph, another state file, none") {
  const auto reference = reference_json("training.json");
  if (!reference) return;
  const json* row = find((*reference)["saver"], "global step given as a variable");
  if (row == nullptr) return;
  const json& result = (*row)["result"];
  const scratch_folder scratch("saver_reference");
  const recorded_paths recorded{scratch.path.string()};
  const auto in_folder = [&](const char* name) { return (scratch.path / name).string(); };
  graph g;
  const auto here = g.as_default();
  variable({1.0f, 2.0f}, "a");
  const auto steps = get_or_create_global_step();
  CHECK(json(steps.name()) == result["global_step_name"]);
  graph_session s(g);
  s.run(global_variables_initializer());
  s.assign(steps, std::int64_t{3});
  saver save({.format = checkpoint_format::tensorflow});
  json returned = json::array();
  returned.push_back(recorded(save(s, in_folder("model.ckpt"), steps)));
  returned.push_back(recorded(save(s, in_folder("other"), steps, {.write_meta_graph = false})));
  returned.push_back(recorded(save(s, in_folder("sub.ckpt"), 9, {.latest_filename = "mine"})));
  returned.push_back(recorded(save(s, in_folder("nostate"), 9, {.write_state = false})));
  CHECK(returned == result["returned"]);
  CHECK(files_in(scratch.path) == result["files"]);
  CHECK(json(recorded(text_of(scratch.path / "checkpoint"))) == result["checkpoint"]);
  CHECK(json(recorded(text_of(scratch.path / "mine"))) == result["mine"]);
  CHECK(json(recorded(latest_checkpoint(scratch.path.string()).str())) == result["latest"]);
  CHECK(json(recorded(latest_checkpoint(scratch.path.string(), "mine").str())) == result["latest_mine"]);
}

TEST_CASE("restoring: values, shapes, other names, refusals") {
  const auto reference = reference_json("training.json");
  if (!reference) return;
  const json* row = find((*reference)["saver"], "restore: values");
  if (row == nullptr) return;
  const json& result = (*row)["result"];
  const scratch_folder scratch("saver_reference");
  for (const auto format : {checkpoint_format::tensorflow, checkpoint_format::leat}) {
    two_variables v;
    graph_session s(v.g);
    const auto wanted_a = result["restore_initialises"][0]["data"].get<std::vector<float>>();
    const auto wanted_b = result["restore_initialises"][1].get<std::int64_t>();
    s.assign(v.a, wanted_a);
    s.assign(v.b, wanted_b);
    saver save({.format = format});
    const auto path = save(s, (scratch.path / "model.ckpt").string(), 1);
    graph_session other(v.g);
    save.restore(other, path);
    CHECK(other.uninitialized_variables().empty());
    CHECK(other.run<std::vector<float>>(v.a) == wanted_a);
    CHECK(other.run<std::int64_t>(v.b) == wanted_b);
    other.run(global_variables_initializer());
    CHECK(json(other.run<std::vector<float>>(v.a)) == result["initialising_after_restore_resets"][0]["data"]);
    CHECK(json(other.run<std::int64_t>(v.b)) == result["initialising_after_restore_resets"][1]);
    const checkpoint_reader reader(path);
    json dtypes = json::object(), shapes = json::object();
    for (const auto& [name, tensor] : reader.manifest().tensors) {
      dtypes[name] = dtype_name(tensor.dtype);
      shapes[name] = json::array();
      for (int i = 0; i < tensor.shape.rank; ++i) shapes[name].push_back(tensor.shape[i]);
    }
    CHECK(dtypes == result["dtypes"]);
    CHECK(shapes == result["shapes"]);
    CHECK(json(checkpoint_exists(path)) == result["exists"][0]);
    CHECK(json(checkpoint_exists((scratch.path / "none").string())) == result["exists"][1]);

    graph renamed;
    const auto here = renamed.as_default();
    const auto c = variable({0.0f, 0.0f}, "other");
    graph_session t(renamed);
    saver({.var_list = {{"a", c}}}).restore(t, path);
    CHECK(json(t.run<std::vector<float>>(c)) == result["restored_under_another_name"]["data"]);
    CHECK(says(message_of<not_found>([&] { saver({.var_list = {{"missing", c}}}).restore(t, path); }), "'missing'"));
    CHECK(says(message_of<invalid_argument>([&] { saver({.var_list = {{"b", c}}}).restore(t, path); }), "int64 []"));
    const auto wide = variable({0.0f, 0.0f, 0.0f}, "wide");
    CHECK(says(message_of<invalid_argument>([&] { saver({.var_list = {{"a", wide}}}).restore(t, path); }), "float32 [3]"));
    CHECK(says(message_of<not_found>([&] { save.restore(s, (scratch.path / "none").string()); }), "none"));
    CHECK(says(message_of<invalid_argument>([&] { save.restore(s, checkpoint_path()); }), "path is empty"));
    CHECK(says(message_of<not_found>([&] { save.restore(s, path + ".index"); }), "without the ending"));
  }
}

TEST_CASE("a graph that was saved beside a checkpoint is imported and restored") {
  const scratch_folder scratch("saver_reference");
  const std::string prefix = (scratch.path / "model.ckpt").string();
  {
    graph g;
    const auto here = g.as_default();
    const auto w = variable(2.0f, "w");
    const auto x = placeholder(dtype::float32, {}, "x");
    multiply(w, x, "y");
    graph_session s(g);
    s.run(global_variables_initializer());
    saver({.format = checkpoint_format::tensorflow}).save(s, prefix);
  }
  graph g;
  const auto meta = io::read_binary_file<meta_graph_def>(prefix + ".meta");
  import_graph(g, meta.graph, {.name = ""});
  io::import_collections(g, meta.collections);
  graph_session s(g);
  saver(g).restore(s, prefix);
  CHECK(s.run<float>("y:0", {{"x:0", 3.0f}}) == 6.0f);
  CHECK(get_tensors(g, collection::trainable_variables).size() == 1);
}

TEST_CASE("what a saver has, and what it refuses") {
  const auto reference = reference_json("training.json");
  if (!reference) return;
  const scratch_folder scratch("saver_reference");
  const auto prefix = (scratch.path / "model.ckpt").string();
  graph g;
  const auto here = g.as_default();
  CHECK(message_of<invalid_argument>([&] { saver{g}; }) == "No variables to save");
  saver(g, {.defer_build = true});
  CHECK_FALSE(latest_checkpoint(scratch.path.string()));
  CHECK_FALSE(latest_checkpoint((scratch.path / "none").string()));
  const auto a = variable({1.0f, 2.0f}, "a");
  saver early;
  const auto b = variable({1.0f, 2.0f}, "b");
  variable(1.0f, "local", {.collections = {std::string(collection::local_variables)}});
  graph_session s(g);
  CHECK(message_of<failed_precondition>([&] { early.save(s, prefix); }).starts_with("Attempting to use uninitialized value a"));
  CHECK(files_in(scratch.path).empty());
  s.assign(a, std::vector<float>{1, 2});
  CHECK(checkpoint_reader(early.save(s, prefix)).names() == std::vector<std::string>{"a"});
  s.assign(b, std::vector<float>{1, 2});
  CHECK(checkpoint_reader(saver().save(s, prefix)).names() == std::vector<std::string>{"a", "b"});
  CHECK(says(message_of<invalid_argument>([&] { saver save({.var_list = {{"x", a}, {"x", b}}}); }), "two variables"));
}

TEST_CASE("a second saver removes the first one's checkpoints only when it is told of them") {
  const auto reference = reference_json("training.json");
  if (!reference) return;
  const json* row = find((*reference)["saver"], "a second Saver");
  if (row == nullptr) return;
  const json& result = (*row)["result"];
  const scratch_folder scratch("saver_reference");
  const recorded_paths recorded{scratch.path.string()};
  const auto prefix = (scratch.path / "model.ckpt").string();
  two_variables v;
  graph_session s(v.g);
  s.run(global_variables_initializer());
  {
    saver first({.format = checkpoint_format::tensorflow});
    for (const int step : {1, 2}) first.save(s, prefix, step);
  }
  saver second({.max_to_keep = 3, .format = checkpoint_format::tensorflow});
  CHECK(recorded(second.last_checkpoints()) == result["new_saver_knows_nothing"]);
  second.save(s, prefix, 3);
  CHECK(files_in(scratch.path) == result["files_after_its_save"]);
  CHECK(json(recorded(text_of(scratch.path / "checkpoint"))) == result["checkpoint_after_its_save"]);
  second.recover_last_checkpoints({prefix + "-1", prefix + "-2", prefix + "-3", prefix + "-77"});
  second.save(s, prefix, 4);
  CHECK(files_in(scratch.path) == result["files_after_recover_and_save"]);
  CHECK(json(recorded(text_of(scratch.path / "checkpoint"))) == result["checkpoint_after_recover_and_save"]);
}
