// A Cortex-M4 as QEMU's mps2-an386 has it, without an operating system: vectors, start, and output by semihosting.

#include "../platform.hpp"

extern "C" {
extern std::uint32_t stack_end[], data_begin[], data_end[], data_source[], bss_begin[], bss_end[];
extern void (*constructors_begin[])(void);
extern void (*constructors_end[])(void);
int run_static_steps(void);
[[noreturn]] void start(void);
[[noreturn]] void failed(void);

[[gnu::section(".vectors"), gnu::used]] void* const vectors[16]{stack_end,
                                                                reinterpret_cast<void*>(start),
                                                                reinterpret_cast<void*>(failed),
                                                                reinterpret_cast<void*>(failed),
                                                                reinterpret_cast<void*>(failed),
                                                                reinterpret_cast<void*>(failed),
                                                                reinterpret_cast<void*>(failed)};
}

namespace {

volatile std::uint32_t& register_at(std::uintptr_t address) { return *reinterpret_cast<volatile std::uint32_t*>(address); }

// A call of the debugger, or of QEMU.
void call_host(int operation, const void* argument) {
  register int op asm("r0") = operation;
  register const void* parameter asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(op) : "r"(parameter) : "memory");
}
void write(const char* text) { call_host(0x04, text); }
[[noreturn]] void end(bool well) {
  call_host(0x18, reinterpret_cast<const void*>(well ? 0x20026 : 0x20023));
  for (;;) {
  }
}
void write_number(std::uint32_t number, std::uint32_t base, int least_digits) {
  char text[12];
  char* at = text + 11;
  *at = 0;
  for (; number > 0 || least_digits > 0; number /= base, --least_digits) *--at = "0123456789abcdef"[number % base];
  write(at);
}

// With -icount shift=6 each instruction takes 64 ns of the simulated time, in which SysTick counts 25 MHz down: 1.6 ticks.
constexpr std::uintptr_t systick_control = 0xE000E010, systick_reload = 0xE000E014, systick_value = 0xE000E018;

}  // namespace

extern "C" {
void say_bits(const char* name, std::uint32_t bits) {
  write(name);
  write(" ");
  write_number(bits, 16, 8);
  write("\n");
}
void say_own(const char* name, std::uint32_t number) {
  write("# ");
  write(name);
  write(" ");
  write_number(number, 10, 1);
  write("\n");
}
std::uint32_t instructions_now(void) {
  const std::uint32_t passed = 0xFFFFFF - register_at(systick_value);
  return passed * 5 / 8;
}

void start(void) {
  register_at(0xE000ED88) |= 0xFu << 20;  // switches the floating-point unit on
  asm volatile("dsb\nisb");
  for (std::uint32_t *to = data_begin, *from = data_source; to < data_end;) *to++ = *from++;
  for (std::uint32_t* to = bss_begin; to < bss_end;) *to++ = 0;
  for (auto each = constructors_begin; each < constructors_end; ++each) (*each)();
  register_at(systick_reload) = 0xFFFFFF;
  register_at(systick_value) = 0;
  register_at(systick_control) = 5;
  end(run_static_steps() == 0);
}
void failed(void) {
  write("a fault\n");
  end(false);
}
}
