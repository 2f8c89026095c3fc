#include <leat/named/exchange/import.hpp>

#include <leat/named/control/branch.hpp>
#include <leat/named/control/control.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace leat;

namespace {

node_def node_of(std::string name, std::string op, std::vector<std::string> inputs = {}, attribute_map attributes = {}) {
  return {std::move(name), std::move(op), std::move(inputs), {}, std::move(attributes)};
}
node_def placeholder_node(std::string name, dtype type = dtype::float32) {
  return node_of(std::move(name), "Placeholder", {}, {{"dtype", type}, {"shape", tensor_shape_proto{-1, 3}}});
}
const attribute_map float_T{{"T", dtype::float32}};

std::string problem_of_import(const graph_def& def, const import_options& options = {}) {
  graph g;
  const auto scope = g.as_default();
  try {
    import_graph(def, options);
  } catch (const leat::error& e) {
    CHECK(g.size() == 0);  // nothing was made
    return e.what();
  }
  return {};
}

std::vector<std::string> names_of(graph& g) {
  std::vector<std::string> list;
  for (const auto& op : get_operations(g)) list.push_back(op.name());
  return list;
}

// The graph of which naming.json tells.
void build_example() {
  const auto c = constant({{4.0f, 5.0f}}, "c");
  matmul(c, c, matmul_options{.transpose_b = true}, "exampleop");
  placeholder(dtype::float32, {-1, 3}, "ph");
  placeholder(dtype::float32, unknown_shape, "anything");
}

}  // namespace

TEST_CASE("a graph that is exported and imported is the same graph") {
  graph g;
  graph_def def;
  {
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, {-1, 4}, "x");
    const auto s = variable_scope("layer");
    const auto w = get_variable("w", {4, 2}, {.initializer = zeros});
    const auto y = reduce_mean(matmul(x, w) * 2.0f, {1}, keep_dims::yes);
    const auto d = device("/job:ps/task:1");
    const auto waits = control_dependencies({y});
    assign_add(w, ones_of({4, 2}), "more");
    def = export_graph(g);
  }
  graph h;
  import_graph(h, def, {.name = ""});
  CHECK(export_graph(h) == def);
  for (int i = 0; i < g.size(); ++i) {
    CHECK(h.at(i).result == g.at(i).result);
    CHECK(h.at(i).input_count == g.at(i).input_count);
    CHECK(h.at(i).attribute_count == g.at(i).attribute_count);
    for (int k = 0; k < g.at(i).attribute_count && g.at(i).op->kind != op_kind::variable; ++k)
      CHECK(h.attribute(h.at(i), k) == g.attribute(g.at(i), k));
  }
}

TEST_CASE("prefixes, replaced inputs and returned elements") {
  graph source;
  graph_def def;
  {
    const auto scope = source.as_default();
    build_example();
    def = export_graph(source);
  }
  graph g;
  const auto scope = g.as_default();
  const auto got = import_graph(def, {.return_elements = {"exampleop:0", "ph"}});
  CHECK(std::get<output>(got[0]).name() == "import/exampleop:0");
  CHECK(std::get<graph_operation>(got[1]).name() == "import/ph");
  import_graph(def, {.name = "m"});
  CHECK(std::get<graph_operation>(import_graph(def, {.name = "m", .return_elements = {"exampleop"}})[0]).name() == "m_1/exampleop");
  const auto mine = constant({{1.0f, 2.0f}}, "mine");
  const auto mapped = import_graph(def, {.name = "", .input_map = {{"c:0", mine}}, .return_elements = {"exampleop"}});
  CHECK(std::get<graph_operation>(mapped[0]).inputs()[0].name() == "mine:0");
  // A tensor that is replaced is returned as what replaces it, its node as the one imported.
  for (const char* key : {"c:0", "c"}) {
    const auto returned = import_graph(def, {.name = "r", .input_map = {{key, mine}}, .return_elements = {"c:0", "c", "exampleop:0"}});
    CHECK(std::get<output>(returned[0]).name() == "mine:0");
    CHECK(std::get<graph_operation>(returned[1]).type() == "Const");
    CHECK(std::get<graph_operation>(returned[1]).name().ends_with("/c"));
    CHECK(std::get<output>(returned[2]).name().ends_with("/exampleop:0"));
  }
  import_graph(def, {.name = ""});
  const auto names = names_of(g);
  CHECK(std::find(names.begin(), names.end(), "exampleop_1") != names.end());
  CHECK(problem_of_import(def, {.return_elements = {"zz:0"}}) == "Requested return tensor 'zz:0' not found in graph def");
  CHECK_THROWS_WITH_AS(import_graph(def, {.input_map = {{"zz:0", mine}}}),
                       "Attempted to map inputs that were not found in graph_def: [zz:0]", invalid_argument);
}

TEST_CASE("what is wrong with a graph is said with the node, and nothing is made") {
  graph_def def;
  def.nodes = {placeholder_node("a"), placeholder_node("a")};
  CHECK(problem_of_import(def) == "Node name 'a' already exists in the GraphDef");
  def.nodes = {placeholder_node("a"), node_of("b", "Neg", {"c"}, float_T)};
  CHECK(problem_of_import(def) == "the node 'b', input 'c': the graph has no node of this name");
  def.nodes = {placeholder_node("a"), node_of("b", "Neg", {"^a", "a"}, float_T)};
  CHECK(problem_of_import(def) == "the node 'b', input 'a': stands behind control inputs");
  def.nodes = {placeholder_node("a"), node_of("b", "Neg", {"a:x"}, float_T)};
  CHECK(problem_of_import(def).find("the node 'b', input: 'a:x'") != std::string::npos);
  def.nodes = {node_of("a", "Neg", {"b"}, float_T), node_of("b", "Neg", {"a"}, float_T)};
  CHECK(problem_of_import(def).find("cycle") != std::string::npos);
  def.nodes = {node_of("a b", "Neg")};
  CHECK(problem_of_import(def).find("`a b` is not a valid node name") != std::string::npos);
  def.nodes = {placeholder_node("a"), node_of("b", "Own", {"a"}), node_of("c", "Other", {"a"}), node_of("d", "Own", {"a"})};
  CHECK(problem_of_import(def, {.unknown_operators = false}) == "operators that are not known: 'Own', 'Other'");

  graph g;
  def.nodes = {placeholder_node("a"), node_of("b", "Neg", {"a", "a"}, float_T)};
  CHECK_THROWS_WITH_AS(import_graph(g, def), "the node 'b' (Neg): has 2 inputs, which is not what the operator takes", invalid_argument);
  def.nodes = {placeholder_node("a", dtype::int32), node_of("b", "Neg", {"a"}, float_T)};
  CHECK_THROWS_WITH_AS(import_graph(g, def), "the node 'b' (Neg): attribute T is DT_FLOAT, but its input has DT_INT32", invalid_argument);
  def.nodes = {placeholder_node("a"), node_of("b", "MatMul", {"a", "a"}, float_T), node_of("c", "LogicalNot", {"b"})};
  CHECK_THROWS_AS(import_graph(g, def), invalid_argument);
}

TEST_CASE("a loop whose variable is wrong is an error, whatever the first node of the graph is") {
  // The inputs of `m` that come over the back edge do not exist yet when it is made.
  const auto loop = [](std::int64_t inputs) {
    return std::vector{node_of("m", "Merge", {"n", "n"}, {{"T", dtype::float32}, {"N", inputs}}),
                       node_of("n", "NextIteration", {"m"}, {{"T", dtype::float32}}), node_of("y", "Exit", {"m"}, {{"T", dtype::float32}})};
  };
  graph_def def;
  def.nodes = loop(5);
  const std::string told = problem_of_import(def);
  CHECK(told.find("the node 'm' (Merge)") == 0);
  def.nodes.insert(def.nodes.begin(), node_of("half", "Placeholder", {}, {{"dtype", data_type::half}, {"shape", tensor_shape_proto{}}}));
  CHECK(problem_of_import(def) == told);

  def.nodes = {node_of("m", "Merge", std::vector<std::string>(65, "n"), {{"T", dtype::float32}, {"N", std::int64_t{65}}}),
               node_of("n", "NextIteration", {"m"}, {{"T", dtype::float32}})};
  CHECK(problem_of_import(def) == "the node 'm' (Merge): a loop's back edge is input 64; only inputs 0 to 63 can be one");
}

TEST_CASE("an import that fails late leaves the graph as it was, and the next has its names") {
  const graph_def good{.nodes = {placeholder_node("x"), node_of("y", "Relu", {"x"}, float_T)}};
  graph_def bad = good;
  bad.nodes.push_back(node_of("z", "AddV2", {"y", "x:1"}, float_T));
  graph g;
  const auto scope = g.as_default();
  const auto before = constant(1.0f, "before");
  import_graph(good);
  const graph_def was = export_graph(g);
  {
    const auto waits = control_dependencies({before});
    CHECK_THROWS_AS(import_graph(bad), invalid_argument);
    CHECK_THROWS_AS(import_graph(bad, {.name = "other"}), invalid_argument);
    CHECK(export_graph(g) == was);
    import_graph(good, {.name = "other"});
  }
  import_graph(good);
  CHECK(names_of(g) == std::vector<std::string>{"before", "import/x", "import/y", "other/x", "other/y", "import_1/x", "import_1/y"});
  CHECK(g.named().find("import_1/y") == 6);
  CHECK(g.named().find("other/z") < 0);
  CHECK(constant(2.0f, "z").name() == "z:0");
}

TEST_CASE("a branch keeps nothing of an import that fails") {
  graph_def bad{.nodes = {placeholder_node("x"), node_of("y", "Relu", {"x"}, float_T), node_of("z", "AddV2", {"y", "x:1"}, float_T)}};
  graph g;
  const auto scope = g.as_default();
  const auto p = placeholder(dtype::boolean, {}, "p");
  const auto one = constant(1.0f, "one");
  const auto chosen = cond(
      p,
      [&] {
        const int size = g.size();
        CHECK_THROWS_AS(import_graph(bad), invalid_argument);
        CHECK(g.size() == size);
        return identity(one);
      },
      [&] { return negative(one); });
  CHECK(chosen.type() == dtype::float32);
}

TEST_CASE("operators that are not known are kept as they are") {
  graph_def def;
  def.nodes = {placeholder_node("a"), node_of("b", "Mystery", {"a", "a"}, {{"level", 3}}), node_of("c", "Neg", {"b:2"}, float_T)};
  graph g;
  import_graph(g, def, {.name = ""});
  const auto mystery = get_operation_by_name(g, "b");
  CHECK(mystery.type() == "Mystery");
  CHECK(mystery.outputs().size() == 3);
  CHECK(*mystery.attribute("level").get_if<std::int64_t>() == 3);
  CHECK(get_tensor_by_name(g, "c:0").type() == dtype::float32);
  CHECK_FALSE(get_tensor_by_name(g, "c:0").extent().has_rank());
  def.versions = export_graph(g).versions;
  CHECK(export_graph(g) == def);
}

TEST_CASE("the dtype of a result is known where its shape is not") {
  graph_def def;
  def.nodes = {placeholder_node("a"),
               placeholder_node("c", dtype::boolean),
               placeholder_node("axis", dtype::int32),
               node_of("m", "Mystery", {"a"}),
               node_of("s", "SelectV2", {"c", "a", "m"}, float_T),
               node_of("t", "SelectV2", {"c", "m", "m"}, float_T),
               node_of("p", "ArgMax", {"a", "axis"}, {{"T", dtype::float32}, {"Tidx", dtype::int32}, {"output_type", dtype::int64}})};
  graph g;
  const auto scope = g.as_default();
  import_graph(g, def, {.name = ""});
  CHECK(get_tensor_by_name(g, "s:0").type() == dtype::float32);
  CHECK(get_tensor_by_name(g, "t:0").type() == dtype::float32);
  CHECK(get_tensor_by_name(g, "p:0").type() == dtype::int64);
  CHECK(argmax(get_tensor_by_name(g, "a:0"), get_tensor_by_name(g, "axis:0")).type() == dtype::int64);
}

namespace {

node_def number_node(std::string name, float value) {
  return node_of(std::move(name), "Const", {}, {{"dtype", dtype::float32}, {"value", tensor_literal(value).proto()}});
}
const node_def* find_node(const graph_def& def, std::string_view name) {
  for (const node_def& node : def.nodes)
    if (node.name == name) return &node;
  return nullptr;
}
tensor_shape_proto shape_attribute(const graph_def& def, std::string_view node) {
  return *find_node(def, node)->attributes.find("shape")->get_if<tensor_shape_proto>();
}
tensor_shape_proto of_unknown_rank() {
  tensor_shape_proto shape;
  shape.unknown_rank = true;
  return shape;
}

}  // namespace

TEST_CASE("names of a file differ in case, and stay") {
  const graph_def def{.nodes = {number_node("sub", 1), number_node("Sub", 2), node_of("SUB", "Sub", {"Sub", "sub"}, float_T)}};
  graph g;
  const auto scope = g.as_default();
  import_graph(def, {.name = ""});
  CHECK(names_of(g) == std::vector<std::string>{"sub", "Sub", "SUB"});
  CHECK(export_graph(g).nodes == def.nodes);
  CHECK(get_operation_by_name(g, "Sub").index() == 1);
  CHECK(get_operation_by_name(g, "SUB").inputs()[0].name() == "Sub:0");
  CHECK_THROWS_AS(get_operation_by_name(g, "sUB"), not_found);
  // New names are unique whatever the case of their letters.
  CHECK(constant(1.0f, "suB").name() == "suB_1:0");
  // A second import gets numbers where the very same name is taken, and those of its own file are left free.
  import_graph({.nodes = {number_node("Sub", 3), number_node("Sub_1", 4), number_node("Sub_2", 5), number_node("sUb", 6)}}, {.name = ""});
  CHECK(names_of(g) == std::vector<std::string>{"sub", "Sub", "SUB", "suB_1", "Sub_3", "Sub_1", "Sub_2", "sUb"});
  // So under a scope that is there already.
  import_graph(def, {.name = "p/"});
  import_graph(def, {.name = "p/"});
  CHECK(get_operation_by_name(g, "p/SUB_1").inputs()[1].name() == "p/sub_1:0");
}

TEST_CASE("an import does without names that are scopes, and follows nodes that it renames") {
  graph g;
  const auto scope = g.as_default();
  constant(1.0f, "a/b");
  import_graph({.nodes = {number_node("a", 1),
                          node_of("r", "Identity", {"a"}, {{"T", dtype::float32}, {"_class", std::vector<std::string>{"loc:@a"}}})}},
               {.name = ""});
  CHECK(names_of(g) == std::vector<std::string>{"a/b", "a_1", "r"});
  CHECK(get_operation_by_name(g, "r").inputs()[0].name() == "a_1:0");
  CHECK(*get_operation_by_name(g, "r").attribute("_class").get_list<std::string>() == std::vector<std::string>{"loc:@a_1"});
}

TEST_CASE("the empty shape of an old producer's placeholder is an unknown one, and is written as such") {
  graph_def def{.nodes = {node_of("x", "Placeholder", {}, {{"dtype", dtype::float32}, {"shape", tensor_shape_proto{}}})}};
  for (const std::int32_t producer : {0, 15, 21, 22, 134}) {
    def.versions.producer = producer;
    graph g;
    import_graph(g, def, {.name = ""});
    CHECK(get_tensor_by_name(g, "x:0").extent().has_rank() == (producer > 21));
    const graph_def again = export_graph(g);
    CHECK(again.versions.producer == producer);
    CHECK(shape_attribute(again, "x") == (producer > 21 ? tensor_shape_proto{} : of_unknown_rank()));
  }
  // In a graph with a scalar of a later producer both keep their meaning, whichever came first.
  for (const bool old_first : {true, false}) {
    graph g;
    const auto scope = g.as_default();
    const auto make_old = [&] {
      def.versions = {.producer = 21, .min_consumer = 5, .bad_consumers = {7}};
      import_graph(def, {.name = "old"});
    };
    if (old_first) make_old();
    placeholder(dtype::float32, {}, "mine");
    if (!old_first) make_old();
    const graph_def written = export_graph(g);
    CHECK(written.versions == version_def{.producer = 22, .min_consumer = 5, .bad_consumers = {7}});
    graph h;
    import_graph(h, written, {.name = ""});
    CHECK(get_tensor_by_name(h, "mine:0").extent() == shape{});
    CHECK_FALSE(get_tensor_by_name(h, "old/x:0").extent().has_rank());
  }
  // A graph with an operator that later producers do not have stays as old as it is.
  def.nodes.push_back(node_of("d", "BatchMatrixDiag", {"x"}, float_T));
  def.versions = {.producer = 13};
  graph g;
  const auto scope = g.as_default();
  import_graph(def, {.name = ""});
  placeholder(dtype::float32, {}, "mine");
  CHECK(export_graph(g).versions.producer == 13);
}

TEST_CASE("the first operator of variables is a variable, whose empty shape is an unknown one") {
  for (const auto& sizes : {tensor_shape_proto{}, tensor_shape_proto{2}}) {
    const graph_def def{
        .nodes = {node_of("v", "Variable", {}, {{"dtype", dtype::float32}, {"shape", sizes}}), node_of("r", "Identity", {"v"}, float_T)},
        .versions = {.producer = 134}};
    graph g;
    import_graph(g, def, {.name = ""});
    CHECK(g.at(0).op->kind == op_kind::variable);
    CHECK(get_tensor_by_name(g, "v:0").extent().has_rank() == !sizes.dims.empty());
    CHECK(get_tensor_by_name(g, "r:0").type() == dtype::float32);
    CHECK(export_graph(g) == def);
  }
}

TEST_CASE("shapes that a file tells of results add to what is known, and must not contradict it") {
  using shapes = std::vector<tensor_shape_proto>;
  const auto with = [](attribute_value hint) {
    graph_def def{.nodes = {placeholder_node("x"), node_of("y", "Neg", {"x"}, float_T)}};
    def.nodes[1].attributes["_output_shapes"] = std::move(hint);
    return def;
  };
  graph g;
  import_graph(g, with(shapes{{2, 3}}), {.name = ""});
  CHECK(get_tensor_by_name(g, "y:0").extent() == shape{2, {2, 3}});
  CHECK_FALSE(get_tensor_by_name(g, "x:0").extent().is_static());
  CHECK(export_graph(g).nodes[1].attributes == float_T);
  import_graph(g, with(shapes{{-1, 3}, {4}}));  // more than there are results
  import_graph(g, with(shapes{of_unknown_rank()}));
  CHECK(problem_of_import(with(shapes{{2}})) ==
        "the node 'y' (Neg): has an _output_shapes attribute inconsistent with the GraphDef for output #0: (?, 3) and (2,)");
  CHECK(problem_of_import(with(shapes{{2, 4}})).find("inconsistent") != std::string::npos);
  CHECK(problem_of_import(with(attribute_list{})) ==
        "the node 'y' (Neg): has 1 outputs but the _output_shapes attribute specifies shapes for 0 outputs");
  CHECK(problem_of_import(with(shapes{{std::int64_t{1} << 50, 3}})).find("too many elements") != std::string::npos);
}
