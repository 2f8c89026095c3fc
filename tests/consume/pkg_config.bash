#!/usr/bin/env bash
# pkg_config.bash PKG_CONFIG DATADIR COMPILER PROGRAM PACKAGE SOURCE...: compile and run with what pkg-config says of a package, leat or
# leat-header-only, and nothing else.
set -euo pipefail
pkg_config=$1 compiler=$3 program=$4 package=$5
export PKG_CONFIG_PATH=$2/pkgconfig
shift 5
read -ra flags <<<"$("$pkg_config" --cflags "$package")"
read -ra libraries <<<"$("$pkg_config" --libs "$package")"
[[ " ${flags[*]} " == *-std=c++20* ]]
variable=gcc_flags
grep -q clang <<<"$("$compiler" --version)" && variable=clang_flags
read -ra more <<<"$("$pkg_config" --variable=$variable "$package")"
"$compiler" "${flags[@]}" "${more[@]}" "$@" "${libraries[@]}" -o "$program"
LD_LIBRARY_PATH=$("$pkg_config" --variable=libdir "$package") "$program"
