#include <leat/separate/training.hpp>
