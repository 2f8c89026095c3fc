// The model of language_model as typed expressions: an LSTM layer that reads a text and predicts each next character, trained by Adam with
// gradients that are clipped by their global norm, and with dropout; then it writes. Sizes are part of the program, which is compiled for
// them: a training step reads 32 characters of each of 8 streams; the reading network takes one stream, of any length. Both have the same
// variables, because these have the same names. The state in which a run ends stays in the session, in variables; the next run starts
// from it. The training network:
//
//   characters [batch, time]                       next_characters [batch, time]
//          |                                                  |
//   one_hot [batch, time, kinds]   state: c and h    sparse_softmax_cross_entropy_with_logits -- mean / log 2 = bits
//          |                          |     ^                 |                                         |
//   lstm "model/rnn/basic_lstm_cell", a scan over time --> dropout                        gradients, clip_by_global_norm
//                                                             |                                         |
//                                             dense "model/output" [batch x time, kinds]              adam

#include <leat/leat.hpp>
#include <leat/loops.hpp>

#include "support/numbered_text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

constexpr double asked_for = 2.8;  // bits for each character of the text that is held out
constexpr std::int64_t kinds = 64;  // a text has at most so many kinds of characters
constexpr std::int64_t units = 192, batch = 8, time_steps = 32;

struct options {
  std::string text = LEAT_EXAMPLE_DATA "/alice.txt";
  int epochs = 16;
  float rate = 0.01f;
  float norm = 5;
  float keep = 0.3f;
  int characters = 400;
  float temperature = 0.6f;
  std::string begin = "Alice ";
  std::uint64_t seed = 1;
};

using characters_of_streams = xt::xtensor<std::int32_t, 2>;

int run(const options& given) {
  const examples::numbered_text t = examples::read_text(given.text);
  if (given.begin.empty()) throw std::runtime_error("what is written begins with a character at least");
  const auto size = static_cast<std::int64_t>(t.numbers.size());
  if (t.alphabet.size() > kinds)
    throw std::runtime_error("the text has " + std::to_string(t.alphabet.size()) + " kinds of characters; the program is compiled for " +
                             std::to_string(kinds));
  auto shown = characters_of_streams::from_shape({1, given.begin.size()});
  std::transform(given.begin.begin(), given.begin.end(), shown.begin(), [&](char c) { return t.number_of(c); });
  const std::int64_t training_size = size * 9 / 10, held_out_size = size - training_size - 1;
  const std::int64_t stream = (training_size - 1) / batch, steps = stream / time_steps;
  if (steps < 1 || held_out_size < 1) throw std::runtime_error("the text is too short for steps of that many characters");
  std::printf("%lld characters of %zu kinds; the last %lld are held out\n", static_cast<long long>(size), t.alphabet.size(),
              static_cast<long long>(held_out_size));

  const auto read = [&](const auto& characters, const auto& before) {
    return lstm<"model/rnn/basic_lstm_cell", units>(one_hot<kinds>(characters), before, given.seed);
  };
  const auto predict = [&](const auto& rows) { return dense<"model/output", kinds>(rows, given.seed + 1); };
  const auto bits_of = [](const auto& logits, const auto& next) {
    return reduce_mean(sparse_softmax_cross_entropy_with_logits(next, logits)) * 1.4426950408889634_c;  // 1 / log 2
  };

  // Training, whose step also keeps the state.
  auto characters = placeholder<"characters", std::int32_t, batch, time_steps>();
  auto next = placeholder<"next_characters", std::int32_t, batch, time_steps>();
  auto c = untrainable_variable<"training/c", float, batch, units>(zeros);
  auto h = untrainable_variable<"training/h", float, batch, units>(zeros);
  auto counter = global_step();
  const auto trained = read(characters, lstm_state{c, h});
  auto dropped = dropout<"dropout">(trained.outputs, 1 - given.keep, counter);
  auto bits = bits_of(predict(reshape<batch * time_steps, units>(dropped)), reshape<batch * time_steps>(next));
  auto rate = polynomial_decay(given.rate, counter, static_cast<float>(steps) * static_cast<float>(given.epochs), 0.05f * given.rate, 1.0f);
  auto optimizer = adam(rate);
  auto train = std::apply(
      [&](const auto&... pair) {
        return std::apply(
            [&](const auto&... slope) { return optimizer.apply_gradients(std::tuple(with_variable(slope, pair.variable)...), counter); },
            clip_by_global_norm(given.norm, pair.gradient...));
      },
      optimizer.compute_gradients(bits));
  auto step = group(train, assign(c, trained.state.c), assign(h, trained.state.h));

  // Reading, to evaluate and to write.
  auto one_stream = placeholder<"one_stream", std::int32_t, 1, "time">();
  auto its_next = placeholder<"its_next", std::int32_t, "time">();
  auto read_c = untrainable_variable<"reading/c", float, 1, units>(zeros);
  auto read_h = untrainable_variable<"reading/h", float, 1, units>(zeros);
  const auto seen = read(one_stream, lstm_state{read_c, read_h});
  auto logits = predict(reshape<"time", units>(seen.outputs));
  auto held_out_bits = bits_of(logits, its_next);
  auto temperature = parameter<"temperature">(given.temperature);
  auto draw = placeholder<"draw", std::int64_t, 2>();
  auto drawn = stateless_multinomial<1>(logits / temperature, draw);
  auto keep_state = group(assign(read_c, seen.state.c), assign(read_h, seen.state.h));

  // A step is a chain of small products, which more threads would only have to hand to one another.
  cpu::set_thread_count(1);
  session s{bits, step, held_out_bits, drawn, keep_state};
  s.initialize();
  const xt::xtensor<float, 2> no_state = xt::zeros<float>({batch, units});

  auto shown_characters = characters_of_streams::from_shape({batch, time_steps}), shown_next = shown_characters;
  auto learn = s.prepare(fetch(bits, step), characters = shown_characters, next = shown_next);
  const auto from = t.numbers.begin() + training_size;
  auto held_out = characters_of_streams::from_shape({1, static_cast<std::size_t>(held_out_size)});
  std::copy(from, from + held_out_size, held_out.begin());
  const std::vector<std::int32_t> held_out_next(from + 1, from + 1 + held_out_size);

  const auto began = std::chrono::steady_clock::now();
  std::chrono::duration<double> in_steps{};
  double reached = 0;
  for (int epoch = 1; epoch <= given.epochs; ++epoch) {
    double sum = 0;
    s.assign(c, no_state);
    s.assign(h, no_state);
    for (std::int64_t at = 0; at + time_steps <= stream; at += time_steps) {
      for (std::int64_t row = 0; row < batch; ++row) {
        const auto begin = t.numbers.begin() + row * stream + at;
        std::copy(begin, begin + time_steps, shown_characters.begin() + row * time_steps);
        std::copy(begin + 1, begin + 1 + time_steps, shown_next.begin() + row * time_steps);
      }
      const auto start = std::chrono::steady_clock::now();
      sum += static_cast<double>(std::get<0>(learn()));
      in_steps += std::chrono::steady_clock::now() - start;
    }
    if ((epoch - 1) % std::max(1, given.epochs / 10) != 0 && epoch != given.epochs) continue;
    reached = static_cast<double>(std::get<0>(s.run(fetch(held_out_bits), one_stream = held_out, its_next = held_out_next)));
    std::printf("epoch %3d   %.3f bits per character   held out: %.3f\n", epoch, sum / static_cast<double>(steps), reached);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  std::printf("\ntrained in %.1f s, %.2f ms for a step\n\n", taken.count(),
              1e3 * in_steps.count() / static_cast<double>(steps * given.epochs));

  std::string written = given.begin;
  for (int k = 0; k < given.characters; ++k) {
    const std::vector<std::int64_t> place{static_cast<std::int64_t>(given.seed), k};  // each character is drawn with numbers of its own
    const auto got = std::get<0>(s.run(fetch(drawn, keep_state), one_stream = shown, draw = place));
    const auto last = static_cast<std::int32_t>(got(got.shape(0) - 1, 0));
    if (last >= static_cast<std::int32_t>(t.alphabet.size())) continue;  // a kind that this text has not
    shown = characters_of_streams({{last}});
    written += t.alphabet[static_cast<std::size_t>(last)];
  }
  std::printf("%s\n", written.c_str());

  std::printf("\nheld out: %.3f bits per character  (at most %.2f are asked for)\n", reached, asked_for);
  return reached <= asked_for ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options given;
  CLI::App app{"An LSTM layer that learns a text, character by character, and writes more of it; a typed program."};
  app.option_defaults()->always_capture_default();
  app.add_option("--text", given.text, "file with the text, the last tenth of which is held out");
  app.add_option("--epochs", given.epochs, "times that the text is read in training")->check(CLI::PositiveNumber);
  app.add_option("--rate", given.rate, "learning rate at the start, of which a twentieth is left at the end")->check(CLI::PositiveNumber);
  app.add_option("--norm", given.norm, "the largest global norm of the gradients")->check(CLI::PositiveNumber);
  app.add_option("--keep", given.keep, "share of the layer's outputs that dropout keeps in training")->check(CLI::Range(0.01f, 1.0f));
  app.add_option("--characters", given.characters, "characters to write")->check(CLI::NonNegativeNumber);
  app.add_option("--temperature", given.temperature, "below 1, likely characters become likelier")->check(CLI::PositiveNumber);
  app.add_option("--begin", given.begin, "what the written text begins with");
  app.add_option("--seed", given.seed, "seed of the weights and of what is written");
  CLI11_PARSE(app, count, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "language_model_typed: %s\n", error.what());
    return 2;
  }
}
