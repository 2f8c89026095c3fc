// Classes that are drawn by weights that are learned, or given by a list or a file. Expected counts and errors are TensorFlow 2.21's, for
// numbers that are drawn in distribution.

#include <leat/graphs.hpp>
#include <leat/runtime/kernels/unigrams.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <thread>

namespace unigram_sampler_tests {

using namespace leat;
using namespace node_results;

namespace {

tensor_value whole(const extents& of, const number_list& list) { return tensor_of(dtype::int64, of, list); }
attribute_map settings_of(std::int64_t count, bool unique, std::int64_t range, const std::vector<float>& weights) {
  attribute_map its{{"num_true", 1}, {"num_sampled", count}, {"unique", unique}, {"range_max", range}, {"seed", 1}, {"seed2", 2}};
  if (!weights.empty()) its["unigrams"] = weights;
  return its;
}
std::vector<tensor_value> fixed(const attribute_map& its, const number_list& true_ones = {1}) {
  return run_node("FixedUnigramCandidateSampler", {whole({static_cast<std::int64_t>(true_ones.size()), 1}, true_ones)}, {}, its);
}
attribute_map with(attribute_map its, const char* name, attribute_value value) {
  its[name] = std::move(value);
  return its;
}
std::string problem_of(const attribute_map& its) {
  return leat_test::message_of<error>([&] { fixed(its); });
}
number_list shares(const number_list& drawn, std::size_t classes) {
  number_list share(classes);
  for (const double k : drawn) {
    REQUIRE(k >= 0);
    REQUIRE(k < static_cast<double>(classes));
    share[static_cast<std::size_t>(k)] += 1.0 / static_cast<double>(drawn.size());
  }
  return share;
}
void check_shares(const number_list& is, const number_list& wanted) {
  REQUIRE(is.size() == wanted.size());
  for (std::size_t k = 0; k < is.size(); ++k) CHECK(std::abs(is[k] - wanted[k]) < 0.006);
}

}  // namespace

TEST_CASE("classes by given weights") {
  const auto base = settings_of(100000, false, 4, {1, 2, 3, 4});
  const auto drawn = fixed(base, {0, 3, 2});
  check_shares(shares(list_of(drawn[0]), 4), {0.1, 0.2, 0.3, 0.4});
  check_near(list_of(drawn[1]), {10000, 40000, 30000}, 1e-6);
  CHECK(drawn[1].extent() == shape(2, {3, 1}));
  // The reserved ones have the weight 0.
  const auto bent = fixed(with(with(settings_of(100000, false, 5, {1, 2, 3, 4}), "distortion", 2.0f), "num_reserved_ids", 1), {0, 4});
  check_shares(shares(list_of(bent[0]), 5), {0, 1.0 / 30, 4.0 / 30, 9.0 / 30, 16.0 / 30});
  check_near(list_of(bent[1]), {0, 100000 * 16.0 / 30}, 1e-6);
  // The ids of given weights begin behind the reserved ones of the shard, as in TensorFlow.
  const auto shard = fixed(
      with(with(with(settings_of(100000, false, 5, {1, 2, 3, 4, 5}), "num_shards", 2), "shard", 0), "num_reserved_ids", 3), {2, 3});
  check_shares(shares(list_of(shard[0]), 5), {0, 0, 1.0 / 9, 3.0 / 9, 5.0 / 9});
  // With each class once, all but those of the weight 0.
  const auto all = list_of(fixed(settings_of(3, true, 4, {1, 0, 3, 4}))[0]);
  CHECK(std::set<double>(all.begin(), all.end()) == std::set<double>{0, 2, 3});
  CHECK(list_of(fixed(base)[0]) == list_of(drawn[0]));
}

TEST_CASE("classes by weights of a file") {
  const auto folder = std::filesystem::temp_directory_path() / ("leat_unigrams_" + std::to_string(std::hash<std::thread::id>{}(std::this_thread::get_id())));
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* text) { std::ofstream(folder / "words.csv") << text; };
  const auto problem = [&](const attribute_map& its, const std::string& root) {
    return leat_test::message_of<error>([&] {
      graph g;
      const auto scope = g.as_default();
      const auto node = call_operator(g, "FixedUnigramCandidateSampler", {tensor_literal(shape_value{1, 1}, std::vector<std::int64_t>{0})}, its);
      graph_session s(g, {.file_root = root});
      s.run(node.outputs());
    });
  };
  const auto its = with(settings_of(1, true, 3, {}), "vocab_file", std::string("words.csv"));
  write("the,x,8\nof,2\r\n\nand,1e-1");
  {
    graph g;
    const auto scope = g.as_default();
    const auto node = call_operator(g, "FixedUnigramCandidateSampler", {tensor_literal(shape_value{2, 1}, std::vector<std::int64_t>{0, 2})},
                                    with(with(its, "num_sampled", 100000), "unique", false));
    graph_session s(g, {.file_root = folder.string()});
    const auto drawn = s.run(node.outputs());
    check_shares(shares(list_of(drawn[0]), 3), {8 / 10.1, 2 / 10.1, 0.1 / 10.1});
    check_near(list_of(drawn[1]), {800000 / 10.1, 10000 / 10.1}, 1e-6);
  }
  CHECK(leat_test::says(problem(its, ""), "session_options::file_root"));
  CHECK(leat_test::says(problem(with(its, "vocab_file", std::string("../words.csv")), folder.string()), "is not within"));
  CHECK(leat_test::says(problem(with(its, "vocab_file", std::string("/etc/passwd")), folder.string()), "is not within"));
  CHECK(leat_test::says(problem(with(its, "vocab_file", std::string("no")), folder.string()), "No such file"));
  CHECK(leat_test::says(problem(with(its, "num_sampled", 4), folder.string()), "Sampler's range is too small."));
  write("a,1\nb,two\nc,3\n");
  CHECK(leat_test::says(problem(its, folder.string()), "Wrong vocabulary format at line: b,two"));
  write("a,1\nb,2\n");
  CHECK(leat_test::says(problem(its, folder.string()), "range is 3 must be equal to weights size 2"));
  write("a,1\nb,2\nc,1\nd,1\ne,1\n");
  CHECK(leat_test::says(problem(its, folder.string()), "range is 3 must be equal to weights size"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("what the drawing by given weights refuses") {
  const auto base = settings_of(3, false, 4, {1, 2, 3, 4});
  const auto says = [](const attribute_map& its, std::string_view words) {
    const std::string problem = problem_of(its);
    CHECK_MESSAGE(leat_test::says(problem, words), problem);
  };
  says(settings_of(3, false, 4, {}), "Must provide either vocab_file or unigrams.");
  says(with(base, "vocab_file", std::string("words")), "Must only provide one of vocab_file and unigrams.");
  says(with(base, "range_max", 5), "range is 5 must be equal to weights size 4");
  says(with(base, "num_reserved_ids", 1), "range is 4 must be equal to weights size");
  says(with(with(base, "num_reserved_ids", std::int64_t{1} << 62), "range_max", std::int64_t{1} << 62), "must be equal to weights size");
  says(with(base, "num_shards", 0), "num_shards");
  says(with(base, "shard", -1), "shard");
  says(with(base, "shard", std::int64_t{1} << 62), "must be equal to weights size 0");
  says(with(base, "num_sampled", 0), "num_sampled");
  says(settings_of(2, false, 2, {0, 0}), "positive and finite");
  says(settings_of(2, false, 2, {1, -1}), "weights are not negative");
  says(settings_of(2, false, 2, {1, std::numeric_limits<float>::quiet_NaN()}), "weights are not negative");
  says(settings_of(2, false, 2, {1, std::numeric_limits<float>::infinity()}), "positive and finite");
  says(settings_of(3, true, 4, {1, 0, 0, 1}), "only 2 classes have a weight above 0");
  says(settings_of(5, true, 4, {1, 2, 3, 4}), "Sampler's range is too small.");
  CHECK(leat_test::says(leat_test::message_of<error>([&] { fixed(base, {4}); }), "`true_candidate` out of range [0, 4), received 4"));
  // Reserved classes take no memory.
  const auto far = fixed(with(with(base, "num_reserved_ids", (std::int64_t{1} << 61)), "range_max", (std::int64_t{1} << 61) + 4));
  CHECK(list_of(far[0])[0] >= 0x1p61);
}

TEST_CASE("classes by how often they were true ones") {
  for (const char* type : {"LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"}) {
    graph g;
    const auto scope = g.as_default();
    const auto labels = placeholder(dtype::int64, {-1, 1}, "labels");
    const auto node = call_operator(g, type, {labels}, settings_of(100000, false, 5, {}));
    graph_session s(g);
    const auto run = [&](const number_list& of) {
      return s.run(node.outputs(), {{labels, whole({static_cast<std::int64_t>(of.size()), 1}, of)}});
    };
    const auto first = run({2, 2, 4});
    check_shares(shares(list_of(first[0]), 5), number_list(5, 0.2));
    check_near(list_of(first[1]), {20000, 20000, 20000}, 1e-6);
    const auto second = run({2, 0});  // the weights are 1, 1, 3, 1, 2
    check_shares(shares(list_of(second[0]), 5), {1.0 / 8, 1.0 / 8, 3.0 / 8, 1.0 / 8, 2.0 / 8});
    check_near(list_of(second[1]), {37500, 12500}, 1e-6);
    // The weights are the session's, whatever is fetched: 2, 1, 4, 1, 2 now.
    check_near(list_of(s.run({node.result(1)}, {{labels, whole({2, 1}, {2, 1})}})[0]), {40000, 10000}, 1e-6);
    check_shares(shares(list_of(run({0})[0]), 5), {2.0 / 12, 2.0 / 12, 5.0 / 12, 1.0 / 12, 2.0 / 12});
    graph_session other(g);
    check_near(list_of(other.run({node.result(1)}, {{labels, whole({1, 1}, {2})}})[0]), {20000}, 1e-6);
    const auto unique = list_of(run_node(type, {whole({1, 1}, {3})}, {}, settings_of(7, true, 7, {}))[0]);
    CHECK(std::set<double>(unique.begin(), unique.end()).size() == 7);
    const auto far = run_node(type, {whole({1, 1}, {3})}, {}, settings_of(50, true, std::numeric_limits<std::int32_t>::max() - 1, {}));
    CHECK(list_of(far[0])[0] < 0x1p31);
    const auto problem = [&](const attribute_map& its, const number_list& of) {
      return leat_test::message_of<error>([&] { run_node(type, {whole({1, 1}, of)}, {}, its); });
    };
    CHECK(leat_test::says(problem(settings_of(5, false, std::int64_t{1} << 31, {}), {1}), "range_max must be below 2147483647"));
    CHECK(leat_test::says(problem(settings_of(8, true, 7, {}), {1}), "Sampler's range is too small."));
    CHECK(leat_test::says(problem(settings_of(3, true, 7, {}), {7}), "`true_candidate` out of range [0, 7), received 7"));
    CHECK(leat_test::says(problem(settings_of(3, true, 7, {}), {-1}), "received -1"));
  }
}

TEST_CASE("the tree of learned weights is their sums, whatever the number of classes") {
  for (const std::int64_t range : {1, 2, 3, 7, 8, 9, 100}) {
    runtime::learned_classes classes(range);
    std::vector<std::int64_t> weights(static_cast<std::size_t>(range), 1);
    std::int64_t total = range;
    for (std::int64_t i = 0; i < 50; ++i, ++total) {
      const std::int64_t k = i * i % range;
      classes.add(k);
      ++weights[static_cast<std::size_t>(k)];
    }
    std::int64_t below = 0;
    for (std::int64_t k = 0; k < range; ++k)
      for (std::int64_t i = 0; i < weights[static_cast<std::size_t>(k)]; ++i, ++below)
        REQUIRE(classes.at((static_cast<double>(below) + 0.5) / static_cast<double>(total)) == k);
    CHECK(classes.probability(0) == doctest::Approx(static_cast<double>(weights[0]) / static_cast<double>(total)));
  }
}

}  // namespace unigram_sampler_tests
