#pragma once
// What every test file begins with and what takes long to read, compiled once for all of them. No test relies on it: each
// includes what it uses.

#include <doctest/doctest.h>
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>
