#pragma once
// Graphs that are built at run time, with names, like TensorFlow 1.x's. Include this header next to leat.hpp for building, inspecting and
// exchanging graphs. Reading and writing files is in io/.

#include <leat/core/standard.hpp>
#include <leat/io/describe.hpp>
#include <leat/named/control/control.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/exchange/to_graph.hpp>
#include <leat/named/functions/candidates.hpp>
#include <leat/named/functions/complex.hpp>
#include <leat/named/functions/convolution.hpp>
#include <leat/named/functions/embedding.hpp>
#include <leat/named/functions/fourier.hpp>
#include <leat/named/functions/nn.hpp>
#include <leat/named/functions/queue.hpp>
#include <leat/named/functions/random.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/functions/tensor_array.hpp>
#include <leat/named/gradients/derivatives.hpp>
#include <leat/named/gradients/gradient.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/known_value.hpp>
#include <leat/named/graph/operator_definition.hpp>
#include <leat/named/recurrent/raw_rnn.hpp>
#include <leat/named/recurrent/recurrent.hpp>
#include <leat/named/scopes/replica_device_setter.hpp>
#include <leat/named/variables/initial_value.hpp>
#include <leat/named/variables/partitioned_variables.hpp>
#include <leat/named/variables/uninitialized.hpp>
#include <leat/named/variables/variable_scope.hpp>
#include <leat/train/named/accumulate.hpp>
#include <leat/train/named/clip.hpp>
#include <leat/train/named/convolutions.hpp>
#include <leat/train/named/global_step.hpp>
#include <leat/train/named/layers.hpp>
#include <leat/train/named/losses.hpp>
#include <leat/train/named/metrics.hpp>
#include <leat/train/named/moving_average.hpp>
#include <leat/train/named/normalization.hpp>
#include <leat/train/named/optimizers.hpp>
#include <leat/train/named/regularizers.hpp>
#include <leat/train/named/schedules.hpp>
#include <leat/train/named/sync_replicas.hpp>
#include <leat/train/named/weights.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/named/graph/named.hpp>
#include <leat/train/named/deferred_steps.hpp>
#endif

// Headers of higher layers declare some functions only where graphs are included; this adds them if those headers were included first.
#if !defined(LEAT_HAS_GRAPHS)
#define LEAT_HAS_GRAPHS
#endif
#if defined(LEAT_SAVERS_OF_GRAPHS)
#include LEAT_SAVERS_OF_GRAPHS
#endif
#if defined(LEAT_FUNCTIONS_OF_GRAPHS)
#include LEAT_FUNCTIONS_OF_GRAPHS
#endif
#if defined(LEAT_SUMMARIES_OF_GRAPHS)
#include LEAT_SUMMARIES_OF_GRAPHS
#endif
