// Typed expressions, as docs/from_tensorflow.md shows them: most of them in one planned session, so that little is compiled.

#include "shown.hpp"

#include <leat/inspect/trace.hpp>
#include <leat/planned.hpp>
#include <leat/session/gradient_of.hpp>
#include <leat/session/typed/evaluate.hpp>

#include <cstdint>
#include <sstream>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace from_tensorflow {

namespace {

template <class V>
numbers numbers_of_array(const V& v) {
  if constexpr (std::is_arithmetic_v<V>) return {static_cast<double>(v)};
  else return numbers(v.begin(), v.end());
}
// What a run gave beside what it is to be.
template <class Results, class... W>
void require_all(const Results& results, const std::source_location& where, const W&... wanted) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (require_close(numbers_of_array(std::get<K>(results)), wanted, where), ...);
  }(std::index_sequence_for<W...>());
}
constexpr auto here = [](const std::source_location& where = std::source_location::current()) { return where; };

void operators() {
  const auto x = LEAT_SHOWN(typed_placeholder, placeholder<"x", float, "batch", 2>());
  const auto ids = placeholder<"ids", std::int32_t, "batch">();
  const auto a = x;
  const auto b = x + 1.0f;
  const auto p = x > 2.0f;
  const auto q = x < 4.0f;
  const auto plus = LEAT_SHOWN(typed_plus, a + b);
  const auto minus = LEAT_SHOWN(typed_minus, a - b);
  const auto times = LEAT_SHOWN(typed_times, a * b);
  const auto over = LEAT_SHOWN(typed_over, a / b);
  const auto floored = LEAT_SHOWN(typed_floor_divide, floor_divide(ids, 2_c));
  const auto rest = LEAT_SHOWN(typed_floor_mod, floor_mod(ids, 2_c));
  const auto product = LEAT_SHOWN(typed_matmul, matmul<true, false>(a, b));
  const auto sum = LEAT_SHOWN(typed_reduce_sum, reduce_sum<0>(x));
  const auto kept = LEAT_SHOWN(typed_reduce_sum_keep, reduce_sum_keep<0>(x));
  const auto mean = LEAT_SHOWN(typed_reduce_mean, reduce_mean<0>(x));
  const auto most = LEAT_SHOWN(typed_reduce_max, reduce_max<0>(x));
  const auto least = LEAT_SHOWN(typed_reduce_min, reduce_min<0>(x));
  const auto all = LEAT_SHOWN(typed_reduce_prod, reduce_prod<0>(x));
  const auto every = LEAT_SHOWN(typed_reduce_all, reduce_all<0>(p));
  const auto some = LEAT_SHOWN(typed_reduce_any, reduce_any<0>(p));
  const auto place = LEAT_SHOWN(typed_argmax, argmax<1>(x));
  const auto e = LEAT_SHOWN(typed_exp, exp(x));
  const auto l = LEAT_SHOWN(typed_log, log(x));
  const auto r = LEAT_SHOWN(typed_sqrt, sqrt(x));
  const auto t = LEAT_SHOWN(typed_tanh, tanh(x));
  const auto s2 = LEAT_SHOWN(typed_square, square(x));
  const auto ab = LEAT_SHOWN(typed_abs, abs(x));
  const auto powers = LEAT_SHOWN(typed_pow, pow(x, 2_c));
  const auto sines = LEAT_SHOWN(typed_sin, sin(x));
  const auto less = LEAT_SHOWN(typed_less, a < b);
  const auto same = LEAT_SHOWN(typed_equal, equal(a, b));
  const auto both = LEAT_SHOWN(typed_logical_and, p && q);
  const auto chosen = LEAT_SHOWN(typed_select, select(p, a, b));
  const auto real = LEAT_SHOWN(typed_cast, cast<float>(ids));
  const auto clipped = LEAT_SHOWN(typed_clip_by_value, clip_by_value(x, 2_c, 3_c));
  const auto normed = LEAT_SHOWN(typed_clip_by_norm, clip_by_norm(x, 1_c));
  const auto [all_normed] = LEAT_SHOWN(typed_clip_by_global_norm, clip_by_global_norm(1_c, x));
  const auto segments = LEAT_SHOWN(typed_unsorted_segment_sum, unsorted_segment_sum<3>(x, ids));
  planned_session s{plus, minus,  times, over, floored, rest, product, sum,  kept,   mean, most,   least, all,     every,      some,   place,
                    e,    l,      r,     t,    s2,      ab,   powers,  sines, less,  same, both,   chosen, real,   clipped,    normed, all_normed,
                    segments};
  const xt::xtensor<float, 2> xs{{1, 2}, {3, 4}};
  const std::vector<std::int32_t> two{2, 0};
  const auto given = [&](auto fetched) { return s.run(fetched, x = xs, ids = two); };
  const auto only = [&](auto fetched) { return s.run(fetched, x = xs); };
  require_all(only(fetch(plus, minus, times, over)), here(), numbers{3, 5, 7, 9}, numbers(4, -1), numbers{2, 6, 12, 20},
              numbers{0.5, 2 / 3., 0.75, 0.8});
  require_all(s.run(fetch(floored, rest, real), ids = two), here(), numbers{1, 0}, numbers{0, 0}, numbers{2, 0});
  require_all(only(fetch(product, sum, kept, mean, most, least, all)), here(), numbers{14, 18, 20, 26}, numbers{4, 6}, numbers{4, 6},
              numbers{2, 3}, numbers{3, 4}, numbers{1, 2}, numbers{3, 8});
  require_all(only(fetch(every, some, place)), here(), numbers{0, 0}, numbers{1, 1}, numbers{1, 1});
  const auto each = [&](auto f) { return numbers{f(1.0), f(2.0), f(3.0), f(4.0)}; };
  require_all(only(fetch(e, l, r, t)), here(), each([](double v) { return std::exp(v); }), each([](double v) { return std::log(v); }),
              each([](double v) { return std::sqrt(v); }), each([](double v) { return std::tanh(v); }));
  require_all(only(fetch(s2, ab, powers, sines)), here(), numbers{1, 4, 9, 16}, numbers{1, 2, 3, 4}, numbers{1, 4, 9, 16},
              each([](double v) { return std::sin(v); }));
  require_all(only(fetch(less, same, both, chosen)), here(), numbers(4, 1), numbers(4, 0), numbers{0, 0, 1, 0}, numbers{2, 3, 3, 4});
  const auto scaled = each([](double v) { return v / std::sqrt(30.0); });
  require_all(only(fetch(clipped, normed, all_normed)), here(), numbers{2, 2, 3, 3}, scaled, scaled);
  require_all(given(fetch(segments)), here(), numbers{3, 4, 0, 0, 1, 2});
}

void arrangements() {
  const auto x = placeholder<"x", float, 2, 3>();
  const auto column = placeholder<"column", float, 2, 1>();
  const auto ids = placeholder<"ids", std::int32_t, 2>();
  const auto a = x;
  const auto b = x + 10.0f;
  const auto reshaped = LEAT_SHOWN(typed_reshape, reshape<3, -1>(x));
  const auto turned = LEAT_SHOWN(typed_transpose, transpose<1, 0>(x));
  const auto squeezed = LEAT_SHOWN(typed_squeeze, squeeze<1>(column));
  const auto wider = LEAT_SHOWN(typed_expand_dims, expand_dims<0>(x));
  const auto joined = LEAT_SHOWN(typed_concat, concat<1>(a, b));
  const auto stacked = LEAT_SHOWN(typed_stack, stack<1>(a, b));
  const auto cut = LEAT_SHOWN(typed_slice, slice<begins<1, 0>, sizes<-1, -1>>(x));
  const auto rows = LEAT_SHOWN(typed_gather, gather(x, ids));
  const auto hot = LEAT_SHOWN(typed_one_hot, one_hot<3>(ids));
  const auto padded = LEAT_SHOWN(typed_pad, pad<before<0, 1>, behind<1, 0>>(column));
  const auto wide = LEAT_SHOWN(typed_broadcast_to, broadcast_to<2, 2>(column));
  const auto [first_row, second_row] = LEAT_SHOWN(typed_unstack, unstack(x));
  const auto [left, right] = LEAT_SHOWN(typed_split, split_sizes<1, 2, -1>(x));
  const auto entries = LEAT_SHOWN(typed_index, index<along::all(), along::between(1, 3)>(x));
  const auto columns = LEAT_SHOWN(typed_gather_along, gather<1>(x, ids));
  const auto repeated = LEAT_SHOWN(typed_tile, tile<1, 2>(x));
  const auto backward = LEAT_SHOWN(typed_reverse, reverse<1>(x));
  const auto counted = LEAT_SHOWN(typed_range, range<0, 5, 2>());
  const auto tuples = placeholder<"tuples", std::int32_t, 2, 2>();
  const auto elements = LEAT_SHOWN(typed_gather_nd, gather_nd(x, tuples));
  const auto contracted = LEAT_SHOWN(typed_einsum, einsum<"ij,kj->ik">(a, b));
  const auto product = LEAT_SHOWN(typed_tensordot, tensordot<1>(x, turned));
  const auto running = LEAT_SHOWN(typed_cumsum, cumsum<1>(x));
  planned_session s{reshaped, turned, squeezed, wider, joined, stacked, cut, rows, hot, padded, wide, first_row, second_row, left, right,
                    entries, columns, repeated, backward, counted, elements, contracted, product, running};
  const xt::xtensor<float, 2> xs{{1, 2, 3}, {4, 5, 6}}, cs{{1}, {2}};
  const std::vector<std::int32_t> two{1, 0};
  const numbers in_order{1, 2, 3, 4, 5, 6};
  require_all(s.run(fetch(reshaped, turned, wider, cut), x = xs), here(), in_order, numbers{1, 4, 2, 5, 3, 6}, in_order, numbers{4, 5, 6});
  require_all(s.run(fetch(joined, stacked), x = xs), here(), numbers{1, 2, 3, 11, 12, 13, 4, 5, 6, 14, 15, 16},
              numbers{1, 2, 3, 11, 12, 13, 4, 5, 6, 14, 15, 16});
  require_all(s.run(fetch(squeezed, padded, wide), column = cs), here(), numbers{1, 2}, numbers{0, 1, 0, 2, 0, 0}, numbers{1, 1, 2, 2});
  require_all(s.run(fetch(rows), x = xs, ids = two), here(), numbers{4, 5, 6, 1, 2, 3});
  require_all(s.run(fetch(hot), ids = two), here(), numbers{0, 1, 0, 1, 0, 0});
  require_all(s.run(fetch(first_row, second_row, left, right), x = xs), here(), numbers{1, 2, 3}, numbers{4, 5, 6}, numbers{1, 2, 4, 5},
              numbers{3, 6});
  require_all(s.run(fetch(entries, repeated, backward, running), x = xs), here(), numbers{2, 3, 5, 6},
              numbers{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}, numbers{3, 2, 1, 6, 5, 4}, numbers{1, 3, 6, 4, 9, 15});
  require_all(s.run(fetch(columns), x = xs, ids = two), here(), numbers{2, 1, 5, 4});
  require_all(s.run(fetch(counted)), here(), numbers{0, 2, 4});
  require_all(s.run(fetch(elements), x = xs, tuples = xt::xtensor<std::int32_t, 2>{{1, 2}, {0, 0}}), here(), numbers{6, 1});
  require_all(s.run(fetch(contracted, product), x = xs), here(), numbers{74, 92, 182, 227}, numbers{14, 32, 32, 77});
}

void network_functions() {
  const auto x = placeholder<"x", float, "batch", 2>();
  const auto z = placeholder<"z", float, "batch", 2>();
  const auto classes = placeholder<"classes", std::int32_t, "batch">();
  const auto r = LEAT_SHOWN(typed_relu, relu(x));
  const auto r6 = LEAT_SHOWN(typed_relu6, relu6(x));
  const auto el = LEAT_SHOWN(typed_elu, elu(x));
  const auto leaky = LEAT_SHOWN(typed_leaky_relu, leaky_relu(x));
  const auto sig = LEAT_SHOWN(typed_sigmoid, sigmoid(x));
  const auto plus = LEAT_SHOWN(typed_softplus, softplus(x));
  const auto soft = LEAT_SHOWN(typed_softmax, softmax<1>(x));
  const auto log_soft = LEAT_SHOWN(typed_log_softmax, log_softmax<1>(x));
  const auto sigmoid_loss = LEAT_SHOWN(typed_sigmoid_cross_entropy, sigmoid_cross_entropy_with_logits(z, x));
  const auto softmax_loss = LEAT_SHOWN(typed_softmax_cross_entropy, softmax_cross_entropy_with_logits(z, x));
  const auto sparse_loss = LEAT_SHOWN(typed_sparse_cross_entropy, sparse_softmax_cross_entropy_with_logits(classes, x));
  const auto [mean, variance] = LEAT_SHOWN(typed_moments, moments<0>(x));
  const auto half = LEAT_SHOWN(typed_l2_loss, l2_loss(x));
  const auto steps = global_step();
  const auto dropped = LEAT_SHOWN(typed_dropout, dropout<"drop1">(x, 0.5f, steps));
  planned_session s{r, r6, el, leaky, sig, plus, soft, log_soft, sigmoid_loss, softmax_loss, sparse_loss, mean, variance, half, dropped};
  const xt::xtensor<float, 2> xs{{-1, 2}, {8, 0.5f}}, zs{{0, 1}, {1, 0}};
  const std::vector<std::int32_t> of{1, 0};
  const auto each = [&](auto f) { return numbers{f(-1.0), f(2.0), f(8.0), f(0.5)}; };
  require_all(s.run(fetch(r, r6, el, leaky), x = xs), here(), numbers{0, 2, 8, 0.5}, numbers{0, 2, 6, 0.5},
              numbers{std::exp(-1) - 1, 2, 8, 0.5}, numbers{-0.2, 2, 8, 0.5});
  const double first = 1 / (1 + std::exp(3.0)), third = 1 / (1 + std::exp(-7.5));
  require_all(s.run(fetch(sig, plus, soft, log_soft), x = xs), here(), each([](double v) { return 1 / (1 + std::exp(-v)); }),
              each([](double v) { return std::log1p(std::exp(v)); }), numbers{first, 1 - first, third, 1 - third},
              numbers{std::log(first), std::log(1 - first), std::log(third), std::log(1 - third)});
  const auto loss = [](double v, double label) { return std::log1p(std::exp(v)) - v * label; };
  require_all(s.run(fetch(sigmoid_loss, softmax_loss), x = xs, z = zs), here(), numbers{loss(-1, 0), loss(2, 1), loss(8, 1), loss(0.5, 0)},
              numbers{-std::log(1 - first), -std::log(third)});
  require_all(s.run(fetch(sparse_loss), x = xs, classes = of), here(), numbers{-std::log(1 - first), -std::log(third)});
  require_all(s.run(fetch(mean, variance, half), x = xs), here(), numbers{3.5, 1.25}, numbers{20.25, 0.5625}, numbers{34.625});
  s.initialize();
  const auto [kept] = s.run(fetch(dropped), x = xs);
  for (std::size_t i = 0; i < 4; ++i) require(kept.data()[i] == 0 || kept.data()[i] == 2 * xs.data()[i]);

  const auto hidden = LEAT_SHOWN(typed_dense, dense<"hidden", 32>(x));
  const auto [rows_of_words, table] = LEAT_SHOWN(typed_embedding, embedding_layer<"words", 1000, 64>(classes));
  const auto bn = LEAT_SHOWN(typed_batch_normalization, batch_normalization<"bn">(x));
  const auto update = LEAT_SHOWN(typed_batch_update, bn.update);
  require(LEAT_SHOWN(typed_summary_table, summary_table(hidden)).find("hidden") != std::string::npos);
  const auto images = placeholder<"images", float, "batch", 4, 4, 1>();
  const auto filters = placeholder<"filters", float, 3, 3, 1, 2>();
  const auto maps = LEAT_SHOWN(typed_conv2d, conv2d<1, padding::same>(images, filters));
  const auto largest = LEAT_SHOWN(typed_max_pool, max_pool<2>(images));
  const auto average = LEAT_SHOWN(typed_avg_pool, avg_pool<2>(images));
  const auto convolved = LEAT_SHOWN(typed_conv, conv<"conv1", 32, 3>(images));
  const auto seed = placeholder<"seed", std::int64_t, 2>();
  const auto drawn = LEAT_SHOWN(typed_stateless_uniform, stateless_random_uniform<float, "batch", 8>(seed));
  planned_session t{hidden, rows_of_words, bn.output, update, maps, largest, average, convolved, drawn};
  t.initialize();
  const xt::xtensor<float, 4> pictures = xt::ones<float>({1, 4, 4, 1}), nines = xt::ones<float>({3, 3, 1, 2});
  const auto [sums, tops, means, layer] = t.run(fetch(maps, largest, average, convolved), images = pictures, filters = nines);
  require(sums(0, 0, 0, 1) == 4 && sums(0, 1, 1, 0) == 9 && tops(0, 1, 1, 0) == 1 && means(0, 0, 0, 0) == 1 && layer.shape(3) == 32);
  const auto [unit_numbers] = t.run(fetch(drawn), seed = std::vector<std::int64_t>{1, 2}, images = pictures);
  require(unit_numbers.shape(1) == 8 && unit_numbers(0, 0) != unit_numbers(0, 1));
  t.run(fetch(bn.output, update), x = xs);
  const auto [units] = t.run(fetch(hidden), x = xs);
  require(units.shape(1) == 32);
}

void losses_of() {
  const auto labels = placeholder<"labels", float, "n">();
  const auto predictions = placeholder<"predictions", float, "n">();
  const auto weights = placeholder<"weights", float, "n">();
  const auto squared = LEAT_SHOWN(typed_mean_squared_error, losses::mean_squared_error(labels, predictions, weights));
  const auto by_mean =
      LEAT_SHOWN(typed_reduction, losses::mean_squared_error<losses::reduction::mean>(labels, predictions, weights));
  const auto absolute = LEAT_SHOWN(typed_absolute_difference, losses::absolute_difference(labels, predictions));
  const auto huber = LEAT_SHOWN(typed_huber_loss, losses::huber_loss(labels, predictions));
  const auto logits = placeholder<"logits", float, "n", 2>();
  const auto hot = logits;  // of the rows of the unit matrix, both
  const auto classes = placeholder<"classes", std::int32_t, "n">();
  const auto logarithmic = LEAT_SHOWN(typed_log_loss, losses::log_loss(labels, predictions));
  const auto hinge = LEAT_SHOWN(typed_hinge_loss, losses::hinge_loss(labels, predictions));
  const auto cosine = LEAT_SHOWN(typed_cosine_distance, losses::cosine_distance<1>(hot, logits));
  const auto sigmoid_loss = LEAT_SHOWN(typed_sigmoid_loss, losses::sigmoid_cross_entropy(hot, logits));
  const auto softmax_loss = LEAT_SHOWN(typed_softmax_loss, losses::softmax_cross_entropy(hot, logits));
  const auto sparse_loss = LEAT_SHOWN(typed_sparse_loss, losses::sparse_softmax_cross_entropy(classes, logits));
  const auto pairwise = LEAT_SHOWN(typed_pairwise, losses::mean_pairwise_squared_error(hot, logits));
  const auto weighted = LEAT_SHOWN(typed_weighted_loss, losses::compute_weighted_loss(labels, weights));
  const auto regularizer = LEAT_SHOWN(typed_l2_regularizer, l2_regularizer(0.1f));
  const auto term = regularizer(predictions);
  const auto right = LEAT_SHOWN(typed_accuracy, metrics::accuracy<"accuracy">(labels, predictions));
  planned_session s{squared,     by_mean, absolute, huber,        term,         right.value, right.update, logarithmic,
                    hinge,       cosine,  pairwise, sigmoid_loss, softmax_loss, sparse_loss, weighted};
  s.initialize();
  const std::vector<float> is{1, 0}, guess{0.5f, 1}, by{1, 3};
  require_all(s.run(fetch(squared, by_mean), labels = is, predictions = guess, weights = by), here(), numbers{1.625}, numbers{0.8125});
  require_all(s.run(fetch(absolute, huber, right.update), labels = is, predictions = guess), here(), numbers{0.75}, numbers{0.3125},
              numbers{0});
  require_all(s.run(fetch(term), predictions = guess), here(), numbers{0.0625});
  require_all(s.run(fetch(logarithmic), labels = is, predictions = std::vector{0.5f, 0.5f}), here(), numbers{std::log(2)});
  require_all(s.run(fetch(hinge), labels = is, predictions = guess), here(), numbers{1.25});
  require_all(s.run(fetch(weighted), labels = is, weights = by), here(), numbers{0.5});
  const xt::xtensor<float, 2> rows{{1, 0}, {0, 1}};
  const double log_of_e = std::log1p(std::exp(-1));
  require_all(s.run(fetch(cosine, pairwise), logits = rows), here(), numbers{0}, numbers{0});
  require_all(s.run(fetch(sigmoid_loss, softmax_loss), logits = rows), here(), numbers{(log_of_e + std::log(2)) / 2}, numbers{log_of_e});
  require_all(s.run(fetch(sparse_loss), logits = rows, classes = std::vector<std::int32_t>{0, 1}), here(), numbers{log_of_e});
}

void training() {
  const auto w = LEAT_SHOWN(typed_variable, variable<"w", float, 2>(ones));
  const auto n = LEAT_SHOWN(typed_untrainable, untrainable_variable<"n", int>(0));
  const auto zero = variable<"zero", float, 2>(LEAT_SHOWN(typed_zeros, zeros));
  const auto drawn = variable<"drawn", float, 2>(LEAT_SHOWN(typed_random_normal, random_normal(0, 0.1)));
  const auto glorot = variable<"glorot", float, 2, 2>(LEAT_SHOWN(typed_glorot_uniform, glorot_uniform()));
  const auto rate = LEAT_SHOWN(typed_parameter, parameter<"rate">(0.1f));
  const auto loss = reduce_sum(square(w));
  const auto [slope] = LEAT_SHOWN(typed_gradients, gradients(loss, w));
  const auto still = LEAT_SHOWN(typed_stop_gradient, stop_gradient(w));
  const auto constants = LEAT_SHOWN(typed_constant, constant<0.5f>()) + LEAT_SHOWN(typed_literal, 0.5_c);
  const auto filled = LEAT_SHOWN(typed_filled_constant, constant<0.0f, 2, 3>());
  const auto train = LEAT_SHOWN(typed_minimize, gradient_descent(0.1f).minimize(loss));
  const auto o = momentum(0.1f, 0.9f);
  const auto trains =
      std::tuple(LEAT_SHOWN(nesterov_momentum, nesterov_momentum(0.1f, 0.9f)).minimize(loss), LEAT_SHOWN(adam, adam(0.1f)).minimize(loss),
                 LEAT_SHOWN(adagrad, adagrad(0.1f)).minimize(loss), LEAT_SHOWN(adadelta, adadelta(0.1f)).minimize(loss),
                 LEAT_SHOWN(rms_prop, rms_prop(0.1f)).minimize(loss), LEAT_SHOWN(ftrl, ftrl(0.1f)).minimize(loss),
                 LEAT_SHOWN(momentum, momentum(0.1f, 0.9f)).minimize(loss), LEAT_SHOWN(adam_w, adam_w(0.1f, 0.01f)).minimize(loss),
                 LEAT_SHOWN(lamb, lamb(0.1f)).minimize(loss), LEAT_SHOWN(proximal_adagrad, proximal_adagrad(0.1f)).minimize(loss),
                 LEAT_SHOWN(proximal_gradient_descent, proximal_gradient_descent(0.1f)).minimize(loss));
  const auto moves = [&](const auto& each) {
    planned_session one{each};
    one.initialize();
    one.run(fetch(each));
    require(one.value(w)(0) < 1);
  };
  std::apply([&](const auto&... each) { (moves(each), ...); }, trains);
  const auto pairs = o.compute_gradients(loss);
  const auto [gather_up, apply] = LEAT_SHOWN(typed_accumulate_gradients, accumulate_gradients<"sums">(o, pairs));
  {
    planned_session small{gather_up, apply};
    small.initialize();
    small.run(fetch(gather_up));
    small.run(fetch(apply));
    require(small.value(w)(0) < 1);
  }
  const auto by_halves = LEAT_SHOWN(typed_apply_gradients, o.apply_gradients(with_variable(slope, w)));
  const auto set = LEAT_SHOWN(typed_assign, assign(n, 7_c));
  const auto add = LEAT_SHOWN(typed_assign_add, assign_add(n, 1_c));
  const auto subtract = LEAT_SHOWN(typed_assign_sub, assign_sub(n, 2_c));
  const auto later = LEAT_SHOWN(typed_after, after(n, add));
  const auto same = LEAT_SHOWN(typed_identity, identity(w));
  const auto steps = LEAT_SHOWN(typed_global_step, global_step());
  const auto decayed = LEAT_SHOWN(typed_exponential_decay, exponential_decay(0.1f, steps, 1000.0f, 0.9f));
  const auto counted = LEAT_SHOWN(typed_counted, adam(0.1f).minimize(loss, steps));
  const auto together = LEAT_SHOWN(typed_group, group(train, add));
  const auto average = LEAT_SHOWN(typed_moving_average, moving_average<"mean">(loss, 0.99f));
  planned_session s{slope, still, constants, filled, train, by_halves, set,      add,     subtract, later,
                    same,  zero,  drawn,     glorot, rate,  decayed,   counted, together, average.value, average.update};
  LEAT_SHOWN(typed_initialize, s.initialize());
  LEAT_SHOWN(typed_initialize_some, s.initialize(w, n));
  require(LEAT_SHOWN(typed_is_initialized, s.is_initialized(w)));
  require_all(LEAT_SHOWN(typed_run, s.run(fetch(slope, still, constants))), here(), numbers{2, 2}, numbers{1, 1}, numbers{1});
  require_all(s.run(fetch(filled, same, decayed, rate)), here(), numbers(6, 0), numbers{1, 1}, numbers{0.1}, numbers{0.1});
  s.run(fetch(train));
  require_close(numbers_of_array(LEAT_SHOWN(typed_value, s.value(w))), {0.8, 0.8}, here());
  const std::vector<float> array{1, 2};
  LEAT_SHOWN(typed_assign_in_session, s.assign(w, array));
  s.run(fetch(by_halves));
  require_close(numbers_of_array(s.value(w)), {0.8, 1.6}, here());
  require_all(s.run(fetch(set)), here(), numbers{7});
  require_all(s.run(fetch(later)), here(), numbers{8});
  require_all(s.run(fetch(subtract)), here(), numbers{6});
  s.run(fetch(counted));
  s.run(fetch(together));
  require(s.value(steps) == 1);
  s.run(fetch(average.update));
  auto step = LEAT_SHOWN(typed_prepare, s.prepare(fetch(slope)));
  step();
}

void calls() {
  const auto x = placeholder<"x", float, "n">();
  const auto y = reduce_max(x);
  const std::vector<float> xs{3, 5, 4};
  require(LEAT_SHOWN_TYPE(typed_element, decltype(y)::element) == 0.0f);
  require(LEAT_SHOWN(typed_rank, y.rank) == 0);
  require(LEAT_SHOWN(typed_evaluate, evaluate(y, x = xs)) == 5);
  const auto a = reduce_sum(x);
  const auto b = reduce_min(x);
  const auto told = LEAT_SHOWN(typed_print, print<"a, b: ">(y, a, b));
  std::ostringstream text;
  {
    LEAT_SHOWN_STATEMENTS(typed_session, session s{y, told};)
    const auto [most] = LEAT_SHOWN(typed_run_fed, s.run(fetch(y), x = xs));
    require(most == 5);
    run_trace trace;
    LEAT_SHOWN(typed_run_traced, s.run_traced(trace, fetch(y), x = xs));
    require(trace.by_node().size() > 0);
    const print_log log(text);
    s.run(fetch(told), x = xs);
  }
  require(text.str().starts_with("a, b: "));
  const auto f = [](auto v) { return reduce_sum(square(v)); };
  const float by_evaluated = LEAT_SHOWN(typed_evaluated, evaluated(f))(2.0f);
  require(by_evaluated == 4);
  const float by_gradient_of = LEAT_SHOWN(typed_gradient_of, gradient_of(f))(2.0f);
  require(by_gradient_of == 4);
  graph g;
  const auto scope = g.as_default();
  LEAT_SHOWN(typed_to_graph, to_graph(y));
  require(!get_operations(g).empty());
}

}  // namespace

void typed() {
  operators();
  arrangements();
  network_functions();
  losses_of();
  training();
  calls();
}

}  // namespace from_tensorflow
