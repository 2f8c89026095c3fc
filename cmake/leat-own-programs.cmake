# How our own programs (tests, examples, benchmarks) are compiled, which is no business of a user's: the target
# leat_own_program carries warnings, the processor's instructions and sanitizers; ccache is used where it is found.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(LEAT_CCACHE ccache)
mark_as_advanced(LEAT_CCACHE)
if(LEAT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache must overlook to work with a precompiled header; and what one checkout compiled serves another. Comments count: g++ knows
  # a header that a precompiled one holds by its text, and includes it twice if a comment in it has changed since.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;CCACHE_COMMENTS=1"
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_NOHASHDIR=1;${LEAT_CCACHE}")
endif()

# nvcc, also where it stands beside the path; its host compiler is g++ whatever compiles the rest.
if(LEAT_CUDA AND NOT LEAT_SANITIZE)
  find_program(
    LEAT_NVCC nvcc
    HINTS ENV CUDA_HOME
    PATHS /usr/local/cuda
    PATH_SUFFIXES bin)
  find_program(LEAT_CUDA_HOST_COMPILER NAMES g++-12 g++)
  mark_as_advanced(LEAT_NVCC LEAT_CUDA_HOST_COMPILER)
  if(LEAT_NVCC AND LEAT_CUDA_HOST_COMPILER)
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
      set(CMAKE_CUDA_COMPILER "${LEAT_NVCC}")
    endif()
    if(NOT CMAKE_CUDA_HOST_COMPILER)
      set(CMAKE_CUDA_HOST_COMPILER "${LEAT_CUDA_HOST_COMPILER}")
    endif()
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      enable_language(CUDA)
    endif()
  endif()
endif()

add_library(leat_own_program INTERFACE)

set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND warnings -Wno-sign-conversion -Wno-stack-exhausted)
endif()
if(LEAT_WARNINGS_AS_ERRORS)
  list(APPEND warnings -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Guesses of the optimizer's data flow, whose false alarms come and go with the compiler's version.
    list(APPEND warnings -Wno-error=maybe-uninitialized -Wno-error=array-bounds -Wno-error=stringop-overflow
         -Wno-error=restrict)
  endif()
endif()
target_compile_options(leat_own_program INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")

# g++ collects garbage less often, and where memory allows it, hardly ever: once it has freed a gigabyte, each allocation searches a list of
# what is free. Large typed programs are compiled in 15 to 25 % less time, with up to 5 GB of memory where it was 2.5.
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR memory "${memory} / ${processors}")
set(LEAT_COMPILER_HEAP 524288)
if(memory GREATER_EQUAL 8192)
  set(LEAT_COMPILER_HEAP 2621440)
endif()
target_compile_options(leat_own_program INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=${LEAT_COMPILER_HEAP}>")

# GNU's second linker, which comes with the first, takes half of its time.
find_program(LEAT_GOLD ld.gold)
mark_as_advanced(LEAT_GOLD)
if(LEAT_GOLD)
  target_link_options(leat_own_program INTERFACE "$<$<LINK_LANG_AND_ID:CXX,GNU>:-fuse-ld=gold>")
endif()

if(LEAT_NATIVE)
  target_compile_options(leat_own_program INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-march=native>")
endif()

if(LEAT_SANITIZE)
  list(JOIN LEAT_SANITIZE "," sanitizers)
  target_compile_options(leat_own_program INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=all
                                                    -fno-omit-frame-pointer -g1)
  target_link_options(leat_own_program INTERFACE -fsanitize=${sanitizers})
endif()
