// The smallest program of a user.
#include <leat/leat.hpp>

int main() { return 0; }
