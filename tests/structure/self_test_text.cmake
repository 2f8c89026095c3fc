# The check of the text finds what it is for: cmake -DCHECK=check_text.cmake -DSCRATCH=<folder> -P self_test_text.cmake
cmake_minimum_required(VERSION 3.25)

function(expect status path text)
  file(REMOVE_RECURSE "${SCRATCH}")
  file(WRITE "${SCRATCH}/${path}" "${text}\n")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${SCRATCH}" -P "${CHECK}"
    RESULT_VARIABLE result
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL status)
    message(FATAL_ERROR "'${text}' in ${path}: expected status ${status}, got ${result}:\n${output}")
  endif()
endfunction()

set(somewhere "/ro" "ot/x")
list(JOIN somewhere "" somewhere)

expect(0 include/leat/a.hpp "#define LEAT_A 1")
expect(1 include/leat/a.hpp "#define A 1")
expect(1 include/leat/a.hpp "  # define XTENSOR_USE_XSIMD")
expect(1 include/leat/a.hpp "if (wrong) std::abort();")
expect(1 include/leat/a.hpp "assert(right);")
expect(0 include/leat/a.hpp "static_assert(right); at_exit(x);")
expect(0 tests/a.cpp "#define A 1")
expect(1 tests/a.cpp "\"${somewhere}\"")
expect(1 README.md "see ${somewhere}")
expect(0 README.md "frame${somewhere}")
expect(0 README.md "$HOME/x /usr/local/cuda build/x")
