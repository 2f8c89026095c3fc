// A table in slices on two parameter servers: trained as in one process, saved as one tensor, and restored into other slices elsewhere.

#include <leat/checkpoint/saver.hpp>
#include <leat/cluster.hpp>

#include "cluster/support/free_address.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <numeric>

using namespace leat;
using leat_test::free_address;
using leat_test::scratch_folder;

namespace {

// Rows of a table drawn towards 1, those that are looked up.
struct lookup_model {
  graph g;
  std::vector<output> parts;
  output value, rows;
  graph_operation init, train;
  lookup_model(int count, const std::optional<cluster_spec>& c = {}, const std::string& kept_in = {}) {
    const auto here = g.as_default();
    std::optional<device> placed;
    if (c) placed.emplace(replica_device_setter({.cluster = c}));
    const container apart(kept_in);  // two models have variables of one name and different shapes
    std::vector<float> first(7 * 3);
    std::iota(first.begin(), first.end(), 0.0f);
    const auto table = get_variable(
        "table", {.initializer = operand_value(tensor_literal(shape_value{7, 3}, first)), .partitioner = fixed_size_partitioner(count)});
    parts = table.parts();
    value = table;
    rows = embedding_lookup(table, std::vector<std::int32_t>{6, 0, 3, 3, 5}, partition_strategy::div);
    train = adagrad(0.5f).minimize(reduce_sum(square(subtract(rows, 1.0f)), all_axes));
    init = global_variables_initializer();
  }
};

std::vector<float> floats(graph_session& s, const output& o) {
  const tensor_value v = s.run(o);
  const auto all = v.values<float>();
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("a partitioned table on two parameter servers") {
  const scratch_folder scratch("partitioned_cluster");
  const cluster_spec c{{"ps", {free_address(), free_address()}}, {"worker", {free_address()}}};
  std::vector<std::unique_ptr<server>> servers;
  for (const auto& [job, index] : {std::pair("ps", 0), std::pair("ps", 1), std::pair("worker", 0)})
    servers.push_back(std::make_unique<server>(c, server_options{.job_name = job, .task_index = index}));
  session_options options;
  options.target = servers.back()->target();
  options.operation_timeout_in_ms = 10'000;

  lookup_model alone(3);
  graph_session one(alone.g);
  one.run(alone.init);
  lookup_model there(3, c);
  CHECK(there.parts[0].operation().device() == "/job:ps/task:0");
  CHECK(there.parts[1].operation().device() == "/job:ps/task:1");
  CHECK(there.parts[2].operation().device() == "/job:ps/task:0");
  graph_session s(there.g, options);
  s.run(there.init);
  for (int k = 0; k < 5; ++k) {
    one.run(alone.train);
    s.run(there.train);
    CHECK(floats(s, there.rows) == floats(one, alone.rows));
  }
  const auto trained = floats(one, alone.value);
  CHECK(floats(s, there.value) == trained);

  for (const auto format : {checkpoint_format::leat, checkpoint_format::tensorflow}) {
    saver save(there.g, {.format = format});
    const std::string path = save(s, (scratch.path / "model").string(), static_cast<int>(format));
    CHECK(checkpoint_reader(path).names() == std::vector<std::string>{"table", "table/Adagrad"});
    lookup_model here(2);
    graph_session t(here.g);
    saver(here.g).restore(t, path, {.exact = true});
    CHECK(floats(t, here.value) == trained);
    lookup_model again(5, c, "again");
    options.target = servers.front()->target();
    graph_session v(again.g, options);
    saver(again.g).restore(v, path, {.exact = true});
    CHECK(floats(v, again.value) == trained);
    // and trained on
    t.run(here.train);
    v.run(again.train);
    CHECK(floats(v, again.value) == floats(t, here.value));
    v.reset("again");
  }
}
