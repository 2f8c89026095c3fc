// The basics of graphs at run time, one short section after the other: nodes and their names, name scopes, look-ups, two
// graphs side by side, collections, shared variables, control dependencies, branches and loops, devices, files. Each section builds
// a small graph, prints what came of it, and what is refused. Nothing is computed. The sections `lookup`, `collections` and `files`
// look at one model:
//
//   x [?, 2]     layer/w [2, 1]
//        \         /
//      layer/MatMul [?, 1]     layer/b [1]        global_step []
//                 \              /                      |
//                  layer/y [?, 1]                       |
//                        |                              |
//                    loss [] . . . after loss . . . count: global_step += 1

#include <leat/graphs.hpp>
#ifdef LEAT_USE_IO
#include <leat/io/binary.hpp>
#include <leat/io/dot.hpp>
#include <leat/io/json.hpp>
#endif

#include <CLI/CLI.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace leat;

namespace {

void print(const graph_operation& op) {
  std::printf("  %-26s %s", op.name().c_str(), std::string(op.type()).c_str());
  for (const auto& in : op.inputs()) std::printf(" %s", in.name().c_str());
  for (const auto& c : op.control_inputs()) std::printf(" ^%s", c.name().c_str());
  if (!op.device().empty()) std::printf(" on %s", op.device().c_str());
  std::printf("\n");
}
void print(const output& tensor) { std::printf("  %s\n", describe(tensor).c_str()); }
void print(const std::vector<output>& tensors) {
  for (const auto& t : tensors) print(t);
}
void print(graph& g) {
  for (const auto& op : get_operations(g)) print(op);
}

// What is not as this program says it is.
class surprise : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Prints why `wrong` is refused, but for the file and the line that the message ends with.
template <class Error = invalid_argument, class Wrong>
void refused(Wrong wrong) {
  try {
    wrong();
  } catch (const Error& e) {
    std::string text = e.what();
    text = text.substr(0, text.find(", made at"));
    std::printf("  refused: %s\n", text.substr(0, text.find(" Originally defined at")).c_str());
    return;
  }
  throw surprise("what should be refused was accepted");
}

struct model {
  output x, y, loss, count;
};

model make_model() {
  model m;
  m.x = placeholder(dtype::float32, {-1, 2}, "x");
  {
    auto layer = variable_scope("layer", {.initializer = zeros});
    auto w = get_variable("w", {2, 1});
    auto b = get_variable("b", {1});
    auto product = matmul(m.x, w);
    m.y = add(product, b, "y");
  }
  m.loss = reduce_mean(m.y, all_axes, keep_dims::no, "loss");
  auto step = get_variable("global_step", {.initializer = std::int64_t{0}, .trainable = false});
  auto wait = control_dependencies({m.loss});
  m.count = assign_add(step, std::int64_t{1}, "count");
  return m;
}

void nodes() {
  graph g;
  auto scope = g.as_default();

  std::printf("An operator without a name is named after itself, and numbered where that is taken:\n");
  auto a = constant(3.0f, "a");
  auto b = constant(4.0f, "b");
  auto first = a + b;
  auto second = a + b;
  auto third = second * 2.0f;  // the number becomes a constant, named after its user
  add(first, third, "total");
  add(first, third, "total");
  print(g);

  std::printf("\"add\" is an operation, \"add:0\" the tensor that it gives:\n");
  print(first.operation());
  print(first);

  std::printf("Case does not tell names apart, and not every text is one:\n");
  print(add(a, b).operation());  // the function's own name is "Add"; it differs from "add" by case alone
  refused([&] { constant(1.0f, "_hidden"); });
}

void scopes() {
  graph g;
  auto scope = g.as_default();

  std::printf("A name scope is an object: new nodes have its name in front for as long as it lives.\n");
  constant(0.0f, "c");
  {
    auto outer = name_scope("outer");
    constant(0.0f, "c");  // "outer/c"
    {
      auto inner = name_scope("inner");
      constant(0.0f, "c");  // "outer/inner/c"
      auto root = name_scope("");
      constant(0.0f, "c");  // "c_1": the root has a "c" already
    }
    std::printf("  now in \"%s\", which is entered again by \"%s\"\n", get_name_scope().c_str(), outer.text().c_str());
  }
  {
    auto fresh = name_scope("outer");  // the same name once more is another scope
    constant(0.0f, "c");               // "outer_1/c"
    auto again = name_scope("outer/inner/");
    constant(0.0f, "c");  // "outer/inner/c_1"
  }
  print(g);
  std::printf("The next \"c\" here would be \"%s\".\n", unique_name("c", false).c_str());
}

void lookup() {
  graph g;
  auto scope = g.as_default();
  const model m = make_model();

  std::printf("Tensors and operations are found by their names, in a graph that some other function built:\n");
  print(get_tensor_by_name(g, "layer/y:0"));
  print(get_operation_by_name(g, "layer/y"));
  std::printf("What was made from a tensor, and what a tensor was made from:\n");
  for (const auto& op : consumers(m.y)) print(op);
  for (const auto& in : m.y.operation().inputs()) print(in);
  std::printf("Names of the wrong kind, and names that nothing has:\n");
  refused([&] { get_tensor_by_name(g, "layer/y"); });
  refused([&] { get_operation_by_name(g, "layer/y:0"); });
  refused<not_found>([&] { get_tensor_by_name(g, "layer/y:1"); });
  refused<not_found>([&] { get_operation_by_name(g, "layer/z"); });
}

void graphs() {
  reset_default_graph();
  std::printf(
      "Without a scope nodes go to the thread's own graph; `as_default` puts another in its place for a while.\n");
  auto outside = constant(1.0f, "a");
  graph other;
  output inside;
  {
    auto scope = other.as_default();
    inside = constant(2.0f, "a");  // both graphs may have an "a"
    add(inside, inside, "twice");
  }
  add(outside, outside, "sum");
  std::printf("the thread's graph\n");
  print(default_graph());
  std::printf("the other graph\n");
  print(other);

  std::printf("An operator makes its node where its operands are, whichever graph is the default:\n");
  auto more = add(inside, 1.0f, "more");
  if (&more.owner() != &other) throw surprise("a sum is not where its operands are");
  print(get_operation_by_name(other, "more"));
  std::printf("Graphs do not mix:\n");
  refused([&] { add(outside, inside); });
  refused([&] { auto wait = control_dependencies({inside}); });
  std::printf("A graph that is closed takes no more nodes:\n");
  finalize(other);
  refused<failed_precondition>([&] { add(inside, inside); });
}

void collections() {
  graph g;
  auto scope = g.as_default();
  const model m = make_model();

  std::printf("Collections are lists of what belongs together. Variables are put into some of them:\n");
  std::printf("global variables\n");
  print(global_variables());
  std::printf("trainable variables; the steps are counted, not trained\n");
  print(trainable_variables());

  std::printf("Others are the program's. A function that makes a term need not hand it to who adds them all up:\n");
  add_to_collection(collection::losses, m.loss);
  {
    auto penalty = name_scope("penalty");
    for (const auto& v : trainable_variables()) add_to_collection(collection::losses, l2_loss(v, "l2"));
  }
  print(get_tensors(g, collection::losses));
  std::printf("of these, in the scope \"penalty\"\n");
  print(get_tensors(g, collection::losses, "penalty"));
  std::printf("all collections:");
  for (const auto& key : get_all_collection_keys(g)) std::printf(" %s", key.c_str());
  std::printf("\n");
}

void variables() {
  graph g;
  auto scope = g.as_default();

  std::printf("`variable` always makes one. It comes with its first value, what assigns it, and what reads it:\n");
  auto v = variable(1.5f, "v");
  variable(2.5f, "v");
  print(g);
  print(v);
  print(value_of(v));

  std::printf("`get_variable` goes by the name in the variable scope. Name scopes do not count:\n");
  auto x = placeholder(dtype::float32, {-1, 3}, "x");
  auto dense = [&](reuse_setting reuse) {
    auto names = name_scope("tower");
    auto layer = variable_scope("dense", {.reuse = reuse, .initializer = zeros});
    auto w = get_variable("w", {3, 2});
    print(w);
    return matmul(x, w);
  };
  print(dense(nullptr));
  std::printf("The same again is a mistake, unless the scope says that it is meant:\n");
  refused([&] { dense(nullptr); });
  print(dense(true));  // in "tower_2": the call that was refused had opened "tower_1"
  std::printf("AUTO_REUSE finds what there is and makes what there is not:\n");
  {
    auto layer = variable_scope("dense", {.reuse = AUTO_REUSE, .initializer = zeros});
    print(get_variable("w", {3, 2}));
    print(get_variable("b", {2}));
  }
  std::printf("reuse = true only finds, and what is shared must have one shape:\n");
  auto layer = variable_scope("dense", {.reuse = true});
  refused([&] { get_variable("c", {2}); });
  refused([&] { get_variable("w", {2, 3}); });
}

void control() {
  graph g;
  auto scope = g.as_default();
  auto steps = variable(0.0f, "steps");
  auto before = identity(steps, "before");
  auto count = assign_add(steps, 1.0f, "count");

  std::printf(
      "Nodes run when their inputs are there; what else they wait for is said by a scope, and printed as ^name.\n");
  {
    auto wait = control_dependencies({count});
    print(read_value(steps, "after").operation());
    print(constant(1.0f, "one").operation());
    {
      auto more = control_dependencies({before});
      print(no_op("both"));
      auto none = control_dependencies(nullptr);
      print(no_op("neither"));
    }
    std::printf("What was made outside does not wait, so it is not enough to name it inside:\n");
    auto same = before;
    print(same.operation());
  }
  std::printf("`group` is one operation for several, `tuple` the same tensors when all of them are there:\n");
  print(group({count, before}, "all"));
  for (const auto& t : tuple({before, count}, "pair")) print(t.operation());
  print(global_variables_initializer());
}

void branches() {
  graph g;
  auto scope = g.as_default();
  auto x = placeholder(dtype::float32, {}, "x");
  auto size = cond(x < 0.0f, [&] { return -x; }, [&] { return x; });
  std::printf("A branch switches what it takes from outside, and both branches are merged:\n");
  for (const auto& op : get_operations(g))
    if (op.name().starts_with("cond/")) print(op);
  print(size);

  std::printf("A loop repeats its body for as long as its condition holds:\n");
  auto more = [](output i, output) { return i < 3; };
  auto [times, power] =
      while_loop(more, [&](output i, output y) { return std::array{i + 1, y * size}; }, {0, 1.0f});
  print(times);
  print(power);
  output lost;
  refused([&] {
    while_loop(more, [&](output i, output y) {
      lost = y * 2.0f;
      return std::array{i + 1, lost};
    }, {0, 1.0f}, {.name = "doubling"});
    add(lost, 1.0f, "outside");
  });
  std::printf("What must hold when the graph runs, is an operation that others wait for:\n");
  print(check_positive(power));
}

void devices() {
  graph g;
  auto scope = g.as_default();

  std::printf("Inner devices take precedence, part by part; nullptr forgets all that is said outside:\n");
  {
    auto worker = device("/job:worker/task:1");
    print(constant(0.0f, "outer").operation());
    auto gpu = device("/gpu:0");
    print(constant(0.0f, "inner").operation());
    auto other_task = device("/task:2/cpu:0");
    print(constant(0.0f, "innermost").operation());
    auto anywhere = device(nullptr);
    print(constant(0.0f, "anywhere").operation());
  }
  std::printf("A function is asked for each new node:\n");
  {
    auto by_type =
        device([](const graph_operation& op) { return op.type() == "MatMul" ? "/device:GPU:0" : "/device:CPU:0"; });
    auto m = constant({{1.0f, 2.0f}, {3.0f, 4.0f}}, "m");
    print(m.operation());
    print(matmul(m, m, "product").operation());
  }
  std::printf("replica_device_setter deals variables out to the parameter servers and sends all else to the worker:\n");
  {
    auto replica = device(replica_device_setter({.ps_tasks = 2}));
    auto w = variable(1.0f, "w");
    auto b = variable(0.0f, "b");
    auto more = variable(0.0f, "more");
    for (const auto& v : {w, b, more}) print(v.operation());
    print(add(w, b, "sum").operation());
  }
  std::printf("colocate_with stands where another node stands:\n");
  {
    auto there = colocate_with(get_tensor_by_name(g, "b:0"));
    print(constant(0.0f, "slot").operation());
  }
  std::printf("What is no device:\n");
  refused([] { auto d = device("/jobs:ps"); });
}

void files(const std::filesystem::path& folder) {
  graph g;
  auto scope = g.as_default();
  const model m = make_model();
  const std::vector<int> targets{m.y.index()};
  const graph_def file = export_graph(g, targets);
  std::printf("Of %d nodes of the model, layer/y needs %zu.\n", g.size(), file.nodes.size());

#ifdef LEAT_USE_IO
  const std::string json = io::write_json(file);
  const std::string binary = io::write_binary(file);
  const std::string dot = io::write_dot(file);
  std::printf("As JSON, in TensorFlow's names:\n%s", json.c_str());
  std::printf("As a drawing for Graphviz, dot -Tsvg:\n%s", dot.c_str());
  if (io::read_json(json) != file || io::read_binary(binary) != file)
    throw surprise("a file holds another graph than was written");
  std::printf("As .pb it takes %zu bytes. Read again, JSON and .pb give the same graph.\n", binary.size());
  if (!folder.empty()) {
    std::filesystem::create_directories(folder);
    io::write_json_file(file, folder / "layer.json");
    io::write_binary_file(file, folder / "layer.pb");
    io::write_dot_file(file, folder / "layer.dot");
    if (io::read_json_file(folder / "layer.json") != io::read_binary_file(folder / "layer.pb"))
      throw surprise("the files hold two graphs");
    std::printf("Written to %s: layer.json, layer.pb, layer.dot\n", folder.string().c_str());
  }
#else
  std::printf(
      "JSON, .pb and DOT need leat::io (protozero and nlohmann::json), which this program was built without.\n");
  if (!folder.empty()) throw unimplemented("--folder: built without leat::io");
#endif

  std::printf("An import puts a graph under a prefix, with tensors from here in the place of some of its own:\n");
  graph larger;
  auto inside = larger.as_default();
  auto rows = placeholder(dtype::float32, {10, 2}, "rows");
  const auto found =
      import_graph(larger, file, {.name = "copy", .input_map = {{"x:0", rows}}, .return_elements = {"layer/y:0"}});
  print(larger);
  print(std::get<output>(found.front()));
  std::printf("A second import has names of its own:\n");
  const auto again = import_graph(larger, file, {.name = "copy", .return_elements = {"layer/y:0"}});
  print(std::get<output>(again.front()));
  refused([&] { import_graph(larger, file, {.return_elements = {"layer/z:0"}}); });
}

struct section {
  std::string name;
  std::string about;
  std::function<void()> show;
};

}  // namespace

int main(int count, char** arguments) {
  std::string wanted, folder;
  const std::vector<section> sections{
      {"nodes", "nodes and their names", nodes},
      {"scopes", "name scopes: nested, entered again, left for the root", scopes},
      {"lookup", "finding nodes by name", lookup},
      {"graphs", "two graphs side by side", graphs},
      {"collections", "lists of what belongs together", collections},
      {"variables", "variables that are shared by name", variables},
      {"control", "control dependencies", control},
      {"branches", "branches and loops", branches},
      {"devices", "where nodes are to run", devices},
      {"files", "graphs in files, and imports", [&] { files(folder); }},
  };

  CLI::App app{"The basics of graphs with names, section by section."};
  std::string list = "Sections:\n";
  std::vector<std::string> names;
  for (const auto& s : sections) {
    names.push_back(s.name);
    list += "  " + s.name + std::string(14 - s.name.size(), ' ') + s.about + "\n";
  }
  app.footer(list);
  app.add_option("--section", wanted, "this section alone")->check(CLI::IsMember(names));
  app.add_option("--folder", folder,
                 "where the section `files` leaves layer.json, layer.pb and layer.dot; without it nowhere");
  CLI11_PARSE(app, count, arguments);
  try {
    for (const auto& s : sections) {
      if (!wanted.empty() && s.name != wanted) continue;
      std::printf("---- %s: %s\n", s.name.c_str(), s.about.c_str());
      s.show();
      std::printf("\n");
    }
    return 0;
  } catch (const surprise& error) {
    std::fprintf(stderr, "graph_basics: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "graph_basics: %s\n", error.what());
    return 2;
  }
}
