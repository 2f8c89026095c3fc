#!/usr/bin/env bash
# starter.bash SOURCE PREFIX FOLDER GENERATOR COMPILER: examples/starter, copied, is built with an installed leat, trains, and passes its test;
# it is configured with a checkout, and says what to do where there is neither. LEAT_TEST_WHOLE_PACKAGES=1: the benchmark, too.
set -euo pipefail
source=$1 prefix=$2 folder=$3 generator=$4 compiler=$5
fail() {
  echo "FAILED: $1"
  exit 1
}
rm -rf "$folder"
mkdir -p "$folder"
cp -r "$source/examples/starter" "$folder/project"
configure() { cmake -S "$folder/project" -B "$folder/$1" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug "${@:2}"; }
configure build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS_DEBUG= # quickly compiled
targets=(model_test train)
[ -z "${LEAT_TEST_WHOLE_PACKAGES:-}" ] || targets+=(model_benchmark)
cmake --build "$folder/build" --parallel 1 --target "${targets[@]}"
ctest --test-dir "$folder/build" --output-on-failure
[ -z "${LEAT_TEST_WHOLE_PACKAGES:-}" ] || "$folder/build/model_benchmark"
"$folder/build/train" | tee "$folder/said"
# What it says exactly depends on the compiler and on the processor.
diff <(sed -n '/^```text$/,/^```$/p' "$source/examples/starter/README.md" | sed '1d;$d' | tr 0-9 0) <(tr 0-9 0 <"$folder/said") ||
  fail "README.md shows another output"
configure checkout -DFETCHCONTENT_SOURCE_DIR_LEAT="$source" >"$folder/said" 2>&1 || fail "$(cat "$folder/said")"
if configure neither -DCMAKE_DISABLE_FIND_PACKAGE_leat=ON >"$folder/said" 2>&1; then fail "it is configured without leat"; fi
grep "leat was not found" "$folder/said"
