# What leat cannot do without, each missing one told in a line that says what to do. Read by our own build and, installed beside
# leatConfig.cmake, by find_package(leat).

# leat_check_compiler(<variable> <id> <version>): nothing, or why this compiler cannot be used.
function(leat_check_compiler result id version)
  set(why "")
  set(needed "leat needs g++ 12 or clang 19, or a later one")
  set(remedy "name another compiler with -DCMAKE_CXX_COMPILER=... in an empty build folder")
  # clang from 16 to 18 is not refused: what of C++20 it lacks, not every program needs.
  if((id STREQUAL "GNU" AND version VERSION_LESS 12) OR (id STREQUAL "Clang" AND version VERSION_LESS 16))
    set(why "${needed}; this is ${id} ${version}: ${remedy}")
  elseif(id STREQUAL "MSVC")
    set(why "${needed}; MSVC is not supported: use clang-cl (Visual Studio: -T ClangCL)")
  endif()
  set(${result} "${why}" PARENT_SCOPE)
endfunction()

# leat_check_library(<variable> <name> <version> <found version, or nothing>): nothing, or why the library cannot be used.
function(leat_check_library result name needed found)
  set(why "")
  set(remedy "install it (Debian: lib${name}-dev; vcpkg and Conan: ${name}) or name its folder with -DCMAKE_PREFIX_PATH=...")
  if("${found}" STREQUAL "")
    set(why "leat needs ${name} ${needed} or later, which was not found: ${remedy}")
  elseif(found VERSION_LESS needed)
    set(why "leat needs ${name} ${needed} or later, found ${found}: ${remedy}")
  endif()
  set(${result} "${why}" PARENT_SCOPE)
endfunction()

# leat_find_requirements(<variable>): finds the libraries; nothing, or what is missing.
function(leat_find_requirements result)
  leat_check_compiler(why "${CMAKE_CXX_COMPILER_ID}" "${CMAKE_CXX_COMPILER_VERSION}")
  foreach(library IN ITEMS xtensor=0.24 xsimd=8.1)
    string(REGEX MATCH "^[a-z]+" name "${library}")
    string(REGEX MATCH "[0-9.]+$" needed "${library}")
    if(why STREQUAL "")
      find_package(${name} QUIET CONFIG)
      set(version "")
      if(${name}_FOUND)
        set(version "${${name}_VERSION}")
        if(version STREQUAL "")
          set(version ${needed})  # a package manager's own description may name no version
        endif()
      endif()
      leat_check_library(why ${name} ${needed} "${version}")
    endif()
  endforeach()
  set(${result} "${why}" PARENT_SCOPE)
endfunction()
