#include <leat/leat.hpp>

int other_unit();

int other_unit() { return 0; }
