#pragma once
// Graphs with names: `graph` as users of TensorFlow 1.x know it, built at run time. An operator on handles makes the same row in the same
// table as a typed expression does in the compiler, by the same rule; here it also gets a name and TensorFlow's inputs and attributes.
// Axes, shapes and plain values become constants, named after the operator that takes them: `2.0f * x` is "mul/x" and "mul".
//
//   graph g;
//   auto scope = g.as_default();
//   auto a = constant(3.0f, "a");
//   auto b = a + 2.0f;                       // "add", and "add/y" for the constant
//   auto c = get_tensor_by_name(g, "add:0");  // see named/graph/lookup.hpp

#include <leat/graph/infer.hpp>
#include <leat/graph/known_operators.hpp>
#include <leat/graph/leaves.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/convert.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/graph/known_value.hpp>
#include <leat/named/graph/operator_definition.hpp>
#include <leat/named/graph/part.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/named/graph/impl/call.hpp>
#include <leat/named/graph/impl/part.hpp>
#endif
