#!/usr/bin/env bash
# conan.bash SOURCE FOLDER COMPILER: the recipe makes a package, and its program compiles and runs, without a network: a home of Conan's own,
# with no remotes, and xtensor and xsimd of the system. 77 without Conan 2.
set -euo pipefail
source=$1 folder=$2 compiler=$3
conan --version 2>/dev/null | grep -q "version 2" || exit 77
rm -rf "$folder"
mkdir -p "$folder/recipe"
export CONAN_HOME=$folder/home
conan remote remove "*" >/dev/null 2>&1 || true
# Programs in the checkout would be made there.
mkdir -p "$folder/checkout/packaging"
for part in CMakeLists.txt LICENSE cmake include; do cp -r "$source/$part" "$folder/checkout/"; done
cp -r "$source/packaging/conan" "$folder/checkout/packaging/"
id=gcc standard=libstdc++11 version=$("$compiler" -dumpversion | cut -d. -f1)
if "$compiler" --version | grep -q clang; then id=clang; fi
case $(uname -m) in
  x86_64) machine=x86_64 ;;
  aarch64) machine=armv8 ;;
  *) exit 77 ;;
esac
profile() {
  cat <<END
[settings]
os=Linux
arch=$machine
compiler=$id
compiler.version=$1
compiler.libcxx=$standard
compiler.cppstd=20
build_type=Release
[conf]
tools.build:compiler_executables={"cpp": "$compiler"}
tools.cmake.cmaketoolchain:generator=Ninja
END
}
profile "$version" >"$folder/profile"
cd "$folder/checkout"
conan create packaging/conan -pr:a "$folder/profile" -o "leat/*:system_dependencies=True" --no-remote
profile 9 >"$folder/old"
if conan create packaging/conan -pr:a "$folder/old" -o "leat/*:system_dependencies=True" --no-remote --test-folder= >"$folder/said" 2>&1; then
  echo "FAILED: an old compiler is accepted"
  exit 1
fi
grep "leat needs g++ 12" "$folder/said"
