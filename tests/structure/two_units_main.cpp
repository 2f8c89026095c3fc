// With two_units_other.cpp: everything included in two units of one program.
#include <leat/leat.hpp>

int other_unit();

int main() { return other_unit(); }
