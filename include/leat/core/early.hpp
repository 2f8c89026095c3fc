#pragma once
// Fills tables before other global objects are constructed, if they are not filled at their first use (core/fill.hpp). Global objects of
// one source are constructed in order, those of different sources in any order; a global object that runs a graph must find full tables
// even if its source comes first. So the objects that fill tables get an early initialization priority.
//
//   LEAT_EARLY inline const leat::detail::filled_early collectives_known{[] { register_kernel("HorovodRank", run_rank); }};

// Lower priorities are constructed first; objects without one have 65535. Apple's linker does not support priorities.
#if defined(__GNUC__) && !defined(__APPLE__)
#define LEAT_EARLY [[gnu::init_priority(1000)]]
#else
#define LEAT_EARLY
#endif

namespace leat::detail {

/// Calls the function `fill` when it is constructed.
struct filled_early {
  template <class Fill>
  explicit filled_early(Fill fill) {
    fill();
  }
};

}  // namespace leat::detail
