#include <leat/separate/graphs.hpp>
