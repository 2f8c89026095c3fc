#include <leat/named/functions/embedding.hpp>

#include "support/recorded_items.hpp"
#include "support/reference_json.hpp"

#include <leat/graph/known_operators.hpp>
#include <leat/named/control/control.hpp>
#include <leat/named/functions/nn.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/gradients/gradient.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/graph/operator_definition.hpp>
#include <leat/named/variables/uninitialized.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include <functional>
#include <map>
#include <string>

using namespace leat;
using leat_test::reference_json;
using nlohmann::json;

// naming.json's default names: what one call of a function without a name makes in an empty graph.

namespace {

using call = std::function<std::string(const output&)>;

std::map<std::string, call> calls() {
  std::map<std::string, call> all;
  const auto tensor = [&](const std::string& api, std::function<output(const output&)> f) {
    all[api] = [f](const output& x) { return f(x).name(); };
  };
  using t = const output&;
  tensor("constant", [](t) { return constant(1.0f); });
  tensor("placeholder", [](t) { return placeholder(dtype::float32); });
  tensor("zeros", [](t) { return zeros_of({2}); });
  tensor("ones", [](t) { return ones_of({2}); });
  tensor("fill", [](t) { return fill({2}, 1.0f); });
  tensor("range", [](t) { return range(0, 3); });
  tensor("random_normal", [](t) { return random_normal_of({2}); });
  tensor("random_uniform", [](t) { return random_uniform_of({2}); });
  tensor("truncated_normal", [](t) { return truncated_normal_of({2}); });
  tensor("identity", [](t x) { return identity(x); });
  tensor("add", [](t x) { return add(x, x); });
  tensor("subtract", [](t x) { return subtract(x, x); });
  tensor("multiply", [](t x) { return multiply(x, x); });
  tensor("divide", [](t x) { return divide(x, x); });
  tensor("matmul", [](t x) { return matmul(x, x); });
  tensor("x+x", [](t x) { return x + x; });
  tensor("x-x", [](t x) { return x - x; });
  tensor("x*x", [](t x) { return x * x; });
  tensor("x/x", [](t x) { return x / x; });
  tensor("x//x", [](t x) { return floor_divide(x, x); });
  tensor("x%x", [](t x) { return floor_mod(x, x); });
  tensor("-x", [](t x) { return -x; });
  tensor("abs(x)", [](t x) { return abs(x); });
  tensor("x<x", [](t x) { return x < x; });
  tensor("x>=x", [](t x) { return x >= x; });
  tensor("~b", [](t x) { return logical_not(x < x); });
  tensor("2.0*x", [](t x) { return 2.0f * x; });
  tensor("square", [](t x) { return square(x); });
  tensor("sqrt", [](t x) { return sqrt(x); });
  tensor("exp", [](t x) { return exp(x); });
  tensor("log", [](t x) { return log(x); });
  tensor("pow", [](t x) { return pow(x, 2.0f); });
  tensor("negative", [](t x) { return negative(x); });
  tensor("maximum", [](t x) { return maximum(x, x); });
  tensor("sigmoid", [](t x) { return sigmoid(x); });
  tensor("tanh", [](t x) { return tanh(x); });
  tensor("nn.relu", [](t x) { return relu(x); });
  tensor("nn.softmax", [](t x) { return softmax(x); });
  tensor("nn.log_softmax", [](t x) { return log_softmax(x); });
  tensor("nn.softplus", [](t x) { return softplus(x); });
  tensor("nn.l2_loss", [](t x) { return l2_loss(x); });
  tensor("reduce_sum", [](t x) { return reduce_sum(x); });
  tensor("reduce_sum axis", [](t x) { return reduce_sum(x, 1); });
  tensor("reduce_mean", [](t x) { return reduce_mean(x); });
  tensor("reduce_max", [](t x) { return reduce_max(x); });
  tensor("argmax", [](t x) { return argmax(x, 1); });
  tensor("cast", [](t x) { return cast(x, dtype::int32); });
  tensor("reshape", [](t x) { return reshape(x, {-1}); });
  tensor("transpose", [](t x) { return transpose(x); });
  tensor("expand_dims", [](t x) { return expand_dims(x, 0); });
  tensor("squeeze", [](t x) { return squeeze(x); });
  tensor("concat", [](t x) { return concat({x, x}, 0); });
  tensor("stack", [](t x) { return stack({x, x}); });
  tensor("unstack", [](t x) { return unstack(x)[0]; });
  tensor("split", [](t x) { return split(x, 2)[0]; });
  tensor("slice", [](t x) { return slice(x, {0, 0}, {1, 1}); });
  tensor("tile", [](t x) { return tile(x, {1, 2}); });
  tensor("pad", [](t x) { return pad(x, {{0, 1}, {0, 1}}); });
  tensor("gather", [](t x) { return gather(x, {0, 1}, "GatherV2"); });
  tensor("shape", [](t x) { return shape_of(x); });
  tensor("rank", [](t x) { return rank_of(x); });
  tensor("size", [](t x) { return element_count_of(x); });
  tensor("zeros_like", [](t x) { return zeros_like(x); });
  tensor("clip_by_value", [](t x) { return clip_by_value(x, 0.0f, 1.0f, ""); });
  tensor("stop_gradient", [](t x) { return stop_gradient(x); });
  tensor("add_n", [](t x) { return add_n({x, x}); });
  tensor("equal", [](t x) { return equal(x, x); });
  tensor("logical_and", [](t x) { return logical_and(greater(x, 0.0f), greater(x, 1.0f)); });
  tensor("tuple", [](t x) { return tuple({x})[0]; });
  tensor("Print", [](t x) { return print(x, {x}); });
  tensor("cond", [](t x) { return cond(constant(true), [&] { return x + 1.0f; }, [&] { return x; }); });
  tensor("while_loop", [](t) {
    return while_loop([](output i) { return less(i, 3); }, [](output i) { return i + 1; }, {constant(0)});
  });
  tensor("case", [](t x) { return case_of({{constant(true), [&] { return x; }}}, [&] { return x; }); });
  tensor("x**x", [](t x) { return pow(x, x, "pow"); });
  tensor("x@x", [](t x) { return matmul(x, x, "matmul"); });
  tensor("b&b", [](t x) { const output first = less(x, x);
                    return logical_and(first, greater(x, x), "and"); });
  tensor("x[0]", [](t x) { return index(x, {0}); });
  tensor("x[:, 1:]", [](t x) { return index(x, {along::all(), along::from(1)}); });
  tensor("nn.bias_add", [](t x) { return bias_add(x, std::vector{1.0f, 2.0f}); });
  tensor("nn.dropout", [](t x) { return dropout(x, 0.5); });
  tensor("nn.moments", [](t x) { return moments(x, {0}).mean; });
  tensor("nn.l2_normalize", [](t x) { return l2_normalize(x, 1); });
  tensor("nn.embedding_lookup", [](t x) { return embedding_lookup(x, std::vector{0, 1}); });
  tensor("nn.embedding_lookup 2 shards", [](t x) { return embedding_lookup({x, x}, std::vector{0, 1}); });
  tensor("nn.conv2d", [](t x) { return conv2d(reshape(x, {1, 2, 2, 1}), reshape(x, {2, 2, 1, 1}), {1, 1, 1, 1}, padding::same); });
  tensor("nn.max_pool", [](t x) { return max_pool(reshape(x, {1, 2, 2, 1}), {1, 2, 2, 1}, {1, 2, 2, 1}, padding::same); });
  tensor("nn.sigmoid_cross_entropy_with_logits", [](t x) { return sigmoid_cross_entropy_with_logits(x, x); });
  tensor("nn.softmax_cross_entropy_with_logits_v2", [](t x) { return softmax_cross_entropy_with_logits(x, x, ""); });
  tensor("nn.sparse_softmax_cross_entropy_with_logits",
         [](t x) { return sparse_softmax_cross_entropy_with_logits(std::vector{0, 1}, x, ""); });
  tensor("cumsum", [](t x) { return cumsum(x); });
  tensor("to_float", [](t x) { return cast(cast(x, dtype::int32), dtype::float32, "ToFloat"); });
  tensor("gather_nd", [](t x) { return gather_nd(x, {{0, 1}}); });
  tensor("one_hot", [](t) { return one_hot(std::vector{0, 1}, 3); });
  tensor("where", [](t x) { return choose(greater(x, 0.0f), x, x); });
  tensor("ones_like", [](t x) { return ones_like(x); });
  tensor("nn.batch_normalization", [](t x) { return batch_normalization(x, 0.0f, 1.0f, {.offset = 0.0f, .scale = 1.0f}); });
  tensor("report_uninitialized_variables", [](t) {
    variable(1.0f);
    return report_uninitialized_variables();
  });
  tensor("norm", [](t x) { return norm(x); });
  tensor("scatter_update", [](t) { return scatter_update(variable({{1.0f, 2.0f}, {3.0f, 4.0f}}), std::vector{0}, {{1.0f, 2.0f}}); });
  tensor("gradients", [](t x) { return gradients({x * x}, {x})[0]; });
  tensor("floor", [](t x) { return floor(x); });
  tensor("ceil", [](t x) { return ceil(x); });
  tensor("round", [](t x) { return round(x); });
  tensor("sign", [](t x) { return sign(x); });
  tensor("rsqrt", [](t x) { return rsqrt(x); });
  tensor("reciprocal", [](t x) { return reciprocal(x); });
  tensor("expm1", [](t x) { return expm1(x); });
  tensor("log1p", [](t x) { return log1p(x); });
  tensor("sin", [](t x) { return sin(x); });
  tensor("cos", [](t x) { return cos(x); });
  tensor("tan", [](t x) { return tan(x); });
  tensor("erf", [](t x) { return erf(x); });
  tensor("minimum", [](t x) { return minimum(x, x); });
  tensor("floordiv", [](t x) { return floordiv(x, x); });
  tensor("squared_difference", [](t x) { return squared_difference(x, x); });
  tensor("reduce_min", [](t x) { return reduce_min(x); });
  tensor("reduce_prod", [](t x) { return reduce_prod(x); });
  tensor("reduce_all", [](t x) { return reduce_all(x < x); });
  tensor("reduce_any", [](t x) { return reduce_any(x < x); });
  tensor("argmin", [](t x) { return argmin(x, 1); });
  tensor("less", [](t x) { return less(x, x); });
  tensor("less_equal", [](t x) { return less_equal(x, x); });
  tensor("greater", [](t x) { return greater(x, x); });
  tensor("greater_equal", [](t x) { return greater_equal(x, x); });
  tensor("not_equal", [](t x) { return not_equal(x, x); });
  tensor("x>x", [](t x) { return x > x; });
  tensor("x<=x", [](t x) { return x <= x; });
  tensor("logical_or", [](t x) { const output first = less(x, x);
                       return logical_or(first, greater(x, x)); });
  tensor("logical_not", [](t x) { return logical_not(x < x); });
  tensor("b|b", [](t x) { const output first = less(x, x);
                  return logical_or(first, greater(x, x), "or"); });
  tensor("nn.elu", [](t x) { return elu(x); });
  tensor("nn.relu6", [](t x) { return relu6(x); });
  tensor("nn.leaky_relu", [](t x) { return leaky_relu(x); });
  tensor("nn.top_k", [](t x) { return top_k(x, 1).first; });
  tensor("reverse", [](t x) { return reverse(x, {0}); });
  tensor("cumprod", [](t x) { return cumprod(x); });
  tensor("unsorted_segment_sum", [](t x) { return unsorted_segment_sum(x, {0, 1}, 2); });
  tensor("broadcast_to", [](t x) { return broadcast_to(x, {2, 2}); });
  tensor("boolean_mask", [](t x) { return boolean_mask(x, constant({true, false}, "boolean_mask/mask")); });
  tensor("assign_sub", [](t) { return assign_sub(variable(1.0f), 2.0f); });
  tensor("scatter_add", [](t) { return scatter_add(variable({{1.0f, 2.0f}, {3.0f, 4.0f}}), std::vector{0}, {{1.0f, 2.0f}}); });
  all["py group"] = [](t x) { return group(x).name(); };
  all["no_op"] = [](t) { return no_op().name(); };
  all["global_variables_initializer"] = [](t) { return global_variables_initializer().name(); };
  tensor("Variable", [](t) { return variable(1.0f); });
  tensor("assign", [](t) { return assign(variable(1.0f), 2.0f); });
  tensor("assign_add", [](t) { return assign_add(variable(1.0f), 2.0f); });
  return all;
}

// Why a function is not called: an operator that it makes is no part of the library's, or this test has no call of it.
std::string reason_of_nodes(const json& nodes) {
  for (const auto& node : nodes)
    if (const std::string type = node[1]; find_operator(type) == nullptr && find_definition(type) == nullptr)
      return "the operator " + type + " is not known";
  return "not called by this test";
}

}  // namespace

TEST_CASE("what is not given a name is called as in TensorFlow") {
  const auto reference = reference_json("naming.json");
  if (!reference) return;
  const auto all = calls();
  leat_test::recorded_items items("default names");
  for (const auto& row : (*reference)["default_names"]) {
    const std::string api = row["api"];
    const auto found = all.find(api);
    if (found == all.end()) {
      items.left_out(api, reason_of_nodes(row["nodes"]));
      continue;
    }
    INFO(api);
    items.ran();
    graph g;
    const auto scope = g.as_default();
    const auto x = constant({{1.0f, 2.0f}, {3.0f, 4.0f}}, "the_operand");
    const std::string name = found->second(x);
    CHECK(json(name) == row["result"]);
    json nodes = json::array();
    for (const auto& op : get_operations(g))
      if (op.name() != "the_operand") nodes.push_back({op.name(), std::string(op.type())});
    CHECK(nodes == row["nodes"]);
  }
  items.finish();
}
