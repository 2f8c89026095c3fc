#pragma once
// Arithmetic and functions of elements for both kinds of value: `scalar_math<T>` for single values and `batch_math<T>` for batches have the
// same members, so that an element function is written once over the policy M.
//
// Maximum errors in units of the last place, against long double, over the whole range of normal results (up to 0.4 more without a
// fused multiply-add); batches and scalars give the same bits:
//
//               float   double                          float   double
//   exp          0.91     1.02        log1p               1.44     1.17
//   expm1        1.60     1.72        softplus            1.98     1.94
//   log          0.83     0.82        sqrt, reciprocal    0.50     0.50
//   tanh         2.60     2.94        rsqrt               1.0      1.0
//   sigmoid      2.42     2.21        others: the standard library's, lane by lane
//
// Gradual underflow is not guaranteed: results below the smallest normal number may be flushed to zero.

#include <leat/cpu/math/batch_math.hpp>
#include <leat/kernels/math/scalar_math.hpp>
