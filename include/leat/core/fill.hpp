#pragma once
// Functions that fill the library's tables (of operators, kernels, gradients). A table calls them when it is used for the first time, and
// nothing else refers to them: so a source that cannot reach a table does not compile the table's contents, which are most of the library.
//
//   LEAT_DECLARE_FILL(fill_shape_kernels);  // next to the table
//   inline kernel_table& kernels() {
//     static auto& table = *new kernel_table;
//     static constinit leat::detail::table_fills fills;
//     fills.run({LEAT_FILLS(fill_shape_kernels, fill_array_kernels)});
//     return table;
//   }
//   LEAT_FILL(fill_shape_kernels) { register_kernel("Shape", run_shape); }  // in a header that the table's header does not include
//
// A table with many such functions has a list of them, which declares and calls them:
//
//   #define LEAT_KERNEL_FILLS(each) each(fill_array_kernels) each(fill_shape_kernels)
//   LEAT_KERNEL_FILLS(LEAT_DECLARE_LISTED_FILL)
//     fills.run({LEAT_KERNEL_FILLS(LEAT_LISTED_FILL)});
//   #undef LEAT_KERNEL_FILLS
//
// A table is never destroyed, because a global object that was constructed before the table's first use is destroyed late and may still use
// it. The functions are weak symbols, null if no source of the program compiles them. A source compiles such a function if it includes its
// header and can reach the table. A source that only creates objects that are later looked up in it, such as nodes of a graph that another
// source runs, calls `compile_fill`.

#include <leat/core/early.hpp>
#include <leat/core/function_bodies.hpp>

#include <atomic>
#include <initializer_list>
#include <mutex>

#if defined(__ELF__)
#define LEAT_DECLARE_FILL(name) [[gnu::weak]] void name()
#define LEAT_FILLS(...) __VA_ARGS__
#define LEAT_LISTED_FILL(name) name,
// Not inlined, since an inlined function has no symbol.
#if defined(LEAT_SEPARATE_SOURCE) && defined(__clang__)
#define LEAT_FILL(name) [[gnu::weak, gnu::noinline]] void name()
#elif defined(LEAT_SEPARATE_SOURCE)
#define LEAT_FILL(name) [[gnu::noinline]] LEAT_FUNCTION void name()
#else
#define LEAT_FILL(name) [[gnu::noinline]] inline void name()
#endif
#else
// On other platforms each source that includes the header fills the table, before main.
#define LEAT_DECLARE_FILL(name) void name()
#define LEAT_FILLS(...)
#define LEAT_LISTED_FILL(name)
#define LEAT_FILL(name) \
  inline void name();   \
  LEAT_EARLY inline const leat::detail::filled_early name##_called{name}; \
  inline void name()
#endif
#define LEAT_DECLARE_LISTED_FILL(name) LEAT_DECLARE_FILL(name);

namespace leat::detail {

using table_fill = void (*)();

// One mutex for all tables, recursive because a function may use a second table, which is filled first.
inline std::recursive_mutex& guard_of_fills() {
  static std::recursive_mutex guard;
  return guard;
}

class table_fills {
 public:
  /// Calls those functions that are not null, once per program; other threads wait until they have returned. A function that itself uses
  /// the table sees it as filled so far.
  void run(std::initializer_list<table_fill> fills) {
    if (done_.load(std::memory_order_acquire)) [[likely]]
      return;
    const std::lock_guard lock(guard_of_fills());
    if (begun_) return;
    begun_ = true;
    try {
      for (const table_fill fill : fills)
        if (fill != nullptr) fill();
    } catch (...) {
      begun_ = false;
      throw;
    }
    done_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> done_{false};
  bool begun_ = false;
};

/// Makes a source that can reach this call compile a function of `LEAT_FILL`.
inline void compile_fill(table_fill fill) { asm volatile("" : : "r"(fill)); }

}  // namespace leat::detail
