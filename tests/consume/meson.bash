#!/usr/bin/env bash
# meson.bash SOURCE REPOSITORY FOLDER COMPILER: a project of Meson that has leat as a subproject, by the wrap file. 77 without Meson.
set -euo pipefail
source=$1 repository=$2 folder=$3 compiler=$4
command -v meson >/dev/null && command -v ninja >/dev/null || exit 77
rm -rf "$folder"
mkdir -p "$folder"
cp -r "$source/tests/consume/meson" "$folder/project"
mkdir "$folder/project/subprojects"
sed "s|= URL$|= file://$repository|; s|= REVISION$|= main|" "$source/packaging/meson/leat.wrap" >"$folder/project/subprojects/leat.wrap"
cd "$folder"
CXX=$compiler meson setup build project
ninja -C build
build/consumer
