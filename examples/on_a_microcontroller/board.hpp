#pragma once
// What a program needs of the board that it runs on.

#include <cstdint>

/// Writes a text to the host.
void print(const char* text);
/// Writes a number in a base up to 16, with at least so many digits.
void print(std::uint32_t number, std::uint32_t base = 10, int least_digits = 1);
/// A count of executed instructions that wraps; 0 where the board has none.
std::uint32_t instructions_now();
