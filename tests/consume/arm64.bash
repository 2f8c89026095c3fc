#!/usr/bin/env bash
# arm64.bash SOURCE FOLDER: README.md's first program, compiled for ARM64 by Debian's cross compiler, prints under QEMU what README.md says.
# The tests of typed expressions run there by the preset arm64.
set -euo pipefail
source=$1 folder=$2
for tool in aarch64-linux-gnu-g++ qemu-aarch64-static; do
  command -v "$tool" >/dev/null || {
    echo "no $tool: scripts/install-dependencies arm64"
    exit 77
  }
done
rm -rf "$folder"
mkdir -p "$folder/packages"
# Packages of headers alone; the folder that holds them has this machine's headers of the C library, too.
for package in xtensor xsimd xtl; do ln -s "/usr/include/$package" "$folder/packages/$package"; done
aarch64-linux-gnu-g++ -std=c++20 -O1 -static -I"$source/include" -isystem "$folder/packages" "$source/tests/readme/linear_model.cpp" \
  -o "$folder/program"
qemu-aarch64-static "$folder/program" | tee "$folder/said"
diff "$folder/said" <(sed -n '/printed by linear_model/,/^```$/p' "$source/README.md" | sed '1,2d;$d') || {
  echo "FAILED: it prints something else"
  exit 1
}
