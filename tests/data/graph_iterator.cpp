#include <leat/data/arrays.hpp>
#include <leat/data/graph_iterator.hpp>
#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

using namespace leat;

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
