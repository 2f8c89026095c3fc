# The check of kernels finds what it is for: cmake -DCHECK=check_kernels.cmake -DSCRATCH=<folder> -P self_test_kernels.cmake
cmake_minimum_required(VERSION 3.25)

function(expect status text)
  file(REMOVE_RECURSE "${SCRATCH}")
  file(WRITE "${SCRATCH}/include/leat/room/a.hpp" "struct a_op {\n  static constexpr std::string_view type = \"Moved\";\n};\n${text}\n")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${SCRATCH}" ${ARGN} -P "${CHECK}"
    RESULT_VARIABLE result
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL status)
    message(FATAL_ERROR "'${text}' with '${ARGN}': expected status ${status}, got ${result}:\n${output}")
  endif()
endfunction()

set(none "-Dexceptions=")
set(moved "-Dexceptions=Moved\;reason")
expect(0 "register_kernel(\"Other\", run_other);" "${none}")
expect(1 "register_kernel(\"Moved\", run_moved);" "${none}")
expect(1 "register_kernels({\"Other\", \"Moved\"}, run_moved);" "${none}")
expect(0 "register_kernel(\"Moved\", run_moved);" "${moved}")
expect(1 "register_kernel(\"Other\", run_other);" "${moved}")
