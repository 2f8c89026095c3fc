#include <leat/graphs.hpp>
#include <leat/io/collections.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <map>
#include <numeric>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

using numbers = std::vector<std::int64_t>;

std::vector<std::string> names_of(const std::vector<output>& list) {
  std::vector<std::string> names;
  for (const output& o : list) names.push_back(o.name());
  return names;
}
std::vector<std::string> node_names(graph& g) {
  std::vector<std::string> names;
  for (const auto& node : export_graph(g).nodes) names.push_back(node.name);
  return names;
}
std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}
std::vector<float> floats(graph_session& s, const output& o) {
  const tensor_value v = s.run(o);
  const auto all = v.values<float>();
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("partitioners cut as TensorFlow's do") {
  const shape matrix = shape_value{10, 4};
  CHECK(fixed_size_partitioner(3)(matrix, dtype::float32) == numbers{3, 1});
  CHECK(fixed_size_partitioner(6, 1)(matrix, dtype::float32) == numbers{1, 4});
  CHECK(variable_axis_size_partitioner(64)(matrix, dtype::float32) == numbers{3, 1});
  CHECK(variable_axis_size_partitioner(1)(matrix, dtype::float32) == numbers{10, 1});
  CHECK(variable_axis_size_partitioner(1, {.max_shards = 5})(matrix, dtype::float32) == numbers{5, 1});
  CHECK(variable_axis_size_partitioner(80, {.axis = 1})(matrix, dtype::float32) == numbers{1, 2});
  CHECK(variable_axis_size_partitioner(1000)(matrix, dtype::float32) == numbers{1, 1});
  CHECK(variable_axis_size_partitioner(64)(shape_value{0, 4}, dtype::float32) == numbers{1, 1});
  CHECK(min_max_variable_partitioner({.max_partitions = 100, .min_slice_size = 20})(matrix, dtype::float32) == numbers{8, 1});
  CHECK(min_max_variable_partitioner({.max_partitions = 3, .min_slice_size = 20})(matrix, dtype::float32) == numbers{3, 1});
  CHECK(min_max_variable_partitioner({.max_partitions = 100, .axis = 1, .min_slice_size = 2})(matrix, dtype::float32) == numbers{1, 4});
  CHECK(min_max_variable_partitioner({.max_partitions = 100})(matrix, dtype::float32) == numbers{1, 1});
  CHECK(says(message_of<invalid_argument>([&] { min_max_variable_partitioner({.axis = 2})(matrix, dtype::float32); }),
             "Cannot partition variable along axis 2 when shape is only (10, 4)"));
  CHECK(says(message_of<invalid_argument>([] { variable_axis_size_partitioner(0); }),
             "Both max_shard_bytes and bytes_per_string_element must be positive. Currently, max_shard_bytes is 0"));
  CHECK(says(message_of<invalid_argument>([] { variable_axis_size_partitioner(1, {.max_shards = -1}); }), "max_shards must be positive."));
  CHECK_THROWS_AS(fixed_size_partitioner(0), invalid_argument);
}

TEST_CASE("slices have TensorFlow's names, shapes and slice information; the value is their concatenation") {
  graph g;
  const auto here = g.as_default();
  const auto outer = variable_scope("net");
  const auto w = get_variable("w", {10, 4}, {.initializer = zeros, .partitioner = fixed_size_partitioner(3)});
  CHECK(w.name() == "net/w");
  CHECK(names_of(w.parts()) == std::vector<std::string>{"net/w/part_0:0", "net/w/part_1:0", "net/w/part_2:0"});
  CHECK(w.extent() == shape_value{10, 4});
  CHECK(w.partitions() == numbers{3, 1});
  CHECK(w[0].extent() == shape_value{4, 4});
  CHECK(w[1].extent() == shape_value{3, 4});
  CHECK(w[2].extent() == shape_value{3, 4});
  const save_slice_info* second = save_slice_info_of(w[1]);
  REQUIRE(second != nullptr);
  CHECK(*second == save_slice_info{"net/w", shape_value{10, 4}, {4, 0}, shape_value{3, 4}});
  CHECK(names_of(global_variables()) == names_of(w.parts()));
  CHECK(names_of(trainable_variables()) == names_of(w.parts()));
  {
    const name_scope elsewhere("elsewhere");
    const auto y = add(w, 1.0f, "y");
    CHECK(y.name() == "net/elsewhere/y:0");
    CHECK(w.as_tensor().name() == "net/w_1:0");
  }
  const std::vector<std::string> expected{"net/w/part_0/Initializer/zeros",
                                          "net/w/part_0",
                                          "net/w/part_0/Assign",
                                          "net/w/part_0/read",
                                          "net/w/part_1/Initializer/zeros",
                                          "net/w/part_1",
                                          "net/w/part_1/Assign",
                                          "net/w/part_1/read",
                                          "net/w/part_2/Initializer/zeros",
                                          "net/w/part_2",
                                          "net/w/part_2/Assign",
                                          "net/w/part_2/read",
                                          "net/w/ConcatPartitions/concat/axis",
                                          "net/w/ConcatPartitions/concat",
                                          "net/w"};
  auto made = node_names(g);
  made.resize(std::min(made.size(), expected.size()));
  CHECK(made == expected);
  // One slice is no concatenation.
  const auto one = get_variable("one", {2}, {.partitioner = fixed_size_partitioner(1)});
  CHECK(names_of(one.parts()) == std::vector<std::string>{"net/one/part_0:0"});
  CHECK(one.as_tensor().name() == "net/one:0");
  CHECK(one.as_tensor().operation().type() == "Identity");
}

TEST_CASE("initial values are the slice's part of the whole") {
  graph g;
  const auto here = g.as_default();
  const tensor_literal table(shape_value{5, 2}, counted(10));
  const auto rows = get_variable("rows", {.initializer = operand_value(table), .partitioner = fixed_size_partitioner(2)});
  const auto columns = get_variable("columns", {.initializer = constant(table), .partitioner = fixed_size_partitioner(2, 1)});
  const auto eye = get_variable("eye", {4, 4}, {.initializer = identity_initializer(), .partitioner = fixed_size_partitioner(3, 1)});
  std::vector<partition_info> told;
  const auto rule = [&](const shape& extent, dtype type, const partition_info& part) {
    told.push_back(part);
    return constant(static_cast<float>(part.var_offset[0]), shape_value(extent)) + zeros_of(extent, type);
  };
  const auto own = get_variable("own", {4}, {.initializer = rule, .partitioner = fixed_size_partitioner(2)});
  get_variable("whole", {3}, {.initializer = rule});
  REQUIRE(told.size() == 3);
  CHECK(told[1].full_shape == shape_value{4});
  CHECK(told[1].var_offset == numbers{2});
  CHECK(told[2].full_shape == shape_value{3});
  CHECK(get_operation_by_name(g, "rows/part_1/PartitionedInitializer/Slice").type() == "Slice");
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(floats(s, rows) == counted(10));
  CHECK(floats(s, rows[1]) == std::vector<float>{6, 7, 8, 9});
  CHECK(floats(s, columns) == counted(10));
  CHECK(floats(s, columns[1]) == std::vector<float>{1, 3, 5, 7, 9});
  CHECK(floats(s, eye) == std::vector<float>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  CHECK(floats(s, own) == std::vector<float>{0, 0, 2, 2});
  // Glorot's limit is that of the whole.
  const auto drawn = get_variable("drawn", {600, 2}, {.initializer = glorot_uniform(1), .partitioner = fixed_size_partitioner(600)});
  s.run(variables_initializer(drawn.parts(), "init_drawn"));
  const auto limit = static_cast<float>(glorot_limit(shape_value{600, 2}));
  for (const float v : floats(s, drawn)) CHECK(std::abs(v) <= limit);

  s.run(group(assign(rows, operand_value(tensor_literal(shape_value{5, 2}, std::vector<float>(10, 1.0f))))));
  s.run(group(assign_add(rows, constant(table))));
  s.run(group(assign_sub(columns, constant(table))));
  auto raised = counted(10);
  for (float& v : raised) v += 1;
  CHECK(floats(s, rows) == raised);
  CHECK(floats(s, columns) == std::vector<float>(10, 0.0f));
  CHECK_THROWS_AS(assign(rows, constant({1.0f, 2.0f})), invalid_argument);
}

TEST_CASE("scopes partition what is made in them; the same name is the same variable") {
  graph g;
  const auto here = g.as_default();
  const auto thirds = fixed_size_partitioner(3);
  std::vector<output> parts;
  {
    const auto scope = variable_scope("a", {.partitioner = thirds});
    CHECK(get_variable("w", {6, 2}).name() == "a/w:0");  // the value
    CHECK(get_variable("step", shape_value{}, {.initializer = zeros}).operation().type() == "VariableV2");
    parts = get_variable("v", {6}, {.partitioner = get_variable_scope().partitioner()}).parts();
    const auto inner = variable_scope("b");
    CHECK(get_variable("x", {3}).operation().type() == "Identity");
    layers::dense(placeholder(dtype::float32, {2, 3}, "in"), 4, {.name = "layer"});
    CHECK(names_of(global_variables("a/b/layer/kernel")).size() == 3);
  }
  {
    const auto scope = variable_scope("a", {.reuse = true});  // a partitioner is not needed
    const auto before = global_variables().size();
    CHECK(get_variable("v", {6}).operation().type() == "Identity");
    CHECK(names_of(get_variable("v", {6}, {.partitioner = thirds}).parts()) == names_of(parts));
    CHECK(global_variables().size() == before);
    const auto refused = [&](const auto& f, const char* what) { CHECK(says(message_of<invalid_argument>(f), what)); };
    refused([&] { get_variable("v", {7}, {.partitioner = thirds}); },
            "Trying to reuse partitioned variable a/v, but specified shape (7,) and found shape (6,).");
    refused([&] { get_variable("v", {6}, {.type = dtype::float64, .partitioner = thirds}); },
            "Trying to reuse partitioned variable a/v, but specified dtype float64 and found dtype float32.");
    refused([&] { get_variable("v", {6}, {.partitioner = fixed_size_partitioner(2)}); },
            "Trying to reuse partitioned variable a/v, but specified partitions [2] and found partitions [3].");
    refused([&] { get_variable("none", {6}, {.partitioner = thirds}); },
            "PartitionedVariable a/none does not exist, or was not created with tf.get_variable().");
    refused(
        [&] { get_variable("step", {6}, {.partitioner = thirds}); },
        "A partitioner was provided, but an unpartitioned version of the variable was found: a/step.  Perhaps a variable of the same name was "
        "already created without partitioning?");
  }
  {
    const auto scope = variable_scope("a", {.reuse = AUTO_REUSE});
    CHECK(names_of(get_variable("v", {6}, {.partitioner = thirds}).parts()) == names_of(parts));
    CHECK(
        says(message_of<invalid_argument>([] { get_variable("v", {6}); }),
             "No partitioner was provided, but a partitioned version of the variable was found: a/v/part_0. Perhaps a variable of the same "
             "name was already created with partitioning?"));
  }
  const auto scope = variable_scope("a");
  CHECK(says(message_of<invalid_argument>([&] { get_variable("v", {6}, {.partitioner = thirds}); }),
             "Partitioned variable with name a/v already exists."));
  get_variable("loose/part_0", {2});
  CHECK(says(message_of<invalid_argument>([&] { get_variable("loose", {6}, {.partitioner = thirds}); }),
             "Partitioner returned a different partitioning than what was already found.  Partitioner returned 3 shards, and shard "
             "a/loose/part_0 was found, but a/loose/part_2 was not."));
  const auto says_of = [&](numbers list, const shape_value& extent) {
    return message_of<invalid_argument>([&] { get_variable("n", extent, {.partitioner = [list](const shape&, dtype) { return list; }}); });
  };
  CHECK(says(says_of({1}, {2, 2}), "Partitioner returned a partition list that does not match the Variable's rank: [1] vs. (2, 2)"));
  CHECK(says(says_of({0, 1}, {2, 2}), "Partitioner returned zero partitions for some axes: [0, 1]"));
  CHECK(says(says_of({2, 2}, {2, 2}), "Can only slice a variable along one dimension: shape: (2, 2), partitioning: [2, 2]"));
  CHECK(says(says_of({}, {}), "A partitioned Variable must have rank at least 1, shape: ()"));
  CHECK(says(says_of({1}, unknown_shape), "Shape of a new partitioned variable must be fully defined, but instead was <unknown>."));
  CHECK(says(message_of<invalid_argument>([] { get_variable("n", {2}, {.partitioner = variable_partitioner()}); }),
             "Partitioner must be callable"));
}

TEST_CASE("each slice is placed, regularized and trained") {
  graph g;
  const auto here = g.as_default();
  std::optional<device> placed(std::in_place, replica_device_setter({.ps_tasks = 2}));
  const auto w = get_variable("w", {5, 2}, {.regularizer = l2_regularizer(0.5), .partitioner = fixed_size_partitioner(3)});
  for (std::size_t k = 0; k < 3; ++k) CHECK(w[k].operation().device() == "/job:ps/task:" + std::to_string(k % 2));
  CHECK(get_collection(g, collection::regularization_losses).size() == 3);
  placed.reset();
  placed.emplace(replica_device_setter({.ps_tasks = 2, .strategy = greedy_load_balancing(2)}));
  const auto big = get_variable("big", {9}, {.partitioner = fixed_size_partitioner(2)});
  const auto next = get_variable("next", {1});
  CHECK(big[0].operation().device() == "/job:ps/task:0");
  CHECK(big[1].operation().device() == "/job:ps/task:1");
  CHECK(next.operation().device() == "/job:ps/task:1");
  placed.reset();

  const named_optimizer o = adam(0.1f);
  const auto scope = variable_scope("training", {.partitioner = fixed_size_partitioner(2)});  // slots are not cut
  o.minimize(reduce_sum(square(w.as_tensor()), all_axes));
  const output m = o.slot(w[1], "m");
  CHECK(m.name() == "training/w/part_1/Adam:0");
  const save_slice_info* info = save_slice_info_of(m);
  REQUIRE(info != nullptr);
  CHECK(*info == save_slice_info{"training/w/Adam", shape_value{5, 2}, {2, 0}, shape_value{2, 2}});
}

TEST_CASE("lookups in shards, and their training, are those in the whole table") {
  const tensor_literal table(shape_value{7, 2}, counted(14));
  const std::vector<std::int32_t> ids{6, 0, 3, 3, 5, 1, 6};
  using make = std::function<named_optimizer()>;
  const std::map<std::string, make> optimizers{{"gradient descent", [] { return named_optimizer(gradient_descent(0.1f)); }},
                                               {"adagrad", [] { return named_optimizer(adagrad(0.1f)); }},
                                               {"adam", [] { return named_optimizer(adam(0.1f)); }},
                                               {"momentum", [] { return named_optimizer(momentum(0.1f, 0.9f)); }}};
  for (const auto& [what, optimizer] : optimizers) {
    INFO(what);
    graph g;
    const auto here = g.as_default();
    const auto whole = get_variable("whole", {.initializer = operand_value(table)});
    const auto in_parts = get_variable("parts", {.initializer = operand_value(table), .partitioner = fixed_size_partitioner(3)});
    // Row i of the whole is row i / 3 of shard i mod 3.
    std::vector<output> by_mod;
    for (int k = 0; k < 3; ++k) {
      std::vector<float> rows;
      for (int i = k; i < 7; i += 3)
        for (int j = 0; j < 2; ++j) rows.push_back(static_cast<float>(2 * i + j));
      by_mod.push_back(variable(operand_value(tensor_literal(shape_value{static_cast<std::int64_t>(rows.size()) / 2, 2}, rows)),
                                "mod_" + std::to_string(k)));
    }
    const std::vector<output> found{embedding_lookup(whole, ids), embedding_lookup(in_parts, ids, partition_strategy::div),
                                    embedding_lookup(by_mod, ids, partition_strategy::mod)};
    const output weights = constant(tensor_literal(shape_value{7, 2}, counted(14)));
    std::vector<control_input> steps;
    for (const output& rows : found) {
      const auto o = optimizer();
      const output loss = reduce_sum(multiply(square(rows), weights), all_axes);
      const auto pairs = o.compute_gradients(loss);
      int sparse = 0;
      for (const auto& p : pairs) {
        if (!static_cast<bool>(p.gradient)) continue;
        CHECK(p.gradient.is_sparse());
        ++sparse;
      }
      CHECK(sparse == (rows.index() == found[0].index() ? 1 : 3));
      steps.emplace_back(o.apply_gradients(pairs));
    }
    const auto train = group(steps);
    graph_session s(g);
    s.run(global_variables_initializer());
    for (int step = 0; step < 4; ++step) {
      const auto expected = floats(s, found[0]);
      CHECK(floats(s, found[1]) == expected);
      CHECK(floats(s, found[2]) == expected);
      s.run(train);
    }
    CHECK(floats(s, whole) == floats(s, in_parts));
    CHECK(floats(s, whole) != counted(14));
  }
}

TEST_CASE("gradients go through partitioned and stitched rows, and through the concatenation") {
  graph g;
  const auto here = g.as_default();
  const output x = constant(tensor_literal(shape_value{4, 2}, counted(8)), "x");
  const auto parts = call_operator(g, "DynamicPartition", {x, tensor_literal({1, 0, 1, 2})}, {{"num_partitions", 3}}).outputs();
  const output y = reduce_sum(square(parts[1]), all_axes);  // the others are not used
  const auto w = get_variable(
      "w", {.initializer = operand_value(tensor_literal(shape_value{2, 3}, counted(6))), .partitioner = fixed_size_partitioner(2, 1)});
  const output z = reduce_sum(square(w.as_tensor()), all_axes);
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(floats(s, gradients({y}, {x})[0]) == std::vector<float>{0, 2, 0, 0, 8, 10, 0, 0});
  const auto of_parts = gradients({z}, w.parts());
  CHECK(floats(s, of_parts[0]) == std::vector<float>{0, 2, 6, 8});
  CHECK(floats(s, of_parts[1]) == std::vector<float>{4, 10});
}

TEST_CASE("slice information is in a graph's collections") {
  graph g;
  const auto here = g.as_default();
  const auto w = get_variable("w", {300, 2}, {.partitioner = fixed_size_partitioner(2)});
  const auto all = io::export_collections(g);
  graph h;
  import_graph(h, export_graph(g), {.name = ""});
  io::import_collections(h, all);
  const output again = get_tensor_by_name(h, "w/part_1:0");
  REQUIRE(save_slice_info_of(again) != nullptr);
  CHECK(*save_slice_info_of(again) == *save_slice_info_of(w[1]));
  // full_name "w", full_shape 300 2, var_offset 150 0, var_shape 150 2, as TensorFlow writes it
  const std::string bytes("\x0a\x01w\x12\x03\xac\x02\x02\x1a\x03\x96\x01\x00\x22\x03\x96\x01\x02", 18);
  CHECK(io::detail::write_slice_info(*save_slice_info_of(w[1])) == bytes);
  for (std::size_t n = 0; n < bytes.size(); ++n) CHECK_FALSE(io::detail::read_slice_info(bytes.substr(0, n)).has_value());
  CHECK_FALSE(io::detail::read_slice_info("\x0a\x01w\x12\x01\x02\x1a\x01\x01\x22\x01\x02").has_value());  // beyond the whole
}
