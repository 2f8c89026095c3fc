#pragma once
// Static properties of a node by its operator type: its role in control flow, the variables that it writes, whether it is pure,
// and whether the compiler's table can express it.

#include <leat/graph/known_operators.hpp>
#include <leat/named/canonical/canonical_rewrite.hpp>
#include <leat/named/graph/operator_definition.hpp>
#include <leat/proto/operator_names.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <limits>

namespace leat::runtime {

/// A node's role for the executor; `feed` stands for a value from outside. A `send` runs also if its input is dead.
enum class flow : unsigned char { plain, merge, enter, exit, next, trigger, feed, send, receive };

inline flow flow_of(std::string_view type) {
  if (leat::detail::is_merge(type)) return flow::merge;
  if (leat::detail::is_enter(type)) return flow::enter;
  if (leat::detail::is_exit(type)) return flow::exit;
  if (leat::detail::is_next_iteration(type)) return flow::next;
  if (type == "ControlTrigger") return flow::trigger;
  if (type == "_Send") return flow::send;
  if (type == "_Recv") return flow::receive;
  return flow::plain;
}
using leat::detail::is_switch;

/// The inputs of a node that are variables which it writes.
inline std::vector<int> written_inputs(const op_info& op, int inputs) {
  if (op.kind == op_kind::assign) return {0};
  if (op.infer != nullptr || flow_of(op.type) != flow::plain || is_switch(op.type) || op.type == "IsVariableInitialized" ||
      op.type == "RefIdentity" || op.type == "DestroyTemporaryVariable")
    return {};
  std::vector<int> list = reference_inputs(op, inputs);
  // A handle is no variable, and a reference to strings is the queue handle of an older graph.
  const operator_definition* const d = list.empty() ? nullptr : find_definition(op.type);
  std::erase_if(list, [&](int k) {
    const argument_definition& in = d->inputs[static_cast<std::size_t>(k)];
    return !in.reference || in.type == data_type::string;
  });
  return list;
}

/// Whether nodes of this operator may have such inputs, however many inputs they have.
inline bool may_write(const op_info& op) { return !written_inputs(op, std::numeric_limits<int>::max()).empty(); }

/// Whether its result is its first input, unchanged; for a variable, the variable itself.
inline bool passes_on(std::string_view type) {
  return type == "Identity" || type == "StopGradient" || type == "PreventGradient" || type == "Snapshot" || type == "RefIdentity" ||
         type == "PlaceholderWithDefault";
}

/// Whether its result depends on its input's shape alone, not on the elements.
inline bool looks_at_shape_alone(std::string_view type) { return leat::detail::is_shape_query(type) || type == "ShapeN"; }

/// Whether it is a function of its inputs that `canonical` rewrites to operators with a definition.
inline bool is_rewritten(std::string_view type) {
  const canonical_rewrite* rewrite = leat::detail::find_rewrite(type);
  return rewrite != nullptr && !rewrite->writes;
}

/// Whether its results are a function of its inputs alone, so that it may run at any time and more than once. User-registered kernels
/// may have effects; operators with a definition have none.
inline bool is_pure(const op_info& op) {
  constexpr std::string_view with_kernels[]{  // sorted
      "BroadcastGradientArgs", "Concat", "ConcatOffset", "ConcatV2", "DynamicPartition", "DynamicStitch",
      "ExpandDims", "Fill", "Gather", "GatherNd", "GatherV2", "InTopK", "InTopKV2", "InvertPermutation", "ListDiff", "OnesLike",
      "Pack", "ParallelDynamicStitch", "Range", "Rank", "Reshape", "Reverse", "ReverseV2", "ScatterNd",
      "SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum", "Shape", "ShapeN", "Size", "Split",
      "SplitV", "Squeeze", "StridedSlice", "StridedSliceGrad", "Tile", "TopK", "TopKV2", "Unique", "Unpack", "Where", "ZerosLike"};
  static_assert(std::is_sorted(std::begin(with_kernels), std::end(with_kernels)));
  switch (op.kind) {
    case op_kind::constant:
    case op_kind::identity: return true;
    case op_kind::placeholder:
    case op_kind::variable:
    case op_kind::assign:
    case op_kind::group: return false;
    default: break;
  }
  return op.infer != nullptr || std::binary_search(std::begin(with_kernels), std::end(with_kernels), op.type) || is_rewritten(op.type);
}

/// The inputs whose values determine the computation itself: sizes, axes, indices of a slice. The index of the first one and their
/// count; for operators with a definition, its number inputs.
struct value_inputs {
  int first = 0;
  int count = 0;
  bool contains(int k) const { return k >= first && k < first + count; }
};
inline value_inputs value_inputs_of(std::string_view type, int inputs) {
  if (type == "Fill" || type == "Split") return {0, 1};
  if (type == "Reshape" || type == "ExpandDims" || type == "Tile" || type == "BroadcastTo") return {1, 1};
  if (type == "ConcatV2") return {inputs - 1, 1};
  if (type == "SplitV" || type == "StridedSlice") return {1, inputs - 1};
  if (type == "StridedSliceGrad") return {0, 4};
  if (type == "GatherV2") return {2, 1};
  return {};
}

}  // namespace leat::runtime
