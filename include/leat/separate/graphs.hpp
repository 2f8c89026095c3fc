#pragma once
// Graphs with names: their functions, variables, control flow, optimizers, gradients, exchange and placement. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/core/standard.hpp>
#include <leat/core/summary_text_bodies.hpp>
#include <leat/graph/known_operators_bodies.hpp>
#include <leat/kernels/print_bodies.hpp>
#include <leat/named/canonical/canonical_gradients.hpp>
#include <leat/named/control/branch_bodies.hpp>
#include <leat/named/control/case_bodies.hpp>
#include <leat/named/control/check_bodies.hpp>
#include <leat/named/control/loop_bodies.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/exchange/export_bodies.hpp>
#include <leat/named/exchange/import_bodies.hpp>
#include <leat/named/exchange/to_graph_bodies.hpp>
#include <leat/named/functions/host_function_bodies.hpp>
#include <leat/named/functions/named_accumulator_bodies.hpp>
#include <leat/named/functions/named_array_bodies.hpp>
#include <leat/named/functions/named_embedding_bodies.hpp>
#include <leat/named/functions/named_math_bodies.hpp>
#include <leat/named/functions/named_nn_bodies.hpp>
#include <leat/named/functions/named_operand_bodies.hpp>
#include <leat/named/functions/named_queue_bodies.hpp>
#include <leat/named/functions/named_random_bodies.hpp>
#include <leat/named/functions/named_shape_bodies.hpp>
#include <leat/named/functions/named_slice_bodies.hpp>
#include <leat/named/functions/print_bodies.hpp>
#include <leat/named/gradients/control_flow_gradient.hpp>
#include <leat/named/gradients/gradient_diagonal.hpp>
#include <leat/named/gradients/gradient_functions_bodies.hpp>
#include <leat/named/gradients/gradient_gather.hpp>
#include <leat/named/gradients/gradient_nn.hpp>
#include <leat/named/gradients/named_gradient_bodies.hpp>
#include <leat/named/graph/call_bodies.hpp>
#include <leat/named/graph/default_graph_bodies.hpp>
#include <leat/named/graph/device_bodies.hpp>
#include <leat/named/graph/graph_operation_bodies.hpp>
#include <leat/named/graph/known_value_bodies.hpp>
#include <leat/named/graph/literal_bodies.hpp>
#include <leat/named/graph/lookup_bodies.hpp>
#include <leat/named/graph/named_nodes_bodies.hpp>
#include <leat/named/graph/named_part_bodies.hpp>
#include <leat/named/graph/names_bodies.hpp>
#include <leat/named/graph/operator_definition_bodies.hpp>
#include <leat/named/placement/partition_bodies.hpp>
#include <leat/named/placement/place_bodies.hpp>
#include <leat/named/scopes/cluster_spec_bodies.hpp>
#include <leat/named/scopes/replica_device_setter_bodies.hpp>
#include <leat/named/scopes/scopes_bodies.hpp>
#include <leat/named/train/global_step_bodies.hpp>
#include <leat/named/train/moving_average_bodies.hpp>
#include <leat/named/train/named_accumulate_bodies.hpp>
#include <leat/named/train/named_clip_bodies.hpp>
#include <leat/named/train/named_layers_bodies.hpp>
#include <leat/named/train/named_losses_bodies.hpp>
#include <leat/named/train/named_metrics_bodies.hpp>
#include <leat/named/train/named_normalization_bodies.hpp>
#include <leat/named/train/named_optimizer_bodies.hpp>
#include <leat/named/train/named_optimizers_bodies.hpp>
#include <leat/named/train/named_regularizers_bodies.hpp>
#include <leat/named/train/named_schedules_bodies.hpp>
#include <leat/named/train/named_weights_bodies.hpp>
#include <leat/named/train/sync_replicas_bodies.hpp>
#include <leat/named/variables/initial_value_bodies.hpp>
#include <leat/named/variables/named_variables_bodies.hpp>
#include <leat/named/variables/partitioned_variables_bodies.hpp>
#include <leat/named/variables/uninitialized_bodies.hpp>
#include <leat/named/variables/variable_scope_bodies.hpp>
#include <leat/ops/known.hpp>
#include <leat/proto/attribute_value_bodies.hpp>
#include <leat/proto/data_type_bodies.hpp>
#include <leat/proto/freeze_bodies.hpp>
#include <leat/proto/graph_def_bodies.hpp>
#include <leat/proto/node_def_bodies.hpp>
#include <leat/proto/producer_bodies.hpp>
#include <leat/proto/tensor_contents_bodies.hpp>
#include <leat/proto/validate_bodies.hpp>
#include <leat/train/layer_summary_bodies.hpp>

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
bool link_leat_separate_graphs() { return true; }
}  // namespace leat::detail
#endif
