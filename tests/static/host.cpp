// The steps on the machine that compiles: prints the results by their bits.

#include "platform.hpp"

#include <cstdio>

extern "C" {
void say_bits(const char* name, std::uint32_t bits) { std::printf("%s %08lx\n", name, static_cast<unsigned long>(bits)); }
void say_own(const char* name, std::uint32_t number) { std::fprintf(stderr, "%s %lu\n", name, static_cast<unsigned long>(number)); }
std::uint32_t instructions_passed(void) { return 0; }
int run_static_steps(void);
}

int main() { return run_static_steps(); }
