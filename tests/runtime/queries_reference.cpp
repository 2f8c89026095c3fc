#include <leat/session/graph_session.hpp>

#include "support/recorded_items.hpp"
#include "support/reference_json.hpp"

#include <leat/named/control/control_flow.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/variables/variables.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using namespace leat;
using leat_test::reference_json;
using nlohmann::json;

// naming.json's rows that run something in a session: the same answer, or the same class of error in TensorFlow's words.

namespace {

json to_json(const tensor_value& v) {
  json data = json::array();
  for (const float x : v.as<std::vector<float>>()) data.push_back(x);
  json sizes = json::array();
  for (int i = 0; i < v.extent().rank; ++i) sizes.push_back(v.extent()[i]);
  return {{"dtype", std::string(name_of_dtype(v.type()))}, {"shape", sizes}, {"data", data}};
}

using observation = std::function<json()>;

// What a row answers, or its error's words.
json row_of(std::string_view what) {
  if (const auto reference = reference_json("naming.json"))
    for (const auto& row : (*reference)["queries"])
      if (row["what"] == what) return row;
  return {{"result", nullptr}, {"error", nullptr}};
}
float number_of(std::string_view what, const char* key, float otherwise) {
  const json row = row_of(what);
  return row["result"].is_object() && row["result"].contains(key) ? row["result"][key].get<float>() : otherwise;
}
// What was fed so that these came out.
std::vector<float> values_of(std::string_view what, float times) {
  const json row = row_of(what);
  if (!row["result"].is_object()) return {1, 2};
  std::vector<float> all = row["result"]["data"];
  for (float& v : all) v /= times;
  return all;
}
// "(3,)": the size of the first shape in a message.
std::size_t size_in(std::string_view what, std::size_t otherwise) {
  const json row = row_of(what);
  if (!row["error"].is_object()) return otherwise;
  const std::string text = row["error"]["message"];
  const auto at = text.find('(');
  return at == std::string::npos ? otherwise : static_cast<std::size_t>(std::stoul(text.substr(at + 1)));
}

std::map<std::string, observation> observations() {
  std::map<std::string, observation> all;
  all["run a tensor in a session of another, empty graph"] = [] {
    graph g, empty;
    const auto scope = g.as_default();
    const output c = constant(1.0f);
    graph_session(empty).run(c);
    return json();
  };
  all["run a tensor in a session of another graph"] = [] {
    graph g, other;
    output c;
    {
      const auto scope = g.as_default();
      c = constant(1.0f);
    }
    const auto scope = other.as_default();
    constant(2.0f);
    graph_session(other).run(c);
    return json();
  };
  all["feed a tensor of another graph"] = [] {
    graph g, other;
    output p;
    {
      const auto scope = g.as_default();
      p = placeholder(dtype::float32);
    }
    const auto scope = other.as_default();
    const output c = constant(2.0f);
    graph_session(other).run(c, {{p, 1.0f}});
    return json();
  };
  all["Session with an empty graph: run"] = [] {
    graph empty;
    graph_session(empty).run(std::vector<output>{});
    return json();
  };
  all["run after close"] = [] {
    graph g;
    const auto scope = g.as_default();
    const output c = constant(1.0f);
    graph_session s(g);
    s.close();
    s.run(c);
    return json();
  };
  all["two sessions on one graph keep their own variables"] = [] {
    graph g;
    const auto scope = g.as_default();
    const char* what = "two sessions on one graph keep their own variables";
    const output v = variable(number_of(what, "second", 1.0f), "v");
    const output to_three = assign(v, number_of(what, "first", 3.0f));
    const auto init = global_variables_initializer();
    graph_session first(g), second(g);
    first.run(init);
    second.run(init);
    first.run(to_three);
    return json{{"first", first.run<float>(v)}, {"second", second.run<float>(v)}};
  };
  all["fetch 'b:0' that does not exist"] = [] {
    graph g;
    const auto scope = g.as_default();
    constant(1.0f, "a");
    graph_session(g).run("b:0");
    return json();
  };
  const auto doubled = [](std::function<json(graph_session&, const output& x, const output& y)> run) {
    return [run] {
      graph g;
      const auto scope = g.as_default();
      const output x = placeholder(dtype::float32, {static_cast<std::int64_t>(values_of("feed a placeholder", 2).size())}, "x");
      const output y = multiply(x, 2.0f, "y");
      graph_session s(g);
      return run(s, x, y);
    };
  };
  all["feed a placeholder"] = doubled([](graph_session& s, const output& x, const output& y) {
    return to_json(s.run(y, {{x, values_of("feed a placeholder", 2)}}));
  });
  all["feed by name"] = doubled([](graph_session& s, const output&, const output& y) {
    return to_json(s.run(y, {{"x:0", values_of("feed by name", 2)}}));
  });
  all["feed an intermediate tensor that is itself fetched"] =
      doubled([](graph_session& s, const output&, const output& y) {
        return to_json(s.run(y, {{y, values_of("feed an intermediate tensor that is itself fetched", 1)}}));
      });
  all["feed nothing"] = doubled([](graph_session& s, const output&, const output& y) { return to_json(s.run(y)); });
  all["feed a wrong shape"] = doubled([](graph_session& s, const output& x, const output& y) {
    return to_json(s.run(y, {{x, std::vector<float>(size_in("feed a wrong shape", 3), 1.0f)}}));
  });
  all["feed a key that is not in the graph"] =
      doubled([](graph_session& s, const output&, const output& y) { return to_json(s.run(y, {{"z:0", std::vector{1.0f, 2.0f}}})); });
  all["feed a constant: for that run only"] = [] {
    graph g;
    const auto scope = g.as_default();
    const char* what = "feed a constant: for that run only";
    const output c = constant(number_of(what, "next_run", 2.0f) - 1, "c");
    const output sum = c + 1.0f;
    graph_session s(g);
    const float fed = s.run<float>(sum, {{c, number_of(what, "constant_fed", 11.0f) - 1}});
    return json{{"constant_fed", fed}, {"next_run", s.run<float>(sum)}};
  };
  all["feed a variable's value"] = [] {
    graph g;
    const auto scope = g.as_default();
    const char* what = "feed a variable's value";
    const output v = variable(number_of(what, "next_run", 2.0f) / 2, "v");
    const output twice = v * 2.0f;
    graph_session s(g);
    const float fed = s.run<float>(twice, {{v, number_of(what, "fed_variable_needs_no_initial_value", 20.0f) / 2}});
    s.run(global_variables_initializer());
    return json{{"fed_variable_needs_no_initial_value", fed}, {"next_run", s.run<float>(twice)}};
  };
  all["feed a tensor marked unfeedable"] = [] {
    graph g;
    const auto scope = g.as_default();
    const output c = constant(1.0f);
    prevent_feeding(c);
    graph_session(g).run(c, {{c, 2.0f}});
    return json();
  };
  return all;
}

}  // namespace

TEST_CASE("sessions answer, and refuse, as TensorFlow's") {
  const auto reference = reference_json("naming.json");
  if (!reference) return;
  const auto all = observations();
  leat_test::recorded_items items("runs and refusals of sessions");
  for (const auto& row : (*reference)["queries"]) {
    const auto found = all.find(row["what"].get<std::string>());
    if (found == all.end()) {
      items.left_out(row["what"], "not asked here: without a session, or of Python's types");
      continue;
    }
    INFO(found->first);
    items.ran();
    json got;
    std::string kind, message;
    try {
      got = found->second();
    } catch (const failed_precondition& e) {
      kind = "RuntimeError";
      message = e.what();
    } catch (const invalid_argument& e) {
      kind = "argument";
      message = e.what();
    } catch (const error& e) {
      kind = "another";
      message = e.what();
    }
    INFO(message);
    if (row["error"].is_null()) {
      CHECK(got == row["result"]);
      continue;
    }
    const std::string type = row["error"]["type"];
    CHECK(kind == (type == "RuntimeError" ? "RuntimeError" : "argument"));
    // TensorFlow's words, but for quotes and places that are Python's
    std::string theirs = row["error"]["message"];
    std::string mine = message;
    std::erase(theirs, '"');
    std::erase(mine, '"');
    theirs = theirs.substr(0, theirs.find("\n"));
    CHECK_MESSAGE(mine.find(theirs) != std::string::npos, theirs);
  }
  items.finish();
}

TEST_CASE("what may not be fetched is refused") {
  graph g;
  const auto scope = g.as_default();
  const output c = constant(1.0f, "c");
  prevent_fetching(c);
  CHECK(!is_fetchable(c));
  graph_session s(g);
  CHECK_THROWS_AS(s.run(c), invalid_argument);
  CHECK_THROWS_AS(s.run("c"), invalid_argument);
}
