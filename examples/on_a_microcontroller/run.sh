#!/usr/bin/env bash
# run.sh [INCLUDE]: compiles calibrate.cpp for a Cortex-M4, tells the size of the program, and runs it in QEMU. Ends with 77 if the compiler
# or QEMU are missing; Debian has them as gcc-arm-none-eabi, libstdc++-arm-none-eabi-newlib and qemu-system-arm.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
include=${1:-$here/../../include}
for tool in arm-none-eabi-g++ qemu-system-arm; do
  command -v "$tool" >/dev/null || {
    echo "skipped: no $tool" >&2
    exit 77
  }
done
echo '#include <vector>' | arm-none-eabi-g++ -x c++ -fsyntax-only - 2>/dev/null || {
  echo "skipped: arm-none-eabi-g++ has no standard library" >&2
  exit 77
}

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
arm-none-eabi-g++ -std=c++20 -O2 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -fno-exceptions -fno-rtti \
  -fno-threadsafe-statics -fno-math-errno -ffunction-sections -fdata-sections -fconstexpr-ops-limit=2000000000 "-I$include" \
  "$here/calibrate.cpp" "$here/board.cpp" -nostartfiles -Wl,-T,"$here/board.ld" -Wl,--gc-sections -o "$out/calibrate.elf"
arm-none-eabi-size "$out/calibrate.elf"
timeout 60 qemu-system-arm -M mps2-an386 -nographic -semihosting-config enable=on,target=native -icount shift=6 -kernel "$out/calibrate.elf" 2>&1
