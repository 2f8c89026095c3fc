#!/usr/bin/env bash
# host.bash SOURCES OUT COMPILER FLAG...: compiles the steps for this machine, checks that they refer to no heap, thread or exception, and
# writes their results to OUT/host.txt.
set -euo pipefail
export LC_ALL=C
sources=$1 out=$2
shift 2

"$@" -Wall -Wextra -Werror -fno-threadsafe-statics -c "$sources/steps.cpp" -o "$out/steps.o"
refused=$(nm -u -C "$out/steps.o" | grep -E 'malloc|calloc|realloc|free|operator (new|delete)|__cxa|_Unwind|pthread|printf|std::|__gxx' || true)
if [ -n "$refused" ]; then
  printf 'FAILED: a static session refers to\n%s\n' "$refused"
  exit 1
fi
nm -u -C "$out/steps.o"
"$@" "$sources/host.cpp" "$out/steps.o" -o "$out/host"
"$out/host" >"$out/host.txt"
cat "$out/host.txt"
