#include <leat/data/arrays.hpp>
#include <leat/data/graph_iterator.hpp>
#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

TEST_CASE("an iterator that begins by itself") {
  graph g;
  auto here = g.as_default();
  const auto next = make_one_shot_iterator(dataset::range(3)).get_next();
  const auto twice = multiply(next[0], std::int64_t{2});
  CHECK(next[0].name() == "IteratorGetNext:0");
  CHECK(next[0].operation().type() == "IteratorGetNext");
  for (int sessions = 0; sessions < 2; ++sessions) {
    graph_session s(g);
    for (std::int64_t k = 0; k < 3; ++k) CHECK(s.run<std::int64_t>(twice) == 2 * k);
    CHECK_THROWS_AS(s.run(twice), out_of_range);
    CHECK_THROWS_AS(s.run(twice), out_of_range);
  }
}

TEST_CASE("an iterator that is initialized, again and by another dataset") {
  graph g;
  auto here = g.as_default();
  const auto pairs = dataset::range(4).map([](std::int64_t i) { return std::tuple(static_cast<float>(i), std::to_string(i)); }).batch(3);
  const auto it = make_initializable_iterator(pairs);
  const auto next = it.get_next("batch");
  const auto sum = reduce_sum(next[0]);
  const auto other = it.make_initializer(pairs.skip(1));
  graph_session s(g);
  CHECK_THROWS_AS(s.run(sum), failed_precondition);
  for (int k = 0; k < 2; ++k) {
    s.run(it.initializer());
    auto [total, words] = s.run<float, tensor_value>({sum, next[1]});
    CHECK(total == 3);
    CHECK(words.texts() == std::vector<std::string>{"0", "1", "2"});
    CHECK(s.run<float>(sum) == 3);
    CHECK_THROWS_AS(s.run(sum), out_of_range);
  }
  s.run(other);
  CHECK(s.run<float>(sum) == 3);
  CHECK_THROWS_AS(s.run(sum), out_of_range);
  CHECK_THROWS_AS(it.make_initializer(dataset::range(3)), invalid_argument);
  CHECK_THROWS_AS(make_one_shot_iterator(pairs).initializer(), failed_precondition);
}

TEST_CASE("an iterator that is fed") {
  graph g;
  auto here = g.as_default();
  const auto training = make_one_shot_iterator(dataset::range(100).repeat());
  const auto held_out = make_initializable_iterator(dataset::range(1000, 1003));
  const auto handle = placeholder(static_cast<dtype>(data_type::string), {});
  const auto next = graph_iterator::from_string_handle(handle, training.structure()).get_next();
  const auto of_training = training.string_handle(), of_held_out = held_out.string_handle();
  graph_session s(g);
  const std::string first = s.run<std::string>(of_training), second = s.run<std::string>(of_held_out);
  CHECK(first != second);
  s.run(held_out.initializer());
  CHECK(s.run<std::int64_t>(next[0], {{handle, first}}) == 0);
  CHECK(s.run<std::int64_t>(next[0], {{handle, second}}) == 1000);
  CHECK(s.run<std::int64_t>(next[0], {{handle, first}}) == 1);
  CHECK_THROWS_AS(s.run(next[0], {{handle, std::string("another")}}), not_found);
}

TEST_CASE("a function's error fails the run, and the next run goes on") {
  graph g;
  auto here = g.as_default();
  const auto next = make_one_shot_iterator(dataset::range(3).modify([](std::int64_t& i) {
                      if (i == 1) throw data_loss("not one");
                    })).get_next();
  graph_session s(g);
  CHECK(s.run<std::int64_t>(next[0]) == 0);
  CHECK_THROWS_AS(s.run(next[0]), data_loss);
  CHECK(s.run<std::int64_t>(next[0]) == 2);
}

namespace {

// Batches of shuffled numbers, and texts beside them.
auto batches(std::uint64_t seed = 1) {
  return dataset::range(20).map([](std::int64_t i) { return std::tuple(i, std::to_string(i)); }).shuffle(7, seed).batch(3).repeat(3);
}
// A graph with an iterator of each kind; `row` is what a run sees of both.
struct two_iterators {
  graph g;
  output numbers, words;
  graph_operation begin;
  graph_iterator first;
  explicit two_iterators(std::uint64_t seed = 1)
      : first([&] {
          const auto here = g.as_default();
          return make_initializable_iterator(batches(seed), "its name");
        }()) {
    const auto here = g.as_default();
    numbers = first.get_next()[0];
    words = make_one_shot_iterator(batches(2).prefetch(2)).get_next()[1];
    begin = first.initializer();
  }
  std::pair<std::vector<std::int64_t>, std::vector<std::string>> row(graph_session& s) const {
    const auto both = s.run({numbers, words});
    const tensor_value &n = both[0], &w = both[1];
    return {{n.values<std::int64_t>().begin(), n.values<std::int64_t>().end()}, {w.texts().begin(), w.texts().end()}};
  }
};

}  // namespace

TEST_CASE("the iterators of a session go on in another where they were") {
  two_iterators m;
  graph_session whole(m.g);
  CHECK(iterator_states(whole).empty());
  whole.run(m.begin);
  for (int k = 0; k < 9; ++k) m.row(whole);
  const std::string states = iterator_states(whole);
  std::vector<decltype(m.row(whole))> rest;
  for (int k = 0; k < 5; ++k) rest.push_back(m.row(whole));

  const auto goes_on = [&](graph_session& s) {
    for (const auto& row : rest)
      if (m.row(s) != row) return false;
    return true;
  };
  {
    graph_session s(m.g);  // the initializer comes after
    restore_iterator_states(s, states);
    CHECK(iterator_states(s) == states);  // saved again before it begins
    s.run(m.begin);
    CHECK(goes_on(s));
    s.run(m.begin);  // from its begin
    CHECK(m.row(s).first != rest[0].first);
  }
  {
    graph_session s(m.g);  // it came before
    s.run(m.begin);
    m.row(s);
    restore_iterator_states(s, states);
    CHECK(goes_on(s));
    restore_iterator_states(s, states);
    CHECK(goes_on(s));
    restore_iterator_states(s, "");
    restore_iterator_states(s, "[]");
    const auto after = m.row(s);
    CHECK(after == m.row(whole));
  }
  // The end is a place, too.
  graph_session s(m.g);
  for (int k = 0; k < 6; ++k) m.row(whole);
  CHECK_THROWS_AS(m.row(whole), out_of_range);
  restore_iterator_states(s, iterator_states(whole));
  s.run(m.begin);
  CHECK_THROWS_AS(m.row(s), out_of_range);
}

TEST_CASE("states of other data, and what is no state") {
  two_iterators m, of_other_seed(5);
  graph_session from(m.g);
  from.run(m.begin);
  for (int k = 0; k < 4; ++k) m.row(from);
  const std::string states = iterator_states(from);
  const auto fresh = [&] {
    graph_session s(of_other_seed.g);
    s.run(of_other_seed.begin);
    return of_other_seed.row(s);
  }();

  graph_session s(of_other_seed.g);
  restore_iterator_states(s, states);
  for (int k = 0; k < 2; ++k) {
    const std::string told = message_of<invalid_argument>([&] { s.run(of_other_seed.begin); });
    CHECK(says(told, "the iterator 'its name' is to go on from a state that was saved: the state of another pipeline"));
    CHECK(says(told, "shuffle(7, 5)"));
  }

  std::ostringstream log;
  graph_session logged(of_other_seed.g, {.log = &log});
  restore_iterator_states(logged, states, of_other_data::begins_anew);
  logged.run(of_other_seed.begin);
  CHECK(log.str().starts_with("The iterator 'its name' begins anew: the state of another pipeline"));
  CHECK(of_other_seed.row(logged).first == fresh.first);
  CHECK(log.str().find("OneShot") == std::string::npos);  // which is the same, and went on
  log.str("");
  logged.run(of_other_seed.begin);
  CHECK(log.str().empty());

  // An iterator that has begun stays where it is, and so do all others.
  graph_session begun(of_other_seed.g);
  begun.run(of_other_seed.begin);
  const auto one = of_other_seed.row(begun);
  CHECK(one == fresh);
  const std::string before = iterator_states(begun);
  CHECK(
      says(message_of<invalid_argument>([&] { restore_iterator_states(begun, states); }), "the iterator 'its name': the state of another"));
  CHECK(iterator_states(begun) == before);
  for (const char* text : {"{", "{}", "[1]", R"([{"container":"","name":"x"}])", R"([{"container":"","name":"x","state":1}])"})
    CHECK(says(message_of<data_loss>([&] { restore_iterator_states(begun, text); }), "no states of iterators"));
  std::string damaged = before;
  damaged[damaged.find("\\\"state\\\":[") + 12] ^= 1;
  CHECK_THROWS_AS(restore_iterator_states(begun, damaged), data_loss);
  CHECK(iterator_states(begun) == before);
}
