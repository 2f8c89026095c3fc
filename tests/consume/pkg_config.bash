#!/usr/bin/env bash
# pkg_config.bash PKG_CONFIG DATADIR COMPILER SOURCE PROGRAM: compile and run with what pkg-config says, and nothing else.
set -euo pipefail
export PKG_CONFIG_PATH=$2/pkgconfig
read -ra flags <<<"$("$1" --cflags --libs leat)"
[[ " ${flags[*]} " == *-std=c++20* ]]
variable=gcc_flags
grep -q clang <<<"$("$3" --version)" && variable=clang_flags
read -ra more <<<"$("$1" --variable=$variable leat)"
"$3" "${flags[@]}" "${more[@]}" "$4" -o "$5"
"$5"
