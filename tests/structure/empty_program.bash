#!/usr/bin/env bash
# empty_program.bash COMPILER FLAGS HEADERS OBJECT: a program that includes headers, with : between, and does nothing gets no kernel, nor
# anything else of the library but a check of the processor.
set -euo pipefail
compiler=$1 flags=$2 headers=$3 object=$4
{
  for header in ${headers//:/ }; do
    echo "#include <$header>
#include <$header>  // a second time: nothing
#if defined(LEAT_BATCH_AVX512) || defined(LEAT_BATCH_AVX2) || defined(LEAT_BATCH_SSE2) || defined(LEAT_BATCH_NO_ROUNDING)
#error macros of instruction_set.hpp are left
#endif"
  done
  echo "int main() {}"
} | "$compiler" "@$flags" -O1 -x c++ -c -o "$object" -
text=$(size "$object" | awk 'NR == 2 { print $1 }')
echo "<$headers>: $text bytes of code"
((text < 4096)) || {
  echo "FAILED: more than a check of the processor; the largest:"
  nm -C --size-sort "$object" | tail -20
  exit 1
}
