// A compiled model is trained and saved; what was saved is loaded, run by its names, and frozen.

// [listing saved_includes]
#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/saved_typed_model.hpp>
#include <leat/leat.hpp>

#include <iostream>
// [end]

using namespace leat;
using namespace leat::literals;

void train_and_save() {
  const xt::xtensor<float, 2> points{{1, 0}, {0, 1}, {1, 1}, {2, -1}};
  const xt::xtensor<float, 1> heights{1.5f, 2.5f, 3.5f, 0.5f};  // a + 2 b + 1/2
  // [listing saved_save]
  auto x = placeholder<"x", float, "points", 2>();
  auto height = placeholder<"height", float, "points">();
  auto w = variable<"w", float, 2, 1>(zeros);
  auto b = variable<"b", float>(0.0f);
  auto y = squeeze<1>(matmul(x, w)) + b;
  auto train = gradient_descent(0.2_c).minimize(reduce_mean(square(y - height)));

  session s{y, train};
  s.initialize();
  for (int step = 0; step < 500; ++step) s.run(fetch(train), x = points, height = heights);
  io::save_model("plane", s, {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
  // [end]
}

int main() {
  train_and_save();
  // [listing saved_load]
  const io::saved_model m = io::load_model("plane");
  const std::vector<float> ys = m.run("serving_default", {{"x", {{1, 1}, {2, 2}}}})["y"];

  graph_session& s = m.session();  // any other run
  const float b = s.run<float>("b:0");
  io::write_binary_file(freeze(s, {m.result("serving_default", "y").name()}), "plane.pb");
  // [end]
  const auto round = [](float value) { return std::round(100 * value) / 100; };  // trained, not exact
  std::cout << "y is " << round(ys.at(0)) << " and " << round(ys.at(1)) << ", b is " << round(b) << '\n';
  // [listing saved_refused]
  try {
    io::load_model("plain");
  } catch (const not_found& e) {
    std::cout << e.what() << '\n';
  }
  // [end]
  return std::abs(ys.at(1) - 6.5f) < 0.01f ? 0 : 1;
}
