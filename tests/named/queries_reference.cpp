#include <leat/named/graph/lookup.hpp>

#include "support/messages.hpp"
#include "support/recorded_items.hpp"
#include "support/reference_json.hpp"

#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

using namespace leat;
using leat_test::reference_json;
using nlohmann::json;

// naming.json's look-ups and uses of several graphs. Names, shapes and values are those that the set shows; what runs in a session is in
// runtime/queries_reference.cpp.

namespace {

using observation = std::function<json()>;

json none() { return nullptr; }

// What a row answers, or nothing.
json answer(std::string_view what) {
  if (const auto reference = reference_json("naming.json"))
    for (const auto& row : (*reference)["queries"])
      if (row["what"] == what) return row["result"];
  return nullptr;
}
// The shape that a row's tensor is shown with: the numbers, and None, between "shape=(" and ")".
shape shape_shown(std::string_view what, const shape_value& otherwise) {
  const json said = answer(what);
  const std::string text = said.is_string() ? said.get<std::string>() : std::string();
  const auto begin = text.find("shape=(");
  if (begin == std::string::npos) return otherwise;
  shape s;
  std::istringstream rest(text.substr(begin + 7, text.find(')', begin) - begin - 7));
  for (std::string one; std::getline(rest, one, ',');)
    if (one.find_first_not_of(' ') != std::string::npos)
      s.push(one.find("None") != std::string::npos ? unknown_dimension : std::stoll(one));
  return s;
}
tensor_literal example_contents() { return {dtype::float32, shape_shown("as_graph_element(a tensor of this graph)", {1, 2}), 4}; }

// The name of a node of the recorded graph, by its place among get_operations().
std::string node_name(std::size_t k) {
  static const json names = [] {
    const json said = answer("get_operations()");
    return said.is_array() && said.size() == 6 ? said : json{"c", "exampleop", "ph", "anything", "sp/split_dim", "sp"};
  }();
  return names[k];
}

// The recorded graph. Split does not exist in the library: the node is made with all that it has.
struct example {
  graph g;
  default_graph_scope scope = g.as_default();
  output c = constant(example_contents(), node_name(0));
  output exampleop = matmul(c, c, matmul_options{.transpose_b = true}, node_name(1));
  output ph = placeholder(dtype::float32, shape_shown("str of a placeholder with an unknown dimension", {-1, 3}), node_name(2));
  output anything = placeholder(dtype::float32, unknown_shape, node_name(3));
  output axis = constant(1, node_name(4));
  graph_operation sp =
      g.named().raw(g, "Split", std::array{axis, c}, {{"T", dtype::float32}, {"num_split", 1}}, {{dtype::float32, c.extent()}}, node_name(5));
};

json element(const graph_element& e) {
  if (const auto* tensor = std::get_if<output>(&e)) return describe(*tensor);
  return "'Operation'";
}
json kept_values(const std::vector<collection_item>& items) {
  json list = json::array();
  for (const auto& i : items) {
    if (const auto* number = std::get_if<std::int64_t>(&i)) list.push_back(*number);
    if (const auto* tensor = std::get_if<output>(&i)) list.push_back(tensor->name());
  }
  return list;
}
json names(graph& g) {
  json list = json::array();
  for (const auto& op : get_operations(g)) list.push_back(op.name());
  return list;
}

std::map<std::string, observation> observations() {
  std::map<std::string, observation> all;
  const auto in_example = [&](const std::string& what, std::function<json(example&)> f) {
    all[what] = [f] {
      example e;
      return f(e);
    };
  };
  in_example("str of a placeholder with an unknown dimension", [](example& e) -> json { return describe(e.ph); });
  in_example("str of a placeholder without a shape", [](example& e) -> json { return describe(e.anything); });
  in_example("as_graph_element(x, allow_tensor=False, allow_operation=False)",
             [](example& e) { return element(as_graph_element(e.g, "x", {.tensors = false, .operations = false})); });
  all["as_graph_element(a tensor of this graph)"] = [] {
    graph g;
    const auto scope = g.as_default();
    return element(as_graph_element(g, constant(example_contents(), node_name(0))));
  };
  all["as_graph_element(a tensor of another graph)"] = [] {
    graph g;
    const auto scope = g.as_default();
    const auto c = constant(example_contents(), node_name(0));
    graph other;
    other.named();
    return element(as_graph_element(other, c));
  };
  all["as_graph_element(a variable)"] = [] {
    graph g;
    const auto scope = g.as_default();
    return element(as_graph_element(g, variable(1.0f, "v")));
  };
  in_example("op.inputs, op.outputs, op.control_inputs, tensor.consumers()", [](example& e) -> json {
    const auto op = e.exampleop.operation();
    json inputs = json::array();
    for (const auto& i : op.inputs()) inputs.push_back(i.name());
    json outputs = json::array();
    for (const auto& o : op.outputs()) outputs.push_back(o.name());
    json users = json::array();
    for (const auto& u : consumers(e.c)) users.push_back(u.name());
    return json::array({inputs, outputs, json::array(), users});
  });
  all["add tensors of two graphs"] = []() -> json {
    graph g;
    graph h;
    const auto a = [&] {
      const auto scope = g.as_default();
      return constant(1.0f);
    }();
    const auto scope = h.as_default();
    return describe(a + constant(1.0f));
  };
  all["default graph inside and after Graph().as_default()"] = []() -> json {
    graph& outer = default_graph();
    graph g;
    json seen;
    {
      const auto scope = g.as_default();
      seen = {{"inner_is_new", &default_graph() == &g},
              {"inner_is_outer", &default_graph() == &outer},
              {"constant_in_new", &constant(1.0f).owner() == &g}};
    }
    seen["after_is_outer"] = &default_graph() == &outer;
    return seen;
  };
  all["reset_default_graph gives a new empty default graph"] = []() -> json {
    graph& before = default_graph();
    const auto kept = constant(1.0f);
    reset_default_graph();
    const bool is_new = &default_graph() != &before;
    CHECK_FALSE(kept.name().empty());  // the former graph's tensors stay usable
    return {{"new_graph", is_new}, {"operations", default_graph().size()}};
  };
  all["reset_default_graph inside Graph().as_default()"] = [] {
    graph g;
    const auto scope = g.as_default();
    reset_default_graph();
    return none();
  };
  all["add a node to a finalized graph"] = [] {
    graph g;
    const auto scope = g.as_default();
    finalize(g);
    constant(1.0f);
    return none();
  };
  all["get_variable of one name in two graphs"] = []() -> json {
    json list = json::array();
    for (int i = 0; i < 2; ++i) {
      graph g;
      const auto scope = g.as_default();
      list.push_back(get_variable("v", {1}).name());
    }
    return list;
  };
  all["collections: duplicates kept, get_collection gives a copy, scope filters by prefix match"] = []() -> json {
    graph g;
    const auto scope = g.as_default();
    const json said = answer("collections: duplicates kept, get_collection gives a copy, scope filters by prefix match");
    for (const auto& v : said["k"]) add_to_collection("k", v.get<std::int64_t>());
    get_collection("k").clear();
    {
      const name_scope s("s");
      add_to_collection("t", constant(1.0f, "c"));
    }
    add_to_collection("t", constant(1.0f, "d"));
    return {{"k", kept_values(get_collection("k"))},
            {"empty", kept_values(get_collection("nothing"))},
            {"t_scope_s", kept_values(get_collection("t", "s"))},
            {"t_scope_d", kept_values(get_collection("t", "d"))},
            {"keys", get_all_collection_keys(g)}};
  };
  in_example("import_graph_def with an unknown input_map key", [](example& e) {
    const auto def = export_graph(e.g);
    import_graph(def, {.input_map = {{"zz:0", e.c}}});
    return none();
  });
  in_example("import_graph_def with an unknown return element", [](example& e) {
    import_graph(export_graph(e.g), {.return_elements = {"zz:0"}});
    return none();
  });
  in_example("get_operations()", [](example& e) { return names(e.g); });
  in_example("every tensor of the graph, through op.values()", [](example& e) {
    json list = json::array();
    for (const auto& op : get_operations(e.g))
      for (const auto& o : op.outputs()) list.push_back(o.name());
    return list;
  });
  all["import_graph_def: default prefix import, uniquified prefixes, input_map, empty name"] = []() -> json {
    example e;
    const auto def = export_graph(e.g);
    graph g;
    const auto scope = g.as_default();
    const auto first = import_graph(def, {.return_elements = {node_name(1) + ":0"}});
    const auto without = import_graph(def, {.name = "m"});
    const auto second = import_graph(def, {.name = "m", .return_elements = {node_name(1)}});
    import_graph(def, {.name = "", .input_map = {{node_name(0) + ":0", constant(example_contents(), "mine")}}});
    return {{"default_prefix", std::get<output>(first[0]).name()},
            {"result_without_return_elements", without.empty() ? json() : json(1)},
            {"second", std::get<graph_operation>(second[0]).name()},
            {"nodes", names(g)}};
  };
  all["import_graph_def twice with an empty name"] = []() -> json {
    example e;
    const auto def = export_graph(e.g);
    graph g;
    import_graph(g, def, {.name = ""});
    import_graph(g, def, {.name = ""});
    return names(g);
  };
  all["constant with a shape: the last value fills up"] = []() -> json {
    const json recorded = answer("constant with a shape: the last value fills up");
    std::vector<float> values = recorded["data"];
    shape extent;
    for (const auto& d : recorded["shape"]) extent.push(d.get<std::int64_t>());
    const auto count = static_cast<std::int64_t>(values.size());
    while (values.size() > 1 && values[values.size() - 1] == values[values.size() - 2]) values.pop_back();  // those that were filled up
    const tensor_literal filled = tensor_literal(values).shaped(extent);
    json data = json::array();
    for (std::int64_t i = 0; i < count; ++i) data.push_back(filled.number(i));
    return {{"dtype", "float32"}, {"shape", recorded["shape"]}, {"data", data}};
  };
  all["constant with too many values"] = [] {
    graph g;
    const auto scope = g.as_default();
    constant({1, 2, 3}, {2});
    return none();
  };
  all["constant dtype inference: 1, 1.0, True, 'a', [1, 2.5]"] = []() -> json {
    graph g;
    const auto scope = g.as_default();
    return {dtype_text(constant(1)), dtype_text(constant(1.0f)), dtype_text(constant(true)), dtype_text(constant("a")),
            dtype_text(constant({1.0f, 2.5f}))};
  };
  all["constant of a large integer"] = []() -> json {
    graph g;
    const auto scope = g.as_default();
    return dtype_text(constant(std::int64_t{1} << 40));
  };
  all["int tensor plus float number"] = []() -> json {
    graph g;
    const auto scope = g.as_default();
    return describe(add(constant(1), 1.5f));
  };
  all["int32 tensor plus int64 tensor"] = []() -> json {
    graph g;
    const auto scope = g.as_default();
    return describe(constant(1) + constant(std::int64_t{1}));
  };
  all["float32 tensor plus float64 tensor"] = []() -> json {
    graph g;
    const auto scope = g.as_default();
    return describe(constant(1.0f) + constant(1.0));
  };
  all["set_shape merges; incompatible"] = []() -> json {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, {-1, 3});
    set_shape(x, shape_value{2, -1});
    CHECK(x.extent() == shape_value{2, 3});
    const auto y = placeholder(dtype::float32, {-1, 3});
    set_shape(y, shape_value{2, 4});
    return none();
  };
  return all;
}

// A look-up by name, whatever the name: "get_tensor_by_name('c:0')".
std::optional<observation> look_up(const std::string& what) {
  static const std::regex tensor("get_tensor_by_name\\('(.*)'\\)"), operation("get_operation_by_name\\('(.*)'\\)(\\.name)?"),
      either("as_graph_element\\('([^']*)'(, allow_tensor=False)?(, allow_operation=False)?\\)");
  std::smatch m;
  if (std::regex_match(what, m, tensor))
    return [name = m[1].str()] {
      example e;
      return json(describe(get_tensor_by_name(e.g, name)));
    };
  if (std::regex_match(what, m, operation))
    return [name = m[1].str()] {
      example e;
      return json(get_operation_by_name(e.g, name).name());
    };
  if (std::regex_match(what, m, either))
    return [name = m[1].str(), tensors = !m[2].matched, operations = !m[3].matched] {
      example e;
      return element(as_graph_element(e.g, name, {.tensors = tensors, .operations = operations}));
    };
  return std::nullopt;
}

// Why a row has no counterpart.
std::string reason_of_row(const json& row) {
  if (row["result"].is_string() && row["result"].get<std::string>().starts_with("<tf.")) return "Python's form of an object";
  if (row["error"].is_object()) {
    const std::string type = row["error"]["type"];
    if (type == "TypeError" || type == "OperatorNotAllowedInGraphError") return "a type that the compiler refuses, or Python's use of one";
  }
  return "not asked here: in a session, or another way of saying it";
}

bool is_state_error(const std::string& type) { return type == "RuntimeError" || type == "AssertionError"; }

}  // namespace

TEST_CASE("look-ups and uses of several graphs answer as in TensorFlow") {
  const auto reference = reference_json("naming.json");
  if (!reference) return;
  const auto all = observations();
  leat_test::recorded_items items("look-ups");
  for (const auto& row : (*reference)["queries"]) {
    const std::string what = row["what"];
    const auto found = all.find(what);
    const std::optional<observation> asked = found != all.end() ? found->second : look_up(what);
    const std::string type = row["error"].is_null() ? "" : row["error"]["type"];
    if (!asked || (found == all.end() && type == "TypeError")) {
      items.left_out(what, reason_of_row(row));
      continue;
    }
    INFO(what);
    items.ran();
    json got;
    std::string message;
    std::string kind;
    try {
      got = (*asked)();
    } catch (const not_found& e) {
      message = e.what();
      kind = "KeyError";
    } catch (const failed_precondition& e) {
      message = e.what();
      kind = "state";
    } catch (const invalid_argument& e) {
      message = e.what();
      kind = "argument";
    }
    if (row["error"].is_null()) {
      INFO(message);
      CHECK(got == row["result"]);
      continue;
    }
    CHECK(kind == (type == "KeyError" ? "KeyError" : is_state_error(type) ? "state" : "argument"));
    // TensorFlow's message, but for what is Python's: quotes of a KeyError, the addresses of graphs, its "looks a like"
    std::string theirs = row["error"]["message"];
    if (type == "KeyError") theirs = theirs.substr(1, theirs.size() - 2);
    theirs = theirs.substr(0, theirs.find(" (graphs are"));
    theirs = theirs.substr(0, theirs.find("tf.reset_default_graph"));
    if (const auto at = theirs.find("looks a like"); at != std::string::npos) theirs.replace(at, 12, "looks like");
    CHECK_MESSAGE(message.find(theirs) == 0, message);
  }
  items.finish();
}

TEST_CASE("a name without a port is called an operation's only where there is one") {
  example e;
  const auto said = [&](const std::string& name) { return leat_test::message_of<invalid_argument>([&] { get_tensor_by_name(e.g, name); }); };
  CHECK(said(node_name(1)).starts_with("The name '" + node_name(1) + "' refers to an Operation, not a Tensor."));
  CHECK(said("nothing").starts_with("The name 'nothing' looks like an (invalid) Operation name, not a Tensor."));
  CHECK(said("").starts_with("The name '' looks like an (invalid) Operation name, not a Tensor."));
}
