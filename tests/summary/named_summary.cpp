#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/summary.hpp>
#include <leat/summary/named_summary.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

using namespace leat;
using summary::read_summary;

namespace {

std::vector<summary::summary_value> values_of(const tensor_value& result) { return read_summary(result.as<std::string>()).values; }

}  // namespace

TEST_CASE("every kind of summary, merged") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 4, 5, 3}, "x");
  summary::scalar("loss", reduce_mean(x));
  summary::histogram("x/values", x);
  summary::image("pictures", x, 2);
  summary::image("one", x, 1);
  summary::audio("sounds", reshape(x, {2, 60}), 8000.0f);
  summary::text("words", constant(tensor_literal(data_type::string, shape_from({2}), {"# title", "text"})));
  const auto merged = summary::merge_all();
  graph_session s(g);
  std::vector<float> pixels(120, 0.5f);
  pixels[0] = -1;
  const auto values = values_of(s.run(merged, {{x, tensor_value(shape_from({2, 4, 5, 3}), pixels)}}));
  std::vector<std::string> tags;
  for (const auto& v : values) tags.push_back(v.tag);
  CHECK(tags == std::vector<std::string>{"loss", "x/values", "pictures/image/0", "pictures/image/1", "one/image", "sounds/audio/0",
                                         "sounds/audio/1", "words"});
  CHECK(std::get<float>(values[0].content) == doctest::Approx(58.5 / 120));
  CHECK(std::get<summary::histogram_value>(values[1].content).num == 120);
  const auto& picture = std::get<summary::image_value>(values[2].content);
  CHECK(picture.height == 4);
  CHECK(picture.width == 5);
  CHECK(picture.colorspace == 3);
  // Behind the file's header, the stored block's and the row's filter: -1 is 1, 0.5 is 191.
  const auto pixel = [&](const summary::image_value& p, std::size_t i) {
    return static_cast<unsigned char>(p.encoded_image[33 + 8 + 7 + 1 + i]);
  };
  CHECK(pixel(picture, 0) == 1);
  CHECK(pixel(picture, 1) == 191);
  CHECK(pixel(std::get<summary::image_value>(values[3].content), 1) == 255);
  const auto& sound = std::get<summary::audio_value>(values[5].content);
  CHECK(sound.sample_rate == 8000);
  CHECK(sound.length_frames == 60);
  CHECK(sound.num_channels == 1);
  CHECK(sound.content_type == "audio/wav");
  CHECK(values[7].metadata.plugin.plugin_name == "text");
  CHECK(std::get<tensor_proto>(values[7].content).strings == std::vector<std::string>{"# title", "text"});
}

TEST_CASE("names, families and collections") {
  graph g;
  const auto scope = g.as_default();
  const auto x = constant(2.0f, "x");
  CHECK(summary::scalar("/a b?", x).name() == "a_b_:0");
  CHECK(summary::scalar("größe", x).name() == "gr__e:0");
  const auto grouped = summary::scalar("loss", x, {.collections = {"mine", "others"}, .family = "train"});
  CHECK(grouped.name() == "train/loss:0");
  CHECK(get_tensors(g, "mine").size() == 1);
  CHECK(get_tensors(g, "others").size() == 1);
  CHECK(get_tensors(g, collection::summaries).size() == 2);
  graph_session s(g);
  CHECK(values_of(s.run(grouped))[0].tag == "train/train/loss");
  CHECK(summary::merge_all("mine").name() == "Merge/MergeSummary:0");
  CHECK(summary::merge_all(collection::summaries, "gr").operation().inputs().size() == 1);
  CHECK(summary::merge({grouped}, {.collections = {"mine"}, .name = "all of it"}).name() == "all_of_it/all_of_it:0");
  CHECK(get_tensors(g, "mine").size() == 2);
  auto v = variable(3.0f, "v");
  const auto of_variable = summary::scalar("of_variable", v);
  CHECK(of_variable.operation().inputs()[1].name() == "v/read:0");
}

TEST_CASE("wrong operands are refused when the node is made, and nothing is left behind") {
  graph g;
  const auto scope = g.as_default();
  const auto x = constant(1.0f, "x");
  CHECK_THROWS_AS(summary::scalar("", x), invalid_argument);
  CHECK_THROWS_AS(summary::scalar("///", x), invalid_argument);
  CHECK_THROWS_AS(summary::scalar("a", output{}), invalid_argument);
  CHECK_THROWS_AS(summary::scalar("a", constant(true, "flag")), invalid_argument);
  CHECK_THROWS_AS(summary::scalar("a", constant("text", "text")), invalid_argument);
  CHECK_THROWS_AS(summary::histogram("a", constant("text")), invalid_argument);
  CHECK_THROWS_AS(summary::image("a", constant(1)), invalid_argument);
  CHECK_THROWS_AS(summary::image("a", x, 0), invalid_argument);
  CHECK_THROWS_AS(summary::audio("a", constant(1), 8000.0f), invalid_argument);
  CHECK_THROWS_AS(summary::text("a", x), invalid_argument);
  CHECK_THROWS_AS(summary::merge({}), invalid_argument);
  CHECK_THROWS_AS(summary::merge({output{}}), invalid_argument);
  CHECK_THROWS_AS(summary::merge({x}), invalid_argument);
  CHECK(get_tensors(g, collection::summaries).empty());
}

TEST_CASE("runs fail with the node's name") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, unknown_shape, "x");
  const auto words = placeholder(static_cast<dtype>(data_type::string), unknown_shape, "words");
  const auto picture = summary::image("picture", x);
  const auto sound = summary::audio("sound", x, -1.0f);
  const auto twice = summary::merge({summary::scalar("a", reduce_sum(x)), words});
  graph_session s(g);
  CHECK_THROWS_WITH_AS(s.run(picture, {{x, {1.0f, 2.0f}}}), doctest::Contains("Tensor must be 4-D with last dim 1, 3, or 4, not [2]"),
                       invalid_argument);
  CHECK_THROWS_WITH_AS(s.run(sound, {{x, {1.0f, 2.0f}}}), doctest::Contains("Tensor must be 3-D or 2-D, got: [2]"), invalid_argument);
  CHECK_THROWS_WITH_AS(s.run(sound, {{x, {{1.0f, 2.0f}}}}), doctest::Contains("sample_rate must be > 0"), invalid_argument);
  CHECK_THROWS_WITH_AS(s.run(twice, {{x, {1.0f}}, {words, std::vector<std::string>{"no summary"}}}),
                       doctest::Contains("Could not parse one of the summary inputs"), invalid_argument);
  const std::string same = summary::to_bytes(summary::summary_def{{{.tag = "a", .content = 1.0f}}});
  CHECK_THROWS_WITH_AS(s.run(twice, {{x, {1.0f}}, {words, std::vector<std::string>{same}}}),
                       doctest::Contains("Duplicate tag \"a\" found in summary inputs"), invalid_argument);
  const std::string other = summary::to_bytes(summary::summary_def{{{.tag = "b", .content = 1.0f}}});
  CHECK(values_of(s.run(twice, {{x, {1.0f}}, {words, std::vector<std::string>{other}}})).size() == 2);
}

TEST_CASE("pictures of bytes, of nothing, and with pixels that are no numbers") {
  summary::value_list list;
  list.image("bytes", tensor_value(shape_from({1, 1, 2, 1}), std::vector<std::uint8_t>{3, 200}));
  list.image("none", tensor_value(shape_from({0, 4, 4, 3}), std::vector<float>{}));
  list.image("bad", tensor_value(shape_from({1, 1, 2, 3}), std::vector<float>{0, 1, 2, 3, NAN, 5}), {.bad_color = {9, 8, 7, 6}});
  list.image("zero", tensor_value(shape_from({1, 1, 1, 1}), std::vector<double>{0}));
  const auto values = read_summary(list.bytes()).values;
  REQUIRE(values.size() == 3);
  const auto pixel = [&](std::size_t k, std::size_t i) {
    return static_cast<int>(
        static_cast<unsigned char>(std::get<summary::image_value>(values[k].content).encoded_image[33 + 8 + 7 + 1 + i]));
  };
  CHECK(pixel(0, 0) == 3);
  CHECK(pixel(0, 1) == 200);
  CHECK(pixel(1, 2) == 255);
  CHECK(pixel(1, 3) == 9);
  CHECK(pixel(1, 5) == 7);
  CHECK(pixel(2, 0) == 0);
  const std::string before = list.bytes();
  CHECK_THROWS_AS(list.image("wrong", tensor_value(shape_from({1, 0, 2, 3}), std::vector<float>{})), invalid_argument);
  CHECK_THROWS_AS(list.image("wrong", tensor_value(shape_from({1, 1, 1, 1}), std::vector<std::int32_t>{1})), invalid_argument);
  CHECK_THROWS_AS(list.scalar("\xff", 1), invalid_argument);
  CHECK_THROWS_AS(list.text("t", 1.0f), invalid_argument);
  CHECK_THROWS_AS(list.append("no summary"), error);
  CHECK(list.bytes() == before);
}

TEST_CASE("a graph from a file with these operators runs, and a branch with them") {
  graph g;
  {
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, {-1}, "x");
    summary::scalar("sum", reduce_sum(x));
    summary::histogram("x", x);
    const auto merged = summary::merge_all();
    cond(constant(true, "yes"), [&] { return identity(merged, "kept"); }, [&] { return constant("", "nothing"); });
  }
  const std::string file = io::write_binary(export_graph(g));
  graph copy;
  const auto scope = copy.as_default();
  import_graph(copy, io::read_binary(file), {.name = ""});
  graph_session s(copy);
  const auto values = values_of(s.run("cond/Merge:0", {{"x:0", {1.0f, 2.0f}}}));
  REQUIRE(values.size() == 2);
  CHECK(std::get<float>(values[0].content) == 3);
  CHECK(values[1].tag == "x_1");
  auto step = s.prepare({get_tensor_by_name(copy, "Merge/MergeSummary:0")}, {get_tensor_by_name(copy, "x:0")});
  for (int i = 1; i < 4; ++i) {
    const std::vector<float> fed(static_cast<std::size_t>(i), 1.0f);
    CHECK(std::get<float>(values_of(step(fed)[0])[0].content) == static_cast<float>(i));
  }
}

TEST_CASE("a step with its summaries is the program that it is without, and gives what nodes give one by one") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 2}, "x");
  const auto w = variable({{1.0f}, {2.0f}}, "w");
  const auto y = matmul(x, w);
  const auto loss = reduce_mean(square(y - 1.0f));
  const auto train = adam(0.1f).minimize(loss);
  summary::scalar("loss", loss);
  summary::histogram("w", w);
  summary::histogram("fed", x);
  const auto merged = summary::merge_all();
  const auto init = global_variables_initializer();
  std::vector<std::string> all;
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    s.run(init);
    const auto before = s.fused_runs();
    auto step = s.prepare({merged, loss, train, y}, {x});
    std::string said;
    for (int i = 0; i < 3; ++i) {
      const xt::xtensor<float, 2> xs{{1, static_cast<float>(i)}, {-1, 2}};
      const auto results = step(xs);
      for (const auto& v : values_of(results[0])) {
        said += v.tag + " ";
        if (const float* number = std::get_if<float>(&v.content)) {
          CHECK(*number == results[1].as<float>());
          said += std::to_string(*number) + " ";
        } else {
          said += std::to_string(std::get<summary::histogram_value>(v.content).sum) + " ";
        }
      }
      CHECK(!results[2]);
      CHECK(results[3].elements() == 2);
    }
    said += std::to_string(s.run(w).as<std::vector<float>>()[1]);
    all.push_back(said);
    CHECK((s.fused_runs() - before >= 3) == fuse);
    // The summary fails, and the session goes on.
    const xt::xtensor<float, 2> wrong{{NAN, 0}};
    CHECK_THROWS_WITH_AS(s.run(get_tensor_by_name(g, "fed:0"), {{x, wrong}}), doctest::Contains("Nan in summary histogram for: fed"),
                         invalid_argument);
    CHECK(values_of(s.run(merged, {{x, {{1.0f, 2.0f}}}})).size() == 3);
  }
  CHECK(all[0] == all[1]);
}

TEST_CASE("what waits for a summary, or a summary that waits, is run in the graph's order") {
  graph g;
  const auto scope = g.as_default();
  const auto v = variable(1.0f, "v");
  const auto more = assign_add(v, 1.0f, "more");
  output late, told;
  {
    const auto waits = control_dependencies({more});
    late = summary::scalar("late", read_value(v));
  }
  told = summary::scalar("now", v);
  {
    const auto waits = control_dependencies({told});
    identity(constant(7.0f), "after");
  }
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(std::get<float>(values_of(s.run(late))[0].content) == 2);
  CHECK(std::get<float>(values_of(s.run(told))[0].content) == 2);
  CHECK(s.run("after:0").as<float>() == 7);
  const auto both = s.run({late, told});
  CHECK(std::get<float>(values_of(both[0])[0].content) == 3);
  CHECK(std::get<float>(values_of(both[1])[0].content) == 2);
}
