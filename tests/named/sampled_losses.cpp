// Losses of some of many classes: nodes, values and gradients of TensorFlow 2.21's `tf.compat.v1.nn`, and training.

#include <leat/graphs.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

namespace sampled_loss_tests {

using namespace leat;
using namespace node_results;

namespace {

/// Name, type and inputs of each node of `nce_loss` of labels of int32, without accidental hits, as TensorFlow writes them.
constexpr std::string_view nodes_of_loss = R"(
w Placeholder
b Placeholder
labels Placeholder
x Placeholder
nce_loss/Cast Cast labels
nce_loss/Reshape/shape Const
nce_loss/Reshape Reshape nce_loss/Cast nce_loss/Reshape/shape
nce_loss/LogUniformCandidateSampler LogUniformCandidateSampler nce_loss/Cast
nce_loss/StopGradient StopGradient nce_loss/LogUniformCandidateSampler
nce_loss/StopGradient_1 StopGradient nce_loss/LogUniformCandidateSampler:1
nce_loss/StopGradient_2 StopGradient nce_loss/LogUniformCandidateSampler:2
nce_loss/concat/axis Const
nce_loss/concat ConcatV2 nce_loss/Reshape nce_loss/StopGradient nce_loss/concat/axis
nce_loss/embedding_lookup/axis Const
nce_loss/embedding_lookup GatherV2 w nce_loss/concat nce_loss/embedding_lookup/axis
nce_loss/embedding_lookup/Identity Identity nce_loss/embedding_lookup
nce_loss/Shape Const
nce_loss/strided_slice/stack Const
nce_loss/strided_slice/stack_1 Const
nce_loss/strided_slice/stack_2 Const
nce_loss/strided_slice StridedSlice nce_loss/Shape nce_loss/strided_slice/stack nce_loss/strided_slice/stack_1 nce_loss/strided_slice/stack_2
nce_loss/stack/1 Const
nce_loss/stack Pack nce_loss/strided_slice nce_loss/stack/1
nce_loss/Slice/begin Const
nce_loss/Slice Slice nce_loss/embedding_lookup/Identity nce_loss/Slice/begin nce_loss/stack
nce_loss/Shape_1 Const
nce_loss/strided_slice_1/stack Const
nce_loss/strided_slice_1/stack_1 Const
nce_loss/strided_slice_1/stack_2 Const
nce_loss/strided_slice_1 StridedSlice nce_loss/Shape_1 nce_loss/strided_slice_1/stack nce_loss/strided_slice_1/stack_1 nce_loss/strided_slice_1/stack_2
nce_loss/stack_1/1 Const
nce_loss/stack_1 Pack nce_loss/strided_slice_1 nce_loss/stack_1/1
nce_loss/Slice_1/size Const
nce_loss/Slice_1 Slice nce_loss/embedding_lookup/Identity nce_loss/stack_1 nce_loss/Slice_1/size
nce_loss/MatMul MatMul x nce_loss/Slice_1
nce_loss/embedding_lookup_1/axis Const
nce_loss/embedding_lookup_1 GatherV2 b nce_loss/concat nce_loss/embedding_lookup_1/axis
nce_loss/embedding_lookup_1/Identity Identity nce_loss/embedding_lookup_1
nce_loss/Shape_2 Const
nce_loss/Slice_2/begin Const
nce_loss/Slice_2 Slice nce_loss/embedding_lookup_1/Identity nce_loss/Slice_2/begin nce_loss/Shape_2
nce_loss/Shape_3 Const
nce_loss/Slice_3/size Const
nce_loss/Slice_3 Slice nce_loss/embedding_lookup_1/Identity nce_loss/Shape_3 nce_loss/Slice_3/size
nce_loss/Shape_4 Const
nce_loss/strided_slice_2/stack Const
nce_loss/strided_slice_2/stack_1 Const
nce_loss/strided_slice_2/stack_2 Const
nce_loss/strided_slice_2 StridedSlice nce_loss/Shape_4 nce_loss/strided_slice_2/stack nce_loss/strided_slice_2/stack_1 nce_loss/strided_slice_2/stack_2
nce_loss/concat_1/values_0 Const
nce_loss/concat_1/axis Const
nce_loss/concat_1 ConcatV2 nce_loss/concat_1/values_0 nce_loss/strided_slice_2 nce_loss/concat_1/axis
nce_loss/ExpandDims/dim Const
nce_loss/ExpandDims ExpandDims x nce_loss/ExpandDims/dim
nce_loss/Reshape_1 Reshape nce_loss/Slice nce_loss/concat_1
nce_loss/Mul Mul nce_loss/ExpandDims nce_loss/Reshape_1
nce_loss/concat_2/values_0 Const
nce_loss/concat_2/axis Const
nce_loss/concat_2 ConcatV2 nce_loss/concat_2/values_0 nce_loss/strided_slice_2 nce_loss/concat_2/axis
nce_loss/Reshape_2 Reshape nce_loss/Mul nce_loss/concat_2
nce_loss/Shape_5 Const
nce_loss/strided_slice_3/stack Const
nce_loss/strided_slice_3/stack_1 Const
nce_loss/strided_slice_3/stack_2 Const
nce_loss/strided_slice_3 StridedSlice nce_loss/Shape_5 nce_loss/strided_slice_3/stack nce_loss/strided_slice_3/stack_1 nce_loss/strided_slice_3/stack_2
nce_loss/stack_2/1 Const
nce_loss/stack_2 Pack nce_loss/strided_slice_3 nce_loss/stack_2/1
nce_loss/ones/Const Const
nce_loss/ones Fill nce_loss/stack_2 nce_loss/ones/Const
nce_loss/MatMul_1 MatMul nce_loss/Reshape_2 nce_loss/ones
nce_loss/Reshape_3/shape Const
nce_loss/Reshape_3 Reshape nce_loss/MatMul_1 nce_loss/Reshape_3/shape
nce_loss/Reshape_4/shape Const
nce_loss/Reshape_4 Reshape nce_loss/Reshape_3 nce_loss/Reshape_4/shape
nce_loss/Reshape_5/shape Const
nce_loss/Reshape_5 Reshape nce_loss/Slice_2 nce_loss/Reshape_5/shape
nce_loss/add AddV2 nce_loss/Reshape_4 nce_loss/Reshape_5
nce_loss/add_1 AddV2 nce_loss/MatMul nce_loss/Slice_3
nce_loss/ComputeAccidentalHits ComputeAccidentalHits nce_loss/Cast nce_loss/StopGradient
nce_loss/Reshape_6/shape Const
nce_loss/Reshape_6 Reshape nce_loss/ComputeAccidentalHits nce_loss/Reshape_6/shape
nce_loss/Cast_1 Cast nce_loss/ComputeAccidentalHits:1
nce_loss/Reshape_7/shape Const
nce_loss/Reshape_7 Reshape nce_loss/Cast_1 nce_loss/Reshape_7/shape
nce_loss/sparse_indices/axis Const
nce_loss/sparse_indices ConcatV2 nce_loss/Reshape_6 nce_loss/Reshape_7 nce_loss/sparse_indices/axis
nce_loss/Shape_6 Const
nce_loss/strided_slice_4/stack Const
nce_loss/strided_slice_4/stack_1 Const
nce_loss/strided_slice_4/stack_2 Const
nce_loss/strided_slice_4 StridedSlice nce_loss/Shape_6 nce_loss/strided_slice_4/stack nce_loss/strided_slice_4/stack_1 nce_loss/strided_slice_4/stack_2
nce_loss/ExpandDims_1/input Const
nce_loss/ExpandDims_1/dim Const
nce_loss/ExpandDims_1 ExpandDims nce_loss/ExpandDims_1/input nce_loss/ExpandDims_1/dim
nce_loss/concat_3/axis Const
nce_loss/concat_3 ConcatV2 nce_loss/strided_slice_4 nce_loss/ExpandDims_1 nce_loss/concat_3/axis
nce_loss/SparseToDense/default_value Const
nce_loss/SparseToDense SparseToDense nce_loss/sparse_indices nce_loss/concat_3 nce_loss/ComputeAccidentalHits:2 nce_loss/SparseToDense/default_value
nce_loss/add_2 AddV2 nce_loss/add_1 nce_loss/SparseToDense
nce_loss/Log Log nce_loss/StopGradient_1
nce_loss/sub Sub nce_loss/add nce_loss/Log
nce_loss/Log_1 Log nce_loss/StopGradient_2
nce_loss/sub_1 Sub nce_loss/add_2 nce_loss/Log_1
nce_loss/concat_4/axis Const
nce_loss/concat_4 ConcatV2 nce_loss/sub nce_loss/sub_1 nce_loss/concat_4/axis
nce_loss/ones_like/Shape/shape_as_tensor Const
nce_loss/ones_like/Const Const
nce_loss/ones_like Fill nce_loss/ones_like/Shape/shape_as_tensor nce_loss/ones_like/Const
nce_loss/truediv/y Const
nce_loss/truediv RealDiv nce_loss/ones_like nce_loss/truediv/y
nce_loss/zeros_like Const
nce_loss/concat_5/axis Const
nce_loss/concat_5 ConcatV2 nce_loss/truediv nce_loss/zeros_like nce_loss/concat_5/axis
sampled_losses/zeros_like Const
sampled_losses/GreaterEqual GreaterEqual nce_loss/concat_4 sampled_losses/zeros_like
sampled_losses/Select Select sampled_losses/GreaterEqual nce_loss/concat_4 sampled_losses/zeros_like
sampled_losses/Neg Neg nce_loss/concat_4
sampled_losses/Select_1 Select sampled_losses/GreaterEqual sampled_losses/Neg nce_loss/concat_4
sampled_losses/mul Mul nce_loss/concat_4 nce_loss/concat_5
sampled_losses/sub Sub sampled_losses/Select sampled_losses/mul
sampled_losses/Exp Exp sampled_losses/Select_1
sampled_losses/Log1p Log1p sampled_losses/Exp
sampled_losses AddV2 sampled_losses/sub sampled_losses/Log1p
Shape Const
strided_slice/stack Const
strided_slice/stack_1 Const
strided_slice/stack_2 Const
strided_slice StridedSlice Shape strided_slice/stack strided_slice/stack_1 strided_slice/stack_2
stack/1 Const
stack Pack strided_slice stack/1
ones/Const Const
ones Fill stack ones/Const
MatMul MatMul sampled_losses ones
Reshape/shape Const
Reshape Reshape MatMul Reshape/shape
)";

std::string text_of(graph& g) {
  std::string text = "\n";
  for (const node_def& n : export_graph(g).nodes) {
    text += n.name + " " + n.op;
    for (std::string in : n.inputs) text += " " + (in.ends_with(":0") ? in.substr(0, in.size() - 2) : in);
    text += "\n";
  }
  return text;
}
std::set<std::string> lines_of(std::string_view text) {
  std::set<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// A problem of ten classes in one shard or two.
struct small_problem {
  static constexpr std::int64_t batch = 4;
  graph g;
  default_graph_scope scope = g.as_default();
  std::vector<output> weights, biases, by;
  output labels, x;
  sampled_loss_options options{.num_true = 2};

  explicit small_problem(bool is_cut) {
    const auto part = [&](int from, int to, bool is_matrix) {
      std::vector<double> list;
      for (int i = from; i < to; ++i)
        if (!is_matrix) list.push_back((i * 5 % 7 - 3) / 4.0);
        else
          for (int j = 0; j < 3; ++j) list.push_back(((i * 7 + j * 3) % 11 - 5) / 4.0);
      return constant(tensor_literal(is_matrix ? shape_value{to - from, 3} : shape_value{to - from}, list));
    };
    for (const bool is_matrix : {true, false})
      for (int k = 0; k < (is_cut ? 2 : 1); ++k)
        (is_matrix ? weights : biases).push_back(is_cut ? part(5 * k, 5 * k + 5, is_matrix) : part(0, 10, is_matrix));
    std::vector<double> rows;
    for (int i = 0; i < batch; ++i)
      for (int j = 0; j < 3; ++j) rows.push_back(((i * 5 + j * 2) % 9 - 4) / 4.0);
    x = constant(tensor_literal(shape_value{batch, 3}, rows));
    labels = constant(tensor_literal(shape_value{batch, 2}, std::vector<std::int64_t>{1, 4, 0, 9, 4, 4, 7, 2}));
    options.sampled_values = {constant(std::vector<std::int64_t>{4, 0, 8, 3, 2}),
                              constant(tensor_literal(shape_value{batch, 2}, std::vector<double>{.5, .25, .75, .125, .25, .25, .375, .5})),
                              constant(std::vector<double>{.25, .75, .125, .5, .5})};
    by = weights;
    by.insert(by.end(), biases.begin(), biases.end());
    by.push_back(x);
  }
};

}  // namespace

TEST_CASE("the nodes of a loss of some classes") {
  graph g;
  const auto scope = g.as_default();
  const auto w = placeholder(dtype::float32, {10, 3}, "w"), b = placeholder(dtype::float32, {10}, "b");
  const auto labels = placeholder(dtype::int32, {4, 2}, "labels"), x = placeholder(dtype::float32, {4, 3}, "x");
  const auto loss = nce_loss(w, b, labels, x, 5, 10, {.num_true = 2, .remove_accidental_hits = true});
  CHECK(loss.extent() == shape(1, {4}));
  const auto is = lines_of(text_of(g)), wanted = lines_of(nodes_of_loss);
  for (const auto& line : wanted) CHECK_MESSAGE(is.contains(line), "lacks " << line);
  for (const auto& line : is) CHECK_MESSAGE(wanted.contains(line), "has " << line);
}

TEST_CASE("losses of some classes, and their gradients") {
  struct answer {
    bool is_cut, is_softmax, removes;
    partition_strategy strategy;
    number_list losses;
    double size, moment;  // of the gradients: the sum of their magnitudes, and their sum weighted by position
  };
  const auto mod = partition_strategy::mod, div = partition_strategy::div;
  const number_list removed{3.22279534578, 3.9633064934, 2.42698617235, 3.29601859609};
  const number_list noisy{10.0619390098, 9.23473832964, 10.114362401, 9.032815522};
  for (const answer& a : {answer{false, true, true, mod, removed, 28.0511825914, 87.7911376288},
                          {false, true, false, mod, {3.29699105378, 3.96707972507, 2.51160537096, 3.30971712657}, 27.3527479048, 87.521361345},
                          {false, false, true, mod, {8.45250109741, 9.01428490023, 8.45461589009, 8.36769077518}, 32.8760381119, 235.167192545},
                          {false, false, false, mod, noisy, 30.2699656494, 229.692101716},
                          {true, true, true, mod, {1.45476083431, 4.67705042354, 1.33805612425, 3.14301385869}, 23.8333017841, 147.324888039},
                          {true, true, true, div, removed, 28.0511825914, 87.7911376288},
                          {true, false, true, mod, {6.98572722228, 11.4263283033, 7.04658294859, 9.06626486034}, 41.2319485173, 382.48732306},
                          {true, false, false, div, noisy, 30.2699656494, 229.692101716}}) {
    small_problem p(a.is_cut);
    p.options.remove_accidental_hits = a.removes;
    p.options.strategy = a.strategy;
    const auto loss = a.is_softmax ? sampled_softmax_loss(p.weights, p.biases, p.labels, p.x, 5, 10, p.options)
                                   : nce_loss(p.weights, p.biases, p.labels, p.x, 5, 10, p.options);
    auto all = gradients({reduce_sum(loss * constant(std::vector<double>{1, 2, -1, 0.5}), all_axes)}, p.by);
    all.push_back(loss);
    graph_session s(p.g);
    auto values = s.run(all);
    check_near(list_of(values.back()), a.losses, 1e-10);
    values.pop_back();
    double size = 0, moment = 0, place = 0;
    for (const auto& v : values)
      for (const double slope : list_of(v)) size += std::abs(slope), moment += slope * ++place;
    CHECK(size == doctest::Approx(a.size).epsilon(1e-9));
    CHECK(moment == doctest::Approx(a.moment).epsilon(1e-9));
  }
}

TEST_CASE("training with some of many classes") {
  for (const bool is_softmax : {true, false}) {
    graph g;
    const auto scope = g.as_default();
    constexpr int classes = 40;
    const auto w = get_variable("w", {classes, 8}, {.initializer = random_uniform(-0.1f, 0.1f, 3)});
    const auto b = get_variable("b", {classes}, {.initializer = zeros});
    const auto embedding = get_variable("e", {classes, 8}, {.initializer = random_uniform(-1.0f, 1.0f, 4)});
    const auto words = placeholder(dtype::int64, {-1}, "words");
    const auto labels = expand_dims(floor_mod(words + std::int64_t{7}, std::int64_t{classes}), 1);
    const auto x = embedding_lookup(embedding, words);
    const auto loss = reduce_mean(is_softmax ? sampled_softmax_loss(w, b, labels, x, 12, classes, {.seed = 5})
                                             : nce_loss(w, b, labels, x, 12, classes, {.remove_accidental_hits = true}),
                                  all_axes);
    const auto step = adam(0.05f).minimize(loss);
    const auto logits = matmul(x, w, {.transpose_b = true}) + b;
    const auto right = reduce_mean(cast(equal(argmax(logits, 1), squeeze(labels, {1})), dtype::float32), all_axes);
    graph_session s(g);
    s.run(global_variables_initializer());
    std::vector<std::int64_t> all(classes);
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<std::int64_t>(k);
    for (int k = 0; k < 300; ++k) s.run(step, {{words, all}});
    CHECK(s.run(right, {{words, all}}).as<float>() > 0.9f);
  }
}

TEST_CASE("samplers as functions, and what the losses refuse") {
  graph g;
  const auto scope = g.as_default();
  const auto classes = constant(tensor_literal(shape_value{2, 1}, std::vector<std::int64_t>{1, 3}));
  graph_session s(g);
  const auto check = [&](const sampled_classes& made, std::int64_t count) {
    const auto values = s.run({made.sampled_candidates, made.true_expected_count, made.sampled_expected_count});
    CHECK(values[0].elements() == count);
    CHECK(values[1].extent() == shape(2, {2, 1}));
    CHECK(values[2].elements() == count);
  };
  check(uniform_candidate_sampler(classes, 1, 4, true, 10), 4);
  check(log_uniform_candidate_sampler(classes, 1, 4, true, 10, 7), 4);
  check(learned_unigram_candidate_sampler(classes, 1, 4, false, 10), 4);
  check(fixed_unigram_candidate_sampler(classes, 1, 3, true, 4, {.unigrams = {1, 2, 3, 4}, .distortion = 0.75}), 3);
  check(all_candidate_sampler(classes, 1, 4, true), 4);
  const auto hits = compute_accidental_hits(classes, constant(std::vector<std::int64_t>{5, 3, 1}), 1);
  CHECK(list_of(s.run({hits.ids})[0]) == number_list{2, 1});
  const auto w = placeholder(dtype::float32, {10, 3}, "w"), b = placeholder(dtype::float32, {10}, "b");
  const auto labels = placeholder(dtype::int64, {4, 1}, "labels"), x = placeholder(dtype::float32, {4, 3}, "x");
  const auto says = [](auto call, std::string_view words) {
    const std::string problem = leat_test::message_of<invalid_argument>(call);
    CHECK_MESSAGE(leat_test::says(problem, words), problem);
  };
  says([&] { nce_loss(std::vector<output>{}, {b}, labels, x, 5, 10); }, "nce_loss: needs weights and biases");
  says([&] { nce_loss(w, b, labels, x, 0, 10); }, "num_sampled and num_true are at least 1");
  says([&] { sampled_softmax_loss(w, b, labels, x, 5, 10, {.num_true = 0}); }, "num_sampled and num_true are at least 1");
  says([&] { sampled_softmax_loss(w, b, labels, labels, 5, 10); }, "inputs are floating point");
  says([&] { sampled_softmax_loss(w, b, labels, x, 5, 0); }, "range_max");
}

}  // namespace sampled_loss_tests
