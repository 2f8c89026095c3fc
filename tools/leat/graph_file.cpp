#include "graph_file.hpp"

#include <cstdint>

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
  template <class... Ts>
  void opaque(Ts&&...) {
    ++count;
  }
  template <class... Ts>
  void dropped(Ts&&...) {
    ++count;
  }
};

graph_file from_json(std::string_view text) {
  either_message either;
  const std::uint32_t fields = io::detail::read_json_message(text, either);
  field_counter counter;
  io::detail::message_fields<graph_def>::fields(counter, either.file.meta.graph);
  const std::uint32_t of_graph = (std::uint32_t{1} << counter.count) - 1;
  if ((fields & of_graph) != 0 && (fields & ~of_graph) != 0)
    throw invalid_argument("the outermost names are both those of a GraphDef and those of a MetaGraphDef");
  either.file.is_meta = (fields & ~of_graph) != 0;
  return std::move(either.file);
}

}  // namespace

graph_file load(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    auto model = io::read_model_files(path);
    graph_file file{.meta = std::move(model.meta), .is_meta = true, .is_saved_model = true};
    for (const auto& name : model.variables.names())
      file.arrays.push_back({name, model.variables[name].type, model.variables[name].extent});
    for (const auto& [key, text] : model.metadata) file.metadata.emplace(key, text);
    return file;
  }
  const auto ending = path.extension();
  const io::read_options as_it_is{.validate = false};
  if (ending == ".json") {
    const std::string text = io::read_file(path);
    return io::detail::naming(path, [&] { return from_json(text); });
  }
  graph_file file;
  if (ending == ".pb") {
    file.meta.graph = io::read_binary_file(path, as_it_is);
  } else if (ending == ".meta") {
    file.meta = io::read_binary_file<meta_graph_def>(path, as_it_is);
    file.is_meta = true;
  } else {
    throw usage_error(path.string() + ": files that can be read end in .pb, .meta or .json, or are the folder of a saved model");
  }
  return file;
}

void check_ending(const std::filesystem::path& path) {
  const auto ending = path.extension();
  if (ending != ".json" && ending != ".pb" && ending != ".meta" && ending != ".dot")
    throw usage_error(path.string() + ": files that can be written end in .pb, .meta, .json or .dot");
}

void save(const graph_file& file, const std::filesystem::path& path) {
  check_ending(path);
  const auto ending = path.extension();
  if (ending == ".json" && file.is_meta) io::write_json_file(file.meta, path);
  else if (ending == ".json") io::write_json_file(file.meta.graph, path);
  else if (ending == ".pb") io::write_binary_file(file.meta.graph, path);
  else if (ending == ".meta") io::write_binary_file(file.meta, path);
  else io::write_dot_file(file.meta.graph, path);
}

}  // namespace tool
