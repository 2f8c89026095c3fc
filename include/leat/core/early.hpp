#pragma once
// Tables that a program fills before it does anything else. Objects of one source are made in the order in which they stand there,
// but those of two sources in any; a global object that runs a graph must not depend on whether the source with the operators came
// first. So what fills a table is made before all objects that do not ask for a place in the order themselves.
//
//   LEAT_EARLY inline const leat::detail::filled_early shape_kernels_known{[] { register_kernel("Shape", run_shape); }};

// The number is the place in the order; objects without one have 65535. Apple's linker knows no such places.
#if defined(__GNUC__) && !defined(__APPLE__)
#define LEAT_EARLY [[gnu::init_priority(1000)]]
#else
#define LEAT_EARLY
#endif

namespace leat::detail {

/// An object that calls a function when it is made.
struct filled_early {
  template <class Fill>
  explicit filled_early(Fill fill) {
    fill();
  }
};

}  // namespace leat::detail
