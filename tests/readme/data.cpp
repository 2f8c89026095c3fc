// Data for training: pipelines, files, a training loop that is stopped and resumed.

// [listing data_includes]
#include <leat/data.hpp>
#include <leat/io/file.hpp>
#include <leat/leat.hpp>

#include <cstdio>
// [end]

// [listing data_graph_includes]
#include <leat/checkpoint.hpp>
#include <leat/data/graph_iterator.hpp>
#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>
// [end]

using namespace leat;
using namespace leat::literals;

namespace {

void first() {
  // [listing data_first]
  const auto data = dataset::range(10).shuffle(10, 1).batch(4).repeat(2);
  for (auto& [row] : data) {
    for (const std::int64_t number : row) std::printf("%d ", static_cast<int>(number));
    std::printf("\n");
  }
  // [end]
}

void sources() {
  io::write_file("points.csv", "x,y,name\n1,2.5,a\n2,3.5,\"b, c\"\n3,4.5,d\n");
  const xt::xtensor<float, 2> images{{0, 1}, {2, 3}, {4, 5}};
  const std::vector<std::int64_t> labels{7, 8, 9};
  // [listing data_sources]
  const auto numbers = dataset::range(0, 100, 5);
  const auto slices = dataset::from_tensor_slices(images, labels);
  const auto lent = dataset::from_tensor_slices(std::cref(images), std::span(labels));
  const auto table = dataset::csv<std::array<float, 2>, std::string>("points.csv");
  const auto chosen = dataset::csv<float>("points.csv", {.columns = {"y"}});
  const auto lines = dataset::text_lines("points.csv").skip(1);
  const auto made = dataset::from_generator([] { return std::views::iota(1, 4) | std::views::transform([](int i) { return i / 2.0; }); });
  // [end]
  for (auto& [points, name] : table.batch(3)) std::printf("%g %s\n", points(2, 1), name[1].c_str());
  for (auto& [y] : chosen.take(1)) std::printf("%g\n", y);
  for (auto& [line, half] : dataset::zip(lines, made).take(1)) std::printf("%s %g\n", line.c_str(), half);
  for (auto& [image, label] : dataset::zip(slices, lent).map([](auto& a, auto&, auto&, auto b) { return std::pair(a(1), b); }).skip(2))
    std::printf("%g %d\n", image, static_cast<int>(label));
  for (auto& [number] : numbers.skip(19)) std::printf("%d\n", static_cast<int>(number));
}

void functions() {
  // [listing data_functions]
  const auto words = dataset::from_tensor_slices(std::vector<std::string>{"a", "bcd", "ef", "ghij"});
  const auto codes = words.filter([](const std::string& word) { return word.size() > 1; })
                         .map([](const std::string& word) {
                           xt::xtensor<std::int64_t, 1> made = xt::xtensor<std::int64_t, 1>::from_shape({word.size()});
                           std::copy(word.begin(), word.end(), made.begin());
                           return std::tuple(made, word.size() % 2 == 0);
                         })
                         .padded_batch(3);
  for (auto& [rows, even] : codes) std::printf("%zu x %zu, %d\n", rows.shape(0), rows.shape(1), static_cast<int>(rows(1, 2)));
  // [end]
}

void noise() {
  // [listing data_noise]
  const auto noisy = dataset::from_tensor_slices(std::vector<float>{1, 2, 3})
                         .modify([](data::random_stream& random, float& x) { x += std::normal_distribution<float>(0, 0.1f)(random); }, 7);
  // [end]
  float sum = 0;
  for (auto& [x] : noisy.repeat(100)) sum += x;
  std::printf("%.0f\n", sum / 300);
}

void records() {
  // [listing data_records]
  io::record_writer writer("numbers.tfrecord");
  for (int k = 0; k < 4; ++k)
    writer.write(io::write_example({{{"x", std::vector<float>{0.5f * static_cast<float>(k), 1}}, {"y", std::vector<std::int64_t>{k}}}}));
  writer.close();

  const auto data = dataset::examples<std::array<float, 2>, std::int64_t>("numbers.tfrecord", {"x", "y"});
  for (auto& [x, y] : data.batch(4)) std::printf("%g %d\n", x(3, 0), static_cast<int>(y(3)));
  // [end]
}

void training() {
  std::vector<float> xs, ys;
  for (int k = 0; k < 64; ++k) {
    xs.push_back(static_cast<float>(k) / 32 - 1);
    ys.push_back(3 * xs.back() - 1);
  }
  // [listing data_training]
  auto x = placeholder<"x", float, "batch">();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float>(0.0f);
  auto b = variable<"b", float>(0.0f);
  auto loss = reduce_mean(square(x * w + b - y));
  auto train = gradient_descent(0.1f).minimize(loss);
  session s{loss, train};
  s.initialize();

  const auto data = dataset::from_tensor_slices(xs, ys).shuffle(64, 1).batch(16).repeat(50).prefetch(2);
  auto rows = data.iterate();
  auto& [batch_x, batch_y] = rows.element();
  auto step = s.prepare(fetch(loss, train), x = batch_x, y = batch_y);
  while (rows.next()) step();
  std::printf("%.3f %.3f\n", s.value(w), s.value(b));
  // [end]

  // [listing data_resume]
  auto stopped = data.iterate();
  for (int k = 0; k < 5; ++k) stopped.next();
  const std::string state = stopped.save_state();

  auto resumed = data.iterate();
  resumed.restore_state(state);
  stopped.next(), resumed.next();
  std::printf("%s\n%s\n", state.c_str(), stopped.element() == resumed.element() ? "the same batch" : "another batch");
  // [end]

  // [listing data_refused]
  try {
    data.shuffle(8, 2).iterate().restore_state(state);
  } catch (const invalid_argument& e) {
    std::printf("%s\n", e.what());
  }
  // [end]

  // [listing data_errors]
  io::write_file("wrong.csv", "height,width\n1.5,2\n1.7,two\n");
  try {
    for (auto& [height, width] : dataset::csv<float, std::int32_t>("wrong.csv").prefetch(4)) std::printf("%g x %d\n", height, width);
  } catch (const data_loss& e) {
    std::printf("%s\n", e.what());
  }
  // [end]
}

void in_a_graph() {
  // [listing data_graph]
  graph g;
  auto scope = g.as_default();
  auto it = make_initializable_iterator(dataset::range(6).batch(3));
  auto next = it.get_next();
  auto sum = reduce_sum(next[0]);
  graph_session s(g);
  s.run(it.initializer());
  try {
    for (;;) std::printf("%d\n", static_cast<int>(s.run<std::int64_t>(sum)));
  } catch (const out_of_range& e) {
    const std::string text = e.what();
    std::printf("%s\n", text.substr(0, text.find('\n')).c_str());
  }
  // [end]
}

void in_a_graph_resumed() {
  graph g;
  auto scope = g.as_default();
  // [listing data_graph_resumed]
  auto next = make_one_shot_iterator(dataset::range(10).shuffle(10, 1).batch(4)).get_next();
  variable(0.0f, "w");
  graph_session s(g);
  s.run(global_variables_initializer());
  s.run(next[0]);
  const std::string path = saver()(s, "log/model", 1, {.pipeline_state = iterator_states(s)});
  const auto second = s.run<std::vector<std::int64_t>>(next[0]);

  graph_session resumed(g);
  saver().restore(resumed, path);
  restore_iterator_states(resumed, checkpoint_reader(path).manifest().pipeline_state);
  const auto again = resumed.run<std::vector<std::int64_t>>(next[0]);
  std::printf("%s\n", again == second ? "the batch that would have come" : "another batch");
  // [end]
}

}  // namespace

int main() {
  first();
  sources();
  functions();
  noise();
  records();
  training();
  in_a_graph();
  in_a_graph_resumed();
}
