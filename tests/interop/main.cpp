// interop_graphs write FOLDER [--random N] [--seed S] [--reference FOLDER]   graphs that TensorFlow shall read
// interop_graphs read FOLDER FILE...                                         what the library makes of TensorFlow's files
//
// `write` leaves NAME.pb, NAME.json (the same graph) and NAME.plan.json (what to run of it, and all dtypes and shapes) for each
// graph: the models of the examples, random graphs, and every recorded graph, read and written again. `read` leaves
// NAME.tensors.json for each file, .pb or .json. What fails is said, and the next one tried; the exit code tells.

#include "random_graph.hpp"
#include "typed_models.hpp"

#include <leat/graph/known_operators.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <string_view>

namespace {

using namespace interop;
namespace files = std::filesystem;

void save(const files::path& folder, const std::string& name, leat::graph& g, const run_plan& plan, nlohmann::json more = {}) {
  const auto def = leat::export_graph(g);
  leat::io::write_binary_file(def, folder / (name + ".pb"));
  leat::io::write_json_file(def, folder / (name + ".json"));
  auto document = to_json(plan, g);
  for (auto& [key, value] : more.items()) document[key] = value;
  leat::io::write_file(folder / (name + ".plan.json"), document.dump(1));
}

std::string digits(std::uint64_t n) {
  auto text = std::to_string(n);
  return std::string(text.size() < 4 ? 4 - text.size() : 0, '0') + text;
}

int write(const files::path& folder, std::uint64_t count, std::uint64_t seed, const std::string& reference) {
  files::create_directories(folder);
  int failures = 0;
  const auto attempt = [&](const std::string& name, const auto& f) {
    try {
      f(name);
    } catch (const std::exception& e) {
      std::printf("FAILED %s: %s\n", name.c_str(), e.what());
      ++failures;
    }
  };
  try {
    for (auto& m : typed_models())
      attempt("typed_" + m.name, [&](const std::string& name) { save(folder, name, *m.graph, m.plan); });
  } catch (const std::exception& e) {
    std::printf("FAILED typed models: %s\n", e.what());
    ++failures;
  }
  std::map<std::string, int> used;
  std::size_t nodes = 0, refusals = 0;
  for (std::uint64_t k = 0; k < count; ++k)
    attempt("random_" + digits(seed + k), [&](const std::string& name) {
      const auto made = make_random_graph(seed + k);
      for (const auto& op : leat::get_operations(*made.graph)) ++used[std::string(op.type())];
      nodes += static_cast<std::size_t>(made.graph->size());
      refusals += made.refusals.size();
      save(folder, name, *made.graph, made.plan, {{"refusals", made.refusals}});
    });
  if (count > 0) {
    std::string missing;
    for (const auto type : leat::known_operator_types())
      if (!used.contains(std::string(type))) missing += " " + std::string(type);
    std::printf("random graphs: %zu nodes of %zu operators, gradients refused %zu times; operators in none:%s\n", nodes, used.size(),
                refusals, missing.empty() ? " none" : missing.c_str());
  }
  if (!reference.empty())
    for (const auto& entry : files::directory_iterator(reference)) {
      if (entry.path().extension() != ".pb") continue;
      attempt("reference_" + entry.path().stem().string(), [&](const std::string& name) {
        leat::graph g;
        const auto scope = g.as_default();
        leat::import_graph(g, leat::io::read_binary_file(entry.path()), {.name = ""});
        save(folder, name, g, {});
      });
    }
  return failures == 0 ? 0 : 1;
}

int read(const files::path& folder, const std::vector<files::path>& paths) {
  files::create_directories(folder);
  int failures = 0;
  for (const auto& path : paths) {
    const auto to = folder / (path.filename().string() + ".tensors.json");
    try {
      leat::graph g;
      const auto scope = g.as_default();
      leat::import_graph(g, path.extension() == ".json" ? leat::io::read_json_file(path) : leat::io::read_binary_file(path), {.name = ""});
      leat::io::write_file(to, tensors_of(g).dump(1));
    } catch (const std::exception& e) {
      std::printf("FAILED %s: %s\n", path.filename().c_str(), e.what());
      files::remove(to);
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() >= 2 && words[0] == "read") return read(words[1], {words.begin() + 2, words.end()});
  if (words.size() >= 2 && words[0] == "write") {
    std::uint64_t random = 300, seed = 1;
    std::string reference;
    for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
      if (words[i] == "--random") random = std::strtoull(words[i + 1].c_str(), nullptr, 10);
      else if (words[i] == "--seed") seed = std::strtoull(words[i + 1].c_str(), nullptr, 10);
      else if (words[i] == "--reference") reference = words[i + 1];
      else throw leat::invalid_argument(words[i] + " is no option");
    }
    return write(words[1], random, seed, reference);
  }
  std::fprintf(stderr, "interop_graphs write FOLDER [--random N] [--seed S] [--reference FOLDER] | read FOLDER FILE...\n");
  return 2;
} catch (const std::exception& e) {
  std::fprintf(stderr, "interop_graphs: %s\n", e.what());
  return 2;
}
