// A graph that TensorFlow wrote, run by its names: data/rosenbrock_tensorflow.pb, made by data/make_tensorflow_model.py. It has
// variables with initializers, Adam's training step, a placeholder with a default, and a while loop.
//
//   init                 gives p, q and Adam's slots their first values
//   train, valley        one step down (1 - p)^2 + 100 (q - p^2)^2, whose minimum is at p = q = 1; where it is now
//   number -> root       the square root by Newton's method, and the steps of the loop that it took

#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/session/graph_session.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

using namespace leat;

namespace {

int run(const std::string& file, int steps) {
  graph g;
  import_graph(g, io::read_binary_file(file), {.name = ""});
  std::printf("%d nodes\n", g.size());

  graph_session s(g);
  s.run("init");
  for (int done = 0; done <= steps; ++done) {
    if (done % std::max(1, steps / 5) == 0) {
      const auto [height, p, q] = s.run<float, float, float>({"valley:0", "point/p:0", "point/q:0"});
      std::printf("step %5d   height %10.6f   p %8.5f   q %8.5f\n", done, static_cast<double>(height),
                  static_cast<double>(p), static_cast<double>(q));
    }
    if (done < steps) s.run("train", {{"rate", 0.02f}});
  }
  const float height = s.run<float>("valley:0");

  const auto [root, taken] = s.run<float, std::int32_t>({"root:0", "steps:0"}, {{"number", 2.0f}});
  std::printf("root of 2: %.6f after %d steps\n", static_cast<double>(root), taken);
  return height < 1e-3f && std::abs(root - std::sqrt(2.0f)) < 1e-5f ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  std::string file = LEAT_EXAMPLE_DATA "/rosenbrock_tensorflow.pb";
  int steps = 3000;
  CLI::App app{"Loads and runs a graph that TensorFlow wrote."};
  app.option_defaults()->always_capture_default();
  app.add_option("--file", file, "the graph, as a binary GraphDef");
  app.add_option("--steps", steps, "training steps")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, arguments);
  try {
    return run(file, steps);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "from_tensorflow: %s\n", error.what());
    return 2;
  }
}
