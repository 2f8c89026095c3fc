#pragma once
// The kernels of the library's operators, all of them: what a device that runs programs includes.

#include <leat/kernels/converged.hpp>
#include <leat/kernels/diagonals.hpp>
#include <leat/kernels/images.hpp>
#include <leat/kernels/local_response.hpp>
#include <leat/kernels/lookups.hpp>
#include <leat/kernels/matrices.hpp>
#include <leat/kernels/mirror_pad.hpp>
#include <leat/kernels/print.hpp>
#include <leat/kernels/random.hpp>
#include <leat/kernels/resize.hpp>
#include <leat/kernels/spectra.hpp>
#include <leat/kernels/stacked_matmul.hpp>
#include <leat/kernels/top_k.hpp>
#include <leat/kernels/whole_array.hpp>
