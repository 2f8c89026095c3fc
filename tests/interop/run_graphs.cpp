// interop_run FILE...   graphs that TensorFlow has run, run again by graph_session
//
// For each NAME.pb, NAME.runs.json beside it says what was run in one session, and what came out: feeds, fetches, and the results
// or the error of each run. NAME.leat.json will say what comes out here, twice: as fused programs where that can be, and node by
// node, up to the first run that fails though TensorFlow's did not. Nothing is compared here, check.py does that. A graph that cannot
// be run at all is reported, and the next one tried; the exit code tells. Under "nudged" are what the same runs give when every
// floating-point number that is fed, or is a constant, is changed by some of its last bits: a result that this changes by as much as two
// libraries differ follows from rounding, a floor beside an integer for example.

#include <leat/session/graph_session.hpp>

#include "support/reference_values.hpp"

#include <leat/io/binary.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/ops/add_n.hpp>
#include <leat/ops/known.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <typeinfo>

namespace {

using namespace leat;
namespace files = std::filesystem;

// Each byte as a character: JSON holds text alone.
std::string characters(std::string_view bytes) {
  std::string made;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) made += c;
    else (made += static_cast<char>(0xc0 | byte >> 6)) += static_cast<char>(0x80 | (byte & 0x3f));
  }
  return made;
}

nlohmann::json to_json(const tensor_value& v) {
  if (!v) return nullptr;
  nlohmann::json sizes = nlohmann::json::array(), data = nlohmann::json::array();
  for (int i = 0; i < v.extent().rank; ++i) sizes.push_back(v.extent()[i]);
  if (v.type() == text_dtype) {
    for (const auto& text : v.texts()) data.push_back(characters(text));
    return {{"dtype", "string"}, {"shape", sizes}, {"data", data}};
  }
  with_dtype(v.type(), [&]<class T>(T) {
    for (const T x : v.values<T>()) {
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(x)) data.push_back("NaN");
        else if (std::isinf(x)) data.push_back(x > 0 ? "Infinity" : "-Infinity");
        else data.push_back(static_cast<double>(x));
      } else if constexpr (std::is_same_v<T, bool>) {
        data.push_back(static_cast<bool>(x));
      } else {
        data.push_back(static_cast<std::int64_t>(x));
      }
    }
  });
  return {{"dtype", leat::dtype_name(v.type())}, {"shape", sizes}, {"data", data}};
}

/// The class's name as TensorFlow's Python API has it.
std::string class_of(const std::exception& e) {
  const auto is = [&]<class E>(E*) { return dynamic_cast<const E*>(&e) != nullptr; };
  if (is(static_cast<unimplemented*>(nullptr))) return "UnimplementedError";
  if (is(static_cast<already_exists*>(nullptr))) return "AlreadyExistsError";
  if (is(static_cast<aborted*>(nullptr))) return "AbortedError";
  if (is(static_cast<data_loss*>(nullptr))) return "DataLossError";
  if (is(static_cast<resource_exhausted*>(nullptr))) return "ResourceExhaustedError";
  if (const auto* known = dynamic_cast<const error*>(&e)) return leat_test::class_of(*known);
  return typeid(e).name();
}

nlohmann::json run_once(graph_session& s, const std::vector<std::string>& fetches, const std::map<std::string, tensor_value>& feeds) {
  try {
    nlohmann::json results = nlohmann::json::array();
    for (const auto& value : s.run(fetches, feeds)) results.push_back(to_json(value));
    return {{"results", results}};
  } catch (const std::exception& e) {
    return {{"error", {{"type", class_of(e)}, {"message", e.what()}}}};
  }
}

/// Changes floating-point elements by up to four units in the last place, as a number draws them.
tensor_value nudged(const tensor_value& v, std::mt19937& draws) {
  tensor_value made = v.copy();
  if (size_of(v.type()) == 0) return made;
  with_dtype(v.type(), [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      for (T& x : made.template values<T>()) {
        const int units = static_cast<int>(draws() % 9) - 4;
        if (x != 0) x += x * std::numeric_limits<T>::epsilon() * static_cast<T>(units);
      }
  });
  return made;
}
void nudge_constants(graph_def& def, std::mt19937& draws) {
  for (auto& node : def.nodes)
    if (attribute_value* value = node.op == "Const" ? node.attributes.find_to_change("value") : nullptr)
      if (const auto* contents = value->get_if<tensor_proto>();
          contents != nullptr && (contents->dtype == data_type::float32 || contents->dtype == data_type::float64))
        *value = nudged(tensor_value::from_proto(*contents), draws).proto();
}

nlohmann::json play(graph& g, const nlohmann::json& document, bool fuse, std::mt19937* draws = nullptr) {
  std::ostringstream log;
  graph_session s(g, {.operation_timeout_in_ms = 5'000, .log = &log, .fuse = fuse});
  nlohmann::json runs = nlohmann::json::array();
  for (const auto& run : document.at("runs")) {
    const auto fetches = run.at("fetches").get<std::vector<std::string>>();
    std::map<std::string, tensor_value> feeds;
    for (const auto& [name, value] : run.at("feeds").items()) {
      const tensor_value given = leat_test::value_of_json(value);
      feeds.emplace(name, draws != nullptr ? nudged(given, *draws) : given);
    }
    runs.push_back(run_once(s, fetches, feeds));
    if (runs.back().contains("error") && !run.contains("error")) break;  // from here on the two are in different states
  }
  return {{"runs", runs}, {"fused_runs", s.fused_runs()}};
}

void run_file(const files::path& path) {
  const files::path beside = path.parent_path() / path.stem();
  std::ifstream in(beside.string() + ".runs.json");
  const auto document = nlohmann::json::parse(in);
  auto def = io::read_binary_file(path);
  if (!document.value("devices", false))
    for (auto& node : def.nodes) node.device.clear();  // those that this machine does not have
  const auto played = [&](graph_def from, bool fuse, std::mt19937* draws = nullptr) {
    if (draws != nullptr) nudge_constants(from, *draws);
    graph g;
    const auto scope = g.as_default();
    import_graph(g, from, {.name = ""});
    return play(g, document, fuse, draws);
  };
  nlohmann::json nudges = nlohmann::json::array();
  for (unsigned seed = 1; seed <= 6; ++seed) {
    std::mt19937 draws(seed);
    nudges.push_back(played(def, true, &draws));
  }
  io::write_file(beside.string() + ".leat.json",
                 nlohmann::json{{"fused", played(def, true)}, {"plain", played(def, false)}, {"nudged", nudges}}.dump());
}

}  // namespace

int main(int count, char** arguments) {
  int failures = 0;
  for (int i = 1; i < count; ++i) {
    const files::path path = arguments[i];
    try {
      if (!files::exists(path.parent_path() / (path.stem().string() + ".runs.json"))) continue;
      files::remove(path.parent_path() / (path.stem().string() + ".leat.json"));
      run_file(path);
    } catch (const std::exception& e) {
      std::printf("FAILED %s: %s\n", path.filename().c_str(), e.what());
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
