// Operators in every way that a session has to run them: fused, node by node, in parts beside a random number, with shapes known to the
// graph or to the run alone. All give TensorFlow's answer, or all refuse.

#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/ops/known.hpp>

#include <cmath>
#include <limits>

using namespace leat;

namespace {

constexpr float no_number = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();

template <class T>
tensor_value given_array(std::vector<std::int64_t> dims, const std::vector<T>& elements) {
  shape s;
  for (const auto d : dims) s.push(d);
  tensor_value v(dtype_of<T>, s);
  std::copy(elements.begin(), elements.end(), v.values<T>().begin());
  return v;
}
std::string described(const tensor_value& v) { return shape_text(v.extent()) + " " + summary_text(v, 100); }
bool is_about(const tensor_value& v, const tensor_value& wanted) {
  if (v.type() != wanted.type() || !(v.extent() == wanted.extent())) return false;
  return with_dtype(v.type(), [&]<class T>(T) {
    for (std::int64_t i = 0; i < v.elements(); ++i) {
      const double a = static_cast<double>(v.values<T>()[static_cast<std::size_t>(i)]);
      const double b = static_cast<double>(wanted.values<T>()[static_cast<std::size_t>(i)]);
      if (!(a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(b)))) return false;
    }
    return true;
  });
}

// The results of a node in each way; `make` gives the node, of what is fed.
template <class Make>
void check_each_way(const std::vector<tensor_value>& fed, Make make, const std::vector<tensor_value>& wanted) {
  for (const bool knows_shapes : {true, false}) {
    for (const bool fuse : {true, false})
      for (const bool beside : {false, true}) {
        CAPTURE(knows_shapes);
        CAPTURE(fuse);
        CAPTURE(beside);
        std::string problem;
        try {
          graph g;
          const auto scope = g.as_default();
          std::vector<output> in;
          std::map<std::string, tensor_value> feeds;
          for (const tensor_value& v : fed) {
            in.push_back(placeholder(v.type(), knows_shapes ? shape_value(v.extent()) : unknown_shape));
            feeds.emplace(in.back().name(), v);
          }
          std::vector<output> fetches = make(g, in);
          const std::size_t results = fetches.size();
          if (beside) fetches.push_back(random_normal_of({3}));
          graph_session s(g, {.fuse = fuse});
          const auto got = s.run(fetches, feeds);
          REQUIRE(results == std::max<std::size_t>(wanted.size(), 1));
          for (std::size_t k = 0; k < wanted.size(); ++k)
            CHECK_MESSAGE(is_about(got[k], wanted[k]), "result ", k, ": ", described(got[k]), " instead of ", described(wanted[k]));
        } catch (const invalid_argument& e) {
          problem = e.what();
        }
        CHECK_MESSAGE(problem.empty() == !wanted.empty(), problem);
      }
  }
}
std::vector<output> both_results(const output& loss) { return loss.operation().outputs(); }

void check_dense(std::vector<std::int64_t> of_logits, const std::vector<float>& logits, std::vector<std::int64_t> of_labels,
                 const std::vector<float>& labels, const std::vector<tensor_value>& wanted) {
  const auto make = [](graph& g, const std::vector<output>& in) {
    return both_results(g.named().build(g, info_of<softmax_cross_entropy_op>, in, {}, {}));
  };
  check_each_way({given_array(std::move(of_logits), logits), given_array(std::move(of_labels), labels)}, make, wanted);
}
void check_sparse(std::vector<std::int64_t> of_logits, const std::vector<float>& logits, std::vector<std::int64_t> of_labels,
                  const std::vector<std::int32_t>& labels, const std::vector<tensor_value>& wanted) {
  const auto make = [](graph& g, const std::vector<output>& in) {
    return both_results(g.named().build(g, info_of<sparse_softmax_cross_entropy_op>, in, {}, {}));
  };
  check_each_way({given_array(std::move(of_logits), logits), given_array(std::move(of_labels), labels)}, make, wanted);
}
using floats = std::vector<float>;

}  // namespace

TEST_CASE("cross entropies of distributions, with infinities, without classes, broadcast") {
  const floats certain{1, 0, 0};
  const auto loss = [](floats v) { return given_array({static_cast<std::int64_t>(v.size())}, v); };
  check_dense({1, 3}, {1, -infinite, 2}, {1, 3}, certain,
              {loss({no_number}), given_array<float>({1, 3}, {-0.7310586f, 0, 0.7310586f})});  // 0 times infinity
  check_dense({1, 3}, {1, -infinite, 2}, {1, 3}, {0, 1, 0}, {loss({infinite}), given_array<float>({1, 3}, {0.26894143f, -1, 0.7310586f})});
  check_dense({1, 3}, {1, -infinite, 2}, {1, 3}, {0.5f, 0.5f, 0},
              {loss({infinite}), given_array<float>({1, 3}, {-0.23105857f, -0.5f, 0.7310586f})});
  const tensor_value nothing_known = given_array<float>({1, 3}, {no_number, no_number, no_number});
  for (const floats& logits :
       {floats{1, infinite, 2}, floats{no_number, 1, 2}, floats{1, no_number, 2}, floats{-infinite, -infinite, -infinite}})
    check_dense({1, 3}, logits, {1, 3}, certain, {loss({no_number}), nothing_known});
  check_dense({1, 3}, {3e38f, -3e38f, 0}, {1, 3}, {0, 1, 0}, {loss({infinite}), given_array<float>({1, 3}, {1, -1, 0})});
  check_dense({1, 3}, {1, 0, 2}, {1, 3}, {infinite, 0, 0},
              {loss({infinite}), given_array<float>({1, 3}, {-infinite, 0.09003057f, 0.66524094f})});
  check_dense({0, 3}, {}, {0, 3}, {}, {loss({}), given_array<float>({0, 3}, {})});
  check_dense({2, 0}, {}, {2, 0}, {}, {loss({0, 0}), given_array<float>({2, 0}, {})});
  // labels, or logits, for all rows; of one class for all of the others
  const tensor_value rows = given_array<float>({2, 2}, {0.26894143f, -0.26894143f, 0.26894143f, -0.26894143f});
  check_dense({2, 2}, {1, 2, 3, 4}, {1, 2}, {0, 1}, {loss({0.31326166f, 0.31326166f}), rows});
  check_dense({2, 2}, {1, 2, 3, 4}, {2}, {0, 1}, {loss({0.31326166f, 0.31326166f}), rows});
  check_dense({2}, {1, 2}, {2, 2}, {0, 1, 1, 0},
              {loss({0.31326166f, 1.3132616f}), given_array<float>({2, 2}, {0.26894143f, -0.26894143f, -0.7310586f, 0.7310586f})});
  check_dense({2, 1}, {1, 2}, {2, 2}, {0, 1, 1, 0},
              {loss({0.6931472f, 0.6931472f}), given_array<float>({2, 2}, {0.5f, -0.5f, -0.5f, 0.5f})});
  check_dense({2, 2}, {1, 2, 3, 4}, {2, 1}, {1, 0.5f},
              {loss({1.6265233f, 0.81326163f}), given_array<float>({2, 2}, {-0.7310586f, -0.26894143f, -0.23105857f, 0.2310586f})});
  // matrices alone
  check_dense({3}, {1, 0, 2}, {3}, certain, {});
  check_dense({1, 1, 3}, {1, 0, 2}, {1, 1, 3}, certain, {});
  check_dense({1, 3}, {1, 0, 2}, {1, 1, 3}, certain, {});
  check_dense({}, {1}, {}, {1}, {});
  check_dense({2, 2}, {1, 2, 3, 4}, {1, 3}, certain, {});
}

TEST_CASE("cross entropies of classes, with infinities, of rank 2 alone, with at least one class") {
  check_sparse({1, 3}, {1, -infinite, 2}, {1}, {0},
               {given_array<float>({1}, {1.3132616f}), given_array<float>({1, 3}, {-0.7310586f, 0, 0.7310586f})});
  check_sparse({1, 3}, {1, -infinite, 2}, {1}, {1},
               {given_array<float>({1}, {infinite}), given_array<float>({1, 3}, {0.26894143f, -1, 0.7310586f})});
  const std::vector<tensor_value> nothing_known{given_array<float>({1}, {no_number}),
                                                given_array<float>({1, 3}, {no_number, no_number, no_number})};
  for (const floats& logits : {floats{1, infinite, 2}, floats{no_number, 1, 2}, floats{-infinite, -infinite, -infinite}})
    check_sparse({1, 3}, logits, {1}, {0}, nothing_known);
  check_sparse({0, 3}, {}, {0}, {}, {given_array<float>({0}, {}), given_array<float>({0, 3}, {})});
  check_sparse({2, 0}, {}, {2}, {0, 0}, {});
  check_sparse({0, 0}, {}, {0}, {}, {});
  check_sparse({3}, {1, 0, 2}, {}, {0}, {});
  check_sparse({1, 1, 3}, {1, 0, 2}, {1, 1}, {0}, {});
  check_sparse({1, 3}, {1, 0, 2}, {1, 1}, {0}, {});
  check_sparse({1, 3}, {1, 0, 2}, {2}, {0, 0}, {});
  check_sparse({1, 3}, {1, 0, 2}, {1}, {3}, {});
  check_sparse({1, 3}, {1, 0, 2}, {1}, {-1}, {});
}

TEST_CASE("the gradient of a cross entropy is summed over what was broadcast") {
  const auto slopes_of = [](graph& g, const std::vector<output>& in) {
    const output loss = g.named().build(g, info_of<softmax_cross_entropy_op>, in, {}, {});
    return gradients({loss}, in);
  };
  graph g;
  const auto scope = g.as_default();
  const output logits = constant({{1.0f, 2.0f}}), labels = constant({{0.0f, 1.0f}, {1.0f, 0.0f}});
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    const auto got = s.run(slopes_of(g, {logits, labels}), {});
    CHECK(is_about(got[0], given_array<float>({1, 2}, {-0.46211716f, 0.46211716f})));
    CHECK(is_about(got[1], given_array<float>({2, 2}, {1.3132616f, 0.31326166f, 1.3132616f, 0.31326166f})));
  }
}

TEST_CASE("functions make matrices of logits of other ranks") {
  const auto make = [](graph&, const std::vector<output>& in) {
    return std::vector<output>{softmax_cross_entropy_with_logits(in[1], in[0]), sparse_softmax_cross_entropy_with_logits(in[2], in[0])};
  };
  check_each_way({given_array<float>({3}, {1, 0, 2}), given_array<float>({3}, {1, 0, 0}), given_array<std::int32_t>({}, {0})}, make,
                 {given_array<float>({}, {1.4076059f}), given_array<float>({}, {1.4076059f})});
  check_each_way(
      {given_array<float>({1, 1, 3}, {1, 0, 2}), given_array<float>({1, 1, 3}, {1, 0, 0}), given_array<std::int64_t>({1, 1}, {0})}, make,
      {given_array<float>({1, 1}, {1.4076059f}), given_array<float>({1, 1}, {1.4076059f})});
}

TEST_CASE("typed cross entropies of other ranks than 2 become operators of matrices") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder<"x", float, "batch", 2, 3>();
  const auto z = placeholder<"z", float, "batch", 2, 3>();
  const auto k = placeholder<"k", std::int32_t, "batch", 2>();
  const auto row = placeholder<"row", float, 3>();
  const auto certain = placeholder<"certain", float, 3>();
  const auto dense = softmax_cross_entropy_with_logits(z, x);
  const auto [slope] = gradients(dense, x);
  const auto made = to_graph(dense, sparse_softmax_cross_entropy_with_logits(k, x), softmax_cross_entropy_with_logits(certain, row), slope);
  for (int i = 0; i < g.size(); ++i) {
    const graph_operation op(g, i);
    if (op.type().find("CrossEntropy") != op.type().npos) CHECK(op.inputs()[0].extent().rank == 2);
  }
  graph_session s(g);
  const std::map<std::string, tensor_value> feeds{{"x:0", given_array<float>({1, 2, 3}, {1, -infinite, 2, 1, 0, 2})},
                                                  {"z:0", given_array<float>({1, 2, 3}, {0, 1, 0, 1, 0, 0})},
                                                  {"k:0", given_array<std::int32_t>({1, 2}, {0, 0})},
                                                  {"row:0", given_array<float>({3}, {1, 0, 2})},
                                                  {"certain:0", given_array<float>({3}, {1, 0, 0})}};
  const auto got = s.run(made, feeds);
  CHECK(is_about(got[0], given_array<float>({1, 2}, {infinite, 1.4076059f})));
  CHECK(is_about(got[1], given_array<float>({1, 2}, {1.3132616f, 1.4076059f})));
  CHECK(is_about(got[2], given_array<float>({}, {1.4076059f})));
  CHECK(is_about(got[3], given_array<float>({1, 2, 3}, {0.26894143f, -1, 0.7310586f, -0.75527152f, 0.09003057f, 0.66524094f})));
}

TEST_CASE("one-hot along every axis") {
  const auto indices_of = [](int rank) {
    std::vector<std::int64_t> dims{2, 3, 2, 1};
    dims.resize(static_cast<std::size_t>(rank));
    std::int64_t count = 1;
    for (const auto d : dims) count *= d;
    std::vector<std::int32_t> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<std::int32_t>(i * 5 % 6 - 1));  // -1 to 4, of depth 3
    return given_array(dims, values);
  };
  for (int rank = 0; rank <= 4; ++rank)
    for (int axis = -2; axis <= rank + 1; ++axis) {
      CAPTURE(rank);
      CAPTURE(axis);
      const tensor_value indices = indices_of(rank);
      const auto make = [&](graph&, const std::vector<output>& in) { return std::vector<output>{one_hot(in[0], 3, 2.5f, -1.0f, axis)}; };
      if (axis < -1 || axis > rank) {
        check_each_way({indices}, make, {});
        continue;
      }
      const int at = axis == -1 ? rank : axis;
      shape extent;
      std::int64_t inner = 1;
      for (int i = 0; i < rank; ++i) {
        if (i == at) extent.push(3);
        if (i >= at) inner *= indices.extent()[i];
        extent.push(indices.extent()[i]);
      }
      if (at == rank) extent.push(3);
      tensor_value wanted(dtype::float32, extent);
      const auto from = indices.values<std::int32_t>();
      const auto to = wanted.values<float>();
      for (std::size_t i = 0; i < to.size(); ++i) {
        const auto n = static_cast<std::size_t>(inner);
        const auto k = static_cast<std::int32_t>(i / n % 3);
        to[i] = from[i / (3 * n) * n + i % n] == k ? 2.5f : -1.0f;
      }
      check_each_way({indices}, make, {wanted});
    }
}

TEST_CASE_TEMPLATE("one-hot of every dtype, in front", T, float, double, std::int32_t, std::int64_t, std::uint8_t, bool) {
  const auto fed = given_array<std::int64_t>({2}, {2, std::int64_t{1} << 40});
  tensor_value wanted(dtype_of<T>, shape{2, {3, 2}});
  for (std::size_t i = 0; i < 6; ++i) wanted.values<T>()[i] = i == 4 ? T(1) : T(0);
  check_each_way({fed}, [](graph&, const std::vector<output>& in) { return std::vector<output>{one_hot(in[0], 3, T(1), T(0), 0)}; },
                 {wanted});
}

TEST_CASE("one-hot whose depth and values only a run knows") {
  const auto make = [](graph& g, const std::vector<output>& in) {
    const std::int64_t numbers[]{0, static_cast<std::int64_t>(dtype::float64), 0, 0, 0};
    const number_argument rest[]{in[1], in[2], in[3]};
    return std::vector<output>{g.named().build(g, info_of<one_hot_op>, {&in[0], 1}, numbers, "y", rest)};
  };
  check_each_way({given_array<std::int32_t>({2}, {1, 7}), given_array<std::int32_t>({}, {3}), given_array<double>({}, {0.1}),
                  given_array<double>({}, {-0.2})},
                 make, {given_array<double>({3, 2}, {-0.2, -0.2, 0.1, -0.2, -0.2, -0.2})});
}

TEST_CASE("what is formed of rows by segment, and its gradients, with ties, zeros and segments without rows") {
  const floats x{1, 5, 5, 0, 2, 0, 0, 3};
  const std::vector<std::int32_t> ids{0, 0, 0, 1, 1, 2, 2, 4};
  const auto check = [&](auto make, const floats& values, const floats& slopes, const std::vector<std::int32_t>& at) {
    const auto both = [&](graph&, const std::vector<output>& in) {
      const output y = make(in);
      if (!in[0].extent().has_rank() && y.operation().type().starts_with("Unsorted"))  // whose gradient by the class asks for ranks
        return std::vector<output>{y, constant(tensor_literal(slopes.empty() ? floats(8) : slopes))};
      const output w = constant(tensor_literal({1.0f, 2.0f, 3.0f, 0.0f, 4.0f}));
      return std::vector<output>{y, gradients({reduce_sum(y * w, all_axes)}, {in[0]})[0]};
    };
    const auto wanted = values.empty() ? std::vector<tensor_value>{} : std::vector<tensor_value>{given_array({5}, values), given_array({8}, slopes)};
    check_each_way({given_array({8}, x), given_array({8}, at)}, both, wanted);
  };
  const auto count = std::int32_t{5};
  constexpr float least = std::numeric_limits<float>::lowest(), most = std::numeric_limits<float>::max();
  check([](const auto& in) { return segment_sum(in[0], in[1]); }, {11, 2, 0, 0, 3}, {1, 1, 1, 2, 2, 3, 3, 4}, ids);
  check([](const auto& in) { return segment_mean(in[0], in[1]); }, {11.0f / 3, 1, 0, 0, 3},
        {1.0f / 3, 1.0f / 3, 1.0f / 3, 1, 1, 1.5f, 1.5f, 4}, ids);
  check([](const auto& in) { return segment_max(in[0], in[1]); }, {5, 2, 0, 0, 3}, {0, 0.5f, 0.5f, 0, 2, 1.5f, 1.5f, 4}, ids);
  check([](const auto& in) { return segment_min(in[0], in[1]); }, {1, 0, 0, 0, 3}, {1, 0, 0, 2, 0, 1.5f, 1.5f, 4}, ids);
  check([](const auto& in) { return segment_prod(in[0], in[1]); }, {25, 0, 0, 1, 3}, {25, 5, 5, 4, 0, 0, 0, 4}, ids);
  check([&](const auto& in) { return unsorted_segment_max(in[0], in[1], count); }, {5, 2, 0, least, 3}, {0, 0.5f, 0.5f, 0, 2, 1.5f, 1.5f, 4}, ids);
  check([&](const auto& in) { return unsorted_segment_min(in[0], in[1], count); }, {1, 0, 0, most, 3}, {1, 0, 0, 2, 0, 1.5f, 1.5f, 4}, ids);
  check([&](const auto& in) { return unsorted_segment_prod(in[0], in[1], count); }, {25, 0, 0, 1, 3}, {25, 5, 5, 4, 0, 0, 0, 4}, ids);
  check([](const auto& in) { return segment_sum(in[0], in[1]); }, {}, {}, {0, 1, 0, 1, 1, 2, 2, 4});
  check([](const auto& in) { return segment_max(in[0], in[1]); }, {}, {}, {-1, 1, 1, 1, 1, 2, 2, 4});
  check([&](const auto& in) { return unsorted_segment_max(in[0], in[1], count); }, {}, {}, {0, 0, 0, 1, 1, 2, 2, 5});
}

TEST_CASE("equal steps, Euclidean norms, and elements up to each in every way") {
  const auto numbers = given_array<float>({2, 3}, {3, 4, 1, 0, 2, 5});
  check_each_way({numbers}, [](graph&, const std::vector<output>& in) {
    return std::vector<output>{cumsum(in[0], 1, {.exclusive = true}), cumprod(in[0], 0, {.reverse = true}), reduce_euclidean_norm(in[0], {0})};
  }, {given_array<float>({2, 3}, {0, 3, 7, 0, 0, 2}), given_array<float>({2, 3}, {0, 8, 5, 0, 2, 5}),
      given_array<float>({3}, {3, 4.4721360f, 5.0990195f})});
  check_each_way({given_array<float>({}, {1}), given_array<float>({}, {2})}, [](graph&, const std::vector<output>& in) {
    return std::vector<output>{lin_space(in[0], in[1], 5), lin_space(in[0], in[1], 1)};
  }, {given_array<float>({5}, {1, 1.25f, 1.5f, 1.75f, 2}), given_array<float>({1}, {1})});
  check_each_way({given_array<std::int32_t>({3}, {12, -7, 1}), given_array<std::int32_t>({3}, {10, 3, 40})}, [](graph&, const std::vector<output>& in) {
    return std::vector<output>{bitwise_and(in[0], in[1]), bitwise_or(in[0], in[1]), bitwise_xor(in[0], in[1]), invert(in[0], {}),
                               left_shift(in[0], in[1]), right_shift(in[0], in[1])};
  }, {given_array<std::int32_t>({3}, {8, 1, 0}), given_array<std::int32_t>({3}, {14, -5, 41}), given_array<std::int32_t>({3}, {6, -6, 41}),
      given_array<std::int32_t>({3}, {-13, 6, -2}), given_array<std::int32_t>({3}, {12288, -56, std::numeric_limits<std::int32_t>::min()}),
      given_array<std::int32_t>({3}, {0, -1, 0})});
}
