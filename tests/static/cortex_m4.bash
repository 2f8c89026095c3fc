#!/usr/bin/env bash
# cortex_m4.bash SOURCES OUT INCLUDE: compiles the steps for a Cortex-M4, checks that the program has no heap, runs it in QEMU, compares its
# results with OUT/host.txt, and tells the sizes of code and memory, and the instructions of a step. 77 if compiler or QEMU are missing.
set -euo pipefail
export LC_ALL=C
sources=$1 out=$2 include=$3 board=$1/../../examples/on_a_microcontroller

if ! command -v arm-none-eabi-g++ >/dev/null || ! command -v qemu-system-arm >/dev/null; then
  echo "skipped: needs arm-none-eabi-g++ with newlib's libstdc++, and qemu-system-arm (scripts/install-dependencies microcontroller)"
  exit 77
fi
if ! echo '#include <vector>' | arm-none-eabi-g++ -x c++ -fsyntax-only - 2>/dev/null; then
  echo "skipped: arm-none-eabi-g++ has no standard library"
  exit 77
fi

flags=(-std=c++20 -O2 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -fno-exceptions -fno-rtti -ffp-contract=off
  -fno-threadsafe-statics -fno-math-errno -ffunction-sections -fdata-sections -Wno-psabi -fconstexpr-ops-limit=2000000000
  "-I$include")
arm-none-eabi-g++ "${flags[@]}" -Wall -Wextra -Werror -c "$sources/steps.cpp" -o "$out/steps_m4.o"
arm-none-eabi-g++ "${flags[@]}" "$sources/cortex_m4.cpp" "$board/board.cpp" "$out/steps_m4.o" -nostartfiles -Wl,-T,"$board/board.ld" -Wl,--gc-sections \
  -o "$out/steps_m4.elf"
refused=$(arm-none-eabi-nm -C "$out/steps_m4.elf" | grep -iE 'malloc|calloc|sbrk|operator (new|delete)|__cxa|_Unwind|printf' || true)
if [ -n "$refused" ]; then
  printf 'FAILED: the program contains\n%s\n' "$refused"
  exit 1
fi

# Each instruction takes 2^6 ns of the simulated time.
timeout 120 qemu-system-arm -M mps2-an386 -nographic -semihosting-config enable=on,target=native -icount shift=6 \
  -kernel "$out/steps_m4.elf" >"$out/m4_all.txt" 2>&1 || {
  cat "$out/m4_all.txt"
  echo "FAILED: the program ended with an error"
  exit 1
}
arm-none-eabi-size "$out/steps_m4.elf"
sed -n 's/^# //p' "$out/m4_all.txt"
grep -v '^# ' "$out/m4_all.txt" >"$out/m4.txt"
diff "$out/host.txt" "$out/m4.txt"
