# Operators that have a class and, for nodes of graphs with names, a kernel of their own: cmake -DSOURCE_DIR=<repository> -P
# check_kernels.cmake
# A node runs by its operator's class (runtime/kernels/node_program.hpp): a second text is allowed only for a reason that stands here. A class
# is `string_view type = "X"`, a kernel `register_kernel("X"` or one of the names in `register_kernels({...}`.
cmake_minimum_required(VERSION 3.25)

if(NOT DEFINED exceptions)
  set(memory "its result is the memory of its operand, of any dtype, where a program would copy it")
  set(texts "moves elements of any dtype, texts among them, which programs do not have")
  set(numbers "takes all numbers that files have, also those that programs do not compute with")
  set(sizes "its sizes are values of a run, and a program would be compiled for each")
  set(state "begins, reads, writes or reports something of the session")
  set(same "calls the class's kernel, with attributes that are values of a run, or for more dtypes")
  set(first "several results of one kernel, and a number that is a value of a run")
  set(stack "checks stacks of matrices in TensorFlow's words, and leaves the products to the class's kernel")
  set(exceptions
      Assign "${state}" AssignAdd "${state}" AssignSub "${state}" Const "${state}" NoOp "${state}" Placeholder "${state}"
      PlaceholderWithDefault "${state}" Print "${state}" VarHandleOp "${state}"
      ExpandDims "${memory}" Identity "${memory}" Reshape "${memory}" Squeeze "${memory}"
      ConcatV2 "${texts}" DynamicStitch "${texts}" GatherNd "${texts}" GatherV2 "${texts}" MatrixBandPart "${texts}" MirrorPad "${texts}"
      ReverseV2 "${texts}" MirrorPadGrad "${numbers}" ScatterNd "${numbers}"
      Fill "${sizes}" Range "${sizes}" Size "reads no element of its operand, which may be texts"
      TopKV2 "${first}" BatchMatMulV2 "${stack}"
      LRN "${same}" LRNGrad "${same}" ResizeBilinear "${same}" ResizeBilinearGrad "${same}" ResizeNearestNeighbor "${same}"
      ResizeNearestNeighborGrad "${same}" StatelessMultinomial "${same}" StatelessRandomUniformInt "${same}")
endif()

file(GLOB_RECURSE headers RELATIVE "${SOURCE_DIR}/include/leat" "${SOURCE_DIR}/include/leat/*.hpp")
set(classes "")
set(kernels "")
foreach(header IN LISTS headers)
  file(READ "${SOURCE_DIR}/include/leat/${header}" text)
  string(REGEX REPLACE "[;[]" " " text "${text}")  # CMake's lists would fall apart
  string(REGEX REPLACE "]" " " text "${text}")
  string(REGEX MATCHALL "string_view type = \"[A-Za-z0-9_]+\"" found "${text}")
  list(APPEND classes ${found})
  string(REGEX MATCHALL "register_kernel\\(\"[A-Za-z0-9_]+\"," found "${text}")
  list(APPEND kernels ${found})
  string(REGEX MATCHALL "register_kernels\\({[^}]*}" found "${text}")
  foreach(names IN LISTS found)
    string(REGEX MATCHALL "\"[A-Za-z0-9_]+\"" names "${names}")
    list(APPEND kernels ${names})
  endforeach()
endforeach()
list(TRANSFORM classes REPLACE ".*\"([A-Za-z0-9_]+)\".*" "\\1")
list(TRANSFORM kernels REPLACE ".*\"([A-Za-z0-9_]+)\".*" "\\1")
list(REMOVE_DUPLICATES classes)
list(REMOVE_DUPLICATES kernels)

set(problems "")
set(count 0)
foreach(type IN LISTS kernels)
  if(NOT type IN_LIST classes)
    continue()
  endif()
  math(EXPR count "${count} + 1")
  if(NOT type IN_LIST exceptions)
    string(APPEND problems "${type} has a class and a kernel of its own\n")
  endif()
endforeach()
list(LENGTH exceptions end)
set(at 0)
while(at LESS end)
  list(GET exceptions ${at} type)
  math(EXPR at "${at} + 2")
  if(NOT type IN_LIST classes OR NOT type IN_LIST kernels)
    string(APPEND problems "${type} is listed here, and has no kernel beside its class any more\n")
  endif()
endwhile()
if(problems)
  message(FATAL_ERROR "${problems}A node runs by its operator's class")
endif()
message(STATUS "${count} operators have a class and a kernel, each with its reason")
