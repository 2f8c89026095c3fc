#pragma once
// The bodies of all functions that need not be compiled with every source of a program: operators, gradients and kernels of graphs at run
// time, sessions, files. If all sources of a program are compiled with LEAT_SEPARATE_COMPILATION, exactly one of them includes this header,
// before any other header of the library. Alternatively, several sources include one of its parts each, so that compilers run in parallel
// and each needs less memory. File formats are included if LEAT_USE_IO is defined, the cluster if LEAT_USE_CLUSTER is.

#include <leat/separate/graphs.hpp>
#include <leat/separate/kernels.hpp>
#include <leat/separate/sessions.hpp>
#ifdef LEAT_USE_IO
#include <leat/separate/files.hpp>
#include <leat/separate/training.hpp>
#endif
#ifdef LEAT_USE_CLUSTER
#include <leat/separate/cluster.hpp>
#endif
