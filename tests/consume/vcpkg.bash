#!/usr/bin/env bash
# vcpkg.bash SOURCE FOLDER: the overlay port's files; and where VCPKG_ROOT names vcpkg's folder, the port is built by vcpkg's scripts, against
# xtensor and xsimd of the system, and its files are those that vcpkg asks for.
set -euo pipefail
source=$1 folder=$2
port=$source/packaging/vcpkg/ports/leat
fail() {
  echo "FAILED: $1"
  exit 1
}
rm -rf "$folder"
mkdir -p "$folder"
cat >"$folder/manifest.cmake" <<'END'
file(READ "${PORT}/vcpkg.json" manifest)
string(JSON name GET "${manifest}" name)
string(JSON license GET "${manifest}" license)
string(JSON length LENGTH "${manifest}" dependencies)
if(NOT name STREQUAL leat OR NOT license STREQUAL Apache-2.0 OR length LESS 4)
  message(FATAL_ERROR "vcpkg.json: ${name}, ${license}, ${length} dependencies")
endif()
string(JSON features LENGTH "${manifest}" features)
math(EXPR features "${features} - 1")
file(READ "${PORT}/usage" usage)
foreach(i RANGE ${features})
  string(JSON feature MEMBER "${manifest}" features ${i})
  string(FIND "${usage}" "leat::${feature}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "usage does not name leat::${feature}")
  endif()
endforeach()
END
cmake -DPORT="$port" -P "$folder/manifest.cmake"
if [ ! -f "${VCPKG_ROOT:-/}/scripts/ports.cmake" ]; then
  echo "the port's files are checked; it is built where VCPKG_ROOT names vcpkg's folder"
  exit
fi
case $(uname -m) in
  x86_64) triplet=x64-linux ;;
  *) exit ;;
esac
mkdir -p "$folder/installed"
configs=$VCPKG_ROOT/ports/vcpkg-cmake/vcpkg-port-config.cmake\;$VCPKG_ROOT/ports/vcpkg-cmake-config/vcpkg-port-config.cmake
cmake -DCMD=BUILD -DPORT=leat -DVERSION=0 -DCURRENT_PORT_DIR="$port" -DVCPKG_ROOT_DIR="$VCPKG_ROOT" -DPACKAGES_DIR="$folder/packages" \
  -DBUILDTREES_DIR="$folder/buildtrees" -D_VCPKG_INSTALLED_DIR="$folder/installed" -DDOWNLOADS="$folder/downloads" \
  -DTARGET_TRIPLET=$triplet -D_HOST_TRIPLET=$triplet -DTARGET_TRIPLET_FILE="$VCPKG_ROOT/triplets/$triplet.cmake" \
  -DVCPKG_BASE_VERSION=2999-12-31 -DVCPKG_CONCURRENCY=1 -DVCPKG_PLATFORM_TOOLSET=external -DGIT="$(command -v git)" \
  -DNINJA="$(command -v ninja)" -DFEATURES=core -DALL_FEATURES= -DVCPKG_FIXUP_ELF_RPATH=OFF "-DVCPKG_PORT_CONFIGS=$configs" -P "$VCPKG_ROOT/scripts/ports.cmake"
made=$folder/packages/leat_$triplet
for file in include/leat/leat.hpp share/leat/leatConfig.cmake share/leat/leat-targets.cmake share/leat/copyright share/leat/usage; do
  [ -f "$made/$file" ] || fail "$file is missing"
done
for file in debug lib share/doc share/cmake; do
  [ ! -e "$made/$file" ] || fail "vcpkg wants no $file"
done
! grep -rlF "$folder" "$made/share" || fail "a path of this machine"
