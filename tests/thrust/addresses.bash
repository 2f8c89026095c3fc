#!/usr/bin/env bash
# addresses.bash FILE...: PTX code of a program for a GPU. No memory access may have an address that is a number: that is
# how nvcc compiles a read of an array which only the host has, such as the instructions of a cluster, and on a GPU it fails as an illegal
# access.
set -uo pipefail

if [ $# -eq 0 ]; then
  echo "no PTX code is named"
  exit 1
fi
for file in "$@"; do
  awk -v file="$file" '
    /^(\.visible|\.weak|\.func|\.entry|\.extern)/ { delete fixed }
    match($0, /mov\.[bsu]64[ \t]+%rd[0-9]+, -?[0-9]+;/) {
      split($0, part, /[ \t,;]+/)
      for (k in part) if (part[k] ~ /^%rd/) fixed[part[k]] = 1
    }
    /^[ \t]*(@%p[0-9]+[ \t]+)?(ld|st|atom|red)\./ && !/\.(local|param|shared|const)/ {
      accesses++
      if (match($0, /\[[^]+]*/)) {
        address = substr($0, RSTART + 1, RLENGTH - 1)
        if (address ~ /^[0-9]/ || address in fixed) {
          wrong++
          if (wrong <= 5) printf "%s:%d: %s\n", file, NR, $0
        }
      }
    }
    END {
      printf "%s: %d accesses, %d at fixed addresses\n", file, accesses, wrong
      exit !(accesses > 0 && wrong == 0)
    }' "$file" || exit 1
done
