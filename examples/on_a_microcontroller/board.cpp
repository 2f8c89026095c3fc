// A Cortex-M4 as QEMU's mps2-an386 has it, without an operating system: vectors, the start of a program, and output by semihosting, which a
// debugger gives a real board, too.

#include "board.hpp"

int main();

extern "C" {
extern std::uint32_t stack_end[], data_begin[], data_end[], data_source[], bss_begin[], bss_end[];
extern void (*constructors_begin[])();
extern void (*constructors_end[])();
[[noreturn]] void start();
[[noreturn]] void failed();

[[gnu::section(".vectors"), gnu::used]] void* const vectors[]{stack_end,
                                                              reinterpret_cast<void*>(start),
                                                              reinterpret_cast<void*>(failed),   // NMI
                                                              reinterpret_cast<void*>(failed),   // hard fault
                                                              reinterpret_cast<void*>(failed),   // memory management
                                                              reinterpret_cast<void*>(failed),   // bus fault
                                                              reinterpret_cast<void*>(failed)};  // usage fault
}

namespace {

volatile std::uint32_t& register_at(std::uintptr_t address) { return *reinterpret_cast<volatile std::uint32_t*>(address); }
constexpr std::uintptr_t coprocessor_access = 0xE000ED88, systick_control = 0xE000E010, systick_reload = 0xE000E014,
                         systick_value = 0xE000E018;
constexpr std::uint32_t longest_count = 0xFFFFFF;

// Semihosting: a call of the debugger, or of QEMU.
void call_host(int operation, const void* argument) {
  register int op asm("r0") = operation;
  register const void* parameter asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(op) : "r"(parameter) : "memory");
}
[[noreturn]] void end(bool well) {
  call_host(0x18, reinterpret_cast<const void*>(well ? 0x20026 : 0x20023));
  for (;;) {
  }
}

}  // namespace

void print(const char* text) { call_host(0x04, text); }
void print(std::uint32_t number, std::uint32_t base, int least_digits) {
  char text[33];
  char* at = text + 32;
  *at = 0;
  for (; number > 0 || least_digits > 0; number /= base, --least_digits) *--at = "0123456789abcdef"[number % base];
  print(at);
}

// QEMU's option `-icount shift=6` lets each instruction take 64 ns of the simulated time, in which SysTick counts 25 MHz down: 1.6 ticks.
std::uint32_t instructions_now() { return (longest_count - register_at(systick_value)) * 5 / 8; }

extern "C" {
void start() {
  register_at(coprocessor_access) = register_at(coprocessor_access) | 0xFu << 20;  // switches the floating-point unit on
  asm volatile("dsb\nisb");
  for (std::uint32_t *to = data_begin, *from = data_source; to < data_end;) *to++ = *from++;
  for (std::uint32_t* to = bss_begin; to < bss_end;) *to++ = 0;
  for (auto each = constructors_begin; each < constructors_end; ++each) (*each)();
  register_at(systick_reload) = longest_count;
  register_at(systick_value) = 0;
  register_at(systick_control) = 5;
  end(main() == 0);
}
void failed() {
  print("a fault\n");
  end(false);
}
}
