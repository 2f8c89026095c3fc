#!/usr/bin/env bash
# object_size.bash COMPILER [ARGUMENT...]: with debug information an object file grows at most linearly with the number of
# shared levels h = h h + h of an expression; with structure in the types it would double with each level.
set -euo pipefail
export LC_ALL=C

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/program.cpp" <<'END'
#include <leat/ops/state.hpp>
using namespace leat;
template <int N, class H>
auto levels(const H& h) {
  if constexpr (N == 0)
    return h;
  else
    return levels<N - 1>(h * h + h);
}
int main() {
  graph g;
  return flatten<decltype(levels<LEVELS>(placeholder<"x", float, 64>()))>(g) == 2 * LEVELS ? 0 : 1;
}
END

bytes_of() {
  "$@" -g -O0 "-DLEVELS=$levels" -c "$scratch/program.cpp" -o "$scratch/program.o"
  stat -c %s "$scratch/program.o"
}
levels=50
small=$(bytes_of "$@")
levels=100
middle=$(bytes_of "$@")
levels=200
large=$(bytes_of "$@")
printf '50 levels: %d bytes, 100: %d, 200: %d\n' "$small" "$middle" "$large"
# twice as many more levels cost twice as many more bytes; a tenth is granted
if [ $((10 * (large - middle))) -gt $((22 * (middle - small))) ]; then
  echo "FAILED: the growth is more than linear"
  exit 1
fi
