#!/usr/bin/env bash
# debian.bash SOURCE BUILD FOLDER COMPILER: Debian's packages of what is built: their files, what lintian says, a program compiled and linked
# with them and the command, both in a folder of their own. 77 where there is no CPack for them.
# LEAT_TEST_WHOLE_PACKAGES=1: lintian reads the headers, too. LEAT_TEST_INSTALL_PACKAGES=1 (root): apt installs them in this system, and removes
# them again.
set -euo pipefail
source=$1 build=$2 folder=$3 compiler=$4
fail() {
  echo "FAILED: $1"
  exit 1
}
command -v cpack >/dev/null && command -v dpkg-shlibdeps >/dev/null && [ -f "$build/CPackConfig.cmake" ] || exit 77
rm -rf "$folder"
mkdir -p "$folder/unpacked"
(cd "$build" && cpack -G DEB -B "$folder" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip) >"$folder/said" || fail "$(cat "$folder/said")"
rm -rf "$folder/_CPack_Packages"
cd "$folder"
packages=(libleat-dev_*.deb libleat-runtime0_*.deb leat-tools_*.deb)
for package in "${packages[@]}"; do [ -f "$package" ] || fail "$package is missing"; done
dpkg-deb -f libleat-dev_*.deb Depends | grep "libleat-runtime0 (= .*libxtensor-dev" || fail "what libleat-dev depends on"
dpkg-deb -f libleat-runtime0_*.deb Depends | grep libc6 || fail "what libleat-runtime0 depends on"
dpkg-deb -c libleat-runtime0_*.deb >said
grep -q 'libleat_runtime\.so\.[0-9.]* ->' said || fail "the library's name"
! grep -E '\.so( |$)|\.a$' said || fail "what is for developers is in libleat-runtime0"
# No file is in two packages.
for package in "${packages[@]}"; do dpkg-deb -c "$package" | awk '!/^d/ { print $6 }'; done | sort | uniq -d >said
[ ! -s said ] || fail "in two packages: $(cat said)"

if command -v lintian >/dev/null; then
  checked=("${packages[@]:1}")
  [ -z "${LEAT_TEST_WHOLE_PACKAGES:-}" ] || checked=("${packages[@]}")
  as=()
  [ "$(id -u)" -ne 0 ] || as=(--allow-root)
  # What a build for this machine alone says to pkg-config; and who maintains a test.
  lintian "${as[@]}" --fail-on error,warning \
    --suppress-tags pkg-config-bad-directive,bogus-mail-host,bogus-mail-host-in-debian-changelog "${checked[@]}" || fail "lintian"
fi

# try PREFIX: the installed packages are used.
try() {
  local prefix=$1 library
  library=$(dirname "$(find "$prefix/lib" -name 'libleat_runtime.so' | head -n 1)")
  export PKG_CONFIG_PATH=$library/pkgconfig:$prefix/share/pkgconfig
  local consume=$source/tests/consume
  read -ra flags <<<"$(pkg-config --cflags --libs leat)"
  [[ " ${flags[*]} " == *" -lleat_runtime "* ]] || fail "pkg-config: ${flags[*]}"
  # Without a typed session, which takes longer to compile.
  echo 'float planned_loss(); float planned_loss() { return 0; }' >untyped.cpp
  [ -x program ] || "$compiler" "$consume/runtime/main.cpp" untyped.cpp "${flags[@]}" -o program
  LD_LIBRARY_PATH=$library ./program
  ldd program | grep 'libleat_runtime\.so\.[0-9]' || fail "the program is not linked to the shared runtime"
  "$prefix/bin/leat" --version
  rm -rf project
  mkdir project
  cat >project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(leat CONFIG REQUIRED COMPONENTS runtime)
get_target_property(location leat::runtime_shared LOCATION)
if(NOT EXISTS "\${location}")
  message(FATAL_ERROR "there is no \${location}")
endif()
END
  cmake -S project -B project/build -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" -DLEAT_MPI=OFF >said 2>&1 || fail "$(cat said)"
}
for package in "${packages[@]}"; do dpkg-deb -x "$package" unpacked; done
try "$folder/unpacked/usr"

if [ -n "${LEAT_TEST_INSTALL_PACKAGES:-}" ]; then
  [ "$(id -u)" -eq 0 ] || fail "only root installs packages"
  ! dpkg -s libleat-dev libleat-runtime0 leat-tools >/dev/null 2>&1 || fail "some of the packages are installed already"
  before=$(dpkg-query -W | sort)
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${packages[@]/#/./}"
  try /usr
  ldconfig -p | grep libleat_runtime || fail "ldconfig does not know the library"
  DEBIAN_FRONTEND=noninteractive apt-get purge -q -y libleat-dev libleat-runtime0 leat-tools
  [ "$before" = "$(dpkg-query -W | sort)" ] || fail "other packages are installed than before"
  find /usr -path '*leat*' -not -path '*/site-packages/*' -newer unpacked >said
  [ ! -s said ] || fail "left: $(cat said)"
  ! ldconfig -p | grep libleat_runtime || fail "ldconfig still knows the library"
fi
