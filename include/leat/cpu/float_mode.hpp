#pragma once
// Flushes denormal numbers to zero within a scope. Arithmetic on denormals is many times slower on most processors, and optimizers' slots
// decay into them. Every run therefore flushes results (FTZ), reads denormal operands as zero (DAZ), and restores the caller's mode. x86-64
// keeps the mode in MXCSR, AArch64 in FPCR; on other processors nothing is done. Reading the register is cheap and writing it is not, so it
// is written only if it changes.

#include <cstdint>

namespace leat::cpu {

/// The calling thread's treatment of denormal numbers.
class float_mode {
 public:
  /// The calling thread's mode.
  static float_mode current() noexcept { return float_mode(read() & flush_bits); }

  /// The mode that treats denormal results and operands as zero.
  static constexpr float_mode flushing() noexcept { return float_mode(flush_bits); }

  /// Sets the calling thread's mode; keeps its rounding mode and exception flags.
  void apply() const noexcept {
    const std::uint64_t now = read();
    if ((now & flush_bits) != bits_) write((now & ~flush_bits) | bits_);
  }

  friend constexpr bool operator==(float_mode, float_mode) = default;

 private:
  constexpr explicit float_mode(std::uint64_t bits) noexcept : bits_(bits) {}

#if defined(__SSE2__)
  static constexpr std::uint64_t flush_bits = 0x8040;  // FTZ, DAZ
  static std::uint64_t read() noexcept { return __builtin_ia32_stmxcsr(); }
  static void write(std::uint64_t mode) noexcept { __builtin_ia32_ldmxcsr(static_cast<unsigned>(mode)); }
#elif defined(__aarch64__)
  static constexpr std::uint64_t flush_bits = std::uint64_t(1) << 24;  // FZ
  static std::uint64_t read() noexcept {
    std::uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void write(std::uint64_t mode) noexcept { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#else
  static constexpr std::uint64_t flush_bits = 0;
  static std::uint64_t read() noexcept { return 0; }
  static void write(std::uint64_t) noexcept {}
#endif

  std::uint64_t bits_;
};

/// Sets the calling thread's float_mode while in scope, and restores the previous one.
class scoped_float_mode {
 public:
  explicit scoped_float_mode(float_mode mode) noexcept : before_(float_mode::current()), changed_(before_ != mode) {
    if (changed_) mode.apply();
  }
  scoped_float_mode(const scoped_float_mode&) = delete;
  scoped_float_mode& operator=(const scoped_float_mode&) = delete;
  ~scoped_float_mode() {
    if (changed_) before_.apply();
  }

 private:
  float_mode before_;
  bool changed_;
};

namespace detail {
inline constinit thread_local int denormals_held = 0;  // open scopes of denormals_as_zero
}

/// Flushes denormals while in scope, as each run does. At its end the floating-point exception flags are restored, too, unless denormals
/// were flushed already.
class flush_denormals {
 public:
#if defined(__SSE2__)
  [[gnu::always_inline]] flush_denormals() noexcept : before_(detail::denormals_held > 0 ? flush_bits : __builtin_ia32_stmxcsr()) {
    if (before_ == usual) [[likely]]
      write(usual_flushing);
    else if ((before_ & flush_bits) != flush_bits)
      write(before_ | flush_bits);
  }
  [[gnu::always_inline]] ~flush_denormals() {
    if (before_ == usual) [[likely]] {
      write(usual);
    } else if ((before_ & flush_bits) != flush_bits) {
      const unsigned before = before_;  // a copy, so that the value goes through memory only in this branch
      write(before);
    }
  }

 private:
  // Written in assembly, because the builtin first stores a constant to the stack and waits for it.
  [[gnu::always_inline]] static void write(const unsigned& mode) noexcept { __asm__ volatile("ldmxcsr %0" : : "m"(mode) : "memory"); }
  static constexpr unsigned flush_bits = 0x8040;
  // All exceptions masked, round to nearest, inexact flag set: the usual value of the register once a program has computed anything.
  static constexpr unsigned usual = 0x1fa0;
  static constexpr unsigned usual_flushing = usual | flush_bits;
  unsigned before_;
#else
  flush_denormals() noexcept : mode_(float_mode::flushing()) {}

 private:
  scoped_float_mode mode_;
#endif

 public:
  flush_denormals(const flush_denormals&) = delete;
  flush_denormals& operator=(const flush_denormals&) = delete;
};

}  // namespace leat::cpu

namespace leat {

/// Flushes the calling thread's denormals while in scope, also between runs: `const denormals_as_zero here;` around a loop. Each run
/// flushes them anyway and restores the mode afterwards. Within such a scope a run skips the check of the mode, which takes about a
/// nanosecond and matters for steps of a few scalars. The object must be destroyed by the thread that created it.
class denormals_as_zero {
 public:
  denormals_as_zero() noexcept : mode_(cpu::float_mode::flushing()) { ++cpu::detail::denormals_held; }
  denormals_as_zero(const denormals_as_zero&) = delete;
  denormals_as_zero& operator=(const denormals_as_zero&) = delete;
  ~denormals_as_zero() { --cpu::detail::denormals_held; }

 private:
  cpu::scoped_float_mode mode_;
};

}  // namespace leat
