#pragma once
// The bodies of all functions that need not be compiled with every source of a program: operators, gradients and kernels of graphs at
// run time, sessions, files. In a program whose sources are all compiled with LEAT_SEPARATE_COMPILATION exactly one includes this header,
// before any other of the library's; or each of its parts is included by one source, which several compilers can do at once, in less
// memory. Files are among it if LEAT_USE_IO is defined, the cluster if LEAT_USE_CLUSTER is.

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
