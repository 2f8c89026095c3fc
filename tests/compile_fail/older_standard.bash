#!/usr/bin/env bash
# older_standard.bash COMPILER INCLUDE: a program for C++17 is told what leat needs, and no more, by every header for users.
set -uo pipefail

failed=0
for header in "$2"/leat/*.hpp; do
  output=$(printf '#include <leat/%s>\n' "$(basename "$header")" | "$1" -std=c++17 -I"$2" -fsyntax-only -x c++ - 2>&1)
  if [[ $output != *'leat needs C++20: compile with -std=c++20'* ]] || [ "$(wc -l <<<"$output")" -gt 15 ]; then
    printf 'FAILED: %s says:\n%s\n' "$header" "$(head -n 30 <<<"$output")"
    failed=1
  fi
done
exit "$failed"
