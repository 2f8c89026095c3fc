#pragma once
// Access to tensors of files: `contents<T>(tensor)`, `make_tensor_proto(values, shape)` and `problem_of(tensor)`. They are in the
// graph's layer, because graphs that are built at run time read their constants.

#include <leat/graph/tensor_contents.hpp>
