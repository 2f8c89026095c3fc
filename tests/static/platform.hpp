#pragma once
// What the steps need of the machine that runs them.

#include <cstddef>
#include <cstdint>

extern "C" {
/// Reports a result by its bits, which are the same on all machines.
void say_bits(const char* name, std::uint32_t bits);
/// Reports what a machine has of its own: bytes, instructions.
void say_own(const char* name, std::uint32_t number);
/// A count of executed instructions that wraps, or 0.
std::uint32_t instructions_passed(void);
}
