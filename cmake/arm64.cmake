# A toolchain for ARM64 on another machine: Debian's cross compiler, and QEMU, which runs the programs. They are linked statically, so QEMU
# needs no folder of ARM's libraries. Libraries of this machine are not found; packages of headers alone are (xtensor, xsimd, doctest,
# nlohmann_json, protozero).
#   scripts/install-dependencies arm64
#   cmake --preset arm64; cmake --build --preset arm64; ctest --preset arm64
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)

set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
# Debian keeps the configurations of two packages of headers with the libraries of the machine that installed them.
file(GLOB configurations LIST_DIRECTORIES true /usr/lib/*-linux-gnu/cmake/xtensor /usr/lib/*-linux-gnu/cmake/xsimd)
foreach(folder IN LISTS configurations)
  cmake_path(GET folder FILENAME package)
  set(${package}_DIR "${folder}" CACHE PATH "")
endforeach()
foreach(package IN ITEMS TBB ZLIB JPEG MPI OpenMP Thrust)
  set(CMAKE_DISABLE_FIND_PACKAGE_${package} ON)
endforeach()
