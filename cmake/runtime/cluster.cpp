#include <leat/separate/cluster.hpp>
