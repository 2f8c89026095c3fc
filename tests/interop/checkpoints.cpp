// Checkpoints and SavedModel folders exchanged with TensorFlow: a linear regression by Momentum that is trained ten steps there and ten
// more here, and the other way round. checkpoints.py is TensorFlow's side; scripts/interop runs both.
//
//   interop_checkpoints write FOLDER   trains, and writes FOLDER/model.ckpt-10, FOLDER/saved_model and FOLDER/values.json
//   interop_checkpoints read FOLDER    goes on with what TensorFlow wrote there, and writes FOLDER/went_on.json

#include <leat/checkpoint.hpp>
#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/saved_model.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>

using namespace leat;
using nlohmann::json;

namespace {

constexpr int steps = 10;

struct points {
  std::vector<float> x, y;
  points() {
    for (int i = 0; i < 100; ++i) {
      x.push_back(static_cast<float>(-1 + 2 * i / 99.0));
      y.push_back(static_cast<float>(2 * x.back() + 0.3 * std::sin(7.0 * i)));
    }
  }
};

void train(graph_session& s, int count) {
  const points data;
  for (int i = 0; i < count; ++i) s.run({"train"}, {{"x:0", data.x}, {"y:0", data.y}});
}

// Numbers as they are to the bit: JSON's shortest form of a double that holds them.
json values_in(graph_session& s) {
  json all = json::object();
  for (const auto& [name, value] : values_of(s)) {
    json& entry = all[name];
    entry["dtype"] = dtype_name(value.type());
    entry["shape"] = json::array();
    for (int i = 0; i < value.extent().rank; ++i) entry["shape"].push_back(value.extent()[i]);
    entry["data"] = json::array();
    with_dtype(value.type(), [&]<class T>(T) {
      for (const auto number : value.values<T>()) {
        if constexpr (std::is_floating_point_v<T>) entry["data"].push_back(static_cast<double>(number));
        else entry["data"].push_back(static_cast<std::int64_t>(number));
      }
    });
  }
  return all;
}

// A table in three slices, times the row that both sides feed.
std::vector<float> sliced_at(io::saved_model& model) {
  return model.run("serving_default", {{"x", tensor_value(shape_value{1, 7}, std::vector<float>{1, 2, 3, 4, 5, 6, 7})}})["y"]
      .as<std::vector<float>>();
}
void write_sliced(const std::string& folder) {
  graph g;
  const auto here = g.as_default();
  std::vector<float> values;
  for (int k = 0; k < 21; ++k) values.push_back(static_cast<float>(k));
  const auto table = get_variable(
      "net/table", {.initializer = operand_value(tensor_literal(shape_value{7, 3}, values)), .partitioner = fixed_size_partitioner(3)});
  const auto x = placeholder(dtype::float32, {-1, 7}, "x");
  const auto y = matmul(x, output(table), "y");
  graph_session s(g);
  s.run(global_variables_initializer());
  io::save_model(
      folder + "/sliced_model", s,
      {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}, .format = io::model_format::tensorflow});
}

void save_json(const json& j, const std::string& path) { std::ofstream(path) << j.dump(1) << "\n"; }

int failures = 0;
void check(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::cerr << "interop_checkpoints: " << what << "\n";
}

float prediction_at(io::saved_model& model, float x) {
  return model.run("serving_default", {{"x", std::vector<float>{x}}})["prediction"].as<std::vector<float>>()[0];
}

void write(const std::string& folder) {
  write_sliced(folder);
  graph g;
  const auto here = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto y = placeholder(dtype::float32, {-1}, "y");
  const auto w = variable(0.5f, "w");
  const auto b = variable(0.0f, "b");
  // Of the other dtypes, and of more dimensions; of TensorFlow's own it writes and reads the same.
  variable(tensor_literal(std::vector<double>{1.0 / 3, -2, 1e300}), "others/double", {.trainable = false});
  variable({1, -2, 3}, "others/int", {.trainable = false});
  variable(std::vector<bool>{true, false, true}, "others/bool", {.trainable = false});
  variable(std::vector<std::uint8_t>{0, 7, 255}, "others/byte", {.trainable = false});
  variable(constant({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}), "others/matrix", {.trainable = false});
  const auto count = get_or_create_global_step();
  const auto prediction = add(multiply(w, x), b, "prediction");
  const auto loss = identity(reduce_mean(square(subtract(prediction, y))), "loss");
  on_graph(momentum(0.1f, 0.9f)).minimize(loss, {.global_step = count, .name = "train"});
  graph_session s(g);
  s.run(global_variables_initializer());
  train(s, steps);
  saver save({.format = checkpoint_format::tensorflow});
  check(save(s, folder + "/model.ckpt", count) == folder + "/model.ckpt-10", "another name than model.ckpt-10");
  io::save_model(folder + "/saved_model", s,
                 {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"prediction", prediction}}}}},
                  .format = io::model_format::tensorflow});
  json written = {{"values", values_in(s)}};
  train(s, steps);
  written["went_on"] = values_in(s);
  save_json(written, folder + "/values.json");
}

void read(const std::string& folder) {
  const auto wanted = json::parse(std::ifstream(folder + "/values.json"));
  const checkpoint_path latest = latest_checkpoint(folder);
  check(static_cast<bool>(latest), folder + ": no latest checkpoint");
  graph g;
  const auto meta = io::read_binary_file<meta_graph_def>(latest.str() + ".meta");
  import_graph(g, meta.graph, {.name = ""});
  io::import_collections(g, meta.collections);
  graph_session s(g);
  saver save(g, {.format = checkpoint_format::tensorflow});
  save.restore(s, latest);
  check(values_in(s) == wanted["values"], latest.str() + ": other values than TensorFlow's");
  io::saved_model sliced = io::load_model(folder + "/sliced_model");
  const auto row = sliced_at(sliced);
  for (std::size_t k = 0; k < row.size(); ++k)
    check(std::abs(row[k] - wanted["sliced"][k].get<float>()) < 1e-4f, "sliced_model: another row than TensorFlow's");
  // In several shards, and with strings and slices between them.
  graph_session sharded(g);
  save.restore(sharded, folder + "/sharded");
  check(values_in(sharded) == wanted["values"], "sharded: other values than TensorFlow's");
  const checkpoint_reader strings(folder + "/strings");
  check(strings.value("texts").as<std::vector<std::string>>() == wanted["texts"].get<std::vector<std::string>>(), "strings differ");

  train(s, steps);
  save_json(values_in(s), folder + "/went_on.json");
  save.save(s, folder + "/from_leat", 20);

  io::saved_model model = io::load_model(folder + "/saved_model", {.tags = {"serve"}});
  check(values_in(model.session()) == wanted["values"], "saved_model: other values than TensorFlow's");
  const float at = prediction_at(model, 0.2f);
  check(std::abs(at - wanted["prediction"].get<float>()) < 1e-6f, "saved_model: predicts " + std::to_string(at));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "interop_checkpoints write|read FOLDER\n";
    return 2;
  }
  if (std::string(argv[1]) == "write") write(argv[2]);
  else read(argv[2]);
  return failures > 0 ? 1 : 0;
} catch (const std::exception& e) {
  std::cerr << "interop_checkpoints: " << e.what() << "\n";
  return 1;
}
