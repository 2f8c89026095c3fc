// Whole models: a graph with the values of its variables and a signature, the names by which others run it. With `--folder model` the
// model stays there, for the command:
//
//    typed session ----> model/typed  ----> load_model ----> run("serving_default", {x}) ----> z
//    graph_session ----> model/named  ----> leat show, leat run --feed "x=[0.2]"

#include <leat/graphs.hpp>
#include <leat/io/saved_model.hpp>
#include <leat/io/saved_typed_model.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/notes.hpp"

#include <cmath>

using namespace leat;
using namespace leat::examples;

namespace {

void signatures() {
  item("12.1", "a trained line, exported and imported with a signature");
  std::vector<float> xs, ys;
  for (int i = 0; i < 100; ++i) {
    xs.push_back(static_cast<float>(-1 + 2.0 * i / 99));
    ys.push_back(static_cast<float>(2 * (-1 + 2.0 * i / 99) + 0.3 * std::sin(7.0 * i)));
  }
  const std::vector<float> at{0.2f};

  auto x = leat::placeholder<"x", float, "n">();
  auto y = leat::placeholder<"y", float, "n">();
  auto z = x * leat::variable<"weight", float, 1>(zeros) + leat::variable<"bias", float>(0.0f);
  auto train = gradient_descent(0.1f).minimize(reduce_mean(square(y - z)));
  session t{z, train};
  t.initialize();
  for (int step = 0; step < 200; ++step) t.run(fetch(train), x = xs, y = ys);
  auto [predicted] = t.run(fetch(z), x = at);
  io::save_model(folder() / "typed", t, {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"z", z}}}}}});

  graph g;
  auto here = g.as_default();
  auto nx = placeholder(dtype::float32, {-1}, "x"), ny = placeholder(dtype::float32, {-1}, "y");
  auto w = variable(zeros({1}), "weight"), b = variable(0.0f, "bias");
  auto product = multiply(nx, w);
  auto nz = add(product, b, "z");
  auto named_train = gradient_descent(0.1f).minimize(reduce_mean(square(ny - nz)));
  graph_session s(g);
  s.run(global_variables_initializer());
  for (int step = 0; step < 200; ++step) s.run(named_train, {{nx, xs}, {ny, ys}});
  const auto named = s.run(nz, {{nx, at}});
  io::save_model(folder() / "named", s, {.signatures = {{"serving_default", {.inputs = {{"x", nx}}, .outputs = {{"z", nz}}}}}});

  // Least squares: W = 1.99605, b = 0.00655.
  expect("the typed session's prediction at 0.2", predicted, {1.99605f * 0.2f + 0.00655f}, 1e-5);
  expect("the graph session's", named, {1.99605f * 0.2f + 0.00655f}, 1e-5);
  for (const char* name : {"typed", "named"}) {
    const io::saved_model loaded = io::load_model(folder() / name);
    const auto& signature = loaded.signatures().at("serving_default");
    expect(std::string(name) + ": inputs of the signature", static_cast<int>(signature.inputs.size()), 1);
    expect_text("input", describe(loaded.input("serving_default", "x")), "Tensor(\"x:0\", shape=(None,), dtype=float32)");
    expect_text("shape of the output", shape_text(loaded.result("serving_default", "z").extent()), "(?,)");
    expect_equal("its prediction at 0.2", loaded.run("serving_default", {{"x", at}})["z"],
                 name[0] == 't' ? tensor_value(predicted) : named);
    expect_refused<not_found>("an output that it has not", "z", [&] { loaded.result("serving_default", "y"); });
  }
}

void of_tensorflow() {
  item("12.2", "a folder of TensorFlow's: saved_model.pb and variables/");
  graph g;
  auto here = g.as_default();
  auto x = placeholder(dtype::float32, {-1}, "x");
  auto w = variable({2.0f}, "weight");
  auto y = multiply(x, w, "y");
  graph_session s(g);
  s.run(global_variables_initializer());
  // As TensorFlow's loader reads it, and as its simple_save writes it.
  const auto place = folder() / "tensorflow";
  io::save_model(
      place, s,
      {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}, .format = io::model_format::tensorflow});
  const io::saved_model loaded = io::load_model(place, {.tags = {"serve"}});
  expect("its weight", loaded.session().run("weight:0"), {2.0f});
  expect("its prediction", loaded.run("serving_default", {{"x", {3.0f, 4.0f}}})["y"], {6.0f, 8.0f});
  expect_true("its operators", get_operations(loaded.graph()).size() == get_operations(g).size());
  expect_refused<not_found>("tags that it has not", "\"serve\"", [&] { io::load_model(place, {.tags = {"train"}}); });
  const std::string one = io::read_file(place / "saved_model.pb");
  io::write_file(place / "saved_model.pb", one + one);  // two graphs
  expect_refused<invalid_argument>("more than one graph", "has 2 graphs", [&] { io::load_model(place); });
  // Without the values only the graph is there.
  io::write_file(place / "saved_model.pb", one);
  std::filesystem::remove_all(place / "variables");
  expect("nodes of the graph alone", static_cast<int>(io::read_saved_model_folder(place).meta.graph.nodes.size()),
         static_cast<int>(get_operations(g).size()));
  const io::saved_model empty = io::load_model(place);
  expect_true("a model without values says so", !empty.left_out().empty());
  expect_refused<failed_precondition>("its runs", "weight", [&] { empty.run("serving_default", {{"x", {3.0f, 4.0f}}}); });
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(
      count, arguments, "Whole models, in a folder.",
      {{"signatures", "export and import with a signature", signatures}, {"of_tensorflow", "TensorFlow's SavedModel", of_tensorflow}});
}
