#pragma once
// Imports a graph from a file into a graph with names. Known operators become rows of the table with numeric attributes, dtypes and shapes;
// others are kept as in the file, and can be inspected and saved but not run. The whole file is checked before the first node is made.
// Source: TensorFlow `import_graph_def`.

#include <leat/named/exchange/import_options.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/named/exchange/impl/import.hpp>
#endif
