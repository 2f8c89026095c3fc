#pragma once
// What must be settled before the libraries in this process start: they read the environment when they are loaded.

namespace bench {

/// Sets the variables below unless the user did, and starts the program again if it had to set one.
///   OPENBLAS_CORETYPE: what OpenBLAS 0.3.21 chooses for a newer processor is not its best: on a Zen 4 it takes its
///     Cooperlake kernels (the network: 650 us), where Haswell's need 615, Zen's 631 and SkylakeX's 650. On some it is
///     said to fall back to Prescott's.
///   GOMP_SPINCOUNT, OPENBLAS_THREAD_TIMEOUT: well below a millisecond. By default idle threads spin for some
///     milliseconds after their last work, and would take the processor from the side that is timed next.
void prepare_environment(char** arguments);

}  // namespace bench
