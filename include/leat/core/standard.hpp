#pragma once
// Checks that the compiler reads C++20, before any header that an older standard could not parse.

#if __cplusplus < 202002L
#error "leat needs C++20: compile with -std=c++20, or later"
#include <compile with -std=c++20>  // there is no such file, so the compiler stops here
#endif
