// A model of a text, character by character: the first two chapters of Alice's Adventures in Wonderland, the last tenth of which is held
// out. LSTM cells read the text in a graph with names, and predict each next character. The text is cut into as many streams as a batch
// has rows; a step reads the next piece of each, and starts from the state in which the step before ended. Adam trains the model with
// gradients that are clipped by their global norm, and with dropout, which keeps the model from learning the little text by heart. Then the
// model writes: each run of the graph draws one character, and the state goes from run to run. Training and reading are two networks with
// the same cells, so they share the variables; only the former has dropout. A network:
//
//   characters [batch, time]
//          |
//   one_hot [batch, time, kinds]
//          |
//   dynamic_rnn: multi_cell of basic_lstm_cell  <---  state before: c and h of each layer, [batch, units]
//          |                                    --->  state after: what the next run has before it
//   dense "output" [batch x time, kinds] = logits
//          |                     |
//   Multinomial = drawn     sparse_softmax_cross_entropy_with_logits  <---  next_characters [batch, time]
//                                |
//                           mean / log 2 = bits  --->  gradients  --->  clip_by_global_norm  --->  adam

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/numbered_text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

using namespace leat;

namespace {

constexpr double asked_for = 2.8;  // bits for each character of the text that is held out

struct options {
  std::string text = LEAT_EXAMPLE_DATA "/alice.txt";
  int epochs = 16;
  std::int64_t units = 192;
  int layers = 1;
  std::int64_t batch = 8;
  std::int64_t time = 32;
  float rate = 0.01f;
  float norm = 5;
  double keep = 0.4;
  int characters = 400;
  float temperature = 0.6f;
  std::string begin = "Alice ";
  std::uint64_t seed = 1;
};

// A network over characters [batch, time]: what it predicts, and the state before and after.
struct network {
  output characters, next, logits, bits;
  rnn_state before, after;
};
network make_network(const rnn_cell& cell, const layers::layer& last, std::int64_t alphabet) {
  network n;
  n.characters = placeholder(dtype::int32, {-1, -1}, "characters");
  n.next = placeholder(dtype::int32, {-1, -1}, "next_characters");
  n.before = cell.zero_state(index(shape_of(n.characters), {0}));
  const auto made = dynamic_rnn(cell, one_hot(n.characters, static_cast<std::int32_t>(alphabet)), {.initial_state = n.before});
  n.after = made.state;
  // The rows of all steps together, which the output layer multiplies at once.
  n.logits = last(reshape(made.outputs, {-1, static_cast<std::int32_t>(cell.output_size())}));
  const output loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(reshape(n.next, {-1}), n.logits), all_axes);
  n.bits = loss * static_cast<float>(1 / std::numbers::ln2);
  return n;
}

// Runs a network from the state in which the run before ended; the first run starts from zeros.
class runner {
 public:
  runner(graph_session& s, const network& n, const std::vector<fetch_item>& fetches)
      : session_(&s), network_(&n), fetches_(fetches), first_of_state_(fetches.size()) {
    fetches_.insert(fetches_.end(), n.after.begin(), n.after.end());
  }
  const std::vector<tensor_value>& operator()(std::vector<feed_item> feeds) {
    for (std::size_t k = 0; k < network_->before.size() && !results_.empty(); ++k)
      feeds.push_back({network_->before[k], results_[first_of_state_ + k]});
    return results_ = session_->run(fetches_, std::move(feeds));
  }
  void start_anew() { results_.clear(); }

 private:
  graph_session* session_;
  const network* network_;
  std::vector<fetch_item> fetches_;
  std::size_t first_of_state_;
  std::vector<tensor_value> results_;
};

int run(const options& given) {
  const examples::numbered_text t = examples::read_text(given.text);
  if (given.begin.empty()) throw std::runtime_error("what is written begins with a character at least");
  std::vector<std::int32_t> shown;
  for (const char c : given.begin) shown.push_back(t.number_of(c));
  const auto alphabet = static_cast<std::int64_t>(t.alphabet.size()), size = static_cast<std::int64_t>(t.numbers.size());
  const std::int64_t training_size = size * 9 / 10, held_out_size = size - training_size - 1;
  const std::int64_t stream = (training_size - 1) / given.batch, steps = stream / given.time;
  if (steps < 1 || held_out_size < 1) throw std::runtime_error("the text is too short for steps of that many characters");
  std::printf("%lld characters of %lld kinds; the last %lld are held out\n", static_cast<long long>(size), static_cast<long long>(alphabet),
              static_cast<long long>(held_out_size));

  graph g;
  const auto here = g.as_default();
  std::vector<rnn_cell> cells, dropping;
  for (int k = 0; k < given.layers; ++k) {
    cells.push_back(basic_lstm_cell(given.units));
    dropping.push_back(dropout_cell(cells.back(), {.output_keep_prob = given.keep, .seed = given.seed + static_cast<std::uint64_t>(k)}));
  }
  const auto last = layers::dense(alphabet, {.name = "output"});
  network training, reading;
  {
    const auto model = variable_scope("model", {.initializer = random_uniform(-0.1, 0.1, given.seed)});
    training = make_network(multi_cell(dropping), last, alphabet);
    reading = make_network(multi_cell(cells), last, alphabet);
  }
  const output drawn = call_operator(g, "Multinomial", {reading.logits / given.temperature, tensor_literal(std::int32_t{1})},
                                     {{"seed", static_cast<std::int64_t>(given.seed)}}, "drawn")
                           .result();
  const output counter = get_or_create_global_step();
  const output rate =
      polynomial_decay(given.rate, counter, static_cast<float>(steps * given.epochs), {.end_learning_rate = 0.05f * given.rate});
  const named_optimizer optimizer = adam(rate);
  auto pairs = optimizer.compute_gradients(training.bits);
  std::vector<gradient_value> slopes;
  for (const auto& pair : pairs) slopes.push_back(pair.gradient);
  const auto clipped = clip_by_global_norm(slopes, given.norm);
  for (std::size_t k = 0; k < pairs.size(); ++k) pairs[k].gradient = clipped.values[k];
  const graph_operation train = optimizer.apply_gradients(pairs, counter);
  const auto init = global_variables_initializer();
  for (const output& v : trainable_variables()) std::printf("  %s\n", describe(v).c_str());

  // A step is a chain of small products, which more threads would only have to hand to one another.
  graph_session s(g, {.inter_op_parallelism_threads = 1, .intra_op_parallelism_threads = 1});
  s.run(init);
  runner learn(s, training, {training.bits, train}), read(s, reading, {reading.bits}), write(s, reading, {drawn});
  const auto piece = [&](std::int64_t rows, std::int64_t row_size, std::int64_t begin, std::int64_t count) {
    std::vector<std::int32_t> all;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto from = t.numbers.begin() + row * row_size + begin;
      all.insert(all.end(), from, from + count);
    }
    return tensor_value({rows, count}, all);
  };
  const auto number = [](const tensor_value& v) { return static_cast<double>(v.values<float>()[0]); };

  const auto began = std::chrono::steady_clock::now();
  std::chrono::duration<double> in_steps{};
  double reached = 0;
  for (int epoch = 1; epoch <= given.epochs; ++epoch) {
    double sum = 0;
    learn.start_anew();
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t at = step * given.time;
      const std::vector<feed_item> shown_now{{training.characters, piece(given.batch, stream, at, given.time)},
                                             {training.next, piece(given.batch, stream, at + 1, given.time)}};
      const auto start = std::chrono::steady_clock::now();
      sum += number(learn(shown_now)[0]);
      in_steps += std::chrono::steady_clock::now() - start;
    }
    if ((epoch - 1) % std::max(1, given.epochs / 10) != 0 && epoch != given.epochs) continue;
    read.start_anew();
    reached = number(read({{reading.characters, piece(1, 0, training_size, held_out_size)},
                           {reading.next, piece(1, 0, training_size + 1, held_out_size)}})[0]);
    std::printf("epoch %3d   %.3f bits per character   held out: %.3f\n", epoch, sum / static_cast<double>(steps), reached);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  std::printf("\ntrained in %.1f s, %.2f ms for a step\n\n", taken.count(),
              1e3 * in_steps.count() / static_cast<double>(steps * given.epochs));

  std::string written = given.begin;
  for (int k = 0; k < given.characters; ++k) {
    const auto count = static_cast<std::int64_t>(shown.size());
    const auto& got = write({{reading.characters, tensor_value({1, count}, shown)}});
    shown = {static_cast<std::int32_t>(got[0].values<std::int64_t>()[shown.size() - 1])};
    written += t.alphabet[static_cast<std::size_t>(shown[0])];
  }
  std::printf("%s\n", written.c_str());

  std::printf("\nheld out: %.3f bits per character  (at most %.2f are asked for)\n", reached, asked_for);
  return reached <= asked_for ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options given;
  CLI::App app{"LSTM cells that learn a text, character by character, and write more of it."};
  app.option_defaults()->always_capture_default();
  app.add_option("--text", given.text, "file with the text, the last tenth of which is held out");
  app.add_option("--epochs", given.epochs, "times that the text is read in training")->check(CLI::PositiveNumber);
  app.add_option("--units", given.units, "units of a layer")->check(CLI::Range(1, 4096));
  app.add_option("--layers", given.layers, "layers of cells")->check(CLI::Range(1, 8));
  app.add_option("--batch", given.batch, "streams into which the text is cut, the rows of a step")->check(CLI::PositiveNumber);
  app.add_option("--time", given.time, "characters of each stream in a step")->check(CLI::PositiveNumber);
  app.add_option("--rate", given.rate, "learning rate at the start, of which a twentieth is left at the end")->check(CLI::PositiveNumber);
  app.add_option("--norm", given.norm, "the largest global norm of the gradients")->check(CLI::PositiveNumber);
  app.add_option("--keep", given.keep, "share of a layer's outputs that dropout keeps in training")->check(CLI::PositiveNumber);
  app.add_option("--characters", given.characters, "characters to write")->check(CLI::NonNegativeNumber);
  app.add_option("--temperature", given.temperature, "below 1, likely characters become likelier")->check(CLI::PositiveNumber);
  app.add_option("--begin", given.begin, "what the written text begins with");
  app.add_option("--seed", given.seed, "seed of the weights, of dropout and of what is written");
  CLI11_PARSE(app, count, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "language_model: %s\n", error.what());
    return 2;
  }
}
