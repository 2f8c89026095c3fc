// The main function of the generated tests: doctest's, or the reason why there are none and the code by which ctest
// knows a skipped test.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#if __has_include("missing.hpp")
#include "missing.hpp"
#else
inline constexpr const char* missing = "Python is missing, which writes these tests";
#endif

#include <cstdio>

int main(int count, char** arguments) {
  if (missing[0] != '\0') {
    std::printf("skipped: %s\n", missing);
    return 77;
  }
  return doctest::Context(count, arguments).run();
}
