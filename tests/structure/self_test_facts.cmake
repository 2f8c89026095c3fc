# The check of facts finds what it is for: cmake -DCHECK=check_facts.cmake -DSCRATCH=<folder> -P self_test_facts.cmake
cmake_minimum_required(VERSION 3.25)

function(expect status text)
  file(REMOVE_RECURSE "${SCRATCH}")
  file(WRITE "${SCRATCH}/include/leat/room/a.hpp" "${text}\n")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${SCRATCH}" ${ARGN} -P "${CHECK}"
    RESULT_VARIABLE result
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL status)
    message(FATAL_ERROR "'${text}' with '${ARGN}': expected status ${status}, got ${result}:\n${output}")
  endif()
endfunction()

expect(0 "if (is_operator<matmul_op>(op) && mode == \"fast\" && padding == \"SAME\") return;")
expect(1 "if (type == \"MatMul\") return;")
expect(1 "if (t != \"MatMul\") return;")
expect(1 "if (op.type() ==\n\"_Send\") return;")
expect(1 "return \"Const\" == type;")
expect(1 "if (type.starts_with(\"Apply\")) return;")
expect(1 "constexpr std::string_view pure[]{  // sorted\n    \"Atan2\", \"Concat\"};")
expect(1 "static const std::set<std::string_view> pure{\"Atan2\", \"Concat\"};")
expect(0 "register_kernel(\"MatMul\", run); attributes.find(\"Tidx\"); call(g, \"Switch\", {x});")
expect(0 "constexpr row rows[]{{\"Fill\", &filled}, {\"Tile\", &tiled}};")
expect(0 "// of type == \"MatMul\"")
# Exceptions are counted: one more, or one less, is a problem.
set(exceptions "-Dexceptions=room/a.hpp\\;1\\;reason")
expect(0 "if (type == \"MatMul\") return;" "${exceptions}")
expect(1 "if (type == \"MatMul\" || type == \"Fill\") return;" "${exceptions}")
expect(1 "" "${exceptions}")
