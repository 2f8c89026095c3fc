# Programs that must not compile, each a test of its message.
include_guard(GLOBAL)

# leat_fixed_elsewhere(<file> <result>): whether leat_add_compile_fixed tries this program together with others: not what has macros, or
# a header of its own beside it.
function(leat_fixed_elsewhere file result)
  file(STRINGS "${file}" own REGEX "^ *# *(define|include \")")
  if(own OR LEAT_TESTS_APART)
    set(${result} OFF PARENT_SCOPE)
  else()
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

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
  leat_fixed_elsewhere("${file}" elsewhere)
  if(elsewhere AND NOT kind STREQUAL "mpi")
    set_tests_properties(compile_fail.${name} PROPERTIES ENVIRONMENT LEAT_FIXED_ELSEWHERE=1)
  endif()
endfunction()

# leat_add_compile_fixed(<name> <argument>... SOURCES <file>...): the tests compile_fixed.<name>_<number>: with LEAT_FIXED defined the
# programs compile, sixteen at once, each in a namespace of its own.
function(leat_add_compile_fixed name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  set(held 0)
  set(number 0)
  set(includes "#include <leat/leat.hpp>")
  set(programs "")
  foreach(source IN LISTS arg_SOURCES ITEMS end)
    if(NOT source STREQUAL "end")
      leat_fixed_elsewhere("${source}" elsewhere)
      if(NOT elsewhere)
        continue()
      endif()
      # Whatever a program includes is read before its namespace; first of all what the compiler may have compiled.
      file(STRINGS "${source}" own REGEX "^#include <")
      list(APPEND includes ${own})
      cmake_path(GET source STEM program)
      string(APPEND programs "#define main main_of_${program}\nnamespace fixed_${program} {\n#include \"${source}\"\n}\n#undef main\n")
      math(EXPR held "${held} + 1")
    endif()
    if(held EQUAL 16 OR (held AND source STREQUAL "end"))
      list(REMOVE_DUPLICATES includes)
      list(JOIN includes "\n" includes)
      set(unit "${CMAKE_CURRENT_BINARY_DIR}/fixed/${name}_${number}.cpp")
      file(CONFIGURE OUTPUT "${unit}" CONTENT "${includes}\n${programs}" @ONLY)
      # A function that is not called main should return something.
      add_test(NAME compile_fixed.${name}_${number} COMMAND "${CMAKE_CXX_COMPILER}" ${arg_UNPARSED_ARGUMENTS} -w -DLEAT_FIXED -fsyntax-only
                                                            "${unit}")
      set_tests_properties(compile_fixed.${name}_${number} PROPERTIES LABELS "compile_fail" TIMEOUT 300)
      math(EXPR number "${number} + 1")
      set(held 0)
      set(includes "#include <leat/leat.hpp>")
      set(programs "")
    endif()
  endforeach()
endfunction()
