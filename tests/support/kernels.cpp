// The kernels of graphs at run time, once for all programs that are compiled with LEAT_SEPARATE_KERNELS.
#include <leat/session/kernels.hpp>
