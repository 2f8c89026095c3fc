#include <leat/named/graph/lookup.hpp>

#include "support/reference_json.hpp"

#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/functions/named_array.hpp>
#include <leat/named/functions/named_math.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace leat;
using leat_test::reference_json;
using nlohmann::json;

// naming.json's look-ups and uses of several graphs: each row has a counterpart here, or is named as one that needs a session
// or an operator that does not exist yet.

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

// The recorded graph. Split does not exist in the library: the node is made with all that it has.
struct example {
  graph g;
  default_graph_scope scope = g.as_default();
  output c = constant(example_contents(), "c");
  output exampleop = matmul(c, c, matmul_options{.transpose_b = true}, "exampleop");
  output ph = placeholder(dtype::float32, shape_shown("str of a placeholder with an unknown dimension", {-1, 3}), "ph");
  output anything = placeholder(dtype::float32, unknown_shape, "anything");
  output axis = constant(1, "sp/split_dim");
  graph_operation sp =
      g.named().raw(g, "Split", std::array{axis, c}, {{"T", dtype::float32}, {"num_split", 1}}, {{dtype::float32, c.extent()}}, "sp");
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
  in_example("get_tensor_by_name('exampleop:0')", [](example& e) -> json { return describe(get_tensor_by_name(e.g, "exampleop:0")); });
  in_example("str of a placeholder with an unknown dimension", [](example& e) -> json { return describe(e.ph); });
  in_example("str of a placeholder without a shape", [](example& e) -> json { return describe(e.anything); });
  for (const char* name : {"exampleop", "exampleop:1", "nothing:0"})
    in_example("get_tensor_by_name('" + std::string(name) + "')",
               [name](example& e) -> json { return describe(get_tensor_by_name(e.g, name)); });
  in_example("get_operation_by_name('exampleop').name", [](example& e) -> json { return get_operation_by_name(e.g, "exampleop").name(); });
  for (const char* name : {"exampleop:0", "nothing"})
    in_example("get_operation_by_name('" + std::string(name) + "')",
               [name](example& e) -> json { return get_operation_by_name(e.g, name).name(); });
  for (const char* name : {"exampleop", "exampleop:0", "a:b:c"})
    in_example("as_graph_element('" + std::string(name) + "')", [name](example& e) { return element(as_graph_element(e.g, name)); });
  in_example("as_graph_element('exampleop:0', allow_tensor=False)",
             [](example& e) { return element(as_graph_element(e.g, "exampleop:0", {.tensors = false})); });
  in_example("as_graph_element('exampleop', allow_operation=False)",
             [](example& e) { return element(as_graph_element(e.g, "exampleop", {.operations = false})); });
  in_example("as_graph_element(x, allow_tensor=False, allow_operation=False)",
             [](example& e) { return element(as_graph_element(e.g, "x", {.tensors = false, .operations = false})); });
  all["as_graph_element(a tensor of this graph)"] = [] {
    graph g;
    const auto scope = g.as_default();
    return element(as_graph_element(g, constant(example_contents(), "c")));
  };
  all["as_graph_element(a tensor of another graph)"] = [] {
    graph g;
    const auto scope = g.as_default();
    const auto c = constant(example_contents(), "c");
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
    for (std::int64_t v : {1, 1, 2, 3}) add_to_collection("k", v);
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
    const auto first = import_graph(def, {.return_elements = {"exampleop:0"}});
    const auto without = import_graph(def, {.name = "m"});
    const auto second = import_graph(def, {.name = "m", .return_elements = {"exampleop"}});
    import_graph(def, {.name = "", .input_map = {{"c:0", constant(example_contents(), "mine")}}});
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

bool is_state_error(const std::string& type) { return type == "RuntimeError" || type == "AssertionError"; }

}  // namespace

TEST_CASE("look-ups and uses of several graphs answer as in TensorFlow") {
  const auto reference = reference_json("naming.json");
  if (!reference) return;
  const auto all = observations();
  int here = 0;
  std::string lacking;
  for (const auto& row : (*reference)["queries"]) {
    const std::string what = row["what"];
    const auto found = all.find(what);
    if (found == all.end()) {
      lacking += "\n  " + what;
      continue;
    }
    INFO(what);
    ++here;
    json got;
    std::string message;
    std::string kind;
    try {
      got = found->second();
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
    const std::string type = row["error"]["type"];
    CHECK(kind == (type == "KeyError" ? "KeyError" : is_state_error(type) ? "state" : "argument"));
    // TensorFlow's message, but for what is Python's: quotes of a KeyError, the addresses of graphs, its "looks a like"
    std::string theirs = row["error"]["message"];
    if (type == "KeyError") theirs = theirs.substr(1, theirs.size() - 2);
    theirs = theirs.substr(0, theirs.find(" (graphs are"));
    theirs = theirs.substr(0, theirs.find("tf.reset_default_graph"));
    if (const auto at = theirs.find("looks a like"); at != std::string::npos) theirs.replace(at, 12, "looks like");
    CHECK_MESSAGE(message.find(theirs) == 0, message);
  }
  MESSAGE(here << " of " << (*reference)["queries"].size()
               << " rows; the others need a session, or operators that do not exist yet, or are Python's:" << lacking);
  CHECK(here == static_cast<int>(all.size()));
}
