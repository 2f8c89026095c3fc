#pragma once
// Collectives in graphs with names, as Horovod's operators: HorovodAllreduce, HorovodGroupedAllreduce, HorovodAllgather, HorovodBroadcast,
// HorovodSize and HorovodRank. TensorFlow's own CollectiveReduce has the number of ranks as an attribute, and CollectiveBcastSend and
// CollectiveBcastRecv are different nodes on different ranks; Horovod's nodes are the same on all ranks, so one graph, saved once, runs on
// any number of ranks. The gradients of HorovodAllgather and HorovodBroadcast are AllgatherGrad and BroadcastGrad; Horovod builds these
// gradients with the rank in the graph.
//
// The collectives of a run are executed one after another, in an order that the graph, the fetches and the feeds determine; it is the same
// on all ranks if these are. In a graph with branches or loops only data and control edges determine their order.

#include <leat/collective/communicator.hpp>
#include <leat/core/early.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/gradients/nodes.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace leat {

/// Options of `all_reduce` in graphs with names.
struct all_reduce_options {
  reduce_by how = reduce_by::sum;
  std::string name{};
};

/// Reduces x over all ranks, element by element.
/// Shapes: any, the same on all ranks; the result is like x. Dtypes: float32, float64, int32, int64. Errors, in a run: those of
/// `collective::communicator`, which name the node. Gradient: the gradient reduced in the same way; for minimum and maximum, its sum,
/// distributed in equal shares to the elements that equal the result. Source: Horovod `HorovodAllreduce`.
inline output all_reduce(const output& x, const all_reduce_options& options = {},
                         const std::source_location& where = std::source_location::current()) {
  if (!static_cast<bool>(x)) throw invalid_argument("all_reduce: an operand that is no node of a graph");
  graph& g = x.owner();
  const source_scope line(g, where);
  return call_operator(g, "HorovodAllreduce", {x}, {{"reduce_op", static_cast<std::int64_t>(options.how)}}, options.name).result();
}
/// Reduces several tensors of one dtype in one message. Errors: invalid_argument for an empty list, and for dtypes that differ.
/// Source: Horovod `HorovodGroupedAllreduce`.
inline std::vector<output> all_reduce(const std::vector<output>& xs, const all_reduce_options& options = {},
                                      const std::source_location& where = std::source_location::current()) {
  if (xs.empty()) throw invalid_argument("all_reduce: an empty list");
  for (const output& x : xs)
    if (!static_cast<bool>(x)) throw invalid_argument("all_reduce: an operand that is no node of a graph");
  graph& g = xs.front().owner();
  const source_scope line(g, where);
  const std::vector<number_argument> inputs(xs.begin(), xs.end());
  return call_operator(g, "HorovodGroupedAllreduce", inputs, {{"reduce_op", static_cast<std::int64_t>(options.how)}}, options.name)
      .outputs();
}

/// Concatenates the tensors of all ranks along the first dimension, in the order of ranks.
/// Shapes: x [n, d1, …], where n may differ between ranks; result [sum of all n, d1, …]. Dtypes: all numeric ones, bool.
/// Gradient: this rank's rows of the gradients' sum over ranks. Source: Horovod `HorovodAllgather`.
inline output all_gather(const output& x, std::string_view name = {}, const std::source_location& where = std::source_location::current()) {
  if (!static_cast<bool>(x)) throw invalid_argument("all_gather: an operand that is no node of a graph");
  graph& g = x.owner();
  const source_scope line(g, where);
  return call_operator(g, "HorovodAllgather", {x}, {}, name).result();
}

/// Copies the tensor of rank `root` to all ranks. Shapes: any, the same on all ranks. Dtypes: all numeric ones, bool. Gradient: on the root
/// the gradients' sum over ranks, zeros elsewhere. Source: Horovod `HorovodBroadcast`.
inline output broadcast(const output& x, int root = 0, std::string_view name = {},
                        const std::source_location& where = std::source_location::current()) {
  if (!static_cast<bool>(x)) throw invalid_argument("broadcast: an operand that is no node of a graph");
  graph& g = x.owner();
  const source_scope line(g, where);
  return call_operator(g, "HorovodBroadcast", {x}, {{"root_rank", std::int64_t{root}}}, name).result();
}

namespace detail {

LEAT_EARLY inline const filled_early collective_operators_defined{[] {
  const std::string group = "; ignore_name_scope: bool = false; process_set_id: int = 0";
  const std::string reduced = "; reduce_op: int = 1; prescale_factor: float = 1.0; postscale_factor: float = 1.0" + group;
  const std::string numbers = "; T: {float32, float64, int32, int64}";
  constexpr facts meets{.is = nature::effect, .waits = true, .ordered = true};  // waits for the other ranks
  define_operator("HorovodAllreduce(tensor: T) -> (sum: T)" + reduced + numbers, meets, shapes::like<0>);
  define_operator("HorovodGroupedAllreduce(tensors: num_tensors*T) -> (sum: num_tensors*T)" + reduced + numbers, meets, shapes::each);
  define_operator("HorovodAllgather(tensor: T) -> (output: T)" + group, meets, [](shape_context& c) {
    shape extent = c.input(0).extent;
    if (!extent.has_rank()) return;
    if (extent.rank == 0) c.fail("a scalar; expand_dims makes it a row");
    extent.dim[0] = unknown_dimension;
    c.set(0, extent);
  });
  define_operator("HorovodBroadcast(tensor: T) -> (output: T); root_rank: int" + group, meets, shapes::like<0>);
  define_operator("AllgatherGrad(grad: T, tensor: T) -> (output: T)" + numbers, meets, shapes::like<1>);
  define_operator("BroadcastGrad(grad: T) -> (output: T); root_rank: int" + numbers, meets, shapes::like<0>);
  define_operator("HorovodSize() -> (size: int32); process_set_id: int = 0", shapes::numbers);
  define_operator("HorovodRank() -> (rank: int32)", shapes::numbers);
}};

inline collective::call collective_call(kernel_context& c, std::span<const shape> extents, dtype type) {
  if (c.node.integer("process_set_id") != 0) throw unimplemented("a collective of some of the ranks");
  return {c.node.name(), type, extents, [&c] { c.step.check(); }};
}
inline void scale(tensor_value& x, float factor) {
  if (factor == 1.0f) return;
  const auto times = [&]<class T>(std::span<T> all) {
    for (T& v : all) v = static_cast<T>(static_cast<double>(v) * static_cast<double>(factor));
  };
  if (x.type() == dtype::float32) times(x.values<float>());
  else if (x.type() == dtype::float64) times(x.values<double>());
  else if (x.type() == dtype::int32) times(x.values<std::int32_t>());
  else times(x.values<std::int64_t>());
}

inline void run_all_reduce(kernel_context& c) {
  const auto number = c.node.integer("reduce_op", 1);
  if (number != 0 && number != 1 && number != 3 && number != 4)
    throw unimplemented("reduce_op " + std::to_string(number) + "; there are 0 (mean), 1 (sum), 3 (min) and 4 (max)");
  const float before = c.node.attribute<float>("prescale_factor", 1.0f), after = c.node.attribute<float>("postscale_factor", 1.0f);
  std::vector<shape> extents;
  std::vector<tensor_value> inputs;
  std::vector<tensor_value> results;
  std::vector<const void*> from;
  std::vector<void*> to;
  const dtype type = c.type(0);
  for (int k = 0; k < c.input_count(); ++k) {
    if (c.type(k) != type) throw invalid_argument("tensors of different dtypes");
    inputs.push_back(before == 1.0f ? c.input(k) : c.input(k).copy());
    scale(inputs.back(), before);
    extents.push_back(c.extent(k));
    from.push_back(std::as_const(inputs.back()).data());
    results.emplace_back(type, extents.back());
    to.push_back(results.back().data());
  }
  collective::communicator::current().all_reduce(collective_call(c, extents, type), static_cast<reduce_by>(number), from, to);
  for (int k = 0; k < c.input_count(); ++k) {
    scale(results[static_cast<std::size_t>(k)], after);
    c.set(k, std::move(results[static_cast<std::size_t>(k)]));
  }
}
inline void run_all_gather(kernel_context& c) {
  const shape extent = c.extent(0);
  if (extent.rank == 0) throw invalid_argument("a scalar; expand_dims makes it a row");
  tensor_value all;
  collective::communicator::current().all_gather(collective_call(c, {&extent, 1}, c.type(0)), c.input(0).data(),
                                                 [&](std::span<const std::int64_t> rows) {
                                                   shape whole = extent;
                                                   whole.dim[0] = 0;
                                                   for (const std::int64_t n : rows) whole.dim[0] += n;
                                                   all = tensor_value(c.type(0), whole);
                                                   return static_cast<void*>(all.data());
                                                 });
  c.set(0, std::move(all));
}
inline void run_all_gather_gradient(kernel_context& c) {
  const shape extent = c.extent(1);
  tensor_value own(c.type(0), extent);
  collective::communicator::current().sum_to_rows(collective_call(c, {&extent, 1}, c.type(0)), c.input(0).data(), own.data());
  c.set(0, std::move(own));
}
inline void run_rooted(kernel_context& c, bool is_broadcast) {
  const shape extent = c.extent(0);
  tensor_value result(c.type(0), extent);
  auto& ranks = collective::communicator::current();
  const auto root = static_cast<int>(std::clamp<std::int64_t>(c.node.integer("root_rank"), -1, 1 << 30));
  const collective::call what = collective_call(c, {&extent, 1}, c.type(0));
  if (is_broadcast) ranks.broadcast(what, root, c.input(0).data(), result.data());
  else ranks.sum_to_root(what, root, c.input(0).data(), result.data());
  c.set(0, std::move(result));
}

LEAT_EARLY inline const filled_early collective_kernels_known{[] {
  register_kernels({"HorovodAllreduce", "HorovodGroupedAllreduce"}, run_all_reduce);
  register_kernel("HorovodAllgather", run_all_gather);
  register_kernel("AllgatherGrad", run_all_gather_gradient);
  register_kernel("HorovodBroadcast", [](kernel_context& c) { run_rooted(c, true); });
  register_kernel("BroadcastGrad", [](kernel_context& c) { run_rooted(c, false); });
  register_kernel("HorovodSize", [](kernel_context& c) { c.set(0, std::int32_t{collective::communicator::current().size()}); });
  register_kernel("HorovodRank", [](kernel_context& c) { c.set(0, std::int32_t{collective::communicator::current().rank()}); });
}};

inline bool is_linear(const gradient_call& c) {
  const auto how = static_cast<reduce_by>(c.integer("reduce_op", 1));
  return how == reduce_by::sum || how == reduce_by::mean;
}
inline attribute_map factors_of(const gradient_call& c) {
  return is_linear(c) ? c.attributes({"reduce_op", "prescale_factor", "postscale_factor"}) : attribute_map{};
}
inline gradient_list gradient_of_all_reduce(const gradient_call& c) {
  graph& g = c.owner();
  const output all = call_operator(g, "HorovodAllreduce", {c.dy()}, factors_of(c)).result();
  if (is_linear(c)) return {all};
  const output is_one = cast(equal(c.input(), c.result()), c.input().type());
  return {all * is_one / call_operator(g, "HorovodAllreduce", {is_one}).result()};
}
inline gradient_list gradient_of_grouped_all_reduce(const gradient_call& c) {
  graph& g = c.owner();
  std::vector<number_argument> dys;
  std::vector<int> places;
  for (int k = 0; k < c.input_count(); ++k)
    if (static_cast<bool>(c.slices(k))) {
      dys.emplace_back(c.dy(k));
      places.push_back(k);
    }
  gradient_list result(static_cast<std::size_t>(c.input_count()));
  if (!is_linear(c)) refuse_gradient(g, c.operation().index(), "the least or greatest of several tensors at once has no gradient");
  const graph_operation made = call_operator(g, "HorovodGroupedAllreduce", dys, factors_of(c));
  for (std::size_t k = 0; k < places.size(); ++k) result[static_cast<std::size_t>(places[k])] = made.result(static_cast<int>(k));
  return result;
}
inline gradient_list gradient_of_all_gather(const gradient_call& c) {
  return {call_operator(c.owner(), "AllgatherGrad", {c.dy(), c.input()}).result()};
}
inline gradient_list gradient_of_all_gather_gradient(const gradient_call& c) {
  return {call_operator(c.owner(), "HorovodAllgather", {c.dy()}).result(), output{}};
}
inline gradient_list gradient_of_broadcast(const gradient_call& c) {
  return {call_operator(c.owner(), "BroadcastGrad", {c.dy()}, c.attributes({"root_rank"})).result()};
}
inline gradient_list gradient_of_broadcast_gradient(const gradient_call& c) {
  return {call_operator(c.owner(), "HorovodBroadcast", {c.dy()}, c.attributes({"root_rank"})).result()};
}
inline const bool collective_gradients_known = enter_gradients({{"HorovodAllreduce", gradient_of_all_reduce},
                                                                {"HorovodGroupedAllreduce", gradient_of_grouped_all_reduce},
                                                                {"HorovodAllgather", gradient_of_all_gather},
                                                                {"AllgatherGrad", gradient_of_all_gather_gradient},
                                                                {"HorovodBroadcast", gradient_of_broadcast},
                                                                {"BroadcastGrad", gradient_of_broadcast_gradient}});

}  // namespace detail

}  // namespace leat
