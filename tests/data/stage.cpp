#include <leat/data/arrays.hpp>
#include <leat/data/stage.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace leat;

namespace {

template <class T>
std::vector<T> flat(const T& value) {
  return {value};
}
template <class T>
std::vector<T> flat(const xt::xtensor<T, 1>& values) {
  return {values.begin(), values.end()};
}
template <class Iterator>
auto left(Iterator& rows) {
  using component = std::remove_cvref_t<decltype(std::get<0>(rows.element()))>;
  std::vector<decltype(flat(std::declval<component>()))> list;
  while (rows.next()) list.push_back(flat(std::get<0>(rows.element())));
  return list;
}
// From every position: what is left of a run that goes on equals what a restored one gives; also restored twice.
template <class Data>
void resumes(const Data& data) {
  CAPTURE(data.description());
  auto whole = data.iterate();
  const auto all = left(whole);
  for (std::size_t at = 0; at <= all.size() + 1; ++at) {
    auto stopped = data.iterate();
    for (std::size_t k = 0; k < at; ++k) stopped.next();
    const std::string state = stopped.save_state();
    auto resumed = data.iterate();
    if (at % 2 == 1) resumed.next();
    resumed.restore_state(state);
    CHECK(resumed.save_state().size() < 2000);
    auto again = data.iterate();
    again.restore_state(resumed.save_state());
    const auto rest = decltype(all)(all.begin() + static_cast<std::ptrdiff_t>(std::min(at, all.size())), all.end());
    CHECK(left(resumed) == rest);
    CHECK(left(again) == rest);
    CHECK(left(stopped) == rest);
  }
}

}  // namespace

TEST_CASE("a restored pipeline gives what the first one would have given") {
  const auto numbers = dataset::range(23);
  const auto elements = numbers.map([](std::int64_t i) { return i * i; });  // has no numbers
  const auto odd = elements.filter([](std::int64_t i) { return i % 2 == 1; });
  const auto generated = dataset::from_generator([] { return std::views::iota(std::int64_t{0}, std::int64_t{17}); });
  resumes(numbers);
  resumes(numbers.shuffle(23, 1).batch(3).repeat(2));
  resumes(numbers.shuffle(5, 1).repeat(3));
  resumes(elements.shuffle(5, 1).batch(4, true).repeat(3));
  resumes(elements.repeat(3).shuffle(7, 1).batch(4));
  resumes(odd.shuffle(4, 9).repeat(2).batch(5));
  resumes(odd.repeat(2).shuffle(4, 9).repeat(2));
  resumes(numbers.shuffle(4, 1).shuffle(3, 2).repeat(2));
  resumes(elements.shuffle(50, 1).take(9).repeat(2).skip(3));
  resumes(numbers.skip(4).shuffle(6, 3).repeat(2));
  resumes(generated.shuffle(4, 2).repeat(2));
  resumes(numbers.modify([](data::random_stream& random, std::int64_t& i) { i += random() % 1000 * 100; }, 3).shuffle(4, 2).repeat(2));
  resumes(dataset::zip(numbers.shuffle(5, 1), generated.shuffle(3, 2)).map([](std::int64_t a, std::int64_t b) { return 100 * a + b; }));
  resumes(dataset::zip(numbers, odd.repeat(2)).repeat(2).map([](std::int64_t a, std::int64_t b) { return 100 * a + b; }));
  resumes(numbers.interleave([](std::int64_t n) { return dataset::range(10 * n, 10 * n + n % 4).shuffle(3, 1); }, 3, 2)
              .shuffle(5, 1)
              .repeat(2));
}

TEST_CASE("a restored pipeline that prefetches") {
  const auto elements = dataset::range(23).map([](std::int64_t i) { return i * i; });
  resumes(dataset::range(23).shuffle(23, 1).batch(3).repeat(2).prefetch(2));
  resumes(elements.shuffle(5, 1).prefetch(3).repeat(2).prefetch(1));
  // Beyond the elements for which a state is noted.
  const auto many = dataset::range(700).map([](std::int64_t i) { return i; }).shuffle(50, 1).repeat(2).prefetch(4);
  auto whole = many.iterate();
  const auto all = left(whole);
  for (const std::size_t at : {255u, 256u, 257u, 700u, 1023u, 1024u, 1399u, 1400u}) {
    auto stopped = many.iterate();
    for (std::size_t k = 0; k < at; ++k) stopped.next();
    auto resumed = many.iterate();
    resumed.restore_state(stopped.save_state());
    CHECK(left(resumed) == std::vector(all.begin() + static_cast<std::ptrdiff_t>(at), all.end()));
  }
}

TEST_CASE("a restored pipeline goes on where errors were as the first one does") {
  // Errors of a source come from passing over its elements, too; those of a function only where it is called.
  const auto failing = dataset::from_generator([] {
    return [next = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
      if (next == 23) return std::nullopt;
      const std::int64_t now = next++;
      if (now % 7 == 3) throw std::runtime_error("no " + std::to_string(now));
      return now;
    };
  });
  const auto mapped = dataset::range(23).map([](std::int64_t i) {
    if (i % 5 == 2) throw std::runtime_error("not " + std::to_string(i));
    return i;
  });
  const auto outcomes = [](auto& rows, std::size_t most) {
    std::vector<std::string> list;
    for (bool more = true; more && list.size() < most;) try {
        more = rows.next();
        std::string text;
        for (const auto value : flat(std::get<0>(rows.element()))) text += std::to_string(value) + " ";
        if (more) list.push_back(text);
      } catch (const std::runtime_error& e) {
        list.push_back(e.what());
      }
    return list;
  };
  const auto resumes_all = [&](const auto& data) {
    CAPTURE(data.description());
    auto first = data.iterate();
    const auto whole = outcomes(first, 1000);
    REQUIRE(whole.size() < 1000);
    for (std::size_t at = 0; at <= whole.size(); ++at) {
      auto stopped = data.iterate();
      outcomes(stopped, at);
      auto resumed = data.iterate();
      resumed.restore_state(stopped.save_state());
      auto again = data.iterate();
      again.restore_state(resumed.save_state());
      const std::vector rest(whole.begin() + static_cast<std::ptrdiff_t>(at), whole.end());
      CHECK(outcomes(stopped, 1000) == rest);
      CHECK(outcomes(resumed, 1000) == rest);
      CHECK(outcomes(again, 1000) == rest);
    }
  };
  const auto with_each = [&](const auto& source) {
    resumes_all(source);
    resumes_all(source.prefetch(2));
    resumes_all(source.shuffle(4, 1));
    resumes_all(source.shuffle(40, 1).repeat(2).prefetch(3));
    resumes_all(source.repeat(2).shuffle(6, 1));
    resumes_all(source.skip(4).repeat(2).shuffle(3, 1));
    resumes_all(source.skip(4).take(8).prefetch(2));
    resumes_all(source.skip(4).prefetch(2).shuffle(3, 2).prefetch(1));
    resumes_all(source.batch(4).shuffle(2, 1).prefetch(2));
    resumes_all(source.skip(1).batch(3).skip(1).shuffle(2, 3));
    resumes_all(source.filter([](std::int64_t i) { return i % 2 == 0; }).shuffle(3, 1));
    resumes_all(source.modify([](data::random_stream& random, std::int64_t& i) { i += 100 * (random() % 9); }, 3).shuffle(3, 1));
    resumes_all(source.modify([](data::random_stream& random, std::int64_t& i) { i += 100 * (random() % 9); }, 3).prefetch(2));
    resumes_all(source.interleave([](std::int64_t n) { return dataset::range(10 * n, 10 * n + n % 4); }, 3, 2).shuffle(3, 1));
    resumes_all(dataset::zip(source.shuffle(3, 1), dataset::range(23)).map([](auto a, auto b) { return 100 * a + b; }).prefetch(2));
  };
  with_each(failing);
  with_each(mapped);
}

TEST_CASE("a state tells paddings apart, and takes those that were always told") {
  const auto padded = [](double padding) {
    return dataset::range(6)
        .map([](std::int64_t n) { return xt::xtensor<float, 1>(xt::xtensor<float, 1>::from_shape({static_cast<std::size_t>(n)})); })
        .padded_batch(2, padding);
  };
  const auto words = [&](double padding) { return padded(padding).description().substr(dataset::range(6).description().size()); };
  const std::string map = " | map -> (float32[?]) | ";
  CHECK(words(0) == map + "padded_batch(2, 0.000000)");
  CHECK(words(-1.5) == map + "padded_batch(2, -1.500000)");
  CHECK(words(1e-9) == map + "padded_batch(2, 1e-09)");
  CHECK(words(0.1234567) == map + "padded_batch(2, 0.1234567)");
  CHECK(words(1e300).size() > 300);
  const std::string state = padded(1e-9).iterate().save_state();
  padded(1e-9).iterate().restore_state(state);
  CHECK_THROWS_AS(padded(0).iterate().restore_state(state), invalid_argument);
}

TEST_CASE("a description need not be UTF-8") {
  const data::state_numbers numbers{1, 2};
  const std::string latin = "csv(k\xfcrzung.csv)", utf8 = "csv(k\xc3\xbcrzung.csv)";
  const std::string state = data::write_state(latin, numbers);
  CHECK(data::read_state(state, latin) == numbers);
  CHECK(nlohmann::json::parse(state)["pipeline"] == "csv(k\\xfcrzung.csv)");
  CHECK_THROWS_AS(data::read_state(state, utf8), invalid_argument);
  CHECK(nlohmann::json::parse(data::write_state(utf8, numbers))["pipeline"] == utf8);
  CHECK(data::read_state(data::write_state(utf8, numbers), utf8) == numbers);
  CHECK(data::read_state(data::write_state("cut off \xe2\x82", numbers), "cut off \xe2\x82") == numbers);
}

TEST_CASE("states far within long runs are restored without going through all elements") {
  const auto data = dataset::range(1000).shuffle(1000, 1).batch(10).repeat().prefetch(2);
  auto rows = data.iterate();
  for (int k = 0; k < 12345; ++k) rows.next();
  auto resumed = data.iterate();
  resumed.restore_state(rows.save_state());
  for (int k = 0; k < 200; ++k) {
    rows.next(), resumed.next();
    CHECK(rows.element() == resumed.element());
  }
}

TEST_CASE("states of other pipelines, and damaged ones, are refused, and the iterator is at its begin") {
  const auto data = dataset::range(10).shuffle(5, 1).batch(3).repeat(2);
  auto rows = data.iterate();
  rows.next();
  const std::string state = rows.save_state();
  CHECK(nlohmann::json::parse(state)["pipeline"] == "range(0, 10, 1) | shuffle(5, 1) | batch(3) | repeat(2)");
  const auto refused = [&](const auto& other, const std::string& text, auto error) {
    auto it = other.iterate();
    auto fresh = other.iterate();
    it.next();
    const std::string what = leat_test::message_of<decltype(error)>([&] { it.restore_state(text); });
    CHECK(what != "nothing");
    CHECK(left(it) == left(fresh));
    return what;
  };
  const invalid_argument another("");
  CHECK(refused(dataset::range(10).shuffle(5, 2).batch(3).repeat(2), state, another) ==
        "the state of another pipeline:\n  the state's: range(0, 10, 1) | shuffle(5, 1) | batch(3) | repeat(2)\n"
        "  this one:    range(0, 10, 1) | shuffle(5, 2) | batch(3) | repeat(2)");
  refused(dataset::range(11).shuffle(5, 1).batch(3).repeat(2), state, another);
  refused(dataset::range(10).shuffle(5, 1).batch(3), state, another);
  const data_loss damaged("");
  for (std::size_t size = 0; size < state.size(); ++size) refused(data, state.substr(0, size), damaged);
  for (const char* text :
       {"", "null", "[1]", "{}", R"({"format": "leat.pipeline"})", R"({"format": 1, "pipeline": 1, "state": 1, "checksum": 1})",
        R"({"format": "leat.pipeline", "version": 1, "pipeline": "x", "state": [-1], "checksum": ""})",
        R"({"format": "leat.pipeline", "version": 1, "pipeline": "x", "state": [1e300], "checksum": ""})"})
    refused(data, text, damaged);
  auto changed = nlohmann::json::parse(state);
  changed["state"][0] = 1;
  refused(data, changed.dump(), damaged);
  changed["version"] = 2;
  refused(data, changed.dump(), unimplemented(""));
  // Numbers with the right checksum that no pipeline of this kind has.
  const auto made = [&](const data::state_numbers& numbers) { return data::write_state(data.description(), numbers); };
  refused(data, made({}), damaged);
  refused(data, made({9, 0, 1}), damaged);
  refused(data, made({0, 1, 11, 11, 1}), damaged);
  refused(data, made({0, 1, 5, 4, 0}), damaged);
  refused(data, made({0, 1, 1, 5, 0, 7}), damaged);
}
