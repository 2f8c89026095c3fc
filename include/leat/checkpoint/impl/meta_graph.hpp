#pragma once
// Implementation of meta_graph.hpp.

#include <leat/checkpoint/meta_graph.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/collections.hpp>
#include <leat/io/json.hpp>
#include <leat/io/saver_nodes.hpp>
#include <leat/io/text.hpp>
#include <leat/named/exchange/import.hpp>

#include <set>

namespace leat {

LEAT_FUNCTION imported_meta_graph import_meta_graph(graph& g, const std::filesystem::path& file) {
  const std::string bytes = io::read_file(file);
  const auto first = bytes.find_first_not_of(" \t\r\n");
  const bool is_json = first != bytes.npos && bytes[first] == '{';
  // A message in text format begins with the name of a field; one in binary form with a number, which no printed text begins with.
  const bool is_text = !is_json && first != bytes.npos && (bytes[first] == '#' || (bytes[first] >= 'a' && bytes[first] <= 'z'));
  const meta_graph_def meta = io::detail::naming(file, [&] {
    return is_json   ? io::read_json<meta_graph_def>(std::string_view(bytes))
           : is_text ? io::read_text<meta_graph_def>(std::string_view(bytes))
                     : io::read_binary<meta_graph_def>(std::string_view(bytes));
  });
  io::detail::naming(file, [&] { import_graph(g, meta.graph, {.name = ""}); });
  std::vector<std::string> left_out;
  for (const auto& [name, collection] : meta.collections) try {
      io::import_collections(g, {{name, collection}});
    } catch (const error& e) {
      left_out.emplace_back(e.what());
    }
  saver_options options{.format = checkpoint_format::tensorflow, .defer_build = true};
  const saver_def def = meta.saver.value_or(saver_def{});
  if (meta.saver) {
    options.max_to_keep = std::max(0, def.max_to_keep);
    if (def.keep_checkpoint_every_n_hours > 0)
      options.keep_checkpoint_every_n_hours = static_cast<double>(def.keep_checkpoint_every_n_hours);
    std::set<std::string> used;
    bool is_sliced = false;  // slices have the name of the whole: the collections tell what is a slice of what
    for (const auto& [variable, name] : io::names_in_checkpoint(g, def)) {
      is_sliced = is_sliced || !used.insert(name).second;
      options.var_list.emplace_back(name, variable);
    }
    if (is_sliced) options.var_list.clear();
  }
  return {.restorer = saver(g, std::move(options)), .nodes = def, .signatures = meta.signatures, .left_out = std::move(left_out)};
}

}  // namespace leat
