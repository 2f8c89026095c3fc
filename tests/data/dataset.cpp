#include <leat/data/arrays.hpp>
#include <leat/data/dataset.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace leat;

namespace {

// All first components, one after the other.
template <class Data>
std::vector<std::int64_t> all(Data&& data) {
  std::vector<std::int64_t> list;
  for (auto& [value] : data) list.push_back(static_cast<std::int64_t>(value));
  return list;
}
template <class Data>
std::vector<std::vector<std::int64_t>> rows(Data&& data) {
  std::vector<std::vector<std::int64_t>> list;
  for (auto& [value] : data) list.emplace_back(value.begin(), value.end());
  return list;
}
template <class D, class F>
concept maps = requires(D d, F f) { d.map(f); };
template <class D, class F>
concept filters = requires(D d, F f) { d.filter(f); };
template <class D, class F>
concept modifies = requires(D d, F f) { d.modify(f); };
template <class D>
concept batches = requires(D d) { d.batch(3); };

}  // namespace

TEST_CASE("shuffled by a seed, in batches, twice") {
  const auto data = dataset::range(10).shuffle(10, 1).batch(3).repeat(2);
  std::vector<std::size_t> sizes;
  std::int64_t sum = 0;
  for (auto& [row] : data) {
    sizes.push_back(row.size());
    sum += std::accumulate(row.begin(), row.end(), std::int64_t{0});
    if (sizes.size() == 4) CHECK(sum == 45);
  }
  CHECK(sizes == std::vector<std::size_t>{3, 3, 3, 1, 3, 3, 3, 1});
  CHECK(sum == 90);
  CHECK(rows(data) == rows(data));
  CHECK(rows(data) != rows(dataset::range(10).shuffle(10, 2).batch(3).repeat(2)));
  const auto both = rows(data);
  CHECK(std::vector(both.begin(), both.begin() + 4) != std::vector(both.begin() + 4, both.end()));
  CHECK(data.description() == "range(0, 10, 1) | shuffle(10, 1) | batch(3) | repeat(2)");
}

TEST_CASE("numbers in order, parts, repetitions") {
  using list = std::vector<std::int64_t>;
  CHECK(all(dataset::range(4)) == list{0, 1, 2, 3});
  CHECK(all(dataset::range(1, 8, 3)) == list{1, 4, 7});
  CHECK(all(dataset::range(3, -3, -2)) == list{3, 1, -1});
  CHECK(all(dataset::range(-5)).empty());
  CHECK(all(dataset::range(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), std::int64_t{1} << 62))
            .size() == 4);
  CHECK(all(dataset::range(5).skip(2)) == list{2, 3, 4});
  CHECK(all(dataset::range(5).skip(7)).empty());
  CHECK(all(dataset::range(5).take(2)) == list{0, 1});
  CHECK(all(dataset::range(5).take(0)).empty());
  CHECK(all(dataset::range(2).repeat(3)) == list{0, 1, 0, 1, 0, 1});
  CHECK(all(dataset::range(2).repeat(0)).empty());
  CHECK(all(dataset::range(2).repeat().skip(3).take(4)) == list{1, 0, 1, 0});
  CHECK(all(dataset::range(0).repeat()).empty());
  CHECK(all(dataset::range(3).filter([](std::int64_t) { return false; }).repeat()).empty());
  CHECK(rows(dataset::range(7).batch(3)) == std::vector<list>{{0, 1, 2}, {3, 4, 5}, {6}});
  CHECK(rows(dataset::range(7).batch(3, true)) == std::vector<list>{{0, 1, 2}, {3, 4, 5}});
  CHECK(rows(dataset::range(7).batch(3).skip(1)) == std::vector<list>{{3, 4, 5}, {6}});
  CHECK_THROWS_AS(dataset::range(7).batch(0), invalid_argument);
  CHECK_THROWS_AS(dataset::range(7).shuffle(0, 1), invalid_argument);
  CHECK_THROWS_AS(dataset::range(1, 2, 0), invalid_argument);
}

TEST_CASE("an order is a permutation, whatever the buffer, and elements move at most ahead by it") {
  for (const std::uint64_t buffer : {1, 2, 7, 100, 1000}) {
    auto got = all(dataset::range(100).map([](std::int64_t i) { return i; }).shuffle(buffer, 5));  // of elements
    CHECK(got == all(dataset::range(100).shuffle(buffer, 5)));                                     // of numbers
    for (std::size_t k = 0; k < got.size(); ++k) CHECK(got[k] < static_cast<std::int64_t>(k + buffer));
    std::sort(got.begin(), got.end());
    CHECK(got == all(dataset::range(100)));
  }
  CHECK(all(dataset::range(100).shuffle(1, 5)) == all(dataset::range(100)));
  // Each of the 24 orders of 4 elements is about as frequent: 24 * 100 draws, 6 standard deviations.
  std::map<std::vector<std::int64_t>, int> seen;
  for (std::uint64_t seed = 0; seed < 2400; ++seed) ++seen[all(dataset::range(4).shuffle(4, seed))];
  CHECK(seen.size() == 24);
  for (const auto& [order, count] : seen) CHECK(std::abs(count - 100) < 60);
}

TEST_CASE("a batch of all there is takes no more memory than that") {
  const auto data = dataset::range(5000).map([](std::int64_t i) { return std::tuple(i, std::to_string(i), std::array<float, 2>{0, 1}); });
  for (const std::uint64_t rows : {std::uint64_t{1} << 60, std::uint64_t{3000}}) {
    std::int64_t next = 0;
    for (auto& [number, text, pair] : data.batch(rows).repeat(2)) {
      CHECK((number.size() == text.size() && pair.shape(0) == text.size()));
      for (std::size_t k = 0; k < text.size(); ++k, next = (next + 1) % 5000)
        if (number(k) != next || text[k] != std::to_string(next) || pair(k, 1) != 1) FAIL(next);
    }
  }
  for (auto& [number] : dataset::range(50).batch(std::uint64_t{1} << 60)) CHECK(number.size() == 50);
}

TEST_CASE("functions of elements") {
  const auto pairs = dataset::range(4).map([](std::int64_t i) { return std::tuple(static_cast<float>(i) / 2, std::to_string(i)); });
  static_assert(std::is_same_v<decltype(pairs), const dataset_of<float, std::string>>);
  std::string text;
  for (auto& [half, word] : pairs) text += word + ":" + std::to_string(half).substr(0, 3) + " ";
  CHECK(text == "0:0.0 1:0.5 2:1.0 3:1.5 ");
  CHECK(pairs.description() == "range(0, 4, 1) | map -> (float32, string)");
  for (auto& [halves, words] : pairs.batch(4)) {
    CHECK(words == std::vector<std::string>{"0", "1", "2", "3"});
    CHECK(halves(3) == 1.5f);
  }
  const auto squares = dataset::range(5).map_into<xt::xtensor<float, 1>>([](std::int64_t i, xt::xtensor<float, 1>& to) {
    to.resize({2});
    to(0) = static_cast<float>(i), to(1) = static_cast<float>(i * i);
  });
  for (auto& [all] : squares.batch(5)) CHECK((all.shape(0) == 5 && all.shape(1) == 2 && all(4, 1) == 16));
  CHECK(all(dataset::range(5).modify([](std::int64_t& i) { i *= 2; })) == std::vector<std::int64_t>{0, 2, 4, 6, 8});
  CHECK(all(dataset::range(9).filter([](std::int64_t i) { return i % 3 == 1; })) == std::vector<std::int64_t>{1, 4, 7});
  // Random numbers follow the element, not the order in which one asks.
  const auto noisy = dataset::range(5).modify([](data::random_stream& random, std::int64_t& i) { i = i * 1000 + random() % 1000; }, 3);
  CHECK(all(noisy) == all(noisy));
  const auto whole = all(noisy);
  CHECK(all(noisy.skip(2)) == std::vector(whole.begin() + 2, whole.end()));
  const auto twice = all(noisy.repeat(2));
  CHECK(std::vector(twice.begin(), twice.begin() + 5) != std::vector(twice.begin() + 5, twice.end()));
}

TEST_CASE("what a function takes is checked by the compiler") {
  using numbers = decltype(dataset::range(1));
  const auto text = [](std::string) { return true; };
  const auto two = [](std::int64_t, std::int64_t) { return true; };
  const auto one = [](std::int64_t&) { return true; };
  static_assert(maps<numbers, decltype(one)> && filters<numbers, decltype(one)> && modifies<numbers, decltype(one)>);
  static_assert(!maps<numbers, decltype(text)> && !filters<numbers, decltype(two)> && !modifies<numbers, decltype(text)>);
  struct own {
    int x = 0;
  };
  using mapped = decltype(dataset::range(1).map([](std::int64_t) { return own{}; }));
  static_assert(batches<numbers> && !batches<mapped>);
  static_assert(std::ranges::input_range<const numbers> && std::ranges::view<numbers>);
}

TEST_CASE("slices of arrays") {
  const xt::xtensor<float, 2> images{{1, 2}, {3, 4}, {5, 6}};
  const std::vector<std::int64_t> labels{7, 8, 9};
  const auto data = dataset::from_tensor_slices(images, labels);
  static_assert(std::is_same_v<decltype(data), const dataset_of<xt::xtensor<float, 1>, std::int64_t>>);
  std::size_t k = 0;
  for (auto& [image, label] : data) {
    CHECK((image(0) == images(k, 0) && image(1) == images(k, 1) && label == labels[k]));
    ++k;
  }
  for (auto& [image, label] : data.batch(3)) CHECK((image == images && label(2) == 9));
  const auto lent = dataset::from_tensor_slices(std::cref(images), std::span(labels));
  for (auto& [image, label] : lent.shuffle(3, 1).batch(3)) CHECK(image.size() == 6);
  CHECK(leat_test::message_of<invalid_argument>([&] { dataset::from_tensor_slices(images, std::vector<int>(2)); }) ==
        "from_tensor_slices: array 1 has 2 slices, array 0 has 3");
  const xt::xtensor<float, 2, xt::layout_type::column_major> columns{{1, 2}, {3, 4}};
  CHECK_THROWS_AS(dataset::from_tensor_slices(columns), invalid_argument);
  CHECK(data.description() == "slices(3) (float32[?], int64)");
  for (auto& [word] : dataset::from_tensor_slices(std::vector<std::string>{"a", "b"}).batch(2)) CHECK(word.size() == 2);
}

TEST_CASE("generators and ranges") {
  const auto counted = dataset::from_generator([] {
    return [i = 0]() mutable -> std::optional<std::tuple<int, float>> {
      if (i == 3) return std::nullopt;
      ++i;
      return std::tuple(i, 0.5f * static_cast<float>(i));
    };
  });
  std::vector<float> halves;
  for (auto& [i, half] : counted.repeat(2)) halves.push_back(half);
  CHECK(halves == std::vector<float>{0.5f, 1, 1.5f, 0.5f, 1, 1.5f});
  const auto squares = dataset::from_generator([] { return std::views::iota(0, 5) | std::views::transform([](int i) { return i * i; }); });
  CHECK(all(squares) == std::vector<std::int64_t>{0, 1, 4, 9, 16});
  std::int64_t sum = 0;
  for (auto& [i] : dataset::range(100) | std::views::filter([](auto& e) { return std::get<0>(e) % 2 == 1; }) | std::views::take(3))
    sum += i;
  CHECK(sum == 9);
}

TEST_CASE("several datasets as one") {
  const auto zipped = dataset::zip(dataset::range(5), dataset::range(10, 13).map([](std::int64_t i) { return std::tuple(i, 0.5f); }));
  static_assert(std::is_same_v<decltype(zipped), const dataset_of<std::int64_t, std::int64_t, float>>);
  std::vector<std::int64_t> sums;
  for (auto& [a, b, c] : zipped) sums.push_back(a + b);
  CHECK(sums == std::vector<std::int64_t>{10, 12, 14});
  const auto mixed = dataset::range(1, 4).interleave([](std::int64_t n) { return dataset::range(10 * n, 11 * n); }, 2);
  CHECK(all(mixed) == std::vector<std::int64_t>{10, 20, 21, 30, 31, 32});
  const auto blocks = dataset::range(1, 4).interleave([](std::int64_t n) { return dataset::range(10 * n, 10 * n + 4); }, 2, 3);
  CHECK(all(blocks) == std::vector<std::int64_t>{10, 11, 12, 20, 21, 22, 13, 23, 30, 31, 32, 33});
}

TEST_CASE("after an error the parts of a zip are still those that belong together") {
  // Elements 1 and 9 of the first are errors, and those of the second never.
  const auto source = [](bool fails) {
    return dataset::from_generator([fails] {
      return [fails, next = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
        if (next == 20) return std::nullopt;
        const std::int64_t now = next++;
        if (fails && (now == 1 || now == 9)) throw std::runtime_error("no " + std::to_string(now));
        return now;
      };
    });
  };
  const auto pairs = [&](auto make) {
    auto it = dataset::zip(make(source(true)), make(source(false))).iterate();
    int errors = 0, given = 0;
    for (bool more = true; more;) try {
        more = it.next();
        if (!more) break;
        ++given;
        if (!(std::get<0>(it.element()) == std::get<1>(it.element()))) FAIL_CHECK("pair " << given);
      } catch (const std::runtime_error&) {
        ++errors;
      }
    return std::pair(given, errors);
  };
  CHECK(pairs([](auto d) { return d; }) == std::pair(18, 2));
  CHECK(pairs([](auto d) { return d.skip(5); }) == std::pair(13, 2));  // the first one tells of what was passed over
  CHECK(pairs([](auto d) { return d.skip(5).skip(5); }) == std::pair(9, 1));
  CHECK(pairs([](auto d) { return d.take(5).repeat(2); }) == std::pair(8, 2));
  CHECK(pairs([](auto d) { return d.skip(5).repeat(2); }) == std::pair(26, 4));
  CHECK(pairs([](auto d) { return d.batch(3); }) == std::pair(5, 2));
  CHECK(pairs([](auto d) { return d.batch(3).skip(1); }) == std::pair(4, 2));
  CHECK(pairs([](auto d) { return d.padded_batch(4, 0, true); }) == std::pair(3, 2));
  CHECK(pairs([](auto d) { return d.shuffle(4, 7); }) == std::pair(18, 2));
  CHECK(pairs([](auto d) { return d.shuffle(100, 7).repeat(2); }) == std::pair(36, 4));
  CHECK(pairs([](auto d) { return d.shuffle(4, 7).skip(3); }).first >= 15);
  CHECK(pairs([](auto d) { return d.prefetch(2); }) == std::pair(18, 2));
  CHECK(pairs([](auto d) { return d.modify([](data::random_stream& r, std::int64_t& i) { i += r() % 99; }, 1); }) == std::pair(18, 2));
  CHECK(pairs([](auto d) { return dataset::range(2).interleave([d](std::int64_t) { return d; }, 2, 3); }) == std::pair(36, 4));
}

TEST_CASE("padded batches") {
  const auto data = dataset::range(1, 5).map([](std::int64_t n) {
    xt::xtensor<std::int64_t, 2> made =
        xt::xtensor<std::int64_t, 2>::from_shape({static_cast<std::size_t>(n % 3), static_cast<std::size_t>(n)});
    std::fill(made.begin(), made.end(), n);
    return std::tuple(made, n);
  });
  std::vector<xt::xtensor<std::int64_t, 3>> got;
  for (auto& [rows, n] : data.padded_batch(2, -1)) got.push_back(rows);
  REQUIRE(got.size() == 2);
  CHECK(got[0] == xt::xtensor<std::int64_t, 3>{{{1, -1}, {-1, -1}}, {{2, 2}, {2, 2}}});
  CHECK(got[1] == xt::xtensor<std::int64_t, 3>{{{-1, -1, -1, -1}}, {{4, 4, 4, 4}}});
  CHECK(leat_test::message_of<invalid_argument>([&] {
          for (auto& [rows, n] : data.batch(2)) static_cast<void>(rows);
        }).find("batch: component 0 of row 1 has another shape") == 0);
  std::size_t batches = 0;
  for ([[maybe_unused]] auto& both : data.padded_batch(3, 0, true)) ++batches;
  CHECK(batches == 1);
}

TEST_CASE("an iterator's element stays where it is") {
  auto rows = dataset::range(6).batch(2).iterate();
  auto& [row] = rows.element();
  const auto* place = &row;
  std::int64_t sum = 0;
  while (rows.next()) {
    CHECK(place == &std::get<0>(rows.element()));
    sum += row(0) + row(1);
  }
  CHECK(sum == 15);
  CHECK(!rows.next());
  rows.restart();
  CHECK(rows.next());
  std::size_t left = 0;
  for (auto& [more] : rows) left += more.size();
  CHECK(left == 4);
}
