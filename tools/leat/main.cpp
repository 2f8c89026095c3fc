// leat: looks into files that hold graphs, checks, converts and runs them; serves tasks of clusters and tells who of one is there. Exit
// codes: 0 all is well, 1 something was found, or a run or a task failed, 2 wrong use, 3 a file that cannot be read or written.

#include <leat/io/functions.hpp>

#include "check.hpp"
#include "cluster_commands.hpp"
#include "completion.hpp"
#include "graph_file.hpp"
#include "onnx.hpp"
#include "rewrite.hpp"
#include "run.hpp"
#include "show.hpp"
#include "values.hpp"

#include <CLI/CLI.hpp>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace tool;

enum exit_code : int { all_well = 0, found_something = 1, wrong_use = 2, bad_file = 3 };

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }
/// What was printed, to its end. Errors: failed_precondition if the standard output does not take it.
void finish_printing() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw leat::failed_precondition("the standard output cannot be written: " + std::generic_category().message(errno));
}
/// A closed standard output is one that takes nothing: else the next file that is opened would be it.
void hold_standard_files() {
  for (int number = 0; number <= 2; ++number)
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF) static_cast<void>(::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY));
}
void complain(std::string_view text) { std::fprintf(stderr, "leat: %s\n", printable_lines(text).c_str()); }

/// The names between commas.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    if (end == at) throw usage_error("--fetch: \"" + text + "\" has an empty name");
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

int run_show(const std::string& path, const std::vector<std::string>& tags, const show_options& options, bool dot) {
  const auto file = load(path, tags);
  print(dot ? leat::io::write_dot(file.meta.graph) : show(file, options));
  return all_well;
}

int run_check(const std::vector<std::string>& paths, const std::vector<std::string>& tags, bool allow_unknown) {
  int code = all_well;
  const auto line = [](const std::string& path, const std::string& text) { print(printable(path) + ": " + printable_lines(text) + "\n"); };
  for (const auto& path : paths) {
    graph_file file;
    try {
      file = load(path, tags);
      // The checksums of all values.
      if (file.checkpoint != nullptr)
        for (const auto& array : file.arrays)
          if (leat::element_bytes(array.type) > 0 || array.type == leat::text_dtype) file.checkpoint->value(array.name);
    } catch (const usage_error&) {
      throw;
    } catch (const leat::error& e) {
      complain(e.what());  // and on to the next file
      code = bad_file;
      continue;
    }
    const check_report report = check(file, path, tags, allow_unknown);
    for (const std::string& text : report.problems) line(path, text);
    for (const std::string& text : report.lacking) line(path, text);
    if (report.problems.empty() && report.lacking.empty())
      line(path,
           std::to_string(file.meta.graph.nodes.size()) + " nodes, " +
               (file.checkpoint != nullptr ? std::to_string(file.arrays.size()) + " tensors, " : "") + "nothing found" +
               (report.saver_operators.empty() ? std::string()
                                               : "; of TensorFlow's saver, for which leat's stands: " + counted(report.saver_operators)));
    if ((!report.problems.empty() || (!report.lacking.empty() && !allow_unknown)) && code == all_well) code = found_something;
  }
  return code;
}

/// What of a file another kind of file does not hold, on the error output.
void tell_left_behind(const graph_file& file, const std::string& to, bool is_frozen) {
  const auto counted = [](std::size_t count, const char* one, const char* several) {
    return std::to_string(count) + " " + (count == 1 ? one : several);
  };
  std::vector<std::string> parts;
  if (to.ends_with(".pb")) {
    if (const auto count = file.meta.signatures.size(); count > 0) parts.push_back(counted(count, "signature", "signatures"));
    if (const auto count = file.meta.collections.size(); count > 0) parts.push_back(counted(count, "collection", "collections"));
    if (const auto count = file.meta.asset_files.size(); count > 0)
      parts.push_back(counted(count, "asset file's name", "asset files' names"));
    if (file.meta.saver) parts.push_back("its saver");
  }
  if (!file.arrays.empty() && !is_frozen)
    parts.push_back("the values of " + counted(file.arrays.size(), "variable", "variables") + " (--freeze makes them constants)");
  std::string list;
  for (std::size_t k = 0; k < parts.size(); ++k) list += (k == 0 ? "" : k + 1 == parts.size() ? " and " : ", ") + parts[k];
  if (!list.empty()) complain(to + ": does not hold " + list + " of the model");
}

int run_convert(const std::string& from, const std::string& to, const std::vector<std::string>& tags, const std::string& prefix,
                std::vector<std::string> fetches, std::vector<std::string> freezing, onnx_request onnx) {
  check_ending(to);
  auto file = load(from, tags);
  const auto findings = leat::proto::findings(file.meta.graph);
  for (const auto& f : findings) complain(from + ": " + to_text(f));
  if (!findings.empty()) return found_something;
  const bool to_onnx = to.ends_with(".onnx"), was_frozen = !freezing.empty();
  leat::signature_def signature;
  if (to_onnx) {
    onnx.fetches = fetches;
    onnx.prefix = prefix;
    if (fetches.empty()) {
      signature = chosen_signature(file.meta, onnx.signature);
      fetches = outputs_of(signature);
    }
    // A model's own values, unless others are given.
    if (freezing.empty() && !file.arrays.empty()) freezing = {from};
  }
  // A constant cannot take the place of a variable that a function is given: the bodies of functions take the place of their calls.
  if (to_onnx || !freezing.empty()) file.meta.graph = leat::io::inline_functions(file.meta.graph);
  leat::variable_values values;  // before pruning: names of variables that go are no mistake
  if (!freezing.empty()) values = values_of(file.meta.graph, freezing);
  if (!fetches.empty()) try {
      prune(file.meta, fetches);
    } catch (const leat::not_found& e) {
      throw usage_error(from + ": " + e.what());
    }
  if (!freezing.empty()) try {
      freeze(file.meta, std::move(values));
    } catch (const leat::failed_precondition& e) {
      throw usage_error(from + ": " + e.what());
    } catch (const leat::invalid_argument& e) {
      throw usage_error(from + ": " + e.what());
    }
  if (!prefix.empty()) {
    if (!leat::proto::is_node_name(prefix) || prefix.ends_with('/'))
      throw usage_error("--prefix: \"" + prefix + "\" cannot begin a node's name");
    add_prefix(file.meta, prefix);
  }
  if (to_onnx) try {
      save_onnx(file.meta.graph, signature, onnx, to);
      return all_well;
    } catch (const leat::unimplemented& e) {
      complain(e.what());
      return found_something;
    } catch (const leat::invalid_argument& e) {
      throw usage_error(e.what());
    }
  save(file, to);
  if (!to.ends_with(".dot")) tell_left_behind(file, to, was_frozen);
  return all_well;
}

/// Reads the command line and does what it says.
int run_command_line(int count, char** arguments) {
  CLI::App app{
      "leat looks into files that hold graphs, checks, converts and runs them; it serves tasks of clusters.\n"
      "Files end in .pb (GraphDef), .meta (MetaGraphDef), .json (either, as protobuf's JSON) or .pbtxt (either, in protobuf's text format);\n"
      "a folder is a saved model, leat's or TensorFlow's, or has checkpoints, which are named by their prefix.",
      "leat"};
  app.set_version_flag("--version", "leat " LEAT_TOOL_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  leat show model.pb                            what is in it\n"
      "  leat show --shapes model.pb | grep MatMul     every product with its shape\n"
      "  leat show --dot model.pb | dot -Tsvg > m.svg  a drawing\n"
      "  leat check *.pb                               what is wrong, and which operators leat lacks\n"
      "  leat convert model.pb model.json              to read, edit, compare\n"
      "  leat convert --fetch loss big.pb small.pb     what a fetch needs, and nothing else\n"
      "  leat convert --fetch y --freeze v m.pb f.pb   variables as constants, from v/NAME.npy\n"
      "  leat run --feed x=[[1,2]] --fetch y model/    a saved model, its graph, or any other graph\n"
      "  leat serve --cluster c.json --job_name ps     a task of a cluster\n"
      "  leat cluster tcp://a:1                        who of a cluster is there\n"
      "Exit codes: 0 all is well, 1 something was found, or a run or a task failed, 2 wrong use, 3 a file cannot be read or written.");

  std::string from, to, prefix, shell;
  std::vector<std::string> files, fetches, freezing;
  show_options shown;
  bool dot = false, allow_unknown = false;

  auto* show_command = app.add_subcommand("show", "What a file holds: operators, placeholders, variables, signatures, collections");
  show_command->add_option("file", from, "the file, a saved model's folder, a checkpoint, or the folder of some")->required();
  run_request request;
  const auto add_tags = [&](CLI::App* command) {
    command->add_option("--tags", request.tags, "which graph of a SavedModel of TensorFlow's: all its tags, with commas between them")
        ->delimiter(',')
        ->allow_extra_args(false);
  };
  add_tags(show_command);
  auto* nodes_flag = show_command->add_flag("--nodes", shown.nodes, "every node with its inputs");
  auto* shapes_flag = show_command->add_flag("--shapes", shown.shapes, "every node with its inputs and the shapes its attributes tell");
  show_command->add_flag("--dot", dot, "the graph in Graphviz's language instead")->excludes(nodes_flag)->excludes(shapes_flag);
  show_command->footer(
      "Examples:\n  leat show model.meta\n  leat show --nodes model.json\n  leat show --dot model.pb | dot -Tpng > model.png");

  auto* check_command = app.add_subcommand("check", "What is wrong with files, and what of them leat cannot run");
  check_command->add_option("files", files, "the files; of a checkpoint also the values")->required();
  check_command->add_flag("--allow-unknown", allow_unknown,
                          "list what leat cannot run, but exit with 0 if it is all; devices of other machines are let pass");
  add_tags(check_command);
  check_command->footer("Examples:\n  leat check model.pb\n  leat check --allow-unknown *.json || echo broken");

  auto* convert_command = app.add_subcommand("convert", "Write a graph in another form, by the files' endings");
  convert_command->add_option("from", from, "the file to read: .pb, .meta, .json, .pbtxt, or a saved model's folder")->required();
  convert_command->add_option("to", to, "the file to write: .pb, .meta, .json, .pbtxt, .dot or .onnx")->required();
  onnx_request onnx;
  add_tags(convert_command);
  auto* signature_option =
      convert_command->add_option("--signature", onnx.signature, "for .onnx: whose inputs and outputs the model has, without --fetch");
  auto* opset_option =
      convert_command->add_option("--opset", onnx.opset, "for .onnx: the version of ONNX's operators")->check(CLI::Range(17, 21));
  convert_command->add_option("--prefix", prefix, "put all names under this scope");
  convert_command->add_option("--fetch", fetches, "keep only what this node or tensor needs; can be given several times")
      ->delimiter(',')
      ->allow_extra_args(false);
  convert_command
      ->add_option(
          "--freeze", freezing,
          "make variables constants: NAME=NUMBER, NAME=[1, 2], NAME=file.npy, a saved model, a checkpoint, or a folder of NAME.npy; can be given "
          "several times")
      ->allow_extra_args(false);
  convert_command->footer(
      "A .pb holds the graph alone: signatures and collections stay behind. An .onnx holds what a signature or the fetches need,\n"
      "with a saved model's or checkpoint's own values unless --freeze gives others.\n"
      "Examples:\n  leat convert model.pb model.json\n  leat convert --fetch prediction --fetch loss model.meta part.pb\n"
      "  leat convert --prefix tower_0 model.pb tower.pb\n"
      "  leat convert --fetch prediction --freeze weights/ --freeze bias=0.5 model.meta frozen.pb\n"
      "  leat convert model/ model.onnx");

  auto* run_command = app.add_subcommand("run", "Run a graph or a saved model: feed tensors, fetch results, train, save");
  add_tags(run_command);
  std::vector<std::string> fetched;
  std::vector<long long> times;
  run_command
      ->add_option("file", request.path, "a graph (.pb, .meta, .json, .pbtxt), a saved model's folder, a checkpoint, or the folder of some")
      ->required();
  auto* fetch_option =
      run_command
          ->add_option("--fetch", fetched,
                       "a run: tensors and operations, with commas between them; given several times, several runs in this order")
          ->allow_extra_args(false);
  auto* times_option = run_command->add_option("--times", times, "how often the --fetch before it is run; the last results are told")
                           ->check(CLI::PositiveNumber)
                           ->allow_extra_args(false);
  run_command
      ->add_option("--feed", request.feeds,
                   "NAME=NUMBER, NAME=[[1, 2], [3, 4]], NAME=file.npy or NAME=@file, in all runs; can be given several times")
      ->allow_extra_args(false);
  run_command->add_option("--signature", request.signature,
                          "whose names --feed and --fetch may use, and whose outputs are fetched without --fetch");
  run_command
      ->add_option(
          "--variables", request.variables,
          "values of variables before the first run: a saved model, a checkpoint, a .safetensors file, a folder of NAME.npy, NAME=VALUE")
      ->allow_extra_args(false);
  run_command->add_flag("--init", request.initialize, "give the variables that have no value their first one");
  run_command->add_option("--save", request.save, "the model after the last run: a folder, or a .safetensors file for the variables alone");
  run_command->add_option("--format", request.format, "how results are told: text, json (a line for each run) or npy")
      ->check(CLI::IsMember({"text", "json", "npy"}));
  run_command->add_option("--out", request.out, "where results go: a file, with --format npy a folder or FILE.npy");
  run_command->add_flag("--progress", request.progress, "tell how far repeated runs are, also where the error output is no terminal");
  run_command->add_option("--trace", request.trace, "a file for what ran when, which chrome://tracing and Perfetto show");
  run_command->add_option("--timeout", request.timeout, "seconds that one run may take")->check(CLI::PositiveNumber);
  run_command->add_option("--memory", request.memory, "megabytes that arrays may take at the same time")->check(CLI::PositiveNumber);
  run_command->add_option("--files", request.files,
                          "the folder in which nodes of the graph, such as those of its own saver, may read and write files");
  run_command->footer(
      "A name is a key of the signature, a tensor (y:0), or an operation (y), whose first result is fetched where it has one.\n"
      "Examples:\n  leat run model/ --feed 'x=[[1, 2], [3, 4]]'\n"
      "  leat run graph.pb --init --feed x=x.npy --feed y=y.npy --fetch train --times 1000 --fetch loss --save trained/\n"
      "  leat run trained/ --feed x=@rows.json --fetch y --format json\n"
      "  leat run graph.pb --variables trained/ --feed x=x.npy --fetch y --format npy --out y.npy");

  cluster_request cluster;
  std::string read_before;  // flags that take_cluster_flags has read: here they are only told of
  const auto add_cluster = [&](CLI::App* command) {
    command->add_option("--NAME_hosts", read_before, "addresses of the job NAME's tasks, with commas between them: --ps_hosts=a:1,b:1");
    command->add_option("--cluster", cluster.file,
                        "a file with the cluster as JSON: {\"ps\": [\"a:1\"], \"worker\": [\"b:1\", \"c:1\"]}, or TensorFlow's ClusterDef");
    command->add_option("--from", cluster.from, "where else the cluster stands: tf_config (TF_CONFIG) or slurm (Slurm's variables)")
        ->check(CLI::IsMember({"tf_config", "slurm"}));
    command->add_option("--jobs", cluster.jobs, "for Slurm, the jobs and how many tasks each has: ps=1,worker=3");
    command->add_option("--first_port", cluster.first_port, "for Slurm, the port of each host's first task")->check(CLI::Range(1, 65535));
    command->add_option("--keys", cluster.keys, "a file of leat keys: the pair of this process");
    command->add_option("--server_keys", cluster.server_keys, "a file with the public key of the cluster's servers")
        ->allow_extra_args(false);
    command->add_flag("--insecure_network", cluster.insecure_network,
                      "addresses that other hosts reach are used without keys: whoever reaches a server can do all that a client can");
  };
  auto* serve_command = app.add_subcommand("serve", "Serve a task of a cluster until SIGTERM or SIGINT");
  serve_command->add_option("--job_name", read_before, "the job of this process; may be left out where there is one");
  serve_command->add_option("--task_index", read_before, "the task of this process; may be left out where the job has one");
  add_cluster(serve_command);
  serve_command->add_option("--allowed", cluster.allowed, "public keys of those who may connect; can be given several times")
      ->allow_extra_args(false);
  serve_command->add_flag("--until-done", cluster.until_done,
                          "ends by itself when every task of the other jobs has been connected and has ended in order");
  serve_command->add_option("--run", cluster.run, "a name of the training: processes of another one are refused");
  serve_command->footer(
      "It prints one line when it serves. Without a cluster, it is a task alone, at a free port of this host.\n"
      "Examples:\n  leat serve\n  leat serve --ps_hosts=localhost:2222 --worker_hosts=localhost:2223 --job_name=ps --task_index=0\n"
      "  leat serve --cluster cluster.json --job_name worker --task_index 1 --keys servers --server_keys servers.public \\\n"
      "             --allowed servers.public --allowed client.public\n"
      "  srun -n 4 leat serve --from slurm --jobs ps=1,worker=3 --insecure_network");

  auto* cluster_command = app.add_subcommand("cluster", "Who of a cluster is there");
  cluster_command->add_option("target", cluster.target, "one of its servers, tcp://host:port, which tells of the others");
  add_cluster(cluster_command);
  cluster_command
      ->add_option("--timeout", cluster.timeout,
                   "seconds in which the tasks are to answer; it waits so long for those that are there, and do not")
      ->check(CLI::Range(0.001, 1e6));
  cluster_command->add_flag("--wait", cluster.wait, "waits for tasks that are not there, too, until all are up or the time is over");
  cluster_command->footer(
      "A line for each task: its device, its address, its process and the number of its start if it is up, and why not otherwise.\n"
      "Exits with 0 if all are up.\n"
      "Examples:\n  leat cluster tcp://localhost:2222\n  leat cluster --cluster cluster.json --wait --timeout 60 && start_training\n"
      "  leat cluster tcp://a:2222 --keys client --server_keys servers.public");

  bool show_public = false;
  std::string key_file;
  auto* keys_command = app.add_subcommand("keys", "Make a pair of keys for the servers or a client of a cluster");
  keys_command->add_option("file", key_file, "the file to write, beside which goes FILE.public; existing files are left alone")->required();
  keys_command->add_flag("--show", show_public, "print the public keys of a file instead");
  keys_command->footer("Examples:\n  leat keys servers\n  leat keys client\n  leat keys --show client");

  auto* completion_command = app.add_subcommand("completion", "A script by which a shell completes leat's words");
  completion_command->add_option("shell", shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion_command->footer("Examples:\n  source <(leat completion bash)\n  leat completion fish > ~/.config/fish/completions/leat.fish");

  std::vector<std::string> words(arguments + std::min(count, 1), arguments + count);
  cluster.flags = take_cluster_flags(words);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? all_well : wrong_use;
  }
  // As a shell gives it for a variable that is not set: what was asked for would be left undone.
  for (const CLI::App* command : app.get_subcommands())
    for (const CLI::Option* option : command->get_options())
      if (std::ranges::find(option->results(), std::string()) != option->results().end())
        throw usage_error(option->get_name() + ": is given, and empty");
  if (*show_command) return run_show(from, request.tags, shown, dot);
  if (*check_command) return run_check(files, request.tags, allow_unknown);
  if (*convert_command) {
    for (const CLI::Option* option : {signature_option, opset_option})
      if (option->count() > 0 && !to.ends_with(".onnx")) throw usage_error(option->get_name() + ": is for .onnx alone");
    if (signature_option->count() > 0 && !fetches.empty()) throw usage_error("--signature: the outputs are those of --fetch");
    return run_convert(from, to, request.tags, prefix, fetches, freezing, onnx);
  }
  if (*run_command) {
    std::size_t next_fetch = 0, next_time = 0;
    bool is_repeated = false;
    for (const CLI::Option* option : run_command->parse_order()) {
      if (option == fetch_option) {
        request.runs.push_back({split(fetched.at(next_fetch++)), 1});
        is_repeated = false;
      }
      if (option != times_option) continue;
      if (request.runs.empty()) throw usage_error("--times stands behind the --fetch that it repeats");
      if (std::exchange(is_repeated, true)) throw usage_error("--times stands twice behind one --fetch");
      request.runs.back().times = times.at(next_time++);
    }
    return run_model(request);
  }
  if (*serve_command) return serve(cluster);
  if (*cluster_command) return show_cluster(cluster);
  if (*keys_command) return show_public ? show_keys(key_file) : make_keys(key_file);
  print(completion_for(shell));
  return all_well;
}

}  // namespace

int main(int count, char** arguments) try {
  hold_standard_files();
  const int code = run_command_line(count, arguments);
  finish_printing();
  return code;
} catch (const tool::usage_error& e) {
  complain(e.what());
  return wrong_use;
} catch (const std::exception& e) {
  complain(e.what());
  return bad_file;
}
