#pragma once
// What tensors of files hold: `contents<T>(tensor)`, `make_tensor_proto(values, shape)` and `problem_of(tensor)`. They stand
// in the graph's layer, because a graph that is built at run time reads its constants.

#include <leat/graph/tensor_contents.hpp>
