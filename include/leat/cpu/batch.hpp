#pragma once
// Batches of as many values as fit one SIMD register, and masks over them. They add what xsimd 8.1 lacks, or does slowly or incorrectly:
// partial loads and stores that touch no byte outside the array, non-temporal stores, masks of bool arrays, one mask type per lane width,
// and integer arithmetic on every instruction set.

#include <leat/cpu/batch/across_lanes.hpp>
#include <leat/cpu/batch/arithmetic.hpp>
#include <leat/cpu/batch/masks.hpp>
#include <leat/cpu/batch/memory.hpp>
#include <leat/cpu/batch/registers.hpp>
