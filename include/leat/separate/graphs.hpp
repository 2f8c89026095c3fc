#pragma once
// Graphs with names: their functions, variables, control flow, optimizers, gradients, exchange and placement. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/core/impl/summary_text.hpp>
#include <leat/core/impl/text_pattern.hpp>
#include <leat/core/standard.hpp>
#include <leat/graph/impl/known_operators.hpp>
#include <leat/kernels/impl/print.hpp>
#include <leat/named/canonical/gradients.hpp>
#include <leat/named/control/impl/branch.hpp>
#include <leat/named/control/impl/case.hpp>
#include <leat/named/control/impl/check.hpp>
#include <leat/named/control/impl/loop.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/exchange/impl/export.hpp>
#include <leat/named/exchange/impl/import.hpp>
#include <leat/named/exchange/impl/to_graph.hpp>
#include <leat/named/functions/impl/accumulator.hpp>
#include <leat/named/functions/impl/array.hpp>
#include <leat/named/functions/impl/embedding.hpp>
#include <leat/named/functions/impl/host_function.hpp>
#include <leat/named/functions/impl/math.hpp>
#include <leat/named/functions/impl/nn.hpp>
#include <leat/named/functions/impl/operand.hpp>
#include <leat/named/functions/impl/print.hpp>
#include <leat/named/functions/impl/queue.hpp>
#include <leat/named/functions/impl/random.hpp>
#include <leat/named/functions/impl/shape.hpp>
#include <leat/named/functions/impl/slice.hpp>
#include <leat/named/functions/impl/tensor_array.hpp>
#include <leat/named/gradients/colors.hpp>
#include <leat/named/gradients/control_flow_gradient.hpp>
#include <leat/named/gradients/diagonal.hpp>
#include <leat/named/gradients/gather.hpp>
#include <leat/named/gradients/images.hpp>
#include <leat/named/gradients/impl/functions.hpp>
#include <leat/named/gradients/impl/gradient.hpp>
#include <leat/named/gradients/nn.hpp>
#include <leat/named/gradients/pools.hpp>
#include <leat/named/gradients/scatter.hpp>
#include <leat/named/gradients/tensor_array.hpp>
#include <leat/named/graph/impl/call.hpp>
#include <leat/named/graph/impl/default_graph.hpp>
#include <leat/named/graph/impl/device.hpp>
#include <leat/named/graph/impl/graph_operation.hpp>
#include <leat/named/graph/impl/known_value.hpp>
#include <leat/named/graph/impl/literal.hpp>
#include <leat/named/graph/impl/lookup.hpp>
#include <leat/named/graph/impl/names.hpp>
#include <leat/named/graph/impl/nodes.hpp>
#include <leat/named/graph/impl/operator_definition.hpp>
#include <leat/named/graph/impl/part.hpp>
#include <leat/named/placement/impl/partition.hpp>
#include <leat/named/placement/impl/place.hpp>
#include <leat/named/recurrent/impl/cells.hpp>
#include <leat/named/recurrent/impl/recurrent.hpp>
#include <leat/named/scopes/impl/cluster_spec.hpp>
#include <leat/named/scopes/impl/replica_device_setter.hpp>
#include <leat/named/scopes/impl/scopes.hpp>
#include <leat/named/variables/impl/initial_value.hpp>
#include <leat/named/variables/impl/partitioned_variables.hpp>
#include <leat/named/variables/impl/uninitialized.hpp>
#include <leat/named/variables/impl/variable_scope.hpp>
#include <leat/named/variables/impl/variables.hpp>
#include <leat/ops/known.hpp>
#include <leat/proto/impl/attribute_value.hpp>
#include <leat/proto/impl/data_type.hpp>
#include <leat/proto/impl/freeze.hpp>
#include <leat/proto/impl/graph_def.hpp>
#include <leat/proto/impl/node_def.hpp>
#include <leat/proto/impl/producer.hpp>
#include <leat/proto/impl/tensor_contents.hpp>
#include <leat/proto/impl/validate.hpp>
#include <leat/train/impl/layer_summary.hpp>
#include <leat/train/named/impl/accumulate.hpp>
#include <leat/train/named/impl/clip.hpp>
#include <leat/train/named/impl/global_step.hpp>
#include <leat/train/named/impl/layers.hpp>
#include <leat/train/named/impl/losses.hpp>
#include <leat/train/named/impl/metrics.hpp>
#include <leat/train/named/impl/moving_average.hpp>
#include <leat/train/named/impl/normalization.hpp>
#include <leat/train/named/impl/optimizer.hpp>
#include <leat/train/named/impl/optimizers.hpp>
#include <leat/train/named/impl/regularizers.hpp>
#include <leat/train/named/impl/schedules.hpp>
#include <leat/train/named/impl/sync_replicas.hpp>
#include <leat/train/named/impl/weights.hpp>

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
bool link_leat_separate_graphs() { return true; }
}  // namespace leat::detail
#endif
