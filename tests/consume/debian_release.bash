#!/usr/bin/env bash
# debian_release.bash SOURCE FOLDER: leat on another release of Debian. LEAT_TEST_DEBIAN names it (trixie): a root of its own is made in FOLDER
# by debootstrap, some minutes once, with the release's compilers and libraries, and README's first programs are compiled and run there,
# without a warning, by each of the compilers. 77 without that name, without debootstrap, or for others than root.
set -euo pipefail
source=$1
release=${LEAT_TEST_DEBIAN:-}
if [ -z "$release" ]; then
  echo "LEAT_TEST_DEBIAN names no release of Debian"
  exit 77
fi
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "a root for $release needs debootstrap, and root"
  exit 77
fi
root=$2/$release
packages=g++,g++-13,clang-19,libc++-19-dev,libc++abi-19-dev,libxtensor-dev,libxsimd-dev,nlohmann-json3-dev,zlib1g-dev,ca-certificates
if [ ! -e "$root/made" ]; then
  rm -rf --one-file-system "$root"
  mkdir -p "$2"
  debootstrap --variant=minbase --include="$packages" "$release" "$root" >"$2/$release.log" || {
    tail -n 5 "$2/$release.log"
    exit 1
  }
  touch "$root/made"
fi
rm -rf --one-file-system "$root/leat"
mkdir -p "$root/leat/tests"
cp -r "$source/include" "$root/leat/include"
cp -r "$source/tests/readme" "$root/leat/tests/readme"

ulimit -S -s 65536 2>/dev/null || true # for clang's constant evaluation
failures=0
log=$2/$release.compiler.log
try() {
  local program=$1
  shift
  if ! chroot "$root" sh -c "cd /leat && $* -std=c++20 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -Iinclude \
      tests/readme/$program.cpp -o /tmp/program -lz && /tmp/program" >"$log" 2>&1; then
    echo "FAILED: $program by $*"
    head -n 20 "$log"
    failures=$((failures + 1))
  fi
}
for compiler in "g++-13" "g++" "clang++-19" "clang++-19 -stdlib=libc++"; do
  for program in linear_model network training; do try "$program" "$compiler"; done
  try graphs "$compiler" -DLEAT_USE_IO
done
[ "$failures" -eq 0 ]
