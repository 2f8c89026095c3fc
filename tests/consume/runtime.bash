#!/usr/bin/env bash
# runtime.bash SOURCE PREFIX FOLDER GENERATOR COMPILER BUILD_TYPE: a program that links the installed runtime runs, static and shared; one
# with a source that does not know of the runtime is refused.
set -euo pipefail
source=$1 prefix=$2 folder=$3 generator=$4 compiler=$5 type=$6
fail() {
  echo "FAILED: $1"
  exit 1
}
rm -rf "$folder"
cmake -S "$source" -B "$folder" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE="$type" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$folder" --target header_only consumer consumer_shared
"$folder/consumer" || fail "the program with the static runtime"
"$folder/consumer_shared" || fail "the program with the shared runtime"
ldd "$folder/consumer_shared" >"$folder/said"
grep -q "libleat_runtime.so.0" "$folder/said" || fail "the shared runtime is not loaded by its version"
cmake --build "$folder" --target consumer_hidden
! "$folder/consumer_hidden" >"$folder/said" || fail "a program of hidden functions runs with the shared runtime"
grep -q "leat::runtime_static" "$folder/said" || fail "$(cat "$folder/said")"
if cmake --build "$folder" --target consumer_mixed >"$folder/said" 2>&1; then
  ! "$folder/consumer_mixed" >"$folder/said" || fail "a program with a source that does not know of the runtime runs"
fi
grep -q "LEAT_" "$folder/said" || fail "$(cat "$folder/said")"
echo "refused: $(grep -m 1 "LEAT_" "$folder/said")"
