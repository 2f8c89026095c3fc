#include <leat/separate/kernels.hpp>
