#include "run.hpp"

#include <leat/checkpoint/saver.hpp>
#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/io/npy.hpp>
#include <leat/io/saved_model.hpp>

#include "graph_file.hpp"
#include "results.hpp"
#include "show.hpp"
#include "values.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <set>

namespace tool {

using namespace leat;
namespace files = std::filesystem;

namespace {

void complain(const std::string& text) { std::fprintf(stderr, "leat: %s\n", printable_lines(text).c_str()); }

/// A graph with its session, and what its file said of signatures.
struct loaded_model {
  graph own_graph;
  std::optional<graph_session> own_session;
  std::optional<io::saved_model> saved;
  std::map<std::string, signature_def> signatures;
  std::vector<std::string> tags;

  graph_session& session() { return saved ? saved->session() : *own_session; }
  graph& nodes() { return session().owner(); }
};

// Calls `f`; what it says is wrong use.
template <class F>
auto as_usage(const std::string& where, F f) {
  try {
    return f();
  } catch (const usage_error&) {
    throw;
  } catch (const not_found& e) {
    throw usage_error(where + e.what());
  } catch (const invalid_argument& e) {
    throw usage_error(where + e.what());
  } catch (const failed_precondition& e) {
    throw usage_error(where + e.what());
  }
}

bool open(const std::string& path, const std::vector<std::string>& tags, loaded_model& model, const session_options& how) {
  std::error_code ignored;
  const auto checkpoint = checkpoint_at(path);
  if (checkpoint == nullptr && files::is_directory(path, ignored)) {
    model.saved.emplace(io::load_model(path, {.session = how, .tags = tags}));
    model.signatures = model.saved->signatures();
    model.tags = model.saved->tags();
    return true;
  }
  auto file = load(path, tags);
  const auto findings = proto::findings(file.meta.graph);
  for (const auto& f : findings) complain(path + ": " + to_text(f));
  if (!findings.empty()) return false;
  model.own_graph.named();
  io::detail::naming(path, [&] { import_graph(model.own_graph, file.meta.graph, {.name = ""}); });
  for (const auto& [name, def] : file.meta.collections) try {
      io::import_collections(model.own_graph, {{name, def}});
    } catch (const error& e) {
      complain(path + ": left out: " + e.what());
    }
  model.signatures = std::move(file.meta.signatures);
  model.tags = std::move(file.meta.meta_info.tags);
  model.own_session.emplace(model.own_graph, how);
  if (checkpoint != nullptr) {
    if (!file.is_meta) throw usage_error(checkpoint->path() + ": has no graph to be run: " + checkpoint->path() + ".meta is missing");
    saver(model.own_graph, {.defer_build = true}).restore(*model.own_session, checkpoint_path(checkpoint));
  }
  return true;
}

std::string node_of(const signature_tensor& tensor) {
  const auto* name = std::get_if<std::string>(&tensor.encoding);
  if (name == nullptr) throw usage_error("the signature has a sparse tensor, which cannot be fed or fetched here");
  return *name;
}

/// The signature that counts: the one that is named, else "serving_default" or the only one; null where there is none.
const signature_def* signature_of(const loaded_model& model, const std::string& wanted) {
  std::string names;
  for (const auto& [name, s] : model.signatures) names += (names.empty() ? "" : ", ") + name;
  if (!wanted.empty()) {
    const auto at = model.signatures.find(wanted);
    if (at == model.signatures.end())
      throw usage_error("--signature: there is no \"" + wanted + "\" among " + (names.empty() ? "none" : names));
    return &at->second;
  }
  const auto at = model.signatures.find("serving_default");
  if (at != model.signatures.end()) return &at->second;
  return model.signatures.size() == 1 ? &model.signatures.begin()->second : nullptr;
}

/// A name as a tensor where it can be one: a signature's key, "y:0", or the first result of "y"; otherwise an operation.
graph_element element_of(loaded_model& model, const std::map<std::string, signature_tensor>* keys, const std::string& name) {
  if (keys != nullptr)
    if (const auto at = keys->find(name); at != keys->end()) return as_graph_element(model.nodes(), node_of(at->second));
  const graph_element found = as_graph_element(model.nodes(), name);
  if (const auto* operation = std::get_if<graph_operation>(&found); operation != nullptr && !operation->outputs().empty()) {
    const output first = operation->outputs()[0];
    if (to_data_type(first.type()) != data_type::invalid) return first;
  }
  return found;
}

void set_variables(loaded_model& model, const std::vector<std::string>& words) {
  if (words.empty()) return;
  const auto values = values_of(export_graph(model.nodes()), words, "--variables");
  as_usage("--variables: ", [&] {
    for (const auto& [name, value] : values)
      model.session().assign(get_tensor_by_name(model.nodes(), name + ":0"), tensor_value::from_proto(value));
  });
}

/// Gives every variable that has none its first value: by the operation that its collection names, or NAME/Assign.
void initialize(loaded_model& model) {
  std::vector<fetch_item> first;
  std::string missing;
  graph& g = model.nodes();
  for (const graph_operation& op : get_operations(g)) {
    if (g.at(op.index()).op->kind != op_kind::variable || model.session().is_initialized(op.result())) continue;
    const int known = g.named().record(op.index()).initializer;
    const int assign = known >= 0 ? known : g.named().find(op.name() + "/Assign");
    if (assign < 0) missing += (missing.empty() ? "" : ", ") + op.name();
    else first.emplace_back(graph_operation(g, assign));
  }
  if (!missing.empty()) throw usage_error("--init: nothing gives these variables a first value: " + missing);
  if (!first.empty()) model.session().run(first);
}

class progress_line {
 public:
  progress_line(bool wanted, std::string what, long long times) : what_(std::move(what)), times_(times) {
    terminal_ = ::isatty(2) != 0;
    shown_ = times > 1 && (wanted || terminal_);
  }
  void step(long long done) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || (done < times_ && now - last_ < std::chrono::milliseconds(terminal_ ? 100 : 1000))) return;
    last_ = now;
    std::fprintf(stderr, terminal_ ? "\r%s: %lld of %lld" : "%s: %lld of %lld\n", printable(what_).c_str(), done, times_);
    open_ = terminal_;
  }
  ~progress_line() {
    if (open_) std::fputc('\n', stderr);
  }

 private:
  std::string what_;
  long long times_;
  bool shown_ = false, terminal_ = false, open_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

std::string refusal_of(const graph_def& def, bool on_any_device) {
  if (def.nodes.empty()) return {};
  if (on_any_device) {
    graph_def here = def;
    for (node_def& node : here.nodes) node.device.clear();
    return refusal_of(here, false);
  }
  try {
    graph g;
    g.named();
    import_graph(g, def, {.name = ""});
    graph_session(g).prepare(std::vector<output>{}, std::vector<output>{});
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

int run_model(const run_request& request) {
  loaded_model model;
  session_options limits;
  limits.memory_limit_in_bytes = static_cast<std::int64_t>(std::min(request.memory * 1e6, 9e18));
  if (!open(request.path, request.tags, model, limits)) return 1;
  const signature_def* signature = signature_of(model, request.signature);
  const auto* inputs = signature != nullptr ? &signature->inputs : nullptr;
  const auto* outputs = signature != nullptr ? &signature->outputs : nullptr;
  auto runs = request.runs;
  if (runs.empty()) {
    if (outputs == nullptr) {
      if (request.save.empty()) throw usage_error("nothing is to be run: name tensors or operations with --fetch, or a --signature");
    } else {
      runs.push_back({});
      for (const auto& [key, tensor] : *outputs) runs.back().fetches.push_back(key);
    }
  }
  if (request.format == "npy" && request.out.empty()) throw usage_error("--format npy needs --out FOLDER or --out FILE.npy");

  std::vector<feed_item> feeds;
  std::set<std::string> fed;
  for (const auto& word : request.feeds) {
    const auto equals = word.find('=');
    if (equals == word.npos || equals == 0) throw usage_error("--feed: \"" + word + "\" is not NAME=VALUE");
    const std::string name = word.substr(0, equals);
    const auto element = as_usage("--feed: ", [&] { return element_of(model, inputs, name); });
    const auto* tensor = std::get_if<output>(&element);
    if (tensor == nullptr) throw usage_error("--feed: " + name + " is an operation, which has no value");
    if (!fed.insert(tensor->name()).second) throw usage_error("--feed: " + name + ": has two values");
    const auto value = value_of("--feed: " + name, word.substr(equals + 1), to_data_type(tensor->type()));
    feeds.emplace_back(feed_key(*tensor), tensor_value::from_proto(value));
  }
  std::vector<std::vector<fetch_item>> fetches;
  std::set<std::string> names;
  for (const auto& run : runs) {
    fetches.emplace_back();
    for (const auto& name : run.fetches) {
      const auto element = as_usage("--fetch: ", [&] { return element_of(model, outputs, name); });
      fetches.back().emplace_back(element);
      if (request.format == "npy" && std::holds_alternative<output>(element) && !names.insert(name).second)
        throw usage_error("--fetch: " + name + " is fetched twice, and would be one file");
    }
  }
  set_variables(model, request.variables);

  std::string text;
  const bool one_file = request.out.ends_with(".npy");
  if (one_file && names.size() != 1)
    throw usage_error("--out: one .npy file for " + std::to_string(names.size()) + " results; name a folder");
  const bool several = runs.size() > 1;
  std::string where = "--init";
  run_trace trace;
  try {
    if (request.initialize) initialize(model);
    run_options how{.timeout_in_ms = static_cast<std::int64_t>(request.timeout * 1000)};
    if (!request.trace.empty()) how.trace = &trace;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      std::string what;
      for (const auto& name : runs[k].fetches) what += (what.empty() ? "" : ",") + name;
      where = several ? "run " + std::to_string(k + 1) + " (" + what + ")" : what;
      progress_line progress(request.progress, what, runs[k].times);
      std::vector<tensor_value> results;
      for (long long i = 0; i < runs[k].times; ++i) {
        results = model.session().run(fetches[k], feed_list(feeds), how);
        progress.step(i + 1);
      }
      std::string line;
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (!results[i]) continue;  // an operation
        const std::string& name = runs[k].fetches[i];
        if (request.format == "npy") {
          const files::path path = one_file ? files::path(request.out) : npy_path(request.out, name);
          std::error_code problem;
          if (path.has_parent_path()) files::create_directories(path.parent_path(), problem);
          io::write_npy_file(results[i].proto(), path);
        } else if (request.format == "json") {
          line += (line.empty() ? "{" : ", ") + nlohmann::json(name).dump() + ": " + json_of(results[i]);
        } else {
          text += printable(name) + "  " + text_of(results[i]);
        }
      }
      if (request.format == "json") text += (line.empty() ? "{" : line) + "}\n";
    }
  } catch (const usage_error&) {
    throw;
  } catch (const error& e) {
    complain(where + ": " + e.what());
    return 1;
  }
  if (!request.trace.empty()) io::write_file(request.trace, trace.chrome_trace());
  if (!request.out.empty() && request.format != "npy") io::write_file(request.out, text);
  else std::fwrite(text.data(), 1, text.size(), stdout);

  if (!request.save.empty()) {
    as_usage("--save: ", [&] {
      if (request.save.ends_with(".safetensors")) {
        io::save_variables(request.save, model.session());
        return;
      }
      io::save_model_options options{.tags = model.tags};
      if (options.tags.empty()) options.tags = {"serve"};
      if (model.saved) options.metadata = model.saved->metadata();
      for (const auto& [name, s] : model.signatures) {
        io::model_signature& made = options.signatures[name];
        made.method_name = s.method_name;
        for (const auto& [key, tensor] : s.inputs) made.inputs.emplace(key, node_of(tensor));
        for (const auto& [key, tensor] : s.outputs) made.outputs.emplace(key, node_of(tensor));
      }
      io::save_model(request.save, model.session(), options);
    });
  }
  return 0;
}

}  // namespace tool
