# The check of the layers finds what it is for: cmake -DCHECK=check_layers.cmake -DSCRATCH=<folder> -P self_test_layers.cmake
cmake_minimum_required(VERSION 3.25)

function(expect outcome text)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${SCRATCH}" -P "${CHECK}"
    RESULT_VARIABLE status
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake wraps its messages
  string(FIND "${output}" "${text}" found)
  if((outcome STREQUAL "accepted" AND NOT status EQUAL 0)
     OR (outcome STREQUAL "refused" AND status EQUAL 0)
     OR found EQUAL -1)
    message(FATAL_ERROR "expected to be ${outcome} with '${text}', got status ${status}:\n${output}")
  endif()
  file(REMOVE_RECURSE "${SCRATCH}")
endfunction()

function(header path text)
  file(WRITE "${SCRATCH}/include/leat/${path}" "#pragma once\n${text}\n")
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
header(core/a.hpp "#include <vector>")
header(ops/b.hpp "#include <leat/core/a.hpp>")
header(cpu/c.hpp "#include <leat/ops/b.hpp>\n#include <xtensor/xtensor.hpp>")
header(leat.hpp "#include <leat/cpu/c.hpp>")
expect(accepted "4 headers")

header(core/a.hpp "#include <leat/graph/b.hpp>")
header(graph/b.hpp "")
expect(refused "stands above")

header(cpu/a.hpp "#include <leat/thrust/b.hpp>")
header(thrust/b.hpp "")
expect(refused "stands above or beside")

header(named/graph/a.hpp "#include <leat/train/named/b.hpp>")
header(train/named/b.hpp "")
expect(refused "stands above")

header(core/a.hpp "#include <leat/core/impl/a.hpp>")
header(core/function_bodies.hpp "")
header(core/impl/a.hpp "#include <leat/core/function_bodies.hpp>")
header(separate/b.hpp "")
expect(refused "leat/core/impl/a.hpp: 0 of the headers in leat/separate")

header(core/a.hpp "#include <leat/core/impl/a.hpp>")
header(core/impl/a.hpp "LEAT_FUNCTION int f() { return 1\\; }")
header(separate/b.hpp "")
expect(refused "leat/core/impl/a.hpp: 0 of the headers in leat/separate")

header(core/a.hpp "#include <leat/core/impl/a.hpp>")
header(core/function_bodies.hpp "")
header(core/impl/a.hpp "#include <leat/core/function_bodies.hpp>")
header(separate/b.hpp "#include <leat/core/impl/a.hpp>")
expect(accepted "4 headers")

header(train/named/a.hpp "#include <leat/named/graph/b.hpp>")
header(named/graph/b.hpp "")
expect(accepted "2 headers")

header(session/typed/planned/a.hpp "#include <leat/named/graph/b.hpp>")
header(named/graph/b.hpp "")
expect(refused "do not know each other")

header(named/a.hpp "")
expect(refused "no rank")

header(core/a.hpp "#include <leat/leat.hpp>")
header(leat.hpp "")
expect(refused "stands above")

foreach(heavy IN ITEMS xtensor/xarray.hpp xsimd/xsimd.hpp nlohmann/json.hpp protozero/pbf_reader.hpp CLI/CLI.hpp zmq.hpp thrust/sort.h tbb/tbb.h dnnl.hpp
                       oneapi/dnnl/dnnl.hpp oneapi/tbb.h cblas.h)
  header(passes/a.hpp "  #  include <${heavy}>")
  expect(refused "too heavy")
  header(named/graph/a.hpp "#include <${heavy}>")
  expect(refused "too heavy")
endforeach()

header(core/a.hpp "#include <leat/core/b.hpp>")
header(core/b.hpp "#include <leat/core/a.hpp>")
expect(refused "circle")

header(core/a.hpp "#include <leat/core/impl/a.hpp>")
header(core/impl/a.hpp "#include <leat/core/a.hpp>\n#include <leat/core/b.hpp>")
header(core/b.hpp "")
expect(accepted "3 headers")

header(core/a.hpp "#include <leat/core/impl/a.hpp>")
header(core/impl/a.hpp "#include <leat/core/a.hpp>\n#include <leat/core/b.hpp>")
header(core/b.hpp "#include <leat/core/a.hpp>")
expect(refused "circle")

header(core/a.hpp "#include \"b.hpp\"")
header(core/b.hpp "")
expect(refused "should be written")

header(core/a.hpp "#include <leat/core/none.hpp>")
expect(refused "does not exist")

header(misc/a.hpp "")
expect(refused "no rank")

header(cpu/a.hpp "#include <xtensor/xarray.hpp>")
header(cpu/b.hpp "#include <xtensor/xtensor.hpp>")
expect(refused "one header only")
