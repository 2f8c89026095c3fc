#include "graph_file.hpp"

#include <leat/io/sliced_checkpoint.hpp>
#include <leat/io/text/opaque.hpp>

#include <cstdint>
#include <set>

namespace tool {

using namespace leat;

namespace {

/// How many fields a message has, to tell those of the first of two messages from those of the second.
struct field_counter {
  int count = 0;
  template <class... Ts>
  void value(Ts&&...) {
    ++count;
  }
  template <class... Ts>
  void submessage(Ts&&...) {
    ++count;
  }
  template <class... Ts>
  void submessages(Ts&&...) {
    ++count;
  }
  template <class Schema, class... Ts>
  void opaque(Ts&&...) {
    ++count;
  }
  template <class... Ts>
  void dropped(Ts&&...) {
    ++count;
  }
};

/// Reads either message by one of `read_json_message` and `read_text_message`, which tells the fields that were there.
template <class F>
graph_file read_either(F read) {
  either_message either;
  const std::uint32_t fields = read(either);
  field_counter counter;
  io::detail::message_fields<graph_def>::fields(counter, either.file.meta.graph);
  const std::uint32_t of_graph = (std::uint32_t{1} << counter.count) - 1;
  if ((fields & of_graph) != 0 && (fields & ~of_graph) != 0)
    throw invalid_argument("the outermost names are both those of a GraphDef and those of a MetaGraphDef");
  either.file.is_meta = (fields & ~of_graph) != 0;
  return std::move(either.file);
}

graph_file from_json(std::string_view text) {
  return read_either([&](either_message& m) { return io::detail::read_json_message(text, m); });
}
graph_file from_text(std::string_view text) {
  if (io::holds_saved_model_text(text)) throw unimplemented(std::string(io::tensorflow_saved_model));
  return read_either([&](either_message& m) { return io::detail::read_text_message(text, m); });
}
/// A GraphDef or MetaGraphDef, which `is_meta` says, in binary form; either in text format, whatever it says.
graph_file from_binary_or_text(const std::filesystem::path& path, bool is_meta) {
  const std::string bytes = io::read_file(path);
  return io::detail::naming(path, [&] {
    if (io::looks_like_text(bytes)) return from_text(bytes);
    graph_file file;
    file.is_meta = is_meta;
    const std::string_view view = bytes;
    if (is_meta) file.meta = io::read_binary<meta_graph_def>(view, {.validate = false});
    else file.meta.graph = io::read_binary(view, {.validate = false});
    return file;
  });
}

}  // namespace

std::shared_ptr<const checkpoint_reader> checkpoint_at(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    if (io::is_model_folder(path) || io::is_saved_model_folder(path)) return nullptr;
    const checkpoint_path latest = latest_checkpoint(path.string());
    return latest ? latest.open() : nullptr;
  }
  auto prefix = path;
  // PREFIX.json may be a graph's as well: that of a checkpoint has its manifest.
  if (path.extension() == ".index") {
    prefix.replace_extension();
  } else if (path.extension() == ".json" && checkpoint_exists((path.parent_path() / path.stem()).string())) {
    try {
      read_manifest(io::read_file(path));
      prefix.replace_extension();
    } catch (const error&) {
    }
  }
  return checkpoint_exists(prefix.string()) ? std::make_shared<const checkpoint_reader>(prefix.string()) : nullptr;
}

std::filesystem::path graph_of_checkpoint(const checkpoint_reader& reader) {
  return reader.format() == checkpoint_format::tensorflow_v1 ? io::sliced_checkpoint_meta(reader.path()) : reader.path() + ".meta";
}

namespace {

graph_file from_checkpoint(std::shared_ptr<const checkpoint_reader> reader) {
  graph_file file;
  const checkpoint_manifest& manifest = reader->manifest();
  file.kind = "checkpoint" + (manifest.step ? " of step " + std::to_string(*manifest.step) : std::string()) +
              (reader->format() == checkpoint_format::tensorflow      ? " in TensorFlow's format"
               : reader->format() == checkpoint_format::tensorflow_v1 ? " in TensorFlow's first format (V1)"
                                                                      : "");
  if (const std::filesystem::path meta = graph_of_checkpoint(*reader); io::detail::is_there(meta)) {
    file.meta = from_binary_or_text(meta, true).meta;
    file.is_meta = true;
  }
  for (const auto& [name, tensor] : manifest.tensors) file.arrays.push_back({name, tensor.dtype, tensor.shape});
  file.metadata.insert(manifest.values.begin(), manifest.values.end());
  if (!manifest.pipeline_state.empty()) file.metadata.emplace("(pipeline)", manifest.pipeline_state);
  file.checkpoint = std::move(reader);
  return file;
}

graph_file from_model(io::model_files model, const char* kind) {
  graph_file file{.meta = std::move(model.meta), .is_meta = true, .kind = kind, .is_saved_model = true};
  for (const auto& name : model.variables.names()) file.arrays.push_back({name, model.variables[name].type, model.variables[name].extent});
  for (const auto& [key, text] : model.metadata) file.metadata.emplace(key, text);
  return file;
}

}  // namespace

namespace {

/// A folder may say that it has checkpoints, and have none that can be read. Errors: not_found, naming them.
void check_checkpoints(const std::filesystem::path& folder) {
  if (io::is_model_folder(folder)) return;
  const auto state = get_checkpoint_state(folder.string());
  if (!state) return;
  const std::string& name = state->model_checkpoint_path;
  std::string files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const std::string file = entry.path().filename().string(); file.starts_with(std::filesystem::path(name).filename().string()))
      files += (files.empty() ? "" : ", ") + file;
  throw not_found((folder / "checkpoint").string() + ": names " + name + ", " +
                  (files.empty()
                       ? "of which there is no file"
                       : "of which there is " + files + ": no checkpoint that is read (leat's, TensorFlow's V2 or V1), or cut off"));
}

}  // namespace

void check_tags(const std::filesystem::path& path, const std::vector<std::string>& has, const std::vector<std::string>& wanted) {
  if (wanted.empty() || std::set(has.begin(), has.end()) == std::set(wanted.begin(), wanted.end())) return;
  std::string list;
  for (const std::string& tag : has) list += (list.empty() ? "" : ", ") + tag;
  throw usage_error("--tags: " + path.string() + (has.empty() ? " has no tags" : " has the tags " + list));
}

namespace {

graph_file load_any(const std::filesystem::path& path, const std::vector<std::string>& tags) {
  if (auto reader = checkpoint_at(path)) return from_checkpoint(std::move(reader));
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    if (io::is_saved_model_folder(path) && !io::is_model_folder(path))
      return from_model(io::read_saved_model_folder(path, tags), "TensorFlow's SavedModel");
    check_checkpoints(path);
    return from_model(io::read_model_files(path), "saved model");
  }
  const auto ending = path.extension();
  if (ending == ".json") {
    const std::string text = io::read_file(path);
    return io::detail::naming(path, [&] { return from_json(text); });
  }
  if (ending == ".pb" || ending == ".meta") return from_binary_or_text(path, ending == ".meta");
  if (const bool is_text = ending == ".pbtxt"; is_text || std::filesystem::is_regular_file(path, ignored)) {
    const std::string text = io::read_file(path);
    if (is_text || io::looks_like_text(text)) return io::detail::naming(path, [&] { return from_text(text); });
  }
  throw usage_error(
      path.string() +
      ": files that can be read end in .pb, .meta, .json or .pbtxt, or hold protobuf's text format; folders are saved models or "
      "have checkpoints, which are named by their prefix");
}

}  // namespace

graph_file load(const std::filesystem::path& path, const std::vector<std::string>& tags) {
  graph_file file = load_any(path, tags);
  check_tags(path, file.meta.meta_info.tags, tags);
  return file;
}

void check_ending(const std::filesystem::path& path) {
  const auto ending = path.extension();
  if (ending != ".json" && ending != ".pb" && ending != ".meta" && ending != ".pbtxt" && ending != ".dot" && ending != ".onnx")
    throw usage_error(path.string() + ": files that can be written end in .pb, .meta, .json, .pbtxt, .dot or .onnx");
}

void save(const graph_file& file, const std::filesystem::path& path) {
  check_ending(path);
  const auto ending = path.extension();
  if (ending == ".json" && file.is_meta) io::write_json_file(file.meta, path);
  else if (ending == ".json") io::write_json_file(file.meta.graph, path);
  else if (ending == ".pbtxt" && file.is_meta) io::write_text_file(file.meta, path);
  else if (ending == ".pbtxt") io::write_text_file(file.meta.graph, path);
  else if (ending == ".pb") io::write_binary_file(file.meta.graph, path);
  else if (ending == ".meta") io::write_binary_file(file.meta, path);
  else io::write_dot_file(file.meta.graph, path);
}

}  // namespace tool
