# Programs that must not compile, each a test of its message.
include_guard(GLOBAL)

# leat_add_compile_fail(<file> [<kind> <argument>...]): the test compile_fail.<stem>; tests/compile_fail/check.bash says what a file
# holds. LEAT_COMPILE_FAIL_FLAGS are the compiler's arguments; for a kind, which ends the test's name, those that are given.
function(leat_add_compile_fail file)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  cmake_path(GET file STEM name)
  set(flags ${LEAT_COMPILE_FAIL_FLAGS})
  if(ARGC GREATER 1)
    list(POP_FRONT ARGN kind)
    string(APPEND name ".${kind}")
    set(flags ${ARGN})
  endif()
  add_test(NAME compile_fail.${name} COMMAND "${PROJECT_SOURCE_DIR}/tests/compile_fail/check.bash" "${file}"
                                             "${CMAKE_CXX_COMPILER}" ${flags})
  set_tests_properties(compile_fail.${name} PROPERTIES LABELS "compile_fail" TIMEOUT 300)
endfunction()
