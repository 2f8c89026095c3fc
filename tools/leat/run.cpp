#include "run.hpp"

#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/io/npy.hpp>
#include <leat/io/saved_model.hpp>

#include "array_names.hpp"
#include "graph_file.hpp"
#include "results.hpp"
#include "show.hpp"
#include "values.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

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
  std::vector<std::string> left_out;   // of a checkpoint: why variables have no value
  std::vector<std::string> unwritten;  // what `--save` does not write
  std::string first_operation;         // of TensorFlow's SavedModel: what its loader runs first, such as what fills tables
  std::vector<std::pair<std::string, std::string>> assets;  // tensors that it takes, with their files

  graph_session& session() { return saved ? saved->session() : *own_session; }
  graph& nodes() { return session().owner(); }
  /// What is said of a variable without a value, and why the model's files gave it none.
  std::string with_left_out(const error& e) const {
    std::string text = e.what();
    if (dynamic_cast<const failed_precondition*>(&e) == nullptr) return text;
    for (const std::string& reason : saved ? saved->left_out() : left_out) text += "\nleft out: " + reason;
    return text;
  }
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

/// Enters what of a file no graph holds, so that `--save` does not write it.
void tell_unwritten(loaded_model& model, const meta_graph_def& meta) {
  if (!meta.asset_files.empty()) model.unwritten.emplace_back("the names of " + std::to_string(meta.asset_files.size()) + " asset files");
  for (const auto& [name, collection] : meta.collections)
    if (std::holds_alternative<collection_def::any_list>(collection.kind))
      model.unwritten.emplace_back("collection '" + name + "', which has messages of any kind");
}

/// What TensorFlow's loader runs once the variables have their values. Source: TensorFlow `GetInitOp`, `GetAssetFileDefs`.
void find_first_operation(loaded_model& model, const meta_graph_def& meta, const std::string& path) {
  const auto name_of = [](const signature_tensor& tensor) {
    const auto* name = std::get_if<std::string>(&tensor.encoding);
    return name != nullptr ? *name : std::string();
  };
  if (const auto at = meta.signatures.find("__saved_model_init_op"); at != meta.signatures.end() && !at->second.outputs.empty())
    model.first_operation = name_of(at->second.outputs.begin()->second);
  for (const char* name : {"legacy_init_op", "saved_model_main_op"})
    if (const auto at = meta.collections.find(name); at != meta.collections.end())
      if (const auto* nodes = std::get_if<collection_def::node_list>(&at->second.kind); nodes != nullptr && !nodes->value.empty())
        model.first_operation = nodes->value.front();
  if (const auto colon = model.first_operation.find(':'); colon != std::string::npos) model.first_operation.resize(colon);
  for (const asset_file_def& asset : meta.asset_files)
    if (asset.tensor_info) model.assets.emplace_back(name_of(*asset.tensor_info), (files::path(path) / "assets" / asset.filename).string());
}

/// Runs it. Its failure is told, and no more: what does not need it runs.
void run_first_operation(loaded_model& model) {
  if (model.first_operation.empty()) return;
  try {
    graph& g = model.nodes();
    std::vector<feed_item> feeds;
    for (const auto& [name, file] : model.assets)
      feeds.emplace_back(feed_key(get_tensor_by_name(g, name)), tensor_value(file));
    model.session().run({fetch_item(get_operation_by_name(g, model.first_operation))}, feed_list(std::move(feeds)));
  } catch (const error& e) {
    complain("what the model runs when it is loaded failed: " + std::string(e.what()));
  }
}

bool open(const std::string& path, const std::vector<std::string>& tags, loaded_model& model, const session_options& how) {
  std::error_code ignored;
  const auto checkpoint = checkpoint_at(path);
  if (checkpoint == nullptr && files::is_directory(path, ignored)) {
    if (io::is_saved_model_folder(path) && !io::is_model_folder(path)) {
      io::model_files read = io::read_saved_model_folder(path, tags);
      tell_unwritten(model, read.meta);
      find_first_operation(model, read.meta, path);
      io::detail::naming(path, [&] { model.saved.emplace(std::move(read), how); });
    } else {
      model.saved.emplace(io::load_model(path, {.session = how, .tags = tags}));
    }
    model.signatures = model.saved->signatures();
    model.tags = model.saved->tags();
    check_tags(path, model.tags, tags);
    model.unwritten.insert(model.unwritten.end(), model.saved->left_out().begin(), model.saved->left_out().end());
    return true;
  }
  auto file = load(path, tags);
  const auto findings = proto::findings(file.meta.graph);
  for (const auto& f : findings) complain(path + ": " + to_text(f));
  if (!findings.empty()) return false;
  tell_unwritten(model, file.meta);
  model.own_graph.named();
  io::detail::naming(path, [&] { import_graph(model.own_graph, file.meta.graph, {.name = ""}); });
  for (const auto& [name, def] : file.meta.collections) try {
      io::import_collections(model.own_graph, {{name, def}});
    } catch (const error& e) {
      model.unwritten.emplace_back(e.what());
    }
  model.signatures = std::move(file.meta.signatures);
  model.tags = std::move(file.meta.meta_info.tags);
  model.own_session.emplace(model.own_graph, how);
  if (checkpoint != nullptr) {
    if (!file.is_meta)
      throw usage_error(checkpoint->path() + ": has no graph to be run: " + graph_of_checkpoint(*checkpoint).string() + " is missing");
    model.left_out = restore_fitting(*model.own_session, checkpoint);
  }
  return true;
}

using named_signature = std::pair<const std::string, signature_def>;

/// A result that cannot be written: unlike a run's failure, it is the file's fault.
struct unwritten_result : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The signature that counts: the one that is named, else "serving_default" or the only one; null where there is none.
const named_signature* signature_of(const loaded_model& model, const std::string& wanted) {
  std::string names;
  for (const auto& [name, s] : model.signatures) names += (names.empty() ? "" : ", ") + name;
  if (!wanted.empty()) {
    const auto at = model.signatures.find(wanted);
    if (at == model.signatures.end())
      throw usage_error("--signature: there is no \"" + wanted + "\" among " + (names.empty() ? "none" : names));
    return &*at;
  }
  const auto at = model.signatures.find("serving_default");
  if (at != model.signatures.end()) return &*at;
  return model.signatures.size() == 1 ? &*model.signatures.begin() : nullptr;
}

/// An element by a key of a signature's side, if it is one.
std::optional<graph_element> by_key(loaded_model& model, const named_signature* signature,
                                    const std::map<std::string, signature_tensor> signature_def::* side, const std::string& key) {
  if (signature == nullptr) return std::nullopt;
  const auto& tensors = signature->second.*side;
  const auto at = tensors.find(key);
  if (at == tensors.end()) return std::nullopt;
  const std::string where = io::detail::place_in_signature(signature->first, key);
  graph_element element = io::detail::signature_element(model.nodes(), at->second, where);
  if (std::holds_alternative<output>(element)) io::detail::signature_output(model.nodes(), at->second, where);  // its dtype
  return element;
}

/// A name as a tensor where it can be one: a signature's key, "y:0", or the first result of "y"; otherwise an operation.
graph_element element_of(loaded_model& model, const named_signature* signature,
                         const std::map<std::string, signature_tensor> signature_def::* side, const std::string& name) {
  if (auto element = by_key(model, signature, side, name)) return *std::move(element);
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
  bool any = false;
  graph& g = model.nodes();
  for (const graph_operation& op : get_operations(g)) {
    if (g.at(op.index()).op->kind != op_kind::variable) continue;
    any = true;
    if (is_carried_only(op.result().type())) {
      complain("--init: " + op.name() + " is " + dtype_name(op.result().type()) + ", a dtype that no array has: it has no value");
      continue;
    }
    if (model.session().is_initialized(op.result())) continue;
    const int known = g.named().record(op.index()).initializer;
    const int assign = known >= 0 ? known : g.named().find(op.name() + "/Assign");
    if (assign < 0) missing += (missing.empty() ? "" : ", ") + op.name();
    else first.emplace_back(graph_operation(g, assign));
  }
  if (!any) complain("--init: the graph has no variables");
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

/// What a signature of a saved model names. Errors: those of `signature_output`.
io::model_tensor saved_element(loaded_model& model, const signature_tensor& tensor, const std::string& signature, const std::string& key) {
  return io::model_tensor(io::detail::signature_output(model.nodes(), tensor, io::detail::place_in_signature(signature, key)));
}

/// A result as a .npy file holds it: NumPy has no bfloat16.
tensor_proto npy_proto(const tensor_value& value) {
  return to_data_type(value.type()) == data_type::bfloat16 ? value.widened().proto() : value.proto();
}

/// The files of results in a folder.
class npy_folder {
 public:
  explicit npy_folder(files::path path) : path_(std::move(path)) {}
  /// Errors: failed_precondition where the file system gives one file to two names, as one does that is blind to case.
  void write(const std::string& name, const tensor_value& value) {
    const files::path file = path_ / array_file(name);
    std::error_code problem;
    files::create_directories(file.parent_path(), problem);
    struct stat its{};
    if (::lstat(file.c_str(), &its) == 0)
      if (const auto other = written_.find({its.st_dev, its.st_ino}); other != written_.end())
        throw failed_precondition(file.string() + ": is the file of " + other->second + " in this file system; fetch " + name +
                                  " alone, with --out FILE.npy");
    io::write_npy_file(npy_proto(value), file);
    if (::lstat(file.c_str(), &its) == 0) written_[{its.st_dev, its.st_ino}] = name;
  }

 private:
  files::path path_;
  std::map<std::pair<dev_t, ino_t>, std::string> written_;
};

/// Looks at options that say where things go, before anything is run.
void check_outputs(const run_request& request) {
  if (request.format == "npy" && request.out.empty()) throw usage_error("--format npy needs --out FOLDER or --out FILE.npy");
  if (request.format != "npy" && request.out.ends_with(".npy"))
    throw usage_error("--out: " + request.out + " is written with --format npy, not with --format " + request.format);
  for (const std::string_view ending : {".pb", ".pbtxt", ".json", ".meta", ".npy", ".npz", ".onnx"})
    if (request.save.ends_with(ending))
      throw usage_error("--save: " + request.save + " would be a folder: name a folder, or a .safetensors file for the variables alone");
}

/// Tells of feeds that no fetch needs: a run takes them, and they change nothing.
void tell_of_unused(const std::vector<feed_item>& feeds, const std::vector<std::vector<fetch_item>>& fetches, graph& g) {
  std::set<std::pair<int, int>> fed, used;
  for (const feed_item& f : feeds) {
    const output tensor = f.tensor.resolve(g);
    fed.emplace(tensor.index(), tensor.port());
  }
  if (fed.empty()) return;
  std::vector<int> open;
  std::vector<char> met(static_cast<std::size_t>(g.size()), 0);
  const auto need = [&](int index) {
    if (std::exchange(met[static_cast<std::size_t>(index)], char{1}) == 0) open.push_back(index);
  };
  const auto use = [&](int index, int port) {
    if (fed.contains({index, port})) used.emplace(index, port);
    else need(index);
  };
  for (const auto& run : fetches)
    for (const fetch_item& f : run) {
      const graph_element element = f.resolve(g);
      if (const auto* tensor = std::get_if<output>(&element)) use(tensor->index(), tensor->port());
      else need(std::get<graph_operation>(element).index());
    }
  while (!open.empty()) {
    const int index = open.back();
    open.pop_back();
    for (int k = 0; k < g.named().input_count(g, index); ++k) {
      const output in = g.named().input(g, index, k);
      use(in.index(), in.port());
    }
    for (int k = 0; k < g.at(index).control_count; ++k) use(g.control(g.at(index), k), 0);
  }
  for (const auto& [index, port] : fed)
    if (!used.contains({index, port})) complain("--feed: " + output(g, index, port).name() + ": no fetch needs it");
}

}  // namespace

int run_model(const run_request& request) {
  loaded_model model;
  session_options limits;
  limits.memory_limit_in_bytes = static_cast<std::int64_t>(std::min(request.memory * 1e6, 9e18));
  limits.file_root = request.files;
  if (!open(request.path, request.tags, model, limits)) return 1;
  const named_signature* signature = signature_of(model, request.signature);
  auto runs = request.runs;
  if (runs.empty()) {
    if (signature == nullptr) {
      if (request.save.empty()) throw usage_error("nothing is to be run: name tensors or operations with --fetch, or a --signature");
    } else {
      runs.push_back({});
      for (const auto& [key, tensor] : signature->second.outputs) runs.back().fetches.push_back(key);
    }
  }
  check_outputs(request);

  std::vector<feed_item> feeds;
  std::set<std::string> fed;
  for (const auto& word : request.feeds) {
    const auto equals = word.find('=');
    if (equals == word.npos || equals == 0) throw usage_error("--feed: \"" + word + "\" is not NAME=VALUE");
    const std::string name = word.substr(0, equals);
    const auto element = as_usage("--feed: ", [&] { return element_of(model, signature, &signature_def::inputs, name); });
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
      const auto element = as_usage("--fetch: ", [&] { return element_of(model, signature, &signature_def::outputs, name); });
      fetches.back().emplace_back(element);
      if (request.format == "npy" && std::holds_alternative<output>(element) && !names.insert(name).second)
        throw usage_error("--fetch: " + name + " is fetched twice, and would be one file");
    }
  }
  if (request.format == "npy" && names.empty()) {
    // An operator that is not known has no results that are known.
    for (const auto& run : fetches)
      for (const fetch_item& f : run)
        if (const graph_element element = f.resolve(model.nodes()); const auto* operation = std::get_if<graph_operation>(&element))
          if (const std::string refusal = model.session().refusal_of(*operation); !refusal.empty()) {
            complain(refusal);
            return 1;
          }
    throw usage_error("--format npy: no tensor is fetched");
  }
  const bool one_file = request.format == "npy" && request.out.ends_with(".npy");
  if (one_file && names.size() != 1)
    throw usage_error("--out: one .npy file for " + std::to_string(names.size()) + " results; name a folder");
  tell_of_unused(feeds, fetches, model.nodes());
  set_variables(model, request.variables);

  std::string text;
  npy_folder folder(request.out);
  const bool several = runs.size() > 1;
  std::string where = "--init";
  run_trace trace;
  try {
    run_first_operation(model);
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
          try {
            if (one_file) io::write_npy_file(npy_proto(results[i]), request.out);
            else folder.write(name, results[i]);
          } catch (const failed_precondition& e) {
            throw unwritten_result(name + ": " + e.what());
          }
        } else if (request.format == "json") {
          const auto first = std::find(runs[k].fetches.begin(), runs[k].fetches.end(), name);
          if (first != runs[k].fetches.begin() + static_cast<std::ptrdiff_t>(i)) continue;  // a name of an object stands once
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
    complain(where + ": " + model.with_left_out(e));
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
        try {
          for (const auto& [key, tensor] : s.inputs) made.inputs.emplace(key, saved_element(model, tensor, name, key));
          for (const auto& [key, tensor] : s.outputs) made.outputs.emplace(key, saved_element(model, tensor, name, key));
        } catch (const error& e) {
          options.signatures.erase(name);
          model.unwritten.emplace_back(e.what());
        }
      }
      io::save_model(request.save, model.session(), options);
      for (const std::string& what : model.unwritten) complain("--save: left out: " + what);
    });
  }
  return 0;
}

}  // namespace tool
