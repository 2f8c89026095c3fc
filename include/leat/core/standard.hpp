#pragma once
// The standard that the library is written in, before anything that an older one cannot read.

#if __cplusplus < 202002L
#error "leat needs C++20: compile with -std=c++20, or later"
#include <compile with -std=c++20>  // there is no such file, so the compiler stops here
#endif
