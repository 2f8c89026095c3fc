#include <leat/collective/exchange.hpp>
#include <leat/collective/named_collective.hpp>
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace leat;

namespace {

int rank() { return collective::communicator::current().rank(); }
int size() { return collective::communicator::current().size(); }
float over_ranks(auto f) {
  float sum = 0;
  for (int r = 0; r < size(); ++r) sum += f(static_cast<float>(r));
  return sum;
}

}  // namespace

TEST_CASE("collectives in a graph with names, in one run") {
  graph g;
  const default_graph_scope here(g);
  const output x = placeholder(dtype::float32, {-1, 2}, "x");
  const output sum = all_reduce(x);
  const output mean = all_reduce(x, {.how = reduce_by::mean, .name = "mean"});
  const auto both = all_reduce({x, x * 2.0f}, {.how = reduce_by::maximum});
  const output all = all_gather(x);
  const output last = broadcast(x, size() - 1);
  const output whole = broadcast(cast(x, dtype::int64) + std::int64_t{1} * 0, 0);
  const output flags = broadcast(greater(x, 0.5f), 0);
  CHECK(sum.operation().type() == "HorovodAllreduce");
  CHECK(sum.extent()[1] == 2);
  CHECK(all.extent()[0] == -1);
  CHECK(all.extent()[1] == 2);
  CHECK(mean.name() == "mean:0");
  for (const int threads : {1, 4}) {
    graph_session s(g, {.inter_op_parallelism_threads = threads});
    const auto r = static_cast<float>(rank());
    const tensor_value value(shape_value{1, 2}, std::vector<float>{r, 3});
    const auto got = s.run({sum, mean, both[0], both[1], all, last, whole, flags}, {{x, value}});
    CHECK(got[0].values<float>()[0] == over_ranks([](float k) { return k; }));
    CHECK(got[1].values<float>()[1] == 3);
    CHECK(got[2].values<float>()[0] == static_cast<float>(size() - 1));
    CHECK(got[3].values<float>()[1] == 6);
    REQUIRE(got[4].extent()[0] == size());
    for (int k = 0; k < size(); ++k) CHECK(got[4].values<float>()[static_cast<std::size_t>(2 * k)] == static_cast<float>(k));
    CHECK(got[5].values<float>()[0] == static_cast<float>(size() - 1));
    CHECK(got[6].values<std::int64_t>()[1] == 3);
    CHECK(got[7].values<bool>()[0] == false);
    CHECK(got[7].values<bool>()[1] == true);
  }
}

TEST_CASE("an all_gather of other numbers of rows on each rank, and its gradient") {
  graph g;
  const default_graph_scope here(g);
  const output x = placeholder(dtype::float32, {-1, 2}, "x");
  const output all = all_gather(x);
  const output weights = placeholder(dtype::float32, {-1, 2}, "weights");
  const output slope = gradients({reduce_sum(all * weights)}, {x})[0];
  const output again = gradients({reduce_sum(slope * slope)}, {weights})[0];
  graph_session s(g);
  const int own = rank() + 1;
  int total = 0, before = 0;
  for (int r = 0; r < size(); ++r) {
    total += r + 1;
    if (r < rank()) before += r + 1;
  }
  std::vector<float> weight;
  for (int k = 0; k < 2 * total; ++k) weight.push_back(static_cast<float>(k));
  const tensor_value value(shape_value{own, 2}, std::vector<float>(static_cast<std::size_t>(2 * own), static_cast<float>(rank())));
  const auto got = s.run({all, slope, again}, {{x, value}, {weights, tensor_value(shape_value{total, 2}, weight)}});
  REQUIRE(got[0].extent()[0] == total);
  CHECK(got[0].values<float>().back() == static_cast<float>(size() - 1));
  REQUIRE(got[1].extent()[0] == own);
  for (int k = 0; k < 2 * own; ++k)
    CHECK(got[1].values<float>()[static_cast<std::size_t>(k)] == static_cast<float>(size() * (2 * before + k)));
  // Of (ranks * weight)^2, summed over the rows of all, to each rank's weights.
  for (int k = 0; k < 2 * total; ++k) CHECK(got[2].values<float>()[static_cast<std::size_t>(k)] == static_cast<float>(2 * size() * k));
}

TEST_CASE("gradients of reductions and broadcasts in a graph") {
  graph g;
  const default_graph_scope here(g);
  const output x = placeholder(dtype::float64, {2}, "x");
  const output weight = placeholder(dtype::float64, {}, "weight");
  const auto slope = [&](const output& y) { return gradients({reduce_sum(y) * weight}, {x})[0]; };
  const std::vector<output> all{slope(all_reduce(x)), slope(all_reduce(x, {.how = reduce_by::mean})),
                                slope(all_reduce(x, {.how = reduce_by::maximum})), slope(broadcast(x, size() - 1)),
                                slope(all_reduce({x, x * x})[1])};
  graph_session s(g);
  const auto got = s.run(all, feed_list{{x, std::vector<double>{1.0 + rank(), 3.0}}, {weight, 1.0 + rank()}});
  const double weights = static_cast<double>(over_ranks([](float r) { return 1 + r; }));
  const bool is_last = rank() == size() - 1;
  CHECK(got[0].values<double>()[0] == weights);
  CHECK(got[1].values<double>()[0] == doctest::Approx(weights / size()));
  CHECK(got[2].values<double>()[0] == (is_last ? weights : 0));
  CHECK(got[2].values<double>()[1] == doctest::Approx(weights / size()));
  CHECK(got[3].values<double>()[1] == (is_last ? weights : 0));
  CHECK(got[4].values<double>()[1] == 6 * weights);
}

TEST_CASE("collectives of one run meet in one order, whatever the threads do") {
  graph g;
  const default_graph_scope here(g);
  const output x = placeholder(dtype::float32, {256, 256}, "x");
  std::vector<output> sums;
  for (int k = 0; k < 12; ++k) {
    // Behind products of different length, so that they are ready in another order in each run.
    output y = x;
    for (int i = 0; i < (k * 7) % 4; ++i) y = matmul(y, x);
    sums.push_back(all_reduce(reduce_sum(y)));
  }
  graph_session s(g, {.inter_op_parallelism_threads = 4});
  for (int turn = 0; turn < 10; ++turn) {
    const auto got = s.run(sums, feed_list{{x, tensor_value(shape_value{256, 256}, std::vector<float>(65536, 0.5f))}});
    CHECK(got[0].as<float>() == 32768.0f * static_cast<float>(size()));
  }
  CHECK(s.run({sums[3]}, {{x, tensor_value(shape_value{256, 256}, std::vector<float>(65536, 0.5f))}})[0].values<float>().size() == 1);
}

TEST_CASE("ranks that differ are told so, and go on") {
  if (size() == 1) return;
  graph g;
  const default_graph_scope here(g);
  const output x = placeholder(dtype::float32, unknown_shape, "x");
  const output y = placeholder(dtype::float64, unknown_shape, "y");
  const output sum = all_reduce(x, {.name = "sum_of_x"});
  const output mean = all_reduce(x, {.how = reduce_by::mean, .name = "sum_of_x_too"});
  const output other = all_reduce(y, {.name = "sum_of_y"});
  graph_session s(g);
  const auto message_of = [&](const output& fetched, const output& fed, tensor_value value) -> std::string {
    try {
      s.run({fetched}, {{fed, std::move(value)}});
    } catch (const invalid_argument& e) {
      return e.what();
    }
    return "no error";
  };
  const std::string shapes = message_of(sum, x, std::vector<float>(static_cast<std::size_t>(2 + (rank() == 1 ? 1 : 0)), 1.0f));
  CAPTURE(shapes);
  CHECK(shapes.find("rank 1: all_reduce (sum) 'sum_of_x' of float32 [3]") != std::string::npos);
  CHECK(shapes.find("'sum_of_x' of float32 [2]") != std::string::npos);
  CHECK(shapes.find("node 'sum_of_x'") != std::string::npos);
  const std::string nodes = rank() == 0 ? message_of(sum, x, 1.0f) : message_of(mean, x, 1.0f);
  CAPTURE(nodes);
  CHECK(nodes.find("rank 0: all_reduce (sum) 'sum_of_x' of float32 []") != std::string::npos);
  CHECK(nodes.find("all_reduce (mean) 'sum_of_x_too' of float32 []") != std::string::npos);
  const std::string types = rank() == 0 ? message_of(sum, x, 1.0f) : message_of(other, y, 1.0);
  CAPTURE(types);
  CHECK(types.find("'sum_of_y' of float64 []") != std::string::npos);
  CHECK(s.run({sum}, {{x, 1.0f}})[0].as<float>() == static_cast<float>(size()));
}

TEST_CASE("bad arguments of collectives, and imported nodes") {
  graph g;
  const default_graph_scope here(g);
  CHECK_THROWS_AS(all_reduce(output{}), invalid_argument);
  CHECK_THROWS_AS(all_reduce(std::vector<output>{}), invalid_argument);
  CHECK_THROWS_AS(all_reduce(constant(true)), invalid_argument);
  CHECK_THROWS_AS(all_reduce({constant(1.0f), constant(1.0)}), invalid_argument);
  CHECK_THROWS_AS(all_gather(constant(1.0f)), invalid_argument);
  const output of_variable = all_reduce(variable(2.0f, "v"));
  const output off = broadcast(constant(1.0f), 99);
  const output scaled =
      call_operator(g, "HorovodAllreduce", {constant(3.0f)}, {{"prescale_factor", 2.0f}, {"postscale_factor", 0.5f}}).result();
  const output of_some = call_operator(g, "HorovodAllreduce", {constant(3.0f)}, {{"process_set_id", std::int64_t{1}}}).result();
  const output product = call_operator(g, "HorovodAllreduce", {constant(3.0f)}, {{"reduce_op", std::int64_t{5}}}).result();
  const output count = call_operator(g, "HorovodSize", {}).result(), place = call_operator(g, "HorovodRank", {}).result();
  graph_session s(g);
  CHECK_THROWS_AS(s.run({of_variable}), failed_precondition);
  s.run(global_variables_initializer());
  CHECK(of_variable.type() == dtype::float32);
  CHECK(s.run({of_variable})[0].as<float>() == 2.0f * static_cast<float>(size()));
  CHECK_THROWS_AS(s.run({off}), invalid_argument);
  CHECK_THROWS_AS(s.run({of_some}), unimplemented);
  CHECK_THROWS_AS(s.run({product}), unimplemented);
  CHECK(s.run({scaled})[0].as<float>() == 3.0f * static_cast<float>(size()));
  CHECK(s.run({count})[0].as<std::int32_t>() == size());
  CHECK(s.run({place})[0].as<std::int32_t>() == rank());
}

TEST_CASE("typed collectives become nodes") {
  if (size() != 2) return;
  const auto x = placeholder<"x", float, 3>();
  const auto y = reduce_sum(all_gather<2>(x)) + reduce_sum(broadcast(all_reduce<reduce_by::mean, "mean_of_x">(x)));
  const auto [slope] = gradients(y, x);
  graph g;
  const default_graph_scope here(g);
  const auto made = to_graph(y, slope);
  const output named = std::get<output>(made[0]), named_slope = std::get<output>(made[1]);
  graph_session s(g);
  const std::vector<float> values{1.0f + static_cast<float>(rank()), 2, 3};
  const auto got = s.run({named, named_slope}, {{"x:0", values}});
  session typed{y, slope};
  const auto [a, b] = typed.run(fetch(y, slope), x = values);
  CHECK(got[0].as<float>() == a);
  for (std::size_t k = 0; k < 3; ++k) CHECK(got[1].values<float>()[k] == b(k));
}
