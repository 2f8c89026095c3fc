#pragma once
// Graphs that are built at run time, with names, like TensorFlow 1.x's: the headers, beside leat.hpp, for building, inspecting and
// exchanging them. Reading and writing files is in io/.

#include <leat/core/standard.hpp>

#include <leat/graph/canonical.hpp>
#include <leat/graph/export.hpp>
#include <leat/graph/import.hpp>
#include <leat/graph/replica_device_setter.hpp>
#include <leat/ops/control.hpp>
#include <leat/ops/named_embedding.hpp>
#include <leat/ops/named_nn.hpp>
#include <leat/ops/named_queue.hpp>
#include <leat/ops/to_graph.hpp>
#include <leat/ops/uninitialized.hpp>
#include <leat/ops/variable_scope.hpp>
#include <leat/passes/named_gradient.hpp>
#include <leat/train/global_step.hpp>
#include <leat/train/named_clip.hpp>
#include <leat/train/named_optimizers.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/train/deferred_steps.hpp>
#endif
