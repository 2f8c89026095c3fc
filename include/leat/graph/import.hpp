#pragma once
// A graph from a file into a graph with names. Operators that the library knows become rows of the table, with their numbers,
// dtypes and shapes; others are kept with all that the file says of them: they can be looked at and saved, not run. All of
// the file is checked before the first node is made. Source: TensorFlow `import_graph_def`.

#include <leat/graph/import_options.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/graph/import_functions.hpp>
#endif
