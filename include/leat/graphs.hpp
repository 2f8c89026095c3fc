#pragma once
// Graphs that are built at run time, with names, like TensorFlow 1.x's. Include this header next to leat.hpp for building, inspecting and
// exchanging graphs. Reading and writing files is in io/.

#include <leat/core/standard.hpp>
#include <leat/io/describe.hpp>
#include <leat/named/control/control.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/exchange/to_graph.hpp>
#include <leat/named/functions/named_embedding.hpp>
#include <leat/named/functions/named_nn.hpp>
#include <leat/named/functions/named_queue.hpp>
#include <leat/named/functions/named_random.hpp>
#include <leat/named/functions/named_shape.hpp>
#include <leat/named/functions/named_slice.hpp>
#include <leat/named/gradients/named_gradient.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/known_value.hpp>
#include <leat/named/graph/operator_definition.hpp>
#include <leat/named/scopes/replica_device_setter.hpp>
#include <leat/named/train/global_step.hpp>
#include <leat/named/train/moving_average.hpp>
#include <leat/named/train/named_accumulate.hpp>
#include <leat/named/train/named_clip.hpp>
#include <leat/named/train/named_layers.hpp>
#include <leat/named/train/named_losses.hpp>
#include <leat/named/train/named_metrics.hpp>
#include <leat/named/train/named_normalization.hpp>
#include <leat/named/train/named_optimizers.hpp>
#include <leat/named/train/named_regularizers.hpp>
#include <leat/named/train/named_schedules.hpp>
#include <leat/named/train/named_weights.hpp>
#include <leat/named/train/sync_replicas.hpp>
#include <leat/named/variables/initial_value.hpp>
#include <leat/named/variables/partitioned_variables.hpp>
#include <leat/named/variables/uninitialized.hpp>
#include <leat/named/variables/variable_scope.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/named/graph/named.hpp>
#include <leat/named/train/deferred_steps.hpp>
#endif

// Headers of higher layers declare some functions only where graphs are included; this adds them if those headers were included first.
#if !defined(LEAT_HAS_GRAPHS)
#define LEAT_HAS_GRAPHS
#endif
#if defined(LEAT_SAVERS_OF_GRAPHS)
#include LEAT_SAVERS_OF_GRAPHS
#endif
#if defined(LEAT_SUMMARIES_OF_GRAPHS)
#include LEAT_SUMMARIES_OF_GRAPHS
#endif
