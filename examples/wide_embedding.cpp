// Which article does a reader open? A wide and deep model (Cheng et al. 2016) over features that are categories: the reader, the article,
// and the pair of the reader's region and the article's topic. Each category has a row in a table. A step reads a few hundred rows of
// thousands, and its optimizers change these rows and no others. The data are made by a formula with hidden tastes, so that the best loss
// is known: that of the formula itself. The trained model is saved, and restored into another session.
//
//   reader [batch]   article [batch]   cross [batch]
//     |     \          /     |            |
//     |  readers/embeddings, |            |
//     |  articles/embeddings |            |
//     |     [batch, 2 x 8]   |            |
//     |         |            |            |
//     |    dense "hidden"    |            |
//     |    [batch, 32], relu |            |
//     |         |            |            |
//     |    dense "output"    |            |
//     |         |            |            |
//   w_reader    |       w_article      w_cross    bias         Ftrl: the wide part, w_... and bias
//         \     |         /              /         /           Adagrad: the deep part
//          +----+--------+--------------+---------+
//               |
//        logits [batch]  --->  sigmoid_cross_entropy_with_logits  --->  loss  <---  opened [batch]

#include <leat/checkpoint.hpp>
#include <leat/leat.hpp>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

using namespace leat;

namespace {

constexpr std::int64_t readers = 3000, met_readers = 2800, articles = 1200, regions = 20, topics = 25;  // tables have room for new readers
constexpr std::size_t batch = 128;

struct options {
  int shown = 200000;
  int epochs = 4;
  float wide_rate = 0.2f;
  float deep_rate = 0.2f;
  std::string folder;
};

// Pages that were shown to readers, one position for each.
struct pages {
  std::vector<std::int32_t> reader, article, cross;
  std::vector<float> opened;
  std::vector<double> probability;  // by the formula
  std::size_t size() const { return reader.size(); }
};

// A number in [-1, 1) that belongs to a category.
double trait(std::uint64_t kind, std::int64_t of, int which = 0) {
  return 2 * uniform<double>(kind, static_cast<std::uint64_t>(of * 4 + which)) - 1;
}
// The formula: how curious the reader is, how good the article, what its topic means in the region, how well taste and matter agree.
double true_logit(std::int64_t reader, std::int64_t article, std::int64_t cross) {
  const double agreement = trait(1, reader, 0) * trait(2, article, 0) + trait(1, reader, 1) * trait(2, article, 1);
  return 1.2 * trait(1, reader, 2) + 1.5 * trait(2, article, 2) + 1.5 * trait(3, cross) + 2 * agreement - 0.5;
}
// Few readers and articles are met often, most of them rarely.
std::int64_t drawn(std::uint64_t seed, int position, std::int64_t count) {
  const double u = uniform<double>(seed, static_cast<std::uint64_t>(position));
  return static_cast<std::int64_t>(u * u * static_cast<double>(count));
}

// Every tenth page, or the others.
pages show(int count, bool held_out) {
  pages made;
  for (int k = 0; k < count; ++k) {
    if ((k % 10 == 0) != held_out) continue;
    const std::int64_t reader = drawn(5, k, met_readers), article = drawn(6, k, articles);
    const std::int64_t cross = reader % regions * topics + article % topics;
    const double p = 1 / (1 + std::exp(-true_logit(reader, article, cross)));
    made.reader.push_back(static_cast<std::int32_t>(reader));
    made.article.push_back(static_cast<std::int32_t>(article));
    made.cross.push_back(static_cast<std::int32_t>(cross));
    made.opened.push_back(uniform<double>(7, static_cast<std::uint64_t>(k)) < p ? 1.0f : 0.0f);
    made.probability.push_back(p);
  }
  return made;
}

// Mean log loss of probabilities.
template <class Probability>
double log_loss(const pages& of, const Probability& probability) {
  double sum = 0;
  for (std::size_t k = 0; k < of.size(); ++k) sum -= std::log(of.opened[k] > 0 ? probability(k) : 1 - probability(k));
  return sum / static_cast<double>(of.size());
}

int run(const options& given) {
  const pages training = show(given.shown, false), held_out = show(given.shown, true);
  std::printf("%zu pages to train on, %zu held out; %lld categories\n", training.size(), held_out.size(),
              static_cast<long long>(readers + articles + regions * topics));

  auto reader = placeholder<"reader", std::int32_t, "batch">();
  auto article = placeholder<"article", std::int32_t, "batch">();
  auto cross = placeholder<"cross", std::int32_t, "batch">();
  auto opened = placeholder<"opened", float, "batch">();

  auto w_reader = variable<"wide/reader", float, readers>(zeros);
  auto w_article = variable<"wide/article", float, articles>(zeros);
  auto w_cross = variable<"wide/cross", float, regions * topics>(zeros);
  auto bias = variable<"wide/bias", float>(zeros);
  auto wide = gather(w_reader, reader) + gather(w_article, article) + gather(w_cross, cross) + bias;

  auto [of_reader, reader_table] = embedding_layer<"readers", readers, 8>(reader, 1);
  auto [of_article, article_table] = embedding_layer<"articles", articles, 8>(article, 2);
  auto [hidden, hidden_kernel, hidden_bias] = dense_layer<"hidden", 32>(concat<1>(of_reader, of_article), 3);
  auto [output, output_kernel, output_bias] = dense_layer<"output", 1>(relu(hidden), 4);

  auto logits = wide + squeeze<1>(output);
  auto loss = reduce_mean(sigmoid_cross_entropy_with_logits(opened, logits));
  auto wide_optimizer = ftrl(given.wide_rate, {.l1 = 0.001f});
  auto deep_optimizer = adagrad(given.deep_rate);
  auto train = group(wide_optimizer.apply_gradients(wide_optimizer.compute_gradients(loss, w_reader, w_article, w_cross, bias)),
                     deep_optimizer.apply_gradients(deep_optimizer.compute_gradients(loss, reader_table, article_table, hidden_kernel,
                                                                                     hidden_bias, output_kernel, output_bias)));

  session s{loss, logits, train};
  s.initialize();
  std::vector<std::int32_t> some_readers(batch), some_articles(batch), some_crosses(batch);
  std::vector<float> some_opened(batch);
  auto step = s.prepare(fetch(loss, train), reader = some_readers, article = some_articles, cross = some_crosses, opened = some_opened);
  const std::size_t steps = training.size() / batch;
  for (int epoch = 0; epoch < given.epochs; ++epoch) {
    double sum = 0;
    for (std::size_t k = 0; k < steps; ++k) {
      const auto copy = [&](const auto& from, auto& to) {
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(k * batch), batch, to.begin());
      };
      copy(training.reader, some_readers);
      copy(training.article, some_articles);
      copy(training.cross, some_crosses);
      copy(training.opened, some_opened);
      const auto [value] = step();
      sum += static_cast<double>(value);
    }
    std::printf("pass %d   training loss %.4f\n", epoch + 1, sum / static_cast<double>(steps));
  }

  const auto predict = [&](auto& in) {
    auto [found] = in.run(fetch(logits), reader = held_out.reader, article = held_out.article, cross = held_out.cross);
    return found;
  };
  const auto found = predict(s);
  double rate = 0;
  for (const float o : training.opened) rate += static_cast<double>(o) / static_cast<double>(training.size());
  const double ours = log_loss(held_out, [&](std::size_t k) { return 1 / (1 + std::exp(-static_cast<double>(found(k)))); });
  const double constant = log_loss(held_out, [&](std::size_t) { return rate; });
  const double formula = log_loss(held_out, [&](std::size_t k) { return held_out.probability[k]; });
  const double share = 100 * (constant - ours) / (constant - formula);
  std::printf("held-out loss: one rate for all %.4f, the model %.4f, the formula itself %.4f\n", constant, ours, formula);
  std::printf("  %.1f %% of the way  (at least 50 %% is asked for)\n", share);

  // Rows that no page of the training data has are as they began: no step has touched them.
  std::vector<char> met(static_cast<std::size_t>(readers));
  for (const std::int32_t r : training.reader) met[static_cast<std::size_t>(r)] = 1;
  const auto weights = s.value(w_reader);
  std::int64_t never = 0, changed = 0, kept = 0;
  for (std::size_t r = 0; r < met.size(); ++r) {
    never += met[r] == 0;
    changed += met[r] == 0 && weights(r) != 0;
    kept += weights(r) != 0;
  }
  std::printf("readers never met: %lld, of which changed: %lld; weights that Ftrl did not make 0: %lld of %lld\n",
              static_cast<long long>(never), static_cast<long long>(changed), static_cast<long long>(kept),
              static_cast<long long>(readers));

  const bool has_folder = !given.folder.empty();
  const std::filesystem::path folder = has_folder ? std::filesystem::path(given.folder)
                                                  : std::filesystem::temp_directory_path() / ("leat_wide." + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  saver save;
  const std::string path = save.save(s, (folder / "model").string(), static_cast<std::int64_t>(steps) * given.epochs);
  session restored{logits};
  restored.initialize();
  save.restore(restored, path);
  const bool equal = predict(restored) == found;
  std::printf("saved, restored: predictions are %s\n", equal ? "equal to the bit" : "not equal");
  if (!has_folder) std::filesystem::remove_all(folder);
  return share >= 50 && changed == 0 && equal ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options given;
  CLI::App app{"A wide and deep model over categories: Ftrl and Adagrad on the rows that were looked up."};
  app.option_defaults()->always_capture_default();
  app.add_option("--shown", given.shown, "pages that are made, a tenth of them held out")->check(CLI::Range(10000, 10000000));
  app.add_option("--epochs", given.epochs, "passes over the data")->check(CLI::PositiveNumber);
  app.add_option("--wide-rate", given.wide_rate, "learning rate of Ftrl")->check(CLI::PositiveNumber);
  app.add_option("--deep-rate", given.deep_rate, "learning rate of Adagrad")->check(CLI::PositiveNumber);
  app.add_option("--folder", given.folder, "where the model is saved; by default in a folder that is removed at the end");
  CLI11_PARSE(app, count, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wide_embedding: %s\n", error.what());
    return 2;
  }
}
