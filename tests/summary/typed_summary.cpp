#include <leat/leat.hpp>
#include <leat/summary.hpp>
#include <leat/summary/typed_summary.hpp>

#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <variant>
#include <vector>

using namespace leat;
using leat_test::scratch_folder;

TEST_CASE("typed summaries are fetches, and one event holds those of a run") {
  auto x = placeholder<"x", float, "n", 3>();
  auto w = variable<"w", float, 3, 1>(ones);
  auto y = matmul(x, w);
  auto loss = reduce_mean(square(y));
  auto train = gradient_descent(0.0f).minimize(loss);
  session s{loss, train};
  s.initialize();
  const xt::xtensor<float, 2> xs{{1, 2, 3}, {0, 0, 1}};

  auto [plain, tagged] = s.run(fetch(loss, summary::scalar<"train/loss">(loss)), x = xs);
  CHECK(plain == tagged.value);
  CHECK(tagged.tag() == "train/loss");

  const scratch_folder folder("typed_summary");
  summary::file_writer log(folder.path);
  const auto results = s.run(
      fetch(train, summary::merge(summary::scalar<"loss">(loss), summary::histogram<"y">(y)), loss, summary::histogram<"w">(w)), x = xs);
  log.add_summary(results, 5);
  log.add_summary(tagged, 6);
  log.close();
  const auto events = summary::read_events(log.path());
  REQUIRE(events.size() == 3);
  REQUIRE(events[1].summary.has_value());
  CHECK(events[1].step == 5);
  const auto& values = events[1].summary->values;
  REQUIRE(values.size() == 3);
  CHECK(values[0].tag == "loss");
  CHECK(std::get<float>(values[0].content) == plain);
  CHECK(values[1].tag == "y");
  CHECK(std::get<summary::histogram_value>(values[1].content).num == 2);
  CHECK(std::get<summary::histogram_value>(values[1].content).max == 6);
  CHECK(values[2].tag == "w");
  CHECK(std::get<summary::histogram_value>(values[2].content).sum == 3);
  CHECK(events[2].summary->values[0].tag == "train/loss");
}

TEST_CASE("typed pictures, sounds and integers") {
  auto images = placeholder<"images", std::uint8_t, "n", 2, 3, 1>();
  auto sounds = placeholder<"sounds", float, "n", 8>();
  auto count = reduce_sum(cast<std::int32_t>(placeholder<"k", std::uint8_t, 4>()));
  session s{identity(images), identity(sounds), count};
  const auto all =
      s.run(fetch(summary::image<"i", 2>(identity(images)), summary::audio<"a", 8000, 1>(identity(sounds)), summary::scalar<"k">(count)),
            images = xt::xtensor<std::uint8_t, 4>(xt::zeros<std::uint8_t>({3, 2, 3, 1})),
            sounds = xt::xtensor<float, 2>(xt::zeros<float>({3, 8})),
            placeholder<"k", std::uint8_t, 4>() = std::vector<std::uint8_t>{1, 2, 3, 4});
  summary::value_list list;
  summary::append_typed(list, all);
  const auto read = summary::read_summary(list.bytes()).values;
  REQUIRE(read.size() == 4);
  CHECK(read[0].tag == "i/image/0");
  CHECK(read[1].tag == "i/image/1");
  CHECK(read[2].tag == "a/audio");
  CHECK(std::get<float>(read[3].content) == 10);
}
