#include <leat/checkpoint/saver.hpp>
#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/saved_model.hpp>
#include <leat/session/typed/array.hpp>

#include "support/graph_text.hpp"
#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using leat_test::scratch_folder;
namespace files = std::filesystem;

namespace {

// y = x w + b with a training step, and a local counter.
struct line_model {
  graph g;
  output x, y, goal, loss;
  graph_operation train, init;
  line_model() {
    const auto here = g.as_default();
    x = placeholder(dtype::float32, {-1, 2}, "x");
    goal = placeholder(dtype::float32, {-1, 1}, "goal");
    const output w = get_variable("w", {2, 1}, {.initializer = zeros});
    const output b = variable(0.5f, "b");
    variable(std::int64_t{7}, "runs", {.trainable = false, .collections = {"local_variables"}});
    y = identity(matmul(x, w) + b, "y");
    loss = reduce_mean(square(y - goal));
    train = gradient_descent(0.1f).minimize(loss);
    init = global_variables_initializer();
    add_to_collection("note", std::string("a text"));
    add_to_collection("losses", loss);
    add_to_collection("sizes", std::int64_t{3});
  }
  io::save_model_options options() const {
    return {.signatures = {{"serving_default", {.inputs = {{"points", x}}, .outputs = {{"heights", y}}}}},
            .collections = {{"train_op", {train}}},
            .metadata = {{"steps", "20"}}};
  }
};
const xt::xtensor<float, 2> points{{1, 2}, {3, 4}, {-1, 0.5f}};
const xt::xtensor<float, 2> goals{{1}, {2}, {3}};

}  // namespace

TEST_CASE("a model that was saved and loaded computes the same, and trains on") {
  const scratch_folder scratch("saved_model");
  const auto folder = scratch.path / "model";
  line_model m;
  graph_session s(m.g);
  CHECK(says(message_of([&] { io::save_model(folder, s, m.options()); }),
             "variables without a value: 'b', 'w'; run their initializers first"));
  s.run(m.init);
  for (int k = 0; k < 20; ++k) s.run(m.train, {{m.x, points}, {m.goal, goals}});
  io::save_model(folder, s, m.options());
  const auto before = s.run<std::vector<float>>(m.y, {{m.x, points}});

  io::saved_model loaded = io::load_model(folder);
  CHECK(loaded.run("serving_default", {{"points", points}})["heights"].as<std::vector<float>>() == before);
  CHECK(loaded.tags() == std::vector<std::string>{"serve"});
  CHECK(loaded.metadata() == io::named_texts{{"steps", "20"}});
  CHECK(loaded.session().uninitialized_variables() == std::vector<std::string>{"runs"});  // local ones are not saved
  io::saved_model moved = std::move(loaded);
  CHECK(export_graph(moved.graph()) == export_graph(m.g));

  // it trains as the first one does
  const auto train = std::get<graph_operation>(get_collection(moved.graph(), "train_op").at(0));
  s.run(m.train, {{m.x, points}, {m.goal, goals}});
  moved.session().run(train, {{"x", points}, {"goal", goals}});
  CHECK(moved.session().run<std::vector<float>>("y:0", {{"x", points}}) == s.run<std::vector<float>>(m.y, {{m.x, points}}));

  // collections are what they were: variables know what reads and initializes them
  CHECK(get_tensors(moved.graph(), "trainable_variables").size() == 2);
  const output w = get_tensors(moved.graph(), "variables").at(0);
  CHECK(w.name() == "w:0");
  CHECK(initializer_of(w).name() == "w/Assign");
  CHECK(value_of(w).name() == "w/read:0");
  CHECK(std::get<std::string>(get_collection(moved.graph(), "note").at(0)) == "a text");
  CHECK(std::get<std::int64_t>(get_collection(moved.graph(), "sizes").at(0)) == 3);
  CHECK(get_tensors(moved.graph(), "losses").at(0).name() == m.loss.name());
  moved.session().run(initializer_of(w));
  CHECK(moved.session().value(w).as<std::vector<float>>() == std::vector<float>{0, 0});

  // and it can be saved again
  io::restore_variables(moved.session(), folder);
  io::save_model(scratch.path / "again", moved.session(), {.tags = {"serve", "train"}});
  io::saved_model again = io::load_model(scratch.path / "again");
  CHECK(again.tags().size() == 2);
  CHECK(again.session().run<std::vector<float>>("y:0", {{"x", points}}) == before);
}

TEST_CASE("a SavedModel of TensorFlow's in text format is the binary one") {
  const scratch_folder scratch("saved_model_text");
  line_model m;
  graph_session s(m.g);
  s.run(m.init);
  s.run(m.train, {{m.x, points}, {m.goal, goals}});
  const auto before = s.run<std::vector<float>>(m.y, {{m.x, points}});
  io::save_model_options options = m.options();
  options.metadata.clear();
  for (const auto format : {io::model_format::tensorflow, io::model_format::tensorflow_text, io::model_format::tensorflow_text}) {
    options.format = format;
    io::save_model(scratch.path / "model", s, options);  // in the place of the one before
    const bool is_text = format == io::model_format::tensorflow_text;
    CHECK(files::exists(scratch.path / "model" / "saved_model.pbtxt") == is_text);
    CHECK(files::exists(scratch.path / "model" / "saved_model.pb") == !is_text);
    CHECK(io::is_saved_model_folder(scratch.path / "model"));
    io::saved_model loaded = io::load_model(scratch.path / "model");
    CHECK(loaded.run("serving_default", {{"points", points}})["heights"].as<std::vector<float>>() == before);
    CHECK(export_graph(loaded.graph()) == export_graph(m.g));
  }
}

TEST_CASE("what a signature is asked wrongly is told") {
  const scratch_folder scratch("saved_model");
  line_model m;
  graph_session s(m.g);
  s.run(m.init);
  io::save_model(scratch.path / "model", s, m.options());
  const io::saved_model loaded = io::load_model(scratch.path / "model");
  CHECK(loaded.input("serving_default", "points").name() == "x:0");
  CHECK(loaded.result("serving_default", "heights").name() == "y:0");
  CHECK(says(message_of([&] { loaded.run("predict"); }), "the model has no signature 'predict'; it has 'serving_default'"));
  CHECK(says(message_of([&] { loaded.run("serving_default", {{"x", points}}); }),
             "signature 'serving_default' has no input 'x'; it has 'points'"));
  CHECK(says(message_of([&] { loaded.run("serving_default"); }), "the input 'points' is not given: float32 [?,2]"));
  CHECK(says(message_of([&] { loaded.run("serving_default", {{"points", xt::xtensor<double, 2>{{1, 2}}}}); }), "float64 for Tensor 'x:0'"));
  CHECK(says(message_of([&] { io::save_model(scratch.path / "m", s, {.signatures = {{"a", {.outputs = {{"q", "nothing:0"}}}}}}); }),
             "signature 'a', output 'q': "));
  CHECK(says(message_of([&] { io::save_model(scratch.path / "m", s, {.signatures = {{"a", {.outputs = {{"q", m.train}}}}}}); }),
             "is an operation, not a tensor"));
  CHECK_FALSE(files::exists(scratch.path / "m"));
}

TEST_CASE("what the signatures need is saved alone, and variables freeze") {
  const scratch_folder scratch("saved_model");
  line_model m;
  graph_session s(m.g);
  s.run(m.init);
  s.run(m.train, {{m.x, points}, {m.goal, goals}});
  auto options = m.options();
  options.whole_graph = false;
  options.collections = {};
  io::save_model(scratch.path / "model", s, options);
  const io::saved_model loaded = io::load_model(scratch.path / "model");
  CHECK(loaded.graph().size() < m.g.size() / 2);
  const auto expected = s.run<std::vector<float>>(m.y, {{m.x, points}});
  CHECK(loaded.run("serving_default", {{"points", points}})["heights"].as<std::vector<float>>() == expected);

  const graph_def frozen = freeze(s, {"y"});
  graph without;
  import_graph(without, frozen, {.name = ""});
  graph_session other(without);
  CHECK(other.run<std::vector<float>>("y:0", {{"x", points}}) == expected);
  CHECK_THROWS_AS(freeze(s, {m.train.name()}), failed_precondition);
}

TEST_CASE("variables that do not fit are told by name, and nothing is assigned") {
  const scratch_folder scratch("saved_model");
  const auto path = scratch.path / "values.safetensors";
  line_model m;
  graph_session s(m.g);
  s.run(m.init);
  const auto write = [&](const session_values& values) { io::write_safetensors(path, io::detail::to_arrays(values)); };
  const auto restore = [&] { return message_of([&] { io::restore_variables(s, path); }); };
  const tensor_value two(shape_value{2, 1}, std::vector<float>{5, 6});
  write({{"w", two}});
  CHECK(says(restore(), "values.safetensors: there are no values for the variables 'b'"));
  write({{"w", two}, {"b", tensor_value(1.f)}, {"c", tensor_value(1.f)}, {"d", tensor_value(1.f)}});
  CHECK(says(restore(), "the graph has no variables 'c', 'd'"));
  write({{"w", tensor_value(std::vector<float>{5, 6})}, {"b", tensor_value(1.0)}});
  CHECK(says(restore(), "the variable 'b' is float32 [], its value float64 []; the variable 'w' is float32 [2,1], its value float32 [2]"));
  CHECK(s.value(get_tensor_by_name(m.g, "w:0")).as<std::vector<float>>() == std::vector<float>{0, 0});
  write({{"w", two}, {"b", tensor_value(1.f)}});
  CHECK(restore() == "nothing was thrown");
  CHECK(s.value(get_tensor_by_name(m.g, "w:0")).as<std::vector<float>>() == std::vector<float>{5, 6});
  io::save_variables(path, s);
  CHECK(io::read_variables(path).names() == std::vector<std::string>{"b", "w"});

  // a saved model whose parts do not belong together
  io::save_model(scratch.path / "model", s, m.options());
  auto read = io::read_model_files(scratch.path / "model");
  io::write_model_files(scratch.path / "model", read.meta, io::detail::to_arrays({{"w", two}}));
  CHECK(says(message_of([&] { io::load_model(scratch.path / "model"); }), "model: there are no values for the variables 'b'"));
  read.meta.signatures["serving_default"].inputs["points"].encoding = "gone:0";
  io::write_model_files(scratch.path / "model", read.meta, io::detail::to_arrays({{"w", two}, {"b", tensor_value(1.f)}}));
  CHECK(says(message_of([&] { io::load_model(scratch.path / "model"); }), "signature 'serving_default', 'points': The name 'gone:0'"));
}

TEST_CASE("collections that are no collections of this graph are told") {
  line_model m;
  auto all = io::export_collections(m.g);
  graph g;
  import_graph(g, export_graph(m.g), {.name = ""});
  for (const char* text : {"\x08", "\x0a\x7f", "\x0d", "", "\x0a\x01q"}) {
    auto bad = all;
    bad["variables"] = collection_def{collection_def::bytes_list{{text}}};
    CHECK(says(message_of([&] { io::import_collections(g, bad); }), "collection 'variables': "));
  }
  auto bad = all;
  bad["losses"] = collection_def{collection_def::node_list{{"gone"}}};
  CHECK(says(message_of([&] { io::import_collections(g, bad); }), "collection 'losses': The name 'gone'"));
}

TEST_CASE("what nobody asks for refuses no SavedModel of TensorFlow's") {
  const scratch_folder scratch("saved_model");
  const auto folder = scratch.path / "model";
  graph from;
  import_graph(from,
               leat_test::graph_text("a = VariableV2 dtype=float32 shape=[]\nname = VariableV2 dtype=string shape=[]\n"
                                     "k = VariableV2 dtype=int32 shape=[3]\nextra = VariableV2 dtype=float32 shape=[]\n")
                   .parse(),
               {.name = ""});
  graph_session values(from);
  values.assign(get_tensor_by_name(from, "a:0"), tensor_value(0.5f));
  values.assign(get_tensor_by_name(from, "name:0"), tensor_value(std::string("words.txt")));
  values.assign(get_tensor_by_name(from, "k:0"), tensor_value(std::vector<std::int32_t>{1, 2, 3}));
  values.assign(get_tensor_by_name(from, "extra:0"), tensor_value(1.f));
  saver save(from, {.format = checkpoint_format::tensorflow});
  save(values, (folder / "variables/variables").string(), {}, {.write_state = false, .write_meta_graph = false});

  meta_graph_def meta;
  meta.meta_info.tags = {"serve"};
  meta.graph = leat_test::graph_text(
                   "x = Placeholder dtype=float32 shape=[?]\n"
                   "a = VariableV2 dtype=float32 shape=[]\n"
                   "y = Mul(x, a) T=float32\n"
                   "name = VariableV2 dtype=string shape=[]\n"
                   "k = VariableV2 dtype=float32 shape=[2]\n"
                   "z = Neg(k) T=float32\n"
                   "h = VariableV2 dtype=int4 shape=[]\n"
                   "c = Cast(x) SrcT=float32 DstT=int4\n"
                   "l = Less(c, c) T=int4\n"
                   "n = LogicalNot(l)\n"
                   "own = Own(x)\n"
                   "other = Own(own:2)\n"
                   "init = NoOp\n")
                   .parse();
  const auto tensor = [](const char* name, data_type type) { return signature_tensor{.encoding = std::string(name), .dtype = type}; };
  meta.signatures["serving_default"] = {.inputs = {{"x", tensor("x:0", data_type::float32)}},
                                        .outputs = {{"y", tensor("y:0", data_type::float32)}}};
  meta.signatures["typed"].outputs = {{"y", tensor("y:0", data_type::int32)}};
  meta.signatures["gone"].outputs = {{"y", tensor("gone:0", data_type::float32)}};
  meta.signatures["unset"].outputs = {{"z", tensor("z:0", data_type::float32)}};
  meta.signatures["unknown"].outputs = {{"o", tensor("own:3", data_type::float32)}};
  meta.signatures["init"].outputs = {{"init", tensor("init", data_type::invalid)}};
  meta.collections["broken"] = collection_def{collection_def::node_list{{"gone:0"}}};
  io::write_file(folder / "saved_model.pb", io::write_saved_model(meta));

  const io::saved_model loaded = io::load_model(folder);
  CHECK(loaded.run("serving_default", {{"x", std::vector<float>{2, 4}}})["y"].as<std::vector<float>>() == std::vector<float>{1, 2});
  CHECK(loaded.session().run({"name:0"})[0].texts() == std::vector<std::string>{"words.txt"});
  CHECK(loaded.left_out() ==
        std::vector<std::string>{
            "collection 'broken': The name 'gone:0' refers to a Tensor which does not exist. The operation, 'gone', does not "
            "exist in the graph.",
            "there is no value for the variable 'h'", "the variable 'k' is float32 [2], its value int32 [3]"});
  CHECK(export_graph(loaded.graph()).nodes == meta.graph.nodes);
  const auto refused = [&](const char* signature) { return message_of([&] { loaded.run(signature, {}); }); };
  CHECK(says(refused("typed"), "signature 'typed', 'y': is DT_INT32, but the graph has float32"));
  CHECK(says(refused("gone"), "signature 'gone', 'y': The name 'gone:0'"));
  CHECK(says(refused("unset"), "uninitialized value k", "left out: ", "the variable 'k' is float32 [2], its value int32 [3]"));
  CHECK(says(refused("unknown"), "the operator 'Own' is not known: of its outputs a file tells those that other nodes take"));
  CHECK(says(refused("init"), "the operation 'init' has no value"));
  graph_session& s = loaded.session();
  CHECK(says(message_of<unimplemented>([&] { s.run({"n:0"}, {{"x", std::vector<float>{1}}}); }),
             "no kernel for dtype int4: runs compute with", "node 'c' (Cast)"));
  CHECK(says(message_of<unimplemented>([&] { s.run({"h:0"}); }), "no kernel for dtype int4"));
  CHECK(says(message_of<unimplemented>([&] { s.run({"other"}, {{"x", std::vector<float>{1}}}); }), "No kernel for the operator 'Own'"));
  CHECK(s.refusal_of(get_operation_by_name(loaded.graph(), "y")).empty());
  CHECK(says(s.refusal_of(get_operation_by_name(loaded.graph(), "own")), "No kernel for the operator 'Own'"));
  CHECK(get_tensor_by_name(loaded.graph(), "l:0").type() == dtype::boolean);
  CHECK(get_tensor_by_name(loaded.graph(), "c:0").type() == static_cast<dtype>(data_type::int4));

  // By a checkpoint, too: what fits is restored if that is what is asked for.
  graph other;
  import_graph(other, meta.graph, {.name = ""});
  graph_session there(other);
  const restore_report report = saver(other).restore(there, (folder / "variables/variables").string(), {.partly = true});
  CHECK(report.restored == std::vector<std::string>{"a", "name"});
  CHECK(report.missing == std::vector<std::string>{"h"});
  CHECK(report.misshapen == std::vector<std::string>{"k"});
}
