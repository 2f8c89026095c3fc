#!/usr/bin/env bash
# processor.bash COMPILER INCLUDE_DIR SCRATCH: on a processor without the instructions that it was compiled for, a program says so before
# it does anything. The lack is feigned: every question for an instruction set is answered with no.
set -euo pipefail
compiler=$1 include=$2 scratch=$3
case "$(uname -m)" in x86_64) ;; *) exit 77 ;; esac
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
cat >program.cpp <<'TEXT'
#include <leat/cpu/processor.hpp>
#include <cstdio>
struct early {
  early() { std::puts("a global object"); }
} const object;
int main() { std::puts("runs"); }
TEXT
fail() {
  echo "FAILED: $1"
  exit 1
}
"$compiler" -std=c++20 -O1 -I"$include" program.cpp -o baseline
grep -q runs <<<"$(./baseline)" || fail "a program for every processor"
for flags in -msse4.2 -mavx2 -mavx512f; do
  "$compiler" -std=c++20 -O1 "$flags" '-D__builtin_cpu_supports(x)=false' -I"$include" program.cpp -o lacking
  status=0
  ./lacking >said 2>&1 || status=$?
  [ $status -eq 126 ] || fail "$flags: status $status: $(cat said)"
  grep -q "which this one has not: compile it with another -march" said || fail "$flags: $(cat said)"
  ! grep -q "a global object" said || fail "$flags: a global object came first"
done
