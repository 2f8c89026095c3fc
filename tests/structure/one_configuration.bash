#!/usr/bin/env bash
# one_configuration.bash COMPILER INCLUDE_DIR SCRATCH: objects of one program that were compiled for different processors or with
# different LEAT_ macros, or of two versions, are refused, by g++'s linker or else by the first session; equal ones are not.
set -euo pipefail
compiler=$1 include=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

cat >other.cpp <<'TEXT'
#include <leat/cpu/parallel.hpp>
__attribute__((visibility("default"))) int other() { return leat::cpu::thread_count(); }
TEXT
cat >main.cpp <<'TEXT'
#include <leat/cpu/parallel.hpp>
#include <cstdio>
int other();
int main() {
  if (other() < 0) return 2;
  try {
    leat::cpu::require_one_configuration();
  } catch (const leat::failed_precondition& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
TEXT

compile() { "$compiler" -std=c++20 -O1 "$@" -I"$include"; }
fail() {
  echo "FAILED: $1"
  exit 1
}
# Both configurations must stand in what is said of them.
refuses() { grep -q "$2" said && grep -q "$3" said || fail "$1: $(cat said)"; }

linker_checks=yes
case "$("$compiler" --version)" in *clang*) linker_checks=no ;; esac

compile -mavx2 -c main.cpp -o main.o
compile -mavx2 -c other.cpp -o alike.o
"$compiler" main.o alike.o -o alike && ./alike || fail "objects that are alike"

# The stand-in differs in nothing but its macro: no library is needed for what parallel.hpp does not include.
mkdir -p next/leat
cp -r "$include/leat/core" "$include/leat/cpu" next/leat/
sed -i 's/LEAT_VERSION_MINOR .*/LEAT_VERSION_MINOR 999/' next/leat/core/version.hpp
for flags in "-mavx" "-mavx2 -DLEAT_USE_BLAS" "-mavx2 -DLEAT_SEPARATE_COMPILATION" "-mavx2 -Inext"; do
  # shellcheck disable=SC2086
  compile $flags -c other.cpp -o other.o
  for order in "main.o other.o" "other.o main.o"; do
    # shellcheck disable=SC2086
    if "$compiler" $order -o program >said 2>&1; then
      [ $linker_checks = no ] || fail "the linker takes $order with $flags"
      ! ./program >said || fail "the program with $flags runs"
      refuses "the program" LEAT_ march
    elif [ $linker_checks = no ] && [[ $flags == *SEPARATE* ]]; then
      # Declarations alone do not link without the runtime.
      refuses "the linker" link_leat_runtime_or_include_leat_separate_hpp undefined
    else
      [ $linker_checks = yes ] || fail "$(cat said)"
      refuses "the linker" leat_objects_of_one_program_differ_in_version_or_processor_flags_or_LEAT_macros leat_objects
    fi
  done
done

# A shared library has symbols of its own for the linker, but functions in common with the program.
compile -mavx -fPIC -shared other.cpp -o libother.so
compile -mavx2 main.cpp -o with_library -L. -lother -Wl,-rpath,"$scratch"
! ./with_library >said || fail "the program with a library that differs runs"
refuses "the program with a library" '\.avx2' '\.avx[ ;.]'
compile -mavx -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -shared other.cpp -o libother.so
./with_library || fail "a library with functions of its own"

# Link-time optimization writes what sources share into one.
if [ $linker_checks = yes ]; then
  compile -flto -mavx2 -c main.cpp -o main.o
  compile -flto -mavx2 -c other.cpp -o alike.o
  "$compiler" -flto main.o alike.o -o alike && ./alike || fail "link-time optimization of objects that are alike"
fi
