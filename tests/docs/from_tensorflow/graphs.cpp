// Graphs, names, variables, scopes, and operators on tensors, as docs/from_tensorflow.md shows them.

#include "shown.hpp"

#include <leat/runtime/kernels/kernel.hpp>

#include <array>
#include <optional>
#include <sstream>
#include <type_traits>

using namespace leat;

namespace from_tensorflow {

namespace {

void looked_up() {
  LEAT_SHOWN_STATEMENTS(graph, graph g; auto scope = g.as_default();)
  const output x = constant({{1.0f, 2.0f}}, "x");
  const output y = identity(x, "y");
  require(&LEAT_SHOWN(default_graph, default_graph()) == &g);
  require(!static_cast<bool>(LEAT_SHOWN_TYPE(tensor_type, output)));
  require(!static_cast<bool>(LEAT_SHOWN_TYPE(operation_type, graph_operation)));
  require(LEAT_SHOWN(t_name, y.name()) == "y:0");
  const graph_operation op = LEAT_SHOWN(t_operation, y.operation());
  require(LEAT_SHOWN(t_type, y.type()) == dtype::float32);
  require(LEAT_SHOWN(t_extent, y.extent()) == shape_value{1, 2});
  require(&LEAT_SHOWN(t_owner, y.owner()) == &g);
  require(LEAT_SHOWN(shape_text, shape_text(y.extent())) == "(1, 2)");
  require(LEAT_SHOWN(op_name, op.name()) == "y");
  require(LEAT_SHOWN(op_type, op.type()) == "Identity");
  require(LEAT_SHOWN(op_inputs, op.inputs()).size() == 1);
  require(LEAT_SHOWN(op_outputs, op.outputs()).size() == 1);
  require(LEAT_SHOWN(op_control_inputs, op.control_inputs()).empty());
  require(LEAT_SHOWN(op_device, op.device()).empty());
  require(LEAT_SHOWN(op_made_at, op.made_at()).line > 0);
  require(LEAT_SHOWN(op_attribute, op.attribute("T")) == attribute_value(data_type::float32));
  std::ostringstream shown_text;
  static_cast<void>(LEAT_SHOWN(print_op, shown_text << op));
  require(shown_text.str().find("Identity") != std::string::npos);
  require(LEAT_SHOWN(describe_op, describe(op)).find("Identity") != std::string::npos);
  require(LEAT_SHOWN(describe_t, describe(y)) == "Tensor(\"y:0\", shape=(1, 2), dtype=float32)");
  require(LEAT_SHOWN(consumers, consumers(x)).size() == 1);
  require(LEAT_SHOWN(same_tensor, same_tensor(x, y)) == false);
  require(same_tensor(LEAT_SHOWN(tensor_by_name, get_tensor_by_name(g, "y:0")), y));
  require(LEAT_SHOWN(operation_by_name, get_operation_by_name(g, "y")).name() == "y");
  require(LEAT_SHOWN(graph_element, as_graph_element(g, "y")).index() == 1);
  require(LEAT_SHOWN(operations, get_operations(g)).size() == 2);
  require(LEAT_SHOWN(tensors, get_tensors(g)).size() == 2);
  const graph_def def = LEAT_SHOWN(export_graph, export_graph(g));
  graph copy;
  LEAT_SHOWN(import_graph, import_graph(copy, def));
  require(get_operations(copy).front().name() == "import/x");
  LEAT_SHOWN(add_to_collection, add_to_collection("mine", y));
  require(LEAT_SHOWN(collection_items, get_collection("mine")).size() == 1);
  require(LEAT_SHOWN(collection_tensors, get_tensors(g, "mine")).size() == 1);
  require(LEAT_SHOWN(collection_key, collection::losses) == "losses");
  LEAT_SHOWN(finalize, finalize(g));
  require(is_finalized(g));
}

void reset() {
  constant(1.0f);
  LEAT_SHOWN(reset_default_graph, reset_default_graph());
  require(default_graph().size() == 0);
}

void leaves() {
  graph g;
  const auto scope = g.as_default();
  expected_values is;
  is(LEAT_SHOWN(constant, constant({{1.0f, 2.0f}}, "c")), {1, 2});
  const output x = LEAT_SHOWN(placeholder, placeholder(dtype::float32, {-1, 3}, "x"));
  is(LEAT_SHOWN(zeros_of, zeros({2, 3})), numbers(6, 0));
  is(LEAT_SHOWN(ones_of, ones({2})), {1, 1});
  is(LEAT_SHOWN(fill, fill({2}, 1.5f)), {1.5, 1.5});
  LEAT_SHOWN(set_random_seed, set_random_seed(42));
  const std::vector<output> drawn{LEAT_SHOWN(random_normal, random_normal({2, 3}, 0, 1)),
                                  LEAT_SHOWN(truncated_normal, truncated_normal({2})),
                                  LEAT_SHOWN(random_uniform, random_uniform({2}, -1, 1))};
  graph_session s(g);
  is.check(s);
  require(s.run(drawn)[0].extent() == shape_value{2, 3});
  require(drawn[0].operation().inputs()[0].operation().inputs()[0].operation().attribute("seed") == attribute_value(std::int64_t{42}));
  require(s.run(x, {{x, {{1.0f, 2.0f, 3.0f}}}}).extent() == shape_value{1, 3});
}

void variables() {
  graph g;
  const auto scope = g.as_default();
  const output w = LEAT_SHOWN(variable, variable({{1.0f}, {2.0f}}, "w"));
  const output n = LEAT_SHOWN(untrainable, variable(0, "n", {.trainable = false}));
  const output b = LEAT_SHOWN(get_variable, get_variable("b", {3, 2}));
  get_variable("z", {2}, {.initializer = LEAT_SHOWN(zeros, zeros)});
  get_variable("r", {2}, {.initializer = LEAT_SHOWN(random_normal_initializer, random_normal(0, 0.1))});
  get_variable("q", {2, 2}, {.initializer = LEAT_SHOWN(glorot_uniform, glorot_uniform())});
  graph_session s(g);
  require(LEAT_SHOWN(uninitialized_variables, s.uninitialized_variables()).size() == 6);
  LEAT_SHOWN(initialize_all, s.run(global_variables_initializer()));
  const graph_operation some = LEAT_SHOWN(variables_initializer, variables_initializer({w, b}));
  s.run(some);
  s.run(LEAT_SHOWN(initializer_of, initializer_of(w)));
  require(s.run(LEAT_SHOWN(report_uninitialized, report_uninitialized_variables())).extent() == shape_value{0});
  require(LEAT_SHOWN(global_variables, global_variables()).size() == 6);
  require(LEAT_SHOWN(trainable_variables, trainable_variables()).size() == 5);
  require(LEAT_SHOWN(local_variables, local_variables()).empty());
  LEAT_SHOWN(assign_in_session, s.assign(n, 5));
  require(LEAT_SHOWN(value_in_session, s.value(n)).as<int>() == 5);
  require(s.run<int>(LEAT_SHOWN(assign, assign(n, 7))) == 7);
  require(s.run<int>(LEAT_SHOWN(assign_add, assign_add(n, 1))) == 8);
  require(s.run<int>(LEAT_SHOWN(assign_sub, assign_sub(n, 2))) == 6);
  require(s.run<int>(LEAT_SHOWN(read_value, read_value(n))) == 6);
  require(s.run<int>(LEAT_SHOWN(initialized_value, initialized_value(n))) == 6);
}

void scopes() {
  graph g;
  const auto scope = g.as_default();
  {
    LEAT_SHOWN_STATEMENTS(name_scope, auto layer = name_scope("layer");)
    require(constant(1.0f, "a").name() == "layer/a:0");
  }
  std::optional<variable_scope_object> kept;
  {
    LEAT_SHOWN_STATEMENTS(variable_scope, auto net = variable_scope("net", {.reuse = AUTO_REUSE});)
    get_variable("v", {2});
    kept = LEAT_SHOWN(scope_object, net.object());
  }
  {
    const variable_scope_object object = *kept;
    LEAT_SHOWN_STATEMENTS(scope_again, auto again = variable_scope(object);)
    require(get_variable("v", {2}).name() == "net/v:0");
  }
  const partitioned_variable slices = LEAT_SHOWN(partitioned, get_variable("w", {9, 3}, {.partitioner = fixed_size_partitioner(3)}));
  const output parts = LEAT_SHOWN(as_tensor, slices.as_tensor());
  require(parts.extent() == shape_value{9, 3});
  const output v = variable(1.0f, "counter");
  const output a = assign_add(v, 1.0f);
  output read;
  {
    LEAT_SHOWN_STATEMENTS(control_dependencies, auto wait = control_dependencies({a});)
    read = LEAT_SHOWN(identity, identity(v));
  }
  graph_session s(g);
  s.run(global_variables_initializer());
  require(s.run<float>(read) == 2);
  s.run(LEAT_SHOWN(group, group({a})));
  require(LEAT_SHOWN(tuple, tuple({read, v})).size() == 2);
  s.run(LEAT_SHOWN(no_op, no_op()));
  {
    LEAT_SHOWN_STATEMENTS(device_text, auto d = device("/cpu:0");)
    LEAT_SHOWN_STATEMENTS(colocate, auto beside = colocate_with(v);)
    LEAT_SHOWN_STATEMENTS(container, auto c = container("mine");)
    variable(1.0f, "held");
  }
  graph_session t(g);
  LEAT_SHOWN(reset_container, t.reset("mine"));
}

}  // namespace

void graphs_and_names() {
  looked_up();
  reset();
}
void variables_and_scopes() {
  leaves();
  variables();
  scopes();
}

void mathematics() {
  graph g;
  const auto scope = g.as_default();
  const output a = constant({{1.0f, 2.0f}, {3.0f, 4.0f}}), b = constant({{2.0f, 2.0f}, {2.0f, 8.0f}});
  const output i = constant({7, -7}), k = constant({2, 2});
  const output p = a > 2.0f, q = b < 3.0f;
  const output x = a, y = b;
  expected_values is;
  is(LEAT_SHOWN(plus, a + b), {3, 4, 5, 12});
  is(LEAT_SHOWN(minus, a - b), {-1, 0, 1, -4});
  is(LEAT_SHOWN(times, a * b), {2, 4, 6, 32});
  is(LEAT_SHOWN(over, a / b), {0.5, 1, 1.5, 0.5});
  is(LEAT_SHOWN(add, add(a, b, "sum")), {3, 4, 5, 12});
  is(LEAT_SHOWN(over_integers, i / k), {3, -3});
  is(LEAT_SHOWN(floor_divide, floor_divide(i, k)), {3, -4});
  is(LEAT_SHOWN(floordiv, floordiv(i, k)), {3, -4});
  is(LEAT_SHOWN(floor_mod, floor_mod(i, k)), {1, 1});
  is(LEAT_SHOWN(matmul, matmul(a, b, {.transpose_a = true})), {8, 26, 12, 36});
  is(LEAT_SHOWN(reduce_sum, reduce_sum(x, {0}, keep_dims::yes)), {4, 6});
  is(LEAT_SHOWN(reduce_mean, reduce_mean(x, {0})), {2, 3});
  is(LEAT_SHOWN(reduce_max, reduce_max(x, {0})), {3, 4});
  is(LEAT_SHOWN(reduce_min, reduce_min(x, {0})), {1, 2});
  is(LEAT_SHOWN(reduce_prod, reduce_prod(x, {0})), {3, 8});
  is(LEAT_SHOWN(reduce_all, reduce_all(p, {0})), {0, 0});
  is(LEAT_SHOWN(reduce_any, reduce_any(p, {0})), {1, 1});
  is(LEAT_SHOWN(argmax, argmax(x, 1)), {1, 1});
  is(LEAT_SHOWN(exp, exp(x)), {std::exp(1), std::exp(2), std::exp(3), std::exp(4)});
  is(LEAT_SHOWN(log, log(x)), {0, std::log(2), std::log(3), std::log(4)});
  is(LEAT_SHOWN(sqrt, sqrt(x)), {1, std::sqrt(2), std::sqrt(3), 2});
  is(LEAT_SHOWN(tanh, tanh(x)), {std::tanh(1), std::tanh(2), std::tanh(3), std::tanh(4)});
  is(LEAT_SHOWN(square, square(x)), {1, 4, 9, 16});
  is(LEAT_SHOWN(abs, abs(i)), {7, 7});
  is(LEAT_SHOWN(pow, pow(x, 2.0f)), {1, 4, 9, 16});
  is(LEAT_SHOWN(sin, sin(x)), {std::sin(1), std::sin(2), std::sin(3), std::sin(4)});
  is(LEAT_SHOWN(less, a < b), {1, 0, 0, 1});
  is(LEAT_SHOWN(equal, equal(a, b)), {0, 1, 0, 0});
  is(LEAT_SHOWN(logical_and, p && q), {0, 0, 1, 0});
  is(LEAT_SHOWN(select, select(p, x, y)), {2, 2, 3, 4});
  is(LEAT_SHOWN(choose, choose(p, x, y)), {2, 2, 3, 4});
  is(LEAT_SHOWN(where_true, where_true(p)), {1, 0, 1, 1});
  is(LEAT_SHOWN(cast, cast(i, dtype::float32)), {7, -7});
  is(LEAT_SHOWN(clip_by_value, clip_by_value(x, 2.0f, 3.0f)), {2, 2, 3, 3});
  is(LEAT_SHOWN(clip_by_norm, clip_by_norm(constant({3.0f, 4.0f}), 1.0f)), {0.6, 0.8});
  is(LEAT_SHOWN(clip_by_global_norm, clip_by_global_norm(as_gradients({a, a}), 0.5f)).norm, {std::sqrt(60)});
  is(LEAT_SHOWN(cumsum, cumsum(x, 1)), {1, 3, 3, 7});
  is(LEAT_SHOWN(cumprod, cumprod(x, 1)), {1, 2, 3, 12});
  const output n = constant(3), ids = constant({2, 0});
  is(LEAT_SHOWN(unsorted_segment_sum, unsorted_segment_sum(x, ids, 3)), {3, 4, 0, 0, 1, 2});
  is(LEAT_SHOWN(unsorted_segment_sum_of, unsorted_segment_sum(x, ids, n)), {3, 4, 0, 0, 1, 2});
  graph_session s(g);
  is.check(s);
}

void arrays() {
  graph g;
  const auto scope = g.as_default();
  const output x = constant({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}), a = x, b = x + 10.0f;
  const output ids = constant({1, 0});
  const output column = constant({{1.0f}, {2.0f}});
  expected_values is;
  is(LEAT_SHOWN(reshape, reshape(x, {3, -1})), {1, 2, 3, 4, 5, 6});
  is(LEAT_SHOWN(transpose, transpose(x)), {1, 4, 2, 5, 3, 6});
  is(LEAT_SHOWN(squeeze, squeeze(column, {1})), {1, 2});
  is(LEAT_SHOWN(expand_dims, expand_dims(x, 0)), {1, 2, 3, 4, 5, 6});
  is(LEAT_SHOWN(concat, concat({a, b}, 1)), {1, 2, 3, 11, 12, 13, 4, 5, 6, 14, 15, 16});
  is(LEAT_SHOWN(stack, stack({a, b})), {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16});
  is(LEAT_SHOWN(unstack, unstack(x))[1], {4, 5, 6});
  is(LEAT_SHOWN(split, split(x, 3, 1))[2], {3, 6});
  is(LEAT_SHOWN(index, index(x, {along::from(1), along::all(2)})), {4, 6});
  is(LEAT_SHOWN(index_number, index(x, {1})), {4, 5, 6});
  is(LEAT_SHOWN(index_until, index(x, {along::until(1), along::between(1, 3)})), {2, 3});
  is(LEAT_SHOWN(index_new_axis, index(x, {along::new_axis(), along::rest()})), {1, 2, 3, 4, 5, 6});
  is(LEAT_SHOWN(gather, gather(x, ids)), {4, 5, 6, 1, 2, 3});
  is(LEAT_SHOWN(gather_nd, gather_nd(x, {{1, 2}})), {6});
  is(LEAT_SHOWN(boolean_mask, boolean_mask(x, x > 4.0f)), {5, 6});
  is(LEAT_SHOWN(one_hot, one_hot(ids, 3)), {0, 1, 0, 1, 0, 0});
  is(LEAT_SHOWN(range, range(0, 3)), {0, 1, 2});
  is(LEAT_SHOWN(tile, tile(column, {1, 2})), {1, 1, 2, 2});
  is(LEAT_SHOWN(pad, pad(column, {{0, 1}, {1, 0}})), {0, 1, 0, 2, 0, 0});
  is(LEAT_SHOWN(reverse, reverse(x, {1})), {3, 2, 1, 6, 5, 4});
  is(LEAT_SHOWN(shape_of, shape_of(x)), {2, 3});
  is(LEAT_SHOWN(rank_of, rank_of(x)), {2});
  is(LEAT_SHOWN(element_count_of, element_count_of(x)), {6});
  is(LEAT_SHOWN(zeros_like, zeros_like(x)), numbers(6, 0));
  is(LEAT_SHOWN(ones_like, ones_like(x)), numbers(6, 1));
  is(LEAT_SHOWN(broadcast_to, broadcast_to(ids, {2, 2})), {1, 0, 1, 0});
  const auto [largest, where] = LEAT_SHOWN(top_k, top_k(x, 2));
  is(largest, {3, 2, 6, 5});
  is(where, {2, 1, 2, 1});
  is(LEAT_SHOWN(embedding_lookup, embedding_lookup(x, ids)), {4, 5, 6, 1, 2, 3});
  const output table = variable({{1.0f, 2.0f}, {3.0f, 4.0f}}, "table");
  const output updated = LEAT_SHOWN(scatter_update, scatter_update(table, {1}, {{7.0f, 8.0f}}));
  const output added = LEAT_SHOWN(scatter_add, scatter_add(table, {0}, {{1.0f, 1.0f}}));
  graph_session s(g);
  s.run(global_variables_initializer());
  is.check(s);
  require(numbers_of(s.run(updated)) == numbers{1, 2, 7, 8});
  require(numbers_of(s.run(added)) == numbers{2, 3, 7, 8});
}

void networks() {
  graph g;
  const auto scope = g.as_default();
  const output x = constant({{-1.0f, 2.0f}, {8.0f, 0.5f}}), z = constant({{0.0f, 1.0f}, {1.0f, 0.0f}}), classes = constant({1, 0});
  const output row = constant({1.0f, 2.0f});
  expected_values is;
  const auto each = [&](auto f) { return numbers{f(-1.0), f(2.0), f(8.0), f(0.5)}; };
  is(LEAT_SHOWN(relu, relu(x)), {0, 2, 8, 0.5});
  is(LEAT_SHOWN(relu6, relu6(x)), {0, 2, 6, 0.5});
  is(LEAT_SHOWN(elu, elu(x)), {std::exp(-1) - 1, 2, 8, 0.5});
  is(LEAT_SHOWN(leaky_relu, leaky_relu(x)), {-0.2, 2, 8, 0.5});
  is(LEAT_SHOWN(sigmoid, sigmoid(x)), each([](double v) { return 1 / (1 + std::exp(-v)); }));
  is(LEAT_SHOWN(softplus, softplus(x)), each([](double v) { return std::log1p(std::exp(v)); }));
  const double first = 1 / (1 + std::exp(3.0)), third = 1 / (1 + std::exp(-7.5));
  is(LEAT_SHOWN(softmax, softmax(x)), {first, 1 - first, third, 1 - third});
  is(LEAT_SHOWN(log_softmax, log_softmax(x)), {std::log(first), std::log(1 - first), std::log(third), std::log(1 - third)});
  const auto loss = [](double v, double label) { return std::log1p(std::exp(v)) - v * label; };
  is(LEAT_SHOWN(sigmoid_cross_entropy, sigmoid_cross_entropy_with_logits(z, x)), {loss(-1, 0), loss(2, 1), loss(8, 1), loss(0.5, 0)});
  is(LEAT_SHOWN(softmax_cross_entropy, softmax_cross_entropy_with_logits(z, x)), {-std::log(1 - first), -std::log(third)});
  is(LEAT_SHOWN(sparse_softmax_cross_entropy, sparse_softmax_cross_entropy_with_logits(classes, x)), {-std::log(1 - first), -std::log(third)});
  is(LEAT_SHOWN(weighted_cross_entropy, weighted_cross_entropy_with_logits(z, x, 1.0f)), {loss(-1, 0), loss(2, 1), loss(8, 1), loss(0.5, 0)});
  is(LEAT_SHOWN(bias_add, bias_add(x, row)), {0, 4, 9, 2.5});
  const output dropped = LEAT_SHOWN(dropout, dropout(x, 0.5));
  is(LEAT_SHOWN(moments, moments(x, {0})).mean, {3.5, 1.25});
  is(LEAT_SHOWN(l2_normalize, l2_normalize(constant({3.0f, 4.0f}), 0)), {0.6, 0.8});
  is(LEAT_SHOWN(l2_loss, l2_loss(row)), {2.5});
  is(LEAT_SHOWN(batch_normalization, batch_normalization(row, 1.0f, 4.0f, {.epsilon = 0})), {0, 0.5});
  const output images = reshape(x, {1, 2, 2, 1}), filters = reshape(constant({1.0f, 1.0f, 1.0f, 2.0f}), {2, 2, 1, 1});
  is(LEAT_SHOWN(conv2d, conv2d(images, filters, {1, 1, 1, 1}, padding::valid)), {10});
  is(LEAT_SHOWN(max_pool, max_pool(images, {1, 2, 2, 1}, {1, 2, 2, 1}, padding::valid)), {8});
  is(LEAT_SHOWN(avg_pool, avg_pool(images, {1, 2, 2, 1}, {1, 2, 2, 1}, padding::valid)), {2.375});
  const output hidden = LEAT_SHOWN(dense, layers::dense(x, 32, {.name = "hidden"}));
  require(trainable_variables().front().name() == "hidden/kernel:0");
  const output sequences = reshape(x, {1, 2, 2});
  const rnn_cell cell = LEAT_SHOWN(gru_cell, gru_cell(64));
  const auto [outputs, last] = LEAT_SHOWN(dynamic_rnn, dynamic_rnn(basic_lstm_cell(64), sequences));
  const rnn_cell both = LEAT_SHOWN(multi_cell, multi_cell({gru_cell(64), gru_cell(64)}));
  require(outputs.extent()[2] == 64 && last.size() == 2 && cell.zero_state(1, dtype::float32).size() == 1);
  require(both.zero_state(1, dtype::float32).size() == 2);
  const output thinned = LEAT_SHOWN(layer_dropout, layers::dropout(x, 0.4));
  const output flat = LEAT_SHOWN(layer_flatten, layers::flatten(expand_dims(x, 2)));
  const output rows = LEAT_SHOWN(layer_embedding, layers::embedding(classes, 1000, 64));
  is(LEAT_SHOWN(layer_activation, layers::activation(layers::relu)(x)), {0, 2, 8, 0.5});
  const auto normal = LEAT_SHOWN(batch_normalization_layer, batch_normalization_layer(x, {.training = true}));
  require(get_collection(LEAT_SHOWN(update_ops, collection::update_ops)).size() == 2);
  const layers::sequential model = LEAT_SHOWN(sequential, layers::sequential{layers::dense(64), layers::dense(10)});
  const output logits = model(x);
  require(LEAT_SHOWN(summary_table, summary_table(model)).find("64") != std::string::npos);
  require(LEAT_SHOWN(parameter_count, model.parameter_count()) == 2 * 64 + 64 + 64 * 10 + 10);
  graph_session s(g);
  s.run(global_variables_initializer());
  is.check(s);
  require(s.run(hidden).extent() == shape_value{2, 32});
  require(s.run(rows).extent() == shape_value{2, 64});
  require(s.run(flat).extent() == shape_value{2, 2});
  require(s.run(logits).extent() == shape_value{2, 10});
  for (const double v : numbers_of(s.run(dropped))) require(v == 0 || v == -2 || v == 4 || v == 16 || v == 1);
  s.run(std::vector<output>{thinned, normal.y});
}

}  // namespace from_tensorflow
